"""Is a policy fit to play? Legal, repeatable, blind to what its seat cannot see, and how fast.

Everything that calls the policy runs in a process apart, with a time limit. There each position is
asked three times in plain Python and three times compiled: as it is, as it is once more in the
opposite order, and with the unseen tiles in other places. A Round with its hands stands in the
caller's frame meanwhile, and random bytes surround the compiled View, as a policy that peeks would
have it.
"""

from __future__ import annotations

import math
import random
import re
import time
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kozel_sim.apart import NoAnswerError, Teller, run_apart
from kozel_sim.checks import Engine, need_positive, read_seed
from kozel_sim.decision import Function, IllegalMoveError, Policy
from kozel_sim.engine.entries import ask
from kozel_sim.engine.layout import DESK
from kozel_sim.engine.players import compiled, encode_players
from kozel_sim.intervals import Estimate
from kozel_sim.moves import move_text
from kozel_sim.names import read_name
from kozel_sim.policies import get_policy, load_code
from kozel_sim.positions import Position, random_positions
from kozel_sim.presets import PRESETS
from kozel_sim.rules import RuleSet
from kozel_sim.tiles import Hand
from kozel_sim.timing import time_decisions, warm_up, write_view
from kozel_sim.tournaments import tournament
from kozel_sim.view import N_PARAMS, VIEW
from kozel_sim.words import quoted

CHECKS = {
    "answers": "answers within the time limit, and the process lives",
    "legal": "every move is legal",
    "alike": "plain Python and compiled choose the same",
    "steady": "asked again, in another order, it chooses the same",
    "fresh": "another process chooses the same",
    "gentle": "leaves its View as it was",
    "blind": "the leak test: unseen tiles in other places change no choice",
}
TABLES = [(name, n) for name, preset in PRESETS.items() for n in preset.players]
"""Every preset with each of its numbers of players."""
DUEL_RULES = "room-fish-all"
RIVALS = ("random", "allround")
MOST_DEALS = 2000
DUEL_SECONDS = 0.5
SURROUND = 1 << 12
"""Random bytes on each side of a compiled View."""


@dataclass(frozen=True)
class Finding:
    """What one check found at one table.

    Attributes
    ----------
    check : str
        A name from ``CHECKS``.
    preset, players
        The table; "" and 0 where the check is about none.
    asked : int
        Positions.
    ok : bool
        Whether it passed.
    detail : str
        The first thing that was wrong.
    """

    check: str
    preset: str
    players: int
    asked: int
    ok: bool
    detail: str = ""


@dataclass(frozen=True)
class Duel:
    """Matches of two against a rival: goat rates, which are better when lower."""

    rival: str
    preset: str
    deals: int
    goat_rate: Estimate
    rival_goat_rate: Estimate


