"""The score of a round: the worked examples, one by one (S from a source, V derived)."""

import pytest
from conftest import PRESET_TABLES, settled, settled_after

from kozel_sim.rules import RuleSet
from kozel_sim.scoring import hand_points, settle

ROOM_ALL = RuleSet.preset("room-fish-all")
APP = {"pair": RuleSet.preset("dominoes3d-pair"), "duel": RuleSet.preset("dominoes3d-duel")}
PAIR = RuleSet.preset("pair-traditional")


# ---------------------------------------------------------------------- hands


@pytest.mark.parametrize(
    ("preset", "hand", "points"),
    [
        pytest.param("household-300", "4-1", 5, id="S7"),
        pytest.param("household-300", "6-4", 10, id="S7"),
        pytest.param("household-300", "5-3", 8, id="S7"),
        pytest.param("household-300", "0-0", 25, id="S7"),
        pytest.param("household-300", "6-6", 50, id="S7"),
        pytest.param("room-fish-all", "0-0", 10, id="V13"),
        pytest.param("room-fish-all", "0-0 1-0", 1, id="V13"),
        pytest.param("room-fish-all", "0-0 2-1", 3, id="V13"),
        pytest.param("household-300", "0-0 2-1", 28, id="V14"),
        pytest.param("household-300", "6-6 2-1", 53, id="V14"),
        pytest.param("household-300", "0-0 6-6", 75, id="V14"),
        pytest.param("livegames-goat", "0-0", 0, id="V16"),
        pytest.param("room-fish-all", "", 0, id="empty"),
        pytest.param("room-fish-all", "6-6", 12, id="room-6-6"),
        pytest.param("moldova-lone", "0-0", 25, id="lone-0-0"),
        pytest.param("moldova-lone", "6-6", 50, id="lone-6-6"),
        pytest.param("moldova-lone", "0-0 6-6", 12, id="not-lone"),
        pytest.param("dominoes3d-pair", "0-0", 10, id="app-0-0"),
    ],
)
def test_hand_points_follow_the_tile_values(preset, hand, points):
    assert hand_points(RuleSet.preset(preset), hand.split()) == points


# ---------------------------------------------------------------------- one round


