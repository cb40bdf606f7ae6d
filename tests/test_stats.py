"""Estimates: against slow computations, against scipy, and against how often they are right."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats

from kozel_sim import RuleSet, simulate, tournament
from kozel_sim.equivalence import equivalence_of
from kozel_sim.rows import strata_of
from kozel_sim.sequential import sequence_of
from kozel_sim.stats import (
    Ratio,
    clustered_difference,
    clustered_mean,
    p_value,
    summarise,
    summarise_presets,
    wide,
    wilson,
)
from kozel_sim.sweep import effects


def clusters(n, seed, mean=50.0, spread=8.0):
    """Clusters of 1 to 9 values that share an effect: (totals, counts)."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 10, n)
    effects = mean + rng.normal(0, spread, n)
    totals = [rng.normal(e, spread, c).sum() for e, c in zip(effects, counts, strict=True)]
    return np.array(totals), counts


# ---------------------------------------------------------------------- one estimate


def test_clustered_mean_is_the_textbook_ratio_estimate():
    """Cochran 1977, section 6.4, value by value."""
    totals, counts = clusters(37, seed=1)
    n = len(totals)
    ratio = sum(totals) / sum(counts)
    squares = 0.0
    for total, count in zip(totals, counts, strict=True):
        squares += (total - ratio * count) ** 2
    error = math.sqrt(squares / (n - 1) / n) / (sum(counts) / n)
    half = scipy_stats.t.ppf(0.975, n - 1) * error
    found = clustered_mean(totals, counts)
    assert found.estimate == pytest.approx(ratio)
    assert found.std_error == pytest.approx(error)
    assert (found.ci_low, found.ci_high) == pytest.approx((ratio - half, ratio + half))
    assert (found.level, found.n_deals) == (0.95, 37)


def test_clustered_error_is_close_to_the_jackknife():
    totals, counts = clusters(400, seed=2)
    n = len(totals)
    without = [(totals.sum() - totals[i]) / (counts.sum() - counts[i]) for i in range(n)]
    jackknife = math.sqrt((n - 1) / n * sum((m - np.mean(without)) ** 2 for m in without))
    assert clustered_mean(totals, counts).std_error == pytest.approx(jackknife, rel=0.02)


def test_clusters_of_equal_size_give_scipys_t_interval():
    rng = np.random.default_rng(3)
    means = rng.normal(10, 2, 25)
    low, high = scipy_stats.t.interval(0.9, 24, means.mean(), scipy_stats.sem(means))
    for size in (1, 8):
        found = clustered_mean(means * size, np.full(25, size), level=0.9)
        assert (found.ci_low, found.ci_high) == pytest.approx((low, high))


def test_clustering_widens_what_shares_its_luck():
    rng = np.random.default_rng(4)
    values = np.repeat(rng.normal(size=50), 8)
    alone = clustered_mean(values, np.ones(400))
    together = clustered_mean(values.reshape(50, 8).sum(1), np.full(50, 8))
    assert together.estimate == pytest.approx(alone.estimate)
    assert together.std_error / alone.std_error == pytest.approx(math.sqrt(8), rel=0.02)


def test_rate_stays_between_0_and_1():
    found = clustered_mean([0, 0, 0, 1], [4] * 4, rate=True)
    assert 0 < found.ci_low < found.estimate < found.ci_high < 1
    other = clustered_mean([4, 4, 4, 3], [4] * 4, rate=True)
    assert (other.ci_low, other.ci_high) == pytest.approx((1 - found.ci_high, 1 - found.ci_low))
    assert clustered_mean([0, 0, 0, 1], [4] * 4).ci_low < 0


def test_ends_of_a_rates_interval_are_as_far_from_it_as_trials_of_its_error_may_be():
    """Wilson's idea: the error is that of the end; as many trials as have the clustered error."""
    rng = np.random.default_rng(7)
    counts = rng.integers(1, 9, 40)
    found = clustered_mean(rng.binomial(counts, 0.1), counts, level=0.9, rate=True)
    rate = found.estimate
    trials = rate * (1 - rate) / found.std_error**2
    t = scipy_stats.t.ppf(0.95, 39)
    for end in (found.ci_low, found.ci_high):
        assert abs(end - rate) == pytest.approx(t * math.sqrt(end * (1 - end) / trials))
    plain = clustered_mean(rng.integers(0, 2, 2000), np.ones(2000), rate=True)
    wanted = wilson(2000 * plain.estimate, 2000)
    assert (plain.ci_low, plain.ci_high) == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize(("total", "mean"), [(0, 0.0), (2, 0.5), (4, 1.0)])
