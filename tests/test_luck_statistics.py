"""How often rare deals come: the engine's own deals against exact probabilities.

Each check allows four standard errors: with another seed, a right generator would fail it with
probability 6e-5. The seeds are fixed, so a check that passes always passes.
"""

from math import sqrt

import numpy as np
import pytest
from conftest import alone, vector_hands
from scipy import stats

from kozel_sim import play, reference
from kozel_sim.decision import Ladder, Stage
from kozel_sim.engine.play import Table, new_matches
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


# ---------------------------------------------------------------------- uniform

ERROR_RATE = 1e-4
"""Chance that a right generator, with another seed, would fail one of the tests below; each shares
it out among its chi-squares (Bonferroni)."""
DEALS = 2**16
UNIFORM = {
    **{f"{n}x7": rules.replace(redeal="none") for n, rules in SEVENS.items()},
    **{f"{n}x5": RuleSet.preset("household-300", n).replace(redeal="none") for n in (2, 3, 4)},
}


@pytest.fixture(scope="module", params=[(d, e) for d in UNIFORM for e in ("scalar", "vector")])
def placed(request, compiled_luck):
    """(sizes of the places, 0 or 1 by ``[deal, tile, place]``): seats, then the bazaar if any."""
    name, engine = request.param
    rules = UNIFORM[name]
    if engine == "vector":
        hands = vector_hands(rules, 7, DEALS)
    else:
        hands = compiled_luck(rules, 7, np.arange(DEALS)).hands
    hands = hands[:, [*range(rules.players), *[4] * (rules.bazaar_size > 0)]]
    sizes = [*[rules.hand_size] * rules.players, *[rules.bazaar_size] * (rules.bazaar_size > 0)]
    where = hands[:, None, :] >> np.arange(28, dtype=np.uint32)[None, :, None] & 1
    assert (where.sum(axis=2) == 1).all()
    assert (where.sum(axis=1) == sizes).all()
    return np.array(sizes), where.astype(np.float32)


def assert_chances(counts: np.ndarray, chances: np.ndarray) -> None:
    """Hold counts ``[case, category]`` to the chances of the categories, by chi-square."""
    expected = counts.sum(axis=1, keepdims=True) * chances
    found = ((counts - expected) ** 2 / expected).sum(axis=1)
    assert found.max() < stats.chi2.isf(ERROR_RATE / len(counts), counts.shape[1] - 1)


def test_every_tile_comes_to_every_place_as_often_as_its_share(placed):
    sizes, where = placed
    assert_chances(where.sum(axis=0, dtype=np.float64), sizes / 28)


def test_every_pair_of_tiles_is_placed_as_if_drawn_without_order(placed):
    """All 378 pairs; a category is a place for the one and a place for the other."""
    sizes, where = placed
    n = len(sizes)
    flat = where.reshape(DEALS, 28 * n)
    # Counts below 2**24 are exact in floats of 32 bits.
    counts = (flat.T @ flat).reshape(28, n, 28, n)
    pairs = np.array([counts[i, :, j].ravel() for i in range(28) for j in range(i)], np.float64)
    chances = (np.outer(sizes, sizes) - np.diag(sizes)) / (28 * 27)
    assert_chances(pairs, chances.ravel())


def test_both_engines_deal_alike(compiled_luck):
    for rules in UNIFORM.values():
        fast = vector_hands(rules, 3 << 33 | 5, 4096)
        assert (fast == compiled_luck(rules, 3 << 33 | 5, np.arange(4096)).hands).all()


def test_ties_are_broken_uniformly():
    """Among n moves with the highest score each is chosen as often, in every engine.

    Who is watched plays in the reference engine; the others make the same of the same deals.
    """
    seen: dict[int, list[int]] = {}

    class Watched(Ladder):
        def choose(self, view, moves):
            left, move = self.narrow(view, moves), super().choose(view, moves)
            seen.setdefault(len(left), []).append(left.index(move))
            return move

    rules = RuleSet.preset("room-fish-all", 4)
    stages = (Stage("always", {"double": 1000}),)
    watched, same = (alone("doubles", kind(stages)) for kind in (Watched, Ladder))
    seats = np.arange(4)[None] * 0
    for deal in range(120):
        record = reference.play_match(rules, [watched] * 4, 1, deal)
        assert play(rules, [same] * 4, 1, deal, engine="scalar") == record
        match = new_matches(np.array([deal], np.uint64), seats)
        Table(rules, [same], "vector").play(match, 1)
        assert match["points"][0].tolist() == list(record.rounds[-1].accounts)
        assert match["rounds"][0] == len(record.rounds)
    counts = {n: np.bincount(ranks, minlength=n) for n, ranks in seen.items() if n > 1}
    counts = {n: c for n, c in counts.items() if c.sum() >= 10 * n}
    assert set(counts) >= {2, 3, 4, 5}
    for n, count in counts.items():
        assert stats.chisquare(count).pvalue > ERROR_RATE / len(counts), n
