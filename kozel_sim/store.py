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
import math
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from filelock import FileLock, Timeout

from kozel_sim.checks import need_memory, need_unsigned, read_seed
from kozel_sim.files import SCRATCH, write_whole
from kozel_sim.guarded import append_to, is_there, read_pieces, read_plain
from kozel_sim.manifest import (
    JOURNAL,
    MANIFEST,
    MOST_BYTES,
    PART,
    need_line,
    need_manifest,
    read_json,
)
from kozel_sim.words import counted, printable

if TYPE_CHECKING:
    import pyarrow as pa

REPLAYED = "the command that made the run plays it again"
CONTINUED = "the command that began it continues it"
MEND = f"remove it, and {REPLAYED}"
LOCK = ".lock"


class Papers(NamedTuple):
    """The files that say what is there of a run, by name."""

    manifest: str
    journal: str


PAPERS = Papers(MANIFEST, JOURNAL)
"""Those of a run that is not being extended."""
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

    papers = PAPERS

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
        return name in self._listed and is_there(self.path, name)

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
                is_there(self.path, name)
                (self.path / name).parent.mkdir(parents=True, exist_ok=True)
                write_whole(self.path / name, content)
            entries = [
                {"file": name, "sha256": hashlib.sha256(content).hexdigest(), **facts[name]}
                for name, content in files.items()
            ]
            journal = self.path / self.papers.journal
            append_line(journal, json.dumps({"seconds": seconds, "files": entries}))
            self.manifest |= listed([*self.manifest["files"], *entries], seconds)
            self._listed |= files.keys()

    def forget(self, names: Iterable[str]) -> None:
        """Take files off the list, which are to be played again; ``note`` writes it."""
        self._listed -= set(names)
        files = [entry for entry in self.manifest["files"] if entry["file"] in self._listed]
        self.manifest = self.manifest | {"files": files}

    def finish(self, more: dict[str, Any], extra: Callable[[Path], None] | None = None) -> None:
        """Add files such as tables, and note that all is done."""
        if extra is not None:
            scratch = Path(tempfile.mkdtemp(prefix=SCRATCH, dir=self.path))
            try:
                extra(scratch)
                for path in sorted(scratch.iterdir()):
                    path.replace(self.path / path.name)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
        self.note(**more)
        self._close()
        # Parts that were cut otherwise when they were played again: no list has them.
        for block in {(self.path / name).parent for name in self._listed}:
            for path in block.iterdir():
                name = path.relative_to(self.path).as_posix()
                if PART.fullmatch(name) and name not in self._listed:
                    path.unlink()

    def _close(self) -> None:
        """Remove the journal: the manifest has all."""
        (self.path / self.papers.journal).unlink(missing_ok=True)

    def note(self, **changes: Any) -> None:
        """Enter facts in the manifest, and what the journal has."""
        manifest = self.manifest | changes
        text = json.dumps(manifest, indent=1) + "\n"
        write_whole(self.path / self.papers.manifest, text.encode())
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
    ValueError
        If the manifest could not be read again, or there are links where files should be.
    """
    path = Path(path)
    blank = {**manifest, "state": "unfinished", "files": []}
    need_manifest(json.loads(json.dumps(blank)))
    holds_run(path, manifest)
    with held(path):
        folder: RunFolder | None = None
        begun = False
        try:
            # Another process may have been there between the look and the lock.
            if holds_run(path, manifest):
                clean(path)
                folder = RunFolder(path, read_manifest(path))
                if not folder.finished:
                    # A file may have been removed, since it was damaged: it is played again. A line
                    # of the journal may be torn: it is left out.
                    (path / JOURNAL).unlink(missing_ok=True)
                    folder.note(state="unfinished")
            else:
                clean(path)
                folder = RunFolder(path, blank)
                begun = True
                folder.note()
            yield folder
        finally:
            if begun and folder is not None and not folder.manifest["files"]:
                _undo(path)


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold a folder, which is made if it is not there, against other processes.

    Raises
    ------
    BlockingIOError
        If another process is writing there.
    OSError
        If it cannot be written to.
    """
    made = [p for p in (path.absolute(), *path.absolute().parents) if not p.exists()]
    need_real(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        is_there(path, LOCK)
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
    try:
        yield
    finally:
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
        if scratch.is_dir() and not scratch.is_symlink():
            shutil.rmtree(scratch, ignore_errors=True)
        else:
            scratch.unlink(missing_ok=True)


def need_real(path: Path) -> None:
    """Raise FileExistsError if a folder, or one above it, is a link that leads nowhere."""
    for place in (path, *path.absolute().parents):
        if place.is_symlink() and not place.exists():
            raise FileExistsError(f"{place} is a symbolic link to nothing")


def append_line(path: Path, line: str) -> None:
    """Write a line behind a file's others, whole or not at all."""
    try:
        with append_to(path) as file:
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


def read_journal(folder: Path, name: str = JOURNAL) -> dict[str, Any]:
    """Read what a journal lists; a last line that was cut off does not count.

    Raises
    ------
    ValueError
        If another line is broken, or a line is no part's; the message names it.
    """
    entries: list[dict[str, Any]] = []
    seconds = 0.0
    lines = read_plain(folder, name, MOST_BYTES).split(b"\n")
    while lines and not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1):
        try:
            try:
                part = read_json(line)
            except ValueError:
                if number < len(lines):
                    raise
                break
            need_line(part)
        except ValueError as error:
            raise ValueError(
                f"{folder / name} is damaged: line {number}: {error}; remove it, and the "
                "command that made the run plays again what it listed"
            ) from None
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
    # A process that ended at its very first file has left no more than that.
    if all(path.name == LOCK or path.name.startswith(SCRATCH) for path in folder.iterdir()):
        return False
    if not is_there(folder, MANIFEST):
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
    if seed is None and folder is not None and is_there(Path(folder), MANIFEST):
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
    there = all(is_there(folder, entry["file"]) for entry in manifest["files"])
    return there and manifest["state"] == "finished"


