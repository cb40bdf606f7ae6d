"""Compiled features and triggers: the twin of ``kozel_sim.features``, numbered in its order.

A decision begins with a survey of the position: what all its moves are measured against. A move of
several tiles lays doubles only, so it takes every value from at most one of my tiles; the features
of the hand that is left follow from the survey without counting again.
"""

from __future__ import annotations

from collections import namedtuple
from functools import cache

import numpy as np

from kozel_sim._jit import inlined, kept, part
from kozel_sim.engine.bits import highest, pick, popcount
from kozel_sim.engine.layout import (
    FEATURE_INDEX,
    STAGE_WIDTH,
    TILE_SCORES,
    USED,
    WEIGHTS,
)
from kozel_sim.engine.stages import (
    ALWAYS,
    ARMS,
    BLOCK,
    COVER,
    EVEN_HAND,
    FENCE_OPEN,
    FEWEST_VOID,
    FISH,
    FISH_AHEAD,
    FISH_BEHIND,
    GOES_OUT,
    HOLD_LAST,
    HOLDS_FEWEST,
    LAST_OF_SUIT,
    LEFT,
    LEGAL_DOUBLE,
    LOCK,
    LONE,
    LONG_SUIT,
    LONGEST,
    MATCH,
    NEXT_TELL,
    NEXT_VOID,
    OWN_DISTANCE,
    OWN_NEAR,
    PARTNER_VOID,
    QUICK,
    RANGE,
    REST,
    RIVAL_DISTANCE,
    RIVAL_LOW,
    RIVAL_NEAR,
    STRAND_DOUBLE,
    SUITS,
    UNSEEN,
    VOIDS,
    weigh,
)
from kozel_sim.features import FAR, FEATURES, FEW, NEAR
from kozel_sim.moves import CLOSED
from kozel_sim.tiles import ALL, DOUBLES, HAS, HIGH, LOW, N_TILES, PIPS

NONE = np.int64(7)
"""The value of an arm that shows nothing; no tile carries it."""
HAS_VALUE = np.array((*HAS, 0), dtype=np.int64)
TILE_PIPS = np.array(PIPS, dtype=np.int64)
TILE_LOW = np.array(LOW, dtype=np.int64)
TILE_HIGH = np.array(HIGH, dtype=np.int64)
TILE_VALUES = np.array(
    [
        1 << 4 * low | 1 << 4 * high if low < high else 1 << 4 * low
        for low, high in zip(LOW, HIGH, strict=True)
    ]
)
"""The values of each tile, as counts: the counts of a set of tiles, four bits for each value."""
EACH = 0x1111111
SUIT_COUNTS = np.array(
    [
        sum(int(TILE_VALUES[7 * group + i]) for i in range(7) if seven >> i & 1)
        for group in range(4)
        for seven in range(128)
    ],
    dtype=np.int64,
)
"""The counts of each set of seven neighbouring tiles."""


def _by_byte(of_tile):
    """Return a table over the bytes of a move: tile + 1, with bit 7 when laid closed."""
    table = np.zeros(256, np.int64)
    for tile in range(N_TILES):
        table[tile + 1] = table[tile + 1 | CLOSED] = of_tile[tile]
    return table


BYTE_TILE = _by_byte([1 << tile for tile in range(N_TILES)])
BYTE_PIPS = _by_byte(PIPS)
BYTE_LOW = _by_byte(LOW)
BYTE_VALUES = _by_byte(TILE_VALUES)

Survey = namedtuple("Survey", "hand table n_values longest suit top ones unseen voids")
"""What a decision's moves are measured against, as masks over tiles. top are the values on most of
my tiles, ones those on one tile, with a bit in every four. voids has a byte for each value, with a
bit for each of the VOIDS: whether that seat is known to lack the value."""

FOUR_COUNTS = np.array([sum((bits >> i & 1) << 8 * i for i in range(4)) for bits in range(256)])
"""Four bits as four counts, a byte each."""


@inlined
def has_value(value):
    """Return the tiles that carry a value."""
    return HAS_VALUE[np.uint64(value)]


@inlined
def count_value(mask, value):
    """Count the tiles of a mask that carry a value."""
    return popcount(mask & has_value(value))


