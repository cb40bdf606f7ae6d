"""Plots of tidy frames: each takes an ``Axes`` or makes one, and returns it.

A plot never resizes, tightens or shows the caller's figure. A new figure is not kept open in
pyplot: save it, or put it last in a notebook's cell (``leaderboard(summary).figure``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from kozel_sim.stats import percent
from kozel_sim.tell import CLAIM

Column: TypeAlias = "pd.Series[float]"

BLUE = "#0072B2"
VERMILION = "#D55E00"
"""Colours are Okabe and Ito's, which colour-blind readers can tell apart."""

LABELS = {
    "goat_rate": "goat rate: share of matches lost",
    "points": "mean points at the end of a match",
    "rating": "mean rating points",
}


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
    rows = _one(_one(summary, "preset", preset), "players", players)
    choices = list(rows["metric"].unique())
    rows = rows[rows["metric"] == metric]
    if rows.empty:
        raise ValueError(f"the summary has no metric {metric!r}; choose from {', '.join(choices)}")
    rows = rows.sort_values("estimate", ascending=metric == "rating")
    if ax is None:
        _, ax = plt.subplots(figsize=(7, 1.2 + 0.4 * len(rows)), layout="constrained")
    height = range(len(rows))
    errors = _errors(rows["estimate"], rows["ci_low"], rows["ci_high"])
    ax.errorbar(rows["estimate"], height, xerr=errors, fmt="o", color=BLUE, markersize=3, capsize=5)
    for y, estimate in zip(height, rows["estimate"], strict=True):
        text = f"{estimate:.1%}" if metric == "goat_rate" else f"{estimate:.2f}"
        ax.annotate(
            text, (estimate, y), (0, 7), textcoords="offset points", ha="center", fontsize="small"
        )
    what = summary.columns[list(summary.columns).index("metric") - 1]
    ax.set_yticks(list(height), [_wrapped(str(name)) for name in rows[what]])
    ax.set_ylim(-0.6, len(rows) - 0.4)
    ax.set_xlabel(f"{LABELS.get(metric, metric)} ({percent(rows['level'].iloc[0])} interval)")
    if metric == "goat_rate":
        ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.set_title(f"{rows['preset'].iloc[0]}, {rows['players'].iloc[0]} players", loc="left")
    _plain(ax)
    return ax


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
    rows = _one(_one(_one(effects, "policy", policy), "players", players), "metric", metric)
    baseline = rows["baseline"].iloc[0]
    rows = rows[rows["preset"].astype(str) != baseline].iloc[::-1]
    if rows.empty:
        raise ValueError(f"no rule set to compare with {baseline}")
    if ax is None:
        _, ax = plt.subplots(figsize=(7.5, 1.2 + 0.35 * len(rows)), layout="constrained")
    scale = 100 if metric.endswith(("_rate", "_edge")) or metric == "several_goats" else 1
    middle = scale * rows["difference"]
    names = [str(name).removeprefix(f"{baseline}[").removesuffix("]") for name in rows["preset"]]
    names = [_wrapped(name, 34) for name in names]
    # One variant far out, like a sea goat's rounds, would flatten all others.
    usual = float(middle.abs().quantile(0.8))
    if middle.abs().max() > 8 * usual > 0:
        ax.set_xscale("symlog", linthresh=usual, linscale=3)
        near, far = float(f"{usual:.1g}"), float(f"{middle.abs().max():.1g}")
        sides = [-far] * bool(middle.min() < -near) + [far] * bool(middle.max() > near)
        ticks = sorted({-near, 0.0, near, *sides})
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.minorticks_off()
    _differences(ax, middle, scale * rows["diff_ci_low"], scale * rows["diff_ci_high"], names)
    unit = ", percentage points" if scale == 100 else ""
    of = "" if policy == "all" else f" of {policy}"
    level = percent(rows["level"].iloc[0])
    ax.set_xlabel(f"{metric}{of}: difference from {baseline}{unit} ({level} interval)")
    ax.set_title(f"{rows['players'].iloc[0]} players", loc="left")
    _plain(ax)
    return ax


def forests(effects: pd.DataFrame) -> Figure:
    """Return a new figure with forest plots of goat rate and rounds by number of players."""
    several = effects.groupby("players", sort=False)["preset"].nunique() > 1
    sizes = [int(players) for players in several[several].index]
    metrics = ("goat_rate", "rounds")
    tallest = max(effects.groupby("players")["preset"].nunique())
    figure = _figure(7.5 * len(metrics), len(sizes) * (1.2 + 0.35 * tallest))
    axes = figure.subplots(len(sizes), len(metrics), squeeze=False)
    for line, players in zip(axes, sizes, strict=True):
        for ax, metric in zip(line, metrics, strict=True):
            forest(effects, ax, metric=metric, players=players)
    return figure


