"""How kernels are compiled: the only file with numba's options.

What users' functions call is cached by numba in our own folder, because numba's cache does not
notice an edited helper or constant in another file.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

import llvmlite.binding as llvm
import numba
import numpy as np
from numba.core.errors import NumbaWarning, TypingError
from numba.core.registry import cpu_target
from numba.core.typing.templates import builtin_registry

from kozel_sim._native import MachineCode, cache_folder, tell_unkept, why_not_kept
from kozel_sim._strict import Helper, PolicyCompiler, give_environments
from kozel_sim.fingerprint import fingerprint, helpers
from kozel_sim.names import file_name

F = TypeVar("F", bound=Callable)


@contextmanager
def _own_cache_folder(below: str = "") -> Iterator[None]:
    """Let numba decide on our folder while a function is being decorated."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(cache_folder() / below)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


USERS = {
    "nogil": True,
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
"""Options of what users' compiled code calls, which may keep lists and arrays of its own."""
INNER = {**USERS, "_nrt": False}
"""Options of the engine: no memory is taken or given back, so no references are counted."""


OWN = {"error_model": "python", "boundscheck": True}
"""Options of users' functions themselves: what plain Python refuses, a division by zero or an index
behind a list, is an error there, too, and not a number to go on with."""


IN_EVERY_PROCESS = {"memset", "memcpy", "memmove"}


def kernel(function: Callable) -> Callable:
    """Compile an entry point, see ``kozel_sim.engine.entries``."""
    return numba.njit(**INNER)(function)


def part(function: Callable) -> Callable:
    """Compile a piece of a kernel."""
    return numba.njit(**INNER)(function)


def inlined(function: Callable) -> Callable:
    """Compile a small piece of a kernel, always inlined where it is called."""
    return numba.njit(forceinline=True, **INNER)(function)


_PARTS = attrgetter("signature", "fndesc", "library")
"""What is read of numba's result of compiling: the types, the names, and the code."""


def compile_entry(module: str, name: str, arguments: Sequence[Any]) -> MachineCode:
    """Compile a kernel for arguments like these to machine code that needs nothing of numba's.

    It is called as numba calls compiled code from compiled code, a convention that numba keeps to
    itself; that its words are those we pass is checked here.
    """
    dispatcher: Any = getattr(import_module(module), name)
    types = tuple(numba.int64 if type(each) is int else numba.typeof(each) for each in arguments)
    dispatcher.compile(types)
    signature, described, made = _PARTS(dispatcher.overloads[types])
    if signature.return_type not in (numba.int64, numba.none):
        raise TypeError(f"{name} returns {signature.return_type}, not an int64 or nothing")
    symbol = described.llvm_func_name
    taken = [str(word.type) for word in made.get_function(symbol).arguments]
    passed = ["ptr", "ptr", *chain.from_iterable(map(_words_passed, arguments))]
    if taken != passed:
        raise NotImplementedError(f"numba passes {taken} to {name}, where {passed} was expected")
    ir: Any = llvm.parse_assembly(made.get_llvm_str())
    named = [*ir.functions, *ir.global_variables]
    outside = [each.name for each in named if each.is_declaration]
    # LLVM ends the process where code needs what is not there.
    if numbas := [x for x in outside if not x.startswith("llvm.") and x not in IN_EVERY_PROCESS]:
        raise NotImplementedError(f"{name} needs {', '.join(numbas)}, which only numba has")
    _, _, (code, _) = made.serialize_using_object_code()
    return MachineCode(symbol, len(passed) - 2, code)


def _words_passed(argument: Any) -> list[str]:
    """Return the types of an argument's words, see ``kozel_sim.engine.entries``."""
    if isinstance(argument, np.ndarray):
        return ["ptr", "ptr", "i64", "i64", "ptr", *["i64"] * 2 * argument.ndim]
    return ["i64"] * (len(argument) if isinstance(argument, tuple) else 1)


_twins: list[Callable] = []
"""Kept alive here: numba's registry does not."""


def twin(function: F, compiled: Callable) -> F:
    """Let compiled code that names a plain function call a compiled one; return the plain one."""
    if numba.config.DISABLE_JIT:
        return function
    _twins.append(compiled)
    builtin_registry.register_global(function, numba.typeof(compiled))
    return function


def kept(function: Callable) -> Any:
    """Compile what users' compiled code calls once, and cache it on disk."""
    with _own_cache_folder():
        options = {**USERS, **OWN}
        return numba.njit(cache=not why_not_kept(), pipeline_class=Helper, **options)(function)


def shared(function: F) -> F:
    """Let compiled code call a plain function, compiled once and cached on disk.

    numba's ``register_jitable`` would compile it anew for every policy that calls it.
    """
    return twin(function, kept(function))


@cache
def share_helper(function: F) -> F:
    """Let compiled code call a plain function that takes others, or that a user wrote."""
    options = {**USERS, **OWN}
    return twin(function, numba.njit(forceinline=True, pipeline_class=Helper, **options)(function))


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
    before = numba.config.ALWAYS_WARN_UNINIT_VAR
    numba.config.ALWAYS_WARN_UNINIT_VAR = 1
    try:
        # Other warnings of numba's are about the engine's ways and not the user's.
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", NumbaWarning)
            made = _compile_or_load(function, signature)
            give_environments()
    finally:
        numba.config.ALWAYS_WARN_UNINIT_VAR = before
    for told in dict.fromkeys(str(each.message) for each in caught):
        if name := re.search(r"uninitialized variable ([^\W\d]\w*)", told):
            place = re.search(r'File "([^"]+)", line (\d+)', told)
            where = f" ({Path(place[1]).name}, line {place[2]})" if place else ""
            warnings.warn(
                f"policy {function.__name__} may read {name[1]!r} before it is set{where}: plain "
                "Python raises there, and compiled code goes on with 0; set it first",
                UserWarning,
                stacklevel=2,
            )
    return made


def _compile_or_load(function: Callable, signature: object) -> object:
    options = {**OWN, "pipeline_class": PolicyCompiler}
    # Not of a notebook's cell: numba would look at its text alone, and keep on playing a helper or
    # a constant of another cell that has changed since.
    in_file = Path(function.__code__.co_filename).is_file()
    # numba names files after it, too, which not every locale can.
    name = f"{function.__module__}.{function.__qualname__}"
    can_be_named = file_name(name) == name
    known = fingerprint(function) if in_file and can_be_named else None
    if known is not None and why_not_kept():
        # numba would look for another place, such as beside the user's file.
        tell_unkept(why_not_kept())
    elif known is not None:
        with _own_cache_folder(f"policy-{known}"):
            try:
                return numba.cfunc(signature, cache=True, **options)(function)
            except (RuntimeError, OSError) as error:
                # Nowhere to keep it, or the file has changed under the function.
                if not re.search("cannot cache|could not get source", str(error)):
                    raise
    return numba.cfunc(signature, **options)(function)
