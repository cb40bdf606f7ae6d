"""Nothing wrong from outside is taken: each value of each reader is replaced by others in turn.

What comes of it is one of three: one line that names what is wrong, from the reader or from
``check_record``; or a match that the rules do allow, told as it was written; or, where a value is
only a way of writing the right one, the same answer.
"""

import copy
import dataclasses
import json
import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from conftest import BLOCKER, RANDOM
from hypothesis import given, settings
from hypothesis import strategies as st

from kozel_sim import (
    Record,
    RuleSet,
    Worlds,
    bank_shares,
    check_record,
    elo_change,
    first_leader,
    hand_points,
    legal_moves,
    needs_redeal,
    rating100,
    settle,
    show,
    timeout_rating,
)
from kozel_sim.experiment import Experiment
from kozel_sim.moments import walk
from kozel_sim.outside import need_bool, need_finite, need_hand, need_hands, need_list, need_whole
from kozel_sim.positions import random_positions
from kozel_sim.record import Event, Laid
from kozel_sim.reference import play_match
from kozel_sim.rules import LATER_KNOBS, knob_names
from kozel_sim.tiles import ALL, HIGH, LOW, NAMES, Hand, other_half, tile_id, tile_name
from kozel_sim.view import View, need_view

JUNK: list[Any] = [
    *(None, True, False, -1, 0, 1, 3, 7, 10**30, 0.5, 1.0, math.nan, math.inf),
    *("", "x", "1", "6-4", "7-7", "out", [], ["6-4"], [[]], [None], [0, 0], [0] * 7, {}, {"a": 1}),
]
"""Values of every type, right nearly nowhere."""


def one_line(error: BaseException, *names: str) -> str:
    """The message of a refusal: one line, not long, that has one of some names."""
    text = str(error)
    assert "\n" not in text
    assert len(text) < 1500
    assert not names or any(name in text for name in names), (names, text)
    return text


# ---------------------------------------------------------------------- records

BOTH = [RANDOM, BLOCKER, RANDOM, RANDOM]


def played(preset: str, players: int, **knobs: Any) -> Record:
    rules = RuleSet.preset(preset, players).replace(**knobs)
    return play_match(rules, BOTH[:players], seed=2**64 - 1, deal=5, seating=1)


RECORDS = {
    "two": played("room-fish-all", 2, target=25),
    "bank": played("livegames-goat-plain", 3, target=25),
    "pairs": played("pair-traditional", 4, target=20, lead_next="winner"),
    "donkey": played("livegames-donkey", 3, target=30, lead_order="ones_first", lead_blank=False),
    "capped": played("sea-goat", 4, max_rounds=2),
}
LABELS = {"preset", "policies", "seating"}
"""What the rules cannot know: what the rule set is called, and who made the moves."""


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in plain values; of a list the first entries and the last."""
    if path:
        yield path
    if isinstance(data, dict):
        for key, value in data.items():
            yield from places(value, (*path, key))
    elif isinstance(data, list):
        for i in sorted({0, 1, len(data) - 1} & set(range(len(data)))):
            yield from places(data[i], (*path, i))


def put(data: Any, path: tuple[Any, ...], *value: Any) -> Any:
    """A copy with one place replaced, or without it."""
    found = copy.deepcopy(data)
    inner = found
    for step in path[:-1]:
        inner = inner[step]
    if value:
        inner[path[-1]] = copy.deepcopy(value[0])
    else:
        del inner[path[-1]]
    return found


def same(a: Any, b: Any) -> bool:
    """Whether plain values are equal to the letter: True is not 1, and 1 is not 1.0."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def written_out(data: dict[str, Any]) -> dict[str, Any]:
    """A record with what may be left out (a tile is not closed), and shares as floats."""
    found = copy.deepcopy(data)
    for r in found["rounds"]:
        for event in r["events"]:
            for laid in event.get("play", []):
                laid.setdefault("closed", False)
    if found["result"]["bank"] is not None:
        found["result"]["bank"] = [float(share) for share in found["result"]["bank"]]
    return found


