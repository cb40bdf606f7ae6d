"""The commands that a report prints do what it says: the same run, the same match."""

import re
import shlex
from pathlib import Path

import pytest
from command_line import runner
from user_policies import own_registry

from kozel_sim import RuleSet, load_run, simulate, tournament
from kozel_sim.commands import replay_command, run_command
from kozel_sim.notable import notable_matches, replay_of
from kozel_sim.store import differences, read_manifest

EXPERIMENT = """
name = "mine"
seed = 3
deals = 6
rules = ["room-fish-one", "livegames-goat"]
players = [2, 3]
policies = ["random", "careful", "prefer:careful>dump_heavy", "mix:0.25*careful+0.75*random"]
variants = [{ target = 51 }, { tile_over = "0-0:25 6-6:50", open_at = 25 }]
[ladders]
careful = "legal_double?double>pips"
"""
DUELS = """
name = "mine"
seed = 3
deals = 6
rules = ["room-fish-one"]
players = [2, 4]
duels = [["random", "dump_heavy"], ["mix:0.5*random+0.5*keep_range", "random"]]
"""
PLAYED = [
    "tournament -n 12 --seed 1 --rounds",
    "tournament -n 12 --seed 1 --rules room-fish-one,livegames-goat --players 3 --aggregate",
    "tournament -n 6 --seed 1 --players 2 --set target=51 --set 'tile_over=0-0:25 6-6:50 alone' "
    "--set settlement=none --set lead_forced=false --policies 'mix:0.5*random+0.5*dump_heavy,"
    "prefer:hold_last>pips,weights:pips=1,double=-0.5'",
    "tournament -n 6 --seed 1 --players 2 --design duels",
    "tournament -n 6 --seed 1 --rules sea-goat --set target=51 --policies random,dump_heavy "
    "--design teams",
    "tournament -n 300 --seed 1 --players 2 --stop width=0.2",
    "compare random dump_heavy -n 300 --seed 1 --players 2 --stop sprt",
    "run mine.toml",
    "run mine.toml --shard 2/3",
    "run duels.toml",
    "sweep mine.toml",
]


@pytest.fixture
def kozel(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(EXPERIMENT, encoding="utf-8")
    Path("duels.toml").write_text(DUELS, encoding="utf-8")
    run = runner(monkeypatch, capsys)

    def forgetful(*words):
        """As the command does in a process of its own: ladders of files are not known."""
        with own_registry():
            return run(*words)

    return forgetful


@pytest.mark.parametrize("played", PLAYED)
def test_run_command_plays_the_same_run(kozel, played):
    assert kozel(*shlex.split(played), "-o", "first", "--quiet") == (0, "", "")
    manifest = read_manifest(Path("first"))
    command, file = run_command(manifest)
    Path("experiment.toml").write_text(file, encoding="utf-8")
    assert ("experiment.toml" in command) == bool(file)
    assert kozel(*shlex.split(command)[1:], "--quiet") == (0, "", "")
    again = read_manifest(Path("again"))
    assert differences(manifest, again) == []
    assert [e["sha256"] for e in again["files"]] == [e["sha256"] for e in manifest["files"]]


@pytest.mark.parametrize("played", [p for p in PLAYED if "--aggregate" not in p])
def test_replay_commands_play_the_runs_matches(kozel, played):
    assert kozel(*shlex.split(played), "-o", "first", "--quiet") == (0, "", "")
    run = load_run("first")
    policies = {each["name"]: each for each in run.manifest["policies"]}
    tried = 0
    for found in notable_matches(run):
        for match in found.matches:
            seated = [policies[name] for name in match.policies]
            line = replay_command(match.rules, seated, match.seed, match.deal, match.seating)
            line = line.replace("--html match.html", "--format json --engine reference")
            code, out, err = kozel(*shlex.split(line)[1:])
            assert (code, err) == (0, "")
            record = type(replay_of(match, run)).from_json(out)
            assert record.rounds == replay_of(match, run).rounds
            assert record.seating == match.seating
            tried += 1
    assert tried >= 2


def test_functions_ask_for_their_file():
    with own_registry():
        run = tournament("room-fish-one", ["last_legal", "random"], 4, 1, players=2)
    command, _ = run_command(run.manifest)
    assert command.endswith(" --code FILE")
    seated = run.manifest["policies"]
    assert "--code FILE" in replay_command(RuleSet.preset("room-fish-one", 2), seated, 1, 0, 1)


def test_what_no_command_plays_has_none():
    run = simulate("room-fish-one", ["random", "random"], 4, 1)
    assert run_command(run.manifest) is None
    two, three = RuleSet.preset("room-fish-one", 2), RuleSet.preset("livegames-goat", 3)
    field = ["random", "dump_heavy", "keep_range"]
    mixed = tournament([two, three.replace(target=51)], field, 2, 1)
    assert run_command(mixed.manifest) is None


def test_a_rule_set_of_no_preset_is_spelled_out(kozel):
    knobs = RuleSet.preset("household-300", 2).knobs()
    rules = RuleSet.from_knobs(knobs)
    assert rules.base == "custom"
    random = {"name": "random", "parts": [{"share": "1", "ladder": "random"}]}
    line = replay_command(rules, [random] * 2, 1, 3, 0)
    line = line.replace("--html match.html", "--format json")
    code, out, _ = kozel(*shlex.split(line)[1:])
    assert code == 0
    target = re.search(r'"target":\s*(\d+)', out)
    assert target[1] == "300"
