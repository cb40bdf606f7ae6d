"""What the command line says of near misses and of what it makes of an order."""

import json

import pytest
from command_line import runner
from user_policies import own_registry

from kozel_sim import PRESETS, RuleSet, get_policy, tournament
from kozel_sim.store import MANIFEST

EXPERIMENT = """
name = "tiny"
seed = 3
deals = 4
rules = ["room-fish-all"]
players = [2]
policies = ["random", "dump_heavy"]
"""
TWO = ["tournament", "--players", "2", "--seed", "1", "--policies", "random,dump_heavy"]
FIELD = "random,dump_heavy,few_answers,allround"
CODE = """
from kozel_sim import policy
from kozel_sim.kit import first_move

@policy
def mine(view):
    return {}
"""


@pytest.fixture
def kozel(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with own_registry():
        yield runner(monkeypatch, capsys)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rules", "rom-fish-all"], "preset 'rom-fish-all' (did you mean 'room-fish-all'?)"),
        (["--rules", "sea"], "unknown preset 'sea' (did you mean 'sea-goat'?)"),
        (["--set", "tarjet=51"], "unknown knob 'tarjet' (did you mean 'target'?)"),
        (["--engine", "vectr"], "unknown engine 'vectr' (did you mean 'vector'?)"),
        (["--design", "gauntlett"], "(did you mean 'gauntlet'?)"),
        (["-j", "-3"], "a whole number of 1 or more, or 0 for one per core, not -3"),
    ],
)  # fmt: skip
def test_near_miss_is_answered_with_what_was_meant(kozel, words, said):
    code, out, err = kozel(*TWO, "-n", "4", *words)
    assert (code, out) == (2, "")
    assert said in err


def test_presets_say_what_was_meant():
    with pytest.raises(KeyError, match=r"unknown preset 'room' \(did you mean 'room-fish-all'\?\)"):
        PRESETS["room"]
    assert PRESETS.get("room") is None
    with pytest.raises(ValueError, match=r"did you mean 'pair-traditional'"):
        RuleSet.preset("pair_traditional")
    with pytest.raises(ValueError, match=r"unknown feature 'pisp' \(did you mean 'pips'\?\)"):
        get_policy("weights:pisp=1")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("deals", "deal"), "unknown key 'deal' (did you mean 'deals'?)"),
        (("players", "knobs = {tarjet = 3}\nplayers"), "unknown knob 'tarjet'"),
        (("players", "knobs = {target = 0}\nplayers"), "target=0"),
        (("players", "variants = [{fish_def = 'five'}]\nplayers"), "fish_def='five'"),
        (("room-fish-all", "room"), "unknown preset 'room'"),
        (("dump_heavy", "dump_hevy"), "unknown policy 'dump_hevy'"),
        (("players", "ladders = {mine = 'pisp'}\nplayers"), "'pisp'"),
    ],
)
def test_mistake_in_an_experiment_names_its_file(kozel, tmp_path, change, said):
    (tmp_path / "tiny.toml").write_text(EXPERIMENT.replace(*change))
    code, out, err = kozel("run", "tiny.toml", "--seed", "1")
    assert (code, out) == (2, "")
    assert err.startswith("kozel: error: tiny.toml: ")
    assert said in err


def test_deals_that_are_rounded_up_are_told(kozel, tmp_path):
    words = ["tournament", "--seed", "1", "--policies", FIELD, "-n", "10"]
    code, _, err = kozel(*words)
    assert code == 0
    assert "kozel: note: 12 deals are played, not 10: whole cycles of the seatings" in err
    manifest = json.loads(kozel(*words, "--json")[1])["manifest"]
    assert (manifest["deals"], manifest["deals_asked"]) == (12, 10)
    (tmp_path / "four.toml").write_text(
        EXPERIMENT.replace("[2]", "[4]").replace(
            '"dump_heavy"', '"dump_heavy", "few_answers", "allround"'
        )
    )
    assert "6 deals are played, not 4" in kozel("run", "four.toml")[2]
    assert "6 deals are played, not 5" in kozel("tell", "-n", "5", "--policies", FIELD)[2]
    assert "not" not in kozel(*TWO, "-n", "5")[2]
    run = tournament("room-fish-all", FIELD, 10, seed=1)
    assert run.manifest["deals_asked"] == 10
    assert "deals_asked" not in tournament("room-fish-all", FIELD, 12, seed=1).manifest


@pytest.mark.parametrize(
    "words",
    [
        ["tournament", "--policies", "random,dump_heavy", "-n", "4"],
        ["compare", "random", "dump_heavy", "-n", "4"],
        ["sweep", "--rules", "room-fish-all,room-fish-one", "--policies", FIELD, "-n", "4"],
        ["run", "tiny.toml"],
    ],
    ids=lambda words: words[0],
)  # fmt: skip
def test_every_engine_plays_the_same(kozel, tmp_path, words):
    (tmp_path / "tiny.toml").write_text(EXPERIMENT)
    players = [] if words[0] == "run" else ["--players", "2"]
    found = []
    for engine in ("auto", "vector", "scalar", "reference"):
        code, out, _ = kozel(
            *words, *players, "--seed", "1", "--engine", engine, "--json", "-o", engine
        )
        assert code == 0
        data = json.loads(out)
        assert data.pop("manifest")["engine"] == engine
        found.append(data)
    assert found[1:] == found[:1] * 3


def test_run_goes_on_with_another_engine(kozel, tmp_path):
    words = [*TWO, "-n", "4", "-o", "run"]
    assert kozel(*words, "--engine", "reference")[0] == 0
    manifest = json.loads((tmp_path / "run" / MANIFEST).read_text())
    (file,) = [entry["file"] for entry in manifest["files"]]
    before = (tmp_path / "run" / file).read_bytes()
    (tmp_path / "run" / file).unlink()
    code, out, _ = kozel(*words, "--engine", "scalar")
    assert code == 0
    assert "continued" in out
    assert (tmp_path / "run" / file).read_bytes() == before


def test_reference_engine_plays_what_does_not_compile(kozel, tmp_path):
    source = CODE.replace("return {}", "return max({first_move(view)})")
    source = source.replace("max(", "next(iter(").replace(")})", ")}))")
    (tmp_path / "mine.py").write_text(source)
    words = ["tournament", "--players", "2", "--policies", "mine,random", "-n", "1", "--seed", "1"]
    assert kozel(*words, "--code", "mine.py", "--engine", "reference")[0] == 0


def test_check_policy_takes_code_and_a_name(kozel, tmp_path):
    (tmp_path / "mine.py").write_text(CODE)
    code, _, err = kozel("check-policy", "mine", "--code", "mine.py", "--positions", "1")
    assert code == 2
    assert err.startswith("kozel: error: policy mine does not compile")


@pytest.mark.parametrize("command", ["replay", "check-policy"])
def test_seed_with_a_default_is_not_said_to_be_drawn(kozel, command):
    out = kozel(command, "--help")[1]
    assert "Fixes all luck" in out
    assert "drawn" not in out
