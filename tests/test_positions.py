"""Random positions: reached by the rules, and what could as well lie where nobody sees it."""

import random
from collections import Counter

import pytest
from conftest import PRESET_TABLES

from kozel_sim import RuleSet
from kozel_sim.positions import random_positions
from kozel_sim.tiles import ALL, tiles_of

by_table = pytest.mark.parametrize(("preset", "players"), PRESET_TABLES)


def positions_of(preset, players, n=30, seed=4):
    return random_positions(RuleSet.preset(preset, players), n, seed)


@by_table
def test_positions_are_decisions_of_a_running_match(preset, players):
    positions = positions_of(preset, players)
    assert len(positions) == 30
    for position in positions:
        round_ = position.round()
        assert len(round_.moves()) > 1
        assert round_.end is None
        everywhere = [*round_.hands, round_.table, sum(1 << t for t in round_.bazaar)]
        assert sum(everywhere) == ALL
        view = position.view(round_, round_.moves())
        assert view.hand == round_.hands[view.seat]
        assert view.round == position.number
        assert view.accounts[: position.rules.sides] == position.state.accounts
        assert view.word == position.luck.choice(position.number, position.event)
        assert view.words == list(position.luck.own(position.number, position.event))
    assert any(p.number for p in positions)
    assert len({p.event for p in positions}) > 3


def test_same_seed_gives_the_same_positions():
    first = positions_of("room-fish-all", 3)
    assert positions_of("room-fish-all", 3) == first
    assert positions_of("room-fish-all", 3, seed=5) != first
    assert positions_of("room-fish-all", 3, n=9) == first[:9]


def test_round_made_anew_shares_nothing_with_the_position():
    (position,) = positions_of("room-fish-all", 3, n=1)
    round_ = position.round()
    round_.play(round_.moves()[0])
    assert len(position.round().events) == len(round_.events) - 1
    assert position.round().hands != round_.hands


@by_table
def test_permuting_changes_what_is_hidden_and_nothing_else(preset, players):
    rng = random.Random(1)
    changed = 0
    for position in positions_of(preset, players):
        before, after = position.round(), position.permuted(rng).round()
        assert after.moves() == before.moves()
        assert position.view(after, after.moves()) == position.view(before, before.moves())
        assert sum(after.hands) + sum(1 << t for t in after.bazaar) == ALL & ~before.table
        assert after.hands[after.seat] == before.hands[before.seat]
        changed += after.hands != before.hands
    assert changed > 15


def test_permuting_treats_places_alike():
    """A tile is in each hidden place equally often; errors once in 10^4 by chi square."""
    position = next(p for p in positions_of("room-fish-all", 3, n=30) if len(p.table["bazaar"]) > 3)
    rng = random.Random(3)
    others = [s for s in range(3) if s != position.table["seat"]]
    tile = next(tiles_of(position.table["hands"][others[0]]))
    sizes = {s: position.table["hands"][s].bit_count() for s in others}
    sizes[-1] = len(position.table["bazaar"])
    draws = 1500
    found = Counter()
    for _ in range(draws):
        hands = position.permuted(rng).round().hands
        found[next((s for s in others if hands[s] >> tile & 1), -1)] += 1
    total = sum(sizes.values())
    chi2 = sum((found[s] - draws * n / total) ** 2 / (draws * n / total) for s, n in sizes.items())
    assert chi2 < 18.42  # two degrees of freedom
