"""Four events of every round in flight: the vector twin of ``kozel_sim.engine.line``.

A round's events come in turns of four, so that one block of its choice words serves each lane for
a turn.
"""

from __future__ import annotations

from kozel_sim._jit import inlined, part
from kozel_sim.engine.line import SIX_CLOSED
from kozel_sim.engine.lockstep.layout import (
    BAZAAR,
    BLOCK_BYTES,
    BLOCK_WORDS,
    BY,
    DEAL_HIGH,
    DEAL_LOW,
    DRAWN,
    DREW,
    HAND,
    LEAD,
    LEADER,
    LEFT_END,
    LINE_UP,
    PASSED,
    RANKS_HIGH,
    RANKS_LOW,
    RIGHT_END,
    ROUND,
    SEAT,
    SHOWN,
    TABLE,
    TELLS,
    TURN,
    VECTOR_BYTES,
    VOIDS,
)
from kozel_sim.engine.lockstep.luck import below, nth_of_few, nth_of_many
from kozel_sim.engine.lockstep.narrow import NONE, around, low_of, narrow, pick_part, pips_of
from kozel_sim.engine.lockstep.vector import (
    bits,
    index_of,
    lane_numbers,
    load,
    look_up,
    pack,
    select,
    some,
    splat,
    store,
    threefry,
)
from kozel_sim.rng import CHOICE
from kozel_sim.tiles import ALL, DOUBLES, HAS

fitting = look_up((*HAS, ALL))
"""The tiles that fit an end; on an empty table, whose ends are NONE, all."""


@inlined
def lay(can, on_right, bit, left_end, right_end):
    """Return the ends after a tile is laid in some lanes."""
    tile = index_of(bit)
    pips = pips_of(tile)
    left = select(on_right, left_end, pips - left_end)
    right = select(on_right, pips - right_end, right_end)
    led = can & (left_end == NONE)
    if some(led):
        low = low_of(tile)
        left = select(led, low, left)
        right = select(led, pips - low, right)
    return select(can, left, left_end), select(can, right, right_end)


@inlined
def is_six_closed(rules, out_there, left_end, right_end):
    """Tell where equal ends make a fish though their double is still out."""
    closed = left_end == right_end
    if rules.fish_def == SIX_CLOSED:
        return closed & ((out_there & ~DOUBLES) == 0)
    return closed & ~closed


@inlined
def remember_pass(block, passes, shift, left_end, right_end):
    """Note what passes show that a slot lacks."""
    lacks = (splat(1) << left_end | splat(1) << right_end) << shift
    store(block + VOIDS, load(block + VOIDS) | select(passes, lacks, 0))
    shown = load(block + SHOWN)
    store(block + SHOWN, select(passes, shown & ~(splat(0xFF) << shift), shown))


@inlined
def remember_draw(block, draws, shift):
    """Forget what a slot lacked: a drawn tile hides it."""
    kept = select(draws, ~(splat(0xFF) << shift), -1)
    store(block + VOIDS, load(block + VOIDS) & kept)
    store(block + TELLS, load(block + TELLS) & kept)
    store(block + SHOWN, load(block + SHOWN) & kept)


@inlined
def remember_play(block, can, shift, on_right, bit, left_end, right_end):
    """Note tip T5's switch to the other end; the ends are those after the play."""
    shown = load(block + SHOWN)
    last = shown >> shift
    value = last & 7
    was_right = (last & 16) != 0
    switched = can & ((last & 8) != 0) & (was_right ^ on_right)
    switched &= select(was_right, right_end, left_end) == value
    switched &= (bit & fitting(value)) == 0
    store(block + TELLS, load(block + TELLS) | select(switched, splat(1) << value << shift, 0))
    now = select(on_right, right_end | 24, left_end | 8) << shift
    store(block + SHOWN, select(can, shown & ~(splat(0xFF) << shift) | now, shown))


