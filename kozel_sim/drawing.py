"""The pieces that plots are made of: colours, rows of intervals, the part of a frame that is meant.

Legend
------
row    a line of a plot with a name at its left; rows are counted from the bottom
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import (
    AutoLocator,
    FixedLocator,
    FuncFormatter,
    Locator,
    LogLocator,
    MaxNLocator,
    NullFormatter,
)

from kozel_sim.style import Picture

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


LINE = 0.175
"""Inches that a line of a row's name needs."""
MOST_LINES = 8
"""Of a name with more lines the middle is left out."""
TITLE_WIDTH = 44
"""Characters of a line of a title."""


def new_axes(width: float, height: float) -> Axes:
    """Return axes on a new figure, which pyplot keeps until a notebook has shown it."""
    figure = plt.figure(figsize=(width, height), layout="constrained", FigureClass=Picture)
    return figure.add_subplot()


def new_rows(width: float, names: Sequence[str], row: float) -> Axes:
    """Return axes on a new figure with a row for each name, as high as the names need."""
    return new_axes(width, rows_height(names, row))


def rows_height(names: Sequence[str], row: float) -> float:
    """Return the height of a plot with such rows, of at least `row` inches each."""
    lines = max(name.count("\n") + 1 for name in names)
    return 1.2 + len(names) * max(row, LINE * lines + 0.08)


def new_figure(width: float, height: float) -> Figure:
    """Return a new figure that pyplot has made (so a notebook can show it) and does not keep."""
    figure = plt.figure(figsize=(width, height), layout="constrained", FigureClass=Picture)
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
    if type(ax.xaxis.get_major_locator()) is AutoLocator:
        ax.xaxis.set_major_locator(Roomy(AutoLocator(), *map(MaxNLocator, (5, 4, 3, 2))))


def in_percent(ax: Axes, axis: Literal["x", "y"] = "x") -> None:
    """Write the numbers of an axis in percent, with digits where they are needed."""
    write = FuncFormatter(lambda share, _: f"{100 * share:.4g}%")
    (ax.xaxis if axis == "x" else ax.yaxis).set_major_formatter(write)


def wrapped(name: str, width: int = 26) -> str:
    """Break a long name over lines: a policy spec at its joints, any other word where it must."""
    lines = [""]
    for word in re.findall(r"[^,+> _]+[,+> _]?|[,+> _]", name):
        if lines[-1] and len(lines[-1] + word) > width:
            lines.append("")
        lines[-1] += word
        while len(lines[-1]) > width:
            lines[-1:] = [lines[-1][:width], lines[-1][width:]]
    if len(lines) > MOST_LINES:
        half = MOST_LINES // 2
        lines = [*lines[:half], "\u2026", *lines[half + 1 - MOST_LINES :]]
    return "\n".join(lines)


def changed_rules(presets: Iterable[object], baseline: str) -> list[str]:
    """Name rule sets, those that are the baseline with changes by these alone."""
    head = f"{baseline}["
    return [
        str(name).removeprefix(head).removesuffix("]" if str(name).startswith(head) else "")
        for name in presets
    ]


def headed(ax: Axes, text: str, width: int = TITLE_WIDTH, size: str = "large") -> None:
    """Write a title that does not go beyond the axes."""
    ax.set_title(wrapped(text, width), loc="left", fontsize=size)


class Roomy(Locator):
    """Ticks whose labels do not overlap: the first of some choices that has the room.

    Parameters
    ----------
    *choices : Locator
        From the most ticks to the fewest; the last is taken where none has the room.
    """

    def __init__(self, *choices: Locator) -> None:
        self.choices = choices

    def set_axis(self, axis: Any) -> None:
        """Take an axis, as matplotlib asks."""
        super().set_axis(axis)
        for choice in self.choices:
            choice.set_axis(axis)

    def __call__(self) -> Any:
        """Return the places of the ticks."""
        return next(
            (ticks for ticks in (choice() for choice in self.choices) if self._fit(ticks)),
            self.choices[-1](),
        )

    def tick_values(self, vmin: float, vmax: float) -> Any:
        """Return the places of the ticks between two values, however much room there is."""
        return self.choices[0].tick_values(vmin, vmax)

    def nonsingular(self, v0: float, v1: float) -> tuple[float, float]:
        """Return ends for an axis, as the first choice would."""
        return self.choices[0].nonsingular(v0, v1)

    def view_limits(self, vmin: float, vmax: float) -> tuple[float, float]:
        """Return ends for an axis, as the first choice would."""
        return self.choices[0].view_limits(vmin, vmax)

    def _fit(self, ticks: Any) -> bool:
        """Tell whether labels of some ticks stand clear of each other, half a letter apart."""
        axis: Any = self.axis
        low, high = sorted(axis.get_view_interval())
        shown = np.sort([tick for tick in np.asarray(ticks, float) if low <= tick <= high])
        texts = axis.get_major_formatter().format_ticks(shown)
        letter = LETTER * axis.get_major_ticks(1)[0].label1.get_size() / 72
        letter *= axis.get_figure().dpi
        places = axis.axes.get_xaxis_transform().transform([(tick, 0) for tick in shown])
        halves = np.array([letter * (len(text) + 0.5) / 2 for text in texts])
        return len(shown) < 2 or bool((np.diff(places[:, 0]) >= halves[1:] + halves[:-1]).all())


LETTER = 0.64
"""How wide a digit is, for its height."""

LABEL_WIDTH = 48
"""Characters of a line of an axis' label: in one line a long one would be cut at narrow axes."""


def labelled(ax: Axes, text: str) -> None:
    """Write what an axis shows, in as many lines as it needs."""
    ax.set_xlabel(textwrap.fill(text, LABEL_WIDTH, break_on_hyphens=False))


STRETCHED = "stretched scale: {}"
"""What a figure says of an axis whose steps are not all alike."""


def stretched(ax: Axes) -> None:
    """Stretch an axis so that each step is ten times the one before, and say so on it."""
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(Roomy(*(LogLocator(numticks=n) for n in (9, 5, 4, 3, 2))))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    note(ax, STRETCHED.format("each step is ten times the one before"))


def squeezed(ax: Axes, values: Column, usual: float) -> None:
    """Squeeze what is farther out than usual, and mark on the axis where that begins."""
    ax.set_xscale("symlog", linthresh=usual, linscale=3)
    near, far = float(f"{usual:.1g}"), float(f"{values.abs().max():.1g}")
    sides = [-far] * bool(values.min() < -near) + [far] * bool(values.max() > near)
    choices = [sorted({-near, 0.0, near, *sides}), sorted({0.0, *sides}), [0.0, sides[-1]]]
    ax.xaxis.set_major_locator(Roomy(*map(FixedLocator, choices)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.minorticks_off()
    for side in np.sign(sides):
        ax.axvline(side * usual, color=GREY, linewidth=1, linestyle=":", zorder=1)
    lines = "line" if len(sides) == 1 else "lines"
    note(ax, STRETCHED.format(f"tenfold steps beyond the dotted {lines}"))


def note(ax: Axes, text: str) -> None:
    """Write below an axis' label what must be known to read the axis, if anything."""
    if text:
        ax.set_xlabel(f"{ax.get_xlabel()};\n{text}")
