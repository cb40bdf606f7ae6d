"""The seven tips on hand-made positions: where each fires, where it does not, which goes first.

A position is a hand, the tiles on the table (which tiles, not their order) and the ends. The tips
are those of a Kozel page, made operational; T5, the tell, is in test_tell.py.
"""

import dataclasses

import numpy as np
import pytest
from kernels import from_python

from kozel_sim import RuleSet, get_policy
from kozel_sim.engine import features as compiled
from kozel_sim.features import FEATURES
from kozel_sim.moves import legal_codes, move_text
from kozel_sim.tiles import DOUBLES, HAS, Hand, tiles_of
from kozel_sim.view import VIEW, View

ROOM = RuleSet.preset("room-fish-all")


def feature_of(name):
    """A compiled feature, to be called from here."""
    return from_python(compiled.feature_of(name))


def position(hand, table, ends, rules=ROOM, **fields):
    """Return the View and the legal moves of seat 0; by default everybody else holds 3 tiles."""
    hand, table = Hand.of(*hand.split()), Hand.of(*table.split())
    assert not hand & table
    if ends and not table:
        # Something lies there: a tile that is not in the hand and fits no end.
        table = next(
            1 << t
            for t in range(28)
            if not hand >> t & 1 and not any(HAS[e] >> t & 1 for e in ends)
        )
    doubles_laid = (table & DOUBLES).bit_count()
    moves = legal_codes(rules, hand, list(ends), len(ends) > 2, doubles_laid)
    legal = [0] * 4
    for move in moves:
        for arm in range(4):
            byte = move >> 8 * arm & 0x7F
            if byte:
                legal[arm] |= 1 << byte - 1
    view = View(
        hand=hand,
        legal=legal,
        partner=-1 if rules.teams == "none" else 2,
        players=rules.players,
        arms=[*ends, *[-1] * (4 - len(ends))],
        table=table,
        spinner=int(len(ends) > 2),
        counts=[len(list(tiles_of(hand))), *[3] * (rules.players - 1)] + [0] * (4 - rules.players),
        shown=[-1] * 4,
        target=rules.target,
        four_way=int(rules.spinner),
        six_closed=int(rules.fish_def == "six_closed"),
    )
    return dataclasses.replace(view, **fields), moves


def chosen(policy, *where, **fields):
    """Return the moves among which a policy is indifferent."""
    view, moves = position(*where, **fields)
    ((_, ladder),) = get_policy(policy).parts
    return " ".join(move_text(move) for move in ladder.narrow(view, moves))


def legal(*where, **fields):
    return " ".join(move_text(move) for move in position(*where, **fields)[1])


FIRES = [
    # T1: six or seven values, none on more than three tiles: keep the range, then no long suit
    ("keep_range", "1-0 2-1 4-3 6-5", "", (0, 6), "1-0@0"),
    ("keep_range", "1-0 2-1 3-1 4-0 6-5 6-4", "", (0, 5), "1-0@0"),
    ("keep_range", "1-1 2-1 4-3 6-5 5-0", "", (1, 5), "1-1@0"),
    # T2: a value on at least three and half of the tiles: ends that show it, uncovered
    ("block_ends", "5-5 5-0 5-1 2-1", "", (0, 2), "5-0@0"),
    ("block_ends", "5-5 5-0 5-4 2-1", "", (5, 1), "2-1@1"),
    ("block_ends", "5-3 5-2 5-1 4-3 4-2 4-0", "", (3, 2), "5-3@0 5-2@1"),
    # ... with two such values the one on more tiles, then the higher
    ("block_ends", "5-3 5-2 4-3 4-2 5-4", "", (3, 0), "5-3@0"),
    # T3: the highest double that is legal
    ("dump_doubles", "2-2 6-6 6-4", "", (2, 6), "6-6@1"),
    ("dump_doubles", "0-0 6-5", "", (0, 6), "0-0@0"),
    # T4: five of six out, the sixth is mine, the double is away
    ("strand_double", "5-3 6-5", "3-0 3-1 3-2 4-3 6-3", (3, 5), "5-3@0"),
    # T6: most pips
    ("dump_heavy", "6-1 4-3 5-4", "", (1, 4), "5-4@1"),
    # T7: nobody else has a six: sixes stay, unless they are laid at the other end
    ("hold_last", "6-4 6-5 2-1", "6-0 6-1 6-2 6-3 6-6", (6, 2), "2-1@1"),
    ("hold_last", "6-4 6-2 2-1", "6-0 6-1 6-5 6-3 6-6", (6, 2), "2-1@1 6-2@1"),
]

