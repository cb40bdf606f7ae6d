"""Totals say what the frame of the same run says, whoever plays it and in whatever pieces."""

import itertools
import json
import re
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from command_line import picture, runner, strict_json
from kernels import kernel
from user_policies import own_registry

from kozel_sim import (
    IllegalMoveError,
    RuleSet,
    Totals,
    load_run,
    load_totals,
    policy,
    simulate,
    totals,
    tournament,
)
from kozel_sim.engine.layout import BLOCK
from kozel_sim.engine.tally import multiply_block
from kozel_sim.parts import Part, PartPlayer, player_of
from kozel_sim.policies import get_policy
from kozel_sim.schedule import as_seated
from kozel_sim.stats import Ratio
from kozel_sim.sweep import METRICS, best_policies, effects
from kozel_sim.totals import ARRAYS, Sums, Tally
from kozel_sim.tournaments import Tournament

FIVE = ["random", "dump_heavy", "dump_doubles", "keep_range", "block_ends"]
ROOM = ["room-fish-all", "room-fish-one"]
CLOSE = {"rtol": 1e-9, "atol": 1e-12}


def rule_sets(*names, players=4, **knobs):
    return [RuleSet.preset(name, players).replace(**knobs) for name in names]


TOURNAMENTS = {
    "four": ([*rule_sets(*ROOM)], FIVE, 12),
    "two and three": ([*rule_sets(*ROOM, players=2), *rule_sets(*ROOM, players=3)], FIVE[:4], 8),
    "pairs": (rule_sets("pair-traditional", "sea-goat"), FIVE, 6),
    "orders apart": (rule_sets("pair-traditional", "sea-goat"), FIVE[:4], 42),
    "some orders' ratings": (rule_sets(*ROOM, players=3, max_rounds=8), FIVE[:3], 40),
    "capped": (rule_sets(*ROOM, players=2, max_rounds=8), FIVE[:3], 40),
    "no rating": (rule_sets("livegames-goat"), FIVE, 6),
    "one deal": (rule_sets(*ROOM, players=2), FIVE[:3], 1),
}


@pytest.fixture(scope="module", params=TOURNAMENTS)
def both(request):
    """A tournament's run with a frame, and its totals."""
    rules, field, deals = TOURNAMENTS[request.param]
    return tuple(tournament(rules, field, deals, seed=5, aggregate=a) for a in (False, True))


