"""What a seat may know: the View, field by field."""

import dataclasses

import numpy as np
import pytest
from conftest import RANDOM, alone

from kozel_sim.decision import Function
from kozel_sim.moves import encode_move
from kozel_sim.reference import Round, play_match
from kozel_sim.rng import Luck
from kozel_sim.rules import RuleSet
from kozel_sim.tiles import Hand, tile_id
from kozel_sim.view import KEPT_BYTES, N_PARAMS, VIEW, View

LIVE = RuleSet.preset("livegames-goat", 2)


def round_of(rules, hands, bazaar="") -> Round:
    drawn = [tile_id(name) for name in bazaar.split()]
    return Round(rules, [Hand.of(*hand.split()) for hand in hands], drawn, leader=0)


def code(move: str) -> int:
    tile, arm = move.split("@")
    return encode_move([(tile_id(tile), int(arm), False)])


def lay(round_: Round, *moves: str) -> None:
    for move in moves:
        assert code(move) in round_.moves()
        round_.play(code(move))


def view(round_: Round) -> View:
    return round_.view(round_.moves())


def values(mask: int) -> set[int]:
    return {v for v in range(32) if mask >> v & 1}


# ---------------------------------------------------------------------- the record


def test_compiled_view_has_the_fields_of_the_plain_one():
    fields = {f.name: f.metadata["dtype"] for f in dataclasses.fields(View)}
    assert sorted(VIEW.names) == sorted(fields)
    plain = View()
    for name in fields:
        shape = VIEW[name].shape
        assert np.shape(getattr(plain, name)) == shape
        assert shape in ((), (4,), (N_PARAMS,))


def test_first_in_memory_is_what_is_not_written_anew_for_every_decision():
    anew = {f.name for f in dataclasses.fields(View) if f.metadata["anew"]}
    assert {name for name, (_, place) in VIEW.fields.items() if place >= KEPT_BYTES} == anew
    # Numbers of a record are read out in this order.
    places = [place for _, place in VIEW.fields.values()]
    assert places == sorted(places)


def test_view_tells_no_hand_but_the_seats_own():
    names = [f.name for f in dataclasses.fields(View)]
    assert "hand" in names
    assert not {"hands", "deal", "seed", "order"} & set(names)
    round_ = round_of(LIVE, ["6-5 1-0", "6-1 2-2"], "3-3 4-4")
    lay(round_, "6-5@0")
    before = view(round_)
    round_.hands[0] = Hand.of("3-0")
    round_.bazaar.reverse()
    assert view(round_) == before


# ---------------------------------------------------------------------- the table


def test_view_shows_the_table():
    round_ = round_of(LIVE, ["6-5 1-0 4-0", "6-1 5-2 2-2 5-5"], "3-3 4-4 0-0")
    lay(round_, "6-5@0")
    seen = view(round_)
    assert seen.hand == Hand.of("6-1", "5-2", "2-2", "5-5")
    assert seen.legal == [Hand.of("5-2", "5-5"), Hand.of("6-1"), 0, 0]
    assert (seen.seat, seen.side, seen.partner, seen.players) == (1, 1, -1, 2)
    assert (seen.arms, seen.table) == ([5, 6, -1, -1], Hand.of("6-5"))
    assert (seen.spinner, seen.bazaar, seen.reserve, seen.event) == (0, 3, 0, 1)
    assert seen.counts == [2, 4, 0, 0]
    assert seen.played == [Hand.of("6-5"), 0, 0, 0]


def test_view_of_an_empty_table_puts_everything_on_arm_0():
    seen = view(round_of(LIVE, ["6-5 1-0", "6-1 2-2"]))
    assert seen.legal == [Hand.of("6-5", "1-0"), 0, 0, 0]
    assert (seen.arms, seen.table, seen.event) == ([-1] * 4, 0, 0)


def test_view_of_equal_ends_uses_the_lower_arm():
    round_ = round_of(LIVE, ["6-6 1-0", "6-1 6-2"])
    lay(round_, "6-6@0")
    assert view(round_).legal == [Hand.of("6-1", "6-2"), 0, 0, 0]


def test_view_in_pairs_names_side_and_partner():
    rules = RuleSet.preset("pair-traditional")
    round_ = round_of(rules, ["1-1 6-6", "2-1 3-1", "4-1 2-0", "5-1 3-0"])
    lay(round_, "1-1@0")
    assert (view(round_).seat, view(round_).side, view(round_).partner) == (1, 1, 3)
    lay(round_, "2-1@0")
    assert (view(round_).seat, view(round_).side, view(round_).partner) == (2, 0, 0)


def test_view_notes_a_four_way_double_and_closed_arms():
    rules = RuleSet.preset("livegames-donkey", 2)
    round_ = round_of(rules, ["3-3 1-0", "5-3 6-3", ""])
    lay(round_, "3-3@0", "5-3@0")
    assert (view(round_).spinner, view(round_).arms) == (1, [5, 3, 3, 3])
    round_.arms[2] = None
    assert view(round_).arms == [5, 3, -1, 3]


def test_view_shows_the_reserve():
    rules = RuleSet.preset("dominoes3d-duel")
    seen = view(round_of(rules, ["6-5 1-0", "6-1 2-2"], "3-3 4-4"))
    assert (seen.bazaar, seen.reserve) == (2, 1)


