"""The command line: what it prints and what it writes. Bad input is in test_bad_input.py."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from command_line import picture, runner, strict_json
from user_policies import own_registry

from kozel_sim import PRESETS, Record, check_record, list_policies, load_run, play, tournament
from kozel_sim._native import MachineCode
from kozel_sim.checks import ENGINES
from kozel_sim.cli import main
from kozel_sim.engine.entries import play_lockstep, play_matches
from kozel_sim.features import FEATURES
from kozel_sim.replay import replay_page
from kozel_sim.rules import knob_names
from kozel_sim.svg import board_svg, record_svg

SMALL = ["tournament", "-n", "4", "--players", "2", "--policies", "random,dump_heavy,keep_range"]
EXPERIMENT = """
name = "tiny"
seed = 3
deals = 4
rules = ["room-fish-all", "room-fish-one"]
players = [2]
policies = ["random", "dump_heavy", "weights:pips=1,double=3"]
"""


@pytest.fixture(autouse=True)
def clean_place(tmp_path, monkeypatch):
    """An empty folder to work in; policies and figures are forgotten behind."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    with own_registry():
        yield
    plt.close("all")


@pytest.fixture
def kozel(monkeypatch, capsys):
    return runner(monkeypatch, capsys)


@pytest.fixture
def file(tmp_path):
    """``file(name, text)``: a file beside the working folder."""

    def write(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


# ---------------------------------------------------------------------- as a process

HEAVY = ("numba", "numpy", "pandas", "matplotlib", "scipy", "pyarrow")


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


@pytest.mark.parametrize(
    "code",
    [
        "import kozel_sim",
        "import kozel_sim.cli",
        "import kozel_sim; kozel_sim.PRESETS; kozel_sim.RuleSet; kozel_sim.Record",
        "from kozel_sim import get_policy; get_policy('mix:1*weights:pips=1')",
    ],
)
def test_import_is_light(code):
    light = ["numba", "pandas", "matplotlib"] if "get_policy" in code else HEAVY
    found = python(f"import sys; {code}; print([m for m in {light!r} if m in sys.modules])")
    assert found.stdout.strip() == "[]", found.stderr


def test_help_is_light():
    code = (
        "import sys, atexit\nsys.argv = ['kozel', '--help']\n"
        f"atexit.register(lambda: print([m for m in {HEAVY!r} if m in sys.modules]))\n"
        "from kozel_sim.cli import main; main()"
    )
    found = python(code)
    assert found.returncode == 0
    assert "tournament" in found.stdout
    assert found.stdout.splitlines()[-1] == "[]"


def test_script_is_installed_and_exits_with_2_on_a_mistake():
    script = Path(sys.executable).with_name("kozel")
    if not script.exists():
        pytest.skip("the package is not installed beside this Python")
    found = subprocess.run([script, "rules", "nope"], capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith("kozel: error: unknown preset 'nope'; choose from room-fish-all")
    assert found.stderr.count("\n") == 1


def test_illegal_move_on_worker_threads_is_one_line(file):
    source = "from kozel_sim import policy\n@policy\ndef cheat(view):\n    return 255\n"
    words = [*SMALL[:-1], "cheat,random", "--code", str(file("cheat.py", source)), "-j", "3"]
    found = python(f"import sys; sys.argv[1:] = {words!r}; from kozel_sim.cli import main; main()")
    lines = [line for line in found.stderr.splitlines() if "compiling the engine" not in line]
    assert (found.returncode, found.stdout) == (2, "")
    assert len(lines) == 1
    assert lines[0].startswith("kozel: error: policy cheat returned an illegal move: ")


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["tournament", "--help"], ["run", "-h"]])
def test_help_is_asked_for(kozel, words):
    code, out, err = kozel(*words)
    assert (code, err) == (0, "")
    assert f"Usage: {' '.join(['kozel', *words[:-1]])} " in out


def test_nothing_asked_is_answered_by_the_help(kozel):
    code, out, err = kozel()
    assert (code, err) == (2, "")
    assert out == kozel("--help")[1]


def test_shell_completion_still_works(kozel):
    env = {"_KOZEL_COMPLETE": "complete_bash", "COMP_WORDS": "kozel to", "COMP_CWORD": "1"}
    code = f"import os; os.environ.update({env}); from kozel_sim.cli import main; main()"
    found = python(code)
    assert (found.returncode, found.stdout.split(), found.stderr) == (0, ["tournament"], "")
    code, out, err = kozel("--show-completion", "bash")
    assert (code, err) == (0, "")
    assert "_KOZEL_COMPLETE=complete_bash" in out


