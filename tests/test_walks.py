"""How sequential tests go: against simulated runs, and what overshoot costs with and without."""

import numpy as np
import pytest

from kozel_sim.sequential import LOOK_GROWTH, ThreeWay, looks
from kozel_sim.stopping import SprtStop, read_stop
from kozel_sim.walks import corrected_for_overshoot, course

RUNS = 20_000
LOOKS = looks(100, LOOK_GROWTH, 1, 10**6)[:70]


def effects_seen(effect, schedule, seed=1):
    """What runs of normal differences show at each look, by exact sums between looks."""
    rng = np.random.default_rng(seed)
    n = np.asarray(schedule, float)
    steps = np.diff(n, prepend=0)
    sums = rng.normal(effect * steps, np.sqrt(steps), (RUNS, len(n)))
    squares = rng.chisquare(np.maximum(steps - 1, 1e-9), sums.shape) + sums**2 / steps
    mean = np.cumsum(sums, axis=1) / n
    return mean / np.sqrt((np.cumsum(squares, axis=1) - n * mean**2) / (n - 1))


def decided(codes, schedule):
    """The first decision of each run, and its deals."""
    at = np.where((codes != 2).any(axis=1), (codes != 2).argmax(axis=1), len(schedule) - 1)
    return codes[np.arange(len(codes)), at], np.array(schedule)[at]


@pytest.mark.parametrize(
    "test", [ThreeWay(0.1), corrected_for_overshoot(ThreeWay(0.2, 0.002, 0.1))]
)
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0, -2.0])
@pytest.mark.parametrize("schedule", [LOOKS, looks(100, 1.3, 6, 700)])
def test_course_is_that_of_simulated_runs(test, share, schedule):
    """20,000 runs: chances within 0.01, the mean and the half-way mark of the deals within 2%."""
    effect = share * test.effect
    codes, deals = decided(test.codes(effects_seen(effect, schedule), schedule), schedule)
    found = course(test, schedule, effect)
    seen = [float(np.mean(codes == code)) for code in (1, -1, 0, 2)]
    told = [float(found.high.sum()), float(found.low.sum()), float(found.none.sum()), found.open]
    assert told == pytest.approx(seen, abs=0.01)
    assert found.mean == pytest.approx(deals.mean(), rel=0.02)
    for part in (0.5, 0.9):
        assert np.mean(deals <= found.within(part)) > part - 0.01
        assert np.mean(deals < found.within(part)) < part + 0.01


def test_course_of_the_mirrored_effect_is_mirrored():
    one, other = (course(ThreeWay(0.2), LOOKS, effect) for effect in (0.13, -0.13))
    np.testing.assert_allclose(one.high, other.low, atol=1e-12)
    np.testing.assert_allclose(one.none, other.none, atol=1e-12)


def test_chances_of_a_course_are_one_together():
    for effect in (0, 0.05, 0.4, 3.0):
        found = course(corrected_for_overshoot(ThreeWay(0.05)), LOOKS, effect)
        assert found.ends.sum() + found.open == pytest.approx(1, abs=1e-6)
        assert found.ends.min() >= -1e-12


@pytest.mark.parametrize("effect", [0.003, 0.05, 0.2, 0.4, 2.0])
@pytest.mark.parametrize(("alpha", "beta"), [(0.05, 0.05), (0.05 / 66, 0.2), (1e-9, 0.05)])
def test_corrected_bounds_err_as_often_as_was_asked(effect, alpha, beta):
    """Or less often, where the first look alone would: then a bound is 0."""
    plain = ThreeWay(effect, alpha, beta)
    test = corrected_for_overshoot(plain)
    schedule = looks(100, LOOK_GROWTH, 1, 10**9)
    even, different = (course(test, schedule, truth) for truth in (0.0, effect))
    wrong, missed = float((even.high + even.low).sum()), 1 - float(different.high.sum())
    for rate, wanted, bound, wald in zip(
        (missed, wrong), (beta, alpha), test.bounds, plain.bounds, strict=True
    ):
        assert abs(bound) <= abs(wald)
        assert rate == pytest.approx(wanted, rel=0.02) or (rate < wanted and bound == 0)


