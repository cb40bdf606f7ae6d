"""The columns of a run's tables, and what a table that was read must be like."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from kozel_sim.engine.layout import MATCH, ROUND
from kozel_sim.frames import frame_of
from kozel_sim.manifest import PART
from kozel_sim.rules import RuleSet

CATEGORY, TEXT = "category", "string"
OF_A_SEAT = (*("preset", "players", "duel", "deal", "seating", "seat", "side", "policy", "first"),)
"""The columns that tell whose round it is, as in the frame of matches."""
Columns = dict[str, str]
"""Types by name, in the order of the columns; as Arrow calls them, texts as above."""


@cache
def _of_matches(duel: bool) -> tuple[tuple[str, str], ...]:
    """Return the columns of a frame of matches, and their types."""
    rules = RuleSet.preset("room-fish-all", 2)
    none = np.zeros(0, np.int64)
    sides = np.zeros((0, 2), np.int64) if duel else None
    frame = frame_of(rules, [], np.zeros(0, MATCH), none, "", sides)
    return tuple((str(name), _name_of(dtype)) for name, dtype in frame.dtypes.items())


def _name_of(dtype: Any) -> str:
    """Return a type as Arrow calls it."""
    names = {"float32": "float", "float64": "double"}
    return names.get(str(dtype), str(dtype))


def columns_of(kind: str, duel: bool) -> Columns:
    """Return the columns of "matches" or "rounds", of a duel or not."""
    matches = dict(_of_matches(duel))
    if kind == "matches":
        return matches
    rounds = {name: _name_of(ROUND[name]) for name in ROUND.names or ()}
    of_a_seat = {name: matches[name] for name in OF_A_SEAT if name in matches}
    return of_a_seat | rounds | {"end": CATEGORY, "goat": matches["goat"]}


def need_frame(frame: pd.DataFrame, entry: dict[str, Any], manifest: dict[str, Any]) -> None:
    """Raise ValueError unless a part's frame has the rows of some deals of a listed rule set.

    What is asked is what all readers of frames rely on, not what came of the play.
    """
    if frame.empty:
        raise ValueError("it has no rows")
    for column in frame.columns[frame.isna().any()]:
        if column not in ("rating", "bank"):
            raise ValueError(f"its column {column} has no value in some rows")
    preset, players = frame["preset"].iloc[0], int(frame["players"].iloc[0])
    if not (frame["preset"].eq(preset) & frame["players"].eq(players)).all():
        raise ValueError("it is of several rule sets")
    rules = [(each["preset"], each["knobs"]["players"]) for each in manifest["rules"]]
    if (preset, players) not in rules:
        raise ValueError(f"it is of another rule set, {preset!r} with {players} players")
    names = {each["name"] for each in manifest["policies"]}
    if other := set(frame["policy"].unique()) - names:
        raise ValueError(f"it is of another policy, {min(other)!r}")
    seats = np.tile(np.arange(players), len(frame) // players + 1)[: len(frame)]
    if len(frame) % players or not (frame["seat"].to_numpy() == seats).all():
        raise ValueError("its rows are not those of seats 0, 1, ... of match after match")
    first, end = entry["deals"]
    if not frame["deal"].between(first, end - 1).all():
        raise ValueError(f"it is of other deals than {first} to {end - 1}")
    if "duel" in frame and frame["duel"].nunique() != 1:
        raise ValueError("it is of several duels")


def kind_of(name: str) -> str:
    """Return what a file holds: matches, rounds or totals."""
    found = PART.fullmatch(name)
    return found[1] if found else ""
