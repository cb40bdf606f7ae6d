"""Rounds read out of the log of matches: the compiled twin of ``kozel_sim.rounds.read_record``."""

from __future__ import annotations

import numpy as np

from kozel_sim._jit import inlined, kernel
from kozel_sim.engine.bits import popcount
from kozel_sim.engine.layout import FISH, LOG_DRAW, LOG_END, LOG_PLAY
from kozel_sim.engine.settle import PAIRS, PIP_BITS
from kozel_sim.engine.tells import LOG_END_SIZE
from kozel_sim.tiles import DOUBLES

REDEALS, LEADER, HANDS, BAZAAR, FIRST_EVENT = 1, 2, 4, 8, 9
"""Where a round's beginning stands in the log, as ``match.log_round`` writes it; the tiles of the
bazaar lie before the first event."""
HOW, BY, TRUE, POINTS, WRITTEN, POT, ACCOUNTS, MEMORY, OPENED = 1, 2, 3, 4, 8, 12, 13, 17, 21
"""Where a round's end stands in the log, as ``match.log_end`` writes it."""


@inlined
def pips_of(hand):
    """Return the pips of a hand, whatever the rules make of them."""
    pips = np.int64(0)
    for k in range(4):
        pips += popcount(hand & PIP_BITS[k]) << k
    return pips


@inlined
def count_laid(move):
    """Return how many tiles a move lays."""
    laid = np.int64(0)
    for arm in range(4):
        laid += move >> 8 * arm & 0xFF != 0
    return laid


@inlined
def read_round(rules, log, at, rounds, row, number):
    """Write the rows of the round that begins in the log at `at`; return where it ends."""
    redeals = log[at + REDEALS]
    leader = log[at + LEADER]
    for seat in range(rules.players):
        mine = rounds[np.uint64(row + seat)]
        hand = log[at + HANDS + seat]
        mine.round = number
        mine.redeals = redeals
        mine.hand = hand
        mine.doubles = popcount(hand & DOUBLES)
        mine.hand_pips = pips_of(hand)
        mine.leader = leader == seat
        mine.passes = 0
        mine.draws = 0
        mine.tiles_left = popcount(hand)
        mine.last = False
    at += FIRST_EVENT + log[at + BAZAAR]
    kind = log[at]
    while kind != LOG_END:
        mine = rounds[np.uint64(row + log[at + 1])]
        if kind == LOG_PLAY:
            mine.tiles_left -= count_laid(log[at + 2])
        elif kind == LOG_DRAW:
            mine.draws += 1
            mine.tiles_left += 1
        else:
            mine.passes += 1
        at += 3
        kind = log[at]
    how = log[at + HOW]
    by = log[at + BY]
    true_fish = how == FISH and log[at + TRUE] != 0
    pot = log[at + POT]
    for seat in range(rules.players):
        mine = rounds[np.uint64(row + seat)]
        side = seat & 1 if rules.teams == PAIRS else seat
        mine.end = how
        mine.by = by == seat
        mine.true_fish = true_fish
        mine.hand_points = log[at + POINTS + seat]
        mine.written = log[at + WRITTEN + side]
        mine.pot = pot
        mine.account = log[at + ACCOUNTS + side]
        mine.memory = log[at + MEMORY + side]
        mine.opened = log[at + OPENED + side] != 0
    return at + LOG_END_SIZE


@kernel
def read_rounds(rules, matches, log, rounds):
    """Write a ROUND row per match, round and seat, in this order, out of the matches' log."""
    at = np.int64(0)
    row = np.int64(0)
    for i in range(matches.size):
        for number in range(matches[i].rounds):
            at = read_round(rules, log, at, rounds, row, number)
            row += rules.players
        for seat in range(rules.players):
            rounds[row - 1 - seat].last = True
