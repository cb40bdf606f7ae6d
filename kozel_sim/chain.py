"""Where the tiles of a round lie: a chain that snakes, doubles across, arms that never collide.

Legend
------
unit     half a tile: a tile is 2 long and 1 wide. x grows to the right, y downwards; the first
         tile lies around (0, 0).
heading  the direction in which an arm grows; it turns back at the board's edge.
turn     the direction, across the heading, in which an arm moves when it turns back. Each arm
         keeps to its own half of the board (two arms) or quarter (four), so arms never meet.
tip      the middle of the edge where the next tile of an arm will touch.

Where a tile lies depends on the tiles before it only: nothing on the table moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kozel_sim.record import Event
from kozel_sim.tiles import HIGH, LOW, tile_id

Direction = tuple[int, int]
Box = tuple[float, float, float, float]

EDGE = {2: 8.0, 4: 9.0}
"""How far from the middle a chain of two or four arms turns back."""
INNER = 3.0
"""How near to the middle an arm of four comes back: two arms' doubles and a gap fit there."""
HEADINGS: tuple[Direction, ...] = ((-1, 0), (1, 0), (0, -1), (0, 1))
"""By arm: left, right, up, down."""
TURNS: tuple[Direction, ...] = ((0, -1), (0, 1), (1, 0), (-1, 0))
ARM_NAMES = ("left", "right", "up", "down")


@dataclass(frozen=True)
class Spot:
    """A tile on the table.

    Attributes
    ----------
    tile : int
        The tile id.
    arm : int
        The arm it was laid on; 0 for the first tile.
    event : int
        The event that laid it.
    closed : bool
        Whether it was laid closed.
    x, y : float
        Its middle.
    along : tuple of int
        The direction from its first half to its second.
    values : tuple of int
        The values of its halves, the first one nearer to the first tile.
    """

    tile: int
    arm: int
    event: int
    closed: bool
    x: float
    y: float
    along: Direction
    values: tuple[int, int]

    @property
    def box(self) -> Box:
        """The tile's left, upper, right and lower edge."""
        wide, high = (1.0, 0.5) if self.along[0] else (0.5, 1.0)
        return self.x - wide, self.y - high, self.x + wide, self.y + high

    @property
    def halves(self) -> tuple[Box, Box]:
        """The edges of its halves, in the order of `values`."""
        (dx, dy), middles = self.along, (-0.5, 0.5)
        places = [(self.x + k * dx, self.y + k * dy) for k in middles]
        first, second = ((x - 0.5, y - 0.5, x + 0.5, y + 0.5) for x, y in places)
        return first, second


@dataclass(frozen=True)
class End:
    """An open end of the chain, from the event that made it to the one that covered it.

    Attributes
    ----------
    arm, value : int
        The arm, and what it shows.
    x, y : float
        A place just outside the end.
    since : int
        The event after which it is there.
    until : int or None
        The event after which it is not; None while it is open.
    """

    arm: int
    value: int
    x: float
    y: float
    since: int
    until: int | None = None


@dataclass(frozen=True)
class Chain:
    """The tiles on the table in the order in which they were laid, and all ends there were."""

    spots: tuple[Spot, ...]
    ends: tuple[End, ...]

    @property
    def box(self) -> Box:
        """The edges around all tiles and ends; of an empty table around its middle."""
        boxes = [(-1.0, -1.0, 1.0, 1.0), *(spot.box for spot in self.spots)]
        boxes += [(e.x - 0.5, e.y - 0.5, e.x + 0.5, e.y + 0.5) for e in self.ends]
        lefts, tops, rights, bottoms = zip(*boxes, strict=True)
        return min(lefts), min(tops), max(rights), max(bottoms)


