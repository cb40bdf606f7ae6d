"""The rounds frame: one row per match, round and seat; what was dealt, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    read_seed,
    read_table,
)
from kozel_sim.columns import OF_A_SEAT
from kozel_sim.decision import Policy
from kozel_sim.engine.entries import read_rounds
from kozel_sim.engine.layout import FISH, OUT, ROUND
from kozel_sim.engine.play import Table, new_matches
from kozel_sim.frames import fill_match, frame_of
from kozel_sim.record import Record
from kozel_sim.rules import RuleSet
from kozel_sim.schedule import seat_policies, seatings
from kozel_sim.tiles import DOUBLES, Hand
from kozel_sim.words import counted

ENDS = ("out", "fish")
"""How a round ends, by its code."""
DEALS = 4096
"""Deals that ``rounds_frame`` plays at a time."""
FEW, BATCH = 16, 256
"""Matches whose events are logged at a time: at first, and at most."""
LOG_WORDS = 1 << 21
"""The log's size in words (16 MB); only a longer match makes it grow."""

Matches = npt.NDArray[Any]
"""MATCH records, ``[match]``."""
Rounds = npt.NDArray[Any]
"""ROUND records, ``[match, round, seat]``, flat."""


def rounds_frame(
    rules: RuleSet | str,
    policies: Sequence[str | Policy] | str,
    deals: int,
    seed: int | None = None,
    *,
    seating: int = 0,
    engine: Engine = "auto",
) -> pd.DataFrame:
    """Play deals 0, 1, ... with the same policies at the same seats; return all their rounds.

    Parameters
    ----------
    rules : RuleSet or str
        A rule set, or a preset's name (played by as many as there are policies).
    policies : sequence of (str or Policy)
        One per seat, the same one more than once if wanted.
    deals : int
        How many deals are played.
    seed : int, optional
        Unsigned 64-bit; drawn if not given.
    seating : int, default 0
        Who sits where: 0 as listed, 1 to n-1 turned round the table, see ``kozel_sim.schedule``.
    engine : {"auto", "scalar", "reference"}
        The compiled engine, or the readable one (slow); results are equal.

    Returns
    -------
    DataFrame
        One row per match, round and seat, in this order; the columns are listed in
        ``docs/data.md``.

    Raises
    ------
    ValueError
        If a value is out of range or unknown, or a policy makes an illegal move.

    Examples
    --------
    >>> frame = rounds_frame("room-fish-all", ["random", "dump_heavy"], 100, seed=1)
    >>> Hand(frame["hand"][0])
    Hand('6-6 3-0 4-1 5-1 6-0 6-1 6-4')
    >>> frame.groupby("doubles")["goat"].count().loc[0] > 0
    np.True_
    """
    rules, entrants = read_table(rules, policies)
    deals = need_positive("deals", deals)
    seed = read_seed(seed)
    seat_policies(entrants, seating)
    need_recording_engine(engine)
    seats = seatings(rules.players)[seating]
    frames: list[pd.DataFrame] = []
    for first in range(0, deals, DEALS):
        ids = np.arange(first, min(first + DEALS, deals), dtype=np.uint64)
        matches = new_matches(ids, np.broadcast_to(seats, (len(ids), rules.players)))
        frames.append(rounds_of(rules, entrants, matches, np.full(len(ids), seating), seed, engine))
        if not first:
            # Once in pieces, and once put together.
            size = 2 * int(frames[0].memory_usage(index=False).sum()) * (deals / len(ids))
            need_memory(f"the rounds of {counted(deals, 'deal')}", int(size))
    return pd.concat(frames, ignore_index=True)


