"""What is asked of a run, checked in words before anything is played."""

from __future__ import annotations

import math
import os
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from kozel_sim.decision import Policy
from kozel_sim.outside import is_whole
from kozel_sim.policies import read_policies
from kozel_sim.rules import RuleSet
from kozel_sim.words import counted, did_you_mean, quoted

Engine = Literal["auto", "vector", "scalar", "reference"]
ENGINES: tuple[Engine, ...] = ("auto", "vector", "scalar", "reference")


def need_positive(what: str, value: int) -> int:
    """Return a number of 1 or more; raise ValueError at anything else."""
    if not is_whole(value) or value < 1:
        raise ValueError(f"{what} must be a whole number of 1 or more, not {quoted(value)}")
    return int(value)


def need_unsigned(what: str, value: int) -> int:
    """Return an unsigned 64-bit number; raise ValueError at anything else."""
    if not is_whole(value) or not 0 <= value < 2**64:
        raise ValueError(f"{what} must be a whole number from 0 to 2**64 - 1, not {quoted(value)}")
    return int(value)


def read_seed(seed: int | None) -> int:
    """Return a seed, drawn where none is given; raise ValueError unless it has 64 bits."""
    return secrets.randbits(63) if seed is None else need_unsigned("seed", seed)


def need_engine(engine: str, workers: int = 1, chunk: int = 1) -> None:
    """Raise ValueError unless these say how to play."""
    if engine not in ENGINES:
        hint = did_you_mean(engine, ENGINES)
        raise ValueError(f"unknown engine {quoted(engine)}{hint}; choose from {', '.join(ENGINES)}")
    need_positive("workers", workers)
    need_positive("chunk", chunk)


def need_recording_engine(engine: str) -> None:
    """Raise ValueError unless this engine can tell what happened in a match."""
    others = [name for name in ENGINES if name != "vector"]
    if engine == "vector":
        raise ValueError(
            f"engine 'vector' keeps no record of the events; choose from {', '.join(others)}"
        )
    if engine not in others:
        hint = did_you_mean(engine, others)
        raise ValueError(f"unknown engine {quoted(engine)}{hint}; choose from {', '.join(others)}")


def read_rules(rules: RuleSet | str, players: int | None) -> RuleSet:
    """Return a rule set, or the preset of that name.

    Raises
    ------
    TypeError
        If it is neither.
    ValueError
        If the preset is unknown, or is not played by so many.
    """
    if isinstance(rules, RuleSet):
        return rules
    if isinstance(rules, str):
        return RuleSet.preset(rules, players)
    raise TypeError(f"rules are a RuleSet or a preset's name, not {quoted(rules)}")


def read_rule_sets(
    rules: RuleSet | str | Sequence[RuleSet | str], players: int | None
) -> list[RuleSet]:
    """Return the rule sets of a run: one, or several that are played on the same deals.

    Raises
    ------
    TypeError
        If one is neither a rule set nor a preset's name.
    ValueError
        If a preset is unknown, or a rule set is not for so many players.
    """
    one = isinstance(rules, RuleSet | str) or not isinstance(rules, Iterable)
    several: list[Any] = [rules] if one else [*rules]
    found = [read_rules(each, players) for each in several]
    for each in found:
        if players is not None and each.players != players:
            raise ValueError(f"{each.name} is for {each.players} players, not {players}")
    return found


def need_distinct(rules: Sequence[RuleSet]) -> None:
    """Raise ValueError unless there are rule sets, each listed once."""
    titles = [(each.name, each.players) for each in rules]
    if not titles:
        raise ValueError("no preset is named; one or more rule sets are needed")
    for title in titles:
        if titles.count(title) > 1:
            raise ValueError(f"rules {title[0]} ({title[1]} players) are listed twice")


def read_table(
    rules: RuleSet | str, policies: Sequence[str | Policy] | str
) -> tuple[RuleSet, list[Policy]]:
    """Return the rules and the policies of one table; a preset is played by all of them.

    Raises
    ------
    TypeError
        If something is neither what it should be nor its name.
    ValueError
        If a name is unknown, or the rules are for another number of players.
    """
    entrants = read_policies(policies)
    found = read_rules(rules, len(entrants))
    if len(entrants) != found.players:
        raise ValueError(
            f"{found.name} is played by {found.players}, and "
            f"{counted(len(entrants), 'policy is', 'policies are')} given"
        )
    return found, entrants


def need_memory(what: str, size: int) -> None:
    """Raise ValueError if so many bytes are more than the machine has free."""
    free = free_memory()
    if size > free:
        raise ValueError(
            f"{what} need about {-(-size // 10**9):,} GB of memory, and this machine has "
            f"{free / 1e9:,.1f} GB free; choose fewer"
        )


def free_memory() -> float:
    """Return how many bytes may still be used; infinity where the system does not say."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return math.inf
