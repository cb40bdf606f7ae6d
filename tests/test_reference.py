"""The table by hand: single rounds of the readable engine, laid tile by tile."""

import pytest

from kozel_sim.moves import decode_move, encode_move, legal_moves
from kozel_sim.reference import Round, run_round
from kozel_sim.rules import RuleSet
from kozel_sim.tiles import NAMES, Hand, tile_id

ROOM = {n: RuleSet.preset("room-fish-all", n) for n in (2, 3, 4)}
LIVE = {n: RuleSet.preset("livegames-goat", n) for n in (2, 3, 4)}
DUEL = RuleSet.preset("dominoes3d-duel")
DONKEY = RuleSet.preset("livegames-donkey", 3)
SEA = RuleSet.preset("sea-goat")

SIX_TWOS = "4-2 6-4 6-2 2-1 1-0 2-0 3-2 5-3 5-2"
"""Example S6: a line whose ends show 2 when all six tiles of 2 but 2-2 are out."""
SEVEN_TWOS = "4-2 6-4 6-2 2-2 2-1 1-0 2-0 3-2 5-3 5-2"


def table(rules, hands, bazaar="", leader=0) -> Round:
    """A round with hands and bazaar written as texts."""
    drawn = [tile_id(name) for name in bazaar.split()]
    return Round(rules, [Hand.of(*hand.split()) for hand in hands], drawn, leader)


def lay(round_: Round, *moves: str) -> None:
    """Lay moves like ``"3-3@0 5-5@1!"``, each by the seat to act."""
    for move in moves:
        placements = []
        for word in move.split():
            tile, _, arm = word.rstrip("!").partition("@")
            placements.append((tile_id(tile), int(arm), word.endswith("!")))
        assert round_.end is None
        assert encode_move(placements) in round_.moves()
        round_.play(encode_move(placements))


def line(rules, tiles: str, extra: list[str], bazaar="") -> Round:
    """A round in which the seats in turn laid a line of tiles, and hold some more."""
    names, n = tiles.split(), rules.players
    hands = [" ".join([*names[seat::n], extra[seat]]) for seat in range(n)]
    round_ = table(rules, hands, bazaar)
    lay_line(round_, names)
    return round_


def lay_line(round_: Round, names: list[str]) -> None:
    """Lay tiles one behind the other, to the right of the first."""
    lay(round_, f"{names[0]}@0")
    grows = 1
    for name in names[1:]:
        # On equal ends a tile is one move, on arm 0.
        grows = 0 if round_.arms[0] == round_.arms[1] else grows
        lay(round_, f"{name}@{grows}")


def first_move(round_: Round, moves: list[int]) -> int:
    return moves[0]


def acts(round_: Round) -> list[str]:
    """The events as short words: ``"0 6-4"``, ``"1 draws 2-0"``, ``"1 passes"``."""
    return [
        f"{e.seat} draws {e.draw}"
        if e.draw
        else f"{e.seat} {' '.join(p.tile for p in e.play)}"
        if e.play
        else f"{e.seat} passes"
        for e in round_.events
    ]


# ---------------------------------------------------------------------- turns


def test_forced_tile_is_led_and_the_turn_goes_on():
    round_ = table(ROOM[3], ["6-5 4-1", "1-1 2-1", "3-1 0-0"], leader=1)
    run_round(round_, tile_id("1-1"), first_move)
    assert acts(round_)[:3] == ["1 1-1", "2 3-1", "0 4-1"]


def test_unforced_leader_is_asked():
    asked = []

    def choose(round_, moves):
        asked.append(round_.seat)
        return moves[-1]

    round_ = table(ROOM[2], ["6-5 4-1", "5-1 4-4"])
    run_round(round_, None, choose)
    assert asked[0] == 0
    assert acts(round_)[0] == "0 6-5"


def test_policy_is_not_asked_for_a_single_move():
    def choose(round_, moves):
        raise AssertionError("there was nothing to choose")

    round_ = table(ROOM[2], ["5-1", "6-5 4-1"], leader=1)
    run_round(round_, tile_id("6-5"), choose)
    assert acts(round_) == ["1 6-5", "0 5-1"]


def test_stuck_seat_draws_until_it_can_play():
    round_ = table(ROOM[2], ["6-5 1-0", "3-3 2-1"], "4-1 4-4 5-2 2-2")
    run_round(round_, tile_id("6-5"), first_move)
    assert acts(round_)[:5] == ["0 6-5", "1 draws 4-1", "1 draws 4-4", "1 draws 5-2", "1 5-2"]


def test_pass_comes_only_when_the_bazaar_is_empty():
    round_ = table(ROOM[2], ["6-5 6-1", "3-3 2-1"], "4-1")
    run_round(round_, tile_id("6-5"), first_move)
    assert acts(round_) == ["0 6-5", "1 draws 4-1", "1 passes", "0 6-1"]
    assert (round_.end, round_.by) == ("out", 0)


