"""What a round and a match are worth: hand values, the ledger, goats, and settlements.

Everything here is a pure function. Order of work at a round's end: hand values, the winner and what
is written, the pot, the opening test, the memories, the target, the result.

Legend
------
x            the amount written for a side in this round, a paid pot included.
account      a side's official points.
memory       points below the fence that a side's account does not show yet.
pot          points of tied fish that wait for a payer (a carry, or eggs).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from kozel_sim.outside import (
    need_bool,
    need_finite,
    need_hand,
    need_hands,
    need_list,
    need_whole,
    need_word,
)
from kozel_sim.rules import RuleSet, need_rules, parse_tile_over
from kozel_sim.tiles import PIPS, Hand
from kozel_sim.words import quoted


@dataclass(frozen=True)
class Settled:
    """The state after a round.

    Attributes
    ----------
    hand_points : list of int
        The value of each seat's hand.
    written : list of int
        What was written for each side, a paid carry or eggs included, a joining memory not.
    accounts, memory : list of int
        Official and remembered points by side.
    opened : list of bool
        Whether each side's account is open.
    pot : int
        Carry or eggs that still wait.
    goats, winners : list of int
        Sides; empty while the match goes on.
    over : bool
        Whether the match has ended.
    recorded : bool
        Whether an official entry was made in this round.
    """

    hand_points: list[int]
    written: list[int]
    accounts: list[int]
    memory: list[int]
    opened: list[bool]
    pot: int
    goats: list[int]
    winners: list[int]
    over: bool
    recorded: bool


def hand_points(rules: RuleSet, hand: Sequence[str]) -> int:
    """Return the value of a hand after the rules' tile values.

    Parameters
    ----------
    rules : RuleSet
        The rules; knob `tile_over`.
    hand : sequence of str
        Tile names.

    Returns
    -------
    int
        The pips of the hand, but for the tiles that the knob gives another value.

    Raises
    ------
    ValueError
        If a name is not a tile, or a tile is named twice.

    Examples
    --------
    >>> rules = RuleSet.preset("room-fish-all")
    >>> hand_points(rules, ["0-0"]), hand_points(rules, ["0-0", "2-1"])
    (10, 3)
    """
    overrides, alone = parse_tile_over(need_rules(rules).tile_over)
    tiles = Hand.of(*need_hand("the hand", hand)).tiles
    if alone and len(tiles) != 1:
        overrides = {}
    return sum(overrides.get(tile, PIPS[tile]) for tile in tiles)


def settle(
    rules: RuleSet,
    hands: Sequence[Sequence[str]],
    end: str,
    by: int,
    accounts: Sequence[int],
    memory: Sequence[int],
    opened: Sequence[bool],
    pot: int,
) -> Settled:
    """Return what a round's end does to the score.

    Parameters
    ----------
    rules : RuleSet
        The rules.
    hands : sequence of sequence of str
        The tiles left in each seat's hand.
    end : {"out", "fish"}
        How the round ended.
    by : int
        The seat that went out, or the fisherman.
    accounts, memory : sequence of int
        Points by side, before.
    opened : sequence of bool
        By side, before; without a fence every side is open.
    pot : int
        Carry or eggs, before.

    Returns
    -------
    Settled
        The state after.

    Raises
    ------
    ValueError
        If a value is not what it should be: a word, a length, a seat, points below 0, a tile that
        two hands hold, an empty hand where nobody went out, points in an account that is not open.

    Examples
    --------
    >>> rules = RuleSet.preset("room-fish-all")
    >>> hands = [[], ["2-1"], ["6-6", "1-0"], ["4-1"]]
    >>> after = settle(rules, hands, "out", 0, [0] * 4, [19, 0, 7, 4], [False] * 4, 0)
    >>> after.accounts, after.memory
    ([0, 0, 20, 0], [0, 3, 0, 9])
    """
    hands = _left_hands(need_rules(rules), hands, end, by)
    books = _Books(rules, *_before(rules, accounts, memory, opened), need_whole("pot", pot, 0))

    points = [hand_points(rules, hand) for hand in hands]
    held = [0] * rules.sides
    for seat, value in enumerate(points):
        held[rules.side_of(seat)] += value
    outcome = _exit(rules, held, rules.side_of(by)) if end == "out" else _fish(rules, held)
    if outcome is None:
        books.draw(held)
    else:
        books.write(*outcome, fish=end == "fish")
    goats, winners = books.result()
    return Settled(
        hand_points=points,
        written=books.written,
        accounts=books.accounts,
        memory=books.memory,
        opened=books.opened,
        pot=books.pot,
        goats=goats,
        winners=winners,
        over=bool(goats or winners),
        recorded=books.recorded,
    )


def start_of_match(rules: RuleSet) -> Settled:
    """Return the score before the first round."""
    n = rules.sides
    opened = [rules.open_at == 0] * n
    return Settled([0] * rules.players, [0] * n, [0] * n, [0] * n, opened, 0, [], [], False, False)


def _left_hands(rules: RuleSet, hands: Any, end: Any, by: Any) -> list[list[str]]:
    """Return the hands that a round may leave; ValueError where no round ends so."""
    need_word("end", end, ("out", "fish"))
    need_whole("by", by, 0, rules.players - 1)
    found = need_hands("hands", hands, rules.players)
    empty = [seat for seat, hand in enumerate(found) if not hand]
    if end == "out" and empty != [by]:
        raise ValueError(
            f"hands: after an out the hand of seat {by} alone is empty, and those of seats {empty} "
            f"are"
        )
    if end == "fish" and empty:
        raise ValueError(f"hands: after a fish no hand is empty, and that of seat {empty[0]} is")
    return found


def _before(
    rules: RuleSet, accounts: Any, memory: Any, opened: Any
) -> tuple[list[int], list[int], list[bool]]:
    """Return the books before a round; ValueError where they cannot be so."""
    n = rules.sides
    found = tuple(
        [need_whole(f"{name} of side {side}", v, 0) for side, v in enumerate(entries)]
        for name, entries in (
            ("accounts", need_list("accounts", accounts, n)),
            ("memory", need_list("memory", memory, n)),
        )
    )
    flags = [
        need_bool(f"opened of side {side}", value)
        for side, value in enumerate(need_list("opened", opened, n))
    ]
    for side, (account, is_open) in enumerate(zip(found[0], flags, strict=True)):
        if account and rules.open_at and not is_open:
            raise ValueError(
                f"accounts of side {side}: {account} points, and its account is not open"
            )
    return found[0], found[1], flags


Outcome = tuple[list[int], int | None]
"""What is written by side, and the side that pays (or is paid) the pot; None where it stays."""


def _exit(rules: RuleSet, held: list[int], winner: int) -> Outcome:
    """Score a round that somebody left: the other sides' hands."""
    losers = [side for side in range(rules.sides) if side != winner]
    if rules.ledger == "credit":
        return [
            sum(held[s] for s in losers) if s == winner else 0 for s in range(rules.sides)
        ], winner
    written = [0 if side == winner else held[side] for side in range(rules.sides)]
    return written, _unique(held, losers, highest=True)


