"""What is printed fits every stream: any encoding, closed ones, full disks, no reader."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from command_line import picture, strict_json
from user_policies import own_registry

from kozel_sim import cli
from kozel_sim.streams import PLAIN, replaced

CODE = '''
from kozel_sim import policy

@policy
def лентяй(view):
    """Первый ход, какой можно."""
    for рука in range(4):
        for tile in range(28):
            if view.legal[рука] >> tile & 1:
                return (tile + 1) << (8 * рука)
    return 0
'''
EXPERIMENT = """
name = "опыт_🐐"
seed = 3
deals = 4
rules = ["room-fish-all"]
players = [2]
policies = ["random", "лентяй", "скупой"]
code = ["лентяй.py"]

[ladders]
"скупой" = "hold_last > pips"
"""
ENCODINGS = ["cp1251", "cp866", "ascii", "latin-1"]
CODED = ["--code", "../лентяй.py"]
SMALL = ["-n", "2", "--players", "2", "--seed", "1"]
PLAY = ["tournament", *SMALL, "--policies"]
COMMANDS = {
    "run": ["run", "../опыт.toml", "-o", "новый"],
    "tournament": [*PLAY, "лентяй,dump_heavy", *CODED],
    "sweep": [
        "sweep",
        "--rules",
        "room-fish-all,room-fish-one",
        "-n",
        "2",
        "--players",
        "2",
        "--seed",
        "1",
    ],
    "compare": ["compare", "лентяй", "random", *SMALL, *CODED],
    "plan": [
        "plan",
        "random",
        "dump_heavy",
        "--detect",
        "5",
        "--pilot",
        "10",
        "--players",
        "2",
        "--seed",
        "1",
    ],
    "tell": ["tell", "--policies", "random,dump_heavy", *SMALL],
    "replay": ["replay", "--policies", "лентяй,random", "--players", "2", *CODED],
    "rules": ["rules", "room-fish-all"],
    "policies": ["policies", *CODED],
    "check-policy": ["check-policy", "../лентяй.py:лентяй", "--positions", "1"],
    "bench": ["bench", "--players", "2", "-n", "20", "--repeats", "1"],
    "warmup": ["warmup"],
    "show": ["show", "опыт"],
    "report": ["report", "опыт", "-o", "страница.html", *CODED],
    "ratings": ["ratings", "опыт"],
    "verify": ["verify", "опыт", *CODED],
    "merge": ["merge", "часть1", "часть2", "-o", "вместе"],
    "export": ["export", "опыт", "--csv", "таблица.csv"],
}
"""By command: words that make it print something."""
SLOW = ("check-policy", "policies", "warmup", "report", "sweep", "run", "merge")
"""Commands that are tried with one encoding alone, unless all tests are asked for."""


def kozel(monkeypatch, encoding, *words):
    """Run the command with streams of an encoding that refuse what it lacks."""
    monkeypatch.setattr("kozel_sim._native.announces", False)
    monkeypatch.setattr(sys, "argv", ["kozel", *map(str, words)])
    raw = [io.BytesIO(), io.BytesIO()]
    streams = [io.TextIOWrapper(each, encoding=encoding, errors="strict") for each in raw]
    with monkeypatch.context() as patch:
        for name, stream in zip(("stdout", "stderr"), streams, strict=True):
            patch.setattr(sys, name, stream)
        with pytest.raises(SystemExit) as end:
            cli.main()
    for stream in streams:
        stream.flush()
    return end.value.code or 0, *(each.getvalue().decode(encoding) for each in raw)


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A folder with files of Cyrillic names, a run below it, and the shards of another."""
    home = tmp_path_factory.mktemp("дом")
    (home / "лентяй.py").write_text(CODE, encoding="utf-8")
    (home / "опыт.toml").write_text(EXPERIMENT, encoding="utf-8")
    work = home / "работа"
    work.mkdir()
    with pytest.MonkeyPatch.context() as patch, own_registry():
        patch.chdir(work)
        for out, more in {"опыт": [], "часть1": ["1/2"], "часть2": ["2/2"]}.items():
            words = ["run", "../опыт.toml", "-o", out, *(["--shard"] if more else []), *more]
            assert kozel(patch, "utf-8", *words, "--quiet")[0] == 0
        plt.close("all")
    return work


@pytest.fixture
def work(played, monkeypatch):
    """Work in that folder; what is written is removed behind, policies are forgotten."""
    monkeypatch.chdir(played)
    before = picture()
    with own_registry():
        yield
    for path in sorted(picture().keys() - before.keys(), reverse=True):
        Path(path).rmdir() if Path(path).is_dir() else Path(path).unlink()
    assert picture() == before
    plt.close("all")


# The picture of a leaderboard has no glyph for a goat.
pytestmark = pytest.mark.filterwarnings("ignore:Glyph")


# ---------------------------------------------------------------------- encodings


def test_all_commands_are_tried():
    names = {info.name or info.callback.__name__ for info in cli.app.registered_commands}
    assert {words[0] for words in COMMANDS.values()} == names


