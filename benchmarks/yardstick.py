"""Measure the engine against the C programs in yardstick/, side by side in one run.

Both play the same game (RULES below) with random numbers of their own (but a policy that looks at
the history, which the C programs do not keep). A repeat runs one right
after the other on one core and takes the thread's CPU time; a ratio is between these two. Targets
are shown, not enforced; that the rounds per match agree is enforced.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

import numba
import numpy as np

from kozel_sim.decision import Function, Ladder, Policy, Stage
from kozel_sim.engine.play import Table, new_matches
from kozel_sim.features import FEATURES
from kozel_sim.rules import RuleSet

HERE = Path(__file__).resolve().parent
FLAGS = ("-O3", "-march=native", "-ffp-contract=off")
ALL_OWN = {n: RuleSet.preset("room-fish-all", players=n) for n in (2, 3, 4)}
RULES = {n: rules.replace(fish_def="no_legal_move") for n, rules in ALL_OWN.items()}
SEED = 1
LARGEST_GAP = 4.0
"""How many standard errors the rounds per match may differ by."""


def policy(name: str, part: Ladder | Function) -> Policy:
    return Policy(name, ((Fraction(1), part),))


@numba.njit
def count(mask):
    """Count the tiles of a mask."""
    n = 0
    while mask:
        mask &= mask - 1
        n += 1
    return n


def user_function() -> Function:
    """Return a user's policy that plays a random legal move; each one is compiled by itself."""

    def choose(view):
        left = np.int64(view.legal[0])
        right = np.int64(view.legal[1])
        n_left = count(left)
        rank = ((np.int64(view.word) >> 5) * (n_left + count(right))) >> 27
        arm = np.int64(rank >= n_left)
        legal = right if arm else left
        for _ in range(rank - n_left * arm):
            legal &= legal - 1
        tile = count((legal & -legal) - 1)
        return (tile + 1) << (8 * arm)

    return Function(choose)


def watching_function() -> Function:
    """Return the same, but it looks at the history, so that the engine has to keep it."""
    random_move = user_function().choose_code

    def choose(view):
        return random_move(view) + (view.void[0] >> 31)

    return Function(choose)


WEIGHTS = {"pips": 1000, "double": 3000, "range": 2000, "block": 500, "lock": 1500}
RANDOM = policy("random", Ladder())
GREEDY = policy("greedy", Ladder((Stage("always", WEIGHTS),)))
HISTORY_WEIGHTS = {name: 1000 for name, feature in FEATURES.items() if feature.history}
HISTORIAN = policy("historian", Ladder((Stage("always", {**WEIGHTS, **HISTORY_WEIGHTS}),)))
"""The greedy weights with all that the seats showed."""
USERS = [policy(f"user {i}", user_function()) for i in range(4)]
WATCHERS = [policy(f"watcher {i}", watching_function()) for i in range(4)]


@dataclass(frozen=True)
class Run:
    """What one timed run played; the hash is of all results, where they are comparable."""

    seconds: float
    matches: int
    rounds: int
    rounds_squared: int
    hash: str = ""

    @property
    def speed(self) -> float:
        return self.rounds / self.seconds

    @property
    def mean(self) -> float:
        """Rounds per match."""
        return self.rounds / self.matches

    def gap(self, other: Run) -> float:
        """How many standard errors the rounds per match of two runs differ by."""
        variances = [(r.rounds_squared / r.matches - r.mean**2) / r.matches for r in (self, other)]
        return (self.mean - other.mean) / math.sqrt(sum(variances))


Runner = Callable[[int], Run]
"""Plays so many matches."""


def find_compiler() -> str | None:
    return shutil.which("gcc") or shutil.which("cc")


def c_program(name: str, players: int, greedy: bool, folder: Path = HERE / "build") -> Runner:
    """Build one of the C programs."""
    folder.mkdir(parents=True, exist_ok=True)
    program = str(folder / f"{name}-{players}-{'greedy' if greedy else 'random'}")
    options = [*FLAGS, f"-DNP={players}", f"-DPOL={int(greedy)}", "-o", program]
    source = str(HERE / "yardstick" / f"{name}.c")
    subprocess.run([find_compiler() or "cc", *options, source], check=True)

    def run(matches: int) -> Run:
        said = json.loads(subprocess.check_output([program, str(matches)]))
        return Run(**{field.name: said[field.name] for field in fields(Run)})

    return run


def engine(players: int, policies: Sequence[Policy], name: str = "scalar") -> Runner:
    """Make an engine ready: the seats play the policies in turn."""
    table = Table(RULES[players], policies, name)
    seats = np.arange(players) % len(policies)

    def run(matches: int) -> Run:
        played = new_matches(np.arange(matches, dtype=np.uint64), np.tile(seats, (matches, 1)))
        start = time.thread_time()
        table.play(played, SEED)
        seconds = time.thread_time() - start
        rounds = played["rounds"].astype(np.int64)
        return Run(seconds, matches, int(rounds.sum()), int((rounds**2).sum()))

    run(1)  # compiles, unless an earlier process has
    return run