def names_of(path: tuple[Any, ...]) -> list[str]:
    """The words by which a message may name a place of a record."""
    keys = [step for step in path if isinstance(step, str)]
    if keys[0] == "rules":
        return [*keys, *knob_names()]
    return [
        *keys,
        *(name for name in ("round ", "event", "result") if name.strip()[:5] in str(keys)),
    ]


def tried(data: dict[str, Any], path: tuple[Any, ...], changed: Any) -> str:
    """Read and check a changed record; say who refused it, or 'taken'."""
    try:
        record = Record.from_json(json.dumps(changed))
    except ValueError as error:
        one_line(error, *names_of(path))
        return "reader"
    kept = record.to_dict()
    for knob in LATER_KNOBS:
        changed["rules"].setdefault(knob, kept["rules"][knob])
    if not same(written_out(kept), written_out(changed)):
        raise AssertionError(f"{path}: read as another record than was written")
    for number in range(len(record.rounds)):
        try:
            list(walk(record, number))
        except ValueError as error:
            one_line(error, f"round {number}, event")
    record.to_text()
    try:
        check_record(record)
    except ValueError as error:
        one_line(error, *names_of(path), "round", "event", "result", "match")
        return "check_record"
    return "taken"


def others(
    data: Any, path: tuple[Any, ...], rnd: random.Random, n: int
) -> Iterator[tuple[Any, ...]]:
    """Some values that a place does not have, and none."""
    old = data
    for step in path:
        old = old[step]
    more: list[Any] = [old + 1, old - 1] if isinstance(old, int) else []
    if isinstance(old, str):
        more = [old + "x", old[::-1]]
    if isinstance(old, list):
        more = [old[:-1], [*old, *old[-1:]], old[::-1], {"0": old}]
    if isinstance(old, bool):
        more = [not old, int(old)]
    chosen = [*more, *rnd.sample(JUNK, n)]
    # A share of 1 may be written so, or as 1.0.
    share = isinstance(old, float)
    fine = [value for value in chosen if share and type(value) is int and value == old]
    return ((value,) for value in chosen if not same(value, old) and value not in fine)


def may_be(data: dict[str, Any], path: tuple[Any, ...]) -> bool:
    """Whether another value of a place can make another match that the rules allow."""
    if path[0] in LABELS or path[0] == "rules" or path[-1] == "closed":
        return True
    # The last tile of a round may fit both ends, and nothing comes of it.
    return path[-1] == "arm" and path[3] == len(data["rounds"][path[1]]["events"]) - 1


@pytest.mark.parametrize("name", RECORDS)
def test_each_value_of_a_record_is_checked(name: str) -> None:
    data = json.loads(RECORDS[name].to_json())
    assert tried(data, ("format",), copy.deepcopy(data)) == "taken"
    rnd = random.Random(name)
    refused = {"reader": 0, "check_record": 0}
    found = list(places(data))
    for path in found:
        several = [(), *others(data, path, rnd, 1)]
        for value in several:
            verdict = tried(data, path, put(data, path, *value))
            if verdict == "taken":
                assert may_be(data, path), (path, value)
            else:
                refused[verdict] += 1
    assert refused["reader"] > 300
    assert refused["check_record"] > 20


@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDS)
def test_each_value_of_a_record_is_checked_with_all_junk(name: str) -> None:
    data = json.loads(RECORDS[name].to_json())
    for path in places(data):
        for value in others(data, path, random.Random(1), len(JUNK)):
            if tried(data, path, put(data, path, *value)) == "taken":
                assert may_be(data, path), (path, value)


