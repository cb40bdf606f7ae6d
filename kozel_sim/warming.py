"""Compile every kernel before it is needed, or load it from the cache."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numba

from kozel_sim import timing
from kozel_sim._native import count_kept, unkept, why_not_kept
from kozel_sim.engine.features import score_alone
from kozel_sim.playing import play
from kozel_sim.rounds import rounds_frame
from kozel_sim.simulation import simulate
from kozel_sim.tell import measure_tell
from kozel_sim.tiles import ALL
from kozel_sim.view import VIEW
from kozel_sim.worlds import Worlds

TWO = ("random", "dump_heavy")


def _score_a_move() -> None:
    score_alone.compile((numba.from_dtype(VIEW), numba.int64, numba.int64))


def _sample_worlds() -> None:
    worlds = Worlds(ALL & ~(ALL >> 14), (7, 7), (0, 0))
    worlds.count()
    worlds.sample(2, seed=1)


STEPS: dict[str, Callable[[], object]] = {
    "matches, one at a time": lambda: simulate("room-fish-all", TWO, 1, seed=0, engine="scalar"),
    "matches, many in step": lambda: simulate("room-fish-all", TWO, 1, seed=0),
    "sums of an aggregate": lambda: simulate("room-fish-all", TWO, 1, seed=0, aggregate=True),
    "records": lambda: play("room-fish-all", TWO, seed=0, deal=0),
    "rounds": lambda: rounds_frame("room-fish-all", TWO, 1, seed=0),
    "single decisions": timing.warm_up,
    "features for functions": _score_a_move,
    "worlds": _sample_worlds,
    "the tell": lambda: measure_tell("room-fish-all", TWO, 1, seed=0, players=2),
}
"""What is compiled, and something small that needs it."""


def warm_up(tell: Callable[[str], object]) -> Iterator[tuple[str, bool, float]]:
    """Compile all; a user's own functions are compiled when they are first played.

    Parameters
    ----------
    tell : callable
        Called with what comes next.

    Yields
    ------
    tuple of (str, bool, float)
        What it was, whether something of it had to be compiled, and how many seconds it took.

    Raises
    ------
    OSError
        If what is compiled cannot be kept.
    """
    if why_not_kept():
        raise OSError(f"nothing that is compiled can be kept: {why_not_kept()}")
    known = len(unkept)
    for what, work in STEPS.items():
        tell(what)
        before, start = count_kept(), time.perf_counter()
        work()
        if unkept[known:]:
            raise OSError(f"not all that is compiled could be kept: {unkept[-1]}")
        yield what, count_kept() > before, time.perf_counter() - start
