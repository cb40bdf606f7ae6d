"""The score of a round where the sources are silent or disagree: the decisions, one by one.

Tags like A10 and B6 number the decisions; docs/rules.md tells them by topic.
"""

import pytest
from conftest import settled, settled_after

from kozel_sim.rules import RuleSet


def preset(name: str, players: int | None = None, **knobs) -> RuleSet:
    return RuleSet.preset(name, players).replace(**knobs)


ROOM_ONE = preset("room-fish-one")
PAIR, SEA, APP_PAIR = preset("pair-traditional"), preset("sea-goat"), preset("dominoes3d-pair")
DUEL = preset("dominoes3d-duel")
LOGIC = {n: preset("logic-games-goat", n) for n in (2, 3)}


# ---------------------------------------------------------------------- the difference


def test_lowest_hand_is_credited_the_others_less_its_own():
    """Hands of 5, 12 and 20: 32 - 5; with several lowest nobody is credited."""
    rules = preset("block-100", 3)
    assert settled(rules, "fish", [5, 12, 20]).accounts == [27, 0, 0]
    assert settled(rules, "fish", [5, 5, 20]).accounts == [0, 0, 0]
    assert settled(rules, "out", [0, 12, 20]).accounts == [32, 0, 0]


def test_pair_fish_is_worth_the_difference_in_either_ledger():
    credit = preset("pair-traditional", pair_fish_points="difference")
    assert settled(credit, "fish", [9, 20, 3, 8]).written == [16, 0]
    penalty = preset("dominoes3d-pair", pair_fish_points="difference")
    assert settled(penalty, "fish", [9, 20, 3, 8]).written == [0, 16]
    assert settled(penalty, "out", [0, 20, 3, 8]).written == [0, 28]


# ---------------------------------------------------------------------- memory and fence


def test_memory_alone_never_opens():
    """A6: the round's amount is tested, whatever is remembered."""
    rules = preset("room-fish-all", 2)
    after = settled(rules, "out", [0, 12], memory=[0, 95])
    assert (after.opened, after.memory) == ([False, False], [0, 107])


def test_memory_over_the_target_does_not_lose():
    """A7."""
    after = settled(preset("room-fish-all", 2), "out", [0, 12], memory=[0, 95])
    assert (after.over, after.goats) == (False, [])


def test_cumulative_test_counts_the_memory():
    rules = preset("room-fish-all", 2, open_test="cumulative")
    assert settled(rules, "out", [0, 5], memory=[0, 7]).opened == [False, False]
    after = settled(rules, "out", [0, 5], memory=[0, 8])
    assert (after.opened, after.accounts, after.memory) == ([False, True], [0, 13], [0, 0])


def test_no_fence_opens_everybody_from_the_start():
    """B5."""
    rules = preset("livegames-goat-plain", 3)
    after = settled(rules, "out", [0, 1, 2], opened=[False] * 3)
    assert (after.opened, after.accounts, after.memory) == ([True] * 3, [0, 1, 2], [0, 0, 0])


def test_memory_resets_when_nothing_is_written():
    rules = preset("room-fish-all", 3)
    assert settled(rules, "out", [0, 5, 6], memory=[9, 9, 9]).memory == [0, 14, 15]


def test_memory_reset_never_keeps_it():
    rules = preset("room-fish-all", 3, memory_reset="never")
    assert settled(rules, "out", [0, 5, 6], memory=[9, 9, 9]).memory == [9, 14, 15]


@pytest.mark.parametrize(
    ("accounts", "amount", "memory"),
    [([0, 0], 13, [0, 0]), ([0, 20], 3, [0, 0]), ([0, 0], 9, [11, 16])],
    ids=["opens", "writes-on-an-open-account", "writes-below-the-fence"],
)
def test_official_entry_burns_the_other_sides_memory(accounts, amount, memory):
    """A11, A12: an official entry does; an amount that is only remembered does not."""
    before = [11, 0 if accounts[1] else 7]
    assert settled(DUEL, "out", [0, amount], accounts, before).memory == memory


