"""A run on disk: parts as Parquet files, and a manifest that lists those which are there.

A run's folder holds ``manifest.json`` and below ``matches/`` (``rounds/``, ``totals/``) a folder
for each block, with a file for each part. A file appears whole or not at all, and counts once it is
listed (while the run is played in ``parts.jsonl``, in the end in the manifest), so a run that was
cut off, by whatever, goes on where it was. One process writes at a time. A folder that holds a
different run is never overwritten.
pyarrow takes a while to load, so it waits until something is written or read.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from kozel_sim.checks import need_unsigned, read_seed

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "kozel-run/2"
MANIFEST = "manifest.json"
JOURNAL = "parts.jsonl"
"""What is there of a run that is not finished: a line for each part, in the order they came."""
LOCK = ".lock"
SCRATCH = ".making-"
"""How the names of files begin that are being written."""
IDENTITY = (
    *("format", "stream", "version", "sources", "seed", "deals", "design", "rules", "policies"),
    *("schedule", "aggregate", "rounds", "stop", "shard"),
)
"""What a run's results depend on; engine, workers and the size of parts are not among it."""


class RunFolder:
    """A folder that this process writes a run to; made by ``open_folder``.

    Attributes
    ----------
    path : Path
        The folder.
    manifest : dict
        As on disk; ``files`` lists the parts that are there.
    """

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path = path
        self.manifest = manifest
        self._turn = threading.Lock()
        self._listed = {str(entry["file"]) for entry in manifest["files"]}

    @property
    def finished(self) -> bool:
        """Whether all is played, and there."""
        return is_whole(self.path, self.manifest)

    def has(self, name: str) -> bool:
        """Tell whether a file is listed, and is there."""
        return name in self._listed and (self.path / name).is_file()

    def keep(
        self, files: dict[str, bytes], facts: dict[str, dict[str, Any]], seconds: float = 0.0
    ) -> None:
        """Write the files of a part, then list them; threads take turns.

        Raises
        ------
        OSError
            If the disk is full or the like; what was there before stays as it is.
        """
        with self._turn:
            for name, content in files.items():
                (self.path / name).parent.mkdir(parents=True, exist_ok=True)
                write_whole(self.path / name, content)
            entries = [
                {"file": name, "sha256": hashlib.sha256(content).hexdigest(), **facts[name]}
                for name, content in files.items()
            ]
            append_line(self.path / JOURNAL, json.dumps({"seconds": seconds, "files": entries}))
            self.manifest |= listed([*self.manifest["files"], *entries], seconds)
            self._listed |= files.keys()

    def finish(self, more: dict[str, Any], extra: Callable[[Path], None] | None = None) -> None:
        """Add files such as plots, and note that all is done."""
        if extra is not None:
            scratch = Path(tempfile.mkdtemp(prefix=SCRATCH, dir=self.path))
            extra(scratch)
            for path in sorted(scratch.iterdir()):
                path.replace(self.path / path.name)
            scratch.rmdir()
        self.note(**more)
        (self.path / JOURNAL).unlink(missing_ok=True)

    def read(self, name: str) -> pa.Table:
        """Read a file that is listed; ValueError if it is damaged."""
        (entry,) = (each for each in self.manifest["files"] if each["file"] == name)
        return read_table(self.path, entry)

    def note(self, **changes: Any) -> None:
        """Enter facts in the manifest, and what the journal has."""
        manifest = self.manifest | changes
        text = json.dumps(manifest, indent=1) + "\n"
        write_whole(self.path / MANIFEST, text.encode())
        self.manifest = manifest


@contextmanager
def open_folder(path: str | Path, manifest: dict[str, Any]) -> Iterator[RunFolder]:
    """Hold a folder for a run: a new or empty one, or one that holds this very run.

    If nothing is kept before an error, the folder is left as it was found.

    Raises
    ------
    FileExistsError
        If it holds anything else; the message says what differs.
    BlockingIOError
        If another process is writing there.
    OSError
        If it cannot be written to.
    """
    path = Path(path)
    holds_run(path, manifest)
    made = [p for p in (path.absolute(), *path.absolute().parents) if not p.exists()]
    for place in (path, *path.absolute().parents):
        if place.is_symlink() and not place.exists():
            raise FileExistsError(f"{place} is a symbolic link to nothing")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        lock = FileLock(path / LOCK, timeout=0)
        lock.acquire()
    except Timeout:
        raise BlockingIOError(
            f"another process is writing to {path}; wait until it has ended, or choose another "
            "folder"
        ) from None
    except OSError as error:
        _remove(made)
        raise OSError(error.errno, error.strerror, str(path)) from None
    folder: RunFolder | None = None
    begun = False
    try:
        # Another process may have been there between the look and the lock.
        if holds_run(path, manifest):
            clean(path)
            folder = RunFolder(path, read_manifest(path))
            if not folder.finished:
                # A file may have been removed, since it was damaged: it is played again. A line of
                # the journal may be torn: it is left out.
                (path / JOURNAL).unlink(missing_ok=True)
                folder.note(state="unfinished")
        else:
            folder = RunFolder(path, {**manifest, "state": "unfinished", "files": []})
            begun = True
            folder.note()
        yield folder
    finally:
        if begun and folder is not None and not folder.manifest["files"]:
            _undo(path)
        with suppress(OSError):
            (path / LOCK).unlink()
        lock.release()
        _remove(made)


