"""Files that people write, read as UTF-8 or refused in words; files of ours, written whole."""

from __future__ import annotations

import codecs
import errno
import io
import os
import tokenize
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

SCRATCH = ".making-"
"""How the names of files begin that are being written."""
WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
"""How files in UTF-16 or UTF-32 begin; that of UTF-32's other order begins like the first."""


def as_text(path: Path, content: bytes) -> str:
    """Return what a file holds as a text in UTF-8, with or without Windows' mark before it.

    Raises
    ------
    ValueError
        If it is in another encoding; the message says how to save it.
    """
    return _decode(path, content, "utf-8-sig")


def read_code_text(path: Path) -> str:
    """Read the text of a Python file, which may name another encoding at its head.

    Raises
    ------
    OSError
        If it cannot be read.
    ValueError
        If it is in another encoding than it says; the message says how to save it.
    """
    content = path.read_bytes()
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    except SyntaxError as error:
        # In none that its first lines can be read in, or one that there is not.
        _decode(path, content, "utf-8-sig")
        raise ValueError(f"{path}: {error.msg}; {AS_UTF8}") from None
    return io.IncrementalNewlineDecoder(None, True).decode(_decode(path, content, encoding), True)


AS_UTF8 = "save it as UTF-8 (most editors: Save as, Encoding: UTF-8)"


def _decode(path: Path, content: bytes, encoding: str) -> str:
    if content.startswith(WIDE) or b"\0" in content:
        raise ValueError(f"{path} is in UTF-16, or no text; {AS_UTF8}")
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        known = "UTF-8" if encoding.startswith("utf-8") else encoding
        byte = content[error.start]
        raise ValueError(
            f"{path}, line {line}: a byte 0x{byte:02x} that is none of {known}; {AS_UTF8}"
        ) from None


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give the path of a file beside another, which takes its place when it is written.

    What is there under the name is at any time, whoever ends this process, the whole file or what
    was there before. After an error nothing is left of what was written.

    Raises
    ------
    OSError
        If it cannot be written; it names the file, and not the one beside it.
    """
    scratch = path.with_name(f"{SCRATCH}{uuid4().hex}")
    try:
        yield scratch
        with scratch.open("rb+") as file:
            os.fsync(file.fileno())
        scratch.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None
    finally:
        with suppress(OSError):
            scratch.unlink()


def need_new(path: Path) -> None:
    """Raise OSError unless a file can be written that is not there yet."""
    if os.path.lexists(path) or path.exists():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    scratch = path.with_name(f"{SCRATCH}{uuid4().hex}")
    try:
        scratch.touch(exist_ok=False)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    scratch.unlink()


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole or, if that fails, as it was before."""
    with replacing(path) as scratch, scratch.open("xb") as file:
        file.write(content)


def sync_folder(path: Path) -> None:
    """Let a folder remember the names in it, where the system can be asked to."""
    with suppress(OSError, AttributeError):
        number = os.open(path, os.O_RDONLY)
        try:
            os.fdatasync(number)
        finally:
            os.close(number)
