"""A compiled round on a chain of two ends, one tile a move: the twin of ``reference.Round``.

``kozel_sim.engine.cross`` plays everything else.
"""

from __future__ import annotations

import numpy as np

from kozel_sim._jit import inlined
from kozel_sim.engine.bits import lowest, nth_tile, pick, popcount
from kozel_sim.engine.decide import choose
from kozel_sim.engine.features import NONE, TILE_HIGH, TILE_LOW, TILE_PIPS, has_value
from kozel_sim.engine.history import (
    clear_round,
    note,
    old_arm_of,
    remember_draw,
    remember_pass,
    remember_play,
    show_counts,
)
from kozel_sim.engine.layout import FAULT, FISH, LOG_DRAW, LOG_PASS, LOG_PLAY, OUT
from kozel_sim.engine.luck import below, is_true_fish, run_word, write_bazaar, write_choices
from kozel_sim.rules import code
from kozel_sim.tiles import DOUBLES

SIX_CLOSED = code("fish_def", "six_closed")
NO_DRAW = code("bazaar_draw", "none")
PAIRS = code("teams", "pairs")


@inlined
def show(view, pairs, hands, left, right, left_end, right_end, table, seat, event, word):
    """Write what the seat to act sees and the events do not keep up to date."""
    show_counts(view, hands)
    view.hand = hands[np.uint64(seat)]
    view.legal[0] = np.uint32(left)
    view.legal[1] = np.uint32(right)
    view.legal[2] = 0
    view.legal[3] = 0
    view.table = np.uint32(table)
    view.arms[0] = left_end if table else -1
    view.arms[1] = right_end if table else -1
    view.arms[2] = -1
    view.arms[3] = -1
    view.seat = seat
    view.side = seat & 1 if pairs else seat
    view.partner = seat ^ 2 if pairs else -1
    view.event = event
    view.word = word


@inlined
def play_round(rules, players, view, desk, leader, lead, bazaar, attempt, out):
    """Play a round to its end; return (how, seat that ended it, whether a fish is true)."""
    hands = desk.hands
    seats = np.int64(rules.players)
    logging = desk.log != 0
    number = np.int64(view.round)
    watched = desk.watched
    randoms = desk.randoms
    pairs = rules.teams == PAIRS
    size = popcount(bazaar)
    drawable = np.int64(0)
    if rules.bazaar_draw != NO_DRAW:
        drawable = max(size - rules.bazaar_reserve, 0)
    drawn = np.int64(0)
    group = np.int64(-1)
    table = np.int64(0)
    left_end = NONE
    right_end = NONE
    fit_left = lead
    fit_right = np.int64(0)
    seat = np.int64(leader)
    by = seat
    event = np.int64(0)
    clear_round(view, watched, size)
    while True:
        hand = np.int64(hands[np.uint64(seat)])
        left = hand & fit_left
        right = hand & fit_right
        n_left = popcount(left)
        n = n_left + popcount(right)

        if n == 0:
            event += 1
            if drawn < drawable:
                if drawn == 0:
                    write_bazaar(desk.bazaar, desk.key, number, attempt)
                bit = nth_tile(bazaar, below(run_word(desk.bazaar, drawn), size - drawn))
                bazaar ^= bit
                drawn += 1
                hands[np.uint64(seat)] = np.uint32(hand | bit)
                out.draws[np.uint64(seat)] += 1
                if watched:
                    remember_draw(view, seat)
                note(logging, desk, LOG_DRAW, seat, lowest(bit))
                fits = fit_left | fit_right
                if drawn == drawable and fits & ~table & ~bazaar == 0:
                    return (
                        FISH,
                        by,
                        is_true_fish(rules, desk, number, attempt, bazaar, size, fits),
                    )
            else:
                if watched:
                    remember_pass(view, seat, 1 << left_end | 1 << right_end)
                out.passes[np.uint64(seat)] += 1
                note(logging, desk, LOG_PASS, seat, 0)
                seat = seat + 1 if seat + 1 < seats else np.int64(0)
            continue

        if event >> 5 != group:
            group = event >> 5
            write_choices(desk.choice, desk.key, number, event)
        word = run_word(desk.choice, event & 31)
        if randoms >> seat & 1:
            # Also of one move: whether there are more could not be predicted.
            rank = below(word, n)
            arm = np.int64(rank >= n_left)
            bit = nth_tile(right if arm else left, rank - n_left * arm)
        elif n == 1:
            arm = np.int64(n_left == 0)
            bit = left | right
        else:
            player = players[np.uint64(out.players[np.uint64(seat)])]
            show(view, pairs, hands, left, right, left_end, right_end, table, seat, event, word)
            move = choose(view, player, desk, True)
            if move < 0:
                view.event = event
                return FAULT, seat, False
            arm = np.int64(move > 0xFF)
            bit = np.int64(1) << (move >> 8 * arm) - 1
        tile = np.uint64(lowest(bit))
        if table:
            pips = TILE_PIPS[tile]
            left_end = pick(arm, left_end, pips - left_end)
            right_end = pick(arm, pips - right_end, right_end)
        else:
            left_end, right_end = TILE_LOW[tile], TILE_HIGH[tile]
        hand ^= bit
        hands[np.uint64(seat)] = np.uint32(hand)
        table |= bit
        by = seat
        move = (np.int64(tile) + 1) << 8 * arm
        if watched:
            end = right_end if arm else left_end
            old_arm = old_arm_of(view, seat)
            old_end = right_end if old_arm else left_end
            remember_play(view, seat, move, arm, bit, end, old_arm, old_end)
        note(logging, desk, LOG_PLAY, seat, move)
        event += 1
        fit_left = has_value(left_end)
        fit_right = has_value(right_end)
        fits = fit_left | fit_right
        fit_right *= left_end != right_end
        out_there = fits & ~table
        if hand == 0:
            return OUT, by, True
        if out_there & ~bazaar == 0 and (
            drawn == drawable or (rules.dead_value_stop and out_there == 0)
        ):
            return FISH, by, is_true_fish(rules, desk, number, attempt, bazaar, size, fits)
        if (
            out_there & ~np.int64(DOUBLES) == 0
            and left_end == right_end
            and rules.fish_def == SIX_CLOSED
        ):
            return FISH, by, is_true_fish(rules, desk, number, attempt, bazaar, size, fits)
        seat = seat + 1 if seat + 1 < seats else np.int64(0)
