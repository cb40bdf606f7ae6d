"""Worlds: counted and sampled as an enumeration says, and in both engines alike."""

from itertools import combinations_with_replacement
from math import comb, factorial, prod

import numpy as np
import pytest
from conftest import alone
from scipy import stats

from kozel_sim import RuleSet, Worlds, reference
from kozel_sim.decision import Function
from kozel_sim.engine.worlds import MAX_PLACES, MAX_STATES
from kozel_sim.tiles import ALL, HAS, Hand, tiles_of
from kozel_sim.worlds import tiles_lacking

SMALL = {
    "one hand and the bazaar": (Hand.of("6-6", "6-5", "5-5", "5-4", "4-4", "1-0"), [2, 4], [0, 0]),
    "a void": (Hand.of("6-6", "6-5", "5-5", "5-4", "4-4", "1-0"), [2, 4], [1 << 5, 0]),
    "three hands": (Hand.of("0-0", "1-0", "1-1", "2-1", "2-2", "3-2"), [2, 2, 2], [0, 0, 0]),
    "three hands, two voids": (
        Hand.of("0-0", "1-0", "1-1", "2-1", "2-2", "3-2", "3-3"),
        [3, 2, 2],
        [1 << 0, 1 << 2 | 1 << 3, 0],
    ),
    "all void": (
        Hand.of("0-0", "1-0", "1-1", "2-1", "2-2", "4-3"),
        [2, 2, 2],
        [1 << 0, 1 << 2, 1 << 1],
    ),
    "a full house, four hands and the bazaar": (
        Hand.of("0-0", "1-0", "1-1", "2-1", "2-2", "3-2", "3-3"),
        [1, 2, 1, 1, 2],
        [1 << 1, 0, 1 << 2, 1 << 3, 0],
    ),
    "an empty place": (Hand.of("0-0", "1-0", "1-1"), [2, 0, 1], [0, 0, 1 << 0]),
}


def enumerate_worlds(hidden, counts, void):
    """Every way to give each hidden tile a place that may hold it, as masks by place."""
    found = [(0,) * len(counts)]
    for tile in tiles_of(hidden):
        found = [
            (*world[:place], world[place] | 1 << tile, *world[place + 1 :])
            for world in found
            for place in range(len(counts))
            if world[place].bit_count() < counts[place]
            and not any(void[place] >> value & 1 and HAS[value] >> tile & 1 for value in range(7))
        ]
    return found


def tuples(worlds):
    return [tuple(map(int, world)) for world in worlds]


