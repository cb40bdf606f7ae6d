"""Plots of who beats whom: ratings, payoffs, and the Nash mixture.

Users import them from ``kozel_sim.plots``, whose manners they keep.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from kozel_sim.drawing import (
    SKY,
    above,
    errors,
    headed,
    in_percent,
    intervals,
    name_rows,
    new_axes,
    new_rows,
    plain,
    rows_height,
    table_of,
    title_of,
    wrapped,
)
from kozel_sim.stats import percent
from kozel_sim.style import in_own_style

PAYOFFS = {
    "points_per_match": "points per match",
    "points_per_round": "points per round",
    "goat_rate": "goat rate, percentage points",
    "rating": "rating points per match",
}


@in_own_style
def ratings(
    table: pd.DataFrame,
    ax: Axes | None = None,
    *,
    preset: str | None = None,
    players: int | None = None,
) -> Axes:
    """Plot the ratings of a field with their intervals, the best on top.

    Parameters
    ----------
    table : DataFrame
        ``kozel_sim.rate(frame)``.
    ax : Axes, optional
        Where to draw; by default on a new figure.
    preset : str, optional
        Which preset; needed when there are several.
    players : int, optional
        Which number of players; needed when there are several.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    ValueError
        If the table has no such part, or several and none is named.
    """
    rows = table_of(table, preset, players).iloc[::-1]
    names = [wrapped(str(name)) for name in rows["policy"]]
    if ax is None:
        ax = new_rows(7, names, 0.4)
    ax.axvline(0, color="0.4", linewidth=1, zorder=1)
    intervals(ax, rows["rating"], rows["ci_low"], rows["ci_high"], names, markersize=3, capsize=5)
    for y, rating in enumerate(rows["rating"]):
        above(ax, rating, y, f"{rating:+.0f}")
    level = percent(rows["level"].iloc[0])
    ax.set_xlabel(f"rating: 400 points are odds of 10 to 1 ({level} interval)")
    headed(ax, title_of(rows))
    plain(ax)
    return ax


@in_own_style
def payoffs(
    table: pd.DataFrame,
    ax: Axes | None = None,
    *,
    preset: str | None = None,
    players: int | None = None,
) -> Axes:
    """Plot what every policy does better against every other, as a map of numbers.

    Parameters
    ----------
    table : DataFrame
        ``kozel_sim.payoffs(frame)``.
    ax : Axes, optional
        Where to draw; by default on a new figure.
    preset : str, optional
        Which preset; needed when there are several.
    players : int, optional
        Which number of players; needed when there are several.

    Returns
    -------
    Axes
        The axes drawn on. The policy with the highest mean payoff is on top and at the left. A
        number in brackets has an interval that holds 0; pairs that did not meet are blank.

    Raises
    ------
    ValueError
        If the table has no such part, or several and none is named.
    """
    rows = table_of(table, preset, players)
    means = rows.groupby("policy", observed=True)["payoff"].mean().sort_values(ascending=False)
    names = [str(name) for name in means.index]
    scale = 100 if rows["metric"].iloc[0] == "goat_rate" else 1
    values = np.full((len(names), len(names)), np.nan)
    texts = {}
    numbers = rows[["payoff", "ci_low", "ci_high"]].to_numpy(float)
    for one, two, (payoff, low, high) in zip(rows["policy"], rows["against"], numbers, strict=True):
        cell = names.index(str(one)), names.index(str(two))
        values[cell] = scale * payoff
        text = f"{scale * payoff:+.1f}"
        texts[cell] = f"({text})" if low <= 0 <= high else text
    if ax is None:
        height = rows_height([wrapped(name) for name in names], 0.5)
        ax = new_axes(2.4 + max(0.75 * len(names), 3.2), height + 0.7)
    most = float(np.nanmax(np.abs(values))) or 1.0
    places = np.arange(len(names) + 1) - 0.5
    ax.pcolormesh(
        places, places, values, cmap="PuOr", vmin=-most, vmax=most, edgecolor="white", linewidth=1
    )
    for (y, x), text in texts.items():
        colour = "white" if abs(values[y, x]) > 0.62 * most else "black"
        ax.text(x, y, text, ha="center", va="center", color=colour, fontsize="small")
    ticks = range(len(names))
    ax.set_xticks(ticks, [_short(name) for name in names], rotation=35, ha="right")
    ax.set_yticks(ticks, [wrapped(name) for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlim(-0.5, len(names) - 0.5)
    ax.set_xlabel("against")
    unit = PAYOFFS[str(rows["metric"].iloc[0])]
    headed(ax, f"{title_of(rows)}: payoff in {unit}", max(36, 8 * len(names)), "medium")
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    return ax


def _short(name: str) -> str:
    """Cut a name that is too long for a column; the row of its policy has it whole."""
    return name if len(name) <= 18 else name[:17] + "\u2026"


@in_own_style
def nash(
    table: pd.DataFrame,
    ax: Axes | None = None,
    *,
    preset: str | None = None,
    players: int | None = None,
) -> Axes:
    """Plot the Nash mixture: the share of every policy, with the bootstrap's spread.

    Parameters
    ----------
    table : DataFrame
        ``kozel_sim.nash(frame)``.
    ax : Axes, optional
        Where to draw; by default on a new figure.
    preset : str, optional
        Which preset; needed when there are several.
    players : int, optional
        Which number of players; needed when there are several.

    Returns
    -------
    Axes
        The axes drawn on. At the right stands the support: in how many of the resamples a policy
        has a share at all.

    Raises
    ------
    ValueError
        If the table has no such part, or several and none is named.
    """
    rows = table_of(table, preset, players).iloc[::-1]
    names = [wrapped(str(name)) for name in rows["policy"]]
    if ax is None:
        ax = new_rows(7, names, 0.4)
    height = np.arange(len(rows))
    ax.barh(height, rows["share"], height=0.6, color=SKY, edgecolor="0.2")
    ends = errors(rows["share"], rows["ci_low"], rows["ci_high"])
    ax.errorbar(rows["share"], height, xerr=ends, fmt="none", ecolor="0", capsize=4)
    for y, support in enumerate(rows["support"]):
        ax.text(1.03, y, f"{support:.0%}", va="center", fontsize="small")
    name_rows(ax, names)
    ax.set_xlim(0, 1.15)
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1])
    in_percent(ax)
    level = percent(rows["level"].iloc[0])
    ax.set_xlabel(f"share in the mixture ({level} interval); at the right: support")
    headed(ax, title_of(rows))
    plain(ax)
    return ax
