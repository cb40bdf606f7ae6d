"""What is measured of a policy, and its sums by deal: the ground on which conclusions are built.

Legend
------
totals, counts   ``[name, deal]``: the sum of a metric over a policy's seats in a deal's matches,
                 and what it is divided by; a mean is a ratio of their sums over the deals.
influence        ``[name, deal]``: what each deal adds to the error of a mean (its residual over
                 the sum of counts); any weighted sum of means errs by that sum of influences.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kozel_sim import stats
from kozel_sim.capped import capped_in
from kozel_sim.direction import better_of, sign_of
from kozel_sim.fixed import Span
from kozel_sim.intervals import Estimate
from kozel_sim.odds import PAIR_COLUMNS, columns_of_pair
from kozel_sim.rows import number_matches, strata_of
from kozel_sim.schedule import VERSUS

Floats = npt.NDArray[np.float64]
GROUPS = ["preset", "players"]
"""What conclusions are drawn for, one by one."""


@dataclass(frozen=True)
class Metric:
    """A ratio of sums over a policy's seats.

    Attributes
    ----------
    value : str
        The column that is summed.
    weight : str or None
        The column whose sum it is divided by; None for the number of seats.
    rate : bool
        The values are 0 or 1.
    """

    value: str
    weight: str | None = None
    rate: bool = False


METRICS: dict[str, Metric] = {
    "goat_rate": Metric("goat", rate=True),
    "points": Metric("points"),
    "points_per_match": Metric("points"),
    "points_per_round": Metric("points", "rounds"),
    "rating": Metric("rating"),
}
"""By name. Points are those of a match's end, by match (under either name) or by round played.
Which way each is better is asked of ``kozel_sim.direction``."""


def metric_of(name: str) -> Metric:
    """Return a metric; ValueError with the choices if there is none of that name."""
    if name not in METRICS:
        raise ValueError(f"unknown metric {name!r}; choose from {', '.join(METRICS)}")
    return METRICS[name]


@dataclass(frozen=True)
class DealSums:
    """A metric's sums by name and deal.

    Attributes
    ----------
    names : list
        Policies (or seats ...), in the order in which they appear.
    totals, counts : array of float, ``[name, deal]``
        See the module's legend.
    rate : bool
        Whether the values are 0 or 1.
    matches, capped : int
        How many matches there are, and how many of them reached the cap of rounds.
    strata : array of int, ``[deal]``
        The cyclic order of the players that a deal is played in, see ``stats.clustered_error``.
    better : str
        Which way the metric is better under these rules, "less" or "more"; empty if not known.
    span : (float, float), optional
        Between what the rules keep the metric of the only name, who sits at every seat.
    """

    names: list[Any]
    totals: Floats
    counts: Floats
    rate: bool
    matches: int
    capped: int
    strata: npt.NDArray[np.int64]
    better: str
    span: Span | None = None

    @classmethod
    def of(cls, rows: pd.DataFrame, metric: str, by: str = "policy") -> DealSums:
        """Sum a metric over rows of one preset; where it is not defined, it is left out."""
        kind = metric_of(metric)
        values, weights = values_of(rows, kind)
        deal, deals = pd.factorize(rows["deal"].to_numpy())
        codes, found = pd.factorize(rows[by])
        cell = codes * len(deals) + deal
        shape = (len(found), len(deals))
        size = len(found) * len(deals)
        totals = np.bincount(cell, values, size).astype(np.float64).reshape(shape)
        counts = np.bincount(cell, weights, size).astype(np.float64).reshape(shape)
        if (counts.sum(axis=1) <= 0).any():
            raise ValueError(f"the metric {metric!r} has no value for some {by} of these rules")
        matches, capped, whole = _matches_in(rows)
        span = _span_of(rows, kind) if whole and len(found) == 1 else None
        strata, better, rate = strata_of(rows), better_of(metric, rows), kind.rate
        return cls(list(found), totals, counts, rate, matches, capped, strata, better, span)

    @classmethod
    def join(cls, parts: Sequence[DealSums]) -> DealSums:
        """Return the sums of the deals of all parts, which share no deal."""
        names = list(dict.fromkeys(name for part in parts for name in part.names))
        totals, counts = (np.zeros((len(names), sum(p.deals for p in parts))) for _ in range(2))
        at = 0
        for part in parts:
            rows = [names.index(name) for name in part.names]
            totals[rows, at : at + part.deals] = part.totals
            counts[rows, at : at + part.deals] = part.counts
            at += part.deals
        strata = np.concatenate([part.strata for part in parts])
        matches, capped = (
            sum(x) for x in zip(*((p.matches, p.capped) for p in parts), strict=True)
        )
        spans = [part.span for part in parts if part.span is not None]
        span = (min(s[0] for s in spans), max(s[1] for s in spans)) if spans else None
        rate, better = parts[0].rate, parts[0].better
        return cls(names, totals, counts, rate, matches, capped, strata, better, span)

    @property
    def deals(self) -> int:
        """How many deals there are."""
        return int(self.totals.shape[1])

    @property
    def sign(self) -> float:
        """What turns a difference into an advantage; ValueError where that is not known."""
        return sign_of(self.better)

    @property
    def means(self) -> Floats:
        """The metric of each name, ``[name]``."""
        return np.asarray(self.totals.sum(axis=1) / self.counts.sum(axis=1))

    @property
    def influence(self) -> Floats:
        """What each deal adds to the error of each mean, ``[name, deal]``."""
        residuals = self.totals - self.means[:, None] * self.counts
        return np.asarray(residuals / self.counts.sum(axis=1, keepdims=True))

    def mean(self, place: int, level: float) -> Estimate:
        """Return the mean of the name at a place, clustered by deal."""
        totals, counts = self.totals[place], self.counts[place]
        found = stats.clustered_mean(totals, counts, level, self.rate, self.strata, self.span)
        return replace(found, better=self.better)

    def difference(self, first: int, second: int, level: float) -> Estimate:
        """Return the first mean less the second, paired and clustered by deal."""
        one, two = ((self.totals[i], self.counts[i]) for i in (first, second))
        found = stats.clustered_difference(one, two, level, self.rate, self.strata)
        return replace(found, better=self.better)

    def odds(self, first: int, second: int, level: float) -> dict[str, float]:
        """Return odds ratio and share of goats of two names; empty columns of what is no rate."""
        if not self.rate:
            return dict.fromkeys(PAIR_COLUMNS, math.nan)
        one, two = ((self.totals[i], self.counts[i]) for i in (first, second))
        return columns_of_pair(one, two, level, self.strata)

    def pairs(self) -> list[tuple[int, int]]:
        """Return all pairs of places."""
        return list(combinations(range(len(self.names)), 2))


def _matches_in(rows: pd.DataFrame) -> tuple[int, int, bool]:
    """Return of how many matches rows are, how many of these were capped, and if they are whole.

    Rows of one policy alone may look whole by number and seats, so it is told by their labels; of
    rows that have others it is not known, and those of the first seat stand for the matches.
    """
    players = int(rows["players"].iloc[0]) if "players" in rows else 0
    try:
        numbers = number_matches(rows, players) if players else None
    except ValueError:
        numbers = None
    if numbers is None:
        return int((rows["seat"] == 0).sum()), capped_in(rows), False
    matches = int(numbers.max()) + 1
    capped = 0
    if "capped" in rows and rows["capped"].any():
        capped = len(np.unique(numbers[rows["capped"].to_numpy()]))
    return matches, capped, len(rows) == matches * players


def _span_of(rows: pd.DataFrame, kind: Metric) -> Span | None:
    """Return between what the rules keep a metric of all seats of whole matches."""
    if kind.value != "goat" or "preset" not in rows:
        return None
    head = rows.iloc[0]
    goats = stats.goats_in(rows, str(head["preset"]), int(head["players"]))
    return goats.of_a_player if goats else None


def values_of(rows: pd.DataFrame, kind: Metric) -> tuple[Floats, Floats]:
    """Return a metric's values and what they are divided by, row by row."""
    values = rows[kind.value].to_numpy().astype(np.float64)
    weights = np.ones(len(rows)) if kind.weight is None else rows[kind.weight].to_numpy(float)
    known = ~np.isnan(values)
    return np.where(known, values, 0.0), np.where(known, weights, 0.0)