@pytest.mark.parametrize("name", ["two", "pairs"])
def test_players_and_seating_are_checked(name: str) -> None:
    data = json.loads(RECORDS[name].to_json())
    n = data["players"]
    for players in {2, 3, 4, 5, str(n), float(n), None} - {n}:
        with pytest.raises(ValueError, match=f"players must be a whole number from {n} to {n}"):
            Record.from_json(json.dumps({**data, "players": players}))
    for seating in (-1, math.factorial(n), "0", 0.0, None, True):
        with pytest.raises(ValueError, match="seating must be a whole number from 0 to "):
            Record.from_json(json.dumps({**data, "seating": seating}))
        with pytest.raises(ValueError, match="seating must be a whole number from 0 to "):
            check_record(dataclasses.replace(RECORDS[name], seating=seating))
    for seating in range(math.factorial(n)):
        check_record(dataclasses.replace(RECORDS[name], seating=seating))


@pytest.mark.parametrize("name", ["two", "donkey"])
def test_each_field_of_a_record_in_python_is_checked(name: str) -> None:
    record = RECORDS[name]
    first = record.rounds[0]
    kinds: list[tuple[Any, Any]] = [
        (record, lambda it: it),
        (record.result, lambda it: dataclasses.replace(record, result=it)),
        (first, lambda it: dataclasses.replace(record, rounds=(it, *record.rounds[1:]))),
    ]
    event = first.events[0]
    for part, wrap in kinds:
        for field in dataclasses.fields(part):
            for value in [*JUNK, first, event]:
                if value == getattr(part, field.name) and type(value) is not bool:
                    continue
                if isinstance(value, bool) and value is getattr(part, field.name):
                    continue
                if value == [] and getattr(part, field.name) == () and part is not record:
                    continue
                if field.name == "seating" and value in (0, 1, 3) and type(value) is int:
                    continue
                with pytest.raises(ValueError, match=r"\S") as error:
                    check_record(wrap(dataclasses.replace(part, **{field.name: value})))
                one_line(error.value)
    for value in JUNK:
        with pytest.raises(ValueError, match="a Record is checked, not "):
            check_record(value)


@pytest.mark.parametrize(
    "text",
    ["", "[" * 100_000, "1" * 5000, '{"format": 1e999}', "\x00", b"\xff", None, 5, [], "NaN"],
    ids=lambda text: repr(text)[:12],
)
def test_what_is_no_json_object_is_no_record(text: Any) -> None:
    with pytest.raises(ValueError, match=r"^not a record: ") as error:
        Record.from_json(text)
    one_line(error.value)


def test_impossible_events_are_told_wherever_a_round_is_walked_through() -> None:
    record = RECORDS["donkey"]
    told = record.rounds[0]
    wrong = [
        Event(told.events[1].seat, play=(Laid("6-4", 3),)),
        Event((told.events[1].seat + 1) % 3),
        Event(told.events[1].seat, draw=told.bazaar[-1]),
        Event(told.events[1].seat, play=told.events[1].play * 2),
        Event(told.events[1].seat, play=(Laid(told.events[0].play[0].tile, 0),)),
    ]
    for event in wrong:
        events = (told.events[0], event, *told.events[2:])
        changed = dataclasses.replace(told, events=events)
        broken = dataclasses.replace(record, rounds=(changed, *record.rounds[1:]))
        with pytest.raises(ValueError, match=r"^round 0, event 1: it cannot happen there: Event"):
            list(walk(broken, 0))
        with pytest.raises(ValueError, match="round 0, event 1"):
            check_record(broken)


# ---------------------------------------------------------------------- functions of tables

