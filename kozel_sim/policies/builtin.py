"""The built-in policies: ladders, as data.

Tips T1-T7 are the seven strategy tips on the rules page of an online Kozel room; each is used alone
here, with a random legal move where it does not apply.
"""

from __future__ import annotations

from kozel_sim.decision import THOUSAND, Ladder, Stage


def _stage(trigger: str, **weights: int) -> Stage:
    return Stage(trigger, {name: weight * THOUSAND for name, weight in weights.items()})


BUILTIN: dict[str, tuple[Ladder, str, str]] = {
    "random": (Ladder(), "any legal move, all equally likely", "baseline"),
    "dump_heavy": (
        Ladder((_stage("always", pips=1),)),
        "the tile with most pips",
        "tip T6",
    ),
    "dump_doubles": (
        Ladder((_stage("legal_double", double=1), _stage("legal_double", pips=1))),
        "a double when one is legal, the highest first; else random",
        "tip T3",
    ),
    "keep_range": (
        Ladder((_stage("even_hand", range=1), _stage("even_hand", longest=-1))),
        "with an even hand, keep many different values, then no long suit; else random",
        "tip T1",
    ),
    "block_ends": (
        Ladder((_stage("long_suit", match=1),)),
        "with a long suit, make the ends show it; else random",
        "tip T2",
    ),
}
"""By name: the ladder, what it does, and where it comes from."""
