"""What a policy is written with: tiles, moves, the others, chance, features.

Every function here does the same in plain Python and inside a compiled policy. Tiles, values,
masks, arms and the codes of moves are as in ``kozel_sim.tiles`` and ``kozel_sim.moves``::

    from kozel_sim import policy
    from kozel_sim.kit import best_move, feature, pips_of

    def score(view, move):
        return pips_of(move) + 1.5 * feature(view, move, "lock")

    @policy
    def careful(view):
        return best_move(view, score)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numba import types
from numba.core.errors import TypingError
from numba.extending import overload

from kozel_sim import tiles
from kozel_sim._jit import inlined, share_helper, shared, twin
from kozel_sim.engine import bits
from kozel_sim.engine.features import feature_of
from kozel_sim.engine.walk import compile_walk
from kozel_sim.features import FEATURES
from kozel_sim.moves import CLOSED
from kozel_sim.tiles import ALL, DOUBLES
from kozel_sim.view import View
from kozel_sim.words import did_you_mean, quoted

__all__ = [
    "ALL",
    "DOUBLES",
    "arm_of",
    "below",
    "best_move",
    "count",
    "doubles_of",
    "end_after",
    "feature",
    "first_move",
    "fits",
    "has",
    "high",
    "is_closed",
    "is_double",
    "is_rival",
    "lacks",
    "low",
    "lowest",
    "move_of",
    "moves",
    "n_moves",
    "next_move",
    "next_seat",
    "nth_move",
    "pips",
    "pips_of",
    "popcount",
    "tie",
    "tile_of",
    "tiles_of",
    "unseen",
    "values",
    "values_after",
]

# Closed arms show -1, which is the last entry: nothing carries it.
_HAS = np.array((*tiles.HAS, 0), np.int64)
_PIPS = np.array(tiles.PIPS, np.int64)
_HIGH = np.array(tiles.HIGH, np.int64)
_LOW = np.array(tiles.LOW, np.int64)
# By the byte of a move: 0 nothing, tile + 1, and that with bit 7 where it is laid closed.
_BYTES = np.arange(28) + 1
_BYTE_PIPS, _BYTE_TILE = np.zeros((2, 256), np.int64)
_BYTE_PIPS[_BYTES] = _BYTE_PIPS[_BYTES | CLOSED] = _PIPS
_BYTE_TILE[_BYTES] = _BYTE_TILE[_BYTES | CLOSED] = 1 << np.arange(28)

# ---------------------------------------------------------------------- tiles and masks


def popcount(mask: int) -> int:
    """Return how many tiles a mask holds.

    Examples
    --------
    >>> popcount(0b1011)
    3
    """
    return (mask & 0xFFFFFFFF).bit_count()


def lowest(mask: int) -> int:
    """Return the lowest tile id of a mask that is not empty.

    Examples
    --------
    >>> lowest(0b1100)
    2
    """
    return (mask & -mask).bit_length() - 1


twin(popcount, inlined(lambda mask: bits.popcount(mask)))
twin(lowest, inlined(lambda mask: bits.lowest(mask)))


@shared
def pips(tile: int) -> int:
    """Return the sum of a tile's halves.

    Examples
    --------
    >>> pips(26)  # 6-4
    10
    """
    return int(_PIPS[tile])


@shared
def high(tile: int) -> int:
    """Return the larger half of a tile."""
    return int(_HIGH[tile])


@shared
def low(tile: int) -> int:
    """Return the smaller half of a tile."""
    return int(_LOW[tile])


@shared
def is_double(tile: int) -> bool:
    """Tell whether a tile is a double."""
    return tile < 7


@shared
def has(value: int) -> int:
    """Return the mask of the tiles that carry a value; 0 for -1, what a closed arm shows.

    Examples
    --------
    >>> popcount(has(6)), has(-1)
    (7, 0)
    """
    return int(_HAS[value])


@shared
def count(mask: int, value: int) -> int:
    """Return how many tiles of a mask carry a value; a double counts once."""
    return popcount(mask & has(value))


@shared
def values(mask: int) -> int:
    """Return the values that the tiles of a mask carry, as a mask over 0 to 6."""
    found = 0
    for value in range(7):
        if mask & has(value):
            found |= 1 << value
    return found


# ---------------------------------------------------------------------- moves


@shared
def move_of(tile: int, arm: int) -> int:
    """Return the move that lays a tile on an arm.

    Examples
    --------
    >>> hex(move_of(26, 1))
    '0x1b00'
    """
    return int(np.int64(tile) + 1) << 8 * arm


@shared
def arm_of(move: int) -> int:
    """Return the arm of a move; of several tiles the lowest arm."""
    return lowest(move) >> 3


@shared
def tile_of(move: int) -> int:
    """Return the tile of a move; of several tiles the one on the lowest arm."""
    return int(np.int64(move) >> 8 * arm_of(move) & 0x7F) - 1


@shared
def is_closed(move: int) -> bool:
    """Tell whether a move lays a tile closed."""
    return move & 0x80808080 != 0


@shared
def tiles_of(move: int) -> int:
    """Return the mask of the tiles that a move lays.

    Examples
    --------
    >>> bin(tiles_of(0x8604))  # 3-3 on arm 0, 5-5 closed on arm 1
    '0b101000'
    """
    mask = 0
    rest = int(np.int64(move))
    while rest:
        mask |= int(_BYTE_TILE[rest & 0xFF])
        rest >>= 8
    return mask


@shared
def pips_of(move: int) -> int:
    """Return the pips of the tiles that a move lays."""
    total = 0
    rest = int(np.int64(move))
    while rest:
        total += int(_BYTE_PIPS[rest & 0xFF])
        rest >>= 8
    return total


@shared
def doubles_of(move: int) -> int:
    """Return how many doubles a move lays."""
    return popcount(tiles_of(move) & DOUBLES)


@shared
def fits(view: View, tile: int, arm: int) -> bool:
    """Tell whether a tile, mine or not, fits what an arm shows; on an empty table all fit."""
    if view.table == 0:
        return True
    return has(view.arms[arm]) >> tile & 1 == 1


@shared
def end_after(view: View, move: int, arm: int) -> int:
    """Return the value that an arm shows after a move, -1 where it is closed or absent."""
    if view.table == 0:
        tile = tile_of(move)
        if arm > 1 and not (view.four_way and is_double(tile)):
            return -1
        return high(tile) if arm else low(tile)
    byte = int(np.int64(move) >> 8 * arm & 0xFF)
    if byte == 0:
        return int(view.arms[arm])
    if byte & CLOSED:
        return -1
    return pips(byte - 1) - int(view.arms[arm])


@shared
def values_after(view: View, move: int) -> int:
    """Return the values that the open arms show after a move, as a mask over 0 to 6."""
    shown = 0
    for arm in range(4):
        value = end_after(view, move, arm)
        if value >= 0:
            shown |= 1 << value
    return shown


# ---------------------------------------------------------------------- legal moves, one by one


@shared
def first_move(view: View) -> int:
    """Return the first of the legal moves, which are sorted by (arm, tile, closed)."""
    for arm in range(4):
        if view.legal[arm]:
            return move_of(lowest(view.legal[arm]), arm)
    return 0


@shared
def next_move(view: View, move: int) -> int:
    """Return the legal move behind another one, 0 behind the last."""
    if view.several or view.close:
        following = _next_double(view, int(np.int64(move)))
        if following:
            return following
    arm = arm_of(move)
    # All tiles of the arm above the move's own.
    byte = int(np.int64(move) >> 8 * arm & 0x7F)
    rest = int(np.int64(view.legal[arm])) >> byte
    if rest:
        return move_of(byte + lowest(rest), arm)
    for higher in range(arm + 1, 4):
        if view.legal[higher]:
            return move_of(lowest(view.legal[higher]), higher)
    return 0


@shared
def _next_double(view: View, move: int) -> int:
    """Return what follows a move of doubles before the tile on its lowest arm changes; else 0."""
    bottom = arm_of(move)
    if view.table == 0 or not is_double(tile_of(move)):
        return 0
    top = int(move > 0xFF) + int(move > 0xFFFF) + int(move > 0xFFFFFF)
    if view.several:
        more = _add_double(view, move, 2 * top + 2)
        if more:
            return more
    while top > bottom:
        # Nothing more goes on top of the last double, so another one takes its place.
        byte = move >> 8 * top
        move ^= byte << 8 * top
        if byte:
            more = _add_double(view, move, 2 * top + (byte >> 7) + 1)
            if more:
                return more
        top -= 1
    if view.close and not is_closed(move):
        return move | CLOSED << 8 * bottom
    return 0


@shared
def _add_double(view: View, move: int, first: int) -> int:
    """Return a move with a double more, the first of the ways (2 * arm + closed) from one on."""
    for way in range(first, 8):
        double = int(np.int64(view.legal[way >> 1])) & DOUBLES
        if double and (way & 1 == 0 or view.close):
            byte = lowest(double) + 1 | CLOSED * (way & 1)
            more = move | byte << 8 * (way >> 1)
            both_closed = more & 0x8080 == 0x8080 and view.spinner == 0
            if not (both_closed and view.close_two and view.table & DOUBLES):
                return more
    return 0


def moves(view: View) -> Iterator[int]:
    """Iterate over the legal moves, sorted by (arm, tile, closed).

    Also those of several doubles at once, where the rules know them. Compiled, it costs no more
    than a while loop.
    """
    move = first_move(view)
    while move:
        yield move
        move = next_move(view, move)


compile_walk(moves, first_move, next_move)


@shared
def n_moves(view: View) -> int:
    """Return how many legal moves there are: two or more, or nobody is asked."""
    if not (view.several or view.close):
        singles = 0
        for arm in range(4):
            singles += popcount(view.legal[arm])
        return singles
    n = 0
    for _ in moves(view):
        n += 1
    return n


@shared
def nth_move(view: View, n: int) -> int:
    """Return a legal move by its rank from 0; 0 where there is none."""
    for move in moves(view):
        if n == 0:
            return move
        n -= 1
    return 0


@shared
def _bits(mask: int) -> int:
    """Count the bits of a mask of sixty."""
    return popcount(mask & 0x3FFFFFFF) + popcount(mask >> 30)


def best_move(view: View, score: Callable[[View, int], float]) -> int:
    """Return the legal move with the highest score; a tie is broken as the built-ins break it.

    Parameters
    ----------
    view : View
        What the seat knows.
    score : callable
        A plain function ``score(view, move) -> number``, asked once per move.
    """
    best = -math.inf
    choice = 0
    # Which moves tie, as bits by their rank: a donkey may have over sixty moves, never 120.
    tied = 0
    tied_behind = 0
    for rank, move in enumerate(moves(view)):
        value = float(score(view, move))
        if value > best:
            best = value
            choice = move
            tied = 0
            tied_behind = 0
        if value == best:
            if rank < 60:
                tied |= 1 << rank
            else:
                tied_behind |= 1 << rank - 60
    n = _bits(tied) + _bits(tied_behind)
    if n < 2:
        return choice
    skip = tie(view, n)
    place = -1
    while skip >= 0:
        place += 1
        skip -= tied >> place & 1 if place < 60 else tied_behind >> place - 60 & 1
    return nth_move(view, place)


share_helper(best_move)

# ---------------------------------------------------------------------- the others


@shared
def unseen(view: View) -> int:
    """Return the mask of the tiles in the others' hands and in the bazaar."""
    return ALL & ~int(np.int64(view.hand) | np.int64(view.table))


