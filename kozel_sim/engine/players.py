"""Policies as the records that kernels read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numba
import numpy as np

from kozel_sim import _jit
from kozel_sim.decision import Function, Ladder, Policy, Stage
from kozel_sim.engine.layout import (
    FEATURE_INDEX,
    MAX_PARTS,
    MAX_STAGES,
    PLAYER,
    TILE_SCORES,
    TRIGGER,
    TRIGGER_INDEX,
    USED,
    WEIGHTS,
)
from kozel_sim.tiles import DOUBLES, N_TILES, PIPS
from kozel_sim.view import VIEW

CHOOSE = numba.uint32(numba.from_dtype(VIEW))
"""The C signature of a policy: a pointer to the View in, the code of a move out."""


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
                    _encode_stage(stage, player["stages"][stages])
                    stages += 1
            player["end_stage"][i] = stages
    return players


def _encode_stage(stage: Stage, row: np.ndarray) -> None:
    row[TRIGGER] = TRIGGER_INDEX[stage.trigger]
    for name, weight in stage.weights.items():
        row[USED] |= 1 << FEATURE_INDEX[name]
        row[WEIGHTS + FEATURE_INDEX[name]] = weight
    for tile in range(N_TILES):
        alone = stage.weights.get("pips", 0) * PIPS[tile]
        alone += stage.weights.get("double", 0) * (DOUBLES >> tile & 1)
        row[TILE_SCORES + 1 + tile] = alone


def looks_at_history(policies: Sequence[Policy]) -> bool:
    """Tell whether a policy may look at what happened earlier in the round."""
    return any(isinstance(part, Function) for policy in policies for _, part in policy.parts)


@cache
def compiled(function: Callable[..., int]) -> Any:
    """Compile a user's function to a C function; it stays alive, so its address stays good."""
    name = getattr(function, "__name__", str(function))
    try:
        return _jit.compile_policy(function, CHOOSE)
    except Exception as error:  # numba lets others than its own through
        reason, where = _read_complaint(str(error))
        raise ValueError(f"policy {name} does not compile: {reason} {where}".strip()) from None


def _read_complaint(text: str) -> tuple[str, str]:
    """Return what is wrong, and where, out of numba's many lines."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    where = next((x for x in lines if x.startswith("File ")), "")
    causes = [
        lines[i + 1] for i, x in enumerate(lines[:-1]) if x.endswith("raised a specific error:")
    ]
    found = [x.removeprefix("TypingError: ") for x in [*causes, *lines]]
    reason = next((x for x in found if not x.startswith(("Failed in", "During:"))), found[0])
    if "none" in reason.lower() and "uint32" in reason:
        reason = "it does not return a move on every path: put a return at its end"
    return reason, where
