"""How long a test that stops by itself will take, and what it will say: before it is played."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
from scipy import special

from kozel_sim.checks import need_positive
from kozel_sim.duels import compare
from kozel_sim.intervals import LEVEL
from kozel_sim.planning import deals_needed, need_plan
from kozel_sim.sequential import FIRST_LOOK, LOOK_GROWTH, MOST_DEALS, looks
from kozel_sim.stopping import SprtStop
from kozel_sim.walks import course

TRUTHS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
"""Parts of the difference asked for that may be the true one."""
LIKELY = 0.9
"""The share of runs that need no more than the higher number of deals."""


def forecast(
    pilot: pd.DataFrame,
    detect: float,
    power: float = 0.9,
    level: float = LEVEL,
    metric: str = "points_per_match",
    stop: SprtStop | None = None,
    *,
    family: int = 1,
    most: int = MOST_DEALS,
    cycle: int = 1,
    seconds_per_deal: float = 0.0,
) -> pd.DataFrame:
    """Return what a test will say, and after how many deals, by what may be true.

    Parameters
    ----------
    pilot : DataFrame
        One row per match and seat, with a column duel: a short duel of the same policies.
    detect : float
        The difference worth finding, in units of the metric.
    power, level : float
        Of the test that is not given by `stop`, as for ``plan``.
    metric : {"points_per_match", "points_per_round", "goat_rate"}
        What is compared, paired by deal.
    stop : SprtStop, optional
        The test, with an effect in deviations of its own; by default that of `detect`.
    family : int, default 1
        How many pairs are tested at once in the run that is to come.
    most : int, default 100,000
        The deals after which it ends in any case.
    cycle : int, default 1
        Looks are multiples of it, as a design has cyclic orders.
    seconds_per_deal : float, default 0
        The measured time of one deal, from every seat.

    Returns
    -------
    DataFrame
        For each duel of the pilot a row for each of `TRUTHS`: preset, players, duel, metric, rule
        (as ``--stop`` reads it), family, share (of `detect`), difference (the true one, by which
        the first policy does better), effect (the same in deviations), better, worse,
        no_difference, open (the chances of what the test says of the first policy; open where it
        says nothing in the deals there are), deals (expected), deals_median, deals_high (enough in
        `LIKELY` of runs), matches, seconds (expected), fixed_deals (of ``plan``), fixed_power (the
        chance that so many deals find a difference, of either sign), deviation. No rows for a duel
        whose pilot shows no spread, nor for a power or level of a half or less, which no such test
        has.

    Raises
    ------
    ValueError
        As ``plan``; or if `stop` is of another metric.

    Notes
    -----
    Worked out look by look for the bounds, looks and family of the very test that a run asks, see
    ``kozel_sim.walks.course``; differences of deals are taken as normal with the pilot's deviation.

    References
    ----------
    Wald, "Sequential Analysis", 1947 (the expected number of trials, and the chance to accept by
    what is true: "operating characteristic").

    Examples
    --------
    >>> from kozel_sim import duel
    >>> run = duel("room-fish-all", "keep_range", "random", 200, seed=1, players=2)
    >>> table = forecast(run.frame, 5.0)
    >>> table["rule"][0]
    'sprt,effect=0.1171,beta=0.1'
    >>> table.loc[table["share"] == 1, ["better", "deals_median"]].round(2).to_numpy().tolist()
    [[0.9, 383.0]]
    """
    need_plan(detect, power, level, metric)
    for name, value in (("family", family), ("most", most), ("cycle", cycle)):
        need_positive(name, value)
    if stop is not None and stop.metric != metric:
        raise ValueError(f"the test is of metric {stop.metric!r}, the plan of {metric!r}")
    found = compare(pilot, level)
    schedule = looks(FIRST_LOOK, LOOK_GROWTH, cycle, most)
    rows: list[dict[str, Any]] = []
    for one in found[found["metric"] == metric].to_dict("records"):
        deviation = float(one["std_error"]) * math.sqrt(int(one["n_deals"]))
        if not 0 < deviation < math.inf:
            continue
        rule = stop or _rule(detect / deviation, power, level, metric)
        if rule is None:
            continue
        test = rule.test(family)
        fixed = deals_needed(detect, deviation, power, level)
        of_a_deal = int(one["n_matches"]) / int(one["n_deals"])
        for share in TRUTHS:
            effect = share * detect / deviation
            way = course(test, schedule, effect)
            rows.append(
                {key: one[key] for key in ("preset", "players", "duel", "metric")}
                | {"rule": str(rule), "family": family, "share": share}
                | {"difference": share * detect, "effect": effect}
                | {"better": float(way.high.sum()), "worse": float(way.low.sum())}
                | {"no_difference": float(way.none.sum()), "open": way.open}
                | {"deals": way.mean, "deals_median": way.within(0.5)}
                | {"deals_high": way.within(LIKELY), "matches": way.mean * of_a_deal}
                | {"seconds": way.mean * seconds_per_deal, "fixed_deals": fixed}
                | {"fixed_power": fixed_power(effect, fixed, level), "deviation": deviation}
            )
    return pd.DataFrame(rows)


def _rule(effect: float, power: float, level: float, metric: str) -> SprtStop | None:
    """Return the test of an effect, in numbers that can be typed; None if there is none."""
    short, alpha, beta = (float(f"{x:.4g}") for x in (min(effect, 10.0), 1 - level, 1 - power))
    return SprtStop(short, alpha, beta, metric) if max(alpha, beta) < 0.5 else None


def fixed_power(effect: float, n: int, level: float) -> float:
    """Return the chance that n deals find a difference, of either sign, if an effect is true.

    Examples
    --------
    >>> [round(fixed_power(effect, 34, 0.95), 2) for effect in (0, 0.5)]
    [0.05, 0.81]
    """
    t = float(special.stdtrit(n - 1, (1 + level) / 2))
    shift = effect * math.sqrt(n)
    if n > 2000:
        return float(special.ndtr(shift - t) + special.ndtr(-shift - t))
    return float(1 - special.nctdtr(n - 1, shift, t) + special.nctdtr(n - 1, shift, -t))
