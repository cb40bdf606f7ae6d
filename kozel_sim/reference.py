"""The reference engine: the rules as readable Python, one match at a time, into a Record.

It is the slow twin of ``kozel_sim.engine``; the tests hold both to equal records. Read it beside
``docs/rules.md``: :class:`Round` is the table, :func:`play_match` is the match around it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from kozel_sim.decision import Function, IllegalMoveError, Policy, describe_error
from kozel_sim.moves import (
    Placement,
    decode_move,
    distinct_arms,
    encode_move,
    legal_codes,
    move_text,
    move_tiles,
)
from kozel_sim.opening import first_lead, hand_is_redealt, next_leader
from kozel_sim.outside import shown
from kozel_sim.record import Event, Laid, Record, Result, RoundRecord
from kozel_sim.rng import Luck
from kozel_sim.rules import RuleSet
from kozel_sim.scoring import (
    Settled,
    bank_shares,
    rating100,
    settle,
    start_of_match,
    verdict,
)
from kozel_sim.tiles import DOUBLES, HAS, HIGH, LOW, NAMES, PIPS, Hand, tile_id
from kozel_sim.view import View
from kozel_sim.words import counted

Chooser = Callable[["Round", Sequence[int]], int]
"""Asked for a move when there are two or more: ``chooser(round, moves) -> move code``."""


class Round:
    """One round on the table: whose turn it is, what may be laid, and when it ends.

    Parameters
    ----------
    rules : RuleSet
        The rules.
    hands : sequence of int
        The mask of each seat's hand.
    bazaar : sequence of int
        Tile ids in the order in which they will be drawn.
    leader : int
        The seat that begins.
    """

    def __init__(
        self, rules: RuleSet, hands: Sequence[int], bazaar: Sequence[int], leader: int
    ) -> None:
        self.rules = rules
        self.hands = list(hands)
        self.bazaar = list(bazaar)
        self.seat = leader
        self.arms: list[int | None] = []
        self.table = 0
        self.spinner = False
        self.end: str | None = None
        self.by = leader
        self.events: list[Event] = []
        self.played = [0] * 4
        self.void = [0] * 4
        self.last = [0] * 4
        self.shown = [-1] * 4
        self.tell = [0] * 4

    # ------------------------------------------------------------------ what may be done

    def moves(self) -> list[int]:
        """Return the codes of the legal moves of the seat to act."""
        doubles_laid = (self.table & DOUBLES).bit_count()
        hand = self.hands[self.seat]
        return legal_codes(self.rules, hand, self.arms, self.spinner, doubles_laid)

    @property
    def drawable(self) -> int:
        """How many tiles of the bazaar may still be drawn."""
        if self.rules.bazaar_draw == "none":
            return 0
        return max(0, len(self.bazaar) - self.rules.bazaar_reserve)

    def fitting(self) -> int:
        """Return the mask of all tiles, wherever they are, that fit an open arm."""
        fits = 0
        for value in self.arms:
            if value is not None:
                fits |= HAS[value]
        return fits

    # ------------------------------------------------------------------ the three acts

    def play(self, code: int) -> None:
        """Lay the tiles of a move, end the round if that ends it, else pass the turn on."""
        placements = decode_move(code)
        self.events.append(
            Event(
                self.seat, play=tuple(Laid(NAMES[t], arm, closed) for t, arm, closed in placements)
            )
        )
        if self.arms:
            for tile, arm, closed in placements:
                self.arms[arm] = None if closed else PIPS[tile] - (self.arms[arm] or 0)
        else:
            self._lay_first(placements[0][0])
        tiles = move_tiles(code)
        self.hands[self.seat] &= ~tiles
        self.table |= tiles
        self.by = self.seat
        self._remember(code, placements)
        self._see_end()
        self._next_seat()

    def _lay_first(self, tile: int) -> None:
        self.spinner = self.rules.spinner and bool(1 << tile & DOUBLES)
        self.arms = [LOW[tile], HIGH[tile], *[LOW[tile], LOW[tile]] * self.spinner]

    def draw(self) -> None:
        """Take a tile from the bazaar; the turn stays."""
        tile = self.bazaar.pop(0)
        self.events.append(Event(self.seat, draw=NAMES[tile]))
        self.hands[self.seat] |= 1 << tile
        self.void[self.seat] = self.tell[self.seat] = self.last[self.seat] = 0
        self.shown[self.seat] = -1
        self._see_end()

    def pass_turn(self) -> None:
        """Pass, which shows everybody that the seat lacks what the arms show."""
        self.events.append(Event(self.seat))
        for _, value in distinct_arms(self.arms):
            self.void[self.seat] |= 1 << value
        self.last[self.seat] = 0
        self.shown[self.seat] = -1
        self._next_seat()

    def _next_seat(self) -> None:
        self.seat = (self.seat + 1) % self.rules.players

    def _remember(self, code: int, placements: Sequence[Placement]) -> None:
        """Note what a play shows: the tiles, and tip T5's switch to the other end."""
        seat = self.seat
        tiles = move_tiles(code)
        self.played[seat] |= tiles
        arm = placements[0][1]
        left = self.shown[seat]
        if left >= 0:
            old_arm = decode_move(self.last[seat])[0][1]
            if old_arm != arm and self.arms[old_arm] == left and not tiles & HAS[left]:
                self.tell[seat] |= 1 << left
        value = self.arms[arm]
        self.last[seat] = code
        self.shown[seat] = -1 if value is None else value

    # ------------------------------------------------------------------ the end

    def _see_end(self) -> None:
        """Decide, after a play or a draw, whether the round is over."""
        fits = self.fitting()
        dead = not fits & ~self.table
        stuck = not any(hand & fits for hand in self.hands)
        if self.hands[self.by] == 0:
            self.end = "out"
        elif (
            not fits
            or (self.rules.fish_def == "six_closed" and self._six_closed())
            or (self.rules.dead_value_stop and dead)
            or (stuck and self.drawable == 0)
        ):
            self.end = "fish"

    def _six_closed(self) -> bool:
        """Tell whether both ends show v and all six tiles of v but v-v are out."""
        value = self.arms[0]
        if value is None or self.arms[1] != value:
            return False
        return not HAS[value] & ~DOUBLES & ~self.table

    @property
    def true_fish(self) -> bool:
        """False only when an untaken tile of the reserve fits an end of a blocked chain."""
        if self.end != "fish":
            return True
        untaken = self.bazaar[max(0, len(self.bazaar) - self.rules.bazaar_reserve) :]
        return not any(1 << tile & self.fitting() for tile in untaken)

    # ------------------------------------------------------------------ what a seat may know

    def view(self, moves: Sequence[int]) -> View:
        """Return the View of the seat to act, without score, chance and parameters."""
        legal = [0] * 4
        for code in moves:
            for tile, arm, _ in decode_move(code):
                legal[arm] |= 1 << tile
        arms = [-1 if value is None else value for value in self.arms]
        counts = [hand.bit_count() for hand in self.hands]
        pairs = self.rules.teams == "pairs"
        return View(
            hand=self.hands[self.seat],
            legal=legal,
            seat=self.seat,
            side=self.rules.side_of(self.seat),
            partner=self.seat ^ 2 if pairs else -1,
            players=self.rules.players,
            arms=arms + [-1] * (4 - len(arms)),
            table=self.table,
            spinner=int(self.spinner),
            bazaar=len(self.bazaar),
            reserve=self.rules.bazaar_reserve,
            several=int(self.rules.multi_double != "none"),
            close=int(self.rules.close_doubles),
            close_two=int(self.rules.close_two_rule),
            counts=counts + [0] * (4 - len(counts)),
            played=list(self.played),
            void=list(self.void),
            last=list(self.last),
            shown=list(self.shown),
            tell=list(self.tell),
            event=len(self.events),
            four_way=int(self.rules.spinner),
            six_closed=int(self.rules.fish_def == "six_closed"),
        )


