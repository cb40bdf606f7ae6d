"""Policies as a user would write them, and a registry that forgets them again."""

from collections.abc import Iterator
from contextlib import contextmanager

from kozel_sim.policies import policy, registry


@contextmanager
def own_registry() -> Iterator[None]:
    """Register the policies below; forget behind the block whatever was registered in it."""
    before = dict(registry._registry)
    try:
        policy(last_legal)
        policy(words=True, which=0)(scatter)
        policy(words=True, salt=0)(reads_everything)
        yield
    finally:
        registry._registry.clear()
        registry._registry.update(before)


def last_legal(view):
    """The highest legal tile on the highest arm."""
    move = 0
    for arm in range(4):
        for tile in range(28):
            if view.legal[arm] >> tile & 1:
                move = (tile + 1) << (8 * arm)
    return move


def scatter(view):
    """Any legal move, by one of the decision's own four words."""
    n = 0
    for arm in range(4):
        for tile in range(28):
            n += int(view.legal[arm]) >> tile & 1
    pick = (int(view.words[int(view.params[0])]) >> 5) * n >> 27
    for arm in range(4):
        for tile in range(28):
            if view.legal[arm] >> tile & 1:
                if pick == 0:
                    return (tile + 1) << (8 * arm)
                pick -= 1
    return 0


def reads_everything(view):
    """A move that hangs on every field of the View."""
    mix = 7 * view.hand + 11 * view.table + 13 * view.word + int(view.params[0])
    mix = (mix + 17 * view.seat + 19 * view.side + 23 * view.partner + 29 * view.players) % 1000003
    mix = (31 * mix + 37 * view.spinner + 41 * view.bazaar + 43 * view.reserve) % 1000003
    mix = (mix + 2 * view.several + 3 * view.close + 5 * view.close_two) % 1000003
    mix = (mix + 7 * view.four_way + 11 * view.six_closed) % 1000003
    mix = (47 * mix + 53 * view.round + 59 * view.event + 61 * view.pot) % 1000003
    mix = (67 * mix + 71 * view.target + 73 * view.open_at + 79 * view.credit) % 1000003
    n = 0
    for i in range(4):
        mix = (83 * mix + view.arms[i] + 5 * view.counts[i] + 3 * view.played[i]) % 1000003
        mix = (89 * mix + view.void[i] + 5 * view.last[i] + 3 * view.shown[i]) % 1000003
        mix = (97 * mix + view.tell[i] + 5 * view.accounts[i] + 3 * view.memory[i]) % 1000003
        mix = (101 * mix + view.opened[i] + 5 * view.words[i] + 3 * view.legal[i]) % 1000003
        for tile in range(28):
            n += int(view.legal[i]) >> tile & 1
    pick = mix % n
    for arm in range(4):
        for tile in range(28):
            if view.legal[arm] >> tile & 1:
                if pick == 0:
                    return (tile + 1) << (8 * arm)
                pick -= 1
    return 0


def illegal(view):
    """Lay a tile that nobody holds."""
    return 99
