"""What company does to a policy: how it fares among these others, and among those."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kozel_sim import stats
from kozel_sim.metrics import DealSums, metric_of, parts_of
from kozel_sim.rows import whole_matches


def company(
    frame: pd.DataFrame, metric: str = "goat_rate", level: float = stats.LEVEL
) -> pd.DataFrame:
    """Return each policy's metric by who else sits at its table.

    Parameters
    ----------
    frame : DataFrame
        One row per match and seat, matches being whole.
    metric : str, default "goat_rate"
        One of ``kozel_sim.metrics.METRICS``.
    level : float, default 0.95
        The intervals' coverage (each by itself).

    Returns
    -------
    DataFrame
        Columns preset, players, policy, company (the others, by name; of pairs the partner first,
        as "with a against b, c"), metric, estimate, std_error, ci_low, ci_high, difference (from
        the policy's mean in all its company), diff_ci_low, diff_ci_high (paired by deal; 0 for a
        policy that has one company alone), level, n_matches (seats of it in matches), n_capped (of
        these, how many reached the cap of rounds), n_deals, method. Within a policy the
        lowest estimate first.

    Raises
    ------
    ValueError
        If the metric is unknown, or rows of a match are missing.

    Examples
    --------
    >>> from kozel_sim import tournament
    >>> field = ["random", "dump_heavy", "allround"]
    >>> run = tournament("room-fish-all", field, 60, seed=1, players=2)
    >>> table = company(run.frame)
    >>> table.loc[table["policy"] == "dump_heavy", "company"].tolist()
    ['random', 'allround']
    """
    metric_of(metric)
    stats.need_level(level)
    rows: list[dict[str, Any]] = []
    for keys, part in parts_of(frame):
        players = int(str(keys["players"]))
        part = whole_matches(part, players)
        part = part.assign(company=_company_of(part, players))
        for policy, mine in part.groupby("policy", observed=True, sort=False):
            sums = DealSums.of(mine, metric, "company")
            found = []
            for place, others in enumerate(sums.names):
                here = sums.counts[place] > 0
                of_deals = (sums.totals[place][here], sums.counts[place][here])
                strata = sums.strata[here]
                one = stats.clustered_mean(*of_deals, level, sums.rate, strata)
                all_ = (sums.totals.sum(axis=0), sums.counts.sum(axis=0))
                these = (sums.totals[place], sums.counts[place])
                gap = stats.clustered_difference(these, all_, level, sums.rate, sums.strata)
                alone = len(sums.names) == 1
                found.append(
                    keys
                    | {"policy": policy, "company": others, "metric": metric}
                    | {"estimate": one.estimate, "std_error": one.std_error}
                    | {"ci_low": one.ci_low, "ci_high": one.ci_high}
                    | {"difference": 0.0 if alone else gap.estimate}
                    | {"diff_ci_low": 0.0 if alone else gap.ci_low}
                    | {"diff_ci_high": 0.0 if alone else gap.ci_high, "level": level}
                    | _matches_in(mine[mine["company"] == others])
                    | {"n_deals": one.n_deals, "method": one.method}
                )
            rows += sorted(found, key=lambda row: row["estimate"])
    return pd.DataFrame(rows)


def _matches_in(rows: pd.DataFrame) -> dict[str, int]:
    """Return how often a policy sat in some company, and how often the match was capped."""
    capped = int(rows["capped"].sum()) if "capped" in rows else 0
    return {"n_matches": len(rows), "n_capped": capped}


def _company_of(part: pd.DataFrame, players: int) -> npt.NDArray[np.object_]:
    """Return who else sits at each row's table, ``[row]``; the rows are those of whole matches."""
    codes, names = pd.factorize(part["policy"])
    tables = codes.reshape(-1, players)
    sides = part["side"].to_numpy().reshape(-1, players)
    kinds, of_match = np.unique(np.hstack([tables, sides]), axis=0, return_inverse=True)
    words = np.empty((len(kinds), players), object)
    for i, kind in enumerate(kinds):
        for seat in range(players):
            others = [other for other in range(players) if other != seat]
            side = kind[players:]
            mates = [str(names[kind[o]]) for o in others if side[o] == side[seat]]
            rivals = [str(names[kind[o]]) for o in others if side[o] != side[seat]]
            words[i, seat] = _listed(rivals)
            if mates:
                words[i, seat] = f"with {_listed(mates)} against {_listed(rivals)}"
    found: npt.NDArray[np.object_] = words[np.ravel(of_match)].ravel()
    return found


def _listed(names: list[str]) -> str:
    """Write names in order, those that come several times with their number."""
    counted = sorted(Counter(names).items())
    return ", ".join(name if n == 1 else f"{n} x {name}" for name, n in counted)