def _fish(rules: RuleSet, held: list[int]) -> Outcome | None:
    """Score a fish; None is a tie that the knob fish_tie decides."""
    sides = range(rules.sides)
    total = sum(held)
    if rules.fish_scoring == "all_own":
        return list(held), _unique(held, sides, highest=True)
    if rules.fish_scoring == "max_takes_all":
        payer = _unique(held, sides, highest=True)
        return None if payer is None else ([total if s == payer else 0 for s in sides], payer)
    winner = _unique(held, sides, highest=False)
    if winner is None:
        if rules.fish_tie != "tied_lowest_write_0":
            return None
        lowest = min(held)
        written = [0 if value == lowest else value for value in held]
        return written, _unique(held, [s for s in sides if held[s] > lowest], highest=True)
    worth = total - _SUBTRACTED[_fish_worth(rules)] * held[winner]
    if rules.ledger == "credit":
        return [worth if s == winner else 0 for s in sides], winner
    losers = [s for s in sides if s != winner]
    if rules.fish_scoring == "pair_lower_wins":
        return [0 if s == winner else worth for s in sides], losers[0]
    return [0 if s == winner else held[s] for s in sides], _unique(held, losers, highest=True)


_SUBTRACTED = {"all_hands": 0, "losers_hands": 1, "difference": 2}
"""How often the winner's own hand is taken off the sum of all hands."""


