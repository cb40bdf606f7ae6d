"""Measure what features cost: rounds per second of CPU time, as a share of random play's."""

from __future__ import annotations

import argparse
import time
from statistics import median

import numpy as np

from kozel_sim import RuleSet, get_policy
from kozel_sim.engine.play import Table, new_matches
from kozel_sim.features import FEATURES

QUICK = ("pips", "double", "range", "longest", "block", "match", "lock")
"""Features of the hand and the ends alone."""
VOIDS = ("next_void", "next_tell", "partner_void", "fewest_void")


def spec(names: object) -> str:
    """Return weights of some features, none of them zero."""
    return "weights:" + ",".join(f"{name}={1 + i % 3}" for i, name in enumerate(names))


CASES = {
    "random": "random",
    "pips": spec(["pips"]),
    "hand and ends": spec(QUICK),
    "voids": spec(["pips", *VOIDS]),
    "seven_tips": "seven_tips",
    "allround": "allround",
    "all features": spec(FEATURES),
}


def measure(engine: str, players: int, matches: int, repeats: int) -> list[float]:
    """Return by case the median share of the speed of random play."""
    rules = RuleSet.preset("room-fish-all", players)
    seats = np.zeros((matches, players), np.int64)
    tables = [Table(rules, [get_policy(policy)], engine) for policy in CASES.values()]
    speeds: list[list[float]] = [[] for _ in CASES]
    for _ in range(repeats):
        for table, found in zip(tables, speeds, strict=True):
            played = new_matches(np.arange(matches, dtype=np.uint64), seats)
            start = time.thread_time()
            table.play(played, seed=1)
            found.append(int(played["rounds"].sum()) / (time.thread_time() - start))
    return [
        median(mine / base for mine, base in zip(found, speeds[0], strict=True)) for found in speeds
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, default=20_000, help="per run")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--engine", choices=("scalar", "vector"), help="by default both")
    options = parser.parse_args()
    print("| engine | players | " + " | ".join(CASES) + " |")
    print("|---|--:|" + "--:|" * len(CASES))
    for engine in [options.engine] if options.engine else ("scalar", "vector"):
        # What is compiled first is not timed.
        measure(engine, 2, 1, 1)
        for players in (4, 3, 2):
            shares = measure(engine, players, options.matches, options.repeats)
            cells = " | ".join(f"{share:.2f}" for share in shares)
            print(f"| {engine} | {players} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