def test_entry_of_nothing_burns_no_memory():
    """An open account to which nothing is written made no official entry."""
    after = settled(DUEL, "out", [9, 0], accounts=[0, 20], memory=[4, 0])
    assert (after.memory, after.recorded) == ([13, 0], False)


def test_written_leaves_out_the_memory_that_joins():
    """B3: and it includes a paid carry (23 + 35)."""
    assert settled(ROOM_ONE, "out", [0, 13, 2, 3], memory=[0, 9, 0, 0]).written == [0, 13, 2, 3]
    after = settled(ROOM_ONE, "fish", [2, 3, 13, 5], memory=[0, 0, 7, 0], pot=35)
    assert (after.written, after.accounts) == ([0, 0, 58, 0], [0, 0, 65, 0])


def test_lone_blank_counts_by_player_before_a_pair_is_summed():
    """A24: 10 and 3 open the losers' account."""
    after = settled(APP_PAIR, "out", [0, "0-0", 5, 3])
    assert after.hand_points == [0, 10, 5, 3]
    assert (after.written, after.accounts) == ([0, 13], [0, 13])


def test_lone_blank_without_a_tile_value_writes_nothing():
    """A25: its holder's memory resets."""
    after = settled(preset("livegames-goat", 3), "out", [0, "0-0", 8], memory=[0, 9, 1])
    assert (after.written, after.memory) == ([0, 0, 8], [0, 0, 9])


def test_household_values_count_alone_or_not():
    """A23."""
    rules = preset("household-300", 3)
    assert settled(rules, "out", [0, "6-6", "0-0 2-1"]).written == [78, 0, 0]


# ---------------------------------------------------------------------- carry


def test_fish_for_one_tests_the_fence_on_what_is_received():
    """A8: 11 pips and a carry of 10 open; 11 pips alone do not."""
    after = settled(ROOM_ONE, "fish", [1, 2, 3, 5], pot=10)
    assert (after.accounts, after.opened[3], after.pot) == ([0, 0, 0, 21], True, 0)
    after = settled(ROOM_ONE, "fish", [1, 2, 3, 5])
    assert (after.memory, after.opened[3]) == ([0, 0, 0, 11], False)


def test_tied_fish_keeps_memories():
    """A9."""
    after = settled(ROOM_ONE, "fish", [14, 14, 4, 3], memory=[1, 2, 3, 4])
    assert after.memory == [1, 2, 3, 4]


def test_tied_fish_resets_memories_where_the_knob_says_so():
    rules = ROOM_ONE.replace(memory_on_draw="reset")
    assert settled(rules, "fish", [14, 14, 4, 3], memory=[1, 2, 3, 4]).memory == [0, 0, 0, 0]


def test_carry_grows_until_one_hand_is_the_highest():
    first = settled(ROOM_ONE, "fish", [14, 14, 4, 3])
    second = settled_after(ROOM_ONE, first, "fish", [10, 10, 2, 1])
    assert second.pot == 35 + 23
    third = settled_after(ROOM_ONE, second, "fish", [4, 9, 2, 1])
    assert (third.written, third.pot) == ([0, 16 + 58, 0, 0], 0)


def test_carry_stays_when_a_round_is_left_with_a_tied_maximum():
    """A10: the normal points are written."""
    after = settled(ROOM_ONE, "out", [0, 15, 15, 3], pot=35)
    assert (after.accounts, after.memory, after.pot) == ([0, 15, 15, 0], [0, 0, 0, 3], 35)


# ---------------------------------------------------------------------- eggs


@pytest.mark.parametrize(
    ("rules", "tie", "eggs"),
    [
        (DUEL, [18, 18], 18),
        (APP_PAIR, [9, 8, 9, 10], 18),
        (PAIR, [9, 8, 9, 10], 36),
        (LOGIC[2], [18, 18], 36),
        (LOGIC[3], [10, 10, 25], 45),
    ],
    ids=["duel", "app-pair", "traditional", "logic-2", "logic-3"],
)
def test_tied_fish_makes_eggs_of_one_side_or_of_all_hands(rules, tie, eggs):
    """A13."""
    after = settled(rules, "fish", tie)
    assert (after.pot, after.written) == (eggs, [0] * rules.sides)