def _fish_worth(rules: RuleSet) -> str:
    """Return what a won fish is worth, in the words of the knob pair_fish_points."""
    if rules.fish_scoring == "credit_lowest":
        return "losers_hands"
    return "difference" if rules.fish_scoring == "credit_difference" else rules.pair_fish_points


def _unique(held: Sequence[int], sides: Sequence[int], *, highest: bool) -> int | None:
    """Return the side with the highest (lowest) hand among some, or None if it is tied."""
    if not sides:
        return None
    best = max(held[s] for s in sides) if highest else min(held[s] for s in sides)
    found = [s for s in sides if held[s] == best]
    return found[0] if len(found) == 1 else None


class _Books:
    """The accounts while a round is being written."""

    def __init__(
        self, rules: RuleSet, accounts: list[int], memory: list[int], opened: list[bool], pot: int
    ) -> None:
        self.rules = rules
        self.accounts = accounts
        self.memory = memory
        self.opened = [True] * rules.sides if rules.open_at == 0 else opened
        self.pot = pot
        self.written = [0] * rules.sides
        self.entered: list[int] = []

    @property
    def recorded(self) -> bool:
        return bool(self.entered)

    def draw(self, held: list[int]) -> None:
        """Keep a tied fish for later: nothing is written."""
        if self.rules.fish_tie in ("carry_to_unique_max", "eggs_all_hands"):
            self.pot += sum(held)
        elif self.rules.fish_tie == "eggs_one_side":
            self.pot += held[0]
        if self.rules.memory_on_draw == "reset":
            self.memory = [0] * len(self.memory)

    def write(self, amounts: list[int], payer: int | None, *, fish: bool) -> None:
        """Enter each side's amount and the pot, then see to the memories."""
        rules = self.rules
        pot_helps = rules.eggs_help_open or rules.fish_tie == "carry_to_unique_max"
        for side, amount in enumerate(amounts):
            x = amount
            if side == payer and pot_helps:
                x, self.pot = x + self.pot, 0
            test = x + self.memory[side] if rules.open_test == "cumulative" else x
            opens = not self.opened[side] and x > 0 and test >= rules.open_at
            if (opens or self.opened[side]) and side == payer and not pot_helps:
                x, self.pot = x + self.pot, 0
            self.written[side] = x
            if opens:
                self.opened[side] = True
                self._enter(side, x + self.memory[side])
                self.memory[side] = 0
            elif self.opened[side]:
                self._enter(side, x)
            elif fish and rules.fish_memory == "max":
                self.memory[side] = max(self.memory[side], x)
            else:
                self.memory[side] += x
        self._burn_memories()

    def _enter(self, side: int, amount: int) -> None:
        """Make an official entry; under dry_rule=net it first cancels the opponents' points."""
        if amount == 0:
            return
        self.entered.append(side)
        if self.rules.dry_rule == "net":
            cancelled = min(amount, self.accounts[1 - side])
            self.accounts[1 - side] -= cancelled
            amount -= cancelled
        self.accounts[side] += amount

    def _burn_memories(self) -> None:
        reset = self.rules.memory_reset
        for side in range(self.rules.sides):
            others_entered = any(s != side for s in self.entered)
            if (reset == "nothing_written_this_round" and self.written[side] == 0) or (
                reset == "on_opponents_record" and others_entered
            ):
                self.memory[side] = 0

    def result(self) -> tuple[list[int], list[int]]:
        """Return (goats, winners); a side at the target that may not win yet resets the books."""
        rules = self.rules
        if (
            rules.dry_rule == "reset_both"
            and max(self.accounts) >= rules.target
            and min(self.accounts)
        ):
            self.accounts = [0] * rules.sides
            self.memory = [0] * rules.sides
            self.opened = [rules.open_at == 0] * rules.sides
        return verdict(rules, self.accounts)


