"""Plots of how values run: over points and rounds, as matches are played, as hands get shorter.

Users import them from ``kozel_sim.plots``, whose manners they keep.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from kozel_sim import stats
from kozel_sim.direction import better_of, in_words, sign_of
from kozel_sim.drawing import (
    BLUE,
    GREY,
    SKY,
    VERMILION,
    Floats,
    errors,
    headed,
    in_percent,
    labelled,
    new_axes,
    new_figure,
    new_rows,
    note,
    one,
    plain,
    stretched,
    table_of,
    title_of,
    wrapped,
)
from kozel_sim.intervals import LEVEL, Estimate, percent
from kozel_sim.metrics import DealSums, metric_of
from kozel_sim.rows import by_deal
from kozel_sim.sequential import FIRST_LOOK, sequence_of
from kozel_sim.style import in_own_style
from kozel_sim.tell import CLAIM
from kozel_sim.words import counted, metric_words

MOST_BINS = 60
"""Points are put together until there are no more bins than these."""
BEYOND = 0.002
"""The share of matches that may lie beyond the plot: a few long ones would flatten all others."""
ALONE = 3
"""A bar so many times as high as its neighbours may be cut, like that of accounts never opened."""


@in_own_style
def points(
    frame: pd.DataFrame,
    ax: Axes | None = None,
    *,
    preset: str | None = None,
    players: int | None = None,
) -> Axes:
    """Plot the distribution of points at the end of a match, by policy.

    Parameters
    ----------
    frame : DataFrame
        ``Run.frame`` or ``Totals.histogram("points")``.
    ax : Axes, optional
        Where to draw; by default on a new figure.
    preset : str, optional
        Which preset; needed when the frame has several.
    players : int, optional
        Which number of players; needed when the frame has several.

    Returns
    -------
    Axes
        The axes drawn on: a row per policy, the best on top: the one with the fewest points, or
        where many are good, the most. All rows have one scale, and the line in each is its median.
        A bar that is too high is cut, and its share written beside it; so is the share beyond the
        right end, from 0.5% on.

    Raises
    ------
    ValueError
        If the frame has no such part, or several and none is named.
    """
    rows = table_of(frame, preset, players)
    parts = [
        (wrapped(str(name)), *_values(part, "points"))
        for name, part in rows.groupby("policy", observed=True, sort=False)
    ]
    better = better_of("points", rows)
    sign = sign_of(better)
    parts.sort(key=lambda part: sign * float(np.average(part[1], weights=part[2])))
    if ax is None:
        ax = new_rows(7, [name for name, _, _ in parts], 0.6)
    cut = _ridges(ax, parts)
    labelled(ax, f"points at the end of a match{in_words('points', better)}")
    note(ax, cut)
    headed(ax, title_of(rows))
    return ax


@in_own_style
def rounds(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Plot the distribution of the rounds of a match, by preset and number of players.

    Parameters
    ----------
    frame : DataFrame
        ``Run.frame`` or ``Totals.histogram("rounds")``.
    ax : Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    Axes
        The axes drawn on: a row for each; read as ``points``.
    """
    matches = frame[frame["seat"] == 0] if "seat" in frame else frame
    parts = [
        (f"{wrapped(str(preset))}\n{n} players", *_values(part, "rounds"))
        for (preset, n), part in matches.groupby(["preset", "players"], observed=True, sort=False)
    ][::-1]
    if ax is None:
        ax = new_rows(7, [name for name, _, _ in parts], 0.7)
    cut = _ridges(ax, parts)
    labelled(ax, "rounds of a match")
    note(ax, cut)
    return ax


def _values(part: pd.DataFrame, column: str) -> tuple[Floats, Floats]:
    """Return values and how often each was met."""
    values = part[column].to_numpy(float)
    return values, part["count"].to_numpy(float) if "count" in part else np.ones(len(values))


