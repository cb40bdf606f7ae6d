"""The engines' speed: rounds and matches per second of CPU time on one thread."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from kozel_sim.checks import ENGINES, Engine, need_engine, need_memory, need_positive
from kozel_sim.decision import Policy
from kozel_sim.engine.layout import MATCH
from kozel_sim.engine.play import new_matches
from kozel_sim.parts import player_of
from kozel_sim.policies import get_policy
from kozel_sim.rules import RuleSet
from kozel_sim.words import counted

FIELDS = ("random", "weights:pips=1,double=3,range=2,block=0.5,lock=1.5")
"""Played against themselves unless the caller names policies."""
READABLE_SHARE = 1000
"""The readable engine plays so many times fewer matches: it is about as many times slower."""


def measure(
    rules: RuleSet,
    fields: Sequence[Sequence[Policy]] | None,
    matches: int,
    repeats: int,
    engines: Sequence[str] | None = None,
) -> list[dict[str, Any]]:
    """Return medians and spreads of the speed of some fields of policies.

    Parameters
    ----------
    rules : RuleSet
        The rules.
    fields : sequence of sequence of Policy, optional
        Each is one policy for all seats, or one per seat; by default ``FIELDS``.
    matches, repeats : int
        How many matches a measurement plays (the reference engine: a thousandth), and how many
        there are.
    engines : sequence of str, optional
        Which engines; by default every compiled one that plays these rules.

    Returns
    -------
    list of dict
        engine, preset, players, policies, rounds_per_s, matches_per_s (medians over the repeats),
        slowest and fastest (rounds per second), matches (of a measurement).

    Raises
    ------
    ValueError
        If a value is out of range or unknown.
    NotImplementedError
        If an engine that is named does not play the rules.
    """
    matches = need_positive("matches", matches)
    repeats = need_positive("repeats", repeats)
    for engine in engines or ():
        need_engine(engine)
    need_memory(f"{counted(matches, 'match')}", matches * (MATCH.itemsize + 8))
    rows = []
    for field in fields or [[get_policy(spec)] for spec in FIELDS]:
        if len(field) not in (1, rules.players):
            raise ValueError(
                f"{counted(len(field), 'policy')}; name one, or one for each of {rules.players}"
            )
        compiled = [engine for engine in ENGINES if engine not in ("auto", "reference")]
        for engine in ENGINES:
            if engine not in (compiled if engines is None else engines):
                continue
            try:
                rows.append(_measure(rules, field, matches, repeats, engine))
            except NotImplementedError:
                if engines is not None:
                    raise
    return rows


def _measure(
    rules: RuleSet, field: Sequence[Policy], matches: int, repeats: int, engine: Engine
) -> dict[str, Any]:
    """Return the row of one engine."""
    if engine == "reference":
        matches = -(-matches // READABLE_SHARE)
    play = player_of(rules, field, engine)
    seats = np.broadcast_to(np.arange(rules.players) % len(field), (matches, rules.players))
    played = new_matches(np.arange(matches, dtype=np.uint64), seats)
    play(played[:100], 1)
    speeds = []
    for _ in range(repeats):
        played = new_matches(played["deal"], seats)
        start = time.thread_time()
        play(played, 1)
        speeds.append(1 / (time.thread_time() - start))
    rounds = int(played["rounds"].sum())
    return {
        "engine": engine,
        "preset": rules.name,
        "players": rules.players,
        "policies": ", ".join(policy.name for policy in field),
        "rounds_per_s": round(rounds * statistics.median(speeds)),
        "matches_per_s": round(matches * statistics.median(speeds)),
        "slowest": round(rounds * min(speeds)),
        "fastest": round(rounds * max(speeds)),
        "matches": matches,
    }
