"""Luck of sixteen matches: the vector twin of ``kozel_sim.engine.luck``."""

from __future__ import annotations

import numpy as np

from kozel_sim._jit import inlined, part
from kozel_sim.engine.lockstep.layout import (
    ATTEMPT,
    BAZAAR,
    DEAL_HIGH,
    DEAL_LOW,
    FIRST,
    FIRST_LEADER,
    HAND,
    LANES,
    LEAD,
    LEADER,
    RANKS_HIGH,
    RANKS_LOW,
    ROUND,
    SEAT,
    TURN,
)
from kozel_sim.engine.lockstep.vector import (
    bits,
    first_lanes,
    gather,
    load,
    pack,
    scatter,
    select,
    some,
    splat,
    threefry,
)
from kozel_sim.engine.match import ALL_BUT_BLANK, LEADS, N_NO_DOUBLE, NO_REDEAL
from kozel_sim.rng import BAZAAR as BAZAAR_ORDER
from kozel_sim.rng import DEAL, SHED
from kozel_sim.rules import code
from kozel_sim.tiles import ALL, DOUBLES, HAS

ONCE = code("lead_repeat", "first_round_only")
HAS_TILES = np.array((*HAS, 0), dtype=np.int64)


@inlined
def below(word, n):
    """Return integers in range(n)."""
    return ((word >> 5) * n) >> 27


@inlined
def nth_of_few(mask, n):
    """Return the n-th lowest tiles of masks, for small n."""
    # How often could not be predicted: the usual number without asking.
    mask = select(n > 0, mask & (mask - 1), mask)
    mask = select(n > 1, mask & (mask - 1), mask)
    i = 2
    while some(n > i):
        mask = select(n > i, mask & (mask - 1), mask)
        i += 1
    return mask & (0 - mask)


@inlined
def halve_search(mask, n, place, width):
    """Drop the lower `width` bits where the n-th tile is above them."""
    low = bits(mask & ((1 << width) - 1))
    above = n >= low
    n = select(above, n - low, n)
    mask = select(above, mask >> width, mask)
    return mask, n, select(above, place + width, place)


@inlined
def nth_of_many(mask, n):
    """Return the n-th lowest tiles of masks that have more than n, by halving."""
    place = splat(0)
    mask, n, place = halve_search(mask, n, place, 16)
    mask, n, place = halve_search(mask, n, place, 8)
    mask, n, place = halve_search(mask, n, place, 4)
    mask, n, place = halve_search(mask, n, place, 2)
    mask, n, place = halve_search(mask, n, place, 1)
    return splat(1) << place


@inlined
def shed(half, count, size, word):
    """Remove a tile at random where there are more than `size`."""
    over = count > size
    half ^= select(over, nth_of_many(half, below(word, count)), 0)
    return half, select(over, count - 1, count)


@part
def halve(mask, size, halving, round_, attempt, k0, k1, k2, k3, which):
    """Return uniformly random halves of sets."""
    w = threefry(round_, attempt, 4 * halving, DEAL, k0, k1, k2, k3)
    half = w[0] & mask
    count = bits(half)
    few = count < size
    half = select(few, half ^ mask, half)
    count = select(few, 2 * size - count, count)
    half, count = shed(half, count, size, w[1])
    half, count = shed(half, count, size, w[2])
    half, count = shed(half, count, size, w[3])
    block = 4 * halving
    while some(which & (count > size)):
        block += 1
        w = threefry(round_, attempt, block, DEAL, k0, k1, k2, k3)
        half, count = shed(half, count, size, w[0])
        half, count = shed(half, count, size, w[1])
        if some(which & (count > size)):
            half, count = shed(half, count, size, w[2])
            half, count = shed(half, count, size, w[3])
    return half


@inlined
def is_redealt(hand):
    """Tell whose hand has five doubles or six tiles sharing a value."""
    redealt = bits(hand & DOUBLES) >= 5
    for value in range(7):
        redealt |= bits(hand & HAS_TILES[value]) >= 6
    return redealt


@part
def to_five(seat, hand, round_, attempt, k0, k1, k2, k3):
    """Return the hand without the tiles that five-tile hands shed."""
    w = threefry(round_, attempt, seat, SHED, k0, k1, k2, k3)
    hand ^= nth_of_few(hand, below(w[0], 7))
    return hand ^ nth_of_few(hand, below(w[1], 6))


@inlined
def four_ranks(size, first, round_, attempt, k0, k1, k2, k3):
    """Return the ranks of four draws in a row, in 16 bits."""
    w = threefry(round_, attempt, first >> 2, BAZAAR_ORDER, k0, k1, k2, k3)
    left = size - first
    ranks = below(w[0], left) & 15 | (below(w[1], left - 1) & 15) << 4
    return ranks | (below(w[2], left - 2) & 15) << 8 | (below(w[3], left - 3) & 15) << 12


@part
def bazaar_ranks(size, round_, attempt, k0, k1, k2, k3):
    """Return the ranks of up to sixteen draws, in two words."""
    low = four_ranks(size, 0, round_, attempt, k0, k1, k2, k3)
    high = splat(0)
    if size > 4:
        low |= four_ranks(size, 4, round_, attempt, k0, k1, k2, k3) << 16
    if size > 8:
        high = four_ranks(size, 8, round_, attempt, k0, k1, k2, k3)
    if size > 12:
        high |= four_ranks(size, 12, round_, attempt, k0, k1, k2, k3) << 16
    return low, high


