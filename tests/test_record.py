"""Records of matches: JSON there and back, text for people, and clear refusals."""

import json

import pytest
from conftest import BLOCKER, RANDOM

from kozel_sim.record import Event, Laid, Record
from kozel_sim.reference import play_match
from kozel_sim.rules import RuleSet

ROOM = RuleSet.preset("room-fish-all", 2)


def played(rules: RuleSet, deal: int = 0) -> Record:
    policies = [RANDOM, BLOCKER, RANDOM, RANDOM][: rules.players]
    return play_match(rules, policies, seed=2**64 - 1, deal=deal, seating=1)


RECORD = played(ROOM)


@pytest.mark.parametrize(
    "rules",
    [
        RuleSet.preset("room-fish-one", 4),
        RuleSet.preset("livegames-goat", 3),
        RuleSet.preset("household-300", 2),
        RuleSet.preset("dominoes3d-duel"),
        ROOM.replace(max_rounds=1),
        ROOM.replace(target=51, tile_over="none"),
    ],
    ids=lambda rules: rules.name,
)
def test_record_round_trips_through_json(rules):
    for deal in range(5):
        record = played(rules, deal)
        text = record.to_json()
        again = Record.from_json(text)
        assert again == record
        assert again.to_json() == text
        assert "\n" not in text


def test_record_holds_the_fields_of_its_format():
    data = json.loads(RECORD.to_json())
    assert list(data) == (
        [
            "format",
            "stream",
            "preset",
            "rules",
            "players",
            "seed",
            "deal",
            "seating",
            "policies",
            "rounds",
            "result",
        ]
    )
    assert (data["format"], data["stream"], data["preset"]) == ("kozel-record/1", 1, ROOM.name)
    assert (data["players"], data["seed"], data["seating"]) == (2, 2**64 - 1, 1)
    assert data["policies"] == ["random", "blocker"]
    assert data["rules"] == ROOM.knobs()
    fields = (
        "round redeals hands bazaar leader forced events end by true_fish "
        "hand_points written pot accounts memory opened"
    )
    for r in data["rounds"]:
        assert sorted(r) == sorted(fields.split(" "))
    assert set(data["result"]) == {"goats", "winners", "capped", "rating", "bank"}


@pytest.mark.parametrize(
    ("event", "data"),
    [
        (Event(2, play=(Laid("1-1", 0),)), {"seat": 2, "play": [{"tile": "1-1", "arm": 0}]}),
        (Event(3, draw="3-2"), {"seat": 3, "draw": "3-2"}),
        (Event(0), {"seat": 0, "pass": True}),
        (
            Event(1, play=(Laid("2-2", 0), Laid("5-5", 1, closed=True))),
            {
                "seat": 1,
                "play": [
                    {"tile": "2-2", "arm": 0, "closed": False},
                    {"tile": "5-5", "arm": 1, "closed": True},
                ],
            },
        ),
        (
            Event(1, play=(Laid("2-2", 3, closed=True),)),
            {"seat": 1, "play": [{"tile": "2-2", "arm": 3, "closed": True}]},
        ),
    ],
    ids=["play", "draw", "pass", "two-doubles", "closed"],
)
def test_event_is_written_as_its_act(event, data):
    assert event.to_dict() == data
    assert Event.from_dict(data) == event


# ---------------------------------------------------------------------- text


def test_text_of_one_round_is_a_part_of_the_whole():
    whole = RECORD.to_text().splitlines()
    rounds = []
    for r in RECORD.rounds:
        lines = RECORD.to_text(r.round).splitlines()
        assert lines[:3] == whole[:3]
        assert lines[3].startswith(f"round {r.round}: ")
        rounds += lines[3:]
    assert [*whole[:3], *rounds, whole[-1]] == whole


@pytest.mark.parametrize("number", [-1, len(RECORD.rounds), 0.5, "0"])
def test_text_of_a_round_that_is_none_is_refused(number):
    last = len(RECORD.rounds) - 1
    with pytest.raises(
        ValueError, match=f"deal 0 has no round {number!r}; choose from 0 to {last}"
    ):
        RECORD.to_text(number)


