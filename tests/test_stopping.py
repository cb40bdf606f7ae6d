"""Stopping rules: what they decide, how often they err, and estimates corrected for them."""

import math

import numpy as np
import pandas as pd
import pytest

from kozel_sim import compare, corrected, duel, read_stop, tournament
from kozel_sim.sequential import (
    FIRST_LOOK,
    LOOK_GROWTH,
    Sprt,
    ThreeWay,
    effect_of,
    log_likelihood_ratio,
    looks,
    sequence_of,
)
from kozel_sim.stats import clustered_difference, clustered_mean, summarise
from kozel_sim.stopping import SprtStop, WidthStop, estimates


def estimate_of(x, level=0.95, rate=False):
    return clustered_mean(x, np.ones(len(x)), level, rate)


# ---------------------------------------------------------------------- the option's text


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("width=0.002", WidthStop(0.002)),
        ("width=0.5,metric=points,level=0.99", WidthStop(0.5, "points", 0.99)),
        ("width=1e-3, planned=500", WidthStop(0.001, planned=500)),
        ("sprt", SprtStop()),
        (
            "sprt,effect=0.2,alpha=0.01,beta=0.1,metric=goat_rate",
            SprtStop(0.2, 0.01, 0.1, "goat_rate"),
        ),
    ],
)
def test_rules_are_read_and_written(text, rule):
    assert read_stop(text) == rule
    assert read_stop(str(rule)) == rule


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "stop '' is no rule; write width=0.002 or sprt"),
        ("width", "'width' is not known; choose from width="),
        ("wide=1", "stop 'wide=1' is no rule"),
        ("width=narrow", "width must be a number, not 'narrow'"),
        ("width=0", "width must be more than 0, not 0.0"),
        ("width=nan", "width must be more than 0, not nan"),
        ("width=1,width=2", "width is given twice"),
        ("width=1,planned=1.5", "planned must be a whole number, not '1.5'"),
        ("width=1,planned=0", "planned must be at least 1, not 0"),
        ("width=1,level=95", "level must be between 0 and 1"),
        ("width=1,metric=luck", "unknown metric 'luck'; choose from goat_rate"),
        ("width=1,effect=2", "'effect=2' is not known; choose from width=, metric=, level="),
        (
            "sprt,width=1",
            "'width=1' is not known; choose from effect=, alpha=, beta=, metric=, bounds=",
        ),
        ("sprt,alpha", "'alpha' is not known"),
        ("sprt,alpha=0.7", "alpha must be between 0 and 0.5, not 0.7"),
        ("sprt,beta=0", "beta must be between 0 and 0.5, not 0.0"),
        ("sprt,effect=-1", "effect must be from 0.000001 to 10 standard deviations, not -1.0"),
    ],
)
def test_errors_name_the_value_and_the_choices(text, message):
    with pytest.raises(ValueError, match=r"^stop ") as caught:
        read_stop(text)
    assert message in str(caught.value)


# ---------------------------------------------------------------------- looks


@pytest.mark.parametrize("cycle", [1, 2, 6, 500])
@pytest.mark.parametrize("last", [6, 100, 1000, 99_999])
def test_looks_are_whole_cycles_up_to_the_last(cycle, last):
    found = looks(100, LOOK_GROWTH, cycle, last)
    assert found[-1] == last
    assert all(n % cycle == 0 and n >= 100 for n in found[:-1])
    assert (np.diff(found) > 0).all()
    grown = np.diff(found[:-1]) / found[:-2] if len(found) > 2 else np.zeros(1)
    assert (grown <= LOOK_GROWTH - 1 + cycle / 100).all()


def test_looks_that_would_never_end_are_refused():
    for wrong in ((0, 1.05, 1, 9), (1, 1.0, 1, 9), (1, 1.05, 0, 9), (1, 1.05, 1, 0)):
        with pytest.raises(ValueError, match=r"must be|growth"):
            looks(*wrong)


# ---------------------------------------------------------------------- the test of three ways


def test_three_ways_are_two_tests_of_one_side():
    test = ThreeWay(0.1, 0.05, 0.1)
    one = Sprt(0, 0.1, 0.025, 0.1)
    for effect in np.linspace(-0.4, 0.4, 41):
        for n in (100, 400, 1500, 6000):
            up = one.decide(log_likelihood_ratio(effect, n, 0, 0.1))
            down = one.decide(log_likelihood_ratio(-effect, n, 0, 0.1))
            wanted = "high" if up == "high" else "low" if down == "high" else "open"
            if up == down == "low":
                wanted = "none"
            assert test.decide(effect, n) == wanted


