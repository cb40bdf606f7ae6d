"""Moments of a recorded round agree with the engine and with the policies' own decisions."""

from dataclasses import replace

import pytest
from conftest import PRESET_TABLES
from user_policies import own_registry

from kozel_sim import get_policy, play, policy
from kozel_sim.decision import Ladder
from kozel_sim.moments import (
    account_words,
    event_words,
    moments,
    move_words,
    outcome_words,
    pot_paid,
    state_before,
    table_at,
    walk,
)
from kozel_sim.moves import encode_move
from kozel_sim.record import Event, Laid
from kozel_sim.reference import play_rounds
from kozel_sim.replay import replay_html
from kozel_sim.rng import Luck
from kozel_sim.svg import board_svg
from kozel_sim.tiles import Hand, tile_id

LADDERS = ["seven_tips", "keep_range", "mix:0.5*dump_heavy+0.5*block_ends", "random"]


def match(preset, players, policies=LADDERS, deal=0):
    return play(preset, policies[:players], seed=3, deal=deal, engine="reference")


def engine_decisions(record):
    """By (round, event): seat, legal moves and View of every choice, as the engine asks for it."""
    found = {}

    def choose(number, state, round_, moves):
        event = len(round_.events)
        found[number, event] = (round_.seat, tuple(moves), replace(state))
        laid = record.rounds[number].events[event].play
        return encode_move([(tile_id(p.tile), p.arm, p.closed) for p in laid])

    play_rounds(record.rules, Luck(record.seed, record.deal), choose)
    return found


@pytest.mark.parametrize(
    ("preset", "players"),
    [
        table
        for table in PRESET_TABLES
        if table[0] in ("room-fish-all", "livegames-donkey", "sea-goat-125", "dominoes3d-duel")
    ],
)
def test_moments_are_the_engines_decisions(preset, players):
    record = match(preset, players)
    decisions = engine_decisions(record)
    seen = set()
    for told in record.rounds:
        found = moments(record, told.round)
        assert len(found) == len(told.events) + 1
        for moment, event in zip(found, told.events, strict=False):
            place = told.round, moment.event
            assert moment.seat == event.seat
            assert bool(moment.moves) == bool(event.play)
            if not event.play:
                continue
            assert moment.chosen in moment.moves
            assert (place in decisions) == (len(moment.moves) > 1)
            if place in decisions:
                seat, moves, state = decisions[place]
                assert (moment.seat, moment.moves) == (seat, moves)
                before = state_before(record, told.round)
                for name in ("accounts", "memory", "opened", "pot"):
                    assert getattr(before, name) == getattr(state, name)
                seen.add(place)
        assert found[-1].seat is None
        assert found[-1].moves == ()
    assert seen == set(decisions)


@pytest.mark.parametrize("preset", ["room-fish-all", "pair-traditional", "livegames-donkey"])
def test_the_chosen_move_is_among_those_the_stages_kept(preset):
    record = match(preset, 4)
    weighed = 0
    for told in record.rounds:
        for moment in moments(record, told.round):
            for earlier, later in zip(moment.weighings, moment.weighings[1:], strict=False):
                dropped = [score is None for score in later.scores]
                assert dropped == [not kept for kept in earlier.kept]
            for w in moment.weighings:
                best = max(s for s in w.scores if s is not None)
                assert w.kept == tuple(s == best for s in w.scores)
                assert w.kept[moment.moves.index(moment.chosen)]
                weighed += 1
    assert weighed > 30


def test_the_last_stage_keeps_what_narrow_keeps():
    record = match("room-fish-all", 4, ["seven_tips"] * 4)
    (_, ladder), *_ = get_policy("seven_tips").parts
    assert isinstance(ladder, Ladder)
    compared = 0
    for told in record.rounds:
        found = moments(record, told.round)
        for round_, moment in zip(walk(record, told.round), found, strict=True):
            if moment.weighings:
                view = round_.view(moment.moves)
                state = state_before(record, told.round)
                view.accounts, view.opened = state.accounts, [int(o) for o in state.opened]
                view.target, view.round = record.rules.target, told.round
                kept = moment.weighings[-1].kept
                left = [m for m, k in zip(moment.moves, kept, strict=True) if k]
                assert left == ladder.narrow(view, moment.moves)
                compared += 1
    assert compared > 30


