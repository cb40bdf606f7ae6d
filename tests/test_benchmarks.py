"""The C yardstick and the engine play the same game. Nothing is timed here."""

import importlib
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from kozel_sim import RuleSet, reference
from kozel_sim.policies import FIELD, read_policies
from kozel_sim.tournaments import Tournament

sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))
yardstick = importlib.import_module("yardstick")
worlds = importlib.import_module("worlds")
aggregate = importlib.import_module("aggregate")
peers = importlib.import_module("peers")
report = importlib.import_module("report")
startup = importlib.import_module("startup")
features = importlib.import_module("features")
rounds = importlib.import_module("rounds")

MATCHES = 4000
needs_compiler = pytest.mark.skipif(yardstick.find_compiler() is None, reason="no C compiler")


@needs_compiler
@pytest.mark.parametrize("greedy", [False, True], ids=["random", "greedy"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_yardstick_and_engine_play_as_many_rounds_per_match(players, greedy, tmp_path):
    c = yardstick.c_program("scalar", players, greedy, tmp_path)(MATCHES)
    ours = yardstick.engine(players, [yardstick.GREEDY if greedy else yardstick.RANDOM])(MATCHES)
    assert abs(ours.gap(c)) < yardstick.LARGEST_GAP, f"{c.mean:.3f} in C, {ours.mean:.3f} here"


@pytest.mark.parametrize("users", [yardstick.USERS, yardstick.WATCHERS], ids=["users", "watchers"])
def test_users_function_plays_as_random_does(users):
    rules = yardstick.RULES[4]
    asked = reference.play_match(rules, users, 1, 0)
    drawn = reference.play_match(rules, [yardstick.RANDOM] * 4, 1, 0)
    assert asked.rounds == drawn.rounds
    assert yardstick.engine(4, users)(200).rounds == (
        yardstick.engine(4, [yardstick.RANDOM])(200).rounds
    )


def test_benchmark_of_features_prints_a_line_per_engine_and_number_of_players(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["features.py", "--matches", "10", "--repeats", "1"])
    features.main()
    header, _, *lines = capsys.readouterr().out.splitlines()
    assert header.strip("| ").split(" | ") == ["engine", "players", *features.CASES]
    cells = [line.strip("| ").split(" | ") for line in lines]
    assert [(c[0], c[1]) for c in cells] == [(e, n) for e in ("scalar", "vector") for n in "432"]
    assert all(c[2] == "1.00" for c in cells)


def test_benchmark_of_rounds_prints_a_line_per_case(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["rounds.py", "--matches", "10", "--repeats", "2"])
    rounds.main()
    _, _, *lines = capsys.readouterr().out.splitlines()
    found = [line.strip("| ").split(" | ")[:2] for line in lines]
    assert found == [list(case) for case in rounds.CASES.items()]


def test_benchmark_of_worlds_prints_a_line_per_case(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["worlds.py", "--worlds", "10", "--repeats", "1"])
    worlds.main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[0] for line in lines] == list(worlds.CASES)
    assert "399,072,960 worlds" in lines[0]


def test_benchmark_of_aggregates_shares_out_the_time(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["aggregate.py", "--matches", "120"])
    aggregate.main()
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")][1:]
    assert [line.split(" | ")[0].strip("| ") for line in lines] == list(aggregate.CASES)
    for run in aggregate.CASES.values():
        got = aggregate.measure(run, 120)
        assert got["matches"] == 120
        assert 0 < got["share"] < 1
        assert min(got["playing"], got["around"], got["summary"]) > 0


def test_package_that_is_not_installed_is_left_out_in_words(monkeypatch, capsys):
    absent = {
        name: replace(peer, module=f"absent_{peer.module}") for name, peer in peers.PEERS.items()
    }
    monkeypatch.setattr(peers, "PEERS", absent)
    monkeypatch.setattr(sys, "argv", ["peers.py", "--rounds", "10", "--repeats", "1"])
    peers.main()
    out = capsys.readouterr().out
    assert "|" not in out
    for name in absent:
        assert f"{name} is left out: it is not installed here (pip install '.[bench]')" in out


@pytest.mark.parametrize("name", peers.PEERS)
def test_package_plays_so_many_rounds(name):
    pytest.importorskip(peers.PEERS[name].module)
    assert peers.PEERS[name].speed(3) > 0


def test_package_is_compared_with_every_compiled_engine(monkeypatch):
    """A package of a thousand rounds per second, whatever it is asked for."""
    slow = peers.Peer("json", lambda rounds: 1000.0, 10, "nothing is played")
    monkeypatch.setattr(peers, "PEERS", {"slow": slow})
    rows, notes = peers.measure(("room-fish-all",), 500, 3)
    assert len(rows) == len([e for e in peers.ENGINES if e not in ("auto", "reference")])
    cells = [cell.strip() for cell in rows[0].strip("|").split("|")]
    assert cells[:2] == ["slow", "1,000"]
    ours, ratio = (float(cell.replace(",", "")) for cell in cells[3:5])
    assert ratio == pytest.approx(ours / 1000, abs=0.51)
    assert notes == ["Not the same as in slow: nothing is played."]


def test_startup_counts_its_matches():
    for name, (words, _) in startup.WARM.items():
        if words[0] == "tournament":
            n = Tournament(
                "t",
                [RuleSet.preset("room-fish-all")],
                read_policies(list(FIELD)),
                int(words[2]),
                seed=1,
            )
            assert f"{n.matches:,} matches" in name


def test_report_has_words_for_every_script():
    scripts = [script for (script,) in report.SECTIONS.values()]
    assert sorted(report.QUICK) == sorted(scripts)
    assert all((report.HERE / script).is_file() for script in scripts)


def test_report_writes_what_the_scripts_print(monkeypatch, capsys, tmp_path):
    out = tmp_path / "results.md"
    words = ["report.py", "--quick", "--only", "peers.py", "--out", str(out)]
    monkeypatch.setattr(report, "QUICK", {"peers.py": ["--help"]})
    monkeypatch.setattr(sys, "argv", words)
    report.main()
    text = out.read_text(encoding="utf-8")
    assert "## Packages of PyPI" in text
    assert "usage: peers.py" in text
    assert "## Start-up" not in text


@pytest.mark.parametrize(
    ("page", "headings"),
    [
        ("README.md", ["The engine and C", "What features cost"]),
        ("docs/performance.md", ["Aggregate mode", "Start-up"]),
    ],
)
def test_pages_quote_the_results(page, headings):
    """The same figures everywhere: run the report again, and quote it."""
    root = report.HERE.parent
    results = (root / "benchmarks" / "results.md").read_text(encoding="utf-8")
    text = (root / page).read_text(encoding="utf-8")
    for heading in headings:
        section = results.partition(f"## {heading}\n")[2].partition("\n## ")[0].strip()
        assert section.startswith("|")
        assert section in text
