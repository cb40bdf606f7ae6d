"""The rounds frame: what was dealt, how each round ended, and what came of it."""

import numpy as np
import pandas as pd
import pytest
from conftest import PRESET_TABLES

from kozel_sim import RuleSet, rounds, rounds_frame, simulate
from kozel_sim.engine.layout import ROUND
from kozel_sim.engine.play import new_matches
from kozel_sim.frames import stack_frames
from kozel_sim.policies import read_policies
from kozel_sim.record import Event, Laid, Record, Result, RoundRecord
from kozel_sim.rounds import read_record, rounds_of
from kozel_sim.schedule import seatings
from kozel_sim.tiles import Hand

FOUR = ["random", "dump_heavy", "keep_range", "block_ends"]
MATCH = ["deal", "seating"]
"""What tells a match from another in a frame of these tests."""
COLUMNS = {
    "preset": "category",
    "players": "int8",
    "deal": "int64",
    "seating": "int8",
    "seat": "int8",
    "side": "int8",
    "policy": "category",
    "round": "int32",
    "redeals": "int8",
    "hand": "int32",
    "doubles": "int8",
    "hand_pips": "int8",
    "leader": "bool",
    "passes": "int8",
    "draws": "int8",
    "end": "category",
    "by": "bool",
    "true_fish": "bool",
    "tiles_left": "int8",
    "hand_points": "int16",
    "written": "int32",
    "pot": "int32",
    "account": "int32",
    "memory": "int32",
    "opened": "bool",
    "last": "bool",
    "goat": "bool",
}
SEA = {"max_rounds": 12}
"""Matches that are won dry may go on for long; the readable engine is not asked for all of one."""


def rules_of(preset, players):
    rules = RuleSet.preset(preset, players)
    return rules.replace(**SEA) if rules.dry_rule != "none" else rules


def matches_of(rules, deals):
    """Deals 0, 1, ..., seated in turn in all ways: (MATCH records, seating)."""
    seating = np.arange(deals) % len(seatings(rules.players))
    return new_matches(np.arange(deals, dtype=np.uint64), seatings(rules.players)[seating]), seating


# ---------------------------------------------------------------------- what a row says

HANDS = (
    ("1-1", "0-0", "4-4", "2-1", "3-1", "6-1", "6-0"),
    ("2-2", "3-3", "5-5", "6-6", "6-2", "5-1", "4-3"),
    ("1-0", "2-0", "3-0", "4-0", "5-0", "4-1", "3-2"),
    ("4-2", "5-2", "5-3", "6-3", "5-4", "6-4", "6-5"),
)


def record_of_one_round():
    """A round that ends early in a fish, as its record would tell it; the moves need not be so."""
    events = (
        Event(0, (Laid("1-1", 0),)),
        Event(1),
        Event(2, draw="6-5"),
        Event(2, (Laid("1-0", 0),)),
        Event(3),
        Event(0, (Laid("0-0", 0, False), Laid("4-4", 1, True))),
        Event(1),
    )
    played = RoundRecord(
        round=0,
        redeals=2,
        hands=HANDS,
        bazaar=("6-5",),
        leader=0,
        forced="1-1",
        events=events,
        end="fish",
        by=0,
        true_fish=False,
        hand_points=(30, 50, 26, 66),
        written=(0, 116),
        pot=3,
        accounts=(0, 119),
        memory=(4, 0),
        opened=(False, True),
    )
    rules = RuleSet.preset("pair-traditional")
    return Record(rules, 1, 0, 0, ("random",) * 4, (played,), Result((0,), (1,), False, None, None))


def test_row_says_what_the_round_was_to_its_seat():
    rows = pd.DataFrame(np.array(list(read_record(record_of_one_round())), ROUND))
    assert [Hand(hand).names for hand in rows["hand"]] == [sorted_names(hand) for hand in HANDS]
    assert rows["doubles"].tolist() == [3, 4, 0, 0]
    assert rows["hand_pips"].tolist() == [30, 53, 25, 60]
    assert rows["leader"].tolist() == [True, False, False, False]
    assert rows["passes"].tolist() == [0, 2, 0, 1]
    assert rows["draws"].tolist() == [0, 0, 1, 0]
    assert rows["tiles_left"].tolist() == [4, 7, 7, 7]
    assert rows["by"].tolist() == [True, False, False, False]
    assert rows["hand_points"].tolist() == [30, 50, 26, 66]
    assert rows["written"].tolist() == [0, 116, 0, 116]
    assert rows["account"].tolist() == [0, 119, 0, 119]
    assert rows["memory"].tolist() == [4, 0, 4, 0]
    assert rows["opened"].tolist() == [False, True, False, True]
    same = rows[["round", "redeals", "end", "true_fish", "pot", "last"]].drop_duplicates()
    assert same.to_numpy().tolist() == [[0, 2, rounds.FISH, False, 3, True]]


def sorted_names(names):
    """Tile names by tile id."""
    return Hand.of(*names).names


