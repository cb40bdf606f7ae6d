"""A room's rating of a match and a policy's rating in a field have two names wherever they show."""

import pytest
from command_line import runner
from user_policies import own_registry

from kozel_sim import RuleSet, plots, report_html, tournament
from kozel_sim.rule_words import rules_in_words
from kozel_sim.words import metric_words

FIELD = ["random", "dump_heavy", "keep_range"]


@pytest.fixture(scope="module")
def run():
    with own_registry():
        return tournament("room-fish-all", FIELD, 10, seed=1, players=2)


def test_room_rating_is_what_tables_call_the_column(run, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    run.save("run")
    kozel = runner(monkeypatch, capsys)
    assert " room rating ┃" in kozel("show", "run")[1]
    code, told, err = kozel("ratings", "run")
    assert code == 0, err
    assert "rating" in told
    assert "room rating" not in told


def test_room_rating_is_what_pages_and_notebooks_call_it(run):
    assert "<th>room rating</th>" in run._repr_html_()
    assert "room rating</th>" in report_html(run)
    words = str(rules_in_words(RuleSet.preset("room-fish-all", 2)))
    assert "points of the room" in words


def test_room_rating_is_what_plots_call_it(run):
    ax = plots.leaderboard(run.summary(), metric="rating")
    assert "room rating" in ax.get_xlabel()
    assert metric_words("rating") == "room rating"
    # The name of the column stays, so that runs of before can be read.
    assert {"rating"} <= set(run.frame.columns)
