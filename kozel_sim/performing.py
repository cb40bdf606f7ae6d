"""What stands around a command's playing: the engine made ready, prints, what is kept at an end."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kozel_sim.words import counted

if TYPE_CHECKING:
    from kozel_sim.checks import Engine
    from kozel_sim.tournaments import Tournament


@contextmanager
def prints_aside() -> Iterator[None]:
    """Send what users' code prints to stderr, so that it does not mix with what is asked for."""
    with redirect_stdout(sys.stderr or io.StringIO()):
        yield


def warm_up(aggregate: bool = False, engine: Engine = "auto") -> None:
    """Compile (or load) the engine on one deal."""
    from kozel_sim.simulation import simulate

    if engine == "reference":
        return
    field = ["random", "random"]
    simulate("room-fish-all", field, 1, seed=0, engine=engine, aggregate=aggregate)


def say_rounding(planned: Tournament) -> None:
    """Say on stderr that more deals are played than were asked for, where that is so."""
    if planned.asked < planned.deals:
        print(
            f"kozel: note: {counted(planned.deals, 'deal is', 'deals are')} played, not "
            f"{planned.asked:,}: whole cycles of the seatings, so that neighbours balance",
            file=sys.stderr,
        )


def what_is_kept(folder: Path | None, manifest: dict[str, Any]) -> str:
    """Say what is there of a run that was cut off; nothing where nothing is."""
    from kozel_sim.extending import look_up

    if folder is None or not (found := look_up(folder, manifest)).manifest:
        return ""
    return parts_in(folder, len(found.files))


def parts_in(folder: Path | str, n: int) -> str:
    """Say how many parts of a run stay in its folder."""
    return f"; {counted(n, 'part is', 'parts are')} in {folder}, and the same command goes on"
