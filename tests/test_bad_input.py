"""Bad input: one line on stderr that names the value and the choices, exit code 2, no trace."""

from pathlib import Path
from typing import get_args, get_type_hints

import matplotlib.pyplot as plt
import pytest
from command_line import picture, runner
from user_policies import own_registry

from kozel_sim import PRESETS, cli, cli_plan, cli_replay, cli_runs, list_policies
from kozel_sim.experiment import Experiment
from kozel_sim.features import FEATURES
from kozel_sim.options import whole
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


# ---------------------------------------------------------------------- words that do not fit

NUMBERS = {
    "run tiny.toml": "-n --matches --seed -j --workers",
    "tournament": "-n --matches --players --seed -j --workers",
    "sweep": "-n --matches --players --seed -j --workers",
    "compare random dump_heavy": "-n --matches --players --seed -j --workers",
    "plan random dump_heavy --detect 1": "--pilot --players --seed --family -n --matches",
    "verify nothere": "--sample --seed",
    "tell": "-n --matches --players --seed -j --workers",
    "replay": "--players --seed --deal --count --seating --round",
    "rules": "--players",
    "check-policy random": "--positions --seed",
    "bench": "-n --matches --players --repeats",
}
"""By command: all its options that take a whole number."""
NUMBERED = [(c, option) for c, options in NUMBERS.items() for option in options.split()]


NAMES = {"rules": "show_rules", "check-policy": "check"}
"""Functions that are not called as their commands."""
UNNUMBERED = {"policies", "warmup", "show", "report", "ratings", "merge", "export"}


@pytest.mark.parametrize("command", NUMBERS)
def test_every_number_is_listed_here(command):
    name = NAMES.get(command.split()[0], command.split()[0])
    home = next(each for each in (cli, cli_plan, cli_runs, cli_replay) if hasattr(each, name))
    hints = get_type_hints(getattr(home, name), vars(home), include_extras=True)
    taken = [
        hint.__metadata__[0]
        for name, hint in hints.items()
        if name != "return" and int in (hint.__origin__, *get_args(hint.__origin__))
    ]
    # In Annotated typer keeps an option's first name as its default.
    names = [name for option in taken for name in (option.default, *(option.param_decls or ()))]
    assert sorted(names) == sorted(NUMBERS[command].split())
    assert all(option.parser is whole for option in taken)


def test_every_command_that_takes_a_number_is_listed():
    names = {info.name or info.callback.__name__ for info in cli.app.registered_commands}
    assert names == {words.split()[0] for words in NUMBERS} | UNNUMBERED


@pytest.mark.parametrize(("command", "option"), NUMBERED)
@pytest.mark.parametrize("value", ["abc", "1.5", "", "1e3", "nan"])
def test_number_that_is_none(refused, command, option, value):
    line = refused(*command.split(), option, value)
    assert f"{value!r} is not a whole number; see kozel {command.split()[0]} --help" in line
    assert f"'{option}'" in line


@pytest.mark.parametrize(("command", "option"), NUMBERED)
def test_option_without_its_value(refused, command, option):
    assert f"option '{option}' requires an argument" in refused(*command.split(), option)


@pytest.mark.parametrize("command", ["", *NUMBERS, "policies"])
@pytest.mark.parametrize("option", ["--colour", "-x", "--colour=red"])
def test_unknown_option(refused, command, option):
    line = refused(*command.split(), option)
    assert f"no such option: {option.partition('=')[0]}" in line
    assert f"see {' '.join(['kozel', *command.split()[:1]])} --help" in line


@pytest.mark.parametrize(
    ("words", "needles"),
    [
        (["tornament"], ["no such command 'tornament'", "see kozel --help"]),
        (["", "-n", "3"], ["no such command ''"]),
        (["run"], ["missing argument 'experiment'", "see kozel run --help"]),
        (["run", "a", "b"], ["extra argument", "b"]),
        (["tournament", "--json=3"], ["'--json' does not take a value"]),
        (["tournament", "multi\nline"], ["extra argument"]),
    ],
)
def test_words_that_do_not_fit(refused, words, needles):
    line = refused(*words)
    assert all(needle.lower() in line.lower() for needle in needles)


# ---------------------------------------------------------------------- more than memory holds


@pytest.mark.parametrize("n", [10**12, 10**15])
def test_more_than_memory_holds(refused, file, n):
    path = file("tiny.toml", EXPERIMENT)
    for words in (
        ["tournament", "-n", n, "--out", "mine"],
        ["run", path, "-n", n],
        ["run", file("vast.toml", EXPERIMENT.replace("deals = 4", f"deals = {n}"))],
        ["sweep", path, "--vary", "target=51", "-n", n],
        [*SWEEP, "--vary", "target=51", "-n", n],
        ["bench", "-n", n],
        ["replay", "--count", n, "--out", "mine"],
    ):
        line = refused(*words)
        assert "GB of memory, and this machine has" in line
        assert "choose fewer" in line


def test_memory_that_runs_out_all_the_same(refused, monkeypatch):
    def greedy(*_, **__):
        raise MemoryError("Unable to allocate 7.28 TiB\nfor an array")

    monkeypatch.setattr("kozel_sim.tournaments.Tournament.play", greedy)
    line = refused(*TWO, "--out", "mine")
    assert "not enough memory (Unable to allocate 7.28 TiB for an array); choose fewer" in line


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