def test_rate_that_all_deals_agree_on_is_not_certain(total, mean):
    found = clustered_mean([total] * 10, [4] * 10, rate=True)
    assert found.estimate == mean
    assert (found.ci_low, found.ci_high) == wilson(mean * 10, 10)
    assert found.ci_high - found.ci_low > 0.2
    assert "Wilson" in found.method


def test_rate_that_all_deals_agree_on_is_not_certain_whatever_its_denominator():
    found = clustered_mean([15] * 10, [22] * 10, rate=True)
    assert found.ci_high - found.ci_low > 0.2


def test_one_deal_says_nothing_of_the_error():
    found = clustered_mean([3], [4])
    assert (found.estimate, found.std_error) == (0.75, math.inf)
    assert (found.ci_low, found.ci_high) == (-math.inf, math.inf)
    rate = clustered_mean([3], [4], rate=True)
    assert (rate.ci_low, rate.ci_high) == wilson(0.75, 1)


@pytest.mark.parametrize(("totals", "counts"), [([], []), ([0, 0], [0, 0])])
def test_mean_of_nothing_is_refused(totals, counts):
    with pytest.raises(ValueError, match="mean of nothing"):
        clustered_mean(totals, counts)


def test_wilson_gives_the_published_examples():
    assert wilson(34, 40) == pytest.approx((0.709, 0.929), abs=5e-4)
    assert wilson(0, 10) == (0, pytest.approx(0.2775, abs=5e-5))
    assert wilson(0, 0) == (0, 1)


def test_wilson_holds_its_rate_whatever_the_number_of_trials():
    for trials in range(1, 100):
        assert wilson(0, trials)[0] == 0
        assert wilson(trials, trials)[1] == 1


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (1, 1), (7, 9), (100, 1000)])
def test_wilson_is_scipys(successes, trials):
    theirs = scipy_stats.binomtest(successes, trials).proportion_ci(0.9, method="wilson")
    assert wilson(successes, trials, 0.9) == pytest.approx((theirs.low, theirs.high))


# ---------------------------------------------------------------------- differences


def test_paired_difference_is_scipys_for_clusters_of_equal_size():
    rng = np.random.default_rng(8)
    one, other = rng.normal(size=(2, 30)) + rng.normal(size=30)
    theirs = scipy_stats.ttest_rel(one, other).confidence_interval(0.9)
    found = clustered_difference((4 * one, [4] * 30), (2 * other, [2] * 30), level=0.9)
    assert found.estimate == pytest.approx((one - other).mean())
    assert (found.ci_low, found.ci_high) == pytest.approx((theirs.low, theirs.high))


def test_paired_difference_is_close_to_the_jackknife():
    one, other = clusters(400, seed=2), clusters(400, seed=3)
    shared = np.random.default_rng(9).normal(0, 20, 400)
    pairs = [(totals + shared * counts, counts) for totals, counts in (one, other)]

    def without(totals, counts):
        return (totals.sum() - totals) / (counts.sum() - counts)

    left_out = without(*pairs[0]) - without(*pairs[1])
    jackknife = math.sqrt(399 * left_out.var())
    found = clustered_difference(*pairs)
    assert found.std_error == pytest.approx(jackknife, rel=0.02)
    apart = math.hypot(*(clustered_mean(*pair).std_error for pair in pairs))
    assert found.std_error < 0.7 * apart


def test_paired_difference_needs_the_same_deals():
    with pytest.raises(ValueError, match="the same deals: 2 and 3"):
        clustered_difference(([1, 2], [4, 4]), ([1, 2, 3], [4, 4, 4]))


@pytest.mark.parametrize("level", [95, 1, 0, -0.5])
def test_level_outside_0_and_1_is_refused(level):
    with pytest.raises(ValueError, match="level"):
        clustered_mean([1, 2, 3], [4, 4, 4], level=level)