def test_interrupt_exits_with_130_and_says_what_is_kept(kozel, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("kozel_sim.tournaments.Tournament.play", interrupted)
    assert kozel(*SMALL, "--out", "mine") == (130, "", "kozel: interrupted; nothing is kept\n")
    assert picture() == {}


def test_fault_of_the_program_itself_is_not_hidden(monkeypatch):
    monkeypatch.setattr("sys.argv", ["kozel", *SMALL])
    monkeypatch.setattr("kozel_sim.tournaments.Tournament.play", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main()


# ---------------------------------------------------------------------- what it does


def test_tournament_prints_a_leaderboard_and_writes_nothing(kozel):
    code, out, err = kozel(*SMALL, "--seed", 1)
    assert (code, err) == (0, "")
    assert "room-fish-all, 2 players (95% intervals, clustered by deal)" in out
    assert all(f" {name} " in out for name in ("random", "dump_heavy", "keep_range"))
    assert "fish rate per round" in out
    assert "24 matches" in out
    assert picture() == {}


def test_tournament_json_is_the_summary(kozel):
    code, out, _ = kozel(*SMALL, "--seed", 1, "--json")
    data = strict_json(out)
    run = tournament("room-fish-all", SMALL[-1], 4, seed=1, players=2)
    assert code == 0
    assert data["manifest"]["seed"] == 1
    assert data["summary"] == run.summary().to_dict("records")
    assert data["presets"] == run.presets().to_dict("records")


def test_tournament_json_of_one_deal_is_json(kozel):
    strict_json(kozel("tournament", "-n", 1, *SMALL[3:], "--json")[1])


def test_tournament_out_holds_run_summary_and_plot(kozel):
    code, out, _ = kozel(*SMALL, "--seed", 1, "--out", "mine", "-j", 2)
    assert code == 0
    assert "written to mine" in out
    assert sorted(picture()) == [
        "mine",
        "mine/balance.csv",
        "mine/leaderboard.png",
        "mine/manifest.json",
        "mine/matches",
        "mine/matches/00-room-fish-all-2",
        "mine/matches/00-room-fish-all-2/deal-000000000000.parquet",
        "mine/ranking.csv",
        "mine/seats.csv",
        "mine/summary.csv",
    ]
    assert load_run("mine").matches == 24


def test_same_run_again_is_read_and_not_played(kozel):
    kozel(*SMALL, "--seed", 1, "--out", "mine")
    before = picture()
    code, out, _ = kozel(*SMALL, "--seed", 1, "--out", "mine")
    assert code == 0
    assert "mine holds this very run already" in out
    assert picture() == before


@pytest.mark.parametrize("more", [[], ["--json"], ["--out", "mine"]])
def test_quiet_prints_nothing(kozel, more):
    assert kozel(*SMALL, "--quiet", *more) == (0, "", "")


def test_first_run_says_that_it_compiles(kozel, monkeypatch):
    """What was kept stands in for what is compiled, which would take long."""
    read = MachineCode.read
    asked = []
    monkeypatch.setattr(MachineCode, "read", lambda path: asked.append(path))
    monkeypatch.setattr(MachineCode, "write", lambda self, path: None)
    monkeypatch.setattr("kozel_sim._jit.compile_entry", lambda *which: read(asked[-1]))
    for entry in (play_matches, play_lockstep):
        monkeypatch.setattr(entry, "_ready", {})
    monkeypatch.setattr("kozel_sim._native.announces", True)
    assert kozel(*SMALL, "--quiet") == (0, "", "")
    assert asked
    play_matches._ready.clear()
    play_lockstep._ready.clear()
    monkeypatch.setattr("kozel_sim._native.announces", True)
    code, out, err = kozel(*SMALL)
    assert code == 0
    assert "compiling the engine (first run only)" in err
    assert err.count("\n") == 1
    assert "compiling" not in out


def test_knobs_and_presets_are_options(kozel):
    words = ["--rules", "room-fish-all,livegames-goat", "--set", "target=31", "--set", "open_at=0"]
    _, out, _ = kozel(*SMALL, *words, "--json")
    rules = strict_json(out)["manifest"]["rules"]
    assert [r["preset"] for r in rules] == [
        "room-fish-all[open_at=0,target=31]",
        "livegames-goat[open_at=0,target=31]",
    ]


def test_run_plays_an_experiment_into_results(kozel, file):
    code, out, _ = kozel("run", file("tiny.toml", EXPERIMENT), "-n", 3)
    played = load_run("results/tiny")
    assert code == 0
    assert played.manifest["deals"] == 3
    assert played.manifest["seed"] == tomllib.loads(EXPERIMENT)["seed"]
    assert played.matches == 2 * 3 * 2 * 3
    assert out.count("intervals, clustered by deal") == 2


def test_run_takes_seed_and_folder(kozel, file):
    assert kozel("run", file("tiny.toml", EXPERIMENT), "--seed", 8, "-o", "a/b", "--quiet")[0] == 0
    assert load_run("a/b").manifest["seed"] == 8
    assert not Path("results").exists()


def test_run_loads_the_code_beside_the_experiment(kozel, file):
    file("mine.py", "from kozel_sim import policy\n@policy\ndef mine(view):\n    return 0\n")
    text = EXPERIMENT.replace('"random", ', '"mine", ') + 'code = ["mine.py"]\n'
    code, _, err = kozel("run", file("tiny.toml", text))
    assert code == 2
    assert "policy mine returned an illegal move" in err


def test_replay_prints_the_records_of_play(kozel):
    words = ["--players", 3, "--policies", "random,keep_range,block_ends", "--seed", 5]
    code, out, _ = kozel("replay", *words, "--deal", 7, "--count", 3, "--format", "json")
    assert code == 0
    lines = out.splitlines()
    for deal, line in zip((7, 8, 9), lines, strict=True):
        record = Record.from_json(line)
        assert record == play("room-fish-all", ["random", "keep_range", "block_ends"], 5, deal)
        check_record(record)
    slow = kozel("replay", *words, "--deal", 7, "--format", "json", "--engine", "reference")
    assert slow[1].splitlines() == lines[:1]


def test_replay_prints_text_with_a_seating(kozel):
    _, out, _ = kozel("replay", "--players", 2, "--policies", "random,dump_heavy", "--seating", 1)
    assert out.startswith("room-fish-all, 2 players, seed 1, deal 0, seating 1\n")
    assert "seat 0: dump_heavy" in out
    assert "goat: seat" in out


def test_replay_writes_a_new_file_only(kozel):
    words = ["replay", "--players", 2, "--format", "json", "--out", "x.json"]
    assert kozel(*words) == (0, "", "")
    assert Record.from_json(Path("x.json").read_text("utf-8")).deal == 0
    before = picture()
    assert kozel(*words, "--deal", 1) == (2, "", "kozel: error: x.json: File exists\n")
    assert picture() == before


def test_replay_prints_one_round(kozel):
    words = ["replay", "--players", 2, "--count", 2, "--seed", 5]
    records = [play("room-fish-all", ["random"] * 2, 5, deal) for deal in (0, 1)]
    for number in (0, 3):
        texts = [record.to_text(number) for record in records]
        assert kozel(*words, "--round", number) == (0, "\n\n".join(texts) + "\n", "")


def test_replay_writes_pictures(kozel):
    words = ["replay", "--players", 2, "--seed", 5, "--html", "x.html", "--svg", "x.svg"]
    assert kozel(*words) == (0, "", "")
    record = play("room-fish-all", ["random"] * 2, 5, 0)
    assert Path("x.svg").read_text("utf-8") == record_svg(record)
    assert Path("x.html").read_text("utf-8") == replay_page([record])
    assert kozel("replay", "--players", 2, "--svg", "y.svg", "--round", 3, "-o", "y.txt")[0] == 0
    record = play("room-fish-all", ["random"] * 2, 1, 0)
    assert Path("y.svg").read_text("utf-8") == board_svg(record, 3)
    assert Path("y.txt").read_text("utf-8") == record.to_text(3) + "\n"
    before = picture()
    assert kozel(*words) == (2, "", "kozel: error: x.html: File exists\n")
    assert picture() == before


def test_rules_lists_presets_knobs_and_differences(kozel):
    assert [row["preset"] for row in strict_json(kozel("rules", "--json")[1])] == list(PRESETS)
    rows = strict_json(kozel("rules", "room-fish-one", "--players", 3, "--json")[1])
    assert [row["knob"] for row in rows] == knob_names()
    assert all(row["meaning"] for row in rows)
    rows = strict_json(kozel("rules", "room-fish-all", "--diff", "room-fish-one", "--json")[1])
    assert {row["knob"] for row in rows} == {"fish_scoring", "fish_tie"}
    assert kozel("rules", "sea-goat", "--diff", "sea-goat")[1] == "no difference\n"
    assert "six_closed" in kozel("rules", "room-fish-all")[1]


def test_policies_lists_everything_that_can_be_named(kozel, file):
    source = "from kozel_sim import policy\n@policy(a=1.5)\ndef mine(view):\n    return 0\n"
    _, out, _ = kozel("policies", "--code", file("mine.py", source), "--json")
    rows = strict_json(out)
    assert [row["name"] for row in rows] == [
        *list_policies(),
        "weights:...",
        "prefer:...",
        "mix:...",
    ]
    assert rows[-4]["parameters"] == "a=1.5"
    assert rows[-3]["parameters"].split(", ") == list(FEATURES)
    assert all(row["ns per decision"] > 0 for row in rows[:-3])
    assert "mix:..." in kozel("policies")[1]


def test_bench_measures_a_field(kozel):
    _, out, _ = kozel("bench", "-n", 50, "--repeats", 2, "--policies", "random", "--json")
    rows = strict_json(out)
    assert {row["engine"] for row in rows} == {*ENGINES} - {"auto", "reference"}
    row = rows[0]
    assert (row["preset"], row["players"], row["policies"]) == ("room-fish-all", 4, "random")
    assert 0 < row["slowest"] <= row["rounds_per_s"] <= row["fastest"]
    assert "rounds_per_s" in kozel("bench", "-n", 50, "--repeats", 1, "--players", 2)[1]


def test_bench_measures_the_engines_that_are_named(kozel):
    words = ["-n", 1500, "--repeats", 1, "--players", 2, "--policies", "random", "--json"]
    scalar, reference = strict_json(kozel("bench", *words, "--engine", "reference, scalar")[1])
    assert (scalar["engine"], scalar["matches"]) == ("scalar", 1500)
    assert (reference["engine"], reference["matches"]) == ("reference", 2)
    assert scalar["rounds_per_s"] > reference["rounds_per_s"]


# ---------------------------------------------------------------------- completion in a shell


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("compare dump_", ["dump_heavy", "dump_doubles"]),
        ("plan random few", ["few_answers"]),
        ("tournament --policies random,dump_", ["random,dump_heavy", "random,dump_doubles"]),
        ("tournament --rules sea-goat,moldova", ["sea-goat,moldova-lone"]),
        ("sweep --rules room", ["room-fish-all", "room-fish-one"]),
        ("rules sea", ["sea-goat", "sea-goat-125"]),
        ("rules sea-goat --diff kozel", ["kozel-2p-plain"]),
        ("tournament --set spin", ["spinner=true", "spinner=false"]),
        ("sweep --vary open", ["open_at=", "open_test=round_amount", "open_test=cumulative"]),
        ("run plans/t", ["plans/tiny.toml"]),
        ("run ./plans/t", ["./plans/tiny.toml"]),
        ("run ../work/plans/t", ["../work/plans/tiny.toml"]),
        ("run HERE/plans/t", ["HERE/plans/tiny.toml"]),
        ("run plans/*", []),
        ("run **", []),
        ("run [", []),
        ("sweep pl", ["plans/"]),
        ("tournament --code plans/", ["plans/mine.py"]),
        ("check-policy pl", ["plans/"]),
        ("check-policy hold", ["hold_last"]),
        ("show plans/", []),
        ("verify pl", ["plans/"]),
        ("merge pl", ["plans/"]),
    ],
)
def test_shell_completes_policies_presets_knobs_and_files(words, found, tmp_path):
    """As bash asks, and without loading numba."""
    plans = tmp_path / "work" / "plans"
    plans.mkdir()
    for name in ("tiny.toml", "notes.txt", "mine.py"):
        (plans / name).touch()
    here = str(plans.parent)
    asked = ["kozel", *words.replace("HERE", here).split(" ")]
    code = (
        "import sys\n"
        "from kozel_sim.cli import main\n"
        "sys.argv = ['kozel']\n"
        "try:\n    main()\nfinally:\n"
        "    assert not {'numba', 'pandas', 'matplotlib'} & set(sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ
        | {"_KOZEL_COMPLETE": "complete_bash"}
        | {"COMP_WORDS": " ".join(asked), "COMP_CWORD": str(len(asked) - 1)},
    )
    assert done.stdout.replace(here, "HERE").split() == found
    assert not done.stderr
