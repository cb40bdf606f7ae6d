"""What may be laid, and the codes of moves."""

import pytest

from kozel_sim.moves import decode_move, encode_move, legal_moves, move_text, move_tiles
from kozel_sim.rules import RuleSet
from kozel_sim.tiles import Hand, tile_id

ROOM = RuleSet.preset("room-fish-all")
SEA = RuleSet.preset("sea-goat")
DONKEY = RuleSet.preset("livegames-donkey")


def written(rules, hand, arms, **where) -> list[str]:
    """The legal moves like ``"3-3@0 5-5@1!"``."""
    moves = legal_moves(rules, hand.split(), arms, **where)
    return [" ".join(f"{t}@{arm}{'!' * shut}" for t, arm, shut in move) for move in moves]


# ---------------------------------------------------------------------- one tile


def test_replies_to_a_led_double_carry_its_value():
    """Example S8: after 1-1, 5-1 and 3-1 are legal."""
    assert written(ROOM, "5-1 3-1 6-5 2-2", [1, 1]) == ["3-1@0", "5-1@0"]


def test_move_lists_tiles_by_arm_then_tile():
    assert written(ROOM, "6-4 3-0 4-4 4-0 5-2", [4, 0]) == [
        "4-4@0",
        "4-0@0",
        "6-4@0",
        "3-0@1",
        "4-0@1",
    ]


def test_equal_ends_make_one_move_of_a_tile():
    assert written(ROOM, "6-4 4-4", [4, 4]) == ["4-4@0", "6-4@0"]


def test_empty_table_takes_any_tile_on_arm_0():
    assert written(ROOM, "6-4 0-0", []) == ["0-0@0", "6-4@0"]


def test_stuck_hand_has_no_move():
    assert written(ROOM, "6-5 3-3 2-1", [4, 0]) == []


def test_playable_tile_leaves_neither_draw_nor_pass():
    """Example V59: as long as a tile fits, the list has only plays."""
    assert written(ROOM, "6-5 3-3 1-0", [4, 0]) == ["1-0@1"]


# ---------------------------------------------------------------------- two doubles (sea)


def test_sea_lays_two_doubles_one_by_one_or_together():
    """Example V62."""
    assert written(SEA, "3-3 5-5 2-1", [3, 5]) == ["3-3@0", "3-3@0 5-5@1", "5-5@1"]


@pytest.mark.parametrize(
    ("arms", "moves"), [([3, 3], ["3-3@0"]), ([], ["3-3@0", "5-5@0", "2-1@0"])]
)
def test_sea_has_no_double_move_on_equal_ends_or_an_empty_table(arms, moves):
    """Example V62."""
    assert written(SEA, "3-3 5-5 2-1", arms) == moves


def test_sea_lays_only_doubles_together():
    assert written(SEA, "3-3 5-4", [3, 5]) == ["3-3@0", "5-4@1"]


def test_other_rules_lay_one_double_at_a_time():
    assert written(ROOM, "3-3 5-5", [3, 5]) == ["3-3@0", "5-5@1"]


# ---------------------------------------------------------------------- closing (donkey)


def test_donkey_lays_a_double_open_or_closed_and_others_open():
    assert written(DONKEY, "2-2 5-4", [2, 5]) == ["2-2@0", "2-2@0!", "5-4@1"]


def test_donkey_may_close_both_ends_before_any_double():
    """Example V67."""
    assert written(DONKEY, "2-2 5-5 4-1", [2, 5]) == [
        "2-2@0",
        "2-2@0 5-5@1",
        "2-2@0 5-5@1!",
        "2-2@0!",
        "2-2@0! 5-5@1",
        "2-2@0! 5-5@1!",
        "5-5@1",
        "5-5@1!",
    ]


def test_donkey_may_not_close_both_ends_once_a_double_lies():
    """Example V67."""
    moves = written(DONKEY, "2-2 5-5 4-1", [2, 5], doubles_laid=1)
    assert "2-2@0! 5-5@1!" not in moves
    assert len(moves) == 7


def test_close_two_rule_off_closes_both_ends_at_any_time():
    free = DONKEY.replace(close_two_rule=False)
    moves = written(free, "2-2 5-5 4-1", [2, 5], doubles_laid=1)
    assert "2-2@0! 5-5@1!" in moves


