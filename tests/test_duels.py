"""Duels: one policy against another, within the same deals and from every seat."""

import numpy as np
import pandas as pd
import pytest
from command_line import runner
from user_policies import own_registry, scatter

from kozel_sim import RuleSet, compare, duel, get_policy, play, policy
from kozel_sim.experiment import Experiment, load_experiment
from kozel_sim.reporting import verdict
from kozel_sim.schedule import duel_lineups
from kozel_sim.tournaments import Tournament

A, B = "dump_heavy", "random"
TABLES = [("room-fish-all", 2), ("room-fish-all", 3), ("room-fish-all", 4), ("pair-traditional", 4)]


@pytest.fixture(autouse=True)
def forgetful_registry():
    with own_registry():
        yield


@pytest.mark.parametrize(("preset", "players"), TABLES)
def test_first_policy_sits_once_at_every_seat(preset, players):
    rules = RuleSet.preset(preset, players)
    (seats,) = duel_lineups(rules).players
    pairs = rules.teams == "pairs"
    assert (seats == 0).sum(axis=0).tolist() == [1] * players
    assert (seats == 0).sum(axis=1).tolist() == [2 if pairs else 1] * len(seats)
    if pairs:
        assert all(line[0] == line[2] != line[1] == line[3] for line in seats.tolist())


