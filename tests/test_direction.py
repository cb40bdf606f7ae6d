"""Which way is better: under every rule set all analyses name the same policy."""

import json
import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from command_line import runner
from conftest import PRESET_TABLES
from frames import frame_of
from matplotlib.colors import to_hex

from kozel_sim import (
    PRESETS,
    RuleSet,
    compare,
    duel,
    elo_ratings,
    intransitive,
    load_run,
    nash,
    pairwise,
    payoffs,
    plots,
    ranking,
    rate,
    stats,
    tournament,
)
from kozel_sim.direction import LESS, MORE, named_points_win, points_win, sign_of
from kozel_sim.drawing import BLUE
from kozel_sim.export import write_csv
from kozel_sim.metrics import METRICS
from kozel_sim.report_results import results_of_run
from kozel_sim.reporting import print_duels, verdict
from kozel_sim.stopping import SprtStop, estimates

STRONG, WEAK = "allround", "random"
LITERAL = {"reach_effect": "loses", "dry_rule": "none"}
"""The literal reading of a page that credits points: whoever reaches the target loses (A19)."""
TABLES = [RuleSet.preset(name, players) for name, players in PRESET_TABLES]
TABLES += [rules.replace(**LITERAL) for rules in TABLES if rules.ledger == "credit"]
BY_PLAYERS = pytest.mark.parametrize("rules", TABLES, ids=lambda r: f"{r.name}-{r.players}")
HOUSEHOLD = {"household-300", "leaflet-200", "block-100"}
CREDIT = HOUSEHOLD | {"pair-traditional", "sea-goat", "sea-goat-125"}


@pytest.fixture
def kozel(tmp_path, monkeypatch, capsys):
    """Run a command in a folder of its own, and return what it prints."""
    monkeypatch.chdir(tmp_path)
    run = runner(monkeypatch, capsys)

    def told(*words):
        code, out, err = run(*words)
        assert code == 0, err
        return out

    return told


def best_of(estimates_, sign):
    """Return who has the best of estimates by name; the better the more."""
    return max(estimates_, key=lambda name: sign * estimates_[name])


def metrics_of(frame):
    """The metrics that the rules have."""
    rated = frame["rating"].notna().any()
    return [metric for metric in METRICS if rated or metric != "rating"]


def top_of(ax):
    """The name of a plot's uppermost row."""
    names = [label.get_text() for label in ax.get_yticklabels()]
    plt.close(ax.figure)
    return names[-1]


def asked_of_a_duel(run):
    """What every analysis of a duel says: {analysis: the better one}."""
    frame, found = run.frame, {}
    table = compare(frame)
    for row in table.to_dict("records"):
        ahead = sign_of(row["better"]) * row["difference"] > 0
        found["compare", row["metric"]] = STRONG if ahead else WEAK
    told = re.match(r"(\S+) is (better|worse) than (\S+)", verdict(row, "these rules"))
    found["verdict"] = told[1] if told[2] == "better" else told[3]
    for metric in metrics_of(frame):
        pays = payoffs(frame, metric).set_index("policy")["payoff"]
        found["payoffs", metric] = best_of(dict(pays), 1)
        share = nash(frame, metric, resamples=2).set_index("policy")["share"]
        found["nash", metric] = best_of(dict(share), 1)
        assert intransitive(frame, metric).empty
        rule = SprtStop(0.4, metric=metric)
        (said,) = rule.decide(estimates(rule, frame)).values()
        if said != "open":
            found["sprt", metric] = {"better": STRONG, "worse": WEAK}[said]
    found["rate"] = rate(frame, resamples=2)["policy"].iloc[0]
    if int(frame["players"].iloc[0]) == 2:
        found["elo"] = elo_ratings(frame)["policy"].iloc[0]
    for sentence in results_of_run(run).short:
        if told := re.match(r"(\S+) is (better|worse) than (\S+)", sentence):
            found["report"] = told[1] if told[2] == "better" else told[3]
    return found


