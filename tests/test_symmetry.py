"""The credit ledger of the traditional pair game mirrors a penalty ledger."""

from __future__ import annotations

import pytest

from kozel_sim import PRESETS, RuleSet, play, simulate


def test_credit_ledger_mirrors_penalty_ledger() -> None:
    credit = RuleSet.preset("pair-traditional")
    penalty = credit.replace(ledger="penalty", reach_effect="loses")
    policies = ["random", "dump_heavy", "block_ends", "dump_doubles"]
    for deal in range(40):
        mine = play(credit, policies, seed=4, deal=deal)
        mirrored = play(penalty, policies, seed=4, deal=deal)
        assert len(mine.rounds) == len(mirrored.rounds)
        for a, b in zip(mine.rounds, mirrored.rounds, strict=True):
            assert a.events == b.events
            assert a.accounts == b.accounts[::-1]
            assert a.memory == b.memory[::-1]
            assert a.opened == b.opened[::-1]
            assert a.pot == b.pot
        assert mine.result.goats == mirrored.result.goats
        assert mine.result.winners == mirrored.result.winners


def test_match_that_cannot_end_is_capped_counted_and_shown() -> None:
    # With a memory that never opens an account nobody ever reaches the target.
    rules = RuleSet.preset("room-fish-all", players=2).replace(
        open_at=100, memory_reset="never", max_rounds=50
    )
    run = simulate(rules, ["random", "random"], 20, seed=1)
    assert run.frame["capped"].all()
    assert not run.frame["goat"].any()
    assert not run.frame["winner"].any()
    assert run.frame["rating"].isna().all()
    assert (run.frame["rounds"] == 50).all()
    presets = run.presets().set_index("metric")
    assert presets.loc["capped_rate", "estimate"] == 1.0
    assert presets.loc["capped_rate", "ci_low"] < 1.0


def test_every_preset_ends_or_is_capped() -> None:
    for name, preset in PRESETS.items():
        for players in preset.players:
            rules = RuleSet.preset(name, players).replace(max_rounds=300)
            run = simulate(rules, ["random"] * players, 5, seed=2)
            per_match = run.frame.groupby("deal")
            assert (per_match["goat"].any() != per_match["capped"].all()).all()
            assert (run.frame.loc[run.frame["capped"], "rounds"] == 300).all()


@pytest.mark.parametrize(
    ("preset", "players", "knobs"),
    [
        ("pair-traditional", 4, {"fish_tie": "void"}),
        ("room-fish-one", 3, {"lead_repeat": "after_every_unrecorded_round", "fish_tie": "void"}),
        ("room-fish-all", 2, {"bazaar_reserve": 2}),
        ("dominoes3d-duel", 2, {"fish_def": "six_closed", "bazaar_reserve": 2}),
        ("dominoes3d-duel", 2, {"dead_value_stop": False}),
    ],
)
def test_tied_and_untrue_fish_are_alike_in_both_engines(preset, players, knobs) -> None:
    rules = RuleSet.preset(preset, players).replace(**knobs)
    for deal in range(40):
        records = [
            play(rules, ["block_ends"] * players, seed=1, deal=deal, engine=engine)
            for engine in ("scalar", "reference")
        ]
        assert records[0] == records[1]


def test_six_closed_fish_is_true_though_its_double_is_in_the_bazaar() -> None:
    record = play("room-fish-all", ["block_ends", "block_ends"], seed=1, deal=0)
    first = record.rounds[0]
    assert first.end == "fish"
    drawn = {event.draw for event in first.events if event.draw}
    assert "3-3" in set(first.bazaar) - drawn
    assert first.true_fish
