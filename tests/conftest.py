"""What several test files share: hands of a given worth, simple policies, compiled luck."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from kernels import kernel

from kozel_sim.decision import Function, Ladder, Policy, Stage
from kozel_sim.engine.bits import lowest, nth_tile, popcount
from kozel_sim.engine.layout import DESK, aligned
from kozel_sim.engine.lockstep import layout as rows
from kozel_sim.engine.lockstep.luck import deal_sixteen
from kozel_sim.engine.lockstep.vector import LANES, VECTOR_BYTES, first_lanes, load, store_word
from kozel_sim.engine.lockstep.vector import load_word as load_row
from kozel_sim.engine.luck import (
    below,
    deal,
    run_word,
    write_bazaar,
    write_choices,
    write_own,
)
from kozel_sim.presets import PRESETS
from kozel_sim.rules import RuleSet
from kozel_sim.scoring import Settled, settle
from kozel_sim.tiles import NAMES

PRESET_TABLES = [(name, players) for name, p in PRESETS.items() for players in p.players]
"""Every preset with every number of players it is played by."""


# ---------------------------------------------------------------------- hands


def hands_worth(*points: int | str) -> list[list[str]]:
    """Hands of different tiles with these pips; 0 is an empty hand, a text names the tiles.

    Otherwise 0-0 and 6-6 are not used, so no preset's tile values matter.
    """
    hands = [worth.split() if isinstance(worth, str) else [] for worth in points]
    used = {"0-0", "6-6"}.union(*hands)
    left = [name for name in NAMES if name not in used]
    numbers = [seat for seat, worth in enumerate(points) if worth and isinstance(worth, int)]
    # The smallest first, as there are fewest ways to make them.
    for seat in sorted(numbers, key=lambda seat: points[seat]):
        worth = points[seat]
        sets = (s for n in range(1, 9) for s in combinations(left, n))
        hands[seat] = list(next(s for s in sets if sum(map(pips, s)) == worth))
        left = [name for name in left if name not in hands[seat]]
    return hands


def pips(tile: str) -> int:
    """The pips of a tile, from its name."""
    return int(tile[0]) + int(tile[2])


# ---------------------------------------------------------------------- scores


def settled(
    rules: RuleSet,
    end: str,
    points: Sequence[int | str],
    accounts: Sequence[int] | None = None,
    memory: Sequence[int] | None = None,
    opened: Sequence[bool] | None = None,
    pot: int = 0,
) -> Settled:
    """Settle a round in which the seats are left with hands of these pips (see hands_worth).

    The seat with an empty hand went out; before the round an account with points was open.
    """
    accounts = accounts or [0] * rules.sides
    return settle(
        rules,
        hands_worth(*points),
        end,
        by=points.index(0) if end == "out" else 0,
        accounts=accounts,
        memory=memory or [0] * rules.sides,
        opened=[a > 0 for a in accounts] if opened is None else opened,
        pot=pot,
    )


def settled_after(rules: RuleSet, before: Settled, end: str, points: Sequence[int]) -> Settled:
    """Settle the next round."""
    b = before
    return settled(rules, end, points, b.accounts, b.memory, b.opened, b.pot)


# ---------------------------------------------------------------------- policies


def alone(name: str, part: Ladder | Function) -> Policy:
    """A policy of one part."""
    return Policy(name, ((Fraction(1), part),))


def ladder(name: str, *stages: tuple[str, dict[str, int]]) -> Policy:
    return alone(name, Ladder(tuple(Stage(trigger, weights) for trigger, weights in stages)))


RANDOM = alone("random", Ladder())
BLOCKER = ladder("blocker", ("always", {"block": 1000}), ("always", {"lock": -1000}))
"""Fishes often."""


# ---------------------------------------------------------------------- compiled luck


@kernel
def write_luck(rules, desks, seed, deals, rounds, attempts, hands, order, choices, own):
    """Write what the compiled engine makes of (seed, deal, round, attempt), a row for each.

    hands: four masks and the bazaar's; order: the bazaar as drawn, -1 behind it; choices: the
    words of events 0, 1, ...; own: the mixture's word and a policy's four in event `attempt`.
    """
    desk = desks[0]
    desk.key[0] = np.uint32(seed & np.uint64(0xFFFFFFFF))
    desk.key[1] = np.uint32(seed >> np.uint64(32))
    for i in range(deals.size):
        desk.key[2] = np.uint32(deals[i] & np.uint64(0xFFFFFFFF))
        desk.key[3] = np.uint32(deals[i] >> np.uint64(32))
        bazaar = deal(rules, desk, rounds[i], attempts[i])
        for seat in range(rules.players):
            hands[i, seat] = desk.hands[seat]
        hands[i, 4] = bazaar
        if order.shape[1]:
            size = popcount(bazaar)
            write_bazaar(desk.bazaar, desk.key, rounds[i], attempts[i])
            for j in range(size):
                bit = nth_tile(bazaar, below(run_word(desk.bazaar, j), size - j))
                bazaar ^= bit
                order[i, j] = lowest(bit)
        for event in range(choices.shape[1]):
            if event & 31 == 0:
                write_choices(desk.choice, desk.key, rounds[i], event)
            choices[i, event] = run_word(desk.choice, event & 31)
        if own.shape[1]:
            write_own(desk.own, desk.key, rounds[i], attempts[i])
            own[i, 0] = desk.own[0]
            for j in range(4):
                own[i, 1 + j] = run_word(desk.own, 4 + j)


class CompiledLuck:
    """The compiled engine's luck as arrays."""

    def __init__(self, rules, seed, deals, rounds=0, attempts=0, *, all_words=False):
        n = len(deals)
        deals = np.asarray(deals, np.uint64)
        rounds = np.broadcast_to(np.asarray(rounds, np.int64), n).copy()
        attempts = np.broadcast_to(np.asarray(attempts, np.int64), n).copy()
        self.hands = np.zeros((n, 5), np.uint32)
        self.order = np.full((n, 28 * all_words), -1, np.int64)
        self.choices = np.zeros((n, 100 * all_words), np.uint32)
        self.own = np.zeros((n, 5 * all_words), np.uint32)
        write_luck(
            rules.encode(),
            np.zeros(1, DESK),
            np.uint64(seed),
            deals,
            rounds,
            attempts,
            self.hands,
            self.order,
            self.choices,
            self.own,
        )