@pytest.mark.parametrize(
    ("rules", "eggs"), [(APP_PAIR, 25), (PAIR, 50)], ids=["app", "traditional"]
)
def test_eggs_accumulate(rules, eggs):
    """A16: 18-18, then 7-7."""
    first = settled(rules, "fish", [9, 8, 9, 10])
    assert settled_after(rules, first, "fish", [3, 2, 4, 5]).pot == eggs


def test_eggs_help_to_cross_the_fence():
    """A14: 5 and 10 make 15 in one text; in the app 5 is remembered and the eggs wait."""
    after = settled(LOGIC[2], "out", [0, 5], pot=10)
    assert (after.accounts, after.opened, after.pot) == ([0, 15], [False, True], 0)
    after = settled(DUEL, "out", [0, 5], pot=10)
    assert (after.accounts, after.memory, after.pot) == ([0, 0], [0, 5], 10)


def test_app_eggs_are_paid_to_an_open_account():
    after = settled(DUEL, "out", [0, 5], accounts=[0, 20], pot=18)
    assert (after.accounts, after.written, after.pot) == ([0, 43], [0, 23], 0)


def test_eggs_below_the_fence_are_paid_into_memory():
    """B6: 5 and 6 make 11."""
    after = settled(PAIR, "out", [0, 2, 9, 3], pot=6)
    assert (after.memory, after.accounts, after.pot) == ([11, 0], [0, 0], 0)
    assert (after.written, after.recorded) == ([11, 0], False)


def test_singles_tied_for_lowest_make_eggs():
    """A37: nobody writes, memories stay."""
    after = settled(LOGIC[3], "fish", [4, 4, 9], accounts=[20, 0, 0], memory=[0, 3, 5])
    assert (after.pot, after.written) == (17, [0, 0, 0])
    assert (after.accounts, after.memory) == ([20, 0, 0], [0, 3, 5])


@pytest.mark.parametrize(
    ("end", "points", "written", "pot"),
    [
        ("out", [0, 5, 9], [0, 5, 26], 0),
        ("out", [0, 9, 9], [0, 9, 9], 17),
        ("fish", [2, 9, 14], [0, 9, 31], 0),
        ("fish", [2, 9, 9], [0, 9, 9], 17),
    ],
)
def test_singles_eggs_are_paid_by_the_next_unique_highest(end, points, written, pot):
    """A37."""
    after = settled(LOGIC[3], end, points, pot=17)
    assert (after.written, after.pot) == (written, pot)


def test_singles_eggs_are_paid_even_with_a_hand_worth_nothing():
    """A37: the only loser holds 0-0."""
    after = settled(LOGIC[2], "out", [0, "0-0"], pot=17)
    assert (after.hand_points, after.written) == ([0, 0], [0, 17])
    assert (after.accounts, after.pot) == ([0, 17], 0)


# ---------------------------------------------------------------------- fish


def test_app_fish_writes_the_losing_pairs_two_hands():
    """A15: under all_hands the winners' would count too."""
    assert settled(APP_PAIR, "fish", [2, 8, 3, 9]).written == [0, 17]
    rules = APP_PAIR.replace(pair_fish_points="all_hands")
    assert settled(rules, "fish", [2, 8, 3, 9]).written == [0, 22]


def test_traditional_fish_credits_the_losers_hands_and_eggs():
    assert settled(PAIR, "fish", [2, 8, 3, 9]).accounts == [17, 0]
    assert settled(PAIR, "fish", [8, 2, 9, 3], pot=36).accounts == [0, 53]


def test_app_fish_below_the_fence_is_added_to_the_memory():
    """A16: under the other reading the larger of the two is kept."""
    assert settled(DUEL, "fish", [5, 7], memory=[0, 9]).memory == [0, 16]
    rules = DUEL.replace(fish_memory="max")
    assert settled(rules, "fish", [5, 7], memory=[0, 9]).memory == [0, 9]
    assert settled(rules, "fish", [5, 12], memory=[0, 9]).memory == [0, 12]
    assert settled(rules, "out", [0, 7], memory=[0, 9]).memory == [0, 16]


