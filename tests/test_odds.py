"""Odds ratios and shares of goats: against counts by hand, made-up truth, and each other."""

import json
import math

import numpy as np
import pytest
from frames import duel_frame

from kozel_sim import compare, duel, load_totals, pairwise, tournament
from kozel_sim.cli import app
from kozel_sim.odds import Odds, odds_ratio, share_of
from kozel_sim.reporting import odds_words
from kozel_sim.sweep import ALL, effects

FIELD = ["random", "dump_heavy", "allround"]
ODDS = ["odds_ratio", "odds_low", "odds_high"]


def odds(rate):
    return rate / (1 - rate)


@pytest.mark.parametrize(("low", "high", "deals"), [(0.29, 0.75, 60), (0.05, 0.1, 300)])
def test_intervals_cover_in_1000_experiments(low, high, deals):
    """Luck sticks to deals and seats; 93% to 97% is 2.9 standard errors of such a share."""
    rng = np.random.default_rng(5)
    shape = (1000, deals, 4)
    # A deal raises both rates or lowers both, by half; half of its seats' lots are common.
    scale = rng.choice([0.5, 1.5], (1000, deals, 1)) if high < 0.5 else np.ones((1000, deals, 1))
    lots, others = rng.random(shape), rng.random(shape)
    shared = rng.random(shape) < 0.5
    one = (lots < low * scale).sum(axis=2).astype(float)
    two = (np.where(shared, lots, others) < high * scale).sum(axis=2).astype(float)
    true, share = odds(low) / odds(high), low / (low + high)
    of_odds = of_share = 0
    for mine, theirs in zip(one, two, strict=True):
        counts = np.full(deals, 4.0)
        found = odds_ratio((mine, counts), (theirs, counts), 0.95)
        of_odds += found.low <= true <= found.high
        part = share_of(mine, theirs, 0.95)
        of_share += part.ci_low <= share <= part.ci_high
    assert 930 <= of_odds <= 970
    assert 930 <= of_share <= 970


def test_ratio_of_plain_trials_is_woolfs():
    """One match a deal, on deals of their own: the error of the logarithm is known by counts."""
    counts = {"mine": (30, 170), "theirs": (60, 140)}
    sides = []
    for place, (yes, no) in enumerate(counts.values()):
        happened = np.zeros(400)
        happened[200 * place : 200 * place + yes] = 1
        there = np.zeros(400)
        there[200 * place : 200 * place + yes + no] = 1
        sides.append((happened, there))
    found = odds_ratio(*sides, 0.95)
    assert found.ratio == pytest.approx(30 * 140 / (170 * 60))
    error = math.sqrt(1 / 30 + 1 / 170 + 1 / 60 + 1 / 140)
    assert math.log(found.high / found.ratio) == pytest.approx(1.966 * error, rel=0.003)
    back = odds_ratio(sides[1], sides[0], 0.95)
    assert (1 / back.ratio, 1 / back.high) == pytest.approx((found.ratio, found.low))


def test_rates_without_odds_have_none_and_few_deals_no_certainty():
    some, full = np.array([1.0, 0, 1]), np.ones(3)
    for one, other in ((0 * some, some), (some, full), (full, full)):
        assert all(
            math.isnan(x) for x in vars(odds_ratio((one, full), (other, full), 0.9)).values()
        )
    assert odds_ratio((some[:1] / 2, full[:1]), (some[:1] / 2, full[:1]), 0.95) == Odds(
        1, 0, math.inf
    )
    same = odds_ratio((some, full), (some, full), 0.95)
    assert same.ratio == 1
    assert same.low < 0.5
    assert same.high > 2
    assert share_of(0 * some, 0 * some, 0.95) is None


def test_compare_and_pairwise_say_of_whom_the_goats_are():
    run = duel("room-fish-all", "allround", "random", 60, seed=1, players=4)
    table = compare(run.frame).set_index("metric")
    row = table.loc["goat_rate"]
    goats = run.frame.groupby("policy", observed=True)["goat"].sum()
    assert row["goat_share"] == pytest.approx(goats["allround"] / goats.sum())
    assert row["seat_share"] == 0.25
    ratio = odds(row["estimate"]) / odds(row["against_estimate"])
    assert row["odds_ratio"] == pytest.approx(ratio)
    assert row["odds_low"] < ratio < row["odds_high"] < 1
    assert row["goat_share_low"] < row["goat_share"] < row["goat_share_high"] < 0.25
    assert table.loc["points_per_match", [*ODDS, "goat_share", "seat_share"]].isna().all()
    field = tournament("room-fish-all", FIELD, 60, seed=1, players=2).frame
    pairs = pairwise(field)
    first = pairs.iloc[0]
    rates = field.groupby("policy", observed=True)["goat"].mean()
    one, two = rates[first["policy"]], rates[first["against"]]
    assert first["odds_ratio"] == pytest.approx(odds(one) / odds(two))
    assert first["goat_share"] == pytest.approx(one / (one + two))
    alone = pairwise(field[field["policy"] != FIELD[2]])
    # Of three pairs each interval is wider than of one.
    assert first["odds_high"] / first["odds_low"] > (alone["odds_high"] / alone["odds_low"])[0]
    assert not set(ODDS) & set(pairwise(field, "points"))


