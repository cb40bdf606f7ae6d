"""Policies that played alike: the same moves are known, and not guessed from even results."""

import numpy as np
import pytest
from command_line import runner

from kozel_sim import duel, load_run, same_play, tournament
from kozel_sim.alike import RESULTS


@pytest.fixture
def kozel(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    return runner(monkeypatch, capsys)


TABLES = [("room-fish-all", 2), ("room-fish-all", 3), ("room-fish-all", 4), ("pair-traditional", 4)]


@pytest.mark.parametrize(("preset", "players"), TABLES)
def test_the_same_weights_make_the_same_moves(preset, players):
    run = duel(preset, "weights:pips=1", "weights:pips=2", 20, seed=1, players=players)
    (row,) = same_play(run).to_dict("records")
    assert (row["same"], row["differing_deals"]) == ("moves", 0)
    assert (row["n_matches"], row["n_deals"]) == (run.matches, 20)


@pytest.mark.parametrize(("preset", "players"), TABLES)
def test_one_other_move_is_seen(preset, players):
    nearly = "mix:0.9999*dump_heavy+0.0001*random"
    run = duel(preset, nearly, "dump_heavy", 400, seed=1, players=players)
    (row,) = same_play(run).to_dict("records")
    assert row["same"] == "nothing"
    wide = run.frame[["deal", "seat", *RESULTS]]
    counts = wide.groupby(["deal", "seat"])[list(RESULTS)].nunique().max(axis=1)
    assert row["differing_deals"] == (counts.groupby("deal").max() > 1).sum() > 0


def test_the_same_results_by_other_moves_are_told_apart():
    """Rules that cap a match after one round, and two that play it differently but end alike."""
    from kozel_sim import RuleSet

    rules = RuleSet.preset("room-fish-all", 2).replace(max_rounds=1, tile_over="none")
    for seed in range(300):
        run = duel(rules, "dump_heavy", "keep_range", 1, seed=seed)
        (row,) = same_play(run).to_dict("records")
        if row["same"] == "results":
            break
    assert row["same"] == "results"
    assert row["differing_deals"] == 0


def test_moves_of_policies_that_are_not_at_hand_are_not_claimed():
    run = duel("room-fish-all", "weights:pips=1", "weights:pips=2", 20, seed=1, players=2)
    strange = {**run.manifest, "policies": [{"name": "gone"}, {"name": "lost"}]}
    assert same_play(type(run)(run.frame, strange))["same"].tolist() == ["results"]


def test_a_run_without_duels_is_refused():
    run = tournament("room-fish-all", ["random", "dump_heavy"], 4, seed=1, players=2)
    with pytest.raises(ValueError, match="no column 'duel'"):
        same_play(run)


def test_the_command_says_so_and_asks_for_no_more_deals(kozel, tmp_path):
    pair = ("weights:pips=1", "weights:pips=2")
    line = ("compare", *pair, "-n", "30", "--players", "2", "--seed", "1", "-o", "out")
    code, out, _ = kozel(*line)
    assert code == 0
    said = "made the same moves in all 60 matches (30 deals)"
    assert said in " ".join(out.split())
    assert "More deals" not in out
    assert same_play(load_run(tmp_path / "out"))["same"].tolist() == ["moves"]
    code, out, _ = kozel("report", "out", "-o", "page.html")
    assert code == 0
    assert said in " ".join((tmp_path / "page.html").read_text(encoding="utf-8").split())


def test_a_run_that_may_stop_asks_for_no_more_deals_of_who_played_alike(kozel, tmp_path):
    pair = ("weights:pips=1", "weights:pips=2")
    rule = ("--stop", "width=0.0001", "-n", "100", "-o", "out")
    code, out, _ = kozel("compare", *pair, "--players", "2", "--seed", "1", *rule)
    assert code == 0
    out = " ".join(out.split())
    assert "made the same moves in all 200 matches (100 deals)" in out
    assert "would tell" not in out
    assert "it is not adjusted for the stopping" in out
    code, _, _ = kozel("report", "out", "-o", "page.html")
    page = " ".join((tmp_path / "page.html").read_text(encoding="utf-8").split())
    assert "made the same moves in all 200 matches" in page
    assert "would tell" not in page


def test_teams_are_told_apart_by_their_members():
    field = ["weights:pips=1", "weights:pips=2"]
    run = tournament("pair-traditional", field, 6, seed=1, design="teams")
    table = same_play(run)
    assert (table["same"] == "moves").all()
    assert np.all(table["n_deals"] == 6)
