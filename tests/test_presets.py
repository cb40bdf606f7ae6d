"""The presets against the published rules: every value here is written by hand from the sources.

The three tables below are read like the rules pages: who plays and leads, how a fish and the
account work, and what is special. A knob that cannot matter in a preset is not compared.
"""

import pytest
from conftest import PRESET_TABLES

from kozel_sim.presets import PRESETS
from kozel_sim.rules import RuleSet

FIVE_SIX, NO = "doubles5_or_same6", "none"
ONES, ONES_ONLY, BLANK = "ones_first", "ones_only", "blank_first"
HIGHEST = "highest_double"
FIRST, UNTIL, AFTER = (
    "first_round_only",
    "until_any_official_record",
    "after_every_unrecorded_round",
)
SIX, STUCK = "six_closed", "no_legal_move"
DRAW = "until_playable"

# preset: (players, redeal, first lead, without a double, repeated, bazaar, reserve, fish)
TABLE = {
    "room-fish-all": ((2, 3, 4), FIVE_SIX, ONES, "max_total", FIRST, DRAW, 0, SIX),
    "room-fish-one": ((2, 3, 4), FIVE_SIX, ONES, "max_total", FIRST, DRAW, 0, SIX),
    "blog-fish-one": ((2, 3, 4), FIVE_SIX, ONES, "min_total", FIRST, DRAW, 0, SIX),
    "livegames-goat": ((2, 3, 4), NO, BLANK, "max_total", FIRST, DRAW, 0, STUCK),
    "livegames-goat-plain": ((2, 3, 4), NO, BLANK, "max_total", FIRST, DRAW, 0, STUCK),
    "household-300": ((2, 3, 4), NO, ONES, "min_total", FIRST, DRAW, 0, STUCK),
    "logic-games-goat": ((2, 3, 4), NO, ONES, "max_total", FIRST, DRAW, 0, STUCK),
    "logic-games-donkey": ((2, 3, 4), NO, ONES, "max_total", FIRST, DRAW, 0, STUCK),
    "pair-traditional": ((4,), NO, ONES_ONLY, None, AFTER, NO, 0, STUCK),
    "sea-goat": ((4,), NO, ONES_ONLY, None, AFTER, NO, 0, STUCK),
    "dominoes3d-pair": ((4,), FIVE_SIX, ONES_ONLY, None, UNTIL, NO, 0, STUCK),
    "dominoes3d-duel": ((2,), FIVE_SIX, ONES, "max_total", UNTIL, DRAW, 1, STUCK),
    "livegames-donkey": ((2, 3, 4), NO, BLANK, "max_total", FIRST, DRAW, 0, STUCK),
    "sea-goat-125": ((4,), NO, ONES_ONLY, None, AFTER, NO, 0, STUCK),
    "moldova-lone": ((2, 3, 4), FIVE_SIX, ONES, "max_total", FIRST, DRAW, 0, SIX),
    "kozel-2p-plain": ((2,), NO, BLANK, "max_total", FIRST, DRAW, 0, STUCK),
    "leaflet-200": ((2, 3, 4), NO, ONES, "max_total", FIRST, DRAW, 0, STUCK),
    "block-100": ((2, 3, 4), NO, HIGHEST, "max_total", FIRST, NO, 0, STUCK),
}

CARRY, EGGS_ALL, EGGS_ONE = "carry_to_unique_max", "eggs_all_hands", "eggs_one_side"
WRITE_0, VOID = "tied_lowest_write_0", "void"
LONE_10 = "0-0:10 alone"
NOTHING, ON_RECORD = "nothing_written_this_round", "on_opponents_record"
RATED, BANK, ELO = ("rating100", "timeout"), ("bank",), "elo, for two"

# preset: (fish scoring, tie, tile values, fence, memory burns, target, worth)
SCORES = {
    "room-fish-all": ("all_own", None, LONE_10, 13, NOTHING, 101, RATED),
    "room-fish-one": ("max_takes_all", CARRY, LONE_10, 13, NOTHING, 101, RATED),
    "blog-fish-one": ("max_takes_all", CARRY, LONE_10, 13, NOTHING, 101, ()),
    "livegames-goat": ("lowest_free", WRITE_0, "none", 13, NOTHING, 101, BANK),
    "livegames-goat-plain": ("lowest_free", WRITE_0, "none", 0, None, 101, BANK),
    "household-300": ("credit_lowest", VOID, "0-0:25 6-6:50", 0, None, 300, ()),
    "logic-games-goat": ("lowest_free", EGGS_ALL, "none", 13, NOTHING, 101, ELO),
    "logic-games-donkey": ("lowest_free", EGGS_ALL, "none", 13, NOTHING, 101, ELO),
    "pair-traditional": ("pair_lower_wins", EGGS_ALL, "none", 13, ON_RECORD, 101, ()),
    "sea-goat": ("pair_lower_wins", EGGS_ALL, "none", 13, ON_RECORD, 202, ()),
    "dominoes3d-pair": ("pair_lower_wins", EGGS_ONE, LONE_10, 13, ON_RECORD, 101, ()),
    "dominoes3d-duel": ("pair_lower_wins", EGGS_ONE, LONE_10, 13, ON_RECORD, 101, ()),
    "livegames-donkey": ("lowest_free", WRITE_0, "none", 13, NOTHING, 101, BANK),
    "sea-goat-125": ("pair_lower_wins", EGGS_ALL, "none", 25, ON_RECORD, 125, ()),
    "moldova-lone": ("all_own", None, "0-0:25 6-6:50 alone", 13, NOTHING, 101, RATED),
    "kozel-2p-plain": ("lowest_free", VOID, "none", 0, None, 101, BANK),
    "leaflet-200": ("credit_lowest", VOID, "0-0:10", 0, None, 200, ()),
    "block-100": ("credit_difference", VOID, "none", 0, None, 100, ()),
}
HOUSEHOLD = {"household-300", "leaflet-200", "block-100"}
"""Seven tiles for two, five for more."""
CREDITED = HOUSEHOLD | {"pair-traditional", "sea-goat", "sea-goat-125"}
"""Points are credited to the winner, and the target wins; elsewhere the holder writes and loses."""