class _Arm:
    """One arm while it grows."""

    def __init__(self, arm: int, arms: int, start: float, value: int, double: bool) -> None:
        self.arm = arm
        self.heading = HEADINGS[arm]
        self.turn = TURNS[arm]
        self.tip = (start * self.heading[0], start * self.heading[1])
        self.outer = EDGE[arms]
        self.inner = INNER if arms == 4 else -EDGE[arms]
        self.outward = True
        self.value = value
        self.after_double = double
        self.at_corner = False

    def lay(self, tile: int, event: int, closed: bool) -> Spot:
        """Lay a tile on the tip; it must carry the value that the arm shows."""
        double = HIGH[tile] == LOW[tile]
        values = (self.value, HIGH[tile] + LOW[tile] - self.value)
        if self.at_corner:
            x, y, along = self._leave_corner(double)
        elif double:
            x, y, along = self._straight(0.5, self.turn)
            self.tip = _step((x, y), self.heading, 0.5)
        elif self._fits():
            x, y, along = self._straight(1.0, self.heading)
            self.tip = _step((x, y), self.heading, 1.0)
        else:
            x, y, along = self._turn_corner()
        self.value = values[1]
        self.after_double = double
        return Spot(tile, self.arm, event, closed, x, y, along, values)

    def end(self, since: int) -> End:
        """Return the open end that the arm is now."""
        x, y = _step(self.tip, self.turn if self.at_corner else self.heading, 0.55)
        return End(self.arm, self.value, x, y, since)

    def _fits(self) -> bool:
        """Tell whether a tile that is not a double ends before the board's edge."""
        first = HEADINGS[self.arm]
        here = self.tip[0] * first[0] + self.tip[1] * first[1]
        return here + 2 <= self.outer if self.outward else here - 2 >= self.inner

    def _straight(self, half: float, along: Direction) -> tuple[float, float, Direction]:
        return *_step(self.tip, self.heading, half), along

    def _turn_corner(self) -> tuple[float, float, Direction]:
        """Lay a tile across the heading, at the side of the last half or the end of a double."""
        middle = _step(self.tip, self.heading, -0.5)
        side = _step(middle, self.turn, 1.0 if self.after_double else 0.5)
        self.tip = _step(side, self.turn, 2.0)
        self.at_corner = True
        return *_step(side, self.turn, 1.0), self.turn

    def _leave_corner(self, double: bool) -> tuple[float, float, Direction]:
        """Lay the first tile that heads back, under the corner's tile; a double lies across it."""
        self.at_corner = False
        self.outward = not self.outward
        self.heading = (-self.heading[0], -self.heading[1])
        half = _step(self.tip, self.turn, 0.5)
        middle = half if double else _step(half, self.heading, 0.5)
        self.tip = _step(middle, self.heading, 1.0)
        return *middle, self.heading


def _step(place: tuple[float, float], way: Direction, far: float) -> tuple[float, float]:
    return place[0] + far * way[0], place[1] + far * way[1]


def lay_chain(events: Sequence[Event], spinner: bool) -> Chain:
    """Lay the tiles of a round on the table.

    Parameters
    ----------
    events : sequence of Event
        The round's events, from the first.
    spinner : bool
        Whether a double that is led gets four arms (knob `spinner`).

    Returns
    -------
    Chain
        Places in half tiles; see the module's legend.

    Examples
    --------
    >>> from kozel_sim.record import Laid
    >>> led, laid = Event(0, (Laid("3-3", 0),)), Event(1, (Laid("6-3", 1),))
    >>> [(spot.x, spot.y, spot.values) for spot in lay_chain([led, laid], False).spots]
    [(0.0, 0.0, (3, 3)), (1.5, 0.0, (3, 6))]
    """
    spots: list[Spot] = []
    ends: list[End] = []
    arms: list[_Arm] = []
    open_ends: dict[int, End] = {}
    for number, event in enumerate(events):
        for laid in event.play:
            tile = tile_id(laid.tile)
            if not arms:
                arms = _first_arms(tile, spinner)
                along = (0, 1) if LOW[tile] == HIGH[tile] else (1, 0)
                values = (LOW[tile], HIGH[tile])
                spots.append(Spot(tile, 0, number, False, 0.0, 0.0, along, values))
                open_ends = {arm.arm: arm.end(number) for arm in arms}
                continue
            arm = arms[laid.arm]
            spots.append(arm.lay(tile, number, laid.closed))
            ends.append(replace(open_ends.pop(laid.arm), until=number))
            if not laid.closed:
                open_ends[laid.arm] = arm.end(number)
    return Chain(tuple(spots), (*ends, *open_ends.values()))


def _first_arms(tile: int, spinner: bool) -> list[_Arm]:
    low, high = LOW[tile], HIGH[tile]
    if low != high:
        return [_Arm(0, 2, 1.0, low, False), _Arm(1, 2, 1.0, high, False)]
    count = 4 if spinner else 2
    starts = (0.5, 0.5, 1.0, 1.0)
    return [_Arm(arm, count, starts[arm], low, True) for arm in range(count)]
