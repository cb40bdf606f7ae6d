"""Which matches of a run are worth a look: the longest, the biggest fish, the closest.

They are decided from the run's frames; of equal ones the first is taken, in the order of the frame.
What a single fish brought stands in the frame of rounds alone, so where a run has none, deals are
played again, from the first one on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kozel_sim.metrics import parts_of
from kozel_sim.parts import Part, PartPlayer
from kozel_sim.playing import play
from kozel_sim.policies import find_policy
from kozel_sim.record import Record
from kozel_sim.rows import whole_matches
from kozel_sim.rules import RuleSet
from kozel_sim.runs import Run, read_frames
from kozel_sim.tournaments import Tournament
from kozel_sim.words import counted

LONGEST, FISH, CLOSEST = "longest", "fish", "closest"
MEANINGS = {
    LONGEST: "the match with the most rounds",
    FISH: "the round ended by a fish in which a side had the most points written, a paid pot "
    "included",
    CLOSEST: "the match in which a goat and a side that is none ended the fewest points apart",
}
"""What is looked for, by kind; of equal ones the first."""
MOST_AGAIN = 100_000
"""Matches that are played again to find the biggest fish, of all rule sets together."""
Key = tuple[str, int]
"""A preset's name and a number of players."""


@dataclass(frozen=True)
class Notable:
    """A match of a run that is worth a look.

    Attributes
    ----------
    kind : str
        ``longest``, ``fish`` or ``closest``.
    rules : RuleSet
        What it was played by.
    policies : tuple of str
        By seat.
    seed, deal, seating : int
        Its numbers.
    value : int
        Rounds, points of the fish, or points between the goat and the next.
    round : int, optional
        The round of the fish, from 0.
    seat : int, optional
        The first seat of the side that had the fish written.
    rounds : int, optional
        How many rounds the match has, where it is known.
    points : tuple of int, optional
        By seat, at the end, where they are known.
    waited : int, default 0
        The pot that had waited, and was paid in the round of the fish.
    """

    kind: str
    rules: RuleSet
    policies: tuple[str, ...]
    seed: int
    deal: int
    seating: int
    value: int
    round: int | None = None
    seat: int | None = None
    rounds: int | None = None
    points: tuple[int, ...] | None = None
    waited: int = 0


@dataclass(frozen=True)
class Found:
    """The notable matches of a rule set, and how the biggest fish was looked for.

    Attributes
    ----------
    rules : RuleSet
        Which.
    matches : list of Notable
        Up to three, in the order of ``MEANINGS``.
    searched : str
        Where the biggest fish was looked for, or why it was not; empty if in all rounds.
    """

    rules: RuleSet
    matches: list[Notable]
    searched: str


def notable_matches(run: Run) -> list[Found]:
    """Return the notable matches of a run, by rule set, in the order of the manifest.

    Examples
    --------
    >>> from kozel_sim import tournament
    >>> run = tournament("room-fish-all", ["random", "dump_heavy"], 50, seed=1, players=2)
    >>> (found,) = notable_matches(run)
    >>> [(match.kind, match.value) for match in found.matches]
    [('longest', 19), ('fish', 62), ('closest', 3)]
    """
    listed = [RuleSet.from_knobs(each["knobs"], each["base"]) for each in run.manifest["rules"]]
    by_name: dict[Key, RuleSet] = {(rules.name, rules.players): rules for rules in listed}
    parts = {
        (str(keys["preset"]), int(keys["players"])): whole_matches(part, int(keys["players"]))
        for keys, part in parts_of(run.frame)
    }
    best = Best(by_name, run.manifest["seed"], {})
    searched: dict[Key, str] = {}
    if run.manifest.get("rounds"):
        for rounds in _rounds_of(run):
            best.take(rounds)
    else:
        searched = _fish_again(run, parts, best)
    found = []
    for key, rules in by_name.items():
        if key not in parts:
            continue
        part, seed = parts[key], best.seed
        three = [_longest(part, rules, seed), best.fish.get(key), _closest(part, rules, seed)]
        matches = [each for each in three if each is not None]
        found.append(Found(rules, matches, searched.get(key, "")))
    return found


