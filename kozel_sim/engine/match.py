"""Compiled matches: deal, play and settle rounds until the target or the cap."""

from __future__ import annotations

import numpy as np

from kozel_sim._jit import inlined, kernel, part
from kozel_sim.engine.bits import lowest, nth_tile, popcount
from kozel_sim.engine.cross import play_cross_round
from kozel_sim.engine.history import put
from kozel_sim.engine.layout import (
    FAULT,
    FISH,
    ILLEGAL,
    LOG_END,
    LOG_ROUND,
    OK,
)
from kozel_sim.engine.line import SIX_CLOSED, play_round
from kozel_sim.engine.luck import below, deal, is_redealt, run_word, write_bazaar
from kozel_sim.engine.settle import PAIRS, hand_points, result, settle
from kozel_sim.opening import LEAD_ORDER
from kozel_sim.rules import code, knob_choices
from kozel_sim.tiles import ALL

N_NO_DOUBLE = len(knob_choices("lead_no_double"))
LEADS = np.array(
    [
        LEAD_ORDER[order, no_double]
        for order in knob_choices("lead_order")
        for no_double in knob_choices("lead_no_double")
    ],
    dtype=np.int64,
)
ONE_DOUBLE = code("multi_double", "none")
NO_REDEAL = code("redeal", "none")
UNTIL_RECORD = code("lead_repeat", "until_any_official_record")
AFTER_UNRECORDED = code("lead_repeat", "after_every_unrecorded_round")
CREDIT = code("ledger", "credit")
FINISHER, NEXT_SEAT, WINNER, LOSER = range(len(knob_choices("lead_next")))
ALL_BUT_BLANK = ALL & ~1


@inlined
def deal_clean(rules, desk, number):
    """Deal a round, again while a hand asks for it; return (bazaar, attempt)."""
    attempt = 0
    while True:
        bazaar = deal(rules, desk, number, attempt)
        if rules.redeal == NO_REDEAL:
            return bazaar, attempt
        again = False
        for seat in range(rules.players):
            again |= is_redealt(np.int64(desk.hands[seat]))
        if not again:
            return bazaar, attempt
        attempt += 1


@inlined
def may_lead(rules):
    """Return the tiles that a round may be led with."""
    return np.int64(ALL) if rules.lead_blank else np.int64(ALL_BUT_BLANK)


@inlined
def first_lead(rules, hands):
    """Return (seat, tile) of the first lead."""
    order = LEADS[rules.lead_order * N_NO_DOUBLE + rules.lead_no_double]
    allowed = may_lead(rules)
    for i in range(28):
        tile = order[i]
        for seat in range(rules.players):
            if (hands[seat] & allowed) >> tile & 1:
                return seat, tile
    return 0, np.int64(-1)


@part
def next_leader(rules, held, fish, by, leader):
    """Return who leads the next round where the first-lead rule does not apply."""
    seats = np.int64(rules.players)
    if rules.lead_next == NEXT_SEAT:
        return leader + 1 if leader + 1 < seats else np.int64(0)
    if rules.lead_next == FINISHER or (rules.lead_next == WINNER and not fish):
        return by
    pairs = rules.teams == PAIRS
    own = by & 1 if pairs else by
    found = by
    best = held[own]
    if rules.lead_next == LOSER:
        best = np.int64(-1)
    for k in range(1, seats):
        seat = by + k if by + k < seats else by + k - seats
        side = seat & 1 if pairs else seat
        if rules.lead_next == WINNER:
            if held[side] < best:
                best = held[side]
                found = seat
        elif held[side] > best and (fish or side != own):
            best = held[side]
            found = seat
    if rules.lead_next == LOSER and fish and held[own] > best:
        found = by
    return found


@part
def log_round(rules, number, attempt, leader, forced, bazaar, desk):
    """Log a deal: (kind, redeals, leader, forced, hands, size of the bazaar, its tiles)."""
    put(desk, LOG_ROUND)
    put(desk, attempt)
    put(desk, leader)
    put(desk, forced)
    for seat in range(4):
        put(desk, np.int64(desk.hands[seat]) if seat < rules.players else 0)
    size = popcount(bazaar)
    put(desk, size)
    write_bazaar(desk.bazaar, desk.key, number, attempt)
    for drawn in range(size):
        bit = nth_tile(bazaar, below(run_word(desk.bazaar, drawn), size - drawn))
        bazaar ^= bit
        put(desk, lowest(bit))


