"""Before the first tile: which hands are dealt again, and who leads what."""

from __future__ import annotations

from collections.abc import Sequence

from kozel_sim.outside import need_hand, need_hands
from kozel_sim.rules import RuleSet, need_rules
from kozel_sim.tiles import ALL, DOUBLES, HIGH, LOW, NAMES, PIPS, Hand, count_value

_DOUBLES_IN_ORDER = {
    "ones_first": (1, 2, 3, 4, 5, 6, 0),
    "ones_only": (1, 2, 3, 4, 5, 6, 0),
    "blank_first": (0, 1, 2, 3, 4, 5, 6),
    "highest_double": (6, 5, 4, 3, 2, 1, 0),
}
_OTHERS = range(7, 28)
_OTHERS_IN_ORDER = {
    "max_total": tuple(sorted(_OTHERS, key=lambda t: (-PIPS[t], -HIGH[t]))),
    "min_total": tuple(sorted(_OTHERS, key=lambda t: (PIPS[t], LOW[t]))),
}
LEAD_ORDER: dict[tuple[str, str], tuple[int, ...]] = {
    (order, no_double): doubles + others
    for order, doubles in _DOUBLES_IN_ORDER.items()
    for no_double, others in _OTHERS_IN_ORDER.items()
}
"""For (lead_order, lead_no_double): the 28 tile ids in the order in which they claim the lead."""


def hand_is_redealt(hand: int) -> bool:
    """Tell whether a hand has five doubles, or six tiles sharing a value (a double is one tile)."""
    return (hand & DOUBLES).bit_count() >= 5 or any(count_value(hand, v) >= 6 for v in range(7))


def needs_redeal(rules: RuleSet, hand: Sequence[str]) -> bool:
    """Tell whether one hand makes the whole deal be dealt again.

    Parameters
    ----------
    rules : RuleSet
        The rules; knob `redeal`.
    hand : sequence of str
        Tile names.

    Returns
    -------
    bool
        True where the knob is on, and the hand has five doubles or six tiles sharing a value.

    Raises
    ------
    ValueError
        If a name is not a tile, or a tile is named twice.

    Examples
    --------
    >>> rules = RuleSet.preset("room-fish-all")
    >>> needs_redeal(rules, ["0-0", "1-1", "2-2", "3-3", "4-4", "2-1", "6-5"])
    True
    """
    tiles = Hand.of(*need_hand("the hand", hand))
    return need_rules(rules).redeal != "none" and hand_is_redealt(tiles)


def may_lead(rules: RuleSet) -> int:
    """Return the mask of the tiles that a round may be led with."""
    return ALL if rules.lead_blank else ALL & ~1


def first_lead(rules: RuleSet, hands: Sequence[int]) -> tuple[int, int]:
    """Return (seat, tile id) of the first lead, from hands as masks."""
    allowed = may_lead(rules)
    for tile in LEAD_ORDER[rules.lead_order, rules.lead_no_double]:
        for seat, hand in enumerate(hands):
            if (hand & allowed) >> tile & 1:
                return seat, tile
    raise ValueError("no tile was dealt that may be led, so nobody can lead")


def next_leader(rules: RuleSet, hand_points: Sequence[int], end: str, by: int, leader: int) -> int:
    """Return who leads the next round where the first-lead rule does not apply.

    Parameters
    ----------
    rules : RuleSet
        The rules; knob `lead_next`.
    hand_points : sequence of int
        What each seat's hand counts at the round's end.
    end : {"out", "fish"}
        How the round ended.
    by : int
        The seat that went out, or the fisherman.
    leader : int
        The seat that led the round.

    Examples
    --------
    >>> rules = RuleSet.preset("room-fish-all", 3).replace(lead_next="loser")
    >>> next_leader(rules, [0, 9, 9], "out", by=0, leader=2)
    1
    """
    seats = [(by + k) % rules.players for k in range(rules.players)]
    held = [0] * rules.sides
    for seat, points in enumerate(hand_points):
        held[rules.side_of(seat)] += points
    if rules.lead_next == "next_seat":
        return (leader + 1) % rules.players
    if rules.lead_next == "loser":
        behind = [*seats[1:], by]
        if end == "out":
            behind = [seat for seat in behind if rules.side_of(seat) != rules.side_of(by)]
        return max(behind, key=lambda seat: held[rules.side_of(seat)])
    if rules.lead_next == "winner" and end == "fish":
        return min(seats, key=lambda seat: held[rules.side_of(seat)])
    return by


def first_leader(rules: RuleSet, hands: Sequence[Sequence[str]]) -> tuple[int, str | None]:
    """Return who leads where the first-lead rule applies, and the tile that must be led.

    Parameters
    ----------
    rules : RuleSet
        The rules; knobs `lead_order`, `lead_no_double`, `lead_blank` and `lead_forced`.
    hands : sequence of sequence of str
        Each seat's tile names.

    Returns
    -------
    seat : int
        The leader.
    tile : str or None
        The tile that must be led; None where the rules do not force it.

    Raises
    ------
    ValueError
        If there are not as many hands as players, a name is not a tile, a tile is named twice, or
        no tile was dealt that may be led.

    Examples
    --------
    >>> first_leader(RuleSet.preset("room-fish-all", players=2), [["3-3", "6-5"], ["0-0", "6-6"]])
    (0, '3-3')
    """
    dealt = need_hands("hands", hands, need_rules(rules).players)
    seat, tile = first_lead(rules, [Hand.of(*hand) for hand in dealt])
    return seat, NAMES[tile] if rules.lead_forced else None
