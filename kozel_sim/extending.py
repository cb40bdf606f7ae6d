"""A finished run is extended: the same run with more deals, of which those are played that lack.

Meanwhile the folder's manifest stays that of the run that was there, which can be read as before;
what is to come is listed in papers of its own, which take the manifest's place when all is played.
So an extension that is cut off goes on where it was, and one of which nothing was kept leaves no
trace.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kozel_sim.files import sync_folder
from kozel_sim.guarded import is_there
from kozel_sim.manifest import JOURNAL, MANIFEST, TELL_DESIGN
from kozel_sim.store import (
    Papers,
    RunFolder,
    clean,
    differences,
    held,
    holds_run,
    is_whole,
    listed,
    need_real,
    open_folder,
    read_manifest,
)
from kozel_sim.words import counted

EXTENSION = Papers("extension.json", "extension.jsonl")
"""What lists the parts of a run that is being extended."""
STAGE = ("deals", "made", "seconds", "versions", "machine")
"""What the manifest of a run that was extended says of the run that was there."""


@dataclass(frozen=True)
class Place:
    """What a folder has of a run that is asked for.

    Attributes
    ----------
    manifest : dict
        It lists the parts that are there; empty where the folder is free.
    whole : bool
        Whether nothing is left to play.
    extends : int
        How many deals the finished run has that is there; 0 unless it has fewer than are asked for.
    """

    manifest: dict[str, Any]
    whole: bool = False
    extends: int = 0

    @property
    def files(self) -> list[str]:
        """The parts' files."""
        return [entry["file"] for entry in self.manifest.get("files", [])]


class Extension(RunFolder):
    """A folder that this process writes more deals of a run to."""

    papers = EXTENSION

    def __init__(self, path: Path, manifest: dict[str, Any], grown: bool) -> None:
        super().__init__(path, manifest)
        self.grown = grown

    def keep(
        self, files: dict[str, bytes], facts: dict[str, dict[str, Any]], seconds: float = 0.0
    ) -> None:
        """Write the files of a part, then list them."""
        super().keep(files, facts, seconds)
        self.grown = True

    def finish(self, more: dict[str, Any], extra: Callable[[Path], None] | None = None) -> None:
        """Let the manifest be that of all deals."""
        super().finish(more, extra)
        self.grown = True

    def _close(self) -> None:
        super()._close()
        (self.path / EXTENSION.manifest).replace(self.path / MANIFEST)
        sync_folder(self.path)


def look_up(folder: Path, manifest: dict[str, Any]) -> Place:
    """Return what a folder has of the run of a manifest.

    Raises
    ------
    FileExistsError
        If it holds anything else; the message says what differs, or why the run that is there is
        not extended.
    NotADirectoryError
        If it is a file.
    ValueError
        If a manifest or journal there is damaged.
    """
    mine = json.loads(json.dumps(manifest))
    need_real(folder)
    if not is_there(folder, MANIFEST):
        holds_run(folder, mine)
        return Place({})
    before = read_manifest(folder)
    if before["deals"] == mine["deals"] or differences(before | {"deals": mine["deals"]}, mine):
        holds_run(folder, mine)
        return Place(before, is_whole(folder, before))
    if why := _why_not(before, mine):
        raise _refusal(folder, before, mine, why)
    files = before["files"]
    seconds = before["seconds"]
    if is_there(folder, EXTENSION.manifest):
        begun = _read_extension(folder)
        if differences(begun | {"deals": mine["deals"]}, mine):
            raise FileExistsError(
                f"{folder / EXTENSION.manifest} extends a different run; remove it, and the run "
                "that is there is extended"
            )
        if begun["deals"] > mine["deals"]:
            more = counted(begun["deals"], "deal")
            raise _refusal(
                folder,
                before,
                mine,
                f"it is being extended to {more}; ask for no fewer, or remove "
                f"{EXTENSION.manifest} to give that up",
            )
        files, seconds = [*files, *begun["files"]], begun["seconds"]
    stages = [*before.get("extended", []), {key: before[key] for key in STAGE}]
    now = mine | listed(files, seconds) | {"state": "unfinished", "extended": stages}
    return Place(now, False, before["deals"])


def _why_not(before: dict[str, Any], mine: dict[str, Any]) -> str:
    """Say why a run is not extended to other deals; nothing where it is."""
    if before["deals"] > mine["deals"]:
        return "it has more deals than are asked for, and a run is not shortened"
    if str(before["design"]).startswith(TELL_DESIGN):
        return "a table of the tell is not extended"
    if "shard" in before:
        return f"shard {before['shard']} is not extended, since all shards are cut alike"
    if "shards" in before:
        return "a run that was merged of shards is not extended"
    if before["state"] != "finished":
        return "it is unfinished; the command that began it finishes it, then it can be extended"
    return ""


def _refusal(
    folder: Path, before: dict[str, Any], mine: dict[str, Any], why: str
) -> FileExistsError:
    """Return what is raised where a run that is there is not extended."""
    deals = counted(before["deals"], "deal")
    return FileExistsError(
        f"{folder} holds this run with {deals}, not {mine['deals']:,}: {why}; choose another "
        "folder or remove it"
    )


@contextmanager
def open_run(path: str | Path, manifest: dict[str, Any]) -> Iterator[RunFolder]:
    """Hold a folder for a run, as ``open_folder``, or for more deals of one that is finished.

    If nothing is kept before an error, the folder is left as it was found; if something is, the run
    that was there is still what its manifest says, until the extension is finished.

    Raises
    ------
    FileExistsError, BlockingIOError, OSError, ValueError
        As of ``open_folder`` and ``look_up``.
    """
    path = Path(path)
    if not look_up(path, manifest).extends:
        with open_folder(path, manifest) as folder:
            yield folder
        return
    with held(path):
        # Another process may have been there between the look and the lock.
        place = look_up(path, manifest)
        if not place.extends:
            raise BlockingIOError(f"another process has just extended {path}; it can be read")
        clean(path)
        before = {entry["file"] for entry in read_manifest(path)["files"]}
        more = Extension(path, place.manifest, not before.issuperset(place.files))
        try:
            more.note()
            # The manifests have what a journal has.
            for journal in (EXTENSION.journal, JOURNAL):
                (path / journal).unlink(missing_ok=True)
            yield more
        finally:
            if not more.grown:
                for name in EXTENSION:
                    (path / name).unlink(missing_ok=True)


def parts_to_come(folder: Path) -> set[str]:
    """Return the files that an extension which was cut off has kept.

    Raises
    ------
    ValueError
        If what lists them is damaged.
    """
    if not is_there(folder, EXTENSION.manifest):
        return set()
    return {entry["file"] for entry in _read_extension(folder)["files"]}


def _read_extension(folder: Path) -> dict[str, Any]:
    try:
        return read_manifest(folder, EXTENSION)
    except ValueError as error:
        if "remove it" in str(error):
            raise
        raise ValueError(f"{error}; remove it, and the run that is there is extended") from None
