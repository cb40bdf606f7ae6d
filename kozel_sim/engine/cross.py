"""A compiled round with four-way doubles, closed doubles and several doubles a move.

The twin of ``reference.Round`` where ``kozel_sim.engine.line`` does not reach: donkeys, sea goats.
"""

from __future__ import annotations

import numpy as np

from kozel_sim._jit import inlined, part
from kozel_sim.engine.bits import lowest, nth_tile, popcount
from kozel_sim.engine.decide import choose_listed
from kozel_sim.engine.features import (
    BYTE_PIPS,
    BYTE_TILE,
    TILE_HIGH,
    TILE_LOW,
    has_value,
)
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
from kozel_sim.engine.line import NO_DRAW, PAIRS, SIX_CLOSED
from kozel_sim.engine.luck import below, is_true_fish, run_word, write_bazaar, write_choices
from kozel_sim.moves import CLOSED
from kozel_sim.rules import code
from kozel_sim.tiles import ALL, DOUBLES

ONE_DOUBLE = code("multi_double", "none")


@inlined
def show_legal(view, hand):
    """Write which tiles fit which arm: of equal arms the lowest; return the values shown."""
    values = np.int64(0)
    for arm in range(2 + 2 * view.spinner):
        value = np.int64(view.arms[arm])
        fits = np.int64(0)
        if value >= 0 and values >> value & 1 == 0:
            values |= 1 << value
            fits = hand & has_value(value)
        view.legal[arm] = np.uint32(fits)
    return values


@inlined
def list_all_moves(rules, view, moves):
    """Write the codes of all legal moves in order; return how many."""
    n = 0
    fitting = view.legal[0] | view.legal[1] | view.legal[2] | view.legal[3]
    several = rules.multi_double != ONE_DOUBLE and popcount(fitting & DOUBLES) > 1
    for arm in range(2 + 2 * view.spinner):
        legal = np.int64(view.legal[arm])
        while legal:
            tile = lowest(legal)
            legal &= legal - 1
            move = (tile + 1) << 8 * arm
            moves[n] = move
            n += 1
            if tile < 7 and view.table:
                if several:
                    n = list_further(rules, view, moves, n, arm, move)
                if rules.close_doubles:
                    move |= CLOSED << 8 * arm
                    moves[n] = move
                    n += 1
                    if several:
                        n = list_further(rules, view, moves, n, arm, move)
    return n


@part
def with_double(rules, view, move, way):
    """Return a move with one more double on arm way >> 1, closed if way & 1; 0 if there is none."""
    arm = way >> 1
    double = view.legal[arm] & DOUBLES
    if double == 0 or (way & 1 and not rules.close_doubles):
        return np.int64(0)
    return move | (lowest(double) + 1 | CLOSED * (way & 1)) << 8 * arm


@part
def list_further(rules, view, moves, n, arm, move):
    """Write a move with every choice of more doubles on higher arms, in order."""
    for first in range(2 * arm + 2, 8):
        two = with_double(rules, view, move, first)
        if two:
            n = add_if_allowed(rules, view, moves, n, two)
            for second in range(2 * (first >> 1) + 2, 8):
                three = with_double(rules, view, two, second)
                if three:
                    n = add_if_allowed(rules, view, moves, n, three)
                    for third in range(2 * (second >> 1) + 2, 8):
                        four = with_double(rules, view, three, third)
                        if four:
                            n = add_if_allowed(rules, view, moves, n, four)
    return n


@part
def add_if_allowed(rules, view, moves, n, move):
    """Write a move of several doubles unless it closes both of two ends against the rule."""
    both_closed = move & 0x8080 == 0x8080 and not view.spinner
    if both_closed and rules.close_two_rule and view.table & DOUBLES:
        return n
    moves[n] = move
    return n + 1