def replay_of(match: Notable, run: Run) -> Record:
    """Play a notable match again by the reference engine, and see that it is the one of the run.

    Raises
    ------
    ValueError
        If it cannot be: a policy is not known here, or the match comes out otherwise.
    """
    described = {each["name"]: each for each in run.manifest["policies"]}
    seated = [find_policy(described[name]) for name in match.policies]
    record = play(match.rules, seated, match.seed, match.deal, engine="reference")
    sides = [match.rules.side_of(seat) for seat in range(match.rules.players)]
    last = record.rounds[-1].accounts
    same = match.rounds in (None, len(record.rounds))
    same &= match.points in (None, tuple(last[side] for side in sides))
    if match.round is not None and match.seat is not None:
        told = record.rounds[match.round] if match.round < len(record.rounds) else None
        same &= told is not None and told.end == "fish"
        same &= told is not None and told.written[sides[match.seat]] == match.value
    if not same:
        raise ValueError("this version of kozel_sim plays the match otherwise")
    return replace(record, seating=match.seating)


# ---------------------------------------------------------------------- by the frame


def _fold(part: pd.DataFrame, column: str, players: int) -> npt.NDArray[Any]:
    """Return a column, ``[match, seat]``."""
    return part[column].to_numpy().reshape(-1, players)


def _match(
    kind: str, part: pd.DataFrame, rules: RuleSet, seed: int, at: int, value: int
) -> Notable:
    """Return the match that is so many matches behind the first."""
    n = rules.players
    rows = part.iloc[at * n : (at + 1) * n]
    return Notable(
        kind,
        rules,
        tuple(map(str, rows["policy"])),
        seed,
        int(rows["deal"].iloc[0]),
        int(rows["seating"].iloc[0]),
        value,
        rounds=int(rows["rounds"].iloc[0]),
        points=tuple(map(int, rows["points"])),
    )


def _longest(part: pd.DataFrame, rules: RuleSet, seed: int) -> Notable:
    rounds = part["rounds"].to_numpy()[:: rules.players]
    at = int(rounds.argmax())
    return _match(LONGEST, part, rules, seed, at, int(rounds[at]))


def _closest(part: pd.DataFrame, rules: RuleSet, seed: int) -> Notable | None:
    """Return the match with the least gap between goats and the others; None if none has both."""
    points = _fold(part, "points", rules.players).astype(np.int64)
    goat = _fold(part, "goat", rules.players)
    whole = goat.any(axis=1) & ~goat.all(axis=1) & ~_fold(part, "capped", rules.players)[:, 0]
    if not whole.any():
        return None
    far = np.iinfo(np.int64).max // 4
    goat_low, goat_high = np.where(goat, points, far).min(1), np.where(goat, points, -far).max(1)
    rest_low, rest_high = np.where(goat, far, points).min(1), np.where(goat, -far, points).max(1)
    # Goats have the most points, or where points are good the fewest.
    gap = rest_low - goat_high if rules.points_win else goat_low - rest_high
    at = int(np.where(whole, gap, far).argmin())
    return _match(CLOSEST, part, rules, seed, at, int(gap[at]))


# ---------------------------------------------------------------------- by the rounds


