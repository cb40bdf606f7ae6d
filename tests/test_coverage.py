"""How often the product is right: many small experiments cut out of one long run of the engine."""

import numpy as np
import pytest

from kozel_sim import Run, duel, tournament
from kozel_sim.fixed import goats_of
from kozel_sim.intervals import p_value
from kozel_sim.metrics import DealSums
from kozel_sim.sequential import FIRST_LOOK, LOOK_GROWTH, ThreeWay, looks, sequence_half_width
from kozel_sim.stats import clustered_difference, clustered_mean, summarise_presets
from kozel_sim.stopping import SprtStop
from kozel_sim.walks import corrected_for_overshoot, course

EXPERIMENTS = 1000
METRICS = ("points_per_match", "points_per_round", "goat_rate")
FIELD = ["dump_heavy", "keep_range", "allround", "random"]
LUCK = ("mix:0.5*dump_heavy+0.5*random", "mix:0.5*random+0.5*weights:pips=1")
"""One way of playing under two names, with other luck: a true difference of 0, and noise."""


def covered(frame, long_frame, metric):
    """The share of experiments in which intervals hold: of each policy, and of two's difference."""
    sums, long = DealSums.of(frame, metric), DealSums.of(long_frame, metric)
    truth = dict(zip(long.names, long.means, strict=True))
    deals = sums.deals // EXPERIMENTS
    hits = []
    for first in range(0, EXPERIMENTS * deals, deals):
        part = slice(first, first + deals)
        facts = [(t[part], c[part]) for t, c in zip(sums.totals, sums.counts, strict=True)]
        keys = {"rate": sums.rate, "strata": sums.strata[part]}
        found = [clustered_mean(*fact, **keys) for fact in facts]
        means = [truth[name] for name in sums.names]
        found.append(clustered_difference(*facts[:2], **keys))
        means.append(means[0] - means[1])
        hits.append([e.ci_low <= m <= e.ci_high for e, m in zip(found, means, strict=True)])
    assert len(hits) == EXPERIMENTS
    return np.mean(hits, axis=0)


@pytest.mark.parametrize(
    ("preset", "players"), [("room-fish-all", 2), ("room-fish-all", 4), ("pair-traditional", 4)]
)
def test_intervals_of_duels_cover_the_truth(preset, players):
    """1,000 duels of 100 deals, three metrics; each share has a standard error of 0.7%."""
    frame, long = (
        duel(preset, "dump_heavy", "random", 100 * EXPERIMENTS, seed, players=players).frame
        for seed in (2, 1)
    )
    for metric in METRICS:
        shares = covered(frame, long, metric)
        assert ((shares >= 0.935) & (shares <= 0.975)).all(), (metric, shares)


@pytest.mark.parametrize(
    ("preset", "players"),
    [
        pytest.param("room-fish-all", 2, marks=pytest.mark.slow),
        pytest.param("room-fish-all", 3, marks=pytest.mark.slow),
        ("pair-traditional", 4),
    ],
)
def test_intervals_of_tournaments_cover_the_truth(preset, players):
    """1,000 tournaments of 60 deals, four policies; each share has a standard error of 0.7%."""
    frame, long = (
        tournament(preset, FIELD, 60 * EXPERIMENTS, seed, players=players).frame for seed in (2, 1)
    )
    for metric in METRICS:
        shares = covered(frame, long, metric)
        # 15 shares a test: three standard errors are left below 95%.
        assert ((shares >= 0.93) & (shares <= 0.975)).all(), (metric, shares)


