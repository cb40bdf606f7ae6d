"""What the command line prints and writes. Heavy imports wait until something is printed."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from kozel_sim.checking import Report
    from kozel_sim.parts import Progress
    from kozel_sim.runs import Run, Totals
    from kozel_sim.tournaments import Mapper, Tournament


@dataclass(frozen=True)
class Face:
    """How a kind of run is shown: as tables, as JSON, and as files beside its frame."""

    show: Callable[[Any], None]
    data: Callable[[Any], dict[str, Any]]
    write: Callable[[Any, Path], None]


def report(
    planned: Tournament,
    face: Face,
    folder: Path | None,
    workers: int,
    json_: bool,
    quiet: bool,
    mapper: Mapper | None = None,
) -> None:
    """Play what is planned, or what is left of it in its folder; print and write it."""
    from kozel_sim.checks import need_positive
    from kozel_sim.store import holds_run, is_whole, open_folder, read_manifest

    need_positive("workers", workers)
    manifest = planned.manifest()
    there = folder is not None and holds_run(folder, manifest)
    before = read_manifest(folder) if there and folder is not None else {}
    known = folder is not None and there and is_whole(folder, before)
    if not known:
        if folder is not None:
            # A folder that cannot be written to is refused before anything is compiled.
            with open_folder(folder, manifest):
                pass
        if quiet:
            hush()
        warm_up(planned.aggregate)
    try:
        with progress_bar(planned.matches, quiet or json_) as step:
            played = planned.play(
                workers=workers, progress=step, folder=folder, extra=face.write, mapper=mapper
            )
    except KeyboardInterrupt:
        if folder is not None and holds_run(folder, manifest):
            n = len(read_manifest(folder)["files"])
            print(
                f"kozel: interrupted: {n} parts are in {folder}; the same command goes on",
                file=sys.stderr,
            )
        raise
    note = f"{played.matches:,} matches in {played.manifest['seconds']:.1f} s"
    if known:
        note = f"{folder} holds this very run already; read, not played again"
    elif folder is not None:
        note += f"; written to {folder}"
        if before:
            note += f" (continued: {len(before['files'])} parts were there)"
    if not quiet:
        show_run(played, face, json_)
    if not (quiet or json_):
        print(note)


def show_run(played: Run | Totals, face: Face, json_: bool) -> None:
    """Print a run's tables, or its manifest and tables as JSON."""
    if json_:
        print_json({"manifest": played.manifest} | face.data(played))
    else:
        face.show(played)


def warm_up(aggregate: bool = False) -> None:
    """Compile (or load) the engine on one deal."""
    from kozel_sim.simulation import simulate

    if aggregate:
        simulate("room-fish-all", ["random", "random"], 1, seed=0, aggregate=True)
    else:
        simulate("room-fish-all", ["random", "random"], 1, seed=0)


# ---------------------------------------------------------------------- tournaments


def results_of(played: Run | Totals) -> pd.DataFrame | Totals:
    """Return what a sweep's tables are made of: the frame, or the sums."""
    return played.frame if hasattr(played, "frame") else played


def leaderboard_data(played: Run | Totals) -> dict[str, Any]:
    """Return a tournament's tables as JSON values."""
    return {"summary": records(played.summary()), "presets": records(played.presets())}


def write_leaderboard(played: Run | Totals, folder: Path) -> None:
    """Write a tournament's summary and leaderboard plot."""
    import matplotlib

    matplotlib.use("Agg")
    from kozel_sim import plots

    summary = played.summary()
    summary.to_csv(folder / "summary.csv", index=False)
    plots.leaderboards(summary).savefig(folder / "leaderboard.png", dpi=120)


def print_run(played: Run | Totals) -> None:
    """Print the leaderboards and what each preset makes of the game."""
    summary = played.summary()
    presets = played.presets()
    for preset, players in tables_of(played):
        print_board(*(part_of(frame, preset, players) for frame in (summary, presets)))


def tables_of(played: Run | Totals) -> list[tuple[str, int]]:
    """Return (preset, players) of each rule set of a run, in its order."""
    return [(rules["preset"], rules["knobs"]["players"]) for rules in played.manifest["rules"]]


def part_of(frame: pd.DataFrame, preset: str, players: int) -> pd.DataFrame:
    """Return the rows of one rule set."""
    return frame[(frame["preset"] == preset) & (frame["players"] == players)]