@inlined
def count_suits(hand):
    """Return (values held, tiles and value of the longest suit, values on most, on one tile)."""
    counts = SUIT_COUNTS[np.uint64(hand & 0x7F)]
    for group in range(1, 4):
        counts += SUIT_COUNTS[np.uint64(group << 7 | hand >> 7 * group & 0x7F)]
    fours, twos = counts >> 2 & EACH, counts >> 1 & EACH
    held = (counts | twos | fours) & EACH
    ones = held & ~twos & ~fours
    # The greatest count bit by bit: the values that have the bit, if any, are left.
    top = pick(fours != 0, fours, held)
    high = top & twos
    top = pick(high != 0, high, top)
    low = top & counts
    top = pick(low != 0, low, top)
    longest = np.int64(fours != 0) << 2 | np.int64(high != 0) << 1 | np.int64(low != 0)
    return popcount(held), longest, highest(top) >> 2, top, ones


@inlined
def next_seat(view, step):
    """Return the seat that acts so many seats after mine."""
    seat = np.int64(view.seat) + step
    return seat - view.players if seat >= view.players else seat


@inlined
def fewest_rival(view):
    """Return (tiles, seat) of the rival with the fewest tiles; of equals the next to act."""
    best = np.int64(1 << 20)
    for step in range(1, view.players):
        seat = next_seat(view, step)
        if seat != view.partner:
            best = min(best, np.int64(view.counts[np.uint64(seat)]) << 8 | step << 4 | seat)
    return best >> 8, best & 15


@inlined
def survey(view, needs):
    """Look at a position for the features (and triggers) in a mask."""
    # The hand is read again, or LLVM would compute this before every decision.
    hand = np.int64(view.hand)
    table = np.int64(view.table)
    n_values = longest = suit = top = ones = np.int64(0)
    if needs & SUITS:
        n_values, longest, suit, top, ones = count_suits(hand)
    voids = np.int64(0)
    if needs & VOIDS:
        follower = np.uint64(next_seat(view, 1))
        lacks = np.int64(view.void[follower])
        voids = spread(lacks) | spread(np.int64(view.tell[follower]) & ~lacks) << 1
        if view.partner >= 0:
            voids |= spread(np.int64(view.void[np.uint64(view.partner)])) << 2
        if needs >> FEWEST_VOID & 1:
            voids |= spread(np.int64(view.void[np.uint64(fewest_rival(view)[1])])) << 3
    unseen = ALL & ~table & ~hand
    return Survey(hand, table, n_values, longest, suit, top, ones, unseen, voids)


@inlined
def spread(values):
    """Return a word with a byte for each value, 1 where the mask has it."""
    return values * 0x0002040810204081 & 0x0101010101010101


@inlined
def voids_at(s, end):
    """Return for an end, as four counts, who is known to lack it."""
    return FOUR_COUNTS[np.uint64(s.voids >> 8 * end & 0xFF)]


After = namedtuple("After", "tiles values alone shown fits match cover voids hold strand arms")
"""What a move leaves: the mask of its tiles, a mask of the values on them, what they score by
themselves, a mask of the ends, the tiles that fit them, and counts of ends."""


@inlined
def after_tile(view, s, row, tile, arm):
    """Return what a single tile leaves on a chain of two ends."""
    used = row[USED]
    tile = np.uint64(tile)
    low = TILE_LOW[tile]
    # On an empty table the tile is as good as laid on its own low half, which stays an end.
    led = np.int64(s.table == 0)
    left, right = np.int64(view.arms[0]), np.int64(view.arms[1])
    covered = pick(led, low, pick(arm, right, left))
    kept = pick(led, low, pick(arm, left, right))
    end = TILE_PIPS[tile] - covered
    match = cover = voids = hold = strand = np.int64(0)
    if used & SUITS:
        match = np.int64(end == s.suit) + np.int64(kept == s.suit)
        cover = np.int64(covered == s.suit) & ~led
    if s.voids:
        voids = voids_at(s, end) + voids_at(s, kept)
    if used & LONE:
        unseen = s.unseen & has_value(covered)
        hold = np.int64(unseen == 0) & ~led
        strand = (
            np.int64(unseen == np.int64(1) << covered)
            & np.int64(popcount(s.hand & has_value(covered)) == 1)
            & np.int64(end != covered)
            & np.int64(kept != covered)
            & ~led
        )
    return After(
        np.int64(1) << np.int64(tile),
        TILE_VALUES[tile],
        np.int64(row[TILE_SCORES + np.uint64(1) + tile]),
        np.int64(1) << end | np.int64(1) << kept,
        has_value(end) | has_value(kept),
        match,
        cover,
        voids,
        hold,
        strand,
        np.int64(2),
    )


