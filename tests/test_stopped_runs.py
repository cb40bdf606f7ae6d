"""Runs that stop when they are sure enough, plans, ratings and seats, as the commands show them."""

import json
import math
from pathlib import Path

import pandas as pd
import pytest
from command_line import runner, strict_json

from kozel_sim import RuleSet, compare, duel, load_run, payoffs, read_stop, tournament
from kozel_sim.policies import read_policies
from kozel_sim.sequential import FIRST_LOOK, LOOK_GROWTH, looks
from kozel_sim.stopping import estimates
from kozel_sim.tournaments import Tournament
from kozel_sim.verifying import verify

FOUR = "random,dump_heavy,allround,weights:pips=1"


@pytest.fixture
def kozel(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    return runner(monkeypatch, capsys)


def planned(stop, design="duels", deals=2000, seed=1, field=FOUR, players=2):
    rules = [RuleSet.preset("room-fish-all", players)]
    return Tournament("t", rules, read_policies(field), deals, seed, design, stop=read_stop(stop))


@pytest.fixture(scope="module")
def decided():
    """A round robin of duels with a test of each pair."""
    plan = planned("sprt,effect=0.2")
    return plan, plan.play()


# ---------------------------------------------------------------------- what stops


def test_decided_pairs_get_no_more_deals_and_the_others_do(decided):
    _, run = decided
    deals = run.frame.groupby("duel", observed=True)["deal"].nunique()
    rows = {row["key"].partition(": ")[2]: row for row in run.manifest["stopping"]}
    assert {duel: row["n_deals"] for duel, row in rows.items()} == deals.to_dict()
    assert deals["random v allround"] == FIRST_LOOK < deals["dump_heavy v weights:pips=1"] < 2000
    # These two play alike.
    assert rows["dump_heavy v weights:pips=1"]["decision"] == "no difference"
    assert rows["random v allround"]["decision"] == "worse"


def test_decisions_are_those_of_the_rule_on_the_frame(decided):
    plan, run = decided
    found = plan.stop.decide(estimates(plan.stop, run.frame))
    assert found == {row["key"]: row["decision"] for row in run.manifest["stopping"]}


def test_deals_are_those_of_the_run_that_does_not_stop(decided):
    _, run = decided
    whole = Tournament("t", [RuleSet.preset("room-fish-all", 2)], read_policies(FOUR), 300, 1,
                       "duels").play().frame  # fmt: skip
    for title, rows in run.frame.groupby("duel", observed=True):
        there = whole[(whole["duel"] == title) & (whole["deal"] <= rows["deal"].max())]
        pd.testing.assert_frame_equal(
            rows.reset_index(drop=True), there.reset_index(drop=True), check_exact=True
        )


def test_stopping_is_tested_at_preset_numbers_alone(decided):
    plan, run = decided
    schedule = looks(FIRST_LOOK, LOOK_GROWTH, 1, plan.deals)
    assert {row["n_deals"] for row in run.manifest["stopping"]} <= set(schedule)


@pytest.mark.parametrize("ways", [{"workers": 2, "chunk": 10}, {"chunk": 64}, {"workers": 4}])
def test_workers_and_chunks_do_not_change_where_it_stops(decided, tmp_path, ways):
    plan, run = decided
    again = plan.play(**ways, folder=tmp_path / "run")
    pd.testing.assert_frame_equal(again.frame, run.frame, check_exact=True)
    assert again.manifest["stopping"] == run.manifest["stopping"]
    assert all(f.ok for f in verify(tmp_path / "run", 5))


def test_stopped_run_that_was_cut_off_goes_on_to_the_same_end(decided, tmp_path):
    plan, run = decided

    def break_down(planned, engine, parts, deliver, progress):
        player = planned.player(engine)
        for part in parts:
            if part.end > 100:
                raise RuntimeError("no ink")
            deliver(part, player.play(part))

    with pytest.raises(RuntimeError, match="no ink"):
        plan.play(folder=tmp_path / "run", mapper=break_down)
    again = plan.play(folder=tmp_path / "run")
    pd.testing.assert_frame_equal(again.frame, run.frame, check_exact=True)
    assert again.manifest["stopping"] == run.manifest["stopping"]
    assert load_run(tmp_path / "run").manifest["stopping"] == run.manifest["stopping"]


@pytest.mark.parametrize("players", [2, 4])
def test_width_stops_when_every_policys_interval_is_narrow(players):
    field = "random,dump_heavy,allround,seven_tips"
    run = planned("width=0.08", "rotations", 5000, field=field, players=players).play()
    for row in run.manifest["stopping"]:
        assert row["decision"] == "enough"
        assert row["sequence_high"] - row["sequence_low"] <= 0.08
        assert row["ci_high"] - row["ci_low"] < 0.08
        assert row["adjusted"] is None
    assert max(row["n_deals"] for row in run.manifest["stopping"]) == run.frame["deal"].nunique()


def test_run_that_is_never_sure_plays_all_deals():
    run = planned("width=0.001", "rotations", 150).play()
    assert run.frame["deal"].nunique() == 150
    assert {row["decision"] for row in run.manifest["stopping"]} == {"open"}


def test_single_deal_is_never_sure():
    run = planned("sprt", deals=1).play()
    for row in run.manifest["stopping"]:
        assert row["decision"] == "open"
        assert row["sequence_low"] is None, "infinite, which JSON has not"


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (["--aggregate"], "does not go with --aggregate"),
        (["--stop", "widht=1"], "stop 'widht=1' is no rule; write width=0.002 or sprt"),
        (["--stop", "width=0"], "width must be more than 0"),
        (["--stop", "sprt,effect=-1"], "effect"),
        (["--stop", "sprt,alpha=0.9"], "alpha"),
    ],
)
def test_stop_that_cannot_be_is_refused(kozel, more, complaint):
    words = ["tournament", "--players", 2, "--stop", "sprt", *more]
    code, out, err = kozel(*words)
    assert (code, out) == (2, "")
    assert complaint in err
    assert err.count("\n") == 1