def test_tied_lowest_write_0_and_the_others_their_own():
    """A21: so the tied lowest lose their memory."""
    after = settled(preset("livegames-goat", 3), "fish", [10, 10, 25], memory=[4, 5, 6])
    assert (after.written, after.memory) == ([0, 0, 25], [0, 0, 0])
    assert after.accounts == [0, 0, 31]


def test_household_fish_credits_the_lowest_hand_or_nobody():
    """A22."""
    rules = preset("household-300", 4)
    assert settled(rules, "fish", [5, 12, 20, 6]).written == [38, 0, 0, 0]
    assert settled(rules, "fish", [5, 12, 20, 5]).written == [0, 0, 0, 0]


# ---------------------------------------------------------------------- the target


def test_side_at_the_target_wins_and_the_other_pair_are_goats():
    """A19, and the literal reading."""
    after = settled(PAIR, "out", [0, 4, 9, 7], accounts=[90, 60])
    assert (after.accounts, after.goats, after.winners) == ([101, 60], [1], [0])
    rules = PAIR.replace(reach_effect="loses")
    after = settled(rules, "out", [0, 4, 9, 7], accounts=[90, 60])
    assert (after.goats, after.winners) == ([0], [1])


def test_all_others_are_goats_where_the_target_wins():
    """B4."""
    after = settled(preset("household-300", 4), "out", [0, 9, 8, 7], accounts=[290, 280, 0, 5])
    assert (after.goats, after.winners) == ([1, 2, 3], [0])


def test_two_sides_over_the_target_both_lose():
    """B11: only a custom rule set can do that to pairs."""
    rules = APP_PAIR.replace(fish_scoring="all_own", fish_tie="void")
    after = settled(rules, "fish", [4, 3, 5, 8], accounts=[95, 97])
    assert (after.accounts, after.goats, after.winners) == ([104, 108], [0, 1], [])


@pytest.mark.parametrize(("amount", "over"), [(11, False), (12, True), (13, True)])
def test_target_is_reached_at_exactly_its_value(amount, over):
    rules = preset("room-fish-all", 2)
    assert settled(rules, "out", [0, amount], accounts=[0, 89]).over is over


def test_sea_goat_wins_dry():
    after = settled(SEA, "out", [0, 5, 9, 7], accounts=[190, 0])
    assert (after.accounts, after.goats, after.winners) == ([202, 0], [1], [0])


def test_side_with_memory_only_is_dry():
    """A27."""
    after = settled(SEA, "out", [0, 5, 9, 7], accounts=[190, 0], memory=[0, 9])
    assert (after.goats, after.winners) == ([1], [0])


def test_sea_goat_at_the_target_and_not_dry_resets_both():
    """A26, B7: accounts, memories and fences start over; the round counts as recorded."""
    after = settled(SEA, "out", [5, 0, 7, 9], accounts=[40, 195], pot=4)
    assert (after.accounts, after.memory, after.opened) == ([0, 0], [0, 0], [False, False])
    assert (after.over, after.recorded, after.written) == (False, True, [0, 16])


def test_net_cancels_the_opponents_points_first():
    """A26's other reading: A 120, B wins 30 makes A 90, B 0."""
    rules = SEA.replace(dry_rule="net")
    after = settled(rules, "out", [13, 0, 17, 9], accounts=[120, 0], opened=[True, True])
    assert (after.accounts, after.written, after.recorded) == ([90, 0], [0, 30], True)
    after = settled(rules, "out", [13, 0, 17, 9], accounts=[12, 0], opened=[True, True])
    assert after.accounts == [0, 18]


def test_net_wins_dry_at_the_target():
    rules = SEA.replace(dry_rule="net")
    after = settled(rules, "out", [5, 0, 7, 9], accounts=[0, 190], opened=[True, True])
    assert (after.accounts, after.goats, after.winners) == ([0, 202], [0], [1])
