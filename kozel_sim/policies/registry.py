"""The registry of policies: names, users' functions, and files of them."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import math
import os
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from importlib.metadata import EntryPoint, entry_points
from numbers import Real
from pathlib import Path
from typing import Any, overload

from kozel_sim.decision import Function, Ladder, Policy
from kozel_sim.features import FEATURES
from kozel_sim.files import read_code_text
from kozel_sim.names import is_word, read_name
from kozel_sim.policies.builtin import BUILTIN
from kozel_sim.policies.habits import CHANCE, MEMORY, find_chance, find_memory
from kozel_sim.policies.spec import (
    read_mix,
    read_pairs,
    read_prefer,
    read_weights,
    split_specs,
    write_decimal,
)
from kozel_sim.view import N_PARAMS
from kozel_sim.words import counted, did_you_mean, quoted, shorten, told

KEYWORDS = ("weights", "prefer", "mix")
PLUGINS = "kozel_sim.policies"
"""The entry point group of packages that bring policies; each names a module that registers."""


@dataclass(frozen=True)
class _Entry:
    """A registered name: what is played, its parameters' defaults, what to say of it."""

    part: Ladder | Function
    doc: str
    source: str
    defaults: dict[str, Decimal]
    home: tuple[str, str, str] | None


_registry: dict[str, _Entry] = {}


def _ladder_of(name: str) -> Ladder | None:
    """Return the ladder that a name is registered for, if it is one."""
    entry = _registry.get(name)
    return entry.part if entry and isinstance(entry.part, Ladder) else None


for _name, (_text, _doc, _source) in BUILTIN.items():
    _stages = read_prefer(_name, _text, _ladder_of)[1] if _text else Ladder()
    _registry[_name] = _Entry(_stages, _doc, _source, {}, None)
_plugins_are_loaded = False


def load_plugins() -> None:
    """Import the installed plug-ins, once; one that is broken is left out with a warning."""
    global _plugins_are_loaded
    if _plugins_are_loaded:
        return
    _plugins_are_loaded = True
    for plugin in sorted(entry_points(group=PLUGINS), key=lambda point: point.name):
        _load_plugin(plugin)


def _load_plugin(plugin: EntryPoint) -> None:
    home = f"{plugin.dist.name} {plugin.dist.version}" if plugin.dist else "an unknown package"
    before = dict(_registry)
    try:
        with _undisturbed():
            plugin.load()
    except KeyboardInterrupt:
        _restore(before)
        raise
    except BaseException as error:
        _restore(before)
        text = " ".join(f"{type(error).__name__}: {told(error)}".split())
        warnings.warn(
            f"the plug-in {plugin.name!r} of {home} is left out: {text}", UserWarning, stacklevel=2
        )
        return
    for name in _registry.keys() - before.keys():
        _registry[name] = replace(_registry[name], source=f"{home}, {_registry[name].source}")


def list_policies() -> list[str]:
    """Return the names of all registered policies, built-ins first.

    Returns
    -------
    list of str
        In the order of registration, with those of the plug-ins that are installed.

    Examples
    --------
    >>> list_policies()[:3]
    ['random', 'dump_heavy', 'dump_doubles']
    """
    load_plugins()
    return list(_registry)


class Policies(Mapping[str, Policy]):
    """Every registered policy by its name, and whatever else a spec names.

    Wherever a policy is wanted, its name alone will do. ``list(POLICIES)`` are the names, and a
    notebook completes them (``POLICIES["dump<Tab>``); ``POLICIES[spec]`` is ``get_policy(spec)``.

    Examples
    --------
    >>> POLICIES["dump_heavy"].doc
    'the tile with most pips'
    >>> "dump_heavy" in POLICIES, "no_such_policy" in POLICIES
    (True, False)
    """

    def __getitem__(self, spec: str) -> Policy:
        try:
            return get_policy(spec)
        except ValueError as error:
            raise KeyError(str(error)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(list_policies())

    def __len__(self) -> int:
        return len(list_policies())

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'policy')}: {', '.join(self)}>"

    def _ipython_key_completions_(self) -> list[str]:
        return list_policies()


POLICIES = Policies()


def policy_table() -> list[dict[str, str]]:
    """Return what is known of each registered policy: name, parameters, source, doc."""
    load_plugins()
    return [
        {
            "name": name,
            "parameters": ",".join(f"{k}={write_decimal(v)}" for k, v in entry.defaults.items()),
            "source": entry.source,
            "doc": entry.doc,
        }
        for name, entry in _registry.items()
    ]