def read_manifest(folder: Path, papers: Papers = PAPERS) -> dict[str, Any]:
    """Read the manifest of a run's folder, and what its journal has.

    Raises
    ------
    ValueError
        If it is not one; the message names file and field.
    """
    path = folder / papers.manifest
    try:
        manifest = read_json(read_plain(folder, papers.manifest, MOST_BYTES).decode())
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(f"{folder} holds no run: there is no {papers.manifest}") from None
    except ValueError as error:
        said = str(error)
        if str(path) in said:
            raise
        raise ValueError(f"{path} is damaged: {said}") from None
    _need_manifest(path, manifest)
    missing = [key for key in ("state", "files") if key not in manifest]
    if missing:
        raise ValueError(f"{path} is damaged: {', '.join(missing)} missing")
    if is_there(folder, papers.journal):
        more = read_journal(folder, papers.journal)
        if more["entries"]:
            manifest |= listed([*manifest["files"], *more["entries"]], more["seconds"])
            _need_manifest(folder / papers.journal, manifest)
    return dict(manifest)


def _need_manifest(path: Path, value: Any) -> None:
    try:
        need_manifest(value)
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from None


def read_finished(folder: str | Path) -> dict[str, Any]:
    """Read the manifest of a run that is played to its end; ValueError at any other."""
    manifest = read_manifest(Path(folder))
    if manifest.get("state") == "unfinished":
        parts = counted(len(manifest["files"]), "part is", "parts are")
        raise ValueError(f"{folder} holds an unfinished run ({parts} there); {CONTINUED}")
    return manifest


# ---------------------------------------------------------------------- tables


def write_table(table: pa.Table) -> bytes:
    """Return a table as a Parquet file; the same table gives the same bytes."""
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(table, file, compression="zstd")
    return file.getvalue()


def read_table(
    folder: Path, entry: dict[str, Any], columns: dict[str, str], later: Sequence[str] = ()
) -> pa.Table:
    """Read a table that the manifest lists; ValueError if it is missing or damaged.

    Nothing that the file says of itself is trusted: before anything of it is unpacked it must have
    these columns, of these types (texts as "string" or "category"), and as many rows as are listed.
    Files of old runs may lack columns that came `later`.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / entry["file"]
    content = read_content(folder, entry)
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        if rows_of(entry):
            # A table without rows has no types.
            missing = set(later).difference(file.schema_arrow.names)
            wanted = {name: kind for name, kind in columns.items() if name not in missing}
            _need_columns(file.schema_arrow, wanted)
        if file.metadata.num_rows != rows_of(entry):
            rows = counted(file.metadata.num_rows, "row")
            raise ValueError(f"it has {rows}, and {rows_of(entry)} listed")
        groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
        need_memory("its rows", sum(group.total_byte_size for group in groups))
        table = file.read()
        table.validate(full=True)
    except (pa.ArrowException, ValueError, OSError, NotImplementedError, KeyError) as error:
        raise damaged(path, error) from None
    return table.replace_schema_metadata(None)


def damaged(path: Path, why: Exception | str) -> ValueError:
    """Return what is raised of a part's file that is not what it should be."""
    return ValueError(f"{path} is damaged: {' '.join(str(why).split())}; {MEND}")


def _need_columns(schema: pa.Schema, columns: dict[str, str]) -> None:
    """Raise ValueError unless a table has these columns and no others."""
    found = {printable(field.name): _type_of(field.type) for field in schema}
    if len(schema) == len(columns) and list(found.items()) == list(columns.items()):
        return
    for name in columns:
        if found.get(name) != columns[name]:
            raise ValueError(f"its column {name} is {found.get(name, 'missing')}")
    raise ValueError(f"its columns are not {', '.join(columns)}")


def _type_of(dtype: pa.DataType) -> str:
    """Return a type's name; how texts are kept differs with the version that wrote them."""
    import pyarrow as pa

    if pa.types.is_dictionary(dtype) and _type_of(dtype.value_type) == "string":
        return "category"
    return str(dtype).removeprefix("large_")


def rows_of(entry: dict[str, Any]) -> int:
    """Return how many rows a listed file has."""
    if "rows" in entry:
        return int(entry["rows"])
    return sum(math.prod(shape) for each in entry["sums"] for shape in each["shapes"])


def _most_bytes(entry: dict[str, Any]) -> int:
    """Return what a listed file has at the most: it is packed, and has some words of its own."""
    return (1 << 20) + 256 * rows_of(entry)


def read_content(folder: Path, entry: dict[str, Any]) -> bytes:
    """Read a file that the manifest lists; ValueError if it is missing or damaged."""
    content: list[bytes] = []
    need_sound(folder, entry, content.append)
    return b"".join(content)


def need_sound(
    folder: Path, entry: dict[str, Any], take: Callable[[bytes], object] | None = None
) -> None:
    """Raise ValueError if a listed file is missing or not as it was written; hand out its bytes."""
    path = folder / entry["file"]
    digest = hashlib.sha256()
    try:
        if take is not None:
            need_memory(f"the bytes of {path}", path.lstat().st_size)
        for piece in read_pieces(folder, entry["file"], _most_bytes(entry)):
            digest.update(piece)
            if take is not None:
                take(piece)
    except FileNotFoundError:
        raise ValueError(f"{path} is missing; {REPLAYED}") from None
    if digest.hexdigest() != entry["sha256"]:
        raise damaged(path, "its hash is not the manifest's")
