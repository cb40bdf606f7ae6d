"""Shards of a run, played on several machines, become the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kozel_sim.balance import seat_balance, shard_balance
from kozel_sim.keeping import counts, made
from kozel_sim.manifest import read_shard
from kozel_sim.plain import records
from kozel_sim.runs import Run, Totals, gaps, load, need_matches, number_of_block
from kozel_sim.store import differences, open_folder, read_content, read_finished


def merge(
    folders: Sequence[str | Path],
    out: str | Path,
    extra: Callable[[Run | Totals, Path], None] | None = None,
) -> Run | Totals:
    """Put the shards of a run together; the result is the run that one machine would have played.

    Parameters
    ----------
    folders : sequence of (str or Path)
        All shards 1/n to n/n, each finished.
    out : str or Path
        The folder of the whole run.
    extra : callable, optional
        Called with the results and a folder, to add files such as tables.

    Returns
    -------
    Run or Totals
        The whole run. Its manifest lists the ``shards``: where and when each was played.

    Raises
    ------
    ValueError
        If a folder is no finished shard, one is missing or given twice, a file is damaged, or they
        are not of the same run; the message says what differs.
    OSError
        If the folder cannot be written to, or holds something else.
    """
    if not folders:
        raise ValueError("no shard is named; all of a run are needed")
    for folder in folders:
        if [Path(each).resolve() for each in folders].count(Path(folder).resolve()) > 1:
            raise ValueError(f"{folder} is named twice")
    manifests = {Path(folder): read_finished(folder) for folder in folders}
    first, whole = next(iter(manifests.items()))
    for folder, each in manifests.items():
        need_matches(folder, each)
    _check(manifests, first)
    manifest = {key: value for key, value in whole.items() if key not in ("shard", "files")}
    manifest["shards"] = [
        {key: each.get(key) for key in ("shard", "made", "seconds", "versions", "machine")}
        for each in manifests.values()
    ]
    with open_folder(out, manifest) as kept:
        if not kept.finished:
            for folder, each in manifests.items():
                for entry in each["files"]:
                    name = entry["file"]
                    facts = {k: v for k, v in entry.items() if k not in ("file", "sha256")}
                    facts["shard"] = read_shard(each["shard"])[0]
                    kept.keep({name: read_content(folder, entry)}, {name: facts})
            found = load(out, unfinished=True)
            if isinstance(found, Run):
                kept.note(checks=checks_of(found))
            seconds = sum(each["seconds"] for each in manifests.values())
            found.manifest.update(made(seconds) | {"counts": counts(found)})
            more = {key: found.manifest[key] for key in ("counts", *made(0))}
            kept.finish(
                {"state": "finished", **more},
                None if extra is None else lambda scratch: extra(found, scratch),
            )
    return load(out)


def checks_of(run: Run) -> dict[str, list[dict[str, Any]]]:
    """Return chi-squares of the whole run: whether shards are alike, and seats."""
    keys = [key for key in ("preset", "players", "duel") if key in run.frame]
    blocks = run.frame.groupby(keys, observed=True, sort=False)
    shards: list[dict[str, Any]] = []
    for number, (_, rows) in enumerate(blocks):
        parts = [e for e in run.manifest["files"] if number_of_block(e["file"]) == number]
        parts = sorted((e["deals"][0], e["shard"]) for e in parts if e["file"][:4] == "matc")
        starts, of_part = np.array(parts).T

        def shard_of(
            deals: npt.NDArray[np.int64], starts: Any = starts, of_part: Any = of_part
        ) -> npt.NDArray[np.int64]:
            return np.asarray(of_part[np.searchsorted(starts, deals, "right") - 1], np.int64)

        shards += records(shard_balance(rows, shard_of))
    return {"shards": shards, "seats": seats_of(run.frame)}


def seats_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return chi-squares of whether seats are alike."""
    return records(seat_balance(frame))


def _check(manifests: dict[Path, dict[str, Any]], first: Path) -> None:
    """Raise ValueError unless these are all the shards of one run."""
    whole = manifests[first]
    seen: dict[int, Path] = {}
    for folder, manifest in manifests.items():
        if "shard" not in manifest:
            raise ValueError(f"{folder} is no shard; it holds a whole run")
        theirs = {key: value for key, value in manifest.items() if key != "shard"}
        mine = {key: value for key, value in whole.items() if key != "shard"}
        differing = differences(mine, theirs)
        i, n = read_shard(manifest["shard"])
        if n != read_shard(whole["shard"])[1]:
            differing.append(f"shard {whole['shard']} there, {manifest['shard']} here")
        if differing:
            raise ValueError(
                f"{folder} is not of the same run as {first}: {'; '.join(differing)}".replace(
                    " now", " here"
                )
            )
        if i in seen:
            raise ValueError(f"shard {manifest['shard']} is there twice: {seen[i]} and {folder}")
        seen[i] = folder
    n = read_shard(whole["shard"])[1]
    every = [entry for each in manifests.values() for entry in each["files"]]
    joined = {key: value for key, value in whole.items() if key != "shard"} | {"files": every}
    missing = [f"{i}/{n}" for i in range(1, n + 1) if i not in seen]
    if missing:
        raise ValueError(f"shards {', '.join(missing)} are missing")
    if lacking := gaps(joined):
        raise ValueError(
            f"these shards were not cut alike: {'; '.join(lacking[:3])} are in none, or in two"
        )
