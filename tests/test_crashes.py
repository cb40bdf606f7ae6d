"""The command line beside users' code that prints, wanders, ends or crashes the process."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import picture, runner
from user_policies import own_registry

from kozel_sim import crashes, load_code, play, policy
from kozel_sim.cli import warn
from kozel_sim.kit import first_move
from kozel_sim.store import JOURNAL, LOCK, MANIFEST, clear_up
from kozel_sim.words import in_one_line, quoted, shorten

KOZEL = Path(sys.executable).with_name("kozel")
FIRST = """
from kozel_sim import policy
from kozel_sim.kit import first_move
"""
DEEP = (
    FIRST
    + """
def dig(view, n):
    if n <= 0:
        return 0
    return dig(view, n - 1) * 3 + n % 2

@policy
def deep(view):
    return dig(view, 10**7) * 0 + first_move(view)
"""
)
TABLE = ["tournament", "--players", "2", "-n", "2", "--seed", "1", "-j", "1"]


@pytest.fixture
def work(tmp_path, monkeypatch):
    """An empty working folder; files of code stand beside it."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    with own_registry():
        yield folder


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def run(*words):
    """Run the command line as its own process."""
    return subprocess.run([KOZEL, *map(str, words)], capture_output=True, text=True, timeout=300)


needs_fork = pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="no fork here")


@needs_fork
def test_policy_that_crashes_the_process_is_told_and_leaves_nothing(work, write):
    path = write("deep.py", DEEP)
    done = run(*TABLE, "--code", path, "--policies", "deep,random", "-o", "run")
    assert done.returncode == 2
    assert done.stdout == ""
    *_, last = done.stderr.splitlines()
    assert last.startswith("kozel: error: the code of policy deep crashed the process (Segm")
    assert picture() == {}


