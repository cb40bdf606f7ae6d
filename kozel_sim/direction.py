"""Which way is better: of what is measured a player wants more, or less.

Of goats he wants less, of rating more. Of points that depends on the rules: whoever reaches the
target is the goat, or the winner (``RuleSet.points_win``). A run's frame says so of its rules in
the column ``points_win``, and a table that is made of it in the column ``better`` of its metrics.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from kozel_sim.rules import RuleSet

POINTS_WIN = "points_win"
"""The column of a frame that says whether many points are good."""
LESS, MORE = "less", "more"
ALWAYS = {"goat_rate": LESS, "rating": MORE}
"""Metrics of which the same is better under all rules; all others are points."""
PLAYERS = (2, 3, 4)
"""How many may play: which way a rule set's name says is the same for all of them."""
Key = tuple[str, int]
"""A rule set's name and number of players."""


def better_under(metric: str, win: bool | None) -> str:
    """Return which way a metric is better by whether many points are good, or it is not known."""
    return ALWAYS.get(metric, "" if win is None else MORE if win else LESS)


def better_of(metric: str, rows: pd.DataFrame) -> str:
    """Return which way a metric is better under the rules that rows are of.

    Parameters
    ----------
    metric : str
        Its name.
    rows : DataFrame
        Rows of one rule set: of a run's frame, or of a table that was made of it.

    Returns
    -------
    str
        "less" or "more"; empty where it depends on the rules, and the rows do not show it.

    Raises
    ------
    ValueError
        If the rows contradict each other.

    Examples
    --------
    >>> rows = pd.DataFrame({"preset": ["sea-goat"]})
    >>> better_of("points", rows), better_of("goat_rate", rows)
    ('more', 'less')
    """
    if metric in ALWAYS:
        return ALWAYS[metric]
    if "better" in rows.columns and "metric" in rows.columns:
        said = rows.loc[rows["metric"] == metric, "better"].dropna().unique()
        if len(said) == 1 and said[0] in (LESS, MORE):
            return str(said[0])
    return better_under(metric, points_win(rows))


def sign_of(better: str) -> float:
    """Return what turns a difference into an advantage; ValueError where that is not known."""
    if better not in (LESS, MORE):
        raise ValueError(
            "the frame does not say whether many points are good under its rules, whose name is no "
            f"preset's: it needs a column {POINTS_WIN}, True where reaching the target wins the "
            "match, False where it makes the goat"
        )
    return -1.0 if better == LESS else 1.0


def metric_words(metric: str) -> str:
    """Return what a metric is called in tables and plots.

    A room's rating is what a finished match is worth under its rules; that of ``kozel ratings`` is
    a policy's strength in a field.

    Examples
    --------
    >>> metric_words("rating"), metric_words("points_per_match")
    ('room rating', 'points per match')
    """
    return "room rating" if metric == "rating" else metric.replace("_", " ")


def in_words(metric: str, better: str) -> str:
    """Say which way a metric is better, behind a comma; nothing where that is not known.

    Examples
    --------
    >>> in_words("points_per_match", "more"), in_words("goat_rate", "less")
    (', more are better', ', lower is better')
    """
    rate = metric in ALWAYS
    words = {
        LESS: ", lower is better" if rate else ", fewer are better",
        MORE: ", higher is better" if rate else ", more are better",
    }
    return words.get(better, "")


def rule_in_words(manifest: Mapping[str, Any], preset: str, players: int) -> str:
    """Say whether many points are good under one rule set of a run, and why."""
    if of_manifest(manifest)[preset, players]:
        return "Many points are good here: whoever reaches the target wins."
    return "Few points are good here: whoever reaches the target is the goat."


def points_win(rows: pd.DataFrame) -> bool | None:
    """Tell whether many points are good under the rules that rows are of; None if it is not known.

    By the column `points_win`; in a frame without it by the rules' name, which is a preset's, with
    its changed knobs in brackets.

    Parameters
    ----------
    rows : DataFrame
        Rows of one rule set.

    Raises
    ------
    ValueError
        If the rows contradict each other, or hold no truths.
    """
    name = str(rows["preset"].iloc[0])
    if POINTS_WIN in rows.columns:
        said = rows[POINTS_WIN].dropna().unique()
        if len(said) > 1:
            raise ValueError(
                f"{name}: some rows say that many points are good ({POINTS_WIN}), and some that "
                "few are; name rule sets apart in the column preset"
            )
        if len(said) and said[0] not in (True, False):
            raise ValueError(f"{name}: the column {POINTS_WIN} holds {said[0]!r}, no True or False")
        if len(said):
            return bool(said[0])
    return named_points_win(name)


def named_points_win(name: str) -> bool | None:
    """Tell whether many points are good by a rule set's name; None if it does not say.

    Examples
    --------
    >>> named_points_win("sea-goat"), named_points_win("household-300[reach_effect=loses]")
    (True, False)
    >>> named_points_win("custom[target=50]"), named_points_win("sea-goat[oops=1]")
    (False, None)
    """
    named = (RuleSet.named(name, players) for players in PLAYERS)
    return next((rules.points_win for rules in named if rules is not None), None)


def of_manifest(manifest: Mapping[str, Any]) -> dict[Key, bool]:
    """Return whether many points are good under each rule set of a run."""
    listed = [RuleSet.from_knobs(each["knobs"], each["base"]) for each in manifest["rules"]]
    return {(rules.name, rules.players): rules.points_win for rules in listed}


def completed(frame: pd.DataFrame, manifest: Mapping[str, Any]) -> pd.DataFrame:
    """Return a run's frame with the column `points_win`, which files of old runs lack."""
    if POINTS_WIN in frame.columns or "points" not in frame.columns:
        return frame
    said = of_manifest(manifest)
    keys = zip(frame["preset"], frame["players"], strict=True)
    found = frame.copy(deep=False)
    at = list(frame.columns).index("points") + 1
    found.insert(at, POINTS_WIN, [said[str(name), int(n)] for name, n in keys])
    return found