# ---------------------------------------------------------------------- frames


def frame_of(rows, **more):
    """A frame of matches of one seat: (deal, policy, goat, points), the rest alike."""
    frame = pd.DataFrame(rows, columns=["deal", "policy", "goat", "points"])
    defaults = {"preset": "p", "players": 1, "seat": 0, "rating": np.nan, "capped": False}
    return frame.assign(**(defaults | {"rounds": 10, "fish_rounds": 2} | more))


def test_summary_is_computed_by_policy_and_clustered_by_deal():
    rows = [
        (0, "a", True, 101),
        (0, "b", False, 40),
        (0, "a", False, 30),
        (1, "b", True, 110),
        (1, "a", True, 104),
        (2, "b", False, 0),
        (2, "b", False, 9),
    ]
    summary = summarise(frame_of(rows)).set_index(["policy", "metric"])
    assert list(summary.index) == [
        ("b", "goat_rate"),
        ("b", "points"),
        ("a", "goat_rate"),
        ("a", "points"),
    ]
    for policy, totals, counts in [("a", [1, 1], [2, 1]), ("b", [0, 1, 0], [1, 1, 2])]:
        row = summary.loc[policy, "goat_rate"]
        wanted = clustered_mean(totals, counts, rate=True)
        assert row["estimate"] == wanted.estimate
        assert (row["ci_low"], row["ci_high"]) == (wanted.ci_low, wanted.ci_high)
        assert (row["n_matches"], row["n_deals"]) == (sum(counts), len(counts))
    assert summary.loc[("b", "points"), "estimate"] == (40 + 110 + 0 + 9) / 4


def test_summary_keeps_presets_and_numbers_of_players_apart():
    rules = [RuleSet.preset("room-fish-all", n) for n in (2, 3)]
    rules.append(RuleSet.preset("room-fish-one", 2))
    run = tournament(rules, ["random", "dump_heavy", "keep_range"], 12, seed=1)
    together = run.summary()
    for r in rules:
        alone = tournament(r, ["random", "dump_heavy", "keep_range"], 12, seed=1).summary()
        part = together[(together["preset"] == r.name) & (together["players"] == r.players)]
        pd.testing.assert_frame_equal(
            part.reset_index(drop=True), alone, check_categorical=False, check_dtype=False
        )


def test_summary_has_a_rating_only_where_the_rules_have():
    for preset, metrics in [
        ("room-fish-all", {"goat_rate", "points", "rating"}),
        ("livegames-goat", {"goat_rate", "points"}),
    ]:
        run = simulate(preset, ["random", "dump_heavy"], 10, seed=1)
        assert set(run.summary()["metric"]) == metrics


@pytest.mark.parametrize("by", ["policy", "seat", "led", "goat"])
def test_summary_counts_matches_and_not_seats(by):
    run = simulate("room-fish-all", ["random", "random", "random", "dump_heavy"], 40, seed=1)
    match = run.frame["deal"]
    wanted = match.groupby(run.frame[by], observed=True).nunique()
    found = run.summary(by=by, metric="goat_rate").set_index(by)["n_matches"]
    assert found.to_dict() == wanted.to_dict()


FILTERS = {
    "seat 0": lambda f: f["seat"] == 0,
    "two seats": lambda f: f["seat"].isin([0, 2]),
    "one policy": lambda f: f["policy"] == "dump_heavy",
    "one policy, one seating": lambda f: (f["policy"] == "dump_heavy") & (f["seating"] == 1),
    "one seating": lambda f: f["seating"] == 1,
    "leaders": lambda f: f["led"],
    "goats": lambda f: f["goat"],
    "a part cut off": lambda f: np.arange(len(f)) >= 5,
}
FIVE = ["random", "dump_heavy", "keep_range", "block_ends", "dump_doubles"]


@pytest.fixture(scope="module", params=[2, 3, 4])
def field(request):
    """A frame of two presets in which row i belongs to match truth[i]."""
    presets = ["room-fish-all", "room-fish-one"]
    frame = tournament(presets, FIVE, 12, seed=1, players=request.param).frame
    return frame, np.arange(len(frame)) // request.param


