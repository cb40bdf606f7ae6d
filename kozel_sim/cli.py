"""The command line ``kozel``. Heavy imports wait until a command needs them."""

from __future__ import annotations

import gc
import logging
import os
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from kozel_sim import cli_plan, cli_replay, cli_runs, crashes
from kozel_sim.names import file_name
from kozel_sim.options import (
    Aggregate,
    Baseline,
    Checked,
    Code,
    Dask,
    Design,
    Diff,
    EngineName,
    Equivalent,
    ExperimentFile,
    ExperimentOrRules,
    First,
    FixedSeed,
    Json,
    Matches,
    Out,
    Players,
    Policies,
    PresetName,
    Quiet,
    Rounds,
    RulesOption,
    Second,
    Seed,
    Set,
    Shard,
    Stop,
    Vary,
    Workers,
    mapper_of,
    number,
    read_code,
    read_field,
    read_knob,
    read_rule,
    read_rules,
    read_variants,
    threads,
)
from kozel_sim.performing import prints_aside
from kozel_sim.printing import (
    hush,
    print_check,
    print_json,
    show,
    status,
)
from kozel_sim.reporting import DUELS, LEADERBOARD, SWEEP, comparison_face, report
from kozel_sim.streams import open_streams
from kozel_sim.words import in_one_line

