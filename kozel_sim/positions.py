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
from kozel_sim.tiles import mask_of, tiles_of
from kozel_sim.view import View

PER_MATCH = 8


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

    def permuted(self, rng: random.Random) -> Position:
        """Return the position with the tiles that the seat to act cannot see in other places.

        Its seat sees the same View: hands keep their sizes. What the others showed by passing is
        not kept, so that their hands may contradict it.
        """
        seat = self.table["seat"]
        hands, bazaar = list(self.table["hands"]), list(self.table["bazaar"])
        hidden = [t for s, hand in enumerate(hands) if s != seat for t in tiles_of(hand)] + bazaar
        rng.shuffle(hidden)
        for other, hand in enumerate(hands):
            if other != seat:
                size = hand.bit_count()
                hands[other] = mask_of(hidden[:size])
                hidden = hidden[size:]
        return replace(self, table={**self.table, "hands": hands, "bazaar": hidden})


def _copied(values: dict[str, Any]) -> dict[str, Any]:
    """Return a Round's attributes with lists of their own."""
    return {name: copy.copy(value) for name, value in values.items()}


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
