"""Rule sets: every knob of the game as data, and the presets that set them.

A :class:`RuleSet` is frozen and validated; combinations that cannot be played are refused when it
is built. Kernels never see it: they read :class:`Rules`, a named tuple of ints made by
:meth:`RuleSet.encode`, so that one compiled kernel serves every rule set.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import namedtuple
from typing import Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from kozel_sim.outside import is_whole, shown
from kozel_sim.playable import need_playable
from kozel_sim.presets import PRESETS, Preset, unknown_preset
from kozel_sim.tiles import tile_id
from kozel_sim.words import did_you_mean, quoted

Settlement = Literal["rating100", "timeout", "elo", "bank"]
LATER_KNOBS: dict[str, Any] = {"lead_blank": True}
"""Knobs that records and digests of before do not have, with what was played then: a rule set in
which one of them has this value keeps its digest, and a record without it is read so."""


class RuleSet(BaseModel):
    """One way of playing Kozel: its knobs, each with the game's word for its value.

    Build one with :meth:`preset` and change it with :meth:`replace`; the constructor takes every
    knob by name.

    Raises
    ------
    ValueError
        If a knob's value is not one of its choices, or knobs exclude each other; the message names
        the knob, the value and the choices.

    Examples
    --------
    >>> rules = RuleSet.preset("room-fish-one", players=3)
    >>> rules.target, rules.bazaar_size, rules.sides
    (101, 7, 3)
    >>> rules.replace(target=51).diff(rules)
    {'target': (51, 101)}
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_by_name=True, validate_by_alias=True
    )

    base: str = Field("custom", description="the preset it was built from, or 'custom'")
    # The table
    players: Literal[2, 3, 4] = Field(4, description="seats at the table")
    teams: Literal["none", "pairs"] = Field("none", description="pairs: seats 0+2 against 1+3")
    hand_size: Literal[5, 7] = Field(7, description="tiles dealt to each seat")
    redeal: Literal["none", "doubles5_or_same6"] = Field(
        "none", description="deal again while a hand has 5 doubles or 6 tiles sharing a value"
    )
    # The lead
    lead_order: Literal["ones_first", "ones_only", "blank_first", "highest_double"] = Field(
        "ones_first",
        description="who leads first: 1-1 to 6-6 then 0-0; 1-1 alone; 0-0 to 6-6; 6-6 down to 0-0",
    )
    lead_no_double: Literal["max_total", "min_total"] = Field(
        "max_total", description="who leads first when no double was dealt"
    )
    lead_forced: bool = Field(True, description="the tile that gives the first lead must be played")
    lead_blank: bool = Field(True, description="whether a round may be led with 0-0")
    lead_repeat: Literal[
        "first_round_only", "until_any_official_record", "after_every_unrecorded_round"
    ] = Field("first_round_only", description="when the first-lead rule is used again")
    lead_next: Literal["finisher", "next_seat", "winner", "loser"] = Field(
        "finisher",
        description="who leads the next round: whoever went out or made the fish; the seat behind "
        "the last leader; the winner; the loser",
    )
    # The turn
    bazaar_draw: Literal["until_playable", "none"] = Field(
        "until_playable", description="what a player does who has nothing to play"
    )
    bazaar_reserve: Literal[0, 1, 2] = Field(0, description="tiles of the bazaar never drawn")
    pass_: Literal["when_stuck"] = Field(
        "when_stuck", alias="pass", description="a pass needs nothing playable and nothing drawable"
    )
    multi_double: Literal["none", "both_ends", "any_ends"] = Field(
        "none", description="several doubles in one move: never, both ends (sea), any ends (donkey)"
    )
    spinner: bool = Field(False, description="a double led is four-way (donkey)")
    close_doubles: bool = Field(False, description="a double may be laid closed, killing its arm")
    close_two_rule: bool = Field(
        False, description="both ends may be closed in one move only before any double was laid"
    )
    # The fish
    fish_def: Literal["no_legal_move", "six_closed"] = Field(
        "no_legal_move",
        description="six_closed: also when both ends show v and all six v-non-doubles are out",
    )
    dead_value_stop: bool = Field(
        True, description="a fish at once when no tile off the table fits an end"
    )
    fish_scoring: Literal[
        "all_own",
        "max_takes_all",
        "lowest_free",
        "pair_lower_wins",
        "credit_lowest",
        "credit_difference",
    ] = Field("all_own", description="who writes what after a fish")
    pair_fish_points: Literal["losers_hands", "all_hands", "difference"] = Field(
        "losers_hands", description="what a fish is worth under pair_lower_wins"
    )
    fish_tie: Literal[
        "carry_to_unique_max", "eggs_all_hands", "eggs_one_side", "void", "tied_lowest_write_0"
    ] = Field("void", description="what a tied fish does (all_own has no ties)")
    eggs_help_open: bool = Field(True, description="eggs count towards the fence")
    memory_on_draw: Literal["keep", "reset"] = Field(
        "keep", description="what a tied fish does to the memories"
    )
    # The score
    tile_over: str = Field(
        "none",
        description="tile values that replace the pips, like '0-0:25 6-6:50' or '0-0:10 alone'",
    )
    ledger: Literal["penalty", "credit"] = Field(
        "penalty", description="points are written on the holder, or credited to the winner"
    )
    open_at: int = Field(
        0, ge=0, le=168, description="the fence: least amount that opens an account"
    )
    open_test: Literal["round_amount", "cumulative"] = Field(
        "round_amount", description="whether memory counts towards the fence"
    )
    memory_owner: Literal["player", "pair"] = Field("player", description="who remembers points")
    memory_reset: Literal["nothing_written_this_round", "on_opponents_record", "never"] = Field(
        "nothing_written_this_round", description="what burns a memory"
    )
    fish_memory: Literal["add", "max"] = Field(
        "add", description="how a fish's sum below the fence joins the memory"
    )
    target: int = Field(101, ge=1, le=10_000, description="the account that ends the match")
    reach_effect: Literal["loses", "wins"] = Field(
        "loses", description="whether the side at the target is the goat or the winner"
    )
    dry_rule: Literal["none", "reset_both", "net"] = Field(
        "none", description="a win needs the opponents at 0; else both reset, or points cancel"
    )
    settlement: tuple[Settlement, ...] = Field((), description="what a finished match is worth")
    elo_k: int = Field(32, ge=1, le=1000, description="K of the Elo settlement")
    max_rounds: int = Field(
        20_000, ge=1, le=1_000_000, description="a match that reaches it is capped"
    )

    # ------------------------------------------------------------------ building

    @classmethod
    def preset(cls, name: str, players: int | None = None) -> RuleSet:
        """Return a preset by its name.

        Parameters
        ----------
        name : str
            A key of ``PRESETS``.
        players : int, optional
            2, 3 or 4; by default 4, or the only number that the preset allows.

        Returns
        -------
        RuleSet
            The preset's rules for so many players.

        Raises
        ------
        ValueError
            If there is no such preset, or it is not played by that many.

        Examples
        --------
        >>> RuleSet.preset("room-fish-all").name
        'room-fish-all'
        """
        wanted: object = name
        found: Preset | None = PRESETS.get(name) if isinstance(wanted, str) else None
        if found is None:
            raise ValueError(unknown_preset(name))
        if players is None:
            players = found.players[-1]
        if not is_whole(players) or players not in found.players:
            allowed = " or ".join(map(str, found.players))
            raise ValueError(f"preset {name} is played by {allowed} players, not {shown(players)}")
        knobs = {k: v[players] if isinstance(v, dict) else v for k, v in found.knobs.items()}
        return cls._checked({**knobs, "base": name, "players": players})

    def replace(self, **knobs: Any) -> RuleSet:
        """Return a copy with some knobs changed, validated anew.

        Parameters
        ----------
        **knobs
            Values by knob, as on the command line or as plain Python.

        Returns
        -------
        RuleSet
            Its name lists the changes; the same rules if there is none.

        Raises
        ------
        ValueError
            As for the constructor; an unknown knob's message lists the knobs.

        Examples
        --------
        >>> RuleSet.preset("room-fish-one").replace(open_at=0, target=51).name
        'room-fish-one[open_at=0,target=51]'
        """
        return self._checked({**self.model_dump(), **{_field(k): v for k, v in knobs.items()}})

    @classmethod
    def from_knobs(cls, knobs: dict[str, Any], base: str = "custom") -> RuleSet:
        """Rebuild a rule set from :meth:`knobs`, e.g. out of a record or a manifest.

        Parameters
        ----------
        knobs : dict
            Values by knob.
        base : str, default "custom"
            The preset that its name begins with.

        Returns
        -------
        RuleSet
            Equal to the one whose knobs they are.

        Raises
        ------
        ValueError
            As for the constructor.
        """
        given: object = knobs
        if not isinstance(given, dict) or not all(isinstance(knob, str) for knob in given):
            raise ValueError(f"rules must be an object of knobs, not {shown(given)}")
        return cls._checked({**knobs, "base": base})

    @classmethod
    def named(cls, name: str, players: int) -> RuleSet | None:
        """Return the rules whose :attr:`name` it is, or None if it is no rule set's.

        Parameters
        ----------
        name : str
            A preset's name, or "custom", with changed knobs in brackets, as in a run's frame, or
            another name with all knobs.
        players : int
            How many play.

        Returns
        -------
        RuleSet or None
            Equal to the rule set that bears the name.

        Examples
        --------
        >>> rules = RuleSet.preset("sea-goat").replace(target=101)
        >>> RuleSet.named(rules.name, 4) == rules, RuleSet.named("mine", 4)
        (True, None)
        """
        base, _, changed = name.partition("[")
        words = filter(None, changed.removesuffix("]").split(","))
        try:
            said = (word.partition("=") for word in words)
            knobs = {knob: int(v) if v.isdecimal() else v for knob, _, v in said}
            if base in PRESETS:
                return cls.preset(base, players).replace(**knobs)
            rules = cls._checked({"players": players, "base": base}).replace(**knobs)
            # A name that is no preset's says it all, or is somebody's own.
            return rules if base == "custom" or rules.name == name else None
        except ValueError:
            return None

    @classmethod
    def _checked(cls, values: dict[str, Any]) -> RuleSet:
        """Build from values, with one clear line instead of pydantic's report."""
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise ValueError(_explain(error)) from None

    # ------------------------------------------------------------------ validation

    @field_validator(
        "players", "hand_size", "bazaar_reserve", "open_at", "target", "elo_k", "max_rounds",
        mode="before",
    )  # fmt: skip
    @classmethod
    def _no_bool(cls, value: Any) -> Any:
        if isinstance(value, bool):
            raise ValueError(f"{value!r} is not a number")
        return value

    @field_validator("settlement")
    @classmethod
    def _each_once(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(value)) < len(value):
            raise ValueError(f"{'+'.join(value)} names one of its words twice")
        return value

    @field_validator("settlement", mode="before")
    @classmethod
    def _one_word(cls, value: Any) -> Any:
        if isinstance(value, str):
            return tuple(word for word in re.split(r"[,+\s]+", value) if word not in ("", "none"))
        return value

    @field_validator("tile_over")
    @classmethod
    def _readable(cls, value: str) -> str:
        parse_tile_over(value)
        return value

    @model_validator(mode="after")
    def _playable(self) -> Self:
        need_playable(self)
        return self

    # ------------------------------------------------------------------ reading

    @property
    def sides(self) -> int:
        """How many sides keep an account: players, or 2 in pairs."""
        return 2 if self.teams == "pairs" else self.players

    @property
    def points_win(self) -> bool:
        """Whether many points are good: whoever reaches the target wins, and is not the goat."""
        return self.reach_effect == "wins"

    @property
    def goats(self) -> tuple[int, int]:
        """How many sides are goats in a match that ends, at least and at most.

        A match ends when some side reaches the target, as its goat, or as the winner among goats.
        So it counts how many sides one round can bring there: where winners are credited one; where
        hands are written on their holders all but who went out, and all of them only after a fish
        of which everybody writes his own hand.

        Examples
        --------
        >>> [RuleSet.preset(p, 4).goats for p in ("household-300", "room-fish-one", "sea-goat")]
        [(3, 3), (1, 3), (1, 1)]
        >>> [RuleSet.preset(p, 2).goats for p in ("room-fish-all", "room-fish-one")]
        [(1, 2), (1, 1)]
        """
        all_write = self.fish_scoring == "all_own"
        at_once = 1 if self.ledger == "credit" else self.sides - (not all_write)
        if self.reach_effect == "wins":
            return self.sides - at_once, self.sides - 1
        return 1, at_once

    @property
    def bazaar_size(self) -> int:
        """Tiles left over after the deal."""
        return 28 - self.players * self.hand_size

    @property
    def name(self) -> str:
        """The preset's name, with the knobs that were changed in brackets."""
        knobs = self.knobs()
        if self.base in PRESETS:
            own = self.players in PRESETS[self.base].players
            original = RuleSet.preset(self.base, self.players if own else None).knobs()
            knobs = {k: v for k, v in knobs.items() if v != original[k]}
        if not knobs:
            return self.base
        return f"{self.base}[{','.join(f'{k}={_word(v)}' for k, v in knobs.items())}]"

    def side_of(self, seat: int) -> int:
        """Return the side that a seat plays for.

        Parameters
        ----------
        seat : int
            From 0, clockwise.

        Returns
        -------
        int
            The seat itself, or in pairs 0 for seats 0 and 2, and 1 for seats 1 and 3.
        """
        return seat % 2 if self.teams == "pairs" else seat

    @classmethod
    def from_record(cls, knobs: Any, base: str) -> RuleSet:
        """Rebuild a rule set from the knobs of a record.

        Parameters
        ----------
        knobs : dict
            Every knob, as :meth:`knobs` writes it.
        base : str
            The preset whose name the record bears.

        Returns
        -------
        RuleSet
            Its :meth:`knobs` are these.

        Raises
        ------
        ValueError
            As for the constructor; also if a knob is missing, or written in another way.
        """
        rules = cls.from_knobs(knobs, base)
        for knob, value in rules.knobs().items():
            if knob not in knobs:
                if knob not in LATER_KNOBS:
                    raise ValueError(f"rules: {knob!r} is missing")
            elif (type(knobs[knob]), knobs[knob]) != (type(value), value):
                raise ValueError(f"rules: {knob} is written {value!r}, not {shown(knobs[knob])}")
        return rules

    def knobs(self) -> dict[str, Any]:
        """Return every knob as plain JSON values, in a fixed order."""
        return self.model_dump(mode="json", by_alias=True, exclude={"base"})

    def diff(self, other: RuleSet) -> dict[str, tuple[Any, Any]]:
        """Return the knobs in which two rule sets differ: ``{knob: (mine, other's)}``.

        Parameters
        ----------
        other : RuleSet
            The rules to compare with.

        Returns
        -------
        dict
            Plain values by knob, in the order of :meth:`knobs`; empty where the rules are the same.
        """
        mine, theirs = self.knobs(), other.knobs()
        return {k: (mine[k], theirs[k]) for k in mine if mine[k] != theirs[k]}

    @property
    def digest(self) -> str:
        """A hash of the knobs (16 hex digits), the same on every machine and in every version."""
        knobs = self.knobs()
        for knob, default in LATER_KNOBS.items():
            if knobs[knob] == default:
                del knobs[knob]
        text = json.dumps(knobs, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def encode(self) -> Rules:
        """Return the knobs as the ints that kernels read."""
        overrides, alone = parse_tile_over(self.tile_over)
        tiles = [*overrides.items(), (-1, 0), (-1, 0)][:2]
        values: dict[str, int] = {
            "sides": self.sides,
            "bazaar_size": self.bazaar_size,
            "over_a": tiles[0][0],
            "over_a_points": tiles[0][1],
            "over_b": tiles[1][0],
            "over_b_points": tiles[1][1],
            "over_alone": int(alone),
        }
        for field in _INT_KNOBS:
            value = getattr(self, field)
            values[field] = code(field, value) if isinstance(value, str) else int(value)
        return Rules(**values)


def parse_tile_over(text: str) -> tuple[dict[int, int], bool]:
    """Read a `tile_over` knob: ``({tile id: points}, only when it is the hand's only tile)``.

    Raises
    ------
    ValueError
        If the text is not 'none' or up to two 'tile:points' with an optional 'alone'.

    Examples
    --------
    >>> parse_tile_over("0-0:25 6-6:50"), parse_tile_over("0-0:10 alone"), parse_tile_over("none")
    (({0: 25, 6: 50}, False), ({0: 10}, True), ({}, False))
    """
    words = text.split()
    if words == ["none"]:
        return {}, False
    alone = bool(words) and words[-1] == "alone"
    overrides = {}
    for word in words[:-1] if alone else words:
        tile, _, points = word.partition(":")
        if not re.fullmatch(r"[0-9]{1,3}", points):
            words = []
            break
        overrides[tile_id(tile)] = int(points)
    if not 1 <= len(overrides) <= 2 or not words:
        raise ValueError(
            f"{quoted(text)} is not a tile_over; write 'none', or one or two tiles with points "
            "like '0-0:25 6-6:50', with 'alone' behind them if they count only as a hand's last "
            "tile"
        )
    return overrides, alone


def need_rules(rules: Any) -> RuleSet:
    """Return a rule set; raise ValueError at anything else."""
    if not isinstance(rules, RuleSet):
        raise ValueError(f"rules must be a RuleSet, not {shown(rules)}")
    return rules


def knob_names() -> list[str]:
    """Return the names of all knobs, in the order of the record."""
    return [f.alias or name for name, f in RuleSet.model_fields.items() if name != "base"]


def knob_choices(knob: str) -> tuple[Any, ...]:
    """Return the values a knob can take, or () where it takes a number or a text."""
    return get_args(RuleSet.model_fields[knob].annotation)


def code(knob: str, value: str) -> int:
    """Return the int by which kernels know a knob's value."""
    return knob_choices(knob).index(value)


def _field(knob: str) -> str:
    """Return the model's field for a knob's name."""
    for name, field in RuleSet.model_fields.items():
        if knob in (name, field.alias) and name != "base":
            return name
    raise ValueError(_unknown_knob(knob))


def _unknown_knob(knob: str) -> str:
    hint = did_you_mean(knob, knob_names())
    return f"unknown knob {quoted(knob)}{hint}; choose from {', '.join(knob_names())}"


def _word(value: Any) -> str:
    """Write a knob's value as the command line takes it."""
    if isinstance(value, list):
        return "+".join(value) or "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _explain(error: ValidationError) -> str:
    """Turn the first of pydantic's complaints into one line: value, knob, choices."""
    first = error.errors()[0]
    message = first["msg"].removeprefix("Value error, ")
    if not first["loc"]:
        return message
    knob = str(first["loc"][0])
    if first["type"] == "extra_forbidden":
        return _unknown_knob(knob)
    if first["type"] == "value_error":
        return f"{knob}: {message}"
    return f"{knob}={quoted(first['input'])}: {message[0].lower()}{message[1:]}"


_NOT_FOR_KERNELS = ("base", "pass_", "tile_over", "settlement", "elo_k")
_INT_KNOBS = tuple(f for f in RuleSet.model_fields if f not in _NOT_FOR_KERNELS)
_OVERRIDES = ("over_a", "over_a_points", "over_b", "over_b_points", "over_alone")
_DERIVED = ("sides", "bazaar_size", *_OVERRIDES)
Rules = namedtuple("Rules", [*_INT_KNOBS, *_DERIVED])  # type: ignore[misc]
Rules.__doc__ = "The knobs as ints, and what follows from them; the form that kernels read."