@inlined
def step_turned(
    rules, plan, k0, k1, block, first_event, slot, word, bazaar, players, seat, forced,
    act, mine, others, left_end, right_end, left_fits, right_fits, table, by, passed,
):  # fmt: skip
    """Take one event where four play, nobody draws and slots take turns.

    others are the hands of the slots behind the one that acts. Return the new state, and which
    rounds have ended.
    """
    playing = select(act, mine, 0)
    left = playing & left_fits & forced
    right = select(left_end == right_end, 0, playing & right_fits)
    n_left = bits(left)
    n = n_left + bits(right)
    can = n != 0
    if plan.depth:
        several = n > 1
        counts = bits(others[0]) << 8 | bits(others[1]) << 16 | bits(others[2]) << 24
        voids = splat(0)
        tells = splat(0)
        if plan.watched:
            voids = around(load(block + VOIDS), slot, 4)
            tells = around(load(block + TELLS), slot, 4)
        part = players & 0xFF
        if plan.mixes:
            part = pick_part(plan, block, part, k0, k1, first_event + slot)
        left, right = narrow(
            rules.players, rules.sides, rules.target, rules.fish_def == SIX_CLOSED, plan, block,
            several, mine, left, right, left_end, right_end, table, counts, voids, tells,
            part, seat,
        )  # fmt: skip
        n_left = bits(left)
        n = n_left + bits(right)
    rank = below(word, n)
    on_right = rank >= n_left
    bit = nth_of_few(select(on_right, right, left), select(on_right, rank - n_left, rank))
    left_end, right_end = lay(can, on_right, bit, left_end, right_end)
    mine ^= bit
    table |= bit
    left_fits = fitting(left_end)
    right_fits = fitting(right_end)
    if plan.watched:
        remember_play(block, can, 8 * slot, on_right, bit, left_end, right_end)
        remember_pass(block, act & ~can, 8 * slot, left_end, right_end)
    passed = select(act & ~can, passed + (1 << 8 * slot), passed)
    out_there = (left_fits | right_fits) & ~table
    fish = (out_there & ~bazaar) == 0
    fish |= is_six_closed(rules, out_there, left_end, right_end)
    ended = can & (fish | (mine == 0))
    return (
        act & ~ended,
        mine,
        left_end,
        right_end,
        left_fits,
        right_fits,
        table,
        select(can, slot, by),
        passed,
    )


@part
def sweep_turned(rules, plan, k0, k1, block, live):
    """Take a turn of one block where slots take turns; return the rounds still going on."""
    turn = load(block + TURN)
    fresh = turn == 0
    w = threefry(
        load(block + ROUND),
        0,
        turn,
        CHOICE,
        k0,
        k1,
        load(block + DEAL_LOW),
        load(block + DEAL_HIGH),
    )
    store(block + TURN, turn + 1)
    left_end = select(fresh, NONE, load(block + LEFT_END))
    right_end = select(fresh, NONE, load(block + RIGHT_END))
    table = select(fresh, 0, load(block + TABLE))
    passed = select(fresh, 0, load(block + PASSED))
    by = load(block + BY)
    bazaar = splat(0)
    if rules.bazaar_size:
        bazaar = load(block + BAZAAR)
    players = splat(0)
    seat = splat(0)
    if plan.depth:
        seat = load(block + LEADER)
        if not plan.alike:
            players = around(load(block + LINE_UP), seat, 4)
    if plan.watched:
        forget(block, fresh)
    a = load(block + HAND)
    b = load(block + HAND + VECTOR_BYTES)
    c = load(block + HAND + 2 * VECTOR_BYTES)
    d = load(block + HAND + 3 * VECTOR_BYTES)
    act = live
    left_fits = fitting(left_end)
    right_fits = fitting(right_end)
    forced = load(block + LEAD)
    # A loop: four copies of the decision would not fit the cache of instructions.
    for slot in range(4):
        act, a, left_end, right_end, left_fits, right_fits, table, by, passed = step_turned(
            rules, plan, k0, k1, block, turn << 2, slot, w[0], bazaar, players >> 8 * slot,
            seat + slot & 3, forced, act, a, (b, c, d), left_end, right_end, left_fits, right_fits,
            table, by, passed,
        )  # fmt: skip
        a, b, c, d = b, c, d, a
        w = (w[1], w[2], w[3], w[0])
        forced = splat(ALL)
    store(block + HAND, a)
    store(block + HAND + VECTOR_BYTES, b)
    store(block + HAND + 2 * VECTOR_BYTES, c)
    store(block + HAND + 3 * VECTOR_BYTES, d)
    store(block + LEFT_END, left_end)
    store(block + RIGHT_END, right_end)
    store(block + TABLE, table)
    store(block + PASSED, passed)
    store(block + BY, by)
    return act


