"""Equivalence as a conclusion: a difference that is less than would matter, by two one-sided tests.

That no difference was found does not say that there is none. Two tests do, of one that is as large
as the margin or larger, to either side. Where both reject, it lies within the margin, which is in
the unit of a metric: points, and of goat rates percentage points.

References
----------
Schuirmann, "A comparison of the two one-sided tests procedure and the power approach for assessing
the equivalence of average bioavailability", Journal of Pharmacokinetics and Biopharmaceutics 15,
1987.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import special
from scipy import stats as distributions

from kozel_sim.intervals import Estimate, need_level
from kozel_sim.metrics import METRICS, metric_of
from kozel_sim.words import quoted

MANY = 10_000
"""Deals from which Student's t is as good as normal."""


@dataclass(frozen=True)
class Margin:
    """How much is as good as nothing; written ``0.5`` or ``2,metric=points_per_match``.

    Attributes
    ----------
    value : float
        In the unit of the metric; of a rate in percentage points.
    metric : str
        One of ``kozel_sim.metrics.METRICS``.
    """

    value: float
    metric: str = "goat_rate"

    def __post_init__(self) -> None:
        metric_of(self.metric)
        if not 0 < self.value < math.inf:
            raise ValueError(f"equivalent must be more than 0, not {self.value!r}")
        if METRICS[self.metric].rate and self.value >= 100:
            raise ValueError(f"equivalent={self.value:g} percentage points hold every difference")

    @property
    def plain(self) -> float:
        """The margin as tables have the metric: rates as shares."""
        return self.value / 100 if METRICS[self.metric].rate else self.value

    @property
    def words(self) -> str:
        """The margin with its unit."""
        unit = "percentage points of " if METRICS[self.metric].rate else ""
        return f"{self.value:g} {unit}{self.metric.replace('_', ' ')}"


def read_margin(text: str | float | Margin, metric: str = "goat_rate") -> Margin:
    """Read a margin from an option's text, or a number in the unit of a metric.

    Raises
    ------
    ValueError
        If it is none; the message names the value and the choices.

    Examples
    --------
    >>> read_margin("0.5")
    Margin(value=0.5, metric='goat_rate')
    >>> read_margin("2,metric=points_per_match").words
    '2 points per match'
    """
    if isinstance(text, Margin):
        return text
    number, *more = (part.strip() for part in str(text).split(","))
    values = {"metric": metric}
    for part in more:
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if name != "metric" or not equals:
            raise ValueError(f"equivalent {text!r}: {part!r} is not known; choose from metric=")
        values[name] = value
    try:
        margin = float(number)
    except ValueError:
        raise ValueError(f"equivalent {text!r}: {number!r} is no number, like 0.5") from None
    return Margin(margin, **values)


@dataclass(frozen=True)
class Equivalence:
    """What two one-sided tests say of a difference.

    Attributes
    ----------
    p_value : float
        The larger one of the two: the difference lies within the margin if it is below the level.
    ci_low, ci_high : float
        The interval that lies within the margin just then; its level is twice as far from 1.
    """

    p_value: float
    ci_low: float
    ci_high: float


def equivalence_of(found: Estimate, margin: float) -> Equivalence:
    """Test whether a difference lies within a margin on either side of 0.

    Parameters
    ----------
    found : Estimate
        A paired difference; its level is one less the chance to call equal what is not.
    margin : float
        As the estimate counts.

    Examples
    --------
    >>> from kozel_sim.intervals import difference_estimate
    >>> one = difference_estimate(0.1, 0.2, 400, 0.95, rate=False)
    >>> round(equivalence_of(one, 0.5).p_value, 3)
    0.023
    """
    if found.n_deals < 2 or math.isinf(found.std_error):
        return Equivalence(1.0, -math.inf, math.inf)
    if found.std_error == 0:
        inside = found.fixed and abs(found.estimate) < margin
        return Equivalence(float(not inside), found.ci_low, found.ci_high)
    near = (margin - abs(found.estimate)) / found.std_error
    half = float(special.stdtrit(found.df, found.level)) * found.std_error
    return Equivalence(
        float(special.stdtr(found.df, -near)), found.estimate - half, found.estimate + half
    )


def deals_for_equivalence(margin: float, deviation: float, power: float, level: float) -> int:
    """Return how many deals show a difference of 0 to lie within a margin, at least 2.

    Parameters
    ----------
    margin : float
        In the unit of the deviation.
    deviation : float
        Of one deal's paired difference.
    power : float
        The chance that both tests reject.
    level : float
        One less the chance of each to reject wrongly.

    Examples
    --------
    >>> deals_for_equivalence(0.5, 1.0, 0.9, 0.95)
    45
    """
    need_level(level)
    if not 0 < power < 1:
        raise ValueError(f"power must be between 0 and 1, like 0.9, not {quoted(power)}")
    if deviation == 0:
        return 2
    z = float(special.ndtri(level) + special.ndtri((1 + power) / 2))
    about = (z * deviation / margin) ** 2
    if about > MANY:
        return math.ceil(about)
    n = max(2, math.floor(about))
    # Few deals lack a little to Student's t: walk up from the normal answer.
    while _power(n, margin / deviation, level) < power:
        n += 1
    return n


def _power(n: int, effect: float, level: float) -> float:
    """Return the chance that both tests reject, which is at least that of both tails."""
    t = distributions.t.ppf(level, n - 1)
    return float(2 * distributions.nct.sf(t, n - 1, effect * math.sqrt(n)) - 1)
