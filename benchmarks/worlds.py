"""Measure the sampler of worlds: nanoseconds a world of CPU time, after its table is built."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median

import numpy as np

from kozel_sim.engine.entries import count_kernel, sample_kernel
from kozel_sim.tiles import ALL
from kozel_sim.worlds import Worlds

CASES = {
    "4 players, seen from a seat, 7 tiles each": (21, (7, 7, 7), (0, 0, 0)),
    "4 players, seen from a seat, 4 tiles each, voids": (12, (4, 4, 4), (0b11, 0b1000, 0)),
    "4 players, seen from the table, 5 tiles each": (20, (5, 5, 5, 5), (0, 0b11, 0, 0)),
    "3 players, seen from a seat, with a bazaar": (21, (7, 7, 7), (0, 0b11, 0)),
    "2 players, seen from a seat, with a bazaar": (21, (7, 14), (0b1, 0)),
    "4 players of 5 tiles, seen from the table": (28, (5, 5, 5, 5, 8), (0, 0, 0, 0, 0)),
}
"""How many tiles are hidden (the highest ids), and by place its count and the values it lacks."""


def seconds(work: Callable[..., object], *arguments: object) -> float:
    """Return the CPU time of a call."""
    start = time.thread_time()
    work(*arguments)
    return time.thread_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=1_000_000, help="per run")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    for name, (hidden, counts, void) in CASES.items():
        worlds = Worlds(ALL & ~(ALL >> hidden), counts, void)
        record = worlds._record(void)
        count = count_kernel(record)
        out = np.zeros((options.worlds, len(counts)), np.uint32)
        sample_kernel(record, np.uint64(1), 0, 0, out[:1])
        tables = [seconds(count_kernel, record) for _ in range(options.repeats)]
        runs = [
            (seconds(sample_kernel, record, np.uint64(1), 0, 0, out) - median(tables))
            / options.worlds
            for _ in range(options.repeats)
        ]
        print(
            f"{name}: {count:,} worlds; table {1e6 * median(tables):.0f} us, "
            f"{1e9 * median(runs):.0f} ns a world ({1e9 * min(runs):.0f}-{1e9 * max(runs):.0f}, "
            f"median of {options.repeats})",
            flush=True,
        )


if __name__ == "__main__":
    main()
