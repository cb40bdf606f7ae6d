"""One of a thing is told as one: no text that is printed says "1 parts are"."""

import re
from pathlib import Path

import pytest
from command_line import runner
from user_policies import own_registry

from kozel_sim import RuleSet, play, show, simulate
from kozel_sim.record import Record
from kozel_sim.words import counted

ONE_ROUND = RuleSet.preset("room-fish-all", 2).replace(max_rounds=1)
WRONG = re.compile(
    r"(?<![\d.,:/-])1 (?!players)(parts|matches|rounds|deals|policies|points|tiles|shards|moves|"
    r"times|files|rows|seats|hands|legal moves|more tables|events)\b"
)


@pytest.fixture(autouse=True)
def clean_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with own_registry():
        yield


@pytest.fixture
def kozel(monkeypatch, capsys):
    return runner(monkeypatch, capsys)


@pytest.mark.parametrize(
    ("n", "words", "told"),
    [
        (1, ("part is", "parts are"), "1 part is"),
        (2, ("part is", "parts are"), "2 parts are"),
        (0, ("deal",), "0 deals"),
        (1, ("policy",), "1 policy"),
        (12345, ("match",), "12,345 matches"),
        (2, ("day",), "2 days"),
        (2, ("box",), "2 boxes"),
    ],
)
def test_counted_says_one_or_several(n, words, told):
    assert counted(n, *words) == told


@pytest.mark.parametrize(
    "words",
    [
        ("tournament", "-n", 1, "-o", "run"),
        ("compare", "random", "dump_heavy", "-n", 1, "-o", "run"),
        ("tell", "-n", 1, "-o", "run"),
        ("replay", "--deal", 0),
    ],
)
def test_commands_that_play_one_of_a_thing_say_so(kozel, words):
    more = ("--players", 2, "--seed", 1, "--policies", "random,dump_heavy")
    code, out, err = kozel(*words, *(more[:4] if words[0] == "compare" else more))
    assert code == 0, err
    again = kozel("show", "run") if words[0] == "tournament" else ("", "", "")
    page = ""
    if words[0] == "tournament":
        kozel("report", "run")
        page = Path("run/report.html").read_text(encoding="utf-8")
    assert WRONG.search(out + err + again[1] + page) is None


def test_objects_that_hold_one_of_a_thing_say_so():
    run = simulate(ONE_ROUND, ["random", "random"], 1, seed=1)
    assert repr(run).endswith(", 1 match (1 capped), 1 round)")
    assert WRONG.search(run._repr_html_()) is None
    record = play(ONE_ROUND, ["random", "random"], 1, 0, engine="reference")
    assert isinstance(record, Record)
    assert "capped after 1 round\n" in record.to_text() + "\n"
    assert WRONG.search(show(record).html) is None
