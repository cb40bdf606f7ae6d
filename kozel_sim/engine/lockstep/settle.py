"""Scoring of sixteen matches: the vector twin of ``kozel_sim.engine.settle``.

Everything happens on the bench; amounts by side are its rows.
"""

from __future__ import annotations

from kozel_sim._jit import inlined, part
from kozel_sim.engine.lockstep.layout import (
    ACCOUNT,
    GOATS,
    HAND,
    HELD,
    MEMORY,
    OPENED,
    POT,
    VECTOR_BYTES,
    WINNERS,
    WRITTEN,
)
from kozel_sim.engine.lockstep.vector import bits, load, select, some, splat, store
from kozel_sim.engine.settle import (
    ALL_HANDS,
    ALL_OWN,
    CARRY,
    CREDIT,
    CREDIT_DIFFERENCE,
    CREDIT_LOWEST,
    CUMULATIVE,
    DIFFERENCE,
    EGGS_ALL,
    EGGS_ONE,
    FISH_MAX,
    LOWEST_WRITE_0,
    MAX_TAKES_ALL,
    NET,
    NOTHING_WRITTEN,
    ON_RECORD,
    PAIR_LOWER_WINS,
    PAIRS,
    PIP_BITS,
    RESET_BOTH,
    RESET_ON_DRAW,
    WINS,
    tile_pips,
)


@inlined
def get(bench, row, side):
    """Return a side's (or seat's) row."""
    return load(bench + row + VECTOR_BYTES * side)


@inlined
def put(bench, row, side, value):
    """Write a side's row."""
    store(bench + row + VECTOR_BYTES * side, value)


@inlined
def change(bench, row, side, which, value):
    """Write a side's row in some lanes."""
    put(bench, row, side, select(which, value, get(bench, row, side)))


@inlined
def hand_points(rules, hand):
    """Return the values of hands after the rules' tile values."""
    points = bits(hand & PIP_BITS[0]) + (bits(hand & PIP_BITS[1]) << 1)
    points += (bits(hand & PIP_BITS[2]) << 2) + (bits(hand & PIP_BITS[3]) << 3)
    if rules.over_a >= 0:
        counts = hand == hand
        if rules.over_alone:
            counts = (hand & (hand - 1)) == 0
        more = rules.over_a_points - tile_pips(rules.over_a)
        points += select(counts & ((hand >> rules.over_a & 1) != 0), more, 0)
        if rules.over_b >= 0:
            more = rules.over_b_points - tile_pips(rules.over_b)
            points += select(counts & ((hand >> rules.over_b & 1) != 0), more, 0)
    return points


@part
def unique_highest(bench, sides, but):
    """Return the side other than `but` that alone holds most, or -1."""
    best = splat(-1)
    found = splat(-1)
    for side in range(sides):
        held = get(bench, HELD, side)
        counts = but != side
        more = counts & (held > best)
        found = select(more, side, select(counts & (held == best), -1, found))
        best = select(more, held, best)
    return found


@part
def lowest_hand(bench, sides):
    """Return (least holding, the side that alone has it or -1)."""
    best = get(bench, HELD, 0)
    found = splat(0)
    for side in range(1, sides):
        held = get(bench, HELD, side)
        less = held < best
        found = select(less, side, select(held == best, -1, found))
        best = select(less, held, best)
    return best, found


@inlined
def held_by(bench, sides, side):
    """Return what one side holds, by lane."""
    held = splat(0)
    for s in range(sides):
        held = select(side == s, get(bench, HELD, s), held)
    return held


@part
def write_exit(credit, sides, bench, total, winner):
    """Write rounds that somebody left; return who pays (or is paid) the pot, or -1."""
    for side in range(sides):
        if credit:
            value = select(winner == side, total - get(bench, HELD, side), 0)
        else:
            value = select(winner == side, 0, get(bench, HELD, side))
        put(bench, WRITTEN, side, value)
    if credit:
        return winner
    return unique_highest(bench, sides, winner)


@part
def write_tied_lowest(sides, bench, which, least):
    """Write tied fish where the lowest write nothing; return who alone is highest, or -1."""
    highest = splat(-1)
    payer = splat(-1)
    for side in range(sides):
        held = get(bench, HELD, side)
        low = held == least
        change(bench, WRITTEN, side, which, select(low, 0, held))
        more = ~low & (held > highest)
        payer = select(more, side, select(~low & (held == highest), -1, payer))
        highest = select(more, held, highest)
    return payer


@part
def write_fish(scoring, tie, credit, points, sides, bench, total, fish, payer):
    """Write fish over what an exit would write; return (who pays the pot, which are tied)."""
    tied = fish & ~fish
    if scoring == ALL_OWN or scoring == MAX_TAKES_ALL:
        highest = unique_highest(bench, sides, splat(-1))
        for side in range(sides):
            value = get(bench, HELD, side)
            if scoring == MAX_TAKES_ALL:
                value = select(highest == side, total, 0)
            change(bench, WRITTEN, side, fish, value)
        if scoring == MAX_TAKES_ALL:
            tied = fish & (highest < 0)
        return select(fish, highest, payer), tied
    least, winner = lowest_hand(bench, sides)
    won = fish & (winner >= 0)
    drawn = fish & (winner < 0)
    if tie == LOWEST_WRITE_0:
        payer = select(drawn, write_tied_lowest(sides, bench, drawn, least), payer)
    else:
        tied = drawn
    worth = total
    if points != ALL_HANDS or scoring == CREDIT_LOWEST or scoring == CREDIT_DIFFERENCE:
        own = held_by(bench, sides, winner)
        worth = total - own
        if scoring == CREDIT_DIFFERENCE or (points == DIFFERENCE and scoring != CREDIT_LOWEST):
            worth -= own
    for side in range(sides):
        mine = winner == side
        if credit:
            value = select(mine, worth, 0)
        elif scoring == PAIR_LOWER_WINS:
            value = select(mine, 0, worth)
        else:
            value = select(mine, 0, get(bench, HELD, side))
        change(bench, WRITTEN, side, won, value)
    if credit:
        return select(won, winner, payer), tied
    if scoring == PAIR_LOWER_WINS:
        return select(won, 1 - winner, payer), tied
    return select(won, unique_highest(bench, sides, winner), payer), tied


