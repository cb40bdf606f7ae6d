"""Compiled luck: the twin of ``kozel_sim.rng``.

Eight blocks are computed at once in a vector; word w of block i of such a group is at
LANES * w + i.
"""

from __future__ import annotations

import numpy as np

from kozel_sim._jit import inlined, part
from kozel_sim.engine.bits import LANES, nth_tile, popcount, write_halvings, write_run
from kozel_sim.rng import BAZAAR, CHOICE, DEAL, OWN, SHED
from kozel_sim.tiles import ALL, DOUBLES, HAS

_HAS = np.array(HAS, dtype=np.uint32)


@inlined
def below(word, n):
    """Return an integer in range(n)."""
    return ((np.int64(word) >> 5) * n) >> 27


@inlined
def run_word(words, index):
    """Return word `index` of a group of eight blocks in a row."""
    return np.int64(words[np.uint64(LANES * (index & 3) + (index >> 2 & 7))])


@part
def halve(mask, size, halving, desk, round_, attempt):
    """Return a uniformly random half of a set."""
    half = np.int64(desk.deal[np.uint64(2 * halving)]) & mask
    count = popcount(half)
    if 2 * count < size:
        half ^= mask
        count = size - count
    i = 1
    while 2 * count > size:
        if i < 8:
            word = np.int64(desk.deal[np.uint64(LANES * (i & 3) + 2 * halving + (i >> 2))])
        else:
            if i == 8:
                write_run(desk.spare, desk.key, round_, attempt, 4 * halving + 2, DEAL)
            word = run_word(desk.spare, i - 8)
        half ^= nth_tile(half, below(word, count))
        count -= 1
        i += 1
    return half


@inlined
def deal(rules, desk, round_, attempt):
    """Deal one round into the desk's hands; return the mask of the bazaar."""
    hands = desk.hands
    write_halvings(desk.deal, desk.key, round_, attempt, 0, DEAL)
    first = halve(ALL, 28, 0, desk, round_, attempt)
    bazaar = ALL ^ first
    mine = halve(first, 14, 1, desk, round_, attempt)
    hands[0] = mine
    hands[1] = first ^ mine
    if rules.players > 2:
        mine = halve(bazaar, 14, 2, desk, round_, attempt)
        hands[2] = mine
        bazaar ^= mine
    if rules.players > 3:
        hands[3] = bazaar
        bazaar = 0
    if rules.hand_size < 7:
        write_run(desk.spare, desk.key, round_, attempt, 0, SHED)
        for seat in range(rules.players):
            for i in range(7 - rules.hand_size):
                word = run_word(desk.spare, 4 * seat + i)
                tile = nth_tile(np.int64(hands[seat]), below(word, 7 - i))
                hands[seat] ^= np.uint32(tile)
                bazaar |= tile
    return bazaar


@inlined
def is_redealt(hand):
    """Tell whether a hand has five doubles or six tiles sharing a value."""
    redealt = popcount(hand & DOUBLES) >= 5
    for value in range(7):
        redealt |= popcount(hand & _HAS[value]) >= 6
    return redealt


@inlined
def write_choices(words, key, round_, event):
    """Write the choice words of the group of 32 events that holds `event`."""
    write_run(words, key, round_, 0, (event >> 5) << 3, CHOICE)


@inlined
def write_bazaar(words, key, round_, attempt):
    """Write the words that order the bazaar."""
    write_run(words, key, round_, attempt, 0, BAZAAR)


@part
def is_true_fish(rules, desk, number, attempt, bazaar, size, fits):
    """Tell whether no tile of the bazaar's reserve fits; bazaar is what is left of its tiles."""
    if bazaar & fits == 0 or rules.bazaar_reserve == 0:
        return True
    write_bazaar(desk.bazaar, desk.key, number, attempt)
    left = popcount(bazaar)
    while left > rules.bazaar_reserve:
        bazaar ^= nth_tile(bazaar, below(run_word(desk.bazaar, size - left), left))
        left -= 1
    return bazaar & fits == 0


@inlined
def write_own(words, key, round_, event):
    """Write a decision's own words: the mixture's is word 0, a policy's are words 4 to 7."""
    write_run(words, key, round_, event, 0, OWN)
