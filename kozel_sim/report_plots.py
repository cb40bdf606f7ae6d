"""The plots of a report, as SVG that stands in a page: narrow enough for a telephone.

Texts stay texts, so that they can be read aloud, searched and copied. The same plot gives the same
text: no date, no random names.
"""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kozel_sim import plots
from kozel_sim.direction import better_of, in_words
from kozel_sim.drawing import changed_rules, wrapped
from kozel_sim.style import own_style

WIDTH = 5.2
"""Inches: at 72 units each, about as many as a telephone has pixels."""
STYLE: dict[str, Any] = {"font.size": 12, "svg.fonttype": "none"}
NAME_WIDTH, LABEL_WIDTH = 20, 30
"""Characters of a line of a row's name, and of an axis' label."""


@dataclass(frozen=True)
class Plot:
    """A plot in a page.

    Attributes
    ----------
    svg : str
        The picture.
    caption : str
        What it shows.
    """

    svg: str
    caption: str


def draw(
    caption: str, draw_on: Callable[[Axes], object], names: list[str], row: float = 0.45
) -> Plot:
    """Draw a plot with so many rows, each as high as its name needs, and at least `row` inches."""
    lines = max(len(wrapped(name, NAME_WIDTH).splitlines()) for name in names)
    with own_style(STYLE | {"svg.hashsalt": caption}):
        figure = Figure(figsize=(WIDTH, 1.1 + len(names) * max(row, 0.22 * lines)))
        figure.set_layout_engine("constrained")
        ax = figure.add_subplot()
        draw_on(ax)
        _narrow(ax)
        return Plot(_svg(figure, caption), caption)


def _narrow(ax: Axes) -> None:
    """Break what is written at the edges; the title stands in the caption."""
    ax.set_title("", loc="left")
    label = ax.get_xlabel().replace("\n", " ")
    ax.set_xlabel(textwrap.fill(label, LABEL_WIDTH, break_on_hyphens=False))
    names = [label.get_text() for label in ax.get_yticklabels()]
    ax.set_yticks(ax.get_yticks(), ["\n".join(_broken(name)) for name in names])


def _broken(name: str) -> list[str]:
    """Break a row's name anew: its lines belong together unless the last one counts players."""
    head, _, players = name.partition("\n") if name.endswith(" players") else (name, "", "")
    lines = wrapped(head.replace("\n", ""), NAME_WIDTH).splitlines()
    return [*lines, players] if players else lines


def _svg(figure: Figure, caption: str) -> str:
    """Return a figure as SVG for a page: no head, no names but those that are used."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    text = file.getvalue()
    (box,) = re.findall(r'viewBox="([^"]*)"', text)
    body = text[text.index(">", text.index("<svg")) + 1 :]
    # Its style sheet would hold for the whole page.
    (style,) = re.findall(r"<style[^>]*>\*\{([^}]*)\}</style>", body)
    body = re.sub(r"<(metadata|style).*?</\1>", "", body, flags=re.DOTALL)
    body = re.sub(r'<g id="[^"]*"', "<g", body)
    body = re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL)
    body = body.replace("xlink:href", "href").replace(
        "'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif"
    )
    body = re.sub(r"\n\s*", "\n", body)
    label = f'role="img" aria-label="{escape(caption)}"'
    return f'<svg viewBox="{box}" {label} style="{style}">{body}'


# ---------------------------------------------------------------------- which plots


def leaderboard(summary: pd.DataFrame, of: str) -> Plot:
    """Draw the goat rates of one rule set."""
    names = list(summary["policy"].astype(str).unique())
    caption = f"Goat rate by policy, {of}: lower is better"
    return draw(caption, lambda ax: plots.leaderboard(summary, ax), names, 0.5)


def points(frame: pd.DataFrame, of: str) -> Plot:
    """Draw where the points of a match end, of one rule set."""
    names = list(map(str, frame["policy"].unique()))
    which = in_words("points", better_of("points", frame))
    caption = f"Points at the end of a match by policy, {of}{which}; the thick line is the median"
    return draw(caption, lambda ax: plots.points(frame, ax), names, 0.6)


def rounds(frame: pd.DataFrame) -> Plot:
    """Draw how many rounds a match has, of all rule sets."""
    tables = frame[["preset", "players"]].drop_duplicates()
    names = [f"{preset},players" for preset in tables["preset"].astype(str)]
    caption = "Rounds of a match by rule set; the thick line is the median"
    return draw(caption, lambda ax: plots.rounds(frame, ax), names, 0.7)


def seats(table: pd.DataFrame, of: str) -> Plot:
    """Draw how the seats of one rule set fare."""
    names = list(table["group"].unique())
    caption = f"Goat rate by seat and by first leader, {of}; the dotted line is the mean"
    return draw(caption, lambda ax: plots.seats(table, ax), names, 0.4)


def forest(effects: pd.DataFrame, metric: str, meaning: str) -> Plot:
    """Draw how the rule sets of one number of players differ from the first."""
    baseline = str(effects["baseline"].iloc[0])
    names = changed_rules(effects["preset"].unique(), baseline)[1:]
    players = effects["players"].iloc[0]
    caption = f"Difference from {baseline} at tables of {players} players: {meaning}"
    return draw(caption, lambda ax: plots.forest(effects, ax, metric=metric), names, 0.4)


def duels(comparisons: pd.DataFrame, of: str) -> Plot:
    """Draw the differences of the duels of one rule set."""
    names = [f"{row.policy} v {row.against}" for row in comparisons.itertuples()]
    names = list(dict.fromkeys(names))
    caption = f"Goat rate of the first policy less that of the second, {of}: lower is better"
    return draw(caption, lambda ax: plots.duels(comparisons, ax, metric="goat_rate"), names)