def asked_of_a_field(frame, summary):
    """What every analysis of a tournament says of the strong policy and the weak one."""
    found = {}
    for metric in metrics_of(frame):
        table = ranking(frame, metric)
        two = table[table["policy"].isin([STRONG, WEAK])]
        found["ranking", metric] = two["policy"].iloc[0]
        of_two = pairwise(frame, metric)
        of_two = of_two[of_two[["policy", "against"]].isin([STRONG, WEAK]).all(axis=1)]
        (row,) = of_two.to_dict("records")
        ahead = sign_of(row["better"]) * row["difference"] > 0
        found["pairwise", metric] = row["policy"] if ahead else row["against"]
    two = rate(frame, resamples=2)
    found["rate"] = two[two["policy"].isin([STRONG, WEAK])]["policy"].iloc[0]
    for metric, part in summary.groupby("metric"):
        better = part["better"].iloc[0]
        here = part[part["policy"].isin([STRONG, WEAK])].set_index("policy")["estimate"]
        found["summary", metric] = best_of(dict(here), sign_of(better))
    return found


def truth_of(frame):
    """Who of the two was a goat less often."""
    rates = frame.groupby("policy", observed=True)["goat"].mean()
    assert abs(rates[STRONG] - rates[WEAK]) > 0.05
    return STRONG if rates[STRONG] < rates[WEAK] else WEAK


@BY_PLAYERS
def test_all_analyses_name_the_same_policy(rules):
    run = duel(rules, STRONG, WEAK, 150, seed=3)
    said = asked_of_a_duel(run)
    truth = truth_of(run.frame)
    assert {k: v for k, v in said.items() if v != truth} == {}
    assert "report" in said
    assert sum("sprt" in key for key in said) >= 2
    # Who plays to win points is the weaker one where points lose.
    assert truth == (WEAK if rules.ledger == "credit" and not rules.points_win else STRONG)
    field = [STRONG, WEAK, "dump_heavy", "seven_tips"][: rules.players]
    whole = tournament(rules, field, 60, seed=3)
    totals = tournament(rules, field, 60, seed=3, aggregate=True)
    truth = truth_of(whole.frame)
    for frame, summary in ((whole.frame, whole.summary()), (whole.frame, totals.summary())):
        said = asked_of_a_field(frame, summary)
        assert {k: v for k, v in said.items() if v != truth} == {}


# ---------------------------------------------------------------------- what was the wrong way


def test_duel_that_stops_names_the_better_one(kozel):
    words = ["compare", STRONG, WEAK, "--rules", "pair-traditional", "--seed", 2, "--stop", "sprt"]
    out = kozel(*words, "-n", 200, "-o", "duel")
    assert "allround v random: the first is better by points per match" in out
    short = results_of_run(load_run("duel")).short
    assert (
        "pair-traditional 4: allround v random: the first is better by points per match." in short
    )


def test_payoffs_and_ratings_agree(kozel):
    field = "allround,random,dump_heavy"
    words = ["tournament", "--rules", "household-300", "--players", 2, "--design", "duels"]
    kozel(*words, "--policies", field, "-n", 200, "--seed", 1, "-o", "hh")
    out = kozel("ratings", "hh", "--json")
    found = {name: pd.DataFrame(rows) for name, rows in json.loads(out).items()}
    row = found["payoffs"].set_index(["policy", "against"]).loc[(STRONG, WEAK)]
    assert row["ci_low"] > 0
    assert found["mixture"]["policy"][0] == found["ratings"]["policy"][0] == STRONG
    assert found["mixture"]["share"][0] == 1


# ---------------------------------------------------------------------- the order of losers


