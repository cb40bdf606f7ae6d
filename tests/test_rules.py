"""Rule sets: building, refusing, naming, encoding. What the presets hold is in test_presets."""

import json

import pytest
from conftest import PRESET_TABLES

from kozel_sim.presets import PRESETS
from kozel_sim.rules import (
    LATER_KNOBS,
    Rules,
    RuleSet,
    code,
    knob_choices,
    knob_names,
    parse_tile_over,
)

ROOM = RuleSet.preset("room-fish-all")


def preset(name: str, players: int | None = None, **knobs) -> RuleSet:
    return RuleSet.preset(name, players).replace(**knobs)


# ---------------------------------------------------------------------- building


@pytest.mark.parametrize(("name", "players"), PRESET_TABLES)
def test_preset_round_trips_through_its_knobs(name, players):
    rules = RuleSet.preset(name, players)
    knobs = json.loads(json.dumps(rules.knobs()))
    again = RuleSet.from_knobs(knobs, base=name)
    assert again == rules
    assert again.digest == rules.digest
    assert rules.name == name
    assert (rules.base, rules.players) == (name, players)
    assert rules.diff(again) == {}


@pytest.mark.parametrize(
    ("name", "players"), [("room-fish-all", 4), ("sea-goat", 4), ("dominoes3d-duel", 2)]
)
def test_preset_without_players_takes_the_most_it_allows(name, players):
    assert RuleSet.preset(name).players == players


def test_presets_are_all_different():
    digests = {RuleSet.preset(name, players).digest for name, players in PRESET_TABLES}
    assert len(digests) == len(PRESET_TABLES)


def test_knobs_have_one_order_and_every_name():
    for name, players in PRESET_TABLES:
        assert list(RuleSet.preset(name, players).knobs()) == knob_names()
    assert "pass" in knob_names()
    assert "base" not in knob_names()


def test_rules_are_frozen():
    with pytest.raises(ValueError, match="frozen"):
        ROOM.target = 51  # type: ignore[misc]


def test_replace_changes_a_copy_and_shows_in_name_and_diff():
    rules = ROOM.replace(open_at=0, target=51, settlement=(), lead_forced=False)
    assert (rules.open_at, rules.target, ROOM.open_at, ROOM.target) == (0, 51, 13, 101)
    assert rules.name == ("room-fish-all[lead_forced=false,open_at=0,target=51,settlement=none]")
    assert rules.diff(ROOM) == {
        "lead_forced": (False, True),
        "open_at": (0, 13),
        "target": (51, 101),
        "settlement": ([], ["rating100", "timeout"]),
    }
    assert rules.digest != ROOM.digest
    assert rules.replace(**{k: mine for k, (_, mine) in rules.diff(ROOM).items()}) == ROOM


def test_replace_takes_pass_by_either_name():
    assert ROOM.replace(pass_="when_stuck") == ROOM.replace(**{"pass": "when_stuck"}) == ROOM


def test_custom_rules_are_named_by_all_their_knobs():
    rules = RuleSet(players=2)
    assert rules.name.startswith("custom[players=2,teams=none,")


def test_digest_is_pinned():
    """Manifests of old results name these; a change here makes them unreadable."""
    assert RuleSet.preset("room-fish-one", 4).digest == "5869d7312880196e"
    assert RuleSet.preset("sea-goat").digest == "bee275a82f7e99aa"


def test_later_knobs_stand_in_a_digest_only_when_they_are_turned():
    for knob, default in LATER_KNOBS.items():
        assert RuleSet().knobs()[knob] == default
    without = ROOM.knobs()
    del without["lead_blank"]
    assert RuleSet.from_knobs(without, base=ROOM.base) == ROOM
    turned = ROOM.replace(lead_blank=False)
    assert len({ROOM.digest, turned.digest, turned.replace(lead_next="loser").digest}) == 3


def test_settlement_takes_words_in_one_text():
    assert ROOM.replace(settlement="bank, rating100").settlement == ("bank", "rating100")
    assert ROOM.replace(settlement="none").settlement == ()


@pytest.mark.parametrize(
    ("players", "hand_size", "size"),
    [(2, 7, 14), (3, 7, 7), (4, 7, 0), (2, 5, 18), (3, 5, 13), (4, 5, 8)],
)
def test_bazaar_holds_what_is_not_dealt(players, hand_size, size):
    """Example V61."""
    assert ROOM.replace(players=players, hand_size=hand_size).bazaar_size == size