def error_of(influence: Floats) -> float:
    """Return the standard error of a sum of means, from each deal's influence, ``[deal]``."""
    n = len(influence)
    return math.inf if n < 2 else math.sqrt(n / (n - 1) * float(np.sum(influence**2)))


def parts_of(frame: pd.DataFrame) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Split a frame by preset and number of players: the two as a row's first columns, the rows."""
    need_columns(frame, [*GROUPS, "deal", "seat", "policy"])
    for keys, part in frame.groupby(GROUPS, observed=True, sort=False):
        yield dict(zip(GROUPS, keys, strict=True)), part


def duels_of(part: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Split rows of one preset by duel: the two policies (or teams), the rows under these names."""
    need_columns(part, ["duel"], "; it comes from duel() or a tournament of duels")
    for title, rows in part.groupby("duel", observed=True, sort=False):
        first, _, second = str(title).partition(VERSUS)
        if "first" in rows.columns:
            names = pd.Categorical.from_codes(
                np.where(rows["first"], 0, 1), pd.Index([first, second])
            )
            rows = rows.assign(policy=names)
        yield first, second, rows


def need_columns(frame: pd.DataFrame, columns: Sequence[str], hint: str = "") -> None:
    """Raise ValueError if a frame has no rows or lacks a column."""
    for column in columns:
        if column not in frame.columns:
            raise ValueError(f"the frame has no column {column!r}{hint}")
    if frame.empty:
        raise ValueError("the frame has no rows")


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values of a family of two-sided tests, adjusted so that signs are sure too.

    Each two-sided test is two one-sided ones, of either sign, and Holm's procedure is applied to
    all of them. So the chance that any difference is declared that is not there, or any with the
    wrong sign, is at most the level, whatever the dependence.

    Parameters
    ----------
    p_values : sequence of float
        Two-sided p-values.

    Returns
    -------
    list of float
        A test of its own keeps its p-value; of m tests the least is multiplied by m.

    References
    ----------
    Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6, 1979. Mogstad, Romano, Shaikh and Wilhelm, "Inference for ranks", Review of
    Economic Studies 91, 2024 (both signs of all pairs as one family).

    Examples
    --------
    >>> holm([0.03]), holm([0.01, 0.04])
    ([0.03], [0.02, 0.06])
    """
    # As statsmodels' multipletests, which takes longer to load than a tournament takes to play.
    halves = np.asarray(p_values, float) / 2
    tests = np.concatenate([halves, 1 - halves])
    order = np.argsort(tests, kind="stable")
    adjusted = np.empty(len(tests))
    steps = np.maximum.accumulate(tests[order] * np.arange(len(tests), 0, -1))
    adjusted[order] = np.minimum(steps, 1)
    return [float(p) for p in adjusted[: len(halves)]]


def resamples_of(strata: npt.NDArray[np.int64], resamples: int, seed: int) -> Iterator[Floats]:
    """Draw deals with replacement, again and again: how much each is worth, ``[deal]``.

    Of n deals of a kind n - 1 are drawn, each worth n / (n - 1) of one, so that a mean of a few
    deals has the variance of its standard error, and not (n - 1) / n of it.

    Parameters
    ----------
    strata : array of int, ``[deal]``
        The kind of each deal; kinds are drawn one by one, as for ``stats.clustered_error``.
    resamples : int
        How many times.
    seed : int
        Of ``numpy.random.default_rng``.

    References
    ----------
    Rao and Wu, "Resampling inference with complex survey data", Journal of the American Statistical
    Association 83, 1988.
    """
    rng = np.random.default_rng(seed)
    _, sizes = np.unique(strata, return_counts=True)
    if not stats.set_apart(sizes):
        strata = np.zeros(len(strata), np.int64)
    kinds = [np.flatnonzero(strata == kind) for kind in np.unique(strata)]
    for _ in range(resamples):
        weights = np.ones(len(strata))
        for places in kinds:
            n = len(places)
            if n > 1:
                weights[places] = rng.multinomial(n - 1, np.full(n, 1 / n)) * n / (n - 1)
        yield weights
