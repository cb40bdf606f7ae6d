"""What ``kozel tell`` prints and writes."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from rich.table import Table

from kozel_sim.crashes import look_after
from kozel_sim.extending import Place, look_up
from kozel_sim.keeping import made
from kozel_sim.manifest import TELL, TELL_DESIGN
from kozel_sim.performing import prints_aside, say_rounding
from kozel_sim.plain import records
from kozel_sim.printing import (
    console,
    hush,
    print_json,
    progress_bar,
    spread,
)
from kozel_sim.run_pictures import TELL_PICTURE, draw_run
from kozel_sim.runs import closing
from kozel_sim.stats import percent
from kozel_sim.store import open_folder, read_table, write_table
from kozel_sim.tell import ALL_OF, CLAIM, COLUMNS, OBSERVERS, measure_planned
from kozel_sim.tournaments import Tournament
from kozel_sim.words import counted

TEXTS, WHOLES = ("preset", "policy", "touched", "observer", "claim"), ("players", "left", "events")
TYPES = {
    name: "string" if name in TEXTS else "int64" if name in (*WHOLES, "n_deals") else "double"
    for name in COLUMNS
}
"""The columns of the frame on disk, and their types."""
CLAIMS = {
    "below": "no: below",
    "within": "yes",
    "above": "no: above",
    "open": "not sure",
}


def report_tell(
    planned: Tournament, folder: Path | None, workers: int, json_: bool, quiet: bool
) -> None:
    """Measure the tell unless a folder holds it already; print and write it."""
    manifest = planned.manifest() | {"name": "tell", "design": f"{TELL_DESIGN}{planned.design}"}
    del manifest["blocks"]
    there = Place({}) if folder is None else look_up(folder, manifest)
    if folder is not None and there.whole:
        manifest = there.manifest
        table = read_table(folder, manifest["files"][0], TYPES)
        frame = table.to_pandas(ignore_metadata=True)
        note = f"{folder} holds this very run already; read, not played again"
    else:
        if quiet:
            hush()
        else:
            say_rounding(planned)
        look_after(planned.policies, folder)
        with nullcontext() if folder is None else open_folder(folder, manifest) as kept:
            # Compiles (or loads) the engine.
            few = Tournament("tell", planned.rules[:1], planned.policies, 1, planned.seed)
            with prints_aside():
                measure_planned(few)
            start = time.perf_counter()
            with progress_bar(planned.matches, quiet or json_) as step, prints_aside():
                frame = measure_planned(planned, workers=workers, progress=step)
            manifest |= {"counts": {"matches": planned.matches, "rows": len(frame)}}
            manifest |= made(time.perf_counter() - start)
            if kept is not None:
                content = write_table(pa.Table.from_pandas(frame, preserve_index=False))
                kept.keep({TELL: content}, {TELL: {"rows": len(frame)}})
                kept.finish(closing(manifest), lambda scratch: write_tell(frame, scratch))
        note = f"{counted(planned.matches, 'match')} in {manifest['seconds']:.1f} s"
        if folder is not None:
            note += f"; written to {folder}"
    if json_ and not quiet:
        print_json({"manifest": manifest, "tell": records(frame)})
    elif not quiet:
        for (preset, players), rows in frame.groupby(["preset", "players"], sort=False):
            print_tell(f"{preset}, {players} players", rows)
        print(
            "frequency: he lacked the value; chance: of that, to somebody who sees no hand (table) "
            f"or to the next seat (next).\nThe tip claims {CLAIM[0]:.0%} to {CLAIM[1]:.0%}."
        )
    if folder is not None:
        draw_run(frame, folder, TELL_PICTURE)
    if not (quiet or json_):
        print(f"{note}; seed {planned.seed}")


def write_tell(frame: pd.DataFrame, folder: Path) -> None:
    """Write the frame as CSV."""
    frame.to_csv(folder / "tell.csv", index=False)


def print_tell(title: str, rows: pd.DataFrame) -> None:
    """Print the tell by policy, then by whether the end was touched and by tiles left."""
    any_left, any_touched = rows["left"] == 0, rows["touched"] == ALL_OF
    by_policy = rows[any_left & any_touched]
    print_table(f"{title}: who switched ends", "policy", by_policy, by_policy["policy"])
    everybody = rows[rows["policy"] == ALL_OF]
    by_touch = everybody[(everybody["left"] == 0) & (everybody["touched"] != ALL_OF)]
    by_left = everybody[(everybody["left"] > 0) & (everybody["touched"] == ALL_OF)]
    names = [
        *("end touched since" if t == "yes" else "not touched" for t in by_touch["touched"]),
        *(f"{n}{' or more' if n == 7 else ''} left in hand" for n in by_left["left"]),
    ]
    parts = pd.concat([by_touch, by_left])
    print_table(f"{title}: all policies", "when", parts, pd.Series(names, index=parts.index))


def print_table(title: str, heading: str, rows: pd.DataFrame, names: pd.Series[str]) -> None:
    """Print a table with a line for each name, which has a row for each observer."""
    level = rows["level"].iloc[0]
    how = f"{percent(level)} intervals, clustered by deal, in percent"
    table = Table(title=f"{title} ({how})", title_justify="left", title_style="bold")
    table.add_column(heading, overflow="fold")
    columns = ["events", "frequency"]
    columns += [f"{what} ({name})" for name in OBSERVERS for what in ("chance", "beyond it")]
    for column in columns:
        table.add_column(column, justify="right", overflow="fold")
    table.add_column(f"{100 * CLAIM[0]:g}-{100 * CLAIM[1]:g}%?")
    for name, of_name in rows.groupby(names, sort=False):
        by_observer = {str(row["observer"]): row for row in of_name.to_dict("records")}
        first = next(iter(by_observer.values()))
        cells = [f"{first['events']:,}", figures(first, "estimate", "ci")]
        for observer in OBSERVERS:
            row = by_observer[observer]
            cells.append(f"{100 * row['baseline']:.2f}")
            cells.append(figures(row, "difference", "diff_ci"))
        table.add_row(str(name), *cells, CLAIMS[first["claim"]])
    console().print(table)


def figures(row: dict[Any, Any], middle: str, ends: str) -> str:
    """Write an estimate in percent with its interval."""
    values = (row[middle], row[f"{ends}_low"], row[f"{ends}_high"])
    return spread(values, 100, 2).replace("%", "")
