"""The commands for runs that are on disk: show, report, verify, merge, export."""

from __future__ import annotations

import sys
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kozel_sim.files import write_whole
from kozel_sim.options import Code, Json, Quiet, complete_folders, number, read_code
from kozel_sim.performing import prints_aside
from kozel_sim.plain import records
from kozel_sim.printing import STDOUT, need_new_file, print_json, write_text
from kozel_sim.rating_report import print_ratings, ratings_of
from kozel_sim.reporting import COMPARISON, DUELS, LEADERBOARD, SWEEP, Face, show_run
from kozel_sim.run_pictures import draw_run
from kozel_sim.streams import reader_is_gone
from kozel_sim.words import counted

if TYPE_CHECKING:
    from kozel_sim.runs import Run, Totals

Folder = Annotated[Path, typer.Argument(help="A run's folder.", autocompletion=complete_folders)]


def face_of(played: Run | Totals, sweep: bool = False) -> Face:
    """Return how a run is shown: what its design makes of it."""
    if sweep:
        return SWEEP
    if "duel" not in getattr(played, "frame", {}):
        return LEADERBOARD
    return COMPARISON if played.name in ("compare", "duel") else DUELS


def need_two_rule_sets(folder: Path, sweep: bool) -> None:
    """Raise ValueError if a run is to be shown as a sweep, and is none."""
    from kozel_sim.store import read_manifest

    if sweep and len(read_manifest(folder)["rules"]) < 2:
        raise ValueError(f"{folder} is no sweep: it was played under one rule set")


def show(
    folder: Folder,
    sweep: Annotated[
        bool, typer.Option("--sweep", help="As a sweep: each rule set against the first.")
    ] = False,
    company: Annotated[
        bool, typer.Option("--company", help="How each policy fares by who else is at the table.")
    ] = False,
    luck: Annotated[
        bool,
        typer.Option("--luck", help="How much of the variance of points is policy, seat and deal."),
    ] = False,
    json_: Json = False,
) -> None:
    """Print a run's tables again, or others that are made of it."""
    from kozel_sim.company_report import show_company, show_luck
    from kozel_sim.runs import load, load_run

    if sweep + company + luck > 1:
        raise ValueError("choose one of --sweep, --company and --luck")
    if company or luck:
        frame = load_run(folder).frame
        (show_company if company else show_luck)(frame, json_)
        return
    need_two_rule_sets(folder, sweep)
    played = load(folder)
    show_run(played, face_of(played, sweep), json_)


def report(
    folder: Folder,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", help="File to write, - prints it; RUN/report.html if not said."
        ),
    ] = None,
    code: Code = None,
) -> None:
    """Write one HTML page of a run: rules, results, plots, seats, fine print, and replays.

    It needs nothing but a browser. Replays of matches with functions of yours need their --code.
    """
    from kozel_sim.report_page import MARK, report_html
    from kozel_sim.runs import load, need_matches
    from kozel_sim.store import read_finished

    need_matches(folder, read_finished(folder))
    out = out or folder / "report.html"
    if out == STDOUT:
        told = ""
    elif out.is_file() and MARK.encode() in _start_of(out):
        told = "written over the report in"
    elif out.is_file():
        raise FileExistsError(f"{out} is there and is no report; choose another file")
    else:
        need_new_file(out)
        told = "written to"
    read_code(code)
    page = report_html(load(folder))
    if out == STDOUT:
        write_text(page, out)
    else:
        write_whole(out, page.encode())
        print(f"{told} {out}")


def _start_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(100)


def ratings(folder: Folder, json_: Json = False) -> None:
    """Print ratings of a run's policies; of duels also payoffs and the mixture to enter."""
    from kozel_sim.runs import load_run

    found = ratings_of(load_run(folder).frame)
    if json_:
        print_json({name: records(frame) for name, frame in found.items()})
    else:
        print_ratings(found)