DIFFERENCES = {
    "points_per_round": "points per round",
    "points_per_match": "points per match",
    "goat_rate": "goat rate, percentage points",
}


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
    rows = _one(_one(comparisons, "preset", preset), "players", players)
    rows = _one(rows, "metric", metric).iloc[::-1]
    if ax is None:
        _, ax = plt.subplots(figsize=(7.5, 1.2 + 0.35 * len(rows)), layout="constrained")
    scale = 100 if metric == "goat_rate" else 1
    names = [_wrapped(f"{row.policy} v {row.against}", 44) for row in rows.itertuples()]
    middle, low, high = (scale * rows[column] for column in ("difference", "ci_low", "ci_high"))
    _differences(ax, middle, low, high, names)
    level = rows["level"].iloc[0]
    ax.set_xlabel(f"difference in {DIFFERENCES[metric]} ({percent(level)} interval)")
    ax.set_title(f"{rows['preset'].iloc[0]}, {rows['players'].iloc[0]} players", loc="left")
    _plain(ax)
    return ax


def all_duels(comparisons: pd.DataFrame) -> Figure:
    """Return a new figure: points per round and goat rate of all duels, a row per rule set."""
    parts = comparisons[["preset", "players"]].drop_duplicates().to_numpy().tolist()
    metrics = ("points_per_round", "goat_rate")
    tallest = max(comparisons.groupby(["preset", "players"], observed=True)["duel"].nunique())
    figure = _figure(7.5 * len(metrics), len(parts) * (1.2 + 0.35 * tallest))
    axes = figure.subplots(len(parts), len(metrics), squeeze=False)
    for line, (preset, players) in zip(axes, parts, strict=True):
        for ax, metric in zip(line, metrics, strict=True):
            duels(comparisons, ax, metric=metric, preset=preset, players=players)
            if ax is not line[0]:
                ax.set_yticklabels([])
    return figure


OBSERVER_LABELS = {"table": "seen from the table", "next": "seen by the next seat"}


def tell(
    frame: pd.DataFrame,
    ax: Axes | None = None,
    *,
    policy: str = "all",
    touched: str = "all",
    observer: str = "table",
    preset: str | None = None,
    players: int | None = None,
) -> Axes:
    """Plot how often a player who switched ends lacked the value he left, by tiles left.

    Beside it stands the chance of that to an observer, and behind both what is claimed.

    Parameters
    ----------
    frame : DataFrame
        ``measure_tell(...)``.
    ax : Axes, optional
        Where to draw; by default on a new figure.
    policy : str, default "all"
        "all", or whose tells are meant.
    touched : {"all", "no", "yes"}
        Only ends that were played on since, or were not.
    observer : {"table", "next"}
        Whose chance is drawn.
    preset : str, optional
        Which preset; needed when the frame has several.
    players : int, optional
        Which number of players; needed when the frame has several.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    ValueError
        If the frame has no such part, or several and none is named.
    """
    rows = _one(_one(frame, "preset", preset), "players", players)
    for column, value in (("policy", policy), ("touched", touched), ("observer", observer)):
        rows = _one(rows, column, value)
    title = f"{rows['preset'].iloc[0]}, {rows['players'].iloc[0]} players"
    rows = rows[rows["left"] > 0].sort_values("left")
    if ax is None:
        _, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    ax.axhspan(*CLAIM, color="0.5", alpha=0.2, linewidth=0, label="tip T5 claims")
    for shift, colour, marker, style, column, low, high, label in (
        (0.07, VERMILION, "s", "--", "baseline", "baseline_ci_low", "baseline_ci_high", "chance"),
        (-0.07, BLUE, "o", "-", "estimate", "ci_low", "ci_high", "frequency"),
    ):
        errors = _errors(rows[column], rows[low], rows[high])
        ax.errorbar(
            rows["left"] + shift,
            rows[column],
            yerr=errors,
            fmt=marker + style,
            color=colour,
            markersize=4,
            linewidth=1,
            capsize=4,
            label=label if label == "frequency" else f"{label} ({OBSERVER_LABELS[observer]})",
        )
    ax.set_xlabel("tiles left in hand" + (", 7: or more" if rows["left"].max() == 7 else ""))
    ax.set_xticks(list(rows["left"]))
    ax.set_xlim(0.5, max(rows["left"].max(), 2) + 0.5)
    ax.set_ylim(0, 1)
    ax.set_ylabel(f"lacks the value he left ({percent(rows['level'].iloc[0])} interval)")
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    who = "all policies" if policy == "all" else _wrapped(policy, 40)
    ax.set_title(f"{title}: {who}", loc="left", fontsize="medium")
    _plain(ax, "y")
    return ax


