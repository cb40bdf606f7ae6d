"""The C yardstick and the engine play the same game. Nothing is timed here."""

import importlib
import sys
from pathlib import Path

import pytest

from kozel_sim import reference

sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))
yardstick = importlib.import_module("yardstick")
worlds = importlib.import_module("worlds")
features = importlib.import_module("features")

MATCHES = 4000
needs_compiler = pytest.mark.skipif(yardstick.find_compiler() is None, reason="no C compiler")


@needs_compiler
@pytest.mark.parametrize("greedy", [False, True], ids=["random", "greedy"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_yardstick_and_engine_play_as_many_rounds_per_match(players, greedy, tmp_path):
    c = yardstick.c_program("scalar", players, greedy, tmp_path)(MATCHES)
    ours = yardstick.engine(players, [yardstick.GREEDY if greedy else yardstick.RANDOM])(MATCHES)
    assert abs(ours.gap(c)) < yardstick.LARGEST_GAP, f"{c.mean:.3f} in C, {ours.mean:.3f} here"


def test_users_function_plays_as_random_does():
    rules = yardstick.RULES[4]
    asked = reference.play_match(rules, yardstick.USERS, 1, 0)
    drawn = reference.play_match(rules, [yardstick.RANDOM] * 4, 1, 0)
    assert asked.rounds == drawn.rounds
    assert yardstick.engine(4, yardstick.USERS)(200).rounds == (
        yardstick.engine(4, [yardstick.RANDOM])(200).rounds
    )


def test_benchmark_of_features_prints_a_line_per_number_of_players(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["features.py", "--matches", "10", "--repeats", "1"])
    features.main()
    header, _, *lines = capsys.readouterr().out.splitlines()
    assert header.strip("| ").split(" | ") == ["players", *features.CASES]
    assert [line.split(" | ")[0] for line in lines] == ["| 4", "| 3", "| 2"]
    assert all(line.split(" | ")[1] == "1.00" for line in lines)


def test_benchmark_of_worlds_prints_a_line_per_case(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["worlds.py", "--worlds", "10", "--repeats", "1"])
    worlds.main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[0] for line in lines] == list(worlds.CASES)
    assert "399,072,960 worlds" in lines[0]
