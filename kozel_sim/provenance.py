"""Where a result came from: a hash of the sources, versions, the machine."""

from __future__ import annotations

import hashlib
import os
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

from kozel_sim.rng import STREAM_VERSION

PACKAGES = ("kozel_sim", "numba", "numpy", "pandas", "pyarrow", "scipy")
_ABOVE = """
    __init__ alike apart balance bench capped chain checking checks claims cli cli_plan cli_replay
    cli_runs cluster columns commands company company_report crashes direction drawing duels
    equivalence experiment export extending few field_plots fine_print fixed forecasts frames
    guarded intervals keeping manifest merging metagame metrics moments notable odds options parts
    performing plain planning playing plots positions printing progress rankings rating_report
    ratings recounting replay report_page report_plots report_results reporting rounds rows
    rule_words run_pictures run_plots runs schedule seat_report sequential showing simulation skill
    stats stopping stopping_report store streams style svg sweep tell tell_report timing totals
    tournaments verdicts verifying walks warming
"""
NEVER_COMPILED = frozenset(_ABOVE.split())
"""The modules of study and faces: no kernel is made of them; an edit leaves compiled code good."""


@cache
def source_hash(compiled: bool = False) -> str:
    """Return a hash of the package's sources, or of those that kernels are made of (16 digits)."""
    digest = hashlib.sha256()
    root = Path(__file__).parent
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if not (compiled and name.removesuffix(".py") in NEVER_COMPILED):
            digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def versions() -> dict[str, str]:
    """Return the versions that a result may depend on."""
    found = {package: version(package) for package in PACKAGES}
    return {"python": platform.python_version(), **found, "stream": str(STREAM_VERSION)}


def machine() -> dict[str, str | int | None]:
    """Return what kind of machine this is; no name of it."""
    return {"cpu": cpu_model(), "cores": os.cpu_count(), "system": platform.system()}


def cpu_model() -> str:
    """Return the processor's model where the system tells, else its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()
