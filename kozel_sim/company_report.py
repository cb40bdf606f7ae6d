"""What ``kozel show`` prints of company, and of skill and luck."""

from __future__ import annotations

import pandas as pd

from kozel_sim.capped import capped_words
from kozel_sim.company import company
from kozel_sim.plain import records
from kozel_sim.printing import print_json, show, spread
from kozel_sim.skill import SOURCES, variance_shares
from kozel_sim.stats import percent


def show_company(frame: pd.DataFrame, json_: bool) -> None:
    """Print how each policy fares by who else is at its table: goat rate and points."""
    tables = {metric: company(frame, metric) for metric in ("goat_rate", "points")}
    if json_:
        print_json({metric: records(table) for metric, table in tables.items()})
        return
    rates, points = (records(table) for table in tables.values())
    of_points = {
        (row["preset"], row["players"], row["policy"], row["company"]): row for row in points
    }
    lines = []
    for row in rates:
        keys = (row["preset"], row["players"], row["policy"], row["company"])
        other = of_points[keys]
        gap = (row["difference"], row["diff_ci_low"], row["diff_ci_high"])
        lines.append(
            {"rules": row["preset"], "players": row["players"], "policy": row["policy"]}
            | {"company": row["company"]}
            | {"goat rate": spread((row["estimate"], row["ci_low"], row["ci_high"]), 100, 1)}
            | {"less its mean": spread(gap, 100, 1)}
            | {"points": spread((other["estimate"], other["ci_low"], other["ci_high"]), 1, 1)}
        )
    show(lines, json_=False)
    print(f"{percent(rates[0]['level'])} intervals, each by itself; paired by deal for differences")
    print("".join(f"{words}\n" for words in capped_words(frame)), end="")


def show_luck(frame: pd.DataFrame, json_: bool) -> None:
    """Print how much of the variance of a match's points is policy, seat, deal and the rest."""
    table = variance_shares(frame)
    if json_:
        print_json(records(table))
        return
    lines: dict[tuple[str, int], dict[str, object]] = {}
    for row in records(table):
        keys = (row["preset"], row["players"])
        line = lines.setdefault(keys, {"rules": keys[0], "players": keys[1]})
        line[row["source"]] = spread((row["share"], row["ci_low"], row["ci_high"]), 100, 1)
    show(list(lines.values()), json_=False)
    print(
        f"shares of the variance of points per match, {percent(table['level'].iloc[0])} intervals; "
        f"sources: {', '.join(SOURCES)}"
    )
    print("".join(f"{words}\n" for words in capped_words(frame)), end="")
