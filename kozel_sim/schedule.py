"""Who plays whom, where, on which deals.

Legend
------
entrant    a policy at a table, numbered in the order in which the table lists them.
seating    a number below n! that seats n entrants: seating % n turns a cyclic order round the
           table, seating // n names the cyclic order. Seating 0 is the order as listed.
table      n entrants, as indices into the list of policies.
line-ups   the matches that every deal is played in.
side       0 or 1: whom a match of a duel compares, the first policy (or team) or the second.

A design turns a field of policies into line-ups. In all of them a deal is played from every seat,
so that its luck falls on all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, combinations_with_replacement, permutations
from math import factorial
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from kozel_sim.outside import is_whole
from kozel_sim.rules import RuleSet
from kozel_sim.words import did_you_mean, quoted

T = TypeVar("T")
Ints = npt.NDArray[np.int64]


@cache
def seatings(n: int) -> Ints:
    """Return the entrant at each seat, ``[seating, seat]``, for all n! seatings.

    Examples
    --------
    >>> seatings(3).tolist()
    [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]]
    """
    orders = [(0, *rest) for rest in permutations(range(1, n))]
    turned = [[order[(seat + s) % n] for seat in range(n)] for order in orders for s in range(n)]
    return np.array(turned)


def seat_policies(entrants: list[T], seating: int) -> list[T]:
    """Return the entrants in the order of their seats; ValueError at a seating that is none."""
    n = len(entrants)
    if not is_whole(seating):
        raise ValueError(f"seating must be a whole number, not {quoted(seating)}")
    if not 0 <= seating < factorial(n):
        raise ValueError(f"seating {seating} is not below {factorial(n)} ({n} players)")
    return [entrants[i] for i in seatings(n)[seating]]


def tables(n_policies: int, players: int) -> Ints:
    """Return every set of distinct policies that fills a table, ``[table, entrant]``."""
    return np.array(list(combinations(range(n_policies), players)), dtype=np.int64)


@dataclass(frozen=True)
class Lineups:
    """The matches of every deal; deal d is played as row d % cycle says.

    Attributes
    ----------
    seating : array of int, ``[cycle, match]``
        The seating of each match.
    players : array of int, ``[cycle, match, seat]``
        The policy at each seat.
    sides : array of int, ``[cycle, match, seat]``, or None
        In a duel: whether a seat plays for the first side (0) or the second (1).
    """

    seating: Ints
    players: Ints
    sides: Ints | None = None

    @classmethod
    def of_tables(
        cls, at_tables: npt.ArrayLike, rows: npt.ArrayLike, sides: npt.ArrayLike | None = None
    ) -> Lineups:
        """Return line-ups of tables, ``[table, entrant]``, in seatings, ``[cycle, of a deal]``."""
        listed = np.asarray(at_tables, np.int64)
        numbers = np.asarray(rows, np.int64)
        seats = seatings(listed.shape[1])[numbers]
        shape = (len(numbers), -1, listed.shape[1])

        def seat(entrants: Ints) -> Ints:
            return entrants[:, seats].swapaxes(0, 1).reshape(shape)

        seating = np.repeat(numbers[:, None], len(listed), axis=1).reshape(len(numbers), -1)
        who = None if sides is None else np.broadcast_to(np.asarray(sides, np.int64), listed.shape)
        return cls(seating, seat(listed), None if who is None else seat(who))

    @property
    def cycle(self) -> int:
        """After so many deals the rows come again."""
        return len(self.seating)

    @property
    def matches(self) -> int:
        """Matches of a deal."""
        return int(self.seating.shape[1])

    @property
    def digest(self) -> str:
        """A hash of who sits where (16 hex digits)."""
        digest = hashlib.sha256(repr(self.players.shape).encode())
        for array in (self.seating, self.players):
            digest.update(array.astype("<i8").tobytes())
        return digest.hexdigest()[:16]

    def of_deals(self, first: int, end: int) -> tuple[npt.NDArray[np.uint64], Ints, Ints]:
        """Return the matches of a range of deals, deal by deal.

        Parameters
        ----------
        first, end : int
            Deal ids, the end excluded.

        Returns
        -------
        deals : array of uint64, ``[match]``
            Deal ids.
        seating : array of int, ``[match]``
            The seating of each match.
        players : array of int, ``[match, seat]``
            The policy at each seat.
        """
        deals = np.arange(first, end, dtype=np.uint64)
        rows = (deals % np.uint64(self.cycle)).astype(np.int64)
        players = self.players[rows].reshape(-1, self.players.shape[2])
        return np.repeat(deals, self.matches), self.seating[rows].ravel(), players

    def sides_of_deals(self, first: int, end: int) -> Ints:
        """Return the side that each seat plays for in a duel, ``[match, seat]``."""
        assert self.sides is not None
        rows = np.arange(first, end) % self.cycle
        return self.sides[rows].reshape(-1, self.sides.shape[2])


# ---------------------------------------------------------------------- designs

VERSUS = " v "
ROTATIONS, PERMUTATIONS, DUELS = "rotations", "permutations", "duels"
GAUNTLET, TEAMS = "gauntlet", "teams"
DESIGNS = {
    ROTATIONS: "every table in every rotation; over (players - 1)! deals in every cyclic order",
    PERMUTATIONS: "every table in all players! seatings of every deal",
    DUELS: "every policy against every other, from every seat",
    GAUNTLET: "the first policy against each of the others, from every seat",
    TEAMS: "pairs: every team of two policies (or of one twice) against every other",
}
"""What they play, by name; all on the same deals."""
COMPARING = (DUELS, GAUNTLET, TEAMS)
"""The designs whose matches compare two sides."""
Meeting = tuple[str, Lineups]
"""A title, empty where there is one meeting only, and its line-ups."""


def whole_cycles(deals: int, players: int) -> int:
    """Return a number of deals rounded up to whole cycles of the cyclic orders."""
    cycle = factorial(players - 1)
    return -(-deals // cycle) * cycle


def meetings(
    design: str, rules: RuleSet, names: Sequence[str], pairs: Sequence[tuple[int, int]] = ()
) -> list[Meeting]:
    """Return what a design plays under a rule set.

    Parameters
    ----------
    design : str
        One of ``DESIGNS``.
    rules : RuleSet
        It says how many sit at a table, and who is whose partner.
    names : sequence of str
        The field.
    pairs : sequence of (int, int), optional
        For duels: who meets whom, by number; by default all.

    Raises
    ------
    ValueError
        If the field is too small, or the design is unknown or not for these rules.
    """
    n, field = rules.players, len(names)
    if design not in DESIGNS:
        hint = did_you_mean(design, DESIGNS)
        raise ValueError(f"unknown design {quoted(design)}{hint}; choose from {', '.join(DESIGNS)}")
    if design in (ROTATIONS, PERMUTATIONS):
        if field < n:
            raise ValueError(
                f"a table of {n} players needs {n} distinct policies; "
                f"{field} given: {', '.join(names)}"
            )
        everywhere = np.arange(factorial(n))
        turns = everywhere.reshape(-1, n) if design == ROTATIONS else everywhere[None]
        return [("", Lineups.of_tables(tables(field, n), turns))]
    if field < 2:
        raise ValueError(f"the design {design} needs two or more policies; {field} given")
    if design == TEAMS:
        if rules.teams != "pairs":
            raise ValueError(f"the design teams is for pairs, and {rules.name} has singles")
        return _teams(names)
    if design == GAUNTLET:
        pairs = [(0, other) for other in range(1, field)]
    elif not pairs:
        # One against three is another game than three against one.
        both = rules.teams != "pairs" and n > 2
        pairs = list((permutations if both else combinations)(range(field), 2))
    return [(f"{names[a]}{VERSUS}{names[b]}", duel_lineups(rules, (a, b))) for a, b in pairs]


def duel_lineups(rules: RuleSet, pair: tuple[int, int] = (0, 1)) -> Lineups:
    """Return the line-ups of a duel: of more than two singles one plays the first policy.

    Examples
    --------
    >>> duel_lineups(RuleSet.preset("room-fish-all", 3)).players.tolist()
    [[[0, 1, 1], [1, 1, 0], [1, 0, 1]]]
    >>> duel_lineups(RuleSet.preset("pair-traditional")).players.tolist()
    [[[0, 1, 0, 1], [1, 0, 1, 0]]]
    """
    pairs = rules.teams == "pairs"
    sides = [0, 1, 0, 1] if pairs else [0, *[1] * (rules.players - 1)]
    turns = range(2 if pairs else rules.players)
    return Lineups.of_tables([[pair[side] for side in sides]], [turns], [sides])


def _teams(names: Sequence[str]) -> list[Meeting]:
    """Return every team against every other, partners opposite each other."""
    opposite = [s for s, row in enumerate(seatings(4)) if (row[0] - row[2]) % 2 == 0]

    def distinct(team: tuple[int, int], other: tuple[int, int]) -> Lineups:
        """Leave out what would be the same match again, since its luck is fixed."""
        entrants = np.array([team[0], other[0], team[1], other[1]])
        rows = {tuple(entrants[seatings(4)[s]].tolist()): s for s in reversed(opposite)}
        return Lineups.of_tables([entrants], [sorted(rows.values())], [[0, 1, 0, 1]])

    teams = list(combinations_with_replacement(range(len(names)), 2))
    titles = ["+".join(names[i] for i in team) for team in teams]
    return [
        (f"{titles[i]}{VERSUS}{titles[j]}", distinct(teams[i], teams[j]))
        for i, j in combinations(range(len(teams)), 2)
    ]


def as_seated(players: int, seating: int) -> Lineups:
    """Return the line-ups of one match a deal, of policies 0, 1, ... as they are seated."""
    return Lineups.of_tables([range(players)], [[seating]])


def read_pairs(pairs: Sequence[Sequence[int]], names: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Return who meets whom; ValueError where that is one policy, or listed twice."""
    found = [(a, b) for a, b in pairs]
    for a, b in found:
        if a == b:
            raise ValueError(f"{names[a]} cannot duel with itself")
        if found.count((a, b)) > 1:
            raise ValueError(f"the duel {names[a]} v {names[b]} is listed twice")
    return tuple(found)
