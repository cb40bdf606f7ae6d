"""Run the benchmarks and write their tables to one file, which the documentation quotes."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SECTIONS = {
    "The engine and C": ["yardstick.py"],
    "What features cost": ["features.py"],
    "Packages of PyPI": ["peers.py"],
    "Aggregate mode": ["aggregate.py"],
    "Two threads": ["threads.py"],
    "Start-up": ["startup.py"],
}
"""By heading: the script and its words."""
QUICK = {
    "yardstick.py": ["--matches", "20000", "--repeats", "3"],
    "features.py": ["--matches", "4000", "--repeats", "3"],
    "peers.py": ["--rounds", "100000", "--repeats", "3"],
    "aggregate.py": ["--matches", "100000", "1000000"],
    "threads.py": ["--matches", "50000", "--repeats", "3"],
    "startup.py": ["--repeats", "3"],
}
"""Words for a run of about two minutes, most of it compiling."""


def section(script: str, words: list[str]) -> str:
    """Return what a script prints: of the yardstick the table alone."""
    command = [sys.executable, str(HERE / script), *words]
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.md"
        if script == "yardstick.py":
            command += ["--markdown", str(table)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"{script} failed:\n{done.stdout}")
        return table.read_text(encoding="utf-8") if table.exists() else done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="less of everything")
    parser.add_argument("--out", type=Path, default=HERE / "results.md")
    parser.add_argument("--only", nargs="+", choices=[s for (s,) in SECTIONS.values()])
    options = parser.parse_args()
    parts = ["# How fast\n\nWritten by `make bench`. Times are CPU time of a thread unless said.\n"]
    for heading, (script,) in SECTIONS.items():
        if options.only is None or script in options.only:
            text = section(script, QUICK[script] if options.quick else []).strip()
            # Lines that are no table are kept apart.
            text = text if "|" in text else f"```\n{text}\n```"
            parts.append(f"## {heading}\n\n{text}\n")
            print(parts[-1], flush=True)
    options.out.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
