"""Rule sets in words: every knob that changes a game changes what is said of it."""

import tomllib
from pathlib import Path

import pytest
from conftest import PRESET_TABLES

from kozel_sim.rule_words import rules_in_words
from kozel_sim.rules import RuleSet, knob_choices

ROOT = Path(__file__).resolve().parents[1]
VARIANTS = tomllib.loads((ROOT / "experiments" / "knobs.toml").read_text(encoding="utf-8"))
SUITED = {
    "pair_fish_points": ("pair-traditional", "difference"),
    "fish_scoring": ("household-300", "credit_difference"),
    "lead_blank": ("pair-traditional", False),
    "lead_next": ("pair-traditional", "loser"),
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


def test_blank_that_may_not_lead_is_not_told_as_the_last_of_the_doubles():
    told = rules_in_words(RuleSet.preset("leaflet-200", 2))["Lead"]
    assert told == [
        "The holder of 1-1 leads the first round; if it was not dealt, of 2-2, and so on to 6-6. "
        "That tile must be played.",
        "Where no double but 0-0 was dealt, the holder of the tile with most pips leads.",
        "No round may be led with 0-0, and it gives nobody the lead.",
        "Whoever went out, or was the last to lay a tile before a fish, leads the next round.",
    ]


@pytest.mark.parametrize("preset", ["household-300", "pair-traditional"])
def test_every_way_to_lead_next_is_told_in_its_own_words(preset):
    ways = [RuleSet.preset(preset).replace(lead_next=way) for way in knob_choices("lead_next")]
    told = [tuple(rules_in_words(rules)["Lead"]) for rules in ways]
    assert len(set(told)) == len(told) == 4
    for name in ("winner", "loser"):
        rules = RuleSet.preset(preset).replace(lead_next=name)
        of_pairs = any("pair" in sentence for sentence in rules_in_words(rules)["Lead"])
        assert of_pairs is (rules.teams == "pairs")


def test_presets_that_differ_are_told_apart():
    for players in (2, 3, 4):
        names = [name for name, n in PRESET_TABLES if n == players]
        told = {name: tuple(sentences(RuleSet.preset(name, players))) for name in names}
        same = [(a, b) for i, a in enumerate(names) for b in names[:i] if told[a] == told[b]]
        known = [("sea-goat-125", "sea-goat")]
        assert [pair for pair in same if pair not in known] == []