@inlined
def lay(rules, view, move):
    """Lay the tiles of a move on the arms; return their mask."""
    if view.table == 0:
        tile = np.uint64(move - 1)
        view.arms[0] = TILE_LOW[tile]
        view.arms[1] = TILE_HIGH[tile]
        if rules.spinner and TILE_LOW[tile] == TILE_HIGH[tile]:
            view.spinner = 1
            view.arms[2] = TILE_LOW[tile]
            view.arms[3] = TILE_LOW[tile]
        return np.int64(1) << np.int64(tile)
    tiles = np.int64(0)
    for arm in range(2 + 2 * view.spinner):
        byte = np.uint64(move >> 8 * arm & 0xFF)
        if byte:
            tiles |= BYTE_TILE[byte]
            closed = byte & np.uint64(CLOSED)
            view.arms[arm] = -1 if closed else BYTE_PIPS[byte] - view.arms[arm]
    return tiles


@inlined
def shown_values(view):
    """Return the values on the open arms, and the tiles that fit one."""
    values = np.int64(0)
    fits = np.int64(0)
    for arm in range(2 + 2 * view.spinner):
        value = np.int64(view.arms[arm])
        if value >= 0:
            values |= 1 << value
            fits |= has_value(value)
    return values, fits


@part
def play_cross_round(rules, players, view, desk, leader, lead, bazaar, attempt, out):
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
    seat = np.int64(leader)
    by = seat
    event = np.int64(0)
    clear_round(view, watched, size)
    while True:
        hand = np.int64(hands[np.uint64(seat)])
        if view.table:
            show_legal(view, hand)
        else:
            view.legal[0] = np.uint32(hand & lead)
        n = list_all_moves(rules, view, desk.moves)

        if n == 0:
            event += 1
            values, fits = shown_values(view)
            if drawn < drawable:
                if drawn == 0:
                    write_bazaar(desk.bazaar, desk.key, number, attempt)
                bit = nth_tile(bazaar, below(run_word(desk.bazaar, drawn), size - drawn))
                bazaar ^= bit
                drawn += 1
                hands[seat] = np.uint32(hand | bit)
                out.draws[seat] += 1
                if watched:
                    remember_draw(view, seat)
                note(logging, desk, LOG_DRAW, seat, lowest(bit))
                if drawn == drawable and fits & ALL & ~np.int64(view.table) & ~bazaar == 0:
                    return (
                        FISH,
                        by,
                        is_true_fish(rules, desk, number, attempt, bazaar, size, fits),
                    )
            else:
                if watched:
                    remember_pass(view, seat, values)
                out.passes[seat] += 1
                note(logging, desk, LOG_PASS, seat, 0)
                seat = seat + 1 if seat + 1 < seats else np.int64(0)
            continue

        move = desk.moves[0]
        if n > 1:
            if event >> 5 != group:
                group = event >> 5
                write_choices(desk.choice, desk.key, number, event)
            view.word = run_word(desk.choice, event & 31)
            if randoms >> seat & 1:
                move = desk.moves[below(view.word, n)]
            else:
                view.hand = np.uint32(hand)
                show_counts(view, hands)
                view.seat = seat
                view.side = seat & 1 if pairs else seat
                view.partner = seat ^ 2 if pairs else -1
                view.event = event
                move = choose_listed(view, players[out.players[seat]], desk, n)
            if move < 0:
                return FAULT, seat, False
        old_arm = old_arm_of(view, seat) if watched else np.int64(0)
        tiles = lay(rules, view, move)
        view.table |= np.uint32(tiles)
        hand &= ~tiles
        hands[np.uint64(seat)] = np.uint32(hand)
        by = seat
        if watched:
            arm = lowest(move) >> 3
            end = view.arms[arm]
            remember_play(view, seat, move, arm, tiles, end, old_arm, view.arms[old_arm])
        note(logging, desk, LOG_PLAY, seat, move)
        event += 1
        _, fits = shown_values(view)
        out_there = fits & ALL & ~np.int64(view.table)
        if hand == 0:
            return OUT, by, True
        if (
            fits == 0
            or (rules.dead_value_stop and out_there == 0)
            or (drawn == drawable and out_there & ~bazaar == 0)
            or (
                rules.fish_def == SIX_CLOSED
                and view.arms[0] == view.arms[1]
                and out_there & ~np.int64(DOUBLES) == 0
            )
        ):
            return FISH, by, is_true_fish(rules, desk, number, attempt, bazaar, size, fits)
        seat = seat + 1 if seat + 1 < seats else np.int64(0)
