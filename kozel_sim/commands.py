"""The commands that play a run again, or one match of it, from what its manifest has."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from typing import Any

from kozel_sim.experiment import Experiment
from kozel_sim.policies import describe_policy, get_policy, ladder
from kozel_sim.policies.registry import set_aside
from kozel_sim.presets import PRESETS
from kozel_sim.rules import RuleSet
from kozel_sim.schedule import seatings

CODE = "--code FILE"
"""Stands in a command for the file of a policy that is a function."""


def replay_command(
    rules: RuleSet, seated: Sequence[dict[str, Any]], seed: int, deal: int, seating: int
) -> str:
    """Return the ``kozel replay`` that plays a match again, and writes it as a page.

    Parameters
    ----------
    rules : RuleSet
        The match's rules.
    seated : sequence of dict
        The policy at each seat, as ``describe_policy`` describes it.
    seed, deal, seating : int
        The match's numbers.

    Examples
    --------
    >>> random = {"name": "random", "parts": [{"share": "1", "ladder": "random"}]}
    >>> rules = RuleSet.preset("room-fish-one", 2).replace(target=51)
    >>> replay_command(rules, [random] * 2, 1, 7, 0)
    'kozel replay --rules room-fish-one --players 2 --set target=51 --policies random,random
    --seed 1 --deal 7 --seating 0 --html match.html'
    """
    entrants = [seated[0]] * len(seated)
    for seat, entrant in enumerate(seatings(len(seated))[seating]):
        entrants[entrant] = seated[seat]
    words = ["kozel", "replay", *_rules_words([rules]), "--policies", _specs(entrants)]
    numbers: list[Any] = ["--seed", seed, "--deal", deal, "--seating", seating]
    return _line([*words, *numbers, "--html", "match.html"], entrants)


def run_command(manifest: dict[str, Any], out: str = "again") -> tuple[str, str] | None:
    """Return what plays a run again: a command line, and the experiment's file if it needs one.

    It writes to the folder `out`; where that holds this very run, it plays what is not there.

    None where no command can: rule sets that were put together in Python, and the like.
    """
    rules = [RuleSet.from_knobs(each["knobs"], each["base"]) for each in manifest["rules"]]
    policies, design = manifest["policies"], str(manifest["design"])
    if design.startswith("seating"):
        return None
    plain = "shard" not in manifest and all(map(_is_known, policies))
    if plain and manifest.get("pairs") in (None, [[0, 1]]) and _alike(rules):
        command: list[Any] = ["tournament", *_rules_words(rules), "--policies", _specs(policies)]
        if "pairs" in manifest:
            if len(policies) != 2:
                return None
            command = ["compare", *(_spec(each) for each in policies), *_rules_words(rules)]
        elif design != "rotations":
            command += ["--design", design]
        command += ["-n", manifest["deals"], "--seed", manifest["seed"]]
        return _line(["kozel", *command, *_manner(manifest), "-o", out], policies), ""
    file = _experiment(manifest, rules)
    if file is None:
        return None
    command = ["kozel", "run", "experiment.toml", *_manner(manifest), "-o", out]
    return _line(command, []), file


def _manner(manifest: dict[str, Any]) -> list[str]:
    """Return the options of how a run is played and kept."""
    found = [f"--{name}" for name in ("aggregate", "rounds") if manifest.get(name)]
    for name in ("stop", "shard"):
        found += [f"--{name}", manifest[name]] if manifest.get(name) else []
    return found


def _line(words: Sequence[Any], policies: Sequence[dict[str, Any]]) -> str:
    """Return words as a shell reads them, with a place for the code of functions."""
    line = shlex.join(map(str, words))
    functions = any("function" in part for each in policies for part in each["parts"])
    return f"{line} {CODE}" if functions else line


# ---------------------------------------------------------------------- policies


def _specs(policies: Sequence[dict[str, Any]]) -> str:
    return ",".join(_spec(each) for each in policies)


def _spec(policy: dict[str, Any]) -> str:
    """Return a policy's spec; of ladders that an experiment's file has named, their stages."""
    if _is_known(policy):
        return str(policy["name"])
    parts = policy["parts"]
    if len(parts) == 1:
        return str(parts[0]["ladder"])
    shares = [Fraction(part["share"]) for part in parts]
    decimals = [Decimal(each.numerator) / each.denominator for each in shares]
    return "mix:" + "+".join(
        f"{share:f}*{part['ladder']}" for share, part in zip(decimals, parts, strict=True)
    )


def in_python(policy: dict[str, Any]) -> str:
    """Return a policy as an argument in Python; a ladder that somebody named keeps its name."""
    if len(policy["parts"]) > 1 or _is_known(policy):
        return repr(_spec(policy))
    return f"ladder({policy['name']!r}, {policy['parts'][0]['ladder'].removeprefix('prefer:')!r})"


def _is_known(policy: dict[str, Any], ladders: dict[str, str] | None = None) -> bool:
    """Tell whether a policy's name says what it is, to whom knows what is built in, and ladders."""
    if any("function" in part for part in policy["parts"]):
        return True
    with set_aside():
        try:
            for name, stages in (ladders or {}).items():
                ladder(name, stages)
            return describe_policy(get_policy(policy["name"])) == policy
        except ValueError:
            return False