def tells(frame: pd.DataFrame, observer: str = "table") -> Figure:
    """Return a new figure with the tell of every policy, by preset and number of players."""
    parts = frame[["preset", "players", "policy"]].drop_duplicates().to_numpy().tolist()
    columns = min(4, len(parts))
    lines = -(-len(parts) // columns)
    figure = _figure(4.5 * columns, 3.6 * lines)
    axes = figure.subplots(lines, columns, squeeze=False)
    for ax in axes.flat[len(parts) :]:
        ax.remove()
    for ax, (preset, players, policy) in zip(axes.flat, parts, strict=False):
        tell(frame, ax, policy=policy, observer=observer, preset=preset, players=players)
    axes.flat[0].legend(fontsize="small")
    return figure


def _errors(middle: Column, low: Column, high: Column) -> list[Column]:
    """Return the lengths of intervals; one without an end, as from a single deal, is not drawn."""
    return [end.where(np.isfinite(end)) for end in (middle - low, high - middle)]


def _differences(ax: Axes, middle: Column, low: Column, high: Column, names: Sequence[str]) -> None:
    """Draw differences from 0 in rows, the first at the bottom."""
    height = range(len(middle))
    errors = _errors(middle, low, high)
    ax.axvline(0, color="0.4", linewidth=1)
    ax.errorbar(middle, height, xerr=errors, fmt="o", color=BLUE, markersize=4, capsize=4)
    ax.set_yticks(list(height), list(names))
    ax.set_ylim(-0.6, len(middle) - 0.4)


def _figure(width: float, height: float) -> Figure:
    """Return a new figure that pyplot has made (so a notebook can show it) and does not keep."""
    figure = plt.figure(figsize=(width, height), layout="constrained")
    plt.close(figure)
    return figure


def _plain(ax: Axes, axis: Literal["x", "y"] = "x") -> None:
    """Take away the lines that carry nothing."""
    ax.grid(axis=axis, alpha=0.3)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="y", length=0)


def _wrapped(name: str, width: int = 26) -> str:
    """Break a long policy spec over lines, at its commas, pluses and arrows."""
    lines = [""]
    for word in re.findall(r"[^,+>]+[,+>]?", name):
        if lines[-1] and len(lines[-1] + word) > width:
            lines.append("")
        lines[-1] += word
    return "\n".join(lines)


def _one(summary: pd.DataFrame, column: str, value: str | int | None) -> pd.DataFrame:
    """Return the rows with one value of a column, the only one where none is named."""
    found = list(summary[column].unique())
    if value is None:
        if len(found) > 1:
            raise ValueError(
                f"the summary has several values of {column}; name one of "
                f"{', '.join(map(str, found))}"
            )
        return summary
    if value not in found:
        raise ValueError(
            f"the summary has no {column} {value!r}; choose from {', '.join(map(str, found))}"
        )
    return summary[summary[column] == value]


def leaderboards(summary: pd.DataFrame, metric: str = "goat_rate") -> Figure:
    """Return a new figure with a leaderboard for each preset and number of players.

    Where a preset has no such metric, as some have no rating, its place says so.

    Raises
    ------
    ValueError
        If no preset has it.
    """
    _one(summary, "metric", metric)
    parts = list(summary.groupby(["preset", "players"], observed=True, sort=False))
    tallest = max(part["policy"].nunique() for _, part in parts)
    columns = min(2, len(parts))
    lines = -(-len(parts) // columns)
    figure = _figure(7 * columns, lines * (1.2 + 0.4 * tallest))
    axes = figure.subplots(lines, columns, squeeze=False)
    for ax in axes.flat[len(parts) :]:
        ax.remove()
    for ax, ((preset, players), part) in zip(axes.flat, parts, strict=False):
        if metric in set(part["metric"]):
            leaderboard(part, ax, metric=metric)
        else:
            ax.set_title(f"{preset}, {players} players", loc="left")
            ax.text(0.5, 0.5, f"no {metric} under these rules", ha="center", va="center")
            ax.set_axis_off()
    return figure