@shared
def next_seat(view: View) -> int:
    """Return the seat whose turn comes after mine."""
    return int((view.seat + 1) % view.players)


@shared
def is_rival(view: View, seat: int) -> bool:
    """Tell whether a seat plays against mine."""
    return seat < view.players and seat != view.seat and seat != view.partner


@shared
def lacks(view: View, seat: int, value: int) -> bool:
    """Tell whether a seat showed, by passing, that it has no tile of a value."""
    return view.void[seat] >> value & 1 == 1


# ---------------------------------------------------------------------- chance


@shared
def below(word: int, n: int) -> int:
    """Turn a random word (``view.word``, ``view.words[i]``) into a number from 0 to n - 1.

    Examples
    --------
    >>> below(0xFFFFFFFF, 6)
    5
    """
    return int(np.int64(word) >> 5) * n >> 27


@shared
def tie(view: View, n: int) -> int:
    """Choose one of n equal moves, as the built-ins do: a number from 0 to n - 1."""
    return below(view.word, n)


# ---------------------------------------------------------------------- features


def feature(view: View, move: int, name: str) -> int:
    """Return a feature of a legal move, one of those that ``weights:`` knows.

    Parameters
    ----------
    view : View
        What the seat knows.
    move : int
        A legal move.
    name : str
        The feature's name, written out: ``feature(view, move, "lock")``.

    Raises
    ------
    ValueError
        If there is no such feature; a policy that names it does not compile.
    """
    if name not in FEATURES:
        raise ValueError(_unknown_feature(name))
    return FEATURES[name].of(view, move)


def _unknown_feature(name: str) -> str:
    hint = did_you_mean(name, FEATURES)
    return f"unknown feature {quoted(name)}{hint}; choose from {', '.join(FEATURES)}"


@overload(feature, prefer_literal=True, strict=False)  # type: ignore[untyped-decorator]
def _feature(view: Any, move: Any, name: Any) -> Any:
    if not isinstance(name, types.StringLiteral):
        raise TypingError('write a feature\'s name out, like feature(view, move, "lock")')
    if name.literal_value not in FEATURES:
        raise TypingError(_unknown_feature(name.literal_value))
    compiled = feature_of(name.literal_value)
    return lambda view, move, name: compiled(view, np.int64(move))
