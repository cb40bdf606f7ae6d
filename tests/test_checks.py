"""What is asked for in Python is checked in words, before anything is played."""

import math
import tracemalloc

import numpy as np
import pytest

from kozel_sim import RuleSet, checks, get_policy, play, simulate, tournament
from kozel_sim.bench import measure
from kozel_sim.checks import free_memory, need_memory
from kozel_sim.tournaments import ROW_BYTES, Tournament

FIELD = ["random", "dump_heavy", "keep_range", "block_ends"]
CALLS = {
    simulate: {"rules": "room-fish-all", "policies": FIELD, "matches": 3, "seed": 1},
    play: {"rules": "room-fish-all", "policies": FIELD, "seed": 1, "deal": 0},
    tournament: {"rules": "room-fish-all", "policies": FIELD, "deals": 3, "seed": 1},
}
NO_NUMBER = [1.5, math.nan, "x", "1", True, [1], -1]

everywhere = pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)


@pytest.fixture
def refused(monkeypatch):
    """``refused(call, **changes)``: see that nothing is played; return the complaint's line."""

    def played(*_):
        raise AssertionError("played")

    monkeypatch.setattr("kozel_sim.engine.play.Table.play", played)
    monkeypatch.setattr("kozel_sim.reference.play_match", played)

    def refused(call, **changes):
        with pytest.raises((ValueError, TypeError)) as error:
            call(**(CALLS[call] | changes))
        text = str(error.value)
        assert "\n" not in text
        return text

    return refused


# ---------------------------------------------------------------------- numbers


@pytest.mark.parametrize("value", [*NO_NUMBER, 0])
@pytest.mark.parametrize(
    ("call", "name"),
    [
        (simulate, "matches"),
        (simulate, "workers"),
        (simulate, "chunk"),
        (tournament, "deals"),
        (tournament, "workers"),
        (tournament, "chunk"),
    ],
)
def test_count_that_is_none_is_refused(refused, call, name, value):
    line = refused(call, **{name: value})
    assert line == f"{name} must be a whole number of 1 or more, not {value!r}"


@pytest.mark.parametrize("value", [*NO_NUMBER, 2**64])
@everywhere
def test_seed_that_is_none_is_refused(refused, call, value):
    line = refused(call, seed=value)
    assert line == f"seed must be a whole number from 0 to 2**64 - 1, not {value!r}"


@pytest.mark.parametrize("value", [*NO_NUMBER, None, 2**64])
def test_deal_that_is_none_is_refused(refused, value):
    line = refused(play, deal=value)
    assert line == f"deal must be a whole number from 0 to 2**64 - 1, not {value!r}"


@pytest.mark.parametrize("value", [*NO_NUMBER, None, 24])
@pytest.mark.parametrize("call", [simulate, play])
def test_seating_that_is_none_is_refused(refused, call, value):
    assert f"seating must be a whole number, not {value!r}" in refused(call, seating=value) or (
        refused(call, seating=value) == f"seating {value} is not below 24 (4 players)"
        and value in (-1, 24)
    )


@pytest.mark.parametrize("value", [1.5, "x", 1, 5, [2]])
def test_number_of_players_that_is_none_is_refused(refused, value):
    assert f"played by 2 or 3 or 4 players, not {value!r}" in refused(tournament, players=value)


def test_whole_numbers_of_numpy_are_as_good_as_pythons(tmp_path):
    run = simulate("room-fish-all", FIELD[:2], np.int64(3), np.uint64(1), workers=np.int8(2))
    run.save(tmp_path / "mine")
    assert run.manifest["seed"] == 1
    field = tournament("room-fish-all", FIELD[:2], np.int32(3), np.int64(1), players=2)
    field.save(tmp_path / "other")
    record = play("room-fish-all", FIELD[:2], np.int64(1), np.int64(2), np.int8(1))
    assert record == play("room-fish-all", FIELD[:2], 1, 2, 1)
    assert '"seating":1' in record.to_json()


# ---------------------------------------------------------------------- names