def get_policy(spec: str | Policy) -> Policy:
    """Return the policy that a spec names.

    Parameters
    ----------
    spec : str or Policy
        A registered name, with parameters like ``careful:alpha=0.5`` where it has some; weights of
        features like ``weights:pips=1,double=3``; stages like ``prefer:hold_last>-lock``; or a
        mixture like ``mix:0.7*keep_range+0.3*random``. A Policy is returned as it is.

    Returns
    -------
    Policy
        Its name is the canonical spec: ``get_policy(policy.name) == policy``.

    Raises
    ------
    ValueError
        If the spec cannot be read, or a name, feature or parameter is unknown; the message lists
        the choices.
    TypeError
        If it is no text, such as a bare function.

    Examples
    --------
    >>> get_policy("weights:double=3,pips=1").name
    'weights:pips=1,double=3'
    """
    if isinstance(spec, Policy):
        return spec
    if not isinstance(spec, str):
        raise TypeError(
            f"a policy is named by a text like 'random' (a function by @policy), not {quoted(spec)}"
        )
    spec = read_name(spec)
    name, _, text = (word.strip() for word in spec.partition(":"))
    if name == "weights":
        return read_weights(spec, text)
    if name == "prefer":
        canonical, ladder = read_prefer(spec, text, _ladder_of)
        doc = "a ladder: each stage breaks the ties of those before it"
        return Policy(f"prefer:{canonical}", ((Fraction(1), ladder),), doc)
    if name == "mix":
        return _mixture(spec, text)
    if name not in _registry:
        load_plugins()
    entry = _registry.get(name)
    if entry is None:
        known = ", ".join([*_registry, "weights:...", "prefer:...", "mix:..."])
        hint = did_you_mean(name, [*_registry, *KEYWORDS])
        raise ValueError(f"unknown policy {quoted(name)}{hint}; choose from {known}")
    values = dict(entry.defaults)
    for key, number in (read_pairs(spec, text) if text else {}).items():
        if key not in values:
            known = ", ".join(values) or "none"
            raise ValueError(
                f"policy {name} has no parameter {quoted(key)}{did_you_mean(key, values)}; "
                f"its parameters: {known}"
            )
        if not math.isfinite(float(number)):
            raise ValueError(f"policy {name}: {key}={shorten(str(number))} is too large a number")
        values[key] = number
    changed = {k: v for k, v in values.items() if v != entry.defaults[k]}
    words = ",".join(f"{k}={write_decimal(v)}" for k, v in changed.items())
    part = entry.part
    if isinstance(part, Function):
        params = tuple(float(v) for v in values.values())
        part = Function(part.choose_code, part.source, params, part.words)
    return Policy(f"{name}:{words}" if words else name, ((Fraction(1), part),), entry.doc)


def _mixture(spec: str, text: str) -> Policy:
    """Build a mixture: its parts in the order of their names, equal ones as one."""
    shares = [(share, get_policy(component)) for share, component in read_mix(spec, text)]
    shares.sort(key=lambda each: each[1].name)
    merged: list[tuple[Fraction, Policy]] = []
    for share, component in shares:
        alike = [i for i, (_, other) in enumerate(merged) if other.parts == component.parts]
        if alike:
            merged[alike[0]] = (merged[alike[0]][0] + share, merged[alike[0]][1])
        else:
            merged.append((share, component))
    if len(merged) == 1:
        return merged[0][1]
    return Policy(
        name="mix:" + "+".join(f"{write_decimal(share)}*{p.name}" for share, p in merged),
        parts=tuple((share, p.parts[0][1]) for share, p in merged),
        doc="a mixture, drawn anew for every decision",
    )


@overload
def policy(function: Callable[..., int], /) -> Policy: ...
@overload
def policy(
    *, name: str | None = None, words: bool = False, **params: float
) -> Callable[[Callable[..., int]], Policy]: ...
def policy(
    function: Callable[..., int] | None = None,
    /,
    *,
    name: str | None = None,
    words: bool = False,
    **params: float,
) -> Policy | Callable[[Callable[..., int]], Policy]:
    """Register a function ``choose(view) -> move`` as a policy, under its own name.

    The function is compiled by numba when it is first played by the compiled engine, and run as
    plain Python by the reference engine; both must give the same moves. It sees a ``View`` and
    returns the code of a legal move: ``(tile + 1) << (8 * arm)``. It is asked only when there are
    two or more moves.

    Parameters
    ----------
    function : callable
        The function; ``@policy`` alone, or ``@policy(...)`` with the options below. Of one that
        numba has compiled already, the plain function is taken.
    name : str, optional
        The name to register, by default the function's own.
    words : bool, default False
        Fill ``view.words`` with four random words of the decision's own.
    **params : float
        Parameters and their defaults; the function finds them in ``view.params``, in this order.

    Returns
    -------
    Policy
        What ``get_policy(name)`` returns.

    Raises
    ------
    ValueError
        If the name is not a plain word or is taken by another policy, a parameter is not finite,
        or there are more than eight.
    TypeError
        If it is no plain function of exactly one argument, or a parameter is no number.

    Examples
    --------
    >>> @policy
    ... def first_legal(view):
    ...     for arm in range(4):
    ...         if view.legal[arm]:
    ...             for tile in range(28):
    ...                 if view.legal[arm] >> tile & 1:
    ...                     return (tile + 1) << (8 * arm)
    ...     return 0
    >>> first_legal.name
    'first_legal'
    """

    def register(function: Callable[..., int]) -> Policy:
        plain = _plain(function)
        called = plain.__name__ if name is None else read_name(str(name))
        return _register(plain, called, words, params)

    return register if function is None else register(function)


