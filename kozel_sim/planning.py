"""How many deals a question needs: from a pilot's spread to a table of plans."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
from scipy import special
from scipy import stats as distributions

from kozel_sim.duels import COMPARED, compare
from kozel_sim.equivalence import deals_for_equivalence, need_deviation, read_margin
from kozel_sim.intervals import LEVEL, need_level
from kozel_sim.words import metric_words, quoted

POWERS = (0.8, 0.9, 0.95)
SHARES = (0.25, 0.5, 1.0, 2.0)
"""Parts of the effect asked for, in the table of alternatives."""
MANY = 10_000
"""Deals from which Student's t is as good as normal."""


LEAST = 1e-6
"""The least difference that is planned for, in deviations."""


DIFFERENCE = "power of the t-test, paired by deal"
EQUIVALENCE = "power of two one-sided tests of equivalence, paired by deal"
"""The methods of plans, if the difference is as large as asked for, and if it is 0."""


def plan(
    pilot: pd.DataFrame,
    detect: float,
    power: float = 0.9,
    level: float = LEVEL,
    metric: str = "points_per_match",
    seconds_per_deal: float = 0.0,
    equivalent: float | None = None,
) -> pd.DataFrame:
    """Return how many deals a duel needs to detect a difference, and the alternatives.

    Parameters
    ----------
    pilot : DataFrame
        One row per match and seat, with a column duel: a short duel of the same policies.
    detect : float
        The difference worth finding, in units of the metric.
    power : float, default 0.9
        The chance to find it.
    level : float, default 0.95
        One less the chance to find a difference where there is none (two-sided).
    metric : {"points_per_match", "points_per_round", "goat_rate"}
        What is compared, paired by deal.
    seconds_per_deal : float, default 0
        The measured time of one deal, from every seat.
    equivalent : float, optional
        A margin, in the unit of the metric (of a goat rate percentage points): also plan to show
        that a difference of 0 lies within it, see ``kozel_sim.equivalence``.

    Returns
    -------
    DataFrame
        For each duel of the pilot the plan asked for first, then all of `SHARES` of the difference
        and `POWERS`: preset, players, duel, metric, asked, detect, power, level, deviation (of one
        deal's paired difference), deviation_high (its upper limit at the level, by chi-square),
        deals, matches, seconds, deals_high (if the deviation is at its limit), seconds_high,
        unpaired_matches (that matches on deals of their own would need), pilot_deals,
        pilot_matches, pilot_capped (of these, how many reached the cap of rounds), method.
        With a margin, the same for equivalence behind them: detect is the margin, and the method
        says so.

    Raises
    ------
    ValueError
        If a number is out of range, the metric is unknown, or the pilot has less than two deals.

    Notes
    -----
    Deals by the paired t-test's power (statsmodels). Where few of the pilot's deals differ, or
    none, the spread is that of its error, with those that might have (``kozel_sim.few``). Rounding
    up to whole cycles of a design is left to who plays it.

    References
    ----------
    Cohen, "Statistical power analysis for the behavioral sciences", 1988, chapter 2. Browne, "On
    the use of a pilot sample for sample size determination", Statistics in Medicine 14, 1995 (the
    upper limit of the deviation).

    Examples
    --------
    >>> from kozel_sim import duel
    >>> run = duel("room-fish-all", "dump_heavy", "random", 100, seed=1, players=2)
    >>> first = plan(run.frame, detect=5.0).iloc[0]
    >>> bool(first["deals"] < first["deals_high"])
    True
    """
    need_plan(detect, power, level, metric)
    found = compare(pilot, level)
    margin = None if equivalent is None else read_margin(equivalent, metric)
    asked = [(detect, power)]
    asked += [
        (detect * share, chance) for share in SHARES for chance in POWERS if chance > 1 - level
    ]
    rows: list[dict[str, Any]] = []
    for one in found[found["metric"] == metric].to_dict("records"):
        rows += _plans(one, asked, level, seconds_per_deal)
        if margin is not None:
            wished = [(margin.plain, chance) for chance in dict.fromkeys((power, *POWERS))]
            rows += _plans(one, wished, level, seconds_per_deal, EQUIVALENCE)
    return pd.DataFrame(rows)


