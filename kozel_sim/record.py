"""The record of a match: what was dealt, every event, every score; as JSON and as text.

The format is ``kozel-record/1``, one JSON object per match, described in ``docs/record.md``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from math import factorial
from typing import Any

from kozel_sim.outside import (
    is_whole,
    need_bool,
    need_finite,
    need_hands,
    need_keys,
    need_list,
    need_text,
    need_whole,
    need_word,
    shown,
)
from kozel_sim.rng import STREAM_VERSION
from kozel_sim.rules import RuleSet
from kozel_sim.tiles import NAMES
from kozel_sim.words import counted

FORMAT = "kozel-record/1"
KEYS = (
    *("format", "stream", "preset", "rules", "players", "seed", "deal", "seating"),
    *("policies", "rounds", "result"),
)
"""The fields of a record, in their order."""


@dataclass(frozen=True)
class Laid:
    """One tile of a play: its name, the arm it was laid on, and whether it was laid closed."""

    tile: str
    arm: int
    closed: bool = False


@dataclass(frozen=True)
class Event:
    """One act of a seat: a play (the tiles laid), a draw (the tile drawn), or a pass."""

    seat: int
    play: tuple[Laid, ...] = ()
    draw: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the event as the JSON format writes it."""
        if self.draw is not None:
            return {"seat": self.seat, "draw": self.draw}
        if not self.play:
            return {"seat": self.seat, "pass": True}
        with_closed = len(self.play) > 1 or self.play[0].closed
        return {
            "seat": self.seat,
            "play": [
                {"tile": p.tile, "arm": p.arm} | ({"closed": p.closed} if with_closed else {})
                for p in self.play
            ],
        }

    @classmethod
    def from_dict(cls, data: Any, players: int = 4) -> Event:
        """Read an event from the JSON format.

        Raises
        ------
        ValueError
            If it is not one; the message names the field.
        """
        if not isinstance(data, dict):
            raise ValueError(f"an event is an object, not {shown(data)}")
        kinds = {"play", "draw", "pass"} & set(data)
        if len(kinds) != 1 or set(data) - kinds != {"seat"}:
            raise ValueError(f"an event has a seat and one of play, draw, pass: {shown(data)}")
        seat = need_whole("seat", data["seat"], 0, players - 1)
        if "pass" in data:
            if data["pass"] is not True:
                raise ValueError(f"pass must be true, not {shown(data['pass'])}")
            return cls(seat)
        if "draw" in data:
            return cls(seat, draw=_tile("draw", data["draw"]))
        laid = tuple(_laid(each) for each in need_list("play", data["play"]))
        if not 1 <= len(laid) <= 4:
            raise ValueError(f"play must list one to four tiles, not {len(laid)}")
        arms = [each.arm for each in laid]
        if arms != sorted(set(arms)):
            raise ValueError(f"play must list its tiles by arm, one on each, not on {arms}")
        return cls(seat, play=laid)


