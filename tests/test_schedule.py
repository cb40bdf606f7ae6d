"""Who sits where on which deal: every seat once, every neighbour equally often."""

from collections import Counter
from itertools import permutations
from math import comb, factorial

import numpy as np
import pytest

from kozel_sim import play
from kozel_sim.rules import RuleSet
from kozel_sim.schedule import (
    DESIGNS,
    meetings,
    seat_policies,
    seatings,
    tables,
    whole_cycles,
)


def rotations(field, players):
    """The line-ups of a tournament of so many policies."""
    rules = RuleSet.preset("room-fish-all", players)
    ((title, lineups),) = meetings("rotations", rules, [f"p{i}" for i in range(field)])
    assert title == ""
    return lineups


by_players = pytest.mark.parametrize("n", [2, 3, 4])


@by_players
def test_seatings_are_all_orders_once(n):
    assert sorted(map(tuple, seatings(n))) == sorted(permutations(range(n)))


@by_players
def test_seating_zero_is_the_order_as_listed(n):
    assert seatings(n)[0].tolist() == list(range(n))
    assert seat_policies(list("abcd")[:n], 0) == list("abcd")[:n]


def test_seatings_are_numbered_as_they_always_were():
    """A match is replayed from its numbers, so they may not change their meaning."""
    seated = ["".join(seat_policies(list("abcd"), seating)) for seating in (1, 3, 4, 5, 20)]
    assert seated == ["bcda", "dabc", "abdc", "bdca", "adcb"]


@by_players
def test_rotations_seat_each_entrant_once_at_each_seat(n):
    """The n rotations of a cyclic order are a Latin square."""
    for order in range(factorial(n - 1)):
        square = seatings(n)[n * order : n * order + n]
        for lines in (square, square.T):
            assert all(sorted(line) == list(range(n)) for line in lines)


@by_players
def test_rotations_keep_the_neighbours(n):
    for order in range(factorial(n - 1)):
        rotations = seatings(n)[n * order : n * order + n]
        neighbours = {frozenset(zip(row, np.roll(row, -1), strict=True)) for row in rotations}
        assert len(neighbours) == 1


@by_players
def test_whole_cycle_of_deals_balances_neighbours_and_seats(n):
    _, _, players = rotations(n, n).of_deals(0, factorial(n - 1))
    behind = Counter()
    seats = Counter()
    for row in players.tolist():
        behind.update(zip(row, row[1:] + row[:1], strict=True))
        seats.update(enumerate(row))
    assert len(behind) == n * (n - 1)
    assert len(seats) == n * n
    assert len(set(behind.values())) == len(set(seats.values())) == 1


@by_players
def test_tables_are_all_sets_of_distinct_policies(n):
    found = tables(6, n)
    assert found.shape == (comb(6, n), n)
    assert len({frozenset(table) for table in found.tolist()}) == comb(6, n)
    assert all(len(set(table)) == n for table in found.tolist())


def test_schedule_lists_deal_then_table_then_rotation():
    deals, seating, players = rotations(3, 2).of_deals(1, 3)
    assert deals.tolist() == [1] * 6 + [2] * 6
    assert seating.tolist() == [0, 1] * 6
    assert players[:6].tolist() == [[0, 1], [1, 0], [0, 2], [2, 0], [1, 2], [2, 1]]
    assert players[6:].tolist() == players[:6].tolist()


