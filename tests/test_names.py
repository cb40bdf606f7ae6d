"""Policies and experiments may have names in any script."""

import os
import unicodedata

import pytest
from user_policies import own_registry

from kozel_sim import get_policy, ladder, policy
from kozel_sim.commands import run_command
from kozel_sim.experiment import Experiment, load_experiment
from kozel_sim.names import file_name, is_word, read_name
from kozel_sim.policies import split_specs
from kozel_sim.tournaments import Tournament

GOOD = ["лентяй", "козёл_2", "Ё", "𝒳", "山羊", "ماعز", "बकरी", "🐐", "🧔🏽‍♂️", "🇷🇺", "_", "a1"]
BAD = [
    "",
    "2nd",
    "a b",
    "a,b",
    "a:b",
    "a>b",
    "a=b",
    "a+b",
    "a?b",
    "-a",
    "a\nb",
    "a\u202eb",
    "a\x00",
]
NAME = "козёл_й"
APART = unicodedata.normalize("NFD", NAME)


@pytest.fixture(autouse=True)
def forgetful_registry():
    with own_registry():
        yield


def choose(view):
    return 0


@pytest.mark.parametrize("name", GOOD)
def test_good_names(name):
    assert is_word(name)
    assert ladder(name, "pips").name == get_policy(name).name == name
    assert policy(name=f"{name}_f", шаг=1)(choose).name == f"{name}_f"
    assert get_policy(f"{name}_f:шаг=2").name == f"{name}_f:шаг=2"
    mixed = get_policy(f"mix:0.5*{name}+0.5*random")
    assert get_policy(mixed.name) == mixed
    assert f"0.5*{name}" in mixed.name
    assert split_specs(f"{name},{name}_f:шаг=2,random") == [name, f"{name}_f:шаг=2", "random"]


@pytest.mark.parametrize("name", BAD)
def test_bad_names(name):
    assert not is_word(name)
    with pytest.raises(ValueError, match="cannot name a policy: it must be a plain word"):
        ladder(name, "pips")


def test_accents_that_stand_apart_are_the_same_name():
    assert len(APART) == len(NAME) + 2
    assert ladder(APART, "pips").name == NAME
    assert get_policy(APART) == get_policy(NAME) == get_policy(f"{APART}")
    assert get_policy(f"prefer:{APART}>match").name == f"prefer:{NAME}>match"


VALUES = {"seed": 1, "deals": 4, "rules": ["room-fish-all"], "players": [2]}


@pytest.mark.parametrize("name", [*GOOD[:-2], "2026-опыт.1", "опыт-🐐", APART])
def test_names_of_experiments(name):
    values = {**VALUES, "name": name, "policies": ["random", "dump_heavy"]}
    assert Experiment.read(values, "here").name == unicodedata.normalize("NFC", name)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "-a", "_a", ".a", "a/b", "a\\b", "a b", "a:b", "a\0"]
)
def test_names_that_no_folder_should_get(name):
    values = {**VALUES, "name": name, "policies": ["random", "dump_heavy"]}
    with pytest.raises(ValueError, match=r"here: name = .*begins with none of"):
        Experiment.read(values, "here")


def test_file_of_an_experiment_with_emoji_is_read_back(tmp_path):
    """JSON would write them as two halves, which TOML refuses."""
    field = [ladder("скупой_🐐", "hold_last>pips"), ladder("щедрый", "-pips")]
    planned = Tournament.of(
        Experiment.read({**VALUES, "name": "опыт", "policies": [p.name for p in field]}, "here")
    )
    _, text = run_command(planned.manifest())
    path = tmp_path / "again.toml"
    path.write_text(text, encoding="utf-8")
    assert load_experiment(path).policies == [p.name for p in field]


def test_arguments_of_a_locale_that_knows_ascii_alone(monkeypatch):
    monkeypatch.setattr(os, "fsencode", lambda text: text.encode("ascii", "surrogateescape"))
    monkeypatch.setattr(os, "fsdecode", lambda text: text.decode("ascii", "surrogateescape"))
    given = NAME.encode().decode("ascii", "surrogateescape")
    assert read_name(given) == NAME
    assert file_name(NAME) == given
    assert file_name("plain") == "plain"
    assert read_name("\udcff") == "\udcff"