def summaries_covered(preset, players, experiments):
    """The share of ``Run.summary``'s intervals that hold, by policy and metric.

    Experiments are tournaments of 60 deals, cut out of a long one as if they were presets; the
    truth is that of another long one.
    """
    run, long = (
        tournament(preset, FIELD, 60 * experiments, seed, players=players) for seed in (3, 1)
    )
    truth = long.summary().set_index(["policy", "metric"])["estimate"]
    frame = run.frame.assign(preset=run.frame["deal"] // 60)
    found = Run(frame, run.manifest).summary().set_index(["policy", "metric"])
    wanted = truth[found.index].to_numpy()
    held = (found["ci_low"] <= wanted) & (wanted <= found["ci_high"])
    shares = held.groupby(level=[0, 1])
    assert (shares.size() == experiments).all()
    assert len(shares) == (8 if preset == "pair-traditional" else 12)
    return shares.mean()


TOURNAMENTS = [("room-fish-all", 2), ("room-fish-all", 3), ("pair-traditional", 4)]


@pytest.mark.parametrize(("preset", "players"), TOURNAMENTS)
def test_summaries_of_tournaments_cover_the_truth(preset, players):
    """200 tournaments: a share has a standard error of 1.5%, three of them are left below 95%.

    Above 98.5% none may be: that is where intervals are that take cyclic orders for luck.
    """
    shares = summaries_covered(preset, players, 200)
    assert shares.between(0.905, 0.985).all(), shares


@pytest.mark.slow
@pytest.mark.parametrize(("preset", "players"), TOURNAMENTS)
def test_summaries_of_many_tournaments_cover_the_truth(preset, players):
    """1,000 tournaments: a share has a standard error of 0.7%, two of them are left below 95%.

    Some of 32 shares may lie further off by chance with another seed. Over six seeds those of
    three and four players were 94.4% to 95.7%.
    """
    shares = summaries_covered(preset, players, EXPERIMENTS)
    assert shares.between(0.935, 0.975).all(), shares


def test_cyclic_orders_must_be_set_apart():
    """Pairs change partners with the cyclic order: taken as luck, intervals are far too wide."""
    frame = tournament("pair-traditional", FIELD, 60 * EXPERIMENTS, 2).frame
    sums = DealSums.of(frame, "goat_rate")
    parts = [slice(60 * i, 60 * i + 60) for i in range(EXPERIMENTS)]
    apart, together = (
        np.mean(
            [
                clustered_mean(sums.totals[0, p], sums.counts[0, p], strata=s[p]).std_error
                for p in parts
            ]
        )
        for s in (sums.strata, np.zeros_like(sums.strata))
    )
    spread = np.std([sums.totals[0, p].sum() / sums.counts[0, p].sum() for p in parts])
    assert apart == pytest.approx(spread, rel=0.05)
    assert together > 1.3 * spread


def differences(first, second, deals, seeds):
    """Points per match of the first less those of the second, deal by deal, of duels of two."""
    found = []
    for seed in seeds:
        sums = DealSums.of(
            duel("room-fish-all", first, second, deals, seed, players=2).frame, "points"
        )
        means = dict(zip(sums.names, sums.totals / sums.counts, strict=True))
        found.append(means[first] - means[second])
    return np.concatenate(found)


@pytest.fixture(scope="module")
def mirrored():
    """1,000 experiments of 600 deals between equals, ``[experiment, deal]``."""
    found = differences(*LUCK, 150_000, range(10, 14))
    assert abs(found.mean()) < 4 * found.std() / np.sqrt(len(found))
    return found.reshape(EXPERIMENTS, 600)


@pytest.fixture(scope="module")
def unequal():
    """1,000 experiments of 600 deals of a small difference, and its mean by a longer run."""
    pair = ("dump_heavy", "random")
    truth = differences(*pair, 200_000, range(30, 33))
    found = differences(*pair, 150_000, range(20, 24))
    return found.reshape(EXPERIMENTS, 600), truth.mean(), truth.mean() / truth.std()


def running(x):
    """The mean and the deviation after each deal."""
    n = np.arange(1, x.shape[1] + 1)
    mean = np.cumsum(x, axis=1) / n
    square = np.cumsum(x**2, axis=1) / n - mean**2
    return n, mean, np.sqrt(np.maximum(square, 0) * n / np.maximum(n - 1, 1))


@pytest.mark.parametrize("which", ["mirrored", "unequal"])
def test_confidence_sequences_cover_under_continuous_peeking(which, request):
    """A look after every deal from the first on; the plain interval fails the same test."""
    data = request.getfixturevalue(which)
    x, truth = (data, 0.0) if which == "mirrored" else data[:2]
    n, mean, deviation = running(x)
    looked = n >= FIRST_LOOK
    off = np.abs(mean - truth)[:, looked]
    sequence = np.array([sequence_half_width(1, int(k)) for k in n[looked]])
    held = (off <= sequence * deviation[:, looked]).all(axis=1)
    assert held.mean() >= 0.95
    plain = (off <= 1.96 * deviation[:, looked] / np.sqrt(n[looked])).all(axis=1)
    assert plain.mean() < 0.85


def decided(test, x):
    schedule = np.array(looks(FIRST_LOOK, LOOK_GROWTH, 1, x.shape[1]))
    _, mean, deviation = running(x)
    codes = test.codes(mean[:, schedule - 1] / deviation[:, schedule - 1], schedule)
    at = np.where((codes != 2).any(axis=1), (codes != 2).argmax(axis=1), len(schedule) - 1)
    return codes[np.arange(len(x)), at], schedule[at]


def assert_course(test, effect, codes, deals):
    """What was worked out beforehand, within 4 standard errors and what is not normal in deals."""
    found = course(test, looks(FIRST_LOOK, LOOK_GROWTH, 1, 600), effect)
    for chances, code in ((found.high, 1), (found.low, -1), (found.none, 0)):
        assert np.mean(codes == code) == pytest.approx(float(chances.sum()), abs=0.03)
    assert deals.mean() == pytest.approx(found.mean, abs=4 * deals.std() / np.sqrt(len(deals)) + 1)
    assert np.median(deals) == pytest.approx(found.within(0.5), rel=0.11)


def test_equals_are_declared_different_in_at_most_alpha(mirrored):
    """1,000 experiments: at 5%, more than 68 would come by chance once in 200."""
    for test in (ThreeWay(0.2), corrected_for_overshoot(ThreeWay(0.2))):
        codes, deals = decided(test, mirrored)
        assert np.isin(codes, (-1, 1)).sum() <= 68
        assert (codes == 0).mean() > 0.9
        assert_course(test, 0.0, codes, deals)


def test_true_differences_are_missed_in_at_most_beta(unequal):
    """The effect tested for is the true one; the fewer points of the first are "low"."""
    x, _, effect = unequal
    for test in (ThreeWay(abs(effect)), corrected_for_overshoot(ThreeWay(abs(effect)))):
        codes, deals = decided(test, x)
        assert np.isin(codes, (0, 1)).sum() <= 68
        assert (codes == -1).mean() > 0.9
        assert_course(test, effect, codes, deals)


NEARLY = [
    ("room-fish-all", 2, "dump_heavy", 0.9999),
    ("room-fish-all", 2, "dump_heavy", 0.999),
    pytest.param("room-fish-all", 2, "dump_heavy", 0.99, marks=pytest.mark.slow),
    pytest.param("room-fish-all", 4, "allround", 0.999, marks=pytest.mark.slow),
    pytest.param("pair-traditional", 4, "allround", 0.999, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("preset", "players", "policy", "share"), NEARLY)
def test_differences_of_nearly_the_same_cover_the_truth_from_two_deals_on(
    preset, players, policy, share
):
    """500 experiments drawn from 10,000 deals: a share has a standard error of at most 1%."""
    mixed = f"mix:{share}*{policy}+{1 - share:.4g}*random"
    frame = duel(preset, mixed, policy, 10_000, 1, players=players).frame
    for metric in METRICS:
        sums, draw = DealSums.of(frame, metric), np.random.default_rng(1)
        truth = sums.means[0] - sums.means[1]
        for deals in (2, 5, 30, 100, 300, 1000):
            held = 0
            for _ in range(500):
                at = draw.integers(0, sums.deals, deals)
                sides = [(sums.totals[i, at], sums.counts[i, at]) for i in (0, 1)]
                found = clustered_difference(*sides, rate=sums.rate)
                held += found.ci_low <= truth <= found.ci_high
            assert held / 500 >= 0.92, (metric, deals, held / 500)


def test_goat_rates_of_a_whole_field_are_missed_on_neither_side():
    """1,000 tournaments of 30 deals, of a rare excess over one goat: plain t misses above 8%."""
    short, long = (
        tournament("room-fish-all", FIELD, deals, seed, players=2).frame
        for deals, seed in ((30_000, 2), (30_000, 1))
    )
    truth = long["goat"].mean()
    goats = short.groupby("deal")["goat"].agg(["sum", "size"]).to_numpy().reshape(1000, 30, 2)
    span = goats_of("room-fish-all", 2, 0).of_a_player
    missed = []
    for kept in (None, span):
        found = [clustered_mean(*one.T, span=kept) for one in goats]
        assert kept is None or all(one.ci_low >= 0.5 for one in found)
        below = np.mean([one.ci_high < truth for one in found])
        missed.append((below, np.mean([one.ci_low > truth for one in found])))
    assert missed[0][0] > 0.07
    assert max(missed[1]) <= 0.045
    # Presets' tables take it.
    row = summarise_presets(short[short["deal"] < 30]).set_index("metric").loc["goat_rate"]
    one = clustered_mean(*goats[0].T, span=span)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((one.ci_low, one.ci_high))


@pytest.mark.parametrize("players", [2, 4])
def test_the_same_weights_under_two_names_never_differ(players):
    """They play alike on the same luck, so every deal is even: nothing is declared, or certain."""
    frame = duel("room-fish-all", "weights:pips=1", "weights:pips=2", 300, 1, players=players).frame
    for metric in METRICS:
        sums = DealSums.of(frame, metric)
        found = sums.difference(0, 1, 0.95)
        assert found.estimate == 0
        assert found.ci_low < 0 < found.ci_high
        assert p_value(found) == 1
        assert SprtStop(0.2, metric=metric).decide({"x": found}) == {"x": "no difference"}
