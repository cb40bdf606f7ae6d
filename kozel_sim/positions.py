"""Random positions of a preset, and what could just as well lie where nobody can see it."""

from __future__ import annotations

import copy
import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from kozel_sim.decision import Function, Ladder, Policy
from kozel_sim.reference import Round, play_rounds, show_score
from kozel_sim.rng import Luck, below
from kozel_sim.rules import RuleSet
from kozel_sim.scoring import Settled
from kozel_sim.tiles import HAS, N_VALUES, tiles_of
from kozel_sim.view import View

PER_MATCH = 8
SWAPS_PER_TILE = 40


@dataclass(frozen=True)
class Position:
    """A moment of a match when a seat has two or more different moves.

    The Round is kept as its plain values, so that a position in a list is no Round that a policy
    could find.

    Attributes
    ----------
    rules : RuleSet
        The rules.
    seed, deal, number : int
        Where the luck comes from: the match's seed and deal, the round's number.
    state : Settled
        The score before the round.
    table : dict
        The Round's attributes.
    """

    rules: RuleSet
    seed: int
    deal: int
    number: int
    state: Settled
    table: dict[str, Any]

    def round(self) -> Round:
        """Return the Round, made anew."""
        round_ = Round(self.rules, (), (), 0)
        vars(round_).update(_copied(self.table))
        return round_

    @property
    def luck(self) -> Luck:
        """The match's luck."""
        return Luck(self.seed, self.deal)

    @property
    def event(self) -> int:
        """Plays, passes and draws so far in the round."""
        return len(self.table["events"])

    def view(self, round_: Round, moves: Sequence[int]) -> View:
        """Return the complete View of the seat to act, with score and all random words."""
        view = round_.view(moves)
        show_score(self.rules, view, self.number, self.state)
        view.word = self.luck.choice(self.number, self.event)
        view.words = list(self.luck.own(self.number, self.event))
        return view

    def part_of(self, policy: Policy) -> Ladder | Function:
        """Return the part of a policy that decides here."""
        return policy.pick(self.luck.mixture(self.number, self.event))

    def permuted(self, rng: random.Random, keep_voids: bool = False) -> Position:
        """Return the position with the tiles that the seat to act cannot see in other places.

        Parameters
        ----------
        rng : random.Random
            Decides which.
        keep_voids : bool, default False
            Also keep what a pass showed: no hand gets a tile that its seat lacked.

        Returns
        -------
        Position
            Its seat sees the same View. Hidden tiles are swapped at random, many times, so that
            every arrangement that is allowed is about equally likely.
        """
        seat = self.table["seat"]
        hands, bazaar = list(self.table["hands"]), list(self.table["bazaar"])
        places = [(s, t) for s, hand in enumerate(hands) if s != seat for t in tiles_of(hand)]
        places += [(-1, tile) for tile in bazaar]
        owners, tiles = [owner for owner, _ in places], [tile for _, tile in places]
        barred = [0] * len(places)
        if keep_voids:
            void = self.table["void"]
            lacked = [_carrying(void[s]) for s in range(len(hands))] + [0]
            barred = [lacked[owner] for owner in owners]
        for _ in range(SWAPS_PER_TILE * len(places)):
            i, j = rng.randrange(len(places)), rng.randrange(len(places))
            if not (barred[i] >> tiles[j] & 1 or barred[j] >> tiles[i] & 1):
                tiles[i], tiles[j] = tiles[j], tiles[i]
        for other in range(len(hands)):
            if other != seat:
                held = [t for t, owner in zip(tiles, owners, strict=True) if owner == other]
                hands[other] = sum(1 << tile for tile in held)
        bazaar = [t for t, owner in zip(tiles, owners, strict=True) if owner < 0]
        return replace(self, table={**self.table, "hands": hands, "bazaar": bazaar})


def _copied(values: dict[str, Any]) -> dict[str, Any]:
    """Return a Round's attributes with lists of their own."""
    return {name: copy.copy(value) for name, value in values.items()}


def _carrying(values: int) -> int:
    """Return the mask of the tiles that carry one of some values."""
    mask = 0
    for value in range(N_VALUES):
        if values >> value & 1:
            mask |= HAS[value]
    return mask


class _EnoughError(Exception):
    """Enough positions were seen."""


def random_positions(rules: RuleSet, n: int, seed: int) -> list[Position]:
    """Return positions that random play reaches: one of a round, a few of a match.

    Parameters
    ----------
    rules : RuleSet
        The rules.
    n : int
        How many.
    seed : int
        Unsigned 64-bit; the same seed gives the same positions.

    Returns
    -------
    list of Position
        A round's position is any of its decisions, all equally likely.

    Examples
    --------
    >>> found = random_positions(RuleSet.preset("room-fish-all", 3), 5, seed=1)
    >>> len(found), all(len(p.round().moves()) > 1 for p in found)
    (5, True)
    """
    found: list[Position] = []
    deal = 0
    while len(found) < n:
        found += _positions_of_match(rules, seed, deal, min(PER_MATCH, n - len(found)))
        deal += 1
    return found


def _positions_of_match(rules: RuleSet, seed: int, deal: int, n: int) -> list[Position]:
    luck = Luck(seed, deal)
    rng = random.Random(f"{seed} {deal}")
    found: dict[int, Position] = {}
    decisions: dict[int, int] = {}

    def choose(number: int, state: Settled, round_: Round, moves: Sequence[int]) -> int:
        """Move at random; keep the k-th decision of a round with chance 1 / k."""
        if len(found) == n and number not in found:
            raise _EnoughError
        decisions[number] = decisions.get(number, 0) + 1
        if rng.randrange(decisions[number]) == 0:
            table = _copied(vars(round_))
            del table["rules"]
            found[number] = Position(rules, seed, deal, number, state, table)
        return moves[below(luck.choice(number, len(round_.events)), len(moves))]

    with suppress(_EnoughError):
        play_rounds(rules, luck, choose)
    return list(found.values())
