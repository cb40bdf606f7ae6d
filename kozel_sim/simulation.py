"""The one door to the engines: matches in, a tidy frame out."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar, overload

import numpy as np
import numpy.typing as npt
import pandas as pd

from kozel_sim import reference
from kozel_sim.checks import (
    Engine,
    need_engine,
    need_memory,
    need_positive,
    read_seed,
    read_table,
)
from kozel_sim.decision import Function, Policy
from kozel_sim.engine.play import Table, new_matches
from kozel_sim.fingerprint import fingerprint
from kozel_sim.policies import write_ladder
from kozel_sim.provenance import machine, source_hash, versions
from kozel_sim.record import Record
from kozel_sim.rng import STREAM_VERSION
from kozel_sim.rules import RuleSet
from kozel_sim.schedule import seat_policies, seatings
from kozel_sim.scoring import rating100
from kozel_sim.store import FORMAT, Run
from kozel_sim.totals import Tally, Totals

Progress = Callable[[int], None]
"""Called with the number of matches just played, from the calling thread's workers."""
Matches = npt.NDArray[Any]
"""MATCH records, ``[match]``."""
T = TypeVar("T")

CHUNK = 16_384
"""Matches that a worker plays before it reports."""
ROW_BYTES = 160
"""Memory that a row of the frame takes at its peak, from playing to the summary (120 to 200)."""
CHUNK_BYTES = 400
"""Memory that a match of a chunk takes where no frame is made."""


@overload
def simulate(
    rules: RuleSet | str,
    policies: Sequence[str | Policy] | str,
    matches: int,
    seed: int | None = None,
    *,
    engine: Engine = "auto",
    workers: int = 1,
    seating: int = 0,
    chunk: int = CHUNK,
    progress: Progress | None = None,
    aggregate: Literal[False] = False,
) -> Run: ...


@overload
def simulate(
    rules: RuleSet | str,
    policies: Sequence[str | Policy] | str,
    matches: int,
    seed: int | None = None,
    *,
    engine: Engine = "auto",
    workers: int = 1,
    seating: int = 0,
    chunk: int = CHUNK,
    progress: Progress | None = None,
    aggregate: Literal[True],
) -> Totals: ...


def simulate(
    rules: RuleSet | str,
    policies: Sequence[str | Policy] | str,
    matches: int,
    seed: int | None = None,
    *,
    engine: Engine = "auto",
    workers: int = 1,
    seating: int = 0,
    chunk: int = CHUNK,
    progress: Progress | None = None,
    aggregate: bool = False,
) -> Run | Totals:
    """Play deals 0, 1, ... with the same policies at the same seats.

    To compare policies use ``tournament``, which plays every deal from every seat.

    Parameters
    ----------
    rules : RuleSet or str
        A rule set, or a preset's name (played by as many as there are policies).
    policies : sequence of (str or Policy)
        One per seat, the same one more than once if wanted.
    matches : int
        How many deals are played.
    seed : int, optional
        Unsigned 64-bit; without one it is drawn, and noted in the manifest.
    engine : {"auto", "vector", "scalar", "reference"}
        A compiled engine, or the readable one (slow, one thread); results are equal. The vector
        engine plays ladders on a chain of two ends, many matches at a time; by default it does
        where it can, and the scalar engine plays the rest.
    workers : int, default 1
        Threads; they do not change a bit of the result.
    seating : int, default 0
        Who sits where: 0 as listed, see ``kozel_sim.schedule``.
    chunk : int
        Matches a worker plays at a time.
    progress : callable, optional
        Called with the number of matches just played.
    aggregate : bool, default False
        Keep sums instead of a frame: memory does not grow with the matches.

    Returns
    -------
    Run or Totals
        A run with a frame of ``matches * players`` rows, or what these add up to.

    Raises
    ------
    ValueError
        If a value is out of range or unknown, or a policy makes an illegal move.
    NotImplementedError
        If no engine plays a knob of the rules.

    Examples
    --------
    >>> run = simulate("room-fish-all", ["random", "dump_heavy"], 100, seed=1)
    >>> run.matches, len(run.frame)
    (100, 200)
    """
    rules, entrants = read_table(rules, policies)
    matches = need_positive("matches", matches)
    seed = read_seed(seed)
    seat_policies(entrants, seating)
    need_engine(engine, workers, chunk)
    kept = CHUNK_BYTES * min(chunk, matches) if aggregate else ROW_BYTES * matches * rules.players
    need_memory(f"{matches:,} matches", kept)
    start = time.perf_counter()
    pattern = min(chunk, matches) if aggregate else matches
    seats = np.broadcast_to(seatings(rules.players)[seating], (pattern, rules.players))
    played = new_matches(np.arange(pattern, dtype=np.uint64), seats)
    manifest = describe_run(
        "simulate", f"seating {seating}", [rules], entrants, seed, matches, engine, aggregate
    )
    if aggregate:
        tally = Tally(rules, [policy.name for policy in entrants], played, pattern)
        add_up([tally], entrants, matches, seed, engine, workers, progress)
        return finish_totals([tally], manifest, start)
    play_all(rules, entrants, played, seed, engine, workers, chunk, progress)
    return finish_run(frame_of(rules, entrants, played, np.full(matches, seating)), manifest, start)


