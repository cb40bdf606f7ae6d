"""Which hands are dealt again, and who leads what."""

from itertools import pairwise

import pytest

from kozel_sim.moves import legal_moves
from kozel_sim.opening import first_leader, needs_redeal, next_leader
from kozel_sim.rules import RuleSet

ROOM = RuleSet.preset("room-fish-all")

# Without a double: by total, then the higher half (from 6-5 down), or the smaller low half.
MAX_TOTAL = "6-5 6-4 6-3 5-4 6-2 5-3 6-1 5-2 4-3 6-0 5-1 4-2 5-0 4-1 3-2 4-0 3-1 3-0 2-1 2-0 1-0"
MIN_TOTAL = "1-0 2-0 3-0 2-1 4-0 3-1 5-0 4-1 3-2 6-0 5-1 4-2 6-1 5-2 4-3 6-2 5-3 6-3 5-4 6-4 6-5"
ONES_FIRST = "1-1 2-2 3-3 4-4 5-5 6-6 0-0"
BLANK_FIRST = "0-0 1-1 2-2 3-3 4-4 5-5 6-6"
HIGHEST = "6-6 5-5 4-4 3-3 2-2 1-1 0-0"


@pytest.mark.parametrize(
    ("hand", "redealt"),
    [
        ("0-0 1-1 2-2 3-3 4-4 2-1 6-5", True),
        ("6-0 6-1 6-2 6-3 6-4 6-5 2-1", True),
        ("6-6 6-0 6-1 6-2 6-3 6-4 2-1", True),
        ("3-0 3-1 3-2 3-3 4-3 5-3 6-3", True),
        ("0-0 1-1 2-2 3-3 2-1 5-4 6-5", False),
        ("6-6 6-0 6-1 6-2 6-3 2-1 5-4", False),
    ],
    ids=["V48-5-doubles", "V48-6-sixes", "V48-6-with-6-6", "V48-7-threes", "V49-4", "V49-5"],
)
def test_redeal_needs_five_doubles_or_six_of_a_value(hand, redealt):
    assert needs_redeal(ROOM, hand.split()) is redealt


def test_redeal_none_keeps_every_hand():
    rules = RuleSet.preset("livegames-goat")
    assert not needs_redeal(rules, BLANK_FIRST.split())


def test_first_lead_is_the_smallest_double_of_the_order():
    """Example V51: nobody holds 1-1."""
    hands = [["3-3", "6-5"], ["0-0", "6-6"]]
    assert first_leader(RuleSet.preset("room-fish-all", 2), hands) == (0, "3-3")
    assert first_leader(RuleSet.preset("livegames-goat", 2), hands) == (1, "0-0")


def test_first_lead_without_doubles_is_the_highest_or_the_lowest_tile():
    """Example V52."""
    hands = [["6-4", "1-0"], ["6-5"]]
    assert first_leader(RuleSet.preset("room-fish-all", 2), hands) == (1, "6-5")
    assert first_leader(RuleSet.preset("blog-fish-one", 2), hands) == (0, "1-0")


@pytest.mark.parametrize(
    ("order", "no_double", "tiles"),
    [
        ("ones_first", "max_total", f"{ONES_FIRST} {MAX_TOTAL}"),
        ("ones_first", "min_total", f"{ONES_FIRST} {MIN_TOTAL}"),
        ("blank_first", "max_total", f"{BLANK_FIRST} {MAX_TOTAL}"),
        ("highest_double", "min_total", f"{HIGHEST} {MIN_TOTAL}"),
    ],
)
def test_lead_order_puts_each_tile_before_the_next(order, no_double, tiles):
    rules = RuleSet.preset("room-fish-all", 2)
    rules = rules.replace(lead_order=order, lead_no_double=no_double)
    names = tiles.split()
    assert len(set(names)) == 28
    for first, second in pairwise(names):
        assert first_leader(rules, [[second], [first]]) == (1, first)
        assert first_leader(rules, [[first], [second]]) == (0, first)


def test_lead_ones_only_is_one_one_wherever_it_lies():
    rules = RuleSet.preset("pair-traditional")
    assert first_leader(rules, [["0-0"], ["6-6"], ["6-5", "1-1"], ["2-2"]]) == (2, "1-1")


