"""What a policy must not do, seen in its code: draw its own random numbers, or remember.

A run is fixed by its seed, and a policy chooses the same whenever it is asked about the same View:
so its chance comes from the View's words, and nothing stays from one decision to the next.
"""

from __future__ import annotations

import ast
import dis
import inspect
import random
import textwrap
from collections.abc import Callable, Iterator
from functools import reduce
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from kozel_sim.fingerprint import codes_of, reached

_MODULES = ("random", "secrets", "numpy.random")
_SEEDABLE = ("Random", "default_rng", "RandomState", "Generator", "PCG64", "SeedSequence")
"""Names that are no chance where they are called with a seed."""
_GENERATORS = (random.Random, np.random.Generator, np.random.RandomState)
CHANCE = (
    "the same seed must give the same match; for chance take the View's random word, "
    "below(view.word, n) of kozel_sim.kit, or four more: @policy(words=True) and view.words"
)
MEMORY = (
    "a policy has no memory: it must choose the same whenever it is asked about the same View, "
    "which holds all that was seen (played, void, last, shown, memory)"
)
_CHANGING = {
    *("add", "append", "appendleft", "clear", "discard", "extend", "extendleft", "fill", "insert"),
    *("pop", "popitem", "popleft", "put", "remove", "reverse", "rotate", "setdefault", "sort"),
    *("update", "__setitem__"),
}
"""Methods that change what they are called on."""


def find_chance(function: Callable[..., Any]) -> str:
    """Return where a function, or one that it calls, draws random numbers of its own; else ''."""
    for known in reached(function):
        for code in codes_of(known.__code__):
            for name, line in _drawn(code, _names_of(known)):
                return f"{name} ({Path(code.co_filename).name}, line {line})"
    return ""


def _names_of(function: Any) -> dict[str, Any]:
    """Return what a function's names stand for that are not its own: globals, closed-over ones."""
    return {**function.__globals__, **_cells_of(function)}


def _cells_of(function: Any) -> dict[str, Any]:
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not yet set
            continue
    return found


def _drawn(code: CodeType, names: dict[str, Any]) -> Iterator[tuple[str, int | None]]:
    """Yield the random numbers that code draws, with its lines."""
    steps = [s for s in dis.get_instructions(code) if s.opname not in ("PRECALL", "PUSH_NULL")]
    local: dict[str, Any] = {}
    value: Any = None
    said, line = "", None
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        kind = step.opname
        if kind == "IMPORT_NAME":
            value, said = _module(step.argval), step.argval
        elif kind in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM") and isinstance(value, ModuleType):
            value, said = getattr(value, step.argval, None), f"{said}.{step.argval}"
        elif kind.startswith("STORE_FAST"):
            local[step.argval] = value
            value = None
            continue
        elif kind.startswith("LOAD_FAST"):
            value, said = local.get(step.argval), str(step.argval)
        elif kind.startswith(("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF")):
            value, said = names.get(step.argval), str(step.argval)
        else:
            value = None
            continue
        line = step.positions.lineno if step.positions else None
        unseeded = bool(following and following.opname.startswith("CALL") and following.arg == 0)
        if _is_chance(value, unseeded):
            yield said, line


def _module(name: str) -> ModuleType | None:
    return {"random": random, "numpy": np, "numpy.random": np.random}.get(name)


def _is_chance(value: Any, unseeded: bool) -> bool:
    """Tell whether a value draws random numbers that no View fixes."""
    if value is None or isinstance(value, ModuleType):
        return False
    name = getattr(value, "__name__", "")
    if isinstance(value, type) or name in _SEEDABLE:
        home = getattr(value, "__module__", None) or ""
        ours = home.startswith(_MODULES)
        return ours and (name == "SystemRandom" or (name in _SEEDABLE and unseeded))
    owner = getattr(value, "__self__", None)
    if isinstance(value, _GENERATORS) or isinstance(owner, _GENERATORS):
        return True
    return str(getattr(value, "__module__", "")).startswith(("secrets", "numpy.random"))


def find_memory(function: Callable[..., Any]) -> str:
    """Return what a function, or one that it calls, keeps from one call to the next; else ''."""
    for known in reached(function):
        place = Path(known.__code__.co_filename).name
        for what, line in (*_rebound(known), *_changed(known)):
            return f"{what} ({place}, line {line})"
    return ""


def _rebound(function: Any) -> Iterator[tuple[str, int | None]]:
    """Yield the names outside a function that it sets: ``global`` and ``nonlocal``."""
    outside = function.__code__.co_freevars
    for code in codes_of(function.__code__):
        for step in dis.get_instructions(code):
            line = step.positions.lineno if step.positions else None
            if step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                yield f"sets the global {step.argval!r}", line
            elif step.opname == "STORE_DEREF" and step.argval in outside:
                yield f"sets {step.argval!r}, which is not its own", line


def _changed(function: Any) -> Iterator[tuple[str, int]]:
    """Yield the lists, objects and the like outside a function that it changes."""
    try:
        text = textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(text)
    except (OSError, SyntaxError, TypeError):
        return
    first = function.__code__.co_firstlineno - 1
    known = _lasting(function)
    for node in ast.walk(tree):
        for target in _targets(node):
            base = reduce(lambda at, _: getattr(at, "value", at), range(8), target)
            if isinstance(base, ast.Name) and base.id in known:
                yield f"changes {base.id!r}, which stays", first + node.lineno  # type: ignore[attr-defined]


def _targets(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what a piece of code changes: what it sets a part of, or calls a method of."""
    if isinstance(node, ast.Assign | ast.Delete):
        yield from (t for t in node.targets if isinstance(t, ast.Attribute | ast.Subscript))
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        if isinstance(node.target, ast.Attribute | ast.Subscript):
            yield node.target
    elif isinstance(node, ast.Call):
        called = node.func
        if isinstance(called, ast.Attribute) and called.attr in _CHANGING:
            yield called.value
        elif isinstance(called, ast.Name) and called.id in ("next", "setattr") and node.args:
            yield node.args[0]


def _lasting(function: Any) -> dict[str, Any]:
    """Return the names of a function that stand for things which stay and can change."""
    code = function.__code__
    own = {*code.co_varnames, *code.co_cellvars}
    n = code.co_argcount
    given = function.__defaults__ or ()
    defaults = dict(zip(code.co_varnames[n - len(given) : n], given, strict=True))
    defaults |= function.__kwdefaults__ or {}
    outside = {k: v for k, v in _names_of(function).items() if k not in own}
    still = (bool, int, float, complex, str, bytes, tuple, frozenset, ModuleType, type(None))
    return {
        name: value
        for name, value in {**outside, **defaults}.items()
        if not isinstance(value, still) or isinstance(value, FunctionType)
    }
