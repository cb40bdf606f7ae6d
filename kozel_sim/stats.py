"""Estimates with intervals: pure functions of frames.

All matches that share a deal share its luck, so the deal is the cluster: a mean is a ratio of sums
over deals, its standard error comes from the deals' deviations, and its interval from Student's t
with one degree of freedom less than there are deals. Deals of several kinds by design, such as the
cyclic orders of a tournament, are set apart: one degree less for each kind.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import special

from kozel_sim.direction import better_under, points_win
from kozel_sim.rows import (
    by_deal,
    by_first_row,
    number_matches,
    orders_of,
    strata_of,
    whole_matches,
)

LEVEL = 0.95
_ORDER = "cyclic order"
_CLUSTERED = "t, clustered by deal"
_PAIRED = "t, paired and clustered by deal"
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Estimate:
    """A mean with its uncertainty.

    Attributes
    ----------
    estimate, std_error, ci_low, ci_high : float
        The mean, its standard error, and the ends of its interval. With one deal nothing is known
        of the error: it is infinite.
    level : float
        The interval's coverage.
    n_deals : int
        Clusters.
    method : str
        How the interval was made.
    strata : int
        Kinds of deals whose means were set apart; degrees of freedom that are not there.
    better : str
        Which way what is estimated is better, "less" or "more"; empty where it is not said.
    """

    estimate: float
    std_error: float
    ci_low: float
    ci_high: float
    level: float
    n_deals: int
    method: str
    strata: int = 1
    better: str = ""

    @property
    def df(self) -> int:
        """Degrees of freedom of the error."""
        return self.n_deals - self.strata


def clustered_mean(
    totals: npt.ArrayLike,
    counts: npt.ArrayLike,
    level: float = LEVEL,
    rate: bool = False,
    strata: npt.ArrayLike | None = None,
) -> Estimate:
    """Return the mean of clustered values: the sum of totals over the sum of counts.

    Parameters
    ----------
    totals, counts : array_like of float, ``[deal]``
        By deal: the sum of the values, and how many there are (or another denominator).
    level : float, default 0.95
        The interval's coverage.
    rate : bool, default False
        The values are 0 or 1: the interval is Wilson's, which stays within 0 and 1 and suits rare
        events. Where all deals agree, the deals are its trials, so that few results never look
        certain.
    strata : array_like of int, optional, ``[deal]``
        The kind of each deal, where the design fixes how many there are of each, see
        ``clustered_error``.

    Returns
    -------
    Estimate
        The mean, with a linearised (Taylor) standard error clustered by deal.

    Raises
    ------
    ValueError
        If the counts sum to nothing.

    References
    ----------
    Cochran, "Sampling Techniques", 3rd ed. 1977, chapter 6 (ratio estimates); Wilson 1927.

    Examples
    --------
    >>> e = clustered_mean([1, 2, 3, 2], [4, 4, 4, 4])
    >>> round(e.estimate, 3), round(e.std_error, 3)
    (0.5, 0.102)
    """
    need_level(level)
    total, count = np.asarray(totals, float), np.asarray(counts, float)
    n, size = len(total), float(count.sum())
    if n == 0 or size <= 0:
        raise ValueError("a mean of nothing: no deal has a match")
    mean = float(total.sum()) / size
    some = int(np.argmax(count != 0))
    if n > 1 and np.array_equal(total * count[some], count * total[some]):
        return mean_estimate(mean, 0.0, n, level, rate)  # to the bit, where rounding leaves a trace
    error, kinds = clustered_error((total - mean * count) / size, strata)
    return mean_estimate(mean, error, n, level, rate, kinds)


LEAST_OF_A_KIND = 5
"""Deals of each kind from which on their means are set apart."""


def clustered_error(
    deviations: npt.ArrayLike, strata: npt.ArrayLike | None = None
) -> tuple[float, int]:
    """Return the standard error of a sum of deals' deviations, and how many kinds were set apart.

    Parameters
    ----------
    deviations : array_like of float, ``[deal]``
        What each deal adds to the error; they sum to 0.
    strata : array_like of int, optional, ``[deal]``
        The kind of each deal. A tournament plays deals in turn in all cyclic orders of its players,
        so neighbours (and partners) change from deal to deal by design and not by luck. Only the
        spread of deals within a kind is luck. With fewer than `LEAST_OF_A_KIND` deals of a kind
        nothing is set apart, and the error is too large rather than too small.

    References
    ----------
    Cochran, "Sampling Techniques", 3rd ed. 1977, chapter 5 (stratified sampling).

    Examples
    --------
    >>> clustered_error([1, -1] * 6)[0] > clustered_error([1, -1] * 6, [0, 1] * 6)[0]
    True
    """
    deviation = np.asarray(deviations, float)
    n = len(deviation)
    if n < 2:
        return math.inf, 1
    whole = math.sqrt(n / (n - 1) * float(np.sum(deviation**2)))
    if strata is None:
        return whole, 1
    kinds, of_deal, sizes = np.unique(strata, return_inverse=True, return_counts=True)
    if not set_apart(sizes):
        return whole, 1
    means = np.bincount(of_deal, deviation) / sizes
    scale = (sizes / (sizes - 1))[of_deal]
    within = math.sqrt(float(np.sum(scale * (deviation - means[of_deal]) ** 2)))
    return without_dust(within, whole), len(kinds)


def set_apart(deals: npt.ArrayLike) -> bool:
    """Tell whether kinds of deals are set apart, by how many there are of each, ``[kind]``."""
    sizes = np.asarray(deals)
    return len(sizes) > 1 and bool(sizes.min() >= LEAST_OF_A_KIND)


def mean_estimate(
    mean: float, error: float, n: int, level: float, rate: bool, strata: int = 1
) -> Estimate:
    """Return the estimate of a mean with its standard error, of n deals; as `clustered_mean`.

    A rate's interval is Wilson's, of as many trials as would have its error, with Student's t.

    References
    ----------
    Korn and Graubard, "Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data", Survey Methodology 24, 1998 (effective sample size); Dean
    and Pagano, "Evaluating confidence interval methods for binomial proportions in clustered
    surveys", Journal of Survey Statistics and Methodology 3, 2015 (Wilson's with it).
    """
    need_level(level)
    if rate and not 0 < error < math.inf:
        low, high = wilson(mean * n, n, level)
        return Estimate(mean, error, low, high, level, n, "Wilson, deals as trials")
    if n == 1:
        return Estimate(mean, error, -math.inf, math.inf, level, n, _CLUSTERED)
    if error == 0:
        # As many deals as may go unseen could differ, each by as much as there is.
        half = abs(mean) * wilson(0, n, level)[1]
        method = "Wilson, deals as trials"
        return Estimate(mean, error, mean - half, mean + half, level, n, method, strata)
    t = float(special.stdtrit(n - strata, (1 + level) / 2))
    if rate:
        low, high = _score_interval(mean, mean * (1 - mean) / error**2, t)
        return Estimate(mean, error, low, high, level, n, f"Wilson, {_CLUSTERED}", strata)
    return Estimate(mean, error, mean - t * error, mean + t * error, level, n, _CLUSTERED, strata)


def clustered_difference(
    first: tuple[npt.ArrayLike, npt.ArrayLike],
    second: tuple[npt.ArrayLike, npt.ArrayLike],
    level: float = LEVEL,
    rate: bool = False,
    strata: npt.ArrayLike | None = None,
) -> Estimate:
    """Return the difference of two clustered means over the same deals, paired by deal.

    Parameters
    ----------
    first, second : pair of array_like of float, ``[deal]``
        Totals and counts as for ``clustered_mean``; entry d of both belongs to the same deal.
    level : float, default 0.95
        The interval's coverage.
    rate : bool, default False
        The values are 0 or 1: the interval is kept within -1 and 1. Where all deals agree, it is as
        wide as the share of deals that might have differed by Wilson, each by the most it could,
        instead of nothing.
    strata : array_like of int, optional, ``[deal]``
        The kind of each deal, see ``clustered_error``.

    Returns
    -------
    Estimate
        First mean minus second mean; its error takes the deals' covariance into account.

    Raises
    ------
    ValueError
        If the two do not have the same deals, or counts sum to nothing.

    Examples
    --------
    >>> e = clustered_difference(([2, 3, 4], [4, 4, 4]), ([1, 2, 3], [4, 4, 4]))
    >>> e.estimate, e.std_error
    (0.25, 0.0)
    """
    need_level(level)
    means, deviations = [], []
    for totals, counts in (first, second):
        total, count = np.asarray(totals, float), np.asarray(counts, float)
        if count.sum() <= 0:
            raise ValueError("a mean of nothing: no deal has a match")
        mean = float(total.sum() / count.sum())
        means.append(mean)
        deviations.append((total - mean * count) / count.sum())
    if len(deviations[0]) != len(deviations[1]):
        raise ValueError(
            f"paired means need the same deals: {len(deviations[0])} and {len(deviations[1])}"
        )
    n = len(deviations[0])
    error, kinds = clustered_error(deviations[0] - deviations[1], strata)
    scale = abs(means[0]) + abs(means[1])
    difference, error = (without_dust(x, scale) for x in (means[0] - means[1], error))
    return difference_estimate(difference, error, n, level, rate, kinds)


def without_dust(value: float, scale: float) -> float:
    """Return 0 for what rounding has left of numbers of some scale; it would look significant."""
    return 0.0 if abs(value) <= 1e-12 * scale else value


def difference_estimate(
    difference: float, error: float, n: int, level: float, rate: bool, strata: int = 1
) -> Estimate:
    """Return the estimate of a difference with its error, of n deals; as `clustered_difference`."""
    need_level(level)
    if n == 1:
        return Estimate(difference, math.inf, -math.inf, math.inf, level, n, _PAIRED)
    half = float(special.stdtrit(n - strata, (1 + level) / 2)) * error
    low, high, method = difference - half, difference + half, _PAIRED
    if error == 0:
        # As many deals as may go unseen could differ, each by as much as there is.
        half = (rate + abs(difference)) * wilson(0, n, level)[1]
        low, high, method = difference - half, difference + half, "Wilson, deals as trials"
    if rate:
        low, high = max(-1.0, low), min(1.0, high)
    return Estimate(difference, error, low, high, level, n, method, strata)


@dataclass(frozen=True)
class Ratio:
    """A ratio of two sums over deals, by its parts, and the deals' kinds, ``[deal]``."""

    tops: Floats
    bottoms: Floats
    strata: Ints | None = None

    @property
    def value(self) -> float:
        """The ratio."""
        return float(self.tops.sum() / self.bottoms.sum())

    @property
    def exists(self) -> bool:
        """Whether there is anything to divide by."""
        return bool(self.bottoms.sum() > 0)

    def mean(self, level: float, rate: bool = False) -> Estimate:
        """Return ``clustered_mean``."""
        return clustered_mean(self.tops, self.bottoms, level, rate, self.strata)

    def minus(self, other: Ratio, level: float, rate: bool = False) -> Estimate:
        """Return ``clustered_difference``."""
        mine, theirs = (self.tops, self.bottoms), (other.tops, other.bottoms)
        return clustered_difference(mine, theirs, level, rate, self.strata)


