"""The pictures beside a run: drawn last, so that one which fails costs nothing but itself."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from kozel_sim.runs import Run, Totals

LEADERBOARDS, FORESTS, ALL_DUELS = "leaderboard.png", "forest.png", "duels.png"
TELL_PICTURE = "tell.png"
"""Names of the pictures: of a tournament, a sweep, duels, and the tell."""
DPI = 120


def draw_run(played: Run | Totals | pd.DataFrame, folder: Path, name: str) -> None:
    """Draw a run's picture (the tell's is one of a frame) into its folder, unless it is there."""
    if not (folder / name).exists():
        write_picture(folder / name, lambda: DRAW[name](played))


def write_picture(path: Path, draw: Callable[[], Figure]) -> None:
    """Draw a picture into a file, whole; whatever prevents it is one line of warning."""
    from kozel_sim.files import write_whole

    try:
        import matplotlib

        matplotlib.use("Agg")
        file = io.BytesIO()
        draw().savefig(file, format="png", dpi=DPI)
        write_whole(path, file.getvalue())
    except Exception as error:
        print(f"kozel: warning: no picture {path}: {why(error)}", file=sys.stderr)


def why(error: Exception) -> str:
    """Return the first line of an error, which a library's may have many of."""
    text = getattr(error, "strerror", None) or str(error).strip() or type(error).__name__
    return str(text).splitlines()[0]


def _leaderboards(played: Any) -> Figure:
    from kozel_sim.plots import leaderboards

    return leaderboards(played.summary())


def _forests(played: Any) -> Figure:
    from kozel_sim.plots import forests
    from kozel_sim.sweep import effects

    return forests(effects(played.frame if hasattr(played, "frame") else played))


def _duels(played: Any) -> Figure:
    from kozel_sim.duels import compare
    from kozel_sim.plots import all_duels

    return all_duels(compare(played.frame))


def _tells(frame: Any) -> Figure:
    from kozel_sim.plots import tells

    return tells(frame)


DRAW: dict[str, Callable[[Any], Figure]] = {
    LEADERBOARDS: _leaderboards,
    FORESTS: _forests,
    ALL_DUELS: _duels,
    TELL_PICTURE: _tells,
}
"""What draws each picture."""
