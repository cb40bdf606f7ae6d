"""The pieces that plots are made of: colours, rows of intervals, the part of a frame that is meant.

Legend
------
row    a line of a plot with a name at its left; rows are counted from the bottom
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

Column: TypeAlias = "pd.Series[float]"
Floats: TypeAlias = npt.NDArray[np.float64]

BLUE, VERMILION, SKY, GREEN = "#0072B2", "#D55E00", "#56B4E9", "#009E73"
ORANGE, PURPLE, BLACK, GREY = "#E69F00", "#CC79A7", "#000000", "0.45"
"""Colours are Okabe and Ito's, which colour-blind readers can tell apart."""
SERIES = [
    (BLUE, "o"),
    (VERMILION, "s"),
    (GREEN, "^"),
    (BLACK, "D"),
    (PURPLE, "v"),
    (ORANGE, "P"),
    (SKY, "X"),
    (GREY, "<"),
]
"""Colour and marker of each series of a plot: without colours, the markers tell."""


def new_axes(width: float, height: float) -> Axes:
    """Return axes on a new figure, which pyplot keeps until a notebook has shown it."""
    _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    return ax


def new_figure(width: float, height: float) -> Figure:
    """Return a new figure that pyplot has made (so a notebook can show it) and does not keep."""
    figure = plt.figure(figsize=(width, height), layout="constrained")
    plt.close(figure)
    return figure


def one(frame: pd.DataFrame, column: str, value: str | int | None) -> pd.DataFrame:
    """Return the rows with one value of a column, the only one where none is named.

    Raises
    ------
    ValueError
        If there are several and none is named, or not the one that is, or no rows at all.
    """
    found = list(frame[column].unique())
    if not found:
        raise ValueError("there is nothing to draw: the table has no rows")
    if value is None:
        if len(found) > 1:
            raise ValueError(
                f"the summary has several values of {column}; name one of "
                f"{', '.join(map(str, found))}"
            )
        return frame
    if value not in found:
        raise ValueError(
            f"the summary has no {column} {value!r}; choose from {', '.join(map(str, found))}"
        )
    return frame[frame[column] == value]


def table_of(frame: pd.DataFrame, preset: str | None, players: int | None) -> pd.DataFrame:
    """Return the rows of one preset and number of players."""
    return one(one(frame, "preset", preset), "players", players)


def title_of(rows: pd.DataFrame) -> str:
    """Name the table that rows are of."""
    return f"{rows['preset'].iloc[0]}, {rows['players'].iloc[0]} players"


def errors(middle: Column, low: Column, high: Column) -> list[Column]:
    """Return the lengths of intervals; one without an end, as from a single deal, is not drawn."""
    return [end.where(np.isfinite(end)) for end in (middle - low, high - middle)]


def intervals(
    ax: Axes, middle: Column, low: Column, high: Column, names: Sequence[str], **style: Any
) -> None:
    """Draw intervals in rows, the first at the bottom."""
    height = range(len(middle))
    look: dict[str, Any] = {"fmt": "o", "color": BLUE, "markersize": 4, "capsize": 4} | style
    ax.errorbar(middle, height, xerr=errors(middle, low, high), **look)
    name_rows(ax, names)


def differences(ax: Axes, middle: Column, low: Column, high: Column, names: Sequence[str]) -> None:
    """Draw differences from 0 in rows, the first at the bottom."""
    ax.axvline(0, color="0.4", linewidth=1)
    intervals(ax, middle, low, high, names)


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Write the names of rows, the first at the bottom."""
    ax.set_yticks(range(len(names)), list(names))
    ax.set_ylim(-0.6, len(names) - 0.4)


def above(ax: Axes, x: float, y: float, text: str) -> None:
    """Write a text above a point."""
    ax.annotate(text, (x, y), (0, 7), textcoords="offset points", ha="center", fontsize="small")


def plain(ax: Axes, axis: Literal["x", "y"] = "x") -> None:
    """Take away the lines that carry nothing."""
    ax.grid(axis=axis, alpha=0.3)
    ax.set_axisbelow(True)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="y", length=0)


def in_percent(ax: Axes, axis: Literal["x", "y"] = "x") -> None:
    """Write the numbers of an axis in percent, with digits where they are needed."""
    write = FuncFormatter(lambda share, _: f"{100 * share:.4g}%")
    (ax.xaxis if axis == "x" else ax.yaxis).set_major_formatter(write)


def wrapped(name: str, width: int = 26) -> str:
    """Break a long policy spec over lines, at its commas, pluses and arrows."""
    lines = [""]
    for word in re.findall(r"[^,+>]+[,+>]?", name):
        if lines[-1] and len(lines[-1] + word) > width:
            lines.append("")
        lines[-1] += word
    return "\n".join(lines)
