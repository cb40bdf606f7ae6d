"""Files are read in UTF-8 or refused in words, and written whole or not at all."""

import codecs
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from command_line import picture, runner
from user_policies import own_registry

import kozel_sim
from kozel_sim import load_code, load_run, tournament
from kozel_sim.experiment import load_experiment
from kozel_sim.export import write_csv
from kozel_sim.files import need_new, read_code_text, replacing, write_whole

PACKAGE = Path(kozel_sim.__file__).parent
TEXT = """name = "опыт"
seed = 3
deals = 4
rules = ["room-fish-all"]
policies = ["random", "dump_heavy"]
"""
CODE = "from kozel_sim import policy\n\n@policy\ndef жадный(view):\n    '''Ход.'''\n    return 0\n"


@pytest.fixture(autouse=True)
def forgetful_registry():
    with own_registry():
        yield


@pytest.fixture
def kozel(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    return runner(monkeypatch, capsys)


# ---------------------------------------------------------------------- texts of users


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_texts_in_utf_8_are_read_with_and_without_a_mark(tmp_path, mark, end):
    path = tmp_path / "опыт.toml"
    path.write_bytes(mark + TEXT.encode().replace(b"\n", end))
    assert load_experiment(path).name == "опыт"
    code = tmp_path / "жадный.py"
    code.write_bytes(mark + CODE.encode().replace(b"\n", end))
    assert load_code(code) == ["жадный"]
    assert read_code_text(code) == CODE


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
@pytest.mark.parametrize("read", [load_experiment, load_code])
def test_wide_encodings_are_named(tmp_path, encoding, read):
    path = tmp_path / "text.py"
    path.write_bytes((TEXT if read is load_experiment else CODE).encode(encoding))
    with pytest.raises(ValueError, match=r"text.py is in UTF-16, or no text; save it as UTF-8 \("):
        read(path)


@pytest.mark.parametrize("encoding", ["cp1251", "cp866", "koi8-r"])
@pytest.mark.parametrize(("read", "line"), [(load_experiment, 1), (load_code, 4)])
def test_old_encodings_are_refused_at_their_line(tmp_path, encoding, read, line):
    path = tmp_path / "text.py"
    path.write_bytes((TEXT if read is load_experiment else CODE).encode(encoding))
    told = rf"text.py, line {line}: a byte 0x\w\w that is none of UTF-8; save it as UTF-8 \("
    with pytest.raises(ValueError, match=told):
        read(path)


def test_code_may_name_its_encoding(tmp_path):
    path = tmp_path / "code.py"
    path.write_bytes(f"# -*- coding: cp1251 -*-\n{CODE}".encode("cp1251"))
    assert load_code(path) == ["жадный"]
    for line in ("# coding: utf-7e", "# coding: ascii"):
        path.write_bytes(f"{line}\n{CODE}".encode())
        with pytest.raises(ValueError, match=r"code.py.*save it as UTF-8"):
            load_code(path)


def test_the_command_line_says_it_in_one_line(kozel):
    for encoding in ("cp1251", "utf-16"):
        Path("a.toml").write_bytes(TEXT.encode(encoding))
        code, out, err = kozel("run", "a.toml")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "a.toml" in err
        assert err.endswith("save it as UTF-8 (most editors: Save as, Encoding: UTF-8)\n")


# ---------------------------------------------------------------------- files of ours

WRITES = re.compile(
    r"\.write_(text|bytes)\(|\bopen\([^)]*\"[wax]b?\+?\"|\.to_(csv|parquet)\(|(?<!super\(\))\.savefig\("
)
ELSEWHERE = {
    "files.py": 1,  # here it is
    "streams.py": 1,  # nothing, for a closed stream
}


def test_what_writes_files_is_one_helper():
    """Into the folder that a run is finished with, or by `files`."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if WRITES.search(line) and not re.search(r"\((folder /|file, format)", line):
                name = path.relative_to(PACKAGE).as_posix()
                found[name] = found.get(name, 0) + 1
    assert found == ELSEWHERE


def test_written_whole_or_as_it_was(tmp_path):
    path = tmp_path / ("f" * 255)
    write_whole(path, b"first")

    def fail():
        with replacing(path) as scratch:
            scratch.write_bytes(b"sec")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert picture(tmp_path) == {path.name: b"first"}
    write_whole(path, b"second")
    assert picture(tmp_path) == {path.name: b"second"}


def test_what_cannot_be_written_is_named_itself(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "file" / "inside", tmp_path / "no" / "folder", tmp_path / ("f" * 256)):
        with pytest.raises(OSError, match=path.name) as error:
            write_whole(path, b"")
        assert error.value.filename == str(path)
    assert list(picture(tmp_path)) == ["file"]


def test_a_new_file_is_one_that_is_not_there(tmp_path):
    (tmp_path / "link").symlink_to("nowhere")
    (tmp_path / "file").touch()
    for name in ("link", "file", ""):
        with pytest.raises(FileExistsError):
            need_new(tmp_path / name)
    for name in ("no/folder", "file/inside", "f" * 256):
        with pytest.raises(OSError, match=r"No such|Not a|too long"):
            need_new(tmp_path / name)
    need_new(tmp_path / "new")
    assert sorted(picture(tmp_path)) == ["file", "link"]


SLOW_EXPORT = """
import sys, time
import pandas as pd
from kozel_sim.export import write_csv

def frames():
    yield pd.DataFrame({"a": range(10**5)})
    print("half", flush=True)
    time.sleep(60)
    yield pd.DataFrame({"a": range(10**5)})

write_csv(frames(), sys.argv[1])
"""


@pytest.mark.parametrize("before", [None, "precious"])
def test_a_killed_export_leaves_no_half_file(tmp_path, before):
    path = tmp_path / "table.csv"
    if before:
        path.write_text(before)
    command = [sys.executable, "-c", SLOW_EXPORT, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "half\n"
        process.send_signal(signal.SIGKILL)
    assert (path.read_text() if path.exists() else None) == before


def test_a_failed_export_leaves_nothing(tmp_path):
    def frames():
        yield pd.DataFrame({"a": [1]})
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_csv(frames(), tmp_path / "table.csv")
    assert picture(tmp_path) == {}


# ---------------------------------------------------------------------- standard output


def test_files_may_be_printed(kozel, tmp_path):
    tournament("room-fish-all", ["random", "dump_heavy"], 2, seed=1, players=2, folder="run")
    code, _, err = kozel("export", "run", "--csv", "table.csv")
    assert (code, err) == (0, "")
    before = picture()
    assert kozel("export", "run", "--csv", "-") == (0, Path("table.csv").read_text("utf-8"), "")
    frame = load_run("run").frame
    assert pd.read_csv("table.csv", dtype=frame.dtypes.to_dict()).equals(frame)
    match = ["replay", "--players", "2", "--seed", "1"]
    for option, start in (("--html", "<!doctype html>"), ("--svg", "<svg "), ("--out", "room-")):
        code, out, err = kozel(*match, option, "-")
        assert (code, err) == (0, "")
        assert out.startswith(start)
        kozel(*match, option, "file")
        assert out == Path("file").read_text("utf-8")
        Path("file").unlink()
    code, out, err = kozel("report", "run", "-o", "-")
    assert (code, err, out[:15]) == (0, "", "<!doctype html>")
    assert out.endswith("</html>")
    assert picture() == before


def test_two_files_do_not_go_to_one_output(kozel):
    code, out, err = kozel("replay", "--html", "-", "--svg", "-")
    assert (code, out) == (2, "")
    assert "- is named twice" in err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_an_export_ends_with_its_reader(kozel, tmp_path):
    tournament("room-fish-all", ["random", "dump_heavy"], 600, seed=1, players=2, folder="run")
    line = f"{sys.executable} -c 'from kozel_sim.cli import main; main()' export run --csv -"
    start = time.monotonic()
    found = subprocess.run(
        ["bash", "-c", f"{line} | head -1; exit ${{PIPESTATUS[0]}}"], capture_output=True, text=True
    )
    assert time.monotonic() - start < 60
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.startswith('"preset","players"')
