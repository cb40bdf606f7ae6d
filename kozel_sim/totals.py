"""Runs without a frame: the sums that summaries and sweeps need, in memory that does not grow.

A deal's sums are added up over all its matches; kept are these sums' products, over the deals: that
is all that a ratio of sums and its interval clustered by deal are made of. The deals of each cyclic
order have products of their own, so that orders can be set apart. All are whole numbers of 64 bits,
and estimates are made of them in exact fractions, so no way of playing changes a bit.

Legend
------
column     what is summed: ``GAME`` of the kernel, then goat, points, rating, rated by policy.
form       a weighted sum of columns, as {column: weight}.
products   ``[order, column, column]``, over the deals of each cyclic order; column 0 is 1 for every
           deal: row 0 has the sums.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kozel_sim import stats
from kozel_sim.engine.entries import tally_matches
from kozel_sim.engine.layout import BLOCK, GAME, OF_A_POLICY, aligned
from kozel_sim.engine.play import new_matches
from kozel_sim.few import unseen_error_of_moments
from kozel_sim.fixed import Goats, Span, goats_of, span_between
from kozel_sim.manifest import MANIFEST
from kozel_sim.rules import RuleSet
from kozel_sim.schedule import Lineups
from kozel_sim.scoring import rating100
from kozel_sim.store import damaged, read_table, write_table

Ints = npt.NDArray[np.int64]
Form = dict[int, Fraction]

ROUND_BINS = 1000
"""Bins of the histogram of rounds; the last one also counts what is above."""
POINTS_ABOVE = 500
"""Bins of the histogram of points above the target; the last one also counts what is above."""
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
    products : array of int64, ``[order, column, column]``
        Over deals, of this rule set's sums.
    with_first : array of int64, ``[order, column, column of the first rule set]``
        Over deals, of this rule set's sums and those of the first one with as many players.
    rated_deals : array of int64, ``[order, policy]``
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
        cls, rules: RuleSet, names: list[str], lineups: Lineups, first: Sums | None = None
    ) -> Sums:
        """Return sums of nothing; `first` are those of the first rule set, if this is another."""
        seats = lineups.players
        deals = lineups.cycle
        policies = {}
        for name in dict.fromkeys(names[i] for i in dict.fromkeys(seats.ravel().tolist())):
            here = np.isin(seats, [i for i, other in enumerate(names) if other == name])
            policies[name] = (int(here.sum()) // deals, int(here.any(axis=2).sum()) // deals)
        rates = "rating100" in rules.settlement
        columns = len(GAME) + len(policies) * len(OF_A_POLICY[: 4 if rates else 2])
        return cls(
            preset=rules.name,
            players=rules.players,
            sides=rules.sides,
            matches_per_deal=lineups.matches,
            policies=policies,
            rates=rates,
            products=np.zeros((deals, columns, columns), np.int64),
            with_first=np.zeros((deals, columns, first.columns if first else 0), np.int64),
            rated_deals=np.zeros((deals, len(policies)), np.int64),
            points=np.zeros((len(policies), rules.target + POINTS_ABOVE), np.int64),
            rounds=np.zeros(ROUND_BINS, np.int64),
        )

    def blank(self) -> Sums:
        """Return sums of nothing, of the same shape."""
        return replace(self, **{name: np.zeros_like(getattr(self, name)) for name in ARRAYS})

    @property
    def columns(self) -> int:
        """How many sums a deal has."""
        return int(self.products.shape[1])

    @property
    def deals(self) -> int:
        """How many deals were played."""
        return self.sum_of(0)

    @property
    def matches(self) -> int:
        """How many matches were played."""
        return self.deals * self.matches_per_deal

    def sum_of(self, column: int) -> int:
        """Return the sum of a column over all deals."""
        return int(self.products[:, 0, column].sum())

    def add(self, other: Sums) -> None:
        """Add the sums of other deals.

        Raises
        ------
        ValueError
            If 64 bits may not hold them (no product is larger than the largest square).
        """
        self.need_room(other.matches)
        other.need_room(self.matches)
        for name in ARRAYS:
            mine = getattr(self, name)
            mine += getattr(other, name)

    @property
    def facts(self) -> dict[str, Any]:
        """What must be known of the sums beside their numbers, as JSON values."""
        found = {key: value for key, value in vars(self).items() if key not in ARRAYS}
        found["policies"] = {name: list(n) for name, n in self.policies.items()}
        return found | {"shapes": [list(getattr(self, name).shape) for name in ARRAYS]}

    def need_shapes(self, first: Sums) -> None:
        """Raise ValueError unless the sums are as many as they must be; `first` is the first."""
        own = len(OF_A_POLICY[: 4 if self.rates else 2])
        n, orders = len(GAME) + len(self.policies) * own, len(self.products)
        others = 0 if first is self else first.columns
        wanted: dict[str, tuple[int, ...]] = {
            "products": (orders, n, n),
            "with_first": (orders, n, others),
        }
        wanted |= {"rated_deals": (orders, len(self.policies)), "rounds": (ROUND_BINS,)}
        wanted["points"] = (len(self.policies), self.points.shape[-1])
        for name, shape in wanted.items():
            if getattr(self, name).shape != shape:
                raise ValueError(f"its {name} are {getattr(self, name).shape}, not {shape}")
        if not orders or self.deals < 1:
            raise ValueError("its sums are of no deals")

    def need_room(self, more: int = 0) -> None:
        """Raise ValueError if 64 bits may not hold the sums of more matches."""
        squares = self.products.diagonal(axis1=1, axis2=2).sum(axis=0)
        if squares.max() >= LIMIT:
            raise ValueError(
                f"{self.preset}: the sums of {self.matches + more:,} matches outgrow 64 bits; "
                "play fewer deals"
            )

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
        deals = self.products[:, 0, 0]
        if policy is not None and bottom == "rated":
            deals = self.rated_deals[:, list(self.policies).index(policy)]
        span = self._span(top, bottom, policy)
        return SumsRatio(self, self.form(top, policy), self.form(bottom, policy), deals, span)

    def share_of_goats(self, policy: str) -> SumsRatio:
        """Return a policy's goats over all goats."""
        forms = self.form("goat", policy), self.form("goats")
        return SumsRatio(self, *forms, self.products[:, 0, 0])

    def share_of_seats(self, policy: str) -> float:
        """Return at how many of all seats a policy sits."""
        return self.policies[policy][0] / (self.matches_per_deal * self.players)

    @property
    def goats(self) -> Goats | None:
        """How many goats the matches have by the rules."""
        return goats_of(self.preset, self.players, self.sum_of(GAME.index("capped")))

    def everybody(self, policy: str) -> bool:
        """Tell whether a policy sits at every seat of every match."""
        return self.policies[policy][0] == self.matches_per_deal * self.players

    def _span(self, top: str, bottom: str, policy: str | None) -> Span | None:
        """Return between what the rules keep a ratio."""
        goats = self.goats
        if goats is None or (policy is not None and not self.everybody(policy)):
            return None
        spans = {
            ("goats", "seats"): goats.of_a_player,
            ("goat", "seats"): goats.of_a_player,
            ("goats", "matches"): goats.seats,
            ("goat_sides", "matches"): goats.of_sides,
            ("several_goats", "matches"): goats.several,
        }
        return spans.get((top, bottom))

    def metrics(self, level: float) -> dict[str, stats.Estimate]:
        """Return what the rules make of the game, as ``stats.summarise_presets``."""
        found = {
            "goats_per_match": self.ratio("goats", "matches").mean(level),
            "goat_rate": self.ratio("goats", "seats").mean(level),
            "fish_rate": self.ratio("fish_rounds", "rounds").mean(level, rate=True),
            "rounds": self.ratio("rounds", "matches").mean(level),
            "capped_rate": self.ratio("capped", "matches").mean(level, rate=True),
        }
        return stats.told_broken(found, self.goats)

    def metrics_of(self, policy: str, level: float) -> dict[str, stats.Estimate]:
        """Return how a policy fared, as ``stats.summarise``."""
        found = {
            "goat_rate": self.ratio("goat", "seats", policy).mean(level, rate=True),
            "points": self.ratio("points", "seats", policy).mean(level),
        }
        rating = self.ratio("rating", "rated", policy) if self.rates else None
        if rating is not None and rating.deals.any():
            found["rating"] = rating.mean(level)
        return stats.told_broken(found, self.goats if self.everybody(policy) else None)