@pytest.mark.parametrize("win", [False, True])
@pytest.mark.parametrize("players", [3, 4])
def test_losers_are_ordered_by_their_points_the_way_they_are_good(players, win):
    """Where all but one are goats, points alone tell the losers apart."""
    names = ["a", "b", "c", "d"][:players]
    seats = [names[i:] + names[:i] for i in range(players)]
    worth = dict(zip(names, (100, 60, 40, 20), strict=False))
    points = np.array([[worth[name] for name in row] for row in seats] * 20)
    frame = frame_of(players, np.repeat(np.arange(20), players), seats * 20, points)
    goat = points != points.max(axis=1, keepdims=True)
    frame = frame.assign(goat=goat.ravel(), winner=~goat.ravel(), points_win=win)
    order = rate(frame, resamples=2)["policy"].tolist()
    assert order == (names if win else [names[0], *names[:0:-1]])


# ---------------------------------------------------------------------- how a frame says it


def test_rule_sets_say_whether_points_are_good():
    win = {name for name in PRESETS if RuleSet.preset(name).points_win}
    assert win >= CREDIT
    assert win == {name for name in PRESETS if RuleSet.preset(name).reach_effect == "wins"}


def test_every_frame_says_it():
    rules = [RuleSet.preset("household-300", 2), RuleSet.preset("room-fish-all", 2)]
    run = duel(rules, STRONG, WEAK, 4, seed=1)
    said = run.frame.groupby("preset", observed=True)["points_win"].agg(["all", "any"])
    assert said.loc["household-300"].all()
    assert not said.loc["room-fish-all"].any()


@pytest.mark.parametrize("rules", TABLES, ids=lambda r: f"{r.name}-{r.players}")
def test_names_of_rule_sets_say_it(rules):
    assert named_points_win(rules.name) == rules.points_win
    custom = RuleSet.from_knobs(rules.knobs(), base="mine")
    assert named_points_win(custom.name) == rules.points_win


@pytest.mark.parametrize(
    ("name", "win"),
    [
        ("custom", False),
        ("custom[target=50]", False),
        ("custom[reach_effect=wins,ledger=credit]", None),
        ("household-300[reach_effect=loses]", False),
        ("sea-goat[oops=1]", None),
        ("sea-goat[reach_effect=oops]", None),
        ("mine[reach_effect=wins]", None),
        ("mine", None),
    ],
)
def test_names_say_it_only_of_rule_sets_that_there_are(name, win):
    assert named_points_win(name) is win