# ---------------------------------------------------------------------- rules


def _rules_words(rules: Sequence[RuleSet]) -> list[str]:
    """Return the options that name rule sets which are `_alike`."""
    names = ",".join(_preset(each) for each in rules)
    words = ["--rules", names, "--players", str(rules[0].players)]
    for knob, value in _changes(rules[0]).items():
        words += ["--set", f"{knob}={_word(value)}"]
    return words


def _preset(rules: RuleSet) -> str:
    return rules.base if rules.base in PRESETS else "room-fish-all"


def _changes(rules: RuleSet) -> dict[str, Any]:
    """Return the knobs that differ from the preset's."""
    return {k: mine for k, (mine, _) in rules.diff(RuleSet.preset(_preset(rules),
            rules.players)).items()}  # fmt: skip


def _word(value: Any) -> str:
    """Write a knob's value as the command line takes it."""
    if isinstance(value, list):
        return "+".join(value) or "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _alike(rules: Sequence[RuleSet]) -> bool:
    """Tell whether one --players and the same --set make all rule sets, each of a preset."""
    first = rules[0]
    return all(
        each.base in PRESETS and each.players == first.players and _changes(each) == _changes(first)
        for each in rules
    )


# ---------------------------------------------------------------------- an experiment's file


def _experiment(manifest: dict[str, Any], rules: Sequence[RuleSet]) -> str | None:
    """Return an experiment's file that plans the same rule sets and field, or None."""
    policies = manifest["policies"]
    if any("function" in part for each in policies for part in each["parts"]):
        return None
    base = rules[0].base
    variants = [_changes(each) for each in rules if each.base == base and _changes(each)]
    values: dict[str, Any] = {
        "name": "again",
        "seed": manifest["seed"],
        "deals": manifest["deals"],
        "rules": list(dict.fromkeys(each.base for each in rules)),
        "players": list(dict.fromkeys(each.players for each in rules)),
    }
    names = [each["name"] for each in policies]
    if "pairs" in manifest:
        values["duels"] = [[names[i] for i in pair] for pair in manifest["pairs"]]
        listed = list(dict.fromkeys(chain.from_iterable(values["duels"])))
        if listed != names:
            return None
    else:
        values["policies"] = names
        values["design"] = manifest["design"]
    values["variants"] = [each for i, each in enumerate(variants) if each not in variants[:i]]
    ladders = {
        each["name"]: each["parts"][0]["ladder"].removeprefix("prefer:")
        for each in policies
        if ":" not in each["name"] and not _is_known(each)
    }
    try:
        same = Experiment.read(values, "the run").rule_sets() == list(rules)
    except ValueError:
        same = False
    same &= all(_is_known(each, ladders) for each in policies)
    return _toml(values, ladders) if same else None


def _toml(values: dict[str, Any], ladders: dict[str, str]) -> str:
    """Write an experiment's file; texts are written as in JSON, which is TOML too."""

    def written(value: Any) -> str:
        if isinstance(value, dict):
            return "{ " + ", ".join(f"{k} = {written(v)}" for k, v in value.items()) + " }"
        if isinstance(value, list):
            inside = [written(each) for each in value]
            if len(inside) > 1 and sum(map(len, inside)) > 70:
                return "[\n" + "".join(f"    {each},\n" for each in inside) + "]"
            return "[" + ", ".join(inside) + "]"
        return json.dumps(value, ensure_ascii=False)

    lines = [f"{key} = {written(value)}" for key, value in values.items() if value != []]
    if ladders:
        lines += ["", "[ladders]"]
        lines += [f"{written(name)} = {written(text)}" for name, text in ladders.items()]
    return "\n".join(lines) + "\n"
