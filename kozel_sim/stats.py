"""Estimates with intervals: pure functions of frames.

All matches that share a deal share its luck, so the deal is the cluster: a mean is a ratio of sums
over deals, its standard error comes from the deals' deviations, and its interval from Student's t
with one degree of freedom less than there are deals. Deals of several kinds by design, such as the
cyclic orders of a tournament, are set apart: one degree less for each kind.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from kozel_sim.direction import better_under, points_win
from kozel_sim.few import unseen_error, unseen_error_of_moments
from kozel_sim.fixed import BROKEN, Goats, Span, goats_of, span_between
from kozel_sim.intervals import LEVEL as LEVEL
from kozel_sim.intervals import Estimate as Estimate
from kozel_sim.intervals import difference_estimate as difference_estimate
from kozel_sim.intervals import mean_estimate as mean_estimate
from kozel_sim.intervals import need_level as need_level
from kozel_sim.intervals import p_value as p_value
from kozel_sim.intervals import percent as percent
from kozel_sim.intervals import wilson as wilson
from kozel_sim.intervals import without_dust as without_dust
from kozel_sim.rows import (
    by_deal,
    by_first_row,
    number_matches,
    orders_of,
    strata_of,
    whole_matches,
)

_ORDER = "cyclic order"
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def clustered_mean(
    totals: npt.ArrayLike,
    counts: npt.ArrayLike,
    level: float = LEVEL,
    rate: bool = False,
    strata: npt.ArrayLike | None = None,
    span: Span | None = None,
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
    span : (float, float), optional
        Between what the rules keep the mean. It is a rate on the way from the one to the other, and
        its interval is Wilson's there; two equal numbers are the mean, without an error. Without
        one nothing bounds the mean of what is no rate and 0 in all deals: its interval has no ends.

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
        # To the bit, where rounding leaves a trace.
        return mean_estimate(mean, 0.0, n, level, rate, span=span)
    error, kinds = clustered_error((total - mean * count) / size, strata)
    return mean_estimate(mean, error, n, level, rate, kinds, span)


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
        The values are 0 or 1: the interval is kept within -1 and 1.
    strata : array_like of int, optional, ``[deal]``
        The kind of each deal, see ``clustered_error``.

    Returns
    -------
    Estimate
        First mean minus second mean; its error takes the deals' covariance into account, and, where
        few deals differ, those that might have, see ``kozel_sim.few``.

    Raises
    ------
    ValueError
        If the two do not have the same deals, or counts sum to nothing.

    Examples
    --------
    >>> e = clustered_difference(([2, 3, 4], [4, 4, 4]), ([1, 2, 3], [4, 4, 4]))
    >>> e.estimate, round(e.std_error, 2)
    (0.25, 0.59)
    """
    need_level(level)
    sides = [_arrays(*side) for side in (first, second)]
    difference, error, kinds = paired_error(sides[0], sides[1], strata)
    error = math.hypot(error, unseen_error([(*sides[0], *sides[1])], rate))
    return difference_estimate(difference, error, len(sides[0][0]), level, rate, kinds)


def _arrays(totals: npt.ArrayLike, counts: npt.ArrayLike) -> tuple[Floats, Floats]:
    return np.asarray(totals, float), np.asarray(counts, float)


def paired_error(
    first: tuple[Floats, Floats],
    second: tuple[Floats, Floats],
    strata: npt.ArrayLike | None = None,
) -> tuple[float, float, int]:
    """Return a difference of means, its error by the deals' spread, and the kinds set apart."""
    means, deviations = [], []
    for total, count in (first, second):
        if count.sum() <= 0:
            raise ValueError("a mean of nothing: no deal has a match")
        mean = float(total.sum() / count.sum())
        means.append(mean)
        deviations.append((total - mean * count) / count.sum())
    if len(deviations[0]) != len(deviations[1]):
        raise ValueError(
            f"paired means need the same deals: {len(deviations[0])} and {len(deviations[1])}"
        )
    error, kinds = clustered_error(deviations[0] - deviations[1], strata)
    scale = abs(means[0]) + abs(means[1])
    difference, error = (without_dust(x, scale) for x in (means[0] - means[1], error))
    return difference, error, kinds