@part
def first_leads(order, which, a, b, c, d):
    """Return (seat, the tile as a mask) of the first lead in some lanes."""
    seat = splat(0)
    tile = splat(0)
    i = 0
    while some(which) and i < 28:
        bit = 1 << LEADS[order, i]
        found = which & ((a & bit) != 0)
        seat = select(found, 0, seat)
        on_b = which & ((b & bit) != 0)
        seat = select(on_b, 1, seat)
        on_c = which & ((c & bit) != 0)
        seat = select(on_c, 2, seat)
        on_d = which & ((d & bit) != 0)
        seat = select(on_d, 3, seat)
        found |= on_b | on_c | on_d
        tile = select(found, bit, tile)
        which = which & ~found
        i += 1
    return seat, tile


@part
def deal_sixteen(rules, turned, drawable, k0, k1, lanes, places, which):
    """Deal a round to some lanes; return those that must be dealt again."""
    round_ = gather(lanes + ROUND, places, which)
    attempt = gather(lanes + ATTEMPT, places, which)
    k2 = gather(lanes + DEAL_LOW, places, which)
    k3 = gather(lanes + DEAL_HIGH, places, which)
    first = halve(splat(ALL), np.int64(14), np.int64(0), round_, attempt, k0, k1, k2, k3, which)
    bazaar = first ^ ALL
    a = halve(first, np.int64(7), np.int64(1), round_, attempt, k0, k1, k2, k3, which)
    b = first ^ a
    c = splat(0)
    d = splat(0)
    if rules.players > 2:
        c = halve(bazaar, np.int64(7), np.int64(2), round_, attempt, k0, k1, k2, k3, which)
        bazaar ^= c
    if rules.players > 3:
        d = bazaar
        bazaar = splat(0)
    if rules.hand_size < 7:
        a = to_five(np.int64(0), a, round_, attempt, k0, k1, k2, k3)
        b = to_five(np.int64(1), b, round_, attempt, k0, k1, k2, k3)
        if rules.players > 2:
            c = to_five(np.int64(2), c, round_, attempt, k0, k1, k2, k3)
        if rules.players > 3:
            d = to_five(np.int64(3), d, round_, attempt, k0, k1, k2, k3)
        bazaar = (a | b | c | d) ^ ALL
    again = which & ~which
    if rules.redeal != NO_REDEAL:
        again = which & (is_redealt(a) | is_redealt(b) | is_redealt(c) | is_redealt(d))
        if some(again):
            scatter(lanes + ATTEMPT, places, again, attempt + 1)
            scatter(lanes + LEAD, places, again, 0)
            which = which & ~again
    retried = which & (attempt != 0)
    if some(retried):
        scatter(lanes + ATTEMPT, places, retried, 0)
    leader = gather(lanes + LEADER, places, which)
    lead = splat(ALL)
    if not rules.lead_blank:
        lead = splat(ALL_BUT_BLANK)
    opening = which & (round_ == 0)
    if rules.lead_repeat != ONCE:
        opening |= which & (gather(lanes + FIRST, places, which) != 0)
    if some(opening):
        order = rules.lead_order * N_NO_DOUBLE + rules.lead_no_double
        seat, tile = first_leads(order, opening, a & lead, b & lead, c & lead, d & lead)
        leader = select(opening, seat, leader)
        scatter(lanes + LEADER, places, opening, leader)
        if rules.lead_forced:
            lead = select(opening, tile, lead)
        scatter(lanes + FIRST_LEADER, places, opening & (round_ == 0), leader)
    if turned:
        scatter(lanes + HAND, places + ((0 - leader) & 3) * LANES, which, a)
        scatter(lanes + HAND, places + ((1 - leader) & 3) * LANES, which, b)
        scatter(lanes + HAND, places + ((2 - leader) & 3) * LANES, which, c)
        scatter(lanes + HAND, places + ((3 - leader) & 3) * LANES, which, d)
    else:
        scatter(lanes + HAND, places, which, a)
        scatter(lanes + HAND, places + LANES, which, b)
        scatter(lanes + HAND, places + 2 * LANES, which, c)
        scatter(lanes + HAND, places + 3 * LANES, which, d)
        scatter(lanes + SEAT, places, which, leader)
    scatter(lanes + LEAD, places, which, lead)
    scatter(lanes + TURN, places, which, 0)
    if rules.bazaar_size:
        scatter(lanes + BAZAAR, places, which, bazaar)
    if drawable:
        low, high = bazaar_ranks(rules.bazaar_size, round_, attempt, k0, k1, k2, k3)
        scatter(lanes + RANKS_LOW, places, which, low)
        scatter(lanes + RANKS_HIGH, places, which, high)
    return again


@part
def deal_all(rules, turned, drawable, k0, k1, lanes, todo, n):
    """Deal to the listed places; list those to be dealt again first, and return how many."""
    waiting = 0
    for i in range(0, n, LANES):
        places = load(todo + 4 * i)
        again = deal_sixteen(rules, turned, drawable, k0, k1, lanes, places, first_lanes(n - i))
        if some(again):
            waiting += pack(todo + 4 * waiting, again, places)
    return waiting