def clear_up(path: Path, made: list[Path]) -> int:
    """Do what a process that died could not do in ``open_folder``; return how many parts are left.

    Nothing is done while another process writes there.
    """
    if not (path / MANIFEST).is_file():
        _remove(made)
        return 0
    try:
        with FileLock(path / LOCK, timeout=0):
            manifest = read_manifest(path)
            if not manifest["files"] and manifest["state"] == "unfinished":
                _undo(path)
            clean(path)
            (path / LOCK).unlink(missing_ok=True)
    except Timeout:
        return 0
    _remove(made)
    return len(manifest["files"])


def _undo(path: Path) -> None:
    """Remove a run that was begun here in a free folder, and has no part."""
    for name in ("matches", "rounds", "totals"):
        shutil.rmtree(path / name, ignore_errors=True)
    for name in (MANIFEST, JOURNAL):
        (path / name).unlink(missing_ok=True)
    clean(path)


def _remove(made: list[Path]) -> None:
    """Remove folders that were made for nothing."""
    for folder in made:
        with suppress(OSError):
            folder.rmdir()


def clean(path: Path) -> None:
    """Remove what was being written when a process ended."""
    for scratch in path.rglob(f"{SCRATCH}*"):
        if scratch.is_dir():
            shutil.rmtree(scratch, ignore_errors=True)
        else:
            scratch.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole or, if that fails, as it was before."""
    scratch = path.with_name(f"{SCRATCH}{path.name}")
    try:
        with scratch.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        with suppress(OSError):
            scratch.unlink()
        raise OSError(error.errno, error.strerror, str(path)) from None


def append_line(path: Path, line: str) -> None:
    """Write a line behind a file's others, whole or not at all."""
    try:
        with path.open("ab") as file:
            end = file.tell()
            try:
                file.write(line.encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
            except OSError:
                file.truncate(end)
                raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def _sync_folder(path: Path) -> None:
    """Let a folder remember the names in it, where the system can be asked to."""
    with suppress(OSError, AttributeError):
        number = os.open(path, os.O_RDONLY)
        try:
            os.fdatasync(number)
        finally:
            os.close(number)


# ---------------------------------------------------------------------- what is listed


def listed(entries: Iterable[dict[str, Any]], seconds: float) -> dict[str, Any]:
    """Return entries in the order of their blocks and deals, the last one of each file."""
    last = {str(entry["file"]): entry for entry in entries}
    return {"files": [last[name] for name in sorted(last, key=place_of)], "seconds": seconds}


def place_of(name: str) -> tuple[str, int, str]:
    """Return what orders the files of a run: kind, number of the block, deal.

    Examples
    --------
    >>> place_of("matches/07-room-fish-all-4/deal-000000000096.parquet")
    ('matches', 7, 'deal-000000000096.parquet')
    """
    kind, _, rest = name.partition("/")
    block, _, file = rest.partition("/")
    number = block.partition("-")[0]
    return kind, int(number) if number.isdigit() else -1, file


def read_journal(path: Path) -> dict[str, Any]:
    """Read what a journal lists; a last line that was cut off does not count."""
    entries: list[dict[str, Any]] = []
    seconds = 0.0
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            part = json.loads(line)
        except json.JSONDecodeError:
            break
        entries += part["files"]
        seconds = part["seconds"]
    return {"entries": entries, "seconds": seconds}


# ---------------------------------------------------------------------- which run it is


def holds_run(folder: Path, manifest: dict[str, Any]) -> bool:
    """Tell whether a folder holds this very run, finished or not; False where it is free.

    Raises
    ------
    FileExistsError
        If it holds anything else; the message says what differs.
    NotADirectoryError
        If it is a file.
    """
    if not folder.exists():
        return False
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file, not a folder for a run")
    if not any(path.name != LOCK for path in folder.iterdir()):
        return False
    if not (folder / MANIFEST).is_file():
        raise FileExistsError(f"{folder} is not empty and holds no run; choose another folder")
    differing = differences(read_manifest(folder), json.loads(json.dumps(manifest)))
    if differing:
        raise FileExistsError(
            f"{folder} holds a different run ({'; '.join(differing)}); it is not overwritten: "
            "choose another folder or remove it"
        )
    return True


def read_seed_of(folder: str | Path | None, seed: int | None) -> int:
    """Return a seed: the one given, that of the run that a folder holds, or one that is drawn."""
    if seed is None and folder is not None and (Path(folder) / MANIFEST).is_file():
        return need_unsigned("seed", read_manifest(Path(folder))["seed"])
    return read_seed(seed)


def differences(theirs: dict[str, Any], mine: dict[str, Any]) -> list[str]:
    """Return what makes two manifests those of different runs, in words."""
    found = []
    for key in IDENTITY:
        old, new = theirs.get(key), mine.get(key)
        if old == new:
            continue
        if key == "rules":
            found += _rules_that_differ(old, new)
        elif key == "policies":
            found += _policies_that_differ(old, new)
        elif key in ("sources", "schedule"):
            found.append(f"other {key}")
        else:
            found.append(f"{key} {_short(old)} there, {_short(new)} now")
    return found


def _short(value: Any) -> str:
    return "none" if value is None else str(value)


def _rules_that_differ(old: Any, new: Any) -> list[str]:
    was, now = ([each.get("preset") for each in rules or []] for rules in (old, new))
    if was != now:
        return [f"rules {', '.join(map(str, was))} there, {', '.join(map(str, now))} now"]
    return [
        f"rules {a.get('preset')}: {knob}={a.get('knobs', {}).get(knob)} there, {value} now"
        for a, b in zip(old, new, strict=True)
        for knob, value in b["knobs"].items()
        if a.get("knobs", {}).get(knob) != value
    ]


def _policies_that_differ(old: Any, new: Any) -> list[str]:
    was, now = ([each.get("name") for each in policies or []] for policies in (old, new))
    if was != now:
        return [f"policies {', '.join(map(str, was))} there, {', '.join(map(str, now))} now"]
    return [f"policy {b['name']} has changed" for a, b in zip(old, new, strict=True) if a != b]


def is_whole(folder: Path, manifest: dict[str, Any]) -> bool:
    """Tell whether a run is finished, and its files are there."""
    there = all((folder / entry["file"]).is_file() for entry in manifest["files"])
    return there and manifest["state"] == "finished"


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a run's folder.

    Raises
    ------
    ValueError
        If it is not one.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(f"{folder} holds no run: there is no {MANIFEST}") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is damaged: {error}") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ValueError(f"{path} is not a manifest of the format {FORMAT}")
    files = manifest.get("files")
    if not isinstance(files, list) or not all(
        isinstance(e, dict) and isinstance(e.get("file"), str) and "sha256" in e for e in files
    ):
        raise ValueError(f"{path} is damaged: it does not list its files")
    missing = [key for key in ("state", "name", "seed", "rules", "policies") if key not in manifest]
    if missing:
        raise ValueError(f"{path} is damaged: {', '.join(missing)} missing")
    if (folder / JOURNAL).is_file():
        more = read_journal(folder / JOURNAL)
        if more["entries"]:
            manifest |= listed([*files, *more["entries"]], more["seconds"])
    return manifest


def read_finished(folder: str | Path) -> dict[str, Any]:
    """Read the manifest of a run that is played to its end; ValueError at any other."""
    manifest = read_manifest(Path(folder))
    if manifest.get("state") == "unfinished":
        raise ValueError(
            f"{folder} holds an unfinished run ({len(manifest['files'])} parts are there); the "
            "command that began it continues it"
        )
    return manifest


# ---------------------------------------------------------------------- tables


def write_table(table: pa.Table) -> bytes:
    """Return a table as a Parquet file; the same table gives the same bytes."""
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(table, file, compression="zstd")
    return file.getvalue()


def read_table(folder: Path, entry: dict[str, Any]) -> pa.Table:
    """Read a table that the manifest lists; ValueError if it is missing or damaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    return pq.read_table(pa.BufferReader(read_content(folder, entry)))


def read_content(folder: Path, entry: dict[str, Any]) -> bytes:
    """Read a file that the manifest lists; ValueError if it is missing or damaged."""
    path = folder / str(entry["file"])
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"{path} is missing") from None
    if hashlib.sha256(content).hexdigest() != entry["sha256"]:
        raise ValueError(
            f"{path} is damaged: its hash is not the manifest's; remove it, and the command that "
            "made the run plays it again"
        )
    return content