def counted(frame):
    """Matches by preset and policy."""
    found = summarise(frame)
    return found[found["metric"] == "points"].set_index(["preset", "policy"])["n_matches"]


def slowly_counted(frame, truth):
    """The same from the truth, row by row."""
    matches = {}
    for row, match in zip(frame.itertuples(), truth, strict=True):
        matches.setdefault((row.preset, row.policy), set()).add(match)
    return {key: len(found) for key, found in matches.items()}


@pytest.mark.parametrize("keep", FILTERS.values(), ids=FILTERS)
@pytest.mark.parametrize("order", ["kept", "shuffled"])
def test_summary_of_some_rows_counts_their_matches(field, keep, order):
    frame, truth = field
    rows = np.flatnonzero(keep(frame))
    if order == "shuffled":
        np.random.default_rng(1).shuffle(rows)
    part = frame.iloc[rows]
    assert counted(part).to_dict() == slowly_counted(part, truth[rows])


@pytest.mark.parametrize("keep", FILTERS.values(), ids=FILTERS)
def test_summary_of_rows_without_their_labels_is_right_or_refused(field, keep):
    frame, truth = field
    rows = np.flatnonzero(keep(frame))
    part = frame.iloc[rows].reset_index(drop=True)
    try:
        found = counted(part).to_dict()
    except ValueError:
        return
    assert found == slowly_counted(part, truth[rows])


def test_rows_without_their_labels_are_refused():
    frame = simulate("room-fish-all", FIVE[:4], 40, seed=1).frame
    part = frame[frame["seat"].isin([0, 2])].reset_index(drop=True)
    with pytest.raises(ValueError, match="filter the run's frame without changing its labels"):
        summarise(part)


def test_whole_matches_need_no_labels(field):
    """As when runs are put below each other, or another program has numbered the rows."""
    frame, _ = field
    for labels in (np.zeros(len(frame), int), [f"row {i}" for i in range(len(frame))]):
        pd.testing.assert_frame_equal(summarise(frame.set_axis(labels)), summarise(frame))


def test_presets_and_sweeps_need_whole_matches(field):
    frame, _ = field
    for table in (summarise_presets, effects):
        for keep in ("seat 0", "one policy", "a part cut off"):
            with pytest.raises(
                ValueError, match=r"whole matches are needed: these are [\d,]+ rows"
            ):
                table(frame[FILTERS[keep](frame)])
        some = frame[frame["deal"] < 6]
        keys = ["preset", "metric", *({"policy"} & set(table(some)))]
        mixed = some.sample(frac=1, random_state=1)
        mixed = pd.concat([mixed[mixed["preset"] == name] for name in some["preset"].unique()])
        pd.testing.assert_frame_equal(
            *(table(rows).set_index(keys).sort_index() for rows in (mixed, some))
        )


def test_summary_of_one_metric_is_a_part_of_the_summary():
    run = simulate("room-fish-all", ["random", "dump_heavy"], 10, seed=1)
    whole = run.summary()
    part = whole[whole["metric"] == "points"].reset_index(drop=True)
    pd.testing.assert_frame_equal(run.summary(metric="points"), part)
    with pytest.raises(ValueError, match="unknown metric 'luck'; choose from goat_rate, points"):
        run.summary(metric="luck")


def test_summary_by_an_unknown_column_names_the_columns():
    run = simulate("room-fish-all", ["random", "dump_heavy"], 2, seed=1)
    with pytest.raises(ValueError, match="no column 'chair' to summarise by; choose from preset"):
        run.summary(by="chair")


def test_presets_count_goats_fish_and_rounds():
    run = simulate("room-fish-all", ["random"] * 4, 50, seed=1)
    found = summarise_presets(run.frame).set_index("metric")["estimate"]
    matches = run.frame[run.frame["seat"] == 0]
    assert found["goats_per_match"] == pytest.approx(run.frame["goat"].sum() / 50)
    assert found["goat_rate"] == pytest.approx(found["goats_per_match"] / 4)
    assert found["fish_rate"] == pytest.approx(
        matches["fish_rounds"].sum() / matches["rounds"].sum()
    )
    assert found["rounds"] == pytest.approx(matches["rounds"].mean())
    assert found["capped_rate"] == 0