def p_value(found: Estimate, rate: bool = False) -> float:
    """Return the two-sided p-value of an estimate being 0; 1 where it is 0 or from one deal.

    By Student's t. Where all deals agree, it is the level at which the interval of a difference of
    rates would touch 0, or for other means that of a sign test: few deals are never certain.

    Examples
    --------
    >>> round(p_value(clustered_mean([1, -1, 2, 0, 1], [1, 1, 1, 1, 1])), 3)
    0.305
    """
    if found.estimate == 0 or found.n_deals < 2:
        return 1.0
    if found.std_error == 0:
        if rate:
            return float(2 * special.ndtr(-math.sqrt(found.n_deals * abs(found.estimate))))
        return float(2.0 ** (1 - found.n_deals))
    return float(2 * special.stdtr(found.df, -abs(found.estimate / found.std_error)))


def need_level(level: float) -> None:
    """Raise ValueError unless a level of coverage is between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, like 0.95, not {level!r}")


def percent(level: float) -> str:
    """Write a level in percent, without rounding it up to 100%.

    Examples
    --------
    >>> percent(0.95), percent(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * level:.12g}%"


def wilson(successes: float, trials: float, level: float = LEVEL) -> tuple[float, float]:
    """Return Wilson's interval for a plain rate; (0, 1) without trials.

    Examples
    --------
    >>> [round(end, 3) for end in wilson(34, 40)]
    [0.709, 0.929]
    """
    if trials <= 0:
        return 0.0, 1.0
    rate = 1.0 if successes == trials else successes / trials
    return _score_interval(rate, trials, float(special.ndtri((1 + level) / 2)))


