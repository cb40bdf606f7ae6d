"""The parts that a run is played in: each is some deals with all their matches.

A part depends on nothing but what is played, so it may be played anywhere, at any time and again,
and comes out the same to the bit.

Legend
------
block      the matches of one meeting under one rule set; where sums are kept instead of frames,
           under all rule sets for as many players, whose differences need the same deals at hand.
part       deals first, ..., end - 1 of a block.
result     what comes of a part: frames by name ("matches", "rounds"), or sums by rule set.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy.typing as npt
import pandas as pd

from kozel_sim import reference
from kozel_sim.checks import Engine
from kozel_sim.decision import Policy
from kozel_sim.engine.play import Table, new_matches
from kozel_sim.frames import fill_match, frame_of
from kozel_sim.rounds import rounds_of
from kozel_sim.rules import RuleSet
from kozel_sim.schedule import Lineups
from kozel_sim.totals import Sums, Tally

Progress = Callable[[int], None]
"""Called with the number of matches just played, from the calling thread's workers."""
Matches = npt.NDArray[Any]
"""MATCH records, ``[match]``."""
Result = dict[str, pd.DataFrame] | list[Sums]
T = TypeVar("T")

CHUNK = 16_384
"""Matches that a worker plays before it reports."""
LARGEST = {False: 1 << 17, True: 1 << 20}
"""Matches of a part at the most, by whether sums are kept."""
WITH_ROUNDS = 2048
"""Matches of a part at the most where rounds are kept: some rules play hundreds in a match."""
MOST_PARTS = 64
"""A run has so many parts before they grow beyond a chunk."""


@dataclass(frozen=True)
class Block:
    """Matches that are played on the same deals.

    Attributes
    ----------
    number : int
        Its place in the run.
    rules : tuple of RuleSet
        One, or where sums are kept all for as many players.
    duel : str
        Who meets whom; empty where all meet.
    lineups : Lineups
        The matches of every deal.
    """

    number: int
    rules: tuple[RuleSet, ...]
    duel: str
    lineups: Lineups

    @property
    def matches_per_deal(self) -> int:
        """How many matches a deal makes."""
        return self.lineups.matches * len(self.rules)


@dataclass(frozen=True, order=True)
class Part:
    """Deals of a block, the end excluded."""

    block: int
    first: int
    end: int


def cut(block: Block, first: int, end: int, size: int) -> list[Part]:
    """Cut a range of deals into parts of so many deals."""
    return [Part(block.number, at, min(at + size, end)) for at in range(first, end, size)]


