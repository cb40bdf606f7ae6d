"""Differences that rest on few deals: their intervals hold, in all that is made of them."""

import numpy as np
import pytest

from kozel_sim import compare, duel, pairwise, payoffs, tournament
from kozel_sim.few import ENOUGH, unseen_error, unseen_error_of_moments
from kozel_sim.intervals import p_value
from kozel_sim.metrics import DealSums
from kozel_sim.sequential import effect_of, sequence_of
from kozel_sim.stats import clustered_difference
from kozel_sim.sweep import effects

NEARLY = "mix:0.9999*dump_heavy+0.0001*random"
SIZES = (2, 3, 5, 10, 30, 100, 300, 1000)


def covered(draw, n, experiments=400, level=0.95):
    """The share of experiments whose interval holds; `draw` gives values, differences, truth."""
    rng = np.random.default_rng(n)
    held = 0
    for _ in range(experiments):
        values, differences, truth = draw(rng, n)
        one = np.ones(n)
        found = clustered_difference((values + differences, one), (values, one), level)
        held += found.ci_low <= truth <= found.ci_high
    return held / experiments


@pytest.mark.parametrize("share", [0.001, 0.01, 0.1])
@pytest.mark.parametrize("kind", ["even", "one-sided", "skewed"])
def test_made_up_differences_of_few_deals_are_covered(kind, share):
    """At 95%, 400 experiments of 8 sizes: a share below 91.6% would come once in 1,000."""

    def draw(rng, n):
        differs = rng.random(n) < share
        sizes, mean = {
            "even": (rng.normal(0, 20, n), 0),
            "one-sided": (np.full(n, 40.0), 40),
            "skewed": (np.minimum(rng.exponential(25, n), 80), 25 * (1 - np.exp(-80 / 25))),
        }[kind]
        return rng.normal(75, 15, n), differs * sizes, share * mean

    assert min(covered(draw, n) for n in SIZES) >= 0.916


def test_the_spread_of_few_deals_alone_would_not_hold():
    """What the two deals add is needed: without it one-sided differences are missed."""
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(400):
        x = 40.0 * (rng.random(100) < 0.01)
        half = 1.98 * x.std(ddof=1) / 10
        held += x.mean() - half <= 0.4 <= x.mean() + half
    assert held / 400 < 0.8


def test_after_two_deals_nothing_is_known():
    frame = duel("room-fish-all", NEARLY, "dump_heavy", 2, seed=1, players=2).frame
    table = compare(frame).set_index("metric")
    assert (table["difference"] == 0).all()
    assert (table["p_value"] == 1).all()
    assert table.loc["points_per_match", "ci_low"] < -50
    assert table.loc["goat_rate", "ci_high"] == 1


def test_everything_that_compares_takes_the_same_error():
    """A duel's row, a payoff, a field's pair, and a difference of rule sets nearly the same."""
    frame = duel("room-fish-all", NEARLY, "dump_heavy", 100, seed=1, players=2).frame
    sums = DealSums.of(frame, "points_per_match")
    largest = (sums.totals / sums.counts).max()
    row = compare(frame).set_index("metric").loc["points_per_match"]
    assert row["std_error"] == pytest.approx(2**0.5 * largest / 100)
    payoff = payoffs(frame, "points_per_match").iloc[0]
    pair = pairwise(frame, "points_per_match").iloc[0]
    for found in (payoff, pair):
        assert found["std_error"] == pytest.approx(row["std_error"])
        assert (found["p_value"], found["p_holm"]) == (1, 1)
    found = sums.difference(0, 1, 0.95)
    assert effect_of(found) == 0
    assert p_value(found) == 1
    wide = sequence_of(found)
    assert wide.ci_high > found.ci_high > 0


@pytest.mark.parametrize("aggregate", [False, True])
def test_rule_sets_that_rarely_differ_are_not_certain_to_be_the_same(aggregate):
    from kozel_sim import RuleSet

    rules = RuleSet.preset("room-fish-all", 2)
    both = [rules, rules.replace(redeal="none")]
    run = tournament(both, ["random", "dump_heavy"], 10, seed=4, aggregate=aggregate)
    table = effects(run if aggregate else run.frame)
    of_second = table[table["preset"] == both[1].name].set_index(["policy", "metric"])
    rounds = of_second.loc[("all", "rounds")]
    assert rounds["difference"] == 0
    assert rounds["diff_ci_low"] < 0 < rounds["diff_ci_high"]
    # A rule set differs from itself by nothing, without an error.
    itself = table[table["preset"] == rules.name]
    assert (itself[["difference", "diff_std_error", "diff_ci_low", "diff_ci_high"]] == 0).all(
        axis=None
    )


def test_enough_deals_that_differ_tell_by_themselves():
    rng = np.random.default_rng(5)
    values, one = rng.normal(75, 15, 1000), np.ones(1000)
    differences = np.zeros(1000)
    found = []
    for k in (0, 5, ENOUGH - 1, ENOUGH, 600):
        differences[:k] = rng.normal(0, 20, k)
        found.append(unseen_error([(values + differences, one, values, one)]))
    assert found[0] > found[1] > found[2] > found[3] == found[4] == 0


def test_half_of_the_deals_must_agree():
    one = np.ones(10)
    values = np.arange(10.0)
    assert unseen_error([(values, one, 0 * one, one)]) == 0
    assert unseen_error([(0.0 + (values < 5), one, 0 * one, one)], rate=True) == 0
    assert unseen_error([(0.0 + (values < 2), one, 0 * one, one)], rate=True) > 0


def test_means_by_round_agree_where_rounds_do():
    points, rounds = np.array([60.0, 80, 100]), np.array([5.0, 8, 9])
    same = unseen_error([(points, rounds, points, rounds)])
    assert same > 0
    assert unseen_error([(points, rounds, points, rounds + np.array([1, 2, 0]))]) == 0


def test_moments_never_add_less_where_few_deals_differ():
    """They do not tell how many deals differ, so they take the least that it may be."""
    rng = np.random.default_rng(7)
    for k in (0, 1, 3, 10):
        differences = np.zeros(400)
        differences[:k] = rng.normal(0, 15, k)
        values, one = np.full(400, 75.0), np.ones(400)
        error = float(np.sqrt(400 / 399) * differences.std() / 20)
        of_moments = unseen_error_of_moments(error, 400, 75)
        size = 75 / (75 + max(differences.max(), 0))
        assert of_moments >= 0.97 * size * unseen_error([(values + differences, one, values, one)])
