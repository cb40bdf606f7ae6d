"""The pieces that everything printed is made of. Heavy imports wait until something is printed."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kozel_sim.files import need_new, write_whole
from kozel_sim.words import counted

if TYPE_CHECKING:
    from kozel_sim.checking import Report
    from kozel_sim.parts import Progress

STDOUT = Path("-")
"""Stands for the standard output where a file is asked for."""


def interval(row: Any, scale: float, digits: int) -> str:
    """Write an estimate with its interval, or that the rules fix it."""
    from kozel_sim.fixed import FIXED

    if getattr(row, "method", "") == FIXED:
        return f"{number_text(row.estimate, scale, digits)}{'%' if scale == 100 else ''} ({FIXED})"
    return spread((row.estimate, row.ci_low, row.ci_high), scale, digits)


def show(rows: list[dict[str, Any]], json_: bool) -> None:
    """Print rows as a table, or as JSON."""
    if json_:
        print_json(rows)
        return
    if not rows:
        print("no difference")
        return
    from rich.table import Table

    table = Table()
    for column in rows[0]:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(str(v) for v in row.values()))
    console().print(table)


def console() -> Any:
    """Return a console that does not cut tables when its output is not a terminal."""
    from rich.console import Console

    # Names of changed rule sets have brackets, which are not markup.
    return Console(markup=False, width=None if sys.stdout.isatty() else 150)


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    import json

    print(json.dumps(value, indent=1))


def write_text(text: str, out: Path | None) -> None:
    """Print a text, or write it to a file that is not there yet; to STDOUT as to a file."""
    if out is None:
        print(text, end="")
    elif out == STDOUT:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode())
    else:
        need_new(out)
        write_whole(out, text.encode())


def need_new_file(out: Path | None) -> None:
    """Raise OSError unless a text can be written to a file that is not there yet."""
    if out is not None and out != STDOUT:
        need_new(out)


def status(text: str) -> None:
    """Show what is being done on stderr: in one line that is written over, where it is a terminal.

    An empty text ends it.
    """
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
    elif text:
        print(f"kozel_sim: {text}", file=sys.stderr, flush=True)


def hush() -> None:
    """Keep the engine from saying that it is being compiled, and whether that is kept."""
    from kozel_sim import _native

    _native.announces = False
    _native.hushed = True


@contextmanager
def progress_bar(total: int, quiet: bool) -> Iterator[Progress | None]:
    """Show matches per second and the time left on a terminal, nothing elsewhere."""
    from kozel_sim.progress import terminal_bar

    if quiet:
        yield None
        return
    with terminal_bar(total) as step:
        yield step


def number_text(value: float | None, scale: float, digits: int) -> str:
    """Write a number; a question mark where nothing is known, as of the spread of one deal."""
    if value is None or not math.isfinite(value):
        return "?"
    return f"{scale * value:.{digits}f}"


def spread(values: tuple[float | None, ...], scale: float, digits: int) -> str:
    """Write an estimate with its interval behind it."""
    middle, low, high = (number_text(v, scale, digits) for v in values)
    return f"{middle}{'%' if scale == 100 else ''} [{low}, {high}]"


def p_text(p: float, name: str = "") -> str:
    """Write a p-value, a very small one as a bound."""
    if p < 0.001:
        return f"{name} < 0.001".strip() if name else "<0.001"
    return f"{name} = {p:.3f}" if name else f"{p:.3f}"


def print_check(checked: Report) -> None:
    """Print what was found out about a policy."""
    from rich.table import Table

    from kozel_sim.checking import CHECKS
    from kozel_sim.timing import SPEED_RULES

    table = Table(title=f"policy {checked.policy}", title_justify="left", title_style="bold")
    of_tables = [finding for finding in checked.findings if finding.preset]
    checks = list(dict.fromkeys(finding.check for finding in of_tables))
    table.add_column("preset")
    for check in checks:
        table.add_column(check)
    for preset in dict.fromkeys(finding.preset for finding in of_tables):
        here = [finding for finding in of_tables if finding.preset == preset]
        failed = {finding.check for finding in here if not finding.ok}
        players = ",".join(dict.fromkeys(str(finding.players) for finding in here))
        cells = ["FAILED" if check in failed else "ok" for check in checks]
        table.add_row(f"{preset} ({players})", *cells)
    if of_tables:
        console().print(table)
        for check in checks:
            print(f"  {check}: {CHECKS[check]}")
    for check in CHECKS:
        failures = [f for f in checked.findings if f.check == check and not f.ok]
        for finding in failures[:1]:
            where = f"{finding.preset} ({finding.players} players), " if finding.preset else ""
            more = (
                f" (and at {counted(len(failures) - 1, 'more table')})" if len(failures) > 1 else ""
            )
            print(f"FAILED {check}: {where}{finding.detail}{more}")
    if checked.ns_per_decision is not None:
        at = f"{SPEED_RULES[0]}, {SPEED_RULES[1]} players"
        print(
            f"{checked.ns_per_decision:.1f} ns of CPU time per decision ({at}), "
            f"compiled in {checked.compile_seconds:.2f} s"
        )
    for duel in checked.duels:
        mine, theirs = (interval(rate, 100, 2) for rate in (duel.goat_rate, duel.rival_goat_rate))
        print(
            f"v {duel.rival}: goat rate {mine}, {duel.rival} {theirs} "
            f"({counted(duel.deals, 'deal')}, 2 seats)"
        )
    print("passed" if checked.ok else "FAILED")
