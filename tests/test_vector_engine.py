"""The vector engine plays what the scalar engine plays: equal outcomes, match for match."""

import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from conftest import BLOCKER, PRESET_TABLES, RANDOM, alone, ladder
from kernels import kernel
from numba import types
from numba.extending import intrinsic

from kozel_sim import simulate
from kozel_sim.decision import Function, Ladder, Policy
from kozel_sim.engine.lockstep.play import build_fault, lockstep_pays
from kozel_sim.engine.lockstep.vector import (
    bits,
    divide,
    first_lanes,
    gather,
    how_many,
    index_of,
    load,
    look_up,
    pack,
    pick_from,
    scatter,
    select,
    some,
    splat,
    store,
    threefry,
)
from kozel_sim.engine.play import Table, lockstep_builds, new_matches
from kozel_sim.features import FEATURES, TRIGGERS
from kozel_sim.parts import player_of, work_through
from kozel_sim.playing import play
from kozel_sim.policies import FIELD, get_policy
from kozel_sim.rng import threefry4x32
from kozel_sim.rules import RuleSet
from kozel_sim.tell import measure_tell

TABLES = [t for t in PRESET_TABLES if RuleSet.preset(*t).multi_double == "none"]
"""Presets that both engines play."""
OTHERS = [t for t in PRESET_TABLES if t not in TABLES]
WEIGHTS = ladder(
    "weights", ("always", {"pips": 1000, "double": 3000, "range": 2000, "block": 500, "lock": 1500})
)
HISTORY = ladder("history", ("always", {name: 700 + 13 * i for i, name in enumerate(FEATURES)}))
HATES = ladder("hates", ("always", {name: -700 + 13 * i for i, name in enumerate(FEATURES)}))
TIPS = [get_policy(name) for name in (*FIELD, "tell_reader", "pair_allround", "few_answers")]
EACH_FEATURE = [ladder(name, ("always", {name: 1000})) for name in FEATURES]
EACH_TRIGGER = [
    ladder(f"{name} {i}", (name, {"pips": 1000 * i}), ("always", {"lock": -1000}))
    for name in TRIGGERS
    for i in (1, -1)
]


def random_ladder(chance: np.random.Generator, name: str) -> Policy:
    """Up to three stages of any triggers and any weights."""
    stages = []
    for _ in range(chance.integers(0, 4)):
        trigger = str(chance.choice(list(TRIGGERS)))
        used = chance.choice(list(FEATURES), size=chance.integers(1, 8), replace=False)
        stages.append((trigger, {str(f): int(chance.integers(-3000, 3001)) for f in used}))
    return ladder(name, *stages)


MIXTURES = [
    get_policy("mix:0.7*seven_tips+0.3*random"),
    get_policy("mix:0.2*random+0.5*tell_reader+0.3*dump_heavy"),
    Policy(
        "rare",
        ((Fraction(1, 2**40), Ladder()), (Fraction(2**40 - 1, 2**40), BLOCKER.parts[0][1])),
    ),
]
LADDERS = [random_ladder(np.random.default_rng(i), f"ladder {i}") for i in range(24)]
EVERYBODY = [
    RANDOM,
    BLOCKER,
    WEIGHTS,
    HISTORY,
    HATES,
    *TIPS,
    *EACH_FEATURE,
    *EACH_TRIGGER,
    *LADDERS,
    *MIXTURES,
]


def played(rules: RuleSet, policies: list[Policy], n: int, engine: str, seed: int = 5, first=0):
    """Outcomes of matches in which the policies sit in ever other orders."""
    seats = np.arange(n)[:, None] * np.array([1, 3, 7, 11]) + np.arange(4)
    seats = seats[:, : rules.players] % len(policies)
    # Deals on both sides of 2**32.
    deals = np.arange(first, first + n, dtype=np.uint64) << np.uint64(24)
    matches = new_matches(deals + np.arange(n, dtype=np.uint64), seats)
    Table(rules, policies, engine).play(matches, seed << 33 | seed)
    return matches


def assert_equal_outcomes(rules: RuleSet, policies: list[Policy], n: int, **more) -> None:
    fast = played(rules, policies, n, "vector", **more)
    slow = played(rules, policies, n, "scalar", **more)
    different = np.flatnonzero(fast != slow)
    assert different.size == 0, (rules.name, fast[different[0]], slow[different[0]])
    assert (fast["rounds"] > 0).all()


