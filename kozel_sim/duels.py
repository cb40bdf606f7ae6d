"""Duels: one way of playing against another, on the same deals and from every seat.

Two players play each deal twice, with changed seats. Of four (or three) singles one plays the
first policy and all others the second, once from every seat. Pairs play the first policy against
the second, once on either side. The two are compared within their deals.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kozel_sim.checks import Engine, read_rule_sets
from kozel_sim.decision import Policy
from kozel_sim.equivalence import Margin, equivalence_columns, read_margin
from kozel_sim.intervals import LEVEL, Estimate, p_value
from kozel_sim.metrics import (
    METRICS,
    DealSums,
    Metric,
    duels_of,
    need_columns,
    parts_of,
    values_of,
)
from kozel_sim.policies import get_policy
from kozel_sim.progress import ShowProgress
from kozel_sim.rules import RuleSet
from kozel_sim.runs import Run
from kozel_sim.schedule import DUELS, VERSUS
from kozel_sim.store import read_seed_of
from kozel_sim.tournaments import Tournament


def duel(
    rules: RuleSet | str | Sequence[RuleSet | str],
    first: str | Policy,
    second: str | Policy,
    deals: int,
    seed: int | None = None,
    *,
    players: int | None = None,
    engine: Engine = "auto",
    workers: int = 1,
    progress: ShowProgress = None,
    folder: str | Path | None = None,
) -> Run:
    """Play one policy against another on the same deals, from every seat.

    Parameters
    ----------
    rules : RuleSet, str, or a sequence of them
        Rule sets or presets' names; all are played on the same deals.
    first, second : str or Policy
        The policies. Of more than two singles one plays the first, all others the second.
    deals : int
        How many deals.
    seed : int, optional
        Unsigned 64-bit; without one it is drawn, and noted in the manifest.
    players : int, optional
        For presets given by name: 4 by default, or the only number a preset allows.
    engine, workers, progress, folder
        As for ``tournament``.

    Returns
    -------
    Run
        Its frame has a column duel; ``compare(run.frame)`` is the verdict.

    Raises
    ------
    ValueError
        If a value is out of range or unknown, or a policy makes an illegal move.

    Examples
    --------
    >>> run = duel("room-fish-all", "dump_heavy", "random", 200, seed=1, players=2)
    >>> compare(run.frame)["metric"].tolist()
    ['points_per_round', 'points_per_match', 'goat_rate']
    """
    rule_sets = read_rule_sets(rules, players)
    pair = two_policies(first, second)
    planned = Tournament(
        "duel", rule_sets, pair, deals, read_seed_of(folder, seed), DUELS, ((0, 1),)
    )
    run = planned.play(engine, workers, progress=progress, folder=folder)
    assert isinstance(run, Run)
    return run


def two_policies(first: str | Policy, second: str | Policy) -> list[Policy]:
    """Return the policies of a duel; ValueError if they are one."""
    pair = [get_policy(first), get_policy(second)]
    if pair[0].name == pair[1].name:
        raise ValueError(f"policy {pair[0].name} cannot duel with itself")
    return pair


def compare(
    frame: pd.DataFrame,
    level: float = LEVEL,
    equivalent: str | float | Margin | None = None,
) -> pd.DataFrame:
    """Return how the two policies of each duel differ, paired by deal.

    Parameters
    ----------
    frame : DataFrame
        One row per match and seat, with a column duel: the frame of ``duel``, or of a tournament
        whose design is duels, gauntlet or teams.
    level : float, default 0.95
        The intervals' coverage (each by itself, not all together).
    equivalent : float or str, optional
        A margin within which two policies are as good as equal: in percentage points of goat rate,
        or of another metric, like "2,metric=points_per_match".

    Returns
    -------
    DataFrame
        Columns preset, players, duel, policy, against (of teams: of one or two), metric,
        better ("less" or "more"), estimate (the first policy's),
        against_estimate (the second's), difference (the first's less the second's), std_error,
        ci_low, ci_high (of the difference), p_value (two-sided, of no difference),
        variance_reduction (how much less the difference varies than if each match had a deal of
        its own, as a share; what playing a deal from every seat gains), level, n_matches, n_capped
        (of these, how many reached the cap of rounds: no goat, and points as they stood), n_deals,
        method, and of the goat rate (empty elsewhere, see ``kozel_sim.odds``) odds_ratio (the
        first one's odds of being a goat over the second's), odds_low, odds_high, goat_share (of
        all goats, how many are the first one's), goat_share_low, goat_share_high, seat_share (of
        all seats). Metrics: points_per_round, points_per_match, goat_rate. With a margin, in the
        row of its metric (empty in others): margin (as the row counts: of a rate a share),
        p_equivalent (of two one-sided tests), equivalent_low, equivalent_high (the interval that
        lies within the margin just when both reject), equivalent (whether they do at the level).

    Raises
    ------
    ValueError
        If the frame has no column duel, or the margin cannot be read.

    Examples
    --------
    >>> run = duel("room-fish-all", "dump_doubles", "random", 300, seed=1, players=2)
    >>> answer = compare(run.frame).set_index("metric").loc["goat_rate"]
    >>> round(float(answer["difference"]), 2), bool(answer["ci_high"] < 0)
    (-0.53, True)
    """
    need_columns(frame, ["duel"], "; it comes from duel(), or a tournament of duels")
    margin = None if equivalent is None else read_compared(equivalent)
    rows: list[dict[str, Any]] = []
    for keys, part in parts_of(frame):
        for first, second, here in duels_of(part):
            head = keys | {"duel": f"{first}{VERSUS}{second}", "policy": first, "against": second}
            rows += [
                head | _comparison(here, metric, first, second, level, margin)
                for metric in COMPARED
            ]
    return pd.DataFrame(rows)


COMPARED = ("points_per_round", "points_per_match", "goat_rate")
"""The metrics of a comparison."""


def read_compared(equivalent: str | float | Margin) -> Margin:
    """Read a margin; ValueError if it is none, or of a metric that is not compared."""
    margin = read_margin(equivalent)
    if margin.metric not in COMPARED:
        known = ", ".join(COMPARED)
        raise ValueError(f"equivalent: {margin.metric!r} is not compared; choose from {known}")
    return margin


def _comparison(
    rows: pd.DataFrame, metric: str, first: str, second: str, level: float, margin: Margin | None
) -> dict[str, Any]:
    """Return how two policies differ in one metric."""
    sums = DealSums.of(rows, metric)
    places = (sums.names.index(first), sums.names.index(second))
    means = [float(sums.means[place]) for place in places]
    found = sums.difference(*places, level)
    sides = [rows[rows["policy"] == name] for name in (first, second)]
    return (
        {
            "metric": metric,
            "better": sums.better,
            "estimate": means[0],
            "against_estimate": means[1],
        }
        | {"difference": found.estimate, "std_error": found.std_error}
        | {"ci_low": found.ci_low, "ci_high": found.ci_high}
        | {"p_value": p_value(found)}
        | {"variance_reduction": _reduction(sides, METRICS[metric], means), "level": level}
        | {
            "n_matches": sums.matches,
            "n_capped": sums.capped,
            "n_deals": found.n_deals,
            "method": found.method,
        }
        | sums.odds(*places, level)
        | (_equivalence(found, metric, margin) if margin else {})
    )


def _equivalence(found: Estimate, metric: str, margin: Margin) -> dict[str, Any]:
    """Return what two one-sided tests say of a difference; nothing of another metric's."""
    columns = equivalence_columns(found, margin, found.level)
    return columns if metric == margin.metric else dict.fromkeys(columns)


def _reduction(sides: Sequence[pd.DataFrame], kind: Metric, means: Sequence[float]) -> float:
    """Return 1 less the variance by deal over the variance of matches on deals of their own."""
    seats = sides[0]["seating"].max() + 1
    residuals: npt.NDArray[np.floating[Any]] = np.zeros(0)
    for sign, side, mean in zip((1.0, -1.0), sides, means, strict=True):
        values, count = values_of(side, kind)
        of_match = side["deal"].to_numpy() * seats + side["seating"].to_numpy()
        numbers, codes = np.unique(of_match, return_inverse=True)
        parts = np.bincount(codes, (values - mean * count) / count.sum())
        residuals = sign * parts + (residuals if len(residuals) else 0)
    apart = float(np.sum(residuals**2))
    # Both sides are in every match, so the numbers are the same for both.
    _, deals = np.unique(numbers // seats, return_inverse=True)
    together = float(np.sum(np.bincount(deals, residuals) ** 2))
    return 1 - together / apart if apart else 0.0
