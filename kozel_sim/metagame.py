"""The game of choosing a policy: payoffs of duels, its Nash mixture, and circles of winners.

A round robin of duels is a symmetric zero-sum game of two choosers: either names a policy, and the
payoff is what the first one's does better in the duel. With three or four singles, A v B is one A
at a table of B: how a newcomer fares among them. B v A is another game then; where both were
played, the payoff is half of the difference of the two, so that what one wins the other loses.

Legend
------
payoff       what `policy` does better than `against`: more of what is wanted, less of goats, and
             of points what the rules want. It is a difference of two means, over the same deals.
influence    what each deal adds to a payoff's error, ``[pair, deal]``; deals are common to all
             pairs, so payoffs are dependent, and are resampled together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import optimize

from kozel_sim.capped import capped_in
from kozel_sim.direction import better_of, sign_of
from kozel_sim.few import unseen_error
from kozel_sim.intervals import LEVEL, difference_estimate, need_level, p_value, without_dust
from kozel_sim.metrics import (
    DealSums,
    duels_of,
    error_of,
    holm,
    metric_of,
    parts_of,
    resamples_of,
)
from kozel_sim.schedule import VERSUS
from kozel_sim.words import counted

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Game:
    """The duels of one preset.

    Attributes
    ----------
    names : list of str
        The policies, in the order in which duels name them.
    cells : array of int, ``[duel, 2]``
        Which two meet.
    totals, counts : array of float, ``[duel, 2, deal]``
        Both sides' sums; 0 where a duel has not that deal.
    sign : float
        What turns the difference of the means into a payoff.
    rate : bool
        Whether values are 0 or 1.
    matches, capped : array of int, ``[duel]``
        How many were played, and of these reached the cap of rounds.
    """

    names: list[str]
    cells: npt.NDArray[np.int64]
    totals: Floats
    counts: Floats
    sign: float
    rate: bool
    matches: npt.NDArray[np.int64]
    capped: npt.NDArray[np.int64]

    @classmethod
    def of(cls, part: pd.DataFrame, metric: str) -> _Game:
        """Read the duels of one preset."""
        kind = metric_of(metric)
        sign = sign_of(better_of(metric, part))
        deals = pd.Index(pd.unique(part["deal"]))
        duels = list(duels_of(part))
        names = list(dict.fromkeys(name for duel in duels for name in duel[:2]))
        cells = np.array([[names.index(name) for name in duel[:2]] for duel in duels])
        totals = np.zeros((len(duels), 2, len(deals)))
        counts = np.zeros_like(totals)
        for number, (first, second, rows) in enumerate(duels):
            sums = DealSums.of(rows, metric)
            at = deals.get_indexer(pd.Index(pd.unique(rows["deal"])))
            for side, name in enumerate((first, second)):
                totals[number, side, at] = sums.totals[sums.names.index(name)]
                counts[number, side, at] = sums.counts[sums.names.index(name)]
        matches = np.array([int((rows["seat"] == 0).sum()) for _, _, rows in duels])
        capped = np.array([capped_in(rows) for _, _, rows in duels])
        return cls(names, cells, totals, counts, sign, kind.rate, matches, capped)

    def payoffs(self, weights: Floats) -> Floats:
        """Return the payoff of each duel, with deals counted so often."""
        means = self.totals @ weights / np.maximum(self.counts @ weights, 1e-300)
        return np.asarray(self.sign * (means[:, 0] - means[:, 1]))

    def matrix(self, weights: Floats) -> Floats:
        """Return the payoffs, ``[policy, against]``, so that what one wins the other loses."""
        sums, played = np.zeros((2, len(self.names), len(self.names)))
        one, two = self.cells.T
        np.add.at(sums, (one, two), self.payoffs(weights))
        np.add.at(played, (one, two), 1)
        both = played + played.T
        return np.asarray((sums - sums.T) / np.maximum(both, 1))

    @property
    def scale(self) -> float:
        """How large the metric is."""
        return float(np.abs(self.totals).sum() / self.counts.sum())

    @property
    def even(self) -> Floats:
        """Every deal once."""
        return np.ones(self.totals.shape[2])

    def pairs(self) -> dict[tuple[int, int], Floats]:
        """Return each deal's influence on the payoff of every two that met."""
        sums = self.counts.sum(axis=2, keepdims=True)
        residuals = (
            self.totals - self.totals.sum(axis=2, keepdims=True) / sums * self.counts
        ) / sums
        of_duels = self.sign * (residuals[:, 0] - residuals[:, 1])
        played = self.counts.sum(axis=1) > 0
        found: dict[tuple[int, int], list[Floats]] = {}
        met: dict[tuple[int, int], list[Floats]] = {}
        for cell, (one, two) in enumerate(self.cells.tolist()):
            turn, pair = (1.0, (one, two)) if one < two else (-1.0, (two, one))
            found.setdefault(pair, []).append(turn * of_duels[cell])
            met.setdefault(pair, []).append(played[cell])
        # Pairs that were decided early have fewer deals than others.
        return {
            pair: np.mean(parts, axis=0)[np.any(met[pair], axis=0)] for pair, parts in found.items()
        }

    def unseen(self, pair: tuple[int, int]) -> float:
        """Return what deals that agree add to the error of a payoff."""
        cells = np.flatnonzero((np.sort(self.cells, axis=1) == pair).all(axis=1))
        sides = []
        for cell in cells:
            met = self.counts[cell].sum(axis=0) > 0
            turn = 1 if self.cells[cell, 0] == pair[0] else -1
            both = [(self.totals[cell, k][met], self.counts[cell, k][met]) for k in (0, 1)]
            first, second = both[::turn]
            sides.append((*first, *second))
        if len({len(side[0]) for side in sides}) > 1:
            return max(unseen_error([side], self.rate) for side in sides)
        return unseen_error(sides, self.rate)

    def matches_of(self, pair: tuple[int, int]) -> dict[str, int]:
        """Return how many matches two have played, in either order, and how many were capped."""
        met = (np.sort(self.cells, axis=1) == pair).all(axis=1)
        return {"n_matches": int(self.matches[met].sum()), "n_capped": int(self.capped[met].sum())}

    def need_all(self, place: str) -> None:
        """Raise ValueError unless every two policies have met."""
        met = self.pairs()
        for pair in combinations(range(len(self.names)), 2):
            if pair not in met:
                first, second = (self.names[i] for i in pair)
                raise ValueError(f"{place}: the duel {first}{VERSUS}{second} is missing")


