"""kozel warmup: every kernel is compiled once, though two processes begin at the same time."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import runner, strict_json

import kozel_sim
from kozel_sim.warming import STEPS, warm_up

PACKAGE = Path(kozel_sim.__file__).parent


@pytest.fixture
def kozel(monkeypatch, capsys):
    return runner(monkeypatch, capsys)


def kernels():
    """The names of all functions that are compiled as entry points."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                kinds = {ast.unparse(decorator) for decorator in node.decorator_list}
                if "kernel" in kinds:
                    yield node.name


def test_every_step_is_told_and_timed(kozel):
    told = []
    found = list(warm_up(told.append))
    assert told == [what for what, _, _ in found] == list(STEPS)
    assert all(seconds > 0 for _, _, seconds in found)


def test_what_is_warm_is_loaded(kozel):
    kozel("warmup")
    code, out, err = kozel("warmup", "--json")
    rows = strict_json(out)
    assert code == 0
    assert [row["what"] for row in rows] == list(STEPS)
    assert {row["how"] for row in rows} == {"loaded"}
    assert err.count("\n") == len(STEPS)
    assert f"compiling matches, one at a time (1 of {len(STEPS)}) ..." in err


@pytest.mark.slow
def test_two_processes_may_warm_at_once(tmp_path):
    """From nothing, beside each other; then a third one has nothing left to compile."""
    start = [sys.executable, "-c", "from kozel_sim.cli import main; main()"]
    place = {**os.environ, "KOZEL_SIM_CACHE_DIR": str(tmp_path)}
    words = [*start, "warmup", "--json"]
    both = [
        subprocess.Popen(
            words, env=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    for process in both:
        out, err = process.communicate()
        assert process.returncode == 0, err
        rows = strict_json(out)
        assert rows[0]["how"] == "compiled"
    third = subprocess.run(words, env=place, capture_output=True, text=True, check=True)
    assert {row["how"] for row in strict_json(third.stdout)} == {"loaded"}
    kept = {path.name.rpartition("-")[0] for path in tmp_path.rglob("*.o")}
    assert set(kernels()) <= kept
    play = [*start, "tournament", "-n", "2", "--players", "2", "--policies", "random,dump_heavy"]
    played = subprocess.run(play, env=place, capture_output=True, text=True, check=True)
    assert played.stderr == ""
