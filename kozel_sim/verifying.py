"""Is a run what its manifest says? Its files are hashed, and some parts are played again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kozel_sim.checks import Engine, need_engine, need_positive, read_seed
from kozel_sim.claims import wrong_claims
from kozel_sim.extending import EXTENSION, parts_to_come
from kozel_sim.files import SCRATCH
from kozel_sim.manifest import MANIFEST
from kozel_sim.parts import Part
from kozel_sim.recounting import wrong_counts
from kozel_sim.runs import block_of, gaps, need_matches, number_of_block, read_frame, write_frames
from kozel_sim.store import CONTINUED, IDENTITY, need_sound, read_manifest
from kozel_sim.totals import read_sums, same_sums
from kozel_sim.tournaments import Tournament
from kozel_sim.words import counted, printable


@dataclass(frozen=True)
class Finding:
    """What was found out about a file.

    Attributes
    ----------
    file : str
        Its name below the run's folder.
    check : {"hash", "replay", "listed", "state"}
        Whether it is as it was written, whether playing it again gives the same to the bit, whether
        the manifest knows it and says what is so, whether the run is finished.
    ok : bool
        Whether it passed; a run that is not finished may be whole as far as it goes.
    detail : str
        What is wrong, or worth knowing.
    """

    file: str
    check: str
    ok: bool
    detail: str = ""


def verify(
    folder: str | Path, sample: int = 3, seed: int | None = None, engine: Engine = "auto"
) -> Iterator[Finding]:
    """Yield what is found out about a run: its files' hashes, its claims, then parts played again.

    Every part is hashed and read; what the manifest says of names, counts, engine, versions, parts,
    stopping and shards is held against the design and against the parts.

    Parameters
    ----------
    folder : str or Path
        A run's folder, finished or not.
    sample : int, default 3
        How many parts are played again, drawn from all; a number above theirs takes all.
    seed : int, optional
        Draws the parts; by default others each time.
    engine : {"auto", "vector", "scalar", "reference"}
        Who plays them; all engines must give the same.

    Raises
    ------
    ValueError
        If the folder holds no run, or what was played cannot be built here: by another version, or
        with a function that is not registered.
    """
    need_positive("sample", sample)
    need_engine(engine)
    draw = np.random.default_rng(read_seed(seed))
    folder = Path(folder)
    manifest = read_manifest(folder)
    need_matches(folder, manifest)
    entries = {entry["file"]: entry for entry in manifest["files"]}
    if manifest["state"] != "finished":
        there = counted(len(entries), "file is", "files are")
        yield Finding(MANIFEST, "state", True, f"it is unfinished, {there} there; {CONTINUED}")
    hashed = [_hash(folder, name, entry) for name, entry in entries.items()]
    yield from hashed
    if manifest["state"] == "finished":
        for lack in gaps(manifest):
            yield Finding(MANIFEST, "listed", False, f"it does not list {lack}")
    try:
        more = parts_to_come(folder)
    except ValueError as error:
        more = set()
        yield Finding(EXTENSION.manifest, "listed", False, str(error))
    for name in _names_in(folder):
        if name not in entries and name not in more:
            yield Finding(printable(name), "listed", False, f"it is not in {MANIFEST}")
    planned = Tournament.of_manifest(manifest)
    now = planned.manifest()
    differing = [key for key in IDENTITY if now.get(key) != manifest.get(key)]
    if differing:
        raise ValueError(
            f"{folder} was played by kozel_sim {manifest.get('version')}, and cannot be played "
            f"again by this one, {now['version']} (other {', '.join(differing)})"
        )
    for claim in wrong_claims(manifest, planned):
        yield Finding(MANIFEST, "listed", False, claim)
    if all(finding.ok for finding in hashed):
        for name, wrong in wrong_counts(folder, manifest, planned):
            yield Finding(name, "listed", False, wrong)
    parts = [name for name in entries if not name.startswith("rounds/")]
    chosen = draw.permutation(len(parts))[:sample]
    player = planned.player(engine)
    for name in (parts[i] for i in sorted(chosen)):
        part = Part(number_of_block(name), *entries[name]["deals"])
        yield from _replay(folder, manifest, entries, name, player.play(part))


def _hash(folder: Path, name: str, entry: dict[str, Any]) -> Finding:
    try:
        need_sound(folder, entry)
    except (ValueError, OSError) as error:
        return Finding(name, "hash", False, str(error))
    return Finding(name, "hash", True)


def _names_in(folder: Path) -> list[str]:
    """Return what lies where parts do, and what was left half written; no link is followed."""
    found = []
    for place, folders, files in os.walk(folder):
        above = Path(place).relative_to(folder)
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        inside = len(above.parts) == 2
        found += [
            (above / name).as_posix()
            for name in (*files, *links)
            if inside or name.startswith(SCRATCH)
        ]
        if inside:
            folders.clear()
    return sorted(found)


def _replay(
    folder: Path,
    manifest: dict[str, Any],
    entries: dict[str, dict[str, Any]],
    name: str,
    result: Any,
) -> Iterator[Finding]:
    """Compare what a part gives now with what was kept of it."""
    if isinstance(result, list):
        try:
            same = same_sums(read_sums(folder, entries[name]), result)
        except ValueError as error:
            yield Finding(name, "replay", False, str(error))
        else:
            yield Finding(name, "replay", same, "" if same else "its sums come out otherwise")
        return
    first = entries[name]["deals"][0]
    files, _ = write_frames(block_of(name), first, result)
    for file, frame in zip(files, result.values(), strict=True):
        try:
            kept = read_frame(folder, manifest, entries[file])
        except (ValueError, KeyError) as error:
            yield Finding(file, "replay", False, str(error))
            continue
        columns = [c for c in frame if c not in kept or not _same(kept[c], frame[c])]
        detail = f"other {', '.join(map(str, columns))}" if columns else ""
        yield Finding(file, "replay", not columns and len(kept) == len(frame), detail)


def _same(kept: Any, now: Any) -> bool:
    """Tell whether two columns are equal to the bit; what has no value is equal too."""
    if len(kept) != len(now):
        return False
    if str(kept.dtype) == "category":
        return bool((kept.astype(str) == now.astype(str)).all())
    return bool(kept.equals(now))