def _score_interval(rate: float, trials: float, z: float) -> tuple[float, float]:
    """Return the rates from which a rate is at most z standard errors away."""
    centre = rate + z * z / (2 * trials)
    spread = z * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    low = 0.0 if rate == 0 else max(0.0, (centre - spread) / scale)
    high = 1.0 if rate == 1 else min(1.0, (centre + spread) / scale)
    return low, high


def summarise(frame: pd.DataFrame, by: str = "policy", level: float = LEVEL) -> pd.DataFrame:
    """Return goat rate, points and rating by policy (or seat, or whether it led), with intervals.

    Parameters
    ----------
    frame : DataFrame
        One row per match and seat, as in ``Run.frame``, or some of its rows under their own labels.
    by : str, default "policy"
        A column of the frame.
    level : float, default 0.95
        The intervals' coverage.

    Returns
    -------
    DataFrame
        Columns preset, players, `by`, metric, better ("less" or "more"), estimate, std_error,
        ci_low, ci_high, level, n_matches, n_deals, method; within a preset the lowest goat rate
        first.

    Raises
    ------
    ValueError
        If the frame has no such column, or does not show which rows are of the same match.
    """
    if by not in list(frame.columns):
        raise ValueError(
            f"no column {by!r} to summarise by; choose from {', '.join(map(str, frame.columns))}"
        )
    rows: list[dict[str, Any]] = []
    for (preset, players), part in frame.groupby(["preset", "players"], observed=True, sort=False):
        groups: list[Group] = []
        match = number_matches(part, int(str(players)))
        part = part.assign(match=match, **{_ORDER: orders_of(part)})
        for value, rows_of in part.groupby(by, observed=True, sort=False):
            metrics = {
                "goat_rate": _mean(rows_of, "goat", level, rate=True),
                "points": _mean(rows_of, "points", level),
            }
            if rows_of["rating"].notna().any():
                metrics["rating"] = _mean(rows_of[rows_of["rating"].notna()], "rating", level)
            groups.append((value, rows_of["match"].nunique(), metrics))
        rows += summary_rows(preset, players, by, groups, points_win(part))
    return pd.DataFrame(rows)