@pytest.mark.parametrize(("players", "size"), [(2, 14), (3, 13), (4, 8)])
def test_household_bazaar_follows_its_hand_sizes(players, size):
    """Example V61."""
    assert RuleSet.preset("household-300", players).bazaar_size == size


def test_sides_are_players_or_two_pairs():
    assert [preset("room-fish-all", n).sides for n in (2, 3, 4)] == [2, 3, 4]
    pairs = RuleSet.preset("sea-goat")
    assert pairs.sides == 2
    assert [pairs.side_of(seat) for seat in range(4)] == [0, 1, 0, 1]
    assert [ROOM.side_of(seat) for seat in range(4)] == [0, 1, 2, 3]


# ---------------------------------------------------------------------- refusing


@pytest.mark.parametrize(
    ("name", "players", "knobs", "message"),
    [
        ("pair-traditional", 4, {"players": 3}, "teams=pairs needs 4 players, not 3"),
        (
            "dominoes3d-pair",
            4,
            {"fish_scoring": "max_takes_all"},
            "fish_scoring=max_takes_all is for singles; with teams=pairs use pair_lower_wins",
        ),
        (
            "room-fish-all",
            3,
            {"fish_scoring": "pair_lower_wins"},
            "fish_scoring=pair_lower_wins needs two sides, not 3",
        ),
        (
            "logic-games-goat",
            4,
            {"fish_tie": "eggs_one_side"},
            "fish_tie=eggs_one_side needs two sides, not 4",
        ),
        (
            "room-fish-one",
            4,
            {"fish_tie": "tied_lowest_write_0"},
            "fish_tie=tied_lowest_write_0 goes with fish_scoring=lowest_free",
        ),
        (
            "room-fish-all",
            4,
            {"ledger": "credit"},
            "ledger=credit needs a fish with a winner: fish_scoring=pair_lower_wins, "
            "credit_lowest or credit_difference, not all_own",
        ),
        (
            "room-fish-all",
            4,
            {"fish_scoring": "credit_lowest"},
            "fish_scoring=credit_lowest goes with ledger=credit",
        ),
        (
            "room-fish-all",
            4,
            {"memory_owner": "pair"},
            "memory_owner=pair does not fit teams=none: an account is kept by side",
        ),
        (
            "sea-goat",
            4,
            {"memory_owner": "player"},
            "memory_owner=player does not fit teams=pairs: an account is kept by side",
        ),
        (
            "room-fish-all",
            3,
            {"lead_order": "ones_only"},
            "lead_order=ones_only needs 1-1 dealt every time, so no bazaar",
        ),
        (
            "livegames-goat",
            3,
            {"lead_blank": False},
            "lead_order=blank_first begins with 0-0, which lead_blank=false forbids; "
            "use ones_first",
        ),
        (
            "room-fish-all",
            4,
            {"fish_scoring": "credit_difference"},
            "fish_scoring=credit_difference goes with ledger=credit",
        ),
        (
            "sea-goat",
            4,
            {"fish_scoring": "credit_difference", "ledger": "penalty", "dry_rule": "none"},
            "fish_scoring=credit_difference goes with ledger=credit",
        ),
        (
            "room-fish-all",
            4,
            {"bazaar_reserve": 1},
            "bazaar_reserve=1 leaves nothing of a bazaar of 0",
        ),
        (
            "livegames-donkey",
            4,
            {"fish_def": "six_closed"},
            "spinner has four arms; fish_def=six_closed knows two ends",
        ),
        (
            "livegames-donkey",
            4,
            {"multi_double": "both_ends"},
            "multi_double=both_ends knows two ends; with spinner use any_ends",
        ),
        (
            "livegames-donkey",
            4,
            {"close_doubles": False},
            "close_two_rule needs close_doubles and multi_double=any_ends",
        ),
        (
            "sea-goat",
            4,
            {"reach_effect": "loses"},
            "dry_rule=reset_both needs two sides, ledger=credit and reach_effect=wins",
        ),
        (
            "household-300",
            3,
            {"dry_rule": "net"},
            "dry_rule=net needs two sides, ledger=credit and reach_effect=wins",
        ),
        ("logic-games-goat", 2, {"players": 3}, "settlement=elo is for two sides, not 3"),
        ("room-fish-all", 4, {"open_at": 102}, "open_at=102 is over target=101"),
    ],
)
def test_impossible_combination_is_refused_with_its_reason(name, players, knobs, message):
    rules = RuleSet.preset(name, players)
    with pytest.raises(ValueError) as error:  # noqa: PT011 - compared in full
        rules.replace(**knobs)
    assert str(error.value) == message


