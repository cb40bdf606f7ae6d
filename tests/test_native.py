"""Machine code of kernels: compiled once, kept, and called as numba would call it."""

import ast
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numba
import numpy as np
import pytest

import kozel_sim
from kozel_sim import _jit, _native
from kozel_sim._native import MachineCode
from kozel_sim.engine import entries
from kozel_sim.engine.entries import Entry
from kozel_sim.printing import hush

PACKAGE = Path(kozel_sim.__file__).parent
RECORD = np.dtype([("a", "u4"), ("b", "i8", (3,))], align=True)


@_jit.kernel
def look(knobs, whole, big, records, cube, seen):
    """Write all that is passed into `seen`; return how much it was."""
    n = 0
    for k in knobs:
        seen[n] = k
        n += 1
    seen[n] = whole
    seen[n + 1] = np.int64(big)
    n += 2
    for i in range(records.size):
        seen[n] = records[i].a
        seen[n + 1] = records[i].b[2]
        n += 2
    for i in range(cube.shape[0]):
        for j in range(cube.shape[1]):
            for k in range(cube.shape[2]):
                seen[n] = cube[i, j, k]
                n += 1
    return n


@_jit.kernel
def says_nothing(out):
    out[0] = 7


@_jit.kernel
def takes_memory(n):
    return np.empty(n, np.int64)[0]


@_jit.kernel
def needs_numba(out):
    return out.reshape(2, 2)[0, 1]