def ladder(name: str, stages: str, doc: str = "") -> Policy:
    """Register a ladder under a name: the stages of a ``prefer:`` spec, without code.

    Parameters
    ----------
    name : str
        The name; a ladder registered before under it is replaced.
    stages : str
        What to prefer, the most important first: ``"hold_last > long_suit?match > pips"``.
    doc : str, optional
        One line: what it does and where it comes from; by default the stages.

    Returns
    -------
    Policy
        What ``get_policy(name)`` returns.

    Raises
    ------
    ValueError
        If the name is no plain word or is taken, or a stage cannot be read.

    Examples
    --------
    >>> ladder("short_suits", "even_hand?range > -longest > pips").name
    'short_suits'
    """
    if not all(isinstance(word, str) for word in (name, stages)):
        raise TypeError(
            f"a ladder is a name and the text of its stages, not {quoted(name)}, {quoted(stages)}"
        )
    name, stages = read_name(name), read_name(stages)
    home = ("ladder", "", "")
    _check_name(name, home)
    text, stages_read = read_prefer(f"{name}: {stages}", stages, _ladder_of)
    _registry[name] = _Entry(stages_read, doc or f"prefers {text}", "user's ladder", {}, home)
    return get_policy(name)


def _check_name(name: str, home: tuple[str, str, str]) -> None:
    """Raise ValueError if a name cannot be given to a policy from there."""
    taken = _registry.get(name)
    if not is_word(name) or name in KEYWORDS:
        raise ValueError(f"{name!r} cannot name a policy: it must be a plain word")
    if name in FEATURES and taken is None:
        raise ValueError(f"{name!r} cannot name a policy: it is a feature's name")
    if taken is not None and taken.home != home:
        owner = taken.source if taken.home else "built in"
        raise ValueError(
            f"the name {name!r} is taken by another policy ({owner}); give it another one"
        )


def _register(
    function: Callable[..., int], name: str, words: bool, params: dict[str, float]
) -> Policy:
    path = Path(inspect.getsourcefile(function) or "").resolve()
    # A notebook's cell has no file; running it again replaces its policy.
    home = (function.__module__, function.__qualname__, str(path) if path.is_file() else "")
    _check_name(name, home)
    if len(params) > N_PARAMS:
        raise ValueError(f"policy {name} has {len(params)} parameters; at most {N_PARAMS} are kept")
    if not isinstance(words, bool):
        raise TypeError(f"policy {name}: words must be True or False, not {quoted(words)}")
    taken_in = inspect.signature(function, follow_wrapped=False).parameters.values()
    if [p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in taken_in] != [True]:
        raise TypeError(
            f"policy {name} must take one argument, the view: choose(view) -> move, "
            f"not {function.__name__}{inspect.signature(function, follow_wrapped=False)}"
        )
    defaults = {key: _number(name, key, value) for key, value in params.items()}
    if chance := find_chance(function):
        raise ValueError(f"policy {name} draws random numbers of its own, {chance}: {CHANCE}")
    if memory := find_memory(function):
        warnings.warn(f"policy {name} {memory}: {MEMORY}", UserWarning, stacklevel=3)
    text = _source_of(function)
    source = f"{_file_of(function)} sha256 {hashlib.sha256(text.encode()).hexdigest()[:12]}"
    doc = (inspect.getdoc(function) or "").partition("\n")[0]
    part = Function(function, text, tuple(map(float, defaults.values())), words)
    _registry[name] = _Entry(part, doc, source, defaults, home)
    return get_policy(name)


