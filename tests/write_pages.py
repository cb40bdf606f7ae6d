"""Write what README.md, README.ru.md and the pages of docs/ show of commands and Python again.

``python tests/write_pages.py [PAGE ...]`` runs the blocks ``console`` and ``pycon`` of the pages
and puts what is printed where it stood; lines left out (``...``) stay out, times stay as they are
where nothing else has changed. Prose is kept, and is to be read against the new figures.
"""

import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
import tempfile
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path

import pages

WRITTEN = ["README.md", "README.ru.md", "docs/tutorial.md", "docs/statistics.md", "docs/rules.md"]
KOZEL = Path(sys.executable).with_name("kozel")
LEFT_OUT = "..."


def words(line):
    """A line without its figures and frames: what tells it from other lines."""
    return re.sub(r"[━─┳┡╇┩└┴┘┏┓]+", "-", re.sub(r"[\d.,<>%\[\] -]+", " ", line)).strip()


def renew(shown, printed):
    """What a page shows of a command, with the lines that it prints; others stay left out."""
    if pages.matches(shown, printed):
        return shown
    lines = [line.rstrip() for line in printed.strip("\n").splitlines()]
    parts, part = [], []
    for line in shown.splitlines():
        if line == LEFT_OUT:
            parts, part = [*parts, part], []
        else:
            part.append(line)
    parts.append(part)
    if len(parts) == 1:
        return "".join(line + "\n" for line in lines)
    kept, at = [], 0
    for number, old in enumerate(parts):
        if old:
            first, last = places(lines, old, at)
            start = at if number == 0 else first
            end = last if number < len(parts) - 1 else len(lines) - 1
            kept, at = [*kept, *lines[start : end + 1]], end + 1
        if number < len(parts) - 1:
            kept.append(LEFT_OUT)
    return "".join(line + "\n" for line in kept)


def places(lines, old, start):
    """Where the first and the last of some lines stand among those that are printed."""
    printed, shown = ([words(line) for line in each] for each in (lines[start:], old))
    found = {}
    for a, b, n in SequenceMatcher(None, shown, printed, autojunk=False).get_matching_blocks():
        found |= {a + i: start + b + i for i in range(n)}
    for at in (0, len(old) - 1):
        if at not in found:
            raise SystemExit(f"no line like this is printed any more: {old[at]}")
    return found[0], found[len(old) - 1]


@cache
def benchmark():
    """What ``make run`` prints in a clean checkout."""
    with tempfile.TemporaryDirectory() as place:
        experiment = pages.ROOT / "experiments" / "benchmark.toml"
        return subprocess.run(
            [KOZEL, "run", experiment, "-o", Path(place, "run")], capture_output=True, text=True
        ).stdout


def printed_by(command, folder):
    """What a command of a page prints."""
    if command == "make run":
        return benchmark()
    env = os.environ | {"PATH": f"{KOZEL.parent}:{os.environ['PATH']}", "COLUMNS": ""}
    done = subprocess.run(
        ["sh", "-c", command], cwd=folder, env=env, capture_output=True, text=True
    )
    said = re.sub(r"^kozel_sim: compiling .*\n", "", done.stderr, flags=re.MULTILINE)
    return done.stdout + said


def examples(body, name, globs):
    """A block of doctests with what its lines print."""
    test = doctest.DocTestParser().get_doctest(body, {}, name, None, None)
    test.globs = globs  # the same ones, so that functions of earlier blocks see what later ones set
    got = {}

    class Listen(doctest.DocTestRunner):
        def report_success(self, out, test, example, found):
            pass

        def report_failure(self, out, test, example, found):
            got[example.lineno] = found

        def report_unexpected_exception(self, out, test, example, info):
            raise SystemExit(f"{example.source}: {info[1]}")

    flags = doctest.NORMALIZE_WHITESPACE
    with contextlib.redirect_stdout(io.StringIO()):
        Listen(optionflags=flags).run(test, out=lambda _: None, clear_globs=False)
    lines = body.splitlines(keepends=True)
    for example in sorted(test.examples, key=lambda one: -one.lineno):
        if example.lineno in got:
            first = example.lineno + example.source.count("\n")
            lines[first : first + example.want.count("\n")] = [got[example.lineno]]
    return "".join(lines)


def write(name):
    """A page with what is printed."""
    python, old = {}, pages.read(name)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):

        def again(match):
            language, body = match.groups()
            first = body.partition("\n")[0]
            if language == "console":
                blocks = []
                for command, shown in pages.commands(body):
                    blocks.append(f"$ {command}\n" + renew(shown, printed_by(command, folder)))
                body = "".join(blocks)
            elif language == "pycon":
                body = examples(body, name, python)
            elif re.fullmatch(r"# [\w./]+", first):
                Path(first[2:]).write_text(body, encoding="utf-8")
            elif language == "python":
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(body, name, "exec"), python)
            return f"```{language}\n{body}```"

        return pages.BLOCK.sub(again, old)


if __name__ == "__main__":
    for page in sys.argv[1:] or WRITTEN:
        text = write(page)
        if text != pages.read(page):
            (pages.ROOT / page).write_text(text, encoding="utf-8")
            print(f"written to {page}")