@needs_fork
def test_code_that_ends_the_process_is_told(work, write):
    path = write("ends.py", "import os\nos._exit(7)\n")
    done = run(*TABLE, "--code", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "a policy's code ended the process by itself (exit code 7)" in done.stderr


@needs_fork
def test_code_that_is_killed_is_told(work, write):
    path = write("killed.py", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    done = run(*TABLE, "--code", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "a policy's code was killed with its process, perhaps for lack of memory" in done.stderr


@needs_fork
def test_notes_longer_than_a_pipe_holds_do_not_stop_the_command(work, write):
    source = "from kozel_sim import crashes\ncrashes._note(made=['x' * 250] * 1000)\nraise OSError"
    done = run(*TABLE, "--code", write("notes.py", source))
    assert done.returncode == 2
    assert "notes.py, line 3: OSError" in done.stderr


def test_of_many_policies_some_are_named(monkeypatch):
    notes = {}
    monkeypatch.setattr(crashes, "_notes", 1)
    monkeypatch.setattr(crashes, "_note", lambda **facts: notes.update(facts))
    with own_registry():
        own = policy(name="mine")(lambda view: first_move(view))
        crashes.look_after([own] * 300, None)
    assert len(json.dumps(notes)) < 4000
    said = crashes._tell(-signal.SIGSEGV, notes)
    assert said.startswith(
        f"the code of one of the policies {', '.join(['mine'] * 10)} and 290 more"
    )


@needs_fork
def test_signal_to_the_whole_group_reaches_the_code_once(work, write):
    source = """
import os, signal, sys, time
def got(*_):
    os.write(1, b"x")
    time.sleep(0.4)
    os._exit(0)
signal.signal(signal.SIGTERM, got)
open("ready", "w").close()
while True:
    time.sleep(0.05)
"""
    path = write("waits.py", source)
    words = [KOZEL, *TABLE, "--code", str(path)]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as asked:
        while not (work / "ready").exists() and asked.poll() is None:
            time.sleep(0.02)
        os.killpg(asked.pid, signal.SIGTERM)
        out, err = asked.communicate(timeout=60)
    assert out == "x"
    assert "ended the process by itself (exit code 0)" in err


@needs_fork
def test_command_with_code_ends_as_it_would_without(work, write):
    path = write("fine.py", FIRST + "@policy\ndef fine(view):\n    return first_move(view)\n")
    mistake = run(*TABLE, "--code", path, "--policies", "fine,nobody")
    assert mistake.returncode == 2
    assert mistake.stderr.startswith("kozel: error: unknown policy 'nobody'")


def test_what_is_kept_of_a_crashed_run_stays(work, monkeypatch, capsys):
    kozel = runner(monkeypatch, capsys)
    assert kozel(*TABLE, "--policies", "random,dump_heavy", "-o", "run")[0] == 0
    manifest = json.loads((work / "run" / MANIFEST).read_text())
    for state, files, parts in (("unfinished", manifest["files"], 1), ("unfinished", [], 0)):
        (work / "run" / MANIFEST).write_text(
            json.dumps(manifest | {"state": state, "files": files})
        )
        (work / "run" / LOCK).touch()
        for picture_file in work.glob("run/*.*"):
            if picture_file.suffix in (".csv", ".png"):
                picture_file.unlink()
        assert clear_up(work / "run", [work / "run"]) == parts
        assert (work / "run" / MANIFEST).is_file() == bool(parts)
        assert not (work / "run" / LOCK).exists()
    assert not (work / "run").exists()
    assert not (work / "run" / JOURNAL).exists()


def test_words_that_bring_no_code_are_not_looked_after(monkeypatch):
    monkeypatch.setattr(crashes, "_fork", lambda: pytest.fail("forked"))
    crashes.stand_by(["tournament", "--players", "2"])
    # Not the command line's own process.
    crashes.stand_by(["tournament", "--code", "mine.py"])
    assert shutil.which("kozel", path=KOZEL.parent)


LOUD = """
print("at import")
from kozel_sim import policy
from kozel_sim.kit import first_move

@policy
def loud(view):
    print("asked")
    return first_move(view)
"""


@pytest.mark.parametrize("engine", ["scalar", "reference"])
def test_prints_of_a_policy_do_not_mix_with_json(work, write, monkeypatch, capsys, engine):
    kozel = runner(monkeypatch, capsys)
    path = write("loud.py", LOUD)
    words = [*TABLE, "--code", path, "--policies", "loud,random", "--engine", engine, "--json"]
    code, out, err = kozel(*words)
    assert code == 0
    assert json.loads(out)["manifest"]["engine"] == engine
    assert "at import" in err
    assert "asked" in err


@pytest.mark.parametrize("kind", ["BaseException", "GeneratorExit", "SystemExit"])
def test_whatever_a_file_raises_is_one_line(work, write, monkeypatch, capsys, kind):
    kozel = runner(monkeypatch, capsys)
    path = write("base.py", f"class Stop({kind}): pass\nraise Stop('no')\n")
    code, out, err = kozel(*TABLE, "--code", path)
    assert (code, out) == (2, "")
    assert err == f"kozel: error: {path}, line 2: Stop: no\n"


def test_policy_that_raises_anything_is_told_in_the_reference_engine(work, write):
    load_code(write("stops.py", FIRST + "@policy\ndef stops(view):\n    raise SystemExit(3)\n"))
    with pytest.raises(ValueError, match=r"policy stops raised SystemExit: 3 \(stops\.py, line 6"):
        play("room-fish-all", ["stops", "random"], 1, 0, engine="reference")


def test_file_that_changes_the_working_folder_changes_nothing_of_ours(
    work, write, monkeypatch, capsys
):
    kozel = runner(monkeypatch, capsys)
    source = "import os\nos.chdir('/')\n" + LOUD
    path = write("wanders.py", source)
    words = [*TABLE, "--code", path, "--policies", "loud,random", "--engine", "reference"]
    assert kozel(*words, "-o", "run", "--quiet")[0] == 0
    assert Path.cwd() == work
    assert (work / "run" / MANIFEST).is_file()


# ---------------------------------------------------------------------- long words


def test_long_text_is_shortened_at_its_middle():
    assert shorten("short") == "short"
    assert quoted("x" * 10**6) == f"'{'x' * 100}...{'x' * 100}' (1,000,000 characters)"
    assert len(in_one_line("a b " * 10**6)) < 4100
    assert len(in_one_line("a" * 10**6)) < 300


@pytest.mark.parametrize(
    "words",
    [
        ["tournament", "--policies", "LONG"],
        ["tournament", "--policies", "prefer:LONG"],
        ["tournament", "--policies", "weights:LONG=1"],
        ["tournament", "--policies", "mix:LONG"],
        ["tournament", "--rules", "LONG"],
        ["tournament", "--set", "LONG"],
        ["tournament", "--set", "LONG=1"],
        ["tournament", "--set", "fish_def=LONG"],
        ["tournament", "--set", "tile_over=LONG"],
        ["tournament", "--engine", "LONG"],
        ["tournament", "--design", "LONG"],
        ["tournament", "--stop", "LONG"],
        ["tournament", "-n", "LONG"],
        ["tournament", "-o", "LONG"],
        ["tournament", "--code", "LONG"],
        ["run", "LONG.toml"],
        ["sweep", "--rules", "room-fish-all", "--vary", "LONG"],
        ["replay", "--format", "LONG"],
        ["rules", "LONG"],
        ["show", "LONG"],
        ["check-policy", "LONG"],
        ["LONG"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("long", ["x" * 10**6, "a b, " * 200_000], ids=["word", "words"])
def test_refused_text_of_a_megabyte_is_not_echoed_whole(work, monkeypatch, capsys, words, long):
    kozel = runner(monkeypatch, capsys)
    code, out, err = kozel(*[word.replace("LONG", long) for word in words])
    assert (code, out) == (2, "")
    assert err.startswith("kozel: error: ")
    assert len(err) < 4200
    assert err.count("\n") == 1


def test_deprecation_in_a_library_is_no_warning_of_ours(capsys):
    for kind in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
        warn("old", kind, "library.py", 3)
    assert capsys.readouterr().err == ""
    warn("said of ours", UserWarning, "ours.py", 3)
    assert capsys.readouterr().err == "kozel: warning: said of ours\n"
