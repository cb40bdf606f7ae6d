"""Measure what a second worker thread gains: the same work by one and by two, in wall time."""

from __future__ import annotations

import argparse
import os
import time
from concurrent.futures import ThreadPoolExecutor
from statistics import median

import numpy as np
from yardstick import GREEDY, RANDOM, RULES, SEED, USERS

from kozel_sim.engine.play import Table, new_matches

CHUNKS = 16


def play(table: Table, matches: np.ndarray, workers: int) -> tuple[float, float]:
    """Return (seconds that some workers take for all matches, how many processors they kept busy).

    Fewer busy processors than workers: they waited, for each other or for other programs.
    """
    with ThreadPoolExecutor(workers) as pool:
        start, cpu = time.perf_counter(), time.process_time()
        for _ in pool.map(lambda chunk: table.play(chunk, SEED), np.array_split(matches, CHUNKS)):
            pass
        seconds = time.perf_counter() - start
        return seconds, (time.process_time() - cpu) / seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, default=200_000, help="per run")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(f"two threads v one; this machine has {os.cpu_count()} processors")
    for name, field in (("random", [RANDOM]), ("greedy weights", [GREEDY]), ("functions", USERS)):
        table = Table(RULES[4], field)
        seats = np.arange(4) % len(field)
        deals = np.arange(options.matches, dtype=np.uint64)
        matches = new_matches(deals, np.tile(seats, (options.matches, 1)))
        table.play(matches[:1], SEED)
        runs = [(play(table, matches, 1), play(table, matches, 2)) for _ in range(options.repeats)]
        ratios = [one / two for (one, _), (two, _) in runs]
        busy = median(processors for _, (_, processors) in runs)
        print(
            f"4 {name}: {median(ratios):.2f} times as fast ({min(ratios):.2f}-{max(ratios):.2f}, "
            f"median of {options.repeats}; {busy:.2f} processors busy)",
            flush=True,
        )


if __name__ == "__main__":
    main()
