"""The meta-game: payoffs against compare, mixtures of games whose answer is known, circles."""

from itertools import combinations

import numpy as np
import pytest
from frames import duel_frame

from kozel_sim import compare, intransitive, nash, payoffs
from kozel_sim.experiment import Experiment
from kozel_sim.metagame import _mixture
from kozel_sim.tournaments import Tournament

ROCK = {("rock", "scissors"): 9.0, ("scissors", "paper"): 9.0, ("paper", "rock"): 9.0}
LADDER = {("top", "middle"): 8.0, ("middle", "low"): 8.0, ("top", "low"): 12.0}


def played(players, pairs, deals=40):
    values = {"name": "x", "rules": ["room-fish-all"], "players": [players], "duels": [*pairs]}
    planned = Tournament.of(Experiment.read(values | {"deals": deals, "seed": 1}, "x"))
    return planned.play().frame


@pytest.mark.parametrize("metric", ["points_per_match", "points_per_round", "goat_rate"])
def test_payoffs_of_one_order_are_the_differences_of_compare(metric):
    frame = played(4, combinations(["random", "dump_heavy", "allround"], 2))
    table = payoffs(frame, metric).set_index(["policy", "against"])
    for row in compare(frame).query("metric == @metric").itertuples():
        one, back = table.loc[(row.policy, row.against)], table.loc[(row.against, row.policy)]
        assert one["payoff"] == pytest.approx(-row.difference) == -back["payoff"]
        assert one["std_error"] == pytest.approx(row.std_error)
        assert (one["ci_low"], one["ci_high"]) == pytest.approx((-row.ci_high, -row.ci_low))
        assert one["p_value"] == pytest.approx(row.p_value)
        assert (one["n_matches"], one["n_deals"]) == (row.n_matches, row.n_deals)


def test_both_orders_make_one_payoff_with_their_covariance():
    pairs = [("random", "dump_heavy"), ("dump_heavy", "random")]
    frame = played(4, pairs)
    table = payoffs(frame)
    by_deal = []
    for first, second in pairs:
        rows = frame[frame["duel"] == f"{first} v {second}"]
        means = rows.groupby(["deal", "policy"], observed=True)["points"].mean().unstack()
        by_deal.append((means[second] - means[first]).to_numpy())
    both = (by_deal[0] - by_deal[1]) / 2
    assert table["payoff"][0] == pytest.approx(both.mean())
    assert table["std_error"][0] == pytest.approx(both.std(ddof=1) / np.sqrt(len(both)))
    assert table["n_matches"][0] == 2 * 4 * 40


def test_simultaneous_intervals_are_wider_and_hold_together():
    """Of 200 games of equals at 95%, less than 181 that hold together come once in 250."""
    gaps = dict.fromkeys(combinations("abcd", 2), 0.0)
    held = 0
    for seed in range(200):
        frame = duel_frame(gaps, 20, seed)
        wide = payoffs(frame, simultaneous=True)
        held += ((wide["ci_low"] <= 0) & (wide["ci_high"] >= 0)).all()
    assert held >= 181
    assert (wide["ci_high"] > payoffs(frame)["ci_high"]).all()


def test_rock_paper_scissors():
    frame = duel_frame(ROCK, 2000, seed=1)
    table = nash(frame, resamples=50).set_index("policy")
    assert table["share"].tolist() == pytest.approx([1 / 3] * 3, abs=0.05)
    assert ((table["share"] - 1 / 3).abs() < 4 * table["std_error"]).all()
    assert ((table["ci_low"] < table["share"]) & (table["share"] < table["ci_high"])).all()
    assert (table["support"] == 1).all()
    assert table["against_mixture"].tolist() == pytest.approx([0] * 3, abs=1e-6)
    circles = intransitive(frame)
    assert len(circles) == 1
    (row,) = circles.to_dict("records")
    assert row["significant"]
    order = [row["first"], row["second"], row["third"]]
    for first, second in zip(order, (*order[1:], order[0]), strict=True):
        assert (first, second) in ROCK
    assert row["first_second"] == pytest.approx(9, abs=1)


def test_circle_of_chance_is_marked_as_not_significant():
    found = [intransitive(duel_frame(dict.fromkeys(ROCK, 0.0), 10, seed)) for seed in range(40)]
    circles = [row for table in found for row in table["significant"]]
    assert 3 <= len(circles) <= 20
    assert not any(circles)


def test_dominated_policies_have_no_share():
    table = nash(duel_frame(LADDER, 200), resamples=30).set_index("policy")
    assert table.loc["top", ["share", "std_error", "ci_low"]].tolist() == [1, 0, 1]
    assert table.loc[["middle", "low"], "share"].tolist() == [0, 0]
    assert (table.loc[["middle", "low"], "against_mixture"] < -5).all()
    assert intransitive(duel_frame(LADDER, 200)).empty


def test_mixture_of_a_weighted_circle():
    """Of a circle with payoffs x, y, z each share is that of the edge it is not on."""
    matrix = np.array([[0.0, 1, -2], [-1, 0, 3], [2, -3, 0]])
    assert _mixture(matrix) == pytest.approx([3 / 6, 2 / 6, 1 / 6], abs=1e-6)
    assert _mixture(1e-6 * matrix) == pytest.approx([3 / 6, 2 / 6, 1 / 6], abs=1e-6)


def test_twins_of_a_mixture_share_alike():
    matrix = np.array([[0.0, 0, 5], [0, 0, 5], [-5, -5, 0]])
    assert _mixture(matrix) == pytest.approx([0.5, 0.5, 0])
    assert _mixture(np.zeros((4, 4))) == pytest.approx([0.25] * 4)


def test_bootstrap_draws_the_same_deals_for_all_pairs():
    """Luck that all duels of a deal share cannot move their differences apart."""
    frame = duel_frame(ROCK, 60, luck=0.0)
    assert (nash(frame, resamples=20)["std_error"] < 1e-9).all()


@pytest.mark.parametrize("case", ["one deal", "all ties", "one duel"])
@pytest.mark.parametrize("metric", ["goat_rate", "points_per_match"])
def test_no_game_breaks_the_tables(case, metric):
    gaps = {("a", "b"): 0.0} if case == "one duel" else ROCK
    frame = duel_frame(gaps, 1 if case == "one deal" else 8)
    if case == "all ties":
        frame = frame.assign(points=3, goat=False)
    for table in (payoffs(frame, metric), nash(frame, metric, resamples=10)):
        assert table.notna().all(axis=None)
    shares = nash(frame, metric, resamples=10)
    assert shares["share"].sum() == pytest.approx(1)
    if case == "all ties":
        assert shares["share"].tolist() == pytest.approx([1 / 3] * 3)
    if case == "one deal":
        assert (shares["ci_high"] - shares["ci_low"] == 1).all()
    assert not intransitive(frame, metric)["significant"].any()


def test_missing_duels_are_named():
    gaps = {pair: 1.0 for pair in ROCK if "rock" in pair}
    with pytest.raises(ValueError, match="made-up: the duel scissors v paper is missing"):
        nash(duel_frame(gaps, 5))
    with pytest.raises(ValueError, match="no column 'duel'; it comes from duel"):
        payoffs(duel_frame(gaps, 5).drop(columns="duel"))
