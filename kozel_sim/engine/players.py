"""Policies as the records that kernels read."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from kozel_sim._native import need_compiler
from kozel_sim.decision import Function, Ladder, Policy, Stage
from kozel_sim.engine.complaints import explain
from kozel_sim.engine.layout import (
    HISTORY,
    MAX_PARTS,
    MAX_STAGES,
    PLAYER,
    TRIGGER,
    TRIGGER_INDEX,
    USED,
)
from kozel_sim.engine.stages import NEEDS_OF_TRIGGER, weigh
from kozel_sim.features import FEATURES
from kozel_sim.fingerprint import may_read
from kozel_sim.view import VIEW


@cache
def choose_signature() -> Any:
    """Return the C signature of a policy: a pointer to the View in, the code of a move out."""
    import numba

    return numba.uint32(numba.from_dtype(VIEW))


def encode_players(policies: Sequence[Policy]) -> np.ndarray:
    """Return one PLAYER record per policy, compiling users' functions where needed.

    Raises
    ------
    ValueError
        If a function does not compile, or a policy has too many parts or stages.
    """
    players = np.zeros(len(policies), PLAYER)
    for player, policy in zip(players, policies, strict=True):
        if len(policy.parts) > MAX_PARTS:
            raise ValueError(
                f"policy {policy.name} mixes {len(policy.parts)} policies, over {MAX_PARTS}"
            )
        player["random"] = policy.parts[0][1] == Ladder() and len(policy.parts) == 1
        player["n_parts"] = len(policy.parts)
        stages = 0
        for i, (_, part) in enumerate(policy.parts):
            player["threshold"][i] = policy.thresholds[i]
            player["first_stage"][i] = stages
            if isinstance(part, Function):
                player["address"][i] = compiled(part.choose_code).address
                player["asks_words"][i] = part.words
                player["params"][i, : len(part.params)] = part.params
            else:
                if stages + len(part.stages) > MAX_STAGES:
                    raise ValueError(f"policy {policy.name} has more than {MAX_STAGES} stages")
                for stage in part.stages:
                    player["needs"][i] |= _encode_stage(stage, player["stages"][stages])
                    stages += 1
            player["end_stage"][i] = stages
    return players


def _encode_stage(stage: Stage, row: np.ndarray) -> int:
    """Write a stage's row; return the mask of the features to survey."""
    row[TRIGGER] = TRIGGER_INDEX[stage.trigger]
    weights = {name: w for name, w in stage.weights.items() if not FEATURES[name].same}
    # A value that is lost is one less in range: to count it once is faster.
    weights["range"] = weights.get("range", 0) - weights.pop("last_of_suit", 0)
    weigh(row, weights)
    return int(row[USED]) | NEEDS_OF_TRIGGER.get(stage.trigger, 0)


def looks_at_history(policies: Sequence[Policy]) -> bool:
    """Tell whether a policy may look at what happened earlier in the round."""
    return any(
        may_read(part.choose_code, HISTORY) if isinstance(part, Function) else part.history
        for policy in policies
        for _, part in policy.parts
    )


_raised = threading.local()
"""By thread: the first error that a user's function raised since ``forget_errors``."""


def forget_errors() -> None:
    """Begin to listen for errors of users' functions in this thread."""
    _raised.first = ""


def first_error() -> str:
    """Return the first error that a user's function raised in this thread, in one line."""
    return str(getattr(_raised, "first", ""))


@cache
def _listen() -> None:
    """Note errors in compiled functions, which numba prints one by one and cannot pass on."""
    before = sys.unraisablehook

    def note(event: Any) -> None:
        if type(event.object).__name__ != "str" or "CPUContext" not in event.object:
            before(event)
        elif not first_error():
            _raised.first = f"{event.exc_type.__name__}: {event.exc_value}"

    sys.unraisablehook = note


@cache
def compiled(function: Callable[..., int]) -> Any:
    """Compile a user's function to a C function; it stays alive, so its address stays good."""
    name = getattr(function, "__name__", str(function))
    need_compiler()
    _listen()
    from kozel_sim import _jit

    try:
        return _jit.compile_policy(function, choose_signature())
    except Exception as error:  # numba lets others than its own through
        raise ValueError(f"policy {name} does not compile: {explain(function, error)}") from None
