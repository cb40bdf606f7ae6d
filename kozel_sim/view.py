"""The View: everything that one seat may know when it is asked for a move, and nothing else.

One table of fields makes both forms of it: the :class:`View` that plain Python reads, and
:data:`VIEW`, the aligned record that compiled policies read. The names are the same.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from kozel_sim.outside import need_finite, need_list, need_whole
from kozel_sim.tiles import ALL, N_TILES, N_VALUES

N_PARAMS = 8


def _field(dtype: str, length: int = 0, *, anew: bool = False) -> Any:
    """Declare a field of the record: a number, or a list of numbers; `anew` as in ``VIEW``."""
    metadata = {"dtype": (dtype, (length,)) if length else (dtype,), "anew": anew}
    if length:
        return dataclasses.field(default_factory=lambda: [0] * length, metadata=metadata)
    return dataclasses.field(default=0, metadata=metadata)


@dataclass
class View:
    """What one seat knows when it has two or more different moves.

    Seats, sides, tiles and masks are as in ``kozel_sim.tiles`` and ``kozel_sim.moves``. Lists of
    four are indexed by arm, seat or side; entries of absent seats, sides and arms are 0 (-1 for
    `arms` and `shown`).
    """

    # Mine
    hand: int = _field("u4", anew=True)
    """Mask of my tiles."""
    legal: list[int] = _field("u4", 4, anew=True)
    """By arm: mask of my tiles that may be laid there. A tile that fits two equal ends is on the
    lower arm only; on an empty table everything is on arm 0."""
    seat: int = _field("i4", anew=True)
    """My seat, 0 to players - 1; the turn goes to the next higher seat."""
    side: int = _field("i4", anew=True)
    """My side: my seat, or seat % 2 in pairs."""
    partner: int = _field("i4", anew=True)
    """My partner's seat, -1 without one."""
    # The table
    players: int = _field("i4")
    """How many play."""
    arms: list[int] = _field("i4", 4, anew=True)
    """By arm: the value it shows, -1 where it is closed or absent."""
    table: int = _field("u4", anew=True)
    """Mask of the tiles laid in this round."""
    spinner: int = _field("i4")
    """1 when the round was led with a four-way double."""
    bazaar: int = _field("i4")
    """Tiles left in the bazaar."""
    reserve: int = _field("i4")
    """Tiles of the bazaar that are never drawn."""
    several: int = _field("i4")
    """1 when several doubles may be laid in one move, each on an arm of its own."""
    close: int = _field("i4")
    """1 when a double may be laid closed."""
    close_two: int = _field("i4")
    """1 when both ends may be closed in one move only before any double was laid."""
    # What the others showed
    counts: list[int] = _field("i4", 4, anew=True)
    """By seat: tiles in hand."""
    played: list[int] = _field("u4", 4)
    """By seat: mask of the tiles it has laid in this round."""
    void: list[int] = _field("u4", 4)
    """By seat: mask over values 0-6 that it lacked when it passed; a draw clears it."""
    last: list[int] = _field("u4", 4)
    """By seat: the code of its last move of this round, 0 without one and after a pass or draw."""
    shown: list[int] = _field("i4", 4)
    """By seat: the value that its last move left showing on its arm, -1 without one."""
    tell: list[int] = _field("u4", 4)
    """By seat: mask over the values it left by switching ends (tip T5); a draw clears it."""
    # The score
    round: int = _field("i4")
    """Number of the round in the match, from 0."""
    event: int = _field("i4", anew=True)
    """Plays, passes and draws so far in this round."""
    accounts: list[int] = _field("i4", 4)
    """By side: official points."""
    memory: list[int] = _field("i4", 4)
    """By side: remembered points."""
    opened: list[int] = _field("i4", 4)
    """By side: 1 when the account is open."""
    pot: int = _field("i4")
    """Points of tied fish that wait."""
    target: int = _field("i4")
    """The account that ends the match."""
    open_at: int = _field("i4")
    """The fence."""
    credit: int = _field("i4")
    """1 when points are credited to the winner, 0 when they are written on the holder."""
    # The rules of the chain
    four_way: int = _field("i4")
    """1 when a double that is led gets four arms."""
    six_closed: int = _field("i4")
    """1 when equal ends make a fish as soon as all six non-doubles of their value are out."""
    # Chance and parameters
    word: int = _field("u4", anew=True)
    """This event's random word: ``below(view.word, n)`` breaks a tie as the built-ins do."""
    words: list[int] = _field("u4", 4, anew=True)
    """Four more random words, filled for policies that ask for them (``@policy(words=True)``)."""
    params: list[float] = _field("f8", N_PARAMS, anew=True)
    """The policy's parameters, in the order in which they were declared."""


_TILES, _VALUES = (0, ALL), (0, (1 << N_VALUES) - 1)
_LIMITS = {
    **dict.fromkeys(("hand", "legal", "table", "played"), _TILES),
    "void": _VALUES,
    "tell": _VALUES,
    "seat": (0, 3),
    "side": (0, 3),
    "partner": (-1, 3),
    "players": (2, 4),
    "arms": (-1, N_VALUES - 1),
    "shown": (-1, N_VALUES - 1),
    "bazaar": (0, N_TILES),
    "reserve": (0, N_TILES),
    "counts": (0, N_TILES),
}
"""Between what a field's numbers are; of the others their type alone says it."""


def need_view(view: View) -> View:
    """Return a View whose every field is a number, or a list of numbers, that it can be.

    Raises
    ------
    ValueError
        At the first field that is not; the message names it.
    """
    for field in dataclasses.fields(View):
        kind, *shape = field.metadata["dtype"]
        value = getattr(view, field.name)
        values = need_list(field.name, value, shape[0][0]) if shape else [value]
        for each in values:
            if kind == "f8":
                need_finite(field.name, each)
            else:
                info = np.iinfo(kind)
                need_whole(
                    field.name, each, *_LIMITS.get(field.name, (int(info.min), int(info.max)))
                )
    if view.seat >= view.players:
        raise ValueError(f"seat must be below players={view.players}, not {view.seat}")
    return view


LINE = 64
"""Bytes that move together: a line of the processor's cache, and its widest vector."""


_FIELDS = np.dtype([(f.name, *f.metadata["dtype"]) for f in dataclasses.fields(View)])


def _places() -> tuple[dict[str, int], int, int]:
    """Place the fields in memory; return offsets, where those written anew begin, and the end."""
    offsets: dict[str, int] = {}
    place = begin = 0
    for anew in (False, True):
        begin = place = -(-place // LINE) * LINE
        for field in dataclasses.fields(View):
            if field.metadata["anew"] is anew:
                size = _FIELDS[field.name].itemsize
                # What fills a line is not split between two.
                place = -(-place // LINE) * LINE if size == LINE else place
                offsets[field.name] = place
                place += size
    return offsets, begin, place


_PLACES, KEPT_BYTES, VIEW_BYTES = _places()
VIEW = np.dtype(
    {
        "names": list(_PLACES),
        "formats": [_FIELDS[name] for name in _PLACES],
        "offsets": list(_PLACES.values()),
        "itemsize": VIEW_BYTES,
    },
    align=True,
)
"""The View as an aligned numpy record; compiled policies read fields of the same names.

First in memory are the fields that the engine keeps up to date from event to event, then, from
KEPT_BYTES on, those that are written anew for every decision on a chain of two ends."""
