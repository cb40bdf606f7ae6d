"""Manners in a notebook: how results show themselves, completion, help, bars, interrupts."""

import ast
import dataclasses
import inspect
import queue
import re
import textwrap
import time
from html.parser import HTMLParser

import pytest
from jupyter_client.manager import start_new_kernel

import kozel_sim
from kozel_sim import (
    POLICIES,
    PRESETS,
    Policy,
    Record,
    RuleSet,
    Run,
    Totals,
    get_policy,
    list_policies,
    policy,
    simulate,
    tournament,
)
from kozel_sim.progress import bar_html, shown

FIELD = ["random", "prefer:hold_last>dump_heavy", "dump_doubles", "keep_range"]


class Tables(HTMLParser):
    """Reads the tables of a page, ``[table][row][cell]``."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        if tag == "table":
            self.found.append([])
        elif tag == "tr":
            self.found[-1].append([])
        elif tag in ("td", "th"):
            self.found[-1][-1].append("")

    def handle_data(self, data):
        if self.found and self.found[-1] and self.found[-1][-1] and data.strip():
            self.found[-1][-1][-1] += data


def tables_of(html):
    """The tables of a page; each must end where it is said to."""
    reader = Tables()
    for part in html.split("</table>"):
        reader.feed(part.partition("<table")[1] + part.partition("<table")[2])
    return reader.found


# ---------------------------------------------------------------------- what is shown


@pytest.mark.parametrize("aggregate", [False, True])
def test_results_show_what_was_played_and_a_leaderboard(aggregate):
    run = tournament("room-fish-all", FIELD, 6, seed=7, aggregate=aggregate)
    html = run._repr_html_()
    for words in ("24 matches", "room-fish-all (4 players)", "seed: 7", "deals: 6"):
        assert words in html
    assert "prefer:hold_last&gt;dump_heavy" in html
    assert "hold_last>dump" not in html
    ((head, *lines),) = tables_of(html)
    assert head == ["policy", "goat rate", "points", "room rating"]
    rows = run.summary(metric="goat_rate")
    assert [line[0] for line in lines] == rows["policy"].tolist()
    for (_, text, *_), row in zip(lines, rows.itertuples(), strict=True):
        low, high = 100 * row.ci_low, 100 * row.ci_high
        assert text == f"{100 * row.estimate:.2f}% [{low:.2f}, {high:.2f}]"


def test_results_show_a_few_tables_only_and_no_rating_where_there_is_none():
    names = ["livegames-goat", "room-fish-all", "room-fish-one", "blog-fish-one", "moldova-lone"]
    html = tournament(names, FIELD[:2], 3, seed=1, players=2)._repr_html_()
    assert [len(table) for table in tables_of(html)] == [3] * 4
    assert "and 1 more: see summary()" in html
    assert "room rating" not in html.partition("room-fish-all, 2 players")[0]


def test_a_run_too_long_to_be_looked_at_is_not_summarised(monkeypatch):
    run = simulate("room-fish-all", FIELD[:2], 3, seed=1)
    monkeypatch.setattr("kozel_sim.runs.MOST_ROWS", 5)
    assert "3 matches" in run._repr_html_()
    assert "<table" not in run._repr_html_()


# ---------------------------------------------------------------------- names


def sections(thing):
    """A docstring's summary, and its sections by their headings."""
    lines = inspect.getdoc(thing).splitlines()
    starts = [i - 1 for i, line in enumerate(lines) if re.fullmatch("-{4,}", line)]
    ends = [*starts[1:], len(lines)] if starts else []
    found = {lines[i]: lines[i + 2 : end] for i, end in zip(starts, ends, strict=True)}
    return lines[0], found


def documented(lines):
    """The names that a section tells of: ``first, second : str`` is two."""
    heads = [line.partition(" : ")[0] for line in lines if line and not line.startswith(" ")]
    return [name.lstrip("*") for head in heads for name in head.split(", ")]


def lacking(function):
    """What the help of a function does not tell: parameters, what it returns, what it raises."""
    summary, found = sections(function)
    signature = inspect.signature(function)
    takes = [name for name in signature.parameters if name not in ("self", "cls")]
    lacks = [] if summary.endswith(".") else ["summary"]
    if documented(found.get("Parameters", [])) != takes:
        lacks.append("Parameters")
    gives = signature.return_annotation not in (None, "None", "NoReturn")
    if gives and "Returns" not in found and (takes or not summary.startswith("Return ")):
        lacks.append("Returns")
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    if any(isinstance(node, ast.Raise) for node in ast.walk(tree)) and "Raises" not in found:
        lacks.append("Raises")
    return lacks


PUBLIC = {name: getattr(kozel_sim, name) for name in kozel_sim.__all__}
METHODS = {
    f"{name}.{key}": member
    for name, thing in PUBLIC.items()
    for key, member in inspect.getmembers(thing)
    if inspect.isclass(thing)
    and not key.startswith("_")
    and inspect.isroutine(member)
    and str(getattr(member, "__module__", "")).startswith("kozel_sim")
}