def test_text_mentions_every_event():
    record = next(r for r in map(played, [ROOM] * 99, range(99)) if any_pass(r))
    text = record.to_text()
    lines = text.splitlines()
    assert lines[0] == f"room-fish-all, 2 players, seed {2**64 - 1}, deal {record.deal}, seating 1"
    assert lines[1:3] == ["  seat 0: random", "  seat 1: blocker"]
    for r in record.rounds:
        start = lines.index(
            f"round {r.round}: seat {r.leader} leads"
            + (f" with {r.forced}" if r.forced else "")
            + (f", redealt {r.redeals}x" if r.redeals else "")
        )
        end = next(
            (i for i, x in enumerate(lines) if x.startswith(f"round {r.round + 1}:")), len(lines)
        )
        told = "  ".join(line.strip() for line in lines[start + 1 : end])
        at = 0
        for number, event in enumerate(r.events):
            at = told.index(in_words(event, first=number == 0), at) + 1
        ending = "goes out" if r.end == "out" else "makes a fish"
        assert f"seat {r.by} {ending}" in told[at:]
        assert f"left {r.hand_points[0]} {r.hand_points[1]}, written " in told[at:]
        assert "bazaar " + " ".join(r.bazaar) in told


def any_pass(record: Record) -> bool:
    return any(not e.play and e.draw is None for r in record.rounds for e in r.events)


def in_words(event: Event, *, first: bool) -> str:
    if event.draw:
        return f"{event.seat} draws {event.draw}"
    if not event.play:
        return f"{event.seat} passes"
    (laid,) = event.play
    return f"{event.seat} {laid.tile}" + ("" if first else "<>"[laid.arm])


def test_text_names_the_goat_and_the_rating():
    rating = " ".join(map(str, RECORD.result.rating))
    goat = " ".join(map(str, RECORD.result.goats))
    assert RECORD.to_text().endswith(f"goat: seat {goat}; rating {rating}")


def test_text_of_a_capped_match_says_so():
    assert played(ROOM.replace(max_rounds=1)).to_text().endswith("capped after 1 round")


# ---------------------------------------------------------------------- refusals


def broken(change) -> str:
    """The record as JSON after a change of its data."""
    data = json.loads(RECORD.to_json())
    change(data)
    return json.dumps(data)


def test_unbroken_record_is_read():
    assert Record.from_json(broken(lambda data: None)) == RECORD


@pytest.mark.parametrize("text", ["", "{", "not json", '{"format":'])
def test_text_that_is_not_json_is_refused(text):
    with pytest.raises(ValueError, match=r"^not a record: .*line 1 column"):
        Record.from_json(text)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda d: d.update(format="kozel-record/2"),
            "not a record: format is 'kozel-record/2', expected 'kozel-record/1'",
        ),
        (
            lambda d: d.pop("format"),
            "not a record: format is None, expected 'kozel-record/1'",
        ),
        (
            lambda d: d.update(stream=99),
            "the record is of stream version 99; this version plays 1",
        ),
        (lambda d: d.pop("seed"), "not a record: 'seed' is missing"),
        (lambda d: d.pop("rules"), "not a record: 'rules' is missing"),
        (lambda d: d["rules"].update(fence=13), "unknown knob 'fence'; choose from "),
        (lambda d: d["rules"].update(players=7), "players=7: input should be 2, 3 or 4"),
        (
            lambda d: d["rounds"][0].pop("by"),
            "a round of a record has wrong fields: missing ['by'], unknown []",
        ),
        (
            lambda d: d["rounds"][0].update(note=1),
            "a round of a record has wrong fields: missing [], unknown ['note']",
        ),
        (lambda d: d["result"].pop("goats"), "not a record: "),
        (lambda d: d["result"].update(note=1), "not a record: "),
        (lambda d: d.update(rounds=3), "not a record: "),
        (lambda d: d.update(result=None), "not a record: "),
        (lambda d: d.update(rules=None), "not a record: "),
    ],
)
def test_wrong_record_is_refused_with_its_reason(change, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - compared below
        Record.from_json(broken(change))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["[]", "3", "null", '"kozel-record/1"'])
def test_json_that_is_no_object_is_refused(text):
    with pytest.raises(ValueError, match=r"^not a record: format is '"):
        Record.from_json(text)


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ({"seat": 0}, "an event has a seat and one of play, draw, pass: "),
        ({"seat": 0, "pass": True, "draw": "6-4"}, "an event has a seat and one of play, draw, "),
        ({"pass": True}, "an event has a seat and one of play, draw, pass: "),
        ({"seat": 0, "pass": True, "note": 1}, "an event has a seat and one of play, draw, pass: "),
        ({"seat": 0, "play": [{"arm": 0}]}, "not a record: round 0: event 1: 'tile' is missing"),
        ({"seat": 0, "play": ["6-4"]}, "not a record: "),
        ([1], "not a record: "),
    ],
)
def test_wrong_event_is_refused_with_its_reason(event, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - compared below
        Record.from_json(broken(lambda d: d["rounds"][0]["events"].__setitem__(1, event)))
    assert message in str(error.value)