@part
def after_move(view, s, row, move):
    """Return what a move of any kind leaves on up to four arms."""
    tiles = values = alone = shown = fits = np.int64(0)
    match = cover = voids = hold = strand = arms = np.int64(0)
    for arm in range(4):
        byte = np.uint64(move >> 8 * arm & 0xFF)
        covered = np.int64(view.arms[arm])
        if byte:
            tiles |= BYTE_TILE[byte]
            values |= BYTE_VALUES[byte]
            alone += row[TILE_SCORES + (byte & np.uint64(0x1F))]
        if byte and covered >= 0:
            unseen = s.unseen & has_value(covered)
            cover += covered == s.suit
            hold += unseen == 0
            if unseen == np.int64(1) << covered and count_value(s.hand, covered) == 1:
                strand |= np.int64(1) << covered
        end = end_of_arm(view, s, arm, byte, np.uint64(move & 0xFF))
        if end != NONE:
            arms += 1
            shown |= np.int64(1) << end
            fits |= has_value(end)
            match += end == s.suit
            voids += voids_at(s, end)
    strand = np.int64(strand & ~shown != 0)
    return After(tiles, values, alone, shown, fits, match, cover, voids, hold, strand, arms)


@inlined
def end_of_arm(view, s, arm, byte, first):
    """Return what an arm shows (NONE if nothing) after a byte of a move is laid on it."""
    value = np.int64(view.arms[arm])
    if s.table == 0:
        # The first tile lies on arm 0 and shows both its halves, a four-way double four.
        low = BYTE_LOW[first]
        high = BYTE_PIPS[first] - low
        if arm > 1:
            return low if view.four_way and low == high else NONE
        return high if arm else low
    if byte == 0:
        return value if value >= 0 else NONE
    return NONE if byte & np.uint64(CLOSED) else BYTE_PIPS[byte] - value


@inlined
def score(view, s, a, row, whole):
    """Return a move's weighted features, in thousandths.

    Unless whole, without those that engine.players weighs otherwise or that are the same anyway.
    """
    used = row[USED]
    left = s.hand & ~a.tiles
    single = np.int64(a.shown & (a.shown - 1) == 0) & np.int64(a.shown != 0)
    total = a.alone
    if used & SUITS:
        lost = popcount(s.ones & a.values)
        total += row[WEIGHTS + RANGE] * (s.n_values - lost)
        if whole:
            total += row[WEIGHTS + LAST_OF_SUIT] * lost
        total += row[WEIGHTS + LONGEST] * (s.longest - np.int64(s.top & ~a.values == 0))
        total += row[WEIGHTS + MATCH] * a.match + row[WEIGHTS + COVER] * a.cover
    total += row[WEIGHTS + BLOCK] * single
    total += row[WEIGHTS + LOCK] * popcount(left & a.fits)
    if used & ~QUICK:
        total += row[WEIGHTS + UNSEEN] * popcount(s.unseen & a.fits)
        if s.voids:
            total += row[WEIGHTS + NEXT_VOID] * (a.voids & 0xFF)
            total += row[WEIGHTS + NEXT_TELL] * (a.voids >> 8 & 0xFF)
            total += row[WEIGHTS + PARTNER_VOID] * (a.voids >> 16 & 0xFF)
            total += row[WEIGHTS + FEWEST_VOID] * (a.voids >> 24)
        if a.strand | a.hold:
            total += row[WEIGHTS + STRAND_DOUBLE] * a.strand - row[WEIGHTS + HOLD_LAST] * a.hold
        if used & FISH:
            out_there = a.fits & ~s.table & ~a.tiles
            if out_there & ~np.int64(DOUBLES) == 0:
                total += score_fish(view, s, row, left, out_there, single)
        if whole and used & REST:
            total += score_rest(view, row, left, a.arms)
    return total