@pytest.mark.parametrize("effect", [0.05, 0.1, 0.2])
def test_correction_takes_deals_off_and_errs_as_said_in_simulated_runs(effect):
    """20,000 runs: at 5% each error is within 4 standard errors (0.6%) and 0.3% of the method."""
    test = ThreeWay(effect)
    deals = {}
    for name, one in (("wald", test), ("looks", corrected_for_overshoot(test))):
        for truth in (0.0, effect):
            codes, n = decided(one.codes(effects_seen(truth, LOOKS), LOOKS), LOOKS)
            errors = np.mean(np.isin(codes, (-1, 1))) if truth == 0 else np.mean(codes != 1)
            deals[name, truth] = n.mean()
            if name == "wald":
                assert errors < 0.04
            else:
                assert errors == pytest.approx(0.05, abs=0.009)
    for truth in (0.0, effect):
        assert deals["looks", truth] < 0.9 * deals["wald", truth]


def ladder_codes(test, seen, schedule):
    """The decisions of Fishtest's rule: the mean overshoot from each ratio's own new heights."""
    n = np.asarray(schedule, float)
    lower, upper = test.bounds
    says = []
    for sign in (1, -1):
        ratio = n / 2 * (np.log1p(seen**2) - np.log1p((seen - sign * test.effect) ** 2))
        off = []
        for way in (-1, 1):
            heights = np.diff(np.maximum.accumulate(way * ratio, axis=1).clip(0), axis=1, prepend=0)
            sums, squares = np.cumsum(heights, axis=1), np.cumsum(heights**2, axis=1)
            off.append(np.divide(squares, 2 * sums, out=np.zeros_like(sums), where=sums > 0))
        says.append(np.select([ratio > upper - off[1], ratio < lower + off[0]], [1, 0], 2))
    neither = (says[0] == 0) & (says[1] == 0)
    return np.select([says[0] == 1, says[1] == 1, neither], [1, -1, 0], 2)


def test_overshoot_by_ladder_heights_does_not_suit_looks_that_grow():
    """Why bounds come from the looks: Fishtest's rule errs too often, or too seldom, here."""
    rates = []
    for effect in (0.05, 0.2):
        codes, _ = decided(ladder_codes(ThreeWay(effect), effects_seen(0.0, LOOKS), LOOKS), LOOKS)
        rates.append(float(np.mean(np.isin(codes, (-1, 1)))))
    assert rates[0] < 0.048
    assert rates[1] > 0.056


def test_rule_has_its_bounds_by_family():
    rule, wald = SprtStop(0.2), read_stop("sprt,effect=0.2,bounds=wald")
    assert str(wald) == "sprt,effect=0.2,bounds=wald"
    assert wald.test(10) == ThreeWay(0.2, 0.005)
    assert rule.test(10) == corrected_for_overshoot(ThreeWay(0.2, 0.005))
    with pytest.raises(ValueError, match=r"unknown bounds 'none'; choose from looks, wald"):
        read_stop("sprt,bounds=none")


def test_stronger_evidence_never_decides_less():
    """Of an effect of several deviations the ratio itself falls again."""
    test = ThreeWay(0.1)
    for n in (100, 150, 1000):
        codes = test.codes(np.linspace(0, 30, 1000), n).tolist()
        assert codes[-1] == 1
        first = codes.index(1)
        assert set(codes[first:]) == {1}
    assert test.reach(100)[0] == pytest.approx(0.4825, abs=1e-3)
    assert test.codes(test.reach(100)[0] + 1e-9, 100) == 1
    assert test.codes(test.reach(100)[0] - 1e-9, 100) == 2
    assert test.reach(3)[0] == np.inf
