"""Values from outside: each is returned as it should be, or refused in one line that names it.

What comes out of a file, or from a caller who counted tiles at a table, goes through these first.
Numpy's whole numbers are as good as Python's; a bool is no number, and a number no bool.
"""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from kozel_sim.tiles import NAMES, tile_id
from kozel_sim.words import quoted

LONGEST = 60
"""How much of a wrong value is shown."""


def shown(value: object) -> str:
    """Return a value as a message shows it, cut where it is long."""
    return quoted(value, LONGEST)


def is_whole(value: object) -> bool:
    """Tell whether a value is a whole number, of Python's or numpy's."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def need_whole(what: str, value: Any, low: int, high: int | None = None) -> int:
    """Return a whole number within limits; raise ValueError at anything else."""
    if not is_whole(value) or value < low or (high is not None and value > high):
        limits = f"of {low} or more" if high is None else f"from {low} to {high}"
        raise ValueError(f"{what} must be a whole number {limits}, not {shown(value)}")
    return int(value)


def need_finite(what: str, value: Any) -> float:
    """Return a number that is neither infinite nor NaN; raise ValueError at anything else."""
    try:
        if isinstance(value, numbers.Real) and not isinstance(value, bool):
            number = float(value)
            if math.isfinite(number):
                return number
    except OverflowError:
        pass
    raise ValueError(f"{what} must be a finite number, not {shown(value)}")


def need_bool(what: str, value: Any) -> bool:
    """Return True or False; raise ValueError at anything else."""
    # A bool of numpy's there is only where numpy is loaded, which takes a while.
    numpy = sys.modules.get("numpy")
    if not isinstance(value, bool) and not (numpy and isinstance(value, numpy.bool_)):
        raise ValueError(f"{what} must be true or false, not {shown(value)}")
    return bool(value)


def need_word(what: str, value: Any, choices: Collection[str]) -> str:
    """Return one of some words; raise ValueError at anything else."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{what} must be {' or '.join(map(repr, choices))}, not {shown(value)}")
    return value


def need_text(what: str, value: Any) -> str:
    """Return a text that is not empty; raise ValueError at anything else."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"{what} must be a text, not {shown(value)}")
    return value


def need_list(what: str, value: Any, length: int | None = None) -> list[Any]:
    """Return the entries of a list of some length; raise ValueError at anything else."""
    if isinstance(value, str | bytes | dict) or not isinstance(value, Iterable):
        raise ValueError(f"{what} must be a list, not {shown(value)}")
    found = list(value)
    if length is not None and len(found) != length:
        raise ValueError(f"{what} has {len(found)} entries; these rules need {length}")
    return found


def need_hand(what: str, value: Any) -> list[str]:
    """Return the names of a hand's tiles, high half first, each at most once."""
    found: list[str] = []
    for name in need_list(what, value):
        try:
            tile = NAMES[tile_id(name)]
        except ValueError as error:
            raise ValueError(f"{what}: {error}") from None
        if tile in found:
            raise ValueError(f"{what}: tile {name} is named twice")
        found.append(tile)
    return found


def need_hands(what: str, value: Any, seats: int) -> list[list[str]]:
    """Return the hands of so many seats; no tile lies in two of them."""
    entries = need_list(what, value, seats)
    found = [need_hand(f"{what} of seat {seat}", hand) for seat, hand in enumerate(entries)]
    holder: dict[str, int] = {}
    for seat, hand in enumerate(found):
        for name in hand:
            if name in holder:
                raise ValueError(f"{what}: seats {holder[name]} and {seat} both hold {name}")
            holder[name] = seat
    return found


def need_keys(what: str, value: Any, wanted: Sequence[str]) -> dict[str, Any]:
    """Return a mapping that has these keys and no others; raise ValueError at anything else."""
    if not isinstance(value, dict):
        raise ValueError(f"{what} must be an object with fields, not {shown(value)}")
    missing, extra = sorted(set(wanted) - set(value)), sorted(set(value) - set(wanted), key=str)
    if missing or extra:
        raise ValueError(f"{what} has wrong fields: missing {missing}, unknown {extra}")
    return value
