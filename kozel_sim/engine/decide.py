"""Compiled decisions: list the legal moves, ask a ladder or a user's function."""

from __future__ import annotations

import numpy as np

from kozel_sim._jit import inlined, part
from kozel_sim.engine.bits import call_anywhere, call_on_line, copy_line, lowest, trailing_zeros
from kozel_sim.engine.features import after_move, after_tile, holds, score, survey
from kozel_sim.engine.layout import TRIGGER
from kozel_sim.engine.luck import below, run_word, write_own
from kozel_sim.engine.stages import ALWAYS

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
def narrow_stage(view, s, row, moves):
    """List the legal moves on two arms with the highest score of one stage; return how many."""
    best = WORST
    n = 0
    legal = np.uint64(view.legal[0]) | np.uint64(view.legal[1]) << np.uint64(32)
    while legal:
        place = trailing_zeros(legal)
        tile, arm = place & 31, place >> 5
        legal &= legal - np.uint64(1)
        value = score(view, s, after_tile(view, s, row, tile, arm), row, False)
        n, best = keep(moves, n, best, tile + 1 << 8 * arm, value)
    return n


@part
def narrow_line(view, player, component, s, first, moves, n):
    """Keep the moves on two arms that survive a ladder's stages from the first on."""
    for stage in range(first, player.end_stage[component]):
        row = player.stages[stage]
        if n > 1 and holds(row[TRIGGER], view, s):
            best = WORST
            kept = 0
            for i in range(n):
                move = moves[np.uint64(i)]
                arm = np.int64(move > 0xFF)
                a = after_tile(view, s, row, (move >> 8 * arm) - 1, arm)
                kept, best = keep(moves, kept, best, move, score(view, s, a, row, False))
            n = kept
    return n


@part
def narrow_cross(view, player, component, s, moves, n):
    """Keep the moves on up to four arms that survive a ladder's stages."""
    for stage in range(player.first_stage[component], player.end_stage[component]):
        row = player.stages[stage]
        if n > 1 and holds(row[TRIGGER], view, s):
            best = WORST
            kept = 0
            for i in range(n):
                move = moves[np.uint64(i)]
                a = after_move(view, s, row, move)
                kept, best = keep(moves, kept, best, move, score(view, s, a, row, True))
            n = kept
    return n


@inlined
def narrow(view, player, component, moves):
    """List the legal moves on two arms that survive the stages of a ladder; return how many."""
    first = player.first_stage[component]
    row = player.stages[first]
    s = survey(view, player.needs[component])
    if first == player.end_stage[component] or row[TRIGGER] != ALWAYS:
        n = list_moves(view, 2, moves)
        return narrow_line(view, player, component, s, first, moves, n)
    n = narrow_stage(view, s, row, moves)
    if first + 1 < player.end_stage[component]:
        n = narrow_line(view, player, component, s, first + 1, moves, n)
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
def ask_function(view, player, component, desk, on_line):
    """Return the move of a user's function; undone is what it writes and nobody writes anew."""
    copy_line(view.params, player.params, component)
    if player.asks_words[component]:
        if player.n_parts == 1:
            write_own(desk.own, desk.key, view.round, view.event)
        for i in range(4):
            view.words[i] = run_word(desk.own, 4 + i)
    else:
        for i in range(4):
            view.words[i] = 0
    address = player.address[component]
    return np.int64(call_on_line(address, view) if on_line else call_anywhere(address, view))


@part
def complain(desk, move, n):
    """Note a move that is none of the n legal ones on the desk; return -1."""
    desk.fault_move = move
    desk.n_moves = n
    return np.int64(-1)


@inlined
def choose(view, player, desk, on_line):
    """Return the move of a player who has several single tiles on two arms; -1 if illegal."""
    component = pick_component(view, player, desk)
    if player.address[component]:
        left, right = view.legal[0], view.legal[1]
        move = ask_function(view, player, component, desk, on_line)
        arm = np.int64(move > 0xFF)
        byte = move >> 8 * arm
        # Seen in the mask: to list all moves first would take longer than most functions do.
        legal = np.int64(right if arm else left)
        if move == byte << 8 * arm and byte < 32 and legal << 1 >> byte & 1:
            return move
        view.legal[0], view.legal[1] = left, right
        return complain(desk, move, list_moves(view, 2, desk.moves))
    n = narrow(view, player, component, desk.moves)
    return desk.moves[np.uint64(below(view.word, n))]


@part
def choose_listed(view, player, desk, n):
    """Return the move of a player whose n moves are on the desk; -1 if illegal."""
    component = pick_component(view, player, desk)
    if player.address[component]:
        move = ask_function(view, player, component, desk, False)
        for i in range(n):
            if desk.moves[i] == move:
                return move
        return complain(desk, move, n)
    s = survey(view, player.needs[component])
    n = narrow_cross(view, player, component, s, desk.moves, n)
    return desk.moves[np.uint64(below(view.word, n))]