def test_two_rule_sets_in_one_frame_go_their_own_ways():
    rules = [RuleSet.preset("household-300", 2), RuleSet.preset("room-fish-all", 2)]
    frame = duel(rules, STRONG, WEAK, 60, seed=1).frame
    frame = frame.iloc[np.random.default_rng(1).permutation(len(frame) // 2).repeat(2) * 2 +
                       np.tile([0, 1], len(frame) // 2)]  # fmt: skip
    table = ranking(frame, "points")
    assert table.groupby("preset", observed=True)["policy"].first().eq(STRONG).all()
    assert set(zip(table["preset"], table["better"], strict=True)) == {
        ("household-300", MORE),
        ("room-fish-all", LESS),
    }


@pytest.fixture(scope="module")
def household():
    return duel(RuleSet.preset("household-300", 2), STRONG, WEAK, 60, seed=1)


def test_frame_without_the_column_goes_by_the_name(household):
    bare = household.frame.drop(columns="points_win")
    assert ranking(bare, "points").equals(ranking(household.frame, "points"))
    changed = bare.assign(preset="household-300[target=200]")
    assert ranking(changed, "points")["policy"][0] == STRONG
    literal = bare.assign(preset="household-300[reach_effect=loses]")
    assert ranking(literal, "points")["policy"][0] == WEAK


def test_column_goes_before_the_name(household):
    named = household.frame.assign(preset="room-fish-all")
    assert ranking(named, "points")["policy"][0] == STRONG
    joined = pd.concat([household.frame, household.frame.drop(columns="points_win")])
    assert points_win(joined) is True


def test_frame_that_does_not_say_it_is_refused_only_where_it_matters(household):
    bare = household.frame.drop(columns="points_win").assign(preset="my own")
    assert compare(bare)["better"].tolist() == ["", "", LESS]
    assert ranking(bare, "goat_rate")["policy"][0] == STRONG
    message = "needs a column points_win, True where reaching the target wins the match"
    asked = [
        lambda: ranking(bare, "points"),
        lambda: payoffs(bare),
        lambda: rate(bare, resamples=2),
        lambda: plots.points(bare),
        lambda: plots.leaderboard(stats.summarise(bare), metric="points"),
    ]
    for ask in asked:
        with pytest.raises(ValueError, match=message):
            ask()


def test_frame_that_contradicts_itself_is_refused(household):
    frame = household.frame.assign(points_win=np.arange(len(household.frame)) % 2 == 0)
    with pytest.raises(ValueError, match="household-300: some rows say that many points are good"):
        ranking(frame, "points")


def test_column_holds_truths(household):
    texts = household.frame.assign(points_win="false")
    with pytest.raises(ValueError, match="points_win holds 'false', no True or False"):
        ranking(texts, "points")
    numbers = household.frame.assign(points_win=1)
    assert ranking(numbers, "points")["policy"][0] == STRONG


def test_frame_read_from_csv_says_the_same(household, tmp_path):
    write_csv([household.frame], tmp_path / "frame.csv")
    read = pd.read_csv(tmp_path / "frame.csv")
    assert ranking(read, "points")["policy"].tolist() == [STRONG, WEAK]
    assert nash(read, resamples=2)["share"].tolist() == [1, 0]


def test_old_files_get_the_column_from_the_manifest(tmp_path):
    rules = [RuleSet.preset("household-300", 2), RuleSet.preset("room-fish-all", 2)]
    run = duel(rules, STRONG, WEAK, 10, seed=1)
    old = run.frame.drop(columns="points_win")
    type(run)(old, run.manifest).save(tmp_path / "old")
    read = load_run(tmp_path / "old").frame
    pd.testing.assert_frame_equal(read, run.frame)


# ---------------------------------------------------------------------- plots


@pytest.mark.parametrize("preset", ["household-300", "room-fish-all"])
def test_plots_have_the_best_on_top_and_say_which_way(preset):
    run = duel(RuleSet.preset(preset, 2), STRONG, WEAK, 60, seed=1)
    words = "more are better" if preset == "household-300" else "fewer are better"
    summary, table = run.summary(), compare(run.frame)
    for ax in (
        plots.points(run.frame),
        plots.leaderboard(summary, metric="points"),
        plots.leaderboard(summary.drop(columns="better"), metric="points"),
    ):
        assert words in ax.get_xlabel().replace("\n", " ")
        assert top_of(ax) == STRONG
    for metric in ("points_per_match", "goat_rate"):
        ax = plots.ablation(table, metric=metric)
        bars = [patch for patch in ax.patches if patch.get_width()]
        assert [to_hex(bar.get_facecolor()) for bar in bars] == [BLUE.lower()]
        assert (words in ax.get_xlabel()) == (metric != "goat_rate")
        plt.close(ax.figure)
    ax = plots.convergence(run.frame, policy=STRONG, metric="points_per_match")
    assert words in ax.get_ylabel()
    plt.close(ax.figure)


def test_totals_histogram_says_it():
    run = tournament(RuleSet.preset("household-300", 2), [STRONG, WEAK], 40, 1, aggregate=True)
    assert run.histogram()["points_win"].all()
    assert top_of(plots.points(run.histogram())) == STRONG


@pytest.mark.parametrize("preset", ["household-300", "room-fish-all"])
def test_printed_duels_say_which_way(preset, capsys):
    print_duels(duel(RuleSet.preset(preset, 2), STRONG, WEAK, 10, seed=1))
    said = "Many points are good" if preset == "household-300" else "Few points are good"
    assert said in capsys.readouterr().out
