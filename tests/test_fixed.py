"""What the rules fix has no error in any table; matches that reach the cap break it and say so."""

import numpy as np
import pytest

from kozel_sim import PRESETS, RuleSet, load_totals, ranking, simulate, tournament
from kozel_sim.fixed import BROKEN, FIXED, goats_of
from kozel_sim.metrics import DealSums
from kozel_sim.stopping import WidthStop, corrected, estimates
from kozel_sim.sweep import effects

FIELD = ["dump_heavy", "keep_range", "allround", "random"]
EVERY = [(name, n) for name in PRESETS for n in PRESETS[name].players]
FIX = {
    ("room-fish-one", 2): 1,
    ("household-300", 4): 3,
    ("household-300", 2): 1,
    ("sea-goat", 4): 1,
}
"""How many sides are goats, where the rules leave one number."""


@pytest.mark.parametrize(("preset", "players"), EVERY)
def test_no_match_has_more_or_fewer_goats_than_its_rules_say(preset, players):
    rules = RuleSet.preset(preset, players)
    frame = tournament(rules, FIELD[:players], 60, seed=3).frame
    whole = frame[~frame["capped"]]
    goats = whole.groupby(["deal", "seating"])["goat"].sum() * rules.sides / players
    assert goats.between(*rules.goats).all()
    # What is called free must be met as more than one number somewhere, see the next test.
    if preset in ("room-fish-all", "household-300"):
        assert (goats.min(), goats.max()) == (rules.goats[0], min(rules.goats[1], goats.max()))


def test_where_goats_are_not_fixed_several_numbers_are_met():
    """Of two players both, of three some and all, by hands that everybody writes."""
    for players, seen in ((2, {1, 2}), (3, {1, 2, 3})):
        frame = tournament("room-fish-all", FIELD[:players], 600, seed=1, players=players).frame
        assert set(frame.groupby(["deal", "seating"])["goat"].sum()) == seen
        assert RuleSet.preset("room-fish-all", players).goats == (1, players)


@pytest.mark.parametrize(("preset", "players"), EVERY)
def test_rules_are_read_back_from_their_names(preset, players):
    rules = RuleSet.preset(preset, players)
    for one in (rules, rules.replace(max_rounds=7, open_at=1), RuleSet.from_knobs(rules.knobs())):
        assert RuleSet.named(one.name, players) == one


@pytest.mark.parametrize("name", ["mine", "room-fish-all[target=x]", "room-fish-all[no=1]", "0"])
def test_other_names_say_nothing(name):
    assert RuleSet.named(name, 4) is None
    assert goats_of(name, 4, 0) is None


@pytest.mark.parametrize(("rules", "goats"), FIX.items())
@pytest.mark.parametrize("aggregate", [False, True])
def test_fixed_numbers_have_no_error(rules, goats, aggregate, tmp_path):
    preset, players = rules
    sides = RuleSet.preset(preset, players).sides
    run = tournament(
        preset, FIELD[:players], 12, seed=1, players=players, aggregate=aggregate, folder=tmp_path
    )
    for played in (run, load_totals(tmp_path) if aggregate else run):
        table = played.presets().set_index("metric")
        for metric, value in (
            ("goats_per_match", goats * players / sides),
            ("goat_rate", goats / sides),
        ):
            row = table.loc[metric]
            assert (row["estimate"], row["std_error"]) == (value, 0)
            assert (row["ci_low"], row["ci_high"], row["method"]) == (value, value, FIXED)


@pytest.mark.parametrize("aggregate", [False, True])
def test_who_sits_everywhere_is_a_goat_as_often_as_there_are_goats(aggregate):
    run = simulate("household-300", ["random"] * 4, 20, seed=1, aggregate=aggregate)
    row = run.summary(metric="goat_rate").iloc[0]
    assert tuple(row[["estimate", "std_error", "ci_low", "ci_high"]]) == (0.75, 0, 0.75, 0.75)
    if not aggregate:
        assert ranking(run.frame)["ci_low"][0] == 0.75
        by_seat = run.summary(by="seat", metric="goat_rate")
        assert (by_seat["std_error"] > 0).all()
        rule = WidthStop(0.01)
        found = estimates(rule, run.frame)
        assert rule.decide(found) == {"household-300 4: random": "enough"}
        assert corrected(rule, found, [20])["sequence_high"][0] == 0.75


