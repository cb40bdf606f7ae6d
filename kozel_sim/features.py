"""Features and triggers: what a ladder may say about a move or a position.

A feature is a small integer for one legal move; a trigger says whether a stage of a ladder applies
to the whole position. Both are computed from the View alone. The compiled twin is
``kozel_sim.engine.features``, which numbers them in the order of the tables below.

Legend
------
suit       all tiles that carry a value; my longest suit is the value on most of my tiles, of
           equals the higher
end        the value that an open arm shows
unseen     the tiles that are neither mine nor on the table
known      a seat is known to lack a value when it passed while an arm showed it (``View.void``);
           it tells that it lacks a value when it left it by switching ends (``View.tell``, tip T5)
rival      a seat that is neither mine nor my partner's
makes a fish   by all I know the round is blocked after the move, and I still hold tiles
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kozel_sim.moves import decode_move, move_tiles
from kozel_sim.tiles import ALL, DOUBLES, HAS, HIGH, LOW, N_VALUES, PIPS, Hand, count_value
from kozel_sim.view import View

FAR = 300
"""Greater distances to the target count as this."""
NEAR = 25
"""A side this close to the target is near it: one bad round may be enough."""
FEW = 2
"""A rival with no more tiles than this may go out soon."""


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
    history : bool
        Whether it looks at what the seats showed earlier in the round.
    same : bool
        Whether it is the same for all moves of a position, so that no choice depends on it.
    """

    meaning: str
    largest: int
    of: Callable[[View, int], int]
    history: bool = False
    same: bool = False


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


# ---------------------------------------------------------------------- what a move leaves


def arms_after(view: View, move: int) -> list[int]:
    """Return what each arm shows after a move, -1 where it is closed or absent."""
    arms = list(view.arms)
    for tile, arm, closed in decode_move(move):
        if view.table:
            arms[arm] = -1 if closed else PIPS[tile] - arms[arm]
        else:
            four = view.four_way and LOW[tile] == HIGH[tile]
            arms = [LOW[tile], HIGH[tile], *[LOW[tile] if four else -1] * 2]
    return arms


def ends_after(view: View, move: int) -> list[int]:
    """Return the values of the open arms after a move, by arm."""
    return [value for value in arms_after(view, move) if value >= 0]


def hand_after(view: View, move: int) -> int:
    """Return the mask of my tiles after a move."""
    return view.hand & ~move_tiles(move)


def fits_after(view: View, move: int) -> int:
    """Return the mask of all tiles, wherever they are, that fit an end after a move."""
    fits = 0
    for value in ends_after(view, move):
        fits |= HAS[value]
    return fits


def unseen_tiles(view: View) -> int:
    """Return the mask of the tiles that are neither mine nor on the table."""
    return ALL & ~view.table & ~view.hand


def longest_suit(hand: int) -> int:
    """Return the value that most tiles of a hand carry; of equals the higher."""
    return max(range(N_VALUES), key=lambda v: (count_value(hand, v), v))


def values_of(hand: int) -> int:
    """Return how many values the tiles of a hand carry."""
    return sum(bool(hand & HAS[v]) for v in range(N_VALUES))


# ---------------------------------------------------------------------- features of my tiles


def _pips(view: View, move: int) -> int:
    return Hand(move_tiles(move)).pips


def _double(view: View, move: int) -> int:
    return (move_tiles(move) & DOUBLES).bit_count()


def _range(view: View, move: int) -> int:
    return values_of(hand_after(view, move))


def _longest(view: View, move: int) -> int:
    left = hand_after(view, move)
    return max(count_value(left, v) for v in range(N_VALUES))


def _last_of_suit(view: View, move: int) -> int:
    return values_of(view.hand) - values_of(hand_after(view, move))


def _left(view: View, move: int) -> int:
    return hand_after(view, move).bit_count()


def _goes_out(view: View, move: int) -> int:
    return int(hand_after(view, move) == 0)


# ---------------------------------------------------------------------- features of the ends


def _block(view: View, move: int) -> int:
    return int(len(set(ends_after(view, move))) == 1)


def _match(view: View, move: int) -> int:
    return ends_after(view, move).count(longest_suit(view.hand))


def _cover(view: View, move: int) -> int:
    suit = longest_suit(view.hand)
    return sum(view.arms[arm] == suit for _, arm, _ in decode_move(move))


def _lock(view: View, move: int) -> int:
    return (hand_after(view, move) & fits_after(view, move)).bit_count()


