"""Ratings: against choix, against made-up strengths, and where there is little to go by."""

import math
from itertools import permutations

import choix
import numpy as np
import pandas as pd
import pytest
from frames import field_frame, frame_of

from kozel_sim import duel, elo_change, elo_ratings, rate, simulate, tournament
from kozel_sim.ratings import POINTS, _Choices, _fit_choices, _fit_pairs

STRENGTHS = {"best": 1.0, "good": 0.4, "fair": 0.0, "bad": -0.5, "worst": -0.9}


def strong_frame(strengths, deals, players, seed=0, share=0):
    """Matches whose places are drawn by Plackett-Luce: exponential times, the first is best.

    `share` is the part of a policy's luck that all matches of a deal have in common.
    """
    frame = field_frame(dict.fromkeys(strengths, 0.0), deals, players, luck=0)
    rng = np.random.default_rng(seed)
    codes, names = pd.factorize(frame["policy"])
    own = rng.exponential(size=len(frame))
    common = rng.exponential(size=(deals, len(names)))[frame["deal"], codes]
    clock = np.where(rng.random(len(frame)) < share, common, own)
    clock = clock / np.exp(np.array([strengths[name] for name in names]))[codes]
    frame["points"] = clock
    last = frame.groupby(frame.index // players)["points"].transform("max")
    return frame.assign(goat=clock == last, winner=clock != last)


def slow_strengths(frame, players, prior):
    """Strengths by choix, from a list of all orders; each pair has `prior` wins either way."""
    names = list(dict.fromkeys(frame["policy"]))
    orders = []
    for _, match in frame.groupby(frame.index // players):
        rows = match.sort_values(["goat", "points"])
        orders.append([names.index(name) for name in rows["policy"]])
    whole = round(1 / prior)
    orders = orders * whole + list(permutations(range(len(names)), 2))
    found = choix.ilsr_rankings(len(names), orders)
    return found - found.mean()


def strengths_of(frame, players, prior, fit=_fit_choices):
    found = _Choices.of(frame, players)
    chosen = np.asarray(found.by_deal.sum(axis=0)).reshape(found.sets.shape)
    m = len(found.names)
    return fit(found, chosen, prior * (1 - np.eye(m)), np.zeros(m))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_strengths_are_those_of_choix_from_all_orders(players):
    frame = strong_frame(STRENGTHS, 20, players, seed=players)
    slow = slow_strengths(frame, players, 0.5)
    np.testing.assert_allclose(strengths_of(frame, players, 0.5), slow, atol=1e-6)


def test_two_ways_to_fit_pairs_agree():
    frame = strong_frame(STRENGTHS, 30, 2, seed=1)
    one, two = (strengths_of(frame, 2, 0.1, fit) for fit in (_fit_choices, _fit_pairs))
    np.testing.assert_allclose(one, two, atol=1e-6)


@pytest.mark.parametrize("players", [3, 4])
def test_a_tie_is_the_mean_of_the_orders_that_it_allows(players):
    """The likelihood of a tied match, and of all its orders at equal parts."""
    names = np.array([list("abcd")[:players]], dtype=object)
    tied = frame_of(players, [0], names, [[1, 5, 5, 9][:players]])
    tied["goat"] = False
    tied.loc[tied.index[-1], "points"] = 5
    orders = [(0, *rest) for rest in permutations(range(1, players))]
    each = []
    for number, order in enumerate(orders):
        points = np.argsort(np.argsort(order))[None] * 2
        each.append(frame_of(players, [number], names, points))
    apart = strengths_of(pd.concat(each, ignore_index=True), players, 0.1 * len(orders))
    np.testing.assert_allclose(strengths_of(tied, players, 0.1), apart, atol=1e-6)
    assert len(set(np.round(apart, 6))) == 2


def test_partners_strength_is_their_mean():
    """Pairs drawn by Bradley-Terry of the mean of two strengths are rated by those strengths."""
    rng = np.random.default_rng(4)
    names = list(STRENGTHS)
    worth = np.array(list(STRENGTHS.values()))
    seated = np.array([rng.permutation(5)[:4] for _ in range(20_000)])
    gap = (worth[seated[:, [0, 2]]].mean(axis=1)) - worth[seated[:, [1, 3]]].mean(axis=1)
    first_wins = rng.random(len(gap)) < 1 / (1 + np.exp(-gap))
    points = np.where(first_wins[:, None], [0, 101, 0, 101], [101, 0, 101, 0])
    who = np.array(names, dtype=object)[seated]
    frame = frame_of(4, np.arange(20_000), who, points, sides=[0, 1, 0, 1])
    table = rate(frame, resamples=40).set_index("policy")
    for name, strength in STRENGTHS.items():
        truth = POINTS * (strength - worth.mean())
        assert abs(table.loc[name, "rating"] - truth) < 4 * table.loc[name, "std_error"]
    assert (table["std_error"] < 10).all()


@pytest.mark.parametrize("players", [2, 3, 4])
def test_ratings_are_those_that_the_matches_were_drawn_by(players):
    table = rate(strong_frame(STRENGTHS, 400, players, seed=players), resamples=50)
    assert table["policy"].tolist() == list(STRENGTHS)
    mean = np.mean(list(STRENGTHS.values()))
    truth = np.array([POINTS * (s - mean) for s in STRENGTHS.values()])
    errors = (table["rating"] - truth) / table["std_error"]
    assert (errors.abs() < 4).all()
    assert table["rating"].sum() == pytest.approx(0, abs=1e-6)
    chance = 1 / (1 + 10 ** (-table["rating"] / 400))
    assert table["beats_average"].tolist() == pytest.approx(chance.tolist())


def test_bootstrap_intervals_cover_where_deals_share_luck():
    """Of 5 policies in 60 tournaments 285 of 300 intervals at 95% are right in the mean; policies
    of a tournament are dependent, and the bound leaves room for 4 standard errors of 1.6%."""
    strengths = dict.fromkeys(STRENGTHS, 0.0)
    hits = []
    for seed in range(60):
        table = rate(strong_frame(strengths, 60, 2, seed, share=0.5), resamples=100)
        hits.append((table["ci_low"] <= 0) & (table["ci_high"] >= 0))
    assert 0.88 < np.mean(hits) <= 1


def test_results_depend_on_the_seed_and_on_no_order():
    frame = strong_frame(STRENGTHS, 30, 3)
    mixed = frame.iloc[np.random.default_rng(2).permutation(len(frame))]
    one, same, other = rate(frame), rate(frame), rate(frame, seed=1)
    pd.testing.assert_frame_equal(one, same)
    assert (one["std_error"] != other["std_error"]).all()
    found = rate(mixed).set_index("policy")["rating"]
    np.testing.assert_allclose(found[one["policy"]], one["rating"], atol=1e-6)


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("deals", [1, 2, 300])
def test_winless_entrant_is_finite_and_uncertain(players, deals):
    names = dict.fromkeys(["a", "b", "c", "d", "last"], 0.0) | {"last": -10_000.0}
    frame = field_frame(names, deals, players, seed=1)
    table = rate(frame, resamples=60).set_index("policy")
    assert table.notna().all(axis=None)
    assert math.isfinite(table.loc["last", "rating"])
    assert table["rating"].idxmin() == "last"
    row = table.loc["last"]
    if deals == 1:
        assert row["std_error"] == math.inf
    else:
        assert row["ci_high"] - row["ci_low"] > 200


def test_interval_of_a_winless_entrant_is_about_jeffreys():
    """30 deals lost of 30, to one other: 97.5% of Beta(1/2, 30.5), as deals are trials."""
    from scipy import stats as scipy_stats

    frame = field_frame({"first": 0.0, "last": -10_000.0}, 30, 2)
    row = rate(frame, resamples=4000).set_index("policy").loc["last"]
    chance = 1 / (1 + 10 ** (-2 * row["ci_high"] / 400))
    assert chance == pytest.approx(scipy_stats.beta.ppf(0.975, 0.5, 30.5), rel=0.15)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_all_ties_and_one_policy_only(players):
    frame = field_frame(STRENGTHS, 5, players).assign(points=0, goat=False, winner=False)
    table = rate(frame, resamples=20)
    assert table.notna().all(axis=None)
    assert table["rating"].abs().max() < 1e-6
    alone = rate(simulate("room-fish-all", ["random"] * players, 5, seed=1).frame, resamples=20)
    assert alone[["rating", "std_error", "beats_average"]].to_numpy().tolist() == [[0, 0, 0.5]]


@pytest.mark.parametrize(
    ("preset", "players"), [("room-fish-all", 2), ("room-fish-all", 4), ("pair-traditional", 4)]
)
def test_duels_and_tournaments_of_the_product_are_rated(preset, players):
    run = duel(preset, "random", "dump_heavy", 100, seed=1, players=players)
    table = rate(run.frame, resamples=20)
    assert table["policy"].tolist() == ["dump_heavy", "random"]
    assert table["ci_low"][0] > 0
    field = ["random", "dump_heavy", "keep_range", "allround"]
    table = rate(tournament(preset, field, 60, seed=1, players=players).frame, resamples=20)
    assert table["policy"].iloc[0] == "allround"
    assert (table["ci_low"] <= table["rating"]).all()
    assert (table["rating"] <= table["ci_high"]).all()


def test_errors_name_what_is_wrong():
    frame = strong_frame(STRENGTHS, 2, 3)
    with pytest.raises(ValueError, match="resamples must be at least 2, not 1"):
        rate(frame, resamples=1)
    with pytest.raises(ValueError, match="whole matches are needed"):
        rate(frame[frame["seat"] == 0])
    with pytest.raises(ValueError, match="Elo compares two players; made-up has 3"):
        elo_ratings(frame)


# ---------------------------------------------------------------------- Elo


def test_elo_is_the_rule_pages_match_by_match():
    frame = strong_frame(STRENGTHS, 6, 2, seed=3)
    points = dict.fromkeys(STRENGTHS, 1500.0)
    for first in range(0, len(frame), 2):
        rows = frame.iloc[first : first + 2].set_index("winner")["policy"]
        change = elo_change(points[rows[True]], points[rows[False]], 24)
        points[rows[True]] += change
        points[rows[False]] -= change
    table = elo_ratings(frame, k=24).set_index("policy")["elo"]
    for name, elo in points.items():
        assert table[name] == pytest.approx(elo)


def test_elo_leaves_draws_out_and_starts_where_it_is_told():
    frame = strong_frame(STRENGTHS, 3, 2).assign(winner=False)
    assert (elo_ratings(frame, start=1000)["elo"] == 1000).all()


def test_elo_over_shuffles_agrees_with_the_strengths_better_than_one_order():
    frame = strong_frame(STRENGTHS, 100, 2, seed=5)
    fair = rate(frame, resamples=2).set_index("policy")["rating"]

    def off(table):
        elo = table.set_index("policy")["elo"] - 1500
        return float(((elo - fair[elo.index]) ** 2).mean())

    shuffled = elo_ratings(frame, shuffles=40)
    assert (shuffled["order_spread"] > 0).all()
    assert off(shuffled) < off(elo_ratings(frame))
