"""Moves: what may be laid, and the code of a move.

Legend
------
arm     an open end of the chain. Arm 0 is the left end (the low half of the first tile), arm 1 the
        right; arms 2 and 3 exist only around a four-way double.
arms    the value each arm shows, by arm; None where it is closed or absent; [] is the empty table.
code    a move as one unsigned 32-bit int, a byte per arm: 0 nothing, else tile id + 1, with bit 7
        set when the tile is laid closed. It covers an ordinary tile, a sea goat's pair of doubles
        and a donkey's several doubles.

Moves are listed in ascending order of their tiles' (arm, tile id, closed). A tile that fits two
arms of equal value is one move, on the lower arm.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product

from kozel_sim.opening import may_lead
from kozel_sim.outside import need_bool, need_hand, need_list, need_whole
from kozel_sim.rules import RuleSet, need_rules
from kozel_sim.tiles import DOUBLES, HAS, NAMES, Hand, tiles_of

MAX_ARMS = 4
CLOSED = 0x80

Placement = tuple[int, int, bool]
"""One tile of a move: (tile id, arm, closed)."""

Arms = Sequence[int | None]


def encode_move(placements: Sequence[Placement]) -> int:
    """Return the code of the tiles laid in one move.

    Examples
    --------
    >>> hex(encode_move([(3, 0, False), (5, 1, True)]))
    '0x8604'
    """
    return sum((tile + 1 | CLOSED * closed) << 8 * arm for tile, arm, closed in placements)


@lru_cache(maxsize=4096)
def decode_move(code: int) -> tuple[Placement, ...]:
    """Return the tiles of a move's code, by arm.

    Examples
    --------
    >>> decode_move(0x8604)
    ((3, 0, False), (5, 1, True))
    """
    placements = []
    for arm in range(MAX_ARMS):
        byte = code >> 8 * arm & 0xFF
        if byte:
            placements.append(((byte & ~CLOSED) - 1, arm, bool(byte & CLOSED)))
    return tuple(placements)


def move_tiles(code: int) -> int:
    """Return the mask of the tiles that a move lays."""
    mask = 0
    while code:
        if code & 0x7F:
            mask |= 1 << (code & 0x7F) - 1
        code >>= 8
    return mask


def move_text(code: int) -> str:
    """Write a move for people: tile and arm, '!' behind a closed tile.

    Examples
    --------
    >>> move_text(0x8604)
    '3-3@0 5-5@1!'
    """
    words = [f"{NAMES[t]}@{arm}{'!' * closed}" for t, arm, closed in decode_move(code) if t < 28]
    return " ".join(words) or "no move"


def distinct_arms(arms: Arms) -> list[tuple[int, int]]:
    """Return (arm, value) of the open arms, the lowest arm of each value only."""
    return [
        (arm, value)
        for arm, value in enumerate(arms)
        if value is not None and value not in arms[:arm]
    ]


def legal_codes(
    rules: RuleSet, hand: int, arms: Arms, spinner: bool = False, doubles_laid: int = 0
) -> list[int]:
    """Return the codes of all legal moves of a hand (a mask), in the order of the list of moves."""
    if not arms:
        return [tile + 1 for tile in tiles_of(hand & may_lead(rules))]
    if not rules.close_doubles and rules.multi_double == "none":
        return [
            (tile + 1) << 8 * arm
            for arm, value in distinct_arms(arms)
            for tile in tiles_of(hand & HAS[value])
        ]
    moves: list[list[Placement]] = []
    doubles: list[tuple[int, int]] = []
    for arm, value in distinct_arms(arms):
        for tile in tiles_of(hand & HAS[value]):
            moves.append([(tile, arm, False)])
            if 1 << tile & DOUBLES:
                doubles.append((tile, arm))
                if rules.close_doubles:
                    moves.append([(tile, arm, True)])
    if rules.multi_double != "none" and len(doubles) > 1:
        moves += _several_doubles(rules, doubles, arms, spinner, doubles_laid)
    moves.sort(key=lambda move: [(arm, tile, closed) for tile, arm, closed in move])
    return [encode_move(move) for move in moves]


def _several_doubles(
    rules: RuleSet, doubles: list[tuple[int, int]], arms: Arms, spinner: bool, doubles_laid: int
) -> Iterator[list[Placement]]:
    """Yield the moves that lay two or more doubles, each on an arm of its own."""
    ways: tuple[bool | None, ...] = (None, False, True) if rules.close_doubles else (None, False)
    open_arms = sum(value is not None for value in arms)
    for chosen in product(ways, repeat=len(doubles)):
        move = [
            (tile, arm, closed)
            for (tile, arm), closed in zip(doubles, chosen, strict=True)
            if closed is not None
        ]
        closing = sum(closed for _, _, closed in move)
        if len(move) < 2:
            continue
        both_ends_closed = not spinner and open_arms == 2 and closing == 2
        if both_ends_closed and rules.close_two_rule and doubles_laid:
            continue
        yield move


def legal_moves(
    rules: RuleSet,
    hand: Sequence[str],
    arms: Arms,
    spinner: bool = False,
    doubles_laid: int = 0,
) -> list[list[tuple[str, int, bool]]]:
    """Return every legal move of a hand.

    Parameters
    ----------
    rules : RuleSet
        The rules; multi_double, close_doubles, close_two_rule and (on the empty table) lead_blank
        are what matters here.
    hand : sequence of str
        Tile names like ``"6-4"``.
    arms : sequence of int or None
        The value that each arm shows, None where it is closed or absent; ``[]`` is the empty table.
    spinner : bool, default False
        Whether the round was led with a four-way double.
    doubles_laid : int, default 0
        Doubles on the table, for close_two_rule.

    Returns
    -------
    list of list of (str, int, bool)
        Each move is the list of its tiles: (tile, arm, laid closed). An empty list means that the
        hand must draw or pass.

    Raises
    ------
    ValueError
        If a tile's name is wrong or named twice, or there are no such arms: none, two of a line, or
        four around a four-way double (knob spinner), each with a value from 0 to 6 or None.

    Examples
    --------
    >>> rules = RuleSet.preset("room-fish-all")
    >>> legal_moves(rules, ["6-4", "1-1", "3-0"], [4, 0])
    [[('6-4', 0, False)], [('3-0', 1, False)]]
    """
    tiles = Hand.of(*need_hand("the hand", hand))
    four = need_bool("spinner", spinner)
    arms = [
        None if value is None else need_whole(f"arms: what arm {arm} shows", value, 0, 6)
        for arm, value in enumerate(need_list("arms", arms))
    ]
    if len(arms) > MAX_ARMS:
        raise ValueError(f"arms: a chain has at most {MAX_ARMS} arms, not {len(arms)}")
    if four and not need_rules(rules).spinner:
        raise ValueError("spinner: these rules know no four-way double (knob spinner)")
    if len(arms) not in ((4,) if four else (0, 2)):
        raise ValueError(f"arms: a chain has no arms, two, or with spinner four, not {len(arms)}")
    laid = need_whole("doubles_laid", doubles_laid, 0, 7)
    codes = legal_codes(need_rules(rules), tiles, arms, four, laid)
    return [[(NAMES[t], arm, closed) for t, arm, closed in decode_move(code)] for code in codes]