def test_stop_refuses_shards(kozel, tmp_path):
    (tmp_path / "e.toml").write_text(
        'name="e"\nseed=1\ndeals=100\nrules=["room-fish-all"]\nplayers=[2]\n'
        'policies=["random","dump_heavy"]\n'
    )
    code, out, err = kozel("run", "e.toml", "--stop", "sprt", "--shard", "1/2")
    assert (code, out) == (2, "")
    assert "does not go with --shard" in err


def test_compare_shows_naive_and_corrected_estimates(kozel):
    words = ["compare", "dump_heavy", "seven_tips", "--players", 2, "--seed", 3, "--stop", "sprt"]
    code, out, err = kozel(*words)
    assert (code, err) == (0, "")
    for words in ("naive", "adjusted", "holds under stopping", "worse", "variance saved"):
        assert words in out


# ---------------------------------------------------------------------- seats and ranks


def test_every_report_splits_by_seat_and_leader(kozel):
    for words in (
        ["tournament", "-n", 60, "--seed", 1],
        ["tournament", "-n", 60, "--seed", 1, "--design", "duels", "--players", 2],
        ["compare", "random", "dump_heavy", "-n", 60, "--seed", 1],
        ["sweep", "--rules", "room-fish-all,room-fish-one", "-n", 60, "--seed", 1],
    ):
        code, out, _ = kozel(*words)
        assert code == 0
        assert "goat rate by seat and by first leader" in out
        assert "seats differ" in out
        assert "chi-squares are clustered by deal" in out
        data = strict_json(kozel(*words, "--json")[1])
        assert {row["by"] for row in data["seats"]} == {"seat", "led"}
        assert {row["by"] for row in data["balance"]} == {"seat", "led"}


def test_leaderboard_shows_ranks_that_hold_together(kozel):
    words = ["tournament", "-n", 60, "--seed", 1, "--players", 2, "--policies", FOUR]
    out = kozel(*words)[1]
    rows = {line.split("│")[2].strip(): line.split("│")[1].strip() for line in out.splitlines()
            if line.startswith("│") and line.count("│") == 6}  # fmt: skip
    assert rows["allround"] == "1"
    assert rows["dump_heavy"] == rows["weights:pips=1"]
    assert "-" in rows["dump_heavy"]


# ---------------------------------------------------------------------- plans


