"""The record of a match: what was dealt, every event, every score; as JSON and as text.

The format is ``kozel-record/1``, one JSON object per match, described in ``docs/record.md``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kozel_sim.rng import STREAM_VERSION
from kozel_sim.rules import RuleSet
from kozel_sim.words import counted

FORMAT = "kozel-record/1"


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
    def from_dict(cls, data: Mapping[str, Any]) -> Event:
        """Read an event from the JSON format."""
        kinds = {"play", "draw", "pass"} & set(data)
        if len(kinds) != 1 or set(data) - kinds != {"seat"}:
            raise ValueError(f"an event has a seat and one of play, draw, pass: {dict(data)}")
        play = tuple(
            Laid(p["tile"], p["arm"], p.get("closed", False)) for p in data.get("play", ())
        )
        return cls(seat=data["seat"], play=play, draw=data.get("draw"))


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
    def from_dict(cls, data: Mapping[str, Any]) -> RoundRecord:
        """Read a round from the JSON format."""
        _same_keys(data, cls.__dataclass_fields__, "a round")
        plain = {k: _tupled(v) for k, v in data.items()}
        return cls(**plain | {"events": tuple(Event.from_dict(e) for e in data["events"])})


@dataclass(frozen=True)
class Result:
    """How a match ended: goats, winners (sides); rating, bank (by side, None if not in use)."""

    goats: tuple[int, ...]
    winners: tuple[int, ...]
    capped: bool
    rating: tuple[int, ...] | None
    bank: tuple[float, ...] | None


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
        except json.JSONDecodeError as error:
            raise ValueError(f"not a record: {error}") from None
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            found = data.get("format") if isinstance(data, dict) else type(data).__name__
            raise ValueError(f"not a record: format is {found!r}, expected {FORMAT!r}")
        if data.get("stream") != STREAM_VERSION:
            raise ValueError(
                f"the record is of stream version {data.get('stream')!r}; "
                f"this version plays {STREAM_VERSION}"
            )
        try:
            return cls(
                rules=RuleSet.from_knobs(data["rules"], base=data["preset"]),
                seed=data["seed"],
                deal=data["deal"],
                seating=data["seating"],
                policies=tuple(data["policies"]),
                rounds=tuple(RoundRecord.from_dict(r) for r in data["rounds"]),
                result=Result(**{k: _tupled(v) for k, v in data["result"].items()}),
            )
        except KeyError as error:
            raise ValueError(f"not a record: {error.args[0]!r} is missing") from None
        except (TypeError, AttributeError) as error:
            raise ValueError(f"not a record: {error}") from None

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


def _tupled(value: Any) -> Any:
    return tuple(_tupled(v) for v in value) if isinstance(value, list) else value


def _same_keys(data: Mapping[str, Any], wanted: Mapping[str, Any], what: str) -> None:
    missing, extra = set(wanted) - set(data), set(data) - set(wanted)
    if missing or extra:
        raise ValueError(
            f"{what} of a record has wrong fields: missing {sorted(missing)}, "
            f"unknown {sorted(extra)}"
        )
