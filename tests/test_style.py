"""Pictures look the same whatever a user's matplotlibrc asks for; one that fails costs nothing."""

import io
import os
import re
import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import pytest
from command_line import runner
from matplotlib.text import Text
from pictures import PICTURES, TABLE
from user_policies import own_registry

from kozel_sim import load_run, plots
from kozel_sim.report_plots import draw
from kozel_sim.run_pictures import why, write_picture
from kozel_sim.style import FONT

HOSTILE = {
    "text.usetex": True,
    "font.family": "No Such Font",
    "axes.formatter.use_locale": True,
    "axes.formatter.use_mathtext": True,
    "axes.facecolor": "navy",
    "axes.xmargin": 0.4,
    "figure.autolayout": True,
    "figure.facecolor": "black",
    "figure.constrained_layout.w_pad": 2,
    "legend.loc": "center",
    "lines.linewidth": 9,
    "path.sketch": (1, 100, 2),
    "savefig.bbox": "tight",
    "savefig.dpi": 20,
    "savefig.format": "pdf",
    "savefig.transparent": True,
}
"""A matplotlibrc of somebody else's, on a machine without LaTeX."""
SMALL = ("tournament", "-n", 12, "--players", 2, "--policies", "random,dump_heavy", "--seed", 1)


@pytest.fixture(autouse=True)
def clean_place(tmp_path, monkeypatch):
    plt.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    with own_registry(), mpl.rc_context():
        yield
    plt.close("all")


def saved(make):
    """The picture's bytes, drawn and saved under one style."""
    file = io.BytesIO()
    figure = make()
    figure.savefig(file, dpi=60)
    return file.getvalue()


def board(policies=("random", "dump_heavy")):
    """The table of a leaderboard: two rates."""
    rates = {"estimate": [0.3, 0.2], "ci_low": [0.2, 0.1], "ci_high": [0.4, 0.3]}
    return pd.DataFrame(TABLE | {"policy": list(policies), "metric": "goat_rate"} | rates)


