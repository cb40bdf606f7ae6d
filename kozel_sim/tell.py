"""The tell, measured: how often a player who switches ends lacks the value that he left.

A tell is a seat's play that goes to another end than its play before (no pass or draw lies
between), while the end of that play still shows the value that it left there, and the tile now laid
does not carry that value, so that it did not fit both ends; and the round goes on behind it.

It is worth what it says beyond the chance that the seat lacks the value anyway. That chance is
taken over all worlds that agree with what an observer knows after the play; see ``docs/tell.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kozel_sim import reference
from kozel_sim.checks import (
    Engine,
    need_memory,
    need_positive,
    need_recording_engine,
    read_rule_sets,
    read_seed,
)
from kozel_sim.decision import Policy
from kozel_sim.engine.entries import watch_matches
from kozel_sim.engine.play import Table, new_matches
from kozel_sim.engine.tells import CELL, MOST_LEFT, NEXT, TABLE, WATCH
from kozel_sim.engine.worlds import WORLDS
from kozel_sim.intervals import LEVEL, need_level
from kozel_sim.moves import encode_move
from kozel_sim.parts import Progress
from kozel_sim.policies import read_policies
from kozel_sim.progress import ShowProgress, shown
from kozel_sim.record import Event, Record, RoundRecord
from kozel_sim.rules import RuleSet
from kozel_sim.schedule import Lineups
from kozel_sim.stats import clustered_difference, clustered_mean
from kozel_sim.tiles import ALL, HAS, Hand, tile_id
from kozel_sim.tournaments import Tournament
from kozel_sim.view import VIEW
from kozel_sim.words import counted
from kozel_sim.worlds import Worlds

OBSERVERS = {"table": TABLE, "next": NEXT}
"""Who judges: somebody who sees no hand, or the next seat, which sees its own too."""
CLAIM = (0.6, 0.7)
"""What tip T5 claims of the frequency."""
POLICIES = (
    "random",
    "dump_heavy",
    "dump_doubles",
    "keep_range",
    "block_ends",
    "seven_tips",
    "allround",
)
"""Whose tells are measured unless the caller names policies."""
ALL_OF = "all"
"""Stands for all policies, or for ends touched or not, in the frame."""
TOUCHED = ("no", "yes")
WORDS_PER_MATCH = 2048
"""The log's first size; it grows where matches are longer."""
CHUNK = 1024
"""Matches that a worker plays and watches at a time, in whole deals."""

Floats = npt.NDArray[np.float64]
Cells = npt.NDArray[Any]
"""CELL records, ``[deal, policy, touched, tiles left - 1]``."""


# ---------------------------------------------------------------------- one record, readably


@dataclass(frozen=True)
class Tell:
    """One tell in a record.

    Attributes
    ----------
    round, event, seat : int
        Where it stands, and who switched ends.
    value : int
        The value that the seat left.
    touched : bool
        Whether the end that it left was played on since, and shows the value again.
    left : int
        Tiles in the seat's hand after the play.
    lacked : bool
        Whether the hand then held no tile of the value.
    chance : dict of str to float
        By observer: the chance of that, given what the observer knows.
    """

    round: int
    event: int
    seat: int
    value: int
    touched: bool
    left: int
    lacked: bool
    chance: dict[str, float]


@dataclass
class _Left:
    """The end on which a seat played last."""

    arm: int
    value: int | None
    touched: bool = False


def tells(record: Record) -> Iterator[Tell]:
    """Yield the tells of a match; the readable twin of the compiled count.

    Parameters
    ----------
    record : Record
        Any match.

    Yields
    ------
    Tell
        In the order of play.

    Examples
    --------
    >>> from kozel_sim import play
    >>> record = play("room-fish-all", ["random"] * 4, seed=1, deal=0)
    >>> tell = next(tells(record))
    >>> tell.left, tell.lacked, 0 < tell.chance["table"] < 1
    (5, False, True)
    """
    for round_ in record.rounds:
        yield from _tells_of_round(record.rules, round_)