def test_lead_not_forced_names_the_leader_only():
    rules = ROOM.replace(lead_forced=False, players=2)
    assert first_leader(rules, [["3-3"], ["1-1"]]) == (1, None)


def test_blank_that_may_not_lead_gives_nobody_the_lead():
    rules = RuleSet.preset("room-fish-all", 2).replace(lead_blank=False)
    assert first_leader(rules, [["0-0", "6-4"], ["6-6"]]) == (1, "6-6")
    assert first_leader(rules, [["0-0", "6-4"], ["6-5", "1-0"]]) == (1, "6-5")
    lowest = rules.replace(lead_no_double="min_total")
    assert first_leader(lowest, [["0-0", "6-4"], ["6-5", "1-0"]]) == (1, "1-0")
    highest = rules.replace(lead_order="highest_double", lead_forced=False)
    assert first_leader(highest, [["0-0", "6-4"], ["6-5", "1-0"]]) == (1, None)
    assert first_leader(ROOM.replace(players=2), [["0-0", "6-4"], ["6-5"]]) == (0, "0-0")


def test_blank_that_may_not_lead_is_no_move_on_the_empty_table_only():
    rules = RuleSet.preset("room-fish-all", 2)
    hand = ["0-0", "6-0"]
    assert [m[0][0] for m in legal_moves(rules, hand, [])] == ["0-0", "6-0"]
    without = rules.replace(lead_blank=False)
    assert [m[0][0] for m in legal_moves(without, hand, [])] == ["6-0"]
    assert [m[0][0] for m in legal_moves(without, hand, [0, 3])] == ["0-0", "6-0"]


FOUR, PAIRS = RuleSet.preset("room-fish-all", 4), RuleSet.preset("pair-traditional")


@pytest.mark.parametrize(
    ("rules", "hands", "end", "by", "next_seat", "winner", "loser"),
    [
        # An exit: the winner is whoever went out, whatever the others' hands are worth.
        (FOUR, [3, 0, 9, 5], "out", 1, 3, 1, 2),
        (FOUR, [0, 0, 0, 0], "out", 1, 3, 1, 2),
        (FOUR, [9, 0, 4, 9], "out", 1, 3, 1, 3),
        # A fish: the lowest and the highest hand, of equal ones the nearest clockwise.
        (FOUR, [7, 8, 4, 9], "fish", 0, 3, 2, 3),
        (FOUR, [4, 8, 4, 9], "fish", 0, 3, 0, 3),
        (FOUR, [4, 8, 4, 9], "fish", 1, 3, 2, 3),
        (FOUR, [9, 8, 4, 9], "fish", 0, 3, 2, 3),
        (FOUR, [9, 8, 4, 9], "fish", 3, 3, 2, 0),
        (FOUR, [9, 2, 4, 5], "fish", 0, 3, 1, 0),
        (FOUR, [6, 6, 6, 6], "fish", 2, 3, 2, 3),
        # Pairs: the partner of whoever went out holds 30, and yet his side has won.
        (PAIRS, [0, 9, 30, 1], "out", 0, 3, 0, 1),
        (PAIRS, [30, 9, 0, 1], "out", 2, 3, 2, 3),
        # The fisherman's pair holds less, more, as much.
        (PAIRS, [5, 9, 5, 9], "fish", 2, 3, 2, 3),
        (PAIRS, [9, 1, 9, 1], "fish", 2, 3, 3, 0),
        (PAIRS, [9, 1, 1, 9], "fish", 2, 3, 2, 3),
    ],
)
def test_next_leader_of_each_kind(rules, hands, end, by, next_seat, winner, loser):
    def lead(kind: str) -> int:
        return next_leader(rules.replace(lead_next=kind), hands, end, by, leader=2)

    assert lead("finisher") == by
    assert [lead("next_seat"), lead("winner"), lead("loser")] == [next_seat, winner, loser]


def test_first_leader_without_tiles_is_an_error():
    with pytest.raises(ValueError, match="no tile was dealt"):
        first_leader(ROOM, [[], [], [], []])
