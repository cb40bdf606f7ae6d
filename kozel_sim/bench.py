"""The engine's speed: rounds and matches per second of CPU time on one thread."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from kozel_sim.checks import need_memory, need_positive
from kozel_sim.decision import Policy
from kozel_sim.engine.layout import MATCH
from kozel_sim.engine.play import Table, new_matches
from kozel_sim.policies import get_policy
from kozel_sim.rules import RuleSet

FIELDS = ("random", "weights:pips=1,double=3,range=2,block=0.5,lock=1.5")
"""Played against themselves unless the caller names policies."""


def measure(
    rules: RuleSet, fields: Sequence[Sequence[Policy]] | None, matches: int, repeats: int
) -> list[dict[str, Any]]:
    """Return medians and spreads of the speed of some fields of policies.

    Parameters
    ----------
    rules : RuleSet
        The rules.
    fields : sequence of sequence of Policy, optional
        Each is one policy for all seats, or one per seat; by default ``FIELDS``.
    matches, repeats : int
        How many matches a measurement plays, and how many there are.

    Returns
    -------
    list of dict
        preset, players, policies, rounds_per_s, matches_per_s (medians over the repeats), and
        slowest and fastest (rounds per second).
    """
    matches = need_positive("matches", matches)
    repeats = need_positive("repeats", repeats)
    need_memory(f"{matches:,} matches", matches * (MATCH.itemsize + 8))
    rows = []
    for field in fields or [[get_policy(spec)] for spec in FIELDS]:
        if len(field) not in (1, rules.players):
            raise ValueError(f"{len(field)} policies; name one, or one for each of {rules.players}")
        table = Table(rules, field)
        seats = np.arange(rules.players) % len(field)
        played = new_matches(
            np.arange(matches, dtype=np.uint64), np.broadcast_to(seats, (matches, rules.players))
        )
        table.play(played[:100], seed=1)
        speeds = []
        for _ in range(repeats):
            start = time.thread_time()
            table.play(played, seed=1)
            speeds.append(1 / (time.thread_time() - start))
        rounds = int(played["rounds"].sum())
        rows.append(
            {
                "preset": rules.name,
                "players": rules.players,
                "policies": ", ".join(policy.name for policy in field),
                "rounds_per_s": round(rounds * statistics.median(speeds)),
                "matches_per_s": round(matches * statistics.median(speeds)),
                "slowest": round(rounds * min(speeds)),
                "fastest": round(rounds * max(speeds)),
            }
        )
    return rows