def run_round(round_: Round, forced: int | None, choose: Chooser) -> None:
    """Play a round to its end; `forced` is the tile id that must be led, if any."""
    if forced is not None:
        round_.play(encode_move([(forced, 0, False)]))
    while round_.end is None:
        moves = round_.moves()
        if len(moves) > 1:
            round_.play(choose(round_, moves))
        elif moves:
            round_.play(moves[0])
        elif round_.drawable:
            round_.draw()
        else:
            round_.pass_turn()


def play_match(
    rules: RuleSet, policies: Sequence[Policy], seed: int, deal: int, seating: int = 0
) -> Record:
    """Play one match and return its record.

    Parameters
    ----------
    rules : RuleSet
        The rules.
    policies : sequence of Policy
        The policy of each seat.
    seed, deal : int
        Unsigned 64-bit numbers that fix all luck.
    seating : int, default 0
        Noted in the record; the policies are already seated.

    Raises
    ------
    IllegalMoveError
        If a policy returns a move that is not legal.
    """
    luck = Luck(seed, deal)
    rounds = play_rounds(rules, luck, _Table(rules, policies, luck, deal).choose)
    names = tuple(policy.name for policy in policies)
    return Record(rules, seed, deal, seating, names, rounds, match_result(rules, rounds[-1]))