def _unseen(view: View, move: int) -> int:
    return (unseen_tiles(view) & fits_after(view, move)).bit_count()


def _arms(view: View, move: int) -> int:
    return len(ends_after(view, move))


def _strand_double(view: View, move: int) -> int:
    """Tip T4; a move of several tiles is all doubles, and strands nothing."""
    (tile, arm, _), *_ = decode_move(move)
    value = view.arms[arm]
    if value < 0 or 1 << tile & DOUBLES:
        return 0
    suit = HAS[value]
    others_out = (view.table & suit & ~DOUBLES).bit_count() == 5
    double_away = not (view.table | view.hand) & suit & DOUBLES
    return int(others_out and double_away and value not in ends_after(view, move))


def _hold_last(view: View, move: int) -> int:
    """Tip T7: where no unseen tile fits an end, all seven are out or mine."""
    ends = (view.arms[arm] for _, arm, _ in decode_move(move))
    return -sum(value >= 0 and not unseen_tiles(view) & HAS[value] for value in ends)


# ---------------------------------------------------------------------- features of the others


def next_seat(view: View) -> int:
    """Return the seat that acts after mine."""
    return (view.seat + 1) % view.players


def rivals(view: View) -> list[int]:
    """Return the seats of my rivals, the next to act first."""
    seats = [(view.seat + i) % view.players for i in range(1, view.players)]
    return [seat for seat in seats if seat != view.partner]


def fewest_rival(view: View) -> int:
    """Return the rival with the fewest tiles; of equals the next to act."""
    return min(rivals(view), key=lambda seat: view.counts[seat])


def _open_ends(view: View, move: int, values: int) -> int:
    """Count the open ends after a move whose value is in a mask of values."""
    return sum(values >> value & 1 for value in ends_after(view, move))


def _next_void(view: View, move: int) -> int:
    return _open_ends(view, move, view.void[next_seat(view)])


def _next_tell(view: View, move: int) -> int:
    seat = next_seat(view)
    return _open_ends(view, move, view.tell[seat] & ~view.void[seat])


def _partner_void(view: View, move: int) -> int:
    return _open_ends(view, move, view.void[view.partner]) if view.partner >= 0 else 0


def _fewest_void(view: View, move: int) -> int:
    return _open_ends(view, move, view.void[fewest_rival(view)])


def _holds_fewest(view: View, move: int) -> int:
    others = (view.counts[seat] for seat in range(view.players) if seat != view.seat)
    return int(_left(view, move) <= min(others))


# ---------------------------------------------------------------------- features of the score


def makes_fish(view: View, move: int) -> bool:
    """Tell whether by all I know the round is blocked after a move (going out is no fish)."""
    if _goes_out(view, move):
        return False
    ends = set(ends_after(view, move))
    out_there = fits_after(view, move) & ~view.table & ~move_tiles(move)
    six_closed = view.six_closed and len(ends) == 1 and not out_there & ~DOUBLES
    return not out_there or bool(six_closed)


def fish_lead(view: View, move: int) -> int:
    """Return by how many pips the rivals' count is estimated to exceed mine after a move.

    An unseen tile counts as the average of all of them (rounded down for each side). Alone, the
    rival with the fewest tiles is what I am compared with; with a partner, both hands of a side
    count.
    """
    unseen = unseen_tiles(view)
    counts = [view.counts[seat] for seat in rivals(view)]
    theirs = sum(counts) if view.partner >= 0 else min(counts)
    partner = view.counts[view.partner] if view.partner >= 0 else 0
    pips, size = Hand(unseen).pips, unseen.bit_count()
    mine = Hand(hand_after(view, move)).pips + partner * pips // size
    return theirs * pips // size - mine


def _fish_ahead(view: View, move: int) -> int:
    return max(0, fish_lead(view, move)) if makes_fish(view, move) else 0


def _fish_behind(view: View, move: int) -> int:
    return max(0, -fish_lead(view, move)) if makes_fish(view, move) else 0


def distance(view: View, side: int) -> int:
    """Return how many points a side is from the target, 0 to FAR."""
    return min(max(view.target - view.accounts[side], 0), FAR)


def rival_sides(view: View) -> list[int]:
    """Return the sides that are not mine."""
    sides = 2 if view.partner >= 0 else view.players
    return [side for side in range(sides) if side != view.side]


def _own_distance(view: View, move: int) -> int:
    return distance(view, view.side)


def _rival_distance(view: View, move: int) -> int:
    return min(distance(view, side) for side in rival_sides(view))