@dataclass(frozen=True)
class Ratio:
    """A ratio of two sums over deals, by its parts, and the deals' kinds, ``[deal]``.

    Between what the rules keep it, if they do, is its `span`.
    """

    tops: Floats
    bottoms: Floats
    strata: Ints | None = None
    span: Span | None = None

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
        return clustered_mean(self.tops, self.bottoms, level, rate, self.strata, self.span)

    def minus(self, other: Ratio, level: float, rate: bool = False) -> Estimate:
        """Return ``clustered_difference``, with what sums can tell of deals that agree."""
        fixed = minus_fixed(self, other, level, rate)
        if fixed is not None:
            return fixed
        mine, theirs = (self.tops, self.bottoms), (other.tops, other.bottoms)
        difference, error, kinds = paired_error(mine, theirs, self.strata)
        n, largest = len(self.tops), 1.0 if rate else max(self.size, other.size)
        error = math.hypot(error, unseen_error_of_moments(error, n, largest))
        span = span_between(self.span, other.span)
        return difference_estimate(difference, error, n, level, rate, kinds, span)

    def contrast(self, other: Ratio, weights: Sequence[float]) -> tuple[float, int, int]:
        """Return the error of this and the other, weighted, and how many deals and kinds."""
        deviations = [
            weight * (one.tops - one.value * one.bottoms) / one.bottoms.sum()
            for one, weight in zip((self, other), weights, strict=True)
        ]
        error, kinds = clustered_error(deviations[0] - deviations[1], self.strata)
        return error, len(self.tops), kinds

    @property
    def size(self) -> float:
        """The root mean square of a deal's value."""
        n = len(self.tops)
        return math.sqrt(float(np.sum(self.tops**2)) * n) / float(self.bottoms.sum())


class Spanned(Protocol):
    """A ratio that has a mean, and perhaps a span by the rules."""

    @property
    def span(self) -> Span | None:
        """Between what the rules keep it."""

    def mean(self, level: float, rate: bool = False) -> Estimate:
        """Return its mean."""


def minus_fixed(first: Spanned, second: Spanned, level: float, rate: bool) -> Estimate | None:
    """Return the difference of two ratios one of which the rules fix; None if they fix neither.

    The error is that of the other one, and none where both are fixed.
    """
    if all(ratio.span is None or ratio.span[0] < ratio.span[1] for ratio in (first, second)):
        return None
    one, other = first.mean(level, rate), second.mean(level, rate)
    if not one.fixed and not other.fixed:
        return None
    loose = one if other.fixed else other
    ends = one.ci_low - other.ci_high, one.ci_high - other.ci_low
    return replace(loose, estimate=one.estimate - other.estimate, ci_low=ends[0], ci_high=ends[1])


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
        goats = goats_in(part, str(preset), int(str(players)))
        part = part.assign(match=match, **{_ORDER: orders_of(part)})
        for value, rows_of in part.groupby(by, observed=True, sort=False):
            # Who sits at every seat is the goat as often as there are goats.
            everybody = len(rows_of) == rows_of["match"].nunique() * int(str(players))
            of_goats = goats if everybody else None
            metrics = {
                "goat_rate": _mean(rows_of, "goat", level, rate=True, goats=of_goats),
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
        known = goats_in(part, str(preset), int(str(players)))
        per_match, of_a_player = (known.seats, known.of_a_player) if known else (None, None)
        metrics = {
            "goats_per_match": Ratio(goats, per_deal, strata, per_match).mean(level),
            "goat_rate": Ratio(goats, seats, strata, of_a_player).mean(level),
            "fish_rate": Ratio(fish, rounds, strata).mean(level, rate=True),
            "rounds": Ratio(rounds, per_deal, strata).mean(level),
            "capped_rate": Ratio(capped, per_deal, strata).mean(level, rate=True),
        }
        rows += preset_rows(preset, players, told_broken(metrics, known), len(matches))
    return pd.DataFrame(rows)


def goats_in(rows: pd.DataFrame, preset: str, players: int) -> Goats | None:
    """Return how many goats the matches of rows have by their rules, if these are known."""
    if "capped" not in rows.columns:
        return None
    return goats_of(preset, players, bool(rows["capped"].any()))


def told_broken(metrics: dict[str, Estimate], goats: Goats | None) -> dict[str, Estimate]:
    """Return estimates of all goats, which say so where capped matches break what the rules fix."""
    if goats is None or not goats.broken:
        return metrics
    return {
        name: replace(one, method=f"{one.method}; {BROKEN}") if name in OF_GOATS else one
        for name, one in metrics.items()
    }


OF_GOATS = ("goats_per_match", "goat_rate")
"""What the rules may fix."""


def _mean(
    rows: pd.DataFrame, column: str, level: float, rate: bool = False, goats: Goats | None = None
) -> Estimate:
    sums, seats = by_deal(rows, rows[column]), by_deal(rows, np.ones(len(rows)))
    span = goats.of_a_player if goats else None
    found = Ratio(sums, seats, by_first_row(rows, rows[_ORDER]), span).mean(level, rate)
    return told_broken({"goat_rate": found}, goats)["goat_rate"]


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