@dataclass
class Best:
    """The biggest fish of each rule set, of the rounds that were taken so far.

    Attributes
    ----------
    rules : dict
        The rule sets by preset and number of players.
    seed : int
        The run's.
    fish : dict
        The same with a fish.
    """

    rules: dict[Key, RuleSet]
    seed: int
    fish: dict[Key, Notable]

    def take(self, rounds: pd.DataFrame) -> None:
        """Look through a frame of rounds; a fish as big as the one before changes nothing."""
        for keys, part in parts_of(rounds):
            key = (str(keys["preset"]), int(keys["players"]))
            written = part["written"].to_numpy().astype(np.int64)
            written = np.where((part["end"] == "fish").to_numpy(), written, -1)
            at = int(written.argmax())
            before = self.fish[key].value if key in self.fish else -1
            if written[at] <= before:
                continue
            begins = (part["round"].to_numpy() == 0) & (part["seat"].to_numpy() == 0)
            first = int(np.flatnonzero(begins[: at + 1])[-1])
            seats = part.iloc[first : first + key[1]]
            self.fish[key] = Notable(
                FISH,
                self.rules[key],
                tuple(map(str, seats["policy"])),
                self.seed,
                int(seats["deal"].iloc[0]),
                int(seats["seating"].iloc[0]),
                int(written[at]),
                round=int(part["round"].iloc[at]),
                seat=int(part["seat"].iloc[at]),
                waited=_paid(part, at, key[1]),
            )


def _paid(part: pd.DataFrame, at: int, players: int) -> int:
    """Return the pot that was paid in the round of a row: it is paid whole, or stays."""
    if not part["round"].iloc[at] or part["pot"].iloc[at]:
        return 0
    return int(part["pot"].iloc[at - players])


def _rounds_of(run: Run) -> Iterator[pd.DataFrame]:
    """Yield the frame of rounds, of a run on disk part by part."""
    if isinstance(run.rounds_in, Path):
        yield from read_frames(run.rounds_in, run.manifest, "rounds")
    elif run.rounds_in is not None:
        yield run.rounds_in


def _fish_again(run: Run, parts: dict[Key, pd.DataFrame], best: Best) -> dict[Key, str]:
    """Play deals again for their rounds; return by rule set which, where it was not all."""
    try:
        planned = Tournament.of_manifest(run.manifest)
    except ValueError as error:
        return dict.fromkeys(parts, f"not looked for: {error}")
    player = PartPlayer(planned.blocks, planned.policies, planned.seed, False, True)
    told: dict[Key, dict[str, str]] = {}
    for block in planned.blocks:
        (rules,) = block.rules
        key = (rules.name, rules.players)
        if key not in parts:
            continue
        rows = parts[key]
        if block.duel:
            rows = rows[(rows["duel"] == block.duel).to_numpy()]
        deals = rows["deal"].unique()
        if len(deals) == 0:
            continue
        most = max(1, MOST_AGAIN // len(planned.blocks) // block.matches_per_deal)
        parts_again = [
            player.play(Part(block.number, first, end)) for first, end in _ranges(deals[:most])
        ]
        frames = [each for each in parts_again if isinstance(each, dict)]
        mine = np.concatenate([each["matches"]["points"].to_numpy() for each in frames])
        if not np.array_equal(mine, rows["points"].to_numpy()[: len(mine)]):
            told.setdefault(key, {})[block.duel] = (
                "not looked for, since this version of kozel_sim plays the matches otherwise"
            )
            continue
        for each in frames:
            best.take(each["rounds"])
        all_deals = counted(len(deals), "deal")
        some = f"looked for in the first {most:,} of {all_deals}; with --rounds in all"
        told.setdefault(key, {})[block.duel] = some if most < len(deals) else ""
    return {key: _where(by_duel) for key, by_duel in told.items()}


def _where(by_duel: dict[str, str]) -> str:
    """Put what is said of each duel into one sentence."""
    if len(set(by_duel.values())) == 1:
        (said,) = set(by_duel.values())
        return said + " (each duel)" * (len(by_duel) > 1 and bool(said))
    return "; ".join(
        f"{duel}: {said or 'looked for in all deals'}" for duel, said in by_duel.items()
    )


def _ranges(deals: npt.NDArray[Any]) -> list[tuple[int, int]]:
    """Return deals in a row as ranges, the ends excluded; a shard has gaps."""
    breaks = np.flatnonzero(np.diff(deals) != 1) + 1
    return [(int(each[0]), int(each[-1]) + 1) for each in np.split(deals, breaks)]
