"""Machine code: kept on disk, loaded without numba.

It is kept in a folder named after a hash of the sources it is made of.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import platformdirs

from kozel_sim.files import write_whole
from kozel_sim.provenance import source_hash

CACHE_VARIABLE = "KOZEL_SIM_CACHE_DIR"


def _cache_root() -> Path | None:
    """Return where compiled code goes: to the user's cache, or as the variable says."""
    chosen = os.environ.get(CACHE_VARIABLE)
    with suppress(RuntimeError):
        root = Path(chosen) if chosen else platformdirs.user_cache_path("kozel_sim")
        # As it is written where there is no home.
        return root if chosen or root.parts[0] != "~" else None
    return None


@cache
def cache_folder() -> Path:
    """Return the folder for compiled code; ``why_not_kept`` tells whether it can be written to."""
    # Below the file of nothing there is nothing, and never will be.
    root = _cache_root() or Path(os.devnull)
    return root / f"{source_hash(compiled=True)}-numba{version('numba')}"


@cache
def why_not_kept() -> str:
    """Say why nothing that is compiled can be kept; an empty text if it can."""
    root = _cache_root()
    if root is None:
        return "this user has no home folder"
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=cache_folder()):
            return ""
    except OSError as error:
        return f"{root}: {error.strerror}"


def has_feature(name: str) -> bool:
    """Tell whether code is compiled for a processor that has a feature, by LLVM's name."""
    is_this_one = os.environ.get("NUMBA_CPU_NAME", "host") == "host"
    chosen = os.environ.get("NUMBA_CPU_FEATURES")
    return bool(is_this_one and not chosen and llvm.get_host_cpu_features().get(name, False))


SETTINGS = [
    "OPT",
    "CPU_NAME",
    "CPU_FEATURES",
    "ENABLE_AVX",
    "BOUNDSCHECK",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
]
"""Variables of numba's, NUMBA_ before them, that change what it compiles."""


@cache
def processor() -> str:
    """Return what machine code depends on beside the sources."""
    settings = [os.environ.get(f"NUMBA_{name}") for name in SETTINGS]
    with suppress(OSError, ValueError):
        # numba reads its settings here, too.
        settings.append(Path(".numba_config.yaml").read_text(encoding="utf-8"))
    here = [llvm.get_process_triple(), llvm.get_host_cpu_name()]
    here += [llvm.get_host_cpu_features().flatten(), version("llvmlite")]
    return json.dumps([*here, *settings])


@dataclass(frozen=True)
class MachineCode:
    """A compiled entry point: its name in an object file, and how many words it takes."""

    symbol: str
    words: int
    code: bytes

    def write(self, path: Path) -> None:
        """Write it whole or, where that cannot be, not at all; another process may do the same."""
        facts = json.dumps({"symbol": self.symbol, "words": self.words}).encode()
        whole = facts + b"\n" + self.code
        digest = hashlib.sha256(whole).hexdigest().encode()
        try:
            write_whole(path, digest + b"\n" + whole)
        except OSError as error:
            tell_unkept(why_not_kept() or f"{path.parent}: {error.strerror}")

    @classmethod
    def read(cls, path: Path) -> MachineCode | None:
        """Read what was written, or nothing if it is not there or damaged."""
        try:
            digest, _, whole = path.read_bytes().partition(b"\n")
        except OSError:
            return None
        if digest != hashlib.sha256(whole).hexdigest().encode():
            return None
        facts, _, code = whole.partition(b"\n")
        return cls(code=code, **json.loads(facts))

    def load(self) -> Callable[..., int]:
        """Make it callable with a place for the result, one for errors, and its words."""
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        target = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine()
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
        engine.add_object_file(llvm.ObjectFileRef.from_data(self.code))
        engine.finalize_object()
        _loaded.append(engine)
        places = [ctypes.c_void_p, ctypes.c_void_p]
        kind = ctypes.CFUNCTYPE(ctypes.c_int32, *places, *[ctypes.c_int64] * self.words)
        return kind(engine.get_function_address(self.symbol))


_loaded: list[Any] = []
"""Kept alive here: code is gone with its engine."""


class NoCompilerError(NotImplementedError):
    """Something has to be compiled, and numba is told not to."""


def need_compiler() -> None:
    """Raise NoCompilerError unless numba compiles here."""
    from numba import config

    if config.DISABLE_JIT:
        raise NoCompilerError(
            "NUMBA_DISABLE_JIT is set, so that nothing can be compiled: unset it, or play plain "
            "Python with engine='reference' (--engine reference)"
        )


def count_kept() -> int:
    """Return how many compiled functions are kept, numba's own among them."""
    return sum(1 for kind in ("*.o", "*/*.nbc") for _ in cache_folder().glob(kind))


def announce_compiling() -> None:
    """Say on stderr, once, that the engine has to be compiled first."""
    global announces
    if announces and why_not_kept():
        tell_unkept(why_not_kept())
        _say("compiling the engine, about half a minute ...")
    elif announces:
        _say("compiling the engine (first run only), about half a minute ...")
    announces = False


def tell_unkept(why: str) -> None:
    """Say on stderr, once, that what is compiled is not kept."""
    if not unkept and not hushed:
        _say(f"nothing that is compiled is kept: {why}; {CACHE_VARIABLE} names a folder for it")
    unkept.append(why)


def _say(text: str) -> None:
    # There is no stderr in a program without a console, and to print to None prints to stdout.
    if sys.stderr is not None:
        print(f"kozel_sim: {text}", file=sys.stderr, flush=True)


announces = True
"""Whether ``announce_compiling`` still has something to say."""
hushed = False
"""Whether nothing is said."""
unkept: list[str] = []
"""Why something that was compiled is not kept, each time that it was not."""
