"""Play deals 0, 1, ... with the same policies at the same seats."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, overload

from kozel_sim.checks import Engine, need_positive, read_table
from kozel_sim.decision import Policy
from kozel_sim.progress import ShowProgress
from kozel_sim.rules import RuleSet
from kozel_sim.runs import Run, Totals
from kozel_sim.schedule import seat_policies
from kozel_sim.store import read_seed_of
from kozel_sim.tournaments import SEATED, Tournament


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
    chunk: int | None = None,
    progress: ShowProgress = None,
    folder: str | Path | None = None,
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
    chunk: int | None = None,
    progress: ShowProgress = None,
    folder: str | Path | None = None,
    aggregate: Literal[True],
) -> Totals: ...


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
    chunk: int | None = None,
    progress: ShowProgress = None,
    folder: str | Path | None = None,
    aggregate: bool,
) -> Run | Totals: ...


def simulate(
    rules: RuleSet | str,
    policies: Sequence[str | Policy] | str,
    matches: int,
    seed: int | None = None,
    *,
    engine: Engine = "auto",
    workers: int = 1,
    seating: int = 0,
    chunk: int | None = None,
    progress: ShowProgress = None,
    folder: str | Path | None = None,
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
    chunk : int, optional
        Matches a worker plays at a time, by default more in a long run.
    progress : callable or bool, optional
        True shows a bar in a notebook or on a terminal. A function is called with the number of
        matches just played, from the threads that play.
    folder : str or Path, optional
        Where the run is written while it is played, see ``tournament``.
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
    seat_policies(entrants, seating)
    planned = Tournament(
        "simulate",
        [rules],
        entrants,
        matches,
        read_seed_of(folder, seed),
        f"{SEATED} {seating}",
        aggregate=aggregate,
    )
    return planned.play(engine, workers, chunk, progress, folder)