def test_unknown_preset_names_the_presets():
    with pytest.raises(
        ValueError, match=r"unknown preset 'roomfish' .did you mean 'room-fish-one'.*; choose from "
    ) as error:
        RuleSet.preset("roomfish")
    assert str(error.value).endswith(", ".join(PRESETS))


@pytest.mark.parametrize(
    ("name", "players", "message"),
    [
        ("sea-goat", 2, "preset sea-goat is played by 4 players, not 2"),
        ("room-fish-all", 5, "preset room-fish-all is played by 2 or 3 or 4 players, not 5"),
    ],
)
def test_wrong_number_of_players_names_the_right_ones(name, players, message):
    with pytest.raises(ValueError, match=message):
        RuleSet.preset(name, players)


def test_unknown_knob_names_the_knobs():
    wanted = f"unknown knob 'fence'; choose from {', '.join(knob_names())}"
    with pytest.raises(ValueError, match=wanted):
        ROOM.replace(fence=13)
    with pytest.raises(ValueError, match=wanted):
        RuleSet.from_knobs({"fence": 13})
    with pytest.raises(ValueError, match="fence"):
        RuleSet(fence=13)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("knob", "value", "message"),
    [
        ("players", 5, "players=5: input should be 2, 3 or 4"),
        ("hand_size", 6, "hand_size=6: input should be 5 or 7"),
        ("ledger", "debit", "ledger='debit': input should be 'penalty' or 'credit'"),
        ("target", 0, "target=0: input should be greater than or equal to 1"),
        ("open_at", "high", "open_at='high': input should be a valid integer"),
        ("settlement", "chess", "settlement='chess': input should be 'rating100', 'timeout', "),
        ("tile_over", "0-0", "tile_over: '0-0' is not a tile_over; write 'none', or one or two"),
        ("tile_over", "7-7:1", "tile_over: not a tile: '7-7'"),
    ],
)
def test_wrong_value_names_knob_value_and_choices(knob, value, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - compared below
        ROOM.replace(**{knob: value})
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


# ---------------------------------------------------------------------- for kernels


@pytest.mark.parametrize(("name", "players"), PRESET_TABLES)
def test_encode_gives_plain_ints_in_one_order(name, players):
    rules = RuleSet.preset(name, players)
    encoded = rules.encode()
    assert encoded._fields == Rules._fields == ROOM.encode()._fields
    assert {type(value) for value in encoded} == {int}
    assert (encoded.players, encoded.sides) == (rules.players, rules.sides)
    assert (encoded.target, encoded.bazaar_size) == (rules.target, rules.bazaar_size)


def test_encode_numbers_a_word_by_its_place_among_the_choices():
    assert knob_choices("reach_effect") == ("loses", "wins")
    assert code("reach_effect", "wins") == 1
    for knob in (
        "lead_order",
        "lead_repeat",
        "lead_next",
        "fish_scoring",
        "fish_tie",
        "memory_reset",
    ):
        for i, value in enumerate(knob_choices(knob)):
            assert code(knob, value) == i
    assert RuleSet.preset("sea-goat").encode().ledger == code("ledger", "credit") == 1
    assert ROOM.encode().ledger == 0


@pytest.mark.parametrize(
    ("text", "overrides"),
    [
        ("none", (-1, 0, -1, 0, 0)),
        ("0-0:10 alone", (0, 10, -1, 0, 1)),
        ("0-0:25 6-6:50", (0, 25, 6, 50, 0)),
    ],
)
def test_encode_writes_tile_values(text, overrides):
    e = ROOM.replace(tile_over=text).encode()
    found = (e.over_a, e.over_a_points, e.over_b, e.over_b_points, e.over_alone)
    assert found == overrides


@pytest.mark.parametrize(
    "text", ["", "alone", "none alone", "0-0", "0-0:", "0-0:-1", "0-0:1 1-1:1 2-2:1", "0-0=10"]
)
def test_parse_tile_over_refuses_what_it_cannot_read(text):
    with pytest.raises(ValueError, match="is not a tile_over; write 'none', or one or two tiles"):
        parse_tile_over(text)
