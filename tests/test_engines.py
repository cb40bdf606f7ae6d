"""The compiled engine plays what the readable one plays: equal records, move for move."""

from fractions import Fraction

import numpy as np
import pytest
from conftest import BLOCKER, PRESET_TABLES, RANDOM, alone, ladder

from kozel_sim import reference
from kozel_sim.decision import Function, IllegalMoveError, Ladder, Policy, Stage
from kozel_sim.engine import play
from kozel_sim.features import FEATURES, TRIGGERS
from kozel_sim.rules import RuleSet

# ---------------------------------------------------------------------- policies


def heaviest(view):
    """The first of the tiles with most pips."""
    best = -1
    move = 0
    for arm in range(4):
        for tile in range(28):
            if view.legal[arm] >> tile & 1:
                high, low = tile, tile
                if tile >= 7:
                    high = 1
                    while high * (high + 1) // 2 <= tile - 7:
                        high += 1
                    low = tile - 7 - high * (high - 1) // 2
                if high + low > best:
                    best = high + low
                    move = (tile + 1) << 8 * arm
    return move


def nosy(view):
    """A move picked by a weighted sum of everything it sees, so that any difference shows."""
    total = 7 + view.hand + 2 * view.seat + 3 * view.side + 5 * view.partner + 7 * view.players
    total += 11 * view.table + 13 * view.spinner + 17 * view.bazaar + 19 * view.reserve
    total += 23 * view.round + 29 * view.event + 31 * view.pot + 37 * view.target
    total += 41 * view.open_at + 43 * view.credit + 47 * view.word
    choices = 0
    for i in range(4):
        total += (i + 53) * view.legal[i] + (i + 59) * view.arms[i] + (i + 67) * view.counts[i]
        total += (i + 71) * view.played[i] + (i + 79) * view.void[i] + (i + 83) * view.last[i]
        total += (i + 89) * view.shown[i] + (i + 97) * view.tell[i] + (i + 101) * view.accounts[i]
        total += (i + 107) * view.memory[i] + (i + 113) * view.opened[i]
        for tile in range(28):
            choices += view.legal[i] >> tile & 1
    for i in range(8):
        total += (i + 127) * int(4 * view.params[i])
    pick = total % choices
    for arm in range(4):
        for tile in range(28):
            if view.legal[arm] >> tile & 1:
                if pick == 0:
                    return (tile + 1) << 8 * arm
                pick -= 1
    return 0


def chancy(view):
    """A move picked by the words that are its own."""
    choices = 0
    for arm in range(4):
        for tile in range(28):
            choices += view.legal[arm] >> tile & 1
    pick = (view.words[0] ^ view.words[1] ^ view.words[2] ^ view.words[3]) % choices
    for arm in range(4):
        for tile in range(28):
            if view.legal[arm] >> tile & 1:
                if pick == 0:
                    return (tile + 1) << 8 * arm
                pick -= 1
    return 0


def nothing(view):
    """An illegal move."""
    return 0


def absent(view):
    """The first tile that the seat does not hold, on arm 1."""
    tile = 0
    while view.hand >> tile & 1:
        tile += 1
    return (tile + 1) << 8


def shutter(view):
    """The first legal double, laid closed; without one the last legal tile (donkeys only)."""
    move = 0
    for arm in range(4):
        for tile in range(28):
            if view.legal[arm] >> tile & 1:
                move = (tile + 1) << 8 * arm
                if tile < 7 and view.table:
                    return (tile + 129) << 8 * arm
    return move


