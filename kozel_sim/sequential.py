"""Tests and intervals that stay valid however often one looks: pure functions of per-deal values.

Two ways to stop early. The generalised sequential probability ratio test (GSPRT) decides between
two normalised effects, the mean difference over its standard deviation from deal to deal. The
confidence sequence is an interval for the mean that covers it at all looks at once.

References
----------
Van den Bergh, "Normalized Elo", 2021 (the likelihood of a normalised effect). Waudby-Smith, Arbour,
Sinha, Kennedy and Ramdas, "Time-uniform central limit theory and asymptotic confidence sequences",
Annals of Statistics 52, 2024 (theorem 2.2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from kozel_sim.stats import LEVEL, Estimate
from kozel_sim.words import quoted

FIRST_LOOK = 100
"""Deals before an interval is believed: it leans on the central limit theorem."""
MOST_DEALS = 100_000
"""Deals of a run that may stop, where nobody says another number."""
LOOK_GROWTH = 1.1
"""A run that may stop is looked at after so many deals, and each time there are so many times."""


# ---------------------------------------------------------------------- GSPRT


@dataclass(frozen=True)
class Sprt:
    """A sequential test of a normalised effect: at most `low` against at least `high`.

    Attributes
    ----------
    low, high : float
        Effects, in standard deviations of one deal's difference.
    alpha, beta : float
        Chances to accept `high` where `low` is true, and `low` where `high` is true.
    """

    low: float
    high: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"the effect low={self.low} must be less than high={self.high}")
        for name, rate in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < rate < 0.5:
                raise ValueError(f"{name} must be between 0 and 0.5, not {quoted(rate)}")

    @property
    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios at which `low` and `high` are accepted (Wald)."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def decide(self, ratio: float) -> str:
        """Return "low", "high" or "open" for a log-likelihood ratio."""
        lower, upper = self.bounds
        return "low" if ratio <= lower else "high" if ratio >= upper else "open"


@dataclass(frozen=True)
class ThreeWay:
    """Two sequential tests at once, of an effect above 0 and of one below 0.

    Attributes
    ----------
    effect : float
        The least effect worth finding, in standard deviations of one deal's difference.
    alpha : float
        The chance to declare a difference where there is none; half of it for either sign.
    beta : float
        The chance to miss a difference of this effect.
    lower, upper : float, optional
        The log-likelihood ratios at which 0 and the effect are accepted; by default Wald's.

    Notes
    -----
    One test sets 0 against +effect, the other 0 against -effect. "high" or "low" is declared when
    one accepts its effect; "none" when both accept 0 at the same look. The ratio of a quotient of
    mean and deviation rises with it up to about 1 and falls again beyond; what is seen beyond the
    top counts as the top, so that the stronger evidence never decides less.

    References
    ----------
    Armitage, "Sequential analysis with more than two alternative hypotheses", Journal of the Royal
    Statistical Society B 12, 1950; Sobel and Wald, Annals of Mathematical Statistics 20, 1949.
    """

    effect: float
    alpha: float = 0.05
    beta: float = 0.05
    lower: float | None = None
    upper: float | None = None

    def __post_init__(self) -> None:
        if not 1e-6 <= self.effect <= 10:
            raise ValueError(
                f"effect must be from 0.000001 to 10 standard deviations, not {self.effect!r}"
            )
        Sprt(0, self.effect, self.alpha, self.beta)  # refuses impossible rates

    @property
    def one_sided(self) -> Sprt:
        """The test of either sign."""
        return Sprt(0, self.effect, self.alpha / 2, self.beta)

    @property
    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios at which 0 and the effect are accepted."""
        lower, upper = self.one_sided.bounds
        return (
            lower if self.lower is None else self.lower,
            upper if self.upper is None else self.upper,
        )

    def reach(self, n: int) -> tuple[float, float]:
        """Return the effect seen from which a difference is declared, and that up to which none is.

        After n deals; infinite for never, below 0 for an effect that cannot be seen.
        """
        lower, upper = self.bounds
        outer, inner = (self._seen_at(bound, n) for bound in (upper, lower))
        return outer, inner if math.isfinite(inner) else -math.inf

    def _seen_at(self, ratio: float, n: int) -> float:
        """Return the effect seen at which a ratio is reached after n deals; infinite for none."""
        # 1 + t^2 = k * (1 + (t - effect)^2), of which the smaller root is meant.
        if 2 * ratio / n > 1:
            return math.inf
        k, d = math.exp(2 * ratio / n), self.effect
        rest = k * k * d * d - (k - 1) * (k * (1 + d * d) - 1)
        return math.inf if rest < 0 else (k * (1 + d * d) - 1) / (k * d + math.sqrt(rest))

    def codes(self, effects: npt.ArrayLike, n: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return 1 for high, -1 for low, 0 for none and 2 for open, by effect seen and deals."""
        seen, deals = np.asarray(effects, float), np.asarray(n, float)
        lower, upper = self.bounds
        top = (self.effect + math.sqrt(self.effect**2 + 4)) / 2
        seen = np.clip(seen, -top, top)
        # The likelihood ratios of +effect and of -effect, as log_likelihood_ratio.
        at_null = np.log1p(seen**2)
        more = deals / 2 * (at_null - np.log1p((seen - self.effect) ** 2))
        less = deals / 2 * (at_null - np.log1p((seen + self.effect) ** 2))
        neither = (more <= lower) & (less <= lower)
        return np.select([more >= upper, less >= upper, neither], [1, -1, 0], 2).astype(np.int64)

    def decide(self, effect: float, n: int) -> str:
        """Return "high", "low", "none" or "open" after n deals.

        Examples
        --------
        >>> test = ThreeWay(0.1)
        >>> [test.decide(effect, 2000) for effect in (0.1, -0.1, 0.0, 0.05)]
        ['high', 'low', 'none', 'open']
        """
        return {1: "high", -1: "low", 0: "none", 2: "open"}[int(self.codes(effect, n))]


def log_likelihood_ratio(effect: float, n: int, low: float, high: float) -> float:
    """Return the log-likelihood ratio of two normalised effects, high over low, after n deals.

    Parameters
    ----------
    effect : float
        What was seen: the mean difference over its standard deviation from deal to deal.
    n : int
        Deals.
    low, high : float
        The two hypotheses.

    Returns
    -------
    float
        ``n / 2 * log((1 + (effect - low)**2) / (1 + (effect - high)**2))``, the likelihoods of
        normal differences of unknown variance; finite for any finite effect.

    Examples
    --------
    Five scores of game pairs, bounds of 0 and 2 normalised Elo:

    >>> elo, _ = normalised_elo([-0.5, -0.25, 0, 0.25, 0.5], [379, 10170, 21828, 10640, 343])
    >>> unit = 2**0.5 * math.log(10) / 800
    >>> round(log_likelihood_ratio(elo * unit, 43360, 0, 2 * unit), 3)
    2.946
    """
    return n / 2 * (math.log1p((effect - low) ** 2) - math.log1p((effect - high) ** 2))


def effect_of(found: Estimate) -> float:
    """Return the normalised effect of an estimate clustered by deal.

    Where all deals agree, as if one more deal had shown no difference; 0 for less than two deals.
    """
    if found.n_deals < 2 or found.estimate == 0:
        return 0.0
    if found.std_error == 0:
        return math.copysign(math.sqrt(found.n_deals), found.estimate)
    return found.estimate / (found.std_error * math.sqrt(found.n_deals))


def normalised_elo(
    values: npt.ArrayLike, counts: npt.ArrayLike, level: float = LEVEL
) -> tuple[float, float]:
    """Return an effect in normalised Elo and the half-width of its interval.

    Parameters
    ----------
    values, counts : array_like, ``[value]``
        The difference of a pair of games (0 means even), and how many pairs had it.
    level : float, default 0.95
        The interval's coverage.

    Examples
    --------
    >>> found = normalised_elo([-0.5, -0.25, 0, 0.25, 0.5], [379, 10170, 21828, 10640, 343])
    >>> [round(x, 2) for x in found]
    [3.05, 2.31]
    """
    value, count = np.asarray(values, float), np.asarray(counts, float)
    total = float(count.sum())
    mean = float(np.sum(count * value)) / total
    deviation = math.sqrt(float(np.sum(count * (value - mean) ** 2)) / total)
    unit = 800 / math.log(10) / math.sqrt(2)
    half = float(special.ndtri((1 + level) / 2)) / math.sqrt(total)
    return unit * mean / deviation, unit * half


# ---------------------------------------------------------------------- confidence sequences


def sequence_half_width(
    deviation: float, n: int, level: float = LEVEL, planned: int = 2000
) -> float:
    """Return the half-width of the confidence sequence of a mean after n deals.

    Parameters
    ----------
    deviation : float
        Standard deviation from deal to deal.
    n : int
        Deals so far.
    level : float, default 0.95
        Coverage of the mean at all looks at once.
    planned : int, default 2000
        The number of deals at which it is to be tightest.

    Returns
    -------
    float
        Infinite before `FIRST_LOOK` deals.

    Examples
    --------
    >>> round(sequence_half_width(1, 2000) / (1.96 / 2000**0.5), 2)
    1.55
    """
    if n < FIRST_LOOK:
        return math.inf
    alpha = 1 - level
    # rho that makes the width at `planned` least (their equation 9, to the first order).
    rho2 = (-2 * math.log(alpha) + math.log(-2 * math.log(alpha) + 1)) / planned
    scaled = n * rho2 + 1
    return deviation * math.sqrt(2 * scaled / (n * n * rho2) * math.log(math.sqrt(scaled) / alpha))


def sequence_of(found: Estimate, planned: int = 2000, rate: bool = False) -> Estimate:
    """Return an estimate with an interval that stays valid under peeking.

    Its standard error, clustered by deal, is what it was; only the interval is wider. Where all
    deals agree, it is as wide as the share of deals that may have gone unseen, ``1 - alpha**(1/n)``
    (exact at all looks at once), times what such a deal could change: the estimate itself, and 1
    more if the values are rates; where that is 0, it has no ends.

    Examples
    --------
    >>> from kozel_sim.stats import clustered_mean
    >>> plain = clustered_mean([1, 2, 3, 2] * 100, [1] * 400)
    >>> wide = sequence_of(plain)
    >>> wide.estimate == plain.estimate, wide.ci_low < plain.ci_low
    (True, True)
    """
    if found.fixed:
        return found
    n = found.n_deals
    deviation = found.std_error * math.sqrt(n)
    if n < FIRST_LOOK or not math.isfinite(deviation):
        half = math.inf
    elif deviation == 0:
        # Of what is nothing in all deals nothing says by how much an unseen one could differ.
        size = abs(found.estimate) + rate
        half = size * (1 - (1 - found.level) ** (1 / n)) if size else math.inf
    else:
        half = sequence_half_width(deviation, n, found.level, planned)
    return Estimate(
        found.estimate,
        found.std_error,
        found.estimate - half,
        found.estimate + half,
        found.level,
        n,
        "confidence sequence, clustered by deal",
    )


# ---------------------------------------------------------------------- when to look


def looks(first: int, growth: float, cycle: int, last: int) -> list[int]:
    """Return the numbers of deals at which stopping is tested, fixed beforehand.

    Parameters
    ----------
    first : int
        No look is earlier.
    growth : float
        Each number is about so many times the one before, like 1.05.
    cycle : int
        All are multiples of it (the last one may be none).
    last : int
        The last look: all deals there are.

    Raises
    ------
    ValueError
        If a number is not positive, or growth is not more than 1.

    Examples
    --------
    >>> looks(100, 1.5, 6, 500)
    [102, 156, 234, 354, 500]
    """
    for name, value in (("first", first), ("cycle", cycle), ("last", last)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, not {value}")
    if not 1 < growth < math.inf:
        raise ValueError(f"growth must be more than 1, like 1.05, not {quoted(growth)}")
    found = []
    n = -(-first // cycle) * cycle
    while n < last:
        found.append(n)
        n = max(n + cycle, -(-round(n * growth) // cycle) * cycle)
    return [*found, last]
