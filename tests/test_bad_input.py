"""Bad input: one line on stderr that names the value and the choices, exit code 2, no trace."""

from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from command_line import picture, runner
from user_policies import own_registry

from kozel_sim import PRESETS, list_policies
from kozel_sim.experiment import Experiment
from kozel_sim.features import FEATURES
from kozel_sim.rules import knob_names

TWO = ["tournament", "-n", "4", "--players", "2", "--seed", "1"]
FOUR = ["random", "dump_heavy", "keep_range", "block_ends"]
SWEEP = ["sweep", "-n", "4", "--players", "2", "--rules", "room-fish-all"]

EXPERIMENT = """
name = "tiny"
seed = 3
deals = 4
rules = ["room-fish-all"]
players = [2]
policies = ["random", "dump_heavy"]
"""
CODE = "from kozel_sim import policy\n\n@policy\ndef mine(view):\n    "


@pytest.fixture
def refused(tmp_path, monkeypatch, capsys):
    """``refused(*words)``: run the command, see that it leaves no trace; return its one line."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    Path("file").write_text("precious", encoding="utf-8")
    kozel = runner(monkeypatch, capsys)

    def refused(*words):
        before = picture()
        code, out, err = kozel(*words)
        assert (code, out) == (2, "")
        assert err.startswith("kozel: error: ")
        assert err.endswith("\n")
        assert err.count("\n") == 1
        assert picture() == before
        return err

    with own_registry():
        yield refused
    plt.close("all")


@pytest.fixture
def file(tmp_path):
    """``file(name, text)``: a file beside the working folder."""

    def write(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


# ---------------------------------------------------------------------- unknown names


@pytest.mark.parametrize(
    "words",
    [
        ["tournament", "--rules", "rom"],
        ["tournament", "--rules", "room-fish-all,rom"],
        ["replay", "--rules", "rom"],
        ["bench", "--rules", "rom"],
        ["rules", "rom"],
        ["rules", "room-fish-all", "--diff", "rom"],
        ["sweep", "--rules", "room-fish-all,rom"],
    ],
)
def test_unknown_preset(refused, words):
    line = refused(*words)
    assert "unknown preset 'rom'" in line
    assert all(preset in line for preset in PRESETS)


@pytest.mark.parametrize("command", ["tournament", "replay", "bench"])
def test_unknown_policy(refused, command):
    line = refused(command, "--policies", "random,dump_hevy,keep_range,block_ends")
    assert "unknown policy 'dump_hevy' (did you mean 'dump_heavy'?)" in line
    assert all(name in line for name in [*list_policies(), "weights:", "mix:"])


@pytest.mark.parametrize("command", [TWO, ["replay"], SWEEP])
def test_unknown_knob(refused, command):
    line = refused(*command, "--set", "tarjet=51")
    assert "unknown knob 'tarjet'" in line
    assert all(knob in line for knob in knob_names())


def test_unknown_feature(refused):
    line = refused(*TWO, "--policies", "random,weights:pisp=1")
    assert "unknown feature 'pisp'" in line
    assert all(feature in line for feature in FEATURES)


@pytest.mark.parametrize(
    ("change", "needles"),
    [
        ("fish_def=five", ["fish_def='five'", "'no_legal_move'", "'six_closed'"]),
        ("target=much", ["target='much'", "integer"]),
        ("target=0", ["target=0", "1"]),
        ("open_at=120", ["open_at=120 is over target=101"]),
        ("tile_over=0-0", ["'0-0' is not a tile_over"]),
        ("target", ["--set 'target' is not knob=value"]),
    ],
)
def test_knob_out_of_range(refused, change, needles):
    line = refused(*TWO, "--set", change)
    assert all(needle in line for needle in needles)


@pytest.mark.parametrize(
    ("option", "value", "choices"),
    [("--format", "xml", "json, text"), ("--engine", "turbo", "auto, scalar, reference")],
)
def test_unknown_choice_of_replay(refused, option, value, choices):
    line = refused("replay", option, value)
    assert f"{value!r}; choose from {choices}" in line


# ---------------------------------------------------------------------- numbers


@pytest.mark.parametrize("players", [0, 1, 5])
@pytest.mark.parametrize("command", ["tournament", "replay", "bench", "rules room-fish-all"])
def test_number_of_players(refused, command, players):
    line = refused(*command.split(), "--players", players)
    assert f"room-fish-all is played by 2 or 3 or 4 players, not {players}" in line


@pytest.mark.parametrize("matches", [0, -1, -100])
def test_matches_of_a_tournament(refused, matches):
    line = refused("tournament", "-n", matches, "--out", "mine")
    assert f"must be a whole number of 1 or more, not {matches}" in line


@pytest.mark.parametrize("matches", [0, -1])
def test_matches_of_other_commands(refused, file, matches):
    assert f"not {matches}" in refused("bench", "-n", matches)
    path = file("tiny.toml", EXPERIMENT)
    for words in (["run", path], ["sweep", path, "--vary", "target=51"]):
        assert f"deals = {matches}: " in refused(*words, "-n", matches)
    assert f"count must be a whole number of 1 or more, not {matches}" in refused(
        "replay", "--count", matches
    )


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_seed(refused, file, seed):
    for words in (["tournament"], ["replay"], ["sweep", "--rules", "room-fish-all"]):
        assert f"seed must be a whole number from 0 to 2**64 - 1, not {seed}" in refused(
            *words, "--seed", seed
        )
    assert f"seed = {seed}: " in refused("run", file("tiny.toml", EXPERIMENT), "--seed", seed)


def test_workers(refused):
    line = refused(*TWO, "-j", -1, "--out", "mine")
    assert "workers must be a whole number of 1 or more, not -1" in line


def test_seating(refused):
    assert "seating 24 is not below 24 (4 players)" in refused("replay", "--seating", 24)


@pytest.mark.parametrize(
    ("words", "needles"),
    [
        (["tournament", "--policies", "random,dump_heavy"], ["needs 4", "2 given: random, dump"]),
        (["tournament", "--policies", ",".join([*FOUR, "random"])], ["random is listed twice"]),
        (["replay", "--policies", "random"], ["played by 4", "1 policies"]),
        (["bench", "--policies", "random,dump_heavy"], ["2 policies", "4"]),
    ],
)
def test_number_of_policies(refused, words, needles):
    line = refused(*words)
    assert all(needle in line for needle in needles)


# ---------------------------------------------------------------------- folders


def test_output_folder_that_is_a_file(refused):
    assert "file is a file, not a folder for a run" in refused(*TWO, "--out", "file")


CLOSED = [
    "file/inside",
    pytest.param(
        "/proc/kozel-run",
        marks=pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc here"),
    ),
]


@pytest.mark.parametrize("out", CLOSED)
def test_output_folder_that_cannot_be_written(refused, file, out):
    for words in (TWO, ["run", file("tiny.toml", EXPERIMENT)]):
        line = refused(*words, "--out", out)
        assert Path(out).name in line
        assert Path(out).parent.name in line


@pytest.mark.parametrize("out", CLOSED)
def test_output_folder_that_cannot_be_written_is_named_as_given(refused, out):
    assert out in refused(*TWO, "--out", out)


def test_output_folder_of_a_different_run(refused, monkeypatch, capsys):
    runner(monkeypatch, capsys)(*TWO, "--out", "mine", "--quiet")
    line = refused(*TWO[:-1], 2, "--out", "mine")
    assert "mine holds a different run (other seed)" in line
    assert "choose another folder" in line


def test_output_folder_of_something_else(refused):
    Path("mine").mkdir()
    Path("mine/thesis.tex").write_text("precious", encoding="utf-8")
    assert "mine is not empty and holds no run" in refused(*TWO, "--out", "mine")


def test_output_file_of_replay(refused):
    assert "file: File exists" in refused("replay", "--players", 2, "--out", "file")
    assert "nothere/x: No such file" in refused("replay", "--players", 2, "--out", "nothere/x")


# ---------------------------------------------------------------------- experiments


@pytest.mark.parametrize(
    ("text", "needles"),
    [
        ('name = "tiny\n', ["is not valid TOML", "line 1"]),
        (EXPERIMENT + "deals = 5\n", ["is not valid TOML", "line 8"]),
        (EXPERIMENT + "matches = 5\n", ["unknown key 'matches'", *Experiment.model_fields]),
        (EXPERIMENT.replace("seed = 3\n", ""), ["'seed' is missing"]),
        (EXPERIMENT.replace("deals = 4", "deals = 0"), ["deals = 0: "]),
        (EXPERIMENT.replace("deals = 4", 'deals = "four"'), ["deals = 'four': "]),
        (EXPERIMENT.replace('"tiny"', '"../tiny"'), ["name = '../tiny': "]),
        (EXPERIMENT.replace("[2]", "[5]"), ["players, not 5"]),
        (EXPERIMENT.replace("[2]", "[4]"), ["needs 4 distinct policies; 2 given"]),
        (EXPERIMENT.replace('["room-fish-all"]', "[]"), ["rules = []: "]),
        (EXPERIMENT.replace("-all", "-none"), ["unknown preset 'room-fish-none'", *PRESETS]),
        (EXPERIMENT.replace('"random"', '"rondom"'), ["'rondom' (did you mean 'random'?)"]),
        (EXPERIMENT + "[knobs]\ntarjet = 51\n", ["unknown knob 'tarjet'", *knob_names()]),
        (EXPERIMENT + 'code = ["nothere.py"]\n', ["no Python file at", "nothere.py"]),
    ],
)
def test_experiment(refused, file, text, needles):
    path = file("tiny.toml", text)
    line = refused("run", path)
    assert all(needle in line for needle in needles)


@pytest.mark.parametrize("value", ["true", "4.0", '"4"'])
def test_experiment_takes_whole_numbers_only(refused, file, value):
    path = file("tiny.toml", EXPERIMENT.replace("deals = 4", f"deals = {value}"))
    assert "deals = " in refused("run", path)


def test_experiment_that_is_not_there(refused, tmp_path):
    assert "cannot read experiment nothere.toml: No such file" in refused("run", "nothere.toml")
    assert "cannot read experiment" in refused("run", tmp_path)


def test_experiment_that_is_no_text(refused, tmp_path):
    (tmp_path / "tiny.toml").write_bytes(b"name = '\xff'\n")
    assert "is not valid TOML" in refused("run", tmp_path / "tiny.toml")


# ---------------------------------------------------------------------- policies' files


@pytest.mark.parametrize("command", [[*TWO, "--out", "mine"], ["replay", "--players", "2"]])
@pytest.mark.parametrize(
    ("code", "needles"),
    [
        (CODE + 'return "6-4"\n', ["policy mine does not compile"]),
        (CODE + "return nobody(view)\n", ["policy mine does not compile", "nobody"]),
        (
            CODE + "return 255\n",
            ["policy mine returned an illegal move", "(255)", "deal 0", "seat", "legal moves: "],
        ),
        ("def mine(:\n", ["mine.py, line 1: "]),
        ("import nothere\n", ["mine.py, line 1: ModuleNotFoundError"]),
        ("x = 1\n", ["mine.py registers no policy"]),
        (CODE.replace("(view)", "(view, more)") + "return 0\n", ["mine must take one argument"]),
        (CODE.replace("mine", "random") + "return 0\n", ["'random' is taken"]),
    ],
    ids=[
        "mixed-types",
        "unknown-name",
        "illegal",
        "syntax",
        "import",
        "nothing",
        "signature",
        "taken",
    ],
)
def test_policy_file(refused, file, command, code, needles):
    path = file("mine.py", code)
    line = refused(*command, "--code", path, "--policies", "mine,random")
    assert all(needle in line for needle in needles)


def test_policy_that_reads_a_field_that_the_view_has_not(refused, file):
    path = file("mine.py", CODE + "return view.others[0]\n")
    line = refused(*TWO, "--code", path, "--policies", "mine,random")
    assert "policy mine does not compile" in line
    assert "others" in line


def test_policy_file_that_is_not_there(refused):
    for command in (TWO, ["policies"], ["replay"]):
        assert "no Python file at nothere.py" in refused(*command, "--code", "nothere.py")
