"""Matches in flight: dealt, played and settled by sixteen, replaced as they finish.

The twin of ``kozel_sim.engine.match``. Each round of work deals to the places on a list, takes four
events of every block, lists the places whose rounds have ended and settles those.
"""

from __future__ import annotations

import numpy as np

from kozel_sim._jit import inlined, kernel, part
from kozel_sim.engine.line import NO_DRAW
from kozel_sim.engine.lockstep.layout import (
    ACCOUNT,
    ATTEMPT,
    BLOCK_BYTES,
    BY,
    DEAL_HIGH,
    DEAL_LOW,
    DRAWS,
    DREW,
    FIRST,
    FIRST_LEADER,
    FISH_ROUNDS,
    GOATS,
    HAND,
    LANES,
    LEAD,
    LEADER,
    LINE_UP,
    MATCH,
    MEMORY,
    OFFICIAL,
    OPENED,
    PASSED,
    PASSES,
    POT,
    ROUND,
    VECTOR_BYTES,
    WINNERS,
)
from kozel_sim.engine.lockstep.luck import deal_all
from kozel_sim.engine.lockstep.settle import held_by, result, settle
from kozel_sim.engine.lockstep.sweep import sweep_all
from kozel_sim.engine.lockstep.vector import (
    first_lanes,
    gather,
    load,
    load_list,
    load_word,
    pack,
    scatter,
    select,
    some,
    splat,
    store,
    store_word,
)
from kozel_sim.engine.match import (
    AFTER_UNRECORDED,
    FINISHER,
    LOSER,
    NEXT_SEAT,
    UNTIL_RECORD,
    WINNER,
)
from kozel_sim.engine.settle import ALL_OWN, PAIRS


@part
def start_match(open_at, sides, plan, matches, number, lane):
    """Put a match, or none (-1), into a lane."""
    store_word(lane + MATCH, number)
    if number < 0:
        store_word(lane + LEAD, 0)
        return
    match = matches[number]
    store_word(lane + DEAL_LOW, np.int64(match.deal & np.uint64(0xFFFFFFFF)))
    store_word(lane + DEAL_HIGH, np.int64(match.deal >> np.uint64(32)))
    line_up = np.int64(0)
    for seat in range(4):
        line_up |= plan.first_part[match.players[seat]] << 8 * seat
        row = VECTOR_BYTES * seat
        store_word(lane + ACCOUNT + row, 0)
        store_word(lane + MEMORY + row, 0)
        store_word(lane + PASSES + row, 0)
        store_word(lane + DRAWS + row, 0)
    store_word(lane + LINE_UP, line_up)
    store_word(lane + OPENED, (1 << sides) - 1 if open_at == 0 else 0)
    store_word(lane + ROUND, 0)
    store_word(lane + ATTEMPT, 0)
    store_word(lane + LEADER, 0)
    store_word(lane + FIRST, 0)
    store_word(lane + POT, 0)
    store_word(lane + OFFICIAL, 0)
    store_word(lane + FISH_ROUNDS, 0)


@part
def finish_match(matches, lane):
    """Write a finished match into its record."""
    out = matches[load_word(lane + MATCH)]
    for i in range(4):
        row = VECTOR_BYTES * i
        out.points[i] = load_word(lane + ACCOUNT + row)
        out.passes[i] = load_word(lane + PASSES + row)
        out.draws[i] = load_word(lane + DRAWS + row)
    out.rounds = load_word(lane + ROUND)
    out.fish_rounds = load_word(lane + FISH_ROUNDS)
    out.goats = load_word(lane + GOATS)
    out.winners = load_word(lane + WINNERS)
    out.capped = (out.goats | out.winners) == 0
    out.first_leader = load_word(lane + FIRST_LEADER)


@inlined
def fetch(lanes, row, n, places, which, bench):
    """Gather n rows onto the bench."""
    for i in range(n):
        offset = row + VECTOR_BYTES * i
        store(bench + offset, gather(lanes + offset, places, which))


@inlined
def bring_back(lanes, row, n, places, which, bench):
    """Scatter n rows from the bench."""
    for i in range(n):
        offset = row + VECTOR_BYTES * i
        scatter(lanes + offset, places, which, load(bench + offset))


@inlined
def fetch_hands(rules, turned, leader, lanes, places, which, bench):
    """Gather the hands by seat."""
    for seat in range(rules.players):
        place = places + seat * LANES
        if turned:
            place = places + (seat - leader & 3) * LANES
        store(bench + HAND + VECTOR_BYTES * seat, gather(lanes + HAND, place, which))


@inlined
def count_events(players, packed, total, turned, leader, lanes, places, which):
    """Add what a round counted by slot, a byte each, to the totals by seat."""
    counted = gather(lanes + packed, places, which)
    if some(counted != 0):
        for seat in range(players):
            slot = splat(seat)
            if turned:
                slot = seat - leader & 3
            offset = total + VECTOR_BYTES * seat
            before = gather(lanes + offset, places, which)
            scatter(lanes + offset, places, which, before + (counted >> (slot << 3) & 0xFF))


@part
def next_leaders(rules, bench, fish, by, leader):
    """Return who leads the next rounds where the first-lead rule does not apply."""
    if rules.lead_next == FINISHER:
        return by
    if rules.lead_next == NEXT_SEAT:
        following = leader + 1
        return select(following == rules.players, 0, following)
    pairs = rules.teams == PAIRS
    own_side = by & 1 if pairs else by
    own = held_by(bench, rules.sides, own_side)
    found = by
    best = own if rules.lead_next == WINNER else splat(-1)
    for k in range(1, rules.players):
        seat = by + k
        seat = select(seat >= rules.players, seat - rules.players, seat)
        side = seat & 1 if pairs else seat
        held = held_by(bench, rules.sides, side)
        better = fish & (held < best)
        if rules.lead_next == LOSER:
            better = (fish | (side != own_side)) & (held > best)
        best = select(better, held, best)
        found = select(better, seat, found)
    if rules.lead_next == LOSER:
        found = select(fish & (own > best), by, found)
    return found


