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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, default=6000, help="per run")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--engine", choices=("scalar", "vector"), default="scalar")
    options = parser.parse_args()
    print("| players | " + " | ".join(CASES) + " |")
    print("|--:|" + "--:|" * len(CASES))
    for players in (4, 3, 2):
        rules = RuleSet.preset("room-fish-all", players)
        seats = np.zeros((options.matches, players), np.int64)
        tables = [Table(rules, [get_policy(policy)], options.engine) for policy in CASES.values()]
        speeds: list[list[float]] = [[] for _ in CASES]
        for _ in range(options.repeats):
            for table, found in zip(tables, speeds, strict=True):
                matches = new_matches(np.arange(options.matches, dtype=np.uint64), seats)
                start = time.thread_time()
                table.play(matches, seed=1)
                found.append(int(matches["rounds"].sum()) / (time.thread_time() - start))
        shares = [
            median(mine / base for mine, base in zip(found, speeds[0], strict=True))
            for found in speeds
        ]
        print(f"| {players} | " + " | ".join(f"{share:.2f}" for share in shares) + " |", flush=True)


if __name__ == "__main__":
    main()
