"""Compiled scoring: the twin of ``kozel_sim.scoring``, on the accounts that the View holds."""

from __future__ import annotations

import numpy as np

from kozel_sim._jit import inlined, part
from kozel_sim.engine.bits import popcount
from kozel_sim.rules import code
from kozel_sim.tiles import PIPS

PIP_BITS = tuple(sum(1 << t for t, pips in enumerate(PIPS) if pips >> k & 1) for k in range(4))

PAIRS = code("teams", "pairs")
ALL_OWN, MAX_TAKES_ALL, _, PAIR_LOWER_WINS, CREDIT_LOWEST, CREDIT_DIFFERENCE = range(6)
CARRY = code("fish_tie", "carry_to_unique_max")
EGGS_ALL = code("fish_tie", "eggs_all_hands")
EGGS_ONE = code("fish_tie", "eggs_one_side")
LOWEST_WRITE_0 = code("fish_tie", "tied_lowest_write_0")
ALL_HANDS = code("pair_fish_points", "all_hands")
DIFFERENCE = code("pair_fish_points", "difference")
CREDIT = code("ledger", "credit")
CUMULATIVE = code("open_test", "cumulative")
FISH_MAX = code("fish_memory", "max")
RESET_ON_DRAW = code("memory_on_draw", "reset")
NOTHING_WRITTEN = code("memory_reset", "nothing_written_this_round")
ON_RECORD = code("memory_reset", "on_opponents_record")
WINS = code("reach_effect", "wins")
RESET_BOTH = code("dry_rule", "reset_both")
NET = code("dry_rule", "net")


@inlined
def hand_points(rules, hand):
    """Return the value of a hand after the rules' tile values."""
    points = np.int64(0)
    for k in range(4):
        points += popcount(hand & PIP_BITS[k]) << k
    if rules.over_a >= 0 and (not rules.over_alone or hand & (hand - 1) == 0):
        if hand >> rules.over_a & 1:
            points += rules.over_a_points - tile_pips(rules.over_a)
        if rules.over_b >= 0 and hand >> rules.over_b & 1:
            points += rules.over_b_points - tile_pips(rules.over_b)
    return points


@inlined
def tile_pips(tile):
    """Return the pips of a tile."""
    pips = np.int64(0)
    for k in range(4):
        pips += (PIP_BITS[k] >> tile & 1) << k
    return pips


@part
def unique_highest(held, sides, but):
    """Return the side other than `but` that alone holds most, or -1."""
    best = np.int64(-1)
    found = -1
    for side in range(sides):
        if side != but:
            if held[side] > best:
                best = held[side]
                found = side
            elif held[side] == best:
                found = -1
    return found


@part
def lowest_hand(held, sides):
    """Return (least holding, the side that alone has it or -1)."""
    best = held[0]
    found = 0
    for side in range(1, sides):
        if held[side] < best:
            best = held[side]
            found = side
        elif held[side] == best:
            found = -1
    return best, found


@part
def fish_worth(scoring, points, total, own):
    """Return what a won fish is worth: the sum of all hands, without the winner's or less it."""
    if scoring == CREDIT_LOWEST:
        return total - own
    if scoring == CREDIT_DIFFERENCE or points == DIFFERENCE:
        return total - 2 * own
    return total if points == ALL_HANDS else total - own


@inlined
def write_fish(rules, held, written):
    """Write a fish by its rule; return (who pays the pot or -1, whether it is a tie)."""
    sides = rules.sides
    total = np.int64(0)
    for side in range(sides):
        total += held[side]
        written[side] = held[side]
    scoring = rules.fish_scoring
    if scoring == ALL_OWN or scoring == MAX_TAKES_ALL:
        payer = unique_highest(held, sides, -1)
        if scoring == MAX_TAKES_ALL:
            for side in range(sides):
                written[side] = total if side == payer else 0
            return payer, payer < 0
        return payer, False
    least, winner = lowest_hand(held, sides)
    if winner < 0:
        if rules.fish_tie != LOWEST_WRITE_0:
            return -1, True
        highest = np.int64(-1)
        payer = -1
        for side in range(sides):
            if held[side] == least:
                written[side] = 0
            elif held[side] > highest:
                highest = held[side]
                payer = side
            elif held[side] == highest:
                payer = -1
        return payer, False
    worth = fish_worth(scoring, rules.pair_fish_points, total, held[winner])
    if rules.ledger == CREDIT:
        for side in range(sides):
            written[side] = worth if side == winner else 0
        return winner, False
    if scoring == PAIR_LOWER_WINS:
        for side in range(sides):
            written[side] = 0 if side == winner else worth
        return 1 - winner, False
    written[winner] = 0
    return unique_highest(held, sides, winner), False


