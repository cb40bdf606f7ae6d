"""Matches that reached the cap of rounds: how many there are, and what becomes of them.

Such a match has no goat and no winner. It counts in a goat rate as a match without a goat, and in
means of points with what stood on the accounts when it was stopped; so do differences, payoffs and
tests that are made of these. Ratings of strength leave it out, Elo points stay as they were, and
rating and bank have no value for it.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from kozel_sim.engine.layout import GAME
from kozel_sim.plain import records
from kozel_sim.words import counted

COUNTED = (
    "They count in goat rates as matches without a goat, and in points with what the accounts held."
)
"""What becomes of them wherever means are taken."""
OF_RATINGS = (
    "Ratings leave them out, Elo points stay as they were, and payoffs count the points that the "
    "accounts held."
)
"""What becomes of them among ratings."""


def capped_in(rows: pd.DataFrame) -> int:
    """Return how many matches of a frame were capped; none in a frame that does not tell."""
    return int((rows["capped"] & (rows["seat"] == 0)).sum()) if "capped" in rows.columns else 0


def capped_matches(results: Any) -> pd.DataFrame:
    """Return how many matches reached the cap of rounds, by rule set and duel.

    Parameters
    ----------
    results : DataFrame, Run or Totals
        A run, or its frame.

    Returns
    -------
    DataFrame
        Columns preset, players, duel (empty where all meet), n_matches, n_capped, cap (rounds of a
        capped match; 0 where there is none).

    Examples
    --------
    >>> from kozel_sim import RuleSet, simulate
    >>> rules = RuleSet.preset("room-fish-all", 2).replace(max_rounds=9)
    >>> run = simulate(rules, ["random", "random"], 20, seed=1)
    >>> capped_matches(run)[["n_matches", "n_capped", "cap"]].to_numpy().tolist()
    [[20, 4, 9]]
    """
    columns = ["preset", "players", "duel", "n_matches", "n_capped", "cap"]
    if not isinstance(results, pd.DataFrame) and not hasattr(results, "frame"):
        return pd.DataFrame(_of_totals(results), columns=columns)
    frame = results if isinstance(results, pd.DataFrame) else results.frame
    rows = []
    keys = [key for key in ("preset", "players", "duel") if key in frame.columns]
    for values, part in frame.groupby(keys, observed=True, sort=False):
        n = capped_in(part)
        cap = int(part.loc[part["capped"], "rounds"].max()) if n else 0
        head = {"duel": ""} | dict(zip(keys, values, strict=True))
        matches = int((part["seat"] == 0).sum())
        rows.append(head | {"n_matches": matches, "n_capped": n, "cap": cap})
    return pd.DataFrame(rows, columns=columns)


def _of_totals(totals: Any) -> list[dict[str, Any]]:
    caps = {
        (rules["preset"], rules["knobs"]["players"]): rules["knobs"]["max_rounds"]
        for rules in totals.manifest["rules"]
    }
    rows = []
    for sums in totals.sums:
        n = sums.sum_of(GAME.index("capped"))
        cap = caps[sums.preset, sums.players] if n else 0
        head = {"preset": sums.preset, "players": sums.players, "duel": ""}
        rows.append(head | {"n_matches": sums.matches, "n_capped": n, "cap": cap})
    return rows


# ---------------------------------------------------------------------- in words


def capped_of(table: pd.DataFrame, preset: str, players: int) -> dict[str, Any]:
    """Return the counts of one rule set, all its duels together; zeros if it is not there."""
    here = table[(table["preset"] == preset) & (table["players"] == players)]
    sums = {key: int(here[key].sum()) for key in ("n_matches", "n_capped")}
    return sums | {"cap": int(here["cap"].max()) if len(here) else 0}


def all_capped(counts: dict[str, Any]) -> bool:
    """Tell whether there is no match that ended."""
    return 0 < int(counts.get("n_matches", 0)) == int(counts.get("n_capped", 0))


def how_many(counts: dict[str, Any]) -> str:
    """Say how many matches were capped.

    Examples
    --------
    >>> how_many({"n_matches": 400, "n_capped": 212, "cap": 30})
    '212 of 400 matches (53.0%) reached the cap of 30 rounds'
    >>> how_many({"n_matches": 8, "n_capped": 8, "cap": 30})
    'all 8 matches reached the cap of 30 rounds'
    """
    n, of, cap = (int(counts.get(key, 0)) for key in ("n_capped", "n_matches", "cap"))
    who = (
        f"all {of:,} matches" if n == of > 1 else f"{n:,} of {counted(of, 'match')} ({n / of:.1%})"
    )
    return f"{who} reached the cap of {counted(cap, 'round') if cap else 'rounds'}"


def no_winner(counts: dict[str, Any], what: str = "no verdict") -> str:
    """Say that no match ended, so that there is nothing to conclude.

    Examples
    --------
    >>> no_winner({"n_matches": 8, "n_capped": 8, "cap": 30}, "no rating")
    'No winner: all 8 matches reached the cap of 30 rounds, so there is no goat and no rating.'
    """
    return f"No winner: {how_many(counts)}, so there is no goat and {what}."


def capped_words(results: Any, becomes: str = COUNTED, what: str = "no verdict") -> list[str]:
    """Return a sentence for each rule set that has capped matches, with its name in front.

    ``becomes`` says what becomes of them, ``what`` there is not where no match ended.
    """
    table = capped_matches(results)
    found = []
    for preset, players in dict.fromkeys(zip(table["preset"], table["players"], strict=True)):
        counts = capped_of(table, preset, players)
        if counts["n_capped"]:
            head = f"{preset}, {players} players: "
            found.append(head + told_of(counts, becomes, what))
    return found


def told_of(counts: dict[str, Any], becomes: str = COUNTED, what: str = "no verdict") -> str:
    """Say how many matches were capped, and what became of them; nothing if none was."""
    if not counts["n_capped"]:
        return ""
    if all_capped(counts):
        return no_winner(counts, what)
    text = how_many(counts)
    return f"{text[0].upper()}{text[1:]}, and have no goat and no winner. {becomes}"


def capped_data(results: Any) -> list[dict[str, Any]]:
    """Return the counts of the rule sets and duels with capped matches as plain values."""
    table = capped_matches(results)
    return records(table[table["n_capped"] > 0])


def finished(part: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of matches that ended."""
    return part[~part["capped"]] if "capped" in part.columns else part
