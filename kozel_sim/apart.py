"""Run code in a process of its own, which is ended when it does not answer in time.

Compiled code cannot be interrupted, so what a user wrote is tried out where it can be killed.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from kozel_sim.decision import Function, Policy

PATIENCE = 600.0
"""Seconds for what the package does itself, such as compiling."""


class NoAnswerError(Exception):
    """The process was silent for too long, or died; the message says where."""


class Teller:
    """What the process apart tells with."""

    def __init__(self, send: Callable[..., None]) -> None:
        self._send = send

    def at(self, place: str) -> None:
        """Say what is tried next; it must be over within the time limit."""
        self._send("at", place, True)

    def preparing(self, what: str) -> None:
        """Say what is done next that has no time limit."""
        self._send("at", what, False)

    def news(self, value: Any) -> None:
        """Hand a part of the result over."""
        self._send("news", value)


def run_apart(
    target: Callable[..., Any],
    *args: Any,
    limit: float,
    told: Callable[[Any], None] = lambda value: None,
) -> Any:
    """Return ``target(teller, *args)`` as a new process computes it.

    Parameters
    ----------
    target : callable
        A function of a module.
    *args
        What can be pickled, and Policies; a user's functions go over by value.
    limit : float
        Seconds between two words of the teller.
    told : callable, optional
        Called with each piece of news.

    Raises
    ------
    NoAnswerError
        If the limit passes, or the process dies.
    ValueError
        As raised there.
    """
    words: queue.Queue[tuple[Any, ...]] = queue.Queue()
    command = [sys.executable, "-c", "from kozel_sim.apart import serve; serve()"]
    path = os.pathsep.join(place or os.getcwd() for place in sys.path)
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    ) as process:
        threading.Thread(target=_listen, args=(process.stdout, words), daemon=True).start()
        try:
            with suppress(BrokenPipeError):
                assert process.stdin is not None
                process.stdin.write(_packed(target, args))
                process.stdin.flush()
            return _hear(words, process, limit, told)
        finally:
            process.kill()


def _hear(
    words: queue.Queue[tuple[Any, ...]],
    process: subprocess.Popen[bytes],
    limit: float,
    told: Callable[[Any], None],
) -> Any:
    place, wait = "starting", PATIENCE
    while True:
        try:
            kind, *values = words.get(timeout=wait)
        except queue.Empty:
            raise NoAnswerError(f"no answer within {wait:g} s: {place}") from None
        if kind == "at":
            place, wait = values[0], limit if values[1] else PATIENCE
        elif kind == "news":
            told(values[0])
        elif kind == "done":
            return values[0]
        elif kind == "refused":
            raise ValueError(values[0])
        elif kind == "broken":
            raise RuntimeError(f"{place}:\n{values[0]}")
        else:
            code = process.wait()
            raise NoAnswerError(f"the process ended (exit code {code}): {place}")


def _listen(stream: Any, words: queue.Queue[tuple[Any, ...]]) -> None:
    # ValueError: closed at this end.
    with suppress(EOFError, OSError, ValueError, pickle.UnpicklingError):
        while True:
            words.put(pickle.load(stream))
    words.put(("ended",))


def _packed(target: Callable[..., Any], args: tuple[Any, ...]) -> bytes:
    """Pickle a call; functions of users' modules, which cannot be imported there, by value."""
    from numba import cloudpickle

    functions = [
        part.choose_code
        for arg in args
        for policy in (arg if isinstance(arg, list) else [arg])
        if isinstance(policy, Policy)
        for _, part in policy.parts
        if isinstance(part, Function)
    ]
    modules = [sys.modules[f.__module__] for f in functions if f.__module__ in sys.modules]
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    try:
        homes = [module.__name__ for module in modules]
        return pickle.dumps(homes) + bytes(cloudpickle.dumps((target, args)))
    finally:
        for name in {module.__name__ for module in modules}:
            cloudpickle.unregister_pickle_by_value(sys.modules[name])


def serve() -> None:
    """Do in a new process what ``run_apart`` asks for on its standard input."""
    stream = os.fdopen(os.dup(1), "wb")
    # What the code prints must not get between the words.
    os.dup2(2, 1)
    source = sys.stdin.buffer
    for home in pickle.load(source):
        # numba looks a function's module up, though nothing of it is needed.
        if home not in sys.modules and find_spec(home) is None:
            sys.modules[home] = ModuleType(home)
    target, args = pickle.load(source)
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115

    def send(*word: Any) -> None:
        pickle.dump(word, stream)
        stream.flush()

    def end_with_parent() -> None:
        source.read()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
    try:
        send("done", target(Teller(send), *args))
    except ValueError as error:
        send("refused", str(error))
    except BaseException:
        send("broken", traceback.format_exc())
    stream.close()
    os._exit(0)