def first_decisions(test, x, schedule):
    """The first decision of each row of ``[run, deal]``, and its deals."""
    n = np.array(schedule)
    sums, squares = np.cumsum(x, axis=1)[:, n - 1], np.cumsum(x**2, axis=1)[:, n - 1]
    mean = sums / n
    deviation = np.sqrt((squares - n * mean**2) / (n - 1))
    codes = test.codes(mean / deviation, n)
    codes[:, -1] = np.where(codes[:, -1] == 2, 9, codes[:, -1])
    at = (codes != 2).argmax(axis=1)
    return codes[np.arange(len(x)), at], n[at]


SCHEDULE = looks(100, LOOK_GROWTH, 2, 4000)


def steps(mean, runs, seed, deals=4000):
    """Differences of a deal in whole points, skewed, with a deviation of 1 and a mean."""
    rng = np.random.default_rng(seed)
    return np.round(8 * (rng.gamma(4, 0.5, (runs, deals)) - 2 + mean)) / 8


def test_equals_are_declared_different_in_at_most_alpha():
    """Of 1,000 runs at 5%, more than 68 come by chance once in 200."""
    codes, deals = first_decisions(ThreeWay(0.15), steps(0.0, 1000, 1), SCHEDULE)
    assert np.isin(codes, (1, -1)).sum() <= 68
    assert (codes == 0).mean() > 0.9
    assert deals.mean() < 1000


@pytest.mark.parametrize("sign", [1, -1])
def test_effect_is_missed_in_at_most_beta(sign):
    """Of 1,000 runs at 10%, more than 125 come by chance once in 200."""
    x = sign * steps(0.15, 1000, 2)
    codes, deals = first_decisions(ThreeWay(0.15, beta=0.1), x, SCHEDULE)
    assert (codes != sign).sum() <= 125
    assert deals.mean() < 700


def test_family_of_equals_has_any_error_in_at_most_alpha():
    """200 families of 10 pairs: more than 19 with an error come by chance once in 250; each pair by
    itself would spoil far more of them."""
    x = steps(0.0, 2000, 3, 2000)
    schedule = looks(100, LOOK_GROWTH, 2, 2000)
    rule = SprtStop(0.2)
    codes, _ = first_decisions(rule.test(10), x, schedule)
    assert np.isin(codes, (1, -1)).reshape(200, 10).any(axis=1).sum() <= 19
    alone, _ = first_decisions(rule.test(1), x, schedule)
    assert np.isin(alone, (1, -1)).reshape(200, 10).any(axis=1).sum() > 40


def test_rules_decide_estimates_by_key():
    rng = np.random.default_rng(4)
    noise = rng.normal(size=800)
    noise = (noise - noise.mean()) / noise.std()
    found = {f"{m}": estimate_of(noise + m) for m in (-0.4, 0.0, 0.05, 0.4)}
    assert SprtStop(0.2).decide(found) == {
        "-0.4": "better",
        "0.0": "no difference",
        "0.05": "no difference",
        "0.4": "worse",
    }
    of_ratings = SprtStop(0.2, metric="rating").decide(found)
    assert (of_ratings["-0.4"], of_ratings["0.4"]) == ("worse", "better")
    assert SprtStop(0.02).decide({"0.0": found["0.0"]}) == {"0.0": "open"}
    assert SprtStop().decide({}) == {}


def test_estimates_of_duels_are_those_of_compare():
    run = duel("room-fish-all", "dump_heavy", "random", 200, seed=1, players=4)
    rule = SprtStop(metric="points_per_round")
    ((key, found),) = estimates(rule, run.frame).items()
    row = compare(run.frame).set_index("metric").loc["points_per_round"]
    assert key == "room-fish-all 4: dump_heavy v random"
    assert (found.estimate, found.std_error) == pytest.approx((row["difference"], row["std_error"]))
    assert rule.decide({key: found}) == {key: "better"}
    assert estimates(WidthStop(1, "points_per_round"), run.frame) == {key: found}


