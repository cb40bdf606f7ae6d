"""Plots draw what the summary says, on the axes they are given, and leave the figure alone."""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.testing.compare import compare_images
from PIL import Image

from kozel_sim import RuleSet, simulate, tournament
from kozel_sim.plots import forest, forests, leaderboard, leaderboards
from kozel_sim.reporting import print_board, print_effects, write_leaderboard, write_sweep
from kozel_sim.sweep import effects

BASELINE = Path(__file__).parent / "baseline" / "leaderboard.png"
TOLERANCE = 4
"""Root of the mean square of the pixels' differences, of 255; one bar moved gives over 8."""
FIELD = ["random", "dump_heavy", "dump_doubles", "keep_range", "weights:pips=1,double=3,range=2"]


@pytest.fixture(autouse=True)
def own_figures():
    """A backend without windows and matplotlib's own style; no figure stays open."""
    plt.switch_backend("agg")
    with mpl.rc_context(mpl.rcParamsDefault | {"font.family": "DejaVu Sans"}):
        yield
    plt.close("all")


@pytest.fixture(scope="module")
def summary():
    return tournament("room-fish-all", FIELD, 60, seed=1).summary()


@pytest.fixture
def ax():
    return plt.figure(figsize=(5, 3)).add_subplot()


def drawn(ax):
    """What is drawn: (policy, estimate, low, high) from the bottom up."""
    names = [label.get_text().replace("\n", "") for label in ax.get_yticklabels()]
    (bars,) = ax.containers
    points, _, (lines,) = bars.lines
    ends = [path.vertices[:, 0] for path in lines.get_paths()]
    return [(name, x, *end) for name, x, end in zip(names, points.get_xdata(), ends, strict=True)]


# ---------------------------------------------------------------------- what is drawn


@pytest.mark.parametrize("metric", ["goat_rate", "points", "rating"])
def test_leaderboard_draws_every_interval_of_the_summary(summary, ax, metric):
    leaderboard(summary, ax, metric=metric)
    rows = summary[summary["metric"] == metric].set_index("policy")
    found = drawn(ax)
    assert sorted(name for name, *_ in found) == sorted(FIELD)
    for name, *values in found:
        wanted = rows.loc[name, ["estimate", "ci_low", "ci_high"]].astype(float)
        assert values == pytest.approx(wanted.tolist())


@pytest.mark.parametrize(("metric", "best"), [("goat_rate", min), ("rating", max)])
def test_leaderboard_has_the_best_on_top(summary, ax, metric, best):
    estimates = [estimate for _, estimate, *_ in drawn(leaderboard(summary, ax, metric=metric))]
    assert estimates == sorted(estimates, reverse=best is min)
    assert estimates[-1] == best(estimates)
    assert ax.get_ylim()[0] < 0 < len(FIELD) - 1 < ax.get_ylim()[1]


def test_leaderboard_draws_a_summary_by_seat_too(ax):
    by_seat = simulate("room-fish-all", FIELD[:4], 20, seed=1).summary(by="seat")
    leaderboard(by_seat, ax)
    assert sorted(name for name, *_ in drawn(ax)) == ["0", "1", "2", "3"]


def test_leaderboard_labels_its_axis_and_its_numbers(summary, ax):
    leaderboard(summary, ax)
    assert ax.get_xlabel() == "goat rate: share of matches lost (95% interval)"
    assert ax.get_title(loc="left") == "room-fish-all, 4 players"
    found = drawn(ax)
    assert [text.get_text() for text in ax.texts] == [f"{x:.1%}" for _, x, *_ in found]


@pytest.mark.parametrize("metric", ["goat_rate", "points"])
def test_leaderboard_of_one_deal_leaves_out_endless_intervals(ax, metric):
    summary = simulate("room-fish-all", FIELD[:2], 1, seed=1).summary()
    leaderboard(summary, ax, metric=metric)
    ax.figure.canvas.draw()
    ends = np.array([end for _, _, *end in drawn(ax)])
    assert np.isfinite(ends).all() == (metric == "goat_rate")