def capped(preset: str, players: int) -> RuleSet:
    """The rules, capped: some credit ledgers take thousands of rounds."""
    return RuleSet.preset(preset, players).replace(max_rounds=300)


# ---------------------------------------------------------------------- equal outcomes


@pytest.mark.parametrize(("preset", "players"), TABLES)
def test_outcomes_are_equal_in_mixed_company(preset, players):
    assert_equal_outcomes(capped(preset, players), EVERYBODY, 1000)


@pytest.mark.parametrize(("preset", "players"), TABLES)
@pytest.mark.parametrize("policy", [RANDOM, HISTORY, MIXTURES[0]], ids=str)
def test_outcomes_are_equal_among_the_same(preset, players, policy):
    assert_equal_outcomes(capped(preset, players), [policy], 500)


@pytest.mark.slow
@pytest.mark.parametrize(("preset", "players"), TABLES)
@pytest.mark.parametrize(
    "policies",
    [[RANDOM], [WEIGHTS], [HISTORY], [HATES, BLOCKER], EVERYBODY],
    ids=["random", "weights", "history", "blockers", "everybody"],
)
def test_many_outcomes_are_equal(preset, players, policies):
    assert_equal_outcomes(capped(preset, players), policies, 20_000, seed=9)


@pytest.mark.parametrize(
    ("preset", "players", "knobs"),
    [
        ("room-fish-one", 3, {"redeal": "none", "lead_order": "highest_double"}),
        ("room-fish-one", 2, {"lead_forced": False, "lead_no_double": "min_total"}),
        ("room-fish-one", 3, {"bazaar_draw": "none", "hand_size": 5}),
        ("room-fish-one", 4, {"bazaar_draw": "none", "hand_size": 5}),
        ("room-fish-one", 2, {"bazaar_draw": "none", "hand_size": 5}),
        ("room-fish-one", 3, {"bazaar_reserve": 2, "dead_value_stop": False}),
        ("room-fish-one", 2, {"fish_def": "no_legal_move", "dead_value_stop": False}),
        ("room-fish-one", 4, {"memory_on_draw": "reset", "memory_reset": "never"}),
        ("room-fish-one", 3, {"open_test": "cumulative", "target": 202}),
        ("room-fish-one", 4, {"max_rounds": 3}),
        ("room-fish-all", 3, {"tile_over": "6-6:50 0-0:25", "reach_effect": "wins"}),
        ("logic-games-goat", 3, {"eggs_help_open": False, "open_at": 25, "target": 202}),
        ("logic-games-goat", 2, {"lead_repeat": "after_every_unrecorded_round"}),
        ("dominoes3d-duel", 2, {"fish_memory": "max", "pair_fish_points": "all_hands"}),
        ("dominoes3d-duel", 2, {"fish_tie": "eggs_all_hands", "eggs_help_open": True}),
        ("household-300", 2, {"dry_rule": "reset_both", "open_at": 13, "max_rounds": 60}),
        ("household-300", 2, {"dry_rule": "net", "target": 101, "max_rounds": 60}),
        ("household-300", 3, {"hand_size": 7}),
        ("pair-traditional", 4, {"dry_rule": "net", "open_at": 0, "max_rounds": 60}),
        ("pair-traditional", 4, {"dry_rule": "reset_both", "target": 202, "max_rounds": 200}),
        ("dominoes3d-pair", 4, {"fish_memory": "max", "open_at": 25}),
        ("room-fish-one", 2, {"lead_blank": False, "lead_forced": False, "lead_next": "next_seat"}),
        ("room-fish-all", 3, {"lead_blank": False, "lead_next": "winner", "target": 202}),
        ("room-fish-all", 4, {"lead_blank": False, "lead_next": "loser", "target": 202}),
        ("pair-traditional", 4, {"lead_next": "winner", "pair_fish_points": "difference"}),
        ("dominoes3d-pair", 4, {"lead_next": "loser", "lead_repeat": "first_round_only"}),
        ("dominoes3d-pair", 4, {"lead_next": "next_seat", "pair_fish_points": "difference"}),
        ("household-300", 3, {"fish_scoring": "credit_difference", "lead_next": "loser"}),
        ("household-300", 4, {"fish_scoring": "credit_lowest", "pair_fish_points": "difference"}),
    ],
)
def test_outcomes_are_equal_with_other_knobs(preset, players, knobs):
    rules = RuleSet.preset(preset, players).replace(**knobs)
    assert_equal_outcomes(rules, EVERYBODY, 600)