@dataclass(frozen=True)
class Report:
    """What was found out about a policy.

    Attributes
    ----------
    policy : str
        Its name.
    findings : tuple of Finding
        One per check and table.
    ns_per_decision : float or None
        Compiled, the engine's work for a decision included, where it got so far.
    compile_seconds : float or None
        What compiling it took; next to nothing when its code was kept from before.
    duels : tuple of Duel
        Against ``random`` and a stronger rival.
    """

    policy: str
    findings: tuple[Finding, ...]
    ns_per_decision: float | None = None
    compile_seconds: float | None = None
    duels: tuple[Duel, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every check passed."""
        return all(finding.ok for finding in self.findings)

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON values; an endless interval's ends are None."""
        data = {**asdict(self), "ok": self.ok}
        for duel in data["duels"]:
            for rate in (duel["goat_rate"], duel["rival_goat_rate"]):
                for key, value in rate.items():
                    if isinstance(value, float) and not math.isfinite(value):
                        rate[key] = None
        return data


def check_policy(
    what: str | Path | Policy, *, positions: int = 40, seed: int = 1, timeout: float = 10.0
) -> list[Report]:
    """Check a policy, or each policy of a file.

    Parameters
    ----------
    what : str, Path or Policy
        A Python file, ``"file.py:name"``, a spec such as ``"dump_heavy"``, or a Policy.
    positions : int, default 40
        Random positions per preset and number of players.
    seed : int, default 1
        Fixes positions, permutations and duels.
    timeout : float, default 10.0
        Seconds that one position, or one batch of a duel, may take.

    Returns
    -------
    list of Report
        One per policy. A policy that fails a check is no error.

    Raises
    ------
    ValueError
        If there is no such policy or file, the file cannot be run, or the policy does not compile.

    Examples
    --------
    >>> (report,) = check_policy("dump_heavy", positions=2)
    >>> report.ok, report.duels[0].rival
    (True, 'random')
    """
    need_positive("positions", positions)
    seed = read_seed(seed)
    if not 0 < timeout < math.inf:
        raise ValueError(f"timeout must be over 0 seconds, not {quoted(timeout)}")
    source = _read_source(what)
    first = _check_one(source, positions, seed, timeout)
    reports = [first.report()]
    if isinstance(source, _InFile) and source.name is None:
        for name in first.names[1:]:
            reports.append(
                _check_one(_InFile(source.path, name), positions, seed, timeout).report()
            )
    return reports


# ---------------------------------------------------------------------- where a policy comes from


@dataclass(frozen=True)
class _InFile:
    """A policy in a Python file, by its spec; None for the first one."""

    path: str
    name: str | None

    def load(self) -> tuple[Policy, list[str]]:
        """Return the policy, and the names that the file registers."""
        names = load_code(self.path)
        name = read_name(self.name or names[0])
        if self.name and name.partition(":")[0] not in names:
            raise ValueError(f"{self.path} has no policy {name!r}; it has {', '.join(names)}")
        return get_policy(name), names

    def __str__(self) -> str:
        return f"{self.path}:{self.name}" if self.name else self.path


def _read_source(what: str | Path | Policy) -> _InFile | Policy:
    if isinstance(what, Policy):
        return what
    found = re.fullmatch(r"(.+?\.py)(?::(.+))?", str(what))
    if found:
        return _InFile(found[1], found[2])
    if isinstance(what, Path) or Path(what).exists():
        raise ValueError(f"no Python file at {what}")
    return get_policy(what)


def _load(source: _InFile | Policy) -> tuple[Policy, list[str]]:
    return source.load() if isinstance(source, _InFile) else (source, [source.name])


# ---------------------------------------------------------------------- the process that asks


@dataclass
class _Notes:
    """What the processes apart told."""

    source: _InFile | Policy
    names: list[str] = field(default_factory=list)
    policy: str = ""
    findings: list[Finding] = field(default_factory=list)
    choices: dict[tuple[str, int], list[int]] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)

    def take(self, news: tuple[str, Any]) -> None:
        """Note a piece of news."""
        kind, value = news
        if kind == "findings":
            self.findings += value
        elif kind == "choices":
            self.choices.update(value)
        elif kind == "names":
            self.policy, self.names = value
        else:
            self.about[kind] = value

    def report(self) -> Report:
        """Return it all as a report."""
        return Report(self.policy or str(self.source), tuple(self.findings), **self.about)


def _check_one(source: _InFile | Policy, positions: int, seed: int, timeout: float) -> _Notes:
    notes = _Notes(source)
    again = _Notes(source)
    try:
        run_apart(_examine, source, positions, seed, limit=timeout, told=notes.take)
        run_apart(_choose_again, source, positions, seed, limit=timeout, told=again.take)
    except NoAnswerError as error:
        notes.findings.append(Finding("answers", "", 0, 0, False, str(error)))
        return notes
    asked = sum(map(len, notes.choices.values()))
    notes.findings.append(Finding("answers", "", 0, asked, True))
    for table, choices in notes.choices.items():
        there = again.choices[table]
        different = [
            i for i, pair in enumerate(zip(choices, there, strict=True)) if len(set(pair)) > 1
        ]
        detail = ""
        if different:
            i = different[0]
            detail = (
                f"position {i}: {move_text(choices[i])}, in another process {move_text(there[i])}"
            )
        notes.findings.append(Finding("fresh", *table, len(choices), not different, detail))
    return notes