def test_a_functions_and_an_unknown_policys_choices_have_no_scores():
    with own_registry():

        @policy
        def mine(view):
            for arm in range(4):
                for tile in range(28):
                    if view.legal[arm] >> tile & 1:
                        return (tile + 1) << 8 * arm
            return 0

        record = match("room-fish-all", 2, ["mine", "dump_heavy"])
        known = [m for m in moments(record, 0) if m.part]
    unknown = [m for m in moments(record, 0) if m.part]
    for parts, name in ((known, "function"), (unknown, "unknown")):
        assert {m.part for m in parts if m.seat == 0} == {name}
        assert {m.part for m in parts if m.seat == 1} == {"ladder"}
        assert all(not m.weighings for m in parts if m.seat == 0)


def test_a_forced_lead_is_the_only_move():
    record = match("room-fish-all", 4)
    first = moments(record, 0)[0]
    assert record.rounds[0].forced is not None
    assert len(first.moves) == 1
    assert first.moves == (first.chosen,)


def test_table_at_is_the_table_after_an_event():
    record = match("room-fish-all", 2)
    told = record.rounds[0]
    deal = table_at(record, 0, -1)
    assert [Hand(hand).names for hand in deal.hands] == [list(hand) for hand in told.hands]
    assert deal.events == []
    last = table_at(record, 0)
    assert last.events == list(told.events)
    assert last.end == told.end
    for event in (len(told.events), -2, True, "1", 1.0):
        with pytest.raises(ValueError, match=r"round 0 has no event .*; choose from -1"):
            table_at(record, 0, event)
    for number in (len(record.rounds), -1, False, None):
        with pytest.raises(ValueError, match=r"deal 0 has no round .*; choose from 0 to"):
            table_at(record, number)


def test_words():
    two = Event(1, (Laid("3-3", 0), Laid("5-5", 1, True)))
    assert event_words(two) == "lays 3-3 left, 5-5 right closed"
    assert event_words(Event(0, (Laid("6-4", 0),)), first=True) == "leads 6-4"
    assert event_words(Event(0)) == "passes"
    assert move_words(encode_move([(26, 3, False)])) == "6-4 down"


def test_outcome_and_accounts_are_those_of_the_record():
    record = match("pair-traditional", 4)
    assert "Credited: pair" in outcome_words(record, len(record.rounds) - 1)
    assert "The match is over. Goat: pair" in outcome_words(record, len(record.rounds) - 1)
    assert "The match" not in outcome_words(record, 0)
    assert account_words(record, 0, 0, after=False) == "not open"
    last = record.rounds[-1]
    winner = record.result.winners[0]
    assert account_words(record, last.round, winner, after=True).split(",")[0] == str(
        last.accounts[winner]
    )
    for number in range(1, len(record.rounds)):
        for seat in range(4):
            before = account_words(record, number, seat, after=False)
            assert before == account_words(record, number - 1, seat, after=True)


@pytest.mark.parametrize(
    ("preset", "players", "deal", "number", "told"),
    [
        ("room-fish-one", 4, 97, 2, "seat 0: 137 (122 of it had waited in the pot), seat 1: 10"),
        ("logic-games-donkey", 3, 36, 4, "seat 1: 120 (108 of it had waited in the pot), seat 2"),
        ("pair-traditional", 4, 32, 3, "pair 0: 114 (98 of it had waited in the pot)."),
    ],
)
def test_a_pot_that_is_paid_is_told_wherever_the_round_is_shown(
    preset, players, deal, number, told
):
    record = play(preset, ["random"] * players, 1, deal, engine="reference")
    before, paid = record.rounds[number - 1].pot, record.rounds[number]
    assert told in outcome_words(record, number)
    assert pot_paid(record, number) == (before, int(told[5]))
    # What is left in the hands explains the rest.
    (side,) = (s for s, x in enumerate(paid.written) if x == max(paid.written))
    assert paid.written[side] - before <= sum(paid.hand_points)
    assert f" ({before} had waited in the pot)" in record.to_text(number)
    waits = f"{before} points wait in the pot"
    assert f"{waits}." in outcome_words(record, number - 1)
    assert waits in board_svg(record, number, 0)
    html = replay_html(record, number)
    assert f'"pot":["{waits}",""]' in html
    assert html.count("class='kz-pot'") == 1


def test_of_a_pot_that_stays_nothing_is_paid():
    record = play("room-fish-one", ["random"] * 4, 1, 97, engine="reference")
    for told in record.rounds[:2]:
        assert pot_paid(record, told.round) == (0, -1)
        assert "had waited" not in record.to_text(told.round) + outcome_words(record, told.round)
    usual = match("room-fish-all", 2)
    assert "pot" not in outcome_words(usual, 0) + usual.to_text()
    assert "kz-pot'" not in replay_html(usual)
