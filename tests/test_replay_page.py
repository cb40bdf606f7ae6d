"""docs/replay.md: its commands run as they stand, and its picture is what they draw."""

import re
import shlex
from pathlib import Path

import pages
import pytest
from command_line import runner

from kozel_sim import svg

PAGE = pages.read("docs/replay.md")
COMMANDS = re.findall(r"^kozel (.*)$", PAGE, re.MULTILINE)


@pytest.fixture
def kozel(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    return runner(monkeypatch, capsys)


def test_commands_run_and_draw_the_pages_picture(kozel):
    assert len(COMMANDS) == 2
    for command in COMMANDS:
        assert kozel(*shlex.split(command)) == (0, "", "")
    drawn = Path("board.svg").read_bytes()
    assert drawn == (pages.ROOT / "docs" / "images" / "board.svg").read_bytes()
    assert 200_000 < Path("replay.html").stat().st_size < 600_000


def test_python_on_the_page_runs():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict = {}
    exec(code, names)
    svg_calls = re.findall(r"`(\w+_svg)\(", PAGE)
    assert len(svg_calls) == 6
    assert all(callable(getattr(svg, name)) for name in svg_calls)
    assert names["show"](names["record"]).html.startswith("<section")


def test_links_lead_somewhere():
    assert pages.broken_links("docs/replay.md") == []