ROOM, DONKEY = RuleSet.preset("room-fish-all", 3), RuleSet.preset("livegames-donkey", 3)
SETTLE = {
    "rules": ROOM,
    "hands": [[], ["2-1"], ["6-6", "1-0"]],
    "end": "out",
    "by": 0,
    "accounts": [20, 0, 0],
    "memory": [0, 3, 0],
    "opened": [True, False, False],
    "pot": 0,
}
CALLS: dict[str, tuple[Any, dict[str, Any], dict[str, list[Any]]]] = {
    "settle": (settle, SETTLE, {"pot": [1, 3, 7, 10**30]}),
    "hand_points": (
        hand_points,
        {"rules": ROOM, "hand": ["6-4", "1-0"]},
        {"hand": [[], ["6-4"]]},
    ),
    "needs_redeal": (
        needs_redeal,
        {"rules": ROOM, "hand": ["6-4", "1-0"]},
        {"hand": [[], ["6-4"]]},
    ),
    "first_leader": (
        first_leader,
        {"rules": ROOM, "hands": [["1-1"], ["2-2"], ["3-3"]]},
        {},
    ),
    "legal_moves": (
        legal_moves,
        {
            "rules": DONKEY,
            "hand": ["6-4"],
            "arms": [4, 4, 4, 4],
            "spinner": True,
            "doubles_laid": 1,
        },
        {"hand": [[]], "doubles_laid": [0, 3, 7]},
    ),
    "rating100": (
        rating100,
        {"points": 25, "goat": False},
        {"points": [0, 1, 3, 7, 10**30], "goat": [True]},
    ),
    "timeout_rating": (
        timeout_rating,
        {"points": 30, "timed_out_points": 32},
        {"points": [0, 1, 3, 7, 10**30], "timed_out_points": [0, 1, 3, 7, 10**30]},
    ),
    "bank_shares": (
        bank_shares,
        {"points": [20, 60], "goats": []},
        {"points": [[0, 0], [0] * 7]},
    ),
    "elo_change": (
        elo_change,
        {"winner": 1500, "loser": 1400, "k": 32},
        {
            "winner": [-1, 0, 1, 3, 7, 10**30, 0.5, 1.0],
            "loser": [-1, 0, 1, 3, 7, 10**30, 0.5, 1.0],
            "k": [1, 3, 7, 10**30, 0.5, 1.0],
        },
    ),
    "Worlds": (
        Worlds,
        {"hidden": 7, "counts": [2, 1], "void": [1, 0], "engine": "auto"},
        {"void": [None, [0, 0]]},
    ),
    "Worlds.chance_lacks": (
        Worlds(7, [2, 1], engine="reference").chance_lacks,
        {"place": 0, "value": 2},
        {"place": [0, 1], "value": [0, 1, 3]},
    ),
    "Worlds.sample": (
        Worlds(7, [2, 1], engine="reference").sample,
        {"n": 2, "seed": 5, "round_": 0, "event": 0},
        {
            "n": [0, 1, 3, 7],
            "seed": [0, 1, 3, 7],
            "round_": [0, 1, 3, 7],
            "event": [0, 1, 3, 7],
        },
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_each_argument_is_checked(name: str) -> None:
    call, right, allowed = CALLS[name]
    call(**right)
    for argument, good in right.items():
        for value in JUNK:
            known = [*allowed.get(argument, []), good]
            if any(type(value) is type(a) and value == a for a in known):
                call(**{**right, argument: value})
                continue
            with pytest.raises(ValueError, match=r"\S") as error:
                call(**{**right, argument: value})
            one_line(error.value, argument, argument.rstrip("s"), "tile", "hands")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"by": 7}, "by must be a whole number from 0 to 2, not 7"),
        ({"hands": [[], ["2-1"], ["1-2"]]}, "hands: seats 1 and 2 both hold 2-1"),
        ({"hands": [[], ["2-1", "1-2"], ["3-3"]]}, "hands of seat 1: tile 1-2 is named twice"),
        ({"hands": [[], ["2-7"], ["3-3"]]}, "hands of seat 1: not a tile: '2-7'; "),
        (
            {"hands": [["3-3"], ["2-1"], []]},
            "hands: after an out the hand of seat 0 alone is empty",
        ),
        ({"hands": [[], ["2-1"], []]}, "hands: after an out the hand of seat 0 alone is empty"),
        ({"end": "fish"}, "hands: after a fish no hand is empty, and that of seat 0 is"),
        ({"accounts": [20, 4, 0]}, "accounts of side 1: 4 points, and its account is not open"),
        ({"accounts": [20, -4, 0]}, "accounts of side 1 must be a whole number of 0 or more"),
        ({"memory": [0, 1.5, 0]}, "memory of side 1 must be a whole number of 0 or more, not 1.5"),
        ({"opened": [1, 0, 0]}, "opened of side 0 must be true or false, not 1"),
        ({"pot": -5}, "pot must be a whole number of 0 or more, not -5"),
        ({"rules": "room-fish-all"}, "rules must be a RuleSet, not 'room-fish-all'"),
    ],
)
def test_settle_refuses_what_no_round_leaves(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match="^" + message.replace("?", r"\?")):
        settle(**{**SETTLE, **change})  # type: ignore[arg-type]