def test_estimates_of_a_tournament_are_of_policies_or_of_pairs():
    field = ["random", "dump_heavy", "keep_range"]
    frame = tournament("room-fish-all", field, 30, seed=1, players=2).frame
    means = estimates(WidthStop(0.1), frame)
    summary = summarise(frame).query("metric == 'goat_rate'").set_index("policy")["estimate"]
    assert {key.partition(": ")[2]: e.estimate for key, e in means.items()} == pytest.approx(
        summary.to_dict()
    )
    pairs = estimates(SprtStop(metric="goat_rate"), frame)
    assert len(pairs) == 3
    one = pairs["room-fish-all 2: random v dump_heavy"]
    assert one.estimate == pytest.approx(summary["random"] - summary["dump_heavy"])


def test_a_larger_family_needs_more():
    one = {"a": estimate_of(np.tile([1, 1, -1, 0], 60))}
    alone, many = (SprtStop(0.3).decide(one, family=m)["a"] for m in (1, 10**9))
    assert (alone, many) == ("worse", "open")
    rule = WidthStop(0.2, "points")
    few, more = (rule.interval(one["a"], family) for family in (1, 66))
    assert few.ci_high < more.ci_high
    assert few.level == more.level == 0.95
    with pytest.raises(ValueError, match="a family of 1 cannot have 2 members"):
        rule.decide(one | {"b": one["a"]}, family=1)


def test_width_is_that_of_the_simultaneous_sequence():
    found = estimate_of(np.tile([3, 1, 2, 2], 250))
    inside = clustered_mean(np.tile([3, 1, 2, 2], 250), np.ones(1000), level=1 - 0.05 / 12)
    width = 2 * (sequence_of(inside).ci_high - found.estimate)
    for factor, decision in ((1.001, "enough"), (0.999, "open")):
        rule = WidthStop(width * factor, "points")
        assert rule.decide({"x": found}, family=12) == {"x": decision}


@pytest.mark.parametrize("goats", [0, 1])
@pytest.mark.parametrize("n", [1, 2, FIRST_LOOK - 1, FIRST_LOOK, 5000])
def test_deals_that_all_agree_are_not_certain(goats, n):
    found = {"x": estimate_of(np.full(n, goats), rate=True)}
    span = WidthStop(0.01).interval(found["x"], 1)
    assert span.ci_high - span.ci_low >= 1 / n
    assert WidthStop(0.01).decide(found)["x"] == ("enough" if n == 5000 else "open")


def test_interval_of_deals_that_all_agree_holds_at_all_looks():
    """A rare goat: the share of runs whose interval, while no goat was seen, misses the rate."""
    rng = np.random.default_rng(6)
    p = 0.02
    first_goat = rng.geometric(p, 2000)
    ends = np.array(
        [sequence_of(estimate_of(np.zeros(n), rate=True), rate=True).ci_high for n in range(1, 400)]
    )
    misses = [(ends[: max(first - 1, 0)] < p).any() for first in np.minimum(first_goat, 399)]
    assert np.mean(misses) < 0.065
    assert np.mean(misses) > 0.03


# ---------------------------------------------------------------------- corrected estimates


def stopped(rule, x, schedule):
    """Corrected estimates of runs, ``[run, deal]``, each at the look at which it is decided."""
    _, deals = first_decisions(rule.test(1), x, schedule)
    tables = []
    for row, n in zip(x, deals, strict=True):
        one = clustered_difference((row[:n], np.ones(n)), (np.zeros(n), np.ones(n)))
        tables.append(corrected(rule, {"x": one}, schedule))
    return pd.concat(tables, ignore_index=True)


@pytest.mark.parametrize("mean", [0.15, 0.25, 0.4])
def test_correction_takes_most_of_the_bias_away(mean):
    """600 runs; the bias that is left is less than 2/5 of the naive one, or noise (3 errors)."""
    rule, schedule = SprtStop(0.2), looks(100, LOOK_GROWTH, 2, 3000)
    x = np.random.default_rng(7).normal(mean, 1, (600, 3000))
    table = stopped(rule, x, schedule)
    naive, adjusted = table["estimate"].mean() - mean, table["adjusted"].mean() - mean
    error = table["adjusted"].std() / math.sqrt(600)
    assert abs(adjusted) < max(0.4 * abs(naive), 3 * error)
    if mean == 0.25:
        assert naive > 0.02
        assert abs(adjusted) < 0.4 * naive