def verdict(rules: RuleSet, accounts: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return (goats, winners) as sides, both empty while no account has reached the target."""
    reached = [s for s in range(rules.sides) if accounts[s] >= rules.target]
    others = [s for s in range(rules.sides) if s not in reached] if reached else []
    return (reached, others) if rules.reach_effect == "loses" else (others, reached)


# ---------------------------------------------------------------------- settlements of a match


def _tenths_half_up(points: int) -> int:
    """Return points / 10 rounded to the nearest whole, halves upward."""
    return (points + 5) // 10


def rating100(points: int, goat: bool = False) -> int:
    """Return the rating points of a finished match: ``max(1, (100 - points) / 10)``, a goat gets 0.

    Halves round up. Source: the room rules.

    Parameters
    ----------
    points : int
        The account of the player who is rated; 0 if it is not open.
    goat : bool, default False
        Whether he is the goat.

    Returns
    -------
    int
        From 0 to 10.

    Raises
    ------
    ValueError
        If points are not a whole number of 0 or more.

    Examples
    --------
    >>> rating100(25), rating100(99), rating100(120, goat=True)
    (8, 1, 0)
    """
    points = need_whole("points", points, 0)
    return 0 if need_bool("goat", goat) else max(1, _tenths_half_up(100 - points))


def timeout_rating(points: int, timed_out_points: int) -> int:
    """Return the rating points of a player when another one's time ran out.

    The player who ran out of time gets 0. Source: the room rules.

    Parameters
    ----------
    points : int
        The account of the player who is rated.
    timed_out_points : int
        The account of the player who ran out of time.

    Returns
    -------
    int
        ``max(1, (timed_out_points - points) / 10)``; halves round up.

    Raises
    ------
    ValueError
        If points are not whole numbers of 0 or more.

    Examples
    --------
    >>> timeout_rating(30, 32), timeout_rating(13, 32)
    (1, 2)
    """
    points, theirs = (
        need_whole("points", points, 0),
        need_whole("timed_out_points", timed_out_points, 0),
    )
    return max(1, _tenths_half_up(theirs - points))


def bank_shares(points: Sequence[int], goats: Sequence[int]) -> list[float]:
    """Return each side's share of the bank: inverse to its points, among the sides not goats.

    Winners without points share all of it equally; if everybody is a goat it is refunded equally.
    Source: LiveGames.

    Parameters
    ----------
    points : sequence of int, ``[side]``
        The accounts at the end of the match.
    goats : sequence of int
        The sides that are goats.

    Returns
    -------
    list of float, ``[side]``
        Shares, which sum to 1.

    Raises
    ------
    ValueError
        If points are not whole numbers of 0 or more, or a goat is no side.

    Examples
    --------
    >>> bank_shares([20, 60], goats=[])
    [0.75, 0.25]
    """
    points = [need_whole("points", value, 0) for value in need_list("points", points)]
    sides = range(len(points))
    goats = [need_whole("goats", side, 0, len(points) - 1) for side in need_list("goats", goats)]
    if len(set(goats)) < len(goats):
        raise ValueError(f"goats names a side twice: {goats}")
    if not points:
        raise ValueError("points has no entries; a bank is shared by one side or more")
    winners = [s for s in sides if s not in goats] or list(sides)
    if len(winners) == len(points) == len(set(goats)):
        weights = {s: Fraction(1) for s in winners}
    elif any(points[s] <= 0 for s in winners):
        weights = {s: Fraction(points[s] <= 0) for s in winners}
    else:
        weights = {s: Fraction(1, points[s]) for s in winners}
    total = sum(weights.values())
    return [float(weights.get(s, Fraction(0)) / total) for s in sides]


def elo_change(winner: float, loser: float, k: float = 32) -> float:
    """Return how many Elo points the winner gains (and the loser loses).

    Parameters
    ----------
    winner, loser : float
        Their Elo points before the match.
    k : float, default 32
        The most that a match can move.

    Returns
    -------
    float
        Between 0 and `k`; half of it among equals.

    Raises
    ------
    ValueError
        If a number is not finite, or `k` not above 0.

    Examples
    --------
    >>> round(elo_change(1400, 1600), 2)
    24.31
    """
    winner, loser = need_finite("winner", winner), need_finite("loser", loser)
    if need_finite("k", k) <= 0:
        raise ValueError(f"k must be more than 0, not {quoted(k)}")
    # Beyond 300 powers of ten the chance is 0 or 1 to the last digit.
    return float(elo_gain(max(winner - loser, -300 * 400), k))


def elo_gain(lead: Any, k: float) -> Any:
    """Return what winners gain by their lead before the match, of a number or an array."""
    return k * (1 - 1 / (1 + 10 ** (-lead / 400)))
