"""The options that commands share, and how their texts are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from glob import escape, glob
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kozel_sim.performing import prints_aside
from kozel_sim.words import quoted

if TYPE_CHECKING:
    from kozel_sim.decision import Policy
    from kozel_sim.rules import RuleSet
    from kozel_sim.stopping import SprtStop
    from kozel_sim.stopping import Stop as StopRule
    from kozel_sim.tournaments import Mapper


def whole(text: str) -> int:
    """Read a whole number; what is none is named in the complaint."""
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{quoted(text)} is not a whole number") from None


def number(*names: str, help: str) -> Any:
    """Return an option that takes a whole number."""
    return typer.Option(*names, parser=whole, metavar="N", help=help)


# ---------------------------------------------------------------------- completion in a shell


def last_of(names: Iterable[str], incomplete: str) -> list[str]:
    """Return the names that may end a list of names separated by commas."""
    before, comma, start = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in names if name.startswith(start)]


def complete_presets(incomplete: str) -> list[str]:
    """Return the presets that a word may become."""
    from kozel_sim.presets import PRESETS

    return last_of(PRESETS, incomplete)


def complete_policies(incomplete: str) -> list[str]:
    """Return the policies that a word may become, those of plug-ins among them."""
    from kozel_sim.policies import list_policies

    return last_of(list_policies(), incomplete)


def complete_knobs(incomplete: str) -> list[str]:
    """Return the changes of a knob that a word may become: ``knob=value``, ``knob=`` of numbers."""
    from kozel_sim.rules import RuleSet, knob_choices

    changes = []
    for name, field in RuleSet.model_fields.items():
        values = ("true", "false") if field.annotation is bool else knob_choices(name)
        words = [value for value in values if isinstance(value, str | int)]
        changes += [f"{field.alias or name}={word}" for word in words or [""] if name != "base"]
    return last_of(changes, incomplete)


def complete_engines(incomplete: str) -> list[str]:
    """Return the engines that a word may become."""
    from kozel_sim.checks import ENGINES

    return [name for name in ENGINES if name.startswith(incomplete)]


def complete_paths(incomplete: str, ending: str) -> list[str]:
    """Return the folders, and the files with this ending, that a path may become."""
    paths = glob(f"{escape(incomplete)}*")
    found = (path + "/" * Path(path).is_dir() for path in paths)
    return sorted(path for path in found if path.endswith(("/", ending)))


def complete_experiments(incomplete: str) -> list[str]:
    """Return the experiments' files that a path may become, and the folders on the way."""
    return complete_paths(incomplete, ".toml")


def complete_code(incomplete: str) -> list[str]:
    """Return the Python files that a path may become, and the folders on the way."""
    return complete_paths(incomplete, ".py")


def complete_checked(incomplete: str) -> list[str]:
    """Return what can be checked that a word may become: policies, and Python files."""
    return [*complete_policies(incomplete), *complete_code(incomplete)]


def complete_folders(incomplete: str) -> list[str]:
    """Return the folders that a path may become."""
    return complete_paths(incomplete, "/")