def test_who_never_is_a_goat_has_no_odds_but_a_share():
    row = compare(duel_frame({("a", "b"): 500.0}, 20)).iloc[2]
    assert row["estimate"] == 0
    assert math.isnan(row["odds_ratio"])
    assert math.isnan(row["odds_high"])
    assert (row["goat_share"], row["goat_share_low"]) == (0, 0)
    assert 0 < row["goat_share_high"] < 0.2


@pytest.fixture(scope="module")
def rules_run(tmp_path_factory):
    """The same rule sets with a frame, and as sums."""
    rules = ["room-fish-all", "room-fish-one", "household-300", "leaflet-200"]
    run = tournament(rules, [*FIELD, "few_answers"], 24, seed=3, players=3)
    place = tmp_path_factory.mktemp("odds") / "sums"
    sums = tournament(
        rules, [*FIELD, "few_answers"], 24, seed=3, players=3, aggregate=True, folder=place
    )
    return run, load_totals(place) if sums is None else sums


def test_effects_say_odds_and_shares_from_frames_and_from_sums_alike(rules_run):
    run, sums = rules_run
    table = effects(run.frame)
    rows = table.set_index(["preset", "policy", "metric"]).sort_index()
    numbers = table.select_dtypes("number").columns
    np.testing.assert_allclose(table[numbers], effects(sums)[numbers], rtol=1e-9, atol=1e-12)
    goats = run.frame.groupby(["preset", "policy"], observed=True)["goat"].sum()
    shares = goats / goats.groupby("preset", observed=True).transform("sum")
    for (preset, policy), share in shares.items():
        row = rows.loc[preset, policy, "goat_rate"]
        base = rows.loc["room-fish-all", policy, "goat_rate"]
        assert row["goat_share"] == pytest.approx(share)
        assert row["seat_share"] == 0.25
        assert row["goat_share_difference"] == pytest.approx(share - base["goat_share"])
        assert row["odds_ratio"] == pytest.approx(odds(row["estimate"]) / odds(base["estimate"]))
        if preset != "room-fish-all":
            assert row["odds_low"] < row["odds_ratio"] < row["odds_high"]
            assert row["goat_share_diff_low"] < row["goat_share_diff_high"]
    base = rows.loc["room-fish-all"]
    assert (base.loc[base["odds_ratio"].notna(), ODDS] == 1).all(axis=None)
    assert rows.loc["room-fish-all", "random", "goat_rate"]["goat_share_diff_high"] == 0
    everybody = rows.xs(ALL, level="policy")
    assert everybody[["goat_share", "seat_share"]].isna().all(axis=None)
    assert everybody.xs("rounds", level="metric")[ODDS].isna().all(axis=None)


@pytest.mark.parametrize("kind", [0, 1])
def test_rates_that_the_rules_fix_have_the_error_of_the_other_alone(rules_run, kind):
    results = rules_run[kind].frame if kind == 0 else rules_run[kind]
    rows = effects(results).set_index(["preset", "policy", "metric"]).sort_index()
    one, free = (
        rows.loc["household-300", ALL, "goat_rate"],
        rows.loc["room-fish-all", ALL, "goat_rate"],
    )
    assert one["estimate"] == pytest.approx(2 / 3)
    assert one["odds_low"] == pytest.approx(2 / odds(free["ci_high"]))
    assert one["odds_high"] == pytest.approx(2 / odds(free["ci_low"]))


def test_two_fixed_rates_have_a_ratio_without_an_error():
    run = tournament(["room-fish-one", "household-300"], FIELD[:2], 12, seed=1, players=2)
    rows = effects(run.frame).set_index(["preset", "policy", "metric"])
    assert rows.loc[("household-300", ALL, "goat_rate"), ODDS].tolist() == [1, 1, 1]


def test_sweep_prints_odds_and_shares_of_the_weakest(capsys, tmp_path):
    words = "sweep --rules room-fish-all,household-300 --players 3 -n 12 --seed 1 --policies"
    words = [*words.split(), ",".join(FIELD)]
    app([*words, "--out", str(tmp_path / "s"), "--quiet"], standalone_mode=False)
    app(["show", str(tmp_path / "s"), "--sweep"], standalone_mode=False)
    out = capsys.readouterr().out
    assert "    odds ratio " in out
    assert "% of the seats" in out
    app(["show", str(tmp_path / "s"), "--sweep", "--json"], standalone_mode=False)
    rows = json.loads(capsys.readouterr().out)["effects"]
    (row,) = (r for r in rows if (r["preset"], r["policy"]) == ("household-300", "random"))
    assert f"odds ratio {row['odds_ratio']:.2f} [" in out
    assert f"{100 * row['goat_share']:.1f}% [" in out


def test_words_say_what_is_not_there():
    row = dict.fromkeys((*ODDS, "goat_share", "goat_share_low", "goat_share_high"))
    assert odds_words(row) == "no odds: a rate is 0% or 100%; nobody is a goat"
    row |= {"goat_share": 1.0, "goat_share_low": 0.8, "goat_share_high": 1.0, "seat_share": 0.25}
    told = "no odds: a rate is 0% or 100%; 100.0% [80.0, 100.0] of all goats, at 25.0% of the seats"
    assert odds_words(row) == told