@pytest.mark.parametrize(("preset", "players"), TABLES)
def test_duel_plays_the_matches_it_says(preset, players):
    run = duel(preset, A, B, 3, seed=5, players=players)
    rules = RuleSet.preset(preset, players)
    (seats,) = duel_lineups(rules).players
    assert run.matches == 3 * len(seats) == len(run.frame) // players
    for number, (_, rows) in enumerate(run.frame.groupby(["deal", "seating"], sort=False)):
        specs = [(A, B)[i] for i in seats[number % len(seats)]]
        record = play(rules, specs, seed=5, deal=number // len(seats))
        assert rows["policy"].tolist() == specs
        accounts = record.rounds[-1].accounts
        assert rows["points"].tolist() == [accounts[rules.side_of(s)] for s in range(players)]


@pytest.mark.parametrize(("preset", "players"), TABLES)
def test_comparison_is_what_a_slow_count_finds(preset, players):
    frame = duel(preset, A, B, 40, seed=5, players=players).frame
    found = compare(frame).set_index("metric")
    for metric in ("points_per_round", "points_per_match", "goat_rate"):
        means, residuals = [], []
        for name in (A, B):
            mine = frame[frame["policy"] == name]
            value = mine["goat"].astype(float) if metric == "goat_rate" else mine["points"]
            weight = mine["rounds"] if metric == "points_per_round" else mine["rounds"] * 0 + 1
            mean = value.sum() / weight.sum()
            residual = (value - mean * weight).groupby(mine["deal"]).sum() / weight.sum()
            means.append(mean)
            residuals.append(residual)
        error = np.sqrt(40 / 39 * ((residuals[0] - residuals[1]) ** 2).sum())
        # And two deals that might have differed, less the more deals do.
        apart = residuals[0] - residuals[1]
        alike = np.isclose(apart, apart.round(9).mode()[0], atol=1e-8)
        share = 2 * (alike.sum() - 1) / 39 - 1
        if metric == "goat_rate" and share > 0:
            most = 1 + abs(40 * apart[alike].iloc[0] + means[0] - means[1])
            unseen = 2 * share * (1 - (40 - alike.sum()) / 50)
            error = np.hypot(error, np.sqrt(unseen) * most / 40)
        row = found.loc[metric]
        assert (row["estimate"], row["against_estimate"]) == pytest.approx(tuple(means))
        assert row["difference"] == pytest.approx(means[0] - means[1])
        assert row["std_error"] == pytest.approx(error)
        assert row["ci_low"] < row["difference"] < row["ci_high"]


@pytest.mark.parametrize(("preset", "players"), TABLES)
def test_variance_reduction_compares_with_matches_on_deals_of_their_own(preset, players):
    frame = duel(preset, A, B, 60, seed=5, players=players).frame
    found = compare(frame).set_index("metric").loc["points_per_match"]
    part = {name: frame[frame["policy"] == name] for name in (A, B)}
    size = {name: len(part[name]) for name in part}
    mean = {name: part[name]["points"].mean() for name in part}
    by_match = {}
    for sign, name in ((1, A), (-1, B)):
        for row in part[name].itertuples():
            key = (row.deal, row.seating)
            share = sign * (row.points - mean[name]) / size[name]
            by_match[key] = by_match.get(key, 0) + share
    by_deal = {}
    for (deal, _), value in by_match.items():
        by_deal[deal] = by_deal.get(deal, 0) + value
    apart = sum(value**2 for value in by_match.values())
    together = sum(value**2 for value in by_deal.values())
    assert found["variance_reduction"] == pytest.approx(1 - together / apart)


def test_verdict_says_better_worse_or_not_decided():
    row = {"policy": "a", "against": "b", "p_value": 0.0001}
    better = verdict(row | {"difference": -0.2, "ci_low": -0.3, "ci_high": -0.1}, "rules")
    assert better == (
        "a is better than b under rules: 10.00 to 30.00 points of goat rate less (p < 0.001)."
    )
    worse = verdict(row | {"difference": 0.2, "ci_low": 0.1, "ci_high": 0.3, "p_value": 0.02}, "r")
    assert (
        worse == "a is worse than b under r: 10.00 to 30.00 points of goat rate more (p = 0.020)."
    )
    open_ = verdict(row | {"difference": -0.01, "ci_low": -0.03, "ci_high": 0.01}, "rules")
    assert open_.startswith(
        "Not decided: a may be up to 3.00 points of goat rate better or 1.00 worse"
    )


def test_command_line_compares_two_policies(monkeypatch, capsys):
    status, out, _ = runner(monkeypatch, capsys)(
        *["compare", "dump_heavy", "random", "--players", "2", "-n", "200", "--seed", "1"]
    )
    assert status == 0
    assert "dump_heavy is better than random under room-fish-all" in out
    assert "variance saved" in out


def test_exchanged_duel_of_two_is_the_same_duel_with_the_other_sign():
    one, other = (compare(duel("room-fish-all", *pair, 30, seed=1, players=2).frame)
                  for pair in ((A, B), (B, A)))  # fmt: skip
    assert one["difference"].tolist() == pytest.approx((-other["difference"]).tolist())
    assert one["p_value"].tolist() == pytest.approx(other["p_value"].tolist())


def test_same_way_of_playing_under_two_names_does_not_differ():
    run = duel("room-fish-all", "dump_heavy", "prefer:pips", 300, seed=1, players=2)
    found = compare(run.frame)
    assert found["difference"].abs().max() < 1e-12
    assert (found["p_value"] == 1).all()


@pytest.mark.slow
def test_no_difference_is_seldom_found_significant():
    """200 duels of equals at four players; the binomial bound is passed by chance 1 in 2,000."""
    equals = ["random", policy(words=True, which=0)(scatter)]
    found = pd.concat(
        compare(duel("room-fish-all", *equals, 60, seed=seed, players=4).frame)
        for seed in range(200)
    )
    for _, rows in found.groupby("metric"):
        assert 1 <= (rows["p_value"] < 0.05).sum() <= 22


@pytest.mark.parametrize("workers", [2, 3])
def test_workers_do_not_change_a_duel(workers):
    one = duel("room-fish-all", A, B, 50, seed=1).frame
    pd.testing.assert_frame_equal(
        duel("room-fish-all", A, B, 50, seed=1, workers=workers).frame, one
    )


def test_engines_agree_on_a_duel():
    one = duel("pair-traditional", "pair_allround", "seven_tips", 2, seed=1)
    slow = duel("pair-traditional", "pair_allround", "seven_tips", 2, seed=1, engine="reference")
    pd.testing.assert_frame_equal(one.frame, slow.frame)


def test_policy_cannot_duel_with_itself_or_twice():
    rules = [RuleSet.preset("room-fish-all", 2)]
    with pytest.raises(ValueError, match="dump_heavy cannot duel with itself"):
        duel(rules, A, A, 3, seed=1)
    with pytest.raises(ValueError, match="dump_heavy v random is listed twice"):
        Tournament.of(Experiment.read(DUELS | {"duels": [(A, B), (A, B)]}, "x.toml"))
    with pytest.raises(ValueError, match="two or more policies; 1 given"):
        Tournament("d", rules, [get_policy(A)], 3, 1, "duels")


def test_frame_without_duels_is_refused():
    with pytest.raises(ValueError, match="no column 'duel'"):
        compare(pd.DataFrame({"preset": []}))


# ---------------------------------------------------------------------- experiment files

DUELS = {"name": "x", "seed": 1, "deals": 1, "rules": ["room-fish-all"], "duels": [(A, B)]}
FILE = """
name = "try"
seed = 1
deals = 20
rules = ["room-fish-all"]
players = [2]
duels = [["careful", "random"], ["prefer:careful>dump_heavy", "dump_heavy"]]
[ladders]
careful = "hold_last > long_suit?match"
"""


def test_experiment_may_list_duels_and_ladders(tmp_path):
    path = tmp_path / "try.toml"
    path.write_text(FILE)
    planned = Tournament.of(load_experiment(path))
    run = planned.play()
    assert run.matches == planned.matches == 2 * 2 * 20
    assert list(run.frame["duel"].cat.categories) == [
        "careful v random",
        "prefer:careful>dump_heavy v dump_heavy",
    ]
    parts = {p["name"]: p["parts"] for p in run.manifest["policies"]}
    assert parts["careful"] == [{"share": "1", "ladder": "prefer:hold_last>long_suit?match"}]


@pytest.mark.parametrize(
    "change",
    [{"policies": ["random", "dump_heavy"]}, {"duels": []}, {"duels": [], "policies": ["random"]}],
)
def test_experiment_lists_policies_or_duels(change):
    with pytest.raises(ValueError, match="either two or more policies, or duels"):
        Experiment.read(DUELS | change, "x.toml")


def test_ladders_of_a_file_may_come_in_any_order(tmp_path):
    path = tmp_path / "try.toml"
    path.write_text(FILE + 'second = "first > careful"\nfirst = "lock"\n')
    load_experiment(path)
    assert get_policy("second").parts == get_policy("prefer:lock>careful").parts


def test_ladders_that_name_each_other_are_refused(tmp_path):
    path = tmp_path / "try.toml"
    path.write_text(FILE + 'one = "two"\ntwo = "one > pips"\n')
    with pytest.raises(ValueError, match="one, two name each other in a circle"):
        load_experiment(path)


@pytest.mark.parametrize("pair", [["random"], ["random", "dump_heavy", "allround"], "random"])
def test_duel_of_another_number_of_policies_is_refused(pair):
    with pytest.raises(ValueError, match=r"^x.toml: duels: .* a duel is a list of two policies$"):
        Experiment.read(DUELS | {"duels": [pair]}, "x.toml")


def test_command_line_plays_duels(monkeypatch, capsys, tmp_path):
    kozel = runner(monkeypatch, capsys)
    path = tmp_path / "try.toml"
    path.write_text(FILE)
    status, out, _ = kozel("run", str(path), "-o", str(tmp_path / "out"))
    assert status == 0
    assert "prefer:careful>dump_heavy" in out
    assert {"manifest.json", "duels.csv", "duels.png"} <= {
        p.name for p in (tmp_path / "out").iterdir()
    }
    table = pd.read_csv(tmp_path / "out" / "duels.csv")
    assert len(table) == 6
