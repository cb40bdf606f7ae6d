"""Whether the luck is shared out evenly: among seats, leaders and shards.

The matches of a deal share its luck, so Pearson's chi-square of counted matches is too large by the
design effect. Here every group's mean is compared with the mean of all, deal by deal, and the
deals' spread tells how far the groups may be apart by chance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import special

from kozel_sim.intervals import LEVEL
from kozel_sim.metrics import DealSums, holm, parts_of
from kozel_sim.rows import number_matches
from kozel_sim.words import counted

Floats = npt.NDArray[np.float64]
BALANCED = ("goat_rate", "points")
ALL = "all"


@dataclass(frozen=True)
class ChiSquare:
    """A test that groups have one mean.

    Attributes
    ----------
    statistic : float
        Distributed as chi-square with `df` degrees of freedom if they have.
    df : int
        In how many ways the groups were seen to vary; 0 where they never did.
    p_value : float
        The chance of so large a statistic; 1 where df is 0.
    """

    statistic: float
    df: int
    p_value: float


def chi_square(totals: Floats, counts: Floats) -> ChiSquare:
    """Test that groups have the same mean, clustered by deal.

    Parameters
    ----------
    totals, counts : array of float, ``[group, deal]``
        A metric's sum, and what it is divided by; a deal may be of some groups only.

    Returns
    -------
    ChiSquare
        Wald's statistic with the covariance of the deals about what the hypothesis expects of them
        (the score form). It is finite however few deals there are, at most their number, and errs
        on the safe side where they are few.

    References
    ----------
    Koch, Freeman and Freeman, "Strategies in the multivariate analysis of data from complex
    surveys", International Statistical Review 43, 1975 (Wald by clusters); Rao and Scott, Annals of
    Statistics 12, 1984 (why Pearson's is too large); Boos, "On generalized score tests", The
    American Statistician 46, 1992.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> chi_square(rng.integers(0, 4, (3, 50)), np.full((3, 50), 3)).df
    2
    """
    totals, counts = np.asarray(totals, float), np.asarray(counts, float)
    pooled = totals.sum() / counts.sum()
    apart = (totals - pooled * counts) / counts.sum(axis=1, keepdims=True)
    contrasts = apart[1:] - apart[:1]
    sizes = np.sqrt((contrasts**2).sum(axis=1))
    contrasts = contrasts[sizes > 1e-12] / sizes[sizes > 1e-12, None]
    if not len(contrasts):
        return ChiSquare(0.0, 0, 1.0)
    values, vectors = np.linalg.eigh(contrasts @ contrasts.T)
    ways = values > 1e-9 * values.max()
    along = vectors[:, ways].T @ contrasts.sum(axis=1)
    statistic = float(np.sum(along**2 / values[ways]))
    df = int(ways.sum())
    return ChiSquare(statistic, df, float(special.chdtrc(df, statistic)))


def seat_tables(frame: pd.DataFrame, level: float = LEVEL) -> pd.DataFrame:
    """Return goat rate and points of the whole field by seat, and by who led the first round.

    Parameters
    ----------
    frame : DataFrame
        One row per match and seat, in which every policy sits on every seat alike: of a tournament
        or a duel. Elsewhere seats stand for the policies on them.
    level : float, default 0.95
        The intervals' coverage (each by itself).

    Returns
    -------
    DataFrame
        Columns preset, players, by ("seat" or "led"), group ("0", "1" ...; "leader", "others"),
        metric, estimate, std_error, ci_low, ci_high, level, n_matches, n_deals, method.

    Examples
    --------
    >>> from kozel_sim import tournament
    >>> run = tournament("room-fish-all", ["random", "dump_heavy"], 20, seed=1, players=2)
    >>> seat_tables(run.frame)["group"].unique().tolist()
    ['0', '1', 'leader', 'others']
    """
    rows: list[dict[str, Any]] = []
    for keys, part in parts_of(frame):
        for by in ("seat", "led"):
            for metric in BALANCED:
                sums = DealSums.of(part, metric, by)
                for name, place in _groups(sums, by):
                    found = sums.mean(place, level)
                    rows.append(
                        keys
                        | {"by": by, "group": name, "metric": metric}
                        | {"estimate": found.estimate, "std_error": found.std_error}
                        | {"ci_low": found.ci_low, "ci_high": found.ci_high, "level": level}
                        | {"n_matches": sums.matches, "n_deals": found.n_deals}
                        | {"method": found.method}
                    )
    return pd.DataFrame(rows)


def _groups(sums: DealSums, by: str) -> list[tuple[str, int]]:
    """Return the groups' names and places: seats in order, the leader first."""
    order = sorted(range(len(sums.names)), key=lambda i: sums.names[i], reverse=by == "led")
    names = {True: "leader", False: "others"}
    return [(names[bool(sums.names[i])] if by == "led" else str(sums.names[i]), i) for i in order]


def seat_balance(frame: pd.DataFrame) -> pd.DataFrame:
    """Test whether all seats fare alike, and whether the first leader fares as the others.

    Parameters
    ----------
    frame : DataFrame
        As for ``seat_tables``; matches being whole.

    Returns
    -------
    DataFrame
        Columns preset, players, by ("seat" or "led"), metric, chi_square, df, p_value (clustered by
        deal), plain_chi_square, plain_p_value (as if matches were independent: Pearson's of
        counted goats, and for points the same test with matches in the place of deals),
        design_effect (how many times the groups' variance is that of independent matches),
        n_matches, n_deals, method.

    Notes
    -----
    Partners share a goat, so Pearson's count is of sides' seats and more wrong still.

    Examples
    --------
    >>> from kozel_sim import tournament
    >>> run = tournament("room-fish-all", ["random", "dump_heavy"], 200, seed=1, players=2)
    >>> seat_balance(run.frame)[["by", "metric", "df"]].to_numpy().tolist()
    [['seat', 'goat_rate', 1], ['seat', 'points', 1], ['led', 'goat_rate', 1], ['led', 'points', 1]]
    """
    rows: list[dict[str, Any]] = []
    for keys, part in parts_of(frame):
        part = part.assign(match=number_matches(part, int(keys["players"])))
        for by in ("seat", "led"):
            for metric in BALANCED:
                sums = DealSums.of(part, metric, by)
                # The same with every match as a deal of its own.
                alone = DealSums.of(part.assign(deal=part["match"]), metric, by)
                found = chi_square(sums.totals, sums.counts)
                plain = chi_square(alone.totals, alone.counts)
                seen, share = sums.totals.sum(axis=1), sums.counts.sum(axis=1)
                if metric == "goat_rate" and seen.sum() > 0:
                    plain = _pearson(seen, seen.sum() * share / share.sum())
                rows.append(
                    keys
                    | {"by": by, "metric": metric, "chi_square": found.statistic, "df": found.df}
                    | {"p_value": found.p_value, "plain_chi_square": plain.statistic}
                    | {"plain_p_value": plain.p_value}
                    | {"design_effect": _design_effect(sums, alone)}
                    | {"n_matches": sums.matches, "n_deals": sums.deals}
                    | {"method": "Wald chi-square (score form), clustered by deal"}
                )
    return pd.DataFrame(rows)


def _pearson(seen: Floats, expected: Floats) -> ChiSquare:
    """Return ``scipy.stats.chisquare``, whose module takes half a second to load."""
    statistic = float(np.sum((seen - expected) ** 2 / expected))
    df = len(seen) - 1
    return ChiSquare(statistic, df, float(special.chdtrc(df, statistic)))


def _design_effect(by_deal: DealSums, by_match: DealSums) -> float:
    """Return the variance of groups about the mean of all, by deal over by match; 1 if none."""
    found = []
    for sums in (by_deal, by_match):
        influence = sums.influence
        n = sums.deals
        found.append(n / max(n - 1, 1) * float(np.sum((influence - influence.mean(axis=0)) ** 2)))
    return found[0] / found[1] if found[1] > 0 and by_deal.deals > 1 else 1.0


def shard_balance(
    frame: pd.DataFrame, shard_of_deal: Callable[[npt.NDArray[np.int64]], npt.ArrayLike]
) -> pd.DataFrame:
    """Test whether the shards of a run, which have different deals, are alike.

    Parameters
    ----------
    frame : DataFrame
        One row per match and seat.
    shard_of_deal : callable
        Of an array of deal ids, the shard of each. In a tournament shards are blocks of whole
        cycles of deals: deals of a cycle differ in who sits behind whom, which shows.

    Returns
    -------
    DataFrame
        Columns preset, players, policy ("all" for the whole field), metric, shards, chi_square, df,
        p_value, p_holm (adjusted over the rows of the preset), n_matches, n_deals, method. Where
        every deal has as many goats, all shards do: df is 0 and p_value 1.

    Raises
    ------
    ValueError
        If `shard_of_deal` does not name a shard for each deal.

    Examples
    --------
    >>> from kozel_sim import tournament
    >>> run = tournament("room-fish-all", ["random", "dump_heavy"], 90, seed=1, players=2)
    >>> shard_balance(run.frame, lambda deal: deal // 30)["shards"].unique().tolist()
    [3]
    """
    rows: list[dict[str, Any]] = []
    for keys, part in parts_of(frame):
        deals = pd.factorize(part["deal"].to_numpy())[1]
        codes, shards = pd.factorize(np.asarray(shard_of_deal(np.asarray(deals, np.int64))))
        if len(codes) != len(deals):
            named = counted(len(codes), "shard was", "shards were")
            raise ValueError(f"{named} named for {counted(len(deals), 'deal')}")
        here = codes == np.arange(len(shards))[:, None]
        tests = []
        for metric in BALANCED:
            sums = DealSums.of(part, metric)
            fields = [(ALL, sums.totals.sum(axis=0), sums.counts.sum(axis=0))]
            if len(sums.names) > 1:
                fields += list(zip(map(str, sums.names), sums.totals, sums.counts, strict=True))
            for policy, totals, counts in fields:
                tests.append((policy, metric, chi_square(here * totals, here * counts)))
        adjusted = holm([test.p_value for _, _, test in tests])
        for (policy, metric, test), p in zip(tests, adjusted, strict=True):
            rows.append(
                keys
                | {"policy": policy, "metric": metric, "shards": len(shards)}
                | {"chi_square": test.statistic, "df": test.df, "p_value": test.p_value}
                | {"p_holm": p, "n_matches": int((part["seat"] == 0).sum()), "n_deals": len(deals)}
                | {"method": "Wald chi-square (score form), clustered by deal"}
            )
    return pd.DataFrame(rows)
