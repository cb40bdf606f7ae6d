"""What is wrong with a user's function, in one line: what numba says of it, what it raises."""

from __future__ import annotations

import dis
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kozel_sim.decision import Policy, describe_error
from kozel_sim.fingerprint import codes_of, helpers
from kozel_sim.moves import move_text
from kozel_sim.rng import Luck
from kozel_sim.view import VIEW, View
from kozel_sim.words import did_you_mean

PLAINLY = "as plain Python it plays with engine='reference' (--engine reference)"
"""What is always possible with what numba does not know."""
_KINDS = {
    "unicode_type": "a text",
    "Literal[str]": "a text",
    "bytes": "bytes",
    "Tuple": "a tuple",
    "UniTuple": "a tuple",
    "reflected list": "a list",
    "list": "a list",
    "List": "a list",
    "set": "a set",
    "reflected set": "a set",
    "DictType": "a dictionary",
    "array": "an array",
    "nestedarray": "an array",
    "Array": "an array",
    "complex128": "a complex number",
    "Record": "the View itself",
    "range_state": "a range",
    "generator": "a generator",
}
"""Numba's names of types, up to a bracket, in plain words."""
_HINTS = {
    "yield in a closure": "a generator expression (sum(... for ...), any(...)) is not compiled: "
    "write a loop, or a list in its place",
    "reflected list": "a list beside the function is not compiled: make it a tuple",
    "<class 'dict'>": "a dictionary beside the function is not compiled: make it a tuple",
    "<class 'set'>": "a set beside the function is not compiled: make it a tuple",
    "attribute 'bit_count'": "compiled numbers have no bit_count: popcount(mask) of the kit counts",
    "STORE_GLOBAL": "it changes a global name, and a policy has no memory",
    "IMPORT_NAME": "an import inside a function is not compiled: put it at the file's top",
    "LOAD_BUILD_CLASS": "a class inside a function is not compiled",
}
"""By a part of numba's words: what to say in their place."""


def explain(function: Callable[..., Any], error: Exception) -> str:
    """Return what is wrong, where, and what would do, out of numba's many lines."""
    if isinstance(error, KeyError) and error.args and isinstance(error.args[0], str):
        return _unknown_field(function, error.args[0])
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [
        lines[i + 1] for i, x in enumerate(lines[:-1]) if x.endswith("raised a specific error:")
    ]
    found = [x.removeprefix("TypingError: ") for x in [*causes, *lines]]
    found = [x for x in found if not x.startswith(("Failed in", "During:"))] or [str(error)]
    reason, where = found[0], _place(str(error))
    unknown = re.search(r"NameError: name '(\w+)' is not defined", reason)
    if unknown:
        return f"name {unknown[1]!r} is not defined{_line_of(function, unknown[1]) or where}"
    if kind := re.search(r"No conversion from (.+) to uint32", reason):
        return f"{_wrong_return(kind[1])}{where}"
    for words, hint in _HINTS.items():
        if words in reason:
            return f"{hint}{where}; {PLAINLY}"
    wanted = next((x.removeprefix(">>> ") for x in lines if x.startswith(">>> ")), "")
    if wanted and "No implementation of function" in reason:
        reason = f"numba knows no {_readable(wanted)}"
    reason = reason[:1].lower() + reason[1:]
    reason = re.sub(r"(?i)module\(<module '([\w.]+)'.*?>\)", r"module \1", reason)
    return f"{reason.partition(' Raised from')[0].rstrip('.')}{where}; {PLAINLY}"


def _readable(call: str) -> str:
    return call.replace("unicode_type", "str").replace("Literal[str]", "text ")


def _wrong_return(kind: str) -> str:
    """Say of a type what is wrong with returning it."""
    if kind.startswith("none") or "Optional" in kind:
        return "it does not return a move on every path: put a return at its end"
    name = re.search(r"generator|^(reflected \w+|Literal\[str\]|\w+)", kind)
    said = _KINDS.get(name[0] if name else "", kind)
    return f"it returns {said}, not the code of a move (move_of(tile, arm) of the kit makes one)"


def _unknown_field(function: Callable[..., Any], name: str) -> str:
    hint = did_you_mean(name, VIEW.names or ())
    choices = "" if hint else f"; it has {', '.join(VIEW.names or ())}"
    return f"the View has no field {name!r}{hint}{_line_of(function, name)}{choices}"


def _place(text: str) -> str:
    """Return the file and line that numba names, ' (mine.py, line 3)'; nothing where it names none.

    Its own files, where a helper of the kit does not take what it is given, are passed over.
    """
    places = re.findall(r'File "([^"\n]+)", line (\d+)', text)
    places += re.findall(r"Raised from (\S+\.py) \((\d+)\)", text)
    known = [(Path(file).name, line) for file, line in places if "numba/" not in file]
    return f" ({known[-1][0]}, line {known[-1][1]})" if known else ""


def _line_of(function: Callable[..., Any], name: str) -> str:
    """Return where a function, or one that it calls, first names something."""
    for known in [function, *helpers(function)]:
        for code in codes_of(known.__code__):
            for step in dis.get_instructions(code):
                line = step.positions.lineno if step.positions else None
                if step.argval == name and line:
                    return f" ({Path(code.co_filename).name}, line {line})"
    return ""


def what_plain_python_does(
    policy: Policy, seed: int, deal: int, record: Any, moves: Sequence[int]
) -> tuple[int | None, str]:
    """Ask plain Python about a compiled decision: (the move, "") or (None, what it raises)."""
    view = View(**{name: record[name].tolist() for name in VIEW.names or ()})
    part = policy.parts[0][1]
    if len(policy.parts) > 1:
        part = policy.pick(Luck(seed, deal).mixture(view.round, view.event))
    try:
        return part.choose(view, moves), ""
    except Exception as error:
        return None, describe_error(error)


def unlike(move: int) -> str:
    """Say that plain Python has another answer than compiled code."""
    return (
        f"; plain Python plays {move_text(move)} there: compiled numbers have 32 or 64 bits, and "
        "kozel check-policy finds where both differ"
    )