@pytest.mark.parametrize("name", PUBLIC)
def test_help_says_what_a_name_is_and_how_it_is_used(name):
    thing = PUBLIC[name]
    summary, found = sections(thing if callable(thing) else type(thing))
    assert summary.endswith(".")
    if inspect.isfunction(thing):
        assert lacking(thing) == []
        gives = inspect.signature(thing).return_annotation != "None"
        assert ("Returns" in found) == gives
    if not (inspect.isclass(thing) and issubclass(thing, Exception | Totals)):
        assert any(">>>" in line for line in found["Examples"])


@pytest.mark.parametrize("name", METHODS)
def test_help_of_a_method_says_what_it_takes_and_gives(name):
    assert lacking(METHODS[name]) == []


def test_help_of_a_class_tells_of_its_fields():
    for thing in (Policy, Record, Run, Totals):
        told = documented(sections(thing)[1]["Attributes"])
        assert told == [field.name for field in dataclasses.fields(thing) if field.init]
    assert "ValueError" in sections(RuleSet)[1]["Raises"]


def test_policies_are_a_mapping_of_all_that_is_registered(monkeypatch):
    assert list(POLICIES) == list_policies()
    assert POLICIES["weights:pips=1"] == get_policy("weights:pips=1")
    with pytest.raises(KeyError, match="unknown policy 'dump_hevy'"):
        POLICIES["dump_hevy"]


def test_names_of_presets_and_policies_are_completed():
    from IPython.core.completer import provisionalcompleter
    from IPython.core.interactiveshell import InteractiveShell

    @policy
    def completed_here(view):
        """Play the first move."""
        return 0

    shell = InteractiveShell.instance()
    try:
        shell.user_ns |= {"PRESETS": PRESETS, "POLICIES": POLICIES}
        for text, names in (
            ('POLICIES["completed_', ["completed_here"]),
            ('PRESETS["room', ["room-fish-all", "room-fish-one"]),
        ):
            with provisionalcompleter():
                found = [one.text for one in shell.Completer.completions(text, len(text))]
            assert found == names
    finally:
        InteractiveShell.clear_instance()


# ---------------------------------------------------------------------- progress


def test_bar_says_how_far_it_is():
    text = bar_html(500, 2000, 2.0)
    assert (
        text == '<progress value="500" max="2000"></progress> 500 of 2,000 matches, 250/s, 6 s left'
    )
    assert bar_html(0, 2000, 0).endswith("0 of 2,000 matches")
    assert bar_html(2000, 2000, 4).endswith("2,000 of 2,000 matches, 500/s")


def test_progress_may_be_a_function_a_bar_or_nothing(capsys):
    seen = []
    runs = [
        tournament("room-fish-all", FIELD, 6, seed=1, progress=progress)
        for progress in (seen.append, True, False, None)
    ]
    assert sum(seen) == 24
    assert all(run.frame.equals(runs[0].frame) for run in runs)
    assert capsys.readouterr() == ("", ""), "no bar where there is neither notebook nor terminal"
    with shown(None, 10) as step:
        assert step is None


@pytest.fixture
def cell(tmp_path, monkeypatch):
    """``cell(code, stop_at=text)``: the messages of a cell in a kernel, interrupted at a text."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    manager, client = start_new_kernel(kernel_name="python3", startup_timeout=60)

    def run(code, stop_at=None):
        found = []
        number = client.execute(code)
        give_up = time.monotonic() + 600  # a first run compiles
        while time.monotonic() < give_up:
            try:
                message = client.get_iopub_msg(timeout=1)
            except queue.Empty:
                continue
            if message["parent_header"].get("msg_id") != number:
                continue
            found.append((message["msg_type"], message["content"]))
            if stop_at and stop_at in str(message["content"]):
                stop_at = None
                manager.interrupt_kernel()
            if found[-1][1].get("execution_state") == "idle":
                return found
        raise TimeoutError(code)

    yield run
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def test_bar_in_a_notebook_and_an_interrupt(cell):
    cell("from kozel_sim import simulate")
    seats = "['random'] * 4"
    # Whether it has to be compiled first is told too, and not looked at here.
    cell(f"simulate('room-fish-all', {seats}, 1, seed=1, aggregate=True)")
    found = cell(f"run = simulate('room-fish-all', {seats}, 5000, seed=1, progress=True)")
    bars = [
        content["data"]["text/html"] for kind, content in found if kind.endswith("display_data")
    ]
    assert bars[0].endswith(" 0 of 5,000 matches")
    assert " 5,000 of 5,000 matches, " in bars[-1]
    assert not [content for kind, content in found if kind == "stream"]
    # Far more than is played in the time; the first update of the bar interrupts.
    more = "seed=1, aggregate=True, workers=2, progress=True"
    found = cell(f"simulate('room-fish-all', {seats}, 10**8, {more})", stop_at="matches, ")
    (error,) = [content for kind, content in found if kind == "error"]
    assert error["ename"] == "KeyboardInterrupt"
    found = cell("print(run.matches)")
    assert [content["text"] for kind, content in found if kind == "stream"] == ["5000\n"]