def test_sequence_covers_at_the_stop_where_the_naive_interval_does_not():
    """600 runs of equals and of pairs a little apart; at 95% under 556 come once in 250."""
    rule, schedule = SprtStop(0.2), looks(100, LOOK_GROWTH, 2, 3000)
    for mean in (0.0, 0.05, 0.2):
        x = np.random.default_rng(8).normal(mean, 1, (600, 3000))
        table = stopped(rule, x, schedule)
        held = (table["sequence_low"] <= mean) & (mean <= table["sequence_high"])
        assert held.sum() >= 556
        naive = (table["ci_low"] <= mean) & (mean <= table["ci_high"])
        if mean == 0.05:
            assert naive.sum() < 556


def test_correction_is_odd_and_seeded():
    x = np.tile([1.0, -0.5, 0.5, 0.25], 50)
    schedule = looks(100, LOOK_GROWTH, 2, 2000)
    one, again = (corrected(SprtStop(), {"x": estimate_of(x)}, schedule) for _ in range(2))
    pd.testing.assert_frame_equal(one, again)
    mirror = corrected(SprtStop(), {"x": estimate_of(-x)}, schedule)
    assert mirror["adjusted"][0] == pytest.approx(-one["adjusted"][0])
    other = corrected(SprtStop(), {"x": estimate_of(x)}, schedule, seed=1)
    assert other["adjusted"][0] != one["adjusted"][0]
    assert other["adjusted"][0] == pytest.approx(one["adjusted"][0], rel=0.05)


def test_strong_effects_need_no_correction():
    """They stop at the first look, whatever luck does."""
    rng = np.random.default_rng(9)
    found = estimate_of(rng.normal(3, 1, 100))
    table = corrected(SprtStop(), {"x": found}, looks(100, LOOK_GROWTH, 1, 1000))
    assert table["adjusted"][0] == found.estimate


def test_rule_of_width_is_biased_for_low_rates_and_says_that_it_does_not_adjust():
    """400 runs: luck that makes a rate lower makes it sure sooner (more than 3 errors)."""
    rng = np.random.default_rng(8)
    rule, schedule = WidthStop(0.06), looks(100, LOOK_GROWTH, 2, 5000)
    off = []
    for _ in range(400):
        goats = (rng.random(5000) < 0.05).astype(float)
        for n in schedule:
            one = clustered_mean(goats[:n], np.ones(n), rate=True)
            if rule.decide({"x": one})["x"] == "enough":
                break
        off.append(one.estimate - 0.05)
    assert np.mean(off) < -3 * np.std(off) / 20
    assert corrected(rule, {"x": one}, schedule)["adjusted"].isna().all()


def test_rule_of_width_has_no_bias_among_normal_steps():
    """1,000 runs that stop at a width: naive estimates are right in the mean (4 errors)."""
    rng = np.random.default_rng(10)
    rule, schedule = WidthStop(0.3, "points"), looks(100, LOOK_GROWTH, 1, 2000)
    tables = []
    for _ in range(1000):
        x = rng.normal(0.1, 1, 2000)
        for n in schedule:
            one = estimate_of(x[:n])
            if rule.decide({"x": one})["x"] == "enough":
                break
        tables.append(corrected(rule, {"x": one}, schedule))
    table = pd.concat(tables)
    assert (table["decision"] == "enough").all()
    assert table["adjusted"].isna().all()
    error = table["estimate"].std() / math.sqrt(1000)
    assert abs(table["estimate"].mean() - 0.1) < 4 * error


@pytest.mark.parametrize("rule", [SprtStop(), WidthStop(0.1, "points"), WidthStop(0.01)])
@pytest.mark.parametrize("x", [[1.0], [0.0] * 300, [1.0] * 300, [1.0, 0.0] * 150])
def test_no_result_breaks_the_corrected_table(rule, x):
    table = corrected(rule, {"x": estimate_of(np.array(x))}, [100, 200, 300])
    assert table.drop(columns="adjusted").notna().all(axis=None)
    assert table["adjusted"].isna().all() == isinstance(rule, WidthStop)
    assert table["sequence_low"][0] <= table["estimate"][0] <= table["sequence_high"][0]


def test_effects_of_one_sided_results_are_finite_and_stop():
    """[144, 3, 1, 0, 0]: the published scores on which the plain variance breaks down."""
    scores = np.repeat([-0.5, -0.25, 0, 0.25, 0.5], [144, 3, 1, 0, 0])
    found = estimate_of(scores)
    assert math.isfinite(effect_of(found))
    assert SprtStop(0.5).decide({"x": found}) == {"x": "better"}