def test_leaderboard_of_a_policy_that_never_lost(ax):
    run = simulate("room-fish-all", FIELD[:2], 3, seed=1)
    leaderboard(type(run)(run.frame.assign(goat=False), run.manifest).summary(), ax)
    assert [values[:2] for _, *values in drawn(ax)] == [[0, 0], [0, 0]]


# ---------------------------------------------------------------------- whose figure


def test_leaderboard_returns_the_axes_it_was_given(summary, ax):
    assert leaderboard(summary, ax) is ax


def test_leaderboard_leaves_the_callers_figure_alone(summary, ax, monkeypatch):
    figure = ax.figure
    other = figure.add_subplot(2, 2, 1)
    before = (figure.get_size_inches().tolist(), figure.get_layout_engine(), figure.dpi)
    place = ax.get_position().bounds
    for forbidden in ("show", "tight_layout", "subplots_adjust", "savefig", "close", "draw"):
        monkeypatch.setattr(plt, forbidden, None)
    for forbidden in ("tight_layout", "set_size_inches", "subplots_adjust", "set_layout_engine"):
        monkeypatch.setattr(type(figure), forbidden, None)
    leaderboard(summary, ax)
    assert (figure.get_size_inches().tolist(), figure.get_layout_engine(), figure.dpi) == before
    assert ax.get_position().bounds == place
    assert figure.axes == [ax, other]
    assert not other.has_data()
    assert plt.get_fignums() == [figure.number]


@pytest.fixture(scope="module")
def swept():
    rules = [RuleSet.preset("room-fish-all", 2).replace(target=target) for target in (101, 51)]
    return effects(tournament(rules, FIELD[:2], 20, seed=1).frame, level=0.999)


MAKERS = {
    "leaderboards": lambda summary, _: leaderboards(summary),
    "forests": lambda _, swept: forests(swept),
}


@pytest.mark.parametrize("draw", [leaderboard, forest])
def test_axes_without_a_place_are_on_a_new_figure_that_a_notebook_shows(summary, swept, draw):
    ax = draw(summary if draw is leaderboard else swept)
    assert plt.gcf() is ax.figure
    plt.close(ax.figure)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_new_figure_is_whole_and_not_kept_by_pyplot(summary, swept, ax, tmp_path, make):
    before = plt.get_fignums(), plt.gcf()
    figure = make(summary, swept)
    assert (plt.get_fignums(), plt.gcf()) == before
    assert figure.axes
    assert all(ax.has_data() for ax in figure.axes)
    figure.savefig(tmp_path / "it.png")
    assert (tmp_path / "it.png").stat().st_size > 5000


def test_run_that_is_written_leaves_no_figure_open(tmp_path, swept):
    run = tournament("room-fish-all", FIELD[:2], 20, seed=1, players=2)
    write_leaderboard(run, tmp_path)
    rules = [RuleSet.preset("room-fish-all", 2).replace(target=target) for target in (101, 51)]
    write_sweep(tournament(rules, FIELD[:2], 20, seed=1), tmp_path)
    assert (tmp_path / "leaderboard.png").exists()
    assert (tmp_path / "forest.png").exists()
    assert plt.get_fignums() == []


def test_leaderboards_draw_a_board_per_preset_and_players():
    rules = [RuleSet.preset(name, n) for name, n in [("room-fish-all", 4), ("room-fish-one", 2)]]
    rules.append(RuleSet.preset("room-fish-all", 2))
    figure = leaderboards(tournament(rules, FIELD[:4], 6, seed=1).summary())
    assert [ax.get_title(loc="left") for ax in figure.axes] == [
        f"{r.name}, {r.players} players" for r in rules
    ]


def test_leaderboards_say_where_there_is_no_rating():
    rules = [RuleSet.preset(name, 2) for name in ("livegames-goat", "room-fish-all")]
    summary = tournament(rules, FIELD[:2], 20, seed=1).summary()
    none, rated = leaderboards(summary, "rating").axes
    assert none.get_title(loc="left") == "livegames-goat, 2 players"
    assert [text.get_text() for text in none.texts] == ["no rating under these rules"]
    assert [name for name, *_ in drawn(rated)] == ["random", "dump_heavy"]
    with pytest.raises(ValueError, match="no metric 'rating'; choose from goat_rate, points"):
        leaderboards(summary[summary["preset"] == "livegames-goat"], "rating")
    with pytest.raises(ValueError, match="no metric 'luck'; choose from goat_rate, points, rating"):
        leaderboards(summary, "luck")


