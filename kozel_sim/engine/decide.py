"""Compiled decisions: list the legal moves, ask a ladder or a user's function."""

from __future__ import annotations

import numpy as np

from kozel_sim._jit import inlined, part
from kozel_sim.engine.bits import call_address, lowest
from kozel_sim.engine.features import MATCH, holds, longest_suit, score
from kozel_sim.engine.luck import below, run_word, write_own
from kozel_sim.view import N_PARAMS

WORST = np.int64(-(2**62))


@inlined
def list_moves(view, n_arms, moves):
    """Write the codes of the legal moves, by (arm, tile); return how many."""
    n = 0
    for arm in range(n_arms):
        legal = view.legal[np.uint64(arm)]
        while legal:
            moves[np.uint64(n)] = (lowest(legal) + 1) << (8 * arm)
            legal &= legal - np.uint32(1)
            n += 1
    return n


@inlined
def keep(moves, kept, best, move, value):
    """Keep a move if none was better, without branches; return (how many are kept, the best)."""
    kept = 0 if value > best else kept
    moves[np.uint64(kept)] = move
    kept += value >= best
    return kept, max(best, value)


@inlined
def longest_if_used(view, row):
    """Return the value that most tiles in hand carry, where a stage asks for it."""
    # The hand is read again, or LLVM would compute this before every decision.
    return longest_suit(np.int64(view.hand))[1] if row[1] >> MATCH & 1 else np.int64(0)


@part
def narrow_further(view, n_arms, player, first, end, moves, n):
    """Keep the moves that survive the later stages of a ladder; return how many."""
    hand = np.int64(view.hand)
    table = np.int64(view.table)
    for stage in range(first, end):
        row = player.stages[stage]
        if n > 1 and holds(row[0], view):
            suit = longest_if_used(view, row)
            best = WORST
            kept = 0
            for i in range(n):
                move = moves[np.uint64(i)]
                value = score(view, n_arms, hand, table, suit, move, row)
                kept, best = keep(moves, kept, best, move, value)
            n = kept
    return n


@inlined
def narrow(view, n_arms, player, component, moves):
    """List the legal moves that survive the stages of a ladder; return how many."""
    first = player.first_stage[component]
    end = player.end_stage[component]
    row = player.stages[first]
    if first == end or not holds(row[0], view):
        n = list_moves(view, n_arms, moves)
    else:
        hand = np.int64(view.hand)
        table = np.int64(view.table)
        suit = longest_if_used(view, row)
        best = WORST
        n = 0
        for arm in range(n_arms):
            legal = view.legal[np.uint64(arm)]
            while legal:
                move = (lowest(legal) + 1) << (8 * arm)
                legal &= legal - np.uint32(1)
                value = score(view, n_arms, hand, table, suit, move, row)
                n, best = keep(moves, n, best, move, value)
    if first + 1 < end:
        n = narrow_further(view, n_arms, player, first + 1, end, moves, n)
    return n


@inlined
def pick_component(view, player, desk):
    """Return which part of a mixture decides; the decision's own words are written if it mixes."""
    component = 0
    if player.n_parts > 1:
        write_own(desk.own, desk.key, view.round, view.event)
        while np.uint64(desk.own[0]) >= player.threshold[component]:
            component += 1
    return component


@inlined
def ask_function(view, player, component, desk):
    """Return the move of a user's function."""
    for i in range(N_PARAMS):
        view.params[i] = player.params[component, i]
    if player.asks_words[component]:
        if player.n_parts == 1:
            write_own(desk.own, desk.key, view.round, view.event)
        for i in range(4):
            view.words[i] = run_word(desk.own, 4 + i)
    return np.int64(call_address(player.address[component], view))


@part
def complain(desk, move, n):
    """Note a move that is none of the n legal ones on the desk; return -1."""
    desk.fault_move = move
    desk.n_moves = n
    return np.int64(-1)


@inlined
def choose(view, player, desk):
    """Return the move of a player who has several single tiles on two arms; -1 if illegal."""
    component = pick_component(view, player, desk)
    if player.address[component]:
        move = ask_function(view, player, component, desk)
        arm = np.int64(move > 0xFF)
        byte = move >> 8 * arm
        # Seen in the mask: to list all moves first would take longer than most functions do.
        if move == byte << 8 * arm and byte < 32 and view.legal[arm] << 1 >> byte & 1:
            return move
        return complain(desk, move, list_moves(view, 2, desk.moves))
    n = narrow(view, 2, player, component, desk.moves)
    return desk.moves[np.uint64(below(view.word, n))]


@part
def choose_listed(view, player, desk, n):
    """Return the move of a player whose n moves are on the desk; -1 if illegal."""
    component = pick_component(view, player, desk)
    if player.address[component]:
        move = ask_function(view, player, component, desk)
        for i in range(n):
            if desk.moves[i] == move:
                return move
        return complain(desk, move, n)
    first = player.first_stage[component]
    n = narrow_further(view, 4, player, first, player.end_stage[component], desk.moves, n)
    return desk.moves[np.uint64(below(view.word, n))]
