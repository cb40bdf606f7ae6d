"""Names of policies and experiments, in any script: what may be one, and how files get them."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Collection

EMOJI = ("So", "Sk", "Mn", "Mc", "Me")
"""Categories of Unicode: signs such as emoji, and what is joined to a letter or a sign."""
JOINER = "\u200d"
"""Joins emoji to one."""


def read_name(text: str) -> str:
    """Return a text from a command line or a file so that names in it are equal if they look so.

    An accent may be a part of its letter or stand by itself, as one system writes and another.
    Where the locale knows only ASCII, letters come as the bytes that they are in UTF-8.

    Examples
    --------
    >>> read_name("и\u0306") == "й"
    True
    """
    if any("\udc80" <= character <= "\udcff" for character in text):
        try:
            text = os.fsencode(text).decode()
        except UnicodeDecodeError:
            return text
    return unicodedata.normalize("NFC", text)


def is_word(text: str, more: str = "") -> bool:
    """Tell whether a text is a word: letters, digits, underscores and emoji, no digit at its head.

    Parameters
    ----------
    text : str
        The text.
    more : str, optional
        Characters that may stand in it too, behind the first.

    Examples
    --------
    >>> [is_word(text) for text in ("лентяй_2", "🐐", "2nd", "a-b", "a b", "")]
    [True, True, False, False, False, False]
    """
    head = text[:1]
    begins = head.isalpha() or head == "_" or _is_sign(head, ("So",))
    return begins and all(
        each.isalnum() or each in more or each in ("_", JOINER) or _is_sign(each, EMOJI)
        for each in text
    )


def _is_sign(text: str, kinds: Collection[str]) -> bool:
    """Tell whether a character is beyond ASCII and of one of some categories."""
    return not text.isascii() and unicodedata.category(text) in kinds


def file_name(name: str) -> str:
    """Return the name of a file or folder called so; where the locale lacks a letter, in UTF-8."""
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return os.fsdecode(name.encode())
    return name
