"""The pictures beside a run: drawn last, so that one which fails costs nothing but itself."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kozel_sim.words import told

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from kozel_sim.runs import Run, Totals

LEADERBOARDS, FORESTS, CHANGES = "leaderboard.png", "forest.png", "changes.png"
ALL_DUELS, TELL_PICTURE = "duels.png", "tell.png"
"""Names of the pictures: of a tournament, a sweep (two), duels, and the tell."""
DPI = 120


def draw_run(played: Run | Totals | pd.DataFrame, folder: Path, *names: str) -> None:
    """Draw those of a run's pictures that are not there; the tell's is one of a frame."""
    for name in names:
        if not (folder / name).exists():
            write_picture(folder / name, partial(DRAW[name], played))


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
    text = getattr(error, "strerror", None) or told(error).strip() or type(error).__name__
    return str(text).splitlines()[0]


def _leaderboards(played: Any) -> Figure:
    from kozel_sim.plots import leaderboards

    return leaderboards(played.summary())


def _forests(played: Any) -> Figure:
    from kozel_sim.plots import forests
    from kozel_sim.sweep import effects

    return forests(effects(played.frame if hasattr(played, "frame") else played))


def _changes(played: Any) -> Figure:
    from kozel_sim.plots import all_changes
    from kozel_sim.sweep import effects

    return all_changes(effects(played.frame if hasattr(played, "frame") else played))


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
    CHANGES: _changes,
    ALL_DUELS: _duels,
    TELL_PICTURE: _tells,
}
"""What draws each picture."""