def _examine(tell: Teller, source: _InFile | Policy, positions: int, seed: int) -> None:
    """Do every check of one policy, telling what is found."""
    tell.at(f"running {source}")
    policy, names = _load(source)
    tell.news(("names", (policy.name, names)))
    tell.preparing("compiling")
    warm_up()
    start = time.perf_counter()
    for _, part in policy.parts:
        if isinstance(part, Function):
            compiled(part.choose_code)
    tell.news(("compile_seconds", time.perf_counter() - start))
    asker = Asker(policy)
    for preset, players in TABLES:
        findings, choices = examine_table(tell, asker, preset, players, positions, seed)
        tell.news(("findings", findings))
        tell.news(("choices", {(preset, players): choices}))
    tell.news(("ns_per_decision", time_decisions(policy, tell, seed)))
    try:
        tell.news(("duels", tuple(_duels(tell, policy, seed))))
    except IllegalMoveError as error:
        finding = Finding("legal", DUEL_RULES, 2, 0, False, f"in a duel: {error}")
        tell.news(("findings", [finding]))


def _choose_again(tell: Teller, source: _InFile | Policy, positions: int, seed: int) -> None:
    """Tell a policy's choices at the same positions, in plain Python."""
    tell.at(f"running {source}")
    policy, _ = _load(source)
    for preset, players in TABLES:
        choices = []
        for i, position in enumerate(
            random_positions(RuleSet.preset(preset, players), positions, seed)
        ):
            tell.at(_place("in another process", preset, players, i, position))
            choices.append(ask_plainly(policy, position).move)
        tell.news(("choices", {(preset, players): choices}))


def _place(what: str, preset: str, players: int, i: int, position: Position) -> str:
    table = position.table
    hand = Hand(table["hands"][table["seat"]])
    ends = ", ".join("closed" if v is None else str(v) for v in table["arms"]) or "none"
    where = f"{preset} ({players} players), position {i}, seat {table['seat']}"
    return f"{what}, {where} with {' '.join(hand.names)}, ends {ends}"


# ---------------------------------------------------------------------- asking


@dataclass(frozen=True)
class Answer:
    """A policy's move (0 where it raised), what it raised, and whether it left its View alone."""

    move: int
    error: str = ""
    gentle: bool = True


def ask_plainly(policy: Policy, position: Position) -> Answer:
    """Ask as the reference engine does: the Round, hands and all, stands in this frame."""
    round_ = position.round()
    moves = round_.moves()
    view = position.view(round_, moves)
    part = position.part_of(policy)
    before = position.view(round_, moves)
    if isinstance(part, Function):
        before.params = [*part.params, *[0.0] * (N_PARAMS - len(part.params))]
        if not part.words:
            view.words, before.words = [0] * 4, [0] * 4
    try:
        move = part.choose(view, moves)
    except (Exception, SystemExit) as error:
        line = traceback.extract_tb(error.__traceback__)[-1].lineno
        return Answer(0, f"plain Python raised {type(error).__name__}: {error} (line {line})")
    return Answer(move, "", view == before)


