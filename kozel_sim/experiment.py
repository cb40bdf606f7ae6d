"""Experiment files: what is to be played, as TOML."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from kozel_sim.files import as_text
from kozel_sim.guarded import read_named
from kozel_sim.names import file_name, is_word, read_name
from kozel_sim.policies import ladder, load_code, read_policies
from kozel_sim.presets import PRESETS
from kozel_sim.rules import RuleSet
from kozel_sim.schedule import DESIGNS, ROTATIONS
from kozel_sim.words import did_you_mean, quoted

MOST_BYTES = 1 << 20
"""An experiment's file is not larger."""


class Experiment(BaseModel):
    """A tournament to be run: every policy against every other, under some rule sets.

    Attributes
    ----------
    name : str
        The run's name, and its folder below ``results``.
    seed : int
        Fixes all luck.
    deals : int
        Deals per table, rounded up to whole cycles of the seatings.
    rules : list of str
        Presets.
    players : list of int
        Numbers of players; each preset is played by those that it allows.
    policies : list of str
        Specs; each set of them that fills a table plays.
    duels : list of (str, str)
        Instead of policies: pairs of specs, each of which plays a duel.
    design : str
        Who of the policies meets whom: rotations (tables in every rotation), permutations, duels,
        gauntlet (the first against the others) or teams.
    ladders : dict of str to str
        Ladders by name, as the stages of a ``prefer:`` spec.
    knobs : dict
        Knobs to change in every preset.
    variants : list of dict
        Knobs to change in the first preset; each makes one more rule set.
    code : list of str
        Python files of policies, relative to the experiment's file.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    seed: int = Field(ge=0, lt=2**64, strict=True)
    deals: int = Field(ge=1, strict=True)
    rules: list[str] = Field(min_length=1)
    players: list[int] = Field(default=[4], min_length=1)
    policies: list[str] = []
    duels: list[tuple[str, str]] = []
    design: str = ROTATIONS
    ladders: dict[str, str] = {}
    knobs: dict[str, Any] = {}
    variants: list[dict[str, Any]] = []
    code: list[str] = []

    @field_validator("name")
    @classmethod
    def _names_a_folder(cls, name: str) -> str:
        # With a letter before it a digit may be the first.
        if not is_word(f"_{name}", ".-") or name[:1] in ("", ".", "-", "_"):
            raise ValueError(
                "a name, which a folder gets too, is of letters, digits, . - _ and emoji, and "
                "begins with none of . - _"
            )
        return read_name(name)

    @model_validator(mode="after")
    def _plays_something(self) -> Experiment:
        if bool(self.policies) == bool(self.duels) or len(self.policies) == 1:
            raise ValueError("it must list either two or more policies, or duels")
        if self.design not in DESIGNS:
            hint = did_you_mean(self.design, DESIGNS)
            raise ValueError(
                f"unknown design {quoted(self.design)}{hint}; choose from {', '.join(DESIGNS)}"
            )
        return self

    @classmethod
    def read(cls, values: dict[str, Any], where: str) -> Experiment:
        """Build from plain values, with one clear line of complaint instead of pydantic's report.

        Raises
        ------
        ValueError
            At the first wrong value; the message names `where`, the key and the value.
        """
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise ValueError(f"{where}: {_explain(error)}") from None

    def change(self, **values: Any) -> Experiment:
        """Return a copy with some values changed, checked anew."""
        return self.read({**self.model_dump(), **values}, f"experiment {self.name}")

    def rule_sets(self) -> list[RuleSet]:
        """Return the rule sets, in the order rules, then players.

        Raises
        ------
        ValueError
            If a preset or knob is unknown, or they do not go together.
        """
        found = [
            RuleSet.preset(name, n).replace(**self.knobs)
            for name in self.rules
            for n in self.players
            if name not in PRESETS or n in PRESETS[name].players or len(self.players) == 1
        ]
        unplayed = [name for name in self.rules if name not in {rules.base for rules in found}]
        if unplayed:
            raise ValueError(f"preset {unplayed[0]} is not played by any of players={self.players}")
        base = [rules for rules in found if rules.base == self.rules[0]]
        found += [rules.replace(**variant) for variant in self.variants for rules in base]
        return list(dict.fromkeys(found))


def load_experiment(path: str | Path) -> Experiment:
    """Read an experiment's file; register its ladders, and run the policy files that it names.

    Raises
    ------
    ValueError
        If the file is missing, broken, or has a wrong value; one line that names the place.
    """
    path = Path(path)
    try:
        data = tomllib.loads(as_text(path, read_named(path, MOST_BYTES)))
    except OSError as error:
        raise ValueError(f"cannot read experiment {path}: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not valid TOML: {error}") from None
    except RecursionError:
        raise ValueError(f"{path} is not valid TOML: it is nested too deep") from None
    experiment = Experiment.read(data, str(path))
    try:
        experiment.rule_sets()
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    for file in experiment.code:
        load_code(path.parent / file_name(file))
    try:
        _register_ladders(experiment.ladders)
        read_policies([*experiment.policies, *(spec for duel in experiment.duels for spec in duel)])
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return experiment


def _register_ladders(ladders: dict[str, str]) -> None:
    """Register ladders, those first that others name."""
    waiting = {read_name(name): read_name(stages) for name, stages in ladders.items()}
    while waiting:
        for name, stages in waiting.items():
            words = {word.strip() for word in stages.split(">")}
            if not words & (waiting.keys() - {name}):
                ladder(name, waiting.pop(name))
                break
        else:
            raise ValueError(f"the ladders {', '.join(waiting)} name each other in a circle")


def _explain(error: ValidationError) -> str:
    """Turn the first complaint about an experiment into one line."""
    # A key that is none is often one that is missing, misspelt.
    first, *_ = sorted(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "missing" and len(first["loc"]) == 1:
        return f"{key!r} is missing"
    if first["type"] == "extra_forbidden":
        known = ", ".join(Experiment.model_fields)
        hint = did_you_mean(key, Experiment.model_fields)
        return f"unknown key {quoted(key)}{hint}; choose from {known}"
    text = f"{first['msg'][0].lower()}{first['msg'][1:]}".removeprefix("value error, ")
    if not key:
        return text
    if first["loc"][0] == "duels":
        return f"duels: {quoted(first['input'])}: a duel is a list of two policies"
    return f"{key} = {quoted(first['input'])}: {text}"
