"""Rule sets in words: every knob that changes a game changes what is said of it."""

import tomllib
from pathlib import Path

import pytest
from conftest import PRESET_TABLES

from kozel_sim.rule_words import rules_in_words
from kozel_sim.rules import RuleSet

ROOT = Path(__file__).resolve().parents[1]
VARIANTS = tomllib.loads((ROOT / "experiments" / "knobs.toml").read_text(encoding="utf-8"))
SUITED = {
    "pair_fish_points": ("pair-traditional", "all_hands"),
    "dry_rule": ("sea-goat", "net"),
    "teams": ("household-300", "pairs"),
    "settlement": ("room-fish-one", "timeout"),
    "elo_k": ("logic-games-goat", 16),
}
"""Knobs that are turned under a preset where they have something to do."""


def sentences(rules):
    return [sentence for part in rules_in_words(rules).values() for sentence in part]


@pytest.mark.parametrize(("name", "players"), PRESET_TABLES)
def test_every_preset_is_told_in_whole_sentences(name, players):
    told = sentences(RuleSet.preset(name, players))
    assert len(told) == len(set(told)) > 10
    for sentence in told:
        assert sentence[0].isupper() or sentence[0].isdigit()
        assert sentence.endswith(".")
        assert not set("{}_[]") & set(sentence), "words, not names of knobs"
        assert "  " not in sentence


@pytest.mark.parametrize("change", VARIANTS["variants"], ids=str)
def test_a_turned_knob_is_told(change):
    base = RuleSet.preset("room-fish-one", 3)
    assert sentences(base.replace(**change)) != sentences(base)


@pytest.mark.parametrize("knob", SUITED)
def test_a_knob_that_few_presets_have_is_told(knob):
    name, value = SUITED[knob]
    base = RuleSet.preset(name, 2 if knob == "elo_k" else 4)
    assert sentences(base.replace(**{knob: value})) != sentences(base)


def test_what_has_nothing_to_do_is_not_told():
    four, two = (RuleSet.preset("room-fish-all", n) for n in (4, 2))
    assert "bazaar" not in " ".join(sentences(four))
    assert "14 are the bazaar" in " ".join(sentences(two))
    assert "deciding hands" not in " ".join(sentences(two)), "everybody writes his own"
    no_fence = sentences(two.replace(open_at=0))
    assert "remembered" not in " ".join(no_fence)


def test_presets_that_differ_are_told_apart():
    for players in (2, 3, 4):
        names = [name for name, n in PRESET_TABLES if n == players]
        told = {name: tuple(sentences(RuleSet.preset(name, players))) for name in names}
        same = [(a, b) for i, a in enumerate(names) for b in names[:i] if told[a] == told[b]]
        known = [("sea-goat-125", "sea-goat")]
        assert [pair for pair in same if pair not in known] == []
