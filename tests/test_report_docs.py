"""docs/report.md: its code runs as it stands, and what it says of numbers and links is so."""

import re
from pathlib import Path

from kozel_sim.notable import MOST_AGAIN
from kozel_sim.report_page import MOST_REPLAYS

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")


def test_python_on_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(code, {})
    html = Path("report.html").read_text(encoding="utf-8")
    for name in re.findall(r"#(replay-[\w-]+)", PAGE):
        assert f'<dialog id="{name}"' in html


def test_numbers_on_the_page_are_those_of_the_code():
    assert f"up to {MOST_AGAIN:,} matches" in " ".join(PAGE.split())
    assert MOST_REPLAYS == 12
    assert "the first twelve" in PAGE


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert (ROOT / "docs" / target).is_file(), target