@pytest.mark.parametrize("value", [None, 4, 1.5, FIELD.append])
@everywhere
def test_rules_that_are_none_are_refused(refused, call, value):
    assert refused(call, rules=value) == f"rules are a RuleSet or a preset's name, not {value!r}"


@pytest.mark.parametrize("value", [None, 4, b"random", len])
@everywhere
def test_policy_that_is_none_is_refused(refused, call, value):
    line = refused(call, policies=[value, *FIELD[1:]])
    assert line.startswith("a policy is named by a text like 'random'")
    assert line.endswith(f"not {value!r}")


@pytest.mark.parametrize("value", [None, 4, get_policy("random"), len])
@everywhere
def test_policies_that_are_none_are_refused(refused, call, value):
    line = refused(call, policies=value)
    assert line == f"policies are a list of specs, or a text with commas, not {value!r}"


@everywhere
def test_unknown_engine_is_refused(refused, call):
    for value in ("turbo", None, 1):
        line = refused(call, engine=value)
        assert line.startswith(f"unknown engine {value!r}; choose from auto, ")
        assert line.endswith("scalar, reference")


@pytest.mark.parametrize("call", [simulate, play])
def test_number_of_policies_is_checked_alike_everywhere(refused, call):
    line = refused(call, rules=RuleSet.preset("room-fish-all", 4), policies=FIELD[:3])
    assert line == "room-fish-all is played by 4, and 3 policies are given"


# ---------------------------------------------------------------------- memory


@pytest.mark.parametrize("n", [10**12, 10**30, 10**400])
def test_more_than_memory_holds_is_refused(refused, n):
    """On any machine; the message says how much is needed and how much there is."""
    needles = ("matches need about", "GB of memory, and this machine has", "choose fewer")
    lines = [refused(simulate, matches=n), refused(tournament, deals=n)]
    with pytest.raises(ValueError, match="matches need about") as error:
        measure(RuleSet.preset("room-fish-all"), None, n, 1)
    for line in [*lines, str(error.value)]:
        assert all(needle in line for needle in needles)


def test_field_too_large_for_memory_is_refused_before_its_tables_are_listed():
    field = [get_policy(f"weights:pips={i}") for i in range(1, 1001)]
    with pytest.raises(ValueError, match=f"^{math.comb(1000, 4) * 4 * 6:,} matches need about"):
        Tournament("t", [RuleSet.preset("room-fish-all")], field, 1, seed=1)


def test_refusal_is_by_what_is_free(monkeypatch):
    rows = {simulate: 3 * 4, tournament: 6 * 4 * 4}
    for call, n in rows.items():
        monkeypatch.setattr(checks, "free_memory", lambda n=n: n * ROW_BYTES)
        assert len(call(**CALLS[call]).frame) == n
        monkeypatch.setattr(checks, "free_memory", lambda n=n: n * ROW_BYTES - 1)
        with pytest.raises(ValueError, match="need about 1 GB of memory, and this machine has"):
            call(**CALLS[call])


@pytest.mark.parametrize(
    ("rules", "field", "deals", "players"),
    [
        ("room-fish-all", FIELD, 6000, 4),
        ("room-fish-all", FIELD[:2], 25_000, 2),
        (["room-fish-all", "room-fish-one"], FIELD[:2], 12_000, 2),
    ],
)
def test_estimate_is_near_what_a_run_takes(rules, field, deals, players):
    tournament(rules, field, 6, seed=1, players=players).summary()
    tracemalloc.start()
    try:
        run = tournament(rules, field, deals, seed=1, players=players)
        run.summary()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 0.6 < peak / (ROW_BYTES * len(run.frame)) < 1.4


def test_free_memory_is_that_of_a_machine(monkeypatch):
    assert 2**26 < free_memory() <= math.inf

    def nothing(*_, **__):
        raise OSError

    monkeypatch.setattr("pathlib.Path.read_text", nothing)
    assert 2**26 < free_memory() <= math.inf
    monkeypatch.delattr("os.sysconf", raising=False)
    assert free_memory() == math.inf
    need_memory("as many as you like", 10**30)
