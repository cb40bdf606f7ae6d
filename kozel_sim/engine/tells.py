"""Tells found in the log of matches: the compiled twin of ``kozel_sim.tell.tells``."""

from __future__ import annotations

import numpy as np

from kozel_sim._jit import kernel, part
from kozel_sim.engine.bits import lowest, popcount
from kozel_sim.engine.cross import lay, shown_values
from kozel_sim.engine.features import has_value
from kozel_sim.engine.history import (
    clear_round,
    old_arm_of,
    remember_draw,
    remember_pass,
    remember_play,
)
from kozel_sim.engine.layout import LOG_DRAW, LOG_END, LOG_PLAY
from kozel_sim.engine.worlds import count_worlds
from kozel_sim.tiles import ALL

MOST_LEFT = 7
"""Hands of more tiles are counted with those of so many."""
LOG_END_SIZE = 25
"""Words of a round's end in the log, of ``kozel_sim.engine.match.log_end``."""
TABLE, NEXT = 0, 1
"""Who judges a tell: somebody who sees no hand, or the next seat, which sees its own."""

CELL = np.dtype([("events", "i8"), ("lacked", "i8"), ("chance", "f8", (2,))], align=True)
"""Sums over tells: how many, in how many the value was lacked, the chances of it by observer."""

WATCH = np.dtype(
    [
        ("at", "i8"),
        ("hands", "u4", (4,)),
        ("lacks", "i8", (4,)),
        ("touched", "i8", (4,)),
        ("drew", "i8"),
    ],
    align=True,
)
"""Where the log is read, and by seat: its hand, the mask over the values that it has shown it
lacks, and whether the end of its last play was played on since. drew: draws in this turn."""


@part
def show_lacked(view, watch, seat):
    """Note the ends' values as lacked, at a pass and at each draw of a turn.

    A first drawn tile that fits is laid at once, and hides nothing; any other may carry what was
    lacked before.
    """
    values, _ = shown_values(view)
    watch.lacks[seat] = values | (0 if watch.drew else watch.lacks[seat])


@part
def tiles_lacking(values):
    """Return the mask of all tiles that carry one of some values."""
    mask = np.int64(0)
    while values:
        mask |= has_value(lowest(values))
        values &= values - 1
    return mask


@part
def add_place(worlds, capacity, lacks):
    """Add a place to the worlds."""
    place = worlds.places
    worlds.capacity[place] = capacity
    worlds.forbidden[place] = np.uint32(tiles_lacking(lacks))
    worlds.places = place + 1


@part
def chance_lacks(players, view, watch, worlds, seat, value, knower):
    """Return the chance that a seat lacks a value, to an observer who sees one hand (-1: none).

    Places of which nothing is known are counted as one: it divides both counts alike.
    """
    seen = np.int64(view.table)
    worlds.places = 0
    add_place(worlds, popcount(watch.hands[seat]), watch.lacks[seat])
    others = np.int64(view.bazaar)
    for other in range(players):
        if other == knower:
            seen |= np.int64(watch.hands[other])
        elif other != seat:
            if watch.lacks[other]:
                add_place(worlds, popcount(watch.hands[other]), watch.lacks[other])
            else:
                others += popcount(watch.hands[other])
    if others:
        add_place(worlds, others, 0)
    worlds.hidden = np.uint32(ALL & ~seen)
    all_worlds = count_worlds(worlds)
    worlds.forbidden[0] |= np.uint32(has_value(value))
    return count_worlds(worlds) / all_worlds


@part
def see_play(rules, view, watch, seat, move):
    """Lay a move; return whether the end that the seat left was touched, or -1 without a tell."""
    old_arm = old_arm_of(view, seat)
    tiles = lay(rules, view, move)
    view.table |= np.uint32(tiles)
    watch.hands[seat] &= np.uint32(~tiles)
    for other in range(rules.players):
        if view.last[other] and move >> 8 * old_arm_of(view, other) & 0xFF:
            watch.touched[other] = 1
    touched = watch.touched[seat]
    watch.touched[seat] = 0
    arm = lowest(move) >> 3
    view.tell[seat] = 0
    remember_play(
        view, seat, move, arm, tiles, np.int64(view.arms[arm]), old_arm, view.arms[old_arm]
    )
    return touched if view.tell[seat] else -1


@part
def enter(players, view, watch, worlds, seat, touched, cells, first):
    """Add a tell to its cell."""
    left = popcount(watch.hands[seat])
    value = lowest(view.tell[seat])
    cell = cells[np.uint64(first + touched * MOST_LEFT + min(left, MOST_LEFT) - 1)]
    cell.events += 1
    cell.lacked += np.int64(watch.hands[seat]) & has_value(value) == 0
    cell.chance[TABLE] += chance_lacks(players, view, watch, worlds, seat, value, -1)
    follower = seat + 1 if seat + 1 < players else 0
    cell.chance[NEXT] += chance_lacks(players, view, watch, worlds, seat, value, follower)


@part
def watch_round(rules, view, watch, worlds, log, match, cells, first):
    """Read one round of the log; cells of a match begin at `first`, of its policies in turn."""
    at = watch.at
    for seat in range(4):
        watch.hands[seat] = np.uint32(log[at + 4 + seat])
        watch.lacks[seat] = 0
        watch.touched[seat] = 0
    watch.drew = 0
    bazaar = log[at + 8]
    at += 9 + bazaar
    clear_round(view, True, bazaar)
    while log[at] != LOG_END:
        kind, seat, what = log[at], log[at + 1], log[at + 2]
        at += 3
        if kind == LOG_PLAY:
            touched = see_play(rules, view, watch, seat, what)
            watch.drew = 0
            if touched >= 0 and log[at] != LOG_END:
                mine = first + match.players[seat] * 2 * MOST_LEFT
                enter(rules.players, view, watch, worlds, seat, touched, cells, mine)
        else:
            show_lacked(view, watch, seat)
            if kind == LOG_DRAW:
                watch.drew += 1
                watch.hands[seat] |= np.uint32(1 << what)
                remember_draw(view, seat)
            else:
                watch.drew = 0
                remember_pass(view, seat, 0)
    watch.at = at + LOG_END_SIZE


@kernel
def watch_matches(rules, matches, log, first_deal, n_policies, views, watches, worlds, cells):
    """Add the tells of matches, as logged, to the cells [deal, policy, touched, left], flat."""
    watch = watches[0]
    watch.at = 0
    for i in range(matches.size):
        match = matches[i]
        deal = np.int64(match.deal) - first_deal
        for _ in range(match.rounds):
            first = deal * n_policies * 2 * MOST_LEFT
            watch_round(rules, views[0], watch, worlds[0], log, match, cells, first)
