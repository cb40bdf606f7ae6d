"""The engine's entry points: what Python calls, without numba.

To import numba and fill its registries takes longer than a small tournament. It is needed only to
compile, and so are the modules of kernels: they are named here, and imported by nobody else.
"""

from __future__ import annotations

import ctypes
import hashlib
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kozel_sim._native import (
    MachineCode,
    announce_compiling,
    cache_folder,
    need_compiler,
    processor,
)

_lock = threading.Lock()


class Entry:
    """A kernel that Python calls; it is compiled when it is first called and nothing is kept.

    Arguments are contiguous arrays, integers of 64 bits (``np.uint64`` if without a sign), and
    tuples of small Python integers; it returns an integer or nothing (0).
    """

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name
        self._ready: dict[tuple[object, ...], Callable[..., int]] = {}

    def __call__(self, *arguments: Any) -> int:
        """Run it, without the GIL; return its result, 0 for nothing."""
        kinds = tuple(map(_kind_of, arguments))
        call = self._ready.get(kinds)
        if call is None:
            with _lock:
                call = self._ready.get(kinds) or self._load(kinds, arguments)
                self._ready[kinds] = call
        result = ctypes.c_int64(0)
        error = ctypes.c_void_p()
        words: list[int] = []
        for argument in arguments:
            words += _words_of(argument)
        status = call(ctypes.addressof(result), ctypes.addressof(error), *words)
        if status:
            raise RuntimeError(f"{self.module}.{self.name} stopped with status {status}")
        return result.value

    def _load(self, kinds: tuple[object, ...], arguments: tuple[Any, ...]) -> Callable[..., int]:
        """Read the code for some kinds of arguments, or compile and keep it."""
        key = hashlib.sha256(f"{kinds} {processor()}".encode()).hexdigest()[:16]
        path = cache_folder() / f"{self.name}-{key}.o"
        kept = MachineCode.read(path)
        if kept is None:
            need_compiler()
            announce_compiling()
            from kozel_sim._jit import compile_entry

            kept = compile_entry(self.module, self.name, arguments)
            kept.write(path)
        return kept.load()


def _kind_of(argument: Any) -> object:
    """Return what code is compiled for."""
    if isinstance(argument, np.ndarray):
        if not argument.flags.carray:
            raise TypeError(f"kernels take contiguous arrays that they may write, not {argument!r}")
        return argument.dtype, argument.ndim
    if isinstance(argument, tuple):
        return type(argument).__name__, len(argument)
    if type(argument) is int and not -(2**63) <= argument < 2**63:
        raise OverflowError(f"{argument} is over 64 bits; pass an np.uint64")
    return type(argument).__name__


def _words_of(argument: Any) -> Sequence[int]:
    """Return an argument's words in the order of numba's calling convention."""
    if isinstance(argument, np.ndarray):
        place = argument.ctypes.data
        # The first two would count references to it, which nobody does.
        return (0, 0, argument.size, argument.itemsize, place, *argument.shape, *argument.strides)
    return argument if isinstance(argument, tuple) else (int(argument),)


play_matches = Entry("kozel_sim.engine.match", "play_matches")
play_lockstep = Entry("kozel_sim.engine.lockstep.match", "play_lockstep")
tally_matches = Entry("kozel_sim.engine.tally", "tally_matches")
read_rounds = Entry("kozel_sim.engine.rounds", "read_rounds")
ask = Entry("kozel_sim.engine.asking", "ask")
count_kernel = Entry("kozel_sim.engine.worlds", "count_kernel")
sample_kernel = Entry("kozel_sim.engine.worlds", "sample_kernel")
watch_matches = Entry("kozel_sim.engine.tells", "watch_matches")
