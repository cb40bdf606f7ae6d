"""Intervals and p-values of an estimate, from its value, its error and its number of deals.

What an estimate and its error are made of is in ``kozel_sim.stats``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import special

from kozel_sim.fixed import FIXED, SHARE, Span
from kozel_sim.words import quoted

LEVEL = 0.95
_CLUSTERED = "t, clustered by deal"
_PAIRED = "t, paired and clustered by deal"
_TRIALS = "Wilson, deals as trials"


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

    @property
    def fixed(self) -> bool:
        """Whether the rules fix it, so that there is no error."""
        return self.method.startswith(FIXED)


def mean_estimate(
    mean: float,
    error: float,
    n: int,
    level: float,
    rate: bool,
    strata: int = 1,
    span: Span | None = None,
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
    span = _span_of(mean, span)
    if rate or span is not None:
        return _between(span or SHARE, mean, error, n, level, strata)
    if n == 1:
        return Estimate(mean, error, -math.inf, math.inf, level, n, _CLUSTERED)
    if error == 0:
        half = _unseen_half(abs(mean), n, level)
        return Estimate(mean, error, mean - half, mean + half, level, n, _TRIALS, strata)
    t = float(special.stdtrit(n - strata, (1 + level) / 2))
    return Estimate(mean, error, mean - t * error, mean + t * error, level, n, _CLUSTERED, strata)


def _span_of(value: float, span: Span | None) -> Span | None:
    """Return a span; None if the value lies beyond it, and so is of other rules than it says."""
    return span if span and span[0] - 1e-9 <= value <= span[1] + 1e-9 else None


def _between(span: Span, mean: float, error: float, n: int, level: float, strata: int) -> Estimate:
    """Return the estimate of a mean that lies within a span, as a rate on the way through it."""
    least, most = span
    if least == most:
        return Estimate(least, 0.0, least, least, level, n, FIXED, strata)
    room = most - least
    rate = min(1.0, max(0.0, (mean - least) / room))
    method = f"Wilson, {_CLUSTERED}"
    if 0 < error < math.inf:
        t = float(special.stdtrit(n - strata, (1 + level) / 2))
        ends = _score_interval(rate, rate * (1 - rate) * (room / error) ** 2, t)
    else:
        method, strata = _TRIALS, 1
        ends = wilson(rate * n, n, level)
    low, high = (least + room * end for end in ends)
    return Estimate(mean, error, low, high, level, n, method, strata)


def _unseen_half(size: float, n: int, level: float) -> float:
    """Return half the width of an interval of n deals that show no error, infinite where size is 0.

    As many deals as may go unseen could differ, each by as much as there is, which is `size`. Where
    there is nothing, nothing bounds by how much.
    """
    return size * wilson(0, n, level)[1] if size else math.inf


def without_dust(value: float, scale: float) -> float:
    """Return 0 for what rounding has left of numbers of some scale; it would look significant."""
    return 0.0 if abs(value) <= 1e-12 * scale else value


def difference_estimate(
    difference: float,
    error: float,
    n: int,
    level: float,
    rate: bool,
    strata: int = 1,
    span: Span | None = None,
) -> Estimate:
    """Return the estimate of a difference with its error, of n deals; as `clustered_difference`.

    Its interval is kept within the span, which of a rate is -1 and 1 where no other is known.
    """
    need_level(level)
    low, high = _span_of(difference, span) or ((-1.0, 1.0) if rate else (-math.inf, math.inf))
    method = _PAIRED
    if n == 1:
        error = half = math.inf
    elif error == 0:
        # Deals without a spread that `kozel_sim.few` adds nothing to: see a mean without an error.
        half, method = _unseen_half(abs(difference) + rate, n, level), _TRIALS
    else:
        half = float(special.stdtrit(n - strata, (1 + level) / 2)) * error
    ends = max(low, difference - half), min(high, difference + half)
    return Estimate(difference, error, *ends, level, n, method, strata)


def p_value(found: Estimate) -> float:
    """Return the two-sided p-value of an estimate being 0; 1 where it is 0 or from one deal.

    By Student's t, so that it is below 1 less the level where the interval excludes 0. For a mean
    without a spread it is that of a sign test: few deals are never certain.

    Examples
    --------
    >>> round(p_value(clustered_mean([1, -1, 2, 0, 1], [1, 1, 1, 1, 1])), 3)
    0.305
    """
    if found.fixed:
        return float(found.estimate == 0)
    if found.estimate == 0 or found.n_deals < 2:
        return 1.0
    if found.std_error == 0:
        return float(2.0 ** (1 - found.n_deals))
    return float(2 * special.stdtr(found.df, -abs(found.estimate / found.std_error)))


def need_level(level: float) -> None:
    """Raise ValueError unless a level of coverage is between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, like 0.95, not {quoted(level)}")


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
