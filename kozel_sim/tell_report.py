"""What ``kozel tell`` prints and writes."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import matplotlib
import pandas as pd
from rich.table import Table

from kozel_sim import plots
from kozel_sim.printing import (
    console,
    hush,
    print_json,
    progress_bar,
    records,
    spread,
)
from kozel_sim.provenance import machine, versions
from kozel_sim.simulation import describe_run
from kozel_sim.stats import percent
from kozel_sim.store import MANIFEST, prepare_folder, read_manifest, write_folder
from kozel_sim.tell import ALL_OF, CLAIM, OBSERVERS, measure_planned
from kozel_sim.tournaments import DESIGN, Tournament

FRAME = "tell.parquet"
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
    manifest = describe_run(
        "tell",
        f"the tell: {DESIGN}",
        planned.rules,
        planned.policies,
        planned.seed,
        planned.deals,
        "auto",
    )
    if folder is not None and prepare_folder(folder, manifest):
        frame = pd.read_parquet(folder / FRAME)
        manifest = read_manifest(folder)
        note = f"{folder} holds this very run already; read, not played again"
    else:
        if quiet:
            hush()
        # Compiles (or loads) the engine.
        measure_planned(Tournament("tell", planned.rules[:1], planned.policies, 1, planned.seed))
        start = time.perf_counter()
        with progress_bar(planned.matches, quiet or json_) as step:
            frame = measure_planned(planned, workers=workers, progress=step)
        manifest |= {
            "counts": {"matches": planned.matches, "rows": len(frame)},
            "seconds": round(time.perf_counter() - start, 3),
            "versions": versions(),
            "machine": machine(),
        }
        note = f"{planned.matches:,} matches in {manifest['seconds']:.1f} s"
        if folder is not None:
            write_folder(folder, lambda scratch: write_tell(frame, manifest, scratch))
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
        print(f"{note}; seed {planned.seed}")


def write_tell(frame: pd.DataFrame, manifest: dict[str, Any], folder: Path) -> None:
    """Write the frame (Parquet and CSV), its manifest and its plot."""
    matplotlib.use("Agg")
    frame.to_parquet(folder / FRAME, index=False)
    frame.to_csv(folder / "tell.csv", index=False)
    plots.tells(frame).savefig(folder / "tell.png", dpi=120)
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


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
