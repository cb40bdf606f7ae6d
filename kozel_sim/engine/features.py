"""Compiled features and triggers: the twin of ``kozel_sim.features``, numbered in its order."""

from __future__ import annotations

import numpy as np

from kozel_sim._jit import inlined, part
from kozel_sim.engine.bits import popcount
from kozel_sim.engine.layout import FEATURE_INDEX, TILE_SCORES, TRIGGER_INDEX, WEIGHTS
from kozel_sim.moves import CLOSED
from kozel_sim.tiles import DOUBLES, HAS, HIGH, LOW, N_TILES, PIPS

NONE = np.int64(7)
"""The value of an arm that shows nothing; no tile carries it."""
HAS_VALUE = np.array((*HAS, 0), dtype=np.int64)
TILE_PIPS = np.array(PIPS, dtype=np.int64)
TILE_LOW = np.array(LOW, dtype=np.int64)
TILE_HIGH = np.array(HIGH, dtype=np.int64)


def _by_byte(of_tile):
    """Return a table over the bytes of a move: tile + 1, with bit 7 when laid closed."""
    table = np.zeros(256, np.int64)
    for tile in range(N_TILES):
        table[tile + 1] = table[tile + 1 | CLOSED] = of_tile[tile]
    return table


BYTE_TILE = _by_byte([1 << tile for tile in range(N_TILES)])
BYTE_PIPS = _by_byte(PIPS)
BYTE_LOW = _by_byte(LOW)

GROUP_VALUES = np.array(
    [
        sum(1 << v for v in range(7) if seven << 7 * group & HAS[v])
        for group in (1, 2, 3)
        for seven in range(128)
    ],
    dtype=np.int64,
)
"""The values (as bits) of each set of seven neighbouring tiles; the first seven are the doubles."""

RANGE, LONGEST, BLOCK, MATCH, LOCK = (
    FEATURE_INDEX[name] for name in "range longest block match lock".split()
)
ALWAYS, EVEN_HAND, LONG_SUIT, LEGAL_DOUBLE = (
    TRIGGER_INDEX[name] for name in "always even_hand long_suit legal_double".split()
)


@inlined
def has_value(value):
    """Return the tiles that carry a value."""
    return HAS_VALUE[np.uint64(value)]


@inlined
def count_value(mask, value):
    """Count the tiles of a mask that carry a value."""
    return popcount(mask & has_value(value))


@inlined
def distinct_values(mask):
    """Count the values on the tiles of a mask."""
    values = mask & DOUBLES
    for group in range(3):
        values |= GROUP_VALUES[np.uint64(group << 7 | mask >> 7 * (group + 1) & 0x7F)]
    return popcount(values)


@part
def longest_suit(mask):
    """Return (count, value) of the value that most tiles carry; of equals the higher."""
    best = 0
    for value in range(7):
        best = max(best, count_value(mask, value) << 3 | value)
    return best >> 3, best & 7


@inlined
def end_after(byte, value):
    """Return what an arm shows (NONE if nothing) after a byte of a move is laid on it."""
    if byte == 0:
        return value if value >= 0 else NONE
    return NONE if byte & np.uint64(CLOSED) else BYTE_PIPS[byte] - value


@inlined
def score(view, n_arms, hand, table, suit, move, row):
    """Return a move's weighted features, in thousandths; suit is the hand's longest."""
    used = row[1]
    tiles = np.int64(0)
    total = np.int64(0)
    shown = np.int64(0)
    fits = np.int64(0)
    match = np.int64(0)
    for arm in range(n_arms):
        byte = np.uint64(move >> 8 * arm & 0xFF)
        tiles |= BYTE_TILE[byte]
        total += row[TILE_SCORES + (byte & np.uint64(0x1F))]
        if table:
            end = end_after(byte, np.int64(view.arms[arm]))
        else:
            # The first tile lies on arm 0 and shows both its halves.
            first = np.uint64(move)
            end = BYTE_LOW[first] if arm == 0 else NONE
            end = BYTE_PIPS[first] - BYTE_LOW[first] if arm == 1 else end
        shown |= 1 << end
        fits |= has_value(end)
        match += end == suit
    left = hand & ~tiles
    if used >> RANGE & 1:
        total += row[WEIGHTS + RANGE] * distinct_values(left)
    if used >> LONGEST & 1:
        total += row[WEIGHTS + LONGEST] * longest_suit(left)[0]
    if used >> BLOCK & 1:
        total += row[WEIGHTS + BLOCK] * (popcount(shown & ~(1 << NONE)) == 1)
    if used >> MATCH & 1:
        total += row[WEIGHTS + MATCH] * match
    if used >> LOCK & 1:
        total += row[WEIGHTS + LOCK] * popcount(left & fits)
    return total


@inlined
def holds(trigger, view):
    """Tell whether a stage's trigger holds."""
    hand = np.int64(view.hand)
    if trigger == EVEN_HAND:
        return distinct_values(hand) >= 6 and longest_suit(hand)[0] <= 3
    if trigger == LONG_SUIT:
        return longest_suit(hand)[0] >= max(3, (popcount(hand) + 1) // 2)
    if trigger == LEGAL_DOUBLE:
        legal = view.legal[0] | view.legal[1] | view.legal[2] | view.legal[3]
        return (legal & DOUBLES) != 0
    return True
