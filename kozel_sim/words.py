"""The words of messages: what was given, shortened; the name that was meant; how many; metrics."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

MOST_ECHOED = 200
"""Characters of a text that a message says again; a longer one is cut in its middle."""


def shorten(text: str, most: int = MOST_ECHOED) -> str:
    """Return a text as a message may hold it: whole, or its two ends and how long it is.

    Examples
    --------
    >>> shorten("room-fish-all"), shorten("x" * 1000, 20)
    ('room-fish-all', 'xxxxxxxxxx...xxxxxxxxxx (1,000 characters)')
    """
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}...{text[-half:]} ({len(text):,} characters)"


def quoted(value: object, most: int = MOST_ECHOED) -> str:
    """Return what stands in quotes in a message: a value as Python writes it, shortened.

    It may be anything: an object that cannot be written, a text that would act on a terminal.

    Examples
    --------
    >>> quoted("sea-goat"), quoted([1, 2]), quoted(10**5000)
    ("'sea-goat'", '[1, 2]', 'an object of the type int')
    """
    try:
        if isinstance(value, str) and len(value) > most:
            half = most // 2
            return f"{value[:half] + '...' + value[-half:]!r} ({len(value):,} characters)"
        text = repr(value)
    except Exception:  # a stranger's object, or a number too long to be written
        text = f"an object of the type {type(value).__name__}"
    return shorten(printable(" ".join(line.strip() for line in text.splitlines())), most)


def printable(text: str) -> str:
    """Return a text with whatever would act on a terminal, or not be printed, written out."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def told(error: BaseException) -> str:
    """Return what an error says; nothing where a stranger's cannot say it."""
    try:
        return str(error)
    except Exception:
        return ""


MOST_SAID = 4000
"""Characters of a whole message; the longest lists of choices take about half of it."""


def in_one_line(text: str) -> str:
    """Return a message as the command line prints it: in one line, and never without end."""
    long = re.compile(rf"\S{{{MOST_ECHOED * 2},}}")
    line = long.sub(lambda word: shorten(word[0]), " ".join(text.split()))
    return shorten(line, MOST_SAID)


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return ' (did you mean ...?)' where a name is nearly a known one; else nothing.

    Examples
    --------
    >>> did_you_mean("rom-fish-all", ["room-fish-all", "sea-goat"])
    " (did you mean 'room-fish-all'?)"
    """
    # To compare a very long text would take for ever, and it is no slip of a name.
    close = get_close_matches(name, known, n=1) if isinstance(name, str) and len(name) < 80 else []
    return f" (did you mean {close[0]!r}?)" if close else ""


def counted(n: int, one: str, more: str = "") -> str:
    """Say how many of something there are: one, or several (by default with an s).

    Examples
    --------
    >>> counted(1, "deal"), counted(1200, "deal"), counted(2, "policy"), counted(3, "match")
    ('1 deal', '1,200 deals', '2 policies', '3 matches')
    >>> counted(1, "part is", "parts are")
    '1 part is'
    """
    if not more:
        if one.endswith("y") and not one.endswith(("ay", "ey", "oy", "uy")):
            more = one.removesuffix("y") + "ies"
        else:
            more = one + ("es" if one.endswith(("ch", "sh", "s", "x")) else "s")
    return f"{n:,} {one if n == 1 else more}"


def metric_words(metric: str) -> str:
    """Return what a metric is called in tables and plots.

    A room's rating is what a finished match is worth under its rules; that of ``kozel ratings`` is
    a policy's strength in a field.

    Examples
    --------
    >>> metric_words("rating"), metric_words("points_per_match")
    ('room rating', 'points per match')
    """
    return "room rating" if metric == "rating" else metric.replace("_", " ")