def test_frame_has_these_columns_and_types():
    frame = rounds_frame("room-fish-all", FOUR, 5, seed=1)
    assert frame.dtypes.astype(str).to_dict() == COLUMNS
    assert list(frame) == list(COLUMNS)
    assert list(frame["end"].cat.categories) == ["out", "fish"]


# ---------------------------------------------------------------------- fast and slow


@pytest.mark.parametrize(("preset", "players"), PRESET_TABLES)
def test_compiled_rounds_are_those_of_the_records(preset, players):
    rules = rules_of(preset, players)
    policies = read_policies(FOUR[:players])
    found = []
    for engine in ("auto", "reference"):
        matches, seating = matches_of(rules, 6)
        found.append((rounds_of(rules, policies, matches, seating, 3, engine), matches.tobytes()))
    (fast, fast_matches), (slow, slow_matches) = found
    pd.testing.assert_frame_equal(fast, slow)
    assert fast_matches == slow_matches


def test_reference_plays_what_rounds_frame_plays():
    fast, slow = (
        rounds_frame("livegames-donkey", FOUR[:3], 5, seed=7, seating=4, engine=engine)
        for engine in ("scalar", "reference")
    )
    pd.testing.assert_frame_equal(fast, slow)


@pytest.mark.parametrize(("few", "words"), [(1, 1), (5, 1000), (64, 3000), (2, 1 << 16)])
def test_neither_the_log_nor_its_batches_change_a_row(few, words, monkeypatch):
    rules = RuleSet.preset("room-fish-all", 3)
    policies = read_policies(FOUR[:3])
    matches, seating = matches_of(rules, 40)
    whole = rounds_of(rules, policies, matches, seating, 3)
    monkeypatch.setattr(rounds, "FEW", few)
    monkeypatch.setattr(rounds, "LOG_WORDS", words)
    again, seating = matches_of(rules, 40)
    pd.testing.assert_frame_equal(rounds_of(rules, policies, again, seating, 3), whole)
    assert again.tobytes() == matches.tobytes()


def test_chunks_put_together_are_the_whole():
    rules = RuleSet.preset("household-300", 4)
    policies = read_policies(FOUR)
    matches, seating = matches_of(rules, 30)
    whole = rounds_of(rules, policies, matches, seating, 3)
    pieces = []
    for part in (slice(0, 1), slice(1, 12), slice(12, 30)):
        again, _ = matches_of(rules, 30)
        pieces.append(rounds_of(rules, policies, again[part], seating[part], 3))
    pd.testing.assert_frame_equal(stack_frames(pieces), whole)


def test_rounds_frame_plays_its_deals_in_pieces(monkeypatch):
    whole = rounds_frame("room-fish-all", FOUR[:2], 20, seed=1)
    monkeypatch.setattr(rounds, "DEALS", 7)
    pd.testing.assert_frame_equal(rounds_frame("room-fish-all", FOUR[:2], 20, seed=1), whole)


def test_rounds_of_a_duel_know_whose_side_a_seat_is_on():
    rules = RuleSet.preset("room-fish-all", 3)
    policies = read_policies(FOUR[:2])
    matches = new_matches(np.arange(9, dtype=np.uint64), np.tile(np.eye(3, dtype=int), (3, 1)))
    sides = 1 - matches["players"][:, :3]
    frame = rounds_of(rules, policies, matches, np.arange(9) % 3, 3, duel="A v B", sides=sides)
    assert (frame["duel"] == "A v B").all()
    assert (frame["first"] == (frame["policy"] == FOUR[1])).all()
    assert frame["first"].sum() == len(frame) / 3


def test_no_matches_have_no_rounds():
    rules = RuleSet.preset("room-fish-all", 2)
    matches, seating = matches_of(rules, 0)
    frame = rounds_of(rules, read_policies(FOUR[:2]), matches, seating, 1)
    assert len(frame) == 0
    assert list(frame) == list(COLUMNS)


# ---------------------------------------------------------------------- with the frame of matches


@pytest.fixture(scope="module", params=PRESET_TABLES, ids=lambda table: "-".join(map(str, table)))
def both(request):
    """(rules, frame of matches, frame of rounds) of the same matches of a preset."""
    rules = RuleSet.preset(*request.param).replace(max_rounds=300)
    field = FOUR[: rules.players]
    run = simulate(rules, field, 40, seed=5)
    return rules, run.frame, rounds_frame(rules, field, 40, seed=5)


def test_rows_are_in_the_order_of_match_round_and_seat(both):
    rules, matches, found = both
    lengths = matches["rounds"][matches["seat"] == 0]
    wanted = [
        (deal, number, seat)
        for deal, length in enumerate(lengths)
        for number in range(length)
        for seat in range(rules.players)
    ]
    assert list(found[["deal", "round", "seat"]].itertuples(index=False, name=None)) == wanted