def test_close_two_rule_leaves_a_four_way_layout_alone():
    """Around a four-way double all remaining arms may be closed in one move."""
    moves = written(DONKEY, "2-2 5-5", [2, None, None, 5], spinner=True, doubles_laid=1)
    assert "2-2@0! 5-5@3!" in moves


def test_last_open_end_may_be_closed_alone():
    assert written(DONKEY, "5-5 2-2", [None, 5], doubles_laid=2) == ["5-5@1", "5-5@1!"]


def test_opening_double_cannot_be_closed():
    assert written(DONKEY, "3-3 5-5", []) == ["3-3@0", "5-5@0"]


def test_three_doubles_on_three_of_four_arms_make_26_moves():
    """Each is kept, laid open or laid closed: 3 x 3 x 3 ways, less laying none."""
    moves = written(DONKEY, "1-1 2-2 4-4", [1, 2, 4, 6], spinner=True, doubles_laid=1)
    assert len(moves) == len(set(moves)) == 26
    assert "1-1@0! 2-2@1 4-4@2!" in moves


def test_all_doubles_laid_together_are_on_different_arms():
    for move in legal_moves(DONKEY, ["1-1", "2-2", "4-4", "4-2"], [1, 2, 4, 2], spinner=True):
        arms = [arm for _, arm, _ in move]
        assert len(set(arms)) == len(arms)
        if len(move) > 1:
            assert all(tile[0] == tile[2] for tile, _, _ in move)


def test_closed_arm_takes_nothing():
    """Example V68: a closed end leaves the list."""
    assert written(DONKEY, "6-6 6-1 5-3", [None, 3], doubles_laid=1) == ["5-3@1"]


def test_four_way_arms_of_one_value_count_once():
    """Example V65: after 3-3 all four arms show 3."""
    assert written(DONKEY, "5-3 6-3", [3, 3, 3, 3], spinner=True, doubles_laid=1) == [
        "5-3@0",
        "6-3@0",
    ]


# ---------------------------------------------------------------------- codes


@pytest.mark.parametrize(
    ("placements", "code"),
    [
        ([("6-4", 0, False)], 0x1B),
        ([("0-0", 1, False)], 0x0100),
        ([("3-3", 0, False), ("5-5", 1, True)], 0x8604),
        ([("6-5", 3, False)], 0x1C000000),
        ([("1-1", 0, True), ("2-2", 1, True), ("3-3", 2, True), ("4-4", 3, True)], 0x85848382),
    ],
)
def test_move_code_has_a_byte_for_each_arm(placements, code):
    numbered = [(tile_id(t), arm, shut) for t, arm, shut in placements]
    assert encode_move(numbered) == code
    assert decode_move(code) == tuple(numbered)
    assert move_tiles(code) == Hand.of(*(t for t, _, _ in placements))
    assert move_text(code) == " ".join(f"{t}@{a}{'!' * shut}" for t, a, shut in placements)


def test_every_placement_round_trips_through_its_code():
    for tile in range(28):
        for arm in range(4):
            for closed in (False, True):
                code = encode_move([(tile, arm, closed)])
                assert 0 < code < 2**32
                assert decode_move(code) == ((tile, arm, closed),)
                assert move_tiles(code) == 1 << tile


def test_move_text_of_no_move_says_so():
    assert move_text(0) == "no move"
    assert decode_move(0) == ()


@pytest.mark.parametrize(
    ("hand", "arms", "message"),
    [
        (["6-7"], [4, 0], "not a tile: '6-7'"),
        (["6-4"], [7, 0], "arms: what arm 0 shows must be a whole number from 0 to 6, not 7"),
        (["6-4"], [-1, 0], "arms: what arm 0 shows must be a whole number from 0 to 6, not -1"),
        (["6-4"], [1, 2, 3, 4, 5], "a chain has at most 4 arms, not 5"),
        (["6-4", "4-6"], [4, 0], "tile 4-6 is named twice"),
    ],
)
def test_legal_moves_refuses_what_cannot_be(hand, arms, message):
    with pytest.raises(ValueError, match=message):
        legal_moves(ROOM, hand, arms)
