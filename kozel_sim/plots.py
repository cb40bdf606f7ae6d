"""Plots of tidy frames: each takes an ``Axes`` or makes one, and returns it.

A plot never resizes, tightens or shows the caller's figure. A new figure is not kept open in
pyplot: save it, or put it last in a notebook's cell (``leaderboard(summary).figure``).

Here are those of a field (a row for every policy, duel or rule set); those of how values run are in
``run_plots``, those of who beats whom in ``field_plots``. All have their names here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kozel_sim.direction import better_of, in_words, sign_of
from kozel_sim.drawing import (
    BLUE,
    GREY,
    LINE,
    SERIES,
    VERMILION,
    above,
    changed_rules,
    differences,
    errors,
    headed,
    in_percent,
    intervals,
    labelled,
    name_rows,
    new_axes,
    new_figure,
    new_rows,
    one,
    plain,
    rows_height,
    squeezed,
    table_of,
    title_of,
    wrapped,
)
from kozel_sim.field_plots import changes, nash, payoffs, ratings
from kozel_sim.intervals import percent
from kozel_sim.run_plots import convergence, points, rounds, tell, tells
from kozel_sim.style import in_own_style
from kozel_sim.words import metric_words

__all__ = [
    "ablation",
    "all_changes",
    "all_duels",
    "changes",
    "convergence",
    "duels",
    "forest",
    "forests",
    "goat_rates",
    "leaderboard",
    "leaderboards",
    "nash",
    "payoffs",
    "points",
    "ratings",
    "rounds",
    "seats",
    "tell",
    "tells",
]

LABELS = {
    "goat_rate": "goat rate: share of matches lost",
    "points": "mean points at the end of a match",
    "rating": "mean room rating of a match",
}


@in_own_style
def leaderboard(
    summary: pd.DataFrame,
    ax: Axes | None = None,
    *,
    metric: str = "goat_rate",
    preset: str | None = None,
    players: int | None = None,
) -> Axes:
    """Plot a metric by policy with its intervals, the best on top.

    Parameters
    ----------
    summary : DataFrame
        ``Run.summary()``.
    ax : Axes, optional
        Where to draw; by default on a new figure.
    metric : {"goat_rate", "points", "rating"}
        What to rank by.
    preset : str, optional
        Which preset; needed when the summary has several.
    players : int, optional
        Which number of players; needed when the summary has several.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    ValueError
        If the summary has no such part, or several and none is named.
    """
    rows = table_of(summary, preset, players)
    choices = list(rows["metric"].unique())
    rows = rows[rows["metric"] == metric]
    if rows.empty:
        raise ValueError(f"the summary has no metric {metric!r}; choose from {', '.join(choices)}")
    better = better_of(metric, rows)
    rows = rows.sort_values("estimate", ascending=sign_of(better) > 0)
    group = summary.columns[list(summary.columns).index("metric") - 1]
    names = [wrapped(str(name)) for name in rows[group]]
    if ax is None:
        ax = new_rows(7, names, 0.4)
    look = {"markersize": 3, "capsize": 5}
    intervals(ax, rows["estimate"], rows["ci_low"], rows["ci_high"], names, **look)
    for y, estimate in enumerate(rows["estimate"]):
        above(ax, estimate, y, f"{estimate:.1%}" if metric == "goat_rate" else f"{estimate:.2f}")
    what = f"{LABELS.get(metric, metric)}{in_words(metric, better)}"
    labelled(ax, f"{what} ({percent(rows['level'].iloc[0])} interval)")
    if metric == "goat_rate":
        in_percent(ax)
    headed(ax, title_of(rows))
    plain(ax)
    return ax


@in_own_style
def leaderboards(summary: pd.DataFrame, metric: str = "goat_rate") -> Figure:
    """Return a new figure with a leaderboard for each preset and number of players.

    Where a preset has no such metric, as some have no rating, its place says so.

    Raises
    ------
    ValueError
        If no preset has it.
    """
    one(summary, "metric", metric)
    parts = list(summary.groupby(["preset", "players"], observed=True, sort=False))
    boards = [[wrapped(str(name)) for name in part["policy"].unique()] for _, part in parts]
    tallest = max(rows_height(board, 0.4) for board in boards)
    columns = min(2, len(parts))
    lines = -(-len(parts) // columns)
    figure = new_figure(7 * columns, lines * tallest)
    axes = figure.subplots(lines, columns, squeeze=False)
    for ax in axes.flat[len(parts) :]:
        ax.remove()
    for ax, ((preset, players), part) in zip(axes.flat, parts, strict=False):
        if metric in set(part["metric"]):
            leaderboard(part, ax, metric=metric)
        else:
            headed(ax, f"{preset}, {players} players")
            ax.text(
                0.5, 0.5, f"no {metric_words(metric)} under these rules", ha="center", va="center"
            )
            ax.set_axis_off()
    return figure


@in_own_style
def goat_rates(
    summary: pd.DataFrame,
    ax: Axes | None = None,
    *,
    policies: Sequence[str] | None = None,
    players: int | None = None,
) -> Axes:
    """Plot the goat rate of every policy under every preset, with intervals.

    Parameters
    ----------
    summary : DataFrame
        ``Run.summary()``, of one or several presets.
    ax : Axes, optional
        Where to draw; by default on a new figure.
    policies : sequence of str, optional
        Only these, in this order; by default all, the lowest mean rate first. Eight at the most.
    players : int, optional
        Which number of players; needed when the summary has several.

    Returns
    -------
    Axes
        The axes drawn on; a legend stands above them, as high as it needs.

    Raises
    ------
    ValueError
        If the summary has no such part, several and none is named, or too many policies.
    """
    rows = one(one(summary, "players", players), "metric", "goat_rate")
    if policies is None:
        means = rows.groupby("policy", observed=True, sort=False)["estimate"].mean()
        policies = [str(name) for name in means.sort_values().index]
    if len(policies) > len(SERIES):
        raise ValueError(
            f"{len(policies)} policies cannot be told apart; name {len(SERIES)} or fewer of "
            f"{', '.join(policies)}"
        )
    parts = [one(rows, "policy", name) for name in policies]
    presets = list(dict.fromkeys(rows["preset"]))[::-1]
    if ax is None:
        names = [wrapped(str(preset)) for preset in presets]
        legend = sum(wrapped(name).count("\n") + 1 for name in policies) * LINE / 2
        ax = new_axes(7.5, legend + rows_height(names, 0.25 + 0.13 * len(policies)))
    for number, (name, part) in enumerate(zip(policies, parts, strict=True)):
        shift = 0.36 - 0.72 * (number + 0.5) / len(policies)
        height = [presets.index(preset) + shift for preset in part["preset"]]
        ends = errors(part["estimate"], part["ci_low"], part["ci_high"])
        colour, marker = SERIES[number]
        look: dict[str, Any] = {
            "color": colour,
            "fmt": marker,
            "markersize": 5,
            "capsize": 2,
            "linewidth": 1,
        }
        ax.errorbar(part["estimate"], height, xerr=ends, label=wrapped(name), **look)
    for y in range(0, len(presets), 2):
        ax.axhspan(y - 0.5, y + 0.5, color="0.5", alpha=0.1, linewidth=0, zorder=0)
    name_rows(ax, [wrapped(str(preset)) for preset in presets])
    ax.set_ylim(-0.5, len(presets) - 0.5)
    in_percent(ax)
    level = percent(rows["level"].iloc[0])
    what = f"{LABELS['goat_rate']}{in_words('goat_rate', better_of('goat_rate', rows))}"
    labelled(ax, f"{what}; {rows['players'].iloc[0]} players ({level} interval)")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, fontsize="small")
    plain(ax)
    return ax


@in_own_style
def seats(
    table: pd.DataFrame,
    ax: Axes | None = None,
    *,
    metric: str = "goat_rate",
    preset: str | None = None,
    players: int | None = None,
) -> Axes:
    """Plot how the seats fare, and who led the first round, with intervals.

    Parameters
    ----------
    table : DataFrame
        ``seat_tables(frame)``.
    ax : Axes, optional
        Where to draw; by default on a new figure.
    metric : {"goat_rate", "points"}
        What to compare.
    preset : str, optional
        Which preset; needed when there are several.
    players : int, optional
        Which number of players; needed when there are several.

    Returns
    -------
    Axes
        The axes drawn on; the dotted line is the mean of all seats.

    Raises
    ------
    ValueError
        If the table has no such part, or several and none is named.
    """
    rows = one(table_of(table, preset, players), "metric", metric).iloc[::-1]
    names = [
        f"seat {row.group}" if row.by == "seat" else str(row.group) for row in rows.itertuples()
    ]
    if ax is None:
        ax = new_rows(6.5, names, 0.35)
    intervals(ax, rows["estimate"], rows["ci_low"], rows["ci_high"], names)
    ax.axvline(rows["estimate"][rows["by"] == "seat"].mean(), color=GREY, linestyle=":", zorder=1)
    ax.axhline((rows["by"] == "led").sum() - 0.5, color="0.8", linewidth=1, zorder=1)
    if metric == "goat_rate":
        in_percent(ax)
    level = percent(rows["level"].iloc[0])
    what = f"{LABELS[metric]}{in_words(metric, better_of(metric, rows))}"
    labelled(ax, f"{what} ({level} interval)")
    headed(ax, title_of(rows))
    plain(ax)
    return ax


@in_own_style
def forest(
    effects: pd.DataFrame,
    ax: Axes | None = None,
    *,
    metric: str = "goat_rate",
    policy: str = "all",
    players: int | None = None,
) -> Axes:
    """Plot how rule sets differ from the baseline in a metric, with intervals.

    Parameters
    ----------
    effects : DataFrame
        ``kozel_sim.sweep.effects(frame)``.
    ax : Axes, optional
        Where to draw; by default on a new figure.
    metric : str, default "goat_rate"
        One of the sweep's metrics.
    policy : str, default "all"
        "all", or the policy whose goat rate is meant.
    players : int, optional
        Which number of players; needed when there are several.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    ValueError
        If the frame has no such part, or several and none is named.
    """
    rows = one(one(one(effects, "policy", policy), "players", players), "metric", metric)
    baseline = rows["baseline"].iloc[0]
    rows = rows[rows["preset"].astype(str) != baseline].iloc[::-1]
    if rows.empty:
        raise ValueError(f"no rule set to compare with {baseline}")
    scale = 100 if metric.endswith(("_rate", "_edge")) or metric == "several_goats" else 1
    middle = scale * rows["difference"]
    names = [wrapped(name, 34) for name in changed_rules(rows["preset"], str(baseline))]
    if ax is None:
        ax = new_rows(7.5, names, 0.35)
    differences(ax, middle, scale * rows["diff_ci_low"], scale * rows["diff_ci_high"], names)
    unit = ", percentage points" if scale == 100 else ""
    of = "" if policy == "all" else f" of {policy}"
    level = percent(rows["level"].iloc[0])
    way = "" if policy == "all" else in_words(metric, better_of(metric, rows))
    label = f"{metric}{of}{way}: difference from {baseline}{unit} ({level} interval)"
    labelled(ax, label)
    # One variant far out, like a sea goat's rounds, would flatten all others.
    usual = float(middle.abs().quantile(0.8))
    if middle.abs().max() > 8 * usual > 0:
        squeezed(ax, middle, usual)
    headed(ax, f"{rows['players'].iloc[0]} players")
    plain(ax)
    return ax


@in_own_style
def forests(effects: pd.DataFrame) -> Figure:
    """Return a new figure with forest plots of goat rate and rounds by number of players."""
    several = effects.groupby("players", sort=False)["preset"].nunique() > 1
    sizes = [int(players) for players in several[several].index]
    metrics = ("goat_rate", "rounds")
    tallest = max(
        rows_height(
            [
                wrapped(name, 34)
                for name in changed_rules(part["preset"].unique(), str(part["baseline"].iloc[0]))
            ],
            0.35,
        )
        for _, part in effects.groupby("players")
    )
    figure = new_figure(7.5 * len(metrics), len(sizes) * tallest)
    axes = figure.subplots(len(sizes), len(metrics), squeeze=False)
    for line, players in zip(axes, sizes, strict=True):
        for ax, metric in zip(line, metrics, strict=True):
            forest(effects, ax, metric=metric, players=players)
    return figure


@in_own_style
def all_changes(effects: pd.DataFrame) -> Figure:
    """Return a new figure: what rules do to each policy, a map for each number of players."""
    several = effects.groupby("players", sort=False)["preset"].nunique() > 1
    sizes = [int(players) for players in several[several].index]
    policies = effects.groupby("players")["policy"].nunique().max() - 1
    lines = effects.groupby("players")["preset"].nunique()[sizes].sum()
    figure = new_figure(3.4 + max(3.2, 0.75 * policies), 1.7 * len(sizes) + 0.5 * lines)
    heights = [int(effects[effects["players"] == n]["preset"].nunique()) for n in sizes]
    axes = figure.subplots(len(sizes), 1, squeeze=False, height_ratios=heights)
    for ax, players in zip(axes[:, 0], sizes, strict=True):
        changes(effects, ax, players=players)
    return figure


DIFFERENCES = {
    "points_per_round": "points per round",
    "points_per_match": "points per match",
    "goat_rate": "goat rate, percentage points",
}


@in_own_style
def duels(
    comparisons: pd.DataFrame,
    ax: Axes | None = None,
    *,
    metric: str = "points_per_round",
    preset: str | None = None,
    players: int | None = None,
) -> Axes:
    """Plot how the first policy of each duel differs from the second, with intervals.

    Parameters
    ----------
    comparisons : DataFrame
        ``kozel_sim.compare(frame)``.
    ax : Axes, optional
        Where to draw; by default on a new figure.
    metric : {"points_per_round", "points_per_match", "goat_rate"}
        What to compare.
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
        If the frame has no such part, or several and none is named.
    """
    rows = one(table_of(comparisons, preset, players), "metric", metric).iloc[::-1]
    names = _pairs(rows)
    if ax is None:
        ax = new_rows(7.5, names, 0.35)
    scale = 100 if metric == "goat_rate" else 1
    middle, low, high = (scale * rows[column] for column in ("difference", "ci_low", "ci_high"))
    differences(ax, middle, low, high, names)
    what = f"{DIFFERENCES[metric]}{in_words(metric, better_of(metric, rows))}"
    labelled(ax, f"difference in {what} ({percent(rows['level'].iloc[0])} interval)")
    headed(ax, title_of(rows))
    plain(ax)
    return ax


def _pairs(rows: pd.DataFrame) -> list[str]:
    """Name duels in rows."""
    return [wrapped(f"{row.policy} v {row.against}", 44) for row in rows.itertuples()]


@in_own_style
def all_duels(comparisons: pd.DataFrame) -> Figure:
    """Return a new figure: points per round and goat rate of all duels, a row per rule set."""
    parts = comparisons[["preset", "players"]].drop_duplicates().to_numpy().tolist()
    metrics = ("points_per_round", "goat_rate")
    pairs = comparisons.drop_duplicates(["preset", "players", "duel"])
    tallest = max(
        rows_height(_pairs(part), 0.35)
        for _, part in pairs.groupby(["preset", "players"], observed=True)
    )
    figure = new_figure(7.5 * len(metrics), len(parts) * tallest)
    axes = figure.subplots(len(parts), len(metrics), squeeze=False)
    for line, (preset, players) in zip(axes, parts, strict=True):
        for ax, metric in zip(line, metrics, strict=True):
            duels(comparisons, ax, metric=metric, preset=preset, players=players)
            if ax is not line[0]:
                ax.set_yticklabels([])
    return figure


@in_own_style
def ablation(
    comparisons: pd.DataFrame,
    ax: Axes | None = None,
    *,
    metric: str = "goat_rate",
    preset: str | None = None,
    players: int | None = None,
) -> Axes:
    """Plot duels as bars of what a change does, those against the same policy together.

    Parameters
    ----------
    comparisons : DataFrame
        ``kozel_sim.compare(frame)`` of duels like those of ``experiments/tips.toml``: tips alone
        against random play, added to a policy, dropped from one.
    ax : Axes, optional
        Where to draw; by default on a new figure.
    metric : {"goat_rate", "points_per_round", "points_per_match"}
        What to compare.
    preset : str, optional
        Which preset; needed when there are several.
    players : int, optional
        Which number of players; needed when there are several.

    Returns
    -------
    Axes
        The axes drawn on, of each group the best first. Bars of what does better are full, of what
        does worse hatched, and those whose interval holds 0 are empty.

    Raises
    ------
    ValueError
        If the frame has no such part, or several and none is named.
    """
    rows = one(table_of(comparisons, preset, players), "metric", metric)
    better = better_of(metric, rows)
    sign = sign_of(better)
    parts = []
    for against, group in rows.groupby("against", observed=True, sort=False):
        head = pd.DataFrame({"policy": [f"against {against}:"]})
        parts += [
            head,
            group.sort_values("difference", ascending=sign < 0)[
                ["policy", "difference", "ci_low", "ci_high"]
            ],
        ]
    table = pd.concat(parts, ignore_index=True).iloc[::-1].reset_index(drop=True)
    names = [wrapped(str(name), 34) for name in table["policy"]]
    if ax is None:
        ax = new_rows(7.5, names, 0.3)
    scale = 100 if metric == "goat_rate" else 1
    middle, low, high = (scale * table[column] for column in ("difference", "ci_low", "ci_high"))
    looks: list[tuple[pd.Series[bool], dict[str, Any]]] = [
        ((high < 0 if sign < 0 else low > 0), {"facecolor": BLUE}),
        ((low > 0 if sign < 0 else high < 0), {"facecolor": VERMILION, "hatch": "////"}),
        ((low <= 0) & (high >= 0), {"facecolor": "none"}),
    ]
    for kind, look in looks:
        ax.barh(table.index[kind], middle[kind], height=0.7, edgecolor="0.2", **look)
    ax.errorbar(
        middle, table.index, xerr=errors(middle, low, high), fmt="none", ecolor="0", capsize=3
    )
    ax.axvline(0, color="0.2", linewidth=1)
    name_rows(ax, names)
    for label in ax.get_yticklabels():
        label.set_fontstyle("italic" if label.get_text().endswith(":") else "normal")
    level = percent(rows["level"].iloc[0])
    what = f"{DIFFERENCES[metric]}{in_words(metric, better)}"
    labelled(ax, f"difference in {what} ({level} interval)")
    headed(ax, title_of(rows))
    plain(ax)
    return ax
