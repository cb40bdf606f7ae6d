"""What a run's files may say: a model for the manifest, and one for a line of the journal.

Each is checked when it is read, before anything is made of it, and before it is first written. A
text is one line that can be printed, a number has bounds, and a file's name is one that the program
itself makes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
    model_validator,
)

from kozel_sim.outside import shown
from kozel_sim.rules import RuleSet
from kozel_sim.schedule import DESIGNS
from kozel_sim.words import counted

FORMAT = "kozel-run/2"
MANIFEST = "manifest.json"
JOURNAL = "parts.jsonl"
"""What is there of a run that is not finished: a line for each part, in the order they came."""
TELL = "tell.parquet"
"""The one part of a run that measures the tell."""
TELL_DESIGN = "the tell: "
"""How the design of such a run begins."""
MOST_BYTES = 1 << 28
"""A manifest or a journal is not larger: it would list a million parts."""
MOST, MANY = 1 << 62, 1 << 20
"""Whole numbers are below the one, lists no longer than the other."""
PART = re.compile(
    r"(matches|rounds|totals)/([0-9]{2,7})-[A-Za-z0-9-]{1,60}/deal-([0-9]{12,19})\.parquet"
)
"""The name of a part's file: what it holds, its block, its first deal."""
T = TypeVar("T", bound=BaseModel)


def _one_line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("it holds characters that cannot be printed")
    return text


def _source(text: str) -> str:
    if "\0" in text:
        raise ValueError("it holds a NUL")
    return text


def _fraction(text: str) -> str:
    if not re.fullmatch(r"[0-9]{1,40}(/[0-9]{0,39}[1-9][0-9]{0,39})?", text):
        raise ValueError("it is no share, like 1 or 3/10")
    return text


def _file(name: str) -> str:
    if name != TELL and not PART.fullmatch(name):
        raise ValueError("no part of a run has such a name")
    return name


def _shard(text: str) -> str:
    read_shard(text)
    return text


def _design(text: str) -> str:
    word = text.removeprefix(TELL_DESIGN)
    if word not in DESIGNS and not re.fullmatch(r"seating ([0-9]|1[0-9]|2[0-3])", text):
        raise ValueError(f"it is no design; choose from {', '.join(DESIGNS)}")
    return text


def _rules(listed: Rules) -> Rules:
    """See that the knobs are a rule set's; one of another version may lack some."""
    if "players" not in listed.knobs:
        raise ValueError("knobs.players missing")
    rules = RuleSet.from_knobs(listed.knobs, base=listed.base)
    if rules.name != listed.preset:
        raise ValueError(f"its knobs are those of {rules.name}, not of {listed.preset}")
    knobs = rules.knobs()
    for knob, value in listed.knobs.items():
        if json.dumps(knobs[knob]) != json.dumps(value):
            raise ValueError(f"knobs.{knob} must be written {knobs[knob]!r}")
    return listed


Text = Annotated[StrictStr, Field(max_length=100_000), AfterValidator(_one_line)]
Short = Annotated[StrictStr, Field(max_length=1000), AfterValidator(_one_line)]
Hash = Annotated[StrictStr, Field(pattern=r"^[0-9a-f]{16}$")]
Whole = Annotated[StrictInt, Field(ge=0, lt=MOST)]
Count = Annotated[StrictInt, Field(ge=1, lt=MOST)]
Seconds = Annotated[StrictFloat | StrictInt, Field(ge=0, lt=MOST, allow_inf_nan=False)]
Value = StrictBool | StrictInt | Annotated[StrictFloat, Field(allow_inf_nan=False)] | Text | None
Design = Annotated[Short, AfterValidator(_design)]
Shard = Annotated[Short, AfterValidator(_shard)]
Versions = Annotated[dict[Short, Short], Field(max_length=100)]
Row = Annotated[dict[Short, Value], Field(max_length=100)]
"""A row of a table of results."""
Shape = Annotated[list[Whole], Field(min_length=1, max_length=3)]
Parameter = Annotated[StrictFloat | StrictInt, Field(allow_inf_nan=False)]


