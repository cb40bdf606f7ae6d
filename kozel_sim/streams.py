"""Standard streams that any text can be written to, closed ones and those without a reader too.

Text that a stream's encoding lacks is replaced, since no command should fail for a character.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
import unicodedata
from contextlib import suppress
from typing import Any

REPLACING = "kozel_sim.replacing"
"""The name of our handler of characters that an encoding lacks."""
PLAIN = str.maketrans(
    {
        **dict.fromkeys("‐‑‒–—―−─━┄┅┈┉╌╍═╴╶╸╺╼╾", "-"),
        **dict.fromkeys("│┃┆┇┊┋╎╏║╵╷╹╻╽╿", "|"),
        **dict.fromkeys("┌┏┐┓└┗┘┛├┣┤┫┬┳┴┻┼╋┡┩╇╈╒╓╔╕╖╗╘╙╚╛╜╝╞╟╠╡╢╣╤╥╦╧╨╩╪╫╬╭╮╯╰", "+"),
        **dict.fromkeys("‘’‚‛′", "'"),
        **dict.fromkeys("“”„‟«»″", '"'),
        **dict.fromkeys("•·∙●", "*"),
        "×": "x",
        "÷": "/",
        "≤": "<=",
        "≥": ">=",
        "≠": "!=",
        "≈": "~",
        "±": "+-",
        "→": "->",
    }
)
"""How signs are written where they cannot be; letters and digits lose their marks."""


def replaced(text: str) -> str:
    r"""Return a text in ASCII: like signs where there are some, question marks for all others.

    A byte of a file's name that is no character is written as its number.

    Examples
    --------
    >>> replaced("chi² ≥ 3 │ naïve — лентяй \udcff")
    'chi2 >= 3 | naive - ?????? \\xff'
    """
    return "".join(map(_replaced, text))


def _replaced(character: str) -> str:
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    like = character.translate(PLAIN)
    bare = unicodedata.normalize("NFKD", like).encode("ascii", "ignore").decode()
    return bare or ("" if unicodedata.combining(character) else "?")


def _handle(error: UnicodeError) -> tuple[str, int]:
    """Replace what could not be encoded."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return replaced(error.object[error.start : error.end]), error.end


codecs.register_error(REPLACING, _handle)


class _Outlet(io.FileIO):
    """Where a standard stream's bytes go; what is written behind a failure is dropped.

    A reader who has gone had what he wanted: that is no failure. Nor is anything on the stream for
    complaints, where nobody could be told of it.
    """

    def __init__(self, number: int, label: str, forgiving: bool) -> None:
        super().__init__(number, "wb", closefd=False)
        self._label, self._forgiving, self.dropping = label, forgiving, False

    def write(self, content: Any, /) -> int:
        size = memoryview(content).nbytes
        if self.dropping:
            return size
        try:
            return super().write(content)
        except BrokenPipeError:
            self.dropping = True
        except OSError as error:
            self.dropping = True
            if not self._forgiving:
                raise OSError(error.errno, error.strerror, self._label) from None
        return size


def open_streams() -> None:
    """Make the standard streams of this process fit for all that is printed; called by ``main``."""
    _fill_closed()
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    sys.stdout = _fit(sys.stdout, sys.__stdout__, "standard output", False)
    sys.stderr = _fit(sys.stderr, sys.__stderr__, "standard error", True)


def reader_is_gone() -> bool:
    """Tell whether what is printed is known to reach nobody."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return isinstance(raw, _Outlet) and raw.dropping


def _fill_closed() -> None:
    """Open closed ones of the first three files to nothing, lest other files take their numbers."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free: this one.
            os.open(os.devnull, os.O_RDWR)


def _fit(stream: Any, original: Any, label: str, forgiving: bool) -> Any:
    """Return a stream that replaces what its encoding lacks; one of this process also forgives."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors=REPLACING)
    # A terminal's reader stays, and Windows writes to one by other means.
    if stream is not original or stream.isatty():
        return stream
    with suppress(OSError):
        stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Outlet(stream.fileno(), label, forgiving)),
        encoding=stream.encoding,
        errors=REPLACING,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