GREEDY = ladder("greedy", ("always", {"pips": 1000, "double": 8000}))
WEIGHTS = ladder(
    "weights", ("always", {"pips": 125, "double": -3000, "range": 700, "lock": 900, "block": 501})
)
TALL = ladder(
    "tall",
    ("even_hand", {"range": 1000}),
    ("long_suit", {"match": 1000}),
    ("legal_double", {"double": 1000, "longest": -1}),
    ("always", {"pips": 1000}),
)
DOUBLES = ladder("doubles", ("always", {"double": 1000}), ("always", {"block": -1000}))
HEAVIEST = alone("heaviest", Function(heaviest))
NOSY = alone("nosy", Function(nosy, params=(0.25, -7.5, 1e6)))
CHANCY = alone("chancy", Function(chancy, words=True))
MIXED = Policy(
    "mixed",
    (
        (Fraction(1, 2), Ladder((Stage("always", {"lock": 1000}),))),
        (Fraction(1, 3), Ladder()),
        (Fraction(1, 12), Function(nosy)),
        (Fraction(1, 12), Function(chancy, words=True)),
    ),
)
SHUTTER = alone("shutter", Function(shutter))
LINE_UPS = [
    [RANDOM, TALL, WEIGHTS, NOSY],
    [MIXED, RANDOM, NOSY, CHANCY],
    [GREEDY, BLOCKER, HEAVIEST, MIXED],
    [NOSY, NOSY, RANDOM, BLOCKER],
    [TALL, WEIGHTS, GREEDY, RANDOM],
]
"""Line-ups with and without users' functions, which the engine plays in different ways."""


def assert_equal_records(rules: RuleSet, deals: range, line_ups=LINE_UPS) -> None:
    """Play each deal in both engines, the line-ups and their seats in turn."""
    for i in deals:
        seats = line_ups[i % len(line_ups)]
        turn = i // len(line_ups) % 4
        policies = (seats[turn:] + seats[:turn])[: rules.players]
        # Seeds and deals on both sides of 2**32.
        seed, deal = (11 << 40) + i if i % 3 else i, (i << 33) + i if i % 2 else i
        slow = reference.play_match(rules, policies, seed, deal, seating=i)
        fast = play.play_match(rules, policies, seed, deal, seating=i)
        assert fast == slow, (rules.name, seed, deal, [p.name for p in policies])


# ---------------------------------------------------------------------- equal records

ROOMS = [(name, n) for name in ("room-fish-all", "room-fish-one") for n in (2, 3, 4)]
OTHERS = [table for table in PRESET_TABLES if table not in ROOMS]
DONKEYS = [table for table in PRESET_TABLES if RuleSet.preset(*table).close_doubles]


def others_rules(preset: str, players: int) -> RuleSet:
    """The rules, capped: some credit ledgers take thousands of rounds."""
    return RuleSet.preset(preset, players).replace(max_rounds=40)


@pytest.mark.parametrize(("preset", "players"), ROOMS)
def test_room_records_are_equal(preset, players):
    assert_equal_records(RuleSet.preset(preset, players), range(200))


@pytest.mark.slow
@pytest.mark.parametrize(("preset", "players"), ROOMS)
def test_many_room_records_are_equal(preset, players):
    assert_equal_records(RuleSet.preset(preset, players), range(200, 2200))


@pytest.mark.parametrize(("preset", "players"), OTHERS)
def test_other_records_are_equal(preset, players):
    assert_equal_records(others_rules(preset, players), range(20))


@pytest.mark.slow
@pytest.mark.parametrize(("preset", "players"), OTHERS)
def test_many_other_records_are_equal(preset, players):
    assert_equal_records(others_rules(preset, players), range(20, 400))


@pytest.mark.parametrize(("preset", "players"), DONKEYS)
def test_donkey_records_are_equal_where_a_function_closes_doubles(preset, players):
    rules = others_rules(preset, players)
    line_ups = [[SHUTTER, NOSY, RANDOM, SHUTTER], [SHUTTER] * 4, [DOUBLES] * 4]
    assert_equal_records(rules, range(30), line_ups)


def test_donkeys_and_sea_goats_meet_their_special_moves():
    """Otherwise the tests above would compare too little of them."""
    closed, several, arms = set(), set(), set()
    for preset in ("livegames-donkey", "sea-goat"):
        for deal in range(100):
            policies = [DOUBLES, DOUBLES, RANDOM, RANDOM]
            record = play.play_match(others_rules(preset, 4), policies, 1, deal)
            for play_ in (e.play for r in record.rounds for e in r.events):
                several.add((preset, len(play_)))
                closed |= {(preset, laid.closed) for laid in play_}
                arms |= {(preset, laid.arm) for laid in play_}
    assert ("livegames-donkey", True) in closed
    assert ("sea-goat", True) not in closed
    assert {("livegames-donkey", 2), ("livegames-donkey", 3), ("sea-goat", 2)} <= several
    assert ("sea-goat", 3) not in several
    assert {("livegames-donkey", arm) for arm in range(4)} <= arms
    assert ("sea-goat", 2) not in arms


