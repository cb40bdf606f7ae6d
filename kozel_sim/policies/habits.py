"""What a policy must not do, seen in its code: draw its own random numbers, or remember.

A run is fixed by its seed, and a policy chooses the same whenever it is asked about the same View:
so its chance comes from the View's words, and nothing stays from one decision to the next.
"""

from __future__ import annotations

import ast
import builtins
import dis
import inspect
import random
import re
import secrets
import textwrap
from collections.abc import Callable, Iterator
from functools import reduce
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from kozel_sim.fingerprint import codes_of, reached

_MODULES = ("random", "secrets", "numpy.random")
_SEEDABLE = ("Random", "default_rng", "RandomState", "Generator", "PCG64", "SeedSequence")
"""Names that are no chance where they are called with a seed."""
_IMPORTERS = (builtins.__import__, import_module)
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
    steps = list(_steps(code))
    local: dict[str, Any] = {}
    value: Any = None
    importer: Any = None
    said = ""
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        kind = step.kind
        if kind == "LOAD_CONST" and any(value is one for one in _IMPORTERS):
            importer, value, said = value, None, str(step.name)
            continue
        if kind == "IMPORT_NAME":
            value, said = _module(step.name), step.name
        elif kind.startswith("CALL") and importer is not None:
            value = _module(said if importer is import_module else said.partition(".")[0])
        elif kind in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM") and isinstance(value, ModuleType):
            value, said = getattr(value, step.name, None), f"{said}.{step.name}"
        elif kind == "STORE_FAST":
            local[step.name] = value
            value = None
        elif kind == "LOAD_FAST":
            value, said = local.get(step.name), str(step.name)
        elif kind.startswith(("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF")):
            value = names.get(step.name, getattr(builtins, step.name, None))
            said = str(step.name)
        else:
            value = None
        importer = None
        unseeded = bool(following and following.kind.startswith("CALL") and following.arg == 0)
        if _is_chance(value, unseeded):
            yield said, step.line


class _Step(NamedTuple):
    """One thing that code does: what, with which name, the bare number, and its line."""

    kind: str
    name: Any
    arg: int | None
    line: int | None


def _steps(code: CodeType) -> Iterator[_Step]:
    for step in dis.get_instructions(code):
        line = step.positions.lineno if step.positions else None
        if step.opname not in ("PRECALL", "PUSH_NULL"):
            for kind, name in _parted(step.opname, step.argval):
                yield _Step(kind, name, step.arg, line)


def _parted(kind: str, name: Any) -> list[tuple[str, Any]]:
    """Return a step on local variables, of which Python may join two, as one or two plain ones."""
    joined = re.findall("STORE_FAST|LOAD_FAST", kind)
    if not joined:
        return [(kind, name)]
    return list(zip(joined, name if isinstance(name, tuple) else [name], strict=True))


def _module(name: str) -> ModuleType | None:
    known = {"random": random, "secrets": secrets, "numpy": np, "numpy.random": np.random}
    return known.get(name)


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
    for node, own in _walk(tree):
        for target in _targets(node):
            base = reduce(lambda at, _: getattr(at, "value", at), range(8), target)
            if isinstance(base, ast.Name) and base.id in known and base.id not in own:
                yield f"changes {base.id!r}, which stays", first + node.lineno  # type: ignore[attr-defined]


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def _walk(
    node: ast.AST, own: frozenset[str] = frozenset(), inside: bool = False
) -> Iterator[tuple[ast.AST, frozenset[str]]]:
    """Yield all nodes, each with the names that are local to a function within the outermost."""
    if isinstance(node, _FUNCTIONS):
        if inside:
            bound, shared = _bound_in(node)
            own = (own | bound) - shared
        inside = True
    yield node, own
    for below in ast.iter_child_nodes(node):
        yield from _walk(below, own, inside)


def _bound_in(function: ast.AST) -> tuple[set[str], set[str]]:
    """Return the names that a function binds, and those of them that it says are not its own."""
    bound: set[str] = set()
    shared: set[str] = set()
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            shared.update(node.names)
        if not isinstance(node, _FUNCTIONS):
            waiting += ast.iter_child_nodes(node)
    return bound, shared


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