def part_size(block: Block, deals: int, aggregate: bool, rounds: bool, chunk: int | None) -> int:
    """Return how many deals a part of a block has: whole cycles of its line-ups."""
    if chunk is None and rounds:
        chunk = WITH_ROUNDS
    elif chunk is None:
        chunk = block.matches_per_deal * deals // MOST_PARTS
        chunk = min(LARGEST[aggregate], max(CHUNK, chunk))
    size = _whole_cycles(block, chunk // block.matches_per_deal)
    step = added_at_once(block)
    # Of whole chunks: a smaller one at the end of each part would be copied.
    return size // step * step if aggregate and size > step else size


def added_at_once(block: Block) -> int:
    """Return of how many deals a rule set's matches are added up at once."""
    return _whole_cycles(block, CHUNK // block.lineups.matches)


def _whole_cycles(block: Block, deals: int) -> int:
    cycle = block.lineups.cycle
    return max(cycle, deals // cycle * cycle)


class PartPlayer:
    """Plays parts; threads may share it.

    Parameters
    ----------
    blocks : sequence of Block
        What the parts are parts of.
    policies : sequence of Policy
        What the line-ups count into.
    seed : int
        Fixes all luck.
    aggregate : bool
        Whether sums are kept instead of frames.
    rounds : bool
        Whether there is a frame of rounds too.
    engine : {"auto", "vector", "scalar", "reference"}
        Who plays.

    Raises
    ------
    NotImplementedError
        If the engine does not play a knob of the rules.
    ValueError
        If a policy does not compile.
    """

    def __init__(
        self,
        blocks: Sequence[Block],
        policies: Sequence[Policy],
        seed: int,
        aggregate: bool,
        rounds: bool,
        engine: Engine = "auto",
    ) -> None:
        self._blocks = blocks
        self._policies = policies
        self._seed = seed
        self._aggregate = aggregate
        self._rounds = rounds
        self._engine: Engine = engine
        every = {rules for block in blocks for rules in block.rules}
        self._players = {rules: player_of(rules, policies, engine) for rules in every}
        self._tallies = {block.number: self._tallies_of(block) for block in blocks if aggregate}

    def play(self, part: Part, progress: Progress | None = None) -> Result:
        """Play a part and return what comes of it."""
        block = self._blocks[part.block]
        if self._aggregate:
            return self._add_up(block, part, progress)
        (rules,) = block.rules
        deals, seating, players = block.lineups.of_deals(part.first, part.end)
        matches = new_matches(deals, players)
        sides = block.lineups.sides_of_deals(part.first, part.end) if block.duel else None
        found: dict[str, pd.DataFrame] = {}
        for first in () if self._rounds else range(0, len(matches), CHUNK):
            piece = matches[first : first + CHUNK]
            self._players[rules](piece, self._seed)
            if progress:
                progress(len(piece))
        which = (rules, self._policies, matches, seating)
        if self._rounds:
            # It plays them, too.
            more = (self._seed, self._engine, block.duel, sides)
            found["rounds"] = rounds_of(*which, *more)
            if progress:
                progress(len(matches))
        return {"matches": frame_of(*which, block.duel, sides), **found}

    def _tallies_of(self, block: Block) -> list[Tally]:
        """Return how the rule sets' matches are added up, some deals at a time."""
        deals = added_at_once(block)
        names = [policy.name for policy in self._policies]
        tallies: list[Tally] = []
        for rules in block.rules:
            first = tallies[0] if tallies else None
            tallies.append(Tally(rules, names, block.lineups, deals, first))
        return tallies

    def _add_up(self, block: Block, part: Part, progress: Progress | None) -> list[Sums]:
        tallies = self._tallies[block.number]
        found = [tally.sums.blank() for tally in tallies]
        step = tallies[0].deals
        for first in range(part.first, part.end, step):
            desks = [tally.desk_of(first, min(first + step, part.end)) for tally in tallies]
            for tally, desk, sums in zip(tallies, desks, found, strict=True):
                self._players[tally.rules](desk.matches, self._seed)
                tally.count(desk, None if desk is desks[0] else desks[0].numbers, sums)
                if progress:
                    progress(len(desk.matches))
            for tally, desk in zip(tallies, desks, strict=True):
                tally.free(desk)
        return found


def player_of(
    rules: RuleSet, policies: Sequence[Policy], engine: str
) -> Callable[[Matches, int], object]:
    """Return what plays MATCH records where they stand, with a seed; threads may share it."""
    if engine == "reference":
        return lambda matches, seed: _play_reference(rules, policies, matches, seed)
    return Table(rules, policies, engine).play


def _play_reference(
    rules: RuleSet, policies: Sequence[Policy], matches: Matches, seed: int
) -> None:
    """Fill MATCH records from the reference engine's records."""
    for match in matches:
        at_seats = [policies[i] for i in match["players"][: rules.players]]
        record = reference.play_match(rules, at_seats, seed, int(match["deal"]))
        fill_match(match, record)


def work_through(jobs: Iterable[T], work: Callable[[T], object], workers: int) -> None:
    """Do jobs on worker threads; after a fault or an interrupt only those begun are finished."""
    left, turn, stopped = iter(jobs), threading.Lock(), threading.Event()

    def take_jobs() -> None:
        try:
            while not stopped.is_set():
                with turn:
                    job = next(left, None)
                if job is None:
                    return
                work(job)
        finally:
            stopped.set()

    pool = ThreadPoolExecutor(workers)
    try:
        futures = [pool.submit(take_jobs) for _ in range(workers)]
        # A short wait, so that an interrupt is heard while workers play.
        while wait(futures, timeout=0.1).not_done:
            pass
    finally:
        stopped.set()
        pool.shutdown()
    for future in futures:
        future.result()