@pytest.fixture
def kozel(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    return runner(monkeypatch, capsys)


def arrays(found):
    return [getattr(sums, name) for sums in found.sums for name in ARRAYS]


def assert_same_sums(one, other):
    for mine, theirs in zip(arrays(one), arrays(other), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def assert_alike(one, other):
    """The same table up to rounding in the last digits."""
    pd.testing.assert_frame_equal(one, other, check_dtype=False, **CLOSE)


# ---------------------------------------------------------------------- equal to the frame


def test_counts_are_the_frames(both):
    run, found = both
    assert isinstance(found, Totals)
    assert (found.name, found.matches, found.rounds) == (run.name, run.matches, run.rounds)
    assert repr(found) == repr(run).replace("Run", "Totals")


@pytest.mark.parametrize("level", [0.95, 0.5])
def test_summary_is_the_frames(both, level):
    run, found = both
    assert_alike(found.summary(level=level), run.summary(level=level))


def test_summary_of_one_metric_is_the_frames(both):
    run, found = both
    assert_alike(found.summary(metric="points"), run.summary(metric="points"))


def test_presets_are_the_frames(both):
    run, found = both
    assert_alike(found.presets(), run.presets())


def test_effects_are_the_frames(both):
    run, found = both
    assert_alike(effects(found), effects(run.frame))
    assert_alike(effects(found, level=0.8), effects(run.frame, level=0.8))


def test_best_policies_are_the_frames(both):
    run, found = both
    assert_alike(best_policies(found), best_policies(run.frame))


def test_histograms_are_the_frames(both):
    run, found = both
    keys = ["preset", "players", "policy", "points"]
    wanted = run.frame.groupby(keys, observed=True).size()
    mine = found.histogram("points").set_index(keys)["count"]
    assert mine.sort_index().to_dict() == wanted.to_dict()
    keys = ["preset", "players", "rounds"]
    matches = run.frame[run.frame["seat"] == 0]
    wanted = matches.assign(rounds=matches["rounds"].clip(upper=totals.ROUND_BINS - 1))
    wanted = wanted.groupby(keys, observed=True).size()
    mine = found.histogram("rounds").set_index(keys)["count"]
    assert mine.sort_index().to_dict() == wanted.to_dict()


@pytest.mark.parametrize("field", [FIVE[:4], ["random", "dump_heavy", "random", "random"]])
@pytest.mark.parametrize("preset", ["room-fish-all", "pair-traditional", "livegames-goat"])
def test_simulated_seats_give_the_frames_summary(preset, field):
    ways = {"matches": 50, "seed": 9, "seating": 5}
    run = simulate(preset, field, **ways)
    found = simulate(preset, field, **ways, aggregate=True)
    assert_alike(found.summary(), run.summary())
    assert_alike(found.presets(), run.presets())
    assert_alike(effects(found), effects(run.frame))


def test_rating_of_capped_deals_is_left_out_of_its_deals():
    ways = {"matches": 60, "seed": 1}
    rules = RuleSet.preset("room-fish-all", 2).replace(max_rounds=8)
    run = simulate(rules, FIVE[:2], **ways)
    found = simulate(rules, FIVE[:2], **ways, aggregate=True)
    rating = found.summary(metric="rating")
    assert 1 < rating["n_deals"].iloc[0] < 60
    assert_alike(rating, run.summary(metric="rating"))


def test_match_without_an_end_has_no_rating_at_all():
    rules = RuleSet.preset("room-fish-all", 2).replace(max_rounds=1, target=1000)
    run = simulate(rules, FIVE[:2], 20, seed=1)
    found = simulate(rules, FIVE[:2], 20, seed=1, aggregate=True)
    assert set(found.summary()["metric"]) == {"goat_rate", "points"}
    assert_alike(found.summary(), run.summary())
    assert_alike(effects(found), effects(run.frame))


def test_policies_that_choose_alike_differ_by_nothing():
    """Exactly: a fraction leaves no trace of rounding."""
    alike = ["random", "prefer:own_distance", "prefer:rival_distance"]
    found = tournament("room-fish-all", alike, 40, seed=5, players=3, aggregate=True)
    (sums,) = found.sums
    one, other = (sums.ratio("points", "seats", name) for name in list(sums.policies)[:2])
    assert one.value == other.value
    # Left is the error of two deals that might have differed: by a deal's points.
    found = one.minus(other, 0.95)
    assert found.estimate == 0
    assert found.std_error == pytest.approx(2**0.5 * one.size / sums.deals, abs=0)


# ---------------------------------------------------------------------- the same bits


@pytest.mark.parametrize(("workers", "chunk"), [(1, 1), (2, 7), (3, 1000), (3, 1)])
def test_workers_and_chunks_do_not_change_a_bit(workers, chunk):
    ways = {"seed": 8, "aggregate": True}
    base = tournament(ROOM, FIVE, 18, **ways)
    assert_same_sums(tournament(ROOM, FIVE, 18, **ways, workers=workers, chunk=chunk), base)
    base = simulate(ROOM[0], FIVE[:4], 50, **ways)
    assert_same_sums(simulate(ROOM[0], FIVE[:4], 50, **ways, workers=workers, chunk=chunk), base)


@pytest.mark.parametrize("chunk", [None, 1, 600])
def test_sums_are_kept_for_each_cyclic_order(chunk):
    """Against the rows of the frame."""
    run, found = (
        tournament("pair-traditional", FIVE, 42, seed=5, aggregate=a, chunk=chunk)
        for a in (False, True)
    )
    (sums,) = found.sums
    order = run.frame["seating"] // 4
    assert len(sums.products) == order.nunique() == 6
    for k, mine in enumerate(sums.products):
        rows = run.frame[order == k]
        assert mine[0, 0] == rows["deal"].nunique() == 7
        assert mine[0, totals.GAME.index("goats")] == rows["goat"].sum()
        assert mine[0, totals.GAME.index("rounds")] == rows["rounds"].sum() / 4
        goats = rows["goat"].groupby(rows["deal"]).sum()
        assert mine[totals.GAME.index("goats"), totals.GAME.index("goats")] == (goats**2).sum()


def test_reference_engine_gives_the_same_sums():
    ways = {"seed": 8, "players": 2, "aggregate": True}
    fast = tournament(ROOM, FIVE[:3], 4, **ways)
    assert_same_sums(tournament(ROOM, FIVE[:3], 4, **ways, engine="reference"), fast)


def test_progress_counts_every_match():
    told = []
    ways = {"seed": 1, "players": 2, "aggregate": True, "chunk": 12, "workers": 2}
    found = tournament(ROOM, FIVE[:3], 10, **ways, progress=told.append)
    assert sum(told) == found.matches == 2 * 10 * 6
    assert max(told) == 6, "a chunk of 12 is shared by two rule sets"


@kernel
def multiply(left, right, deals, products, lower):
    flat, other = left.reshape(left.size), right.reshape(right.size)
    n, m = left.shape[0], right.shape[0]
    lists = np.empty((2, max(n, m) + 1), np.int64)
    multiply_block(flat, other, n, m, deals, products, lower, lists)


@pytest.mark.parametrize("columns", [(7, 5), (8, 4), (1, 1), (1, 6)])
@pytest.mark.parametrize("factor", [1, 2**25, 2**26, -(2**28)])
@pytest.mark.parametrize("deals", [1, 16, 17, BLOCK])
def test_products_are_those_of_plain_matrices(columns, factor, deals):
    """The slow twin of the kernel: of numbers of 32 bits and of more, with columns of zeros."""
    rng = np.random.default_rng(1)
    left, right = (rng.integers(-50, 50, (k, BLOCK)) * rng.integers(0, 2, (k, 1)) for k in columns)
    left[0] *= factor
    left[:, deals:] = right[:, deals:] = 0
    got = np.ones(columns, np.int64)
    multiply(left, right, deals, got, False)
    np.testing.assert_array_equal(got, 1 + left @ right.T)
    got = np.zeros((len(left), len(left)), np.int64)
    multiply(left, left, deals, got, True)
    np.testing.assert_array_equal(got, np.tril(left @ left.T))


def test_ratio_is_that_of_the_deals_own_sums():
    """Against the estimators of frames."""
    rules = RuleSet.preset("room-fish-all", 2)
    tally = Tally(rules, FIVE[:2], as_seated(2, 0), 30)
    Tally(rules, FIVE[:2], as_seated(2, 0), 30, first=tally)
    desk = tally.desk_of(0, 30)
    matches, rows, _ = desk
    player_of(rules, [get_policy(spec) for spec in FIVE[:2]], "auto")(matches, 1)
    sums = tally.sums.blank()
    tally.count(desk, None, sums)
    deals = rows[0, 0].reshape(-1, BLOCK)[:, :30].astype(float)
    for name in ("rounds", "goats", "goat_points", "passes"):
        top = deals[totals.GAME.index(name)]
        one = sums.ratio(name, "rounds").mean(0.9)
        other = Ratio(top, deals[totals.GAME.index("rounds")]).mean(0.9)
        assert one.std_error == pytest.approx(other.std_error, rel=1e-9, abs=1e-15)
        assert one.ci_low == pytest.approx(other.ci_low, rel=1e-9)


@pytest.mark.parametrize("players", [2, 4])
def test_parts_may_come_in_any_order_and_size(players):
    """What one part leaves in the memory of the next does not matter."""
    found = []
    for sizes in ([6], [3, 3], [1, 5], [5, 1]):
        for turn in (1, -1):
            planned = Tournament(
                "t",
                [RuleSet.preset(name, players) for name in ROOM],
                [get_policy(spec) for spec in FIVE],
                deals=6 * 6,
                seed=1,
                aggregate=True,
            )
            (block,) = planned.blocks
            player = PartPlayer(planned.blocks, planned.policies, 1, True, False)
            ends = np.cumsum([0, *sizes]) * block.lineups.cycle
            parts = [Part(0, int(a), int(b)) for a, b in itertools.pairwise(ends)]
            (first, *others) = [player.play(part) for part in parts[::turn]]
            for other in others:
                for mine, more in zip(first, other, strict=True):
                    mine.add(more)
            found.append(first)
    for each in found[1:]:
        for mine, wanted in zip(each, found[0], strict=True):
            for name in totals.ARRAYS:
                np.testing.assert_array_equal(getattr(mine, name), getattr(wanted, name))


# ---------------------------------------------------------------------- memory


def peak_of(matches):
    tracemalloc.start()
    try:
        simulate("room-fish-all", FIVE[:2], matches, seed=1, aggregate=True, chunk=256)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_matches():
    peak_of(300)
    few, many = peak_of(1000), peak_of(16_000)
    assert many < 1.1 * few + 20_000


def test_more_matches_than_a_frame_could_hold_are_not_refused():
    rules = RuleSet.preset("room-fish-all")
    field = [get_policy(spec) for spec in FIVE]
    with pytest.raises(ValueError, match="need about"):
        Tournament("t", [rules], field, 10**10, seed=1)
    planned = Tournament("t", [rules], field, 10**10, seed=1, aggregate=True)
    assert planned.matches == 20 * planned.deals


def test_field_too_large_for_memory_is_refused():
    field = [get_policy(f"weights:pips={i}") for i in range(1, 1001)]
    with pytest.raises(ValueError, match="matches need about"):
        Tournament("t", [RuleSet.preset("room-fish-all")], field, 1, seed=1, aggregate=True)


def test_sums_that_64_bits_may_not_hold_are_refused():
    (sums,) = simulate(ROOM[0], FIVE[:2], 4, seed=1, aggregate=True).sums
    full: Sums = sums.blank()
    full.products[0, 1, 1] = totals.LIMIT - 1
    full.add(sums)
    assert full.products.min() >= 0
    with pytest.raises(ValueError, match="outgrow 64 bits; play fewer deals"):
        full.add(full.blank())


# ---------------------------------------------------------------------- saved and read


def test_totals_are_read_back_as_they_were_saved(both, tmp_path):
    _, found = both
    folder = found.save(tmp_path / "run")
    again = load_totals(folder)
    assert_same_sums(again, found)
    assert_alike(again.summary(), found.summary())
    assert_alike(effects(again), effects(found))
    assert {k: again.manifest[k] for k in found.manifest} == json.loads(json.dumps(found.manifest))
    before = picture(tmp_path)
    assert found.save(folder) == folder
    assert picture(tmp_path) == before


def part_of(folder):
    (path,) = folder.glob("totals/*/*.parquet")
    return path


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (lambda folder: part_of(folder).unlink(), "deal-000000000000.parquet is missing"),
        (lambda folder: part_of(folder).write_bytes(b"x"), "its hash is not"),
        (
            lambda folder: (folder / "manifest.json").write_text(
                '{"format": "kozel-run/2", "aggregate": true, "state": "finished", "files": []}'
            ),
            "name, version, stream, sources, seed, deals, design, engine, rules, policies missing",
        ),
    ],
)
def test_damaged_totals_are_refused(tmp_path, spoil, complaint):
    folder = simulate(ROOM[0], FIVE[:2], 4, seed=1, aggregate=True).save(tmp_path / "run")
    spoil(folder)
    with pytest.raises(ValueError, match=complaint):
        load_totals(folder)


