"""The command ``kozel`` run inside the tests' own process, and a look at what it wrote."""

import json
import sys
from pathlib import Path

import pytest

from kozel_sim.cli import main


def runner(monkeypatch, capsys):
    """Return ``kozel(*words)``, which returns (exit code, stdout, stderr).

    It does not say that the engine is being compiled.
    """
    monkeypatch.setattr("kozel_sim._native.announces", False)

    def kozel(*words):
        monkeypatch.setattr(sys, "argv", ["kozel", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        out, err = capsys.readouterr()
        return end.value.code or 0, out, err

    return kozel


def picture(folder=None):
    """Every path below a folder, by default the present one, with the bytes of the files."""
    folder = folder or Path.cwd()
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def strict_json(text):
    """Read JSON as other programs do, which know no Infinity."""

    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)
