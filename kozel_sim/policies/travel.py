"""Policies as plain JSON values: noted in a manifest, and built again on another machine."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from kozel_sim.decision import Function, Ladder, Policy
from kozel_sim.fingerprint import fingerprint
from kozel_sim.policies.registry import get_policy, set_aside
from kozel_sim.policies.spec import read_prefer, write_ladder


def describe_policy(policy: Policy) -> dict[str, Any]:
    """Return all that a policy is, as JSON values.

    Returns
    -------
    dict
        ``name``, and ``parts``: each with its ``share`` and either its ``ladder``, or of a function
        its ``function`` (name), ``source`` (text), ``params``, ``words`` and ``fingerprint``.
    """
    parts: list[dict[str, Any]] = []
    for share, part in policy.parts:
        if isinstance(part, Ladder):
            parts.append({"share": str(share), "ladder": write_ladder(part)})
        else:
            parts.append(
                {
                    "share": str(share),
                    "function": part.choose_code.__name__,
                    "source": part.source,
                    "params": list(part.params),
                    "words": part.words,
                    "fingerprint": fingerprint(part.choose_code),
                }
            )
    return {"name": policy.name, "parts": parts}


def rebuild_policy(described: dict[str, Any]) -> Policy:
    """Build the policy that ``describe_policy`` has described; a function's source is run.

    Raises
    ------
    ValueError
        If its source cannot be run by itself, or gives another function; the message says why.

    Examples
    --------
    >>> from kozel_sim import get_policy
    >>> policy = get_policy("mix:0.5*random+0.5*dump_heavy")
    >>> rebuild_policy(describe_policy(policy)) == policy
    True
    """
    name = described["name"]
    parts = tuple(
        (
            Fraction(part["share"]),
            _rebuild_ladder(part["ladder"]) if "ladder" in part else _rebuild_function(name, part),
        )
        for part in described["parts"]
    )
    return Policy(name, parts)


def find_policy(described: dict[str, Any]) -> Policy:
    """Return the policy that was described, without running any code that comes with it.

    Raises
    ------
    ValueError
        If it is a user's function and not registered here, or not the same.
    """
    if all("ladder" in part for part in described["parts"]):
        return rebuild_policy(described)
    name = described["name"]
    try:
        policy = get_policy(name)
    except ValueError:
        raise ValueError(
            f"policy {name} is a function and not known here; name its file with --code"
        ) from None
    if describe_policy(policy) != described:
        raise ValueError(f"policy {name} is not the one that was played: its source has changed")
    return policy


def _rebuild_ladder(text: str) -> Ladder:
    stages = text.removeprefix("prefer:")
    return Ladder() if text == "random" else read_prefer(text, stages, lambda _: None)[1]


def _rebuild_function(name: str, part: dict[str, Any]) -> Function:
    """Run a policy's source by itself and take its function."""
    wanted = part["function"]
    # As a file of policies it would be read beside those of the same names that are there already.
    with set_aside():
        scope: dict[str, Any] = {"__name__": f"policy of {name}"}
        try:
            exec(compile(part["source"], f"<{name}>", "exec"), scope)
            found = scope[wanted]
        except (Exception, SystemExit) as error:
            raise ValueError(
                f"policy {name} cannot be built from its source alone ({type(error).__name__}: "
                f"{error}); write it in a file that imports all it needs"
            ) from None
    inner = found.parts[0][1] if isinstance(found, Policy) else None
    function = inner.choose_code if isinstance(inner, Function) else found
    if fingerprint(function) != part["fingerprint"]:
        raise ValueError(
            f"policy {name} built from its source is not the one that was played: it reads values "
            "that its source does not set"
        )
    return Function(function, part["source"], tuple(part["params"]), part["words"])
