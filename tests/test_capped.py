"""Matches that reach the cap of rounds: every view counts them, and says what became of them."""

import json
import re

import pandas as pd
import pytest
from command_line import runner, strict_json

from kozel_sim import (
    RuleSet,
    compare,
    duel,
    elo_ratings,
    nash,
    pairwise,
    payoffs,
    plots,
    ranking,
    rate,
    report_html,
    tournament,
)
from kozel_sim.capped import capped_matches, capped_words, how_many
from kozel_sim.reporting import verdict
from kozel_sim.runs import load
from kozel_sim.sweep import best_policies

SEA = RuleSet.preset("sea-goat")
SOME, ALL = SEA.replace(max_rounds=30), SEA.replace(max_rounds=3)
FIELD = ["allround", "random", "dump_heavy", "seven_tips"]


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


@pytest.fixture(scope="module")
def some():
    """A duel of which about half of the matches are capped."""
    return duel(SOME, "allround", "random", 60, seed=1)


@pytest.fixture(scope="module")
def none_ended():
    return duel(ALL, "allround", "random", 20, seed=1)


def counted(frame):
    """How many matches are capped, from the frame alone."""
    matches = frame[frame["seat"] == 0]
    return len(matches), int(matches["capped"].sum())


def words_of(run):
    """Which numbers a sentence must say."""
    of, n = counted(run.frame)
    return f"{n} of {of} matches"


# ---------------------------------------------------------------------- tables


def test_tables_count_capped_matches(some):
    of, n = counted(some.frame)
    assert 0 < n < of
    for table in (
        compare(some.frame),
        ranking(some.frame),
        pairwise(some.frame),
        payoffs(some.frame),
        nash(some.frame, resamples=2),
    ):
        assert set(table["n_capped"]) == {n}
        assert set(table["n_matches"]) == {of}
    rated = rate(some.frame, resamples=2)
    assert set(rated["n_capped"]) == {n}
    assert set(rated["n_matches"]) == {of - n}
    assert rated["method"].str.endswith("capped matches left out").all()


def test_elo_counts_capped_matches_and_is_not_moved_by_them():
    rules = RuleSet.preset("household-300", 2).replace(max_rounds=9)
    frame = duel(rules, "allround", "random", 60, seed=1).frame
    of, n = counted(frame)
    table = elo_ratings(frame)
    assert 0 < n < of
    assert set(table["n_capped"]) == {n}
    ended = frame[~frame["capped"]]
    columns = ["policy", "elo"]
    assert elo_ratings(ended)[columns].equals(table[columns])


def test_ratings_are_those_of_the_matches_that_ended(some):
    ended = some.frame[~some.frame["capped"]]
    mine, theirs = (rate(f, resamples=5) for f in (some.frame, ended))
    assert mine["rating"].tolist() == theirs["rating"].tolist()
    assert mine["ci_low"].tolist() == theirs["ci_low"].tolist()


def test_counts_are_by_rule_set_and_duel():
    run = tournament([SOME, SEA], FIELD[:3], 10, seed=1, design="duels")
    table = capped_matches(run)
    assert len(table) == 6
    for row in table.to_dict("records"):
        part = run.frame[
            (run.frame["preset"] == row["preset"]) & (run.frame["duel"] == row["duel"])
        ]
        assert (row["n_matches"], row["n_capped"]) == counted(part)
        assert row["cap"] == (30 if row["n_capped"] else 0)
    assert [words.partition(",")[0] for words in capped_words(run)] == [SOME.name]


def test_totals_count_as_the_frame_does():
    whole = tournament([SOME, SEA], FIELD, 12, seed=1)
    sums = tournament([SOME, SEA], FIELD, 12, seed=1, aggregate=True)
    pd.testing.assert_frame_equal(
        capped_matches(whole), capped_matches(sums), check_dtype=False, check_categorical=False
    )
    assert "capped)" in repr(whole)
    assert repr(whole).partition("Run")[2].replace("Run", "") == repr(sums).partition("Totals")[2]


# ---------------------------------------------------------------------- what is printed and written


def test_every_view_of_a_duel_counts_them(kozel, some):
    words = ["compare", "allround", "random", "--rules", "sea-goat", "--set", "max_rounds=30"]
    words += ["-n", 60, "--seed", 1, "-o", "run"]
    said = words_of(some)
    out = kozel(*words)
    assert said in out
    assert "count in goat rates as matches without a goat" in out
    assert said in kozel("show", "run")
    data = strict_json(kozel("show", "run", "--json"))
    of, n = counted(some.frame)
    assert {(row["n_matches"], row["n_capped"]) for row in data["duels"]} == {(of, n)}
    assert data["capped"] == [
        {"preset": SOME.name, "players": 4, "duel": "allround v random"}
        | {"n_matches": of, "n_capped": n, "cap": 30}
    ]
    assert set(pd.read_csv("run/duels.csv")["n_capped"]) == {n}
    assert pd.read_csv("run/capped.csv")["n_capped"].tolist() == [n]
    out = kozel("ratings", "run")
    assert said in out
    assert "Ratings leave them out" in out
    data = strict_json(kozel("ratings", "run", "--json"))
    assert data["payoffs"][0]["n_capped"] == data["ratings"][0]["n_capped"] == n
    html = report_html(load("run"))
    assert said in html
    assert f"{n} of {of}" in re.sub(r"\s+", " ", html)