def test_settle_takes_numpy_tuples_and_either_order_of_halves() -> None:
    plain = settle(**SETTLE)  # type: ignore[arg-type]
    same_again = {
        "hands": ((), ("1-2",), ("6-6", "0-1")),
        "by": np.int64(0),
        "accounts": np.array([20, 0, 0]),
        "opened": np.array([True, False, False]),
        "pot": np.uint8(0),
    }
    assert settle(**{**SETTLE, **same_again}) == plain  # type: ignore[arg-type]


def test_elo_of_any_distance_is_a_number() -> None:
    assert elo_change(0, 10**9) == 32
    assert elo_change(10**9, 0) == 0


# ---------------------------------------------------------------------- views


@pytest.mark.parametrize("field", [f.name for f in dataclasses.fields(View)])
def test_each_field_of_a_view_is_checked(field: str) -> None:
    position = random_positions(ROOM, 1, seed=1)[0]
    table = position.round()
    view = position.view(table, table.moves())
    assert need_view(view) is view
    more = [-(2**40), 2**40, [0] * 3, ["x"] * 4, [None] * 8, [2**40] * 4, [-(2**40)] * 8]
    right = getattr(view, field)
    for value in [*JUNK, *more]:
        # Whole numbers are tried beyond every field's limits alone.
        if type(value) is type(right) is int and abs(value) < 10:
            continue
        if field == "params" and value == [-(2**40)] * 8:
            continue
        changed = dataclasses.replace(view, **{field: value})
        for read in (need_view, show, Worlds.seen_by):
            with pytest.raises(ValueError, match=rf"^{field} ") as error:
                read(changed)
            one_line(error.value)


# ---------------------------------------------------------------------- knobs, experiments


@pytest.mark.parametrize("knob", knob_names())
def test_each_knob_from_outside_is_checked(knob: str) -> None:
    knobs = RuleSet.preset("room-fish-all", 2).knobs()
    for value in [*JUNK, *(["bank", "bank"], "bank+bank")]:
        try:
            rules = RuleSet.from_knobs({**knobs, knob: value})
        except ValueError as error:
            one_line(error, knob)
            continue
        written = rules.knobs()[knob]
        assert type(written) is type(knobs[knob])
        # A number may be written as a text, a flag as 0 or 1, words as one text.
        assert written == value or str(value).lower() in (str(written), "1", "0", "1.0", "", "[]")
        assert not (isinstance(value, bool) and not isinstance(written, bool))


@pytest.mark.parametrize("knobs", [None, 5, "room-fish-all", [], {1: 2}, {None: 1}])
def test_what_are_no_knobs_is_refused(knobs: Any) -> None:
    with pytest.raises(ValueError, match=r"^rules must be an object of knobs, not "):
        RuleSet.from_knobs(knobs)


@pytest.mark.parametrize("name", [None, 5, [], {}, "room"])
def test_what_is_no_preset_is_refused(name: Any) -> None:
    with pytest.raises(ValueError, match=r"^unknown preset "):
        RuleSet.preset(name)
    for players in (True, 2.0, "2", 5, []):
        with pytest.raises(ValueError, match="is played by 2 or 3 or 4 players, not "):
            RuleSet.preset("room-fish-all", players)  # type: ignore[arg-type]


def test_rules_for_others_than_the_preset_is_played_by_have_a_name() -> None:
    rules = RuleSet.preset("kozel-2p-plain").replace(players=3)
    assert rules.name == "kozel-2p-plain[players=3]"


