"""README.md, README.ru.md and docs/reproduce.md: every figure is what its command prints."""

import re
import tomllib
from fnmatch import fnmatch

import pages
import pytest
from command_line import runner

from kozel_sim.engine.lockstep.vector import LANES
from kozel_sim.experiment import load_experiment
from kozel_sim.policies.builtin import BUILTIN
from kozel_sim.rules import knob_names
from kozel_sim.tournaments import Tournament

README, RUSSIAN = pages.read("README.md"), pages.read("README.ru.md")
HOW = pages.read("docs/reproduce.md")
PAGES = ["README.md", "README.ru.md", "docs/reproduce.md"]
IMAGES = sorted(path.name for path in (pages.ROOT / "docs" / "images").iterdir())
CONSOLES = [one for _, body in pages.blocks(README, "console") for one in pages.commands(body)]
BENCHMARK = ("make run", "run experiments/benchmark.toml")
"""What the Makefile runs, and what that is here."""


@pytest.fixture
def kozel(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(pages.ROOT)
    return runner(monkeypatch, capsys)


def prose(text):
    """A page without blocks, tables and code."""
    text = re.sub(r"^\|.*\n", "", pages.BLOCK.sub("", text), flags=re.MULTILINE)
    return re.sub(r"`[^`]*`|\]\([^)]*\)", " ", text)


FIGURE = re.compile(r"(?<![\w.,-])(?:\d+(?:[.,]\d+)+(?![\w-])|\d{2,}(?![\w.,]*\w))")


def figures(text):
    """The figures of a text that somebody must have measured, counted or chosen."""
    return set(FIGURE.findall(re.sub(r"(?<=\d) (?=\d{3}\b)", ",", text)))


# ---------------------------------------------------------------------- what is printed


def test_commands_print_what_the_readme_shows(kozel):
    asked = [one for one in CONSOLES if one[0] != BENCHMARK[0]]
    assert len(asked) == len(CONSOLES) - 1 > 0
    for command, shown in asked:
        code, printed = pages.shell(command, kozel)
        assert code == 0
        assert pages.matches(shown, printed), printed


@pytest.mark.slow
def test_benchmark_prints_and_draws_what_the_readme_shows(kozel, tmp_path):
    folder = tmp_path / "benchmark"
    code, printed, _ = kozel(*BENCHMARK[1].split(), "-o", folder)
    assert code == 0
    (shown,) = (shown for command, shown in CONSOLES if command == BENCHMARK[0])
    assert pages.matches(shown, printed), printed
    assert BENCHMARK[1] in pages.read("Makefile")
    drawn = (folder / "leaderboard.png").read_bytes()
    assert drawn == (pages.ROOT / "docs" / "images" / "leaderboard.png").read_bytes()


def test_python_of_the_readme_runs(capsys):
    (body,) = (body for _, body in pages.blocks(README, "python"))
    exec(compile(body, "README.md", "exec"), {})
    assert capsys.readouterr().out.startswith("room-fish-all, 2 players, seed 1, deal 0")


def test_counts_of_the_readme_are_those_of_the_benchmark():
    plan = load_experiment(pages.ROOT / "experiments" / "benchmark.toml")
    matches = Tournament.of(plan).matches
    assert f"{matches:,} matches" in README
    assert f"{matches:,} партий".replace(",", " ") in RUSSIAN
    words = {10: "ten policies", 2: "both room presets"}
    assert words[len(plan.policies)] in README
    assert words[len(plan.rules)] in README
    assert plan.players == [4, 2]


def test_pythons_of_the_readmes_are_those_of_the_project():
    project = tomllib.loads(pages.read("pyproject.toml"))["project"]
    versions = re.findall(r"3\.\d+", " ".join(project["classifiers"]))
    for page in (README, RUSSIAN):
        assert set(re.findall(r"\b3\.1\d\b", prose(page))) == {versions[0], versions[-1]}


def test_builtin_policies_are_all_in_the_readme():
    table = README.partition("A policy is named by a spec")[2].partition("\n## ")[0]
    assert set(BUILTIN) <= set(re.findall(r"`(\w+)`", table))


@pytest.mark.parametrize("page", PAGES)
def test_targets_of_make_are_there(page):
    targets = re.findall(r"^([a-z-]+):.*## ", pages.read("Makefile"), re.MULTILINE)
    assert set(re.findall(r"(?:^|`)make ([a-z-]+)", pages.read(page), re.MULTILINE)) <= set(targets)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    assert pages.broken_links(page) == []


def test_every_page_is_linked_from_both_readmes():
    for path in (pages.ROOT / "docs").glob("*.md"):
        for page in (README, RUSSIAN):
            assert f"](docs/{path.name})" in page, path.name


# ---------------------------------------------------------------------- the same in Russian


def test_readmes_link_each_other_at_the_top():
    assert "](README.ru.md)" in README.partition("\n\n")[2].partition("\n\n")[0]
    assert "](README.md)" in RUSSIAN.partition("\n\n")[2].partition("\n\n")[0]


def test_blocks_in_russian_are_those_in_english():
    english, russian = ([m.group() for m in pages.BLOCK.finditer(p)] for p in (README, RUSSIAN))
    assert [block for block in english if block in russian] == russian
    assert len(english) - len(russian) == 1, "only uv is left out"


def test_figures_in_russian_are_those_in_english():
    mine = {figure.replace(",", ".") for figure in figures(prose(RUSSIAN))}
    theirs = {figure.replace(",", ".") for figure in figures(README)}
    assert mine <= theirs | {"10"}


def test_table_of_speeds_is_the_same_in_russian():
    speeds = re.search(r"(^\| work .*\n)(^\|.*\n)+", README, re.MULTILINE)
    assert speeds is not None
    assert speeds.group() in RUSSIAN


def test_glossary_names_what_there_is():
    table = RUSSIAN.partition("## Словарик")[2].partition("\n## ")[0]
    rows = [line.strip("|").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in row] for row in rows[1:]]
    assert len({row[0] for row in rows}) == len(rows) >= 25
    said = pages.read("docs/rules.md").lower()
    for russian, latin, english, meaning, knobs in rows:
        assert re.fullmatch("[а-яё, ]+", russian)
        assert re.search("[а-яё]", meaning), russian
        assert latin.count(",") == russian.count(","), russian
        assert re.fullmatch("[a-z', ]+", latin), russian
        assert all(word.strip("` ") in said for word in english.split(",")), english
        assert set(re.findall(r"\w+", knobs)) <= set(knob_names()), knobs