class Model(BaseModel):
    """Values as they are written, and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Rules(Model):
    """A rule set."""

    preset: Short
    base: Short
    digest: Hash
    knobs: Annotated[dict[Short, Value | list[Short]], Field(max_length=1000)]


class LadderPart(Model):
    """A part of a policy that is data."""

    share: Annotated[StrictStr, AfterValidator(_fraction)]
    ladder: Text


class FunctionPart(Model):
    """A part of a policy that is a function."""

    share: Annotated[StrictStr, AfterValidator(_fraction)]
    function: Short
    source: Annotated[StrictStr, Field(max_length=10_000_000), AfterValidator(_source)]
    params: Annotated[list[Parameter], Field(max_length=1000)]
    words: StrictBool
    fingerprint: Hash | None


class Described(Model):
    """A policy, as ``describe_policy`` writes it."""

    name: Annotated[Text, Field(min_length=1)]
    parts: Annotated[list[LadderPart | FunctionPart], Field(min_length=1, max_length=MANY)]


class SumsFacts(Model):
    """What must be known of sums beside their numbers."""

    preset: Short
    players: Annotated[StrictInt, Field(ge=2, le=4)]
    sides: Annotated[StrictInt, Field(ge=2, le=4)]
    matches_per_deal: Count
    policies: Annotated[
        dict[Text, Annotated[list[Count], Field(min_length=2, max_length=2)]],
        Field(min_length=1, max_length=MANY),
    ]
    rates: StrictBool
    shapes: Annotated[list[Shape], Field(min_length=1, max_length=10)]


class Entry(Model):
    """A part's file."""

    file: Annotated[StrictStr, AfterValidator(_file)]
    sha256: Annotated[StrictStr, Field(pattern=r"^[0-9a-f]{64}$")]
    rows: Whole | None = None
    sums: Annotated[list[SumsFacts], Field(min_length=1, max_length=MANY)] | None = None
    deals: Annotated[list[Whole], Field(min_length=2, max_length=2)] | None = None
    shard: Count | None = None

    @model_validator(mode="after")
    def _hangs_together(self) -> Entry:
        if (self.sums is None) == (self.rows is None):
            raise ValueError(f"it must have either rows or sums: {self.file}")
        if self.file == TELL:
            return self
        if (self.sums is not None) != self.file.startswith("totals/"):
            raise ValueError(f"sums are kept in totals/, and frames are not: {self.file}")
        if self.deals is None or not self.deals[0] < self.deals[1]:
            raise ValueError(f"deals must be the first one and the end: {self.file}")
        if int(PART.fullmatch(self.file)[3]) != self.deals[0]:  # type: ignore[index]
            raise ValueError(f"deals begin with another one than the name says: {self.file}")
        return self


class Line(Model):
    """A line of the journal: the files of a part, and the seconds played until then."""

    seconds: Seconds
    files: Annotated[list[Entry], Field(min_length=1, max_length=10)]


class Counts(Model):
    """How much was played."""

    matches: Whole
    rounds: Whole | None = None
    rows: Whole | None = None


class Machine(Model):
    """What it was played on."""

    cpu: Short
    cores: Count | None
    system: Short


class ShardMade(Model):
    """When and on what a shard was played."""

    shard: Shard
    made: Short | None
    seconds: Seconds | None
    versions: Versions | None
    machine: Machine | None


class Stage(Model):
    """A run that was there, finished, before it was extended."""

    deals: Count
    made: Short
    seconds: Seconds
    versions: Versions
    machine: Machine


