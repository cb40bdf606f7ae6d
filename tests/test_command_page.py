"""docs/command-line.md: every command as it is now, and as ``--help`` tells it."""

import re

import pages
import pytest
from command_line import runner
from command_page import COMMANDS, PAGE, page_of, parameters, spelled
from typer.models import ArgumentInfo

from kozel_sim._native import CACHE_VARIABLE
from kozel_sim.experiment import Experiment
from kozel_sim.policies import FIELD
from kozel_sim.sequential import MOST_DEALS

TEXT = PAGE.read_text(encoding="utf-8")


@pytest.fixture
def kozel(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return runner(monkeypatch, capsys)


def words(text):
    """A text without frames and line breaks."""
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", text).split())


def test_page_is_what_the_commands_make_it():
    """If not: ``make docs``, and put a new command where it belongs."""
    assert page_of(TEXT) == TEXT


def test_contents_name_every_command_once():
    contents = TEXT.partition("## ")[0]
    assert sorted(re.findall(r"\]\(#kozel-([\w-]+)\)", contents)) == sorted(COMMANDS)
    assert sorted(re.findall(r"^## kozel ([\w-]+)$", TEXT, re.MULTILINE)) == sorted(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_what_the_page_says(command, kozel):
    code, out, _ = kozel(command, "--help")
    assert code == 0
    options = {"--help", "-h"}
    for _, info, _, _ in parameters(command):
        # A table of two columns breaks lines within a text, so its words are looked for in order.
        told = r"\b.*?\b".join(map(re.escape, re.findall(r"\w+", info.help)))
        assert re.search(told, words(out)), info.help
        options |= set() if isinstance(info, ArgumentInfo) else set(spelled(info))
    table = re.findall(r"^│ +(?:\*\s+)?(--[\w-]+)(?:\s+(-\w)\b)?", out, re.MULTILINE)
    assert {word for pair in table for word in pair if word} == options


def test_every_option_named_in_prose_is_one():
    known = {
        word for name in COMMANDS for _, info, *_ in parameters(name) for word in spelled(info)
    }
    known |= {"--help", "--install-completion", "--show-completion"}
    assert set(re.findall(r"`(--[\w-]+)`", TEXT)) <= known
    assert f"`{CACHE_VARIABLE}`" in TEXT


def test_defaults_in_prose_are_those_of_the_code():
    section = " ".join(TEXT.partition("## kozel tournament")[2].partition("\n## ")[0].split())
    *most, last = [f"`{name}`" for name in FIELD]
    assert f"the policies are {', '.join(most)} and {last}" in section
    assert f"up to {MOST_DEALS:,} with" in section


def test_keys_of_an_experiment_are_all_there():
    section = TEXT.partition("## kozel run")[2].partition("\n## ")[0].partition("Its keys:")[2]
    rows = re.findall(r"^\| (.*?) \|", section, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) == set(Experiment.model_fields)


def test_links_lead_somewhere():
    assert pages.broken_links("docs/command-line.md") == []
