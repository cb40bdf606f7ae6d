"""One match at a time: play it into a record, and check a record against the rules."""

from __future__ import annotations

from collections.abc import Sequence

from kozel_sim import reference
from kozel_sim.checks import (
    Engine,
    need_recording_engine,
    need_unsigned,
    read_seed,
    read_table,
)
from kozel_sim.decision import Policy
from kozel_sim.engine import play as compiled
from kozel_sim.record import Record
from kozel_sim.rules import RuleSet
from kozel_sim.schedule import seat_policies


def play(
    rules: RuleSet | str,
    policies: Sequence[str | Policy] | str,
    seed: int,
    deal: int,
    seating: int = 0,
    *,
    engine: Engine = "auto",
) -> Record:
    """Play one match and return its record.

    Parameters
    ----------
    rules : RuleSet or str
        A rule set, or a preset's name (played by as many as there are policies).
    policies : sequence of (str or Policy)
        The entrants; with seating 0 they sit in this order.
    seed, deal : int
        Unsigned 64-bit numbers that fix all luck.
    seating : int, default 0
        Who sits where, below n!: the rotation plus n times the cyclic order.
    engine : {"auto", "scalar", "reference"}
        Which engine plays; the records are equal.

    Returns
    -------
    Record
        Every deal, event and score of the match.

    Raises
    ------
    ValueError
        If a value is out of range or unknown, or a policy makes an illegal move.
    NotImplementedError
        If no engine plays a knob of the rules.

    Examples
    --------
    >>> record = play("room-fish-all", ["random", "dump_heavy"], seed=1, deal=0)
    >>> record.result.capped
    False
    """
    rules, entrants = read_table(rules, policies)
    need_recording_engine(engine)
    seated = seat_policies(entrants, seating)
    by = reference.play_match if engine == "reference" else compiled.play_match
    return by(rules, seated, read_seed(seed), need_unsigned("deal", deal), int(seating))


def check_record(record: Record) -> None:
    """Check a record against the rules: its luck, every event and every score.

    Parameters
    ----------
    record : Record
        Any record; who chose its moves does not matter.

    Raises
    ------
    ValueError
        At the first thing that the rules do not allow; the message names round and event.

    Examples
    --------
    >>> check_record(play("room-fish-all", ["random", "random"], seed=1, deal=0))
    """
    reference.check_record(record)