def payoffs(
    frame: pd.DataFrame,
    metric: str = "points_per_match",
    level: float = LEVEL,
    simultaneous: bool = False,
) -> pd.DataFrame:
    """Return what every policy does better against every other.

    Parameters
    ----------
    frame : DataFrame
        One row per match and seat, with a column duel. Each pair once, or in both orders.
    metric : {"goat_rate", "points_per_match", "points_per_round", "rating"}
        What payoffs are differences of.
    level : float, default 0.95
        The intervals' coverage.
    simultaneous : bool, default False
        Whether it is the coverage of all intervals together (Bonferroni over the pairs).

    Returns
    -------
    DataFrame
        A row for every pair in either order: preset, players, policy, against, metric, payoff
        (positive where policy does better), std_error, ci_low, ci_high, p_value, p_holm (adjusted
        over the preset's pairs), level, n_matches, n_capped (of these, how many reached the cap of
        rounds; their points count as they stood), n_deals, method.

    Raises
    ------
    ValueError
        If the frame has no column duel, or the metric is unknown.

    Examples
    --------
    >>> from kozel_sim import duel
    >>> run = duel("room-fish-all", "dump_heavy", "random", 100, seed=1, players=2)
    >>> table = payoffs(run.frame)
    >>> table["policy"].tolist(), bool(table["payoff"][0] == -table["payoff"][1])
    (['dump_heavy', 'random'], True)
    """
    need_level(level)
    rows: list[dict[str, Any]] = []
    for keys, part in parts_of(frame):
        game = _Game.of(part, metric)
        matrix = game.matrix(game.even)
        pairs = game.pairs()
        inside = 1 - (1 - level) / (len(pairs) if simultaneous else 1)
        found = {}
        for pair, influence in pairs.items():
            both = (float(matrix[pair]), error_of(influence))
            payoff, error = (without_dust(x, game.scale) for x in both)
            n = len(influence)
            error = math.hypot(error, game.unseen(pair))
            found[pair] = difference_estimate(payoff, error, n, inside, game.rate)
        plain = [p_value(one) for one in found.values()]
        for (pair, one), p, p_holm in zip(found.items(), plain, holm(plain), strict=True):
            method = one.method + (f", Bonferroni over {len(pairs)}" if simultaneous else "")
            for first, second, turn in ((*pair, 1), (*pair[::-1], -1)):
                ends = sorted((turn * one.ci_low, turn * one.ci_high))
                rows.append(
                    keys
                    | {"policy": game.names[first], "against": game.names[second]}
                    | {"metric": metric, "payoff": turn * one.estimate, "std_error": one.std_error}
                    | {"ci_low": ends[0], "ci_high": ends[1], "p_value": p, "p_holm": p_holm}
                    | {"level": level, **game.matches_of(pair), "n_deals": one.n_deals}
                    | {"method": method}
                )
    return pd.DataFrame(rows)


