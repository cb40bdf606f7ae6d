"""What a round leaves behind while it is played: the log, and what the seats have shown."""

from __future__ import annotations

import numpy as np

from kozel_sim._jit import inlined, part
from kozel_sim.engine.bits import lowest, poke, popcount
from kozel_sim.engine.features import has_value


@part
def put(desk, value):
    """Append a word to the log; its size is counted even when it is full."""
    if desk.log_used < desk.log_size:
        poke(desk.log, desk.log_used, value)
    desk.log_used += 1


@inlined
def note(logging, desk, kind, seat, what):
    """Append an event to the log, if one is kept."""
    if logging:
        put(desk, kind)
        put(desk, seat)
        put(desk, what)


@inlined
def clear_round(view, watched, bazaar):
    """Forget the events of the last round."""
    view.table = 0
    view.spinner = 0
    view.bazaar = bazaar
    for arm in range(4):
        view.arms[arm] = -1
        view.legal[arm] = 0
    if not watched:
        return
    for seat in range(4):
        view.played[seat] = 0
        view.void[seat] = 0
        view.last[seat] = 0
        view.shown[seat] = -1
        view.tell[seat] = 0


@inlined
def show_counts(view, hands):
    """Write how many tiles each seat holds."""
    for seat in range(4):
        view.counts[seat] = popcount(hands[seat])


@inlined
def forget_last(view, seat):
    """Break a seat's row of plays, after a pass or a draw."""
    view.last[np.uint64(seat)] = 0
    view.shown[np.uint64(seat)] = -1


@inlined
def remember_draw(view, seat):
    """Forget what a seat lacked: a drawn tile hides it."""
    forget_last(view, seat)
    view.bazaar -= 1
    view.void[np.uint64(seat)] = 0
    view.tell[np.uint64(seat)] = 0


@inlined
def remember_pass(view, seat, values):
    """Note what a pass shows that a seat lacks: a mask over values."""
    forget_last(view, seat)
    view.void[np.uint64(seat)] |= np.uint32(values)


@inlined
def old_arm_of(view, seat):
    """Return the lowest arm of a seat's last move."""
    last = np.int64(view.last[np.uint64(seat)])
    return lowest(last) >> 3 if last else np.int64(0)


@inlined
def remember_play(view, seat, move, arm, tiles, end, old_arm, old_end):
    """Note what a play shows: the tiles, and tip T5's switch to the other end.

    end is what the arm shows now, old_end what the arm of the seat's last move shows.
    """
    seat = np.uint64(seat)
    view.played[seat] |= np.uint32(tiles)
    shown = np.int64(view.shown[seat])
    # Without branches, which could not be predicted; of -1 the three bits are those of NONE.
    switched = (shown >= 0) & (old_arm != arm) & (old_end == shown)
    switched &= tiles & has_value(shown & 7) == 0
    view.tell[seat] |= np.uint32(np.int64(switched) << (shown & 7))
    view.last[seat] = np.uint32(move)
    view.shown[seat] = end