app = typer.Typer(
    help="Monte Carlo strategy research for Kozel, the domino game.",
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


for command in (
    *(cli_runs.show, cli_runs.report, cli_runs.ratings),
    *(cli_runs.verify, cli_runs.merge, cli_runs.export, cli_replay.replay),
):
    app.command()(command)


def main() -> None:
    """Run the command line; a user's mistake is one line on stderr and exit code 2."""
    # What is loaded stays; looking for garbage in it again and again takes a tenth of the start.
    gc.set_threshold(100_000)
    asked = len(sys.argv) > 1
    # Pictures are files here, and a backend that matplotlib does not know would end its import.
    os.environ.pop("MPLBACKEND", None)
    warnings.showwarning = warn  # type: ignore[assignment]
    # What it says of its fonts and folders is nothing to whom asked for a table.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    open_streams()
    crashes.stand_by(sys.argv[1:])
    try:
        code = app(None if asked else ["--help"], prog_name="kozel", standalone_mode=False)
        # A full disk shows here, and not when it is too late to say so.
        sys.stdout.flush()
    except (ValueError, NotImplementedError, OSError) as error:
        fail(error)
    except MemoryError as error:
        fail(f"not enough memory ({error}); choose fewer matches")
    except Exception as error:
        # Click's complaints about the words, wherever typer keeps their class.
        if not hasattr(error, "format_message"):
            raise
        said = error.format_message().rstrip(".")
        context = getattr(error, "ctx", None)
        more = f"; see {context.command_path} --help" if context else ""
        fail(f"{said[:1].lower()}{said[1:]}{more}")
    finally:
        crashes.ends_by_itself()
    sys.exit(code if asked else 2)


def fail(error: Exception | str) -> NoReturn:
    """Print an error in one line and exit with code 2."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror and error.filename:
        text = f"{error.filename}: {error.strerror}"
    print(f"kozel: error: {in_one_line(text)}", file=sys.stderr)
    sys.exit(2)


def warn(message: Warning | str, category: type[Warning] = UserWarning, *about: Any) -> None:
    """Print a warning in one line; what libraries say of their future is not the user's."""
    if issubclass(category, DeprecationWarning | PendingDeprecationWarning | FutureWarning):
        return
    print(f"kozel: warning: {in_one_line(str(message))}", file=sys.stderr)


@app.command()
def run(
    experiment: ExperimentFile,
    matches: Matches = None,
    seed: Seed = None,
    workers: Workers = 0,
    out: Out = None,
    aggregate: Aggregate = False,
    rounds: Rounds = False,
    stop: Stop = None,
    shard: Shard = None,
    dask: Dask = None,
    engine: EngineName = "auto",
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Play an experiment's file, print its leaderboard or duels, write the run to results/NAME."""
    from kozel_sim.experiment import load_experiment
    from kozel_sim.manifest import read_shard
    from kozel_sim.tournaments import Tournament

    with prints_aside():
        loaded = load_experiment(experiment)
    changes = {"deals": matches, "seed": seed}
    loaded = loaded.change(**{k: v for k, v in changes.items() if v is not None})
    folder = out or Path("results") / file_name(loaded.name)
    cut = None if shard is None else read_shard(shard)
    rule, _ = read_rule(stop, None, 0)
    if cut is not None and out is None:
        folder = folder.with_name(f"{folder.name}-{cut[0]}-of-{cut[1]}")
    planned = Tournament.of(loaded, aggregate=aggregate, rounds=rounds, stop=rule, shard=cut)
    face = DUELS if planned.has_duels else LEADERBOARD
    with mapper_of(dask) as mapper:
        report(planned, face, folder, threads(workers), json_, quiet, mapper, engine)  # type: ignore[arg-type]


@app.command()
def tournament(
    matches: Matches = None,
    rules: RulesOption = "room-fish-all",
    players: Players = None,
    policies: Policies = None,
    set_: Set = None,
    code: Code = None,
    design: Design = "rotations",
    seed: Seed = None,
    workers: Workers = 0,
    out: Out = None,
    aggregate: Aggregate = False,
    rounds: Rounds = False,
    stop: Stop = None,
    dask: Dask = None,
    engine: EngineName = "auto",
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Let policies play each other, every deal from every seat, and print the leaderboard."""
    from kozel_sim.store import read_seed_of
    from kozel_sim.tournaments import Tournament

    field = read_field(policies, read_code(code))
    rule_sets = read_rules(rules, players, set_)
    rule, deals = read_rule(stop, matches, 1000)
    planned = Tournament(
        "tournament",
        rule_sets,
        field,
        deals,
        read_seed_of(out, seed),
        design,
        aggregate=aggregate,
        rounds=rounds,
        stop=rule,
    )
    face = DUELS if planned.has_duels else LEADERBOARD
    with mapper_of(dask) as mapper:
        report(planned, face, out, threads(workers), json_, quiet, mapper, engine)  # type: ignore[arg-type]


@app.command()
def sweep(
    experiment: ExperimentOrRules = None,
    matches: Matches = None,
    rules: Baseline = None,
    vary: Vary = None,
    players: Players = None,
    policies: Policies = None,
    set_: Set = None,
    code: Code = None,
    seed: Seed = None,
    workers: Workers = 0,
    out: Out = None,
    aggregate: Aggregate = False,
    dask: Dask = None,
    engine: EngineName = "auto",
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure what rule variants do: the same deals and policies under each rule set.

    Differences are paired by deal, against the first rule set.
    """
    from kozel_sim.experiment import Experiment, load_experiment
    from kozel_sim.policies import FIELD, split_specs
    from kozel_sim.store import read_seed_of
    from kozel_sim.tournaments import Tournament

    own = read_code(code)
    if (experiment is None) == (rules is None):
        raise ValueError("sweep needs an experiment file, or --rules with presets (not both)")
    given: dict[str, Any] = {
        "deals": matches,
        "seed": seed,
        "players": [players] if players else None,
        "policies": split_specs(policies) if policies else None,
        "knobs": dict(read_knob(change) for change in set_) if set_ else None,
        "variants": [v for text in vary for v in read_variants(text)] if vary else None,
    }
    given = {key: value for key, value in given.items() if value is not None}
    if experiment is not None:
        with prints_aside():
            plan = load_experiment(experiment)
        if plan.duels or plan.design != "rotations":
            raise ValueError(f"{experiment} is no tournament of tables; play it with kozel run")
        plan = plan.change(**given)
    else:
        start = {"name": "sweep", "seed": read_seed_of(out, seed), "deals": 600}
        field = {"rules": split_specs(rules or ""), "policies": [*FIELD, *own]}
        plan = Experiment.read({**start, **field, **given}, "sweep")
    planned = Tournament.of(plan, aggregate=aggregate)
    if len(planned.rules) < 2:
        raise ValueError("a sweep needs two or more rule sets: more --rules, or --vary knob=value")
    folder = out or (Path("results") / file_name(plan.name) if experiment else None)
    with mapper_of(dask) as mapper:
        report(planned, SWEEP, folder, threads(workers), json_, quiet, mapper, engine)  # type: ignore[arg-type]


@app.command()
def compare(
    first: First,
    second: Second,
    matches: Annotated[
        int | None,
        number("-n", "--matches", help="Deals (each is played from every seat); 2000 if not said."),
    ] = None,
    rules: RulesOption = "room-fish-all",
    players: Players = None,
    set_: Set = None,
    code: Code = None,
    seed: Seed = None,
    workers: Workers = 0,
    out: Out = None,
    stop: Stop = None,
    equivalent: Equivalent = None,
    dask: Dask = None,
    engine: EngineName = "auto",
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Play a duel of two policies, and say which is better, by how much, and how sure that is.

    Of more than two singles one plays the first policy and the others the second, from every seat;
    pairs play it on either side.
    """
    from kozel_sim.duels import two_policies
    from kozel_sim.store import read_seed_of
    from kozel_sim.tournaments import Tournament

    read_code(code)
    pair = two_policies(first, second)
    rule_sets = read_rules(rules, players, set_)
    rule, deals = read_rule(stop, matches, 2000)
    face = comparison_face(equivalent, stop)
    planned = Tournament(
        "compare", rule_sets, pair, deals, read_seed_of(out, seed), "duels", ((0, 1),), stop=rule
    )
    with mapper_of(dask) as mapper:
        report(planned, face, out, threads(workers), json_, quiet, mapper, engine)  # type: ignore[arg-type]


app.command()(cli_plan.plan)


@app.command()
def tell(
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
    """Measure the tell: how often a player who switches ends lacks the value he left.

    Beside it stands the chance that he lacks it anyway, to an observer at the table.
    """
    from kozel_sim.policies import read_policies
    from kozel_sim.store import read_seed_of
    from kozel_sim.tell import POLICIES
    from kozel_sim.tell_report import report_tell
    from kozel_sim.tournaments import Tournament

    read_code(code)
    field = read_policies(policies if policies is not None else list(POLICIES))
    rule_sets = read_rules(rules, players, set_)
    planned = Tournament("tell", rule_sets, field, matches or 0, read_seed_of(out, seed))
    report_tell(planned, out, threads(workers), json_, quiet)


@app.command(name="rules")
def show_rules(
    name: PresetName = None,
    players: Players = None,
    diff: Diff = None,
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
    """List the policies, with the nanoseconds of CPU time that a decision takes."""
    from kozel_sim.features import FEATURES, TRIGGERS
    from kozel_sim.policies import get_policy, policy_table
    from kozel_sim.timing import measure_policies

    read_code(code)
    rows: list[dict[str, Any]] = [{**row, "ns per decision": None} for row in policy_table()]
    with prints_aside():
        costs = measure_policies([get_policy(row["name"]) for row in rows])
    for row in rows:
        cost = costs[row["name"]]
        row["ns per decision"] = round(cost, 1) if isinstance(cost, float) else cost
    for name, parameters, doc in (
        ("weights:...", ", ".join(FEATURES), "the move with the highest weighted sum of features"),
        (
            "prefer:...",
            ", ".join(f"{trigger}?" for trigger in TRIGGERS if trigger != "always"),
            "a ladder: [trigger?]feature>..., each stage breaks the ties of those before it",
        ),
        ("mix:...", "share*policy+...", "a mixture, drawn anew for every decision"),
    ):
        about = {"name": name, "parameters": parameters, "source": "", "doc": doc}
        rows.append({**about, "ns per decision": ""})
    show(rows, json_)


@app.command(name="check-policy")
def check(
    what: Checked,
    code: Code = None,
    positions: Annotated[
        int, number("--positions", help="Random positions per preset and players.")
    ] = 40,
    seed: FixedSeed = 1,
    timeout: Annotated[
        float, typer.Option("--timeout", help="Seconds that one position may take.")
    ] = 10.0,
    json_: Json = False,
) -> None:
    """Check that a policy is legal, repeatable and blind to hidden tiles; exit code 1 if not.

    Every preset, in plain Python and compiled; then its speed, and short duels.
    """
    from kozel_sim.checking import check_policy

    read_code(code)
    reports = check_policy(what, positions=positions, seed=seed, timeout=timeout)
    if json_:
        print_json([report.as_data() for report in reports])
    else:
        for report in reports:
            print_check(report)
    if not all(report.ok for report in reports):
        raise typer.Exit(1)


@app.command()
def bench(
    rules: RulesOption = "room-fish-all",
    players: Players = None,
    policies: Policies = None,
    code: Code = None,
    matches: Annotated[int, number("-n", "--matches", help="Matches per measurement.")] = 20_000,
    repeats: Annotated[int, number("--repeats", help="Measurements.")] = 5,
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine", help="Engines, separated by commas; by default the compiled ones."
        ),
    ] = None,
    json_: Json = False,
) -> None:
    """Measure the engines: rounds and matches per second of CPU time on one core."""
    from kozel_sim.bench import measure
    from kozel_sim.policies import read_policies

    read_code(code)
    engines = None if engine is None else [name.strip() for name in engine.split(",")]
    chosen = [read_policies(policies)] if policies else None
    rule_sets = read_rules(rules, players, None)
    with prints_aside():
        rows = [
            row
            for rule_set in rule_sets
            for row in measure(rule_set, chosen, matches, repeats, engines)
        ]
    show(rows, json_)


@app.command()
def warmup(json_: Json = False) -> None:
    """Compile all that is compiled, so that nothing is when it is needed; it is kept on disk."""
    hush()
    from kozel_sim.warming import STEPS, warm_up

    told = iter(range(1, len(STEPS) + 1))
    rows: list[dict[str, Any]] = []
    for what, compiled, seconds in warm_up(
        lambda what: status(f"compiling {what} ({next(told)} of {len(STEPS)}) ...")
    ):
        how = "compiled" if compiled else "loaded"
        rows.append({"what": what, "how": how, "seconds": round(seconds, 1)})
    status("")
    show(rows, json_)
    if not json_:
        print(f"{sum(row['seconds'] for row in rows):.1f} s in all")
