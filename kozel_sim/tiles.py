"""Tiles, values and hands.

Legend
------
tile id      0-27. The double v-v is tile v; then 1-0, 2-0, 2-1, 3-0 ... 6-5 are tiles 7-27.
mask         an int whose bit i says that tile i is in the set (a hand, the table, the bazaar).
HIGH, LOW    the larger and the smaller half of each tile.
PIPS         the sum of the two halves of each tile.
HAS[v]       the mask of the seven tiles that carry value v (a double counts once).
DOUBLES      the mask of the seven doubles.
ALL          the mask of all 28 tiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kozel_sim.words import quoted

N_TILES = 28
N_VALUES = 7

_HALVES: tuple[tuple[int, int], ...] = tuple((v, v) for v in range(7)) + tuple(
    (high, low) for high in range(1, 7) for low in range(high)
)
HIGH: tuple[int, ...] = tuple(high for high, _ in _HALVES)
LOW: tuple[int, ...] = tuple(low for _, low in _HALVES)
PIPS: tuple[int, ...] = tuple(high + low for high, low in _HALVES)
HAS: tuple[int, ...] = tuple(
    sum(1 << i for i, halves in enumerate(_HALVES) if v in halves) for v in range(7)
)
DOUBLES = 0b111_1111
ALL = (1 << N_TILES) - 1

NAMES: tuple[str, ...] = tuple(f"{high}-{low}" for high, low in _HALVES)
_IDS: dict[str, int] = {
    f"{a}-{b}": i for i, (h, lo) in enumerate(_HALVES) for a, b in ((h, lo), (lo, h))
}


def tile_id(name: str) -> int:
    """Return the id of a tile written like ``"6-4"`` (or ``"4-6"``).

    Parameters
    ----------
    name : str
        The two halves, 0 to 6, joined by a hyphen, in either order.

    Returns
    -------
    int
        The tile id, 0 to 27.

    Raises
    ------
    ValueError
        If `name` is not a tile of the double-six set.

    Examples
    --------
    >>> tile_id("6-4"), tile_id("4-6"), tile_id("1-1")
    (26, 26, 1)
    """
    try:
        return _IDS[name]
    except (KeyError, TypeError):
        raise ValueError(
            f"not a tile: {name!r}; a tile is written with two halves from 0 to 6, like '6-4'"
        ) from None


def tile_name(tile: int) -> str:
    """Return the name of a tile id, high half first.

    Examples
    --------
    >>> tile_name(26), tile_name(0)
    ('6-4', '0-0')
    """
    given: object = tile
    if not isinstance(given, int) or isinstance(given, bool) or not 0 <= given < N_TILES:
        raise ValueError(f"a tile id is a whole number from 0 to 27, not {quoted(tile)}")
    return NAMES[tile]


def other_half(tile: int, value: int) -> int:
    """Return the half of `tile` that is not matched when it is joined by `value`."""
    if value not in (LOW[tile], HIGH[tile]):
        raise ValueError(f"tile {tile_name(tile)} has no half {value!r}")
    return PIPS[tile] - value


class Hand(int):
    """A set of tiles: an ``int`` mask with a friendly face.

    The set operations of ``int`` (``&``, ``|``, ``^``) return plain masks; wrap them in ``Hand``
    again where the face is wanted.

    Examples
    --------
    >>> hand = Hand.of("6-4", "1-1")
    >>> hand, len(hand), hand.pips
    (Hand('1-1 6-4'), 2, 12)
    >>> "4-6" in hand
    True
    """

    def __new__(cls, mask: int = 0) -> Hand:
        """Take a mask of the 28 tiles."""
        if not 0 <= mask <= ALL:
            raise ValueError(f"a hand is a mask of the 28 tiles, not {quoted(mask)}")
        return super().__new__(cls, mask)

    @classmethod
    def of(cls, *names: str) -> Hand:
        """Build a hand from tile names, each tile at most once.

        Raises
        ------
        ValueError
            If a name is not a tile, or a tile is named twice.
        """
        mask = 0
        for name in names:
            bit = 1 << tile_id(name)
            if mask & bit:
                raise ValueError(f"tile {name} is named twice in {' '.join(names)}")
            mask |= bit
        return cls(mask)

    @property
    def tiles(self) -> list[int]:
        """The tile ids in the hand, ascending."""
        return list(tiles_of(self))

    @property
    def names(self) -> list[str]:
        """The tile names in the hand, by ascending tile id."""
        return [NAMES[t] for t in tiles_of(self)]

    @property
    def pips(self) -> int:
        """The sum of all halves, without any rule's tile override."""
        return sum(PIPS[t] for t in tiles_of(self))

    def __len__(self) -> int:
        return self.bit_count()

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and bool(self >> tile_id(name) & 1)

    def __repr__(self) -> str:
        return f"Hand({' '.join(self.names)!r})"


def tiles_of(mask: int) -> Iterator[int]:
    """Yield the tile ids of a mask, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def mask_of(tiles: Iterable[int]) -> int:
    """Return the mask of some tile ids."""
    mask = 0
    for tile in tiles:
        mask |= 1 << tile
    return mask


def count_value(mask: int, value: int) -> int:
    """Return how many tiles of a mask carry `value`; a double counts once."""
    return (mask & HAS[value]).bit_count()
