"""Measure whole processes: help, a small tournament when all is compiled, and compiling it all."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from statistics import median

KOZEL = [sys.executable, "-c", "from kozel_sim.cli import main; main()"]
WARM = {
    "kozel --help": (["--help"], 0.4),
    "kozel tournament, 1,080 matches": (["tournament", "-n", "54"], 1.5),
    "kozel tournament --aggregate, 1,080 matches": (["tournament", "-n", "54", "--aggregate"], 1.5),
}
"""By name: the words, and what it should take at most. A deal of the usual field is 20 matches."""


def seconds(words: list[str], **place: str) -> tuple[float, str]:
    """Return the wall time of a process, and what it printed."""
    start = time.perf_counter()
    done = subprocess.run(
        [*KOZEL, *words], env={**os.environ, **place}, capture_output=True, text=True, check=True
    )
    return time.perf_counter() - start, done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print("| process | seconds of wall time | spread | target |")
    print("|---|--:|--:|--:|")
    for name, (words, target) in WARM.items():
        seconds(words)
        took = [seconds(words)[0] for _ in range(options.repeats)]
        print(f"| {name} | {median(took):.2f} | {min(took):.2f}-{max(took):.2f} | {target} |")
    with tempfile.TemporaryDirectory() as folder:
        took, said = seconds(["warmup", "--json"], KOZEL_SIM_CACHE_DIR=folder)
    parts = ", ".join(f"{row['what']} {row['seconds']} s" for row in json.loads(said))
    print(f"| kozel warmup, nothing compiled yet | {took:.1f} |  | 60 |")
    print(f"\nCompiled are: {parts}.")


if __name__ == "__main__":
    main()
