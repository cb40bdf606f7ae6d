"""Duels: one way of playing against another, on the same deals and from every seat.

Two players play each deal twice, with changed seats. Of four (or three) singles one plays the
first policy and all others the second, once from every seat. Pairs play the first policy against
the second, once on either side. The two are compared within their deals.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kozel_sim import stats
from kozel_sim.checks import (
    Engine,
    need_distinct,
    need_memory,
    need_positive,
    read_rule_sets,
    read_seed,
)
from kozel_sim.decision import Policy
from kozel_sim.engine.play import new_matches
from kozel_sim.experiment import Experiment
from kozel_sim.policies import get_policy
from kozel_sim.rules import RuleSet
from kozel_sim.simulation import (
    CHUNK,
    ROW_BYTES,
    Progress,
    describe_run,
    finish_run,
    frame_of,
    play_all,
)
from kozel_sim.store import Run
from kozel_sim.tournaments import stack_frames

VERSUS = " v "


def duel_seats(rules: RuleSet) -> npt.NDArray[np.int64]:
    """Return who sits where: 0 for the first policy and 1 for the second, ``[seating, seat]``.

    Examples
    --------
    >>> duel_seats(RuleSet.preset("room-fish-all", 3)).tolist()
    [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    >>> duel_seats(RuleSet.preset("pair-traditional")).tolist()
    [[0, 1, 0, 1], [1, 0, 1, 0]]
    """
    if rules.teams == "pairs":
        return np.array([[0, 1, 0, 1], [1, 0, 1, 0]])
    return 1 - np.eye(rules.players, dtype=np.int64)


@dataclass(frozen=True)
class Duels:
    """Duels that will be played; checked when they are built, before anything is played.

    Attributes
    ----------
    name : str
        The run's name.
    rules : list of RuleSet
        Each is played by itself, on the same deals.
    pairs : list of (Policy, Policy)
        Who meets whom.
    deals : int
        Deals of each duel.
    seed : int
        Fixes all luck.
    """

    name: str
    rules: list[RuleSet]
    pairs: list[tuple[Policy, Policy]]
    deals: int
    seed: int

    def __post_init__(self) -> None:
        need_positive("deals", self.deals)
        need_distinct(self.rules)
        if not self.pairs:
            raise ValueError("no duel is named; one or more pairs of policies are needed")
        titles = [f"{first}{VERSUS}{second}" for first, second in self.pairs]
        for (first, second), title in zip(self.pairs, titles, strict=True):
            if first.name == second.name:
                raise ValueError(f"policy {first.name} cannot duel with itself")
            if titles.count(title) > 1:
                raise ValueError(f"the duel {title} is listed twice")
        rows = sum(duel_seats(rules).size for rules in self.rules) * len(self.pairs) * self.deals
        need_memory(f"{self.matches:,} matches", ROW_BYTES * rows)

    @classmethod
    def of(cls, experiment: Experiment) -> Duels:
        """Return the duels that an experiment's file describes."""
        pairs = [(get_policy(first), get_policy(second)) for first, second in experiment.duels]
        return cls(
            experiment.name, experiment.rule_sets(), pairs, experiment.deals, experiment.seed
        )

    @property
    def policies(self) -> list[Policy]:
        """All policies, in the order in which the pairs name them."""
        return list({p.name: p for pair in self.pairs for p in pair}.values())

    @property
    def design(self) -> str:
        """How the duels are played, for the manifest."""
        pairs = "; ".join(f"{first}{VERSUS}{second}" for first, second in self.pairs)
        return f"duels on the same deals from every seat: {pairs}"

    @property
    def matches(self) -> int:
        """How many matches will be played."""
        return sum(len(duel_seats(rules)) for rules in self.rules) * len(self.pairs) * self.deals

    def manifest(self, engine: Engine = "auto") -> dict[str, object]:
        """Return what is known of the run before it is played."""
        return describe_run(
            self.name, self.design, self.rules, self.policies, self.seed, self.deals, engine
        )

    def play(
        self,
        engine: Engine = "auto",
        workers: int = 1,
        chunk: int = CHUNK,
        progress: Progress | None = None,
    ) -> Run:
        """Play all duels; engine, workers and chunk do not change a bit of the result."""
        start = time.perf_counter()
        names = [policy.name for policy in self.policies]
        titles = [f"{first}{VERSUS}{second}" for first, second in self.pairs]
        frames = []
        for rules in self.rules:
            seats = duel_seats(rules)
            deals = np.repeat(np.arange(self.deals, dtype=np.uint64), len(seats))
            seating = np.tile(np.arange(len(seats)), self.deals)
            for number, pair in enumerate(self.pairs):
                players = np.array([names.index(policy.name) for policy in pair])[seats[seating]]
                matches = new_matches(deals, players)
                play_all(rules, self.policies, matches, self.seed, engine, workers, chunk, progress)
                frame = frame_of(rules, self.policies, matches, seating)
                codes = np.full(len(frame), number)
                frame.insert(
                    2, "duel", pd.Series(pd.Categorical.from_codes(codes, pd.Index(titles)))
                )
                frames.append(frame)
        frame = stack_frames(frames)
        return finish_run(frame, self.manifest(engine), start)


def duel(
    rules: RuleSet | str | Sequence[RuleSet | str],
    first: str | Policy,
    second: str | Policy,
    deals: int,
    seed: int | None = None,
    *,
    players: int | None = None,
    engine: Engine = "auto",
    workers: int = 1,
    progress: Progress | None = None,
) -> Run:
    """Play one policy against another on the same deals, from every seat.

    Parameters
    ----------
    rules : RuleSet, str, or a sequence of them
        Rule sets or presets' names; all are played on the same deals.
    first, second : str or Policy
        The policies. Of more than two singles one plays the first, all others the second.
    deals : int
        How many deals.
    seed : int, optional
        Unsigned 64-bit; without one it is drawn, and noted in the manifest.
    players : int, optional
        For presets given by name: 4 by default, or the only number a preset allows.
    engine, workers, progress
        As for ``simulate``.

    Returns
    -------
    Run
        Its frame has a column duel; ``compare(run.frame)`` is the verdict.

    Raises
    ------
    ValueError
        If a value is out of range or unknown, or a policy makes an illegal move.

    Examples
    --------
    >>> run = duel("room-fish-all", "dump_heavy", "random", 200, seed=1, players=2)
    >>> compare(run.frame)["metric"].tolist()
    ['points_per_round', 'points_per_match', 'goat_rate']
    """
    rule_sets = read_rule_sets(rules, players)
    pair = (get_policy(first), get_policy(second))
    planned = Duels("duel", rule_sets, [pair], deals, read_seed(seed))
    return planned.play(engine, workers, progress=progress)


def compare(frame: pd.DataFrame, level: float = stats.LEVEL) -> pd.DataFrame:
    """Return how the two policies of each duel differ, paired by deal.

    Parameters
    ----------
    frame : DataFrame
        One row per match and seat, with a column duel: the frame of ``duel`` or ``Duels.play``.
    level : float, default 0.95
        The intervals' coverage (each by itself, not all together).

    Returns
    -------
    DataFrame
        Columns preset, players, duel, policy, against, metric, estimate (the first policy's),
        against_estimate (the second's), difference (the first's less the second's), std_error,
        ci_low, ci_high (of the difference), p_value (two-sided, of no difference),
        variance_reduction (how much less the difference varies than if each match had a deal of
        its own, as a share; what playing a deal from every seat gains), level, n_matches, n_deals,
        method. Metrics: points_per_round, points_per_match, goat_rate.

    Raises
    ------
    ValueError
        If the frame has no column duel.
    """
    if "duel" not in frame.columns:
        raise ValueError("the frame has no column 'duel'; it comes from duel() or Duels.play()")
    rows = []
    groups = ["preset", "players", "duel"]
    for keys, part in frame.groupby(groups, observed=True, sort=False):
        names = str(keys[2]).split(VERSUS)
        sides = [part[part["policy"] == name] for name in names]
        for metric, (value, weight) in METRICS.items():
            sums = [
                (stats.by_deal(side, side[value]), stats.by_deal(side, _weights(side, weight)))
                for side in sides
            ]
            means = [float(total.sum() / count.sum()) for total, count in sums]
            rate = metric == "goat_rate"
            found = stats.clustered_difference(sums[0], sums[1], level, rate)
            rows.append(
                dict(zip(groups, keys, strict=True))
                | {"policy": names[0], "against": names[1], "metric": metric}
                | {"estimate": means[0], "against_estimate": means[1]}
                | {"difference": found.estimate, "std_error": found.std_error}
                | {"ci_low": found.ci_low, "ci_high": found.ci_high}
                | {"p_value": stats.p_value(found, rate)}
                | {"variance_reduction": _reduction(sides, value, weight, means), "level": level}
                | {"n_matches": int((part["seat"] == 0).sum()), "n_deals": found.n_deals}
                | {"method": found.method}
            )
    return pd.DataFrame(rows)


def _reduction(
    sides: Sequence[pd.DataFrame], value: str, weight: str | None, means: Sequence[float]
) -> float:
    """Return 1 less the variance by deal over the variance of matches on deals of their own."""
    seats = sides[0]["seating"].max() + 1
    residuals: npt.NDArray[np.floating[Any]] = np.zeros(0)
    for sign, side, mean in zip((1.0, -1.0), sides, means, strict=True):
        count = np.asarray(_weights(side, weight), float)
        of_match = side["deal"].to_numpy() * seats + side["seating"].to_numpy()
        _, codes = np.unique(of_match, return_inverse=True)
        parts = np.bincount(codes, (side[value].to_numpy(float) - mean * count) / count.sum())
        residuals = sign * parts + (residuals if len(residuals) else 0)
    apart = float(np.sum(residuals**2))
    # Every deal is played in the same seatings, and matches are in order of deals.
    together = float(np.sum(residuals.reshape(-1, int(seats)).sum(axis=1) ** 2))
    return 1 - together / apart if apart else 0.0


METRICS: dict[str, tuple[str, str | None]] = {
    "points_per_round": ("points", "rounds"),
    "points_per_match": ("points", None),
    "goat_rate": ("goat", None),
}
"""By name: what is summed over a policy's seats, and what the sum is divided by (None: seats)."""


def _weights(rows: pd.DataFrame, column: str | None) -> npt.ArrayLike:
    return np.ones(len(rows)) if column is None else rows[column]