@inlined
def forget(block, fresh):
    """Forget the events of the last round."""
    kept = select(fresh, 0, splat(-1))
    store(block + VOIDS, load(block + VOIDS) & kept)
    store(block + TELLS, load(block + TELLS) & kept)
    store(block + SHOWN, load(block + SHOWN) & kept)


@inlined
def step_any(
    rules, plan, k0, k1, drawable, block, event, word, forced, act, seat, hands,
    left_end, right_end, left_fits, right_fits, table, by, passed, drawn, bazaar, low, high, drew,
):  # fmt: skip
    """Take one event where seats draw until they can play."""
    a, b, c, d = hands
    is_b = seat == 1
    is_c = seat == 2
    is_d = seat == 3
    mine = select(is_b, b, a)
    mine = select(is_c, c, mine)
    mine = select(is_d, d, mine)
    left = mine & left_fits & forced
    right = select(left_end == right_end, 0, mine & right_fits)
    n_left = bits(left)
    n = n_left + bits(right)
    can = act & (n != 0)
    stuck = act & (n == 0)
    draws = stuck & (drawn < drawable)
    passes = stuck & ~draws
    shift = seat << 3
    if plan.depth:
        several = act & (n > 1)
        counts = around(bits(a) | bits(b) << 8 | bits(c) << 16 | bits(d) << 24, seat, rules.players)
        voids = splat(0)
        tells = splat(0)
        if plan.watched:
            voids = around(load(block + VOIDS), seat, rules.players)
            tells = around(load(block + TELLS), seat, rules.players)
        part = splat(0)
        if not plan.alike:
            part = load(block + LINE_UP) >> shift & 0xFF
        if plan.mixes:
            part = pick_part(plan, block, part, k0, k1, event)
        left, right = narrow(
            rules.players, rules.sides, rules.target, rules.fish_def == SIX_CLOSED, plan, block,
            several, mine, left, right, left_end, right_end, table, counts, voids, tells,
            part, seat,
        )  # fmt: skip
        n_left = bits(left)
        n = n_left + bits(right)
    rank = below(word, n)
    on_right = rank >= n_left
    pool = select(draws, bazaar, select(on_right, right, left))
    rank = select(draws, low & 15, select(on_right, rank - n_left, rank))
    moves = can | draws
    bit = select(moves, nth_of_many(pool, rank), 0)
    laid = select(can, bit, 0)
    left_end, right_end = lay(can, on_right, laid, left_end, right_end)
    left_fits = fitting(left_end)
    right_fits = fitting(right_end)
    mine ^= bit
    table |= laid
    bazaar = select(draws, bazaar ^ bit, bazaar)
    drawn = select(draws, drawn + 1, drawn)
    drew = select(draws, drew + (splat(1) << shift), drew)
    low = select(draws, low >> 4 | high << 28, low)
    high = select(draws, high >> 4, high)
    passed = select(passes, passed + (splat(1) << shift), passed)
    by = select(can, seat, by)
    if plan.watched:
        remember_play(block, can, shift, on_right, laid, left_end, right_end)
        remember_pass(block, passes, shift, left_end, right_end)
        remember_draw(block, draws, shift)
    a = select(seat == 0, mine, a)
    b = select(is_b, mine, b)
    c = select(is_c, mine, c)
    d = select(is_d, mine, d)
    out_there = (left_fits | right_fits) & ~table
    fish = drawn == drawable
    if rules.dead_value_stop:
        fish |= can & (out_there == 0)
    fish &= (out_there & ~bazaar) == 0
    fish |= can & is_six_closed(rules, out_there, left_end, right_end)
    ended = can & (mine == 0) | moves & fish
    act = act & ~ended
    follower = seat + 1
    follower = select(follower == rules.players, 0, follower)
    seat = select(act & ~draws, follower, seat)
    return (
        act, seat, (a, b, c, d), left_end, right_end, left_fits, right_fits, table, by, passed,
        drawn, bazaar, low, high, drew,
    )  # fmt: skip