@pytest.mark.parametrize("more", [[], ["--aggregate"]])
def test_every_view_of_a_field_counts_them(kozel, more):
    words = ["tournament", "--rules", "sea-goat", "--set", "max_rounds=30", "-n", 6, "--seed", 1]
    out = kozel(*words, "--policies", ",".join(FIELD), "-o", "run", *more)
    run = load("run")
    (counts,) = capped_matches(run).to_dict("records")
    assert 0 < counts["n_capped"] < counts["n_matches"]
    said = how_many(counts)
    assert said in out
    assert json.loads(kozel("show", "run", "--json"))["capped"][0]["n_capped"] == counts["n_capped"]
    assert pd.read_csv("run/capped.csv")["n_capped"].tolist() == [counts["n_capped"]]
    assert said in report_html(run)
    assert "capped)" in run._repr_html_()


def test_duels_have_a_column_of_their_own(kozel):
    words = ["tournament", "--rules", "sea-goat", "--set", "max_rounds=30", "--design", "duels"]
    out = kozel(*words, "-n", 5, "--seed", 1, "--policies", ",".join(FIELD[:3]), "-o", "run")
    table = capped_matches(load("run"))
    told = re.findall(r"(\d+) of 10 ", out)
    assert [int(n) for n in told] == table["n_capped"].tolist()


def test_nothing_is_said_where_no_match_is_capped(kozel):
    words = ["compare", "allround", "random", "--players", 2, "-n", 20, "--seed", 1, "-o", "run"]
    assert "capped" not in kozel(*words)
    assert "capped" not in strict_json(kozel("show", "run", "--json"))
    assert "cap of" not in kozel("ratings", "run")


def test_plan_says_it_of_its_pilot(kozel):
    words = ["plan", "allround", "random", "--detect", 5, "--rules", "sea-goat"]
    words += ["--set", "max_rounds=30", "--pilot", 40, "--seed", 1]
    assert re.search(r"pilot: \d+ of 80 matches \(.*\) reached the cap", kozel(*words))
    assert strict_json(kozel(*words, "--json"))["plan"][0]["pilot_capped"] > 0


# ---------------------------------------------------------------------- where no match ended


def test_run_without_an_end_has_no_rating(none_ended):
    assert rate(none_ended.frame).empty
    assert "rating" in rate(none_ended.frame)
    rules = RuleSet.preset("household-300", 2).replace(max_rounds=1)
    assert elo_ratings(duel(rules, "allround", "random", 5, seed=1).frame).empty
    with pytest.raises(ValueError, match="nothing to draw: the table has no rows"):
        plots.ratings(rate(none_ended.frame))


def test_rule_set_without_an_end_leaves_the_others_their_ratings(none_ended, some):
    both = pd.concat([none_ended.frame, some.frame], ignore_index=True)
    assert set(rate(both, resamples=2)["preset"]) == {SOME.name}


def test_run_without_an_end_has_no_verdict(kozel, none_ended):
    words = ["compare", "allround", "random", "--rules", "sea-goat", "--set", "max_rounds=3"]
    no_winner = "No winner: all 40 matches reached the cap of 3 rounds, so there is no goat and no"
    out = kozel(*words, "-n", 20, "--seed", 1, "-o", "run")
    assert f"{no_winner} verdict." in out
    assert "Not decided" not in out
    out = kozel("ratings", "run")
    assert out == f"{ALL.name}, 4 players: {no_winner} rating.\n"
    assert strict_json(kozel("ratings", "run", "--json"))["ratings"] == []
    html = report_html(load("run"))
    assert f"{no_winner} verdict." in html
    assert "Not decided" not in html
    rows = compare(none_ended.frame).to_dict("records")
    assert verdict(rows[-1], "r").startswith("No winner: all 40 matches")


def test_test_does_not_stop_without_an_end(kozel):
    words = ["compare", "allround", "random", "--rules", "sea-goat", "--set", "max_rounds=3"]
    out = kozel(*words, "-n", 120, "--seed", 1, "--stop", "sprt,effect=0.4", "-o", "run")
    assert "No winner: all 240 matches" in out
    assert not re.search("allround is|the first is", out)
    (row,) = load("run").manifest["stopping"]
    assert (row["decision"], row["n_matches"], row["n_capped"]) == ("open", 240, 240)


def test_field_without_an_end_has_no_first(kozel):
    words = ["tournament", "--rules", "sea-goat", "--set", "max_rounds=3", "-n", 6, "--seed", 1]
    out = kozel(*words, "--policies", ",".join(FIELD), "-o", "run")
    assert "No winner: all 24 matches reached the cap of 3 rounds" in out
    html = report_html(load("run"))
    assert "has the lowest goat rate" not in html
    assert "No winner: all 24 matches" in html


def test_sweep_names_nobody_where_nobody_was_a_goat(kozel):
    words = ["sweep", "--rules", "sea-goat", "--vary", "max_rounds=3", "-n", 6, "--seed", 1]
    out = kozel(*words, "--policies", ",".join(FIELD), "-o", "run")
    best = best_policies(load("run").frame).set_index("preset")["best"]
    assert best[ALL.name] == ""
    assert best["sea-goat"] in FIELD
    assert "none: no goat" in out
    assert "lowest goat rate of 4 played" in out
