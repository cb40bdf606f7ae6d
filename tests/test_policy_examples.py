"""The example files, one per level, do what they say; and policies written in a notebook play."""

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from user_policies import own_registry

from kozel_sim import kit, load_code, play
from kozel_sim.checking import CHECKS, check_policy
from kozel_sim.experiment import load_experiment
from kozel_sim.tournaments import Tournament
from kozel_sim.view import View

FOLDER = Path(__file__).resolve().parents[1] / "experiments" / "policies"
FILES = sorted(FOLDER.iterdir())


@pytest.fixture(autouse=True)
def forgetful_registry():
    with own_registry():
        yield


def test_there_is_an_example_of_each_level():
    assert [path.name[:6] for path in FILES] == ["level1", "level2", "level3"]


@pytest.mark.parametrize("path", [p for p in FILES if p.suffix == ".py"], ids=lambda p: p.name)
def test_example_passes_its_check(path):
    reports = check_policy(path, positions=3)
    assert [(report.policy, report.ok) for report in reports] == [(reports[0].policy, True)]
    # The examples are meant to be copied, so they had better be worth it.
    against_random = reports[0].duels[0]
    assert against_random.goat_rate.ci_high < against_random.rival_goat_rate.ci_low


@pytest.mark.parametrize("path", [p for p in FILES if p.suffix == ".toml"], ids=lambda p: p.name)
def test_experiment_of_the_examples_runs(path):
    run = Tournament.of(load_experiment(path).change(deals=60)).play()
    rates = run.summary().query("metric == 'goat_rate'")
    assert list(rates["policy"])[-1] == "random"


def test_plain_example_talks_when_it_is_run():
    done = subprocess.run(
        [sys.executable, FOLDER / "level3_python.py"], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert "seat 0, ends [" in done.stdout
    assert "goat" in done.stdout


# ---------------------------------------------------------------------- the page


def test_page_names_every_field_and_word():
    page = (FOLDER.parents[1] / "docs" / "policies.md").read_text(encoding="utf-8")
    view, kit_part = page.split("## The View")[1].split("## The kit")
    named = set(re.findall(r"`(\w+)`", view.split("## Moves")[0]))
    assert named >= {field.name for field in fields(View)}
    assert set(re.findall(r"`(\w+)[(`]", kit_part)) >= set(kit.__all__)
    assert all(f"**{check}**" in page for check in CHECKS)


def test_function_of_the_page_plays(tmp_path):
    page = (FOLDER.parents[1] / "docs" / "policies.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "page.py").write_text(source, encoding="utf-8")
    assert load_code(tmp_path / "page.py") == ["careful"]
    for deal in range(3):
        fast = play("sea-goat", ["careful:alpha=0.5"] * 4, 1, deal)
        assert fast == play("sea-goat", ["careful:alpha=0.5"] * 4, 1, deal, engine="reference")


# ---------------------------------------------------------------------- notebooks

CELLS = [
    "from kozel_sim import policy, simulate, play, list_policies\n"
    "from kozel_sim.kit import best_move, nth_move, pips_of\n"
    "def score(view, move):\n    return pips_of(move)\n\n"
    "@policy\ndef mine(view):\n    return best_move(view, score)",
    "def goats(n):\n    field = ['mine', 'random', 'mine']\n"
    "    run = simulate('room-fish-all', field, 300, 1, workers=n, chunk=50)\n"
    "    return run.frame['goat'].tolist()\n"
    "first = goats(1)\n"
    "print(first == goats(2) == goats(4))",
    "slow = play('room-fish-all', ['mine', 'random'], 1, 0, engine='reference')\n"
    "print(slow == play('room-fish-all', ['mine', 'random'], 1, 0))",
    "def score(view, move):\n    return -pips_of(move)",
    "@policy\ndef mine(view):\n    return best_move(view, score)",
    "print(goats(1) != first, goats(2) == goats(1), list_policies().count('mine'))",
    "from kozel_sim import check_policy\n"
    "(report,) = check_policy(mine, positions=1)\n"
    "print(report.policy, report.ok)",
]


def test_policy_written_in_a_cell_plays_and_may_be_written_again(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    outputs = [output for cell in notebook.cells for output in cell.outputs]
    assert [output.output_type for output in outputs] == ["stream"] * 4
    assert [output.text.split() for output in outputs] == [
        ["True"],
        ["True"],
        ["True", "True", "1"],
        ["mine", "True"],
    ]