def play_rounds(
    rules: RuleSet, luck: Luck, choose: Callable[[int, Settled, Round, Sequence[int]], int]
) -> tuple[RoundRecord, ...]:
    """Play the rounds of a match; `choose` is told the round's number and the score."""
    state = start_of_match(rules)
    rounds: list[RoundRecord] = []
    official = False
    drawn = False
    leader = 0
    while not state.over and len(rounds) < rules.max_rounds:
        number = len(rounds)
        hands, bazaar, redeals = deal_round(rules, luck, number)
        forced = None
        if number == 0 or _first_lead_again(rules, state, official, drawn):
            leader, tile = first_lead(rules, hands)
            forced = tile if rules.lead_forced else None
        round_ = Round(rules, hands, bazaar, leader)
        run_round(round_, forced, partial(choose, number, state))
        end = round_.end or ""
        left = [Hand(hand).names for hand in round_.hands]
        before = state
        state = settle(
            rules, left, end, round_.by, state.accounts, state.memory, state.opened, state.pot
        )
        official = official or state.recorded
        drawn = end == "fish" and not any(state.written) and state.pot > before.pot
        rounds.append(
            _round_record(rules, number, redeals, hands, bazaar, leader, forced, round_, state)
        )
        leader = next_leader(rules, state.hand_points, end, round_.by, leader)
    return tuple(rounds)


def deal_round(rules: RuleSet, luck: Luck, number: int) -> tuple[list[int], list[int], int]:
    """Deal a round, again while the rules ask for it: (hands, bazaar as drawn, redeals)."""
    attempt = 0
    while True:
        hands, bazaar = luck.deal(number, attempt, rules.players, rules.hand_size)
        if rules.redeal == "none" or not any(hand_is_redealt(hand) for hand in hands):
            return hands, luck.bazaar_order(number, attempt, bazaar), attempt
        attempt += 1


def _first_lead_again(rules: RuleSet, state: Settled, official: bool, drawn: bool) -> bool:
    """Tell whether a later round is led as the first one was."""
    if rules.lead_repeat == "until_any_official_record":
        return not official
    if rules.lead_repeat == "after_every_unrecorded_round":
        # After eggs the fisherman leads any tile.
        return not state.recorded and not drawn
    return False


class _Table:
    """The policies at their seats, and the luck that they are given."""

    def __init__(self, rules: RuleSet, policies: Sequence[Policy], luck: Luck, deal: int) -> None:
        self.rules = rules
        self.policies = policies
        self.luck = luck
        self.deal = deal

    def choose(self, number: int, state: Settled, round_: Round, moves: Sequence[int]) -> int:
        """Ask the seat to act for a move, with the score and the luck of the moment."""
        policy = self.policies[round_.seat]
        event = len(round_.events)
        view = round_.view(moves)
        show_score(self.rules, view, number, state)
        view.word = self.luck.choice(number, event)
        part = policy.parts[0][1]
        if len(policy.parts) > 1:
            part = policy.pick(self.luck.mixture(number, event))
        if isinstance(part, Function) and part.words:
            view.words = list(self.luck.own(number, event))
        asked = policy.name, self.deal, number, event, round_.seat
        try:
            code = part.choose(view, moves)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raised = describe_error(error)
            raise IllegalMoveError(illegal_move_message(*asked, 0, moves, raised)) from error
        if code not in moves:
            raise IllegalMoveError(illegal_move_message(*asked, code, moves))
        return code


def show_score(rules: RuleSet, view: View, number: int, state: Settled) -> None:
    """Write on a View what its seat knows of the match: the round's number and the score."""
    pad = [0] * (4 - rules.sides)
    view.round = number
    view.accounts = state.accounts + pad
    view.memory = state.memory + pad
    view.opened = [int(o) for o in state.opened] + pad
    view.pot = state.pot
    view.target = rules.target
    view.open_at = rules.open_at
    view.credit = int(rules.ledger == "credit")


def illegal_move_message(
    policy: str,
    deal: int,
    number: int,
    event: int,
    seat: int,
    code: int,
    moves: Sequence[int],
    error: str = "",
) -> str:
    """Say which policy returned which illegal move (or raised which error), and what was legal."""
    legal = ", ".join(f"{move_text(move)} ({move})" for move in moves)
    what = f"raised {error}," if error else f"returned an illegal move: {move_text(code)} ({code})"
    return (
        f"policy {policy} {what} in deal {deal}, round {number}, event {event}, seat {seat}; "
        f"legal moves: {legal}"
    )


