"""What the rules fix: how many goats a match has, and so what of goats needs no luck to be known.

Where the rules leave one number of goats, as one of two players or three of four in household-300,
all means of it are known before anything is played. Where they leave several, a mean lies between
the least and the most. A match that reaches the cap of rounds has no goat at all.

Legend
------
span       ``(least, most)``: between what a mean lies; two equal numbers fix it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from kozel_sim.rules import RuleSet

Span = tuple[float, float]
SHARE: Span = (0.0, 1.0)
"""The span of a share, of which the rules say nothing more."""
FIXED = "fixed by the rules"
"""The method of what is known before anything is played."""
BROKEN = "capped matches have no goat"
"""What is said of a number that the rules would fix, where matches reached the cap."""


@dataclass(frozen=True)
class Goats:
    """How many goats the matches of a rule set have.

    Attributes
    ----------
    least, most : int
        Sides that are goats, of any match that was played.
    sides, players : int
        How many there are.
    broken : bool
        Whether the rules would fix the number, and matches that reached the cap break it.
    """

    least: int
    most: int
    sides: int
    players: int
    broken: bool = False

    @property
    def of_a_player(self) -> Span:
        """The span of the goat rate of all players together."""
        return self.least / self.sides, self.most / self.sides

    @property
    def seats(self) -> Span:
        """The span of players who are goats, per match."""
        low, high = self.of_a_player
        return low * self.players, high * self.players

    @property
    def of_sides(self) -> Span:
        """The span of sides that are goats, per match."""
        return float(self.least), float(self.most)

    @property
    def several(self) -> Span:
        """The span of the share of matches with two goat sides or more."""
        return float(self.least > 1), float(self.most > 1)


def goats_of(name: str, players: int, capped: int | float | bool) -> Goats | None:
    """Return how many goats matches have by their rules; None where the rules are not known.

    Parameters
    ----------
    name : str
        The rule set's name, as in the column preset.
    players : int
        How many play.
    capped : int
        How many matches reached the cap of rounds, or whether any did.

    Examples
    --------
    >>> goats_of("household-300", 4, 0).of_a_player
    (0.75, 0.75)
    >>> goats_of("household-300", 4, 1).of_a_player, goats_of("mine", 4, 0)
    ((0.0, 0.75), None)
    """
    rules = _rules(name, players)
    if rules is None:
        return None
    least, most = rules.goats
    broken = bool(capped) and least == most
    return Goats(0 if capped else least, most, rules.sides, players, broken)


def span_between(first: Span | None, second: Span | None) -> Span | None:
    """Return between what the rules keep a difference of two means; None if they leave one free.

    Examples
    --------
    >>> span_between((0.5, 1.0), (0.75, 0.75)), span_between((0.5, 1.0), None)
    ((-0.25, 0.25), None)
    """
    if first is None or second is None:
        return None
    return first[0] - second[1], first[1] - second[0]


@lru_cache(maxsize=256)
def _rules(name: str, players: int) -> RuleSet | None:
    return RuleSet.named(name, players)