def rounds_of(
    rules: RuleSet,
    policies: Sequence[Policy],
    matches: Matches,
    seating: npt.NDArray[np.int64],
    seed: int,
    engine: Engine = "auto",
    duel: str = "",
    sides: npt.NDArray[np.int64] | None = None,
) -> pd.DataFrame:
    """Play MATCH records where they stand, and return the frame of their rounds.

    Parameters
    ----------
    rules : RuleSet
        The rules.
    policies : sequence of Policy
        What ``matches["players"]`` counts into.
    matches : array of MATCH records, ``[match]``
        Of ``new_matches``; they come out as ``play_all`` fills them.
    seating : array of int, ``[match]``
        The seating of each match, which is only noted.
    seed : int
        The run's seed.
    engine : {"auto", "scalar", "reference"}
        As for ``rounds_frame``.
    duel, sides
        As for ``kozel_sim.frames.frame_of``: of a duel, its title and who plays for whom.

    Returns
    -------
    DataFrame
        As ``rounds_frame`` returns; of a duel with its two more columns. The rows of a match
        depend on nothing but the match. At its peak a row takes some 110 bytes.
    """
    need_recording_engine(engine)
    read = _read_by_reference if engine == "reference" else _read_compiled
    pieces = [np.zeros(0, ROUND), *read(rules, policies, matches, seed)]
    whole = frame_of(rules, policies, matches, seating, duel, sides)
    # The rows of the matches' frame, each match as often as it has rounds.
    blocks = np.arange(len(whole)).reshape(-1, rules.players)
    each = np.repeat(blocks, matches["rounds"], axis=0).ravel()
    columns: dict[str, Any] = {
        name: whole[name].array.take(each) for name in OF_A_SEAT if name in whole
    }
    columns |= {name: np.concatenate([rows[name] for rows in pieces]) for name in ROUND.names or ()}
    columns["end"] = pd.Categorical.from_codes(columns["end"], pd.Index(ENDS))
    columns["goat"] = whole["goat"].array.take(each)
    return pd.DataFrame(columns, copy=False)


# ---------------------------------------------------------------------- compiled


def _read_compiled(
    rules: RuleSet, policies: Sequence[Policy], matches: Matches, seed: int
) -> Iterator[Rounds]:
    """Play matches on the scalar engine, few at a time, and read their log."""
    table = Table(rules, policies, "scalar")
    encoded = rules.encode()
    log = np.empty(LOG_WORDS, np.int64)
    first, size = 0, FEW
    while first < len(matches):
        batch = matches[first : first + size]
        used = table.play(batch, seed, log)
        if used <= len(log):
            rows = np.empty(int(batch["rounds"].sum()) * rules.players, ROUND)
            read_rounds(encoded, batch, log, rows)
            yield rows
            first += len(batch)
        elif len(batch) == 1:
            log = np.empty(used, np.int64)
        # What was too long for the log is played again, in smaller batches.
        size = max(1, min(BATCH, int(0.8 * len(batch) * len(log) / used)))


# ---------------------------------------------------------------------- readable


def _read_by_reference(
    rules: RuleSet, policies: Sequence[Policy], matches: Matches, seed: int
) -> Iterator[Rounds]:
    """Play matches on the reference engine, and read their records."""
    for match in matches:
        at_seats = [policies[i] for i in match["players"][: rules.players]]
        record = reference.play_match(rules, at_seats, seed, int(match["deal"]))
        fill_match(match, record)
        yield np.array(list(read_record(record)), ROUND)


def read_record(record: Record) -> Iterator[tuple[Any, ...]]:
    """Yield a ROUND row per round and seat of a record; the readable twin of ``read_rounds``."""
    rules = record.rules
    for played in record.rounds:
        for seat, names in enumerate(played.hands):
            hand, side = Hand.of(*names), rules.side_of(seat)
            mine = [event for event in played.events if event.seat == seat]
            draws = sum(event.draw is not None for event in mine)
            laid = sum(len(event.play) for event in mine)
            yield (
                played.round,
                played.redeals,
                hand,
                (hand & DOUBLES).bit_count(),
                hand.pips,
                played.leader == seat,
                sum(not event.play and event.draw is None for event in mine),
                draws,
                {"out": OUT, "fish": FISH}[played.end],
                played.by == seat,
                played.end == "fish" and played.true_fish,
                len(hand) + draws - laid,
                played.hand_points[seat],
                played.written[side],
                played.pot,
                played.accounts[side],
                played.memory[side],
                played.opened[side],
                played is record.rounds[-1],
            )
