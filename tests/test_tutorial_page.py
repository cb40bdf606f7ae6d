"""docs/tutorial.md: whoever types what it says gets what it shows."""

import re
from pathlib import Path

import pages
import pytest
from command_line import runner
from user_policies import own_registry

PAGE = pages.read("docs/tutorial.md")


@pytest.fixture
def kozel(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    with own_registry():
        yield runner(monkeypatch, capsys)


def test_tutorial_prints_what_it_shows(kozel):
    wrong = pages.run(PAGE, kozel)
    assert not wrong, "\n\n".join(f"$ {command}\n{printed}" for command, printed in wrong)
    picture = Path("first_round.svg").read_bytes()
    assert picture == (pages.ROOT / "docs" / "images" / "first_round.svg").read_bytes()
    assert (
        len(list(pages.commands("".join(body for _, body in pages.blocks(PAGE, "console"))))) > 15
    )


def test_its_set_up_is_that_of_the_readme():
    (lines,) = [body for _, body in pages.blocks(PAGE, "") if "pip install" in body]
    wanted = [line for line in lines.splitlines() if line.startswith("pip ")]
    assert all(line in pages.read("README.md").splitlines() for line in wanted)


def test_figures_in_its_sentences_are_those_that_it_shows():
    shown = "".join(body for _, body in pages.blocks(PAGE, "console"))
    figures = {float(figure) for figure in re.findall(r"-?\d+\.\d+", shown)}
    rounded = {f"{abs(figure):.1f}" for figure in figures}
    for figure in re.findall(r"\b\d+\.\d\b(?!\d)", pages.BLOCK.sub("", PAGE)):
        assert figure in rounded, figure


def test_links_lead_somewhere():
    assert pages.broken_links("docs/tutorial.md") == []


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\nb\n", "a\nb  \n\n", True),
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("...\nd\n", "d\n", True),
        ("a\n...\n", "a\n", True),
        ("a\n...\n", "b\na\n", False),
        ("a\nd\n", "a\nb\nd\n", False),
        ("7 matches in 0.1 s\n", "7 matches in 12.3 s\n", True),
        ("7 matches in 0.1 s\n", "8 matches in 0.1 s\n", False),
    ],
)
def test_what_a_page_shows_is_compared_line_by_line(shown, printed, same):
    assert pages.matches(shown, printed) is same