@part
def sweep_any(rules, plan, drawable, k0, k1, block, live):
    """Take a turn of one block where seats may draw; return the rounds still going on."""
    turn = load(block + TURN)
    fresh = turn == 0
    w = threefry(
        load(block + ROUND),
        0,
        turn,
        CHOICE,
        k0,
        k1,
        load(block + DEAL_LOW),
        load(block + DEAL_HIGH),
    )
    store(block + TURN, turn + 1)
    left_end = select(fresh, NONE, load(block + LEFT_END))
    right_end = select(fresh, NONE, load(block + RIGHT_END))
    table = select(fresh, 0, load(block + TABLE))
    passed = select(fresh, 0, load(block + PASSED))
    drawn = select(fresh, 0, load(block + DRAWN))
    drew = select(fresh, 0, load(block + DREW))
    bazaar = splat(0)
    if rules.bazaar_size:
        bazaar = load(block + BAZAAR)
    by = load(block + BY)
    seat = load(block + SEAT)
    low = load(block + RANKS_LOW)
    high = load(block + RANKS_HIGH)
    if plan.watched:
        forget(block, fresh)
    hands = (
        load(block + HAND),
        load(block + HAND + VECTOR_BYTES),
        load(block + HAND + 2 * VECTOR_BYTES),
        load(block + HAND + 3 * VECTOR_BYTES),
    )
    left_fits = fitting(left_end)
    right_fits = fitting(right_end)
    forced = load(block + LEAD)
    act = live
    for i in range(4):
        word = select_word(w, i)
        (
            act, seat, hands, left_end, right_end, left_fits, right_fits, table, by, passed,
            drawn, bazaar, low, high, drew,
        ) = step_any(
            rules, plan, k0, k1, drawable, block, (turn << 2) + i, word, forced, act, seat, hands,
            left_end, right_end, left_fits, right_fits, table, by, passed,
            drawn, bazaar, low, high, drew,
        )  # fmt: skip
        forced = splat(ALL)
    a, b, c, d = hands
    store(block + HAND, a)
    store(block + HAND + VECTOR_BYTES, b)
    store(block + HAND + 2 * VECTOR_BYTES, c)
    store(block + HAND + 3 * VECTOR_BYTES, d)
    store(block + LEFT_END, left_end)
    store(block + RIGHT_END, right_end)
    store(block + TABLE, table)
    store(block + PASSED, passed)
    store(block + BY, by)
    store(block + SEAT, seat)
    store(block + BAZAAR, bazaar)
    store(block + DRAWN, drawn)
    store(block + DREW, drew)
    store(block + RANKS_LOW, low)
    store(block + RANKS_HIGH, high)
    return act


@inlined
def select_word(w, i):
    """Return one of four words."""
    low = w[0] if i == 0 else w[1]
    high = w[2] if i == 2 else w[3]
    return low if i < 2 else high


@part
def sweep_all(rules, plan, turned, drawable, k0, k1, lanes, blocks, todo, n):
    """Take four events everywhere; list the places whose rounds ended, return how many."""
    for number in range(blocks):
        block = lanes + number * BLOCK_BYTES
        live = load(block + LEAD) != 0
        if some(live):
            if turned:
                on = sweep_turned(rules, plan, k0, k1, block, live)
            else:
                on = sweep_any(rules, plan, drawable, k0, k1, block, live)
            store(block + LEAD, select(live, ALL, 0))
            n += pack(todo + 4 * n, live & ~on, lane_numbers() + number * BLOCK_WORDS)
    return n
