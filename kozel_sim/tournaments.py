"""Tournaments: a field, rules and a design are planned, then played part by part.

A tournament in a folder is written as it is played, and goes on after an interrupt; without one its
parts are kept in memory. Either way it comes out the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import comb, factorial
from pathlib import Path
from typing import Any, Literal, overload

from kozel_sim.checks import (
    Engine,
    need_distinct,
    need_engine,
    need_memory,
    need_positive,
    read_rule_sets,
)
from kozel_sim.decision import Policy
from kozel_sim.experiment import Experiment
from kozel_sim.extending import look_up, open_run
from kozel_sim.keeping import Desk, Kept, Memory
from kozel_sim.manifest import FORMAT, read_shard
from kozel_sim.parts import (
    CHUNK,
    Block,
    Part,
    PartPlayer,
    Progress,
    Result,
    cut,
    part_size,
    work_through,
)
from kozel_sim.plain import records
from kozel_sim.policies import (
    describe_policy,
    find_policy,
    read_policies,
    rebuild_policy,
)
from kozel_sim.progress import ShowProgress, shown
from kozel_sim.provenance import source_hash, versions
from kozel_sim.rng import STREAM_VERSION
from kozel_sim.rules import RuleSet
from kozel_sim.runs import Run, Totals, closing, load
from kozel_sim.schedule import (
    DUELS,
    PERMUTATIONS,
    ROTATIONS,
    Lineups,
    as_seated,
    meetings,
    read_pairs,
    whole_cycles,
)
from kozel_sim.sequential import FIRST_LOOK, LOOK_GROWTH, looks
from kozel_sim.stopping import Stop, Watch, read_stop
from kozel_sim.store import read_seed_of
from kozel_sim.words import counted

ROW_BYTES = 160
"""Memory that a row of the frame takes at its peak, from playing to the summary (120 to 200)."""
CHUNK_BYTES = 400
"""Memory that a match of a chunk takes where no frame is made."""
ROUND_BYTES, FEW_ROUNDS = 108, 8
"""Memory that a row of the rounds takes at its peak, and how many rounds a match has at least."""
SEATED = "seating"
"""The design of ``simulate``: policies as they are seated."""

Deliver = Callable[[Part, Result], None]
Mapper = Callable[["Tournament", Engine, Iterable[Part], Deliver, Progress | None], None]
"""Plays parts, in any order and anywhere, and delivers what comes of each."""


def play_here(workers: int = 1) -> Mapper:
    """Return what plays parts on threads of this process."""

    def play_parts(
        planned: Tournament,
        engine: Engine,
        parts: Iterable[Part],
        deliver: Deliver,
        progress: Progress | None,
    ) -> None:
        player = planned.player(engine)
        threads = 1 if engine == "reference" else workers
        work_through(parts, lambda part: deliver(part, player.play(part, progress)), threads)

    return play_parts


@dataclass(frozen=True)
class Tournament:
    """What will be played; checked when it is built, before anything is played.

    Attributes
    ----------
    name : str
        The run's name.
    rules : list of RuleSet
        Each is played by itself, on the same deals.
    policies : list of Policy
        The field.
    deals : int
        How many deals, whole cycles of the seatings.
    seed : int
        Fixes all luck.
    design : str
        One of ``kozel_sim.schedule.DESIGNS``, or "seating 0" and so on: policies as they sit.
    pairs : tuple of (int, int)
        For duels: who meets whom, by number; by default all.
    aggregate : bool
        Whether sums are kept instead of a frame.
    rounds : bool
        Whether a frame of rounds is kept, too.
    stop : WidthStop or SprtStop, optional
        When a block is sure enough; `deals` is then the most there are.
    shard : (int, int), optional
        ``(i, n)``: every n-th part alone, from the i-th on, counted from 1.
    """

    name: str
    rules: list[RuleSet]
    policies: list[Policy]
    deals: int
    seed: int
    design: str = ROTATIONS
    pairs: tuple[tuple[int, int], ...] = ()
    aggregate: bool = False
    rounds: bool = False
    stop: Stop | None = None
    shard: tuple[int, int] | None = None
    blocks: list[Block] = field(default_factory=list, compare=False, repr=False)
    asked: int = field(default=0, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        names = [policy.name for policy in self.policies]
        for name in names:
            if names.count(name) > 1 and not self.seated:
                raise ValueError(f"policy {name} is listed twice; a table seats distinct policies")
        need_distinct(self.rules)
        deals = need_positive("deals", self.deals)
        if self.shard is not None:
            i, n = self.shard
            if not 1 <= i <= n:
                raise ValueError(f"shard {i}/{n} is none: it must be from 1/{n} to {n}/{n}")
        if self.aggregate and not self.seated and self.design not in (ROTATIONS, PERMUTATIONS):
            raise ValueError(f"the design {self.design} compares by deal; it is not aggregated")
        if self.aggregate and self.rounds:
            raise ValueError("an aggregate keeps sums alone; it has no rounds")
        if self.stop is not None and (self.aggregate or self.shard):
            other = "shard" if self.shard else "aggregate"
            raise ValueError(
                f"--stop looks at all deals' results while they are played; it does not go with "
                f"--{other}"
            )
        if self.stop is not None and self.stop.metric == "rating":
            for rules in self.rules:
                if "rating100" not in rules.settlement:
                    raise ValueError(f"--stop {self.stop}: {rules.name} has no rating")
        if self.design == ROTATIONS:
            deals = whole_cycles(deals, max(rules.players for rules in self.rules))
        object.__setattr__(self, "asked", int(self.deals))
        object.__setattr__(self, "deals", deals)
        self._need_memory()
        met = [(rules, *meeting) for rules in self.rules for meeting in self._meetings(rules)]
        if self.aggregate:
            # Differences between rule sets need the same deals at hand.
            by_players: dict[int, list[RuleSet]] = {}
            lineups: dict[int, Lineups] = {}
            for rules, _, these in met:
                by_players.setdefault(rules.players, []).append(rules)
                lineups[rules.players] = these
            for n, together in by_players.items():
                self.blocks.append(Block(len(self.blocks), tuple(together), "", lineups[n]))
        else:
            for rules, title, these in met:
                self.blocks.append(Block(len(self.blocks), (rules,), title, these))

    @classmethod
    def of(cls, experiment: Experiment, **more: Any) -> Tournament:
        """Return the tournament that an experiment's file describes."""
        specs = experiment.policies or [spec for pair in experiment.duels for spec in pair]
        policies = list({policy.name: policy for policy in read_policies(specs)}.values())
        if experiment.policies:
            policies = read_policies(specs)
        names = [policy.name for policy in policies]
        pairs = [[names.index(p.name) for p in read_policies(pair)] for pair in experiment.duels]
        return cls(
            experiment.name,
            experiment.rule_sets(),
            policies,
            experiment.deals,
            experiment.seed,
            DUELS if experiment.duels else experiment.design,
            read_pairs(pairs, names),
            **more,
        )

    @classmethod
    def of_manifest(cls, manifest: dict[str, Any], trusted: bool = False) -> Tournament:
        """Return the tournament whose manifest this is.

        A user's function must be registered here and be the same, or it is `trusted` and built from
        the source that the manifest has.

        Raises
        ------
        ValueError
            If it cannot be built again.
        """
        shard = manifest.get("shard")
        policies = [
            rebuild_policy(each) if trusted else find_policy(each) for each in manifest["policies"]
        ]
        return cls(
            manifest["name"],
            [RuleSet.from_knobs(r["knobs"], base=r["base"]) for r in manifest["rules"]],
            policies,
            manifest["deals"],
            manifest["seed"],
            manifest["design"],
            tuple((a, b) for a, b in manifest.get("pairs", [])),
            bool(manifest.get("aggregate")),
            bool(manifest.get("rounds")),
            None if manifest.get("stop") is None else read_stop(manifest["stop"]),
            None if shard is None else read_shard(shard),
        )

    @property
    def seated(self) -> bool:
        """Whether policies are played as they are seated."""
        return self.design.startswith(SEATED)

    @property
    def has_duels(self) -> bool:
        """Whether it compares two sides in every match."""
        return any(block.duel for block in self.blocks)

    @property
    def matches(self) -> int:
        """How many matches will be played, in all shards."""
        return sum(block.matches_per_deal for block in self.blocks) * self.deals

    def manifest(self, engine: Engine = "auto") -> dict[str, Any]:
        """Return what is known of the run before it is played."""
        schedule = hashlib.sha256("".join(b.lineups.digest for b in self.blocks).encode())
        found: dict[str, Any] = {
            "format": FORMAT,
            "name": self.name,
            "version": versions()["kozel_sim"],
            "stream": STREAM_VERSION,
            "sources": source_hash(),
            "seed": self.seed,
            "deals": self.deals,
            "design": self.design,
            "engine": engine,
            "rules": [
                {"preset": r.name, "base": r.base, "digest": r.digest, "knobs": r.knobs()}
                for r in self.rules
            ],
            "policies": [describe_policy(policy) for policy in self.policies],
            "schedule": schedule.hexdigest()[:16],
            "blocks": len(self.blocks),
        }
        if self.asked != self.deals:
            found["deals_asked"] = self.asked
        if self.pairs:
            found["pairs"] = [list(pair) for pair in self.pairs]
        if self.aggregate:
            found["aggregate"] = True
        if self.rounds:
            found["rounds"] = True
        if self.stop is not None:
            found["stop"] = str(self.stop)
        if self.shard is not None:
            found["shard"] = "{}/{}".format(*self.shard)
        return found

    def parts(self, desk: Desk) -> list[Part]:
        """Return the parts of this run (or shard), as a desk has them or would have them."""
        if self.shard is None:
            return [part for each in self.blocks for part in desk.parts_of(each, 0, self.deals)]
        i, n = self.shard
        cuts = (cut(b, 0, self.deals, desk.sizes[b.number]) for b in self.blocks)
        return [part for parts in cuts for part in parts][i - 1 :: n]

    def part_sizes(self, chunk: int | None = None) -> list[int]:
        """Return how many deals a part of each block has; small enough for the shards."""
        sizes = [
            part_size(block, self.deals, self.aggregate, self.rounds, chunk)
            for block in self.blocks
        ]
        if self.shard is None:
            return sizes
        cycles = [block.lineups.cycle for block in self.blocks]
        share = self.deals // (4 * self.shard[1])
        return [
            max(cycle, min(size, share) // cycle * cycle)
            for cycle, size in zip(cycles, sizes, strict=True)
        ]

    def player(self, engine: Engine = "auto") -> PartPlayer:
        """Return what plays this tournament's parts."""
        return PartPlayer(
            self.blocks, self.policies, self.seed, self.aggregate, self.rounds, engine
        )

    def play(
        self,
        engine: Engine = "auto",
        workers: int = 1,
        chunk: int | None = None,
        progress: ShowProgress = None,
        folder: str | Path | None = None,
        mapper: Mapper | None = None,
        extra: Callable[[Run | Totals, Path], None] | None = None,
    ) -> Run | Totals:
        """Play it all; engine, workers, chunk and mapper do not change a bit of the result.

        Parameters
        ----------
        engine, workers, progress
            As for ``simulate``.
        chunk : int, optional
            Matches of a part; by default it grows with the run.
        folder : str or Path, optional
            Where it is written while it is played. If it holds this very run, that is continued, or
            read where it is finished; if it holds the run with fewer deals, that is extended.
        mapper : callable, optional
            Who plays the parts; by default threads of this process.
        extra : callable, optional
            Called with the results and a folder, to add files such as tables.

        Raises
        ------
        OSError
            If the folder cannot be written to, holds something else, or is being written to.
        ValueError
            If a policy makes an illegal move.
        """
        need_engine(engine, workers, 1 if chunk is None else chunk)
        if folder is not None or mapper is not None:
            self._need_known_policies()
        mapper = mapper or play_here(workers)
        if folder is None:
            memory = Memory(self.manifest(engine), self.part_sizes(chunk))
            with shown(progress, self.matches) as step:
                self._play_on(memory, engine, mapper, step)
            return memory.results()
        folder = Path(folder)
        manifest = self.manifest(engine)
        if look_up(folder, manifest).whole:
            return load(folder)
        with open_run(folder, manifest) as kept:
            place = Kept(self.blocks, kept, self.part_sizes(chunk))
            with shown(progress, self.matches) as step:
                self._play_on(place, engine, mapper, step)
            done = place.results()
            more = closing(done.manifest)
            kept.finish(more, None if extra is None else lambda scratch: extra(done, scratch))
            done.manifest.update(kept.manifest)
        return done

    def _play_on(
        self, desk: Desk, engine: Engine, mapper: Mapper, progress: Progress | None
    ) -> None:
        """Play what is not there yet, of a run that may stop look by look."""
        if self.stop is None:
            parts = self.parts(desk)
            if not parts:
                i, n = self.shard or (1, 1)
                raise ValueError(
                    f"shard {i}/{n} has nothing to play: the run is too small for so many shards"
                )
            self._play_parts(parts, desk, engine, mapper, progress)
            return
        cycle = max(block.lineups.cycle for block in self.blocks)
        schedule = looks(FIRST_LOOK, LOOK_GROWTH, cycle, self.deals)
        watch = Watch(self.stop, schedule)
        left = [block.number for block in self.blocks]
        for first, end in pairwise([0, *schedule]):
            parts = [
                part for number in left for part in desk.parts_of(self.blocks[number], first, end)
            ]
            self._play_parts(parts, desk, engine, mapper, progress)
            for part in parts:
                watch.add(part.block, desk.matches(part))
            left = watch.look(left)
            if not left:
                break
        desk.note(stopping=records(watch.table()))

    def _play_parts(
        self,
        parts: Sequence[Part],
        desk: Desk,
        engine: Engine,
        mapper: Mapper,
        progress: Progress | None,
    ) -> None:
        there = {part for part in parts if desk.has(part)}
        if progress and there:
            progress(sum(self.matches_of(part) for part in there))
        if left := [part for part in parts if part not in there]:
            mapper(self, engine, left, desk.keep, progress)

    def matches_of(self, part: Part) -> int:
        """Return how many matches a part has."""
        return self.blocks[part.block].matches_per_deal * (part.end - part.first)

    def _meetings(self, rules: RuleSet) -> list[tuple[str, Lineups]]:
        if self.seated:
            return [("", as_seated(rules.players, int(self.design.removeprefix(SEATED))))]
        names = [policy.name for policy in self.policies]
        return meetings(self.design, rules, names, self.pairs)

    def _need_known_policies(self) -> None:
        """Raise ValueError if it cannot be told whether a policy is the same another time."""
        for policy in self.policies:
            for part in describe_policy(policy)["parts"]:
                if "function" in part and part["fingerprint"] is None:
                    raise ValueError(
                        f"policy {policy.name} reads something whose value cannot be noted, like "
                        "an attribute of another module; a policy that is played into a folder or "
                        "on a cluster may read what its own file sets"
                    )

    def _need_memory(self) -> None:
        """Raise ValueError if the frame, or the chunks that are added up, do not fit."""
        if self.stop is not None:
            return
        matches = [self._matches_of_a_deal(rules) for rules in self.rules]
        players = [rules.players for rules in self.rules]
        shards = 1 if self.shard is None else self.shard[1]
        rows = sum(n * m for n, m in zip(players, matches, strict=True)) * self.deals // shards
        chunk = max(CHUNK, *matches) * factorial(max(players) - 1)
        row = ROW_BYTES + (ROUND_BYTES * FEW_ROUNDS if self.rounds else 0)
        kept = CHUNK_BYTES * chunk if self.aggregate else row * rows
        need_memory(f"{counted(sum(matches) * self.deals, 'match')}", kept)

    def _matches_of_a_deal(self, rules: RuleSet) -> int:
        """Count without listing: the tables of a large field may not fit."""
        n = rules.players
        if self.design in (ROTATIONS, PERMUTATIONS):
            return comb(len(self.policies), n) * (n if self.design == ROTATIONS else factorial(n))
        return sum(lineups.matches for _, lineups in self._meetings(rules))


@overload
def tournament(
    rules: RuleSet | str | Sequence[RuleSet | str],
    policies: Sequence[str | Policy] | str,
    deals: int,
    seed: int | None = None,
    *,
    players: int | None = None,
    design: str = ROTATIONS,
    name: str = "tournament",
    engine: Engine = "auto",
    workers: int = 1,
    chunk: int | None = None,
    progress: ShowProgress = None,
    folder: str | Path | None = None,
    aggregate: Literal[False] = False,
    rounds: bool = False,
) -> Run: ...


@overload
def tournament(
    rules: RuleSet | str | Sequence[RuleSet | str],
    policies: Sequence[str | Policy] | str,
    deals: int,
    seed: int | None = None,
    *,
    players: int | None = None,
    design: str = ROTATIONS,
    name: str = "tournament",
    engine: Engine = "auto",
    workers: int = 1,
    chunk: int | None = None,
    progress: ShowProgress = None,
    folder: str | Path | None = None,
    aggregate: Literal[True],
) -> Totals: ...


def tournament(
    rules: RuleSet | str | Sequence[RuleSet | str],
    policies: Sequence[str | Policy] | str,
    deals: int,
    seed: int | None = None,
    *,
    players: int | None = None,
    design: str = ROTATIONS,
    name: str = "tournament",
    engine: Engine = "auto",
    workers: int = 1,
    chunk: int | None = None,
    progress: ShowProgress = None,
    folder: str | Path | None = None,
    aggregate: bool = False,
    rounds: bool = False,
) -> Run | Totals:
    """Let policies play each other on the same deals, each deal from every seat.

    By default at tables of distinct policies: every set of them that fills one.

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
    design : {"rotations", "permutations", "duels", "gauntlet", "teams"}
        Who meets whom from which seats, see ``kozel_sim.schedule.DESIGNS``.
    name : str
        The run's name.
    engine, workers, chunk, progress
        As for ``simulate``.
    folder : str or Path, optional
        Where the run is written while it is played. The same call continues a run that was cut off
        there, and reads one that is finished; with more deals it plays those that are missing.
    aggregate : bool, default False
        Keep sums instead of a frame: memory does not grow with the matches.
    rounds : bool, default False
        Keep a frame of rounds, too: ``run.rounds_frame``.

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
    OSError
        If the folder cannot be written to, or holds something else.

    Examples
    --------
    >>> run = tournament("room-fish-all", ["random", "dump_heavy"], 50, seed=1, players=2)
    >>> run.matches
    100
    """
    rule_sets = read_rule_sets(rules, players)
    field = read_policies(policies)
    planned = Tournament(
        name, rule_sets, field, deals, read_seed_of(folder, seed), design, (), aggregate, rounds
    )
    return planned.play(engine, workers, chunk, progress, folder)
