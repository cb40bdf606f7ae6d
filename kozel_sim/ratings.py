"""Ratings of a field that depend on no order of play, and Elo, which does.

A match is a choice: of the sides at the table the best place goes to one in proportion to its
strength, the next place to one of the others, and so on (Plackett-Luce; of two sides
Bradley-Terry). A side of partners is as strong as its players are on average (of logarithms).

Legend
------
place    sides in order of goat (goats last), then of points (few first; where many are good,
         many). Sides alike in both tie.
tie      every order that the tie allows counts for an equal part.
choice   one of the sides that are left, at a place. How often each was chosen out of which is all
         that the likelihood needs, so millions of matches are a few hundred numbers.
prior    what is added to the matches so that a winless entrant's rating is finite: every policy
         wins half a deal and loses half a deal, spread over all others.
rating   400 / ln 10 for each unit of logarithmic strength, as Elo points; the field's mean is 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import optimize, sparse, special

from kozel_sim.capped import capped_in, finished
from kozel_sim.direction import better_of, sign_of
from kozel_sim.intervals import LEVEL, need_level
from kozel_sim.metrics import parts_of, resamples_of
from kozel_sim.rows import strata_of, whole_matches
from kozel_sim.scoring import elo_gain
from kozel_sim.words import counted

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
POINTS = 400 / math.log(10)
RATED = [
    *("preset", "players", "policy", "rating", "std_error", "ci_low", "ci_high", "beats_average"),
    *("level", "n_policies", "n_matches", "n_capped", "n_deals", "method"),
]
ELO = [
    *("preset", "players", "policy", "elo", "order_spread", "n_policies", "n_matches", "n_capped"),
    *("n_deals", "method"),
]
PRIOR_DEALS = 0.5
"""Deals that are added as won, and as many as lost, to every policy."""


@dataclass(frozen=True)
class _Choices:
    """What the likelihood needs of the matches.

    Attributes
    ----------
    names : list of str
        The policies.
    sides : array of float, ``[side, policy]``
        The parts of a side's strength; of a player alone a single 1.
    sets : array of int, ``[set, option]``
        Sides that may be chosen from; -1 fills up.
    by_deal : sparse array, ``[deal, set * option]``
        How often each option of a set was chosen.
    matches, capped : int
        How many there are, and how many more were left out, since they reached the cap of rounds.
    strata : array of int, ``[deal]``
        The kind of each deal.
    """

    names: list[str]
    sides: Floats
    sets: Ints
    by_deal: sparse.csr_array
    matches: int
    capped: int
    strata: Ints

    @classmethod
    def of(cls, part: pd.DataFrame, players: int) -> _Choices | None:
        """Read the places of whole matches of one preset; None where none of them ended."""
        whole = whole_matches(part, players)
        part = finished(whole)
        if part.empty:
            return None
        shape = (-1, players)
        codes, names = pd.factorize(part["policy"])
        side_of = part["side"].to_numpy()[:players]
        _, firsts, side_of = np.unique(side_of, return_inverse=True, return_index=True)
        seated = codes.reshape(shape)
        teams = np.stack([np.sort(seated[:, side_of == s], axis=1) for s in range(len(firsts))], 1)
        kinds, ids = _distinct_rows(teams.reshape(-1, teams.shape[2]))
        ids = ids.reshape(teams.shape[:2])
        sides = np.zeros((len(kinds), len(names)))
        np.add.at(sides, (np.arange(len(kinds))[:, None], kinds), 1 / kinds.shape[1])
        goat, points = (part[c].to_numpy().reshape(shape)[:, firsts] for c in ("goat", "points"))
        deal, deals = pd.factorize(part["deal"].to_numpy()[::players])
        if sign_of(better_of("points", part)) > 0:
            points = -points
        patterns, met = _distinct_rows(_patterns(ids, goat, points))
        sets, meaning = _read_patterns(patterns)
        counts = sparse.coo_array(
            (np.ones(len(met)), (deal, met)), shape=(len(deals), len(patterns))
        )
        by_deal = sparse.csr_array(counts.tocsr() @ meaning)
        policies, capped = [str(n) for n in names], (len(whole) - len(part)) // players
        return cls(policies, sides, sets, by_deal, len(met), capped, strata_of(part))


def _distinct_rows(rows: Ints) -> tuple[Ints, Ints]:
    """Return the different rows of small whole numbers, sorted, and which one each row is."""
    keys = np.zeros(len(rows), np.int64)
    for column in rows.T:
        keys = keys * (int(rows.max()) + 1) + column
    _, firsts, found = np.unique(keys, return_index=True, return_inverse=True)
    return rows[firsts], found


def _patterns(ids: Ints, goat: npt.NDArray[Any], burden: npt.NDArray[Any]) -> Ints:
    """Return sides in order of their places, then whether each ties with the one before.

    ``burden`` are the points as far as few of them are good: where many are, less than nothing.
    """
    order = np.lexsort((ids, burden, goat), axis=1)
    ids, goat, burden = (np.take_along_axis(a, order, 1) for a in (ids, goat, burden))
    ties = (goat[:, 1:] == goat[:, :-1]) & (burden[:, 1:] == burden[:, :-1])
    return np.concatenate([ids, ties], axis=1)


def _read_patterns(patterns: Ints) -> tuple[Ints, sparse.csr_array]:
    """Return the sets that are chosen from, and how often each option is chosen, by pattern."""
    width = (patterns.shape[1] + 1) // 2
    sets: dict[tuple[int, ...], int] = {}
    cells: list[tuple[int, int, float]] = []
    for row, pattern in enumerate(patterns.tolist()):
        orders = _orders(pattern[:width], pattern[width:])
        for order in orders:
            for place in range(width - 1):
                options = tuple(sorted(order[place:]))
                number = sets.setdefault(options, len(sets))
                cell = number * width + options.index(order[place])
                cells.append((row, cell, 1 / len(orders)))
    rows, columns, values = zip(*cells, strict=True)
    shape = (len(patterns), len(sets) * width)
    meaning = sparse.coo_array((values, (rows, columns)), shape=shape)
    filled = [[*options, *[-1] * (width - len(options))] for options in sets]
    return np.array(filled), sparse.csr_array(meaning.tocsr())


def _orders(ids: list[int], ties: list[int]) -> list[tuple[int, ...]]:
    """Return all orders that ties allow."""
    groups = [[ids[0]]]
    for one, tied in zip(ids[1:], ties, strict=True):
        if tied:
            groups[-1].append(one)
        else:
            groups.append([one])
    return [sum(parts, ()) for parts in product(*(list(permutations(g)) for g in groups))]


# ---------------------------------------------------------------------- fits


def _fit_choices(found: _Choices, chosen: Floats, prior: Floats, start: Floats) -> Floats:
    """Return strengths (logarithms, mean 0) of the greatest likelihood, the prior's included.

    ``chosen`` is ``[set, option]``; ``prior[i, j]`` are the wins of policy i over j that are added.
    """
    m = len(found.names)
    one, two = np.nonzero(prior)
    pulls = prior[one, two]
    there = found.sets >= 0
    # Every option's parts: [set, option, policy].
    parts = np.where(there[:, :, None], found.sides[found.sets], 0.0)
    wins = np.einsum("so,sop->p", chosen, parts)
    times = chosen.sum(axis=1)
    scale = float(times.sum() + prior.sum())

    def shares_of(theta: Floats) -> tuple[Floats, Floats]:
        utility = np.where(there, parts @ theta, -np.inf)
        top = special.logsumexp(utility, axis=1, keepdims=True)
        return top[:, 0], np.exp(utility - top)

    def loss(theta: Floats) -> tuple[float, Floats]:
        top, shares = shares_of(theta)
        gap = theta[one] - theta[two]
        value = times @ top - wins @ theta - pulls @ special.log_expit(gap)
        slope = np.einsum("s,so,sop->p", times, shares, parts) - wins
        bent = pulls * special.expit(-gap)
        slope += np.bincount(two, bent, m) - np.bincount(one, bent, m)
        # Strengths are known up to a constant: their sum is kept at 0.
        return float(value / scale + theta.sum() ** 2 / 2), slope / scale + theta.sum()

    def curve(theta: Floats) -> Floats:
        _, shares = shares_of(theta)
        centre = np.einsum("so,sop->sp", shares, parts)
        flat = (parts * np.sqrt(times[:, None] * shares)[:, :, None]).reshape(-1, m)
        bend = (
            pulls * special.expit(theta[one] - theta[two]) * special.expit(theta[two] - theta[one])
        )
        edges = np.zeros((m, m))
        np.add.at(edges, (one, two), bend)
        edges += edges.T
        laplacian = np.diag(edges.sum(axis=1)) - edges
        spread = flat.T @ flat - (centre * times[:, None]).T @ centre
        return np.asarray((spread + laplacian) / scale + 1)

    best = optimize.minimize(
        loss, start, jac=True, hess=curve, method="trust-exact", options={"gtol": 1e-9}
    )
    return np.asarray(best.x - best.x.mean())


def _fit_pairs(found: _Choices, chosen: Floats, prior: Floats, start: Floats) -> Floats:
    """Return the same of sides of one policy each that meet two by two, by choix."""
    import choix

    one, two = found.sides.argmax(axis=1)[found.sets].T
    wins = prior.copy()
    np.add.at(wins, (one, two), chosen[:, 0])
    np.add.at(wins, (two, one), chosen[:, 1])
    np.fill_diagonal(wins, 0)
    fitted = choix.ilsr_pairwise_dense(wins / wins.max(), initial_params=start, max_iter=10_000)
    return np.asarray(fitted - fitted.mean())


def rate(
    frame: pd.DataFrame, level: float = LEVEL, resamples: int = 200, seed: int = 0
) -> pd.DataFrame:
    """Return ratings that depend on no order of play, with bootstrap intervals by deal.

    Parameters
    ----------
    frame : DataFrame
        One row per match and seat, matches being whole: of a tournament or of duels.
    level : float, default 0.95
        The intervals' coverage (each by itself).
    resamples : int, default 200
        How often the deals are drawn anew. The ends of a 95% interval then err by about a tenth of
        its width; more is slower and steadier.
    seed : int, default 0
        Of the draws.

    Returns
    -------
    DataFrame
        By preset and players, the best first: preset, players, policy, rating, std_error, ci_low,
        ci_high, beats_average (the model's chance to be placed before a policy of rating 0), level,
        n_policies (the size of the field, within which alone ratings compare), n_matches (that
        ended), n_capped (further ones that reached the cap of rounds, which are left out), n_deals,
        method. With one deal the error is infinite. No rows where no match ended.

    Raises
    ------
    ValueError
        If rows of a match are missing, or resamples is less than 2.

    Notes
    -----
    Of three and four singles Plackett-Luce over the places, by ``scipy.optimize`` on distinct
    choices; of two sides Bradley-Terry, by choix where a side is of one policy. See the module's
    legend for places, ties and the prior. In every resample the prior's wins are gamma variables
    with their means, so that the interval of a winless entrant is not a point but about
    Jeffreys' with deals as trials.

    References
    ----------
    Plackett, "The analysis of permutations", Applied Statistics 24, 1975; Luce, "Individual choice
    behavior", 1959; Bradley and Terry, Biometrika 39, 1952; Maystre and Grossglauser, "Fast and
    accurate inference of Plackett-Luce models", NeurIPS 2015 (choix).

    Examples
    --------
    >>> from kozel_sim import tournament
    >>> run = tournament("room-fish-all", ["random", "dump_heavy"], 100, seed=1, players=2)
    >>> rate(run.frame, resamples=20)["policy"].tolist()
    ['dump_heavy', 'random']
    """
    need_level(level)
    if resamples < 2:
        raise ValueError(f"resamples must be at least 2, not {resamples}")
    rows: list[dict[str, Any]] = []
    for keys, part in parts_of(frame):
        found = _Choices.of(part, int(keys["players"]))
        if found is None:
            continue
        best, drawn, method = _bootstrap(found, resamples, seed)
        n = found.by_deal.shape[0]
        tails = [(1 - level) / 2, (1 + level) / 2]
        for i in np.argsort(-best, kind="stable"):
            low, high = np.quantile(drawn[:, i], tails)
            spread = (drawn[:, i].std(ddof=1), min(low, best[i]), max(high, best[i]))
            if n == 1:
                spread = (math.inf, -math.inf, math.inf)
            rows.append(
                keys
                | {"policy": found.names[i], "rating": float(best[i] * POINTS)}
                | dict(
                    zip(
                        ("std_error", "ci_low", "ci_high"),
                        (POINTS * x for x in spread),
                        strict=True,
                    )
                )
                | {"beats_average": float(special.expit(best[i])), "level": level}
                | {"n_policies": len(best), "n_matches": found.matches, "n_capped": found.capped}
                | {
                    "n_deals": n,
                    "method": method + ", capped matches left out" * bool(found.capped),
                }
            )
    return pd.DataFrame(rows, columns=RATED)


def _bootstrap(found: _Choices, resamples: int, seed: int) -> tuple[Floats, Floats, str]:
    """Return strengths, those of resampled deals ``[resample, policy]``, and the method."""
    m, n = len(found.names), found.by_deal.shape[0]
    two = found.sets.shape[1] == 2
    alone = bool((found.sides.max(axis=1) == 1).all())
    name = "Bradley-Terry" if two else "Plackett-Luce"
    method = f"{name}, deals drawn {counted(resamples, 'time')}"
    if m == 1:
        return np.zeros(1), np.zeros((resamples, 1)), method
    fit = _fit_pairs if two and alone else _fit_choices
    off = 1 - np.eye(m)
    # Half a deal's matches of a policy, spread over the others.
    matches_of_a_deal = found.matches * found.sets.shape[1] / n / m
    share = PRIOR_DEALS * matches_of_a_deal
    rng = np.random.default_rng(seed)

    def fitted(weights: Floats, prior: Floats, start: Floats) -> Floats:
        chosen = np.asarray(weights @ found.by_deal).reshape(found.sets.shape)
        return fit(found, chosen, prior, start)

    best = fitted(np.ones(n), share / (m - 1) * off, np.zeros(m))

    drawn = [
        fitted(weights, rng.gamma(PRIOR_DEALS / (m - 1), share / PRIOR_DEALS, (m, m)) * off, best)
        for weights in resamples_of(found.strata, resamples, seed + 1)
    ]
    return best, np.array(drawn), method


# ---------------------------------------------------------------------- Elo


def elo_ratings(
    frame: pd.DataFrame,
    k: float = 32,
    start: float = 1500,
    shuffles: int = 0,
    seed: int = 0,
) -> pd.DataFrame:
    """Return Elo points of matches of two players, as the rule page defines them.

    Elo depends on the order of the matches, and never settles: it wanders by about the square root
    of k. ``rate`` has neither fault; this is for comparison with a site's own numbers.

    Parameters
    ----------
    frame : DataFrame
        One row per match and seat, of two players. Matches come in the order of the frame, deal by
        deal; draws and matches of a policy with itself change nothing.
    k : float, default 32
        The rules' ``elo_k``.
    start : float, default 1500
        Everybody's first points.
    shuffles : int, default 0
        If not 0: the average over so many random orders of the deals.
    seed : int, default 0
        Of these orders.

    Returns
    -------
    DataFrame
        By preset, the best first: preset, players, policy, elo, order_spread (the standard
        deviation over the orders; 0 for a single one), n_policies, n_matches, n_capped (of these,
        how many reached the cap of rounds and changed nothing), n_deals, method. No rows where no
        match ended.

    Raises
    ------
    ValueError
        If there are more than two players, or rows of a match are missing.

    Examples
    --------
    >>> from kozel_sim import tournament
    >>> run = tournament("room-fish-all", ["random", "dump_heavy"], 50, seed=1, players=2)
    >>> elo_ratings(run.frame)["policy"].tolist()
    ['dump_heavy', 'random']
    """
    rows: list[dict[str, Any]] = []
    for keys, part in parts_of(frame):
        if int(keys["players"]) != 2:
            raise ValueError(f"Elo compares two players; {keys['preset']} has {keys['players']}")
        part = whole_matches(part, 2)
        if finished(part).empty:
            continue
        codes, names = pd.factorize(part["policy"])
        pairs, won = codes.reshape(-1, 2), part["winner"].to_numpy().reshape(-1, 2)
        deal, deals = pd.factorize(part["deal"].to_numpy()[::2])
        by_deal = np.argsort(deal, kind="stable")
        rng = np.random.default_rng(seed)
        lots = [rng.permutation(len(deals))[deal] for _ in range(shuffles)]
        orders = np.array([np.argsort(lot, kind="stable") for lot in lots] or [by_deal])
        decided = (won[:, 0] != won[:, 1]) & (pairs[:, 0] != pairs[:, 1])
        winner = np.where(won[:, 0], pairs[:, 0], pairs[:, 1])
        loser = np.where(won[:, 0], pairs[:, 1], pairs[:, 0])
        points = np.full((len(orders), len(names)), float(start))
        here = np.arange(len(orders))
        for match in orders.T:
            first, second = winner[match], loser[match]
            change = elo_gain(points[here, first] - points[here, second], k) * decided[match]
            points[here, first] += change
            points[here, second] -= change
        means, spread = points.mean(axis=0), points.std(axis=0)
        method = (
            f"Elo, K={k:g}, mean of {shuffles} orders" if shuffles else f"Elo, K={k:g}, in order"
        )
        for i in np.argsort(-means, kind="stable"):
            rows.append(
                keys
                | {"policy": str(names[i]), "elo": float(means[i])}
                | {"order_spread": float(spread[i]), "n_policies": len(names)}
                | {"n_matches": len(pairs), "n_capped": capped_in(part), "n_deals": len(deals)}
                | {"method": method}
            )
    return pd.DataFrame(rows, columns=ELO)