def test_schedule_takes_a_cyclic_order_for_each_deal_in_turn():
    deals, seating, players = rotations(3, 3).of_deals(0, 5)
    order = [(int(d), int(s) // 3) for d, s in zip(deals, seating, strict=True)]
    assert order == [(deal, deal % 2) for deal in range(5) for _ in range(3)]
    assert players.tolist() == seatings(3)[seating].tolist()


def test_schedule_of_a_part_is_a_part_of_the_schedule():
    lineups = rotations(5, 4)
    whole = lineups.of_deals(0, 12)
    parts = [lineups.of_deals(first, end) for first, end in [(0, 5), (5, 6), (6, 12)]]
    for i, values in enumerate(whole):
        assert np.array_equal(values, np.concatenate([part[i] for part in parts]))


@pytest.mark.parametrize(
    ("deals", "players", "wanted"),
    [(1, 2, 1), (7, 2, 7), (1, 3, 2), (6, 3, 6), (1, 4, 6), (6, 4, 6), (7, 4, 12)],
)
def test_whole_cycles_round_up(deals, players, wanted):
    assert whole_cycles(deals, players) == wanted


@pytest.mark.parametrize(("n", "seating"), [(2, 2), (3, 6), (4, 24), (4, -1)])
def test_seating_out_of_range_is_refused(n, seating):
    with pytest.raises(ValueError, match=rf"seating {seating} is not below {factorial(n)}"):
        seat_policies(list("abcd")[:n], seating)


@pytest.mark.parametrize("seating", [1, 4, 23])
def test_play_seats_the_policies_as_the_seating_says(seating):
    names = ["random", "dump_heavy", "keep_range", "block_ends"]
    record = play("room-fish-all", names, seed=1, deal=0, seating=seating)
    assert record.seating == seating
    assert list(record.policies) == [names[i] for i in seatings(4)[seating]]


# ---------------------------------------------------------------------- designs

NAMES = ["a", "b", "c", "d", "e"]
TABLES = [("room-fish-all", 2), ("room-fish-all", 3), ("room-fish-all", 4), ("pair-traditional", 4)]


def met(design, preset="room-fish-all", players=4, names=NAMES, pairs=()):
    """What a design plays: line-ups by title."""
    return dict(meetings(design, RuleSet.preset(preset, players), names, pairs))


@by_players
def test_permutations_seat_every_table_in_every_way(n):
    ((_, lineups),) = met("permutations", players=n).items()
    assert (lineups.cycle, lineups.matches) == (1, comb(5, n) * factorial(n))
    rows = {tuple(row) for row in lineups.players[0].tolist()}
    assert len(rows) == lineups.matches


@pytest.mark.parametrize(("preset", "players"), TABLES)
@pytest.mark.parametrize("design", DESIGNS)
def test_every_entrant_sits_as_often_at_every_seat(design, preset, players):
    if design == "teams" and preset != "pair-traditional":
        pytest.skip("teams are for pairs")
    for lineups in met(design, preset, players).values():
        for entrant in np.unique(lineups.players):
            at_seats = (lineups.players == entrant).sum(axis=(0, 1))
            assert len(set(at_seats.tolist())) == 1


@pytest.mark.parametrize(("preset", "players"), TABLES)
@pytest.mark.parametrize("design", DESIGNS)
def test_no_deal_has_the_same_match_twice(design, preset, players):
    if design == "teams" and preset != "pair-traditional":
        pytest.skip("teams are for pairs")
    for lineups in met(design, preset, players).values():
        for rows in lineups.players.tolist():
            assert len({tuple(row) for row in rows}) == len(rows)


@pytest.mark.parametrize(("preset", "players"), TABLES)
@pytest.mark.parametrize("design", DESIGNS)
def test_seating_turns_the_entrants_as_they_are_listed(design, preset, players):
    """So that ``play`` finds any match again by its entrants and its seating."""
    if design == "teams" and preset != "pair-traditional":
        pytest.skip("teams are for pairs")
    for lineups in met(design, preset, players).values():
        rows = lineups.players.reshape(-1, players)
        listed = np.empty_like(rows)
        seats = seatings(players)[lineups.seating.ravel()]
        np.put_along_axis(listed, seats, rows, axis=1)
        tables_ = {tuple(sorted(row)): set() for row in listed.tolist()}
        for row in listed.tolist():
            tables_[tuple(sorted(row))].add(tuple(row))
        assert all(len(as_listed) == 1 for as_listed in tables_.values())


def test_duels_of_singles_play_one_against_the_others_both_ways():
    found = met("duels", players=3, names=["a", "b", "c"])
    assert list(found) == ["a v b", "a v c", "b v a", "b v c", "c v a", "c v b"]
    assert found["b v a"].players.tolist() == [[[1, 0, 0], [0, 0, 1], [0, 1, 0]]]


@pytest.mark.parametrize(("preset", "players"), [("room-fish-all", 2), ("pair-traditional", 4)])
def test_duels_of_two_sides_are_played_once(preset, players):
    found = met("duels", preset, players, names=["a", "b", "c"])
    assert list(found) == ["a v b", "a v c", "b v c"]


def test_gauntlet_plays_the_first_against_the_others():
    assert list(met("gauntlet", players=2)) == ["a v b", "a v c", "a v d", "a v e"]


def test_teams_are_all_pairs_of_policies():
    found = met("teams", "pair-traditional", names=["a", "b"])
    assert list(found) == ["a+a v a+b", "a+a v b+b", "a+b v b+b"]
    for lineups in found.values():
        seats = lineups.sides[0]
        assert (seats[:, :2] == seats[:, 2:]).all()
        assert (seats[:, 0] != seats[:, 1]).all()
    rows = {tuple(row) for row in found["a+b v b+b"].players[0].tolist()}
    assert rows == {(0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 1, 0)}


@pytest.mark.parametrize(
    ("design", "names", "complaint"),
    [
        ("swiss", NAMES, "unknown design 'swiss'; choose from rotations, permutations, duels, "),
        ("rotations", NAMES[:3], "a table of 4 players needs 4 distinct policies; 3 given"),
        ("duels", NAMES[:1], "two or more policies; 1 given"),
        ("teams", NAMES, "teams is for pairs, and room-fish-all has singles"),
    ],
)
def test_design_that_cannot_be_played_is_refused(design, names, complaint):
    with pytest.raises(ValueError, match=complaint):
        met(design, names=names)