@_jit.kernel
def gives_a_float(x):
    return x / 2


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(entries, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(entries, "announce_compiling", lambda: None)
    return tmp_path


def arguments(seed):
    """Arguments of all kinds, at the edges of their ranges too."""
    luck = np.random.default_rng(seed)
    edges = np.iinfo(np.int64)
    knobs = tuple(int(k) for k in luck.choice([edges.min, -1, 0, 1, edges.max], 5))
    whole = int(luck.integers(edges.min, edges.max))
    big = np.uint64(luck.integers(0, 2**64 - 1, dtype=np.uint64))
    records = np.zeros(luck.integers(0, 4), RECORD)
    records["a"] = luck.integers(0, 2**32 - 1, records.size)
    records["b"] = luck.integers(edges.min, edges.max, records["b"].shape)
    cube = luck.integers(-9, 9, luck.integers(0, 4, 3))
    return knobs, whole, big, records, cube


@pytest.mark.parametrize("seed", range(20))
def test_it_is_called_as_numba_calls_it(empty_cache, seed):
    given = arguments(seed)
    mine, numbas = np.zeros(99, np.int64), np.zeros(99, np.int64)
    count = Entry(__name__, "look")(*given, mine)
    assert count == numba.njit(look.py_func)(*given, numbas)
    assert mine.tolist() == numbas.tolist()
    knobs, whole, big, *_ = given
    assert mine[:7].tolist() == [*knobs, whole, int(np.int64(big))]


def test_nothing_returned_is_nothing(empty_cache):
    out = np.zeros(1, np.int64)
    assert Entry(__name__, "says_nothing")(out) == 0
    assert out[0] == 7


def test_it_is_compiled_once_and_kept(empty_cache, monkeypatch):
    Entry(__name__, "says_nothing")(np.zeros(1, np.int64))
    (path,) = empty_cache.iterdir()
    monkeypatch.setattr(_jit, "compile_entry", None)
    Entry(__name__, "says_nothing")(np.zeros(2, np.int64))
    assert list(empty_cache.iterdir()) == [path]


def test_code_that_cannot_be_kept_is_run_all_the_same(tmp_path, monkeypatch):
    (tmp_path / "full").write_text("no folder")
    monkeypatch.setattr(entries, "cache_folder", lambda: tmp_path / "full")
    monkeypatch.setattr(entries, "announce_compiling", lambda: None)
    Entry(__name__, "says_nothing")(out := np.zeros(1, np.int64))
    assert out[0] == 7


@pytest.mark.parametrize(
    "damage", ["empty", "head", "cut", "bit", "foreign", "symbol", "words", "null"]
)
def test_damaged_code_is_not_run_but_made_again(empty_cache, damage):
    Entry(__name__, "says_nothing")(np.zeros(1, np.int64))
    (path,) = empty_cache.iterdir()
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[-100] ^= 1
    path.write_bytes(
        {
            "empty": b"",
            "head": whole[:20],
            "cut": whole[:-1],
            "bit": bytes(flipped),
            "foreign": b"[1]\n" + whole,
            "symbol": whole.replace(b"says_nothing", b"says_nothinh", 1),
            "words": whole.replace(b'"words": ', b'"words": 1', 1),
            "null": b"null\n" + whole.partition(b"\n")[2],
        }[damage]
    )
    assert MachineCode.read(path) is None
    Entry(__name__, "says_nothing")(out := np.zeros(1, np.int64))
    assert out[0] == 7
    assert MachineCode.read(path) is not None


def test_code_is_of_one_kind_of_arguments_and_one_processor(empty_cache, monkeypatch):
    entry = Entry(__name__, "says_nothing")
    entry(np.zeros(1, np.int64))
    entry(np.zeros(1, np.int32))
    assert len(list(empty_cache.iterdir())) == 2
    monkeypatch.setattr(entries, "processor", lambda: "another")
    Entry(__name__, "says_nothing")(np.zeros(1, np.int64))
    assert len(list(empty_cache.iterdir())) == 3


def test_threads_that_begin_at_once_compile_once(empty_cache, monkeypatch):
    compiled = []
    whole = _jit.compile_entry

    def count(module, name, arguments):
        compiled.append(name)
        return whole(module, name, arguments)

    monkeypatch.setattr(_jit, "compile_entry", count)
    entry = Entry(__name__, "says_nothing")
    outs = np.zeros((8, 1), np.int64)
    threads = [threading.Thread(target=entry, args=(out,)) for out in outs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert compiled == ["says_nothing"]
    assert outs.tolist() == [[7]] * 8


@pytest.mark.parametrize(
    ("name", "argument", "complaint"),
    [
        ("takes_memory", 3, "built-in function empty"),
        ("needs_numba", np.zeros(4, np.int64), "which only numba has"),
        ("gives_a_float", 3, "returns float64, not an int64 or nothing"),
    ],
)
def test_what_would_need_numba_when_it_runs_is_not_compiled(empty_cache, name, argument, complaint):
    with pytest.raises(Exception, match=complaint):
        Entry(__name__, name)(argument)
    assert list(empty_cache.iterdir()) == []


@pytest.mark.parametrize("wrong", [np.zeros((4, 4))[:, 1], np.broadcast_to(1, 3)])
def test_arrays_must_be_whole_and_open(wrong):
    with pytest.raises(TypeError, match="contiguous arrays that they may write"):
        Entry(__name__, "says_nothing")(wrong)


@pytest.mark.parametrize("wrong", [2**63, -(2**63) - 1])
def test_integers_are_of_64_bits(wrong):
    with pytest.raises(OverflowError, match="over 64 bits"):
        Entry(__name__, "gives_a_float")(wrong)


def test_every_kernel_has_its_entry():
    kernels = {
        node.name
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and "kernel" in map(ast.unparse, node.decorator_list)
    }
    named = {name: entry for name, entry in vars(entries).items() if isinstance(entry, Entry)}
    assert set(named) == kernels
    assert all(entry.name == name for name, entry in named.items())


WARM = """
import sys
from kozel_sim.cli import app
try:
    app(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
print("numba" in sys.modules)
"""


@pytest.mark.parametrize(
    "words",
    [
        "tournament -n 4 --players 2",
        "tournament -n 4 --players 2 --aggregate",
        "tournament -n 4 --players 2 --rounds",
        "compare random dump_heavy -n 4",
        "sweep --rules room-fish-all,room-fish-one -n 4 --players 2",
    ],
)
def test_a_warm_process_does_without_numba(words):
    quiet = [sys.executable, "-c", WARM, *words.split(), "--quiet"]
    for _ in range(2):
        done = subprocess.run(quiet, capture_output=True, text=True, check=True, env={**os.environ})
    assert done.stdout == "False\n"


# ---------------------------------------------------------------------- nowhere to keep it

MAIN = [sys.executable, "-c", "from kozel_sim.cli import main; main()"]
UNKEPT = (
    "kozel_sim: nothing that is compiled is kept: {}; KOZEL_SIM_CACHE_DIR names a folder for it\n"
)


@pytest.fixture
def closed(tmp_path, monkeypatch):
    """A cache that cannot be, since a file is in its place; nothing in a temporary folder."""
    (tmp_path / "file").write_text("precious", encoding="utf-8")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setenv(_native.CACHE_VARIABLE, str(tmp_path / "file"))
    remembered = (_native.cache_folder, _native.why_not_kept)
    for known in remembered:
        known.cache_clear()
    monkeypatch.setattr(_native, "unkept", [])
    monkeypatch.setattr(_native, "hushed", False)
    yield tmp_path
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "temporary"]
    assert list((tmp_path / "temporary").iterdir()) == []
    for known in remembered:
        known.cache_clear()


def test_a_closed_cache_is_told_once_with_its_reason(closed, monkeypatch, capsys):
    monkeypatch.setattr(_native, "announces", True)
    for name in ("says_nothing", "look"):
        given = arguments(1) if name == "look" else ()
        Entry(__name__, name)(*given, np.zeros(99, np.int64))
    told = UNKEPT.format(f"{closed / 'file'}: Not a directory")
    told += "kozel_sim: compiling the engine, about half a minute ...\n"
    assert capsys.readouterr().err == told


def test_a_closed_cache_keeps_no_users_function_and_none_beside_its_file(closed, capsys):
    path = closed / "temporary" / "mine.py"
    path.write_text("def choose(x):\n    return x + 1.0\n", encoding="utf-8")
    scope = {"__name__": "mine"}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), scope)
    made = _jit.compile_policy(scope["choose"], numba.float64(numba.float64))
    assert made.ctypes(1.0) == 2.0
    assert capsys.readouterr().err == UNKEPT.format(f"{closed / 'file'}: Not a directory")
    path.unlink()


