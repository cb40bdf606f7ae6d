"""The layers of the package: imports go down, and some words may be said in one place only."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from kozel_sim.provenance import NEVER_COMPILED

PACKAGE = Path(__file__).resolve().parents[1] / "kozel_sim"
LAYERS = {
    "words": "words tiles outside rng presets playable rules fingerprint provenance files names "
    "_native _jit _strict",
    "table": "view moves opening scoring features decision record reference engine worlds",
    "players": "policies kit",
    "study": "checks schedule simulation playing stats sequential totals sweep store experiment "
    "plain frames parts rows runs keeping verifying merging rounds export "
    "metrics rankings balance ratings metagame stopping planning walks forecasts company skill "
    "odds progress showing tournaments duels bench tell apart positions timing checking warming "
    "chain moments commands notable direction capped fixed intervals guarded manifest columns few "
    "equivalence alike claims recounting extending",
    "faces": "style drawing run_plots field_plots plots printing run_pictures stopping_report "
    "verdicts company_report seat_report reporting rating_report tell_report streams cluster "
    "options svg replay rule_words "
    "report_plots report_results fine_print report_page crashes performing cli cli_runs cli_replay "
    "cli_plan",
}
"""From the bottom up; a subpackage is one entry."""
HEIGHT = {name: h for h, names in enumerate(LAYERS.values()) for name in names.split()}
LOADS_LATE = (
    "cli.py",
    "cli_replay.py",
    "cli_runs.py",
    "cli_plan.py",
    "crashes.py",
    "performing.py",
    "options.py",
    "printing.py",
    "rating_report.py",
    "reporting.py",
    "run_pictures.py",
    "seat_report.py",
)
"""What runs for ``kozel --help`` already: heavy imports wait inside functions."""
COMPILERS = {"njit", "jit", "cfunc", "vectorize", "guvectorize", "generated_jit", "stencil"}

FILES = sorted(PACKAGE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}


def name_of(path):
    """A file's path below the package."""
    return path.relative_to(PACKAGE).as_posix()


def place_of(path):
    """The entry of LAYERS that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports_of(tree):
    """The modules of this package that a piece of code imports, as dotted names below it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: a relative import"
            base = node.module or ""
            names = [
                f"{base}.{alias.name}" if base == "kozel_sim" else base for alias in node.names
            ]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            package, _, module = name.partition(".")
            if package == "kozel_sim":
                yield node.lineno, module


def by_file(*left_out):
    """Ask of each file but some."""
    asked = [path for path in FILES if name_of(path) not in ("__init__.py", *left_out)]
    return pytest.mark.parametrize("path", asked, ids=name_of)


def test_every_module_has_a_layer():
    places = {place_of(path) for path in FILES} - {"__init__"}
    assert places == set(HEIGHT)


@by_file()
def test_imports_go_down(path):
    mine = HEIGHT[place_of(path)]
    wrong = [
        f"line {line}: {module}"
        for line, module in imports_of(TREES[path])
        if HEIGHT.get(module.partition(".")[0], len(LAYERS)) > mine
    ]
    assert wrong == []


@by_file(*LOADS_LATE)
def test_imports_inside_functions_dodge_no_circle(path):
    mine = HEIGHT[place_of(path)]
    inside = [
        f"line {line}: {module}"
        for node in ast.walk(TREES[path])
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for line, module in imports_of(node)
        if HEIGHT[module.partition(".")[0]] >= mine
    ]
    assert inside == []


def test_modules_make_no_circle():
    modules = {name_of(p).removesuffix(".py").replace("/", "."): p for p in FILES}
    modules = {name.removesuffix(".__init__"): path for name, path in modules.items()}
    graph = {
        name: {module for _, module in imports_of(TREES[path])} - {name}
        for name, path in modules.items()
        if name != "__init__"
    }
    TopologicalSorter(graph).prepare()


def test_what_is_never_compiled_is_study_and_faces():
    """Compiled code is kept under a hash of all other sources; those may not feed a kernel."""
    above = {name for name, height in HEIGHT.items() if height >= HEIGHT["simulation"]}
    assert above | {"__init__"} == NEVER_COMPILED
    makers = {"kernel", "part", "inlined", "kept", "shared", "twin"}
    for name in NEVER_COMPILED:
        for node in ast.walk(TREES[PACKAGE / f"{name}.py"]):
            if isinstance(node, ast.ImportFrom) and node.module == "kozel_sim._jit":
                assert not makers & {alias.name for alias in node.names}, name


@pytest.mark.parametrize(("who", "what"), [("reference", "engine"), ("engine", "policies")])
def test_these_two_do_not_know_each_other(who, what):
    for path in FILES:
        if place_of(path) == who:
            known = {module.partition(".")[0] for _, module in imports_of(TREES[path])}
            assert what not in known, name_of(path)


def test_package_itself_imports_nothing_heavy():
    """Its names are loaded when they are used; what is imported for types alone is not run."""
    body = TREES[PACKAGE / "__init__.py"].body
    top = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    assert {node.module for node in top if isinstance(node, ast.ImportFrom)} == {
        "importlib",
        "typing",
    }
    assert all(isinstance(node, ast.ImportFrom) for node in top)


@by_file("_jit.py")
def test_numbas_compilers_are_called_in_one_file_only(path):
    found = []
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value).startswith("numba"):
            found += [node.attr] * (node.attr in COMPILERS)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("numba"):
            found += [alias.name for alias in node.names if alias.name in COMPILERS]
    assert found == []


@by_file()
def test_no_file_is_too_long(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 600


def test_no_file_is_called_utils():
    assert [name_of(p) for p in FILES if p.stem in ("utils", "util", "helpers", "misc")] == []