def play_all(
    rules: RuleSet,
    policies: Sequence[Policy],
    matches: Matches,
    seed: int,
    engine: Engine = "auto",
    workers: int = 1,
    chunk: int = CHUNK,
    progress: Progress | None = None,
) -> None:
    """Play MATCH records where they stand, in chunks on worker threads."""
    need_engine(engine, workers, chunk)
    play = player_of(rules, policies, engine)

    def play_chunk(first: int) -> None:
        part = matches[first : first + chunk]
        play(part, seed)
        if progress:
            progress(len(part))

    firsts = range(0, len(matches), chunk)
    work_through(firsts, play_chunk, 1 if engine == "reference" else workers)


def add_up(
    tallies: Sequence[Tally],
    policies: Sequence[Policy],
    deals: int,
    seed: int,
    engine: Engine = "auto",
    workers: int = 1,
    progress: Progress | None = None,
) -> None:
    """Play deals 0, 1, ... in chunks on worker threads; add up what comes of them in the tallies.

    Parameters
    ----------
    tallies : sequence of Tally
        One for each rule set, all with as many players and deals of a chunk.
    policies : sequence of Policy
        What the tallies' patterns count into.
    deals : int
        How many deals are played.
    seed, engine, workers, progress
        As for ``simulate``.
    """
    players = [player_of(tally.rules, policies, engine) for tally in tallies]
    step = tallies[0].deals
    turn = threading.Lock()

    def play_chunk(first: int) -> None:
        desks = [tally.desk_of(first, min(first + step, deals)) for tally in tallies]
        for tally, play, desk in zip(tallies, players, desks, strict=True):
            matches, _ = desk
            play(matches, seed)
            sums = tally.count(desk, None if desk is desks[0] else desks[0][1])
            with turn:
                tally.sums.add(sums)
            if progress:
                progress(len(matches))
        for tally, desk in zip(tallies, desks, strict=True):
            tally.free(desk)

    work_through(range(0, deals, step), play_chunk, 1 if engine == "reference" else workers)


def player_of(
    rules: RuleSet, policies: Sequence[Policy], engine: Engine
) -> Callable[[Matches, int], object]:
    """Return what plays MATCH records where they stand, with a seed; threads may share it."""
    if engine == "reference":
        return lambda matches, seed: _play_reference(rules, policies, matches, seed)
    return Table(rules, policies, engine).play


def work_through(jobs: Iterable[T], work: Callable[[T], object], workers: int) -> None:
    """Do jobs on worker threads; after a fault or an interrupt only those begun are finished."""
    if workers == 1:
        for job in jobs:
            work(job)
        return
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


def _play_reference(
    rules: RuleSet, policies: Sequence[Policy], matches: Matches, seed: int
) -> None:
    """Fill MATCH records from the reference engine's records."""
    for match in matches:
        at_seats = [policies[i] for i in match["players"][: rules.players]]
        record = reference.play_match(rules, at_seats, seed, int(match["deal"]))
        fill_match(match, record)


def fill_match(match: Any, record: Record) -> None:
    """Write what a MATCH record keeps of a match."""
    last = record.rounds[-1]
    match["points"][: len(last.accounts)] = last.accounts
    match["draws"] = match["passes"] = 0
    events = [event for r in record.rounds for event in r.events]
    for event in events:
        match["draws"][event.seat] += event.draw is not None
        match["passes"][event.seat] += event.draw is None and not event.play
    match["rounds"] = len(record.rounds)
    match["fish_rounds"] = sum(r.end == "fish" for r in record.rounds)
    match["goats"] = sum(1 << side for side in record.result.goats)
    match["winners"] = sum(1 << side for side in record.result.winners)
    match["capped"] = record.result.capped
    match["first_leader"] = record.rounds[0].leader