@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize("n", [1, 15, 16, 17, 1000])
def test_outcomes_are_equal_in_batches_of_any_size(players, n):
    assert_equal_outcomes(RuleSet.preset("room-fish-all", players), EVERYBODY, n, first=n)


@pytest.mark.parametrize(("workers", "chunk"), [(1, 333), (2, 100), (3, 1000)])
def test_workers_and_chunks_change_nothing(workers, chunk):
    rules = RuleSet.preset("room-fish-one", 4)
    seats = np.tile(np.arange(4), (1000, 1))
    whole, parts = (new_matches(np.arange(1000, dtype=np.uint64), seats) for _ in range(2))
    player_of(rules, TIPS[:4], "scalar")(whole, 3)
    play = player_of(rules, TIPS[:4], "vector")
    pieces = [parts[first : first + chunk] for first in range(0, len(parts), chunk)]
    work_through(pieces, lambda piece: play(piece, 3), workers)
    assert (whole == parts).all()


TIES = [
    ladder("indifferent", ("always", {"own_distance": 1000})),
    ladder("doubles", ("always", {"double": 1000})),
    ladder("ends", ("always", {"match": 1000}), ("long_suit", {"lock": 1000})),
]
"""Ladders to which many moves are equal."""


def test_ties_are_broken_as_random_moves_are_drawn():
    """A ladder to which all moves are equal plays as the random policy does."""
    rules = RuleSet.preset("room-fish-all", 3)
    fast = played(rules, [TIES[0]], 300, "vector")
    assert (fast == played(rules, [RANDOM], 300, "scalar")).all()


@pytest.mark.parametrize("players", [2, 3, 4])
def test_ties_are_broken_alike(players):
    """That they are broken uniformly is tested in tests/test_luck_statistics.py."""
    assert_equal_outcomes(RuleSet.preset("room-fish-all", players), TIES, 3000)


# ---------------------------------------------------------------------- who plays


def first_tile(view):
    """The first legal tile on arm 0, else on arm 1."""
    for arm in range(2):
        for tile in range(28):
            if view.legal[arm] >> tile & 1:
                return (tile + 1) << 8 * arm
    return 0


FUNCTION = alone("first tile", Function(first_tile))
MIXTURE = Policy("mixture", ((Fraction(1, 2), Ladder()), (Fraction(1, 2), Function(first_tile))))
HUGE = ladder("huge", ("always", {"last_of_suit": 2**29 - 1}))


def test_engines_share_the_matches_of_a_table():
    """Who is carried plays in the vector engine, though others sit at other tables."""
    rules = RuleSet.preset("room-fish-all", 3)
    policies = [RANDOM, FUNCTION, WEIGHTS, MIXTURE, HISTORY, HUGE]
    auto = played(rules, policies, 300, "auto")
    assert (auto == played(rules, policies, 300, "scalar")).all()


@pytest.mark.parametrize(
    ("preset", "policy", "reason"),
    [
        ("room-fish-all", FUNCTION, "policy first tile is a function, or mixes one in"),
        ("room-fish-all", MIXTURE, "policy mixture is a function, or mixes one in"),
        ("room-fish-all", HUGE, "policy huge has scores that may pass 32 bits"),
        ("sea-goat", RANDOM, "sea-goat has moves of several tiles or four arms"),
        ("livegames-donkey", RANDOM, "livegames-donkey has moves of several tiles or four arms"),
    ],
)
def test_forced_vector_engine_says_why_it_cannot(preset, policy, reason):
    with pytest.raises(NotImplementedError, match=f"^engine 'vector' cannot play this: {reason}$"):
        simulate(preset, [policy] * 4, 10, seed=1, engine="vector")


def test_forced_vector_engine_refuses_a_large_bazaar():
    rules = RuleSet.preset("room-fish-all", 2).replace(hand_size=5)
    with pytest.raises(NotImplementedError, match="a bazaar of 18 tiles is over 16"):
        simulate(rules, "random,random", 10, seed=1, engine="vector")
    auto = simulate(rules, "random,random", 10, seed=1).frame
    assert auto.equals(simulate(rules, "random,random", 10, seed=1, engine="scalar").frame)