def test_rounds_add_up_to_the_matches(both):
    """By match and seat: rounds, fish, passes, draws; the last round tells points and goats."""
    rules, matches, found = both
    by_seat = found.groupby([*MATCH, "seat"], sort=False, observed=True)
    fish = found["end"].eq("fish").groupby([found["deal"], found["seat"]], sort=False).sum()
    assert by_seat.size().tolist() == matches["rounds"].tolist()
    assert fish.tolist() == matches["fish_rounds"].tolist()
    for column in ("passes", "draws"):
        assert by_seat[column].sum().tolist() == matches[column].tolist()
    last = found[found["last"]]
    assert last["account"].tolist() == matches["points"].tolist()
    assert last["round"].tolist() == (matches["rounds"] - 1).tolist()
    assert found[found["round"] == 0]["leader"].tolist() == matches["led"].tolist()
    for column in ("preset", "players", "side", "policy", "goat"):
        assert (by_seat[column].first().to_numpy() == matches[column].to_numpy()).all()
        assert (by_seat[column].nunique() == 1).all()
    assert (found["side"] == [rules.side_of(seat) for seat in found["seat"]]).all()


def test_one_seat_leads_and_one_ends_each_round(both):
    _, _, found = both
    of_round = found.groupby([*MATCH, "round"], sort=False)
    assert (of_round["leader"].sum() == 1).all()
    assert (of_round["by"].sum() == 1).all()
    assert of_round["end"].nunique().eq(1).all()
    went_out = found["by"] & found["end"].eq("out")
    assert (found["tiles_left"].eq(0) == went_out).all()
    assert (found["hand_points"][went_out] == 0).all()
    assert not found["true_fish"][found["end"] == "out"].any()


def test_hands_of_a_round_are_dealt_from_one_set(both):
    rules, _, found = both
    masks = found["hand"].to_numpy().reshape(-1, rules.players)
    assert (np.bitwise_count(masks) == rules.hand_size).all()
    # Hands without a tile in common add up to their union.
    assert (np.bitwise_or.reduce(masks, axis=1) == masks.sum(axis=1)).all()
    hands = [Hand(mask) for mask in found["hand"]]
    assert found["hand_pips"].tolist() == [hand.pips for hand in hands]
    assert found["doubles"].tolist() == [
        sum(name[0] == name[2] for name in hand.names) for hand in hands
    ]
    if rules.redeal == "none":
        assert not found["redeals"].any()
    else:
        assert found["redeals"].any()
        assert found["doubles"].max() == 4


def test_what_was_written_explains_the_accounts(both):
    """An account is what was written since it opened, and the memory that it opened with."""
    rules, _, found = both
    by_seat = found.groupby([*MATCH, "seat"], sort=False)
    before = by_seat[["account", "memory"]].shift(fill_value=0)
    was_open = by_seat["opened"].shift(fill_value=False) | (rules.open_at == 0)
    entry = found["written"].where(was_open, (found["written"] + before["memory"]))
    entry = entry.where(found["opened"] | was_open, 0)
    wanted = before["account"] + entry
    if rules.dry_rule == "reset_both":
        # A side that reached the target, but not dry, and now nobody has a point.
        by_round = [found["deal"], found["round"]]
        reset = wanted.ge(rules.target).groupby(by_round).transform("any")
        reset &= found["account"].groupby(by_round).transform("max") == 0
        assert reset.any()
        wanted = wanted.mask(reset, 0)
    assert (found["account"] == wanted).all()


def test_in_the_room_everyone_writes_his_own_hand():
    found = rounds_frame("room-fish-all", FOUR, 100, seed=2)
    assert (found["written"] == found["hand_points"]).all()
    assert found["end"].eq("fish").any()


def test_both_of_a_pair_are_told_what_the_side_writes():
    found = rounds_frame("dominoes3d-pair", FOUR, 50, seed=2)
    rows = found[["written", "account", "memory", "opened"]].to_numpy().reshape(-1, 4, 4)
    assert (rows[:, :2] == rows[:, 2:]).all()
    assert found["pot"].any()


def test_fish_that_the_reserve_could_have_opened_is_not_true():
    found = rounds_frame("dominoes3d-duel", FOUR[:2], 300, seed=2)
    fish = found[found["end"] == "fish"]
    assert 0 < fish["true_fish"].sum() < len(fish)


def test_hands_that_would_be_dealt_again_are_there_without_the_rule():
    rules = RuleSet.preset("room-fish-all", 4).replace(redeal="none")
    found = rounds_frame(rules, FOUR, 300, seed=2)
    assert found["doubles"].max() >= 5


# ---------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"engine": "vector"}, "engine 'vector' keeps no record of the events; choose from auto"),
        ({"engine": "quick"}, "unknown engine 'quick'; choose from auto, scalar, reference"),
        ({"deals": 0}, "deals must be a whole number of 1 or more, not 0"),
        ({"seating": 2}, r"seating 2 is not below 2 \(2 players\)"),
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"deals": 10**12}, r"the rounds of 1,000,000,000,000 deals need about .* GB of memory"),
        ({"policies": ["random"]}, "preset room-fish-all is played by 2 or 3 or 4 players, not 1"),
    ],
)
def test_what_cannot_be_played_is_refused(change, message):
    asked = {"rules": "room-fish-all", "policies": FOUR[:2], "deals": 2, "seed": 1}
    with pytest.raises(ValueError, match=message):
        rounds_frame(**asked | change)
