"""Runs without a frame: the sums that summaries and sweeps need, in memory that does not grow.

A deal's sums are added up over all its matches; kept are these sums' products, over the deals: that
is all that a ratio of sums and its interval clustered by deal are made of. They are whole numbers
of 64 bits, and estimates are made of them in exact fractions, so no order of playing changes a bit.

Legend
------
column     what is summed: ``GAME`` of the kernel, then goat, points, rating, rated by policy.
form       a weighted sum of columns, as {column: weight}.
products   ``[column, column]``, over the deals; column 0 is 1 for every deal: row 0 has the sums.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kozel_sim import stats
from kozel_sim.engine.layout import aligned
from kozel_sim.engine.tally import BLOCK, GAME, OF_A_POLICY, tally_matches
from kozel_sim.rules import RuleSet
from kozel_sim.scoring import rating100
from kozel_sim.store import MANIFEST, prepare_folder, read_manifest, write_folder

Ints = npt.NDArray[np.int64]
Form = dict[int, Fraction]

ROUND_BINS = 1000
"""Bins of the histogram of rounds; the last one also counts what is above."""
POINTS_ABOVE = 500
"""Bins of the histogram of points above the target; the last one also counts what is above."""
FILE = "totals.npz"
ARRAYS = ("products", "with_first", "rated_deals", "points", "rounds")
LIMIT = 2**62
"""No chunk's product comes near it, so two summands below it cannot outgrow 64 bits."""


