"""Equivalence: two one-sided tests, in Python, on the command line and in plans."""

import json
import math

import numpy as np
import pytest
from command_line import runner

from kozel_sim import compare, duel, pairwise, plan, tournament
from kozel_sim.equivalence import Margin, deals_for_equivalence, equivalence_of, read_margin
from kozel_sim.intervals import difference_estimate
from kozel_sim.planning import deals_needed
from kozel_sim.verdicts import equivalence_words


@pytest.fixture
def kozel(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    return runner(monkeypatch, capsys)


def test_two_one_sided_tests_are_those_of_statsmodels():
    from statsmodels.stats.weightstats import ttost_paired

    rng = np.random.default_rng(1)
    first, second = rng.normal(50, 5, (2, 40))
    x = first - second
    found = difference_estimate(x.mean(), x.std(ddof=1) / 40**0.5, 40, 0.95, rate=False)
    for margin in (0.5, 1.5, 3.0):
        said = equivalence_of(found, margin)
        assert said.p_value == pytest.approx(ttost_paired(first, second, -margin, margin)[0])
        inside = -margin < said.ci_low and said.ci_high < margin
        assert inside == (said.p_value < 0.05)


def test_what_differs_by_the_margin_is_called_equal_in_at_most_alpha():
    """2,000 experiments on the edge: at 5%, more than 130 would come once in 1,000."""
    rng = np.random.default_rng(2)
    x = rng.normal(0.3, 1, (2000, 100))
    found = [
        difference_estimate(m, s, 100, 0.95, rate=False)
        for m, s in zip(x.mean(axis=1), x.std(axis=1, ddof=1) / 10, strict=True)
    ]
    wrong = sum(equivalence_of(one, 0.3).p_value <= 0.05 for one in found)
    assert 70 < wrong <= 130


@pytest.mark.parametrize("power", [0.8, 0.95])
@pytest.mark.parametrize("margin", [0.2, 0.5])
def test_planned_deals_show_equivalence_as_often_as_planned(power, margin):
    """2,000 experiments: the share has a standard error of at most 0.9%."""
    n = deals_for_equivalence(margin, 1.0, power, 0.95)
    x = np.random.default_rng(3).normal(0, 1, (2000, n))
    found = [
        difference_estimate(m, s, n, 0.95, rate=False)
        for m, s in zip(x.mean(axis=1), x.std(axis=1, ddof=1) / n**0.5, strict=True)
    ]
    share = np.mean([equivalence_of(one, margin).p_value <= 0.05 for one in found])
    assert share == pytest.approx(power, abs=0.03)


def test_margins_are_read_in_the_unit_of_their_metric():
    assert read_margin("0.5") == read_margin(0.5) == Margin(0.5)
    assert Margin(0.5).plain == 0.005
    assert read_margin("2,metric=points_per_match").plain == 2
    assert str(Margin(0.5).words) == "0.5 percentage points of goat rate"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x", "'x' is no number"),
        ("0", "more than 0"),
        ("nan", "more than 0"),
        ("100", "hold every difference"),
        ("1,2", "'2' is not known; choose from metric="),
        ("1,metric=goats", "unknown metric 'goats'"),
        ("1,metric=rating", "'rating' is not compared; choose from points_per_round"),
    ],
)
def test_bad_margins_are_refused_in_one_line(kozel, text, said):
    code, _, error = kozel("compare", "dump_heavy", "random", "--equivalent", text, "-n", "10")
    assert code == 2
    assert said in error
    assert error.count("\n") == 1


def test_nearly_the_same_policies_are_equivalent_and_others_are_not():
    nearly = ("mix:0.9999*dump_heavy+0.0001*random", "dump_heavy")
    for pair, equal in ((nearly, True), (("dump_heavy", "random"), False)):
        frame = duel("room-fish-all", *pair, 1000, seed=1, players=2).frame
        table = compare(frame, equivalent=1).set_index("metric")
        assert table["equivalent"].tolist() == [None, None, equal]
        row = table.loc["goat_rate"]
        assert row["margin"] == 0.01
        assert (row["p_equivalent"] <= 0.05) == equal
        assert (row["equivalent_low"] > -0.01 and row["equivalent_high"] < 0.01) == equal
    points = compare(frame, equivalent="40,metric=points_per_match").set_index("metric")
    assert points["equivalent"].tolist() == [None, True, None]
    assert "margin" not in compare(frame)