@dataclass(frozen=True)
class SumsRatio:
    """A ratio of two sums over deals; as ``stats.Ratio``, which has each deal's part of them.

    Attributes
    ----------
    sums : Sums
        What it is made of.
    top, bottom : dict of int to Fraction
        The forms that are summed.
    deals : array of int, ``[order]``
        How many deals it is of.
    span : (float, float), optional
        Between what the rules keep it.
    """

    sums: Sums
    top: Form
    bottom: Form
    deals: Ints
    span: Span | None = None

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
        n, kinds = self._kinds()
        error = math.sqrt(self._covariance(self)) if n > 1 else math.inf
        return stats.mean_estimate(float(self.value), error, n, level, rate, kinds, self.span)

    def minus(self, other: SumsRatio, level: float, rate: bool = False) -> stats.Estimate:
        """Return ``stats.clustered_difference``; one of both is of the first rule set, or both."""
        fixed = stats.minus_fixed(self, other, level, rate)
        if fixed is not None:
            return fixed
        n, kinds = self._kinds()
        error = math.inf
        if n > 1:
            squares = self._covariance(self) + other._covariance(other)
            error = math.sqrt(squares - 2 * self._covariance(other))
            largest = 1.0 if rate else max(self.size, other.size)
            error = math.hypot(error, unseen_error_of_moments(error, n, largest))
        difference = float(self.value - other.value)
        span = span_between(self.span, other.span)
        return stats.difference_estimate(difference, error, n, level, rate, kinds, span)

    def contrast(self, other: SumsRatio, weights: Sequence[float]) -> tuple[float, int, int]:
        """Return the error of this and the other, weighted, and how many deals and kinds."""
        n, kinds = self._kinds()
        if n < 2:
            return math.inf, n, 1
        mine, theirs = (Fraction(weight) for weight in weights)
        squares = mine**2 * self._covariance(self) + theirs**2 * other._covariance(other)
        return math.sqrt(squares - 2 * mine * theirs * self._covariance(other)), n, kinds

    @property
    def size(self) -> float:
        """The root mean square of a deal's value."""
        n, _ = self._kinds()
        squares = _product(self.top, self.top, self.sums.products.sum(axis=0))
        return math.sqrt(float(squares * n / self._over_deals(self.bottom) ** 2))

    def _over_deals(self, form: Form) -> Fraction:
        return sum((w * self.sums.sum_of(c) for c, w in form.items()), Fraction(0))

    def _kinds(self) -> tuple[int, int]:
        """Return how many deals there are, and how many kinds of them are set apart."""
        met = self.deals[self.deals > 0]
        return int(met.sum()), len(met) if stats.set_apart(met) else 1

    def _deviation(self) -> Form:
        """Return (top - ratio * bottom) / sum of bottom, whose sum over the deals is 0."""
        whole = self._over_deals(self.bottom)
        found = {c: w / whole for c, w in self.top.items()}
        for c, w in self.bottom.items():
            found[c] = found.get(c, Fraction(0)) - self.value * w / whole
        return found

    def _covariance(self, other: SumsRatio) -> Fraction:
        """Return the covariance of the two: over kinds, n / (n - 1) times that of the deviations.

        Within a kind, these sum to more or less than 0; what that adds to the products is no luck.
        """
        n, kinds = self._kinds()
        same = self.sums is other.sums
        products = self.sums.products if same else self.sums.with_first
        mine, theirs = self._deviation(), other._deviation()
        if kinds == 1:
            return Fraction(n, n - 1) * _product(mine, theirs, products.sum(axis=0))
        found = Fraction(0)
        for order in np.flatnonzero(self.deals):
            n = int(self.deals[order])
            sums = [
                _sum(form, s.products[order])
                for form, s in ((mine, self.sums), (theirs, other.sums))
            ]
            within = _product(mine, theirs, products[order]) - sums[0] * sums[1] / n
            found += Fraction(n, n - 1) * within
        return found


