"""What a manifest says of what came of the play, worked out again from the parts themselves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd

from kozel_sim.claims import parts_of
from kozel_sim.columns import kind_of
from kozel_sim.engine.layout import GAME
from kozel_sim.frames import stack_frames
from kozel_sim.manifest import MANIFEST
from kozel_sim.merging import checks_of, seats_of
from kozel_sim.plain import records
from kozel_sim.runs import Run, number_of_block, read_frame
from kozel_sim.sequential import FIRST_LOOK, LOOK_GROWTH, looks
from kozel_sim.stopping import Stop, Watch
from kozel_sim.totals import read_sums
from kozel_sim.tournaments import Tournament

Complaint = tuple[str, str]
"""A file's name, and what is wrong with it."""
CLOSE = 1e-9
"""Relative; libraries of another version may add up in another order."""


def wrong_counts(
    folder: Path, manifest: dict[str, Any], planned: Tournament
) -> Iterator[Complaint]:
    """Yield what the parts of a run do not bear out: its counts, stopping table and chi-squares.

    All parts are read, so their hashes should have been looked at before.
    """
    rows = {entry["file"]: entry.get("rows") for entry in manifest["files"]}
    needs_frames = planned.stop is not None or "shards" in manifest
    frames: dict[int, list[pd.DataFrame]] = {}
    unreadable, rounds = False, 0
    for entry in manifest["files"]:
        name, kind = entry["file"], kind_of(entry["file"])
        if kind == "rounds":
            continue
        try:
            if kind == "totals":
                rounds += sum(s.sum_of(GAME.index("rounds")) for s in read_sums(folder, entry))
                continue
            frame = read_frame(folder, manifest, entry)
        except ValueError as error:
            unreadable = True
            yield name, str(error)
            continue
        played = int(frame.loc[frame["seat"] == 0, "rounds"].sum())
        rounds += played
        twin, wanted = (
            name.replace("matches/", "rounds/", 1),
            played * int(frame["players"].iloc[0]),
        )
        if rows.get(twin, wanted) != wanted:
            yield twin, f"it should have {wanted} rows, one of each round and seat"
        if needs_frames:
            frames.setdefault(number_of_block(name), []).append(frame)
    if unreadable or manifest["state"] != "finished":
        return
    said = manifest["counts"].get("rounds", rounds)
    if said != rounds:
        yield MANIFEST, f"counts: it has {rounds} rounds, not {said}"
    if planned.stop is not None:
        whole = {number: stack_frames(parts) for number, parts in frames.items()}
        yield from _wrong_stopping(manifest, planned, planned.stop, whole)
    if "shards" in manifest and frames:
        every = [frame for each in frames.values() for frame in each]
        yield from _wrong_checks(_with_shards(manifest, planned), every)


def _with_shards(manifest: dict[str, Any], planned: Tournament) -> dict[str, Any]:
    """Return a merged manifest that says of each file whose it is.

    Of a part that was lost and played again the manifest does not say it. A run that was read and
    saved again has a file for each block, of all shards.
    """
    entries = manifest["files"]
    known = sum("shard" in entry for entry in entries)
    if known in (0, len(entries)) or "part_sizes" not in manifest:
        return manifest
    shards = {
        (part.block, part.first): place % len(manifest["shards"]) + 1
        for place, part in enumerate(parts_of(planned, manifest["part_sizes"]))
    }
    whose = [shards.get((number_of_block(e["file"]), e["deals"][0]), 1) for e in entries]
    files = [{"shard": shard, **entry} for shard, entry in zip(whose, entries, strict=True)]
    return {**manifest, "files": files}


def _wrong_stopping(
    manifest: dict[str, Any], planned: Tournament, rule: Stop, frames: dict[int, pd.DataFrame]
) -> Iterator[Complaint]:
    """Ask the rule again at every look, and compare where it stopped and what it found."""
    cycle = max(block.lineups.cycle for block in planned.blocks)
    schedule = looks(FIRST_LOOK, LOOK_GROWTH, cycle, planned.deals)
    watch = Watch(rule, schedule)
    left = [block.number for block in planned.blocks]
    ends = dict.fromkeys(left, 0)
    for first, end in pairwise([0, *schedule]):
        for number in left:
            frame = frames.get(number)
            here = None if frame is None else frame[frame["deal"].between(first, end - 1)]
            if here is None or here["deal"].nunique() != end - first:
                missing = f"deals {first} to {end - 1} of block {number}"
                yield MANIFEST, f"stop: the rule asks for {missing}, and they are not there"
                return
            watch.add(number, here)
            ends[number] = end
        left = watch.look(left)
        if not left:
            break
    for number, frame in frames.items():
        if (last := int(frame["deal"].max())) >= ends[number]:
            over = f"with deal {ends[number] - 1}, and there is deal {last}"
            yield MANIFEST, f"stop: the rule ends block {number} {over}"
    if "stopping" not in manifest:
        yield MANIFEST, "stopping: it lacks what the rule found"
    elif wrong := _differing(manifest["stopping"], records(watch.table())):
        yield MANIFEST, f"stopping{wrong}"


def _wrong_checks(manifest: dict[str, Any], frames: list[pd.DataFrame]) -> Iterator[Complaint]:
    """Compare a merged run's chi-squares with those of its frame."""
    if "checks" not in manifest:
        yield MANIFEST, "checks: it lacks those of a merged run"
        return
    whole = stack_frames(frames)
    known = all("shard" in entry for entry in manifest["files"])
    found = checks_of(Run(whole, manifest)) if known else {"seats": seats_of(whole)}
    for table, rows in found.items():
        if wrong := _differing(manifest["checks"][table], rows):
            yield MANIFEST, f"checks.{table}{wrong}"


def _differing(said: Sequence[dict[str, Any]], found: Sequence[dict[str, Any]]) -> str:
    """Say where two tables differ first: the row, the column, both values."""
    if len(said) != len(found):
        return f": it should have {len(found)} rows, not {len(said)}"
    for number, (theirs, mine) in enumerate(zip(said, found, strict=True)):
        for column in {**mine, **theirs}:
            if column not in mine or column not in theirs:
                return f".{number}: column {column} is {'missing' if column in mine else 'none'}"
            if not _alike(theirs[column], mine[column]):
                return f".{number}.{column}: it comes out as {mine[column]}, not {theirs[column]}"
    return ""


def _alike(a: Any, b: Any) -> bool:
    if isinstance(a, float | int) and isinstance(b, float | int):
        return math.isclose(a, b, rel_tol=CLOSE, abs_tol=CLOSE)
    return bool(a == b)
