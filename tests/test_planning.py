"""Plans: against statsmodels, and whether what is planned is found as often as was asked."""

import math

import numpy as np
import pytest
from frames import duel_frame
from scipy import stats as scipy_stats
from statsmodels.stats.power import TTestPower

from kozel_sim import compare, duel, plan
from kozel_sim.planning import deals_needed


@pytest.mark.parametrize("effect", [3.0, 1.0, 0.5, 0.2, 0.05, 0.02])
@pytest.mark.parametrize("power", [0.8, 0.9, 0.95])
def test_deals_are_the_least_with_the_power(effect, power):
    n = deals_needed(effect, 1.0, power, 0.95)
    test = TTestPower()
    assert test.power(effect, n, 0.05) >= power - 1e-4
    assert n == 2 or test.power(effect, n - 1, 0.05) < power + 1e-4


def test_many_deals_are_counted_by_the_normal_law():
    z = scipy_stats.norm.ppf(0.975) + scipy_stats.norm.ppf(0.9)
    assert deals_needed(1e-6, 1.0, 0.9, 0.95) == pytest.approx(z**2 * 1e12)


def test_plan_takes_its_spread_from_the_paired_differences():
    run = duel("room-fish-all", "dump_heavy", "random", 150, seed=1, players=4)
    table = plan(run.frame, 2.0, 0.9, seconds_per_deal=0.01)
    means = run.frame.groupby(["deal", "policy"], observed=True)["points"].mean().unstack()
    deviation = (means["dump_heavy"] - means["random"]).std(ddof=1)
    first = table.iloc[0]
    assert first["deviation"] == pytest.approx(deviation)
    limit = deviation * math.sqrt(149 / scipy_stats.chi2.ppf(0.05, 149))
    assert first["deviation_high"] == pytest.approx(limit)
    assert first["deals"] == deals_needed(2.0, deviation, 0.9, 0.95)
    assert first["matches"] == 4 * first["deals"]
    assert first["seconds"] == pytest.approx(0.01 * first["deals"])
    (row,) = compare(run.frame).query("metric == 'points_per_match'").to_dict("records")
    unpaired = first["matches"] / (1 - row["variance_reduction"])
    assert first["unpaired_matches"] == pytest.approx(unpaired, abs=1)


def test_alternatives_ask_for_less_where_more_is_to_be_found():
    table = plan(duel_frame({("a", "b"): 3.0}, 50), 2.0).query("not asked")
    assert len(table) == 12
    by_power = table.pivot(index="detect", columns="power", values="deals")
    assert (by_power.diff(axis=1).iloc[:, 1:] > 0).all(axis=None)
    assert (by_power.diff().iloc[1:] < 0).all(axis=None)
    assert (table["deals_high"] >= table["deals"]).all()


def test_planned_duels_find_the_difference_as_often_as_asked():
    """1,000 duels as long as planned: a power of 0.9 within 4 standard errors of 0.95%."""
    pilot = duel_frame({("a", "b"): 3.0}, 3000, seed=1)
    deals = int(plan(pilot, 3.0, 0.9)["deals"][0])
    frame = duel_frame({("a", "b"): 3.0}, 1000 * deals, seed=2)
    means = frame.groupby(["deal", "policy"])["points"].mean().unstack()
    runs = (means["b"] - means["a"]).to_numpy().reshape(1000, deals)
    found = scipy_stats.ttest_1samp(runs, 0, axis=1).pvalue < 0.05
    assert 0.86 < found.mean() < 0.94


@pytest.mark.parametrize("metric", ["goat_rate", "points_per_match", "points_per_round"])
def test_pilot_without_spread_plans_with_deals_that_might_have_differed(metric):
    frame = duel_frame({("a", "b"): 5.0}, 20, luck=0.0)
    table = plan(frame, 0.5, metric=metric)
    assert table.notna().all(axis=None)
    assert (table["deals"] >= 2).all()
    # Deals that might have differed are its spread.
    assert (table["deviation"] > 0).all()
    assert (table["deals_high"] >= table["deals"]).all()


def test_impossible_plans_are_refused():
    frame = duel_frame({("a", "b"): 5.0}, 5)
    for wrong, match in [
        ({"detect": 0}, "detect must be more than 0, not 0"),
        ({"detect": 1, "power": 1}, "power must be between 0.05 and 1"),
        ({"detect": 1, "level": 95}, "level must be between"),
        ({"detect": 1, "metric": "luck"}, "unknown metric 'luck'; choose from points_per_round"),
    ]:
        with pytest.raises(ValueError, match=match):
            plan(frame, **wrong)
    with pytest.raises(ValueError, match="a pilot of 1 deal tells nothing"):
        plan(frame[frame["deal"] == 0], 1)
    assert np.isfinite(plan(frame, 1)["deals"]).all()