@part
def log_end(rules, view, how, by, true_fish, desk):
    """Log an end: (kind, how, by, true, hand points, written, pot, accounts, memory, opened)."""
    put(desk, LOG_END)
    put(desk, how)
    put(desk, by)
    put(desk, np.int64(true_fish))
    for seat in range(4):
        put(desk, hand_points(rules, np.int64(desk.hands[seat])) if seat < rules.players else 0)
    for side in range(4):
        put(desk, desk.written[side] if side < rules.sides else 0)
    put(desk, view.pot)
    for side in range(4):
        put(desk, view.accounts[side])
    for side in range(4):
        put(desk, view.memory[side])
    for side in range(4):
        put(desk, view.opened[side])


@inlined
def start_match(rules, view, out):
    """Clear the score and the outcome."""
    view.players = rules.players
    view.reserve = rules.bazaar_reserve
    view.several = rules.multi_double != ONE_DOUBLE
    view.close = rules.close_doubles
    view.close_two = rules.close_two_rule
    view.target = rules.target
    view.open_at = rules.open_at
    view.credit = rules.ledger == CREDIT
    view.four_way = rules.spinner
    view.six_closed = rules.fish_def == SIX_CLOSED
    view.pot = 0
    for side in range(4):
        view.accounts[side] = 0
        view.memory[side] = 0
        view.opened[side] = rules.open_at == 0 and side < rules.sides
        out.passes[side] = 0
        out.draws[side] = 0
    out.fish_rounds = 0


@inlined
def play_match(rules, players, view, desk, out):
    """Play one match into out; return a status."""
    start_match(rules, view, out)
    desk.randoms = 0
    for seat in range(rules.players):
        desk.randoms |= np.int64(players[np.uint64(out.players[seat])].random) << seat
    several = rules.spinner or rules.close_doubles or rules.multi_double != ONE_DOUBLE
    official = False
    first = True
    leader = np.int64(0)
    number = 0
    goats = 0
    winners = 0
    while goats | winners == 0 and number < rules.max_rounds:
        view.round = number
        bazaar, attempt = deal_clean(rules, desk, number)
        forced = np.int64(-1)
        lead = may_lead(rules)
        if first:
            leader, tile = first_lead(rules, desk.hands)
            if rules.lead_forced:
                forced = tile
                lead = np.int64(1) << tile
        if number == 0:
            out.first_leader = leader
        if desk.log:
            log_round(rules, number, attempt, leader, forced, bazaar, desk)
        if several:
            how, by, true_fish = play_cross_round(
                rules, players, view, desk, leader, lead, bazaar, attempt, out
            )
        else:
            how, by, true_fish = play_round(
                rules, players, view, desk, leader, lead, bazaar, attempt, out
            )
        if how == FAULT:
            desk.fault_deal = out.deal
            desk.fault_round = number
            desk.fault_event = view.event
            desk.fault_seat = by
            return ILLEGAL
        pot = view.pot
        entered, tied = settle(rules, view, desk.hands, how == FISH, by, desk.held, desk.written)
        goats, winners = result(rules, view)
        if desk.log:
            log_end(rules, view, how, by, true_fish, desk)
        official = official or entered != 0
        first = (rules.lead_repeat == UNTIL_RECORD and not official) or (
            rules.lead_repeat == AFTER_UNRECORDED and entered == 0 and not (tied and view.pot > pot)
        )
        leader = np.int64(next_leader(rules, desk.held, how == FISH, by, leader))
        out.fish_rounds += how == FISH
        number += 1
    for side in range(4):
        out.points[side] = view.accounts[side]
    out.rounds = number
    out.goats = goats
    out.winners = winners
    out.capped = goats | winners == 0
    return OK


@kernel
def play_matches(rules, players, seed, matches, views, desks):
    """Play each match where it stands; return OK, or ILLEGAL after the fault is on the desk."""
    view = views[0]
    desk = desks[0]
    desk.key[0] = np.uint32(seed & np.uint64(0xFFFFFFFF))
    desk.key[1] = np.uint32(seed >> np.uint64(32))
    for i in range(matches.size):
        out = matches[i]
        desk.key[2] = np.uint32(out.deal & np.uint64(0xFFFFFFFF))
        desk.key[3] = np.uint32(out.deal >> np.uint64(32))
        status = play_match(rules, players, view, desk, out)
        if status != OK:
            return status
    return OK