def _sum(form: Form, products: Ints) -> Fraction:
    """Return the sum of a form over deals."""
    return sum((w * int(products[0, c]) for c, w in form.items()), Fraction(0))


def _product(one: Form, other: Form, products: Ints) -> Fraction:
    """Return the sum over deals of the product of two forms."""
    return sum(
        (v * w * int(products[j, k]) for j, v in one.items() for k, w in other.items()),
        Fraction(0),
    )


def write_sums(found: Sequence[Sums]) -> tuple[bytes, dict[str, Any]]:
    """Return the sums of a part as a file, and what else must be known to read it."""
    import pyarrow as pa

    arrays = [np.asarray(getattr(sums, name)) for sums in found for name in ARRAYS]
    numbers = np.concatenate([array.ravel() for array in arrays])
    return write_table(pa.table({"sums": numbers})), {"sums": [sums.facts for sums in found]}


def read_sums(folder: Path, entry: dict[str, Any]) -> list[Sums]:
    """Read what ``write_sums`` wrote; ValueError if it is missing or damaged."""
    found: list[Sums] = []
    try:
        if "sums" not in entry:
            raise ValueError("it is not said what sums it has")
        numbers = read_table(folder, entry, {"sums": "int64"})["sums"].to_numpy()
        for facts in entry["sums"]:
            facts = dict(facts)
            arrays = {}
            for name, shape in zip(ARRAYS, facts.pop("shapes"), strict=True):
                size = math.prod(shape)
                arrays[name] = numbers[:size].reshape(shape).copy()
                numbers = numbers[size:]
            facts["policies"] = {name: tuple(n) for name, n in facts["policies"].items()}
            found.append(Sums(**facts, **arrays))
            found[-1].need_shapes(found[0])
    except ValueError as error:
        if str(folder) in str(error):
            raise
        raise damaged(folder / entry["file"], error) from None
    return found


