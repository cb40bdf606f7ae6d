"""The notebooks run cleanly at a small size, and are committed as they ran."""

import json
import re
from pathlib import Path

import matplotlib.font_manager
import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
ABSOLUTE_PATH = re.compile(
    r"(?<![\w.:/<])/(?!/)[\w.@+-]+/[\w.@+-]|(?<!\w)~/\w|file:/|\b[A-Za-z]:\\+\w|\\\\\w+\\"
)
"""Like /home/me, ~/x, file:///x, C:\\x or \\\\server\\x; not a URL, a closing tag or a fraction."""
NOTICE = re.compile(r"^.*\bcompiling the engine\b.*\n?", re.MULTILINE)
"""The one line that may stand on stderr: the first run on a machine compiles."""

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)


def read(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]


def complaints(notebook):
    """Everything that cells wrote to stderr, but for the notice, and their errors."""
    found = []
    for cell in code_cells(notebook):
        for output in cell.outputs:
            if output.output_type == "error":
                found.append(f"{cell.id}: {output.ename}: {output.evalue}")
            elif output.get("name") == "stderr" and (text := NOTICE.sub("", output.text).strip()):
                found.append(f"{cell.id}: {text}")
    return found


def kinds_shown(notebook):
    """By cell: what it shows, as stream names and media types."""
    return {
        cell.id: {kind for o in cell.outputs for kind in o.get("data", [o.get("name")])}
        - {"stderr"}
        for cell in code_cells(notebook)
    }


def plain_outputs(notebook):
    """By cell: its printed lines and its values as plain text, without stderr."""
    return {
        cell.id: [
            o.text if o.output_type == "stream" else o.data["text/plain"]
            for o in cell.outputs
            if o.get("name") != "stderr"
        ]
        for cell in code_cells(notebook)
    }


def texts(value):
    """All texts of a notebook's JSON, without encoded pictures."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not key.startswith("image/"):
                yield from texts(item)


def test_there_is_a_notebook():
    assert NOTEBOOKS


@pytest.fixture
def execute(tmp_path, monkeypatch):
    """``execute(path, scale)``: the notebook as it runs in an empty folder, at a size."""
    # Built here if it is missing: matplotlib says so on stderr where it takes long.
    assert matplotlib.font_manager.fontManager.ttflist
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.delenv("MPLBACKEND", raising=False)

    def run(path, scale):
        monkeypatch.setenv("KOZEL_NOTEBOOK_SCALE", str(scale))
        notebook = read(path)
        for cell in code_cells(notebook):
            cell.outputs, cell.execution_count = [], None
        client = NotebookClient(
            notebook,
            timeout=600,  # a first run compiles
            kernel_name="python3",
            resources={"metadata": {"path": str(work)}},
        )
        client.execute()
        assert list(work.iterdir()) == [], "a notebook leaves no files"
        return notebook

    return run


@each_notebook
def test_notebook_runs_without_a_complaint(path, execute):
    notebook = execute(path, 0.02)
    assert complaints(notebook) == []
    assert kinds_shown(notebook) == kinds_shown(read(path)), "run make notebooks"


@pytest.mark.slow
@each_notebook
def test_committed_outputs_are_what_the_notebook_shows(path, execute):
    notebook = execute(path, 1.0)
    assert plain_outputs(notebook) == plain_outputs(read(path)), "run make notebooks"


@each_notebook
def test_committed_notebook_was_run_whole_and_in_order(path):
    notebook = read(path)
    cells = code_cells(notebook)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert any(cell.outputs for cell in cells)
    assert complaints(notebook) == []
    assert notebook.metadata.kernelspec.name == "python3"


@each_notebook
def test_committed_notebook_names_no_place_of_a_machine(path):
    found = [
        text[max(0, match.start() - 20) : match.end() + 20]
        for text in texts(json.loads(path.read_text(encoding="utf-8")))
        for match in ABSOLUTE_PATH.finditer(text)
    ]
    assert found == []


@pytest.mark.parametrize(
    "text", ["/home/me/x", "see '/tmp/x'", "~/x", "file:///x", "C:\\Users", "\\\\server\\share"]
)
def test_an_absolute_path_is_found(text):
    assert ABSOLUTE_PATH.search(text)


@pytest.mark.parametrize(
    "text",
    ["<td>1</td></tr>", "https://a.org/b/c", "1/2", "and/or", "a // b", 'f"{x}\\n"', "a/b/c"],
)
def test_other_slashes_are_no_path(text):
    assert not ABSOLUTE_PATH.search(text)
