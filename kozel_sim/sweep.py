"""What a rule variant does: the same deals, seatings and policies under several rule sets.

Every metric is a ratio of sums over matches, and every deal is played under every rule set, so a
difference between two rule sets is taken deal by deal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kozel_sim.fixed import BROKEN, Goats, Span
from kozel_sim.intervals import LEVEL, Estimate
from kozel_sim.odds import Odds, odds_between, share_columns
from kozel_sim.rows import orders_of, whole_matches
from kozel_sim.runs import Totals
from kozel_sim.stats import Ratio, goats_in
from kozel_sim.totals import Sums

Floats = npt.NDArray[np.float64]
ALL = "all"
"""Stands for all policies together in the column policy."""


@dataclass(frozen=True)
class _Matches:
    """The matches of one rule set as arrays ``[match]`` or ``[match, seat]``."""

    deal: npt.NDArray[np.int64]
    order: npt.NDArray[np.int8]
    goat: Floats
    goat_sides: Floats
    points: Floats
    passes: Floats
    draws: Floats
    led: Floats
    rounds: Floats
    fish_rounds: Floats
    capped: Floats
    policy: npt.NDArray[np.object_]

    @classmethod
    def of(cls, frame: pd.DataFrame, players: int) -> _Matches:
        """Fold a frame's rows into matches."""
        frame = whole_matches(frame, players)

        def fold(column: str) -> Floats:
            return frame[column].to_numpy().reshape(-1, players).astype(np.float64)

        def first(column: str) -> Any:
            return frame[column].to_numpy()[::players]

        goat = fold("goat")
        seats_of_a_side = players // frame["side"].iloc[:players].nunique()
        return cls(
            deal=first("deal"),
            order=orders_of(frame)[::players],
            goat=goat,
            goat_sides=goat.sum(axis=1) / seats_of_a_side,
            points=fold("points"),
            passes=fold("passes"),
            draws=fold("draws"),
            led=fold("led"),
            rounds=first("rounds").astype(np.float64),
            fish_rounds=first("fish_rounds").astype(np.float64),
            capped=first("capped").astype(np.float64),
            policy=np.asarray(frame["policy"], dtype=object).reshape(-1, players),
        )

    def by_deal(self, top: Floats, bottom: Floats) -> Ratio:
        """Return the ratio of two sums over matches, by its deals' parts."""
        deals, firsts, codes = self.deals
        tops, bottoms = (np.bincount(codes, x, deals).astype(np.float64) for x in (top, bottom))
        return Ratio(tops, bottoms, self.order[firsts].astype(np.int64))

    @cached_property
    def deals(self) -> tuple[int, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """How many deals there are, their first matches, and the number of each match's deal."""
        found, firsts, codes = np.unique(self.deal, return_index=True, return_inverse=True)
        return len(found), firsts, codes


@dataclass(frozen=True)
class Metric:
    """A ratio of two sums over matches.

    Attributes
    ----------
    meaning : str
        What it says, with its unit.
    top, bottom : callable
        Numerator and denominator of each match.
    sums : (str, str)
        The same two, as ``kozel_sim.totals`` calls them.
    span : callable, optional
        Between what the rules keep it, by how many goats they make.
    """

    meaning: str
    top: Callable[[_Matches], Floats]
    bottom: Callable[[_Matches], Floats]
    sums: tuple[str, str]
    span: Callable[[Goats], Span] | None = None


def _one(m: _Matches) -> Floats:
    return np.ones(len(m.deal))


METRICS: dict[str, Metric] = {
    "goat_rate": Metric(
        "chance that a player ends a match as goat",
        lambda m: m.goat.sum(axis=1),
        lambda m: _one(m) * m.goat.shape[1],
        ("goats", "seats"),
        lambda goats: goats.of_a_player,
    ),
    "goats_per_round": Metric(
        "goats (sides) per round played",
        lambda m: m.goat_sides,
        lambda m: m.rounds,
        ("goat_sides", "rounds"),
    ),
    "goats_per_match": Metric(
        "goats (sides) per match",
        lambda m: m.goat_sides,
        _one,
        ("goat_sides", "matches"),
        lambda goats: goats.of_sides,
    ),
    "several_goats": Metric(
        "share of matches in which two or more sides go goat together",
        lambda m: (m.goat_sides > 1).astype(float),
        _one,
        ("several_goats", "matches"),
        lambda goats: goats.several,
    ),
    "points_per_goat": Metric(
        "account of a goat at the end",
        lambda m: (m.goat * m.points).sum(axis=1),
        lambda m: m.goat.sum(axis=1),
        ("goat_points", "goats"),
    ),
    "rounds": Metric("rounds per match", lambda m: m.rounds, _one, ("rounds", "matches")),
    "fish_rate": Metric(
        "share of rounds that end in a fish",
        lambda m: m.fish_rounds,
        lambda m: m.rounds,
        ("fish_rounds", "rounds"),
    ),
    "capped_rate": Metric(
        "share of matches that reach the round cap",
        lambda m: m.capped,
        _one,
        ("capped", "matches"),
    ),
    "passes": Metric(
        "passes per round",
        lambda m: m.passes.sum(axis=1),
        lambda m: m.rounds,
        ("passes", "rounds"),
    ),
    "draws": Metric(
        "tiles drawn from the bazaar per round",
        lambda m: m.draws.sum(axis=1),
        lambda m: m.rounds,
        ("draws", "rounds"),
    ),
    "leader_edge": Metric(
        "goat rate of the first leader minus that of all players",
        lambda m: (m.goat * m.led).sum(axis=1) - m.goat.mean(axis=1),
        _one,
        ("leader_edge", "matches"),
    ),
}
"""The metrics of a sweep, by name."""

RATES = ("several_goats", "fish_rate", "capped_rate")
"""Metrics that are shares of matches or rounds. All players' goat rate is none: a match may have a
fixed number of goats."""


Ratios = list[tuple[str, str, Any]]
"""(policy, metric, ratio): the ratio by its deals' parts, or out of totals."""


def effects(results: pd.DataFrame | Totals, level: float = LEVEL) -> pd.DataFrame:
    """Return every metric under every rule set, and its paired difference from the first one.

    Parameters
    ----------
    results : DataFrame or Totals
        One row per match and seat, of several rule sets on the same deals, or what they add up to;
        the first rule set of each number of players is the baseline.
    level : float, default 0.95
        The intervals' coverage.

    Returns
    -------
    DataFrame
        Columns players, preset, policy ("all", or one policy for goat_rate), metric, estimate,
        std_error, ci_low, ci_high, baseline, difference, diff_std_error, diff_ci_low,
        diff_ci_high, level, n_matches, n_deals, method. The baseline differs from itself by 0,
        without an error. Of rates also odds_ratio (the odds over the baseline's), odds_low,
        odds_high; of policies goat_share (of all goats under these rules, how many are theirs),
        goat_share_low, goat_share_high, goat_share_difference (from the baseline's share),
        goat_share_diff_low, goat_share_diff_high, seat_share (of all seats); empty elsewhere, and
        where there is none, see ``kozel_sim.odds``.
    """
    rows: list[dict[str, Any]] = []
    for players, tables in _tables(results).items():
        baseline: dict[tuple[str, str], Any] = {}
        base_name, base_shares = tables[0][0], tables[0][4]
        for preset, n_matches, ratios, broken, shares in tables:
            for policy, metric, ratio in ratios:
                rate = metric in RATES or policy != ALL
                one = ratio.mean(level, rate)
                base = baseline.setdefault((policy, metric), ratio)
                diff = _itself(one) if base is ratio else ratio.minus(base, level, rate)
                told = f"; {BROKEN}" if broken and ratio.span is not None else ""
                rows.append(
                    {
                        "players": players,
                        "preset": preset,
                        "policy": policy,
                        "metric": metric,
                        "estimate": one.estimate,
                        "std_error": one.std_error,
                        "ci_low": one.ci_low,
                        "ci_high": one.ci_high,
                        "baseline": base_name,
                        "difference": diff.estimate,
                        "diff_std_error": diff.std_error,
                        "diff_ci_low": diff.ci_low,
                        "diff_ci_high": diff.ci_high,
                        "level": level,
                        "n_matches": n_matches,
                        "n_deals": one.n_deals,
                        "method": diff.method + told,
                    }
                    | _odds(ratio, base, level, rate or metric == "goat_rate").columns
                    | _shares(shares.get(policy), base_shares.get(policy), level)
                )
    return pd.DataFrame(rows)


def _odds(ratio: Any, base: Any, level: float, rate: bool) -> Odds:
    """Return the odds ratio of a rate and the baseline's; of another metric there is none."""
    return odds_between(ratio, base, level) if rate else Odds()


def _shares(mine: Share | None, base: Share | None, level: float) -> dict[str, float]:
    """Return a policy's share of all goats, and its difference from the baseline's."""
    here = mine is not None and mine[0].exists
    found = share_columns(mine[0].mean(level, rate=True) if mine and here else None)
    ends = (math.nan,) * 3
    if mine and here and base and base[0].exists:
        itself = mine[0] is base[0]
        diff = mine[0].minus(base[0], level, rate=True)
        ends = (0.0,) * 3 if itself else (diff.estimate, diff.ci_low, diff.ci_high)
    found |= dict(zip((f"goat_share_{x}" for x in DIFFERENCE), ends, strict=True))
    return found | {"seat_share": mine[1] if mine else math.nan}


DIFFERENCE = ("difference", "diff_low", "diff_high")


def _itself(one: Estimate) -> Estimate:
    """Return the difference of an estimate from itself."""
    return replace(one, estimate=0.0, std_error=0.0, ci_low=0.0, ci_high=0.0)


Share = tuple[Any, float]
"""(the ratio of a policy's goats and all goats, its share of all seats)."""
Rules = tuple[str, int, Ratios, bool, dict[str, Share]]
"""(preset, matches, ratios, whether capped matches break the number of goats that rules fix, shares
of goats by policy)."""


def _tables(results: pd.DataFrame | Totals) -> dict[int, list[Rules]]:
    """Return the ratios of each rule set, by the number of players."""
    found: dict[int, list[Rules]] = {}
    if isinstance(results, Totals):
        for sums in results.sums:
            tables = found.setdefault(sums.players, [])
            ratios = _ratios_of_sums(sums)
            if tables:
                # Products are kept with the first rule set's sums only.
                known = {entry[:2] for entry in tables[0][2]}
                ratios = [entry for entry in ratios if entry[:2] in known]
            goats = sums.goats
            broken = goats is not None and goats.broken
            shares = {p: (sums.share_of_goats(p), sums.share_of_seats(p)) for p in sums.policies}
            tables.append((sums.preset, sums.matches, ratios, broken, shares))
        return found
    for players, group in results.groupby("players", sort=False):
        tables = found.setdefault(int(str(players)), [])
        for preset, part in group.groupby("preset", observed=True, sort=False):
            matches = _Matches.of(part, int(str(players)))
            goats = goats_in(part, str(preset), int(str(players)))
            ratios = _ratios_of_matches(matches, goats)
            broken = goats is not None and goats.broken
            shares = _shares_of_matches(matches)
            tables.append((str(preset), len(matches.deal), ratios, broken, shares))
    return found


def _ratios_of_sums(sums: Sums) -> Ratios:
    found = [(ALL, name, sums.ratio(*metric.sums)) for name, metric in METRICS.items()]
    return [entry for entry in found if entry[2].exists] + [
        (policy, "goat_rate", sums.ratio("goat", "seats", policy)) for policy in sums.policies
    ]


def _shares_of_matches(matches: _Matches) -> dict[str, Share]:
    found = {}
    for policy in dict.fromkeys(matches.policy.ravel()):
        seats = (matches.policy == policy).astype(np.float64)
        goats = (seats * matches.goat).sum(axis=1)
        ratio = matches.by_deal(goats, matches.goat.sum(axis=1))
        found[str(policy)] = (ratio, float(seats.mean()))
    return found


def _ratios_of_matches(matches: _Matches, rules: Goats | None) -> Ratios:
    def ratio(top: Floats, bottom: Floats, span: Callable[[Goats], Span] | None) -> Ratio:
        return replace(matches.by_deal(top, bottom), span=span(rules) if span and rules else None)

    found: Ratios = [
        (ALL, name, ratio(metric.top(matches), metric.bottom(matches), metric.span))
        for name, metric in METRICS.items()
    ]
    found = [entry for entry in found if entry[2].exists]
    for policy in dict.fromkeys(matches.policy.ravel()):
        seats = (matches.policy == policy).astype(np.float64)
        goats = (seats * matches.goat).sum(axis=1)
        everywhere = METRICS["goat_rate"].span if seats.all() else None
        found.append((str(policy), "goat_rate", ratio(goats, seats.sum(axis=1), everywhere)))
    return found


def best_policies(results: pd.DataFrame | Totals, level: float = LEVEL) -> pd.DataFrame:
    """Return who of the policies played has the lowest goat rate, and its paired lead on the next.

    Parameters
    ----------
    results : DataFrame or Totals
        As for ``effects``.
    level : float, default 0.95
        The intervals' coverage.

    Returns
    -------
    DataFrame
        Columns players, preset, best (of those that were played; empty where nobody was a goat,
        as where all matches reached the cap of rounds), n_policies (how many were played),
        goat_rate, next, lead (how much lower the best one's goat rate is), lead_ci_low,
        lead_ci_high, level, same_as_baseline.
    """
    rows: list[dict[str, Any]] = []
    for players, tables in _tables(results).items():
        baseline = None
        for preset, _, ratios, *_ in tables:
            found = [(policy, ratio) for policy, _, ratio in ratios if policy != ALL]
            found.sort(key=lambda entry: entry[1].value)
            (best, first), (second, other) = found[:2]
            if found[-1][1].value == 0:
                best, second = "", ""
            lead = other.minus(first, level, rate=True)
            baseline = baseline or best
            rows.append(
                {
                    "players": players,
                    "preset": preset,
                    "best": best,
                    "n_policies": len(found),
                    "goat_rate": float(first.value),
                    "next": second,
                    "lead": lead.estimate,
                    "lead_ci_low": lead.ci_low,
                    "lead_ci_high": lead.ci_high,
                    "level": level,
                    "same_as_baseline": best == baseline,
                }
            )
    return pd.DataFrame(rows)