def need_plan(detect: float, power: float, level: float, metric: str) -> None:
    """Raise ValueError if a plan is asked for that cannot be made."""
    need_level(level)
    if not 0 < detect < math.inf:
        raise ValueError(f"detect must be more than 0, not {quoted(detect)}")
    if metric == "goat_rate" and detect >= 1:
        raise ValueError(
            f"detect={detect:g} of a rate is a share below 1, like 0.01 for one percent"
        )
    if not 1 - level < power < 1:
        raise ValueError(
            f"power must be between {1 - level:.3g} and 1, like 0.9, not {quoted(power)}"
        )
    if metric not in COMPARED:
        raise ValueError(f"unknown metric {metric!r}; choose from {', '.join(COMPARED)}")


def _plans(
    one: dict[Any, Any],
    asked: Sequence[tuple[float, float]],
    level: float,
    seconds: float,
    method: str = DIFFERENCE,
) -> list[dict[str, Any]]:
    """Return the plans from one duel's row of ``compare``."""
    n = int(one["n_deals"])
    if n < 2:
        raise ValueError(f"a pilot of {n} deal tells nothing of the spread; play at least 2")
    deviation = float(one["std_error"]) * math.sqrt(n)
    if deviation == 0:
        raise ValueError(
            f"a pilot whose {n} deals all have 0 {metric_words(one['metric'])} tells nothing of "
            "the spread; play more, or take another metric"
        )
    high = deviation * math.sqrt((n - 1) / distributions.chi2.ppf(1 - level, n - 1))
    of_a_deal = int(one["n_matches"]) / n
    needed = deals_needed if method == DIFFERENCE else deals_for_equivalence
    rows = []
    for number, (detect, power) in enumerate(asked):
        deals = needed(detect, deviation, power, level)
        deals_high = needed(detect, high, power, level)
        unpaired = deals * of_a_deal / max(1 - float(one["variance_reduction"]), 1e-9)
        rows.append(
            {key: one[key] for key in ("preset", "players", "duel", "metric")}
            | {
                "asked": number == 0 and method == DIFFERENCE,
                "detect": detect,
                "power": power,
                "level": level,
            }
            | {"deviation": deviation, "deviation_high": high, "deals": deals}
            | {"matches": math.ceil(deals * of_a_deal), "seconds": deals * seconds}
            | {"deals_high": deals_high, "seconds_high": deals_high * seconds}
            | {"unpaired_matches": math.ceil(unpaired), "pilot_deals": n}
            | {"pilot_matches": int(one["n_matches"]), "pilot_capped": int(one["n_capped"])}
            | {"method": method}
        )
    return rows


def deals_needed(detect: float, deviation: float, power: float, level: float) -> int:
    """Return how many deals find a paired difference with a chance, at least 2.

    Examples
    --------
    >>> deals_needed(0.5, 1.0, 0.8, 0.95)
    34
    """
    # statsmodels is slow to load.
    from statsmodels.stats.power import TTestPower

    need_deviation(deviation)
    effect = detect / deviation
    if effect < LEAST:
        raise ValueError(
            f"detect={detect:g} is too little: it would take more than {1 / LEAST**2:.0e} deals"
        )
    z = float(special.ndtri((1 + level) / 2) + special.ndtri(power))
    about = (z / effect) ** 2
    if about > MANY:
        return math.ceil(about)
    test = TTestPower()
    n = max(2, math.floor(about))
    # Few deals lack a little to Student's t: walk up from the normal answer.
    while test.power(effect, n, 1 - level) < power:
        n += 1
    return n