def test_wide_puts_a_policy_on_a_line():
    summary = simulate("room-fish-all", ["random", "dump_heavy"], 30, seed=1).summary()
    table = wide(summary)
    assert table["policy"].tolist() == list(dict.fromkeys(summary["policy"]))
    for metric in ("goat_rate", "points", "rating"):
        rows = summary[summary["metric"] == metric]
        assert table[metric].tolist() == rows["estimate"].tolist()
        assert table[f"{metric}.ci_low"].tolist() == rows["ci_low"].tolist()
        assert table[f"{metric}.ci_high"].tolist() == rows["ci_high"].tolist()


@pytest.mark.parametrize("matches", [1, 2, 30])
@pytest.mark.parametrize("goats", ["as played", "all", "none"])
def test_summary_never_holds_a_nan(matches, goats):
    run = simulate("room-fish-all", ["random", "dump_heavy"], matches, seed=1)
    frame = run.frame if goats == "as played" else run.frame.assign(goat=goats == "all")
    for table in (summarise(frame), summarise(frame, "led"), summarise_presets(frame)):
        assert table.notna().all(axis=None)
        assert (table["ci_low"] <= table["estimate"]).all()
        assert (table["estimate"] <= table["ci_high"]).all()


def test_summary_of_a_run_with_capped_matches_holds_no_nan():
    rules = RuleSet.preset("room-fish-all", 2).replace(max_rounds=8)
    run = simulate(rules, ["random", "dump_heavy"], 60, seed=1)
    assert 0 < run.frame["capped"].sum() < len(run.frame)
    assert run.summary().notna().all(axis=None)


# ---------------------------------------------------------------------- coverage


def covered(estimates, truth):
    return np.mean([e.ci_low <= truth <= e.ci_high for e in estimates])


def test_intervals_of_means_cover_95_of_100_times():
    """1,000 experiments of 40 clusters; the share covered has a standard error of 0.7%."""
    found = covered((clustered_mean(*clusters(40, seed)) for seed in range(1000)), 50)
    assert 0.935 <= found <= 0.965


def test_intervals_of_rates_cover_95_of_100_times():
    """Clusters of 1 to 9 matches whose chance differs from deal to deal, 0.3 on the whole."""
    rng = np.random.default_rng(6)

    def experiment():
        counts = rng.integers(1, 10, 60)
        return clustered_mean(rng.binomial(counts, rng.beta(3, 7, 60)), counts, rate=True)

    assert 0.935 <= covered((experiment() for _ in range(1000)), 0.3) <= 0.965


def test_ignoring_the_clusters_would_not_cover():
    """The two tests above could not see a wrong error if clusters did not matter."""
    rng = np.random.default_rng(7)

    def experiment():
        values = np.repeat(rng.normal(50, 8, 40), 8)
        return clustered_mean(values, np.ones(len(values)))

    assert covered((experiment() for _ in range(300)), 50) < 0.7


def test_intervals_of_small_tournaments_cover_the_value_of_a_large_one():
    """300 tournaments of 30 deals: the share covered has a standard error of 1.3%."""
    field = ["dump_heavy", "keep_range"]
    truth = tournament("room-fish-all", field, 100_000, seed=1, players=2).summary()
    truth = truth.set_index(["policy", "metric"])["estimate"]
    frame = tournament("room-fish-all", field, 300 * 30, seed=2, players=2).frame
    parts = [part for _, part in frame.groupby(frame["deal"] // 30)]
    hits = pd.concat(summarise(part).set_index(["policy", "metric"]) for part in parts)
    inside = (hits["ci_low"] <= truth[hits.index].to_numpy()) & (
        truth[hits.index].to_numpy() <= hits["ci_high"]
    )
    shares = inside.groupby(level=[0, 1]).mean()
    assert len(parts) == 300
    assert len(shares) == 6
    assert shares.between(0.91, 0.98).all()


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 8, 12, 30])
@pytest.mark.parametrize("difference", [-1.0, -0.5, 0.25])
def test_p_value_of_unanimous_deals_agrees_with_their_interval(difference, n, level):
    ones = np.ones(n)
    first, second = (max(difference, 0) * ones, ones), (max(-difference, 0) * ones, ones)
    found = clustered_difference(first, second, level, rate=True)
    assert found.estimate == pytest.approx(difference)
    assert -1 <= found.ci_low <= found.ci_high <= 1
    excludes = found.ci_high < 0 or found.ci_low > 0
    assert excludes == (p_value(found) < 1 - level)