def test_plan_says_what_a_comparison_needs(kozel):
    words = ["plan", "dump_heavy", "seven_tips", "--detect", "5", "--players", 2, "--pilot", 200]
    code, out, err = kozel(*words, "--seed", 1)
    assert (code, err) == (0, "")
    assert "to find a difference of 5 in points per match with power 90%" in out
    assert "if each had a deal of its own" in out
    assert "a test that stops by itself: --stop sprt,effect=" in out
    assert "if half of the difference is true, it is found with a chance of" in out
    found = strict_json(kozel(*words, "--seed", 1, "--json")[1])
    rows = found["plan"]
    assert rows[0]["asked"] is True
    assert [row["share"] for row in found["forecast"]] == [0, 0.25, 0.5, 0.75, 1, 1.5, 2]
    foretold = kozel(*words, "--stop", "sprt,effect=0.3", "--family", 3, "-n", 120)[1]
    assert "--stop sprt,effect=0.3, one of 3 pairs" in foretold
    assert "undecided" in foretold
    pilot = compare(duel("room-fish-all", "dump_heavy", "seven_tips", 200, seed=1, players=2).frame)
    error = pilot.set_index("metric").loc["points_per_match", "std_error"]
    assert rows[0]["deviation"] == pytest.approx(error * math.sqrt(200))
    # (1.96 + 1.28)^2 deviations^2 / detect^2, and some for Student's t.
    assert rows[0]["deals"] == pytest.approx(10.507 * rows[0]["deviation"] ** 2 / 25, rel=0.02)


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (["--detect", "0"], "detect must be more than 0"),
        (["--detect", "1", "--power", "1.5"], "power must be between"),
        (["--detect", "1", "--metric", "luck"], "unknown metric 'luck'"),
        (["--detect", "1", "--family", "0"], "family must be a whole number of 1 or more, not 0"),
        (["--detect", "1", "--stop", "width=1"], "--stop 'width=1': what is foretold is a test"),
        (["--detect", "1", "--stop", "sprt,metric=goat_rate"], "the plan of 'points_per_match'"),
        (["--detect", "x"], "invalid value for '--detect'"),
        ([], "missing option '--detect'"),
    ],
)
def test_plan_that_cannot_be_is_refused(kozel, more, complaint):
    code, out, err = kozel("plan", "random", "dump_heavy", "--pilot", 10, "--players", 2, *more)
    assert (code, out) == (2, "")
    assert complaint in err


# ---------------------------------------------------------------------- ratings


def test_ratings_of_duels_come_with_payoffs_and_a_mixture(kozel):
    words = ["tournament", "--design", "duels", "--players", 2, "-n", 60, "--seed", 1, "-o", "mine"]
    assert kozel(*words, "--policies", "random,dump_heavy,allround", "--quiet")[0] == 0
    code, out, err = kozel("ratings", "mine")
    assert (code, err) == (0, "")
    assert "Bradley-Terry" in out
    assert "mixture that none does better against (Nash): allround 100%" in out
    assert "no circle of three" in out
    data = strict_json(kozel("ratings", "mine", "--json")[1])
    assert set(data) == {"ratings", "elo", "payoffs", "mixture", "circles"}
    assert [row["policy"] for row in data["ratings"]] == ["allround", "dump_heavy", "random"]


def test_ratings_of_a_gauntlet_have_no_mixture(kozel):
    words = ["tournament", "--design", "gauntlet", "--players", 2, "-n", 60, "--seed", 1]
    kozel(*words, "--policies", "allround,random,dump_heavy", "-o", "mine", "--quiet")
    data = json.loads(kozel("ratings", "mine", "--json")[1])
    assert set(data) == {"ratings", "elo", "payoffs"}


def test_ratings_of_singles_are_of_finishing_orders(kozel):
    kozel("tournament", "-n", 60, "--seed", 1, "-o", "mine", "--quiet")
    code, out, _ = kozel("ratings", "mine")
    assert code == 0
    assert "room-fish-all, 4 players, a field of 5 policies: Plackett-Luce" in out


def test_ratings_of_several_rule_sets_say_within_what_they_hold(kozel):
    words = ["tournament", "--rules", "room-fish-all,room-fish-one", "--players", 2, "-n", 20]
    kozel(*words, "--policies", "allround,random,dump_heavy", "--seed", 1, "-o", "mine", "--quiet")
    _, out, _ = kozel("ratings", "mine")
    for preset in ("room-fish-all", "room-fish-one"):
        assert f"{preset}, 2 players, a field of 3 policies: Bradley-Terry" in out
    assert "ratings compare within a rule set and its field, not between them" in out
    data = json.loads(kozel("ratings", "mine", "--json")[1])
    assert {row["n_policies"] for row in data["ratings"] + data["elo"]} == {3}


def test_best_policy_is_said_of_the_field_that_was_played(kozel):
    words = ["sweep", "--rules", "room-fish-all,room-fish-one", "--players", 2, "-n", 20]
    words += ["--policies", "allround,random,dump_heavy", "--seed", 1, "-o", "mine"]
    _, out, _ = kozel(*words)
    assert "lowest goat rate of 3 played" in out
    assert "best policy" not in out
    kozel("report", "mine")
    page = Path("mine/report.html").read_text(encoding="utf-8")
    assert "Of the 3 policies played allround has the lowest goat rate, sure at 95%" in page


def test_teams_of_pairs_are_rated_by_team(kozel):
    words = ["tournament", "--design", "teams", "--rules", "pair-traditional", "-n", 20]
    words += ["--policies", "random,pair_allround", "--seed", 1]
    code, out, _ = kozel(*words, "-o", "mine")
    assert code == 0
    assert "pair_allround+pair_allround" in out
    code, out, _ = kozel("ratings", "mine")
    assert code == 0
    assert "random+pair_allround" in out


