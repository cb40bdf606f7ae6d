"""Plots of who beats whom, and what rules do to whom: ratings, payoffs, changes, the Nash mixture.

Users import them from ``kozel_sim.plots``, whose manners they keep.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from kozel_sim.drawing import (
    SKY,
    Floats,
    above,
    changed_rules,
    errors,
    headed,
    in_percent,
    intervals,
    labelled,
    name_rows,
    new_axes,
    new_rows,
    one,
    plain,
    rows_height,
    table_of,
    title_of,
    wrapped,
)
from kozel_sim.intervals import percent
from kozel_sim.style import in_own_style

PAYOFFS = {
    "points_per_match": "points per match",
    "points_per_round": "points per round",
    "goat_rate": "goat rate, percentage points",
    "rating": "room rating per match",
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
    labelled(ax, f"rating, higher is better: 400 points are odds of 10 to 1 ({level} interval)")
    headed(ax, f"{title_of(rows)}, a field of {len(rows)}")
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
    pairs = zip(rows["policy"], rows["against"], numbers, strict=True)
    for policy, against, (payoff, low, high) in pairs:
        cell = names.index(str(policy)), names.index(str(against))
        values[cell] = scale * payoff
        texts[cell] = _cell_text(scale * payoff, scale * low, scale * high)
    if ax is None:
        ax = _new_map(names, names)
    _draw_map(ax, values, texts, names, names)
    ax.set_xlabel("against")
    unit = PAYOFFS[str(rows["metric"].iloc[0])]
    headed(
        ax,
        f"{title_of(rows)}: how much better the row is, {unit}",
        max(36, 8 * len(names)),
        "medium",
    )
    return ax


@in_own_style
def changes(effects: pd.DataFrame, ax: Axes | None = None, *, players: int | None = None) -> Axes:
    """Plot what every rule set does to the goat rate of every policy, as a map of numbers.

    Parameters
    ----------
    effects : DataFrame
        ``kozel_sim.sweep.effects(frame)``.
    ax : Axes, optional
        Where to draw; by default on a new figure.
    players : int, optional
        Which number of players; needed when there are several.

    Returns
    -------
    Axes
        The axes drawn on: a row for each rule set but the baseline, a column for each policy, the
        one with the lowest goat rate under the baseline at the left. A number in brackets has an
        interval that holds 0.

    Raises
    ------
    ValueError
        If the frame has no such part, or several and none is named.
    """
    rows = one(effects, "players", players)
    rows = rows[(rows["metric"] == "goat_rate") & (rows["policy"] != "all")]
    baseline = str(rows["baseline"].iloc[0])
    at_base = rows[rows["preset"].astype(str) == baseline].sort_values("estimate")
    policies = [str(name) for name in at_base["policy"]]
    rows = rows[rows["preset"].astype(str) != baseline]
    if rows.empty:
        raise ValueError(f"no rule set to compare with {baseline}")
    presets = [str(name) for name in rows["preset"].unique()]
    values = np.full((len(presets), len(policies)), np.nan)
    texts = {}
    numbers = rows[["difference", "diff_ci_low", "diff_ci_high"]].to_numpy(float)
    for rules, policy, ends in zip(rows["preset"], rows["policy"], numbers, strict=True):
        cell = presets.index(str(rules)), policies.index(str(policy))
        values[cell] = 100 * ends[0]
        texts[cell] = _cell_text(*(100 * ends))
    names = changed_rules(presets, baseline)
    if ax is None:
        ax = _new_map(names, policies)
    _draw_map(ax, values, texts, names, policies)
    level = percent(rows["level"].iloc[0])
    n = rows["players"].iloc[0]
    title = f"{n} players: goat rate less that under {baseline}, percentage points"
    headed(ax, title, max(36, 8 * len(policies)), "medium")
    labelled(ax, f"lower is better; in brackets: the {level} interval holds 0")
    return ax


def _cell_text(middle: float, low: float, high: float) -> str:
    """Write a number of a map, in brackets where its interval holds 0."""
    return f"({middle:+.1f})" if low <= 0 <= high else f"{middle:+.1f}"


def _new_map(rows: list[str], columns: list[str]) -> Axes:
    """Return axes on a new figure for a map of numbers."""
    height = rows_height([wrapped(name) for name in rows], 0.5)
    return new_axes(2.4 + max(0.75 * len(columns), 3.2), height + 0.7)


def _draw_map(
    ax: Axes,
    values: Floats,
    texts: dict[tuple[int, int], str],
    rows: list[str],
    columns: list[str],
) -> None:
    """Draw numbers as coloured cells, the first row on top."""
    most = float(np.nanmax(np.abs(values))) or 1.0
    edges = (np.arange(n + 1) - 0.5 for n in (len(columns), len(rows)))
    look: dict[str, Any] = {"cmap": "PuOr", "vmin": -most, "vmax": most}
    ax.pcolormesh(*edges, values, edgecolor="white", linewidth=1, **look)
    for (y, x), text in texts.items():
        colour = "white" if abs(values[y, x]) > 0.62 * most else "black"
        ax.text(x, y, text, ha="center", va="center", color=colour, fontsize="small")
    ax.set_xticks(range(len(columns)), _short(columns), rotation=35, ha="right")
    ax.set_yticks(range(len(rows)), [wrapped(name) for name in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlim(-0.5, len(columns) - 0.5)
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)


def _short(names: list[str]) -> list[str]:
    """Cut names that are too long for a column, at the end, or within where ends set them apart."""
    found = [name if len(name) <= 18 else name[:17] + "\u2026" for name in names]
    return [
        name[:8] + "\u2026" + name[-9:] if len(name) > 18 and found.count(cut) > 1 else cut
        for name, cut in zip(names, found, strict=True)
    ]


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
    labelled(ax, f"share in the mixture ({level} interval); at the right: support")
    headed(ax, title_of(rows))
    plain(ax)
    return ax
