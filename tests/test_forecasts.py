"""What is said of a stopping test beforehand: against runs of the engine that do stop."""

import numpy as np
import pytest
from frames import duel_frame

from kozel_sim import duel, forecast, plan
from kozel_sim.forecasts import TRUTHS, fixed_power
from kozel_sim.planning import deals_needed
from kozel_sim.policies import get_policy
from kozel_sim.rules import RuleSet
from kozel_sim.stopping import SprtStop, read_stop
from kozel_sim.tournaments import Tournament


@pytest.fixture(scope="module")
def pilot():
    return duel("room-fish-all", "keep_range", "random", 20_000, seed=5, players=2).frame


@pytest.mark.parametrize(
    "text",
    ["sprt,effect=0.3", pytest.param("sprt,effect=0.15,bounds=wald", marks=pytest.mark.slow)],
)
def test_runs_that_stop_take_as_many_deals_as_was_said(pilot, text):
    """60 runs of the engine: deals and decisions within 4 standard errors."""
    rule = read_stop(text)
    # The pilot's own difference is about what is true.
    means = pilot.groupby(["deal", "policy"], observed=True)["points"].mean().unstack()
    true = float((means["random"] - means["keep_range"]).mean())
    table = forecast(pilot, true, stop=rule, most=1500)
    (told,) = table[table["share"] == 1].to_dict("records")
    rules = [RuleSet.preset("room-fish-all", 2)]
    pair = [get_policy(name) for name in ("keep_range", "random")]
    deals, said = [], []
    for seed in range(60):
        run = Tournament("compare", rules, pair, 1500, seed, "duels", ((0, 1),), stop=rule).play()
        (row,) = run.manifest["stopping"]
        deals.append(row["n_deals"])
        said.append(row["decision"])
    assert np.mean(deals) == pytest.approx(told["deals"], abs=4 * np.std(deals) / 60**0.5)
    for decision in ("better", "no difference"):
        chance = told[decision.replace(" ", "_")]
        error = max(chance * (1 - chance), 1 / 60) ** 0.5 / 60**0.5
        assert said.count(decision) / 60 == pytest.approx(chance, abs=4 * error)
    assert np.mean(np.array(deals) <= told["deals_high"]) > 0.75


def test_half_of_the_effect_is_found_less_often_and_takes_longer(pilot):
    table = forecast(pilot, 5.0).set_index("share")
    assert tuple(table.index) == TRUTHS
    assert table["better"].is_monotonic_increasing
    assert table["better"][1.0] == pytest.approx(0.9, abs=0.005)
    assert table["better"][0.0] == pytest.approx(0.025, abs=0.001)
    assert table["better"][0.5] < 0.5
    assert table["deals"][0.5] > 1.2 * table["deals"][1.0]
    sums = table[["better", "worse", "no_difference", "open"]].sum(axis=1)
    assert sums.to_numpy() == pytest.approx(1, abs=1e-6)


def test_rule_is_that_of_the_plan_and_can_be_typed(pilot):
    (text,) = set(forecast(pilot, 5.0, 0.8, 0.99, "points_per_round")["rule"])
    rule = read_stop(text)
    assert (rule.alpha, rule.beta, rule.metric) == (0.01, 0.2, "points_per_round")
    row = forecast(pilot, 5.0).iloc[4]
    assert row["effect"] == pytest.approx(5.0 / row["deviation"])
    assert row["deviation"] == pytest.approx(plan(pilot, 5.0)["deviation"][0])
    assert row["fixed_deals"] == plan(pilot, 5.0)["deals"][0]


def test_family_and_the_last_deal_count(pilot):
    alone, many = (forecast(pilot, 5.0, family=m).set_index("share") for m in (1, 45))
    assert many["deals"][1.0] > alone["deals"][1.0]
    assert many["better"][0.0] == pytest.approx(0.025 / 45, rel=0.05)
    short = forecast(pilot, 5.0, most=300, cycle=7, seconds_per_deal=2.0)
    assert short["deals_high"].max() == 300
    assert (short["open"] > alone["open"].to_numpy()).sum() > 4
    assert (short["seconds"] == 2 * short["deals"]).all()
    assert (short["matches"] == 2 * short["deals"]).all()


@pytest.mark.parametrize("effect", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("power", [0.8, 0.95])
def test_power_of_a_fixed_number_is_that_of_its_plan(effect, power):
    n = deals_needed(effect, 1.0, power, 0.95)
    assert fixed_power(effect, n, 0.95) == pytest.approx(power, abs=0.02 if n < 30 else 0.005)
    assert fixed_power(0, n, 0.95) == pytest.approx(0.05, abs=1e-3)


def test_what_cannot_be_foretold_is_refused_or_left_out(pilot):
    for wrong, match in [
        ({"detect": -1}, "detect must be more than 0"),
        ({"detect": 1, "metric": "luck"}, "unknown metric 'luck'"),
        ({"detect": 1, "family": 0}, "family"),
        ({"detect": 1, "stop": SprtStop(metric="goat_rate")}, "is of metric 'goat_rate'"),
    ]:
        with pytest.raises(ValueError, match=match):
            forecast(pilot, **wrong)
    same = duel_frame({("a", "b"): 5.0}, 20, luck=0.0)
    # Deals that agree may hide others (see kozel_sim.few), unless nobody has any points.
    assert forecast(same, 1.0)["deviation"][0] == pytest.approx(plan(same, 1.0)["deviation"][0])
    assert forecast(same.assign(points=0), 1.0).empty
    assert forecast(pilot, 1.0, power=0.4).empty
    huge = forecast(pilot, 1e6)
    assert set(huge["rule"]) == {"sprt,effect=10.0,beta=0.1"}
    assert huge["better"].iloc[-1] == 1