def _ridges(ax: Axes, parts: list[tuple[str, Floats, Floats]]) -> str:
    """Draw histograms in rows, the first at the bottom; return what is cut."""
    last = _last([_quantile(v, n, 1 - BEYOND) for _, v, n in parts])
    first = min(float(v.min()) for _, v, _ in parts)
    width = max(1, int(np.ceil((last - first + 1) / MOST_BINS)))
    edges = np.arange(first, last + width + 1, width) - 0.5
    shares = [np.histogram(v, edges, weights=n)[0] / n.sum() for _, v, n in parts]
    full = _tallest(shares)
    for y, ((_, v, n), share) in enumerate(zip(parts, shares, strict=True)):
        height = 0.85 * np.minimum(share / full, 1)
        ax.stairs(y + height, edges, baseline=y, fill=True, color=SKY, alpha=0.5)
        ax.stairs(y + height, edges, baseline=y, color=BLUE, linewidth=1)
        ax.axhline(y, color="0.7", linewidth=0.5, zorder=0)
        for bin_ in np.flatnonzero(share > full):
            text = f" {share[bin_]:.0%}"
            ax.text(edges[bin_ + 1], y + 0.85, text, va="top", fontsize="small")
            _gap(ax, edges[bin_], edges[bin_ + 1], y + 0.6)
        median = _quantile(v, n, 0.5)
        if median < edges[-1]:
            top = height[int((median - edges[0]) // width)]
            ax.vlines(median, y, y + top, color="0", linewidth=2)
        beyond = float(n[v > edges[-1]].sum() / n.sum())
        if beyond >= 0.005:
            text = f"{beyond:.0%} beyond"
            ax.text(edges[-1], y + 0.1, text, ha="right", va="bottom", fontsize="small")
    ax.set_yticks(np.arange(len(parts)) + 0.35, [name for name, _, _ in parts])
    ax.set_ylim(-0.1, len(parts))
    ax.set_xlim(edges[0] - 0.01 * (edges[-1] - edges[0]), edges[-1])
    plain(ax)
    return _cuts(shares, full, max(float(v.max()) for _, v, _ in parts), edges[-1])


def _gap(ax: Axes, left: float, right: float, y: float) -> None:
    """Mark a bar that is cut: a white stroke across it."""
    over = 0.4 * (right - left)
    ax.plot([left - over, right + over], [y - 0.04, y + 0.04], color="white", linewidth=3)


def _cuts(shares: list[Floats], full: float, longest: float, end: float) -> str:
    """Say what of the rows is not drawn to scale."""
    said = []
    if any((share > full).any() for share in shares):
        said.append("bars with a gap are cut")
    if longest > end:
        said.append(f"cut at the right: the longest is {longest:,.0f}")
    return "; ".join(said)


def _tallest(shares: list[Floats]) -> float:
    """Return the highest bar that does not stand alone (of all, if each does)."""
    usual = []
    for share in shares:
        walls = np.concatenate([[0], share, [0]])
        usual.append(share[share <= ALONE * np.maximum(walls[:-2], walls[2:])])
    highest = float(np.max(np.concatenate(usual), initial=0))
    return highest or max(float(share.max()) for share in shares)


def _last(ends: list[float]) -> float:
    """Return where the plot ends, for where its rows do: one far longer is cut off."""
    return min(max(ends), 3 * float(np.median(ends)))


def _quantile(values: Floats, counts: Floats, share: float) -> float:
    """Return the least value up to which at least so many lie."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(counts[order])
    return float(values[order][np.searchsorted(reached, share * reached[-1])])


@in_own_style
def convergence(
    frame: pd.DataFrame,
    ax: Axes | None = None,
    *,
    policy: str | None = None,
    metric: str = "goat_rate",
    preset: str | None = None,
    players: int | None = None,
    level: float = LEVEL,
) -> Axes:
    """Plot how an estimate settles as matches are played, with its interval clustered by deal.

    Beside the interval, which is right for whoever looks once, stands the confidence sequence,
    which is right for whoever looks all the time.

    Parameters
    ----------
    frame : DataFrame
        ``Run.frame``.
    ax : Axes, optional
        Where to draw; by default on a new figure.
    policy : str, optional
        Which policy; needed when the frame has several.
    metric : {"goat_rate", "points_per_match", "points_per_round", "rating"}
        What is estimated.
    preset : str, optional
        Which preset; needed when the frame has several.
    players : int, optional
        Which number of players; needed when the frame has several.
    level : float, default 0.95
        The intervals' coverage.

    Returns
    -------
    Axes
        The axes drawn on. The confidence sequence is planned for all deals there are, and begins at
        the 100th.

    Raises
    ------
    ValueError
        If the frame has no such part, several and none is named, or fewer than two deals.
    """
    metric_of(metric)
    rows = table_of(frame, preset, players)
    sums = DealSums.of(rows, metric)
    if policy is None and len(sums.names) == 1:
        policy = str(sums.names[0])
    place = sums.names.index(one(rows, "policy", policy)["policy"].iloc[0])
    if sums.deals < 2:
        raise ValueError("one deal does not converge; play at least 2")
    matches = np.cumsum(by_deal(rows, rows["seat"] == 0))
    looks = np.unique(np.geomspace(2, sums.deals, 120).round().astype(int))
    found = [_first_deals(sums, place, n, level) for n in looks]
    if ax is None:
        ax = new_axes(7, 4)
    estimates = np.array([one_look.estimate for one_look in found])
    plain_ends = np.array([(look.ci_low, look.ci_high) for look in found])
    wide = [sequence_of(look, sums.deals, sums.rate) for look in found]
    ends = np.array([(look.ci_low, look.ci_high) for look in wide])
    x = matches[looks - 1]
    wanted = percent(level)
    ax.fill_between(x, *plain_ends.T, color=SKY, alpha=0.4, linewidth=0, label=f"{wanted} interval")
    for end, label in zip(ends.T, (f"{wanted} confidence sequence", None), strict=True):
        ax.plot(
            x[looks >= FIRST_LOOK], end[looks >= FIRST_LOOK], "--", color=VERMILION, label=label
        )
    ax.plot(x, estimates, color=BLUE, label="estimate")
    ax.axhline(estimates[-1], color=GREY, linewidth=1, linestyle=":", zorder=1)
    ax.set_ylim(*_room(estimates, plain_ends, ends, looks, sums.rate))
    if sums.rate:
        in_percent(ax, "y")
    labelled(ax, f"matches played, {matches[-1]:,.0f} on {counted(sums.deals, 'deal')} in the end")
    stretched(ax)
    bottom, top = ax.get_ylim()
    if np.nanmin(plain_ends) < bottom or np.nanmax(plain_ends) > top:
        note(ax, "cut: the first intervals go on beyond the plot")
    ax.set_ylabel(metric_words(metric) + in_words(metric, sums.better))
    headed(ax, f"{title_of(rows)}: {policy}", 60, "medium")
    ax.legend(fontsize="small")
    plain(ax, "y")
    return ax


def _first_deals(sums: DealSums, place: int, n: int, level: float) -> Estimate:
    """Return the mean of the first deals."""
    totals, counts, strata = sums.totals[place, :n], sums.counts[place, :n], sums.strata[:n]
    return stats.clustered_mean(totals, counts, level, sums.rate, strata, sums.span)


def _room(
    estimates: Floats,
    plain_ends: Floats,
    ends: Floats,
    looks: npt.NDArray[np.int64],
    rate: bool,
) -> tuple[float, float]:
    """Return the ends of the upright axis: what is wide at the start is cut off."""
    shown = np.concatenate([plain_ends[looks >= looks[-1] / 50], ends[looks >= looks[-1] / 20]])
    shown = shown[np.isfinite(shown)]
    low, high = (float(f(np.append(shown, estimates[-1]))) for f in (np.min, np.max))
    space = 0.05 * (high - low) or 0.1
    return (
        (max(low - space, -0.01), min(high + space, 1.01)) if rate else (low - space, high + space)
    )


OBSERVER_LABELS = {"table": "seen from the table", "next": "seen by the next seat"}


@in_own_style
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
    rows = table_of(frame, preset, players)
    for column, value in (("policy", policy), ("touched", touched), ("observer", observer)):
        rows = one(rows, column, value)
    title = title_of(rows)
    rows = rows[rows["left"] > 0].sort_values("left")
    if ax is None:
        ax = new_axes(6, 4)
    ax.axhspan(*CLAIM, color="0.5", alpha=0.2, linewidth=0, label="tip T5 claims")
    for shift, colour, marker, style, column, low, high, label in (
        (0.07, VERMILION, "s", "--", "baseline", "baseline_ci_low", "baseline_ci_high", "chance"),
        (-0.07, BLUE, "o", "-", "estimate", "ci_low", "ci_high", "frequency"),
    ):
        ends = errors(rows[column], rows[low], rows[high])
        ax.errorbar(
            rows["left"] + shift,
            rows[column],
            yerr=ends,
            fmt=marker + style,
            color=colour,
            markersize=4,
            linewidth=1,
            capsize=4,
            label=label if label == "frequency" else f"{label} ({OBSERVER_LABELS[observer]})",
        )
    labelled(ax, "tiles left in hand" + (", 7: or more" if rows["left"].max() == 7 else ""))
    ax.set_xticks(list(rows["left"]))
    ax.set_xlim(0.5, max(rows["left"].max(), 2) + 0.5)
    ax.set_ylim(0, 1)
    ax.set_ylabel(f"lacks the value he left ({percent(rows['level'].iloc[0])} interval)")
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    headed(ax, f"{title}: {'all policies' if policy == 'all' else policy}", 40, "medium")
    ax.legend(fontsize="small")
    plain(ax, "y")
    return ax


@in_own_style
def tells(frame: pd.DataFrame, observer: str = "table") -> Figure:
    """Return a new figure with the tell of every policy, by preset and number of players."""
    parts = frame[["preset", "players", "policy"]].drop_duplicates().to_numpy().tolist()
    columns = min(4, len(parts))
    lines = -(-len(parts) // columns)
    figure = new_figure(4.5 * columns, 3.6 * lines)
    axes = figure.subplots(lines, columns, squeeze=False)
    for ax in axes.flat[len(parts) :]:
        ax.remove()
    for ax, (preset, players, policy) in zip(axes.flat, parts, strict=False):
        tell(frame, ax, policy=policy, observer=observer, preset=preset, players=players)
        if ax is not axes.flat[0]:
            ax.get_legend().remove()
    return figure