def _tells_of_round(rules: RuleSet, played: RoundRecord) -> Iterator[Tell]:
    bazaar = [tile_id(name) for name in played.bazaar]
    table = reference.Round(rules, [Hand.of(*h) for h in played.hands], bazaar, played.leader)
    ends: list[_Left | None] = [None] * rules.players
    lacks = [0] * rules.players
    drew = False
    for number, event in enumerate(played.events):
        seat = event.seat
        if not event.play:
            # A first drawn tile that fits is laid at once, and hides nothing; any other may
            # carry what was lacked before.
            shown = sum(1 << value for value in {v for v in table.arms if v is not None})
            lacks[seat] = shown if drew else shown | lacks[seat]
            ends[seat] = None
        _make(table, event)
        drew = event.draw is not None
        if not event.play:
            continue
        arms = [laid.arm for laid in event.play]
        for other, theirs in enumerate(ends):
            if theirs is not None and other != seat and theirs.arm in arms:
                theirs.touched = True
        left = ends[seat]
        ends[seat] = _Left(min(arms), table.arms[min(arms)])
        if left is None or left.value is None or table.end is not None:
            continue
        laid = Hand.of(*(laid.tile for laid in event.play))
        other_end = min(arms) != left.arm and table.arms[left.arm] == left.value
        if other_end and not laid & HAS[left.value]:
            hand = table.hands[seat]
            yield Tell(
                played.round,
                number,
                seat,
                left.value,
                left.touched,
                hand.bit_count(),
                not hand & HAS[left.value],
                _chances(table, lacks, seat, left.value),
            )


def _make(table: reference.Round, event: Event) -> None:
    """Make an event of a record on the table."""
    if event.play:
        table.play(encode_move([(tile_id(p.tile), p.arm, p.closed) for p in event.play]))
    elif event.draw is not None:
        table.draw()
    else:
        table.pass_turn()


def _chances(
    table: reference.Round, lacks: Sequence[int], seat: int, value: int
) -> dict[str, float]:
    """Return the chance that a seat lacks a value, by observer."""
    chances = {}
    for observer, knower in (("table", None), ("next", (seat + 1) % table.rules.players)):
        hands = [0 if s == knower else hand.bit_count() for s, hand in enumerate(table.hands)]
        seen = table.table | (0 if knower is None else table.hands[knower])
        worlds = Worlds(ALL & ~seen, [*hands, len(table.bazaar)], [*lacks, 0], "reference")
        chances[observer] = worlds.chance_lacks(seat, value)
    return chances


# ---------------------------------------------------------------------- many matches


def measure_tell(
    rules: RuleSet | str | Sequence[RuleSet | str],
    policies: Sequence[str | Policy] | str = POLICIES,
    deals: int = 1000,
    seed: int | None = None,
    *,
    players: int | None = None,
    level: float = LEVEL,
    engine: Engine = "auto",
    workers: int = 1,
    progress: ShowProgress = None,
) -> pd.DataFrame:
    """Measure how often a player who switched ends lacked the value he left.

    The matches are a tournament's: every set of distinct policies that fills a table, each deal
    from every seat.

    Parameters
    ----------
    rules : RuleSet, str, or a sequence of them
        Rule sets or presets' names.
    policies : sequence of (str or Policy)
        The field, at least as many as there are players.
    deals : int, default 1000
        Deals per table; rounded up as in ``tournament``.
    seed : int, optional
        Unsigned 64-bit; drawn if not given.
    players : int, optional
        For presets given by name: 4 by default, or the only number a preset allows.
    level : float, default 0.95
        The intervals' coverage.
    engine : {"auto", "scalar", "reference"}
        The compiled engine and count, or the readable ones (slow); results are equal.
    workers : int, default 1
        Threads; they do not change a bit of the result.
    progress : callable or bool, optional
        As for ``simulate``.

    Returns
    -------
    DataFrame
        A row per preset, players, policy of the player who switched ("all", or one), touched
        ("all"; "no" or "yes": was the end he left played on since), left (tiles left in his hand;
        0 stands for any number, 7 for seven or more) and observer ("table": sees no hand;
        "next": the next seat, sees its own). Then events; estimate, std_error, ci_low, ci_high:
        the frequency with which he lacked the value; baseline, baseline_ci_low,
        baseline_ci_high: the mean chance of that to the observer; difference, diff_std_error,
        diff_ci_low, diff_ci_high: frequency minus chance, paired by deal; claim: where the
        frequency's interval lies, "below", "within" or "above" 60-70%, or "open" where it
        contains a bound; level; n_deals: deals with such an event, the intervals' clusters.

    Raises
    ------
    ValueError
        If a value is out of range or unknown, or a policy makes an illegal move.

    Examples
    --------
    >>> field = ["random", "dump_heavy", "keep_range", "block_ends"]
    >>> frame = measure_tell("room-fish-all", field, 60, seed=1)
    >>> whole = frame[(frame["policy"] == "random") & (frame["left"] == 0)].iloc[0]
    >>> bool(whole["estimate"] > whole["baseline"]), whole["claim"]
    (True, 'below')
    """
    rule_sets = read_rule_sets(rules, players)
    planned = Tournament("tell", rule_sets, read_policies(policies), deals, read_seed(seed))
    return measure_planned(planned, level, engine, workers, progress)


