"""Features and triggers: what a ladder may say about a move or a hand.

A feature is a small integer for one legal move; a trigger says whether a stage of a ladder applies
to the whole position. Both are computed from the View alone. The compiled twin is
``kozel_sim.engine.features``, which numbers them in the order of the tables below.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kozel_sim.moves import MAX_ARMS, decode_move, move_tiles
from kozel_sim.tiles import DOUBLES, HAS, HIGH, LOW, N_VALUES, PIPS, count_value
from kozel_sim.view import View


@dataclass(frozen=True)
class Feature:
    """A number for a move.

    Attributes
    ----------
    meaning : str
        What it counts.
    largest : int
        Its greatest absolute value, for the overflow bound of a ladder's scores.
    of : callable
        ``of(view, move) -> int``.
    """

    meaning: str
    largest: int
    of: Callable[[View, int], int]


@dataclass(frozen=True)
class Trigger:
    """A condition on a position.

    Attributes
    ----------
    meaning : str
        When it holds.
    holds : callable
        ``holds(view, moves) -> bool``.
    """

    meaning: str
    holds: Callable[[View, Sequence[int]], bool]


def ends_after(view: View, move: int) -> list[int]:
    """Return the values of the open arms after a move."""
    if view.table == 0:
        (tile, _, _) = decode_move(move)[0]
        return [LOW[tile], HIGH[tile]]
    arms = list(view.arms)
    for tile, arm, closed in decode_move(move):
        arms[arm] = -1 if closed else PIPS[tile] - arms[arm]
    return [arms[arm] for arm in range(MAX_ARMS) if arms[arm] >= 0]


def longest_suit(hand: int) -> int:
    """Return the value that most tiles of a hand carry; of equals the higher."""
    return max(range(N_VALUES), key=lambda v: (count_value(hand, v), v))


def _pips(view: View, move: int) -> int:
    return sum(PIPS[tile] for tile, _, _ in decode_move(move))


def _double(view: View, move: int) -> int:
    return (move_tiles(move) & DOUBLES).bit_count()


def _range(view: View, move: int) -> int:
    left = view.hand & ~move_tiles(move)
    return sum(bool(left & HAS[v]) for v in range(N_VALUES))


def _longest(view: View, move: int) -> int:
    left = view.hand & ~move_tiles(move)
    return max(count_value(left, v) for v in range(N_VALUES))


def _block(view: View, move: int) -> int:
    return int(len(set(ends_after(view, move))) == 1)


def _match(view: View, move: int) -> int:
    return ends_after(view, move).count(longest_suit(view.hand))


def _lock(view: View, move: int) -> int:
    left = view.hand & ~move_tiles(move)
    fits = 0
    for value in ends_after(view, move):
        fits |= left & HAS[value]
    return fits.bit_count()


FEATURES: dict[str, Feature] = {
    "pips": Feature("pips of the tiles laid", 42, _pips),
    "double": Feature("doubles laid", 4, _double),
    "range": Feature("distinct values left in hand", 7, _range),
    "longest": Feature("tiles left of the value that most of them carry", 7, _longest),
    "block": Feature("1 if all open ends show the same value afterwards", 1, _block),
    "match": Feature("open ends that show the value most of my tiles carry", 4, _match),
    "lock": Feature("tiles left in hand that fit an open end afterwards", 24, _lock),
}


def _even_hand(view: View, moves: Sequence[int]) -> bool:
    counts = [count_value(view.hand, v) for v in range(N_VALUES)]
    return sum(c > 0 for c in counts) >= 6 and max(counts) <= 3


def _long_suit(view: View, moves: Sequence[int]) -> bool:
    size = view.hand.bit_count()
    return count_value(view.hand, longest_suit(view.hand)) >= max(3, (size + 1) // 2)


def _legal_double(view: View, moves: Sequence[int]) -> bool:
    return any(move_tiles(move) & DOUBLES for move in moves)


TRIGGERS: dict[str, Trigger] = {
    "always": Trigger("always", lambda view, moves: True),
    "even_hand": Trigger("6 or 7 values in hand, none on more than 3 tiles (tip T1)", _even_hand),
    "long_suit": Trigger(
        "a value on at least 3 and at least half of my tiles (tip T2)", _long_suit
    ),
    "legal_double": Trigger("a double may be laid (tip T3)", _legal_double),
}
