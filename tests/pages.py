"""Pages of documentation, read so that tests can run what they show.

A block ``console`` holds commands after ``$ `` with what each prints; ``...`` stands for lines that
are left out, and times may differ. A block ``python`` or ``toml`` whose first line is ``# NAME``
is a file of that name. Blocks ``pycon`` are doctests.
"""

import doctest
import re
import shlex
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECONDS = re.compile(r"\b\d+(\.\d+)? s\b")
"""How long something took; it is different every time."""


def read(name):
    """The text of a page, by its path in the project."""
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(text, *languages):
    """The blocks of a page in order, (language, body), of some languages only."""
    found = [match.groups() for match in BLOCK.finditer(text)]
    return [(language, body) for language, body in found if language in languages]


def commands(body):
    """The commands of a console's block, each with the lines it prints."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def doctests(text, name, least):
    """Run a page's doctests; fail unless all hold and there are at least so many."""
    body = "\n".join(body for _, body in blocks(text, "pycon"))
    assert body.count(">>> ") == text.count(">>> ")
    test = doctest.DocTestParser().get_doctest(body, {}, name, None, None)
    report = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    results = runner.run(test, out=report.append)
    assert results.attempted >= least
    assert not results.failed, "".join(report)


def plain(text):
    """What a command printed, without what is different every time and the ends of lines."""
    text = SECONDS.sub("_ s", text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def matches(shown, printed):
    """Whether a page shows what was printed; a line ``...`` may stand for any lines."""
    parts = re.split(r"^\.\.\.$\n?", plain(shown) + "\n", flags=re.MULTILINE)
    pattern = r"(?:.*\n)*?".join(map(re.escape, parts))
    return re.fullmatch(pattern, plain(printed) + "\n") is not None


def run(text, kozel):
    """Run a page's consoles and Python and write its files, in order, in this folder.

    Returns a list of what is not as the page says: (command, printed).
    """
    wrong, python = [], {}
    for language, body in blocks(text, "console", "python", "toml", "pycon"):
        first = body.partition("\n")[0]
        if language == "console":
            for command, shown in commands(body):
                code, printed = shell(command, kozel)
                if not matches(shown, printed) or code != 2 * shown.startswith("kozel: error:"):
                    wrong.append((command, printed))
        elif re.fullmatch(r"# [\w./]+", first):
            Path(first[2:]).write_text(body, encoding="utf-8")
        elif language == "python":
            exec(compile(body, "page", "exec"), python)
        elif language == "pycon":
            wrong += examples(body, python)
    return wrong


def shell(command, kozel):
    """Run a command of a page in this process; return its exit code and what it prints."""
    name, *words = shlex.split(command)
    if name == "rm":
        for word in words:
            Path(word).unlink()
        return 0, ""
    assert name == "kozel", f"a page's consoles run kozel and rm only: {command}"
    code, out, err = kozel(*words)
    return code, out + err


def examples(body, names):
    """Run doctests with these names; return those that fail, as ``run`` does."""
    test = doctest.DocTestParser().get_doctest(body, names, "page", None, None)
    report = []
    flags = doctest.NORMALIZE_WHITESPACE
    result = doctest.DocTestRunner(optionflags=flags).run(
        test, out=report.append, clear_globs=False
    )
    names.update(test.globs)
    return [(body, "".join(report))] if result.failed else []


def anchors(text):
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", BLOCK.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def broken_links(name):
    """The links of a page that lead to no file, or no heading, of this project."""
    here = ROOT / name
    text = BLOCK.sub("", read(name))
    wrong = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?://", link):
            continue
        path, _, anchor = link.partition("#")
        target = (here.parent / path) if path else here
        if not target.exists() or (
            anchor and anchor not in anchors(target.read_text(encoding="utf-8"))
        ):
            wrong.append(link)
    return wrong
