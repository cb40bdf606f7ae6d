"""Who is ahead of whom: a field's ranking with intervals that hold for all of it at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kozel_sim.equivalence import equivalence_columns, read_margin
from kozel_sim.intervals import LEVEL, need_level, p_value
from kozel_sim.metrics import DealSums, holm, metric_of, parts_of
from kozel_sim.odds import PAIR_COLUMNS


def ranking(frame: pd.DataFrame, metric: str = "goat_rate", level: float = LEVEL) -> pd.DataFrame:
    """Return the field in order, with simultaneous intervals of estimates and of ranks.

    Parameters
    ----------
    frame : DataFrame
        One row per match and seat, in which policies share deals: that of a tournament.
    metric : {"goat_rate", "points", "points_per_match", "points_per_round", "rating"}
        What is ranked, the best first: the lowest goat rate, the highest rating, and of points
        the fewest, or the most where the rules let them win (see ``kozel_sim.direction``).
    level : float, default 0.95
        The chance that all intervals of a table hold together.

    Returns
    -------
    DataFrame
        By preset and players, the best first: preset, players, policy, metric, better ("less" or
        "more"), estimate, std_error, ci_low, ci_high (clustered by deal, Bonferroni over the
        field), rank (ties share the better one), rank_low, rank_high (all true ranks lie within
        these, with the chance `level`), next (the policy of the row below; empty for the last),
        difference (the next one's estimate less this one's), p_value (of no difference from the
        next, adjusted by Holm over all pairs), level, n_matches, n_capped (of these, how many
        reached the cap of rounds), n_deals, method, rank_method.

    Raises
    ------
    ValueError
        If the metric is unknown, or the rules have none of it.

    Notes
    -----
    Rank r is 1 and the number of policies that are better for certain, those whose paired
    difference is significant after Holm's adjustment over all pairs and both signs. Since that
    keeps the chance of any wrong declaration below 1 - level, all intervals of ranks hold at once.

    References
    ----------
    Klein, Wright and Wieczorek, "A joint confidence region for an overall ranking of populations",
    Journal of the Royal Statistical Society C 69, 2020; Mogstad, Romano, Shaikh and Wilhelm,
    "Inference for ranks", Review of Economic Studies 91, 2024.

    Examples
    --------
    >>> from kozel_sim import tournament
    >>> run = tournament("room-fish-all", ["random", "dump_heavy"], 100, seed=1, players=2)
    >>> ranking(run.frame)[["policy", "rank", "rank_low", "rank_high"]].to_numpy().tolist()
    [['dump_heavy', 1, 1, 1], ['random', 2, 2, 2]]
    """
    metric_of(metric)
    need_level(level)
    rows: list[dict[str, Any]] = []
    for keys, part in parts_of(frame):
        sums = DealSums.of(part, metric)
        k = len(sums.names)
        better, p_values = _comparisons(sums, 1 - level)
        merit = sums.sign * sums.means
        order = np.argsort(-merit, kind="stable")
        for place, i in enumerate(order):
            below = order[place + 1] if place + 1 < k else None
            found = sums.mean(i, 1 - (1 - level) / k)
            rows.append(
                keys
                | {"policy": sums.names[i], "metric": metric, "better": sums.better}
                | {"estimate": found.estimate, "std_error": found.std_error}
                | {"ci_low": found.ci_low, "ci_high": found.ci_high}
                | {"rank": 1 + int(np.sum(merit > merit[i]))}
                | {"rank_low": 1 + int(better[:, i].sum()), "rank_high": k - int(better[i].sum())}
                | {"next": "" if below is None else sums.names[below]}
                | {"difference": 0.0 if below is None else float(sums.means[below] - sums.means[i])}
                | {"p_value": 1.0 if below is None else p_values[frozenset((i, below))]}
                | {
                    "level": level,
                    "n_matches": sums.matches,
                    "n_capped": sums.capped,
                    "n_deals": sums.deals,
                }
                | {"method": f"{found.method}, Bonferroni over {k}"}
                | {"rank_method": "paired differences by deal, Holm over all pairs"}
            )
    return pd.DataFrame(rows)


def _comparisons(
    sums: DealSums, alpha: float
) -> tuple[npt.NDArray[np.bool_], dict[frozenset[int], float]]:
    """Return who is better than whom for certain, ``[place, place]``, and adjusted p-values."""
    pairs = sums.pairs()
    found = [sums.difference(i, j, 1 - alpha) for i, j in pairs]
    adjusted = holm([p_value(one) for one in found])
    better = np.zeros((len(sums.names), len(sums.names)), bool)
    for (i, j), one, p in zip(pairs, found, adjusted, strict=True):
        if p <= alpha:
            better[(i, j) if sums.sign * one.estimate > 0 else (j, i)] = True
    return better, {frozenset(pair): p for pair, p in zip(pairs, adjusted, strict=True)}


def pairwise(
    frame: pd.DataFrame,
    metric: str = "goat_rate",
    level: float = LEVEL,
    equivalent: float | None = None,
) -> pd.DataFrame:
    """Return the paired difference of every two policies of a field.

    Parameters
    ----------
    frame, metric, level
        As for ``ranking``.
    equivalent : float, optional
        A margin within which two policies are as good as equal, in the unit of the metric; of a
        goat rate in percentage points.

    Returns
    -------
    DataFrame
        Columns preset, players, policy, against, metric, better ("less" or "more"), difference (the
        first one's estimate less the second's), std_error, ci_low, ci_high (Bonferroni over the
        pairs, so that all hold at once), p_value (of its own), p_holm (adjusted over all pairs of
        the preset), level, n_matches, n_capped, n_deals, method; of the goat rate also odds_ratio
        (the first one's odds of being a goat over the second's), odds_low, odds_high, goat_share
        (of the goats that the two are, how many are the first), goat_share_low, goat_share_high
        (Bonferroni, too), seat_share (of their seats). No rows for a policy alone. With
        a margin also margin (as the table counts), p_equivalent (of two one-sided tests, Bonferroni
        over the pairs) and equivalent (whether it is below 1 less the level).

    Examples
    --------
    >>> from kozel_sim import tournament
    >>> run = tournament("room-fish-all", ["random", "dump_heavy"], 100, seed=1, players=2)
    >>> bool(pairwise(run.frame)["p_holm"][0] < 0.05)
    True
    """
    need_level(level)
    margin = None if equivalent is None else read_margin(equivalent, metric)
    columns = ["preset", "players", "policy", "against", "metric", "better", "difference"]
    columns += ["std_error", "ci_low", "ci_high", "p_value", "p_holm", "level", "n_matches"]
    columns += ["n_capped", "n_deals", "method"]
    columns += PAIR_COLUMNS if metric_of(metric).rate else ()
    rows: list[dict[str, Any]] = []
    for keys, part in parts_of(frame):
        sums = DealSums.of(part, metric)
        pairs = sums.pairs()
        if not pairs:
            continue
        each = 1 - (1 - level) / len(pairs)
        found = [sums.difference(i, j, each) for i, j in pairs]
        plain = [p_value(one) for one in found]
        for (i, j), one, p, adjusted in zip(pairs, found, plain, holm(plain), strict=True):
            one = replace(one, level=level, method=f"{one.method}, Bonferroni over {len(pairs)}")
            rows.append(
                keys
                | {"policy": sums.names[i], "against": sums.names[j], "metric": metric}
                | {"better": sums.better, "difference": one.estimate, "std_error": one.std_error}
                | {"ci_low": one.ci_low, "ci_high": one.ci_high, "p_value": p, "p_holm": adjusted}
                | {
                    "level": level,
                    "n_matches": sums.matches,
                    "n_capped": sums.capped,
                    "n_deals": sums.deals,
                }
                | {"method": one.method}
                | (sums.odds(i, j, each) if sums.rate else {})
                | (equivalence_columns(one, margin, level, len(pairs)) if margin else {})
            )
    columns += ["margin", "p_equivalent", "equivalent"] if margin else []
    return pd.DataFrame(rows, columns=columns)