def print_board(summary: pd.DataFrame, of_preset: pd.DataFrame) -> None:
    """Print one leaderboard."""
    from rich.table import Table

    from kozel_sim.stats import percent

    level = percent(summary["level"].iloc[0])
    first = summary.iloc[0]
    title = f"{first['preset']}, {first['players']} players ({level} intervals, clustered by deal)"
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("policy", overflow="fold")
    for heading in ("goat rate", "points", "rating"):
        table.add_column(heading, justify="right", no_wrap=True)
    for policy, rows in summary.groupby("policy", observed=True, sort=False):
        cells = {row.metric: row for row in rows.itertuples()}
        table.add_row(
            str(policy),
            *(
                interval(cells[m], scale, digits) if m in cells else "-"
                for m, scale, digits in (("goat_rate", 100, 2), ("points", 1, 2), ("rating", 1, 3))
            ),
        )
    console().print(table)
    cells = {row.metric: row for row in of_preset.itertuples()}
    print(
        f"goats per match {interval(cells['goats_per_match'], 1, 3)}, "
        f"goat rate {interval(cells['goat_rate'], 100, 2)}, "
        f"fish rate per round {interval(cells['fish_rate'], 100, 2)}, "
        f"rounds per match {interval(cells['rounds'], 1, 2)}"
        + (
            f", capped {interval(cells['capped_rate'], 100, 2)}"
            if cells["capped_rate"].estimate
            else ""
        )
        + "\n"
    )


LEADERBOARD = Face(print_run, leaderboard_data, write_leaderboard)


# ---------------------------------------------------------------------- sweeps


def sweep_data(played: Run | Totals) -> dict[str, Any]:
    """Return a sweep's tables as JSON values."""
    from kozel_sim.sweep import best_policies, effects

    return {
        "effects": records(effects(results_of(played))),
        "best": records(best_policies(results_of(played))),
    }


def write_sweep(played: Run | Totals, folder: Path) -> None:
    """Write a sweep's effects (Parquet and CSV), its best policies and its forest plot."""
    import matplotlib

    matplotlib.use("Agg")
    from kozel_sim import plots
    from kozel_sim.sweep import best_policies, effects

    found = effects(results_of(played))
    found.to_parquet(folder / "effects.parquet", index=False)
    found.to_csv(folder / "effects.csv", index=False)
    best_policies(results_of(played)).to_csv(folder / "best_policies.csv", index=False)
    plots.forests(found).savefig(folder / "forest.png", dpi=120)


GAME_METRICS = (
    ("goat_rate", "goats_per_match", "several_goats", "goats_per_round", "points_per_goat"),
    ("rounds", "fish_rate", "passes", "draws", "leader_edge", "capped_rate"),
)
SHARES = ("goat_rate", "several_goats", "fish_rate", "capped_rate", "leader_edge")
"""Metrics that are written in percent."""


def print_sweep(played: Run | Totals) -> None:
    """Print what each rule set makes of the game, and how it differs from the first."""
    from kozel_sim.sweep import ALL, METRICS, best_policies, effects

    found = effects(results_of(played))
    for players, here in found.groupby("players", sort=False):
        base = here["baseline"].iloc[0]
        whole, policies = here[here["policy"] == ALL], here[here["policy"] != ALL]
        for metrics in GAME_METRICS:
            part = whole[whole["metric"].isin(metrics)]
            print_effects(f"{players} players", part, "metric")
            print_effects(f"{players} players: difference from {base}", part, "metric", paired=True)
        print_effects(f"{players} players: goat rate by policy", policies, "policy")
        title = f"{players} players: goat rate by policy, difference from {base}"
        print_effects(title, policies, "policy", paired=True)
        print_weakest(records(policies), str(base))
    rows = []
    for row in best_policies(results_of(played)).to_dict("records"):
        lead = (row["lead"], row["lead_ci_low"], row["lead_ci_high"])
        same = "yes" if row["same_as_baseline"] else "no"
        rows.append(
            {
                "players": row["players"],
                "rules": short_name(row["preset"], str(found["baseline"].iloc[0])),
                "best policy": row["best"],
                "next": row["next"],
                "lead in goat rate": spread(lead, 100, 2),
                "as baseline": same,
            }
        )
    show(rows, json_=False)
    for name, metric in METRICS.items():
        print(f"  {name}: {metric.meaning}")


