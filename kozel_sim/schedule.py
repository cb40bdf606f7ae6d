"""Who plays whom, where, on which deals.

Legend
------
entrant    a policy at a table, numbered in the order in which the table lists them.
seating    a number below n! that seats n entrants: seating % n turns a cyclic order round the
           table, seating // n names the cyclic order. Seating 0 is the order as listed.
table      a set of n distinct policies, as indices into the list of policies.

A deal is played at every table in all n rotations of one cyclic order, deal d in order
d mod (n-1)!, so that over (n-1)! deals nobody sits behind one neighbour more often than another.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations
from math import factorial
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from kozel_sim.checks import is_whole

T = TypeVar("T")


@cache
def seatings(n: int) -> npt.NDArray[np.int64]:
    """Return the entrant at each seat, ``[seating, seat]``, for all n! seatings.

    Examples
    --------
    >>> seatings(3).tolist()
    [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]]
    """
    orders = [(0, *rest) for rest in permutations(range(1, n))]
    turned = [[order[(seat + s) % n] for seat in range(n)] for order in orders for s in range(n)]
    return np.array(turned)


def seat_policies(entrants: list[T], seating: int) -> list[T]:
    """Return the entrants in the order of their seats; ValueError at a seating that is none."""
    n = len(entrants)
    if not is_whole(seating):
        raise ValueError(f"seating must be a whole number, not {seating!r}")
    if not 0 <= seating < factorial(n):
        raise ValueError(f"seating {seating} is not below {factorial(n)} ({n} players)")
    return [entrants[i] for i in seatings(n)[seating]]


def tables(n_policies: int, players: int) -> npt.NDArray[np.int64]:
    """Return every set of distinct policies that fills a table, ``[table, entrant]``."""
    return np.array(list(combinations(range(n_policies), players)), dtype=np.int64)


def whole_cycles(deals: int, players: int) -> int:
    """Return a number of deals rounded up to whole cycles of the cyclic orders."""
    cycle = factorial(players - 1)
    return -(-deals // cycle) * cycle


def schedule(
    first: int, end: int, table_policies: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the matches of a range of deals, in the order deal, table, rotation.

    Parameters
    ----------
    first, end : int
        Deal ids, the end excluded.
    table_policies : array of int, ``[table, entrant]``
        The tables.

    Returns
    -------
    deals : array of uint64, ``[match]``
        Deal ids.
    seating : array of int, ``[match]``
        The seating of each match.
    players : array of int, ``[match, seat]``
        The policy at each seat.
    """
    n_tables, n = table_policies.shape
    deal, table, rotation = (
        axis.ravel()
        for axis in np.meshgrid(
            np.arange(first, end), np.arange(n_tables), np.arange(n), indexing="ij"
        )
    )
    seating = n * (deal % factorial(n - 1)) + rotation
    players = table_policies[table[:, None], seatings(n)[seating]]
    return deal.astype(np.uint64), seating, players