def test_runs_and_totals_are_told_apart(tmp_path):
    ways = {"matches": 4, "seed": 1}
    run = simulate(ROOM[0], FIVE[:2], **ways)
    found = simulate(ROOM[0], FIVE[:2], **ways, aggregate=True)
    run.save(tmp_path / "run")
    found.save(tmp_path / "totals")
    with pytest.raises(ValueError, match="use load_totals"):
        load_run(tmp_path / "totals")
    with pytest.raises(ValueError, match="read it with load_run"):
        load_totals(tmp_path / "run")
    with pytest.raises(FileExistsError, match="aggregate none there, True now"):
        found.save(tmp_path / "run")


# ---------------------------------------------------------------------- refused


def test_summary_by_anything_but_policy_is_refused():
    found = simulate(ROOM[0], FIVE[:2], 4, seed=1, aggregate=True)
    with pytest.raises(ValueError, match="summed by policy, not by 'seat'"):
        found.summary(by="seat")
    with pytest.raises(ValueError, match="unknown metric 'elo'; choose from goat_rate, points"):
        found.summary(metric="elo")
    with pytest.raises(ValueError, match="unknown histogram 'goats'; choose from points, rounds"):
        found.histogram("goats")
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        found.summary(level=95)


def test_illegal_move_is_told_as_without_aggregate():
    with own_registry():

        @policy
        def cheat(view):
            """Lays 6-6, legal or not."""
            return 7

        told = []
        for aggregate in (False, True):
            with pytest.raises(IllegalMoveError) as error:
                simulate(ROOM[0], ["random", cheat], 300, 3, chunk=64, aggregate=aggregate)
            told.append(str(error.value))
    assert told[0] == told[1]


