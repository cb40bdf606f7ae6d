"""What is said of two policies in plain words: that they played alike, or are as good as equal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kozel_sim.plain import records
from kozel_sim.printing import number_text, p_text
from kozel_sim.words import counted

if TYPE_CHECKING:
    from kozel_sim.runs import Run

Duel = tuple[str, int, str]
"""A preset, the number of players and a duel's title."""


def alike_words(played: Run) -> dict[Duel, str]:
    """Say of each duel of a run whose matches all came out the same that they did, and how far."""
    from kozel_sim.alike import DIFFERENT, MOVES, same_play

    found = {}
    for row in records(same_play(played)):
        if row["same"] != DIFFERENT:
            pair = f"{row['policy']} and {row['against']}"
            matches = (
                f"in all {counted(row['n_matches'], 'match')} ({counted(row['n_deals'], 'deal')})"
            )
            what, more = "made the same moves", ""
            if row["same"] != MOVES:
                what, more = "had the same results", "; their moves differ, or are not known"
            found[duel_of(row)] = f"{pair} {what} {matches} under {row['preset']}{more}."
    return found


def duel_of(row: dict[str, Any]) -> Duel:
    """Return which duel a row of ``compare`` is of."""
    return str(row["preset"]), int(row["players"]), str(row["duel"])


def decisions_to_tell(rows: list[dict[str, Any]], alike: dict[Duel, str]) -> list[dict[str, Any]]:
    """Return the decisions of a run that may stop, without open ones of who played alike.

    More deals would tell nothing of these.
    """
    same = {f"{preset} {players}: {title}" for preset, players, title in alike}
    return [row for row in rows if row["decision"] != "open" or row["key"] not in same]


def is_equivalent(row: dict[str, Any]) -> bool:
    """Tell whether a row of ``compare`` was asked for equivalence, and has it."""
    return bool(row.get("equivalent"))


def equivalence_words(row: dict[str, Any], rules: str) -> str:
    """Say whether a difference lies within the margin that a row of ``compare`` was asked for."""
    from kozel_sim.equivalence import Margin
    from kozel_sim.intervals import percent

    asked = Margin.of_plain(row["margin"], row["metric"])
    scale, margin = asked.value / row["margin"], asked.words
    ends = (number_text(row[f"equivalent_{end}"], scale, 2) for end in ("low", "high"))
    level = f"{percent(2 * row['level'] - 1)} interval [{', '.join(ends)}]"
    tests = f"{level}, two one-sided tests, {p_text(row['p_equivalent'], 'p')}"
    pair = f"{row['policy']} and {row['against']}"
    if is_equivalent(row):
        return f"{pair} are equivalent under {rules}: they differ by less than {margin} ({tests})."
    return f"That {pair} differ by less than {margin} under {rules} is not shown ({tests})."
