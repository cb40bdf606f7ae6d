"""The chain on the table: no two tiles overlap, neighbours touch, and their values agree."""

import random
from itertools import combinations

import pytest
from conftest import PRESET_TABLES

from kozel_sim.chain import ARM_NAMES, EDGE, HEADINGS, TURNS, lay_chain
from kozel_sim.moves import legal_codes
from kozel_sim.reference import Round
from kozel_sim.rules import RuleSet
from kozel_sim.tiles import ALL, DOUBLES, HAS, HIGH, LOW, tile_id

TOUCH = 1e-9


def overlap(a, b):
    """How far two boxes reach into each other, across and down; both positive: they overlap."""
    return min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])


def inside_each_other(a, b):
    return min(overlap(a, b)) > TOUCH


def share_an_edge(a, b):
    """Whether two boxes lie against each other along more than a point."""
    across, down = overlap(a, b)
    return (abs(across) < TOUCH and down > TOUCH) or (abs(down) < TOUCH and across > TOUCH)


def end_box(end):
    return end.x - 0.35, end.y - 0.35, end.x + 0.35, end.y + 0.35


def check(chain):
    """Hold a chain to the rules of a table."""
    for one, other in combinations(chain.spots, 2):
        assert not inside_each_other(one.box, other.box), (one, other)
    tips = {}
    for number, spot in enumerate(chain.spots):
        if number == 0:
            assert (spot.x, spot.y) == (0, 0)
            tips = {arm: (spot, (LOW[spot.tile], HIGH[spot.tile])[arm % 2]) for arm in range(4)}
            continue
        before, value = tips[spot.arm]
        assert sorted(spot.values) == [LOW[spot.tile], HIGH[spot.tile]]
        assert spot.values[0] == value, "touching halves have one value"
        assert any(share_an_edge(spot.halves[0], half) for half in touchable(before, value))
        # Only the arm's last tile is touched, but at a corner by the half that turns.
        tips[spot.arm] = spot, spot.values[1]
        if 1 << spot.tile & DOUBLES:
            assert before.along != spot.along, "a double lies across"
    for end in chain.ends:
        laid = [s for s in chain.spots if s.event <= end.since]
        assert not [s for s in laid if inside_each_other(s.box, end_box(end))], end
    now = [end for end in chain.ends if end.until is None]
    for one, other in combinations(now, 2):
        assert not inside_each_other(end_box(one), end_box(other))
    return chain


def touchable(spot, value):
    """The halves of a tile that carry a value; of the first tile both halves of a double."""
    return [half for v, half in zip(spot.values, spot.halves, strict=True) if v == value]


def laid_at_random(rules, rng, favourite=None, most=28):
    """Lay as many tiles as there fit, out of one hand: a chain, on one arm if there is a choice."""
    table = Round(rules, [ALL, ALL, ALL, ALL][: rules.players], [], 0)
    while table.events is not None and bin(table.table).count("1") < most:
        hand = ALL & ~table.table
        codes = legal_codes(rules, hand, table.arms, table.spinner, 1)
        if not codes:
            break
        if favourite is not None:
            codes = [c for c in codes if c >> 8 * favourite & 0xFF] or codes
        open_codes = [c for c in codes if not any(c >> 8 * a & 0x80 for a in range(4))]
        closing = rules.close_doubles and rng.random() < 0.1
        table.play(rng.choice(codes if closing else open_codes or codes))
    return table.events


@pytest.mark.parametrize(("preset", "players"), PRESET_TABLES)
def test_long_chains_of_every_preset_do_not_overlap(preset, players):
    rules = RuleSet.preset(preset, players)
    rng = random.Random(f"{preset} {players}")
    longest = 0
    for attempt in range(60):
        favourite = (None, 0, 1, 2, 3)[attempt % 5]
        events = laid_at_random(rules, rng, favourite)
        chain = check(lay_chain(events, rules.spinner))
        assert len(chain.spots) == sum(len(event.play) for event in events)
        longest = max(longest, len(chain.spots))
    assert longest >= 26


@pytest.mark.parametrize("spinner", [False, True])
@pytest.mark.parametrize("arm", range(4))
def test_all_28_tiles_on_one_arm_stay_on_the_board(spinner, arm):
    """A closed walk over all tiles: every value is on eight halves, so there is one."""
    from kozel_sim.record import Event, Laid

    if arm > 1 and not spinner:
        pytest.skip("a line has two arms")
    rng = random.Random(arm)
    for _ in range(40):
        walk = whole_set(rng)
        events = [Event(0, (Laid(name, arm if k else 0),)) for k, name in enumerate(walk)]
        chain = check(lay_chain(events, spinner))
        assert len(chain.spots) == 28
        axis = 0 if HEADINGS[arm][0] else 1
        arms = 4 if spinner else 2
        far = [abs(edge) for s in chain.spots for edge in (s.box[axis], s.box[axis + 2])]
        assert max(far) <= EDGE[arms] + 1.5


def whole_set(rng):
    """The names of all 28 tiles in a row that fits, a double first."""
    while True:
        left = list(range(28))
        walk = [rng.randrange(7)]
        left.remove(walk[0])
        value = LOW[walk[0]]
        while left:
            fits = [t for t in left if HAS[value] >> t & 1]
            if not fits:
                break
            # Doubles when they can be laid, else a random tile.
            tile = next((t for t in fits if t < 7), None)
            tile = rng.choice(fits) if tile is None else tile
            left.remove(tile)
            walk.append(tile)
            value = HIGH[tile] + LOW[tile] - value
        if not left:
            return [f"{HIGH[t]}-{LOW[t]}" for t in walk]


def test_tiles_do_not_move_when_more_are_laid():
    rules = RuleSet.preset("livegames-donkey", 4)
    events = laid_at_random(rules, random.Random(5))
    whole = lay_chain(events, True)
    for n in range(len(events)):
        part = lay_chain(events[:n], True).spots
        assert part == whole.spots[: len(part)]


def test_arms_are_where_their_names_say():
    for name, (x, y), (tx, ty) in zip(ARM_NAMES, HEADINGS, TURNS, strict=True):
        assert {"left": x == -1, "right": x == 1, "up": y == -1, "down": y == 1}[name]
        assert x * tx + y * ty == 0
    assert len(set(TURNS)) == 4, "no two arms turn into the same quarter"


def test_a_closed_arm_has_no_end():
    from kozel_sim.record import Event, Laid

    events = [
        Event(0, (Laid("5-3", 0),)),
        Event(1, (Laid("3-3", 0, True),)),
        Event(2, (Laid("5-4", 1),)),
    ]
    chain = check(lay_chain(events, False))
    assert [(e.arm, e.value) for e in chain.ends if e.until is None] == [(1, 4)]
    assert [s.closed for s in chain.spots] == [False, True, False]
    assert chain.spots[1].tile == tile_id("3-3")
    assert lay_chain([], False).spots == ()
