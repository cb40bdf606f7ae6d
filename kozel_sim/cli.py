"""The command line ``kozel``. Heavy imports wait until a command needs them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

if TYPE_CHECKING:
    import pandas as pd

    from kozel_sim.rules import RuleSet
    from kozel_sim.simulation import Progress
    from kozel_sim.store import Run
    from kozel_sim.tournaments import Tournament

app = typer.Typer(
    help="Monte Carlo strategy research for Kozel, the domino game.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Matches = Annotated[
    int | None,
    typer.Option("-n", "--matches", help="Deals per table (each is played from every seat)."),
]
Seed = Annotated[int | None, typer.Option("--seed", help="Fixes all luck; drawn if not given.")]
Workers = Annotated[int, typer.Option("-j", "--workers", help="Threads; results do not change.")]
Out = Annotated[Path | None, typer.Option("-o", "--out", help="Folder to write the run to.")]
RulesOption = Annotated[str, typer.Option("--rules", help="Presets, separated by commas.")]
Players = Annotated[int | None, typer.Option("--players", help="2, 3 or 4; by default 4.")]
Policies = Annotated[
    str | None, typer.Option("--policies", help="Policy specs, separated by commas.")
]
Set = Annotated[
    list[str] | None, typer.Option("--set", help="Change a knob: knob=value; may be repeated.")
]
Code = Annotated[
    list[Path] | None, typer.Option("--code", help="A Python file of policies; may be repeated.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]


def main() -> None:
    """Run the command line; a user's mistake is one line on stderr and exit code 2."""
    try:
        app()
    except (ValueError, NotImplementedError, OSError) as error:
        fail(error)


def fail(error: Exception) -> NoReturn:
    """Print an error in one line and exit with code 2."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror and error.filename:
        text = f"{error.filename}: {error.strerror}"
    print(f"kozel: error: {' '.join(text.split())}", file=sys.stderr)
    sys.exit(2)


@app.command()
def run(
    experiment: Annotated[Path, typer.Argument(help="An experiment file (TOML).")],
    matches: Matches = None,
    seed: Seed = None,
    workers: Workers = 0,
    out: Out = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Play an experiment's file, print its leaderboard, write the run to results/NAME."""
    from kozel_sim.experiment import load_experiment
    from kozel_sim.tournaments import Tournament

    loaded = load_experiment(experiment)
    changes = {"deals": matches, "seed": seed}
    loaded = loaded.change(**{k: v for k, v in changes.items() if v is not None})
    planned = Tournament.of(loaded)
    folder = out or Path("results") / loaded.name
    report(planned, folder, workers or cores(), json_, quiet)


