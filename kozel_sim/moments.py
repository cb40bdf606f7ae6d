"""A recorded round, moment by moment: who is to act, what is legal, and how a policy weighs it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kozel_sim.chain import ARM_NAMES
from kozel_sim.decision import THOUSAND, Ladder, Policy
from kozel_sim.features import TRIGGERS
from kozel_sim.moves import decode_move, encode_move
from kozel_sim.outside import is_whole
from kozel_sim.policies import get_policy
from kozel_sim.record import Event, Record, RoundRecord
from kozel_sim.reference import Round, show_score
from kozel_sim.rng import Luck
from kozel_sim.scoring import Settled, settle, start_of_match
from kozel_sim.tiles import NAMES, Hand, tile_id
from kozel_sim.view import View
from kozel_sim.words import counted


@dataclass(frozen=True)
class Weighing:
    """What one stage of a ladder makes of the legal moves.

    Attributes
    ----------
    trigger : str
        When the stage speaks.
    weights : dict of str to float
        What it looks at.
    scores : tuple of (float or None)
        By legal move: its score; None where an earlier stage dropped it.
    kept : tuple of bool
        By legal move: whether it is left after this stage.
    """

    trigger: str
    weights: dict[str, float]
    scores: tuple[float | None, ...]
    kept: tuple[bool, ...]


@dataclass(frozen=True)
class Moment:
    """The table before an event of a round, or after its last.

    Attributes
    ----------
    event : int
        How many events came before.
    seat : int or None
        Who is to act; None when the round is over.
    moves : tuple of int
        Codes of the legal moves; none for who must draw or pass.
    chosen : int or None
        The move that was made; None for a draw, a pass and the round's end.
    weighings : tuple of Weighing
        By stage that had a say, where the seat's policy is a ladder and had a choice.
    part : str
        What decides: ``"ladder"``, ``"function"``, ``"unknown"`` for a policy that is not
        registered here; ``""`` where there is no choice.
    """

    event: int
    seat: int | None
    moves: tuple[int, ...]
    chosen: int | None
    weighings: tuple[Weighing, ...] = ()
    part: str = ""


def round_of(record: Record, number: int) -> RoundRecord:
    """Return a round of a record.

    Raises
    ------
    ValueError
        If the match has no such round.
    """
    if not is_whole(number) or not 0 <= number < len(record.rounds):
        raise ValueError(
            f"deal {record.deal} has no round {number!r}; choose from 0 to {len(record.rounds) - 1}"
        )
    return record.rounds[number]


def state_before(record: Record, number: int) -> Settled:
    """Return the score before a round."""
    start = start_of_match(record.rules)
    if number == 0:
        return start
    last = record.rounds[number - 1]
    return replace(
        start,
        accounts=list(last.accounts),
        memory=list(last.memory),
        opened=list(last.opened),
        pot=last.pot,
    )


def pot_paid(record: Record, number: int) -> tuple[int, int]:
    """Return how much of what a round wrote had waited in the pot, and the side that got it.

    (0, -1) where nothing was paid: a pot is paid whole, or stays.
    """
    told, before = round_of(record, number), state_before(record, number)
    if not before.pot or told.pot:
        return 0, -1
    *_, last = walk(record, number)
    left = [Hand(hand).names for hand in last.hands]
    score = list(before.accounts), list(before.memory), list(before.opened)
    alone = settle(record.rules, left, told.end, told.by, *score, 0)
    (side,) = (s for s, x in enumerate(told.written) if x != alone.written[s])
    return before.pot, side


def walk(record: Record, number: int) -> Iterator[Round]:
    """Yield the Round before each of its events and after the last: one object, moved on.

    Raises
    ------
    ValueError
        At an event that cannot happen there.
    """
    told = round_of(record, number)
    hands = [Hand.of(*hand) for hand in told.hands]
    round_ = Round(record.rules, hands, [tile_id(t) for t in told.bazaar], told.leader)
    for at, event in enumerate(told.events):
        yield round_
        if not _can_happen(round_, event):
            raise ValueError(f"round {number}, event {at}: it cannot happen there: {event}")
        if event.draw is not None:
            round_.draw()
        elif event.play:
            round_.play(_code(event))
        else:
            round_.pass_turn()
    yield round_


def table_at(record: Record, number: int, event: int | None = None) -> Round:
    """Return the Round after an event (-1 is the deal, by default the last).

    Raises
    ------
    ValueError
        If there is no such round or event.
    """
    last = len(round_of(record, number).events) - 1
    event = last if event is None else event
    if not is_whole(event) or not -1 <= event <= last:
        raise ValueError(
            f"round {number} has no event {event!r}; choose from -1 (the deal) to {last}"
        )
    for at, round_ in enumerate(walk(record, number)):
        if at == event + 1:
            return round_
    raise AssertionError("a walk is one longer than the events")


def moments(record: Record, number: int) -> list[Moment]:
    """Return the moments of a round: one before each event, and one after the last.

    Parameters
    ----------
    record : Record
        A record that the rules allow.
    number : int
        The round, from 0.

    Returns
    -------
    list of Moment
        Policies are looked up by the record's names.

    Raises
    ------
    ValueError
        If the match has no such round.

    Examples
    --------
    >>> from kozel_sim import play
    >>> record = play("room-fish-all", ["random", "dump_heavy"], 1, 0, engine="reference")
    >>> found = [m for m in moments(record, 0) if m.part == "ladder" and m.weighings]
    >>> [(w.trigger, w.weights) for w in found[0].weighings]
    [('always', {'pips': 1.0})]
    """
    told = round_of(record, number)
    policies = [_find(name) for name in record.policies]
    state = state_before(record, number)
    luck = Luck(record.seed, record.deal)
    found = []
    for at, round_ in enumerate(walk(record, number)):
        event = told.events[at] if at < len(told.events) else None
        if event is None:
            found.append(Moment(at, None, (), None))
            continue
        chosen = _code(event) if event.play else None
        moves = round_.moves()
        if at == 0 and told.forced is not None:
            moves = [encode_move([(tile_id(told.forced), 0, False)])]
        moment = Moment(at, round_.seat, tuple(moves), chosen)
        if len(moves) > 1:
            view = round_.view(moves)
            show_score(record.rules, view, number, state)
            part, weighings = _weigh(policies[round_.seat], luck, view, moves)
            moment = replace(moment, part=part, weighings=weighings)
        found.append(moment)
    return found


def weigh(ladder: Ladder, view: View, moves: Sequence[int]) -> tuple[Weighing, ...]:
    """Return what each stage that has a say makes of the moves, as ``Ladder.narrow`` does it."""
    left = list(moves)
    found = []
    for stage in ladder.stages:
        if len(left) == 1:
            break
        if not TRIGGERS[stage.trigger].holds(view, moves):
            continue
        scores = {move: stage.score(view, move) for move in left}
        best = max(scores.values())
        left = [move for move in left if scores[move] == best]
        found.append(
            Weighing(
                stage.trigger,
                {name: weight / THOUSAND for name, weight in stage.weights.items()},
                tuple(scores[m] / THOUSAND if m in scores else None for m in moves),
                tuple(m in left for m in moves),
            )
        )
    return tuple(found)


def _weigh(
    policy: Policy | None, luck: Luck, view: View, moves: Sequence[int]
) -> tuple[str, tuple[Weighing, ...]]:
    if policy is None:
        return "unknown", ()
    part = policy.pick(luck.mixture(view.round, view.event))
    if not isinstance(part, Ladder):
        return "function", ()
    return "ladder", weigh(part, view, moves)


def _find(name: str) -> Policy | None:
    """Return the policy of that name; None for one that is not registered here."""
    try:
        return get_policy(name)
    except ValueError:
        return None


def _can_happen(round_: Round, event: Event) -> bool:
    """Tell whether the rules let an event follow."""
    if event.seat != round_.seat or round_.end is not None:
        return False
    moves = round_.moves()
    if event.play:
        arms = {laid.arm for laid in event.play}
        return len(arms) == len(event.play) and _code(event) in moves
    if event.draw is not None:
        first = NAMES[round_.bazaar[0]] if round_.drawable else None
        return not moves and event.draw == first
    return not moves and not round_.drawable


def _code(event: Event) -> int:
    return encode_move([(tile_id(p.tile), p.arm, p.closed) for p in event.play])


# ---------------------------------------------------------------------- in words


def move_words(code: int, *, first: bool = False) -> str:
    """Write a move in words; the first of a round has no end to name.

    Examples
    --------
    >>> move_words(0x8604)
    '3-3 left, 5-5 right closed'
    """
    return ", ".join(
        NAMES[tile] + ("" if first else f" {ARM_NAMES[arm]}") + (" closed" if closed else "")
        for tile, arm, closed in decode_move(code)
    )


def event_words(event: Event, *, first: bool = False, hidden: bool = False) -> str:
    """Write an event in words, without its seat; `hidden` does not tell the tile of a draw.

    Examples
    --------
    >>> event_words(Event(1, draw="6-4")), event_words(Event(1, draw="6-4"), hidden=True)
    ('draws 6-4', 'draws a tile')
    """
    if event.draw is not None:
        return "draws a tile" if hidden else f"draws {event.draw}"
    if not event.play:
        return "passes"
    return f"{'leads' if first else 'lays'} {move_words(_code(event), first=first)}"


def outcome_words(record: Record, number: int) -> str:
    """Write how a round ended, what it cost, and after the last round who lost the match."""
    told = round_of(record, number)
    what = "goes out" if told.end == "out" else "makes a fish: nobody can go on"
    pairs = record.rules.teams == "pairs"
    side = "pair" if pairs else "seat"
    waited, paid = pot_paid(record, number)
    written = [
        f"{side} {s}: {points}" + f" ({waited} of it had waited in the pot)" * (s == paid)
        for s, points in enumerate(told.written)
        if points
    ]
    verb = "Credited" if record.rules.ledger == "credit" else "Written"
    left = ", ".join(f"seat {s}: {points}" for s, points in enumerate(told.hand_points))
    text = (
        f"Seat {told.by} {what}. Left in hand: {left}. {verb}: {', '.join(written) or 'nothing'}."
    )
    if told.pot:
        text += f" {pot_words(told.pot)}."
    if number == len(record.rounds) - 1:
        goats = " and ".join(f"{side} {s}" for s in record.result.goats)
        capped = f"The match is stopped after {counted(number + 1, 'round')}."
        text += f" {capped}" if record.result.capped else f" The match is over. Goat: {goats}."
    return text


def pot_words(points: int) -> str:
    """Say what waits in the pot.

    Examples
    --------
    >>> pot_words(14), pot_words(1)
    ('14 points wait in the pot', '1 point waits in the pot')
    """
    return f"{counted(points, 'point waits', 'points wait')} in the pot"


def account_words(record: Record, number: int, seat: int, *, after: bool) -> str:
    """Write the account of a seat's side before or after a round."""
    side = record.rules.side_of(seat)
    score = round_of(record, number) if after else state_before(record, number)
    memory = f", {score.memory[side]} remembered" if score.memory[side] else ""
    if not score.opened[side]:
        return f"not open{memory}"
    return f"{score.accounts[side]}{memory}"
