"""Differences that rest on few deals: what the deals that agree might have hidden.

Two ways of playing that are nearly the same play most deals alike. The spread of those deals is 0,
and as long as no other is seen, an interval made of it has no width. But had one more deal been
played, it might have differed. So two deals are thought of beside those that were played, one that
favours either side by as much as a deal of these can: they leave the difference as it is and widen
its error. They count in full where all deals agree, not at all where half of them do not, and less
and less up to `ENOUGH` deals that differ, whose own spread tells enough.

References
----------
Agresti and Coull, "Approximate is better than 'exact' for interval estimation of binomial
proportions", The American Statistician 52, 1998 (two successes and two failures beside those that
were seen).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
ENOUGH = 50
"""Deals that differ from which on nothing is added."""
ENOUGH_WHOLE = 10
"""The same in deals that differ by as much as there is; ever so many that differ by less."""
PAIR = 2.0
"""How many deals are thought of."""
SMALL = 64
"""Deals up to which the commonest difference is counted; among more it is the median."""


def unseen_error(
    sides: Sequence[tuple[Floats, Floats, Floats, Floats]], rate: bool = False
) -> float:
    """Return what deals that agree add to the error of a difference of means.

    Parameters
    ----------
    sides : sequence of four arrays of float, ``[deal]``
        Totals and counts of the first mean, and of the second, over the same deals; of several such
        pairs the difference is the mean.
    rate : bool, default False
        The values are 0 or 1, so that a deal can differ by 1. Otherwise by the largest value that
        either has in any of the deals, and by what most deals differ by.

    Returns
    -------
    float
        To be added to the standard error as its squares are; 0 where it rests on enough deals, and
        where all values are 0, so that there is nothing to go by (the interval has no ends then).

    Examples
    --------
    >>> same, one = np.full(100, 50.0), np.ones(100)
    >>> round(unseen_error([(same, one, same, one)]), 3)
    0.707
    """
    n = len(sides[0][0])
    if n < 2:
        return 0.0
    values: list[Floats] = []
    weights: list[Floats] = []
    largest = 1.0 if rate else 0.0
    for totals, counts, other_totals, other_counts in sides:
        per_deal = counts.sum() / n, other_counts.sum() / n
        mine, theirs = totals / per_deal[0], other_totals / per_deal[1]
        if not rate:
            largest = max(largest, float(np.abs(mine).max()), float(np.abs(theirs).max()))
        values.append((mine - theirs) / len(sides))
        # Means by round: a deal agrees if it has as many rounds, too.
        weights.append(np.abs(counts / per_deal[0] - other_counts / per_deal[1]))
    difference = np.sum(values, axis=0)
    common = _commonest(difference, 1e-9 * max(largest, 1e-300))
    alike = np.abs(difference - common) <= 1e-9 * largest
    alike &= np.sum(weights, axis=0) <= 1e-9
    others = n - int(alike.sum())
    return _error((largest + abs(common)) / n, others / ENOUGH, (n - others - 1) / (n - 1))


def unseen_error_of_moments(error: float, n: int, largest: float) -> float:
    """Return the same where only moments are known, of n deals.

    Deals that differ are at least as many as would make the error if each differed by as much as
    there is: `largest`, which is 1 for rates, and the larger root mean square of a deal's two
    values elsewhere.
    """
    if n < 2 or largest == 0 or math.isinf(error):
        return 0.0
    whole = (error * n / largest) ** 2
    return _error(largest / n, whole / ENOUGH_WHOLE, max(0.0, 1 - whole / n))


def _error(of_a_deal: float, enough: float, share: float) -> float:
    """Return the error by what a deal adds, how nearly there are enough, and how many agree."""
    return of_a_deal * math.sqrt(PAIR * max(0.0, 2 * share - 1) * max(0.0, 1 - enough))


def _commonest(values: Floats, apart: float) -> float:
    """Return the commonest value, or the median of many: if few differ, that is it."""
    if len(values) > SMALL:
        return float(np.median(values))
    near = np.abs(values[:, None] - values) <= apart
    return float(values[near.sum(axis=1).argmax()])