class Key(Model):
    """What a run that stopped found of a policy or pair; further columns are values."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)
    __pydantic_extra__: dict[str, Value] = Field(init=False)

    key: Text
    metric: Short
    decision: Short
    estimate: Parameter
    std_error: Parameter | None
    ci_low: Parameter | None
    ci_high: Parameter | None
    adjusted: Parameter | None
    sequence_low: Parameter | None
    sequence_high: Parameter | None
    level: Parameter
    n_deals: Whole
    method: Short


class Checks(Model):
    """Chi-squares of a run that was merged."""

    shards: Annotated[list[Row], Field(max_length=MANY)]
    seats: Annotated[list[Row], Field(max_length=MANY)]


class Manifest(Model):
    """What was played, how, and which files are there."""

    format: Literal["kozel-run/2"]
    name: Short
    version: Short
    stream: Whole
    sources: Hash
    seed: Annotated[StrictInt, Field(ge=0, lt=1 << 64)]
    deals: Count
    deals_asked: Count | None = None
    design: Design
    engine: Literal["auto", "vector", "scalar", "reference"]
    rules: Annotated[
        list[Annotated[Rules, AfterValidator(_rules)]], Field(min_length=1, max_length=MANY)
    ]
    policies: Annotated[list[Described], Field(min_length=1, max_length=MANY)]
    schedule: Hash
    blocks: Annotated[StrictInt, Field(ge=1, le=9_999_999)] | None = None
    pairs: (
        Annotated[
            list[Annotated[list[Whole], Field(min_length=2, max_length=2)]],
            Field(min_length=1, max_length=MANY),
        ]
        | None
    ) = None
    aggregate: Literal[True] | None = None
    rounds: Literal[True] | None = None
    stop: Short | None = None
    shard: Shard | None = None
    state: Literal["unfinished", "finished"] | None = None
    files: Annotated[list[Entry], Field(max_length=MANY)] = []
    part_sizes: Annotated[list[Count], Field(min_length=1, max_length=MANY)] | None = None
    stopping: Annotated[list[Key], Field(max_length=MANY)] | None = None
    seconds: Seconds | None = None
    counts: Counts | None = None
    made: Short | None = None
    versions: Versions | None = None
    machine: Machine | None = None
    extended: Annotated[list[Stage], Field(min_length=1, max_length=MANY)] | None = None
    shards: Annotated[list[ShardMade], Field(min_length=1, max_length=MANY)] | None = None
    checks: Checks | None = None

    @model_validator(mode="after")
    def _hangs_together(self) -> Manifest:
        names = [entry.file for entry in self.files]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"files: {twice} is listed twice")
        tell = self.design.startswith(TELL_DESIGN)
        if tell != (self.blocks is None):
            raise ValueError("blocks: every run has some, unless it measures the tell")
        for number, entry in enumerate(self.files):
            if wrong := self._misfit(entry, tell):
                raise ValueError(f"files.{number}: {entry.file} is no part of this run: {wrong}")
        if self.state == "finished":
            for key in ("seconds", "counts", "made", "versions", "machine"):
                if getattr(self, key) is None:
                    raise ValueError(f"{key} missing, and the run is finished")
            if not self.files:
                raise ValueError("files: it does not list its files, and the run is finished")
        if self.part_sizes is not None and len(self.part_sizes) != self.blocks:
            raise ValueError(f"part_sizes: there are {self.blocks} blocks")
        grown = [*(stage.deals for stage in self.extended or ()), self.deals]
        if any(a >= b for a, b in pairwise(grown)):
            raise ValueError(f"extended: the run had {grown} deals, one after another")
        for a, b in self.pairs or ():
            if max(a, b) >= len(self.policies):
                raise ValueError(
                    f"pairs: [{a}, {b}]: the run has {counted(len(self.policies), 'policy')}"
                )
        return self

    def _misfit(self, entry: Entry, tell: bool) -> str:
        """Say why a file cannot be one of this run's."""
        if tell or entry.file == TELL:
            return "" if tell and entry.file == TELL else "the tell has one part of its own"
        kinds = ["totals"] if self.aggregate else ["matches", *["rounds"] * bool(self.rounds)]
        kind, block, _ = PART.fullmatch(entry.file).groups()  # type: ignore[union-attr]
        if kind not in kinds:
            return f"it keeps {' and '.join(kinds)}"
        if int(block) >= (self.blocks or 0):
            return f"it has {self.blocks} blocks"
        if entry.deals is not None and entry.deals[1] > self.deals:
            return f"it has {counted(self.deals, 'deal')}"
        return ""


def read_json(text: str | bytes) -> Any:
    """Read JSON; ValueError at anything else, however it is broken."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is no number")


def need_manifest(value: Any) -> None:
    """Raise ValueError unless a value is a manifest; the message names the field."""
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise ValueError(f"it is not a manifest of the format {FORMAT}")
    _need(Manifest.model_validate, value)
    for key, each in value.items():
        if each is None:
            # The model has no value for what may be left out; a reader asks whether it is there.
            raise ValueError(f"{key} must not be null")


def need_line(value: Any) -> None:
    """Raise ValueError unless a value is a line of a journal; the message names the field."""
    _need(Line.model_validate, value)


def _need(validate: Callable[[Any], BaseModel], value: Any) -> None:
    try:
        validate(value)
    except ValidationError as error:
        raise ValueError(_explain(error)) from None


def _explain(error: ValidationError) -> str:
    """Turn the first complaint into one line: the field, and what is wrong with it."""
    every = error.errors(include_url=False)
    missing = [".".join(map(str, each["loc"])) for each in every if each["type"] == "missing"]
    if missing:
        return f"{', '.join(missing[:10])} missing"
    first = every[0]
    place = ".".join(str(part) for part in first["loc"])
    text = f"{first['msg'][0].lower()}{first['msg'][1:]}".removeprefix("value error, ")
    if not place:
        return text
    return f"{place}: {text}, not {shown(first['input'])}"


def read_shard(text: str) -> tuple[int, int]:
    """Read ``i/n``; ValueError at anything else.

    Examples
    --------
    >>> read_shard("2/3")
    (2, 3)
    """
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise ValueError(f"shard {text!r} is none; write i/n with i from 1 to n, like 1/3")
    return int(found[1]), int(found[2])