Group = tuple[Any, int, dict[str, Estimate]]
"""A policy (or seat ...), in how many matches it is, and its metrics by name."""


def summary_rows(
    preset: Any, players: Any, by: str, groups: list[Group], win: bool | None
) -> list[dict[str, Any]]:
    """Return the rows of a summary; policies with the lowest goat rate first.

    ``win`` is whether many points are good under these rules; None where it is not known.
    """
    if by == "policy":
        groups = sorted(groups, key=lambda g: g[2]["goat_rate"].estimate)
    return [
        {"preset": preset, "players": players, by: value, "metric": metric}
        | {"better": better_under(metric, win)}
        | _columns(estimate, n)
        for value, n, metrics in groups
        for metric, estimate in metrics.items()
    ]


def preset_rows(
    preset: Any, players: Any, metrics: dict[str, Estimate], n_matches: int
) -> list[dict[str, Any]]:
    """Return the rows of what a preset makes of the game."""
    return [
        {"preset": preset, "players": players, "metric": metric} | _columns(estimate, n_matches)
        for metric, estimate in metrics.items()
    ]


def only(summary: pd.DataFrame, metric: str | None) -> pd.DataFrame:
    """Return a summary's rows of one metric, or all; ValueError if it has no such metric."""
    if metric is None:
        return summary
    if metric not in set(summary["metric"]):
        known = ", ".join(summary["metric"].unique())
        raise ValueError(f"unknown metric {metric!r}; choose from {known}")
    return summary[summary["metric"] == metric].reset_index(drop=True)


