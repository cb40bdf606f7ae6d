"""Who sits where on which deal: every seat once, every neighbour equally often."""

from collections import Counter
from itertools import permutations
from math import comb, factorial

import numpy as np
import pytest

from kozel_sim import play
from kozel_sim.schedule import schedule, seat_policies, seatings, tables, whole_cycles

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
    _, _, players = schedule(0, factorial(n - 1), tables(n, n))
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
    deals, seating, players = schedule(1, 3, tables(3, 2))
    assert deals.tolist() == [1] * 6 + [2] * 6
    assert seating.tolist() == [0, 1] * 6
    assert players[:6].tolist() == [[0, 1], [1, 0], [0, 2], [2, 0], [1, 2], [2, 1]]
    assert players[6:].tolist() == players[:6].tolist()


def test_schedule_takes_a_cyclic_order_for_each_deal_in_turn():
    deals, seating, players = schedule(0, 5, tables(3, 3))
    order = [(int(d), int(s) // 3) for d, s in zip(deals, seating, strict=True)]
    assert order == [(deal, deal % 2) for deal in range(5) for _ in range(3)]
    assert players.tolist() == seatings(3)[seating].tolist()


def test_schedule_of_a_part_is_a_part_of_the_schedule():
    whole = schedule(0, 12, tables(5, 4))
    parts = [schedule(first, end, tables(5, 4)) for first, end in [(0, 5), (5, 6), (6, 12)]]
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