def test_bazaar_draw_none_passes_at_once():
    rules = ROOM[2].replace(bazaar_draw="none")
    round_ = table(rules, ["6-5 6-1", "3-3 2-1"], "5-1")
    run_round(round_, tile_id("6-5"), first_move)
    assert acts(round_)[:2] == ["0 6-5", "1 passes"]


def test_reserve_tile_is_never_drawn():
    """Example V56: with one tile left a stuck seat passes; with two it draws exactly one."""
    for bazaar, first in (("6-2", ["1 passes"]), ("4-1 6-2", ["1 draws 4-1", "1 passes"])):
        round_ = table(DUEL, ["6-5 6-1", "3-3 2-2"], bazaar)
        run_round(round_, tile_id("6-5"), first_move)
        assert acts(round_) == ["0 6-5", *first, "0 6-1"]
        assert [NAMES[t] for t in round_.bazaar] == ["6-2"]


def test_drawn_tile_that_fits_must_be_played():
    """Example V58: the bazaar's last tile, 6-6, on ends 6 and 6."""
    round_ = table(LIVE[2], ["6-1 6-2 6-3", "2-1 5-4 3-0"], "6-6")
    lay(round_, "6-1@0", "2-1@0", "6-2@0")
    assert round_.arms == [6, 6]
    run_round(round_, None, first_move)
    assert acts(round_)[3:5] == ["1 draws 6-6", "1 6-6"]


# ---------------------------------------------------------------------- ends of a round


def test_empty_hand_goes_out_even_if_it_blocks():
    """B1: out comes before the fish."""
    round_ = line(ROOM[3], SIX_TWOS, ["6-6", "5-5", ""])
    assert (round_.end, round_.by) == ("out", 2)


@pytest.mark.parametrize("extra", [["2-2", "6-6", "5-5"], ["6-6", "5-5", "2-2"]])
def test_six_closed_is_a_fish_wherever_the_double_is(extra):
    """Example S6, A1: also while somebody could still play 2-2."""
    round_ = line(ROOM[3], SIX_TWOS, extra)
    assert (round_.end, round_.by) == ("fish", 2)
    assert round_.true_fish


def test_six_closed_is_a_fish_with_the_double_on_the_table():
    """Example S6."""
    round_ = line(ROOM[3], SEVEN_TWOS, ["6-6", "5-5", "4-4"])
    assert (round_.end, round_.by, round_.true_fish) == ("fish", 0, True)


def test_six_closed_leaves_the_bazaar_alone():
    """B2: a tile that could have been drawn is no reserve, so the fish is a true one."""
    round_ = line(ROOM[3], SIX_TWOS, ["6-6", "5-5", "4-4"], bazaar="2-2 3-3")
    assert (round_.end, round_.by, round_.true_fish) == ("fish", 2, True)
    assert len(round_.bazaar) == 2


def test_elsewhere_the_playable_double_keeps_the_round_going():
    """A1: without six_closed the holder of 2-2 still plays it."""
    round_ = line(LIVE[3], SIX_TWOS, ["2-2 6-6", "5-5", "4-4"])
    assert round_.end is None
    lay(round_, "2-2@0")
    assert (round_.end, round_.by) == ("fish", 0)


def test_six_closed_needs_the_value_at_both_ends():
    round_ = line(ROOM[3], "6-4 6-2 2-1 1-0 2-0 3-2 4-3 4-2 5-2", ["6-6", "5-5", "4-4"])
    assert (set(round_.arms), round_.end) == ({4, 5}, None)


def test_dead_position_is_a_fish_at_once():
    """A2: nobody empties the bazaar first."""
    round_ = line(LIVE[2], SEVEN_TWOS, ["6-6", "5-5"], bazaar="4-4 3-3")
    assert (round_.end, round_.by, round_.true_fish) == ("fish", 1, True)
    assert len(round_.bazaar) == 2


def test_dead_position_empties_the_bazaar_where_nobody_stops_it():
    """B1: with dead_value_stop off the stuck seat draws on; the fisherman stays."""
    rules = LIVE[2].replace(dead_value_stop=False)
    round_ = line(rules, SEVEN_TWOS, ["6-6", "5-5"], bazaar="4-4 3-3")
    assert round_.end is None
    run_round(round_, None, first_move)
    assert acts(round_)[-2:] == ["0 draws 4-4", "0 draws 3-3"]
    assert (round_.end, round_.by, round_.bazaar) == ("fish", 1, [])


def test_block_with_an_empty_bazaar_is_a_fish_without_passes():
    round_ = table(LIVE[2], ["6-5 4-4 1-0", "5-4 6-4 2-1"])
    lay(round_, "6-5@0", "5-4@0", "4-4@0")
    assert round_.end is None
    lay(round_, "6-4@1")
    assert (round_.arms, round_.end, round_.by) == ([4, 4], "fish", 1)
    assert round_.true_fish


def test_block_over_a_fitting_reserve_tile_is_not_a_true_fish():
    """A36, B2."""
    for reserve, true in (("4-3", False), ("3-3", True)):
        round_ = table(DUEL, ["6-5 4-4 1-0", "5-4 6-4 2-1"], reserve)
        lay(round_, "6-5@0", "5-4@0", "4-4@0", "6-4@1")
        assert (round_.end, round_.by, round_.true_fish) == ("fish", 1, true)


