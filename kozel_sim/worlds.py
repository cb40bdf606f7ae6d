"""Worlds: all ways in which the tiles that one cannot see may lie, counted and sampled.

Whoever looks at the table knows which tiles are hidden, how many each hand and the bazaar hold, and
which values a hand has shown that it lacks. Each way to deal the hidden tiles that agrees with it
is a world. All worlds are equally likely to somebody who knows no more than that and asks no
reasons of anybody's choices.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from kozel_sim.engine.entries import count_kernel, sample_kernel
from kozel_sim.engine.worlds import (
    MAX_PLACES,
    MAX_WORLDS,
    WORLDS,
)
from kozel_sim.outside import is_whole, need_list, need_whole, shown
from kozel_sim.rng import WORLD, threefry4x32
from kozel_sim.tiles import ALL, HAS, N_VALUES, tiles_of
from kozel_sim.view import View, need_view


class Worlds:
    """The worlds that agree with what is known.

    Parameters
    ----------
    hidden : int
        Mask of the tiles that are not seen.
    counts : sequence of int, ``[place]``
        How many of them each place holds: up to five places, such as the seats and the bazaar.
    void : sequence of int, ``[place]``, optional
        Mask over the values 0-6 that a place is known to lack.
    engine : {"auto", "reference"}
        The compiled counter, or the readable one; results are equal.

    Raises
    ------
    ValueError
        If the counts do not add up to the hidden tiles, or a value is out of range.

    Examples
    --------
    One place holds two of 6-6, 6-5 and 5-5, another one. The first cannot lack fives:

    >>> from kozel_sim.tiles import Hand
    >>> hidden = Hand.of("6-6", "6-5", "5-5")
    >>> Worlds(hidden, [2, 1]).count(), Worlds(hidden, [2, 1], [1 << 5, 0]).count()
    (3, 0)
    >>> Worlds(hidden, [2, 1]).chance_lacks(1, 5)
    0.3333333333333333
    """

    def __init__(
        self,
        hidden: int,
        counts: Sequence[int],
        void: Sequence[int] | None = None,
        engine: Literal["auto", "reference"] = "auto",
    ) -> None:
        if not is_whole(hidden) or not 0 <= hidden <= ALL:
            raise ValueError(f"hidden must be a mask of the 28 tiles, not {shown(hidden)}")
        self.hidden = int(hidden)
        self.counts = tuple(need_whole("counts", n, 0, 28) for n in need_list("counts", counts))
        masks = [0] * len(self.counts) if void is None else need_list("void", void)
        self.void = tuple(need_whole("void", mask, 0, (1 << N_VALUES) - 1) for mask in masks)
        self.engine = engine
        if not 1 <= len(self.counts) <= MAX_PLACES or len(self.void) != len(self.counts):
            raise ValueError(
                f"counts and void must have one entry for each of 1 to {MAX_PLACES} places, "
                f"not {len(self.counts)} and {len(self.void)}"
            )
        if sum(self.counts) != self.hidden.bit_count():
            raise ValueError(
                f"counts {list(self.counts)} must share out the {self.hidden.bit_count()} "
                "hidden tiles"
            )
        if engine not in ("auto", "reference"):
            raise ValueError(f"unknown engine {engine!r}; choose from auto, reference")

    @classmethod
    def seen_by(cls, view: View, engine: Literal["auto", "reference"] = "auto") -> Worlds:
        """Return the worlds of a View: its places are the seats, then the bazaar.

        The viewer's own place takes no hidden tile.

        Parameters
        ----------
        view : View
            What a seat may know.
        engine : {"auto", "reference"}
            As for the constructor.

        Returns
        -------
        Worlds
            Those that the seat cannot tell apart.
        """
        need_view(view)
        seats = range(view.players)
        counts = [0 if seat == view.seat else int(view.counts[seat]) for seat in seats]
        return cls(
            ALL & ~int(view.table) & ~int(view.hand),
            [*counts, view.bazaar],
            [*(int(view.void[seat]) for seat in seats), 0],
            engine,
        )

    def count(self) -> int:
        """Return how many worlds there are; exact."""
        return self._count(self.void)

    def chance_lacks(self, place: int, value: int) -> float:
        """Return the chance that a place holds no tile of a value; exact, not sampled.

        Parameters
        ----------
        place : int
            A seat, or the bazaar behind the last seat.
        value : int
            From 0 to 6.

        Returns
        -------
        float
            The share of all worlds in which it lacks the value.

        Raises
        ------
        ValueError
            If there is no such place or value, or no world at all.
        """
        need_whole("place", place, 0, len(self.counts) - 1)
        need_whole("value", value, 0, N_VALUES - 1)
        worlds = self.count()
        if worlds == 0:
            raise ValueError("no world agrees with the voids")
        void = list(self.void)
        void[place] |= 1 << value
        return self._count(void) / worlds

    def sample(
        self, n: int, seed: int, *, round_: int = 0, event: int = 0
    ) -> npt.NDArray[np.uint32]:
        """Return n worlds, drawn independently, all equally likely.

        World i is a function of (seed, round, event, i) and of what is known. A place is chosen
        tile by tile, each time from exact counts with a 32-bit word: a chance is off by less than
        ``1 / 2**32`` at each tile, and what is impossible never happens.

        Parameters
        ----------
        n : int
            How many worlds, at most ``2**29``.
        seed : int
            Unsigned 64-bit.
        round_, event : int, default 0
            Unsigned 32-bit, for streams of their own.

        Returns
        -------
        array of uint32, ``[world, place]``
            The mask of the tiles that each place holds.

        Raises
        ------
        ValueError
            If a number is out of range, or there is no world at all.
        """
        for what, number, end in (
            ("n", n, MAX_WORLDS + 1),
            ("seed", seed, 2**64),
            ("round_", round_, 2**32),
            ("event", event, 2**32),
        ):
            need_whole(what, number, 0, end - 1)
        out = np.zeros((n, len(self.counts)), np.uint32)
        if self.engine == "reference":
            worlds = self._sample_readably(out, seed, round_, event)
        else:
            worlds = sample_kernel(self._record(self.void), np.uint64(seed), round_, event, out)
        if worlds == 0:
            raise ValueError("no world agrees with the voids")
        return out

    def _count(self, void: Sequence[int]) -> int:
        if self.engine == "reference":
            return _Counter(self.hidden, void).ways(0, self.counts)
        return int(count_kernel(self._record(void)))

    def _record(self, void: Sequence[int]) -> npt.NDArray[Any]:
        """Return what is known as the kernels read it."""
        record = np.zeros(1, WORLDS)
        record["hidden"] = self.hidden
        record["places"] = len(self.counts)
        record["capacity"][0, : len(self.counts)] = self.counts
        record["forbidden"][0, : len(self.counts)] = [tiles_lacking(v) for v in void]
        return record

    def _sample_readably(
        self, out: npt.NDArray[np.uint32], seed: int, round_: int, event: int
    ) -> int:
        """Fill out as the compiled sampler does; return how many worlds there are."""
        counter = _Counter(self.hidden, self.void)
        worlds = counter.ways(0, self.counts)
        key = (seed & 0xFFFF_FFFF, seed >> 32, 0, 0)
        for i, world in enumerate(out if worlds else ()):
            blocks = [threefry4x32((round_, event, 8 * i + b, WORLD), key) for b in range(7)]
            words = [word for block in blocks for word in block]
            left = self.counts
            for number, (tile, places) in enumerate(counter.tiles):
                rank = int(words[number] * 2.0**-32 * counter.ways(number, left))
                for place in places:
                    after = _take(left, place)
                    ways = counter.ways(number + 1, after)
                    if rank < ways:
                        break
                    rank -= ways
                world[place] |= np.uint32(1 << tile)
                left = after
        return worlds


class _Counter:
    """Counts in how many ways the hidden tiles, from some tile on, fill places."""

    def __init__(self, hidden: int, void: Sequence[int]) -> None:
        forbidden = [tiles_lacking(v) for v in void]
        self.tiles = [
            (tile, [place for place, mask in enumerate(forbidden) if not mask >> tile & 1])
            for tile in tiles_of(hidden)
        ]
        self.ways = lru_cache(maxsize=None)(self._ways)

    def _ways(self, number: int, left: tuple[int, ...]) -> int:
        """Return the ways to deal tile `number` and those after it to what places have left."""
        if min(left) < 0:
            return 0
        if number == len(self.tiles):
            return 1
        places = self.tiles[number][1]
        return sum(self.ways(number + 1, _take(left, place)) for place in places)


def _take(left: tuple[int, ...], place: int) -> tuple[int, ...]:
    """Return the room that is left when a place takes a tile."""
    return (*left[:place], left[place] - 1, *left[place + 1 :])


def tiles_lacking(values: int) -> int:
    """Return the mask of all tiles that carry one of some values (a mask over 0-6)."""
    mask = 0
    for value in range(N_VALUES):
        if values >> value & 1:
            mask |= HAS[value]
    return mask
