"""The style of every picture: the same for all users, whatever their matplotlibrc asks for.

LaTeX that is not installed, fonts without Cyrillic letters, a locale's commas, a crop when a figure
is saved: all of that is set aside while a plot is made, and while it is drawn. What is not looks
(the backend, windows) stays the user's.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import ScalarFormatter
from matplotlib.transforms import Bbox

P = ParamSpec("P")
Drawn = TypeVar("Drawn", Axes, Figure)

FONT = "DejaVu Sans"
"""Comes with matplotlib, and has Latin, Cyrillic and Greek letters."""
OWN: dict[str, Any] = {
    "font.family": FONT,
    # A name may hold dollars, which are no mathematics.
    "text.parse_math": False,
}
_AROUND: ContextVar[dict[str, Any]] = ContextVar("_AROUND")
"""What the own style around this one has differ."""
NOT_LOOKS = ("backend", "backend_fallback", "interactive")
"""What a style leaves alone: setting a backend would take a notebook's pictures away."""


@contextmanager
def own_style(more: dict[str, Any] | None = None) -> Iterator[None]:
    """Draw as matplotlib does out of the box, in a font that it brings along.

    Parameters
    ----------
    more : dict, optional
        What differs from that, by matplotlib's names; within another own style, also what differs
        there, as the larger letters of a report.
    """
    usual = {key: value for key, value in mpl.rcParamsDefault.items() if key not in NOT_LOOKS}
    differs = _AROUND.get({}) | (more or {})
    before = _AROUND.set(differs)
    try:
        with mpl.rc_context(cast(Any, usual | OWN | differs)), warnings.catch_warnings():
            # A picture or a rare script in a name is drawn as an empty box: everybody can see it.
            warnings.filterwarnings("ignore", r"(Glyph|Matplotlib currently does not support)")
            yield
    finally:
        _AROUND.reset(before)


class Picture(Figure):
    """A figure that is drawn and saved in the own style, too, whenever that is."""

    def draw(self, renderer: Any) -> None:
        """Draw it."""
        with own_style():
            super().draw(renderer)

    def get_tightbbox(self, *args: Any, **kwargs: Any) -> Bbox:
        """Return the box around what is drawn; a notebook asks for it."""
        with own_style():
            return super().get_tightbbox(*args, **kwargs)

    def savefig(self, *args: Any, **kwargs: Any) -> None:
        """Save it."""
        with own_style():
            super().savefig(*args, **kwargs)


def in_own_style(draw: Callable[P, Drawn]) -> Callable[P, Drawn]:
    """Let a function of a plot draw in the own style, on axes that a user has made, too.

    Colours of the ground and of letters are those of the user's axes, so that both can be read.
    """

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Drawn:
        given = kwargs.get("ax", args[1] if len(args) > 1 else None)
        with own_style(_colours(given) if isinstance(given, Axes) else None):
            made = draw(*args, **kwargs)
            if isinstance(made, Axes):
                _write_plainly(made)
            return made

    return drawn


def _colours(ax: Axes) -> dict[str, Any]:
    """Return the colours of axes, by matplotlib's names."""
    return {"text.color": ax.xaxis.label.get_color(), "axes.facecolor": ax.get_facecolor()}


def _write_plainly(ax: Axes) -> None:
    """See that what was on the axes before, like their ticks, needs no LaTeX and no other font."""
    for axis in (ax.xaxis, ax.yaxis):
        if type(axis.get_major_formatter()) is ScalarFormatter:
            axis.set_major_formatter(ScalarFormatter())
    for text in ax.findobj(Text):
        assert isinstance(text, Text)
        text.set_usetex(False)
        text.set_parse_math(False)
        text.set_fontfamily(FONT)