def print_effects(title: str, rows: pd.DataFrame, columns: str, paired: bool = False) -> None:
    """Print a table with a row per rule set, and a column per metric or policy."""
    from rich.table import Table

    from kozel_sim.stats import percent

    prefix, middle = ("diff_", "difference") if paired else ("", "estimate")
    level = percent(rows["level"].iloc[0])
    how = f"{level} intervals, {'paired and ' if paired else ''}clustered by deal"
    table = Table(title=f"{title} ({how})", title_justify="left", title_style="bold")
    table.add_column("rules", overflow="fold")
    base = rows["baseline"].iloc[0]
    headings = list(dict.fromkeys(rows[columns]))
    for heading in headings:
        table.add_column(str(heading), justify="right", overflow="fold")
    for preset, of_preset in rows.groupby("preset", sort=False, observed=True):
        if paired and preset == base:
            continue
        cells = {}
        for row in of_preset.to_dict("records"):
            values = (row[middle], row[f"{prefix}ci_low"], row[f"{prefix}ci_high"])
            scale, digits = (100, 2) if row["metric"] in SHARES else (1, 3)
            cells[row[columns]] = spread(values, scale, digits)
        table.add_row(
            short_name(str(preset), str(base)), *(cells.get(heading, "-") for heading in headings)
        )
    if table.row_count:
        console().print(table)


def print_weakest(policies: list[dict[str, Any]], base: str) -> None:
    """Print what each variant does to the policy that the baseline treats worst."""
    at_base = [row for row in policies if row["preset"] == base]
    weakest = max(at_base, key=lambda row: row["estimate"])
    print(f"weakest under {base}: {weakest['policy']}, goat rate {weakest['estimate']:.2%}")
    for row in policies:
        if row["policy"] == weakest["policy"] and row["preset"] != base:
            low, high = row["diff_ci_low"], row["diff_ci_high"]
            verdict = "raises it" if low > 0 else "lowers it" if high < 0 else "leaves it open"
            if row["difference"] == row["diff_std_error"] == 0:
                verdict = "changed nothing"
            change = spread((row["difference"], low, high), 100, 2)
            print(f"  {short_name(row['preset'], base)} {verdict}: {change} (percentage points)")
    print()


def short_name(preset: str, base: str) -> str:
    """Return the changed knobs alone where a rule set is the baseline with changes."""
    changed = preset.startswith(f"{base}[")
    return preset.removeprefix(f"{base}[").removesuffix("]") if changed else preset


def spread(values: tuple[float, ...], scale: float, digits: int) -> str:
    """Write an estimate with its interval behind it."""
    middle, low, high = (f"{scale * v:.{digits}f}" for v in values)
    return f"{middle}{'%' if scale == 100 else ''} [{low}, {high}]"


SWEEP = Face(print_sweep, sweep_data, write_sweep)


# ---------------------------------------------------------------------- duels


def duel_data(played: Run) -> dict[str, Any]:
    """Return the duels' comparisons as JSON values."""
    from kozel_sim.duels import compare

    return {"duels": records(compare(played.frame))}


def write_duels(played: Run, folder: Path) -> None:
    """Write the duels' comparisons (CSV) and their plot."""
    import matplotlib

    matplotlib.use("Agg")
    from kozel_sim import plots
    from kozel_sim.duels import compare

    found = compare(played.frame)
    found.to_csv(folder / "duels.csv", index=False)
    plots.all_duels(found).savefig(folder / "duels.png", dpi=120)


def print_duels(played: Run) -> None:
    """Print how the first policy of each duel differs from the second."""
    from rich.table import Table

    from kozel_sim.duels import compare
    from kozel_sim.stats import percent

    found = compare(played.frame)
    for preset, players in tables_of(played):
        here = part_of(found, preset, players)
        how = f"{percent(here['level'].iloc[0])} intervals, paired and clustered by deal"
        title = f"{preset}, {players} players: first policy less the second ({how})"
        table = Table(title=title, title_justify="left", title_style="bold")
        for heading in ("policy", "against"):
            table.add_column(heading, overflow="fold")
        for heading in ("points per round", "points per match", "goat rate"):
            table.add_column(heading, justify="right")
        for _, rows in here.groupby("duel", observed=True, sort=False):
            cells = [
                spread((row["difference"], row["ci_low"], row["ci_high"]), *scale)
                for row, scale in zip(records(rows), ((1, 3), (1, 2), (100, 2)), strict=True)
            ]
            first = rows.iloc[0]
            table.add_row(str(first["policy"]), str(first["against"]), *cells)
        console().print(table)
    print("Points are written on the holder unless the rules credit them to the winner.")