PAIRS = {"pair-traditional", "sea-goat", "sea-goat-125", "dominoes3d-pair"}
SEA = {"sea-goat", "sea-goat-125"}
DONKEYS = {"livegames-donkey", "logic-games-donkey"}


def test_presets_are_the_thirteen_published_and_five_extras():
    assert list(PRESETS) == list(TABLE) == list(SCORES)
    extras = [name for name, preset in PRESETS.items() if preset.source.startswith("public extra")]
    assert extras == list(PRESETS)[13:]
    assert len(extras) == 5


@pytest.mark.parametrize("name", PRESETS)
def test_preset_is_played_by_its_numbers_of_players(name):
    assert PRESETS[name].players == TABLE[name][0]


@pytest.mark.parametrize(("name", "players"), PRESET_TABLES)
def test_preset_deals_leads_and_draws_by_its_source(name, players):
    rules = RuleSet.preset(name, players)
    _, redeal, lead, no_double, repeat, bazaar, reserve, fish = TABLE[name]
    household_fives = name in HOUSEHOLD and players > 2
    assert rules.hand_size == (5 if household_fives else 7)
    assert rules.redeal == redeal
    assert rules.lead_order == lead
    assert rules.lead_no_double == (no_double or rules.lead_no_double)
    assert rules.lead_repeat == repeat
    assert rules.lead_forced is True
    assert rules.lead_blank is (name != "leaflet-200")
    assert rules.lead_next == ("next_seat" if name == "block-100" else "finisher")
    assert (rules.bazaar_draw, rules.bazaar_reserve) == (bazaar, reserve)
    assert rules.pass_ == "when_stuck"
    assert rules.fish_def == fish
    assert rules.dead_value_stop is True


@pytest.mark.parametrize(("name", "players"), PRESET_TABLES)
def test_preset_lays_doubles_by_its_source(name, players):
    rules = RuleSet.preset(name, players)
    donkey = name in DONKEYS
    laid = "any_ends" if donkey else "both_ends" if name in SEA else "none"
    assert rules.multi_double == laid
    assert rules.spinner is rules.close_doubles is rules.close_two_rule is donkey


@pytest.mark.parametrize(("name", "players"), PRESET_TABLES)
def test_preset_scores_by_its_source(name, players):
    rules = RuleSet.preset(name, players)
    scoring, tie, tiles, fence, burns, target, worth = SCORES[name]
    credit = name in CREDITED
    assert rules.fish_scoring == scoring
    assert rules.fish_tie == (tie or rules.fish_tie)
    assert rules.tile_over == tiles
    assert rules.ledger == ("credit" if credit else "penalty")
    assert (rules.open_at, rules.open_test) == (fence, "round_amount")
    assert rules.memory_reset == (burns or rules.memory_reset)
    assert rules.memory_owner == ("pair" if name in PAIRS else "player")
    assert rules.teams == ("pairs" if name in PAIRS else "none")
    assert (rules.target, rules.reach_effect) == (target, "wins" if credit else "loses")
    assert rules.dry_rule == ("reset_both" if name in SEA else "none")
    assert rules.max_rounds == 20_000
    if worth == ELO:
        worth = ("elo",) if players == 2 else ()
    assert rules.settlement == worth


@pytest.mark.parametrize("name", [n for n, row in SCORES.items() if row[1] == CARRY])
def test_carry_presets_keep_memories_on_a_tied_fish(name):
    assert RuleSet.preset(name).memory_on_draw == "keep"


@pytest.mark.parametrize("name", [n for n, row in SCORES.items() if row[1] in (EGGS_ALL, EGGS_ONE)])
def test_eggs_help_to_open_except_in_the_app(name):
    app = name.startswith("dominoes3d")
    rules = RuleSet.preset(name)
    assert rules.eggs_help_open is not app
    assert rules.memory_on_draw == "keep"


@pytest.mark.parametrize("name", [n for n, row in SCORES.items() if row[0] == "pair_lower_wins"])
def test_lower_side_wins_the_losers_hands_and_memory_adds(name):
    rules = RuleSet.preset(name)
    assert rules.pair_fish_points == "losers_hands"
    assert rules.fish_memory == "add"