def test_hushed_it_says_nothing(closed, monkeypatch, capsys):
    for name in ("announces", "hushed"):
        monkeypatch.setattr(_native, name, name == "announces")
    hush()
    Entry(__name__, "says_nothing")(np.zeros(1, np.int64))
    assert capsys.readouterr() == ("", "")


def test_a_full_disk_is_told(closed, monkeypatch, capsys):
    """What could be kept when it was looked at cannot be when it is written."""
    monkeypatch.setattr(_native, "why_not_kept", lambda: "")
    monkeypatch.setattr(_native, "announces", False)
    Entry(__name__, "says_nothing")(np.zeros(1, np.int64))
    assert capsys.readouterr().err.startswith("kozel_sim: nothing that is compiled is kept: ")


def test_warmup_does_not_say_done_where_nothing_is_kept(closed):
    found = subprocess.run([*MAIN, "warmup"], capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (2, "")
    why = f"{closed / 'file'}: Not a directory"
    assert found.stderr == f"kozel: error: nothing that is compiled can be kept: {why}\n"


@pytest.mark.parametrize("answer", ["~/.cache/kozel_sim", RuntimeError("no home")])
def test_there_may_be_no_home(closed, monkeypatch, answer):
    def user_cache_path(name):
        if isinstance(answer, str):
            return Path(answer)
        raise answer

    monkeypatch.delenv(_native.CACHE_VARIABLE)
    monkeypatch.setattr("platformdirs.user_cache_path", user_cache_path)
    assert _native.why_not_kept() == "this user has no home folder"
    assert not _native.cache_folder().exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs to be root")
def test_a_user_without_entry_and_home_can_play(closed):
    """A number that no user has: with the right to read all, as the package may be in a home."""
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("no setpriv here")
    right = ["--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search"]
    user = [setpriv, "--reuid", "54321", "--regid", "54321", "--clear-groups", *right]
    code = "import sys; from kozel_sim.cli import main; main()"
    warm = {**os.environ}
    for name in ("HOME", _native.CACHE_VARIABLE, "XDG_CACHE_HOME"):
        warm.pop(name, None)
    words = ["replay", "--players", "2", "--engine", "reference", "--seed", "1"]
    command = [*user, sys.executable, "-c", code]
    found = subprocess.run([*command, *words], capture_output=True, text=True, env=warm)
    assert (found.returncode, found.stderr) == (0, "")
    found = subprocess.run([*command, "warmup"], capture_output=True, text=True, env=warm)
    told = "kozel: error: nothing that is compiled can be kept: this user has no home folder\n"
    assert (found.returncode, found.stderr) == (2, told)
