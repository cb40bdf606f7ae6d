"""How long a policy takes for a decision."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from kozel_sim.apart import NoAnswerError, Teller, run_apart
from kozel_sim.decision import Policy
from kozel_sim.engine.entries import ask
from kozel_sim.engine.layout import DESK
from kozel_sim.engine.players import encode_players
from kozel_sim.policies import get_policy
from kozel_sim.positions import random_positions
from kozel_sim.rules import RuleSet
from kozel_sim.view import VIEW, View
from kozel_sim.words import counted

SPEED_RULES = ("room-fish-all", 4)
POSITIONS = 256
ENOUGH_SECONDS = 0.01


def write_view(view: View, record: Any) -> None:
    """Write a View into its compiled form."""
    for name in VIEW.names or ():
        record[name] = getattr(view, name)


def warm_up() -> None:
    """Compile what asks, or load it."""
    rules = RuleSet.preset(*SPEED_RULES).encode()
    views, desks, moves = np.zeros(1, VIEW), np.zeros(1, DESK), np.zeros(1, np.int64)
    views["legal"][0, 0] = 1
    ask(rules, encode_players([get_policy("random")]), views, desks, 1, moves)


@cache
def _views(seed: int) -> Any:
    """Return random positions as compiled Views."""
    views = np.zeros(POSITIONS, VIEW)
    positions = random_positions(RuleSet.preset(*SPEED_RULES), POSITIONS, seed)
    for position, record in zip(positions, views, strict=True):
        round_ = position.round()
        write_view(position.view(round_, round_.moves()), record)
    return views


def time_decisions(policy: Policy, tell: Teller, seed: int = 1) -> float:
    """Return the nanoseconds of CPU time that a compiled decision takes.

    It is the mean over up to 256 random positions of room-fish-all with four players, and counts
    the engine's part of a decision too: the call, a look whether the move is legal, a ladder's
    stages.
    """
    tell.preparing("compiling")
    warm_up()
    rules = RuleSet.preset(*SPEED_RULES).encode()
    players = encode_players([policy])
    views, desks = _views(seed).copy(), np.zeros(1, DESK)
    moves = np.zeros(POSITIONS, np.int64)

    def seconds(n: int, repeats: int) -> float:
        """Time the first n positions."""
        tell.at(f"timing {policy.name}: {counted(n, 'position')}, {counted(repeats, 'time')}")
        start = time.thread_time()
        ask(rules, players, views[:n], desks, repeats, moves)
        return time.thread_time() - start

    n, repeats = 1, 1
    while n < len(views) and seconds(n, 1) < ENOUGH_SECONDS:
        n *= 4
    while repeats < 1 << 20 and seconds(n, repeats) < ENOUGH_SECONDS:
        repeats *= 4
    return min(seconds(n, repeats) for _ in range(3)) / (n * repeats) * 1e9


def measure_policies(policies: Sequence[Policy], timeout: float = 5.0) -> dict[str, float | str]:
    """Return ns per decision by name, or what kept a policy from being measured."""
    found: dict[str, float | str] = {}
    left = list(policies)
    while left:
        try:
            run_apart(_measure, left, limit=timeout, told=found.update)
        except NoAnswerError as error:
            slow = next(policy for policy in left if policy.name not in found)
            found[slow.name] = str(error).partition(":")[0]
        left = [policy for policy in left if policy.name not in found]
    return found


def _measure(tell: Teller, policies: Iterable[Policy]) -> None:
    for policy in policies:
        try:
            found: float | str = time_decisions(policy, tell)
        except ValueError as error:
            found = str(error)
        tell.news({policy.name: found})