def test_few_deals_are_never_certain():
    for n in (2, 3, 5):
        one = clustered_difference((np.ones(n), np.ones(n)), (np.zeros(n), np.ones(n)))
        assert p_value(one) >= 2.0 ** (1 - n)


@pytest.mark.parametrize(("successes", "trials"), [(34, 40), (0, 10), (10, 10), (1, 1000), (3, 7)])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_wilson_is_that_of_statsmodels(successes, trials, level):
    from statsmodels.stats.proportion import proportion_confint

    wanted = proportion_confint(successes, trials, 1 - level, method="wilson")
    assert wilson(successes, trials, level) == pytest.approx(wanted, abs=1e-12)


def test_kinds_of_deals_are_set_apart():
    """Cochran 1977, section 5.4: within strata, each with its own degree of freedom."""
    rng = np.random.default_rng(8)
    kinds = np.tile([0, 1, 2], 20)
    x = rng.normal(10 * kinds, 1)
    found = clustered_mean(x, np.ones(60), strata=kinds)
    variance = sum(x[kinds == k].var(ddof=1) / 20 for k in range(3)) / 9
    assert found.std_error == pytest.approx(math.sqrt(variance))
    half = scipy_stats.t.ppf(0.975, 57) * found.std_error
    assert found.ci_high - found.estimate == pytest.approx(half)
    assert found.std_error < clustered_mean(x, np.ones(60)).std_error / 5
    zero = (np.zeros(60), np.ones(60))
    difference = clustered_difference((x, np.ones(60)), zero, strata=kinds)
    assert difference.std_error == pytest.approx(found.std_error)
    assert p_value(difference) == pytest.approx(
        2 * scipy_stats.t.sf(abs(difference.estimate) / difference.std_error, 57)
    )


def test_few_deals_of_a_kind_are_not_set_apart():
    x = np.arange(12.0)
    few = clustered_mean(x, np.ones(12), strata=np.arange(12) % 3)
    assert few == clustered_mean(x, np.ones(12))


def test_rounding_does_not_look_significant():
    """Two means that are equal but for the last digit, over other counts."""
    rng = np.random.default_rng(9)
    totals = rng.integers(0, 300, 300) / 7
    found = clustered_difference((totals, np.full(300, 0.1)), (3 * totals, np.full(300, 0.3)))
    assert found.estimate == 0
    assert p_value(found) == 1
    # What is left is that of two deals that might have differed, by the largest value.
    assert found.std_error == pytest.approx(math.sqrt(2) * totals.max() / 0.1 / 300)


def slow_error(rows, column, orders):
    """The error of a mean, deal by deal in plain Python; orders sets apart, or None."""
    deals = {}
    for row in rows.itertuples():
        total, count, _ = deals.get(row.deal, (0, 0, 0))
        order = row.seating // row.players if orders else 0
        deals[row.deal] = (total + getattr(row, column), count + 1, order)
    whole = sum(count for _, count, _ in deals.values())
    mean = sum(total for total, _, _ in deals.values()) / whole
    kinds = {}
    for total, count, order in deals.values():
        kinds.setdefault(order, []).append((total - mean * count) / whole)
    return math.sqrt(sum(len(e) * np.var(e, ddof=1) for e in kinds.values()))


@pytest.mark.parametrize(("deals", "apart"), [(24, False), (30, True)])
def test_tables_of_frames_set_cyclic_orders_apart_where_each_has_five_deals(deals, apart):
    frame = tournament("pair-traditional", FIVE[:4], deals, seed=3).frame
    found = summarise(frame).set_index(["policy", "metric"])["std_error"]
    for policy in FIVE[:4]:
        for metric, column in (("points", "points"), ("goat_rate", "goat")):
            wanted = slow_error(frame[frame["policy"] == policy], column, apart)
            assert found[policy, metric] == pytest.approx(wanted)
            assert found[policy, metric] != slow_error(
                frame[frame["policy"] == policy], column, not apart
            )
    first = frame[frame["seat"] == 0]
    rounds = slow_error(first, "rounds", apart)
    of_presets = summarise_presets(frame).set_index("metric")["std_error"]
    assert of_presets["rounds"] == pytest.approx(rounds)
    of_sweep = effects(frame).set_index(["policy", "metric"])["std_error"]
    assert of_sweep["all", "rounds"] == pytest.approx(rounds)
    assert of_sweep["random", "goat_rate"] == pytest.approx(found["random", "goat_rate"])