@pytest.fixture(scope="session")
def compiled_luck():
    """``compiled_luck(rules, seed, deals, ...)``: the engine's deals, and all words if asked."""
    return CompiledLuck


HAND, BAZAAR, DEAL_LOW, DEAL_HIGH = rows.HAND, rows.BAZAAR, rows.DEAL_LOW, rows.DEAL_HIGH


@kernel
def write_vector_luck(rules, k0, k1, deals, lanes, places, hands):
    """Write what the vector engine deals in round 0, sixteen deals at a time; as ``write_luck``."""
    for i in range(0, deals.size, LANES):
        for lane in range(LANES):
            deal = deals[i + lane]
            store_word(lanes + DEAL_LOW + 4 * lane, np.int64(deal & np.uint64(0xFFFFFFFF)))
            store_word(lanes + DEAL_HIGH + 4 * lane, np.int64(deal >> np.uint64(32)))
        deal_sixteen(rules, False, np.int64(0), k0, k1, lanes, load(places), first_lanes(LANES))
        for lane in range(LANES):
            for seat in range(rules.players):
                word = load_row(lanes + HAND + VECTOR_BYTES * seat + 4 * lane)
                hands[i + lane, seat] = np.uint32(word)
            hands[i + lane, 4] = np.uint32(load_row(lanes + BAZAAR + 4 * lane))


def vector_hands(rules: RuleSet, seed: int, n: int) -> np.ndarray:
    """Hands ``[deal, seat]`` of deals 0, 1, ... as the vector engine deals them, and the bazaar."""
    lanes, places = aligned(rows.BLOCK_WORDS, np.uint32), aligned(LANES, np.uint32)
    places[:] = np.arange(LANES)
    hands = np.zeros((n, 5), np.uint32)
    write_vector_luck(
        rules.encode(),
        np.int64(seed & 0xFFFFFFFF),
        np.int64(seed >> 32),
        np.arange(n, dtype=np.uint64),
        lanes.ctypes.data,
        places.ctypes.data,
        hands,
    )
    return hands