def _fence_open(view: View, move: int) -> int:
    return view.opened[view.side]


FEATURES: dict[str, Feature] = {
    "pips": Feature("pips of the tiles laid", 42, _pips),
    "double": Feature("doubles laid", 4, _double),
    "range": Feature("distinct values left in hand", 7, _range),
    "longest": Feature("tiles left of the value that most of them carry", 7, _longest),
    "last_of_suit": Feature("values that I no longer hold after the move", 4, _last_of_suit),
    "block": Feature("1 if all open ends show the same value afterwards", 1, _block),
    "match": Feature("open ends that show my longest suit afterwards", 4, _match),
    "cover": Feature("ends showing my longest suit that the move covers", 4, _cover),
    "lock": Feature("tiles left in hand that fit an open end afterwards", 24, _lock),
    "unseen": Feature("unseen tiles that fit an open end afterwards", 24, _unseen),
    "next_void": Feature("open ends that the next seat is known to lack", 4, _next_void, True),
    "next_tell": Feature(
        "open ends that the next seat is not known to lack but left by switching ends (tip T5)",
        4,
        _next_tell,
        True,
    ),
    "partner_void": Feature("open ends that my partner is known to lack", 4, _partner_void, True),
    "fewest_void": Feature(
        "open ends that the rival with the fewest tiles is known to lack", 4, _fewest_void, True
    ),
    "strand_double": Feature(
        "1 if the last tile but the double of a suit covers its last end (tip T4)",
        1,
        _strand_double,
    ),
    "hold_last": Feature(
        "minus the tiles laid on ends where nobody else can lay (tip T7)", 4, _hold_last
    ),
    "fish_ahead": Feature(
        "if it makes a fish: pips by which my count is estimated to be lower", 168, _fish_ahead
    ),
    "fish_behind": Feature(
        "if it makes a fish: pips by which my count is estimated to be higher", 168, _fish_behind
    ),
    "arms": Feature("open arms afterwards", 4, _arms),
    "left": Feature("tiles left in my hand", 27, _left),
    "goes_out": Feature("1 if it is my last tile", 1, _goes_out),
    "holds_fewest": Feature("1 if nobody holds fewer tiles than I do afterwards", 1, _holds_fewest),
    "own_distance": Feature(
        f"points from my side's account to the target, at most {FAR}", FAR, _own_distance, same=True
    ),
    "rival_distance": Feature(
        f"points from the nearest other side's account to the target, at most {FAR}",
        FAR,
        _rival_distance,
        same=True,
    ),
    "fence_open": Feature("1 if my side's account is open", 1, _fence_open, same=True),
}


# ---------------------------------------------------------------------- triggers


def _even_hand(view: View, moves: Sequence[int]) -> bool:
    counts = [count_value(view.hand, v) for v in range(N_VALUES)]
    return sum(c > 0 for c in counts) >= 6 and max(counts) <= 3


def _long_suit(view: View, moves: Sequence[int]) -> bool:
    size = view.hand.bit_count()
    return count_value(view.hand, longest_suit(view.hand)) >= max(3, (size + 1) // 2)


def _legal_double(view: View, moves: Sequence[int]) -> bool:
    return any(move_tiles(move) & DOUBLES for move in moves)


def _rival_low(view: View, moves: Sequence[int]) -> bool:
    return view.counts[fewest_rival(view)] <= FEW


def _own_near(view: View, moves: Sequence[int]) -> bool:
    return distance(view, view.side) <= NEAR


def _rival_near(view: View, moves: Sequence[int]) -> bool:
    return min(distance(view, side) for side in rival_sides(view)) <= NEAR


def _fenced(view: View, moves: Sequence[int]) -> bool:
    return not view.opened[view.side]


TRIGGERS: dict[str, Trigger] = {
    "always": Trigger("always", lambda view, moves: True),
    "even_hand": Trigger("6 or 7 values in hand, none on more than 3 tiles (tip T1)", _even_hand),
    "long_suit": Trigger(
        "a value on at least 3 and at least half of my tiles (tip T2)", _long_suit
    ),
    "legal_double": Trigger("a double may be laid (tip T3)", _legal_double),
    "rival_low": Trigger(f"a rival holds {FEW} tiles or fewer", _rival_low),
    "own_near": Trigger(f"my side is {NEAR} points or fewer from the target", _own_near),
    "rival_near": Trigger(f"another side is {NEAR} points or fewer from the target", _rival_near),
    "fenced": Trigger("my side's account is not open yet", _fenced),
}