def _plain(function: object) -> types.FunctionType:
    """Return a plain function, also of one that numba has compiled; TypeError at anything else."""
    plain = getattr(function, "py_func", function)
    odd = (inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction)
    if not isinstance(plain, types.FunctionType) or any(kind(plain) for kind in odd):
        raise TypeError(
            f"a policy must be a plain function choose(view) -> move, not {quoted(function)}"
        )
    return plain


def _number(policy: str, key: str, value: object) -> Decimal:
    """Return a parameter's default as a decimal; raise unless it is a finite number with a name."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"policy {policy}: {key}={quoted(value)} is not a number")
    if not re.fullmatch(r"\w+", key):
        raise ValueError(f"policy {policy}: {key!r} cannot name a parameter")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"policy {policy}: {key}={quoted(value)} is not a finite number")
    return Decimal(repr(number))


def _file_of(function: Callable[..., Any]) -> str:
    path = Path(inspect.getsourcefile(function) or "")
    return path.name if path.is_file() and path.suffix == ".py" else "notebook or prompt"


def _source_of(function: Callable[..., Any]) -> str:
    """Return the whole file's text, so that helpers beside the function count too."""
    path = Path(inspect.getsourcefile(function) or "")
    if path.is_file():
        return read_code_text(path)
    try:
        return inspect.getsource(function)
    except OSError:
        return repr(function.__code__.co_code)


@contextmanager
def set_aside() -> Iterator[None]:
    """Leave only the built-in names for a while, and forget what is registered meanwhile."""
    before = dict(_registry)
    for name in before.keys() - BUILTIN.keys():
        del _registry[name]
    try:
        yield
    finally:
        _restore(before)


def load_code(path: str | Path) -> list[str]:
    """Run a Python file that registers policies; return the names that are new.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    list of str
        The names of the policies, for use wherever a policy is named.

    Raises
    ------
    ValueError
        If the file cannot be read or run, or registers nothing; the message names file and line.

    Examples
    --------
    ``load_code("few_left.py")`` is ``["few_left"]`` if the file has that one. A file that is not
    there:

    >>> load_code("few_left.py")
    Traceback (most recent call last):
    ValueError: no Python file at few_left.py
    """
    path = Path(path)
    before = dict(_registry)
    # numba writes the module's name in UTF-8, in which not all names of files can be.
    stem = read_name(path.stem).encode(errors="replace").decode()
    there = path.is_file()
    name = f"kozel_policies_{stem}"
    spec = importlib.util.spec_from_file_location(name, path.resolve()) if there else None
    if spec is None or spec.loader is None:
        raise ValueError(f"no Python file at {path}")
    read_code_text(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        with _undisturbed():
            spec.loader.exec_module(module)
    except KeyboardInterrupt:
        _restore(before)
        raise
    except BaseException as error:
        _restore(before)
        if isinstance(error, SyntaxError) and Path(error.filename or "") == path.resolve():
            raise ValueError(f"{path}, line {error.lineno}: {error.msg}") from None
        line = _line_in(path, error)
        text = told(error) if _is_ours(error) else shorten(told(error))
        raise ValueError(f"{path}{line}: {type(error).__name__}: {text}") from None
    new = [name for name in _registry if before.get(name) is not _registry[name]]
    if not new:
        raise ValueError(f"{path} registers no policy; put @policy above a function choose(view)")
    return new


def _is_ours(error: BaseException) -> bool:
    """Tell whether an error is raised by kozel_sim, whose messages are as long as they must be."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    home = "" if trace is None else str(trace.tb_frame.f_globals.get("__name__"))
    return home.partition(".")[0] == "kozel_sim"


def _restore(before: dict[str, _Entry]) -> None:
    _registry.clear()
    _registry.update(before)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let somebody's code be imported: it may change the working folder for itself alone.

    A run's folder is named from where the program was started.
    """
    before = None
    with suppress(OSError):  # it may have been removed
        before = Path.cwd()
    try:
        yield
    finally:
        if before is not None:
            with suppress(OSError):
                os.chdir(before)


def _line_in(path: Path, error: BaseException) -> str:
    """Return ', line N' of the last place in a file where an error passed."""
    lines = []
    trace = error.__traceback__
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename) == path.resolve():
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return f", line {lines[-1]}" if lines else ""


def read_policies(specs: str | Sequence[str | Policy]) -> list[Policy]:
    """Return policies from a list of specs, or from one comma-separated text.

    Raises
    ------
    TypeError
        If it is neither, or something in it is not a policy's spec.
    """
    if isinstance(specs, Policy) or not isinstance(specs, Iterable):
        raise TypeError(f"policies are a list of specs, or a text with commas, not {quoted(specs)}")
    return [get_policy(s) for s in (split_specs(specs) if isinstance(specs, str) else specs)]