Work = tuple[str, Runner, Runner, float | None]
"""What is measured: its name, what is 1, what is compared with it, the target."""


def works() -> list[Work]:
    scalar = {
        (n, greedy): c_program("scalar", n, greedy) for n in (4, 3, 2) for greedy in (False, True)
    }
    found: list[Work] = [
        ("4 random", scalar[4, False], engine(4, [RANDOM]), 0.75),
        ("4 greedy weights", scalar[4, True], engine(4, [GREEDY]), 0.80),
        ("4 users' functions (v random C)", scalar[4, False], engine(4, USERS), 0.60),
        ("the same, looking at history", scalar[4, False], engine(4, WATCHERS), None),
    ]
    for n in (3, 2):
        found.append((f"{n} random", scalar[n, False], engine(n, [RANDOM]), None))
        found.append((f"{n} greedy weights", scalar[n, True], engine(n, [GREEDY]), None))
    for n, random, greedy in ((4, 2.4, 3.0), (3, 2.2, None), (2, 2.2, None)):
        fast, faster = engine(n, [RANDOM], "vector"), engine(n, [GREEDY], "vector")
        found.append((f"vector, {n} random", scalar[n, False], fast, random))
        found.append((f"vector, {n} greedy weights", scalar[n, True], faster, greedy))
    historian = engine(4, [HISTORIAN], "vector")
    found.append(("vector, 4 greedy and history (v greedy C)", scalar[4, True], historian, 1.6))
    if "avx512_vpopcntdq" in cpu_info():
        for greedy, name in ((False, "4 random"), (True, "4 greedy weights")):
            limit = c_program("simd", 4, greedy)
            found.append((f"the limit: simd.c, {name}", scalar[4, greedy], limit, None))
            ours = engine(4, [GREEDY if greedy else RANDOM], "vector")
            found.append((f"vector, {name} (v simd.c)", limit, ours, None))
    return found


def measure(work: Work, matches: int, repeats: int) -> dict[str, Any]:
    """Return medians, and the ratios' range."""
    name, base, tested, target = work
    pairs = [(base(matches), tested(matches)) for _ in range(repeats)]
    ratios = [run.speed / c.speed for c, run in pairs]
    c, run = pairs[-1]
    gap = run.gap(c)
    return {
        "work": name,
        "c_speed": median(c.speed for c, _ in pairs),
        "speed": median(run.speed for _, run in pairs),
        "ratio": median(ratios),
        "spread": (min(ratios), max(ratios)),
        "target": target,
        "rounds_per_match": (c.mean, run.mean),
        "gap": gap,
        "agree": (run.hash == c.hash if run.hash else abs(gap) <= LARGEST_GAP) or "history" in name,
    }


def cpu_info() -> str:
    """Return what Linux says of the first processor, or nothing."""
    path = Path("/proc/cpuinfo")
    return path.read_text(encoding="utf-8").split("\n\n")[0] if path.exists() else ""


def machine() -> str:
    models = [x.split(": ", 1)[1] for x in cpu_info().splitlines() if x.startswith("model name")]
    cpu = models[0] if models else platform.machine()
    gcc = subprocess.check_output([find_compiler() or "cc", "--version"], text=True).splitlines()[0]
    return f"{cpu}; Python {platform.python_version()}, numba {numba.__version__}, {gcc}"


def as_markdown(rows: Sequence[dict[str, Any]], repeats: int) -> str:
    text = "| work | C, M rounds/s | engine, M rounds/s | ratio | spread | target |\n"
    text += "|---|--:|--:|--:|--:|--:|\n"
    for r in rows:
        low, high = r["spread"]
        target = f"{r['target']:.2f}" if r["target"] else ""
        text += f"| {r['work']} | {r['c_speed'] / 1e6:.2f} | {r['speed'] / 1e6:.2f} "
        text += f"| {r['ratio']:.2f} | {low:.2f}-{high:.2f} | {target} |\n"
    return f"{text}\nMedians of {repeats} on one core of {machine()}.\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, default=100_000, help="per run")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table")
    options = parser.parse_args()
    if find_compiler() is None:
        print("skipped: there is no C compiler (gcc or cc) on PATH to build the yardstick with")
        return 0
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    rows = []
    for work in works():
        rows.append(row := measure(work, options.matches, options.repeats))
        counts = "{:.3f} and {:.3f} rounds per match".format(*row["rounds_per_match"])
        verdict = "" if row["agree"] else ": NOT THE SAME GAME"
        print(f"{row['work']}: {counts}, {row['gap']:+.1f} standard errors{verdict}", flush=True)
    table = as_markdown(rows, options.repeats)
    print(f"\n{table}", end="")
    if options.markdown:
        options.markdown.write_text(table, encoding="utf-8")
    if options.json:
        figures = {**vars(options), "machine": machine(), "rows": rows}
        options.json.write_text(json.dumps(figures, indent=1, default=str) + "\n", encoding="utf-8")
    return 0 if all(row["agree"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
