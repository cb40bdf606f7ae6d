"""Seats, leaders and shards: tests against slow twins, and how often they cry wolf."""

import numpy as np
import pytest
from frames import field_frame
from scipy import stats as scipy_stats

from kozel_sim import seat_balance, seat_tables, shard_balance, simulate, tournament
from kozel_sim.balance import chi_square
from kozel_sim.stats import summarise

EQUALS = {"a": 0.0, "b": 0.0, "c": 0.0}


def test_seat_tables_are_the_summaries_by_seat_and_leader():
    frame = tournament("room-fish-all", ["random", "dump_heavy"], 40, seed=1, players=2).frame
    table = seat_tables(frame)
    for by, name in (("seat", str), ("led", {True: "leader", False: "others"}.get)):
        for row in summarise(frame, by).to_dict("records"):
            if row["metric"] == "rating":
                continue
            group = name(row[by])
            same = (table["by"] == by) & (table["group"] == group)
            (mine,) = table[same & (table["metric"] == row["metric"])].to_dict("records")
            for column in ("estimate", "std_error", "ci_low", "ci_high", "n_deals"):
                assert mine[column] == pytest.approx(row[column])


def wald(means):
    """Hotelling's statistic of ``[deal, contrast]``, by inverting a covariance."""
    centre = means.mean(axis=0)
    covariance = np.atleast_2d(np.cov(means.T)) / len(means)
    return float(centre @ np.linalg.solve(covariance, centre))


@pytest.mark.parametrize("groups", [2, 3, 4])
def test_chi_square_is_walds_in_its_score_form(groups):
    """With groups alike in every deal T2 = (n - 1) S / (n - S), to the last digits."""
    rng = np.random.default_rng(groups)
    totals = rng.normal(5, 2, (groups, 30)) + rng.normal(0, 3, 30)
    found = chi_square(totals, np.full(totals.shape, 2.0))
    hotelling = wald((totals[1:] - totals[:1]).T)
    assert 29 * found.statistic / (30 - found.statistic) == pytest.approx(hotelling)
    assert found.df == groups - 1
    assert found.p_value == pytest.approx(scipy_stats.chi2.sf(found.statistic, found.df))


def test_shards_chi_square_is_close_to_that_of_independent_groups():
    rng = np.random.default_rng(8)
    values = rng.normal(5, 2, 600)
    shard = np.repeat([0, 1, 2], 200)
    here = shard == np.arange(3)[:, None]
    found = chi_square(here * values, here * 1.0)
    groups = [values[shard == s] for s in range(3)]
    f = scipy_stats.f_oneway(*groups)
    assert found.df == 2
    assert found.p_value == pytest.approx(f.pvalue, abs=0.01)


def test_clustered_chi_square_has_its_size_where_pearsons_has_not():
    """300 tournaments of 60 deals whose luck sticks to the seat: at 5%, less than 1.5% or more than
    9% come once in 1,000 by chance. Pearson's test rejects more than three times as often."""
    frames = [field_frame(EQUALS, 60, seed=s, luck=6, seat_luck=10) for s in range(300)]
    tables = [seat_balance(frame).query("by == 'seat'") for frame in frames]
    clustered = np.mean([(t["p_value"] < 0.05).to_numpy() for t in tables], axis=0)
    plain = np.mean([(t["plain_p_value"] < 0.05).to_numpy() for t in tables], axis=0)
    assert ((clustered > 0.015) & (clustered < 0.09)).all()
    assert (plain > 0.16).all()
    assert np.mean([t["design_effect"].mean() for t in tables]) > 2


def test_few_deals_err_on_the_safe_side():
    """2,000 tests of 4 groups in 12 deals at 5%: more than 6.3% comes once in 250 by chance."""
    rng = np.random.default_rng(3)
    p = [chi_square(rng.normal(size=(4, 12)), np.ones((4, 12))).p_value for _ in range(2000)]
    assert np.mean(np.array(p) < 0.05) < 0.063


def test_shard_test_has_its_size():
    """2,000 runs of 4 shards of 30 deals: at 5%, beyond 3.5% and 6.7% comes once in 1,000."""
    rng = np.random.default_rng(5)
    here = np.arange(120) // 30 == np.arange(4)[:, None]
    goats = rng.binomial(6, rng.beta(2, 2, (2000, 120)))
    p = [chi_square(here * deals, here * 6.0).p_value for deals in goats]
    assert 0.035 < np.mean(np.array(p) < 0.05) < 0.067


def test_a_seat_that_is_worse_and_a_shard_that_differs_are_seen():
    frame = field_frame(EQUALS, 100, seed=1, luck=5)
    worse = frame.assign(points=frame["points"] + 3 * (frame["seat"] == 1))
    table = seat_balance(worse).set_index(["by", "metric"])
    assert table.loc[("seat", "points"), "p_value"] < 1e-6
    swapped = frame["deal"] >= 75
    points = frame["points"] + np.where(swapped & (frame["policy"] == "a"), 5, 0)
    table = shard_balance(frame.assign(points=points), lambda deal: deal // 25)
    found = table.set_index(["policy", "metric"])["p_holm"]
    assert found["a", "points"] < 1e-4
    assert found["b", "goat_rate"] > 0.05


def test_partners_are_one_side():
    frame = tournament("pair-traditional", ["random", "dump_heavy", "allround", "keep_range"], 30)
    table = seat_balance(frame.frame)
    assert table[table["by"] == "seat"]["df"].tolist() == [1, 1]


@pytest.mark.parametrize("case", ["one deal", "one policy", "all ties", "unanimous"])
def test_no_frame_breaks_the_tables(case):
    frame = field_frame(EQUALS, 1 if case == "one deal" else 8)
    if case == "one policy":
        frame = simulate("room-fish-all", ["random"] * 4, 6, seed=1).frame
    if case == "all ties":
        frame = frame.assign(points=0, goat=False)
    if case == "unanimous":
        frame = frame.assign(goat=frame["seat"] == 0, points=101 * (frame["seat"] == 0))
    for table in (seat_tables(frame), seat_balance(frame), shard_balance(frame, lambda d: d % 2)):
        assert table.notna().all(axis=None)
    balance = seat_balance(frame)
    assert np.isfinite(balance.select_dtypes("number")).all(axis=None)
    if case == "all ties":
        assert (balance["p_value"] == 1).all()
    if case == "unanimous":
        assert balance["chi_square"].tolist() == pytest.approx([8] * 4)


def test_shards_are_named_for_every_deal():
    with pytest.raises(ValueError, match="1 shard was named for 4 deals"):
        shard_balance(field_frame(EQUALS, 4), lambda deal: [0])


def test_plain_chi_square_of_goats_is_scipys():
    run = tournament("room-fish-all", ["random", "dump_heavy", "allround"], 20, seed=2, players=3)
    table = seat_balance(run.frame).query("by == 'seat' and metric == 'goat_rate'").iloc[0]
    goats = run.frame.groupby("seat")["goat"].sum()
    found = scipy_stats.chisquare(goats)
    assert table["plain_chi_square"] == pytest.approx(found.statistic)
    assert table["plain_p_value"] == pytest.approx(found.pvalue)