@part
def score_fish(view, s, row, left, out_there, single):
    """Return the weighted features of a move that may make a fish."""
    if left == 0 or (out_there and not (view.six_closed and single)):
        return np.int64(0)
    lead = fish_lead(view, s, left)
    return row[WEIGHTS + FISH_AHEAD] * max(0, lead) + row[WEIGHTS + FISH_BEHIND] * max(0, -lead)


@inlined
def count_pips(mask):
    """Sum the pips of the tiles of a mask."""
    pips = np.int64(0)
    for value in range(7):
        pips += value * (count_value(mask, value) + (mask >> value & 1))
    return pips


@part
def fish_lead(view, s, left):
    """Return by how many pips the rivals' count is estimated to exceed mine."""
    pips = count_pips(s.unseen)
    size = popcount(s.unseen)
    mine = count_pips(left)
    theirs = np.int64(0)
    if view.partner >= 0:
        mine += np.int64(view.counts[np.uint64(view.partner)]) * pips // size
        theirs = np.int64(view.counts[np.uint64(next_seat(view, 1))])
        theirs += view.counts[np.uint64(next_seat(view, 3))]
    else:
        theirs = fewest_rival(view)[0]
    return theirs * pips // size - mine


@inlined
def distance(view, side):
    """Return how many points a side is from the target, 0 to FAR."""
    return min(max(np.int64(view.target) - view.accounts[np.uint64(side)], 0), FAR)


@inlined
def rival_distance(view):
    """Return the distance of the nearest other side."""
    best = np.int64(FAR)
    for side in range(2 if view.partner >= 0 else np.int64(view.players)):
        if side != view.side:
            best = min(best, distance(view, side))
    return best


@part
def score_rest(view, row, left, arms):
    """Return the weighted features that differ only with more arms or tiles, or not at all."""
    fewest = np.int64(28)
    for seat in range(view.players):
        if seat != view.seat:
            fewest = min(fewest, np.int64(view.counts[seat]))
    size = popcount(left)
    total = row[WEIGHTS + ARMS] * arms + row[WEIGHTS + LEFT] * size
    total += row[WEIGHTS + GOES_OUT] * np.int64(size == 0)
    total += row[WEIGHTS + HOLDS_FEWEST] * np.int64(size <= fewest)
    total += row[WEIGHTS + OWN_DISTANCE] * distance(view, view.side)
    total += row[WEIGHTS + RIVAL_DISTANCE] * rival_distance(view)
    return total + row[WEIGHTS + FENCE_OPEN] * np.int64(view.opened[np.uint64(view.side)])


@inlined
def holds(trigger, view, s):
    """Tell whether a stage's trigger holds."""
    if trigger == ALWAYS:
        return True
    if trigger == EVEN_HAND:
        return s.n_values >= 6 and s.longest <= 3
    if trigger == LONG_SUIT:
        return s.longest >= max(3, (popcount(s.hand) + 1) // 2)
    if trigger == LEGAL_DOUBLE:
        legal = view.legal[0] | view.legal[1] | view.legal[2] | view.legal[3]
        return (legal & DOUBLES) != 0
    if trigger == RIVAL_LOW:
        return fewest_rival(view)[0] <= FEW
    if trigger == OWN_NEAR:
        return distance(view, view.side) <= NEAR
    if trigger == RIVAL_NEAR:
        return rival_distance(view) <= NEAR
    return view.opened[np.uint64(view.side)] == 0


ALONE = np.zeros((len(FEATURES), STAGE_WIDTH), np.int64)
"""By feature: the row of a stage that scores it alone."""
for _name, _row in zip(FEATURES, ALONE, strict=True):
    weigh(_row, {_name: 1})


@kept
def score_alone(view, move, feature):
    """Return one feature of a move, of whatever kind."""
    row = ALONE[feature]
    s = survey(view, row[USED])
    return score(view, s, after_move(view, s, row, np.int64(move)), row, True)


@cache
def feature_of(name):
    """Return a compiled function (view, move) -> int of one feature."""
    feature = FEATURE_INDEX[name]
    return inlined(lambda view, move: score_alone(view, move, feature))
