"""Which rows of a frame belong together: those of a match, of a deal, of a cyclic order."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from kozel_sim.words import counted

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def number_matches(part: pd.DataFrame, players: int) -> npt.NDArray[np.int64]:
    """Return which match each row belongs to, numbered from 0 as they appear.

    A match's rows follow each other in a run's frame, so what is left of it is told by the labels
    that rows keep when a frame is filtered or sorted. A frame with other labels must be whole.

    Parameters
    ----------
    part : DataFrame
        Rows of one preset and number of players.
    players : int
        How many rows a whole match has.

    Raises
    ------
    ValueError
        If neither is so.
    """
    seats = part["seat"].to_numpy().astype(np.int64)
    found = []
    if part.index.is_unique and pd.api.types.is_integer_dtype(part.index.dtype):
        firsts = part.index.to_numpy() - seats
        if (firsts % players == firsts[0] % players).all():
            found.append(firsts)
    if len(part) % players == 0 and (seats.reshape(-1, players) == np.arange(players)).all():
        found.append(np.arange(len(part)) // players)
    same = ["deal", "seating", "rounds", "fish_rounds", "capped"]
    facts = part[[column for column in same if column in part]]
    for keys in found:
        codes, kinds = pd.factorize(keys)
        one = np.empty(len(kinds), np.int64)
        one[codes] = np.arange(len(part))
        if all((v.to_numpy() == v.to_numpy()[one[codes]]).all() for _, v in facts.items()):
            return codes.astype(np.int64)
    raise ValueError(
        "cannot tell which rows are of the same match: filter the run's frame without changing its "
        "labels (no reset_index), or keep all rows of every match"
    )


def whole_matches(part: pd.DataFrame, players: int) -> pd.DataFrame:
    """Return the rows in blocks of one match by seat; ValueError if some of a match are missing."""
    numbers = number_matches(part, players)
    matches = int(numbers.max()) + 1
    if len(part) != matches * players:
        raise ValueError(
            f"whole matches are needed: these are {counted(len(part), 'row')} of "
            f"{counted(matches, 'match')} of {players} players"
        )
    place = numbers * players + part["seat"].to_numpy()
    in_blocks = (place == np.arange(len(part))).all()
    return part if in_blocks else part.iloc[np.argsort(place)]


def by_deal(rows: pd.DataFrame, values: npt.ArrayLike | pd.Series[float]) -> Floats:
    """Sum values by deal, in the order in which deals appear."""
    codes, deals = pd.factorize(rows["deal"].to_numpy())
    return np.bincount(codes, np.asarray(values, float), len(deals)).astype(np.float64)


def orders_of(rows: pd.DataFrame) -> npt.NDArray[np.int8]:
    """Return the cyclic order that each row's deal is played in, ``[row]``.

    Where a deal is played in several, as in all seatings, the order is not the deal's, and all
    are 0.
    """
    if "seating" not in rows.columns:
        return np.zeros(len(rows), np.int8)
    # Few bytes a row: frames are as large as memory allows.
    orders = (rows["seating"].to_numpy() // rows["players"].to_numpy()).astype(np.int8)
    codes, deals = pd.factorize(rows["deal"].to_numpy())
    of_deal = np.empty(len(deals), np.int8)
    of_deal[codes] = orders
    return orders if np.array_equal(of_deal[codes], orders) else np.zeros_like(orders)


def strata_of(rows: pd.DataFrame) -> Ints:
    """Return the cyclic order of each deal, in the order in which deals appear, ``[deal]``."""
    return by_first_row(rows, orders_of(rows))


def by_first_row(rows: pd.DataFrame, values: npt.ArrayLike) -> Ints:
    """Return a value that all rows of a deal share, in the order in which deals appear."""
    return np.asarray(values)[~rows["deal"].duplicated().to_numpy()].astype(np.int64)
