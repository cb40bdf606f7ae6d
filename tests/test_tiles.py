"""The double-six set, its names and its masks."""

import pytest

from kozel_sim.tiles import (
    ALL,
    DOUBLES,
    HAS,
    HIGH,
    LOW,
    NAMES,
    PIPS,
    Hand,
    count_value,
    mask_of,
    other_half,
    tile_id,
    tile_name,
    tiles_of,
)

IN_ORDER = (
    "0-0 1-1 2-2 3-3 4-4 5-5 6-6 1-0 2-0 2-1 3-0 3-1 3-2 4-0 4-1 4-2 4-3 "
    "5-0 5-1 5-2 5-3 5-4 6-0 6-1 6-2 6-3 6-4 6-5"
)
ALL_NAMES = IN_ORDER.split()


def test_tile_ids_are_doubles_then_the_others():
    assert list(NAMES) == ALL_NAMES
    assert [tile_id(name) for name in ALL_NAMES] == list(range(28))
    assert [tile_name(i) for i in range(28)] == ALL_NAMES


def test_tile_id_takes_halves_in_either_order():
    assert tile_id("4-6") == tile_id("6-4") == 26


@pytest.mark.parametrize("name", ["7-0", "64", "6-4 ", "-", "", "6-4-1", 26, None, ["6-4"]])
def test_tile_id_refuses_what_is_no_tile(name):
    with pytest.raises(ValueError, match=r"not a tile: .*halves from 0 to 6"):
        tile_id(name)


def test_set_has_28_tiles_168_pips_and_each_value_on_8_halves():
    """Example V70."""
    assert len(set(NAMES)) == 28
    assert sum(PIPS) == 168
    halves = HIGH + LOW
    assert [halves.count(value) for value in range(7)] == [8] * 7


def test_halves_and_pips_agree_with_names():
    assert [(int(n[0]), int(n[2])) for n in NAMES] == list(zip(HIGH, LOW, strict=True))
    assert list(PIPS) == [int(n[0]) + int(n[2]) for n in NAMES]


def test_each_value_is_on_seven_tiles_with_its_double_once():
    for value in range(7):
        names = {NAMES[t] for t in tiles_of(HAS[value])}
        assert names == {n for n in ALL_NAMES if str(value) in n}
        assert len(names) == count_value(ALL, value) == 7


def test_doubles_mask_is_the_seven_doubles():
    assert [NAMES[t] for t in tiles_of(DOUBLES)] == [f"{v}-{v}" for v in range(7)]


def test_other_half_is_what_a_joined_tile_shows():
    assert other_half(tile_id("6-4"), 6) == 4
    assert other_half(tile_id("6-4"), 4) == 6
    assert other_half(tile_id("3-3"), 3) == 3


def test_masks_and_tile_lists_are_inverse():
    tiles = [0, 3, 9, 27]
    assert list(tiles_of(mask_of(tiles))) == tiles
    assert mask_of(reversed(tiles)) == mask_of(tiles) == 1 | 1 << 3 | 1 << 9 | 1 << 27
    assert list(tiles_of(0)) == []


def test_count_value_counts_a_double_once():
    hand = Hand.of("3-3", "3-1", "6-3", "2-1")
    assert [count_value(hand, value) for value in range(7)] == [0, 2, 1, 3, 0, 0, 1]


def test_hand_shows_its_tiles():
    hand = Hand.of("6-4", "1-1")
    assert hand == 1 << 26 | 1 << 1
    assert hand.tiles == [1, 26]
    assert hand.names == ["1-1", "6-4"]
    assert hand.pips == 12
    assert len(hand) == 2
    assert "4-6" in hand
    assert "6-5" not in hand
    assert repr(hand) == "Hand('1-1 6-4')"


def test_hand_refuses_a_tile_twice():
    with pytest.raises(ValueError, match="tile 4-6 is named twice in 6-4 1-0 4-6"):
        Hand.of("6-4", "1-0", "4-6")


def test_hand_refuses_what_is_no_tile():
    with pytest.raises(ValueError, match="not a tile: '6-7'"):
        Hand.of("6-7")
