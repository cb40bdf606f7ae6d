"""What a finished match is worth: rating, timeout, bank, Elo."""

from decimal import ROUND_HALF_UP, Decimal

import pytest

from kozel_sim.scoring import bank_shares, elo_change, rating100, timeout_rating


def half_up(tenths: int) -> int:
    return int((Decimal(tenths) / 10).quantize(Decimal(1), rounding=ROUND_HALF_UP))


def test_rating_is_a_tenth_of_what_is_missing_to_100():
    """Example S4."""
    assert rating100(25) == 8


@pytest.mark.parametrize(
    ("points", "rating"), [(0, 10), (5, 10), (6, 9), (15, 9), (16, 8), (94, 1), (95, 1), (100, 1)]
)
def test_rating_rounds_halves_up_and_is_at_least_1(points, rating):
    assert rating100(points) == rating


def test_rating_is_rounded_arithmetically_everywhere():
    for points in range(101):
        assert rating100(points) == max(1, half_up(100 - points))


def test_rating_of_a_goat_is_0():
    assert rating100(120, goat=True) == 0
    assert rating100(25, goat=True) == 0


@pytest.mark.parametrize(
    ("timed_out", "points", "rating"),
    [
        pytest.param(32, 30, 1, id="S5"),
        pytest.param(32, 13, 2, id="S5"),
        pytest.param(32, 32, 1, id="V72"),
        pytest.param(40, 15, 3, id="V72"),
        pytest.param(17, 12, 1, id="V72"),
        pytest.param(100, 0, 10, id="V72"),
        pytest.param(0, 95, 1, id="behind"),
    ],
)
def test_timeout_rating_is_a_tenth_of_the_difference(timed_out, points, rating):
    assert timeout_rating(points, timed_out) == rating


@pytest.mark.parametrize(
    ("points", "goats", "shares"),
    [
        pytest.param([20, 60], [], [3 / 4, 1 / 4], id="V73"),
        pytest.param([10, 20, 40], [], [4 / 7, 2 / 7, 1 / 7], id="V73"),
        pytest.param([0, 50], [], [1, 0], id="V73"),
        pytest.param([20, 60, 101], [2], [3 / 4, 1 / 4, 0], id="a-goat-gets-nothing"),
        pytest.param([0, 50, 0, 101], [3], [1 / 2, 0, 1 / 2, 0], id="zeros-share"),
        pytest.param([0, 101], [1], [1, 0], id="one-winner"),
        pytest.param([101, 130, 110], [0, 1, 2], [1 / 3] * 3, id="all-goats-are-refunded"),
    ],
)
def test_bank_is_shared_inversely_to_the_points(points, goats, shares):
    found = bank_shares(points, goats)
    assert found == pytest.approx(shares, abs=1e-12)
    assert sum(found) == pytest.approx(1)


@pytest.mark.parametrize(
    ("winner", "loser", "change"),
    [(1500, 1500, 16), (1400, 1600, 24.31), (1600, 1400, 7.69)],
    ids=["V74-equal", "V74-upset", "V74-favourite"],
)
def test_elo_change_follows_the_expectation(winner, loser, change):
    assert elo_change(winner, loser) == pytest.approx(change, abs=0.005)


def test_elo_changes_of_both_results_sum_to_k():
    assert elo_change(1432, 1617) + elo_change(1617, 1432) == pytest.approx(32)
    assert elo_change(1432, 1617, k=10) + elo_change(1617, 1432, k=10) == pytest.approx(10)
