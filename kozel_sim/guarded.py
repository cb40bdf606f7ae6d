"""Files that somebody else may have written: read, and written, in their own folder alone.

What a run's files say may come from anywhere. A name is followed only below the run's folder, to a
plain file: links and devices are refused, and no more is read than such a file can hold.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from kozel_sim.words import printable

FLAGS = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
)
"""A pipe without a writer must not be waited for, and a link not be followed."""
TO_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | (FLAGS & ~os.O_RDONLY)
"""As above, to write behind what is there."""
PIECE = 1 << 20
"""Bytes that are read at a time."""


def is_there(folder: Path, name: str) -> bool:
    """Tell whether a plain file of this name is below a folder.

    Raises
    ------
    ValueError
        If there is a link, a device or the like in its place, or on the way to it.
    """
    path = folder
    *above, _ = parts = Path(name).parts
    if Path(name).is_absolute() or ".." in parts:
        raise ValueError(f"{printable(name)} is no name of a file below {folder}")
    for number, part in enumerate(parts):
        path = path / part
        try:
            mode = path.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return False
        wanted = stat.S_ISDIR if number < len(above) else stat.S_ISREG
        if not wanted(mode):
            raise ValueError(
                f"{path} is {kind_of(mode)}; what belongs to a run lies in its own folder, as "
                "plain files"
            )
    return True


def kind_of(mode: int) -> str:
    """Say what is in the place of a file."""
    kinds = {
        stat.S_ISLNK: "a link",
        stat.S_ISDIR: "a folder",
        stat.S_ISREG: "a file",
        stat.S_ISFIFO: "a pipe",
    }
    return next((word for test, word in kinds.items() if test(mode)), "a device")


def read_pieces(folder: Path, name: str, most: int) -> Iterator[bytes]:
    """Yield the bytes of a plain file below a folder.

    Raises
    ------
    FileNotFoundError
        If it is not there.
    ValueError
        If it is no plain file, or has more than `most` bytes.
    """
    path = folder / name
    if not is_there(folder, name):
        raise FileNotFoundError(2, "No such file or directory", str(path))
    with _opened(path) as number:
        # It may have been changed for another since it was looked at.
        found = os.fstat(number)
        if not stat.S_ISREG(found.st_mode):
            raise ValueError(f"{path} is {kind_of(found.st_mode)}, not a plain file")
        size = found.st_size
        while size <= most and (piece := os.read(number, PIECE)):
            yield piece
            most -= len(piece)
            size = 0
        if size > most:
            raise ValueError(f"{path} is too large ({found.st_size:,} bytes) to be what it should")


def read_plain(folder: Path, name: str, most: int) -> bytes:
    """Return the bytes of a plain file below a folder; as ``read_pieces``."""
    return b"".join(read_pieces(folder, name, most))


@contextmanager
def append_to(path: Path) -> Iterator[BinaryIO]:
    """Open a plain file, or a new one, to write behind what it has; OSError at anything else."""
    with os.fdopen(os.open(path, TO_APPEND, 0o666), "ab") as file:
        found = os.fstat(file.fileno()).st_mode
        if not stat.S_ISREG(found):
            raise OSError(errno.EINVAL, f"it is {kind_of(found)}, not a plain file", str(path))
        yield file


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    number = os.open(path, FLAGS)
    try:
        yield number
    finally:
        os.close(number)