@pytest.mark.parametrize(
    ("preset", "knobs"),
    [
        ("room-fish-one", {"redeal": "none", "lead_order": "highest_double"}),
        ("room-fish-one", {"lead_forced": False, "lead_no_double": "min_total"}),
        ("room-fish-one", {"bazaar_draw": "none", "hand_size": 5}),
        ("room-fish-one", {"bazaar_reserve": 2, "dead_value_stop": False}),
        ("room-fish-one", {"fish_def": "no_legal_move", "dead_value_stop": False}),
        ("room-fish-one", {"memory_on_draw": "reset", "memory_reset": "never"}),
        ("room-fish-one", {"open_test": "cumulative", "target": 202}),
        ("room-fish-one", {"max_rounds": 3}),
        ("room-fish-all", {"tile_over": "6-6:50 0-0:25", "reach_effect": "wins"}),
        ("logic-games-goat", {"eggs_help_open": False, "open_at": 25, "target": 202}),
        ("logic-games-goat", {"lead_repeat": "after_every_unrecorded_round"}),
        ("dominoes3d-duel", {"fish_memory": "max", "pair_fish_points": "all_hands"}),
        ("dominoes3d-duel", {"fish_tie": "eggs_all_hands", "eggs_help_open": True}),
        ("household-300", {"dry_rule": "reset_both", "open_at": 13, "max_rounds": 60}),
        ("household-300", {"dry_rule": "net", "target": 101, "max_rounds": 60}),
        ("sea-goat", {"dry_rule": "net", "open_at": 0, "max_rounds": 60}),
        ("sea-goat", {"target": 60, "open_at": 25, "max_rounds": 60}),
        ("dominoes3d-pair", {"fish_memory": "max", "open_at": 25}),
        ("room-fish-one", {"lead_blank": False, "lead_forced": False, "lead_next": "next_seat"}),
        ("room-fish-all", {"lead_blank": False, "lead_next": "winner", "target": 202}),
        ("logic-games-donkey", {"lead_blank": False, "lead_next": "loser", "target": 202}),
        ("pair-traditional", {"lead_next": "winner", "pair_fish_points": "difference"}),
        ("dominoes3d-pair", {"lead_next": "loser", "lead_repeat": "first_round_only"}),
        ("dominoes3d-pair", {"lead_next": "next_seat", "pair_fish_points": "difference"}),
        ("household-300", {"fish_scoring": "credit_difference", "pair_fish_points": "all_hands"}),
        ("livegames-donkey", {"dead_value_stop": False, "close_two_rule": False}),
        ("livegames-donkey", {"spinner": False, "fish_def": "six_closed"}),
        ("livegames-donkey", {"multi_double": "none", "close_two_rule": False}),
    ],
)
def test_records_are_equal_with_other_knobs(preset, knobs):
    players = 4 if RuleSet.preset(preset).teams == "pairs" else 2
    rules = RuleSet.preset(preset, players).replace(**knobs)
    assert_equal_records(rules, range(40), [[RANDOM, BLOCKER] * 2, [NOSY, BLOCKER] * 2])


# ---------------------------------------------------------------------- features and triggers


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("feature", FEATURES)
def test_each_feature_alone_picks_the_same_moves(feature, sign):
    policy = ladder(feature, ("always", {feature: sign * 1000}))
    for players in (2, 3, 4):
        assert_equal_records(RuleSet.preset("room-fish-all", players), range(12), [[policy] * 4])
        assert_equal_records(others_rules("livegames-donkey", players), range(4), [[policy] * 4])


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_each_trigger_holds_in_the_same_positions(trigger):
    policy = ladder(trigger, (trigger, {"pips": 1000}), ("always", {"pips": -1000}))
    for players in (2, 3, 4):
        assert_equal_records(RuleSet.preset("room-fish-all", players), range(12), [[policy] * 4])
        assert_equal_records(others_rules("livegames-donkey", players), range(4), [[policy] * 4])


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_each_trigger_holds_somewhere_and_all_but_always_fail_somewhere(trigger):
    """Otherwise the test above would compare nothing."""
    rules = RuleSet.preset("room-fish-all", 4)
    up, down = {"pips": 1000}, {"pips": -1000}
    conditional = ladder("if", (trigger, up), ("always", down))
    matches = [
        [reference.play_match(rules, [p] * 4, 1, deal).rounds for deal in range(5)]
        for p in (conditional, ladder("up", ("always", up)), ladder("down", ("always", down)))
    ]
    assert matches[0] != matches[2]
    assert (matches[0] == matches[1]) is (trigger == "always")