@pytest.mark.parametrize("aggregate", [False, True])
def test_differences_of_fixed_numbers_have_no_error(aggregate):
    presets = ["room-fish-one", "household-300", "room-fish-all"]
    run = tournament(presets, ["random", "keep_range"], 100, seed=1, players=2, aggregate=aggregate)
    table = effects(run if aggregate else run.frame)
    table = table[(table["policy"] == "all") & (table["metric"] == "goat_rate")]
    one, household, every = table.to_dict("records")
    for row in (one, household):
        assert row["difference"] == row["diff_std_error"] == row["diff_ci_low"] == 0
        assert row["diff_ci_high"] == row["std_error"] == 0
    # One that is not fixed less one that is: the error is its own.
    assert every["difference"] == pytest.approx(every["estimate"] - 0.5)
    assert every["diff_std_error"] == every["std_error"] > 0
    assert every["diff_ci_low"] == pytest.approx(every["ci_low"] - 0.5)
    assert every["diff_ci_low"] >= 0


@pytest.mark.parametrize("aggregate", [False, True])
def test_capped_matches_break_it_and_say_so(aggregate):
    rules = [RuleSet.preset("household-300", 2).replace(max_rounds=n) for n in (20_000, 17)]
    run = tournament(rules, FIELD[:2], 40, seed=1, aggregate=aggregate)
    table = run.presets().set_index(["preset", "metric"])
    capped = table.loc[rules[1].name]
    share = capped.loc["capped_rate", "estimate"]
    assert 0 < share < 1
    row = capped.loc["goats_per_match"]
    assert row["estimate"] == pytest.approx(1 - share)
    assert row["std_error"] > 0
    assert row["method"].endswith(BROKEN)
    # What is not capped is the rest: the two intervals mirror each other.
    assert row["ci_low"] == pytest.approx(1 - capped.loc["capped_rate", "ci_high"])
    found = effects(run if aggregate else run.frame).set_index(["preset", "policy", "metric"])
    assert found.loc[(rules[1].name, "all", "goat_rate"), "method"].endswith(BROKEN)
    assert found.loc[(rules[0].name, "all", "goat_rate"), "method"] == FIXED


def test_a_frame_of_unknown_rules_gets_an_error_from_its_deals():
    run = tournament("room-fish-all", FIELD[:2], 60, seed=1, players=2)
    other = type(run)(run.frame.assign(preset="mine"), run.manifest).presets()
    row = other.set_index("metric").loc["goat_rate"]
    assert row["method"] == "t, clustered by deal"
    assert np.isfinite(row["ci_low"])


def test_rows_of_one_policy_are_not_taken_for_all_seats():
    """Its rows are as many as two seats of half of its matches have, and sit in turn."""
    rules = RuleSet.preset("room-fish-all", 2).replace(max_rounds=8)
    frame = tournament(rules, FIELD[:3], 40, seed=1).frame
    mine = frame[frame["policy"] == FIELD[0]]
    sums = DealSums.of(mine, "goat_rate")
    whole = frame[frame["seating"].isin(mine["seating"])]
    assert sums.span is None
    assert DealSums.of(frame.assign(policy="x"), "goat_rate").span is not None
    firsts = mine.index - mine["seat"]
    assert sums.matches == firsts.nunique() == 160
    assert sums.capped == whole.loc[firsts, "capped"].sum() > 0
    assert ranking(mine)["n_matches"].tolist() == [160]
    plain = tournament("room-fish-one", FIELD[:3], 40, seed=1, players=2).frame
    mine = ranking(plain[plain["policy"] == FIELD[0]]).iloc[0]
    assert mine["estimate"] != 0.5
    assert mine["method"].startswith("Wilson")
    # Without labels that tell the matches nothing is taken for fixed.
    bare = plain[plain["policy"] == FIELD[0]].reset_index(drop=True)
    assert DealSums.of(bare, "goat_rate").span is None