# ---------------------------------------------------------------------- where it comes from


def test_every_figure_of_the_readme_has_its_command():
    quoted = set(pages.read("benchmarks/results.md").splitlines())
    own = "\n".join(line for line in prose(README).splitlines() if line not in quoted)
    assert len(figures(own)) > 8
    assert figures(own) <= figures(HOW), figures(own) - figures(HOW)


@pytest.mark.parametrize("image", IMAGES)
def test_every_picture_has_its_command(image):
    (row,) = re.findall(rf"^\| `docs/images/{re.escape(image)}` \|(.*)", HOW, re.MULTILINE)
    assert "`" in row
    shown = [
        page
        for page in ("README.md", *map(str, (pages.ROOT / "docs").glob("*.md")))
        if f"images/{image})" in (pages.ROOT / page).read_text(encoding="utf-8")
    ]
    assert shown


def test_commands_that_make_figures_are_commands(kozel):
    """Each is known, and its options are."""
    commands = set(re.findall(r"`kozel ([^`]*)`", HOW))
    assert len(commands) > 5
    for command in commands:
        code, out, _ = kozel(command.split()[0], "--help")
        assert code == 0
        for option in re.findall(r"--[\w-]+", command):
            assert option in out
    files = {word for command in commands for word in command.split() if fnmatch(word, "*.toml")}
    assert all((pages.ROOT / file).is_file() for file in files)


def test_vector_engine_plays_sixteen_matches_in_step():
    assert LANES == 16
    assert "plays sixteen matches in step" in README


def test_tests_that_check_figures_are_there():
    named = set(re.findall(r"`(tests/\w+\.py)`", HOW))
    assert "tests/test_study_pages.py" in named
    assert all((pages.ROOT / name).is_file() for name in named)
