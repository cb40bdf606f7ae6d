"""Every command that reads a run, at runs that are lost in part, damaged or changed at random."""

import json
import random
import shlex
import shutil

import pytest
from command_line import picture, runner

from kozel_sim.manifest import JOURNAL, MANIFEST

MADE = [
    *("tournament", "--players", "2", "-n", "12", "--seed", "7", "--rounds", "--quiet"),
    *("--policies", "random,dump_heavy", "-o", "run"),
]
READERS = (
    *(["show", "run"], ["verify", "run", "--seed", "1"], ["report", "run", "-o", "-"]),
    *(["export", "run", "--csv", "-"], ["merge", "run", "-o", "merged"], ["ratings", "run"]),
)
MEND = "remove it, and the command that made the run plays it again"


@pytest.fixture
def kozel(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    return runner(monkeypatch, capsys)


@pytest.fixture
def run(kozel, tmp_path):
    """The folder of a finished run, a plain one."""
    assert kozel(*MADE)[0] == 0
    return tmp_path / "run"


def resumed(kozel, words=MADE):
    code, _, err = kozel(*words)
    assert (code, err) == (0, "")


# ---------------------------------------------------------------------- lost, and damaged


@pytest.mark.parametrize("kind", ["rounds", "matches"])
def test_lost_file_is_named_and_played_again_by_the_same_command(kozel, run, kind):
    before = picture(run)
    (lost,) = run.glob(f"{kind}/*/*.parquet")
    lost.unlink()
    for command in ("show", "report", "ratings"):
        code, out, err = kozel(command, "run")
        assert (code, out) == (2, "")
        assert err.endswith(f"{lost.name} is missing; the command that made the run plays it "
                            "again\n")  # fmt: skip
    code, out, _ = kozel("verify", "run")
    assert code == 1
    assert f"{lost.name} is missing; the command that made the run plays it again" in out
    resumed(kozel)
    after = picture(run)
    assert after.keys() == before.keys()
    assert after[lost.relative_to(run).as_posix()] == before[lost.relative_to(run).as_posix()]
    assert kozel("verify", "run", "--all")[0] == 0


@pytest.mark.parametrize("kind", ["rounds", "matches"])
def test_damaged_file_is_told_by_every_command_with_how_to_mend_it(kozel, run, kind):
    (part,) = run.glob(f"{kind}/*/*.parquet")
    whole = part.read_bytes()
    part.write_bytes(whole[:50] + bytes([whole[50] ^ 1]) + whole[51:])
    there = picture(run)
    for words in (MADE, ["show", "run"], ["report", "run"]):
        code, out, err = kozel(*words)
        assert (code, out) == (2, "")
        assert err.endswith(f"{part.name} is damaged: its hash is not the manifest's; {MEND}\n")
        assert picture(run) == there
    code, out, _ = kozel("verify", "run")
    assert (code, MEND in out) == (1, True)
    said = "to mend it, remove each damaged file, and run: kozel "
    (line,) = (line for line in out.splitlines() if line.startswith(said))
    # As it says.
    part.unlink()
    resumed(kozel, [*shlex.split(line.removeprefix(said)), "--quiet"])
    assert part.read_bytes() == whole


def test_damaged_file_of_an_unfinished_run_is_told_by_the_same_command(kozel, run):
    manifest = json.loads((run / MANIFEST).read_text("utf-8"))
    line = json.dumps({"seconds": 1.0, "files": manifest["files"]})
    (run / JOURNAL).write_text(f"{line}\n", "utf-8")
    (run / MANIFEST).write_text(
        json.dumps(manifest | {"state": "unfinished", "files": []}), "utf-8"
    )
    code, out, _ = kozel("verify", "run")
    assert (code, out.splitlines()[0]) == (
        0,
        "manifest.json: it is unfinished, 2 files are there; the command that began it continues "
        "it",
    )
    (part,) = run.glob("rounds/*/*.parquet")
    whole = part.read_bytes()
    part.write_bytes(b"")
    code, _, err = kozel(*MADE)
    assert (code, err.count("\n")) == (2, 1)
    assert err.endswith(f"its hash is not the manifest's; {MEND}\n")
    part.unlink()
    resumed(kozel)
    assert part.read_bytes() == whole


# ---------------------------------------------------------------------- changed at random

VALUES = [None, [], {}, 0, -1, 1.5, "x", "", True, 10**30, [[]], {"a": 1}, "../x", "\x1b[2J"]


def places(value, at=()):
    """Yield the ways to all values within a value."""
    pairs = enumerate(value) if isinstance(value, list) else ()
    for key, each in value.items() if isinstance(value, dict) else pairs:
        yield (*at, key)
        yield from places(each, (*at, key))


def change_value(value, draw):
    """Put another value somewhere, or take it away."""
    *above, key = draw.choice(list(places(value)))
    for each in above:
        value = value[each]
    if draw.random() < 0.2:
        del value[key]
    else:
        value[key] = draw.choice(VALUES)


def change_bytes(content, draw):
    """Flip a bit, cut off the end, put zeros or other bytes in the place of some."""
    at = draw.randrange(len(content))
    return draw.choice(
        [
            content[:at] + bytes([content[at] ^ 1 << draw.randrange(8)]) + content[at + 1 :],
            content[:at],
            content[:at] + bytes(8) + content[at + 8 :],
            content[:at] + draw.randbytes(8) + content[at:],
        ]
    )


def change_json(path, draw):
    value = json.loads(path.read_text("utf-8"))
    change_value(value, draw)
    path.write_text(f"{json.dumps(value)}\n", "utf-8")


def change_file(path, draw):
    path.write_bytes(change_bytes(path.read_bytes(), draw))


CHANGES = {
    **{f"manifest's value {i}": (MANIFEST, change_json) for i in range(4)},
    **{f"manifest's bytes {i}": (MANIFEST, change_file) for i in range(2)},
    **{f"journal's value {i}": (JOURNAL, change_json) for i in range(3)},
    "journal's bytes": (JOURNAL, change_file),
    "matches": ("matches/*/*", change_file),
    "rounds": ("rounds/*/*", change_file),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_every_command_says_in_one_line_what_is_wrong(kozel, run, tmp_path, kind):
    """Or does what it is for: a changed value may be one that the run could have had."""
    draw = random.Random(kind)
    pattern, change = CHANGES[kind]
    if pattern == JOURNAL:
        files = json.loads((run / MANIFEST).read_text("utf-8"))["files"]
        line = json.dumps({"seconds": 1.0, "files": files})
        (run / JOURNAL).write_text(f"{line}\n", "utf-8")
    (path,) = run.glob(pattern)
    change(path, draw)
    there = picture(run)
    for words in (*READERS, MADE):
        code, out, err = kozel(*words)
        assert code in (0, 1, 2)
        assert code != 1 or words[0] == "verify"
        if code == 2:
            assert err.startswith("kozel: error: ")
            assert (err.count("\n"), err[:-1].isprintable(), out) == (1, True, "")
            assert "run" in err
        assert "Traceback" not in out + err
        if words != MADE:
            assert picture(run) == there
        shutil.rmtree(tmp_path / "merged", ignore_errors=True)
    assert {each.name for each in tmp_path.iterdir()} == {"run"}


LINES = ["[]", "1", "{}", "null", '""', "{", "[1, 2]", '{"seconds": 1}', '{"files": []}',
         '{"seconds": 1, "files": [], "more": 1}', '{"seconds": "1", "files": [1]}',
         '{"seconds": NaN, "files": []}', "[" * 100_000, "\0", '"\\ud800"']  # fmt: skip


@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
def test_journal_with_a_line_of_something_else_is_one_line(kozel, run, line):
    """Whatever stands there, with a whole line behind it."""
    files = json.loads((run / MANIFEST).read_text("utf-8"))["files"]
    whole = json.dumps({"seconds": 1.0, "files": files})
    (run / JOURNAL).write_text(f"{line}\n{whole}\n", "utf-8")
    for words in (["show", "run"], MADE):
        code, out, err = kozel(*words)
        assert (code, out, err.count("\n"), len(err) < 1000) == (2, "", 1, True)
        assert f"{JOURNAL} is damaged: line 1: " in err
        assert err.endswith("remove it, and the command that made the run plays again what it "
                            "listed\n")  # fmt: skip
