"""tournament(): every policy meets every other on the same deals from every seat."""

from collections import Counter
from math import comb

import pandas as pd
import pytest
from user_policies import own_registry

from kozel_sim import RuleSet, get_policy, play, simulate, tournament
from kozel_sim.tournaments import Tournament

FIVE = ["random", "dump_heavy", "dump_doubles", "keep_range", "block_ends"]
ROOM = ["room-fish-all", "room-fish-one"]


@pytest.fixture(autouse=True)
def forgetful_registry():
    with own_registry():
        yield


def planned(rules=("room-fish-all",), policies=FIVE, deals=6, seed=1, players=4):
    return Tournament(
        "t",
        [RuleSet.preset(name, players) for name in rules],
        [get_policy(spec) for spec in policies],
        deals,
        seed,
    )


def match_of(rows):
    """A match of a frame: its preset, deal, seating and who sat where."""
    first = rows.iloc[0]
    return first["preset"], int(first["deal"]), int(first["seating"]), tuple(rows["policy"])


def matches_of(frame):
    players = int(frame["players"].iloc[0])
    return [match_of(frame.iloc[i : i + players]) for i in range(0, len(frame), players)]


# ---------------------------------------------------------------------- who plays


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_set_of_policies_plays_every_deal_in_every_rotation(players):
    run = tournament("room-fish-all", FIVE, 6, seed=1, players=players)
    matches = matches_of(run.frame)
    assert len(set(matches)) == len(matches) == run.matches
    tables = Counter((deal, frozenset(seated)) for _, deal, _, seated in matches)
    assert len(tables) == 6 * comb(5, players)
    assert set(tables.values()) == {players}
    assert all(len(table) == players for _, table in tables)
    assert run.matches == planned(players=players).matches


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_policy_plays_as_often_at_every_seat_of_every_deal(players):
    frame = tournament("room-fish-one", FIVE, 6, seed=1, players=players).frame
    counts = frame.groupby(["deal", "policy", "seat"], observed=False).size()
    assert set(counts) == {comb(4, players - 1)}


@pytest.mark.parametrize(
    ("deals", "players", "wanted"), [(1, 4, 6), (7, 4, 12), (3, 3, 4), (5, 2, 5)]
)
def test_deals_are_rounded_up_to_whole_cycles(deals, players, wanted):
    run = tournament("room-fish-all", FIVE[:players], deals, seed=1, players=players)
    assert run.manifest["deals"] == wanted
    assert sorted(set(run.frame["deal"])) == list(range(wanted))


def test_match_of_a_tournament_is_the_match_of_its_number():
    frame = tournament("room-fish-all", FIVE, 6, seed=3).frame
    for first in range(0, len(frame), 4 * 7):
        rows = frame.iloc[first : first + 4]
        _, deal, _, seated = match_of(rows)
        record = play("room-fish-all", list(seated), seed=3, deal=deal)
        assert rows["points"].tolist() == list(record.rounds[-1].accounts)
        assert rows["rounds"].tolist() == [len(record.rounds)] * 4


def test_seating_is_that_of_the_table_as_listed():
    frame = tournament("room-fish-all", FIVE[:4], 6, seed=3).frame
    for _, deal, seating, seated in matches_of(frame)[::5]:
        record = play("room-fish-all", FIVE[:4], seed=3, deal=deal, seating=seating)
        assert record.policies == seated


# ---------------------------------------------------------------------- the same bits


@pytest.mark.parametrize(("workers", "chunk"), [(1, 1), (2, 7), (3, 1000), (3, 1)])
def test_workers_and_chunks_do_not_change_a_bit(workers, chunk):
    base = tournament(ROOM, FIVE, 6, seed=8)
    again = tournament(ROOM, FIVE, 6, seed=8, workers=workers, chunk=chunk)
    pd.testing.assert_frame_equal(again.frame, base.frame)


def test_reference_engine_gives_the_same_frame():
    base = tournament(ROOM, FIVE[:3], 4, seed=8, players=2)
    slow = tournament(ROOM, FIVE[:3], 4, seed=8, players=2, engine="reference")
    pd.testing.assert_frame_equal(slow.frame, base.frame)


def test_both_rule_sets_meet_the_same_deals():
    frame = tournament(ROOM, FIVE, 6, seed=8).frame
    one, other = (frame[frame["preset"] == name].reset_index(drop=True) for name in ROOM)
    same = ["deal", "seating", "seat", "policy", "led"]
    pd.testing.assert_frame_equal(one[same], other[same])
    for deal in range(20):
        records = [play(name, FIVE[:4], seed=8, deal=deal) for name in ROOM]
        firsts = [[r.hands for r in record.rounds] for record in records]
        both = min(map(len, firsts))
        assert firsts[0][:both] == firsts[1][:both]
        assert records[0].rounds[0].events == records[1].rounds[0].events