class Asker:
    """Asks a policy both ways."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._players = encode_players([policy])

    def compiled(self, position: Position, around: np.random.Generator | None = None) -> Answer:
        """Ask the compiled policy, with random bytes around its View or with zeros."""
        round_ = position.round()
        view = position.view(round_, round_.moves())
        part = position.part_of(self.policy)
        if isinstance(part, Function):
            view.params = [*part.params, *[0.0] * (N_PARAMS - len(part.params))]
            if not part.words:
                view.words = [0] * 4
        size = VIEW.itemsize + 2 * SURROUND
        space = (
            np.zeros(size, np.uint8)
            if around is None
            else around.integers(256, size=size, dtype=np.uint8)
        )
        views = space[SURROUND : SURROUND + VIEW.itemsize].view(VIEW)
        write_view(view, views[0])
        desks = np.zeros(1, DESK)
        _write_luck(position, desks[0])
        moves = np.zeros(1, np.int64)
        before = _fields(views[0])
        ask(position.rules.encode(), self._players, views, desks, 1, moves)
        move = int(moves[0])
        if move < 0:
            move = int(desks[0]["fault_move"])
        return Answer(move, "", _fields(views[0]) == before)


def _fields(record: Any) -> bytes:
    """Return the bytes of all fields of a View, without the gaps between them."""
    return b"".join(record[name].tobytes() for name in VIEW.names or ())


def _write_luck(position: Position, desk: Any) -> None:
    for i, number in enumerate((position.seed, position.deal)):
        desk["key"][2 * i] = number & 0xFFFFFFFF
        desk["key"][2 * i + 1] = number >> 32


def examine_table(
    tell: Teller, asker: Asker, preset: str, players: int, n: int, seed: int
) -> tuple[list[Finding], list[int]]:
    """Return what is found at a preset's table of so many players, and the choices there.

    Everything but ``answers`` and ``fresh``, which need more than one process.
    """
    rules = RuleSet.preset(preset, players)
    positions = random_positions(rules, n, seed)
    rng = random.Random(f"{seed} {preset} {players}")
    noise = np.random.default_rng(seed)
    wrong: dict[str, str] = {}

    def note(check: str, at: int, text: str) -> None:
        wrong.setdefault(check, f"position {at}: {text}")

    first: list[tuple[Answer, Answer]] = []
    for i, position in enumerate(positions):
        tell.at(_place("asked", preset, players, i, position))
        plain, fast = ask_plainly(asker.policy, position), asker.compiled(position)
        first.append((plain, fast))
        legal = position.round().moves()
        for answer, how in ((plain, "in plain Python"), (fast, "compiled")):
            if answer.error:
                note("legal", i, answer.error)
            elif answer.move not in legal:
                words = ", ".join(f"{move_text(m)} ({m})" for m in legal)
                note("legal", i, f"{how} {move_text(answer.move)} ({answer.move}); legal: {words}")
            if not answer.gentle:
                note("gentle", i, f"{how} it writes on its View")
        if plain.move != fast.move and not plain.error:
            note(
                "alike", i, f"plain Python {move_text(plain.move)}, compiled {move_text(fast.move)}"
            )
    for i in reversed(range(n)):
        tell.at(_place("asked again", preset, players, i, positions[i]))
        again = ask_plainly(asker.policy, positions[i]), asker.compiled(positions[i])
        _compare("steady", "asked again", i, first[i], again, note)
        hidden = positions[i].permuted(rng)
        tell.at(_place("asked with other unseen tiles", preset, players, i, positions[i]))
        other = ask_plainly(asker.policy, hidden), asker.compiled(hidden, noise)
        _compare("blind", "with unseen tiles elsewhere", i, again, other, note)
    checks = [check for check in CHECKS if check not in ("answers", "fresh")]
    findings = [
        Finding(check, preset, players, n, check not in wrong, wrong.get(check, ""))
        for check in checks
    ]
    return findings, [plain.move for plain, _ in first]


def _compare(
    check: str,
    when: str,
    i: int,
    before: tuple[Answer, Answer],
    after: tuple[Answer, Answer],
    note: Any,
) -> None:
    """Note where a policy chose otherwise the second time."""
    for old, new, how in zip(before, after, ("in plain Python", "compiled"), strict=True):
        if (old.move, old.error) != (new.move, new.error):
            note(check, i, f"{how} {move_text(old.move)}, {when} {move_text(new.move)}")


# ---------------------------------------------------------------------- duels


def _duels(tell: Teller, policy: Policy, seed: int) -> Iterator[Duel]:
    tell.preparing("compiling the engine")
    # The vector engine asks no function, and need not be compiled for one.
    asks = any(isinstance(part, Function) for _, part in policy.parts)
    engine: Engine = "scalar" if asks else "auto"
    tournament(DUEL_RULES, list(RIVALS), 1, seed, players=2, engine=engine)
    for rival in RIVALS:
        if rival == policy.name:
            continue
        deals = 1
        while True:
            tell.at(f"a duel with {rival}: {deals} deals of {DUEL_RULES}")
            start = time.perf_counter()
            run = tournament(DUEL_RULES, [policy, rival], deals, seed, players=2, engine=engine)
            seconds = time.perf_counter() - start
            if deals == MOST_DEALS or seconds > DUEL_SECONDS:
                break
            deals = min(MOST_DEALS, 10 * deals)
        rates = {
            str(row["policy"]): Estimate(
                **{name: row[name] for name in Estimate.__dataclass_fields__ if name in row}
            )
            for row in run.summary().to_dict("records")
            if row["metric"] == "goat_rate"
        }
        yield Duel(rival, DUEL_RULES, deals, rates[policy.name], rates[rival])