@pytest.mark.parametrize(
    ("preset", "end", "points", "before", "after"),
    [
        pytest.param(
            *("room-fish-all", "out", [0, 3, 13, 5], {"memory": [19, 0, 7, 4]}),
            {"memory": [0, 3, 0, 9], "accounts": [0, 0, 20, 0], "written": [0, 3, 13, 5]},
            id="S1",
        ),
        pytest.param(
            *("room-fish-one", "fish", [2, 3, 13, 5], {"memory": [5, 6, 7, 8]}),
            {"memory": [0, 0, 0, 0], "accounts": [0, 0, 30, 0], "written": [0, 0, 23, 0]},
            id="S2",
        ),
        pytest.param(
            *("room-fish-one", "fish", [14, 14, 4, 3], {"accounts": [20, 0, 0, 0]}),
            {"written": [0, 0, 0, 0], "accounts": [20, 0, 0, 0], "pot": 35, "recorded": False},
            id="S3",
        ),
        pytest.param(
            *("room-fish-all", "out", [0, 12], {}),
            {"memory": [0, 12], "opened": [False, False], "accounts": [0, 0], "recorded": False},
            id="V1-12",
        ),
        pytest.param(
            *("room-fish-all", "out", [0, 13], {}),
            {"memory": [0, 0], "opened": [False, True], "accounts": [0, 13], "recorded": True},
            id="V1-13",
        ),
        pytest.param(
            *("room-fish-all", "out", [0, 12], {"accounts": [0, 88]}),
            {"accounts": [0, 100], "over": False, "goats": [], "winners": []},
            id="V3-100",
        ),
        pytest.param(
            *("room-fish-all", "out", [0, 13], {"accounts": [0, 88]}),
            {"accounts": [0, 101], "over": True, "goats": [1], "winners": [0]},
            id="V3-101",
        ),
        pytest.param(
            *("room-fish-all", "out", [0, 5], {"accounts": [40, 0]}),
            {"accounts": [40, 0], "opened": [True, False], "memory": [0, 5]},
            id="V5-open",
        ),
        pytest.param(
            *("room-fish-all", "out", [0, 5], {"memory": [19, 0]}),
            {"accounts": [0, 0], "opened": [False, False], "memory": [0, 5]},
            id="V5-unopened",
        ),
        pytest.param(
            *("room-fish-all", "fish", [2, 3, 13, 5], {"memory": [19, 0, 7, 4]}),
            {"memory": [21, 3, 0, 9], "accounts": [0, 0, 20, 0]},
            id="V6",
        ),
        pytest.param(
            *("room-fish-one", "fish", [2, 3, 13, 5], {"memory": [19, 0, 7, 4]}),
            {"memory": [0, 0, 0, 0], "accounts": [0, 0, 30, 0]},
            id="V7",
        ),
        pytest.param(
            *("livegames-goat", "out", [0, 8, 13], {}),
            {"memory": [0, 8, 0], "accounts": [0, 0, 13]},
            id="V8-first",
        ),
        pytest.param(
            *("livegames-goat", "out", [4, 0, 20], {"memory": [0, 8, 0], "accounts": [0, 0, 13]}),
            {"memory": [4, 0, 0], "accounts": [0, 0, 33]},
            id="V8-next",
        ),
        pytest.param(
            *("livegames-goat-plain", "out", [0, 8, 13], {}),
            {"memory": [0, 0, 0], "accounts": [0, 8, 13], "recorded": True},
            id="V9",
        ),
        pytest.param(
            *("room-fish-all", "fish", [6, 5, 10], {"accounts": [95, 97, 40]}),
            {"accounts": [101, 102, 50], "over": True, "goats": [0, 1], "winners": [2]},
            id="V10",
        ),
        pytest.param(
            *("livegames-goat", "out", [0, "0-0"], {"memory": [0, 9]}),
            {"written": [0, 0], "memory": [0, 0], "opened": [False, False], "recorded": False},
            id="V16",
        ),
        pytest.param(
            *("room-fish-all", "out", [0, "0-0"], {"accounts": [0, 91]}),
            {"hand_points": [0, 10], "accounts": [0, 101], "goats": [1]},
            id="V17",
        ),
        pytest.param(
            *("room-fish-one", "fish", [2, 3, 9, 5], {"memory": [1, 2, 3, 4]}),
            {"written": [0, 0, 19, 0], "accounts": [0, 0, 22, 0], "memory": [0, 0, 0, 0]},
            id="V22",
        ),
        pytest.param(
            *("room-fish-one", "out", [0, 9, 4, 6], {"pot": 35}),
            {"accounts": [0, 44, 0, 0], "memory": [0, 0, 4, 6], "pot": 0},
            id="V24",
        ),
        pytest.param(
            *("livegames-goat-plain", "fish", [10, 25, 25], {}),
            {"written": [0, 25, 25], "accounts": [0, 25, 25]},
            id="V29-one-lowest",
        ),
        pytest.param(
            *("livegames-goat-plain", "fish", [10, 10, 25], {}),
            {"written": [0, 0, 25], "accounts": [0, 0, 25]},
            id="V29-two-lowest",
        ),
        pytest.param(
            *("livegames-goat-plain", "fish", [11, 11], {}),
            {"written": [0, 0], "accounts": [0, 0], "pot": 0},
            id="V29-all-lowest",
        ),
        pytest.param(
            *("pair-traditional", "out", [0, 4, 6, 5], {"pot": 36}),
            {"written": [45, 0], "accounts": [45, 0], "pot": 0, "recorded": True},
            id="V32",
        ),
        pytest.param(
            *("dominoes3d-duel", "fish", [5, 9], {}),
            {"written": [0, 9], "memory": [0, 9], "accounts": [0, 0]},
            id="V38-duel",
        ),
        pytest.param(
            *("dominoes3d-pair", "fish", [2, 4, 3, 5], {}),
            {"written": [0, 9], "memory": [0, 9], "accounts": [0, 0]},
            id="V38-pair",
        ),
        pytest.param(
            *("household-300", "fish", [5, 12, 20], {}),
            {"written": [32, 0, 0], "accounts": [32, 0, 0]},
            id="V39-unique",
        ),
        pytest.param(
            *("household-300", "fish", [5, 5, 20], {"accounts": [7, 8, 9]}),
            {"written": [0, 0, 0], "accounts": [7, 8, 9], "pot": 0, "recorded": False},
            id="V39-tied",
        ),
        pytest.param(
            *("household-300", "out", [0, "6-6 0-0", "4-3"], {"accounts": [218, 0, 0]}),
            {"written": [82, 0, 0], "accounts": [300, 0, 0], "winners": [0], "over": True},
            id="V40",
        ),
    ],
)
def test_round_is_scored_as_in_the_example(preset, end, points, before, after):
    players = None if len(points) == 4 else len(points)
    found = vars(settled(RuleSet.preset(preset, players), end, points, **before))
    assert {name: found[name] for name in after} == after


