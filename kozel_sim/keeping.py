"""Where what comes of parts is kept until the run is whole: in memory, or in a folder."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from kozel_sim.frames import stack_frames
from kozel_sim.parts import Block, Part, Result, cut
from kozel_sim.provenance import machine, versions
from kozel_sim.runs import (
    Run,
    Totals,
    folder_of_block,
    load_listed,
    part_name,
    read_frame,
    totals_of,
    write_frames,
)
from kozel_sim.store import RunFolder, read_content
from kozel_sim.totals import Sums, join_sums, write_sums


class Memory:
    """Keeps what comes of parts in memory."""

    def __init__(self, manifest: dict[str, Any], sizes: list[int]) -> None:
        self.sizes = sizes
        self._manifest = manifest
        self._frames: dict[Part, dict[str, Any]] = {}
        self._sums: dict[int, list[Sums]] = {}
        self._turn = threading.Lock()
        self._start = time.perf_counter()

    def has(self, part: Part) -> bool:
        """Nothing is there from before."""
        return part in self._frames

    def parts_of(self, block: Block, first: int, end: int) -> list[Part]:
        """Return the parts that a range of deals is played in."""
        return cut(block, first, end, self.sizes[block.number])

    def keep(self, part: Part, result: Result) -> None:
        """Keep what came of a part; sums are added up, in whatever order they come."""
        if isinstance(result, dict):
            self._frames[part] = result
            return
        with self._turn:
            before = self._sums.get(part.block)
            self._sums[part.block] = result if before is None else join_sums([before, result])

    def matches(self, part: Part) -> pd.DataFrame:
        """Return the matches of a part."""
        found: pd.DataFrame = self._frames[part]["matches"]
        return found

    def note(self, **facts: Any) -> None:
        """Enter facts in the manifest."""
        self._manifest |= facts

    def results(self) -> Run | Totals:
        """Put everything together."""
        manifest = self._manifest | made(time.perf_counter() - self._start)
        if self._sums:
            found = totals_of(list(self._sums.values()), manifest)
            return Totals(found.sums, manifest | {"counts": counts(found)})
        frames = [self._frames.pop(part) for part in sorted(self._frames)]
        rounds = [frame.pop("rounds") for frame in frames if "rounds" in frame]
        run = Run(
            stack_frames([frame.pop("matches") for frame in frames]),
            manifest,
            stack_frames(rounds) if rounds else None,
        )
        run.manifest["counts"] = counts(run)
        return run


class Kept:
    """Keeps what comes of parts in a folder.

    What is there may have been cut in parts of other sizes, by a run of fewer deals. A part counts
    if all its files are there; others are taken off the list, since what is played in their place
    may be cut otherwise.
    """

    def __init__(self, blocks: Sequence[Block], folder: RunFolder, sizes: list[int]) -> None:
        self.sizes: list[int] = folder.manifest.get("part_sizes") or sizes
        self._folder = folder
        self._kind = "totals" if folder.manifest.get("aggregate") else "matches"
        self._start = time.perf_counter()
        self._before = float(folder.manifest.get("seconds", 0.0))
        self._names = [folder_of_block(block) for block in blocks]
        self._there = {e["file"]: tuple(e.get("deals", ())) for e in folder.manifest["files"]}
        for entry in folder.manifest["files"]:
            if folder.has(entry["file"]):
                read_content(folder.path, entry)
        self._parts = [self._parts_there(block) for block in blocks]
        whole = {name for parts in self._parts for part in parts for name in self._files(part)}
        folder.forget(self._there.keys() - whole)
        longest = [max((p.end - p.first for p in parts), default=0) for parts in self._parts]
        folder.note(part_sizes=[max(pair) for pair in zip(self.sizes, longest, strict=True)])

    def _parts_there(self, block: Block) -> list[Part]:
        """Return the parts of a block that are there with all their files, in their order."""
        kind = f"{self._kind}/{self._names[block.number]}/"
        listed = [deals for name, deals in self._there.items() if name.startswith(kind)]
        return sorted(p for p in (Part(block.number, *deals) for deals in listed) if self.has(p))

    def _name(self, part: Part) -> str:
        return part_name(self._kind, self._names[part.block], part.first)

    def _files(self, part: Part) -> list[str]:
        more = ["rounds"] if self._folder.manifest.get("rounds") else []
        return [
            part_name(kind, self._names[part.block], part.first) for kind in (self._kind, *more)
        ]

    def has(self, part: Part) -> bool:
        """Tell whether a part is there from before."""
        deals = (part.first, part.end)
        return all(
            self._folder.has(each) and self._there.get(each) == deals for each in self._files(part)
        )

    def parts_of(self, block: Block, first: int, end: int) -> list[Part]:
        """Return the parts of a range of deals: those from before, and what is between them."""
        found: list[Part] = []
        at, size = first, self.sizes[block.number]
        for part in self._parts[block.number]:
            if at <= part.first and part.end <= end:
                found += [*cut(block, at, part.first, size), part]
                at = part.end
        return [*found, *cut(block, at, end, size)]

    def keep(self, part: Part, result: Result) -> None:
        """Write what came of a part."""
        if isinstance(result, list):
            content, fact = write_sums(result)
            name = self._name(part)
            files, facts = {name: content}, {name: fact}
        else:
            files, facts = write_frames(self._names[part.block], part.first, result)
        for fact in facts.values():
            fact["deals"] = [part.first, part.end]
        self._folder.keep(files, facts, self._seconds())
        self._there |= dict.fromkeys(files, (part.first, part.end))

    def matches(self, part: Part) -> pd.DataFrame:
        """Read the matches of a part."""
        name, manifest = self._name(part), self._folder.manifest
        (entry,) = (each for each in manifest["files"] if each["file"] == name)
        return read_frame(self._folder.path, manifest, entry)

    def note(self, **facts: Any) -> None:
        """Enter facts in the manifest."""
        self._folder.note(**facts)

    def _seconds(self) -> float:
        return round(self._before + time.perf_counter() - self._start, 3)

    def results(self) -> Run | Totals:
        """Read everything back."""
        found = load_listed(self._folder.path, self._folder.manifest)
        found.manifest.update(made(self._seconds()) | {"counts": counts(found)})
        return found


Desk = Memory | Kept


def counts(found: Run | Totals) -> dict[str, int]:
    """Return how much was played."""
    whole = {"matches": found.matches, "rounds": found.rounds}
    return whole if isinstance(found, Totals) else whole | {"rows": len(found.frame)}


def made(seconds: float) -> dict[str, Any]:
    """Return when, how long and on what something was made."""
    return {
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 3),
        "versions": versions(),
        "machine": machine(),
    }