@inlined
def write_exit(rules, held, written, winner):
    """Write a round that somebody left; return who pays (or is paid) the pot, or -1."""
    total = np.int64(0)
    for side in range(rules.sides):
        total += held[side]
        written[side] = held[side]
    if rules.ledger == CREDIT:
        for side in range(rules.sides):
            written[side] = total - held[winner] if side == winner else 0
        return winner
    written[winner] = 0
    return unique_highest(held, rules.sides, winner)


@part
def enter(rules, view, side, amount):
    """Make an official entry; under dry_rule=net it first cancels the opponents' points."""
    if rules.dry_rule == NET:
        cancelled = min(amount, np.int64(view.accounts[1 - side]))
        view.accounts[1 - side] -= cancelled
        amount -= cancelled
    view.accounts[side] += amount


@inlined
def write_books(rules, view, written, payer, fish):
    """Enter the amounts and the pot, then see to the memories; return the mask of entries."""
    entered = np.int64(0)
    pot_helps = rules.eggs_help_open or rules.fish_tie == CARRY
    for side in range(rules.sides):
        x = written[side]
        if side == payer and pot_helps:
            x += view.pot
            view.pot = 0
        opened = view.opened[side] != 0
        memory = np.int64(view.memory[side])
        test = x + memory if rules.open_test == CUMULATIVE else x
        opens = not opened and x > 0 and test >= rules.open_at
        if (opens or opened) and side == payer and not pot_helps:
            x += view.pot
            view.pot = 0
        written[side] = x
        if opens:
            view.opened[side] = 1
            view.memory[side] = 0
            enter(rules, view, side, x + memory)
            entered |= 1 << side
        elif opened:
            if x:
                enter(rules, view, side, x)
                entered |= 1 << side
        elif fish and rules.fish_memory == FISH_MAX:
            view.memory[side] = max(memory, x)
        else:
            view.memory[side] = memory + x
    for side in range(rules.sides):
        if (rules.memory_reset == NOTHING_WRITTEN and written[side] == 0) or (
            rules.memory_reset == ON_RECORD and entered & ~(1 << side)
        ):
            view.memory[side] = 0
    return entered


@inlined
def settle(rules, view, hands, fish, by, held, written):
    """Score a round's end; return (mask of entries, whether it was a tied fish)."""
    for side in range(rules.sides):
        held[side] = 0
    for seat in range(rules.players):
        side = seat & 1 if rules.teams == PAIRS else seat
        held[side] += hand_points(rules, np.int64(hands[seat]))
    if fish:
        payer, tied = write_fish(rules, held, written)
    else:
        side = by & 1 if rules.teams == PAIRS else by
        payer, tied = write_exit(rules, held, written, side), False
    if tied:
        total = np.int64(0)
        for side in range(rules.sides):
            total += held[side]
            written[side] = 0
            if rules.memory_on_draw == RESET_ON_DRAW:
                view.memory[side] = 0
        if rules.fish_tie == CARRY or rules.fish_tie == EGGS_ALL:
            view.pot += total
        elif rules.fish_tie == EGGS_ONE:
            view.pot += held[0]
        return np.int64(0), True
    return write_books(rules, view, written, payer, fish), False


@inlined
def result(rules, view):
    """Return (mask of goats, mask of winners), both 0 while the match goes on."""
    reached = 0
    for side in range(rules.sides):
        if view.accounts[side] >= rules.target:
            reached |= 1 << side
    others = ((1 << rules.sides) - 1) ^ reached
    if reached == 0:
        return 0, 0
    if rules.reach_effect != WINS:
        return reached, others
    if rules.dry_rule == RESET_BOTH and np.int64(view.accounts[others >> 1]) > 0:
        for side in range(rules.sides):
            view.accounts[side] = 0
            view.memory[side] = 0
            view.opened[side] = rules.open_at == 0
        return 0, 0
    return others, reached