@pytest.mark.parametrize(("preset", "players"), OTHERS)
def test_default_engine_plays_what_the_vector_engine_cannot(preset, players):
    rules = capped(preset, players).replace(max_rounds=20)
    frames = [
        simulate(rules, ["random"] * players, 20, seed=2, engine=engine).frame
        for engine in ("auto", "scalar")
    ]
    assert frames[0].equals(frames[1])


def test_frames_are_equal():
    frames = [
        simulate("dominoes3d-pair", FIELD[:4], 500, seed=4, engine=engine).frame
        for engine in ("auto", "vector", "scalar")
    ]
    assert frames[0].equals(frames[1])
    assert frames[0].equals(frames[2])


def test_records_are_not_for_the_vector_engine():
    message = "engine 'vector' keeps no record of the events; choose from auto, scalar, reference"
    with pytest.raises(ValueError, match=message):
        play("room-fish-all", ["random"] * 4, seed=1, deal=0, engine="vector")
    with pytest.raises(ValueError, match=message):
        measure_tell("room-fish-all", FIELD[:4], 2, seed=1, engine="vector")


# ---------------------------------------------------------------------- the vector type

SQUARES = tuple(i * i + 1 for i in range(27))
OCTAL = tuple(8**i for i in range(8))
squares = look_up(SQUARES)
octal = look_up(OCTAL)
ROWS = 24


@kernel
def use_all(numbers, found, listed):
    """Write what each operation makes of 0 to 15 times 0x11111111, a row for each."""
    x = load(numbers)
    y = x >> 3
    odd = (x & 1) != 0
    row = 0
    for value in (
        x + y, x - y, x * y, x & y, x | 5, x ^ y, 7 - x, x << 2, ~x, bits(x), index_of(y),
        divide(y & 0xFFFFF, (x & 15) + 1), select(odd, x, y), select(x < y, 1, 0),
        select((x > 3) & ~odd | (x == 0), 1, 0), select(x >= y, 1, 0), select(x <= 0, 1, 0),
        squares(x & 15), octal(x & 7), pick_from(x, y, splat(31) - (x & 15)),
        gather(numbers, x & 15, odd), threefry(x, 3, y, 1, x, 2, y, 7)[2],
    ):  # fmt: skip
        store(found + 64 * row, value)
        row += 1
    scatter(found + 64 * row, 15 - (x & 15), odd, x)
    count = pack(listed, odd, x)
    return count + 100 * how_many(first_lanes(5)) + 10_000 * some(x == 1)


def aligned(n: int) -> np.ndarray:
    """An array of words that begins where a vector may."""
    space = np.zeros(n + 16, np.uint32)
    start = -space.ctypes.data % 64 // 4
    return space[start : start + n]


def signed(values) -> np.ndarray:
    return np.asarray(values, np.uint32).astype(np.int32)


def test_vector_type_does_what_numpy_does():
    x = aligned(16)
    x[:] = np.arange(16) * np.uint32(0x11111111)
    found, listed = aligned(16 * ROWS), aligned(32)
    returned = use_all(x.ctypes.data, found.ctypes.data, listed.ctypes.data)
    y = x >> 3
    odd = x & 1 == 1
    words = [
        threefry4x32((int(a), 3, int(b), 1), (int(a), 2, int(b), 7))[2]
        for a, b in zip(x, y, strict=True)
    ]
    index = [int(value).bit_length() - 1 & 0xFFFFFFFF for value in y]
    table = np.concatenate([x, y])
    with np.errstate(over="ignore"):
        expected = [
            x + y, x - y, x * y, x & y, x | 5, x ^ y, np.uint32(7) - x, x << 2, ~x,
            np.bitwise_count(x), index, (y & 0xFFFFF) // ((x & 15) + 1), np.where(odd, x, y),
            signed(x) < signed(y), (signed(x) > 3) & ~odd | (x == 0), signed(x) >= signed(y),
            signed(x) <= 0, np.array(SQUARES)[x & 15], np.array(OCTAL)[x & 7], table[31 - (x & 15)],
            np.where(odd, x[x & 15], 0), words,
        ]  # fmt: skip
    for row, values in enumerate(expected):
        assert found[16 * row :][:16].tolist() == np.asarray(values, np.uint32).tolist(), row
    scattered = found[16 * len(expected) :][:16]
    assert scattered.tolist() == np.where(odd, x, 0)[::-1].tolist()
    assert listed[:9].tolist() == [*x[odd].tolist(), 0]
    assert returned == 8 + 500


