"""Skill and luck: how much of what a match's points vary is policy, seat, deal and the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kozel_sim import stats
from kozel_sim.capped import capped_in
from kozel_sim.metrics import metric_of, parts_of, resamples_of, values_of
from kozel_sim.rows import strata_of

Floats = npt.NDArray[np.float64]
SOURCES = ("policy", "seat", "deal", "rest")
RESAMPLES = 400
"""Draws of deals behind an interval."""


def variance_shares(
    frame: pd.DataFrame, metric: str = "points", level: float = stats.LEVEL, seed: int = 0
) -> pd.DataFrame:
    """Return how much of the variance of a metric from match to match is skill, and how much luck.

    Parameters
    ----------
    frame : DataFrame
        One row per match and seat of a tournament, in which every policy sits on every seat in
        every deal.
    metric : str, default "points"
        One of ``kozel_sim.metrics.METRICS`` without a divisor, like "goat_rate".
    level : float, default 0.95
        The intervals' coverage (each by itself).
    seed : int, default 0
        Of the draws.

    Returns
    -------
    DataFrame
        Columns preset, players, source, metric, variance, share (of the whole variance), ci_low,
        ci_high (of the share), level, n_matches, n_capped (of these, how many reached the cap of
        rounds: their points are as they stood), n_deals, method. Sources: policy (skill: how far
        the policies' means lie apart), seat, deal (what two policies share that hold the same
        tiles on the same seat, whoever else is there), rest (company, what suits one policy and
        not another, and all luck that does not stick to the deal).

    Raises
    ------
    ValueError
        If a policy lacks a seat in a deal, or there is one policy or one deal alone.

    Notes
    -----
    The deal's part is the covariance of two policies in the same seat of the same deal, over all
    pairs; the policies' and the seats' parts are the variance of their means less that of chance.
    All are without bias, so that a part that is about 0 may come out below it. Deals of a cyclic
    order are compared among themselves. Intervals are percentiles of draws of deals, moved by what
    draws show on average above the estimate.

    References
    ----------
    Searle, Casella and McCulloch, "Variance Components", 1992, chapter 4 (of balanced data).
    Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapters 10 and 13.

    Examples
    --------
    >>> from kozel_sim import tournament
    >>> run = tournament("room-fish-all", ["random", "dump_heavy", "allround"], 200, 1, players=2)
    >>> table = variance_shares(run.frame)
    >>> table["source"].tolist(), round(float(table["share"].sum()), 9)
    (['policy', 'seat', 'deal', 'rest'], 1.0)
    """
    kind = metric_of(metric)
    stats.need_level(level)
    if kind.weight is not None:
        raise ValueError(f"the metric {metric!r} is divided by {kind.weight}; choose points")
    rows: list[dict[str, Any]] = []
    for keys, part in parts_of(frame):
        values, _ = values_of(part, kind)
        means, squares, strata = _cells(part, values)
        found = _components(means, squares, strata, np.ones(len(means)))
        shares = found / found.sum()
        drawn = [
            _components(means, squares, strata, weights)
            for weights in resamples_of(strata, RESAMPLES, seed)
        ]
        draws = np.array([one / one.sum() for one in drawn])
        draws = draws - (draws.mean(axis=0) - shares)
        low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
        for i, source in enumerate(SOURCES):
            rows.append(
                keys
                | {"source": source, "metric": metric, "variance": float(found[i])}
                | {"share": float(shares[i]), "ci_low": float(low[i]), "ci_high": float(high[i])}
                | {"level": level, "n_matches": int((part["seat"] == 0).sum())}
                | {"n_capped": capped_in(part)}
                | {"n_deals": len(means), "method": "variance components, bootstrap by deal"}
            )
    return pd.DataFrame(rows)


def _cells(part: pd.DataFrame, values: Floats) -> tuple[Floats, Floats, npt.NDArray[np.int64]]:
    """Return means ``[deal, seat, policy]``, the mean square of each deal, and the deals' kinds."""
    deal, deals = pd.factorize(part["deal"].to_numpy())
    policy, names = pd.factorize(part["policy"])
    seat = part["seat"].to_numpy().astype(np.int64)
    shape = (len(deals), int(seat.max()) + 1, len(names))
    cell = (deal * shape[1] + seat) * shape[2] + policy
    size = int(np.prod(shape))
    counts = np.bincount(cell, minlength=size)
    if len(names) < 2 or len(deals) < 2 or counts.min() != counts.max():
        raise ValueError(
            "shares of variance need a tournament of two or more policies and deals, in which "
            "every policy sits equally often on every seat in every deal"
        )
    means = (np.bincount(cell, values, size) / counts).reshape(shape)
    squares = np.bincount(deal, values**2) / np.bincount(deal)
    return means, squares, strata_of(part)


def _components(
    means: Floats, squares: Floats, strata: npt.NDArray[np.int64], weights: Floats
) -> Floats:
    """Return the variance that each of `SOURCES` has, of deals that are worth so much each."""
    n, _, k = means.shape
    share = weights / weights.sum()
    mean = np.tensordot(share, means, 1)
    whole = float(share @ squares) - float(mean.mean()) ** 2
    parts = []
    for axis in (0, 1):
        of_deal = means.mean(axis=1 + axis)
        middle = share @ of_deal
        apart = middle - middle.mean()
        off = (of_deal - of_deal.mean(axis=1, keepdims=True)) - apart
        chance = (share @ off**2) / (n - 1)
        parts.append(float(np.mean(apart**2) - np.mean(chance)))
    kinds, sizes = np.unique(strata, return_counts=True)
    groups = [strata == kind for kind in kinds] if stats.set_apart(sizes) else [np.ones(n, bool)]
    shared = 0.0
    for group in groups:
        here, worth = means[group], weights[group] / weights[group].sum()
        off = here - np.tensordot(worth, here, 1)
        # The sum over pairs of policies is the square of the sum less the squares.
        pairs = (off.sum(axis=2) ** 2 - (off**2).sum(axis=2)) / (k * (k - 1))
        size = int(group.sum())
        shared += float(share[group].sum() * (worth @ pairs).mean() * size / (size - 1))
    return np.array([*parts, shared, whole - sum(parts) - shared])