# ---------------------------------------------------------------------- rounds in a row


def test_memory_joins_when_the_account_opens():
    """Example V2: 12 and 12 are remembered, 13 opens with all 37."""
    rules = ROOM_ALL.replace(players=2)
    first = settled(rules, "out", [0, 12])
    second = settled_after(rules, first, "out", [0, 12])
    assert (second.memory, second.opened) == ([0, 24], [False, False])
    third = settled_after(rules, second, "out", [0, 13])
    assert (third.memory, third.accounts, third.written) == ([0, 0], [0, 37], [0, 13])


def test_carry_waits_for_a_unique_highest_hand():
    """Example V26."""
    rules = RuleSet.preset("room-fish-one", 3)
    first = settled(rules, "out", [0, 8, 8], pot=35)
    assert (first.memory, first.pot, first.written) == ([0, 8, 8], 35, [0, 8, 8])
    second = settled_after(rules, first, "out", [5, 0, 2])
    assert (second.accounts, second.memory, second.pot) == ([40, 0, 0], [0, 0, 10], 0)


@pytest.mark.parametrize(
    ("kind", "tie", "nine", "fourteen"),
    [
        ("duel", [18, 18], [0, 9], [0, 14]),
        ("pair", [9, 8, 9, 10], [0, 4, 3, 5], [0, 8, 3, 6]),
    ],
)
def test_app_eggs_wait_for_an_official_record(kind, tie, nine, fourteen):
    """Example V30."""
    rules = APP[kind]
    first = settled(rules, "fish", tie)
    assert (first.pot, first.written, first.recorded) == (18, [0, 0], False)
    second = settled_after(rules, first, "out", nine)
    assert (second.memory, second.pot, second.written) == ([0, 9], 18, [0, 9])
    third = settled_after(rules, second, "out", fourteen)
    assert (third.accounts, third.memory, third.pot) == ([0, 41], [0, 0], 0)
    assert third.written == [0, 32]


def test_pair_remembers_a_win_below_the_fence():
    """Example V45: 12 is not recorded; 13 then makes 25."""
    first = settled(PAIR, "out", [0, 7, 9, 5])
    assert (first.memory, first.accounts, first.recorded) == ([12, 0], [0, 0], False)
    second = settled_after(PAIR, first, "out", [0, 8, 9, 5])
    assert (second.memory, second.accounts, second.recorded) == ([0, 0], [25, 0], True)


@pytest.mark.parametrize(
    ("preset", "players"), [t for t in PRESET_TABLES if RuleSet.preset(*t).open_at]
)
def test_exactly_the_fence_opens_everywhere(preset, players):
    rules = RuleSet.preset(preset, players)
    fence = 25 if preset == "sea-goat-125" else 13
    credit = rules.ledger == "credit"
    for amount in (fence - 1, fence):
        points = [0, amount, 1, 2][:players]
        if rules.teams == "pairs":
            points = [0, amount - 3, 1, 3]
        after = settled(rules, "out", points)
        assert after.opened[0 if credit else 1] is (amount == fence)
        assert after.accounts[0 if credit else 1] == (fence if amount == fence else 0)
        assert after.recorded is (amount == fence)


# ---------------------------------------------------------------------- wrong calls


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"end": "over"}, "end must be 'out' or 'fish', not 'over'"),
        ({"hands": [[], ["2-1"]]}, "hands has 2 entries; these rules need 4"),
        ({"accounts": [0, 0]}, "accounts has 2 entries; these rules need 4"),
        ({"memory": [0] * 5}, "memory has 5 entries; these rules need 4"),
        ({"opened": []}, "opened has 0 entries; these rules need 4"),
    ],
)
def test_settle_refuses_wrong_arguments(change, message):
    right = {
        "hands": [[], ["2-1"], ["6-5"], ["4-0"]],
        "end": "out",
        "by": 0,
        "accounts": [0] * 4,
        "memory": [0] * 4,
        "opened": [False] * 4,
        "pot": 0,
    }
    assert settle(ROOM_ALL, **right).written == [0, 3, 11, 4]
    with pytest.raises(ValueError, match=message):
        settle(ROOM_ALL, **{**right, **change})
