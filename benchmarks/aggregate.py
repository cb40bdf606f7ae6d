"""Measure aggregate mode: what share of the CPU time is playing, and how much memory it takes.

Playing is the time inside the engine; the rest is seating, adding up and the summary. The memory is
the process's largest resident size so far, so runs are in the order of their matches.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

from kozel_sim import Totals, parts, simulate, tournament

FIELD = ["random", "dump_heavy", "dump_doubles", "keep_range", "block_ends"]
TABLE_MATCHES = 20
"""Matches of a deal in a tournament of five policies at tables of four."""
CASES: dict[str, Callable[[int], Totals]] = {
    "simulate, 4 random": lambda n: simulate(
        "room-fish-all", ["random"] * 4, n, seed=1, aggregate=True
    ),
    "simulate, 4 policies": lambda n: simulate(
        "room-fish-all", FIELD[:4], n, seed=1, aggregate=True
    ),
    "tournament, 5 policies": lambda n: tournament(
        "room-fish-all", FIELD, -(-n // TABLE_MATCHES), seed=1, aggregate=True
    ),
}


def measure(run: Callable[[int], Totals], matches: int) -> dict[str, Any]:
    """Return the CPU seconds inside the engine, around it and of the summary, on one thread."""
    spent = 0.0
    player_of = parts.player_of

    def timed_player_of(*table: Any) -> Callable[..., object]:
        play = player_of(*table)

        def timed(*chunk: Any) -> None:
            nonlocal spent
            start = time.thread_time()
            play(*chunk)
            spent += time.thread_time() - start

        return timed

    parts.player_of = timed_player_of
    try:
        start = time.process_time()
        totals = run(matches)
        played = time.process_time()
        totals.summary()
        totals.presets()
        done = time.process_time()
    finally:
        parts.player_of = player_of
    return {
        "matches": totals.matches,
        "playing": spent,
        "around": played - start - spent,
        "summary": done - played,
        "share": spent / (done - start),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    options = parser.parse_args()
    if not sys.platform.startswith("linux"):
        print("the memory is in KB of Linux; elsewhere it may be in other units")
    for run in CASES.values():
        run(1).summary()
    print("| work | matches | playing, ns a match | around it, ns | playing | peak memory, MB |")
    print("|---|--:|--:|--:|--:|--:|")
    for matches in sorted(options.matches):
        for name, run in CASES.items():
            got = measure(run, matches)
            playing = 1e9 * got["playing"] / got["matches"]
            around = 1e9 * (got["around"] + got["summary"]) / got["matches"]
            print(
                f"| {name} | {got['matches']:,} | {playing:.0f} | {around:.0f} "
                f"| {got['share']:.1%} | {got['peak_mb']:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
