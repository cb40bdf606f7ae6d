"""Sequential tests and intervals: published figures, error rates, coverage under peeking."""

import math

import numpy as np
import pytest
from scipy import optimize

from kozel_sim.sequential import (
    FIRST_LOOK,
    Sprt,
    effect_of,
    log_likelihood_ratio,
    normalised_elo,
    sequence_half_width,
    sequence_of,
)
from kozel_sim.stats import clustered_mean

SCORES = np.array([-0.5, -0.25, 0, 0.25, 0.5])
COUNTS = np.array([379, 10170, 21828, 10640, 343])
UNIT = math.sqrt(2) * math.log(10) / 800
"""One normalised Elo, as an effect of a pair of games."""


def test_normalised_elo_of_a_published_match():
    elo, half = normalised_elo(SCORES, COUNTS)
    assert (round(elo, 2), round(half, 2)) == (3.05, 2.31)


def test_log_likelihood_ratio_of_a_published_match():
    elo, _ = normalised_elo(SCORES, COUNTS)
    assert round(log_likelihood_ratio(elo * UNIT, COUNTS.sum(), 0, 2 * UNIT), 3) == 2.946


def estimate_of(x):
    return clustered_mean(x, np.ones(len(x)))


def test_one_sided_results_are_finite_and_stop():
    found = estimate_of(np.repeat(SCORES, [144, 3, 1, 0, 0]))
    test = Sprt(0, 0.5)
    ratio = log_likelihood_ratio(effect_of(found), found.n_deals, test.low, test.high)
    assert math.isfinite(ratio)
    assert test.decide(ratio) == "low"


@pytest.mark.parametrize("x", [[0], [0] * 10, [1] * 50, [-2], [-1, 1], [3, 3], [1e-9, -1e9]])
def test_no_results_break_the_ratio(x):
    assert math.isfinite(log_likelihood_ratio(effect_of(estimate_of(x)), len(x), -0.1, 0.1))


def test_all_deals_alike_decide_in_the_end():
    found = estimate_of([1.0] * 400)
    assert Sprt(0, 0.2).decide(log_likelihood_ratio(effect_of(found), 400, 0, 0.2)) == "high"


def test_ratio_changes_its_sign_with_the_sign_of_the_effect():
    one = log_likelihood_ratio(0.03, 500, -0.02, 0.02)
    assert one == pytest.approx(-log_likelihood_ratio(-0.03, 500, -0.02, 0.02))
    assert one > 0


def test_ratio_is_that_of_t_likelihoods():
    """By maximising normal log-likelihoods over the deviation, with the mean tied to it."""
    x = np.random.default_rng(3).normal(0.1, 1, 400)
    best = [
        -optimize.minimize_scalar(
            lambda s, t=t: len(x) * math.log(s) + np.sum((x - t * s) ** 2) / (2 * s * s),
            bounds=(0.5, 2),
            method="bounded",
        ).fun
        for t in (0.0, 0.1)
    ]
    effect = x.mean() / x.std()
    # The closed form replaces the likelihood by that of the effect's normal approximation.
    assert log_likelihood_ratio(effect, 400, 0, 0.1) == pytest.approx(best[1] - best[0], abs=0.05)


@pytest.mark.parametrize(
    ("low", "high", "alpha", "beta"), [(1, 1, 0.05, 0.05), (0, 1, 0, 0.05), (0, 1, 0.05, 0.6)]
)
def test_impossible_tests_are_refused(low, high, alpha, beta):
    with pytest.raises(ValueError, match="must be"):
        Sprt(low, high, alpha, beta)


# ---------------------------------------------------------------------- error rates


def decide(test, x, step=50):
    """Look every 50 deals; return the decision and the deals that it took."""
    for n in range(step, len(x) + 1, step):
        effect = effect_of(estimate_of(x[:n]))
        decision = test.decide(log_likelihood_ratio(effect, n, test.low, test.high))
        if decision != "open":
            return decision, n
    return "open", len(x)


@pytest.mark.parametrize(("truth", "wrong"), [(0.0, "high"), (0.2, "low")])
def test_sprt_errs_no_more_often_than_it_says(truth, wrong):
    """Of 400 runs at 5% more than 32 wrong ones would come by chance once in 250."""
    test = Sprt(0, 0.2)
    rng = np.random.default_rng(17)
    # Differences in steps, as points are, with the effect of the hypothesis.
    runs = np.round(4 * rng.normal(truth, 1, (400, 2000))) / 4
    decisions = [decide(test, x) for x in runs]
    assert sum(d == wrong for d, _ in decisions) <= 32
    assert sum(d == "open" for d, _ in decisions) == 0
    assert np.mean([n for _, n in decisions]) < 450


def test_confidence_sequence_covers_at_every_look_at_once():
    """Skewed values, 1,000 runs, a look at every deal; at 95% under 931 comes once in 250."""
    rng = np.random.default_rng(5)
    n = np.arange(1, 1501)
    width = np.array([sequence_half_width(1, int(k)) for k in n])
    covered = 0
    for _ in range(1000):
        x = rng.exponential(1, 1500) - 1
        mean = np.cumsum(x) / n
        deviation = np.sqrt(np.maximum(np.cumsum(x**2) / n - mean**2, 0))
        looks = n >= FIRST_LOOK
        covered += np.all(np.abs(mean[looks]) <= width[looks] * deviation[looks])
    assert covered >= 931


def test_plain_interval_does_not_survive_peeking():
    """Why the sequence is needed: the same look at every deal with fixed intervals."""
    rng = np.random.default_rng(5)
    n = np.arange(1, 1501)
    missed = 0
    for _ in range(300):
        mean = np.cumsum(rng.normal(0, 1, 1500)) / n
        missed += np.any(np.abs(mean[FIRST_LOOK:]) > 1.96 / np.sqrt(n[FIRST_LOOK:]))
    assert missed > 60


def test_confidence_sequence_knows_nothing_before_its_first_look():
    assert sequence_half_width(1, FIRST_LOOK - 1) == math.inf
    assert math.isfinite(sequence_half_width(1, FIRST_LOOK))
    few = sequence_of(clustered_mean([1, 2], [1, 1]))
    assert (few.ci_low, few.ci_high) == (-math.inf, math.inf)
    one = sequence_of(clustered_mean([1], [1]))
    assert one.ci_high == math.inf


def test_confidence_sequence_is_tightest_near_the_planned_deals():
    ratios = {
        n: sequence_half_width(1, n, planned=2000) * math.sqrt(n) for n in (200, 2000, 20_000)
    }
    assert ratios[2000] < ratios[200]
    assert ratios[2000] < ratios[20_000]