def small_cases(n=60, seed=1):
    """Random small cases, most of them with a world."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        places = int(rng.integers(1, MAX_PLACES + 1))
        tiles = rng.choice(28, size=int(rng.integers(0, 8)), replace=False)
        counts = np.bincount(rng.integers(0, places, len(tiles)), minlength=places).tolist()
        void = [int(rng.integers(0, 128)) & int(rng.integers(0, 128)) for _ in range(places)]
        void = [v & int(rng.integers(0, 128)) for v in void]
        yield sum(1 << int(t) for t in tiles), counts, void


# ---------------------------------------------------------------------- counted


@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_count_and_chance_are_those_of_an_enumeration(engine):
    some = 0
    for hidden, counts, void in [*small_cases(), *SMALL.values()]:
        worlds = enumerate_worlds(hidden, counts, void)
        known = Worlds(hidden, counts, void, engine)
        assert known.count() == len(worlds)
        if not worlds:
            continue
        some += 1
        for place in range(len(counts)):
            for value in range(7):
                lacking = sum(not world[place] & HAS[value] for world in worlds)
                assert known.chance_lacks(place, value) == lacking / len(worlds)
    assert some > 30


@pytest.mark.parametrize("counts", [(7, 7, 7, 7), (5, 5, 5, 5, 8), (6, 6, 6, 5, 5), (14, 14)])
def test_count_of_a_whole_set_is_the_multinomial(counts):
    assert Worlds(ALL, counts).count() == factorial(28) // prod(map(factorial, counts))


def test_chance_without_voids_is_hypergeometric():
    known = Worlds(ALL, (7, 7, 7, 7))
    assert known.chance_lacks(2, 6) == pytest.approx(comb(21, 7) / comb(28, 7), rel=1e-12)


def test_states_and_worlds_fit_the_record_for_any_places():
    most_states = most_worlds = 0
    for places in range(1, MAX_PLACES + 1):
        for counts in combinations_with_replacement(range(29), places):
            if sum(counts) <= 28:
                most_states = max(most_states, prod(n + 1 for n in counts[:-1]))
                if sum(counts) == 28:
                    worlds = factorial(28) // prod(map(factorial, counts))
                    most_worlds = max(most_worlds, worlds)
    assert most_states == MAX_STATES
    assert most_worlds == Worlds(ALL, (6, 6, 6, 5, 5)).count() < 2**63


def test_engines_count_alike_in_the_middle_of_a_round():
    for view in views():
        found = [Worlds.seen_by(view, engine).count() for engine in ("auto", "reference")]
        assert found[0] == found[1] > 0


# ---------------------------------------------------------------------- sampled

# Each case is tested once at 0.001: together they fail by chance less than once in 140 changes of
# the seed.


@pytest.mark.parametrize("case", SMALL, ids=str)
def test_samples_are_uniform(case):
    hidden, counts, void = SMALL[case]
    worlds = enumerate_worlds(hidden, counts, void)
    draws = tuples(Worlds(hidden, counts, void).sample(400 * len(worlds), seed=7))
    observed = [draws.count(world) for world in worlds]
    assert sum(observed) == len(draws)
    if len(worlds) > 1:
        assert stats.chisquare(observed).pvalue > 0.001


def test_neighbouring_samples_are_independent():
    """Pairs of worlds that follow each other are uniform too; at 0.001."""
    hidden, counts, void = SMALL["a void"]
    worlds = enumerate_worlds(hidden, counts, void)
    draws = tuples(Worlds(hidden, counts, void).sample(20_000, seed=3))
    pairs = list(zip(draws[::2], draws[1::2], strict=True))
    observed = [pairs.count((a, b)) for a in worlds for b in worlds]
    assert stats.chisquare(observed).pvalue > 0.001


@pytest.mark.parametrize("case", SMALL, ids=str)
def test_engines_sample_the_same_worlds(case):
    hidden, counts, void = SMALL[case]
    fast, slow = (Worlds(hidden, counts, void, engine) for engine in ("auto", "reference"))
    assert tuples(fast.sample(50, 5)) == tuples(slow.sample(50, 5))
    elsewhere = {"round_": 3, "event": 2**32 - 1}
    assert tuples(fast.sample(50, 2**64 - 1, **elsewhere)) == tuples(
        slow.sample(50, 2**64 - 1, **elsewhere)
    )


def test_engines_sample_the_same_worlds_of_a_whole_set():
    worlds = [Worlds(ALL, (5, 5, 5, 5, 8), engine=engine) for engine in ("auto", "reference")]
    assert tuples(worlds[0].sample(20, 1)) == tuples(worlds[1].sample(20, 1))


def test_samples_meet_every_constraint():
    """Of all that is known in many places of many rounds, by masks."""
    seen = set()
    for view in views():
        known = Worlds.seen_by(view)
        sampled = known.sample(200, seed=view.event)
        union = np.zeros(len(sampled), np.uint32)
        for place, (count, void) in enumerate(zip(known.counts, known.void, strict=True)):
            hands = sampled[:, place]
            assert (np.bitwise_count(hands) == count).all()
            assert not (hands & tiles_lacking(void)).any()
            assert not (hands & union).any()
            union |= hands
            seen.add((view.players, void > 0))
        assert (union == known.hidden).all()
        assert not known.hidden & (view.hand | view.table)
    assert {(n, some) for n in (2, 3, 4) for some in (False, True)} == seen


def test_sampled_chance_is_the_exact_one():
    """Within 4 standard errors, in 12 places: wrong by chance once in 1000 changes of the seed."""
    n = 40_000
    for view in views(every=40, most=12):
        known = Worlds.seen_by(view)
        place = (view.seat + 1) % view.players
        exact = known.chance_lacks(place, 6)
        sampled = np.mean(known.sample(n, seed=11)[:, place] & HAS[6] == 0)
        assert abs(sampled - exact) <= 4 * np.sqrt(exact * (1 - exact) / n)


def test_sample_is_a_function_of_its_numbers():
    known = Worlds(ALL, (7, 7, 7, 7))
    first = known.sample(100, seed=1)
    assert tuples(known.sample(30, seed=1)) == tuples(first[:30])
    assert len(set(tuples(first))) == 100
    for other in (
        known.sample(100, seed=2),
        known.sample(100, seed=1, round_=1),
        known.sample(100, seed=1, event=1),
        known.sample(100, seed=1 + 2**32),
    ):
        assert not set(tuples(other)) & set(tuples(first))
    assert known.sample(0, seed=1).shape == (0, 4)


def views(every=7, most=150):
    """Views of random matches, of two to four players."""
    found = []

    def look(view):
        found.append(view)
        return reference_choice(view)

    for players, rules in (
        (4, "room-fish-all"),
        (3, "room-fish-all"),
        (2, "dominoes3d-duel"),
        (4, "pair-traditional"),
        (2, "room-fish-all"),
    ):
        policy = alone("look", Function(look, "", (), False))
        for deal in range(2):
            reference.play_match(RuleSet.preset(rules, players), [policy] * players, 1, deal)
    return found[:: max(every, len(found) // most)]


def reference_choice(view):
    """The lowest legal tile on the highest arm; it fits no rule to the hidden tiles."""
    arm = max(a for a in range(4) if view.legal[a])
    tile = next(tiles_of(view.legal[arm]))
    return (tile + 1) << (8 * arm)


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((1 << 28, [1]), "hidden must be a mask of the 28 tiles"),
        ((7, [2, 2]), r"counts \[2, 2\] must share out the 3 hidden tiles"),
        ((7, [4, -1]), "counts must be a whole number from 0 to 28, not -1"),
        ((7, []), "1 to 5 places, not 0 and 0"),
        ((7, [1, 1, 1, 0, 0, 0]), "1 to 5 places, not 6 and 6"),
        ((7, [2, 1], [0]), "not 2 and 1"),
        ((7, [2, 1], [0, 128]), "void must be a whole number from 0 to 127, not 128"),
        ((7, [2, 1], [0, 0], "turbo"), "unknown engine 'turbo'; choose from auto, reference"),
    ],
)
def test_worlds_that_cannot_be_are_refused(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        Worlds(*arguments)


@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_no_world_at_all(engine):
    known = Worlds(Hand.of("6-6", "5-5"), [1, 1], [1 << 6 | 1 << 5, 0], engine)
    assert known.count() == 0
    with pytest.raises(ValueError, match="no world agrees"):
        known.chance_lacks(0, 3)
    with pytest.raises(ValueError, match="no world agrees"):
        known.sample(1, seed=1)


@pytest.mark.parametrize(
    ("numbers", "complaint"),
    [
        ({"n": -1}, "n must be a whole number from 0 to 536870912, not -1"),
        ({"n": 2**29 + 1}, "n must be"),
        ({"seed": 2**64}, "seed must be a whole number from 0 to"),
        ({"round_": -1}, "round_ must be"),
        ({"event": 2**32}, "event must be"),
    ],
)
def test_numbers_out_of_range(numbers, complaint):
    with pytest.raises(ValueError, match=complaint):
        Worlds(7, [2, 1]).sample(**{"n": 1, "seed": 1} | numbers)


@pytest.mark.parametrize(("place", "value"), [(-1, 0), (2, 0), (0, 7), (0, -1)])
def test_no_such_place_or_value(place, value):
    with pytest.raises(
        ValueError, match=r"^(place|value) must be a whole number from 0 to [16], not "
    ):
        Worlds(7, [2, 1]).chance_lacks(place, value)