# ---------------------------------------------------------------------- outcomes


@pytest.mark.parametrize(("preset", "players"), [*ROOMS, ("household-300", 3)])
def test_match_outcome_sums_up_its_record(preset, players):
    """What many matches at once leave behind is what each one's record says."""
    rules = RuleSet.preset(preset, players)
    policies = [RANDOM, BLOCKER, CHANCY, TALL][:players]
    deals = np.arange(30, dtype=np.uint64) + np.uint64(2**40)
    seats = np.array([np.roll(np.arange(players), i) for i in range(30)])
    matches = play.new_matches(deals, seats)
    play.Table(rules, policies).play(matches, seed=5)
    for i, match in enumerate(matches):
        line_up = [policies[p] for p in seats[i]]
        record = reference.play_match(rules, line_up, 5, int(deals[i]))
        events = [e for r in record.rounds for e in r.events]
        passes = [e.seat for e in events if not e.play and e.draw is None]
        draws = [e.seat for e in events if e.draw]
        assert match["rounds"] == len(record.rounds)
        assert match["fish_rounds"] == sum(r.end == "fish" for r in record.rounds)
        assert match["first_leader"] == record.rounds[0].leader
        assert match["capped"] == record.result.capped
        assert match["goats"] == sum(1 << side for side in record.result.goats)
        assert match["winners"] == sum(1 << side for side in record.result.winners)
        assert match["points"].tolist() == [*record.rounds[-1].accounts, *[0] * (4 - players)]
        assert match["passes"].tolist() == [passes.count(seat) for seat in range(4)]
        assert match["draws"].tolist() == [draws.count(seat) for seat in range(4)]


def test_matches_do_not_depend_on_their_neighbours():
    rules = RuleSet.preset("room-fish-one", 3)
    table = play.Table(rules, [RANDOM, NOSY, CHANCY])
    deals, seats = np.arange(40, dtype=np.uint64), np.tile([2, 1, 0], (40, 1))
    together = play.new_matches(deals, seats)
    table.play(together, seed=5)
    backwards = play.new_matches(deals[::-1], seats)
    table.play(backwards, seed=5)
    for i in range(40):
        single = play.new_matches(deals[i : i + 1], seats[:1])
        table.play(single, seed=5)
        assert single.tobytes() == together[i].tobytes() == backwards[39 - i].tobytes()


# ---------------------------------------------------------------------- refusals


@pytest.mark.parametrize("function", [nothing, absent])
@pytest.mark.parametrize("deal", [0, 3 << 32])
def test_illegal_move_is_reported_alike(function, deal):
    rules = RuleSet.preset("room-fish-all", 3)
    policies = [RANDOM, alone("rogue", Function(function)), RANDOM]
    messages = []
    for play_match in (reference.play_match, play.play_match):
        with pytest.raises(IllegalMoveError) as error:
            play_match(rules, policies, seed=1, deal=deal)
        messages.append(str(error.value))
    assert messages[0] == messages[1]
    assert messages[0].startswith("policy rogue returned an illegal move: ")
    assert f"in deal {deal}, round 0, event " in messages[0]
    assert ", seat 1; legal moves: " in messages[0]


def test_illegal_move_of_one_match_among_many_names_its_deal():
    rules = RuleSet.preset("room-fish-all", 2)
    policies = [RANDOM, alone("rogue", Function(nothing))]
    matches = play.new_matches(np.arange(9, dtype=np.uint64), np.array([[0, 0]] * 6 + [[0, 1]] * 3))
    with pytest.raises(IllegalMoveError, match=r"policy rogue .* in deal 6, round 0, .* seat 1;"):
        play.Table(rules, policies).play(matches, seed=1)