def print_comparison(played: Run) -> None:
    """Print a duel metric by metric, and what it says in plain words."""
    from kozel_sim.duels import compare

    found = compare(played.frame)
    for preset, players in tables_of(played):
        here = part_of(found, preset, players)
        lines = [
            {
                "metric": row["metric"].replace("_", " "),
                row["policy"]: f"{scale * row['estimate']:.{digits}f}",
                row["against"]: f"{scale * row['against_estimate']:.{digits}f}",
                "difference": spread((row["difference"], row["ci_low"], row["ci_high"]), *form),
                "p-value": p_text(row["p_value"]),
                "variance saved": f"{row['variance_reduction']:.0%}",
            }
            for row, form in zip(records(here), ((1, 3), (1, 2), (100, 2)), strict=True)
            for scale, digits in [form]
        ]
        print(f"{preset}, {players} players, {here['n_deals'].iloc[0]:,} deals")
        show(lines, json_=False)
        print(verdict(records(here)[-1], preset) + "\n")


def verdict(row: dict[str, Any], rules: str) -> str:
    """Say in plain words what the difference in goat rate says."""
    better = row["ci_high"] < 0 or row["ci_low"] > 0
    low, high = sorted(abs(100 * row[end]) for end in ("ci_low", "ci_high"))
    if not better:
        return (
            f"Not decided: {row['policy']} may be up to {-100 * row['ci_low']:.2f} points of goat "
            f"rate better or {100 * row['ci_high']:.2f} worse than {row['against']} under {rules}. "
            "More deals (-n) would tell."
        )
    word, change = ("better", "less") if row["difference"] < 0 else ("worse", "more")
    return (
        f"{row['policy']} is {word} than {row['against']} under {rules}: {low:.2f} to {high:.2f} "
        f"points of goat rate {change} ({p_text(row['p_value'], 'p')})."
    )


def p_text(p: float, name: str = "") -> str:
    """Write a p-value, a very small one as a bound."""
    if p < 0.001:
        return f"{name} < 0.001".strip() if name else "<0.001"
    return f"{name} = {p:.3f}" if name else f"{p:.3f}"


DUELS = Face(print_duels, duel_data, write_duels)
COMPARISON = Face(print_comparison, duel_data, write_duels)


# ---------------------------------------------------------------------- checks of a policy


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
            more = f" (and at {len(failures) - 1} more tables)" if len(failures) > 1 else ""
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
            f"v {duel.rival}: goat rate {mine}, {duel.rival} {theirs} ({duel.deals} deals, 2 seats)"
        )
    print("passed" if checked.ok else "FAILED")


# ---------------------------------------------------------------------- pieces


def interval(row: Any, scale: float, digits: int) -> str:
    """Write an estimate with its interval."""
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


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a frame as a list of rows of plain values."""
    return [{str(k): _plain(v) for k, v in row.items()} for row in frame.to_dict("records")]


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; an interval without an end is null there."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write_text(text: str, out: Path | None) -> None:
    """Print a text, or write it to a file that is not there yet."""
    if out is None:
        print(text, end="")
        return
    with out.open("x", encoding="utf-8") as file:
        file.write(text)


def need_new_file(out: Path | None) -> None:
    """Raise OSError unless a text can be written to a file that is not there yet."""
    if out is not None:
        write_text("", out)
        out.unlink()


def status(text: str) -> None:
    """Show what is being done on stderr: in one line that is written over, where it is a terminal.

    An empty text ends it.
    """
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
    elif text:
        print(f"kozel_sim: {text}", file=sys.stderr, flush=True)


def hush() -> None:
    """Keep the engine from saying that it is being compiled."""
    from kozel_sim import _jit

    _jit.announces = False


@contextmanager
def progress_bar(total: int, quiet: bool) -> Iterator[Progress | None]:
    """Show matches per second and the time left on a terminal, nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
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
