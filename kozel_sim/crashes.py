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
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from kozel_sim.words import counted

if TYPE_CHECKING:
    from kozel_sim.decision import Policy

_SENT_BY_OTHERS = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGPIPE", "SIGQUIT", "SIGALRM")
_PASSED_ON = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
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
    _note(policies=names, folder=None if folder is None else str(folder), made=made)


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
    while True:
        number, status = os.waitpid(child, os.WNOHANG)
        if number:
            break
        caught, sender = _next_signal()
        # What a terminal sends, the child has got by itself.
        if caught in _PASSED_ON and sender:
            os.kill(child, caught)
    facts: dict[str, Any] = {}
    with os.fdopen(notes, encoding="utf-8") as lines:
        for line in lines:
            facts |= json.loads(line)
    code = os.waitstatus_to_exitcode(status)
    if code >= 0 and facts.get("ended"):
        os._exit(code)
    if code < 0 and signal.Signals(-code).name in _SENT_BY_OTHERS:
        signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {-code})
        os.kill(os.getpid(), -code)
    print(f"kozel: error: {_tell(code, facts)}", file=sys.stderr, flush=True)
    os._exit(2)


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
    who = {0: "a policy's code", 1: f"the code of policy {names[0] if names else ''}"}.get(
        len(names), f"the code of one of the policies {', '.join(names)}"
    )
    if code >= 0:
        what = f"ended the process by itself (exit code {code})"
    else:
        what = (
            f"crashed the process ({signal.strsignal(-code)}): such is a recursion without end, or "
            "a write outside its memory"
        )
    kept = ""
    if facts.get("folder"):
        from kozel_sim.store import clear_up

        parts = clear_up(Path(facts["folder"]), [Path(p) for p in facts["made"]])
        if parts:
            where = f"{counted(parts, 'part is', 'parts are')} in {facts['folder']}"
            kept = f"; {where}, and the same command goes on"
    return f"{who} {what}; kozel check-policy tells in which position{kept}"
