"""Every preset with every number of players: both engines, equal records, by a budget of rounds."""

from __future__ import annotations

import pytest

from kozel_sim import PRESETS, RuleSet, check_record, play

TABLES = [(name, players) for name, preset in PRESETS.items() for players in preset.players]
FIELDS = [
    ["random"] * 4,
    ["weights:pips=1,double=3,range=2,block=0.5,lock=1.5", "random", "block_ends", "dump_heavy"],
    ["keep_range", "dump_doubles", "mix:0.5*random+0.5*dump_heavy", "weights:longest=-1,match=2"],
]


def compare(rules: RuleSet, budget: int) -> None:
    """Compare whole matches until the budget of rounds is spent."""
    deal = 0
    while budget > 0:
        field = FIELDS[deal % len(FIELDS)][: rules.players]
        record = play(rules, field, seed=77, deal=deal)
        assert record == play(rules, field, seed=77, deal=deal, engine="reference")
        check_record(record)
        budget -= len(record.rounds)
        deal += 1


def with_ends_in_reach(name: str, players: int) -> RuleSet:
    """Return a preset; a sea goat with a low target and cap, so that whole matches are compared."""
    rules = RuleSet.preset(name, players)
    return rules.replace(target=40, max_rounds=400) if rules.dry_rule != "none" else rules


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_preset_plays_alike_in_both_engines(name, players):
    compare(with_ends_in_reach(name, players), budget=60)
    compare(RuleSet.preset(name, players).replace(max_rounds=25), budget=60)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "players"), TABLES)
def test_preset_plays_alike_in_both_engines_at_length(name, players):
    compare(with_ends_in_reach(name, players), budget=2000)
    compare(RuleSet.preset(name, players).replace(max_rounds=100), budget=1000)
