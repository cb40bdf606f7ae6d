"""Tournaments: schedule -> chunks -> engine -> frame."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import comb, factorial
from typing import Literal, overload

import numpy as np
import numpy.typing as npt
import pandas as pd

from kozel_sim.checks import (
    Engine,
    need_distinct,
    need_engine,
    need_memory,
    need_positive,
    read_rule_sets,
    read_seed,
)
from kozel_sim.decision import Policy
from kozel_sim.engine.play import new_matches
from kozel_sim.experiment import Experiment
from kozel_sim.policies import read_policies
from kozel_sim.rules import RuleSet
from kozel_sim.schedule import schedule, tables, whole_cycles
from kozel_sim.simulation import (
    CHUNK,
    CHUNK_BYTES,
    ROW_BYTES,
    Progress,
    add_up,
    describe_run,
    finish_run,
    finish_totals,
    frame_of,
    play_all,
)
from kozel_sim.store import Run
from kozel_sim.totals import Tally, Totals

DESIGN = "every deal at every table in every rotation"


@dataclass(frozen=True)
class Tournament:
    """What a tournament will play; checked when it is built, before anything is played.

    Attributes
    ----------
    name : str
        The run's name.
    rules : list of RuleSet
        Each is played by itself, on the same deals.
    policies : list of Policy
        The field.
    deals : int
        Deals per table, whole cycles of the seatings.
    seed : int
        Fixes all luck.
    aggregate : bool
        Whether sums are kept instead of a frame.
    """

    name: str
    rules: list[RuleSet]
    policies: list[Policy]
    deals: int
    seed: int
    aggregate: bool = False
    tables: dict[int, npt.NDArray[np.int64]] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        names = [policy.name for policy in self.policies]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"policy {name} is listed twice; a table seats distinct policies")
        need_distinct(self.rules)
        deals = need_positive("deals", self.deals)
        largest = max(rules.players for rules in self.rules)
        if len(names) < largest:
            raise ValueError(
                f"a table of {largest} players needs {largest} distinct policies; "
                f"{len(names)} given: {', '.join(names)}"
            )
        object.__setattr__(self, "deals", whole_cycles(deals, largest))
        of_a_deal = [comb(len(names), r.players) * r.players for r in self.rules]
        rows = sum(n * r.players for n, r in zip(of_a_deal, self.rules, strict=True)) * self.deals
        chunk = max(CHUNK, *of_a_deal) * factorial(largest - 1)
        kept = CHUNK_BYTES * chunk if self.aggregate else ROW_BYTES * rows
        need_memory(f"{sum(of_a_deal) * self.deals:,} matches", kept)
        for rules in self.rules:
            self.tables[rules.players] = tables(len(names), rules.players)

    @classmethod
    def of(cls, experiment: Experiment, aggregate: bool = False) -> Tournament:
        """Return the tournament that an experiment's file describes."""
        policies = read_policies(experiment.policies)
        rules = experiment.rule_sets()
        return cls(experiment.name, rules, policies, experiment.deals, experiment.seed, aggregate)

    @property
    def matches(self) -> int:
        """How many matches will be played."""
        return sum(self.tables[r.players].shape[0] * r.players * self.deals for r in self.rules)

    def manifest(self, engine: Engine = "auto") -> dict[str, object]:
        """Return what is known of the run before it is played."""
        return describe_run(
            self.name,
            DESIGN,
            self.rules,
            self.policies,
            self.seed,
            self.deals,
            engine,
            self.aggregate,
        )

    def play(
        self,
        engine: Engine = "auto",
        workers: int = 1,
        chunk: int = CHUNK,
        progress: Progress | None = None,
    ) -> Run | Totals:
        """Play it all; engine, workers and chunk do not change a bit of the result."""
        need_engine(engine, workers, chunk)
        start = time.perf_counter()
        if self.aggregate:
            return self._play_totals(engine, workers, chunk, progress, start)
        frames = []
        for rules in self.rules:
            deals, seating, players = schedule(0, self.deals, self.tables[rules.players])
            matches = new_matches(deals, players)
            play_all(rules, self.policies, matches, self.seed, engine, workers, chunk, progress)
            frames.append(frame_of(rules, self.policies, matches, seating))
        return finish_run(stack_frames(frames), self.manifest(engine), start)

    def _play_totals(
        self, engine: Engine, workers: int, chunk: int, progress: Progress | None, start: float
    ) -> Totals:
        """Play the rule sets of one number of players together, chunk by chunk."""
        found: dict[tuple[str, int], Tally] = {}
        names = [policy.name for policy in self.policies]
        for n, at_tables in self.tables.items():
            cycle = factorial(n - 1)
            deals = max(cycle, chunk // at_tables.size // cycle * cycle)
            deals = min(deals, self.deals)
            ids, _, players = schedule(0, deals, at_tables)
            pattern = new_matches(ids, players)
            tallies: list[Tally] = []
            for rules in self.rules:
                if rules.players == n:
                    first = tallies[0] if tallies else None
                    tallies.append(Tally(rules, names, pattern, deals, first))
            add_up(tallies, self.policies, self.deals, self.seed, engine, workers, progress)
            found |= {(tally.rules.name, n): tally for tally in tallies}
        in_order = [found[rules.name, rules.players] for rules in self.rules]
        return finish_totals(in_order, self.manifest(engine), start)


def stack_frames(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """Put frames below each other; their categories are joined, not lost."""
    presets = list(dict.fromkeys(name for f in frames for name in f["preset"].cat.categories))
    for frame in frames:
        frame["preset"] = frame["preset"].cat.set_categories(presets)
    return pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]


@overload
def tournament(
    rules: RuleSet | str | Sequence[RuleSet | str],
    policies: Sequence[str | Policy] | str,
    deals: int,
    seed: int | None = None,
    *,
    players: int | None = None,
    name: str = "tournament",
    engine: Engine = "auto",
    workers: int = 1,
    chunk: int = CHUNK,
    progress: Progress | None = None,
    aggregate: Literal[False] = False,
) -> Run: ...


@overload
def tournament(
    rules: RuleSet | str | Sequence[RuleSet | str],
    policies: Sequence[str | Policy] | str,
    deals: int,
    seed: int | None = None,
    *,
    players: int | None = None,
    name: str = "tournament",
    engine: Engine = "auto",
    workers: int = 1,
    chunk: int = CHUNK,
    progress: Progress | None = None,
    aggregate: Literal[True],
) -> Totals: ...


def tournament(
    rules: RuleSet | str | Sequence[RuleSet | str],
    policies: Sequence[str | Policy] | str,
    deals: int,
    seed: int | None = None,
    *,
    players: int | None = None,
    name: str = "tournament",
    engine: Engine = "auto",
    workers: int = 1,
    chunk: int = CHUNK,
    progress: Progress | None = None,
    aggregate: bool = False,
) -> Run | Totals:
    """Play every set of distinct policies that fills a table, each deal from every seat.

    Parameters
    ----------
    rules : RuleSet, str, or a sequence of them
        Rule sets or presets' names; all are played on the same deals.
    policies : sequence of (str or Policy)
        The field, at least as many as there are players.
    deals : int
        Deals per table; rounded up to a multiple of (players - 1)!, so that neighbours balance.
    seed : int, optional
        Unsigned 64-bit; without one it is drawn, and noted in the manifest.
    players : int, optional
        For presets given by name: 4 by default, or the only number a preset allows.
    name : str
        The run's name.
    engine, workers, chunk, progress, aggregate
        As for ``simulate``.

    Returns
    -------
    Run or Totals
        ``run.summary()`` is the leaderboard.

    Raises
    ------
    ValueError
        If a value is out of range or unknown, or a policy makes an illegal move.
    NotImplementedError
        If no engine plays a knob of the rules.

    Examples
    --------
    >>> run = tournament("room-fish-all", ["random", "dump_heavy"], 50, seed=1, players=2)
    >>> run.matches
    100
    """
    rule_sets = read_rule_sets(rules, players)
    field = read_policies(policies)
    planned = Tournament(name, rule_sets, field, deals, read_seed(seed), aggregate)
    return planned.play(engine, workers, chunk, progress)
