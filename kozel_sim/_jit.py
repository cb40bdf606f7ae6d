"""How kernels are compiled: the only file with numba's options.

Compiled code is cached on disk in a folder named after a hash of the sources it is made of, because
numba's own cache does not notice an edited helper or constant in another file.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TypeVar

import numba
import platformdirs
from numba.core.errors import TypingError
from numba.core.registry import cpu_target
from numba.core.typing.templates import builtin_registry

from kozel_sim.fingerprint import fingerprint, helpers
from kozel_sim.provenance import source_hash

CACHE_VARIABLE = "KOZEL_SIM_CACHE_DIR"
F = TypeVar("F", bound=Callable)


@cache
def cache_folder() -> Path:
    """Return the folder for compiled code: the user's cache, or a temporary one if that is closed.

    The environment variable ``KOZEL_SIM_CACHE_DIR`` names another place.
    """
    chosen = os.environ.get(CACHE_VARIABLE)
    root = Path(chosen) if chosen else platformdirs.user_cache_path("kozel_sim")
    folder = root / f"{source_hash(compiled=True)}-numba{numba.__version__}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return Path(tempfile.mkdtemp(prefix="kozel_sim-"))


@contextmanager
def _own_cache_folder(below: str = "") -> Iterator[None]:
    """Let numba decide on our folder while a function is being decorated."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(cache_folder() / below)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


def kernel(function: Callable) -> Callable:
    """Compile an entry point: it releases the GIL and is cached on disk."""
    with _own_cache_folder():
        return numba.njit(nogil=True, cache=True, error_model="numpy")(function)


def part(function: Callable) -> Callable:
    """Compile a piece of a kernel."""
    return numba.njit(nogil=True, error_model="numpy")(function)


def inlined(function: Callable) -> Callable:
    """Compile a small piece of a kernel, always inlined where it is called."""
    return numba.njit(nogil=True, error_model="numpy", forceinline=True)(function)


INNER = {
    "nogil": True,
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
"""Options of what only compiled code calls: it is not called from Python."""


def inner_part(function: Callable) -> Callable:
    """Compile a piece of a kernel that Python never calls, which takes half as long."""
    return numba.njit(**INNER)(function)


def inner_inlined(function: Callable) -> Callable:
    """Compile a small piece of a kernel, always inlined, that Python never calls."""
    return numba.njit(forceinline=True, **INNER)(function)


_twins: list[Callable] = []
"""Kept alive here: numba's registry does not."""


def twin(function: F, compiled: Callable) -> F:
    """Let compiled code that names a plain function call a compiled one; return the plain one."""
    _twins.append(compiled)
    builtin_registry.register_global(function, numba.typeof(compiled))
    return function


def shared(function: F) -> F:
    """Let compiled code call a plain function, compiled once and cached on disk.

    numba's ``register_jitable`` would compile it anew for every policy that calls it.
    """
    with _own_cache_folder():
        return twin(function, numba.njit(cache=True, **INNER)(function))


@cache
def share_helper(function: F) -> F:
    """Let compiled code call a plain function that takes others, or that a user wrote."""
    return twin(function, numba.njit(forceinline=True, **INNER)(function))


def compile_policy(function: Callable, signature: object) -> object:
    """Compile a user's policy, and the plain functions that it calls, to a C function.

    It is cached on disk under a hash of all that it reads, where that can be told and its source is
    in a file.
    """
    typing_context = cpu_target.typing_context
    typing_context.refresh()
    for helper in helpers(function):
        try:
            typing_context.resolve_value_type(helper)
        except (ValueError, TypingError):
            share_helper(helper)
    # Not of a notebook's cell: numba would look at its text alone, and keep on playing a helper or
    # a constant of another cell that has changed since.
    in_file = Path(function.__code__.co_filename).is_file()
    known = fingerprint(function) if in_file else None
    if known is not None:
        with _own_cache_folder(f"policy-{known}"):
            try:
                return numba.cfunc(signature, cache=True, error_model="numpy")(function)
            except (RuntimeError, OSError) as error:
                # Nowhere to keep it, or the file has changed under the function.
                if not re.search("cannot cache|could not get source", str(error)):
                    raise
    return numba.cfunc(signature, error_model="numpy")(function)


def count_cached() -> int:
    """Return how many compiled functions are in the cache."""
    return sum(1 for _ in cache_folder().glob("*/*.nbc"))


def announce_compiling() -> None:
    """Say on stderr, once, that the engine has to be compiled first."""
    global announces
    if announces and not any(cache_folder().glob("*/*.nbi")):
        print(
            "kozel_sim: compiling the engine (first run only), about half a minute ...",
            file=sys.stderr,
            flush=True,
        )
    announces = False


announces = True
"""Whether ``announce_compiling`` still has something to say."""