def frame_of(
    rules: RuleSet,
    policies: Sequence[Policy],
    matches: Matches,
    seating: npt.NDArray[np.int64],
) -> pd.DataFrame:
    """Return the tidy frame of played matches: one row per match and seat."""
    n = rules.players
    rows = len(matches) * n
    seats = np.tile(np.arange(n, dtype=np.int8), len(matches))
    sides = np.array([rules.side_of(seat) for seat in range(n)], dtype=np.int8)

    def each(values: npt.NDArray[Any], dtype: str) -> npt.NDArray[Any]:
        """Repeat a match's value for each seat."""
        return np.repeat(values.astype(dtype), n)

    points = matches["points"][:, sides].ravel()
    goat = (matches["goats"][:, None] >> sides & 1).astype(bool).ravel()
    capped = each(matches["capped"], "bool")
    rating = np.full(rows, np.nan, np.float32)
    if "rating100" in rules.settlement:
        table = np.array([rating100(p) for p in range(rules.target)], np.float32)
        over = ~capped
        rating[over] = np.where(goat[over], 0, table[np.minimum(points[over], len(table) - 1)])
    bank = np.full(rows, np.nan, np.float32)
    if "bank" in rules.settlement:
        shares = bank_table(points.reshape(-1, n), goat.reshape(-1, n)).ravel()
        bank[~capped] = shares[~capped]
    names = [policy.name for policy in policies]
    kinds = list(dict.fromkeys(names))
    codes = np.array([kinds.index(name) for name in names])[matches["players"][:, :n]].ravel()
    return pd.DataFrame(
        {
            "preset": _categories(np.zeros(rows, np.int64), [rules.name]),
            "players": np.full(rows, n, np.int8),
            "deal": each(matches["deal"], "int64"),
            "seating": each(seating, "int8"),
            "seat": seats,
            "side": np.tile(sides, len(matches)),
            "policy": _categories(codes, kinds),
            "points": points,
            "goat": goat,
            "winner": (matches["winners"][:, None] >> sides & 1).astype(bool).ravel(),
            "rounds": each(matches["rounds"], "int32"),
            "fish_rounds": each(matches["fish_rounds"], "int32"),
            "passes": matches["passes"][:, :n].ravel(),
            "draws": matches["draws"][:, :n].ravel(),
            "rating": rating,
            "bank": bank,
            "led": seats == each(matches["first_leader"], "int8"),
            "capped": capped,
        }
    )


def bank_table(points: npt.NDArray[Any], goat: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Return the shares of the bank of many matches, ``[match, seat]``; as ``bank_shares``."""
    paid = ~goat | goat.all(axis=1, keepdims=True)
    free = paid & (points <= 0)
    weights = np.where(paid, 1 / np.maximum(points, 1), 0.0)
    weights = np.where(free.any(axis=1, keepdims=True), free, weights)
    weights = np.where(goat.all(axis=1, keepdims=True), 1.0, weights)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _categories(codes: npt.NDArray[np.int64], names: list[str]) -> pd.Categorical[Any]:
    return pd.Categorical.from_codes(codes, pd.Index(names))


def finish_run(frame: pd.DataFrame, manifest: dict[str, Any], start: float) -> Run:
    """Return a run that was begun at a reading of ``time.perf_counter``."""
    first_seats = frame["seat"] == 0
    counts = {
        "matches": int(first_seats.sum()),
        "rounds": int(frame.loc[first_seats, "rounds"].sum()),
        "rows": len(frame),
    }
    return Run(frame, manifest | {"counts": counts} | _made(start))


def finish_totals(tallies: Sequence[Tally], manifest: dict[str, Any], start: float) -> Totals:
    """Return totals of a run that was begun at a reading of ``time.perf_counter``."""
    found = Totals([tally.sums for tally in tallies], manifest)
    counts = {"matches": found.matches, "rounds": found.rounds}
    return Totals(found.sums, manifest | {"counts": counts} | _made(start))


def _made(start: float) -> dict[str, Any]:
    return {
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(time.perf_counter() - start, 3),
        "versions": versions(),
        "machine": machine(),
    }


def describe_run(
    name: str,
    design: str,
    rules: Sequence[RuleSet],
    policies: Sequence[Policy],
    seed: int,
    deals: int,
    engine: Engine,
    aggregate: bool = False,
) -> dict[str, Any]:
    """Return the part of a manifest that is known before anything is played."""
    found = {
        "format": FORMAT,
        "stream": STREAM_VERSION,
        "sources": source_hash(),
        "name": name,
        "seed": seed,
        "deals": deals,
        "engine": engine,
        "design": design,
        "rules": [{"preset": r.name, "digest": r.digest, "knobs": r.knobs()} for r in rules],
        "policies": [_describe_policy(policy) for policy in policies],
    }
    return found | {"aggregate": True} if aggregate else found


def _describe_policy(policy: Policy) -> dict[str, Any]:
    parts = [part for _, part in policy.parts]
    functions = [part for part in parts if isinstance(part, Function)]
    ladders = [write_ladder(part) for part in parts if not isinstance(part, Function)]
    found: dict[str, Any] = {"name": policy.name}
    if ladders:
        found["ladders"] = ladders
    if functions:
        found["source"] = [f.source for f in functions]
        found["fingerprint"] = [fingerprint(f.choose_code) for f in functions]
    return found