@pytest.mark.parametrize(
    ("command", "encoding"),
    [
        pytest.param(command, encoding, marks=[pytest.mark.slow] * (command in SLOW and i > 0))
        for command in COMMANDS
        for i, encoding in enumerate(ENCODINGS)
    ],
)
def test_no_command_fails_for_a_character(work, monkeypatch, command, encoding):
    code, out, err = kozel(monkeypatch, encoding, *COMMANDS[command])
    assert (code, err.replace("kozel_sim: compiling", "").count("error")) == (0, 0)
    assert out
    assert "\ufffd" not in out
    if encoding.startswith("cp") and command in ("tournament", "compare", "show", "ratings"):
        assert "лентяй" in out
    if command in ("tournament", "compare"):
        assert out.endswith(", seed 1\n")
        assert ("chi² " if encoding == "latin-1" else "chi2 ") in out


@pytest.mark.parametrize("command", ["tournament", "compare", "replay"])
def test_mistakes_are_told_in_any_encoding(work, monkeypatch, command):
    words = [word.replace("лентяй", "нетаких") for word in COMMANDS[command][:-2]]
    code, out, err = kozel(monkeypatch, "ascii", *words)
    assert (code, out) == (2, "")
    assert err.startswith("kozel: error: unknown policy '???????'")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_json_has_all_characters_in_any_encoding(work, monkeypatch, encoding):
    code, out, _ = kozel(monkeypatch, encoding, "show", "опыт", "--json")
    assert code == 0
    names = [each["name"] for each in strict_json(out)["manifest"]["policies"]]
    assert names == ["random", "лентяй", "скупой"]


def test_replacements_are_ascii():
    assert all("".join(PLAIN.values()).isascii() for _ in PLAIN)
    assert replaced("chi² — «козёл» … ≥ │\udcff") == 'chi2 - "?????" ... >= |\\xff'
    every = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x11000), 0x1F410]))
    assert replaced(every).isascii()


def test_tables_are_drawn_in_ascii_where_there_are_no_lines(work, monkeypatch):
    _, out, _ = kozel(monkeypatch, "cp1251", "ratings", "опыт")
    lines = [line for line in out.splitlines() if line.startswith(("|", "+"))]
    assert len({len(line) for line in lines}) == 1
    assert lines[0].strip("+-") == ""


# ---------------------------------------------------------------------- streams of a process

needs_bash = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
SHOW = "rules room-fish-all"


def shell(line, **more):
    """Run a shell's line in which K is the command; return it with texts."""
    start = f"{sys.executable} -c 'from kozel_sim.cli import main; main()'"
    command = ["bash", "-c", line.replace("K ", f"{start} ")]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", **more)


@needs_bash
@pytest.mark.parametrize(
    ("closed", "code"),
    [
        (">&-", 0),
        ("2>&-", 0),
        ("<&-", 0),
        ("<&- >&- 2>&-", 0),
        ("2>/dev/full", 0),
        (">/dev/full 2>&-", 2),
    ],
)
def test_closed_streams_are_quiet(closed, code):
    found = shell(f"K {SHOW} {closed}")
    assert (found.returncode, found.stderr) == (code, "")
    assert bool(found.stdout) == (">" not in closed.replace("2>", ""))


@needs_bash
def test_a_file_does_not_get_the_number_of_a_closed_stream(tmp_path):
    run = tmp_path / "run"
    found = shell(f"K {' '.join(PLAY)} random,dump_heavy -o {run} <&- >&- 2>&-")
    assert found.returncode == 0
    assert shell(f"K verify {run}").stdout.endswith("all as it was written\n")


@needs_bash
def test_a_full_disk_is_told():
    found = shell(f"K {SHOW} >/dev/full")
    told = "kozel: error: standard output: No space left on device\n"
    assert (found.returncode, found.stderr) == (2, told)


@needs_bash
@pytest.mark.parametrize("words", [SHOW, f"{SHOW} --json", "replay --count 3 --format json"])
@pytest.mark.parametrize("reader", ["true", "head -1"])
def test_a_reader_who_has_gone_is_no_mistake(words, reader):
    found = shell(f"K {words} | {reader}; exit ${{PIPESTATUS[0]}}")
    assert (found.returncode, found.stderr) == (0, "")


@needs_bash
@pytest.mark.parametrize("whole", [True, False])
def test_verify_without_a_reader_ends_with_its_verdict(work, tmp_path, whole):
    summary = Path("опыт/manifest.json")
    text = summary.read_text(encoding="utf-8")
    try:
        if not whole:
            wrong = re.sub('"sha256": "(.{32})(.{32})', r'"sha256": "\2\1', text)
            summary.write_text(wrong, encoding="utf-8")
        found = shell("K verify опыт --sample 1 --code ../лентяй.py | true; exit ${PIPESTATUS[0]}")
    finally:
        summary.write_text(text, encoding="utf-8")
    assert (found.returncode, found.stderr) == (0 if whole else 1, "")


@pytest.mark.parametrize("variables", [{"PYTHONIOENCODING": "cp1251"}, {"LC_ALL": "C"}])
def test_an_encoding_may_come_from_the_surroundings(variables):
    plain = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-c", "from kozel_sim.cli import main; main()", "--help"]
    found = subprocess.run(command, capture_output=True, env={**os.environ, **plain, **variables})
    assert (found.returncode, found.stderr) == (0, b"")
    assert b"tournament" in found.stdout
    assert found.stdout.isascii()