def verify(
    folder: Folder,
    sample: Annotated[int, number("--sample", help="How many parts are played again.")] = 3,
    all_: Annotated[bool, typer.Option("--all", help="Play all parts again.")] = False,
    seed: Annotated[
        int | None, number("--seed", help="Draws the parts; others each time if not given.")
    ] = None,
    engine: Annotated[
        str, typer.Option("--engine", help="auto, vector, scalar or reference.")
    ] = "auto",
    code: Code = None,
    json_: Json = False,
) -> None:
    """Check a run: hash its files, play some parts again and compare them to the bit.

    Exit code 1 if anything is not as it was.
    """
    from kozel_sim.checks import read_seed
    from kozel_sim.verifying import verify as look

    read_code(code)
    seed = read_seed(seed)
    wrong: list[dict[str, Any]] = []
    done = {"hash": 0, "replay": 0, "listed": 0, "state": 0}
    with prints_aside():
        findings = list(look(folder, 2**31 if all_ else sample, seed, engine))  # type: ignore[arg-type]
    for finding in findings:
        done[finding.check] += 1
        if not finding.ok:
            wrong.append(vars(finding))
    if json_:
        counts = {"hashed": done["hash"], "replayed": done["replay"]}
        print_json({**counts, "finished": not done["state"], "wrong": wrong})
    else:
        for finding in findings:
            if finding.ok and finding.detail:
                print(f"{finding.file}: {finding.detail}")
        for each in wrong:
            print(f"FAILED {each['check']}: {each['file']}: {each['detail']}")
        if any(each["check"] == "hash" for each in wrong):
            print(_how_to_mend(folder))
        told = (
            f"{counted(done['hash'], 'file')} hashed, {done['replay']} played again (seed {seed})"
        )
        print(f"{told}: {'FAILED' if wrong else 'all as it was written'}")
    if wrong:
        raise typer.Exit(1)


def _how_to_mend(folder: Path) -> str:
    """Say what to do about files that are missing or damaged."""
    from kozel_sim.commands import run_command
    from kozel_sim.store import read_manifest

    found = run_command(read_manifest(folder), str(folder))
    command = "the command that made the run" if found is None or found[1] else found[0]
    return f"to mend it, remove each damaged file, and run: {command}"


def merge(
    folders: Annotated[
        list[Path], typer.Argument(help="All shards of a run.", autocompletion=complete_folders)
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder of the whole run.")],
    sweep: Annotated[
        bool, typer.Option("--sweep", help="As a sweep: each rule set against the first.")
    ] = False,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Put the shards of a run together, which were played with --shard i/n."""
    from kozel_sim.merging import merge as join

    need_two_rule_sets(folders[0], sweep)
    played = join(folders, out, lambda run, scratch: face_of(run, sweep).write(run, scratch))
    if not quiet:
        show_run(played, face_of(played, sweep), json_)
    draw_run(played, out, *face_of(played, sweep).pictures)
    if not (quiet or json_):
        shards, matches = counted(len(folders), "shard"), counted(played.matches, "match")
        print(f"{shards}, {matches}; written to {out}")


def export(
    folder: Folder,
    csv: Annotated[Path, typer.Option("--csv", help="A new CSV file; - prints it.")],
    rounds: Annotated[
        bool, typer.Option("--rounds", help="The rounds instead of the matches.")
    ] = False,
) -> None:
    """Write a run's frame as CSV: one row per match and seat, or per round and seat."""
    from kozel_sim.export import write_csv
    from kozel_sim.runs import need_matches, need_whole, read_frames
    from kozel_sim.store import read_finished

    need_new_file(csv)
    manifest = read_finished(folder)
    need_matches(folder, manifest)
    need_whole(folder, manifest)
    kind = "rounds" if rounds else "matches"
    if manifest.get("aggregate") or (rounds and not manifest.get("rounds")):
        raise ValueError(
            f"{folder} has no {kind}; play it with{'' if rounds else 'out'} "
            f"--{'rounds' if rounds else 'aggregate'}"
        )
    frames = read_frames(folder, manifest, kind)
    if csv == STDOUT:
        write_csv(takewhile(lambda _: not reader_is_gone(), frames), sys.stdout.buffer)
    else:
        write_csv(frames, csv)
        print(f"written to {csv}")