def need_alike(folder: Path, manifest: dict[str, Any], blocks: dict[str, list[list[Sums]]]) -> None:
    """Raise ValueError unless sums are of the run's rule sets and policies, each set in one block.

    Those of a block's parts are added up, so they must be sums of the same things.
    """
    rules = [(each["preset"], each["knobs"]["players"]) for each in manifest["rules"]]
    names = {each["name"] for each in manifest["policies"]}
    there: list[tuple[str, int]] = []
    for block, parts in blocks.items():
        where = f"{folder / MANIFEST} is damaged: the sums of block {block}"
        facts = [[each.facts for each in part] for part in parts]
        if facts != [facts[0]] * len(facts):
            raise ValueError(f"{where} are of different things")
        there += [(each.preset, each.players) for each in parts[0]]
        if any(not each.policies.keys() <= names for each in parts[0]):
            raise ValueError(f"{where} are of a policy that is not listed")
    if not set(there) <= set(rules) or len(set(there)) < len(there):
        raise ValueError(f"{folder / MANIFEST} is damaged: its sums are not those of its rules")


def same_sums(some: Sequence[Sums], others: Sequence[Sums]) -> bool:
    """Tell whether two lists of sums are equal to the bit, and of the same things."""
    return [sums.facts for sums in some] == [sums.facts for sums in others] and all(
        np.array_equal(getattr(a, name), getattr(b, name))
        for a, b in zip(some, others, strict=True)
        for name in ARRAYS
    )


def join_sums(parts: Sequence[Sequence[Sums]]) -> list[Sums]:
    """Add up parts of one block, rule set by rule set."""
    whole = [sums.blank() for sums in parts[0]]
    for part in parts:
        for sums, more in zip(whole, part, strict=True):
            sums.add(more)
    return whole


