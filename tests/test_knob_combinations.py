"""Random combinations of knobs: what is accepted plays, what is refused says why."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kozel_sim import check_record, get_policy, reference
from kozel_sim.engine import play as compiled
from kozel_sim.presets import PRESETS
from kozel_sim.record import Record
from kozel_sim.rules import RuleSet, knob_choices

CHOICES = {
    knob: knob_choices(knob)
    for knob in RuleSet.model_fields
    if knob not in ("base", "pass_", "settlement", "players") and knob_choices(knob)
}
FLAGS = [k for k, f in RuleSet.model_fields.items() if f.annotation is bool]
TILE_VALUES = [
    "none",
    "0-0:10 alone",
    "0-0:25 6-6:50",
    "0-0:25 6-6:50 alone",
    "3-2:17",
    "6-5:0 alone",
]
POLICIES = [
    "random",
    "weights:pips=1,double=3,range=2,block=0.5,lock=1.5",
    "block_ends",
    "keep_range",
]

VALUES: dict[str, st.SearchStrategy[object]] = {
    **{knob: st.sampled_from(choices) for knob, choices in CHOICES.items()},
    **{knob: st.booleans() for knob in FLAGS},
    "tile_over": st.sampled_from(TILE_VALUES),
    "open_at": st.sampled_from([0, 1, 13, 25, 60]),
    "target": st.sampled_from([20, 51, 101]),
}


@st.composite
def knob_sets(draw: st.DrawFn) -> dict[str, object]:
    """Draw a preset's knobs with up to six of them changed."""
    name = draw(st.sampled_from(list(PRESETS)))
    knobs = RuleSet.preset(name, draw(st.sampled_from(PRESETS[name].players))).knobs()
    changed = draw(st.sets(st.sampled_from(list(VALUES)), max_size=6))
    return {**knobs, **{knob: draw(VALUES[knob]) for knob in sorted(changed)}}


def build(knobs: dict[str, object]) -> RuleSet | None:
    """Build the rule set, or check that the refusal gives a reason."""
    try:
        return RuleSet.from_knobs({**knobs, "max_rounds": 8})
    except ValueError as error:
        reason = str(error)
    assert len(reason) > 20
    assert "\n" not in reason
    assert any(knob in reason for knob in knobs)
    return None


def check_tiles(record: Record) -> None:
    """Check that every round has the 28 tiles once, and that each is laid from where it was."""
    for r in record.rounds:
        dealt = [tile for hand in r.hands for tile in hand] + list(r.bazaar)
        assert Counter(dealt) == Counter(set(dealt))
        assert len(dealt) == 28
        hands = [set(hand) for hand in r.hands]
        bazaar = list(r.bazaar)
        for event in r.events:
            if event.draw:
                assert event.draw == bazaar.pop(0)
                hands[event.seat].add(event.draw)
            for laid in event.play:
                hands[event.seat].remove(laid.tile)
        if not record.rules.lead_blank:
            assert r.events[0].play[0].tile != "0-0"


@settings(max_examples=250, deadline=None, derandomize=True, database=None)
@given(knobs=knob_sets(), deal=st.integers(0, 2**40), seed=st.integers(0, 2**64 - 1))
def test_combination_of_knobs_plays_alike_or_is_refused(
    knobs: dict[str, object], deal: int, seed: int
) -> None:
    rules = build(knobs)
    if rules is None:
        return
    policies = [get_policy(POLICIES[seat]) for seat in range(rules.players)]
    wanted = reference.play_match(rules, policies, seed, deal)
    assert compiled.play_match(rules, policies, seed, deal) == wanted
    check_tiles(wanted)
    check_record(wanted)
    assert Record.from_json(wanted.to_json()).rounds == wanted.rounds


@pytest.mark.slow
@settings(max_examples=20000, deadline=None, derandomize=True, database=None)
@given(knobs=knob_sets(), deal=st.integers(0, 2**40), seed=st.integers(0, 2**64 - 1))
def test_many_combinations_of_knobs_play_alike_or_are_refused(
    knobs: dict[str, object], deal: int, seed: int
) -> None:
    test_combination_of_knobs_plays_alike_or_is_refused.hypothesis.inner_test(knobs, deal, seed)


def test_most_knob_values_are_met_in_accepted_rule_sets() -> None:
    # Guards the test above: if nearly everything were refused, it would test nothing.
    met: Counter[tuple[str, object]] = Counter()

    @settings(max_examples=2000, deadline=None, derandomize=True, database=None)
    @given(knobs=knob_sets())
    def count(knobs: dict[str, object]) -> None:
        rules = build(knobs)
        if rules is not None:
            met.update({(k, v) for k, v in rules.model_dump().items() if k in CHOICES})

    count()
    for knob, choices in CHOICES.items():
        for choice in choices:
            assert met[knob, choice] > 0, f"{knob}={choice} was never accepted"