SILENT = [
    # T1: four tiles with a value; five values only
    ("keep_range", "1-0 2-1 3-1 4-1 6-5", "", (0, 6)),
    ("keep_range", "1-0 3-2 4-4 2-2", "", (0, 2)),
    # T2: two tiles; three of seven
    ("block_ends", "5-0 5-1 2-1", "", (0, 2)),
    ("block_ends", "5-0 5-1 5-2 6-4 3-0 2-1 6-3", "", (0, 2)),
    # T3: the double does not fit
    ("dump_doubles", "3-3 2-1 6-4", "", (2, 6)),
    # T4: the double is out; it is mine; only four are out; the other end shows the value too
    ("strand_double", "5-3 6-5", "3-0 3-1 3-2 4-3 6-3 3-3", (3, 5)),
    ("strand_double", "5-3 6-5 3-3", "3-0 3-1 3-2 4-3 6-3", (3, 5)),
    ("strand_double", "5-3 6-5", "3-0 3-1 3-2 6-3", (3, 5)),
    ("strand_double", "5-3 2-2", "3-0 3-1 3-2 4-3 6-3", (3, 3)),
    # T7: a six is unseen; only sixes are legal
    ("hold_last", "6-4 2-1", "6-0 6-1 6-2 6-3 6-6", (6, 2)),
    ("hold_last", "6-4 6-5 1-0", "6-0 6-1 6-2 6-3 6-6", (6, 2)),
]


@pytest.mark.parametrize(("tip", "hand", "table", "ends", "expected"), FIRES)
def test_tip_fires(tip, hand, table, ends, expected):
    assert chosen(tip, hand, table, ends) == expected
    assert legal(hand, table, ends) != expected


@pytest.mark.parametrize(("tip", "hand", "table", "ends"), SILENT)
def test_tip_is_silent_where_its_trigger_does_not_hold(tip, hand, table, ends):
    assert chosen(tip, hand, table, ends) == legal(hand, table, ends)


FIVES = "3-0 3-1 3-2 4-3 6-3 5-0 5-1 5-2 5-4 5-5"


@pytest.mark.parametrize(
    ("first", "second", "hand", "table", "ends"),
    [
        ("hold_last", "dump_doubles", "6-6 2-1", "6-0 6-1 6-2 6-3 6-4 6-5", (6, 2)),
        ("hold_last", "strand_double", "5-3 6-5 2-1", FIVES, (5, 2)),
        ("strand_double", "block_ends", "5-3 4-0 4-1 4-2", "3-0 3-1 3-2 4-3 6-3", (3, 1)),
        ("block_ends", "dump_doubles", "5-0 5-1 5-4 2-2", "", (0, 2)),
        ("keep_range", "dump_doubles", "2-0 6-6 4-3 5-0 2-1", "", (0, 6)),
        ("dump_doubles", "dump_heavy", "1-1 6-5", "", (1, 6)),
    ],
)  # fmt: skip
def test_seven_tips_follow_the_tip_that_goes_first(first, second, hand, table, ends):
    where = (hand, table, ends)
    mine = set(chosen(first, *where).split())
    assert set(chosen("seven_tips", *where).split()) <= mine
    if second != "strand_double":  # there the two do not disagree, and the first must still hold
        assert mine.isdisjoint(chosen(second, *where).split())


def test_tell_reader_prefers_what_the_next_seat_lacks_to_what_it_left():
    hand, ends = "6-4 5-3 2-1", (4, 3)
    values = {"void": [0, 1 << 5, 0, 0], "tell": [0, 1 << 6, 0, 0]}
    assert chosen("tell_reader", hand, "", ends, **values) == "5-3@1"
    assert chosen("tell_reader", hand, "", ends, tell=values["tell"]) == "6-4@0"
    assert chosen("tell_reader", hand, "", ends) == "6-4@0"  # no knowledge: the most pips


def test_few_answers_counts_unseen_tiles_once():
    # Sixes: five are out, one is mine; fives: all but mine unseen.
    table = "6-0 6-1 6-2 6-3 6-6"
    assert chosen("few_answers", "6-4 5-4", table, (4, 4)) == "6-4@0"


# ---------------------------------------------------------------------- features


def record_of(view):
    record = np.zeros(1, VIEW)
    for field in dataclasses.fields(View):
        record[field.name][0] = getattr(view, field.name)
    return record[0]


