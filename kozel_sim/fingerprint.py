"""What a user's function depends on, as a hash: its code and every value that it reads.

numba compiles the values of globals into the code and does not notice when they change, and a run
must not be taken for another because a constant beside the policy differs.
"""

from __future__ import annotations

import builtins
import hashlib
import types
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

import numpy as np

TRUSTED = ("kozel_sim", "numpy", "math", "numba")
"""Packages whose parts are known by their version or source hash."""


def fingerprint(function: Callable[..., Any]) -> str | None:
    """Return a hash of a function and all that it reads (16 hex digits).

    Parameters
    ----------
    function : callable
        A plain Python function.

    Returns
    -------
    str or None
        None where it reads something whose value cannot be told, such as an object of an unknown
        kind.
    """
    digest = hashlib.sha256()
    for piece in _pieces(function, set()):
        if piece is None:
            return None
        digest.update(piece + b"\0")
    return digest.hexdigest()[:16]


def _pieces(value: Any, seen: set[int]) -> Iterator[bytes | None]:
    """Yield what a value is, in bytes; None where that cannot be told."""
    value = getattr(value, "py_func", value)
    home = _home(value)
    if isinstance(value, types.FunctionType) and not _trusted(home):
        if id(value) not in seen:
            seen.add(id(value))
            yield from _function(value, seen)
    elif isinstance(value, bool | int | float | complex | str | bytes | type(None)):
        yield repr(value).encode()
    elif isinstance(value, tuple | list | frozenset | set):
        yield type(value).__name__.encode()
        for item in sorted(value, key=repr) if isinstance(value, frozenset | set) else value:
            yield from _pieces(item, seen)
    elif isinstance(value, np.ndarray | np.generic):
        yield str(value.dtype).encode() + repr(np.shape(value)).encode() + value.tobytes()
    elif _trusted(home) or any(value is known for known in vars(builtins).values()):
        yield str(getattr(value, "__qualname__", home)).encode()
    else:
        yield None


def helpers(function: Callable[..., Any]) -> list[Callable[..., Any]]:
    """Return the plain functions of a user's own that a function names, and those they name.

    Those that numba has compiled already are looked into and not returned.
    """
    found = _reached(function)
    return [f for f in found if isinstance(f, types.FunctionType) and f is not function]


def reached(function: Callable[..., Any]) -> list[Callable[..., Any]]:
    """Return a plain function and all of a user's own behind it, of compiled ones the plain one."""
    return [getattr(f, "py_func", f) for f in _reached(function)]


def _reached(function: Callable[..., Any]) -> list[Callable[..., Any]]:
    found: dict[int, Callable[..., Any]] = {id(function): function}
    waiting: list[Any] = [function]
    while waiting:
        known = waiting.pop()
        plain = getattr(known, "py_func", known)
        named = [
            plain.__globals__.get(n) for code in codes_of(plain.__code__) for n in code.co_names
        ]
        for value in [*named, *(cell.cell_contents for cell in plain.__closure__ or ())]:
            inner = getattr(value, "py_func", value)
            own = isinstance(inner, types.FunctionType) and not _trusted(inner.__module__ or "")
            if own and id(value) not in found:
                found[id(value)] = value
                waiting.append(value)
    return list(found.values())


def may_read(function: Callable[..., Any], fields: Collection[str]) -> bool:
    """Tell whether a function, or one that it calls, may read one of some fields of a record.

    It may if it mentions a field's name, or anything whose insides cannot be told.
    """
    seen: set[int] = set()
    waiting: list[Any] = [function]
    while waiting:
        value = waiting.pop()
        value = getattr(value, "py_func", value)
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, types.FunctionType) and not _from(_NUMBERS, value.__module__ or ""):
            for code in codes_of(value.__code__):
                if any(name in fields for name in (*code.co_names, *_texts(code.co_consts))):
                    return True
                known = value.__globals__
                waiting += [known[name] for name in code.co_names if name in known]
            waiting += [cell.cell_contents for cell in value.__closure__ or ()]
            waiting += value.__defaults__ or ()
        elif isinstance(value, tuple | list | frozenset | set):
            waiting += value
        elif not (isinstance(value, _PLAIN) or _from(_NUMBERS, _home(value))):
            return True
    return False


_NUMBERS = ("numpy", "math", "numba", "builtins")
"""Packages that know no record's fields."""
_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.ndarray, np.generic)


def _texts(constants: Iterable[Any]) -> Iterator[str]:
    """Yield the texts among constants, as of ``getattr(view, "table")``."""
    for constant in constants:
        if isinstance(constant, str):
            yield constant
        elif isinstance(constant, tuple | frozenset):
            yield from _texts(constant)


def _home(value: Any) -> str:
    return str(getattr(value, "__module__", None) or getattr(value, "__name__", ""))


def _from(packages: Collection[str], home: str) -> bool:
    return home.partition(".")[0] in packages


def _trusted(home: str) -> bool:
    return _from(TRUSTED, home)


def _function(function: types.FunctionType, seen: set[int]) -> Iterator[bytes | None]:
    """Yield a function's code, constants, defaults, globals and closed-over values."""
    for code in codes_of(function.__code__):
        yield code.co_code
        yield repr([c for c in code.co_consts if not isinstance(c, types.CodeType)]).encode()
        yield repr((code.co_names, code.co_varnames)).encode()
        for name in code.co_names:
            if name in function.__globals__:
                yield name.encode()
                yield from _pieces(function.__globals__[name], seen)
    yield repr(function.__defaults__).encode()
    for cell in function.__closure__ or ():
        yield from _pieces(cell.cell_contents, seen)


def codes_of(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield a code object and those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_of(constant)