def test_tournament_takes_every_design():
    for design, matches in (("rotations", 12), ("permutations", 12), ("duels", 24)):
        run = tournament("room-fish-all", ["random", "dump_heavy", "allround"], 1, 1, players=3,
                         design=design)  # fmt: skip
        deals = run.frame["deal"].nunique()
        per_deal = {"rotations": 3, "permutations": 6, "duels": 18}[design]
        assert run.matches == deals * per_deal, (design, matches)


# ---------------------------------------------------------------------- few deals, early ends


@pytest.mark.parametrize(
    "words",
    [
        ["compare", "random", "dump_heavy", "-n", 1, "--players", 2],
        ["compare", "random", "dump_heavy", "-n", 50, "--players", 2, "--stop", "sprt"],
        ["tournament", "--design", "duels", "-n", 1, "--players", 2],
        ["tournament", "-n", 1, "--players", 2],
        ["tournament", "-n", 50, "--players", 2, "--stop", "width=0.1"],
        ["sweep", "--rules", "room-fish-all,room-fish-one", "--players", 2, "-n", 1],
    ],
)
def test_few_deals_are_shown_without_a_fault(kozel, words):
    code, out, err = kozel(*words, "--seed", 1, "-o", "mine")
    assert (code, err) == (0, "")
    assert "[?, ?]" in out or "[0.00, 100.00]" in out
    for command in ("show", "ratings"):
        code, _, err = kozel(command, "mine")
        assert (code, err) == (0, "")


def test_verdict_of_a_stopped_run_is_the_rules(kozel):
    words = ["compare", "block_ends", "random", "--players", 2, "--seed", 5, "--stop", "sprt"]
    out = kozel(*words)[1]
    assert "block_ends v random: the first is better by points per match" in out
    assert "points of goat rate less (p" not in out
    assert "All other tables of this run are as if its deals had been fixed" in " ".join(
        out.split()
    )
    data = strict_json(kozel(*words, "--json")[1])
    assert data["stopping"]
    for name in ("duels", "seats"):
        assert all(row["method"].endswith("not corrected for stopping") for row in data[name])


def test_pilot_without_a_difference_plans_with_deals_that_might_have_differed(kozel):
    words = ["plan", "dump_heavy", "weights:pips=1", "--detect", 1, "--players", 2, "--pilot", 50]
    code, out, err = kozel(*words)
    assert (code, err) == (0, "")
    assert "to find a difference of 1 in points per match" in out
    rows = strict_json(kozel(*words, "--json")[1])["plan"]
    assert all(row["deviation"] > 0 and row["deals"] > 2 for row in rows)


def test_seed_that_was_drawn_is_told(kozel):
    out = kozel("tournament", "-n", 6, "--players", 2, "-o", "mine")[1]
    assert f"seed {load_run('mine').manifest['seed']}" in out


def test_payoffs_of_pairs_that_were_decided_early_have_their_own_deals(decided):
    _, run = decided
    table = payoffs(run.frame).set_index(["policy", "against"])
    for row in compare(run.frame).query("metric == 'points_per_match'").itertuples():
        one = table.loc[(row.policy, row.against)]
        assert (one["n_deals"], one["n_matches"]) == (row.n_deals, row.n_matches)
        assert one["std_error"] == pytest.approx(row.std_error)


def test_interval_of_a_rate_stays_a_rate():
    for design in ("duels", "rotations"):
        run = planned("width=0.3,metric=goat_rate", design, 400).play()
        least = -1 if design == "duels" else 0
        for row in run.manifest["stopping"]:
            assert least <= row["sequence_low"] <= row["sequence_high"] <= 1


RATED = ["compare", "random", "dump_heavy", "--rules", "livegames-goat"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["plan", "random", "dump_heavy", "--detect", "1e-300"], "detect=1e-300 is too little"),
        (["compare", "random", "dump_heavy", "--stop", "sprt,effect=1e200"], "effect must be from"),
        (
            [*RATED, "-o", "x", "--stop", "width=0.1,metric=rating"],
            "livegames-goat has no rating",
        ),
        (["merge", "nothere", "--sweep", "-o", "x"], "nothere holds no run"),
        (
            ["plan", "random", "dump_heavy", "--detect", "1", "--metric", "goat_rate"],
            "detect=1 of a rate is a share below 1",
        ),
    ],
)
def test_what_cannot_be_is_one_line(kozel, words, complaint):
    code, out, err = kozel(*words, *(["--players", 2] if words[0] != "merge" else []))
    assert (code, out) == (2, "")
    assert complaint in err
    assert err.count("\n") == 1
    assert not Path("x").exists()