@dataclass(frozen=True)
class Sums:
    """What the matches of one rule set add up to.

    Attributes
    ----------
    preset : str
        The rule set's name.
    players, sides : int
        How many there are.
    matches_per_deal : int
        Every deal is played as often.
    policies : dict of str to (int, int)
        By name: at how many seats of a deal's matches it sits, and in how many of its matches.
    rates : bool
        Whether the rules have a rating.
    products : array of int64, ``[column, column]``
        Over deals, of this rule set's sums.
    with_first : array of int64, ``[column, column of the first rule set]``
        Over deals, of this rule set's sums and those of the first one with as many players.
    rated_deals : array of int64, ``[policy]``
        In how many deals it has a rating in some match.
    points : array of int64, ``[policy, bin]``
        How many seats ended with so many points.
    rounds : array of int64, ``[bin]``
        How many matches had so many rounds.
    """

    preset: str
    players: int
    sides: int
    matches_per_deal: int
    policies: dict[str, tuple[int, int]]
    rates: bool
    products: Ints
    with_first: Ints
    rated_deals: Ints
    points: Ints
    rounds: Ints

    @classmethod
    def empty(
        cls, rules: RuleSet, names: list[str], pattern: npt.NDArray[Any], deals: int, first: int
    ) -> Sums:
        """Return sums of nothing; `pattern` has the MATCH records of some deals, as all are played.

        `first` is how many columns the first rule set has, 0 for that one itself.
        """
        seats = pattern["players"][:, : rules.players]
        policies = {}
        for name in dict.fromkeys(names[i] for i in dict.fromkeys(seats.ravel().tolist())):
            here = np.isin(seats, [i for i, other in enumerate(names) if other == name])
            policies[name] = (int(here.sum()) // deals, int(here.any(axis=1).sum()) // deals)
        rates = "rating100" in rules.settlement
        columns = len(GAME) + len(policies) * len(OF_A_POLICY[: 4 if rates else 2])
        return cls(
            preset=rules.name,
            players=rules.players,
            sides=rules.sides,
            matches_per_deal=len(pattern) // deals,
            policies=policies,
            rates=rates,
            products=np.zeros((columns, columns), np.int64),
            with_first=np.zeros((columns, first), np.int64),
            rated_deals=np.zeros(len(policies), np.int64),
            points=np.zeros((len(policies), rules.target + POINTS_ABOVE), np.int64),
            rounds=np.zeros(ROUND_BINS, np.int64),
        )

    def blank(self) -> Sums:
        """Return sums of nothing, of the same shape."""
        return replace(self, **{name: np.zeros_like(getattr(self, name)) for name in ARRAYS})

    @property
    def columns(self) -> int:
        """How many sums a deal has."""
        return len(self.products)

    @property
    def deals(self) -> int:
        """How many deals were played."""
        return int(self.products[0, 0])

    @property
    def matches(self) -> int:
        """How many matches were played."""
        return self.deals * self.matches_per_deal

    def add(self, other: Sums) -> None:
        """Add the sums of other deals.

        Raises
        ------
        ValueError
            If 64 bits may not hold them (no product is larger than the largest square).
        """
        largest = max(int(s.products.diagonal().max()) for s in (self, other))
        if largest >= LIMIT:
            raise ValueError(
                f"{self.preset}: the sums of {self.matches + other.matches:,} matches outgrow 64 "
                "bits; play fewer deals"
            )
        for name in ARRAYS:
            mine = getattr(self, name)
            mine += getattr(other, name)

    def form(self, name: str, policy: str | None = None) -> Form:
        """Return what is summed under a name: a column, or what follows from columns."""
        one = Fraction(1)
        if policy is not None:
            place = list(self.policies).index(policy)
            if name == "seats":
                return {0: one * self.policies[policy][0]}
            return {len(GAME) + place * (4 if self.rates else 2) + OF_A_POLICY.index(name): one}
        if name == "matches":
            return {0: one * self.matches_per_deal}
        if name == "seats":
            return {0: one * self.matches_per_deal * self.players}
        goats = GAME.index("goats")
        if name == "goat_sides":
            return {goats: Fraction(self.sides, self.players)}
        if name == "leader_edge":
            return {GAME.index("led_goats"): one, goats: -Fraction(1, self.players)}
        return {GAME.index(name): one}

    def ratio(self, top: str, bottom: str, policy: str | None = None) -> SumsRatio:
        """Return the ratio of two sums by their names."""
        deals = self.deals
        if policy is not None and bottom == "rated":
            deals = int(self.rated_deals[list(self.policies).index(policy)])
        return SumsRatio(self, self.form(top, policy), self.form(bottom, policy), deals)

    def metrics(self, level: float) -> dict[str, stats.Estimate]:
        """Return what the rules make of the game, as ``stats.summarise_presets``."""
        return {
            "goats_per_match": self.ratio("goats", "matches").mean(level),
            "goat_rate": self.ratio("goats", "seats").mean(level),
            "fish_rate": self.ratio("fish_rounds", "rounds").mean(level, rate=True),
            "rounds": self.ratio("rounds", "matches").mean(level),
            "capped_rate": self.ratio("capped", "matches").mean(level, rate=True),
        }

    def metrics_of(self, policy: str, level: float) -> dict[str, stats.Estimate]:
        """Return how a policy fared, as ``stats.summarise``."""
        found = {
            "goat_rate": self.ratio("goat", "seats", policy).mean(level, rate=True),
            "points": self.ratio("points", "seats", policy).mean(level),
        }
        rating = self.ratio("rating", "rated", policy) if self.rates else None
        if rating is not None and rating.deals:
            found["rating"] = rating.mean(level)
        return found


@dataclass(frozen=True)
class SumsRatio:
    """A ratio of two sums over deals; as ``stats.Ratio``, which has each deal's part of them."""

    sums: Sums
    top: Form
    bottom: Form
    deals: int

    @property
    def value(self) -> Fraction:
        """The ratio."""
        return self._over_deals(self.top) / self._over_deals(self.bottom)

    @property
    def exists(self) -> bool:
        """Whether there is anything to divide by."""
        return self._over_deals(self.bottom) > 0

    def mean(self, level: float, rate: bool = False) -> stats.Estimate:
        """Return ``stats.clustered_mean``."""
        n = self.deals
        error = math.sqrt(n / (n - 1) * self._covariance(self)) if n > 1 else math.inf
        return stats.mean_estimate(float(self.value), error, n, level, rate)

    def minus(self, other: SumsRatio, level: float, rate: bool = False) -> stats.Estimate:
        """Return ``stats.clustered_difference``; one of both is of the first rule set, or both."""
        n = self.deals
        squares = self._covariance(self) + other._covariance(other)
        variance = squares - 2 * self._covariance(other)
        error = math.sqrt(n / (n - 1) * variance) if n > 1 else math.inf
        difference = float(self.value - other.value)
        return stats.difference_estimate(difference, error, n, level, rate)

    def _over_deals(self, form: Form) -> Fraction:
        return sum((w * int(self.sums.products[0, c]) for c, w in form.items()), Fraction(0))

    def _deviation(self) -> Form:
        """Return (top - ratio * bottom) / sum of bottom, whose sum over the deals is 0."""
        whole = self._over_deals(self.bottom)
        found = {c: w / whole for c, w in self.top.items()}
        for c, w in self.bottom.items():
            found[c] = found.get(c, Fraction(0)) - self.value * w / whole
        return found

    def _covariance(self, other: SumsRatio) -> Fraction:
        """Return the sum over deals of the product of the deviations."""
        same = self.sums is other.sums
        products = self.sums.products if same else self.sums.with_first
        mine, theirs = self._deviation(), other._deviation()
        return sum(
            (v * w * int(products[j, k]) for j, v in mine.items() for k, w in theirs.items()),
            Fraction(0),
        )


@dataclass(frozen=True)
class Totals:
    """The results of a run that was played with ``aggregate=True``: sums instead of a frame.

    Attributes
    ----------
    sums : list of Sums
        One for each rule set, in the order in which they are listed.
    manifest : dict
        How it was made, as ``Run.manifest``.
    """

    sums: list[Sums]
    manifest: dict[str, Any]

    @property
    def name(self) -> str:
        """The run's name."""
        return str(self.manifest["name"])

    @property
    def matches(self) -> int:
        """Matches played."""
        return sum(s.matches for s in self.sums)

    @property
    def rounds(self) -> int:
        """Rounds played in all matches."""
        return sum(int(s.products[0, GAME.index("rounds")]) for s in self.sums)

    def summary(
        self, by: str = "policy", level: float = stats.LEVEL, metric: str | None = None
    ) -> pd.DataFrame:
        """Return goat rate, points and rating by policy, as ``Run.summary`` up to rounding.

        Parameters
        ----------
        by : "policy"
            Sums are kept by policy alone.
        level : float, default 0.95
            The intervals' coverage.
        metric : {"goat_rate", "points", "rating"}, optional
            Only this one.

        Raises
        ------
        ValueError
            If it is asked by anything else.
        """
        if by != "policy":
            raise ValueError(
                f"an aggregate is summed by policy, not by {by!r}; play without aggregate for that"
            )
        rows = []
        for sums in self.sums:
            groups = [
                (name, sums.deals * matches, sums.metrics_of(name, level))
                for name, (_, matches) in sums.policies.items()
            ]
            rows += stats.summary_rows(sums.preset, sums.players, by, groups)
        return stats.only(pd.DataFrame(rows), metric)

    def presets(self, level: float = stats.LEVEL) -> pd.DataFrame:
        """Return goats, fish and rounds by preset, as ``Run.presets`` up to rounding."""
        rows = []
        for sums in self.sums:
            metrics = sums.metrics(level)
            rows += stats.preset_rows(sums.preset, sums.players, metrics, sums.matches)
        return pd.DataFrame(rows)

    def histogram(self, of: str = "points") -> pd.DataFrame:
        """Return how often each final account, or each number of rounds, was met.

        Parameters
        ----------
        of : {"points", "rounds"}
            Points of a policy's seats at the end, or rounds of a match. The lowest and the highest
            bin that a rule set can have (0 and 499 over the target; 999 rounds) also count what
            lies beyond.

        Returns
        -------
        DataFrame
            Columns preset, players, policy (only of points), `of`, count; counts of 0 are left out.

        Raises
        ------
        ValueError
            If it is asked of anything else.
        """
        if of not in ("points", "rounds"):
            raise ValueError(f"unknown histogram {of!r}; choose from points, rounds")
        parts = []
        for sums in self.sums:
            head: dict[str, Any] = {"preset": sums.preset, "players": sums.players}
            if of == "rounds":
                parts.append((head, sums.rounds))
            else:
                rows = zip(sums.policies, sums.points, strict=True)
                parts += [(head | {"policy": name}, counts) for name, counts in rows]
        frames = []
        for head, counts in parts:
            (met,) = counts.nonzero()
            frames.append(pd.DataFrame(head | {of: met, "count": counts[met]}))
        return pd.concat(frames, ignore_index=True)

    def __repr__(self) -> str:
        return f"Totals({self.name!r}, {self.matches:,} matches, {self.rounds:,} rounds)"

    def save(self, folder: str | Path, extra: Callable[[Path], None] | None = None) -> Path:
        """Write the totals to a folder that does not exist, is empty, or holds this very run.

        Parameters and errors are those of ``Run.save``; ``load_totals`` reads them.
        """
        folder = Path(folder)
        if prepare_folder(folder, self.manifest):
            return folder

        def fill(scratch: Path) -> None:
            arrays = {
                f"{name}-{number}": getattr(sums, name)
                for number, sums in enumerate(self.sums)
                for name in ARRAYS
            }
            np.savez_compressed(scratch / FILE, allow_pickle=False, **arrays)
            digest = hashlib.sha256((scratch / FILE).read_bytes()).hexdigest()
            facts = [
                {key: value for key, value in vars(sums).items() if key not in ARRAYS}
                for sums in self.sums
            ]
            files = [{"file": FILE, "sha256": digest, "sums": facts}]
            if extra is not None:
                extra(scratch)
            text = json.dumps(self.manifest | {"files": files}, indent=1)
            (scratch / MANIFEST).write_text(text + "\n", encoding="utf-8")

        write_folder(folder, fill)
        return folder


def load_totals(folder: str | Path) -> Totals:
    """Read totals back from their folder.

    Parameters
    ----------
    folder : str or Path
        A folder that ``Totals.save`` or ``kozel run --aggregate`` has written.

    Raises
    ------
    ValueError
        If the folder holds no totals, or a file of it is missing or damaged.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    if not manifest.get("aggregate"):
        raise ValueError(f"{folder} holds a run with a frame; read it with load_run")
    path = folder / FILE
    try:
        (entry,) = manifest["files"]
        facts = [
            each | {"policies": {name: tuple(n) for name, n in each["policies"].items()}}
            for each in entry["sums"]
        ]
        digest = entry["sha256"]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ValueError(f"{folder / MANIFEST} is damaged: it does not list its sums") from None
    if not path.is_file():
        raise ValueError(f"{path} is missing")
    if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
        raise ValueError(f"{path} is damaged: its hash is not the manifest's")
    with np.load(path) as arrays:
        found = [
            Sums(**each, **{name: arrays[f"{name}-{number}"] for name in ARRAYS})
            for number, each in enumerate(facts)
        ]
    return Totals(found, manifest)


Desk = tuple[npt.NDArray[Any], Ints]
"""MATCH records of a chunk of deals, and room for these deals' sums, ``[block, column, deal]``."""


class Tally:
    """How the matches of one rule set are added up, chunk by chunk.

    Parameters
    ----------
    rules : RuleSet
        The rules.
    names : list of str
        The policies that the pattern's players count into.
    pattern : array of MATCH, ``[match]``
        The matches of deals 0, 1, ... of a chunk, deal by deal, not played yet.
    deals : int
        How many deals the pattern has.
    first : Tally, optional
        That of the first rule set with as many players.
    """

    def __init__(
        self,
        rules: RuleSet,
        names: list[str],
        pattern: npt.NDArray[Any],
        deals: int,
        first: Tally | None = None,
    ) -> None:
        self.sums: Sums = Sums.empty(
            rules, names, pattern, deals, first.sums.columns if first else 0
        )
        self.rules = rules
        self.deals = deals
        self._pattern = pattern
        self._spare: list[Desk] = []
        self._shared = False
        if first is not None:
            first._shared = True
        kinds = list(self.sums.policies)
        self._kinds = np.array([kinds.index(name) if name in kinds else 0 for name in names])
        self._encoded = rules.encode()
        rated = range(rules.target) if self.sums.rates else ()
        self._ratings = np.array([rating100(points) for points in rated], np.int64)

    def desk_of(self, first: int, end: int) -> Desk:
        """Return the matches of some deals, not more than the pattern has, and room for sums.

        What ``free`` takes back is used again: memory that has been used before is quicker than
        new, and who plays is written there already.
        """
        try:
            whole, numbers = self._spare.pop()
        except IndexError:
            whole = self._pattern.copy()
            blocks = -(-self.deals // BLOCK) if self._shared else 1
            shape = (blocks, self.sums.columns, BLOCK)
            numbers = aligned(math.prod(shape), np.int64).reshape(shape)
        n = end - first
        matches = whole[: n * self.sums.matches_per_deal]
        matches["deal"] += np.uint64(first) - matches["deal"][0]
        matches["rounds"] = 0
        return matches, numbers

    def free(self, desk: Desk) -> None:
        """Take back what nobody looks at any more."""
        if len(desk[0]) == len(self._pattern):
            self._spare.append(desk)

    def count(self, desk: Desk, of_first: Ints | None) -> Sums:
        """Return what the played matches add up to; the desk has their deals' sums afterwards.

        `of_first` has the sums of the first rule set for the same deals. A desk has all of them
        only where another tally needs them: memory that is not touched is quicker.
        """
        matches, rows = desk
        sums = self.sums.blank()
        tally_matches(
            self._encoded,
            matches,
            sums.matches_per_deal,
            self._kinds,
            self._ratings,
            rows,
            sums.products,
            rows[:0] if of_first is None else of_first,
            sums.with_first,
            sums.rated_deals,
            sums.points,
            sums.rounds,
        )
        return sums