def measure_planned(
    planned: Tournament,
    level: float = LEVEL,
    engine: Engine = "auto",
    workers: int = 1,
    progress: ShowProgress = None,
) -> pd.DataFrame:
    """Measure the tell in the matches of a tournament; see ``measure_tell``."""
    need_recording_engine(engine)
    need_positive("workers", workers)
    need_level(level)
    frames = []
    with shown(progress, planned.matches) as step:
        for rules in planned.rules:
            cells = count_tells(planned, rules, engine, workers, step)
            names = [policy.name for policy in planned.policies]
            orders = np.arange(len(cells)) % _lineups_of(planned, rules).cycle
            rows = _rows(rules, names, cells, orders, level)
            frames.append(pd.DataFrame(rows, columns=list(COLUMNS)))
    return pd.concat(frames, ignore_index=True)


def count_tells(
    planned: Tournament,
    rules: RuleSet,
    engine: Engine = "auto",
    workers: int = 1,
    progress: Progress | None = None,
) -> Cells:
    """Return the tells of a tournament under one of its rule sets.

    Returns
    -------
    array of CELL records, ``[deal, policy, touched, tiles left - 1]``
        Sums over tells; the last column holds all hands of seven or more.
    """
    shape = (planned.deals, len(planned.policies), 2, MOST_LEFT)
    need_memory(f"the tells of {counted(planned.deals, 'deal')}", math.prod(shape) * CELL.itemsize)
    cells = np.zeros(shape, CELL)
    watcher = _ReadableWatcher if engine == "reference" else _Watcher
    watch = watcher(rules, planned.policies, planned.seed, cells).watch
    lineups = _lineups_of(planned, rules)
    step = max(1, CHUNK // lineups.matches)

    def watch_deals(first: int) -> None:
        deals, _, players = lineups.of_deals(first, min(first + step, planned.deals))
        watch(new_matches(deals, players))
        if progress:
            progress(len(deals))

    firsts = range(0, planned.deals, step)
    if workers == 1 or engine == "reference":
        for first in firsts:
            watch_deals(first)
        return cells
    # A deal's matches are one worker's, so that its sums are added up in one order.
    pool = ThreadPoolExecutor(workers)
    try:
        for future in [pool.submit(watch_deals, first) for first in firsts]:
            future.result()
    finally:
        pool.shutdown(cancel_futures=True)
    return cells


def _lineups_of(planned: Tournament, rules: RuleSet) -> Lineups:
    return next(block.lineups for block in planned.blocks if rules in block.rules)


class _Watcher:
    """Plays matches by the compiled engine and adds their tells to cells."""

    def __init__(self, rules: RuleSet, policies: Sequence[Policy], seed: int, cells: Cells) -> None:
        self.table = Table(rules, policies)
        self.rules = rules.encode()
        self.seed = seed
        self.cells = cells

    def watch(self, matches: npt.NDArray[Any]) -> None:
        size = len(matches) * WORDS_PER_MATCH
        while True:
            log = np.empty(size, np.int64)
            used = self.table.play(matches, self.seed, log)
            if used <= size:
                break
            size = used
        scratch = [np.zeros(1, dtype) for dtype in (VIEW, WATCH, WORLDS)]
        n_policies = self.cells.shape[1]
        flat = self.cells.reshape(-1)
        watch_matches(self.rules, matches, log, 0, n_policies, *scratch, flat)


class _ReadableWatcher:
    """Plays matches by the reference engine and adds their tells to cells."""

    def __init__(self, rules: RuleSet, policies: Sequence[Policy], seed: int, cells: Cells) -> None:
        self.rules = rules
        self.policies = policies
        self.seed = seed
        self.cells = cells

    def watch(self, matches: npt.NDArray[Any]) -> None:
        for match in matches:
            players = match["players"][: self.rules.players]
            deal = int(match["deal"])
            at_seats = [self.policies[i] for i in players]
            for tell in tells(reference.play_match(self.rules, at_seats, self.seed, deal)):
                left = min(tell.left, MOST_LEFT)
                cell = self.cells[deal, players[tell.seat], int(tell.touched), left - 1]
                cell["events"] += 1
                cell["lacked"] += tell.lacked
                for observer, i in OBSERVERS.items():
                    cell["chance"][i] += tell.chance[observer]


# ---------------------------------------------------------------------- the frame

COLUMNS = (
    *("preset", "players", "policy", "touched", "left", "observer", "events"),
    *("estimate", "std_error", "ci_low", "ci_high"),
    *("baseline", "baseline_ci_low", "baseline_ci_high"),
    *("difference", "diff_std_error", "diff_ci_low", "diff_ci_high"),
    *("claim", "level", "n_deals"),
)


def _rows(
    rules: RuleSet, names: list[str], cells: Cells, orders: npt.NDArray[Any], level: float
) -> Iterator[dict[str, Any]]:
    """Yield the frame's rows, wholes before parts; what never happened has none.

    Orders are the deals' cyclic orders, which are set apart: they change by design, not by luck.
    """
    events, lacked = _with_wholes(cells["events"]), _with_wholes(cells["lacked"])
    chances = {name: _with_wholes(cells["chance"][..., i]) for name, i in OBSERVERS.items()}
    for p, policy in enumerate((ALL_OF, *names)):
        for t, touched in enumerate((ALL_OF, *TOUCHED)):
            for left in range(MOST_LEFT + 1):
                n = events[:, p, t, left]
                some = n > 0
                if not some.any():
                    continue
                frequency = (lacked[some, p, t, left], n[some])
                for observer, chance in chances.items():
                    yield {
                        "preset": rules.name,
                        "players": rules.players,
                        "policy": policy,
                        "touched": touched,
                        "left": left,
                        "observer": observer,
                        "events": int(n.sum()),
                    } | _figures(
                        frequency, (chance[some, p, t, left], n[some]), level, orders[some]
                    )


def _with_wholes(values: npt.NDArray[Any]) -> Floats:
    """Put the sum over each axis but the first before its parts."""
    values = values.astype(np.float64)
    for axis in range(1, values.ndim):
        values = np.concatenate([values.sum(axis=axis, keepdims=True), values], axis=axis)
    return values


def _figures(
    frequency: tuple[Floats, Floats],
    chance: tuple[Floats, Floats],
    level: float,
    orders: npt.NDArray[Any],
) -> dict[str, Any]:
    """Return the estimates of one row from totals and counts by deal."""
    found = clustered_mean(*frequency, level, rate=True, strata=orders)
    baseline = clustered_mean(*chance, level, rate=True, strata=orders)
    difference = clustered_difference(frequency, chance, level, rate=True, strata=orders)
    return {
        "estimate": found.estimate,
        "std_error": found.std_error,
        "ci_low": found.ci_low,
        "ci_high": found.ci_high,
        "baseline": baseline.estimate,
        "baseline_ci_low": baseline.ci_low,
        "baseline_ci_high": baseline.ci_high,
        "difference": difference.estimate,
        "diff_std_error": difference.std_error,
        "diff_ci_low": difference.ci_low,
        "diff_ci_high": difference.ci_high,
        "claim": _claim(found.ci_low, found.ci_high),
        "level": level,
        "n_deals": found.n_deals,
    }


def _claim(low: float, high: float) -> str:
    """Say where an interval lies against the claim's."""
    if high < CLAIM[0]:
        return "below"
    if low > CLAIM[1]:
        return "above"
    return "within" if CLAIM[0] <= low and high <= CLAIM[1] else "open"