@pytest.mark.parametrize(
    ("level", "text"), [(0.999, "99.9%"), (0.9999, "99.99%"), (0.07, "7%"), (0.995, "99.5%")]
)
def test_level_is_not_rounded(ax, capsys, level, text):
    rules = [RuleSet.preset("room-fish-all", 2).replace(target=target) for target in (101, 51)]
    run = tournament(rules, FIELD[:2], 20, seed=1)
    summary, found = run.summary(level=level), effects(run.frame, level=level)
    leaderboard(summary, ax, preset=rules[0].name)
    assert ax.get_xlabel().endswith(f" ({text} interval)")
    assert forest(found).get_xlabel().endswith(f" ({text} interval)")
    print_board(rules[0], summary[summary["preset"] == rules[0].name], run.presets(level=level))
    print_effects("a sweep", found, "metric")
    assert capsys.readouterr().out.count(f"({text} intervals, clustered by deal)") == 2


# ---------------------------------------------------------------------- errors


def test_leaderboard_asks_which_of_several(ax):
    rules = [RuleSet.preset("room-fish-all", n) for n in (2, 4)]
    rules.append(RuleSet.preset("room-fish-one", 2))
    summary = tournament(rules, FIELD[:4], 6, seed=1).summary()
    with pytest.raises(ValueError, match="several values of preset; name one of room-fish-all, ro"):
        leaderboard(summary, ax)
    with pytest.raises(ValueError, match="several values of players; name one of 2, 4"):
        leaderboard(summary, ax, preset="room-fish-all")
    leaderboard(summary, ax, preset="room-fish-one")
    leaderboard(summary, ax, preset="room-fish-all", players=4)


@pytest.mark.parametrize(
    ("choice", "complaint"),
    [
        ({"metric": "luck"}, "no metric 'luck'; choose from goat_rate, points, rating"),
        ({"preset": "room"}, "no preset 'room'; choose from room-fish-all"),
        ({"players": 3}, "no players 3; choose from 4"),
    ],
)
def test_leaderboard_names_an_unknown_choice(summary, ax, choice, complaint):
    with pytest.raises(ValueError, match=complaint):
        leaderboard(summary, ax, **choice)
    assert not ax.has_data()


# ---------------------------------------------------------------------- the picture


def save_picture(path, rates):
    """A leaderboard of made-up rates, as the baseline was saved."""
    columns = ["preset", "players", "policy", "metric", "estimate", "ci_low", "ci_high", "level"]
    rows = [
        ("room-fish-all", 4, name, "goat_rate", rate, rate - 0.03, rate + 0.03, 0.95)
        for name, rate in zip(FIELD, rates, strict=True)
    ]
    figure = plt.figure(figsize=(6, 3), dpi=80)
    summary = pd.DataFrame(rows, columns=columns)
    leaderboard(summary, figure.add_axes((0.34, 0.2, 0.62, 0.68)))
    figure.savefig(path, dpi=80)


def test_leaderboard_looks_as_it_did(tmp_path):
    """When it should look otherwise, remake the baseline with save_picture and look at it."""
    with Image.open(BASELINE) as picture:
        drawn_by = picture.info["Software"].removeprefix("Matplotlib version")
    if drawn_by.split(".")[:2] != mpl.__version__.split(".")[:2]:
        pytest.skip(f"the baseline is from Matplotlib {drawn_by}, whose text looks different")
    save_picture(tmp_path / "now.png", [0.45, 0.12, 0.2, 0.37, 0.26])
    assert compare_images(str(BASELINE), str(tmp_path / "now.png"), TOLERANCE) is None
    save_picture(tmp_path / "other.png", [0.45, 0.12, 0.2, 0.37, 0.33])
    assert compare_images(str(BASELINE), str(tmp_path / "other.png"), TOLERANCE)