# ---------------------------------------------------------------------- what others showed


def test_view_remembers_the_last_move_and_what_it_left():
    round_ = round_of(LIVE, ["6-5 4-1 1-0", "6-1 2-2 3-0"])
    lay(round_, "6-5@0")
    assert view(round_).last == [code("6-5@0"), 0, 0, 0]
    assert view(round_).shown == [5, -1, -1, -1]
    lay(round_, "6-1@1")
    assert view(round_).last == [code("6-5@0"), code("6-1@1"), 0, 0]
    assert view(round_).shown == [5, 1, -1, -1]
    assert view(round_).played == [Hand.of("6-5"), Hand.of("6-1"), 0, 0]


def test_pass_shows_what_a_seat_lacks():
    round_ = round_of(LIVE, ["6-5 6-1 4-4", "3-3 2-2 1-0"])
    lay(round_, "6-5@0")
    round_.pass_turn()
    assert [values(mask) for mask in view(round_).void] == [set(), {5, 6}, set(), set()]
    lay(round_, "6-1@1")
    lay(round_, "1-0@1")
    seen = view(round_)
    assert [values(mask) for mask in seen.void] == [set(), {5, 6}, set(), set()]
    assert seen.last[1] == code("1-0@1")
    round_.seat = 1
    round_.pass_turn()
    seen = view(round_)
    assert values(seen.void[1]) == {0, 5, 6}
    assert (seen.last[1], seen.shown[1]) == (0, -1)


def test_draw_hides_what_a_seat_lacked_and_left():
    round_ = round_of(LIVE, ["6-5 4-4", "6-1 2-2 3-0"], "3-3 4-2")
    lay(round_, "6-5@0", "6-1@1")
    round_.void[0] = 1 << 3
    round_.tell[0] = 1 << 2
    round_.draw()
    seen = view(round_)
    assert (seen.seat, seen.void[0], seen.tell[0]) == (0, 0, 0)
    assert (seen.last[0], seen.shown[0]) == (0, -1)
    assert (seen.bazaar, seen.counts, seen.event) == (1, [2, 2, 0, 0], 3)
    assert seen.hand == Hand.of("4-4", "3-3")
    assert (seen.last[1], seen.shown[1]) == (code("6-1@1"), 1)


def test_switching_ends_tells_what_was_left_alone():
    """Tip T5: seat 0 left 5 showing and plays elsewhere while it still shows."""
    round_ = round_of(LIVE, ["6-5 4-1 1-0", "6-1 2-2 3-0"])
    lay(round_, "6-5@0", "6-1@1")
    assert view(round_).tell == [0, 0, 0, 0]
    lay(round_, "4-1@1")
    assert [values(mask) for mask in view(round_).tell] == [{5}, set(), set(), set()]


@pytest.mark.parametrize(
    ("hand", "reply", "second"),
    [
        ("6-5 6-3 1-0", "5-2@0", "6-3@1"),
        ("6-5 5-1 2-2", "6-1@1", "5-1@1"),
        ("6-5 5-3 2-2", "6-1@1", "5-3@0"),
    ],
    ids=["the-end-was-covered", "the-tile-carries-the-value", "same-end"],
)
def test_other_plays_tell_nothing(hand, reply, second):
    round_ = round_of(LIVE, [hand, "6-1 5-2 3-3 3-0"])
    lay(round_, "6-5@0", reply, second)
    assert view(round_).tell == [0, 0, 0, 0]


# ---------------------------------------------------------------------- score and chance


@pytest.mark.parametrize("preset", ["room-fish-one", "household-300", "dominoes3d-duel"])
def test_view_shows_score_and_chance_of_the_moment(preset):
    seen = []

    def watch(view):
        seen.append(dataclasses.replace(view, words=list(view.words), params=list(view.params)))
        arm = next(a for a in range(4) if view.legal[a])
        return (view.legal[arm] & -view.legal[arm]).bit_length() << 8 * arm

    rules = RuleSet.preset(preset, 2)
    watcher = alone("watcher", Function(watch, params=(0.5, 7.0), words=True))
    record = play_match(rules, [watcher, RANDOM], seed=2, deal=3)
    luck = Luck(2, 3)
    assert {v.round for v in seen} == set(range(len(record.rounds)))
    for v in seen:
        before = record.rounds[v.round - 1] if v.round else None
        for name in ("accounts", "memory", "opened"):
            old = getattr(before, name) if before else [rules.open_at == 0 and name == "opened"] * 2
            assert getattr(v, name) == [*map(int, old), 0, 0]
        assert v.pot == (before.pot if before else 0)
        assert (v.target, v.open_at) == (rules.target, rules.open_at)
        assert v.credit == (rules.ledger == "credit")
        assert v.word == luck.choice(v.round, v.event)
        assert v.words == list(luck.own(v.round, v.event))
        assert v.params == [0.5, 7.0, 0, 0, 0, 0, 0, 0]
        event = record.rounds[v.round].events[v.event]
        assert (event.seat, len(event.play)) == (0, 1)
        if v.table:
            # It is asked only when there is a choice.
            assert sum(mask.bit_count() for mask in v.legal) > 1