@dataclass(frozen=True)
class RoundRecord:
    """One round of a match.

    Lists are by seat (hands, hand_points) or by side; written, pot, accounts, memory and opened are
    the state after the round.
    """

    round: int
    redeals: int
    hands: tuple[tuple[str, ...], ...]
    bazaar: tuple[str, ...]
    leader: int
    forced: str | None
    events: tuple[Event, ...]
    end: str
    by: int
    true_fish: bool
    hand_points: tuple[int, ...]
    written: tuple[int, ...]
    pot: int
    accounts: tuple[int, ...]
    memory: tuple[int, ...]
    opened: tuple[bool, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the round as the JSON format writes it."""
        plain = {k: _listed(v) for k, v in vars(self).items()}
        return plain | {"events": [event.to_dict() for event in self.events]}

    @classmethod
    def from_dict(cls, data: Any, rules: RuleSet, number: int) -> RoundRecord:
        """Read a match's round of some number from the JSON format.

        Raises
        ------
        ValueError
            If it is not one; the message names the field.
        """
        need_keys("a round of a record", data, [field.name for field in fields(cls)])
        n, last = rules.sides, rules.players - 1
        forced = data["forced"]
        return cls(
            round=need_whole("round", data["round"], number, number),
            redeals=need_whole("redeals", data["redeals"], 0),
            **_dealt(data["hands"], data["bazaar"], rules),
            leader=need_whole("leader", data["leader"], 0, last),
            forced=None if forced is None else _tile("forced", forced),
            events=_events(data["events"], rules.players),
            end=need_word("end", data["end"], ("out", "fish")),
            by=need_whole("by", data["by"], 0, last),
            true_fish=need_bool("true_fish", data["true_fish"]),
            hand_points=_points("hand_points", data["hand_points"], rules.players),
            written=_points("written", data["written"], n),
            pot=need_whole("pot", data["pot"], 0),
            accounts=_points("accounts", data["accounts"], n),
            memory=_points("memory", data["memory"], n),
            opened=tuple(
                need_bool("opened", value) for value in need_list("opened", data["opened"], n)
            ),
        )


@dataclass(frozen=True)
class Result:
    """How a match ended: goats, winners (sides); rating, bank (by side, None if not in use)."""

    goats: tuple[int, ...]
    winners: tuple[int, ...]
    capped: bool
    rating: tuple[int, ...] | None
    bank: tuple[float, ...] | None

    @classmethod
    def from_dict(cls, data: Any, rules: RuleSet) -> Result:
        """Read a result from the JSON format; ValueError if it is not one."""
        need_keys("result", data, [field.name for field in fields(cls)])
        n, rating, bank = rules.sides, data["rating"], data["bank"]
        shares = None if bank is None else need_list("bank", bank, n)
        return cls(
            goats=_sides("goats", data["goats"], n),
            winners=_sides("winners", data["winners"], n),
            capped=need_bool("capped", data["capped"]),
            rating=None if rating is None else _points("rating", rating, n),
            bank=None if shares is None else tuple(need_finite("bank", share) for share in shares),
        )


@dataclass(frozen=True)
class Record:
    """A match, complete: it can be read, checked against the rules, and played again.

    Attributes
    ----------
    rules : RuleSet
        The rules it was played by.
    seed, deal, seating : int
        Its number: the run's seed, the deal id, and who sat where.
    policies : tuple of str
        The policy of each seat.
    rounds : tuple of RoundRecord
        The rounds.
    result : Result
        How it ended.

    Examples
    --------
    >>> from kozel_sim import play
    >>> record = play("room-fish-all", ["random", "dump_heavy"], seed=1, deal=0)
    >>> Record.from_json(record.to_json()) == record
    True
    """

    rules: RuleSet
    seed: int
    deal: int
    seating: int
    policies: tuple[str, ...]
    rounds: tuple[RoundRecord, ...]
    result: Result

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain JSON values."""
        return {
            "format": FORMAT,
            "stream": STREAM_VERSION,
            "preset": self.rules.base,
            "rules": self.rules.knobs(),
            "players": self.rules.players,
            "seed": self.seed,
            "deal": self.deal,
            "seating": self.seating,
            "policies": list(self.policies),
            "rounds": [r.to_dict() for r in self.rounds],
            "result": {k: _listed(v) for k, v in vars(self.result).items()},
        }

    def to_json(self) -> str:
        """Return the record as one line of JSON."""
        return json.dumps(self.to_dict(), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Record:
        """Read a record.

        Parameters
        ----------
        text : str
            One JSON object in the format ``kozel-record/1``.

        Returns
        -------
        Record
            Equal to the record that wrote the text.

        Raises
        ------
        ValueError
            If the text is not such a record; the message says what is wrong. The rules of the game
            are checked by ``kozel_sim.check_record``.
        """
        try:
            data = json.loads(text)
        except (ValueError, TypeError, RecursionError) as error:
            raise ValueError(f"not a record: {error}") from None
        return cls.from_dict(data)

    @classmethod
    def from_dict(cls, data: Any) -> Record:
        """Read a record from plain JSON values.

        Parameters
        ----------
        data : dict
            As :meth:`to_dict` returns it.

        Returns
        -------
        Record
            Equal to the record that the values are of.

        Raises
        ------
        ValueError
            As for :meth:`from_json`.
        """
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            found = data.get("format") if isinstance(data, dict) else type(data).__name__
            raise ValueError(f"not a record: format is {shown(found)}, expected {FORMAT!r}")
        stream = data.get("stream")
        if not is_whole(stream) or stream != STREAM_VERSION:
            raise ValueError(
                f"the record is of stream version {shown(stream)}; "
                f"this version plays {STREAM_VERSION}"
            )
        record: Record = _named("not a record", _record, data)
        return record

    def to_text(self, round: int | None = None) -> str:
        """Return the record in a compact form for people, a line per turn of the table.

        Parameters
        ----------
        round : int, optional
            Only this round, from 0; by default all, and how the match ended.

        Returns
        -------
        str
            Lines; the notation is told in docs/record.md.

        Raises
        ------
        ValueError
            If the match has no such round.
        """
        head = (
            f"{self.rules.name}, {self.rules.players} players, seed {self.seed}, "
            f"deal {self.deal}, seating {self.seating}"
        )
        seats = [f"  seat {seat}: {name}" for seat, name in enumerate(self.policies)]
        chosen = [r for r in self.rounds if round is None or r.round == round]
        if not chosen:
            raise ValueError(
                f"deal {self.deal} has no round {round!r}; choose from 0 to {len(self.rounds) - 1}"
            )
        waiting = [0, *(r.pot for r in self.rounds)]
        rounds = [line for r in chosen for line in _round_text(r, self.rules, waiting[r.round])]
        end = [_result_text(self)] if round is None else []
        return "\n".join([head, *seats, *rounds, *end])


def _round_text(r: RoundRecord, rules: RuleSet, waiting: int) -> list[str]:
    """Write one round: hands, events with ``<`` and ``>`` for the ends, and the score.

    A pot that was waiting is paid whole, or stays.
    """
    redealt = f", redealt {r.redeals}x" if r.redeals else ""
    forced = f" with {r.forced}" if r.forced else ""
    lines = [f"round {r.round}: seat {r.leader} leads{forced}{redealt}"]
    lines += [f"  {seat} holds {' '.join(hand)}" for seat, hand in enumerate(r.hands)]
    if r.bazaar:
        lines.append(f"  bazaar {' '.join(r.bazaar)}")
    turn: list[str] = []
    for number, event in enumerate(r.events):
        turn.append(_event_text(event, first=number == 0))
        if event.seat == rules.players - 1 and event.draw is None:
            lines.append("  " + "  ".join(turn))
            turn = []
    if turn:
        lines.append("  " + "  ".join(turn))
    what = (
        "goes out"
        if r.end == "out"
        else "makes a fish"
        if r.true_fish
        else "makes a fish (not true)"
    )
    pot = f" ({waiting} had waited in the pot)" if waiting and not r.pot else ""
    lines.append(
        f"  seat {r.by} {what}; left {_row(r.hand_points)}, written {_row(r.written)}{pot}"
    )
    remembered = [f"+{m}" if m else "" for m in r.memory]
    accounts = [f"{a}{m}" for a, m in zip(r.accounts, remembered, strict=True)]
    lines.append(f"  accounts {_row(accounts)}" + (f", pot {r.pot}" if r.pot else ""))
    return lines


def _event_text(event: Event, *, first: bool) -> str:
    if event.draw is not None:
        return f"{event.seat} draws {event.draw}"
    if not event.play:
        return f"{event.seat} passes"
    marks = "<>^v"
    laid = " ".join(
        p.tile + ("" if first else marks[p.arm]) + ("!" if p.closed else "") for p in event.play
    )
    return f"{event.seat} {laid}"


def _result_text(record: Record) -> str:
    result = record.result
    if result.capped:
        return f"capped after {counted(len(record.rounds), 'round')}"
    word = "pair" if record.rules.teams == "pairs" else "seat"
    text = f"goat: {word} {_row(result.goats)}"
    return text + (f"; rating {_row(result.rating)}" if result.rating is not None else "")


def _row(values: Any) -> str:
    return " ".join(map(str, values))


def _listed(value: Any) -> Any:
    """Turn tuples into lists, as JSON has them."""
    return [_listed(v) for v in value] if isinstance(value, tuple) else value


# ---------------------------------------------------------------------- reading


def _record(data: dict[str, Any]) -> Record:
    """Read a record whose format and stream are those of this version."""
    for key in KEYS:
        if key not in data:
            raise ValueError(f"{key!r} is missing")
    need_keys("the whole", data, KEYS)
    rules = RuleSet.from_record(data["rules"], need_text("preset", data["preset"]))
    n = rules.players
    names = need_list("policies", data["policies"], n)
    need_whole("players", data["players"], n, n)
    return Record(
        rules=rules,
        seed=need_whole("seed", data["seed"], 0, 2**64 - 1),
        deal=need_whole("deal", data["deal"], 0, 2**64 - 1),
        seating=need_whole("seating", data["seating"], 0, factorial(n) - 1),
        policies=tuple(need_text("policies", name) for name in names),
        rounds=_rounds(data["rounds"], rules),
        result=_named("result", Result.from_dict, data["result"], rules),
    )


def _tile(what: str, name: Any) -> str:
    """Return a tile's name if it is written high half first."""
    if not isinstance(name, str) or name not in NAMES:
        raise ValueError(f"{what} must be a tile like '6-4', high half first, not {shown(name)}")
    return name


def _laid(data: Any) -> Laid:
    """Read one tile of a play."""
    if not isinstance(data, dict):
        raise ValueError(f"a tile of a play is an object, not {shown(data)}")
    for key in ("tile", "arm"):
        if key not in data:
            raise ValueError(f"{key!r} is missing")
    need_keys("a tile of a play", {"closed": False, **data}, ("tile", "arm", "closed"))
    return Laid(
        _tile("tile", data["tile"]),
        need_whole("arm", data["arm"], 0, 3),
        need_bool("closed", data.get("closed", False)),
    )


def _dealt(hands: Any, bazaar: Any, rules: RuleSet) -> dict[str, Any]:
    """Read the hands and the bazaar of a deal: each tile of the set lies in one place."""
    places = [*need_list("hands", hands, rules.players), need_list("bazaar", bazaar)]
    for place in places:
        for name in need_list("hands", place):
            _tile("hands and bazaar", name)
    found = need_hands("hands and bazaar", places, len(places))
    for seat, hand in enumerate(found[:-1]):
        if len(hand) != rules.hand_size:
            raise ValueError(
                f"hands: seat {seat} is dealt {rules.hand_size} tiles, not {len(hand)}"
            )
    if len(found[-1]) != rules.bazaar_size:
        raise ValueError(f"bazaar: {rules.bazaar_size} tiles are left over, not {len(found[-1])}")
    return {"hands": tuple(map(tuple, found[:-1])), "bazaar": tuple(found[-1])}


def _points(what: str, values: Any, length: int) -> tuple[int, ...]:
    """Read whole numbers of 0 or more, one for each seat or side."""
    return tuple(need_whole(what, value, 0) for value in need_list(what, values, length))


def _sides(what: str, values: Any, n: int) -> tuple[int, ...]:
    """Read some of n sides."""
    return tuple(need_whole(what, value, 0, n - 1) for value in need_list(what, values))


def _events(data: Any, players: int) -> tuple[Event, ...]:
    entries = need_list("events", data)
    return tuple(
        _named(f"event {at}", Event.from_dict, each, players) for at, each in enumerate(entries)
    )


def _rounds(data: Any, rules: RuleSet) -> tuple[RoundRecord, ...]:
    entries = need_list("rounds", data)
    if not entries:
        raise ValueError("rounds is empty, and a match has one round or more")
    return tuple(
        _named(f"round {at}", RoundRecord.from_dict, each, rules, at)
        for at, each in enumerate(entries)
    )


def _named(place: str, read: Callable[..., Any], *values: Any) -> Any:
    """Read a part of a record; the message of a refusal begins with its place."""
    try:
        return read(*values)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