PORTABLE = """
import numpy as np
from kozel_sim.engine.bits import HAS_BMI2
from kozel_sim.engine.lockstep.vector import HAS_PERMUTE
from kozel_sim.parts import player_of, work_through
from kozel_sim.engine.play import Table, new_matches
from kozel_sim.policies import read_policies
from kozel_sim.rules import RuleSet
assert not HAS_BMI2 and not HAS_PERMUTE
for preset, players in (("room-fish-all", 4), ("logic-games-goat", 3)):
    both = []
    policies = read_policies("random,seven_tips,allround,tell_reader")
    for engine in ("vector", "scalar"):
        seats = (np.arange(500)[:, None] + np.arange(players)) % 4
        matches = new_matches(np.arange(500, dtype=np.uint64), seats)
        Table(RuleSet.preset(preset, players), policies, engine).play(matches, 1)
        both.append(matches)
    assert (both[0] == both[1]).all()
    print(int(both[0]["rounds"].sum()))
"""


@pytest.mark.slow
def test_portable_code_gives_the_same(tmp_path):
    """Compiled for no processor in particular, in a process of its own."""
    env = {**os.environ, "NUMBA_CPU_NAME": "generic", "KOZEL_SIM_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", PORTABLE], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    said = [int(line) for line in done.stdout.split()]
    rooms = (("room-fish-all", 4), ("logic-games-goat", 3))
    policies = [get_policy(n) for n in ("random", "seven_tips", "allround", "tell_reader")]
    for (preset, players), rounds in zip(rooms, said, strict=True):
        seats = (np.arange(500)[:, None] + np.arange(players)) % 4
        matches = new_matches(np.arange(500, dtype=np.uint64), seats)
        Table(RuleSet.preset(preset, players), policies, "vector").play(matches, 1)
        assert matches["rounds"].sum() == rounds


def test_default_is_the_scalar_engine_where_vectors_are_narrow(monkeypatch):
    monkeypatch.setattr("kozel_sim.engine.lockstep.play.has_feature", lambda name: False)
    assert not lockstep_pays()
    assert Table(RuleSet.preset("room-fish-all"), [RANDOM])._lockstep is None
    assert Table(RuleSet.preset("room-fish-all"), [RANDOM], "vector")._lockstep is not None


@intrinsic
def cannot_be_emitted(typingctx):
    """Fails when its code is made, as an instruction does that LLVM does not know."""

    def codegen(context, builder, signature, args):
        raise NotImplementedError("no such vectors on this processor")

    return types.void(), codegen


@kernel
def cannot_be_compiled(rules, plan, seed, matches, lanes, blocks, todo):
    cannot_be_emitted()


@pytest.fixture
def broken_build(monkeypatch):
    """A process in which the vector kernel cannot be compiled, on a processor where it pays."""
    monkeypatch.setattr("kozel_sim.engine.lockstep.play.play_lockstep", cannot_be_compiled)
    monkeypatch.setattr("kozel_sim.engine.play.lockstep_pays", lambda: True)
    for remembered in (build_fault, lockstep_builds):
        remembered.cache_clear()
    yield
    for remembered in (build_fault, lockstep_builds):
        remembered.cache_clear()


def test_default_is_the_scalar_engine_where_the_kernel_cannot_be_compiled(broken_build):
    wanted = simulate("room-fish-all", TIPS[:4], 20, seed=1, engine="scalar").frame
    with pytest.warns(RuntimeWarning) as told:
        frames = [simulate("room-fish-all", TIPS[:4], 20, seed=1).frame for _ in range(2)]
    assert all(frame.equals(wanted) for frame in frames)
    (warning,) = told
    text = str(warning.message)
    assert "no such vectors on this processor" in text
    assert "the scalar engine plays instead" in text
    assert "\n" not in text


def test_forced_vector_engine_says_that_it_cannot_be_compiled(broken_build):
    with pytest.raises(NotImplementedError) as error:
        simulate("room-fish-all", TIPS[:4], 20, seed=1, engine="vector")
    text = str(error.value)
    assert text.startswith("engine 'vector' cannot be compiled here: ")
    assert "no such vectors on this processor" in text
    assert "\n" not in text
