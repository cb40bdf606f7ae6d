"""How often rare deals come: the engine's own deals against exact probabilities.

Each check allows four standard errors: with another seed, a right generator would fail it with
probability 6e-5. The seeds are fixed, so a check that passes always passes.
"""

from math import sqrt

import numpy as np
import pytest
from scipy import stats

from kozel_sim.rules import RuleSet
from kozel_sim.tiles import DOUBLES, HAS

SEVENS = {n: RuleSet.preset("livegames-goat", n) for n in (2, 3, 4)}
FIVES = RuleSet.preset("household-300", 4)
MILLION = 1_000_000


def assert_share(happened: np.ndarray, probability: float) -> None:
    """Hold a share of independent deals to its probability, to four standard errors."""
    n = happened.size
    error = sqrt(probability * (1 - probability) / n)
    assert abs(happened.mean() - probability) < 4 * error


def redealt(hands: np.ndarray) -> np.ndarray:
    """Whether each hand has five doubles, or six tiles of a value."""
    found = np.bitwise_count(hands & np.uint32(DOUBLES)) >= 5
    for tiles in HAS:
        found |= np.bitwise_count(hands & np.uint32(tiles)) >= 6
    return found


@pytest.fixture(scope="module")
def dealt(compiled_luck):
    """Hands [deal, seat] by number of players; the last column is the bazaar."""
    return {n: compiled_luck(SEVENS[n], 100 + n, np.arange(MILLION)).hands for n in (2, 3, 4)}


@pytest.mark.parametrize("seat", [0, 1, 2, 3])
def test_one_hand_is_redealt_as_often_as_counted(dealt, seat):
    """Example V50."""
    assert_share(redealt(dealt[4][:, seat]), 5594 / 1184040)


@pytest.mark.parametrize(
    ("players", "probability"), [(2, 0.0094382), (3, 0.0141412), (4, 0.0188335)]
)
def test_some_hand_is_redealt_as_often_as_counted(dealt, players, probability):
    """Example V50."""
    assert_share(redealt(dealt[players][:, :players]).any(axis=1), probability)


@pytest.mark.parametrize(("players", "probability"), [(2, 1 / 2), (3, 1 / 4)])
def test_one_one_sleeps_in_the_bazaar_as_often_as_counted(dealt, players, probability):
    """Example V55."""
    assert_share(dealt[players][:, 4] >> 1 & 1, probability)


def no_double(hands: np.ndarray, players: int) -> np.ndarray:
    return ~(np.bitwise_or.reduce(hands[:, :players], axis=1) & DOUBLES).astype(bool)


def test_no_double_is_dealt_to_two_as_often_as_counted(dealt):
    """Example V54."""
    assert_share(no_double(dealt[2], 2), 116280 / 40116600)


@pytest.mark.parametrize(
    ("rules", "probability", "millions"),
    [(FIVES, 21 / 3108105, 4), (SEVENS[3], 1 / 1184040, 16)],
    ids=["4x5", "3x7"],
)
def test_no_double_is_dealt_to_more_as_seldom_as_counted(
    rules, probability, millions, compiled_luck
):
    """Example V54: about 27 of 4 million deals (4x5), and 14 of 16 million (3x7).

    So few have no normal distribution: the count must lie in the middle of its Poisson
    distribution, without 3e-5 at each side. For 3x7 this says little more than that it is
    plausible (2 to 30).
    """
    count = sum(
        no_double(compiled_luck(rules, seed, np.arange(MILLION)).hands, rules.players).sum()
        for seed in range(millions)
    )
    low, high = stats.poisson.ppf([3e-5, 1 - 3e-5], millions * MILLION * probability)
    assert low <= count <= high
