"""Measure what the rounds frame costs: CPU time, plain matches of the scalar engine being 1."""

from __future__ import annotations

import argparse
import time
from statistics import median

import numpy as np

from kozel_sim import RuleSet, get_policy
from kozel_sim.engine.play import Table, new_matches
from kozel_sim.rounds import rounds_of

CASES = {
    "random": "room-fish-all",
    "dump_heavy": "room-fish-all",
    "seven_tips": "room-fish-all",
    "keep_range": "pair-traditional",
}
"""Who plays (all four seats) by which rules."""


def measure(preset: str, policy: str, matches: int) -> tuple[int, float, float]:
    """Return (rounds, CPU seconds of plain matches, of the same ones with their frame)."""
    rules, policies = RuleSet.preset(preset, 4), [get_policy(policy)]
    table = Table(rules, policies, "scalar")
    seating = np.zeros(matches, np.int64)
    played = new_matches(np.arange(matches, dtype=np.uint64), np.zeros((matches, 4), np.int64))
    start = time.thread_time()
    table.play(played, seed=1)
    between = time.thread_time()
    rounds_of(rules, policies, played, seating, seed=1)
    end = time.thread_time()
    return int(played["rounds"].sum()), between - start, end - between


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, default=8000, help="per run")
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    print("| policy | rules | plain, million rounds/s | with the frame | CPU time |")
    print("|---|---|--:|--:|--:|")
    for policy, preset in CASES.items():
        measure(preset, policy, 1)  # which compiles
        runs = [measure(preset, policy, options.matches) for _ in range(options.repeats)]
        plain, with_frame = (median(run[0] / run[i] for run in runs) / 1e6 for i in (1, 2))
        ratios = sorted(run[2] / run[1] for run in runs)
        spread = f"{median(ratios):.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f})"
        print(f"| {policy} | {preset} | {plain:.2f} | {with_frame:.2f} | {spread} |", flush=True)


if __name__ == "__main__":
    main()
