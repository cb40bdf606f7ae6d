"""Odds and shares: differences of rates for those who do not start from the same rate.

A goat rate of 30% and one of 75% leave different room: ten percentage points are a third of the one
and less than a seventh of the other. Two measures stand beside the points. The odds ratio compares
p / (1 - p), and is the same whether goats are counted or those who are none (then it is 1 over it).
The share of goats says how many of all goats are of one policy, beside how many of the seats are;
more goats for everybody leave it as it is.

References
----------
Agresti, "Categorical Data Analysis", 3rd ed. 2013, sections 2.2 and 3.1 (odds ratios, and the delta
method on their logarithm). Binder, "On the variances of asymptotically normal estimators from
complex surveys", International Statistical Review 51, 1983 (by what each cluster adds).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy import special

from kozel_sim.few import unseen_error, unseen_error_of_moments
from kozel_sim.stats import Estimate, Spanned, clustered_error, clustered_mean, need_level

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Odds:
    """An odds ratio with its interval; not a number where a rate is 0 or 1, which has no odds."""

    ratio: float = math.nan
    low: float = math.nan
    high: float = math.nan

    @property
    def columns(self) -> dict[str, float]:
        """The three as columns of a table."""
        return {"odds_ratio": self.ratio, "odds_low": self.low, "odds_high": self.high}


EVEN = Odds(1.0, 1.0, 1.0)
"""What is compared with itself."""


def odds_ratio(
    first: tuple[Floats, Floats],
    second: tuple[Floats, Floats],
    level: float,
    strata: npt.ArrayLike | None = None,
) -> Odds:
    """Return the odds of one rate over those of another, paired and clustered by deal.

    Parameters
    ----------
    first, second : pair of array of float, ``[deal]``
        How often it happened, and out of how many, over the same deals.
    level : float
        The interval's coverage.
    strata : array_like of int, optional, ``[deal]``
        The kind of each deal, see ``stats.clustered_error``.

    Returns
    -------
    Odds
        With Student's interval of the logarithm, whose error is what each deal adds to both rates,
        each over p(1 - p). Where few deals differ those that might have are thought of, as in
        ``kozel_sim.few``. Of a rate of 0 or 1 there is neither a ratio nor an interval.

    Examples
    --------
    >>> some, many, all_ = np.array([2.0, 1, 2, 1]), np.array([3.0, 2, 3, 3]), np.full(4, 4.0)
    >>> found = odds_ratio((some, all_), (many, all_), 0.95)
    >>> round(found.ratio, 3), found.low < found.ratio < found.high
    (0.273, True)
    >>> odds_ratio((0 * some, all_), (many, all_), 0.95)
    Odds(ratio=nan, low=nan, high=nan)
    """
    need_level(level)
    rates = [float(total.sum() / count.sum()) for total, count in (first, second)]
    if not _have_odds(rates):
        return Odds()
    slopes = _slopes(rates)
    deviations = [
        slope * (total - rate * count) / count.sum()
        for (total, count), rate, slope in zip((first, second), rates, slopes, strict=True)
    ]
    error, kinds = clustered_error(deviations[0] - deviations[1], strata)
    unseen = max(slopes) * unseen_error([(*first, *second)], rate=True)
    return _interval(rates, math.hypot(error, unseen), len(first[0]), kinds, level)


class Contrasted(Spanned, Protocol):
    """A ratio of sums over deals which may be set against that of another rule set."""

    @property
    def value(self) -> float:
        """The ratio."""

    def contrast(self, other: Contrasted, weights: Sequence[float]) -> tuple[float, int, int]:
        """Return the error of this and the other, weighted, and how many deals and kinds."""


def odds_between(one: Contrasted, base: Contrasted, level: float) -> Odds:
    """Return the odds of one rule set's rate over those of another's, paired by deal.

    A rate that the rules fix has no error: the interval is that of the other one, and of two such
    rates the ratio is known.
    """
    if one is base:
        return EVEN if _have_odds([float(one.value)]) else Odds()
    rates = [float(one.value), float(base.value)]
    if not _have_odds(rates):
        return Odds()
    means = one.mean(level, rate=True), base.mean(level, rate=True)
    if any(mean.fixed for mean in means):
        mine, theirs = means
        low, high = (
            _odds(a) / _odds(b)
            for a, b in ((mine.ci_low, theirs.ci_high), (mine.ci_high, theirs.ci_low))
        )
        return Odds(_odds(rates[0]) / _odds(rates[1]), low, high)
    slopes = _slopes(rates)
    error, n, kinds = one.contrast(base, slopes)
    plain, _, _ = one.contrast(base, (1.0, 1.0))
    unseen = max(slopes) * unseen_error_of_moments(plain, n, 1.0)
    return _interval(rates, math.hypot(error, unseen), n, kinds, level)


def share_of(
    mine: Floats, theirs: Floats, level: float, strata: npt.ArrayLike | None = None
) -> Estimate | None:
    """Return the share that one has of what both have together, by deal; None if that is nothing.

    Examples
    --------
    >>> found = share_of(np.array([1.0, 0, 1]), np.array([1.0, 2, 2]), 0.95)
    >>> round(found.estimate, 3)
    0.286
    """
    if mine.sum() + theirs.sum() <= 0:
        return None
    return clustered_mean(mine, mine + theirs, level, rate=True, strata=strata)


def columns_of_pair(
    first: tuple[Floats, Floats],
    second: tuple[Floats, Floats],
    level: float,
    strata: npt.ArrayLike | None = None,
) -> dict[str, float]:
    """Return odds ratio, share of the goats of both, and share of their seats, as columns."""
    share = share_of(first[0], second[0], level, strata)
    seats = float(first[1].sum() / (first[1].sum() + second[1].sum()))
    found = odds_ratio(first, second, level, strata).columns | share_columns(share)
    return found | {"seat_share": seats}


def share_columns(share: Estimate | None) -> dict[str, float]:
    """Return a share of goats with its interval as columns."""
    ends = (math.nan,) * 3 if share is None else (share.estimate, share.ci_low, share.ci_high)
    return dict(zip(SHARE_COLUMNS, ends, strict=True))


SHARE_COLUMNS = ("goat_share", "goat_share_low", "goat_share_high")
PAIR_COLUMNS = ("odds_ratio", "odds_low", "odds_high", *SHARE_COLUMNS, "seat_share")
"""What a table of pairs of policies has of them."""


def _have_odds(rates: Sequence[float]) -> bool:
    return all(0 < rate < 1 for rate in rates)


def _slopes(rates: Sequence[float]) -> tuple[float, ...]:
    """Return by how much the logarithm of the odds grows with a rate."""
    return tuple(1 / (rate * (1 - rate)) for rate in rates)


def _odds(rate: float) -> float:
    return math.inf if rate == 1 else rate / (1 - rate)


def _interval(rates: Sequence[float], error: float, n: int, kinds: int, level: float) -> Odds:
    ratio = _odds(rates[0]) / _odds(rates[1])
    if n < 2:
        return Odds(ratio, 0.0, math.inf)
    half = float(special.stdtrit(n - kinds, (1 + level) / 2)) * error
    # Beyond what a float holds it is as good as endless.
    wide = math.exp(half) if half < 700 else math.inf
    return Odds(ratio, ratio / wide, ratio * wide)
