"""How a sequential test will go, known before it starts, and bounds that allow for overshoot.

Between two looks the sum of the deals' differences moves like a normal random walk. So the chance
to stop at each look follows from the chances at the one before, by integration over the sums at
which the test goes on.

References
----------
Armitage, McPherson and Rowe, "Repeated significance tests on accumulating data", Journal of the
Royal Statistical Society A 132, 1969 (the integration). Siegmund, "Sequential Analysis", 1985,
chapters 8 and 10 (what overshoot does to a test's chances of error).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy import special

from kozel_sim.sequential import FIRST_LOOK, LOOK_GROWTH, ThreeWay, looks

Floats = npt.NDArray[np.float64]
SPAN = 8.0
"""Standard deviations beyond which a walk is not followed."""
LEFT = 1e-9
"""The chance of an undecided test that is not followed any more."""
RARE = -10.0
"""The logarithm of a share of the asked-for error that is as good as none."""
DIGITS = 4
"""Digits of corrected bounds: fewer than those in which machines may differ."""


@dataclass(frozen=True)
class Course:
    """How a test goes if an effect is true.

    Attributes
    ----------
    schedule : array of int, ``[look]``
        The numbers of deals.
    high, low, none : array of float, ``[look]``
        The chance to end at a look with each decision.
    """

    schedule: npt.NDArray[np.int64]
    high: Floats
    low: Floats
    none: Floats

    @property
    def open(self) -> float:
        """The chance that all deals are played and nothing is decided."""
        return max(0.0, 1 - float(self.ends.sum()))

    @property
    def ends(self) -> Floats:
        """The chance to end with a decision at each look, ``[look]``."""
        return self.high + self.low + self.none

    @property
    def mean(self) -> float:
        """The expected number of deals."""
        return float(self.ends @ self.schedule + self.open * self.schedule[-1])

    def within(self, share: float) -> int:
        """Return the least number of deals that a share of runs does not exceed."""
        sums = self.ends.cumsum()
        place = int(np.searchsorted(sums, share - 1e-12))
        return int(self.schedule[min(place, len(self.schedule) - 1)])


def course(test: ThreeWay, schedule: Sequence[int], effect: float) -> Course:
    """Return how a test goes that is asked at some numbers of deals, if an effect is true.

    Parameters
    ----------
    test : ThreeWay
        The test.
    schedule : sequence of int
        The numbers of deals at which it is asked, such as ``sequential.looks`` returns.
    effect : float
        The true effect, in standard deviations of one deal's difference.

    Notes
    -----
    Differences are taken as normal. The test divides by a deviation that is estimated, too: near a
    bound c such a quotient varies by 1 + c^2 / 2 of what a plain mean does, and bounds are moved as
    much. From 100 deals on chances are exact to 0.01 (tests compare them with simulated runs).

    Examples
    --------
    >>> found = course(ThreeWay(0.2), looks(100, 1.1, 1, 3000), 0.1)
    >>> [round(float(x.sum()), 2) for x in (found.high, found.low, found.none)]
    [0.47, 0.0, 0.53]
    >>> round(found.mean), found.within(0.5)
    (449, 316)
    """
    deals = np.asarray(schedule, np.int64)
    chances = np.zeros((3, len(deals)))
    ends, inner = (np.array(one) for one in zip(*map(test.reach, deals.tolist()), strict=True))
    upper, lower = (_moved(sign * ends, effect) * deals for sign in (1, -1))
    most, least = (_moved(sign * inner, effect) * deals for sign in (1, -1))
    places, mass = np.zeros(1), np.ones(1)
    before = 0
    for i, n in enumerate(deals.tolist()):
        step = math.sqrt(n - before)
        middle = places + effect * (n - before)
        chances[0, i] = mass @ special.ndtr((middle - upper[i]) / step)
        chances[1, i] = mass @ special.ndtr((lower[i] - middle) / step)
        if inner[i] >= 0:
            within = [special.ndtr((end - middle) / step) for end in (most[i], least[i])]
            chances[2, i] = mass @ (within[0] - within[1])
        if i + 1 == len(deals) or mass.sum() < LEFT:
            break
        gaps = [(lower[i], least[i]), (most[i], upper[i])]
        if inner[i] < 0:
            gaps = [(lower[i], upper[i])]
        room = (effect * n - SPAN * math.sqrt(n), effect * n + SPAN * math.sqrt(n))
        finest = min(step, math.sqrt(int(deals[i + 1]) - n))
        new, weights = _nodes(gaps, room, finest)
        density = np.exp(-0.5 * ((new[:, None] - middle) / step) ** 2) @ mass
        places, mass = new, weights * density / (step * math.sqrt(2 * math.pi))
        before = n
    return Course(deals, *chances)


def _moved(bounds: Floats, effect: float) -> Floats:
    """Move bounds of an effect seen, so that a mean of known deviation is beyond as often."""
    with np.errstate(invalid="ignore"):
        moved = effect + (bounds - effect) / np.sqrt(1 + bounds**2 / 2)
    return np.where(np.isfinite(bounds), moved, bounds)


def _nodes(
    gaps: Sequence[tuple[float, float]], room: tuple[float, float], step: float
) -> tuple[Floats, Floats]:
    """Return the nodes and weights of Gauss and Legendre in the gaps, as far as there is room."""
    places, weights = [np.zeros(0)], [np.zeros(0)]
    for low, high in gaps:
        low, high = max(low, room[0]), min(high, room[1])
        if low < high:
            size = 16 * math.ceil((12 + 1.5 * (high - low) / step) / 16)
            nodes, parts = _legendre(size)
            places.append((low + high) / 2 + (high - low) / 2 * nodes)
            weights.append((high - low) / 2 * parts)
    return np.concatenate(places), np.concatenate(weights)


@lru_cache(maxsize=64)
def _legendre(size: int) -> tuple[Floats, Floats]:
    nodes, weights = special.roots_legendre(size)
    return np.asarray(nodes, np.float64), np.asarray(weights, np.float64)


# ---------------------------------------------------------------------- overshoot


@lru_cache(maxsize=64)
def corrected_for_overshoot(test: ThreeWay) -> ThreeWay:
    """Return a test whose chances of error are what it says, at the looks of a run.

    Parameters
    ----------
    test : ThreeWay
        With Wald's bounds, which suppose that a ratio stops on them. At looks that lie apart it
        stops beyond them, so that errors are rarer than was asked, and deals more.

    Returns
    -------
    ThreeWay
        The same, with bounds nearer to 0: an effect of 0 is declared a difference, and one of the
        effect that is tested for is not declared so, as often as was asked, at looks from
        `FIRST_LOOK` deals on that grow by `LOOK_GROWTH`. Fewer looks err less often. Where the
        first look alone errs less often, a bound is 0: no ratio that speaks against a
        hypothesis accepts it.

    Notes
    -----
    Fishtest takes the mean overshoot, E[H^2] / (2 E[H]) of the ladder heights H that the ratio has
    shown so far (Siegmund, corollary 8.33), from either bound. That supposes steps alike and many
    of them. Here steps grow with the deals, and a run has about ten, of which few are new heights:
    of 20,000 runs between equals at 5% it declares 4.6% different where the effect is 0.05, and
    6.0% where it is 0.2. But what looks there will be is known beforehand, so that the chances of
    error follow by integration for any bounds, and the bounds by Newton's method.

    Examples
    --------
    >>> test = ThreeWay(0.2)
    >>> [round(x, 2) for x in test.bounds], corrected_for_overshoot(test).bounds
    ([-2.97, 3.64], (-2.0902, 3.0211))
    """
    last = FIRST_LOOK + math.ceil(1000 / test.effect**2)
    schedule = looks(FIRST_LOOK, LOOK_GROWTH, 1, last)

    def errors(bounds: Floats) -> Floats:
        """Return by how much the two chances of error are off, as logarithms."""
        tried = replace(test, lower=float(bounds[0]), upper=float(bounds[1]))
        missed = 1 - float(course(tried, schedule, test.effect).high.sum())
        even = course(tried, schedule, 0.0)
        wrong = float((even.high + even.low).sum())
        wanted = np.array([test.beta, test.alpha])
        return np.asarray(np.log(np.maximum([missed, wrong], [1e-12, 1e-300]) / wanted))

    wald = np.array(test.bounds)
    bounds = wald.copy()
    for _ in range(12):
        off = errors(bounds)
        if np.abs(off).max() < 1e-6:
            break
        slopes = np.stack([(errors(bounds + step) - off) / 1e-4 for step in 1e-4 * np.eye(2)], 1)
        free = (bounds != 0) | (off > 0)
        move = np.zeros(2)
        move[free] = -np.linalg.lstsq(slopes[np.ix_(free, free)], off[free])[0]
        # No bound moves by more than 1 at once, nor beyond 0 or Wald's.
        new = bounds + move / max(1.0, float(np.abs(move).max()))
        new = np.where(off < RARE, 0.0, new)
        new = np.array([np.clip(new[0], wald[0], 0), np.clip(new[1], 0, wald[1])])
        if np.array_equal(new, bounds):
            break
        bounds = new
    lower, upper = (round(float(bound), DIGITS) for bound in bounds)
    return replace(test, lower=lower, upper=upper)