MAKERS = {
    "one": lambda: plots.leaderboard(board()).figure,
    "several": lambda: plots.leaderboards(board()),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_new_figure_is_the_same_under_every_matplotlibrc(make):
    usual = saved(make)
    figure = make()
    with mpl.rc_context(HOSTILE):
        assert saved(make) == usual
        # A notebook draws it later, and under its own settings.
        assert saved(lambda: figure) == usual


@pytest.mark.parametrize("name", PICTURES)
def test_axes_of_a_users_are_drawn_without_latex(name):
    with mpl.rc_context(HOSTILE):
        figure, ax = plt.subplots()
        PICTURES[name](ax, False)
        figure.canvas.draw()
        texts = ax.findobj(Text)
        assert not any(text.get_usetex() or text.get_parse_math() for text in texts)
        assert {text.get_fontfamily()[0] for text in texts} == {FONT}
        assert not any("$" in text.get_text() for text in texts)


def test_a_plot_leaves_the_users_settings_as_they_were():
    with mpl.rc_context(HOSTILE):
        before = dict(mpl.rcParams)
        plots.leaderboard(board(), plt.figure().add_subplot())
        plots.leaderboards(board())
        draw("a caption", lambda ax: plots.leaderboard(board(), ax), ["random", "dump_heavy"])
        assert dict(mpl.rcParams) == before


def test_a_plot_can_be_read_on_dark_axes():
    with plt.style.context("dark_background"):
        ax = plots.leaderboard(board(), plt.figure().add_subplot())
    assert {text.get_color() for text in ax.texts} == {"white"}


def test_plot_of_a_report_is_the_same_under_every_matplotlibrc():
    def page():
        return draw("a", lambda ax: plots.leaderboard(board(), ax), ["random", "dump_heavy"]).svg

    usual = page()
    with mpl.rc_context(HOSTILE):
        assert page() == usual


def test_names_with_dollars_and_rare_letters_are_drawn_as_they_are(tmp_path):
    names = ["costs $5 or $6", "\u043a\u043e\u0437\u0451\u043b \U0001f410 \u9f8d"]
    write_picture(tmp_path / "it.png", lambda: plots.leaderboards(board(names)))
    assert (tmp_path / "it.png").read_bytes().startswith(b"\x89PNG")
    ax = plots.leaderboard(board(names))
    assert {label.get_text() for label in ax.get_yticklabels()} == set(names)


# ---------------------------------------------------------------------- a picture that fails


@pytest.fixture
def kozel(monkeypatch, capsys):
    return runner(monkeypatch, capsys)


def refuse(*_):
    raise RuntimeError("Failed to process string with tex\nbecause latex could not be found")


COMMANDS = {
    "leaderboards": (*SMALL, "-o", "run"),
    "all_duels": ("compare", "random", "dump_heavy", "-n", 12, "--seed", 1, "-o", "run"),
    "tells": ("tell", "-n", 4, "--players", 2, "--seed", 1, "-o", "run"),
}
NAMES = {"leaderboards": "leaderboard.png", "all_duels": "duels.png", "tells": "tell.png"}


@pytest.mark.parametrize("plot", COMMANDS)
def test_failed_picture_is_one_warning_beside_whole_results(kozel, monkeypatch, tmp_path, plot):
    with monkeypatch.context() as patch:
        patch.setattr(plots, plot, refuse)
        code, out, err = kozel(*COMMANDS[plot])
    assert code == 0
    name = NAMES[plot]
    said = "Failed to process string with tex"
    assert err == f"kozel: warning: no picture run/{name}: {said}\n"
    assert "written to run" in out
    assert "dump_heavy" in out
    assert [*tmp_path.rglob(".making-*"), *tmp_path.rglob("parts.jsonl")] == []
    assert not (tmp_path / "run" / name).exists()
    if plot != "tells":
        assert load_run("run").manifest["state"] == "finished"
    # The same command reads the run, and draws what was not drawn.
    code, out, err = kozel(*COMMANDS[plot])
    assert (code, err) == (0, "")
    assert "read, not played again" in out
    assert (tmp_path / "run" / name).read_bytes().startswith(b"\x89PNG")


def test_results_are_printed_before_the_picture(kozel, monkeypatch, tmp_path):
    seen = []

    def look(summary):
        seen.append((sys.stdout.getvalue(), {path.name for path in (tmp_path / "run").iterdir()}))
        refuse()

    monkeypatch.setattr(plots, "leaderboards", look)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    kozel(*SMALL, "-o", "run")
    ((printed, files),) = seen
    assert "goats per match" in printed
    assert {"summary.csv", "ranking.csv", "manifest.json"} <= files


def test_picture_that_cannot_be_written_is_a_warning(tmp_path, capsys):
    write_picture(tmp_path / "none" / "it.png", lambda: plots.leaderboards(board()))
    err = capsys.readouterr().err
    assert err == f"kozel: warning: no picture {tmp_path}/none/it.png: No such file or directory\n"


@pytest.mark.parametrize(
    ("error", "said"),
    [(ValueError("one\ntwo"), "one"), (ValueError(), "ValueError"), (OSError(28, "full"), "full")],
)
def test_warning_has_one_line_of_the_error(error, said):
    assert why(error) == said


def test_backend_that_is_not_there_does_not_matter(kozel, monkeypatch, tmp_path):
    monkeypatch.setenv("MPLBACKEND", "bogus")
    assert kozel(*SMALL, "-o", "run", "--quiet") == (0, "", "")
    assert "MPLBACKEND" not in os.environ
    assert (tmp_path / "run" / "leaderboard.png").exists()


def test_page_of_the_results_names_the_files_that_commands_write(kozel, tmp_path):
    page = (Path(__file__).parents[1] / "results" / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(?:matches/BLOCK/)?([\w*-]+\.\w+)`(?! reads)", page))
    for number, words in enumerate([*COMMANDS.values(), (*SMALL, "-o", "run", "--stop", "sprt")]):
        kozel(*[f"run{number}" if word == "run" else word for word in words], "--quiet")
    (tmp_path / "a.toml").write_text(
        "name = 'a'\nrules = ['room-fish-all']\nplayers = [2]\ndeals = 6\n"
        "policies = ['random', 'dump_heavy']\nseed = 1\nvariants = [{ target = 51 }]\n"
    )
    assert kozel("sweep", "a.toml", "-o", "swept", "--quiet") == (0, "", "")
    written = {
        re.sub(r"\d{12}", "*", path.name) for path in tmp_path.glob("[rs]*/**/*") if path.is_file()
    }
    assert written - named == set()
    assert named - written <= {"parts.jsonl", "stopping.csv", "EXPERIMENT.toml"}