def test_deals_that_are_played_in_all_orders_are_of_one_kind():
    """Whichever row of a deal is left to be the first."""
    frame = tournament("room-fish-all", FIVE[:4], 40, seed=3, design="permutations").frame
    leaders = frame[(frame["policy"] == "random") & frame["led"]]
    assert leaders[~leaders["deal"].duplicated()]["seating"].nunique() > 1
    assert not strata_of(frame).any()
    assert not strata_of(leaders).any()
    found = summarise(leaders).set_index("metric")["std_error"]
    assert found["points"] == pytest.approx(slow_error(leaders, "points", orders=False))


def test_kinds_whose_deals_agree_leave_nothing_but_what_rounding_left():
    x = np.tile([0.1, 0.3, 0.7], 20)
    found = clustered_mean(x, np.ones(60), rate=True, strata=np.tile([0, 1, 2], 20))
    assert found.std_error == 0
    assert (found.ci_low, found.ci_high) == wilson(found.estimate * 60, 60)


@pytest.mark.parametrize("n", [1, 2, 10, 1000])
def test_nothing_in_all_deals_bounds_no_unseen_one(n):
    none, one = np.zeros(n), np.ones(n)
    found = [
        clustered_mean(none, one),
        clustered_difference((none, one), (none, one)),
        Ratio(none, one).minus(Ratio(none, one), 0.95),
    ]
    found += [sequence_of(each) for each in found]
    for each in found:
        assert (each.estimate, each.ci_low, each.ci_high) == (0, -math.inf, math.inf)
        assert p_value(each) == 1
        tested = equivalence_of(each, 1e9)
        assert (tested.p_value, tested.ci_low, tested.ci_high) == (1, -math.inf, math.inf)


@pytest.mark.parametrize("n", [1, 2, 10])
def test_nothing_in_all_deals_is_bounded_by_what_the_rules_leave(n):
    none, one = np.zeros(n), np.ones(n)
    mean = clustered_mean(none, one, span=(0.0, 3.0))
    assert (mean.ci_low, mean.ci_high) == pytest.approx((0, 3 * wilson(0, n)[1]))
    capped = Ratio(none, one, span=(0.0, 3.0)), Ratio(none, one, span=(0.0, 2.0))
    found = capped[0].minus(capped[1], 0.95)
    assert (found.ci_low, found.ci_high) == (-2, 3)


def test_kinds_that_agree_leave_no_difference_without_a_width():
    strata, one = np.tile([0, 1], 20), np.ones(40)
    for rate in (False, True):
        found = clustered_difference((strata, one), (0 * one, one), rate=rate, strata=strata)
        assert found.std_error == 0
        assert found.ci_low < 0.5 < found.ci_high


@pytest.mark.parametrize("first", [0.0, 1.0])
def test_difference_of_rates_stays_within_1_after_one_deal(first):
    found = clustered_difference(([first], [1]), ([0], [1]), rate=True)
    assert (found.estimate, found.ci_low, found.ci_high) == (first, -1, 1)
    assert found.std_error == math.inf


@pytest.mark.parametrize("rate", [False, True])
@pytest.mark.parametrize("n", [2, 10, 1000])
def test_deals_that_all_agree_are_not_certain(n, rate):
    """Of what is not 0: an unseen deal could change it by as much as there is, or in a difference
    by twice as much.
    """
    one = np.ones(n)
    mean = clustered_mean(one, one, rate=rate)
    difference = clustered_difference((one, one), (0 * one, one), rate=rate)
    assert mean.std_error == 0
    assert difference.std_error == pytest.approx(math.sqrt(2) * 2 / n)
    for found in (mean, difference):
        assert found.ci_high - found.ci_low > 1 / n
        assert found.ci_low <= 1 <= found.ci_high