def summarise_presets(frame: pd.DataFrame, level: float = LEVEL) -> pd.DataFrame:
    """Return what each preset makes of the game: goats, fish, rounds and capped matches.

    Parameters
    ----------
    frame : DataFrame
        One row per match and seat, matches being whole.
    level : float, default 0.95
        The intervals' coverage.

    Returns
    -------
    DataFrame
        Columns preset, players, metric, estimate, std_error, ci_low, ci_high, level, n_matches,
        n_deals, method. Metrics: goats_per_match; goat_rate (the chance of one player);
        fish_rate (fish per round); rounds (per match); capped_rate.

    Raises
    ------
    ValueError
        If rows of a match are missing.
    """
    rows: list[dict[str, Any]] = []
    for (preset, players), part in frame.groupby(["preset", "players"], observed=True, sort=False):
        part = whole_matches(part, int(str(players)))
        matches = part[part["seat"] == 0]
        strata = strata_of(part)
        goats = by_deal(part, part["goat"])
        seats = by_deal(part, np.ones(len(part)))
        per_deal = by_deal(matches, np.ones(len(matches)))
        rounds, fish, capped = (
            by_deal(matches, matches[column]) for column in ("rounds", "fish_rounds", "capped")
        )
        metrics = {
            "goats_per_match": Ratio(goats, per_deal, strata).mean(level),
            "goat_rate": Ratio(goats, seats, strata).mean(level),
            "fish_rate": Ratio(fish, rounds, strata).mean(level, rate=True),
            "rounds": Ratio(rounds, per_deal, strata).mean(level),
            "capped_rate": Ratio(capped, per_deal, strata).mean(level, rate=True),
        }
        rows += preset_rows(preset, players, metrics, len(matches))
    return pd.DataFrame(rows)


def _mean(rows: pd.DataFrame, column: str, level: float, rate: bool = False) -> Estimate:
    sums, seats = by_deal(rows, rows[column]), by_deal(rows, np.ones(len(rows)))
    return Ratio(sums, seats, by_first_row(rows, rows[_ORDER])).mean(level, rate)


def _columns(estimate: Estimate, n_matches: int) -> dict[str, float | int | str]:
    return {
        "estimate": estimate.estimate,
        "std_error": estimate.std_error,
        "ci_low": estimate.ci_low,
        "ci_high": estimate.ci_high,
        "level": estimate.level,
        "n_matches": n_matches,
        "n_deals": estimate.n_deals,
        "method": estimate.method,
    }


def wide(
    summary: pd.DataFrame, metrics: Iterable[str] = ("goat_rate", "points", "rating")
) -> pd.DataFrame:
    """Return a summary with a row per group, and three columns per metric.

    Returns
    -------
    DataFrame
        The group's columns, then for each metric its estimate under the metric's name, and
        ``metric.ci_low`` and ``metric.ci_high``.
    """
    keys = list(summary.columns[: list(summary.columns).index("metric")])
    table = summary[keys].drop_duplicates().set_index(keys)
    for metric in metrics:
        block = summary[summary["metric"] == metric].set_index(keys)
        for column in ("estimate", "ci_low", "ci_high"):
            name = metric if column == "estimate" else f"{metric}.{column}"
            table[name] = block[column]
    return table.reset_index()