FEATURE_CASES = [
    # feature, position (hand, table, ends), move, value, fields
    ("pips", ("6-4 5-3", "", (4, 3)), "6-4@0", 10, {}),
    ("last_of_suit", ("6-4 4-1", "", (4, 3)), "6-4@0", 1, {}),
    ("lock", ("6-4 6-1 3-3 2-0", "", (4, 3)), "6-4@0", 2, {}),
    ("unseen", ("6-4 6-1 3-3 2-0", "", (4, 3)), "6-4@0", 10, {}),
    ("next_void", ("6-4 2-0", "", (4, 3)), "6-4@0", 2, {"void": [0, 0b1001000, 0b10, 0]}),
    ("next_tell", ("6-4 2-0", "", (4, 3)), "6-4@0", 1,
     {"void": [0, 1 << 6, 0, 0], "tell": [0, 0b1001000, 0, 0]}),
    ("partner_void", ("6-4 2-0", "", (4, 3)), "6-4@0", 0, {"void": [0, 127, 127, 127]}),
    ("fewest_void", ("6-4 2-0", "", (4, 3)), "6-4@0", 1,
     {"counts": [2, 3, 2, 2], "void": [0, 127, 1 << 6, 127]}),
    ("left", ("6-4 2-0", "", (4, 3)), "6-4@0", 1, {}),
    ("goes_out", ("6-4", "", (4, 6)), "6-4@1", 1, {}),
    ("holds_fewest", ("6-4 2-0 1-0 1-1", "", (4, 3)), "6-4@0", 1, {}),
    ("holds_fewest", ("6-4 2-0 1-0 1-1 2-2", "", (4, 3)), "6-4@0", 0, {}),
    ("arms", ("6-4 2-0", "", (4, 3)), "6-4@0", 2, {}),
    ("own_distance", ("6-4 2-0", "", (4, 3)), "6-4@0", 1, {"accounts": [100, 0, 50, 0]}),
    ("rival_distance", ("6-4 2-0", "", (4, 3)), "6-4@0", 51, {"accounts": [100, 0, 50, 0]}),
    ("fence_open", ("6-4 2-0", "", (4, 3)), "6-4@0", 1, {"opened": [1, 0, 0, 0]}),
    # all sixes out after it, both ends six: a fish. Unseen: 20 tiles; I keep 1 pip, they hold 3.
    ("fish_ahead", ("6-4 1-0", "6-0 6-1 6-2 6-3 6-5 6-6", (4, 6)), "6-4@0", 14, {}),
    ("fish_behind", ("6-4 1-0", "6-0 6-1 6-2 6-3 6-5 6-6", (4, 6)), "6-4@0", 0, {}),
    ("fish_behind", ("6-4 5-5", "6-0 6-1 6-2 6-3 6-5 6-6", (4, 6)), "6-4@0", 6,
     {"counts": [2, 1, 1, 1]}),
    # the double six is still away: a fish where six are enough, none where it may be played
    ("fish_ahead", ("6-4 1-0", "6-0 6-1 6-2 6-3 6-5", (4, 6)), "6-4@0", 15, {}),
    ("fish_ahead", ("6-4 1-0", "6-0 6-1 6-2 6-3 6-5", (4, 6)), "6-4@0", 0, {"six_closed": 0}),
    # going out is no fish
    ("fish_ahead", ("6-4", "6-0 6-1 6-2 6-3 6-5 6-6", (4, 6)), "6-4@0", 0, {}),
]  # fmt: skip


@pytest.mark.parametrize(("feature", "where", "move", "value", "fields"), FEATURE_CASES)
def test_feature_counts_by_hand(feature, where, move, value, fields):
    view, moves = position(*where, **fields)
    code = next(m for m in moves if move_text(m) == move)
    assert FEATURES[feature].of(view, code) == value
    assert feature_of(feature)(record_of(view), code) == value


SEA = RuleSet.preset("sea-goat")
DONKEY = RuleSet.preset("livegames-donkey", 4)
MULTIPLE = [
    (SEA, "3-3 5-5 2-1", (3, 5), "3-3@0 5-5@1",
     {"pips": 16, "double": 2, "range": 2, "last_of_suit": 2, "left": 1, "block": 0, "lock": 0}),
    (SEA, "3-3 5-5", (3, 5), "3-3@0 5-5@1", {"goes_out": 1, "left": 0, "range": 0, "longest": 0}),
    (DONKEY, "6-6 6-4 2-1", (6, 2, 2, 2), "6-6@0!", {"arms": 3, "pips": 12, "block": 1}),
    (DONKEY, "6-6 2-2 6-1", (6, 2, 2, 2), "2-2@1! 6-6@0", {"arms": 3, "double": 2, "lock": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("rules", "hand", "ends", "move", "values"), MULTIPLE)
def test_features_take_moves_of_several_tiles(rules, hand, ends, move, values):
    view, moves = position(hand, "", ends, rules)
    code = next(m for m in moves if set(move_text(m).split()) == set(move.split()))
    assert {name: FEATURES[name].of(view, code) for name in values} == values
    assert {name: feature_of(name)(record_of(view), code) for name in values} == values


def test_four_way_double_shows_four_ends():
    view, _ = position("6-6 2-1", "", (), DONKEY)
    assert FEATURES["arms"].of(view, 7) == feature_of("arms")(record_of(view), 7) == 4
    assert FEATURES["match"].of(view, 7) == feature_of("match")(record_of(view), 7) == 4
