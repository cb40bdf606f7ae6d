"""The vector engine's face to Python: what it carries, and playing it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from kozel_sim._native import NoCompilerError, has_feature
from kozel_sim.decision import Function, Policy
from kozel_sim.engine.entries import play_lockstep
from kozel_sim.engine.layout import MATCH, PLAYER, aligned
from kozel_sim.engine.lockstep.layout import (
    BLOCK_BYTES,
    LANES,
    MOST_BLOCKS,
    MOST_IN_BAZAAR,
    MOST_PARTS,
    fits_in_words,
    make_plan,
)
from kozel_sim.rules import RuleSet


def lockstep_pays() -> bool:
    """Tell whether this processor's vectors are wide enough to be faster than the scalar engine."""
    return has_feature("avx2")


def why_not(rules: RuleSet, policies: Sequence[Policy], players: np.ndarray) -> list[str | None]:
    """Return by policy why the vector engine cannot play it, None where it can."""
    reason = None
    if rules.spinner or rules.close_doubles or rules.multi_double != "none":
        reason = f"{rules.name} has moves of several tiles or four arms"
    elif rules.bazaar_size > MOST_IN_BAZAAR and rules.bazaar_draw != "none":
        reason = f"a bazaar of {rules.bazaar_size} tiles is over {MOST_IN_BAZAAR}"
    elif sum(len(policy.parts) for policy in policies) > MOST_PARTS:
        reason = f"the policies have more than {MOST_PARTS} parts"
    return [reason or _why_not(*pair) for pair in zip(policies, players, strict=True)]


def _why_not(policy: Policy, player: Any) -> str | None:
    if any(isinstance(part, Function) for _, part in policy.parts):
        return f"policy {policy.name} is a function, or mixes one in"
    if not fits_in_words(player["stages"]):
        return f"policy {policy.name} has scores that may pass 32 bits"
    return None


class Lockstep:
    """Rules and players made ready; ``play`` may be called from several threads.

    It plays matches between the players that are carried; the others only keep their numbers.
    """

    def __init__(self, rules: Any, players: np.ndarray, carried: np.ndarray, watched: bool) -> None:
        self._rules = rules
        players = np.where(carried, players, np.zeros(1, players.dtype))
        self._plan, self._book = make_plan(players, watched)

    def play(self, matches: np.ndarray, seed: int) -> None:
        """Play MATCH records where they stand."""
        blocks = min(MOST_BLOCKS, -(-len(matches) // LANES))
        room = (blocks + 1) * BLOCK_BYTES + 4 * LANES * (blocks + 4)
        space = aligned(room, np.uint8)
        lanes = space.ctypes.data
        todo = lanes + (blocks + 1) * BLOCK_BYTES
        play_lockstep(self._rules, self._plan, np.uint64(seed), matches, lanes, blocks, todo)


@cache
def build_fault() -> str:
    """Return why the vector kernel cannot be compiled here, or nothing if it can; and compile it.

    Tried once in a process.
    """
    rules, nobody = RuleSet.preset("room-fish-all", 2).encode(), np.zeros(1, PLAYER)
    try:
        Lockstep(rules, nobody, np.ones(1, bool), False).play(np.zeros(0, MATCH), 0)
    except NoCompilerError:
        raise
    except Exception as error:  # numba's and LLVM's are of many kinds
        lines = str(error).strip().splitlines() or [""]
        return f"{type(error).__name__}: {lines[0]}"
    return ""