@inlined
def enter(rules, bench, side, which, amount):
    """Make official entries; under dry_rule=net they first cancel the opponents' points."""
    if rules.dry_rule == NET:
        theirs = get(bench, ACCOUNT, 1 - side)
        cancelled = select(which, select(amount < theirs, amount, theirs), 0)
        put(bench, ACCOUNT, 1 - side, theirs - cancelled)
        amount -= cancelled
    account = get(bench, ACCOUNT, side)
    put(bench, ACCOUNT, side, select(which, account + amount, account))


@inlined
def write_books(rules, bench, which, payer, fish):
    """Enter the amounts and the pot, then see to the memories; return masks of entries."""
    entered = splat(0)
    open_sides = load(bench + OPENED)
    pot = load(bench + POT)
    pot_helps = rules.eggs_help_open or rules.fish_tie == CARRY
    for side in range(rules.sides):
        x = get(bench, WRITTEN, side)
        pays = which & (payer == side)
        if pot_helps:
            x += select(pays, pot, 0)
            pot = select(pays, 0, pot)
        was_open = (open_sides >> side & 1) != 0
        memory = get(bench, MEMORY, side)
        test = x + memory if rules.open_test == CUMULATIVE else x
        opens = which & ~was_open & (x > 0) & (test >= rules.open_at)
        opened = which & was_open
        if not pot_helps:
            pays &= opens | opened
            x += select(pays, pot, 0)
            pot = select(pays, 0, pot)
        put(bench, WRITTEN, side, x)
        open_sides |= select(opens, 1 << side, 0)
        enters = opens | (opened & (x != 0))
        enter(rules, bench, side, enters, select(opens, x + memory, x))
        entered |= select(enters, 1 << side, 0)
        kept = memory + x
        if rules.fish_memory == FISH_MAX:
            kept = select(fish, select(x > memory, x, memory), kept)
        kept = select(opens, 0, select(was_open, memory, kept))
        change(bench, MEMORY, side, which, kept)
    store(bench + OPENED, open_sides)
    store(bench + POT, pot)
    for side in range(rules.sides):
        if rules.memory_reset == NOTHING_WRITTEN:
            burns = which & (get(bench, WRITTEN, side) == 0)
            change(bench, MEMORY, side, burns, splat(0))
        if rules.memory_reset == ON_RECORD:
            burns = which & ((entered & ~(1 << side)) != 0)
            change(bench, MEMORY, side, burns, splat(0))
    return entered


@inlined
def settle(rules, bench, fish, by):
    """Score rounds' ends; return (masks of entries, which were tied fish)."""
    total = splat(0)
    for side in range(rules.sides):
        held = hand_points(rules, get(bench, HAND, side))
        if rules.teams == PAIRS:
            held += hand_points(rules, get(bench, HAND, side + 2))
        put(bench, HELD, side, held)
        total += held
    side = by & 1 if rules.teams == PAIRS else by
    credit = rules.ledger == CREDIT
    payer = write_exit(credit, rules.sides, bench, total, side)
    tied = fish & ~fish
    if some(fish):
        payer, tied = write_fish(
            rules.fish_scoring, rules.fish_tie, credit, rules.pair_fish_points,
            rules.sides, bench, total, fish, payer,
        )  # fmt: skip
    if some(tied):
        pot = load(bench + POT)
        if rules.fish_tie == CARRY or rules.fish_tie == EGGS_ALL:
            store(bench + POT, select(tied, pot + total, pot))
        elif rules.fish_tie == EGGS_ONE:
            store(bench + POT, select(tied, pot + get(bench, HELD, 0), pot))
        if rules.memory_on_draw == RESET_ON_DRAW:
            for side_ in range(rules.sides):
                change(bench, MEMORY, side_, tied, splat(0))
    return write_books(rules, bench, ~tied, payer, fish), tied


@inlined
def result(rules, bench):
    """Write the masks of goats and of winners, both 0 where the match goes on."""
    reached = splat(0)
    for side in range(rules.sides):
        reached |= select(get(bench, ACCOUNT, side) >= rules.target, 1 << side, 0)
    others = select(reached == 0, 0, reached ^ ((1 << rules.sides) - 1))
    if rules.reach_effect != WINS:
        store(bench + GOATS, reached)
        store(bench + WINNERS, others)
        return
    if rules.dry_rule == RESET_BOTH:
        theirs = select(others == 2, get(bench, ACCOUNT, 1), get(bench, ACCOUNT, 0))
        resets = (reached != 0) & (theirs > 0)
        for side in range(rules.sides):
            change(bench, ACCOUNT, side, resets, splat(0))
            change(bench, MEMORY, side, resets, splat(0))
        all_sides = (1 << rules.sides) - 1 if rules.open_at == 0 else 0
        store(bench + OPENED, select(resets, all_sides, load(bench + OPENED)))
        reached = select(resets, 0, reached)
        others = select(resets, 0, others)
    store(bench + GOATS, others)
    store(bench + WINNERS, reached)
