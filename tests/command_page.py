"""docs/command-line.md: what is between its marks, made from the commands themselves.

``python tests/command_page.py`` writes the page again. Text outside the marks is kept; a command
that the page lacks gets a section at its end, to be put where it belongs.
"""

import inspect
import re
from pathlib import Path
from typing import get_args, get_origin

from typer.models import ArgumentInfo, ParameterInfo

from kozel_sim.cli import app

PAGE = Path(__file__).resolve().parents[1] / "docs" / "command-line.md"
COMMANDS = {
    command.name or command.callback.__name__: command.callback
    for command in app.registered_commands
}
MARKED = re.compile(r"<!-- kozel ([\w-]+) -->\n.*?<!-- end -->", re.DOTALL)
TAKES = {float: "NUMBER", Path: "PATH", str: "TEXT"}


def parameters(command):
    """What a command takes: (its name, typer's words for it, its type, its default)."""
    signature = inspect.signature(COMMANDS[command], eval_str=True)
    for name, parameter in signature.parameters.items():
        kind, info = get_args(parameter.annotation)
        assert isinstance(info, ParameterInfo), f"{command}: {name}"
        yield name, info, kind, parameter.default


def kind_of(kind):
    """A type without ``| None``, and whether there may be several."""
    kinds = [each for each in get_args(kind) if each is not type(None)]
    if get_origin(kind) is list:
        return kinds[0], True
    return kind_of(kinds[0]) if kinds else (kind, False)


def spelled(info):
    """How an option is written, short and long."""
    # Inside Annotated typer takes the first of them for a default.
    return [word for word in (info.default, *(info.param_decls or ())) if isinstance(word, str)]


def row(name, info, kind, default):
    """A line of the table: how it is written, what it takes, what it is by default, its help."""
    one, several = kind_of(kind)
    argument = isinstance(info, ArgumentInfo)
    takes = info.metavar or ("" if one is bool else TAKES.get(one, one.__name__.upper()))
    words = [info.metavar or name.upper()] if argument else spelled(info)
    needed = default is inspect.Parameter.empty
    usual = "" if default is None or default is False else f"`{default}`"
    usual = "needed" if needed else usual
    shown = "" if argument or not takes else f"`{takes}`"
    more = " ..." if several else ""
    written = ", ".join(f"`{word}`" for word in words)
    return f"| {written} | {shown}{more} | {usual} | {info.help} |"


def usage(command):
    """The command with its arguments."""
    words = []
    for name, info, kind, default in parameters(command):
        if isinstance(info, ArgumentInfo):
            word = (info.metavar or name.upper()) + "..." * kind_of(kind)[1]
            words.append(word if default is inspect.Parameter.empty else f"[{word}]")
        elif default is inspect.Parameter.empty:
            words.append(f"{spelled(info)[-1]} {TAKES[kind_of(kind)[0]]}")
    return " ".join(["kozel", command, *words, "[OPTIONS]"])


def about(command):
    """What stands between a command's marks."""
    said = inspect.getdoc(COMMANDS[command])
    rows = [row(*parameter) for parameter in parameters(command)]
    head = "| argument or option | takes | by default | what it is |\n|---|---|---|---|"
    table = "\n".join([head, *rows])
    return (
        f"<!-- kozel {command} -->\n{said}\n\n```\n{usage(command)}\n```\n\n{table}\n<!-- end -->"
    )


def page_of(text):
    """The page with what is between its marks as the commands are now."""
    text = MARKED.sub(lambda found: about(found[1]), text)
    missing = [name for name in COMMANDS if f"<!-- kozel {name} -->" not in text]
    return text + "".join(f"\n## kozel {name}\n\n{about(name)}\n" for name in missing)


if __name__ == "__main__":
    PAGE.write_text(page_of(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"written to {PAGE}")
