"""Pictures are well-formed SVG and show what lies on the table, no more and no less."""

import re
import xml.etree.ElementTree as ET

import pytest
from conftest import PRESET_TABLES

from kozel_sim import play
from kozel_sim.chain import lay_chain
from kozel_sim.moments import table_at
from kozel_sim.positions import random_positions
from kozel_sim.record import Event, Laid
from kozel_sim.rules import RuleSet
from kozel_sim.svg import (
    PIPS_AT,
    UNIT,
    board_svg,
    hand_svg,
    position_svg,
    record_svg,
    spot_group,
    tile_svg,
    view_svg,
)
from kozel_sim.tiles import NAMES, PIPS, Hand

DOT = re.compile(r"M(-?[\d.]+) (-?[\d.]+)h0")


def dots(svg):
    return [(float(x), float(y)) for x, y in DOT.findall(svg)]


def parsed(svg):
    """Read a picture as XML; nothing in it may point elsewhere."""
    assert not re.search(r"href|url\(|<image|<script|<foreignObject", svg)
    return ET.fromstring(svg)


@pytest.fixture(scope="module")
def record():
    return play("livegames-donkey", ["random", "seven_tips"], 2, 3, engine="reference")


@pytest.mark.parametrize("value", range(7))
def test_a_half_has_as_many_pips_as_its_value_apart_and_inside(value):
    places = PIPS_AT[value]
    assert len(set(places)) == len(places) == value
    assert all(max(abs(x), abs(y)) + 2 < UNIT / 2 for x, y in places)
    # Turned by half a turn it is the same.
    assert {(-x, -y) for x, y in places} == set(places)
    near = [abs(complex(*a) - complex(*b)) for a in places for b in places if a != b]
    assert all(distance > 4.2 for distance in near)


def test_a_six_is_two_columns_of_three_along_the_tile():
    assert len({x for x, _ in PIPS_AT[6]}) == 2
    assert len({y for _, y in PIPS_AT[6]}) == 3
    lying = dots(tile_svg("6-6", upright=False))
    assert len({y for _, y in lying}) == 2


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("upright", [True, False])
def test_tile_shows_its_pips_on_the_right_half(name, upright):
    svg = tile_svg(name, upright=upright)
    parsed(svg)
    first = [place for place in dots(svg) if place[int(upright)] < 0]
    assert len(first) == int(name[0])
    assert len(dots(svg)) == PIPS[NAMES.index(name)]


def test_closed_tile_shows_no_pips_but_its_name():
    svg = tile_svg("5-5", closed=True)
    assert dots(svg) == []
    assert ">5-5<" in svg
    with pytest.raises(ValueError, match="not a tile: '7-1'"):
        tile_svg("7-1")


def test_hand_has_a_bar_under_each_legal_tile():
    svg = hand_svg(["6-4", "1-1", "0-0"], ["1-1"])
    parsed(svg)
    assert svg.count("stroke-width='4'/>") == 1
    assert "hand: empty" in hand_svg([])


@pytest.mark.parametrize(
    ("values", "along"), [((6, 1), (1, 0)), ((6, 1), (-1, 0)), ((6, 1), (0, 1)), ((6, 1), (0, -1))]
)
def test_a_tile_of_the_chain_has_its_first_half_where_it_is_touched(values, along):
    """The half with six pips lies against the direction of growth."""
    from kozel_sim.chain import Spot

    group = spot_group(Spot(22, 0, 0, False, 0.0, 0.0, along, values))
    ahead = [x * along[0] + y * along[1] for x, y in dots(group)]
    assert sum(place < 0 for place in ahead) == 6
    assert sum(place > 0 for place in ahead) == 1


@pytest.mark.parametrize("event", [-1, 0, 5, None])
def test_board_shows_every_tile_once(record, event):
    for told in record.rounds:
        at = None if event is None else min(event, len(told.events) - 1)
        svg = board_svg(record, told.round, at)
        parsed(svg)
        laid = [p for e in table_at(record, told.round, at).events for p in e.play]
        closed = [p.tile for p in laid if p.closed]
        assert len(dots(svg)) == 168 - Hand.of(*closed).pips
        for name in closed:
            assert f">{name}<" in svg


@pytest.mark.parametrize(("preset", "players"), PRESET_TABLES)
def test_every_preset_can_be_drawn(preset, players):
    record = play(preset, ["random"] * players, 1, 1, engine="reference")
    last = record.rounds[-1].round
    svg = board_svg(record, last)
    parsed(svg)
    assert "The match is over" in " ".join(re.findall(r">([^<]+)<", svg))


def test_the_tiles_just_laid_have_a_thick_edge():
    record = play("sea-goat-125", ["random"] * 4, 1, 1, engine="reference")
    drawn = 0
    for told in record.rounds:
        for number, event in enumerate(told.events):
            if number in (0, 9) or len(event.play) > 1:
                edges = board_svg(record, told.round, number).count("stroke-width='3.2'")
                assert edges == len(event.play)
                drawn += len(event.play) > 1
    assert drawn


def test_record_svg_has_every_rounds_end(record):
    svg = record_svg(record)
    picture = parsed(svg)
    inner = [child for child in picture if child.tag.endswith("svg")]
    assert len(inner) == len(record.rounds)
    tops = [float(child.get("y")) for child in inner]
    ends = [y + float(child.get("height")) for y, child in zip(tops, inner, strict=True)]
    assert all(end <= top for end, top in zip(ends, tops[1:], strict=False))
    assert float(picture.get("height")) == pytest.approx(ends[-1], abs=0.2)
    assert record_svg(record, 2) == board_svg(record, 2)
    with pytest.raises(ValueError, match=f"choose from 0 to {len(record.rounds) - 1}"):
        record_svg(record, 99)


def test_pictures_are_the_same_each_time(record):
    assert record_svg(record) == record_svg(record)


@pytest.mark.parametrize(
    ("preset", "players"), [("room-fish-all", 3), ("livegames-donkey", 4), ("sea-goat", 4)]
)
def test_position_and_view_can_be_drawn(preset, players):
    for position in random_positions(RuleSet.preset(preset, players), 12, seed=4):
        table = position.round()
        moves = table.moves()
        view = position.view(table, moves)
        parsed(position_svg(table))
        svg = view_svg(view)
        parsed(svg)
        mine = Hand(view.hand)
        seen = Hand(view.table | view.hand)
        assert f"seat {view.seat} of {players} is to act" in svg
        # Only what the seat may know: its own tiles and those on the table.
        assert len(dots(svg)) == seen.pips
        legal = view.legal[0] | view.legal[1] | view.legal[2] | view.legal[3]
        assert svg.count("stroke-width='4'/>") == len(Hand(legal))
        assert len(mine) == view.counts[view.seat]


def test_closed_doubles_lie_across_and_are_hatched():
    events = [Event(0, (Laid("5-3", 0),)), Event(1, (Laid("3-3", 0, True),))]
    chain = lay_chain(events, False)
    group = spot_group(chain.spots[1])
    assert dots(group) == []
    assert ">3-3<" in group


def test_names_are_escaped():
    name = "prefer:legal_double?double>pips"
    record = play("room-fish-all", [name, "random"], 1, 0, engine="reference")
    assert record.policies[0] == name
    svg = board_svg(record)
    parsed(svg)
    assert "double&gt;pips" in svg