def test_a_field_holds_its_equivalences_together():
    near = ["mix:0.9999*dump_heavy+0.0001*random", "dump_heavy", "random"]
    frame = tournament("room-fish-all", near, 300, seed=1, players=2).frame
    table = pairwise(frame, equivalent=2)
    assert table["margin"].eq(0.02).all()
    alone = equivalence_of(
        difference_estimate(*table.loc[0, ["difference", "std_error", "n_deals"]], 0.95, True), 0.02
    )
    assert table["p_equivalent"][0] == pytest.approx(3 * alone.p_value)
    assert not table["equivalent"][1:].any()


def test_the_command_says_equivalent_beside_different(kozel):
    pair = ("mix:0.9999*dump_heavy+0.0001*random", "dump_heavy")
    line = ("compare", *pair, "-n", "1000", "--players", "2", "--seed", "1", "--equivalent", "1")
    code, out, _ = kozel(*line)
    assert code == 0
    out = " ".join(out.split())
    assert "are equivalent under room-fish-all: they differ by less than 1 percentage points" in out
    assert "More deals" not in out
    code, out, _ = kozel(*line, "--json")
    assert json.loads(out)["duels"][2]["equivalent"] is True
    code, out, _ = kozel(*line[:-1], "0.01")
    assert "is not shown" in out
    assert "More deals (-n) would tell" in out
    code, _, error = kozel(*line, "--stop", "sprt")
    assert code == 2
    assert "does not go with --stop" in error


def test_plans_say_how_many_deals_equivalence_takes(kozel):
    frame = duel("room-fish-all", "dump_heavy", "keep_range", 100, seed=1, players=2).frame
    table = plan(frame, 0.1, metric="goat_rate", equivalent=10)
    equal = table[table["method"].str.contains("one-sided")]
    assert equal["detect"].eq(0.1).all()
    assert equal["power"].tolist() == [0.9, 0.8, 0.95]
    assert not equal["asked"].any()
    first = equal.iloc[0]
    assert first["deals"] == deals_for_equivalence(0.1, first["deviation"], 0.9, 0.95)
    line = ("plan", "dump_heavy", "keep_range", "--detect", "0.1", "--metric", "goat_rate")
    code, out, _ = kozel(
        *line, "--players", "2", "--seed", "1", "--pilot", "100", "--equivalent", "10"
    )
    assert code == 0
    assert "to show that goat rate differs by less than 10 percentage points" in out


@pytest.mark.parametrize("deviation", [0.0, -1.0, math.inf, math.nan])
@pytest.mark.parametrize("deals", [deals_for_equivalence, deals_needed])
def test_deals_without_a_spread_say_nothing_of_how_many_it_takes(deals, deviation):
    with pytest.raises(ValueError, match="deviation must be more than 0"):
        deals(0.5, deviation, 0.9, 0.95)


def test_pilot_in_which_nothing_happened_is_refused():
    frame = duel("room-fish-all", "dump_heavy", "random", 4, seed=1, players=2).frame
    with pytest.raises(ValueError, match="4 deals all have 0 points per match"):
        plan(frame.assign(points=0), 0.1)


@pytest.mark.parametrize(("value", "metric"), [(0.5, "goat_rate"), (2.0, "points_per_match")])
def test_a_margin_has_the_same_words_wherever_it_is_said(value, metric):
    margin = Margin(value, metric)
    row = {"margin": margin.plain, "metric": metric, "level": 0.95, "p_equivalent": 0.01}
    row |= {"equivalent_low": -margin.plain / 2, "equivalent_high": margin.plain / 4}
    row |= {"policy": "a", "against": "b", "equivalent": True}
    said = equivalence_words(row, "rules")
    assert f"less than {margin.words} (90% interval [-{value / 2:.2f}, {value / 4:.2f}]" in said


def test_margins_of_the_room_rating_say_which_rating():
    assert Margin(0.5, "rating").words == "0.5 room rating"