Matches = Annotated[
    int | None,
    number("-n", "--matches", help="Deals per table (each is played from every seat)."),
]
Seed = Annotated[int | None, number("--seed", help="Fixes all luck; drawn if not given.")]
FixedSeed = Annotated[int, number("--seed", help="Fixes all luck.")]
EngineName = Annotated[
    str,
    typer.Option(
        "--engine",
        help="auto, vector, scalar or reference (plain Python); the results are the same.",
        autocompletion=complete_engines,
    ),
]
Workers = Annotated[
    int, number("-j", "--workers", help="Threads, 0 for one per core; the results are the same.")
]
Out = Annotated[Path | None, typer.Option("-o", "--out", help="Folder to write the run to.")]
RulesOption = Annotated[
    str,
    typer.Option("--rules", help="Presets, separated by commas.", autocompletion=complete_presets),
]
Players = Annotated[int | None, number("--players", help="2, 3 or 4; by default 4.")]
Policies = Annotated[
    str | None,
    typer.Option(
        "--policies",
        help="Policy specs, separated by commas.",
        autocompletion=complete_policies,
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Change a knob: knob=value; may be repeated.",
        autocompletion=complete_knobs,
    ),
]
Code = Annotated[
    list[Path] | None,
    typer.Option(
        "--code",
        help="A Python file of policies; may be repeated.",
        autocompletion=complete_code,
    ),
]
Baseline = Annotated[
    str | None,
    typer.Option(
        "--rules",
        help="Presets; the first is the baseline.",
        autocompletion=complete_presets,
    ),
]
Vary = Annotated[
    list[str] | None,
    typer.Option(
        "--vary",
        help="knob=value,value: more rule sets from the first preset.",
        autocompletion=complete_knobs,
    ),
]
ExperimentFile = Annotated[
    Path, typer.Argument(help="An experiment file (TOML).", autocompletion=complete_experiments)
]
ExperimentOrRules = Annotated[
    Path | None,
    typer.Argument(
        help="An experiment file (TOML); or name --rules.", autocompletion=complete_experiments
    ),
]
PresetName = Annotated[
    str | None,
    typer.Argument(help="A preset, to see its knobs.", autocompletion=complete_presets),
]
Diff = Annotated[
    str | None,
    typer.Option("--diff", help="Another preset.", autocompletion=complete_presets),
]
Checked = Annotated[
    str,
    typer.Argument(
        metavar="FILE[:NAME]",
        help="A Python file of policies, or a spec.",
        autocompletion=complete_checked,
    ),
]
First = Annotated[str, typer.Argument(help="A policy.", autocompletion=complete_policies)]
Second = Annotated[
    str,
    typer.Argument(help="The policy that it is compared with.", autocompletion=complete_policies),
]
Design = Annotated[
    str,
    typer.Option(
        "--design", help="Who meets whom: rotations, permutations, duels, gauntlet or teams."
    ),
]
Aggregate = Annotated[
    bool,
    typer.Option("--aggregate", help="Keep sums instead of a frame: memory does not grow."),
]
Rounds = Annotated[
    bool, typer.Option("--rounds", help="Keep a frame of rounds, too: one row per round and seat.")
]
Stop = Annotated[
    str | None,
    typer.Option(
        "--stop",
        help="Stop when sure: width=0.002 (of intervals), or sprt (who is better); -n is the most.",
    ),
]
Equivalent = Annotated[
    str | None,
    typer.Option(
        "--equivalent",
        help="As good as equal within so much: 0.5 (percentage points of goat rate), or "
        "2,metric=points_per_match.",
    ),
]
Shard = Annotated[
    str | None,
    typer.Option(
        "--shard", help="i/n: every n-th part alone, from the i-th on; kozel merge joins them."
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask", help="Play on a Dask cluster: a scheduler's address, or local; needs the extra."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]


# ---------------------------------------------------------------------- reading options


def read_code(paths: list[Path] | None) -> list[str]:
    """Load policy files; return the names of the policies that they register."""
    from kozel_sim.policies import load_code

    with prints_aside():
        return [name for path in paths or [] for name in load_code(path)]


def read_field(policies: str | None, own: list[str]) -> list[Policy]:
    """Return the policies that the options name: by default the usual ones, and those of files."""
    from kozel_sim.policies import FIELD, read_policies

    return read_policies(policies if policies is not None else [*FIELD, *own])


def read_rules(
    names: str, players: int | None, changes: list[str] | None, *, one: bool = False
) -> list[RuleSet]:
    """Return the rule sets that the options name."""
    from kozel_sim.rules import RuleSet

    presets = [name.strip() for name in names.split(",") if name.strip()]
    if not presets or (one and len(presets) > 1):
        raise ValueError(
            f"--rules {quoted(names)}: {'one preset' if one else 'a preset'} is needed"
        )
    knobs = dict(read_knob(change) for change in changes or [])
    return [RuleSet.preset(name, players).replace(**knobs) for name in presets]


def read_knob(text: str) -> tuple[str, Any]:
    """Read a ``knob=value`` option; numbers are numbers, the rest stays text."""
    knob, sign, value = text.partition("=")
    if not sign:
        raise ValueError(f"--set {quoted(text)} is not knob=value")
    return knob.strip(), int(value) if value.strip().lstrip("-").isdigit() else value.strip()


def read_variants(text: str) -> list[dict[str, Any]]:
    """Read a ``knob=value,value`` option into one change per value."""
    knob, sign, values = text.partition("=")
    if not sign or not values:
        raise ValueError(f"--vary {quoted(text)} is not knob=value,value")
    return [dict([read_knob(f"{knob}={value}")]) for value in values.split(",")]


def cores() -> int:
    """Return how many cores this process may use."""
    import os

    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def threads(workers: int) -> int:
    """Return how many threads the option asks for, one per core where it is 0."""
    if workers < 0:
        raise ValueError(
            f"--workers must be a whole number of 1 or more, or 0 for one per core, not {workers}"
        )
    return workers or cores()


def read_rule(stop: str | None, deals: int | None, usual: int) -> tuple[StopRule | None, int]:
    """Return the stopping rule that an option names, and how many deals there are at the most."""
    if stop is None:
        return None, usual if deals is None else deals
    from kozel_sim.sequential import MOST_DEALS
    from kozel_sim.stopping import read_stop

    return read_stop(stop), MOST_DEALS if deals is None else deals


def read_test(stop: str | None, deals: int | None) -> tuple[SprtStop | None, int]:
    """Return the test of who is better that an option names, and how many deals there may be."""
    from kozel_sim.stopping import SprtStop

    rule, most = read_rule(stop or "sprt", deals, 0)
    if not isinstance(rule, SprtStop):
        raise ValueError(f"--stop {stop!r}: what is foretold is a test; write sprt, or nothing")
    return rule if stop else None, most


@contextmanager
def mapper_of(address: str | None) -> Iterator[Mapper | None]:
    """Hold the Dask cluster that an option names; nothing where it names none."""
    if address is None:
        yield None
        return
    from kozel_sim.cluster import Cluster

    with Cluster(address) as cluster:
        yield cluster