def _round_record(
    rules: RuleSet,
    number: int,
    redeals: int,
    hands: Sequence[int],
    bazaar: Sequence[int],
    leader: int,
    forced: int | None,
    round_: Round,
    state: Settled,
) -> RoundRecord:
    return RoundRecord(
        round=number,
        redeals=redeals,
        hands=tuple(tuple(Hand(hand).names) for hand in hands),
        bazaar=tuple(NAMES[tile] for tile in bazaar),
        leader=leader,
        forced=None if forced is None else NAMES[forced],
        events=tuple(round_.events),
        end=round_.end or "",
        by=round_.by,
        true_fish=round_.true_fish,
        hand_points=tuple(state.hand_points),
        written=tuple(state.written),
        pot=state.pot,
        accounts=tuple(state.accounts),
        memory=tuple(state.memory),
        opened=tuple(state.opened),
    )


def match_result(rules: RuleSet, last: RoundRecord) -> Result:
    """Return how a match ended, from its last round's accounts."""
    goats, winners = verdict(rules, last.accounts)
    over = bool(goats or winners)
    rating = bank = None
    if over and "rating100" in rules.settlement:
        sides = enumerate(last.accounts)
        rating = tuple(rating100(points, goat=side in goats) for side, points in sides)
    if over and "bank" in rules.settlement:
        bank = tuple(bank_shares(last.accounts, goats))
    return Result(tuple(goats), tuple(winners), not over, rating, bank)


def check_record(record: Record) -> None:
    """Check a record against the rules: play its moves again and compare every line.

    Raises
    ------
    ValueError
        At the first difference; the message names the field, or round and event.
    """
    record = _whole(record)

    def choose(number: int, state: Settled, round_: Round, moves: Sequence[int]) -> int:
        """Make the move that the record makes here."""
        at = len(round_.events)
        events = record.rounds[number].events if number < len(record.rounds) else ()
        event = events[at] if at < len(events) else None
        legal = "legal: " + ", ".join(move_text(move) for move in moves)
        place = f"round {number}, event {at}: seat {round_.seat}"
        if event is None or event.seat != round_.seat or not event.play:
            raise ValueError(f"{place} must play, and the record has {event}; {legal}")
        code = encode_move([(tile_id(p.tile), p.arm, p.closed) for p in event.play])
        if code not in moves:
            raise ValueError(f"{place} may not play {move_text(code)}; {legal}")
        return code

    luck = Luck(record.seed, record.deal)
    rounds = play_rounds(record.rules, luck, choose)
    for wanted, found in zip(rounds, record.rounds, strict=False):
        _compare_rounds(wanted, found)
    if len(rounds) != len(record.rounds):
        raise ValueError(
            f"the match has {counted(len(rounds), 'round')}, and the record {len(record.rounds)}"
        )
    result = match_result(record.rules, rounds[-1])
    if result != record.result:
        raise ValueError(f"the result is {result}, and the record has {record.result}")


def _whole(record: Record) -> Record:
    """Return a record in which every field is of the kind and size that the format asks for."""
    given: object = record
    if not isinstance(given, Record):
        raise ValueError(f"a Record is checked, not {shown(given)}")
    try:
        data = record.to_dict()
    except (AttributeError, TypeError) as error:
        raise ValueError(f"not a record: {error}") from None
    found = Record.from_dict(data)
    for name, value in vars(found).items():
        if value != getattr(record, name):
            raise ValueError(
                f"not a record: {name} should be {shown(value)}, not {shown(getattr(record, name))}"
            )
    return found


def _compare_rounds(wanted: RoundRecord, found: RoundRecord) -> None:
    """Raise at the first difference between two rounds."""
    place = f"round {wanted.round}"
    for at, (right, event) in enumerate(zip(wanted.events, found.events, strict=False)):
        if right != event:
            raise ValueError(f"{place}, event {at}: should be {right}, and the record has {event}")
    for name, right in vars(wanted).items():
        value = getattr(found, name)
        if name != "events" and right != value:
            raise ValueError(f"{place}: {name} should be {right}, and the record has {value}")
    if len(wanted.events) != len(found.events):
        raise ValueError(
            f"{place} has {len(wanted.events)} events, and the record {len(found.events)}"
        )