@part
def settle_sixteen(rules, turned, drawable, lanes, places, which, bench):
    """Settle the rounds that ended at some places; return which matches are over."""
    sides = rules.sides
    slot = gather(lanes + BY, places, which)
    leader = gather(lanes + LEADER, places, which)
    by = slot
    if turned:
        by = slot + leader & 3
    fetch_hands(rules, turned, leader, lanes, places, which, bench)
    fish = which & (gather(lanes + HAND, places + slot * LANES, which) != 0)
    fetch(lanes, ACCOUNT, sides, places, which, bench)
    fetch(lanes, MEMORY, sides, places, which, bench)
    fetch(lanes, OPENED, 1, places, which, bench)
    if rules.fish_scoring != ALL_OWN:
        fetch(lanes, POT, 1, places, which, bench)
    else:
        store(bench + POT, 0)
    pot = load(bench + POT)
    entered, tied = settle(rules, bench, fish, by)
    result(rules, bench)
    bring_back(lanes, ACCOUNT, sides, places, which, bench)
    bring_back(lanes, MEMORY, sides, places, which, bench)
    bring_back(lanes, OPENED, 1, places, which, bench)
    if rules.fish_scoring != ALL_OWN:
        bring_back(lanes, POT, 1, places, which, bench)
    if rules.lead_repeat == UNTIL_RECORD:
        official = gather(lanes + OFFICIAL, places, which) | entered
        scatter(lanes + OFFICIAL, places, which, official)
        scatter(lanes + FIRST, places, which, select(official == 0, 1, 0))
    if rules.lead_repeat == AFTER_UNRECORDED:
        first = (entered == 0) & ~(tied & (load(bench + POT) > pot))
        scatter(lanes + FIRST, places, which, select(first, 1, 0))
    scatter(lanes + LEADER, places, which, next_leaders(rules, bench, fish, by, leader))
    if some(fish):
        fishes = gather(lanes + FISH_ROUNDS, places, fish)
        scatter(lanes + FISH_ROUNDS, places, fish, fishes + 1)
    count_events(rules.players, PASSED, PASSES, turned, leader, lanes, places, which)
    if drawable:
        count_events(rules.players, DREW, DRAWS, turned, leader, lanes, places, which)
    rounds = gather(lanes + ROUND, places, which) + 1
    scatter(lanes + ROUND, places, which, rounds)
    ended = (load(bench + GOATS) | load(bench + WINNERS)) != 0
    over = which & (ended | (rounds >= rules.max_rounds))
    if some(over):
        bring_back(lanes, GOATS, 1, places, over, bench)
        bring_back(lanes, WINNERS, 1, places, over, bench)
    return over


@part
def settle_all(
    rules, plan, turned, drawable, matches, lanes, todo, first, n, bench, finished, started
):
    """Settle the listed places from the first on, replace finished matches.

    Return how many places are listed still, how many matches were started, and how many lanes are
    done.
    """
    kept = first
    gone = 0
    for i in range(first, n, LANES):
        places = load_list(todo + 4 * i)
        which = first_lanes(n - i)
        over = settle_sixteen(rules, turned, drawable, lanes, places, which, bench)
        if some(over):
            count = pack(finished, over, places)
            for j in range(count):
                lane = lanes + 4 * load_word(finished + 4 * j)
                finish_match(matches, lane)
                number = np.int64(-1)
                if started < matches.size:
                    number = started
                    started += 1
                else:
                    gone += 1
                start_match(rules.open_at, rules.sides, plan, matches, number, lane)
            which &= gather(lanes + MATCH, places, which) >= 0
        kept += pack(todo + 4 * kept, which, places)
    return kept, started, gone


@kernel
def play_lockstep(rules, plans, seed, matches, lanes, blocks, todo):
    """Play each match where it stands; lanes: blocks and a bench, todo: room for two lists."""
    plan = plans[0]
    bench = lanes + blocks * BLOCK_BYTES
    finished = todo + 4 * (blocks * LANES + LANES)
    k0 = np.int64(seed & np.uint64(0xFFFFFFFF))
    k1 = np.int64(seed >> np.uint64(32))
    drawable = np.int64(0)
    if rules.bazaar_draw != NO_DRAW:
        drawable = max(rules.bazaar_size - rules.bazaar_reserve, 0)
    turned = rules.players == 4 and drawable == 0
    started = 0
    n = 0
    for place in range(blocks * LANES):
        lane = place // LANES * BLOCK_BYTES + 4 * (place % LANES)
        number = np.int64(-1)
        if started < matches.size:
            number = started
            started += 1
            store_word(todo + 4 * n, lane // 4)
            n += 1
        start_match(rules.open_at, rules.sides, plan, matches, number, lanes + lane)
    flying = n
    while flying:
        waiting = deal_all(rules, turned, drawable, k0, k1, lanes, todo, n)
        listed = sweep_all(rules, plan, turned, drawable, k0, k1, lanes, blocks, todo, waiting)
        n, started, gone = settle_all(
            rules,
            plan,
            turned,
            drawable,
            matches,
            lanes,
            todo,
            waiting,
            listed,
            bench,
            finished,
            started,
        )
        flying -= gone
