"""Measure the engine against the C programs in yardstick/, side by side in one run.

Both play the same game (RULES below) with random numbers of their own. A repeat runs one right
after the other on one core and takes the CPU time of the thread; a ratio is between these two.
The targets are shown and not enforced, but that the rounds per match agree is.
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
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

import numba
import numpy as np

from kozel_sim.decision import Function, Ladder, Policy, Stage
from kozel_sim.engine.play import Table, new_matches
from kozel_sim.rules import RuleSet

HERE = Path(__file__).resolve().parent
FLAGS = ("-O3", "-march=native", "-ffp-contract=off")
RULES = {
    n: RuleSet.preset("room-fish-all", players=n).replace(fish_def="no_legal_move")
    for n in (2, 3, 4)
}
SEED = 1
LARGEST_GAP = 4.0
"""How many standard errors the rounds per match may differ by."""

# ------------------------------------------------------------------ policies


def policy(name: str, part: Ladder | Function) -> Policy:
    return Policy(name, ((Fraction(1), part),))


RANDOM = policy("random", Ladder())
WEIGHTS = {"pips": 1000, "double": 3000, "range": 2000, "block": 500, "lock": 1500}
GREEDY = policy("greedy", Ladder((Stage("always", WEIGHTS),)))

# 2 is a primitive root modulo 37, so a bit's remainder tells which one it is.
TILE_OF_REMAINDER = np.zeros(37, np.int64)
TILE_OF_REMAINDER[[2**tile % 37 for tile in range(28)]] = range(28)


def user_function() -> Function:
    """A user's policy that plays a random legal move; each one is compiled by itself."""

    def choose(view):
        left = np.int64(view.legal[0])
        right = np.int64(view.legal[1])
        n = 0
        for legal in (left, right):
            while legal:
                legal &= legal - 1
                n += 1
        rank = ((np.int64(view.word) >> 5) * n) >> 27
        while left and rank:
            left &= left - 1
            rank -= 1
        legal = left
        if not left:
            legal = right
            for _ in range(rank):
                legal &= legal - 1
        tile = TILE_OF_REMAINDER[(legal & -legal) % 37]
        return (tile + 1) << (0 if left else 8)

    return Function(choose)


USERS = [policy(f"user {i}", user_function()) for i in range(4)]

# ------------------------------------------------------------------ runs


@dataclass(frozen=True)
class Run:
    """What one timed run played."""

    seconds: float
    matches: int
    rounds: int
    rounds_squared: int
    hash: str = ""

    @property
    def speed(self) -> float:
        """Rounds per second."""
        return self.rounds / self.seconds

    @property
    def mean(self) -> float:
        """Rounds per match."""
        return self.rounds / self.matches

    @property
    def variance(self) -> float:
        """The variance of that mean."""
        return (self.rounds_squared / self.matches - self.mean**2) / self.matches

    def gap(self, other: Run) -> float:
        """How many standard errors the rounds per match of two runs differ by."""
        return (self.mean - other.mean) / math.sqrt(self.variance + other.variance)


Runner = Callable[[int], Run]
"""Plays so many matches."""


def find_compiler() -> str | None:
    return shutil.which("gcc") or shutil.which("cc")


def c_program(
    compiler: str, name: str, players: int, greedy: bool, folder: Path = HERE / "build"
) -> Runner:
    """Build one of the C programs."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / f"{name}-{players}-{'greedy' if greedy else 'random'}"
    options = [*FLAGS, f"-DNP={players}", f"-DPOL={int(greedy)}", "-o", str(program)]
    subprocess.run([compiler, *options, str(HERE / "yardstick" / f"{name}.c")], check=True)

    def run(matches: int) -> Run:
        done = subprocess.run([program, str(matches)], check=True, capture_output=True, text=True)
        said = json.loads(done.stdout)
        return Run(**{key: said[key] for key in Run.__dataclass_fields__})

    return run


def engine(players: int, policies: Sequence[Policy]) -> Runner:
    """Make the engine ready: every seat plays one of the policies."""
    table = Table(RULES[players], policies)
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


@dataclass(frozen=True)
class Work:
    """What is measured: one runner against another."""

    name: str
    base: Runner
    tested: Runner
    target: float | None = None


def works(compiler: str) -> list[Work]:
    scalar = {
        (n, greedy): c_program(compiler, "scalar", n, greedy)
        for n in (4, 3, 2)
        for greedy in (False, True)
    }
    found = [
        Work("4 random", scalar[4, False], engine(4, [RANDOM]), 0.70),
        Work("4 greedy weights", scalar[4, True], engine(4, [GREEDY]), 0.80),
        Work("4 users' functions", scalar[4, False], engine(4, USERS), 0.55),
    ]
    for n in (3, 2):
        found.append(Work(f"{n} random", scalar[n, False], engine(n, [RANDOM])))
        found.append(Work(f"{n} greedy weights", scalar[n, True], engine(n, [GREEDY])))
    if "avx512_vpopcntdq" in cpu_info():
        for greedy, name in ((False, "4 random"), (True, "4 greedy weights")):
            limit = c_program(compiler, "simd", 4, greedy)
            found.append(Work(f"the limit: simd.c, {name}", scalar[4, greedy], limit))
    return found


# ------------------------------------------------------------------ measuring


@dataclass(frozen=True)
class Row:
    """What came out: medians, and the ratios' range."""

    work: str
    base_speed: float
    speed: float
    ratio: float
    ratio_min: float
    ratio_max: float
    target: float | None
    base_rounds_per_match: float
    rounds_per_match: float
    gap: float
    agree: bool