def nash(
    frame: pd.DataFrame,
    metric: str = "points_per_match",
    level: float = LEVEL,
    resamples: int = 200,
    seed: int = 0,
) -> pd.DataFrame:
    """Return the mixture of policies that no policy does better against.

    Parameters
    ----------
    frame, metric
        As for ``payoffs``; every two policies must have met.
    level : float, default 0.95
        The coverage of the bootstrap's intervals (quantiles, each by itself).
    resamples : int, default 200
        How often the deals are drawn anew, the same ones for all pairs.
    seed : int, default 0
        Of the draws.

    Returns
    -------
    DataFrame
        By preset, the largest share first: preset, players, policy, metric, share (in the mixture),
        std_error, ci_low, ci_high (of the share), support (the part of the resamples in which it
        has a share), against_mixture (its payoff against the mixture; 0 for those in it, less for
        others), level, n_matches, n_capped, n_deals, method.

    Raises
    ------
    ValueError
        If a duel is missing; the message names it.

    Notes
    -----
    A linear program; the value of a symmetric game is 0. Where there are several such mixtures,
    the one whose largest share is the least is taken. With one deal the spread is that of nothing:
    the interval is 0 to 1.

    References
    ----------
    Von Neumann, Mathematische Annalen 100, 1928; Balduzzi, Tuyls, Perolat and Graepel,
    "Re-evaluating evaluation", NeurIPS 2018 (Nash averaging).

    Examples
    --------
    >>> from kozel_sim import duel
    >>> run = duel("room-fish-all", "dump_heavy", "random", 100, seed=1, players=2)
    >>> nash(run.frame, resamples=20)["share"].tolist()
    [1.0, 0.0]
    """
    need_level(level)
    if resamples < 2:
        raise ValueError(f"resamples must be at least 2, not {resamples}")
    rows: list[dict[str, Any]] = []
    for keys, part in parts_of(frame):
        game = _Game.of(part, metric)
        game.need_all(str(keys["preset"]))
        matrix = game.matrix(game.even)
        share = _mixture(matrix)
        n = len(game.even)
        drawn = np.array(
            [_mixture(game.matrix(w)) for w in resamples_of(np.zeros(n, np.int64), resamples, seed)]
        )
        ends = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
        if n == 1:
            ends = np.array([np.zeros(len(share)), np.ones(len(share))])
        for i in np.argsort(-share, kind="stable"):
            rows.append(
                keys
                | {"policy": game.names[i], "metric": metric, "share": float(share[i])}
                | {"std_error": float(drawn[:, i].std(ddof=1))}
                | {"ci_low": float(ends[0, i]), "ci_high": float(ends[1, i])}
                | {"support": float(np.mean(drawn[:, i] > 0))}
                | {"against_mixture": float(matrix[i] @ share), "level": level}
                | {"n_matches": int(game.matches.sum()), "n_capped": int(game.capped.sum())}
                | {"n_deals": n}
                | {"method": f"linear program, deals drawn {counted(resamples, 'time')}"}
            )
    return pd.DataFrame(rows)