def test_block_ends_the_round_in_the_middle_of_a_turn():
    """B1: the last drawable tile does not help, and nobody else can play."""
    round_ = table(DUEL, ["6-5 4-4 1-0", "5-4 6-4 2-1"], "2-0 4-3")
    lay(round_, "6-5@0", "5-4@0", "4-4@0", "6-4@1")
    assert round_.end is None
    run_round(round_, None, first_move)
    assert acts(round_)[4:] == ["0 draws 2-0"]
    assert (round_.end, round_.by, round_.true_fish) == ("fish", 1, False)


def test_all_tiles_in_one_line_leave_equal_ends():
    """Example V70: each value lies on an even number of halves."""
    tiles = (
        "0-0 1-0 1-1 2-1 2-2 3-2 3-3 4-3 4-4 5-4 5-5 6-5 6-6 6-0 "
        "2-0 4-2 6-4 6-1 3-1 5-3 5-0 3-0 6-3 6-2 5-2 5-1 4-1 4-0"
    )
    # Both seats hold everything, or one would go out before the last tile.
    round_ = table(LIVE[2], [tiles, tiles])
    lay_line(round_, tiles.split())
    assert Hand(round_.table) == Hand.of(*NAMES)
    assert round_.arms == [0, 0]
    assert (round_.end, round_.by) == ("fish", 1)


# ---------------------------------------------------------------------- several doubles


def test_sea_pair_of_doubles_can_empty_a_hand():
    """Example V62: {3-3, 5-5} laid together is out."""
    round_ = table(SEA, ["5-3 1-0", "3-3 5-5", "2-1 6-6", "6-5 4-4"])
    lay(round_, "5-3@0", "3-3@0 5-5@1")
    assert (round_.end, round_.by, round_.arms) == ("out", 1, [3, 5])


def test_donkey_double_led_is_four_way():
    """Example V65."""
    round_ = table(DONKEY, ["3-3 1-0", "5-3 6-6", "5-5 4-4"])
    lay(round_, "3-3@0")
    assert round_.arms == [3, 3, 3, 3]
    lay(round_, "5-3@0")
    assert round_.arms == [5, 3, 3, 3]
    lay(round_, "5-5@0")
    assert round_.arms == [5, 3, 3, 3]


def test_donkey_line_stays_two_ended():
    """Example V65: a later double is no spinner."""
    round_ = table(DONKEY, ["5-2 1-0", "5-5 6-6", "2-2 4-4"])
    lay(round_, "5-2@0", "5-5@1", "2-2@0")
    assert round_.arms == [2, 5]


def test_donkey_closing_both_ends_is_a_fish_of_the_closer():
    """Example V67, A30: nothing can be drawn for it, so it needs no dead_value_stop."""
    for rules in (DONKEY, DONKEY.replace(dead_value_stop=False)):
        round_ = table(rules, ["5-2 3-3", "2-2 5-5 4-1", "6-6 4-4"], "3-1 1-0")
        lay(round_, "5-2@0", "2-2@0! 5-5@1!")
        assert (round_.end, round_.by, round_.arms) == ("fish", 1, [None, None])


def test_donkey_may_not_close_both_ends_over_a_double():
    """Example V67: 5-5 has been laid, and 2-2 and 6-6 would close both ends."""
    round_ = table(DONKEY, ["5-2 3-3", "5-5 4-4", "6-5 1-1"])
    both = encode_move([(tile_id("2-2"), 0, True), (tile_id("6-6"), 1, True)])
    lay(round_, "5-2@0", "5-5@1", "6-5@1")
    round_.hands[0] = Hand.of("2-2", "6-6", "1-0")
    assert round_.arms == [2, 6]
    assert len(round_.moves()) == 7
    assert both not in round_.moves()


def test_donkey_closed_arm_is_gone():
    """Example V68."""
    round_ = table(DONKEY, ["6-5 3-3", "6-6 5-1", "6-4 5-4"])
    lay(round_, "6-5@0", "6-6@1!")
    assert round_.arms == [5, None]
    assert [decode_move(m) for m in round_.moves()] == [((tile_id("5-4"), 0, False),)]


def test_donkey_last_tile_laid_closed_is_out():
    """Example V68, B8: even when it closes the last arm."""
    round_ = table(DONKEY, ["6-5 3-3", "6-6 5-1", "5-5"])
    lay(round_, "6-5@0", "6-6@1!", "5-5@0!")
    assert (round_.end, round_.by, round_.arms) == ("out", 2, [None, None])


def test_moves_of_a_round_are_the_legal_moves():
    round_ = line(LIVE[3], "4-2 6-4", ["2-2 6-0", "5-5", "6-6 2-1 3-0"])
    named = [[(NAMES[t], arm, shut) for t, arm, shut in decode_move(m)] for m in round_.moves()]
    assert named == legal_moves(LIVE[3], ["6-6", "2-1", "3-0"], [2, 6])
    assert len(named) == 2