# ---------------------------------------------------------------------- the command line

SMALL = ["-n", "4", "--players", "2", "--policies", "random,dump_heavy,keep_range", "--seed", "3"]


def interesting(data):
    return {key: value for key, value in data.items() if key != "manifest"}


@pytest.mark.parametrize(
    "words", [["tournament", *SMALL], ["sweep", "--rules", ",".join(ROOM), *SMALL]]
)
def test_command_prints_the_same_tables(kozel, words):
    plain, summed = (kozel(*words, *more)[1] for more in ([], ["--aggregate"]))
    # Ranks and seats are not known of sums.
    plain = plain.partition("goat rate by seat")[0]
    cut = re.compile(r"\d+ matches in .*|^sums alone: .*|^│ +[0-9-]+ (?=│)|┃ rank ", re.MULTILINE)
    lines, wanted = (
        [" ".join(line.split()) for line in cut.sub("", text).splitlines() if line[:1] not in "┏┡└"]
        for text in (summed, plain)
    )
    assert [line for line in lines if line] == [line for line in wanted if line]
    code, out, err = kozel(*words, "--aggregate", "--json")
    assert (code, err) == (0, "")
    assert strict_json(out)["manifest"]["aggregate"] is True


def test_experiment_is_run_and_read_again(kozel, tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(
        'name = "tiny"\nseed = 3\ndeals = 4\nrules = ["room-fish-all"]\nplayers = [2]\n'
        'policies = ["random", "dump_heavy"]\n',
        encoding="utf-8",
    )
    code, first, err = kozel("run", path, "--aggregate")
    assert (code, err) == (0, "")
    assert {p.name for p in (tmp_path / "results/tiny").iterdir()} == {
        "manifest.json",
        "totals",
        "summary.csv",
        "leaderboard.png",
    }
    again = kozel("run", path, "--aggregate")[1]
    assert "read, not played again" in again
    assert again.splitlines()[:-1] == first.splitlines()[:-1]
    code, out, err = kozel("run", path)
    assert (code, out) == (2, "")
    assert "holds a different run (aggregate True there, none now)" in err


def test_duels_are_not_aggregated(kozel, tmp_path):
    path = tmp_path / "duels.toml"
    path.write_text(
        'name = "duels"\nseed = 3\ndeals = 4\nrules = ["room-fish-all"]\nplayers = [2]\n'
        'duels = [["random", "dump_heavy"]]\n',
        encoding="utf-8",
    )
    code, out, err = kozel("run", path, "--aggregate")
    assert (code, out) == (2, "")
    assert err.startswith("kozel: error: ")
    assert "the design duels compares by deal; it is not aggregated" in err
    assert err.count("\n") == 1


def test_every_metric_of_a_sweep_has_its_sums():
    found = simulate(ROOM[0], FIVE[:2], 4, seed=1, aggregate=True)
    for metric in METRICS.values():
        assert found.sums[0].ratio(*metric.sums).exists
