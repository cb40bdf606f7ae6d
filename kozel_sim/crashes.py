"""A process that stands by while a command runs users' code, and tells if that ends the process.

Compiled code that recurses without end, or writes where it must not, takes the whole process with
it: nothing of Python's runs any more. So the command line runs such a command in a child of its
own; the parent waits, clears up what the child left, and says what it was.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from kozel_sim.performing import parts_in
from kozel_sim.words import in_one_line, shorten

if TYPE_CHECKING:
    from kozel_sim.decision import Policy

_SENT_BY_OTHERS = ("SIGTERM", "SIGINT", "SIGHUP", "SIGPIPE", "SIGQUIT", "SIGALRM")
_PASSED_ON = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
_MOST_NAMED = 10
"""How many policies a message names."""
_MOMENT = 1.0
"""Seconds that a child has to end by itself, of a signal that it may have got too."""
_notes: int | None = None
"""Where the child writes its notes; None in any other process."""


def stand_by(words: Sequence[str]) -> None:
    """Return in a child process, if the command's words may bring users' code; else at once.

    Only where this process is the command line's own, and where processes can fork.
    """
    brings_code = any(
        word.partition("=")[0] == "--code" or word.endswith(".toml") for word in words
    )
    main = getattr(sys.modules.get("__main__"), "__file__", None) or ""
    if brings_code and Path(main).stem == "kozel" and hasattr(signal, "pthread_sigmask"):
        _fork()


def look_after(policies: Sequence[Policy], folder: Path | None) -> None:
    """Let the process that stands by know who plays, and into which folder."""
    from kozel_sim.decision import Function

    if _notes is None:
        return
    whole = None if folder is None else folder.absolute()
    made = [str(p) for p in (whole, *whole.parents) if not p.exists()] if whole else []
    names = [
        policy.name
        for policy in policies
        if any(isinstance(part, Function) for _, part in policy.parts)
    ]
    named = [shorten(name) for name in names[:_MOST_NAMED]]
    _note(
        policies=named,
        players=len(names),
        made=made,
        folder=None if folder is None else str(folder),
    )


def ends_by_itself() -> None:
    """Let the process that stands by know that the command came to its end."""
    if _notes is not None:
        _note(ended=True)


def _note(**facts: Any) -> None:
    if _notes is not None:
        os.write(_notes, json.dumps(facts).encode() + b"\n")


def _fork() -> None:
    global _notes
    sys.stdout.flush()
    sys.stderr.flush()
    read, write = os.pipe()
    alive, kept_open = os.pipe()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {*_PASSED_ON, signal.SIGCHLD})
    child = os.fork()
    if child:
        os.close(write)
        os.close(alive)
        _wait(child, read)
    os.close(read)
    os.close(kept_open)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    _notes = write
    threading.Thread(target=_end_with_parent, args=(alive,), daemon=True).start()


def _end_with_parent(alive: int) -> None:
    os.read(alive, 1)
    os.kill(os.getpid(), signal.SIGKILL)


def _wait(child: int, notes: int) -> NoReturn:
    """Pass signals on to the child, and end as it does."""
    facts: dict[str, Any] = {}
    # A pipe that nobody reads is full at some time, and then the child would wait for ever.
    reader = threading.Thread(target=_read_notes, args=(notes, facts), daemon=True)
    reader.start()
    status = _end_of(child)
    # A process of the child's may outlive it, and keep the pipe open.
    reader.join(_MOMENT)
    code = os.waitstatus_to_exitcode(status)
    if code >= 0 and facts.get("ended"):
        os._exit(code)
    if code < 0 and signal.Signals(-code).name in _SENT_BY_OTHERS:
        signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {-code})
        os.kill(os.getpid(), -code)
    print(f"kozel: error: {in_one_line(_tell(code, facts))}", file=sys.stderr, flush=True)
    os._exit(2)


def _read_notes(notes: int, facts: dict[str, Any]) -> None:
    with os.fdopen(notes, encoding="utf-8") as lines:
        for line in lines:
            facts |= json.loads(line)


def _end_of(child: int) -> int:
    """Return the child's status at its end; pass on meanwhile what it has not got by itself."""
    passed: set[int] = set()
    status = _status(child)
    while status is None:
        caught, sender = _next_signal()
        # What a terminal sends, the child has got by itself; so it has what was sent to the whole
        # group of processes, of which it ends within a moment.
        if caught in _PASSED_ON and sender and caught not in passed:
            passed.add(caught)
            status = _status(child, _MOMENT)
            if status is None:
                os.kill(child, caught)
        else:
            status = _status(child)
    return status


def _status(child: int, seconds: float = 0.0) -> int | None:
    """Return the child's status if it ends within so many seconds; None if it still runs."""
    until = time.monotonic() + seconds
    while True:
        number, status = os.waitpid(child, os.WNOHANG)
        if number:
            return status
        if time.monotonic() >= until:
            return None
        time.sleep(0.02)


def _next_signal() -> tuple[int, int]:
    """Wait for a signal; return it and the process that sent it, 0 for the system."""
    awaited = {*_PASSED_ON, signal.SIGCHLD}
    if hasattr(signal, "sigtimedwait"):
        found = signal.sigtimedwait(awaited, 1)
        return (found.si_signo, found.si_pid) if found else (0, 0)
    caught = signal.sigwait(awaited)
    return caught, int(caught != signal.SIGINT)


def _tell(code: int, facts: dict[str, Any]) -> str:
    """Say how a policy's code ended the process, and what is kept of the run."""
    names = facts.get("policies") or []
    more = facts.get("players", 0) - len(names)
    listed = ", ".join(names) + (f" and {more:,} more" if more else "")
    who = {0: "a policy's code", 1: f"the code of policy {listed}"}.get(
        len(names), f"the code of one of the policies {listed}"
    )
    if code >= 0:
        what = f"ended the process by itself (exit code {code})"
    elif signal.Signals(-code).name == "SIGKILL":
        what = "was killed with its process, perhaps for lack of memory"
    else:
        what = (
            f"crashed the process ({signal.strsignal(-code)}): such is a recursion without end, or "
            "a write outside its memory"
        )
    kept = ""
    if facts.get("folder"):
        from kozel_sim.store import clear_up

        parts = clear_up(Path(facts["folder"]), [Path(p) for p in facts["made"]])
        kept = parts_in(facts["folder"], parts) if parts else ""
    return f"{who} {what}; kozel check-policy tells in which position{kept}"