class Desk(NamedTuple):
    """Where a chunk of deals is played.

    Attributes
    ----------
    matches : array of MATCH, ``[match]``
        Those of each cyclic order together.
    numbers : array of int64, ``[order, block, column * deal]``
        Room for the deals' sums.
    whole : array of MATCH, ``[order, deal, match]``
        As many matches as fit; those of a smaller chunk may be a copy.
    """

    matches: npt.NDArray[Any]
    numbers: Ints
    whole: npt.NDArray[Any]


class Tally:
    """How the matches of one rule set are added up, chunk by chunk.

    Parameters
    ----------
    rules : RuleSet
        The rules.
    names : list of str
        The policies that the line-ups count into.
    lineups : Lineups
        The matches of every deal; each row is another cyclic order.
    deals : int
        How many deals a chunk has at the most: whole cycles.
    first : Tally, optional
        That of the first rule set with as many players.
    """

    def __init__(
        self,
        rules: RuleSet,
        names: list[str],
        lineups: Lineups,
        deals: int,
        first: Tally | None = None,
    ) -> None:
        self.sums: Sums = Sums.empty(rules, names, lineups, first.sums if first else None)
        self.rules = rules
        self.deals = deals
        ids, _, players = lineups.of_deals(0, deals)
        by_cycle = new_matches(ids, players).reshape(-1, lineups.cycle, lineups.matches)
        self._pattern = np.ascontiguousarray(by_cycle.swapaxes(0, 1))
        self._spare: list[tuple[npt.NDArray[Any], Ints]] = []
        self._shared = False
        if first is not None:
            first._shared = True
        kinds = list(self.sums.policies)
        self._kinds = np.array([kinds.index(name) if name in kinds else 0 for name in names])
        self._encoded = rules.encode()
        rated = range(rules.target) if self.sums.rates else ()
        self._ratings = np.array([rating100(points) for points in rated], np.int64)

    def desk_of(self, first: int, end: int) -> Desk:
        """Return the matches of some deals, whole cycles, and room for sums.

        What ``free`` takes back is used again: memory that has been used before is quicker than
        new, and who plays is written there already.
        """
        orders, most, _ = self._pattern.shape
        try:
            whole, numbers = self._spare.pop()
        except IndexError:
            whole = self._pattern.copy()
            blocks = -(-most // BLOCK) if self._shared else 1
            shape = (orders if self._shared else 1, blocks, self.sums.columns * BLOCK)
            numbers = aligned(math.prod(shape), np.int64).reshape(shape)
        whole["deal"] += np.uint64(first) - whole["deal"][:1, 0, 0]
        whole["rounds"] = 0
        matches = np.ascontiguousarray(whole[:, : (end - first) // orders])
        return Desk(matches.reshape(-1), numbers, whole)

    def free(self, desk: Desk) -> None:
        """Take back what nobody looks at any more."""
        self._spare.append((desk.whole, desk.numbers))

    def count(self, desk: Desk, of_first: Ints | None, sums: Sums) -> None:
        """Add the played matches to sums; the desk has their deals' sums afterwards.

        `of_first` has the sums of the first rule set for the same deals. A desk has all of them
        only where another tally needs them: memory that is not touched is quicker.
        """
        numbers = desk.numbers
        columns = max(sums.columns, sums.with_first.shape[2])
        lists = np.empty((2, columns + 1), np.int64)
        for order, played in enumerate(desk.matches.reshape(len(sums.products), -1)):
            rows = numbers[min(order, len(numbers) - 1)]
            tally_matches(
                self._encoded,
                played,
                sums.matches_per_deal,
                self._kinds,
                self._ratings,
                rows,
                sums.products[order],
                rows[:0] if of_first is None else of_first[order],
                sums.with_first[order],
                sums.rated_deals[order],
                sums.points,
                sums.rounds,
                lists,
            )
        sums.need_room()