def _mixture(matrix: Floats) -> Floats:
    """Return the Nash mixture of an antisymmetric payoff matrix, ``[policy, against]``."""
    m = len(matrix)
    scale = float(np.abs(matrix).max())
    if scale == 0:
        return np.full(m, 1 / m)
    # Least t with: no policy gains against x; no share above t; shares sum to 1.
    gains = np.column_stack([matrix / scale, np.zeros(m)])
    shares = np.column_stack([np.eye(m), -np.ones(m)])
    found = optimize.linprog(
        np.append(np.zeros(m), 1.0),
        A_ub=np.concatenate([gains, shares]),
        b_ub=np.append(np.full(m, 1e-12), np.zeros(m)),
        A_eq=np.append(np.ones(m), 0.0)[None],
        b_eq=[1.0],
        method="highs",
    )
    share = np.asarray(found.x, float)[:m]
    share[share < 1e-6] = 0.0
    return np.asarray(share / share.sum())


def intransitive(
    frame: pd.DataFrame, metric: str = "points_per_match", level: float = LEVEL
) -> pd.DataFrame:
    """Return all triples of which each does better than the next, and the last than the first.

    Parameters
    ----------
    frame, metric
        As for ``payoffs``.
    level : float, default 0.95
        One less the chance that any difference of the preset is called significant that is not.

    Returns
    -------
    DataFrame
        Columns preset, players, first, second, third, metric, first_second, second_third,
        third_first (payoffs, all positive), p_first_second, p_second_third, p_third_first (adjusted
        by Holm over all pairs of the preset), significant (all three are), level, n_deals. No rows
        where there is no such triple.

    Examples
    --------
    >>> from kozel_sim import duel
    >>> run = duel("room-fish-all", "dump_heavy", "random", 100, seed=1, players=2)
    >>> len(intransitive(run.frame))
    0
    """
    legs = ["first_second", "second_third", "third_first"]
    columns = ["preset", "players", "first", "second", "third", "metric", *legs]
    columns += [*(f"p_{leg}" for leg in legs), "significant", "level", "n_deals"]
    rows: list[dict[str, Any]] = []
    table = payoffs(frame, metric, level)
    for keys, part in table.groupby(["preset", "players"], observed=True, sort=False):
        facts = part.set_index(["policy", "against"])[["payoff", "p_holm"]]
        edges = dict(zip(facts.index, facts.to_numpy().tolist(), strict=True))
        names = list(dict.fromkeys(part["policy"]))
        for a, b, c in combinations(names, 3):
            for circle in ((a, b, c), (a, c, b)):
                steps = list(zip(circle, (*circle[1:], circle[0]), strict=True))
                found = [edges.get(step, (0.0, 1.0)) for step in steps]
                if all(payoff > 0 for payoff, _ in found):
                    ps = [p for _, p in found]
                    rows.append(
                        dict(zip(["preset", "players"], keys, strict=True))
                        | dict(zip(["first", "second", "third"], circle, strict=True))
                        | {"metric": metric}
                        | dict(zip(legs, (payoff for payoff, _ in found), strict=True))
                        | dict(zip((f"p_{leg}" for leg in legs), ps, strict=True))
                        | {"significant": max(ps) <= 1 - level, "level": level}
                        | {"n_deals": int(part["n_deals"].iloc[0])}
                    )
    return pd.DataFrame(rows, columns=columns)