EXPERIMENT = {
    "name": "a",
    "seed": 1,
    "deals": 10,
    "rules": ["room-fish-all"],
    "policies": ["random", "dump_heavy"],
}


@pytest.mark.parametrize("key", [*Experiment.model_fields, "deal"])
def test_each_value_of_an_experiment_is_checked(key: str) -> None:
    empty = {"duels": [], "ladders": {}, "knobs": {}, "variants": [], "code": []}
    fine = {
        "name": ["1", "x", "6-4", "7-7", "out"],
        "seed": [0, 1, 3, 7],
        "deals": [1, 3, 7, 10**30],
        "policies": [],
        "code": [["6-4"]],
    }
    for value in JUNK:
        known = [*fine.get(key, []), EXPERIMENT.get(key), empty.get(key)]
        if any(value is not None and type(value) is type(k) and value == k for k in known):
            Experiment.read({**EXPERIMENT, key: value}, "x.toml").rule_sets()
            continue
        with pytest.raises(ValueError, match=r"\S") as error:
            Experiment.read({**EXPERIMENT, key: value}, "x.toml").rule_sets()
        one_line(error.value, key, key.rstrip("s"), "policies", "knob", "preset")


# ---------------------------------------------------------------------- tiles


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.one_of(st.text(max_size=5), st.from_regex(r"[0-7]-[0-7]", fullmatch=True)))
def test_text_is_a_tile_or_refused(text: str) -> None:
    spelled = {f"{a}-{b}" for a in range(7) for b in range(7)}
    if text in spelled:
        assert {LOW[tile_id(text)], HIGH[tile_id(text)]} == {int(text[0]), int(text[2])}
        assert Hand.of(text).names == [NAMES[tile_id(text)]] == need_hand("the hand", [text])
        return
    for read in (tile_id, Hand.of, lambda name: need_hand("the hand", [name])):
        with pytest.raises(ValueError, match="not a tile: ") as error:
            read(text)
        one_line(error.value, repr(text))


def test_numbers_that_are_no_tiles_are_refused() -> None:
    for value in JUNK:
        if type(value) is int and 0 <= value < 28:
            assert tile_id(tile_name(value)) == value
            continue
        with pytest.raises(ValueError, match="a tile id is a whole number from 0 to 27, not "):
            tile_name(value)
    with pytest.raises(ValueError, match="tile 6-4 has no half 5"):
        other_half(tile_id("6-4"), 5)
    assert other_half(tile_id("6-4"), 6) == 4
    for mask in (-1, ALL + 1, 10**30):
        with pytest.raises(ValueError, match="a hand is a mask of the 28 tiles, not "):
            Hand(mask)


def test_checks_take_what_they_should_and_name_what_they_do_not() -> None:
    assert need_whole("n", np.int8(3), 0, 3) == 3
    assert need_bool("b", np.True_) is True
    assert need_finite("x", np.float32(0.5)) == 0.5
    assert need_list("l", (1, 2), 2) == [1, 2]
    assert need_hands("hands", [["4-6"], ("1-1",)], 2) == [["6-4"], ["1-1"]]
    with pytest.raises(ValueError, match=r"^n must be a whole number from 0 to 3, not True$"):
        need_whole("n", True, 0, 3)
    with pytest.raises(ValueError, match=r"^x must be a finite number, not nan$"):
        need_finite("x", math.nan)
    with pytest.raises(ValueError, match=r"^l must be a list, not 'ab'$"):
        need_list("l", "ab")
    # A long value is cut, and one that cannot be written is not.
    with pytest.raises(
        ValueError, match=r"^n must be a whole number .{,60}'9+\.\.\.9+' \(10,000 char"
    ):
        need_whole("n", "9" * 10_000, 0)
    with pytest.raises(ValueError, match=r"^n must be a whole number from 0 to 3, not an object "):
        need_whole("n", 10**5000, 0, 3)
