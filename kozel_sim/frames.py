"""Played matches as a tidy frame: one row per match and seat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kozel_sim.decision import Policy
from kozel_sim.record import Record
from kozel_sim.rules import RuleSet
from kozel_sim.scoring import rating100


def fill_match(match: Any, record: Record) -> None:
    """Write what a MATCH record keeps of a match."""
    last = record.rounds[-1]
    match["points"][: len(last.accounts)] = last.accounts
    match["draws"] = match["passes"] = 0
    events = [event for r in record.rounds for event in r.events]
    for event in events:
        match["draws"][event.seat] += event.draw is not None
        match["passes"][event.seat] += event.draw is None and not event.play
    match["rounds"] = len(record.rounds)
    match["fish_rounds"] = sum(r.end == "fish" for r in record.rounds)
    match["goats"] = sum(1 << side for side in record.result.goats)
    match["winners"] = sum(1 << side for side in record.result.winners)
    match["capped"] = record.result.capped
    match["first_leader"] = record.rounds[0].leader


def frame_of(
    rules: RuleSet,
    policies: Sequence[Policy],
    matches: npt.NDArray[Any],
    seating: npt.NDArray[np.int64],
    duel: str = "",
    sides: npt.NDArray[np.int64] | None = None,
) -> pd.DataFrame:
    """Return the tidy frame of played matches: one row per match and seat.

    Of a duel it has two more columns: `duel`, its title, and `first`, whether the seat plays for
    the first side (where ``sides[match, seat]`` is 0).
    """
    n = rules.players
    rows = len(matches) * n
    seats = np.tile(np.arange(n, dtype=np.int8), len(matches))
    accounts = np.array([rules.side_of(seat) for seat in range(n)], dtype=np.int8)

    def each(values: npt.NDArray[Any], dtype: str) -> npt.NDArray[Any]:
        """Repeat a match's value for each seat."""
        return np.repeat(values.astype(dtype), n)

    points = matches["points"][:, accounts].ravel()
    goat = (matches["goats"][:, None] >> accounts & 1).astype(bool).ravel()
    capped = each(matches["capped"], "bool")
    rating = np.full(rows, np.nan, np.float32)
    if "rating100" in rules.settlement:
        table = np.array([rating100(p) for p in range(rules.target)], np.float32)
        over = ~capped
        rating[over] = np.where(goat[over], 0, table[np.minimum(points[over], len(table) - 1)])
    bank = np.full(rows, np.nan, np.float32)
    if "bank" in rules.settlement:
        shares = bank_table(points.reshape(-1, n), goat.reshape(-1, n)).ravel()
        bank[~capped] = shares[~capped]
    names = [policy.name for policy in policies]
    kinds = list(dict.fromkeys(names))
    codes = np.array([kinds.index(name) for name in names])[matches["players"][:, :n]].ravel()
    frame = pd.DataFrame(
        {
            "preset": _categories(np.zeros(rows, np.int64), [rules.name]),
            "players": np.full(rows, n, np.int8),
            "deal": each(matches["deal"], "int64"),
            "seating": each(seating, "int8"),
            "seat": seats,
            "side": np.tile(accounts, len(matches)),
            "policy": _categories(codes, kinds),
            "points": points,
            "points_win": np.full(rows, rules.points_win),
            "goat": goat,
            "winner": (matches["winners"][:, None] >> accounts & 1).astype(bool).ravel(),
            "rounds": each(matches["rounds"], "int32"),
            "fish_rounds": each(matches["fish_rounds"], "int32"),
            "passes": matches["passes"][:, :n].ravel(),
            "draws": matches["draws"][:, :n].ravel(),
            "rating": rating,
            "bank": bank,
            "led": seats == each(matches["first_leader"], "int8"),
            "capped": capped,
        }
    )
    if sides is not None:
        frame.insert(2, "duel", pd.Series(_categories(np.zeros(rows, np.int64), [duel])))
        frame.insert(8, "first", (sides == 0).ravel())
    return frame


def bank_table(points: npt.NDArray[Any], goat: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Return the shares of the bank of many matches, ``[match, seat]``; as ``bank_shares``."""
    paid = ~goat | goat.all(axis=1, keepdims=True)
    free = paid & (points <= 0)
    weights = np.where(paid, 1 / np.maximum(points, 1), 0.0)
    weights = np.where(free.any(axis=1, keepdims=True), free, weights)
    weights = np.where(goat.all(axis=1, keepdims=True), 1.0, weights)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _categories(codes: npt.NDArray[np.int64], names: list[str]) -> pd.Categorical[Any]:
    return pd.Categorical.from_codes(codes, pd.Index(names))


def stack_frames(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Put frames below each other; their categories are joined, not lost."""
    if len(frames) == 1:
        return frames[0]
    joined = {}
    for column, dtype in frames[0].dtypes.items():
        if isinstance(dtype, pd.CategoricalDtype):
            names = [name for frame in frames for name in frame[column].cat.categories]
            joined[column] = pd.CategoricalDtype(list(dict.fromkeys(names)))
    return pd.concat([frame.astype(joined) for frame in frames], ignore_index=True)
