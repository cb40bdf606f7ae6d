"""Progress of long runs: a bar in a notebook or on a terminal. Heavy imports wait for a bar."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from kozel_sim.parts import Progress
from kozel_sim.words import counted

ShowProgress: TypeAlias = Progress | bool | None
"""A function that is called with the number of matches just played, or True for a bar."""
EVERY = 0.2
"""Seconds between two drawings of a notebook's bar."""


@contextmanager
def shown(progress: ShowProgress, total: int) -> Iterator[Progress | None]:
    """Give what reports matches: a bar where True was asked for, else what was given."""
    if progress is not True:
        yield progress or None
        return
    with notebook_bar(total) if in_notebook() else terminal_bar(total) as step:
        yield step


def in_notebook() -> bool:
    """Return whether a Jupyter kernel runs this."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


@contextmanager
def notebook_bar(total: int) -> Iterator[Progress]:
    """Show matches, speed and time left below the cell; at the end what was played."""
    import IPython.display

    html: Any = IPython.display.HTML
    show: Any = IPython.display.display
    lock, began = threading.Lock(), time.monotonic()
    done, drawn_at = 0, began
    handle = show(html(bar_html(0, total, 0)), display_id=True)

    def step(n: int) -> None:
        nonlocal done, drawn_at
        with lock:
            done += n
            now = time.monotonic()
            if now - drawn_at >= EVERY:
                drawn_at = now
                handle.update(html(bar_html(done, total, now - began)))

    try:
        yield step
    finally:
        handle.update(html(bar_html(done, total, time.monotonic() - began)))


def bar_html(done: int, total: int, seconds: float) -> str:
    """Write a bar, and beside it what it shows.

    Examples
    --------
    >>> bar_html(500, 2000, 1.0).partition("</progress>")[2]
    ' 500 of 2,000 matches, 500/s, 3 s left'
    """
    text = f"{done:,} of {counted(total, 'match')}"
    if done and seconds:
        text += f", {done / seconds:,.0f}/s"
        if done < total:
            text += f", {(total - done) * seconds / done:,.0f} s left"
    return f'<progress value="{done}" max="{total}"></progress> {text}'


@contextmanager
def terminal_bar(total: int) -> Iterator[Progress | None]:
    """Show matches, speed and time left on stderr if that is a terminal, else nothing."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} matches"),
        TextColumn("{task.fields[speed]} matches/s"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total, speed="-")

        def step(n: int) -> None:
            bar.advance(task, n)
            seen = bar.tasks[0].speed
            bar.update(task, speed=f"{seen:,.0f}" if seen else "-")

        yield step