def test_workers(refused, file, unplayed):
    path = file("tiny.toml", EXPERIMENT)
    for words in (TWO, ["run", path], [*SWEEP, "--vary", "target=51"]):
        line = refused(*words, "-j", -1, "--out", "mine")
        assert (
            "--workers must be a whole number of 1 or more, or 0 for one per core, not -1" in line
        )


def test_seating(refused):
    for seating in (24, -1):
        line = refused("replay", "--seating", seating)
        assert f"seating {seating} is not below 24 (4 players)" in line


@pytest.mark.parametrize("deal", [-1, 2**64])
def test_deal(refused, deal):
    line = refused("replay", "--deal", deal)
    assert f"deal must be a whole number from 0 to 2**64 - 1, not {deal}" in line


@pytest.mark.parametrize("round_", [-1, 9, 10**30])
def test_round(refused, round_):
    line = refused("replay", "--players", 2, "--round", round_)
    assert f"deal 0 has no round {round_}; choose from 0 to 8" in line


def test_round_of_a_record_in_json(refused):
    line = refused("replay", "--round", 0, "--format", "json")
    assert "--round 0 is for text; a record in JSON holds all rounds" in line


@pytest.mark.parametrize(
    ("words", "needles"),
    [
        (["tournament", "--policies", "random,dump_heavy"], ["needs 4", "2 given: random, dump"]),
        (["tournament", "--policies", ",".join([*FOUR, "random"])], ["random is listed twice"]),
        (["replay", "--policies", "random"], ["played by 4", "1 policy"]),
        (["bench", "--policies", "random,dump_heavy"], ["2 policies", "4"]),
        (["bench", "--engine", "scalar,turbo"], ["unknown engine 'turbo'", "scalar, reference"]),
        (["bench", "--engine", ""], ["unknown engine ''", "scalar, reference"]),
    ],
)
def test_number_of_policies(refused, words, needles):
    line = refused(*words)
    assert all(needle in line for needle in needles)


# ---------------------------------------------------------------------- folders


@pytest.fixture
def unplayed(monkeypatch):
    """Nothing is played below."""

    def played(*_, **__):
        raise AssertionError("played")

    monkeypatch.setattr("kozel_sim.engine.play.Table.play", played)


def test_output_folder_that_is_a_file(refused, unplayed):
    assert "file is a file, not a folder for a run" in refused(*TWO, "--out", "file")


LINK = "is a symbolic link to nothing"


@pytest.mark.parametrize(
    ("target", "inside", "complaint"),
    [
        ("nothere", "", LINK),
        ("nothere", "/deep/er", LINK),
        ("link", "", LINK),
        ("link", "/deep/er", LINK),
        ("file", "", "is a file, not a folder for a run"),
        ("file", "/deep/er", "Not a directory"),
    ],
)
def test_output_folder_that_is_a_link(refused, unplayed, target, inside, complaint):
    Path("link").symlink_to(target)
    line = refused(*TWO, "--out", f"link{inside}")
    assert f"link {complaint}" in line or f"link{inside}: {complaint}" in line


def test_output_folder_in_a_linked_folder_is_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    Path("link").symlink_to("empty")
    for out in ("link/mine", "link"):
        assert runner(monkeypatch, capsys)(*TWO, "--out", out, "--quiet")[0] == 0
        assert (Path("empty") / Path(out).relative_to("link") / "manifest.json").is_file()
        for path in sorted(Path("empty").rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()


CLOSED = [
    "file/inside",
    pytest.param(
        "/proc/kozel-run",
        marks=pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc here"),
    ),
]


@pytest.mark.parametrize("out", CLOSED)
def test_output_folder_that_cannot_be_written(refused, unplayed, file, out):
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
    assert "mine holds a different run (seed 1 there, 2 now)" in line
    assert "choose another folder" in line


def test_output_folder_of_something_else(refused):
    Path("mine").mkdir()
    Path("mine/thesis.tex").write_text("precious", encoding="utf-8")
    assert "mine is not empty and holds no run" in refused(*TWO, "--out", "mine")


def test_output_file_of_replay(refused, unplayed):
    Path("link").symlink_to("nothere")
    assert "file: File exists" in refused("replay", "--players", 2, "--out", "file")
    assert "link: File exists" in refused("replay", "--players", 2, "--out", "link")
    assert "nothere/x: No such file" in refused("replay", "--players", 2, "--out", "nothere/x")
    assert "file/x: Not a directory" in refused("replay", "--players", 2, "--out", "file/x")


@pytest.mark.parametrize("option", ["--html", "--svg"])
def test_picture_files_of_replay(refused, unplayed, option):
    words = ["replay", "--players", 2, option]
    assert "file: File exists" in refused(*words, "file")
    assert "nothere/x: No such file" in refused(*words, "nothere/x")
    assert "../work/new is named twice" in refused(*words, "../work/new", "--out", "new")
    line = refused(*words, "new", "--count", 21)
    assert f"--count 21 is too many for {option}" in line


@pytest.mark.parametrize("option", ["--html", "--svg"])
def test_round_of_a_picture(refused, option):
    line = refused("replay", "--players", 2, option, "new", "--round", 9)
    assert "deal 0 has no round 9; choose from 0 to 8" in line


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
    line = refused("run", tmp_path / "tiny.toml")
    assert "tiny.toml, line 1: a byte 0xff that is none of UTF-8; save it as UTF-8" in line


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
        (CODE.replace("@policy", "@policy(a=True)") + "return 0\n", ["mine: a=True is not a"]),
        ("from kozel_sim import policy\npolicy(len)\n", ["line 2", "not <built-in function len>"]),
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
        "parameter",
        "builtin",
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