@app.command()
def tournament(
    matches: Matches = 1000,
    rules: RulesOption = "room-fish-all",
    players: Players = None,
    policies: Policies = None,
    set_: Set = None,
    code: Code = None,
    seed: Seed = None,
    workers: Workers = 0,
    out: Out = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Let policies play each other, every deal from every seat, and print the leaderboard."""
    from kozel_sim.policies import list_policies, read_policies
    from kozel_sim.simulation import read_seed
    from kozel_sim.tournaments import Tournament

    read_code(code)
    field = read_policies(policies if policies is not None else list_policies())
    rule_sets = read_rules(rules, players, set_)
    planned = Tournament("tournament", rule_sets, field, matches or 0, read_seed(seed))
    report(planned, out, workers or cores(), json_, quiet)


@app.command()
def replay(
    rules: RulesOption = "room-fish-all",
    players: Players = None,
    policies: Policies = None,
    set_: Set = None,
    code: Code = None,
    seed: Seed = 1,
    deal: Annotated[int, typer.Option("--deal", help="The first deal.")] = 0,
    count: Annotated[int, typer.Option("--count", help="How many deals.")] = 1,
    seating: Annotated[int, typer.Option("--seating", help="Who sits where; 0 as listed.")] = 0,
    format_: Annotated[str, typer.Option("--format", help="json (a line each) or text.")] = "text",
    engine: Annotated[str, typer.Option("--engine", help="auto, scalar or reference.")] = "auto",
    out: Annotated[Path | None, typer.Option("-o", "--out", help="File to write to.")] = None,
) -> None:
    """Play matches again and print their records."""
    from kozel_sim.playing import play
    from kozel_sim.simulation import need_positive

    if format_ not in ("json", "text"):
        raise ValueError(f"unknown format {format_!r}; choose from json, text")
    need_positive("count", count)
    read_code(code)
    (rule_set,) = read_rules(rules, players, set_, one=True)
    entrants = policies or ",".join(["random"] * rule_set.players)
    with status("compiling the engine (first run only)", when=engine != "reference"):
        records = [
            play(rule_set, entrants, seed or 0, deal + i, seating, engine=engine)  # type: ignore[arg-type]
            for i in range(count)
        ]
    texts = [r.to_json() if format_ == "json" else r.to_text() + "\n" for r in records]
    write_text("\n".join(texts) + "\n" * (format_ == "json"), out)


@app.command(name="rules")
def show_rules(
    name: Annotated[str | None, typer.Argument(help="A preset, to see its knobs.")] = None,
    players: Players = None,
    diff: Annotated[str | None, typer.Option("--diff", help="Another preset.")] = None,
    json_: Json = False,
) -> None:
    """List the presets, or the knobs of one, or in which two differ."""
    from kozel_sim.presets import PRESETS
    from kozel_sim.rules import RuleSet

    if name is None:
        rows = [
            {
                "preset": n,
                "players": " ".join(map(str, p.players)),
                "rules": p.summary,
                "source": p.source,
            }
            for n, p in PRESETS.items()
        ]
    elif diff is None:
        rule_set = RuleSet.preset(name, players)
        fields = RuleSet.model_fields
        about = {f.alias or k: f.description or "" for k, f in fields.items()}
        rows = [{"knob": k, "value": v, "meaning": about[k]} for k, v in rule_set.knobs().items()]
    else:
        mine, theirs = RuleSet.preset(name, players), RuleSet.preset(diff, players)
        rows = [{"knob": k, name: a, diff: b} for k, (a, b) in mine.diff(theirs).items()]
    show(rows, json_)


@app.command(name="policies")
def show_policies(code: Code = None, json_: Json = False) -> None:
    """List the policies."""
    from kozel_sim.features import FEATURES
    from kozel_sim.policies import policy_table

    read_code(code)
    rows = policy_table()
    features = ", ".join(FEATURES)
    rows.append(
        {
            "name": "weights:...",
            "parameters": features,
            "source": "",
            "doc": "the move with the highest weighted sum of features",
        }
    )
    rows.append(
        {
            "name": "mix:...",
            "parameters": "share*policy+...",
            "source": "",
            "doc": "a mixture, drawn anew for every decision",
        }
    )
    show(rows, json_)


@app.command()
def bench(
    rules: RulesOption = "room-fish-all",
    players: Players = None,
    policies: Policies = None,
    code: Code = None,
    matches: Annotated[
        int, typer.Option("-n", "--matches", help="Matches per measurement.")
    ] = 20_000,
    repeats: Annotated[int, typer.Option("--repeats", help="Measurements.")] = 5,
    json_: Json = False,
) -> None:
    """Measure the engine: rounds and matches per second of CPU time on one core."""
    from kozel_sim.bench import measure
    from kozel_sim.policies import read_policies

    read_code(code)
    chosen = [read_policies(policies)] if policies else None
    with status("measuring"):
        rows = [
            row
            for rule_set in read_rules(rules, players, None)
            for row in measure(rule_set, chosen, matches, repeats)
        ]
    show(rows, json_)


# ---------------------------------------------------------------------- reading options


def read_code(paths: list[Path] | None) -> None:
    """Load policy files."""
    from kozel_sim.policies import load_code

    for path in paths or []:
        load_code(path)


def read_rules(
    names: str, players: int | None, changes: list[str] | None, *, one: bool = False
) -> list[RuleSet]:
    """Return the rule sets that the options name."""
    from kozel_sim.rules import RuleSet

    presets = [name.strip() for name in names.split(",") if name.strip()]
    if not presets or (one and len(presets) > 1):
        raise ValueError(f"--rules {names!r}: {'one preset' if one else 'a preset'} is needed")
    knobs = dict(read_knob(change) for change in changes or [])
    return [RuleSet.preset(name, players).replace(**knobs) for name in presets]


def read_knob(text: str) -> tuple[str, Any]:
    """Read a ``knob=value`` option; numbers are numbers, the rest stays text."""
    knob, sign, value = text.partition("=")
    if not sign:
        raise ValueError(f"--set {text!r} is not knob=value")
    return knob.strip(), int(value) if value.strip().lstrip("-").isdigit() else value.strip()


def cores() -> int:
    """Return how many cores this process may use."""
    import os

    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


# ---------------------------------------------------------------------- printing


def report(
    planned: Tournament, folder: Path | None, workers: int, json_: bool, quiet: bool
) -> None:
    """Play a tournament unless its folder holds it already; print and write it."""
    from kozel_sim.store import load_run, prepare_folder

    if folder is not None and prepare_folder(folder, planned.manifest()):
        played = load_run(folder)
        note = f"{folder} holds this very run already; read, not played again"
    else:
        with status("compiling the engine (first run only)", when=not quiet):
            warm_up()
        with progress_bar(planned.matches, quiet or json_) as step:
            played = planned.play(workers=workers, progress=step)
        note = f"{played.matches:,} matches in {played.manifest['seconds']:.1f} s"
        if folder is not None:
            save(played, folder)
            note += f"; written to {folder}"
    if quiet:
        return
    if json_:
        print_json(
            {
                "manifest": played.manifest,
                "summary": records(played.summary()),
                "presets": records(played.presets()),
            }
        )
    else:
        print_run(played, planned)
        print(note)


def save(played: Run, folder: Path) -> None:
    """Write a run, its summary and its leaderboard plot."""
    import matplotlib

    matplotlib.use("Agg")
    from kozel_sim import plots

    summary = played.summary()

    def draw(scratch: Path) -> None:
        summary.to_csv(scratch / "summary.csv", index=False)
        figure = plots.leaderboards(summary)
        figure.savefig(scratch / "leaderboard.png", dpi=120)

    played.save(folder, extra=draw)


def warm_up() -> None:
    """Compile (or load) the engine on a handful of deals."""
    from kozel_sim.simulation import simulate

    simulate("room-fish-all", ["random", "random"], 1, seed=0)


def print_run(played: Run, planned: Tournament) -> None:
    """Print the leaderboards and what each preset makes of the game."""
    summary = played.summary()
    presets = played.presets()
    for rules in planned.rules:
        here = [
            frame[(frame["preset"] == rules.name) & (frame["players"] == rules.players)]
            for frame in (summary, presets)
        ]
        print_board(rules, *here)


def print_board(rules: RuleSet, summary: pd.DataFrame, of_preset: pd.DataFrame) -> None:
    """Print one leaderboard."""
    from rich.table import Table

    level = summary["level"].iloc[0]
    title = f"{rules.name}, {rules.players} players ({level:.0%} intervals, clustered by deal)"
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


def interval(row: Any, scale: float, digits: int) -> str:
    """Write an estimate with its interval."""
    sign = "%" if scale == 100 else ""
    middle, low, high = (f"{scale * v:.{digits}f}" for v in (row.estimate, row.ci_low, row.ci_high))
    return f"{middle}{sign} [{low}, {high}]"


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

    return Console() if sys.stdout.isatty() else Console(width=120)


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    import json

    print(json.dumps(value, indent=1))


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a frame as a list of rows of plain values."""
    return [
        {str(k): v.item() if hasattr(v, "item") else v for k, v in row.items()}
        for row in frame.to_dict("records")
    ]


def write_text(text: str, out: Path | None) -> None:
    """Print a text, or write it to a file that is not there yet."""
    if out is None:
        print(text, end="")
        return
    with out.open("x", encoding="utf-8") as file:
        file.write(text)


@contextmanager
def status(text: str, when: bool = True) -> Iterator[None]:
    """Say what takes a while, on stderr, where code is not compiled yet."""
    from kozel_sim._jit import is_compiled

    if when and not is_compiled():
        print(f"{text}, about half a minute ...", file=sys.stderr, flush=True)
    yield


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