def measure(work: Work, matches: int, repeats: int) -> Row:
    pairs = [(work.base(matches), work.tested(matches)) for _ in range(repeats)]
    ratios = [tested.speed / base.speed for base, tested in pairs]
    base, tested = pairs[-1]
    gap = tested.gap(base)
    return Row(
        work=work.name,
        base_speed=median(run.speed for run, _ in pairs),
        speed=median(run.speed for _, run in pairs),
        ratio=median(ratios),
        ratio_min=min(ratios),
        ratio_max=max(ratios),
        target=work.target,
        base_rounds_per_match=base.mean,
        rounds_per_match=tested.mean,
        gap=gap,
        agree=base.hash == tested.hash if tested.hash else abs(gap) <= LARGEST_GAP,
    )


def cpu_info() -> str:
    """Return what the system says of the first processor, or nothing."""
    path = Path("/proc/cpuinfo")
    return path.read_text(encoding="utf-8").split("\n\n")[0] if path.exists() else ""


def machine(compiler: str) -> dict[str, str]:
    models = [x.split(": ", 1)[1] for x in cpu_info().splitlines() if x.startswith("model name")]
    version = subprocess.run([compiler, "-dumpfullversion"], capture_output=True, text=True).stdout
    return {
        "cpu": models[0] if models else platform.processor() or platform.machine(),
        "python": platform.python_version(),
        "numba": numba.__version__,
        Path(compiler).name: version.strip(),
    }


def markdown(rows: Sequence[Row], where: dict[str, str], repeats: int) -> str:
    lines = [
        "| work | C, M rounds/s | engine, M rounds/s | ratio | spread | target |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        target = "" if row.target is None else f"{row.target:.2f}"
        lines.append(
            f"| {row.work} | {row.base_speed / 1e6:.2f} | {row.speed / 1e6:.2f} | {row.ratio:.2f} "
            f"| {row.ratio_min:.2f}-{row.ratio_max:.2f} | {target} |"
        )
    tools = ", ".join(f"{k} {v}" for k, v in where.items() if k != "cpu")
    return "\n".join(
        [*lines, "", f"Medians of {repeats}, one core of {where['cpu']}; {tools}.", ""]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, default=100_000, help="per run")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table")
    options = parser.parse_args()
    compiler = find_compiler()
    if compiler is None:
        print("skipped: there is no C compiler (gcc or cc) on PATH to build the yardstick with")
        return 0
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    rows = []
    for work in works(compiler):
        row = measure(work, options.matches, options.repeats)
        rows.append(row)
        print(
            f"{row.work}: rounds per match {row.base_rounds_per_match:.3f} and "
            f"{row.rounds_per_match:.3f}, {row.gap:+.1f} standard errors apart"
            + ("" if row.agree else ": NOT THE SAME GAME"),
            flush=True,
        )
    where = machine(compiler)
    text = markdown(rows, where, options.repeats)
    print(f"\n{text}", end="")
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")
    if options.json:
        figures: dict[str, Any] = {
            **vars(options),
            "machine": where,
            "rows": [asdict(r) for r in rows],
        }
        options.json.write_text(json.dumps(figures, indent=1, default=str) + "\n", encoding="utf-8")
    return 0 if all(row.agree for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