def test_rule_sets_keep_their_rows_apart_and_in_order():
    rules = [RuleSet.preset(name, n) for name in ROOM for n in (4, 2)]
    run = tournament(rules, FIVE[:4], 6, seed=8)
    blocks = run.frame[["preset", "players"]].drop_duplicates()
    assert [tuple(row) for row in blocks.itertuples(index=False)] == [
        (r.name, r.players) for r in rules
    ]
    for number, r in enumerate(rules):
        alone = tournament(r, FIVE[:4], 6, seed=8).frame
        size = len(alone)
        start = sum(len(run.frame.query("players == @p.players")) // 2 for p in rules[:number])
        part = run.frame.iloc[start : start + size].reset_index(drop=True)
        pd.testing.assert_frame_equal(part, alone, check_categorical=False)


def test_summary_lists_the_best_policy_first():
    summary = tournament("room-fish-all", FIVE, 60, seed=8).summary()
    rates = summary[summary["metric"] == "goat_rate"]
    assert rates["estimate"].is_monotonic_increasing
    assert set(rates["policy"]) == set(FIVE)
    assert set(rates["n_deals"]) == {60}
    assert set(rates["n_matches"]) == {60 * 4 * comb(4, 3)}


# ---------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"policies": FIVE[:3]}, "a table of 4 players needs 4 distinct policies; 3 given: random"),
        ({"policies": [*FIVE, "random"]}, "policy random is listed twice"),
        (
            {"policies": [*FIVE, "weights:pips=1,double=2", "weights:double=2.0,pips=1"]},
            "policy weights:pips=1,double=2 is listed twice",
        ),
        ({"deals": 0}, "deals must be a whole number of 1 or more, not 0"),
        ({"deals": -6}, "deals must .* not -6"),
        ({"deals": True}, "deals must .* not True"),
        ({"deals": 6.0}, "deals must .* not 6.0"),
        ({"seed": -1}, "seed must"),
        ({"workers": 0}, "workers must"),
        ({"engine": "turbo"}, "unknown engine 'turbo'"),
        ({"rules": RuleSet.preset("room-fish-all", 3), "players": 4}, "for 3 players, not 4"),
        ({"players": 5}, "played by 2 or 3 or 4 players, not 5"),
        ({"rules": ["room-fish-all", "room"]}, "unknown preset 'room'"),
        pytest.param({"rules": ["room-fish-all"] * 2}, "listed twice"),
        pytest.param({"rules": []}, "preset"),
    ],
)
def test_bad_value_is_refused_before_anything_is_played(changes, complaint):
    values = {"rules": "room-fish-all", "policies": FIVE, "deals": 6, "seed": 1} | changes
    told = []
    with pytest.raises(ValueError, match=complaint):
        tournament(**values, progress=told.append)
    assert told == []


# ---------------------------------------------------------------------- the mirror


def rates(run, by, level=0.95):
    summary = run.summary(by=by, level=level)
    return summary[summary["metric"] == "goat_rate"].set_index(by)


def test_policies_that_choose_alike_tie_to_the_bit():
    """They share all luck, so the rotations of a deal are one match with other names on it."""
    same = ("own_distance", "rival_distance", "fence_open")  # for all moves of a position
    alike = ["random", *(f"prefer:{feature}" for feature in same)]
    run = tournament("room-fish-all", alike, 60, seed=5)
    found = rates(run, "policy")
    assert sorted(found.index) == sorted(alike)
    assert found["estimate"].nunique() == 1
    points = run.frame.pivot_table(index=["deal", "seating"], columns="seat", values="points")
    assert (points.groupby("deal").nunique() == 1).all(axis=None)


@pytest.fixture(scope="module")
def mirror():
    """Four policies that play as well as each other, each by random words of its own."""
    with own_registry():
        equals = ["scatter", "scatter:which=1", "scatter:which=2", "scatter:which=3"]
        return tournament("room-fish-all", equals, 9000, seed=5, workers=2)


@pytest.mark.parametrize("by", ["policy", "seat"])
def test_mirror_match_has_equal_goat_rates(mirror, by):
    """Four intervals, each of which fails to cover once in 10,000 times."""
    mean = mirror.frame["goat"].mean()
    found = rates(mirror, by, level=0.9999)
    assert len(found) == 4
    assert found["ci_low"].max() < mean < found["ci_high"].min()
    assert (found["ci_high"] - found["ci_low"]).max() < 0.025


def test_mirror_match_shows_the_effect_of_the_lead(mirror):
    """Who leads the first round is rid of a tile at once: that one is the goat less often."""
    found = rates(mirror, "led", level=0.9999)
    assert found.loc[True, "ci_high"] + 0.02 < found.loc[False, "ci_low"]
    assert mirror.frame.groupby(["deal", "seating"])["led"].sum().eq(1).all()


def test_simulate_and_tournament_agree_on_a_seating():
    run = tournament("room-fish-all", FIVE[:2], 20, seed=2, players=2)
    one = simulate("room-fish-all", FIVE[:2], 20, seed=2, seating=1)
    part = run.frame[run.frame["seating"] == 1].reset_index(drop=True)
    pd.testing.assert_frame_equal(part, one.frame, check_categorical=False)
