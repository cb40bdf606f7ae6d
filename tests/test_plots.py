"""Plots draw what the summary says, on the axes they are given, and leave the figure alone."""

import re
from itertools import pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.container import BarContainer
from matplotlib.testing.compare import compare_images
from pictures import BASELINE, FIELD, PICTURES, STYLE, TABLE, save
from pictures import _matches as pictures_matches
from PIL import Image

from kozel_sim import (
    RuleSet,
    nash,
    payoffs,
    plots,
    rate,
    seat_tables,
    simulate,
    tournament,
)
from kozel_sim.metrics import DealSums
from kozel_sim.plots import forest, forests, leaderboard, leaderboards
from kozel_sim.reporting import print_board, print_effects
from kozel_sim.run_pictures import draw_run
from kozel_sim.sequential import sequence_of
from kozel_sim.sweep import effects

TOLERANCE = 4
"""Root of the mean square of the pixels' differences, of 255; one bar moved gives over 8."""


@pytest.fixture(autouse=True)
def own_figures():
    """A backend without windows and matplotlib's own style; no figure stays open."""
    plt.switch_backend("agg")
    with mpl.rc_context(STYLE):
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
    label = "goat rate: share of matches lost, lower is better (95% interval)"
    assert ax.get_xlabel().replace("\n", " ") == label
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
    draw_run(run, tmp_path, "leaderboard.png")
    rules = [RuleSet.preset("room-fish-all", 2).replace(target=target) for target in (101, 51)]
    draw_run(tournament(rules, FIELD[:2], 20, seed=1), tmp_path, "forest.png")
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
    assert [text.get_text() for text in none.texts] == ["no room rating under these rules"]
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
    of_preset = run.presets(level=level)
    print_board(summary[summary["preset"] == rules[0].name], of_preset)
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


# ---------------------------------------------------------------------- the pictures


def test_every_plot_has_a_picture():
    made_of_others = {"leaderboards", "forests", "all_changes", "all_duels", "tells"}
    assert set(PICTURES) | made_of_others == set(plots.__all__)
    assert {path.stem for path in BASELINE.glob("*.png")} == set(PICTURES)
    page = (BASELINE.parents[1] / "docs" / "plots.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == list(PICTURES)


@pytest.mark.parametrize("name", PICTURES)
def test_plot_looks_as_it_did(tmp_path, name):
    """When it should look otherwise, remake it with pictures.py and look at it."""
    baseline = BASELINE / f"{name}.png"
    with Image.open(baseline) as picture:
        drawn_by = picture.info["Software"].removeprefix("Matplotlib version")
    if drawn_by.split(".")[:2] != mpl.__version__.split(".")[:2]:
        pytest.skip(f"the baseline is from Matplotlib {drawn_by}, whose text looks different")
    save(name, tmp_path / "now.png")
    assert compare_images(str(baseline), str(tmp_path / "now.png"), TOLERANCE) is None
    save(name, tmp_path / "other.png", other=True)
    assert compare_images(str(baseline), str(tmp_path / "other.png"), TOLERANCE)


@pytest.mark.parametrize("name", PICTURES)
def test_plot_leaves_the_callers_figure_alone(name, ax, monkeypatch):
    figure = ax.figure
    other = figure.add_subplot(2, 2, 1)
    before = (figure.get_size_inches().tolist(), figure.get_layout_engine(), figure.dpi)
    place = ax.get_position().bounds
    for forbidden in ("show", "tight_layout", "subplots_adjust", "savefig", "close", "draw"):
        monkeypatch.setattr(plt, forbidden, None)
    for forbidden in ("tight_layout", "set_size_inches", "subplots_adjust", "set_layout_engine"):
        monkeypatch.setattr(type(figure), forbidden, None)
    PICTURES[name](ax, False)
    assert (figure.get_size_inches().tolist(), figure.get_layout_engine(), figure.dpi) == before
    assert ax.get_position().bounds == place
    assert figure.axes == [ax, other]
    assert ax.has_data()
    assert not other.has_data()
    assert plt.get_fignums() == [figure.number]


@pytest.mark.parametrize("name", PICTURES)
def test_plot_without_axes_is_whole_on_a_new_figure(name):
    PICTURES[name](None, False)
    figure = plt.gcf()
    figure.canvas.draw()
    width, height = figure.get_size_inches()
    drawn_on = figure.get_tightbbox()
    assert 0 <= drawn_on.x0 < drawn_on.x1 <= width
    assert 0 <= drawn_on.y0 < drawn_on.y1 <= height


# ---------------------------------------------------------------------- what the others draw


def test_goat_rates_draw_every_interval_of_the_summary(ax):
    rules = [RuleSet.preset(name, 4) for name in ("room-fish-all", "room-fish-one")]
    summary = tournament(rules, FIELD, 6, seed=1).summary()
    plots.goat_rates(summary, ax)
    rows = summary[summary["metric"] == "goat_rate"].set_index(["policy", "preset"])
    assert [label.get_text() for label in ax.get_yticklabels()] == [r.name for r in rules[::-1]]
    assert len(ax.containers) == len(FIELD)
    for bars in ax.containers:
        (points, _, (lines,)), name = bars.lines, bars.get_label().replace("\n", "")
        ends = [path.vertices[:, 0] for path in lines.get_paths()]
        for x, y, (low, high) in zip(*points.get_data(), ends, strict=True):
            wanted = rows.loc[(name, rules[1 - round(y)].name), ["estimate", "ci_low", "ci_high"]]
            assert (x, low, high) == pytest.approx(tuple(wanted.astype(float)))


def test_goat_rates_refuse_more_series_than_can_be_told_apart(summary, ax):
    many = pd.concat([summary.assign(policy=summary["policy"].astype(str) + t) for t in "ab"])
    with pytest.raises(ValueError, match="10 policies cannot be told apart; name 8 or fewer of"):
        plots.goat_rates(many, ax)
    assert len(plots.goat_rates(many, ax, policies=["randoma", "randomb"]).containers) == 2


def test_convergence_ends_with_the_estimate_and_both_intervals(ax):
    run = tournament("room-fish-all", FIELD, 240, seed=1)
    plots.convergence(run.frame, ax, policy="keep_range", metric="goat_rate")
    sums = DealSums.of(run.frame, "goat_rate")
    last = sums.mean(sums.names.index("keep_range"), 0.95)
    estimate = next(line for line in ax.lines if line.get_label() == "estimate")
    assert estimate.get_ydata()[-1] == pytest.approx(last.estimate)
    assert estimate.get_xdata()[-1] == run.matches
    (band,) = ax.collections
    edge = band.get_paths()[0].vertices
    ends = sorted(set(edge[edge[:, 0] == run.matches, 1]))
    assert ends == pytest.approx([last.ci_low, last.ci_high])
    wide = sequence_of(last, 240, rate=True)
    dashed = [line.get_ydata()[-1] for line in ax.lines if line.get_linestyle() == "--"]
    assert dashed == pytest.approx([wide.ci_low, wide.ci_high])


def test_convergence_of_the_first_deals_is_what_they_alone_give(ax):
    """The slow twin: the run again with fewer deals."""
    run = tournament("room-fish-all", FIELD[:4], 240, seed=1)
    plots.convergence(run.frame, ax, policy="random", metric="points_per_match")
    estimate = next(line for line in ax.lines if line.get_label() == "estimate")
    drawn_at = dict(zip(*estimate.get_data(), strict=True))
    short = tournament("room-fish-all", FIELD[:4], 6, seed=1)
    assert drawn_at[short.matches] == pytest.approx(
        short.frame.query("policy == 'random'")["points"].mean()
    )


def test_convergence_needs_two_deals_and_a_policy(ax):
    frame = simulate("room-fish-all", FIELD[:2], 1, seed=1).frame
    with pytest.raises(ValueError, match="one deal does not converge"):
        plots.convergence(frame, ax, policy="random")
    with pytest.raises(ValueError, match="several values of policy; name one of random, dump_heav"):
        plots.convergence(frame, ax)
    with pytest.raises(ValueError, match="unknown metric 'luck'; choose from goat_rate, points"):
        plots.convergence(frame, ax, policy="random", metric="luck")


def heights(ax, row):
    """The outlines of a row of ridges, above its baseline."""
    outline = [patch for patch in ax.patches if not patch.get_fill()][row]
    return outline.get_data().values - row


@pytest.mark.parametrize("of", ["points", "rounds"])
def test_distributions_of_a_frame_and_of_totals_are_the_same(of):
    frame = tournament("room-fish-all", FIELD[:4], 60, seed=1).frame
    totals = tournament("room-fish-all", FIELD[:4], 60, seed=1, aggregate=True)
    axes = [getattr(plots, of)(data) for data in (frame, totals.histogram(of))]
    names = [[label.get_text() for label in ax.get_yticklabels()] for ax in axes]
    assert names[0] == names[1]
    for row in range(len(names[0])):
        assert heights(axes[0], row) == pytest.approx(heights(axes[1], row))


def test_rounds_are_counted_by_match(ax):
    frame = simulate("room-fish-all", FIELD[:4], 300, seed=1).frame
    plots.rounds(frame, ax)
    counts = frame[frame["seat"] == 0]["rounds"].value_counts().sort_index()
    found = heights(ax, 0)
    wanted = counts.reindex(
        range(counts.index.min(), counts.index.min() + len(found)), fill_value=0
    )
    assert found / found.max() == pytest.approx((wanted / wanted.max()).to_numpy())


def test_a_far_longer_row_is_cut_off_and_says_so(ax):
    usual = simulate("room-fish-all", FIELD[:4], 50, seed=1).frame
    long = usual.assign(preset="sea-goat", rounds=usual["rounds"] * 40)
    other = usual.assign(preset="room-fish-one")
    plots.rounds(pd.concat([usual, other, long]), ax)
    assert [text.get_text() for text in ax.texts] == ["100% beyond"]
    assert ax.get_xlim()[1] < 60


def test_payoffs_write_every_number_and_brackets_where_it_may_be_0(ax):
    run = tournament("room-fish-all", FIELD[:4], 20, seed=1, players=2, design="duels")
    table = payoffs(run.frame)
    plots.payoffs(table, ax)
    names = [label.get_text() for label in ax.get_yticklabels()]
    cells = {text.get_position(): text.get_text() for text in ax.texts}
    found = {(names[y], names[x]): text for (x, y), text in cells.items()}
    for row in table.itertuples():
        text = f"{row.payoff:+.1f}"
        wanted = f"({text})" if row.ci_low <= 0 <= row.ci_high else text
        assert found.pop((row.policy, row.against)) == wanted
    assert not found


def test_ablation_groups_by_rival_and_tells_bars_apart(ax):
    PICTURES["ablation"](ax, False)
    names = [label.get_text() for label in ax.get_yticklabels()][::-1]
    assert [n for n in names if n.endswith(":")] == ["against random:", "against dump_heavy:"]
    bars = [bar for group in ax.containers if isinstance(group, BarContainer) for bar in group]
    for bar in bars:
        clear = abs(bar.get_width()) > 2
        assert bool(bar.get_hatch()) == (clear and bar.get_width() > 0)
        assert bar.get_facecolor()[3] == clear
    assert len(bars) == 6


def test_nash_ratings_and_seats_draw_their_tables(ax):
    run = tournament("room-fish-all", FIELD[:3], 30, seed=1, players=2, design="duels")
    mixture = nash(run.frame, resamples=20)
    plots.nash(mixture, ax)
    bars = [bar.get_width() for bar in ax.containers[0]]
    assert bars == pytest.approx(mixture["share"].tolist()[::-1])
    for draw, table, middle in (
        (plots.ratings, rate(run.frame, resamples=20), "rating"),
        (plots.seats, seat_tables(run.frame).query("metric == 'goat_rate'"), "estimate"),
    ):
        found = [values for _, *values in drawn(draw(table))]
        assert found == [
            pytest.approx(values)
            for values in table[[middle, "ci_low", "ci_high"]].to_numpy().tolist()[::-1]
        ]


# ---------------------------------------------------------------------- room for what is written

LONG = [
    "random",
    "\u043a\u043e\u0437\u0451\u043b_" * 12,
    "weights:" + ",".join(f"feature_{i}={i}.25" for i in range(30)),
    "x" * 90,
    "\u0441\u043b\u043e\u0432\u043e " * 10,
]
LONG_RULES = "room-fish-all[target=51,open_at=25,fish_memory=lost,redeal=never,spinner=true]"


def _stretched_effects(names):
    """Effects of which one is far out."""
    values = np.array([0, *np.linspace(-4e-4, 4e-4, len(names) - 2), 0.0101])
    ends = {"difference": values, "diff_ci_low": values - 1e-5, "diff_ci_high": values + 1e-5}
    head = {"preset": names, "baseline": names[0], "policy": "all", "metric": "goat_rate"}
    return pd.DataFrame(TABLE | head | ends)


def _long_figures():
    rates = {"estimate": [0.45, 0.12, 0.2, 0.37, 0.26]}
    rates |= {"ci_low": rates["estimate"], "ci_high": rates["estimate"]}
    head = TABLE | {"preset": LONG_RULES, "policy": LONG, "points_win": False}
    board = pd.DataFrame(head | {"metric": "goat_rate"} | rates)
    pairs = {"against": LONG[::-1], "duel": list("abcde"), "difference": rates["estimate"]}
    compared = pd.concat(
        board.assign(metric=metric, **pairs) for metric in ("goat_rate", "points_per_round")
    )
    meetings = [(one, two, 1.0) for one in LONG for two in LONG if one != two]
    table = pd.DataFrame(meetings, columns=["policy", "against", "payoff"]).assign(
        **TABLE | {"preset": LONG_RULES, "points_win": False},
        metric="points_per_match",
        ci_low=-1,
        ci_high=2,
    )
    shares = {"share": 0.2, "support": 1.0, "rating": 0.2, "ci_low": 0.1, "ci_high": 0.3}
    matches = pictures_matches(60)
    matches = matches.assign(
        policy=np.array(LONG)[matches["seat"]], preset=LONG_RULES, points_win=False
    )
    yield "leaderboards", plots.leaderboards(pd.concat([board, board.assign(players=3)]))
    yield "goat_rates", plots.goat_rates(pd.concat([board, board.assign(preset="x" * 80)])).figure
    yield "all_duels", plots.all_duels(compared)
    yield "ablation", plots.ablation(compared).figure
    yield "payoffs", plots.payoffs(table).figure
    yield (
        "payoffs of two",
        plots.payoffs(
            table[(table["policy"].isin(LONG[:2])) & table["against"].isin(LONG[:2])]
        ).figure,
    )
    yield "nash", plots.nash(board.assign(**shares)).figure
    yield "ratings", plots.ratings(board.assign(**shares)).figure
    yield "points", plots.points(matches).figure
    yield "rounds", plots.rounds(matches).figure
    yield "convergence", plots.convergence(matches, policy=LONG[2]).figure
    changed = _stretched_effects([LONG_RULES, *LONG, *"abcdefghi"])
    yield "forests", plots.forests(pd.concat([changed, changed.assign(metric="rounds")]))


def _labels(axis):
    """The texts of the ticks that are drawn."""
    return [tick.label1 for tick in axis._update_ticks()]


def _boxes(figure, texts):
    """Where texts stand on a figure, those that are written."""
    renderer = figure.canvas.get_renderer()
    return [text.get_window_extent(renderer) for text in texts if text.get_text()]


def _overlap(boxes):
    return [(one, two) for one, two in pairwise(boxes) if one.shrunk(1, 1).overlaps(two)]


def test_long_names_are_neither_cropped_nor_on_top_of_each_other():
    for name, figure in _long_figures():
        FigureCanvasAgg(figure).draw()
        wide, high = figure.canvas.get_width_height()
        for ax in figure.axes:
            across, rows = (_labels(axis) for axis in (ax.xaxis, ax.yaxis))
            legend = ax.get_legend()
            written = [
                *across,
                *rows,
                ax.xaxis.label,
                ax._left_title,
                *(legend.get_texts() if legend else ()),
            ]
            for box in _boxes(figure, written):
                assert min(box.x0, box.y0) > -1, name
                assert max(box.x1 - wide, box.y1 - high) < 1, name
            assert _overlap(_boxes(figure, rows)) == [], name
            if not any(label.get_rotation() for label in across):
                assert _overlap(_boxes(figure, across)) == [], name


@pytest.mark.parametrize("width", [1.2, 2, 3, 6])
def test_numbers_of_an_axis_do_not_overlap_however_narrow_it_is(width):
    board = pd.DataFrame(
        TABLE
        | {"policy": ["one", "two"], "metric": "goat_rate", "estimate": [0.3001, 0.3002]}
        | {"ci_low": [0.3, 0.3001], "ci_high": [0.3003, 0.3004]}
    )
    names = ["base", *"abcdefghijklmn"]
    for draw, table in [(leaderboard, board), (forest, _stretched_effects(names))]:
        figure = plt.figure(figsize=(width + 0.5, 3))
        ax = draw(table, figure.add_axes((0.25, 0.3, width / (width + 0.5) - 0.05, 0.6)))
        figure.canvas.draw()
        boxes = _boxes(figure, _labels(ax.xaxis))
        assert boxes
        assert _overlap(boxes) == []


# ---------------------------------------------------------------------- axes that are not to scale


def test_axis_that_is_stretched_says_so(ax):
    forest(_stretched_effects(["base", *"abcdefghijklmn"]), ax)
    assert "stretched scale: tenfold steps beyond the dotted line" in ax.get_xlabel()
    dotted = [line for line in ax.lines if line.get_linestyle() == ":"]
    assert len(dotted) == 1
    even = _stretched_effects(["base", *"abc"])
    assert "stretched" not in forest(even, plt.figure().add_subplot()).get_xlabel()


def test_axis_of_a_convergence_says_that_it_is_stretched_and_cut(ax):
    plots.convergence(pictures_matches(2000), ax, policy="dump_heavy")
    assert "stretched scale: each step is ten times the one before" in ax.get_xlabel()
    assert "cut: the first intervals go on beyond the plot" in ax.get_xlabel()
    ax.figure.canvas.draw()
    assert "1,000" in [label.get_text() for label in ax.get_xticklabels()]


def test_bars_and_ends_that_are_cut_are_marked(ax):
    frame = pictures_matches(1000)
    plots.points(frame, ax)
    label = "points at the end of a match, fewer are better; bars with a gap are cut; cut at"
    assert ax.get_xlabel().replace("\n", " ").startswith(label)
    assert str(int(frame["points"].max())) in ax.get_xlabel()
    strokes = [line for line in ax.lines if line.get_color() == "white"]
    assert len(strokes) == sum("%" in text.get_text() for text in ax.texts)
    whole = frame[frame["points"].between(30, 60)]
    ax = plots.points(whole, plt.figure().add_subplot())
    assert ax.get_xlabel().endswith("better")


# ---------------------------------------------------------------------- what rules do to policies


def test_changes_draw_the_difference_of_every_policy_under_every_rule_set(ax):
    rules = [RuleSet.preset("room-fish-all", 2)]
    rules += [rules[0].replace(target=51), RuleSet.preset("household-300", 2)]
    found = effects(tournament(rules, FIELD[:3], 20, seed=1).frame)
    plots.changes(found, ax)
    rows = [label.get_text() for label in ax.get_yticklabels()]
    columns = [label.get_text() for label in ax.get_xticklabels()]
    assert rows == ["target=51", "household-300"]
    base = found[(found["preset"] == "room-fish-all") & (found["policy"] != "all")]
    assert columns == list(base.sort_values("estimate")["policy"])
    cells = {(round(text.get_position()[1]), text.get_position()[0]): text for text in ax.texts}
    assert len(cells) == 6
    for y, name in enumerate([rules[1].name, "household-300"]):
        for x, policy in enumerate(columns):
            of = found[(found["preset"] == name) & (found["policy"] == policy)].iloc[0]
            text = f"{100 * of['difference']:+.1f}"
            open_ = of["diff_ci_low"] <= 0 <= of["diff_ci_high"]
            assert cells[y, x].get_text() == (f"({text})" if open_ else text)
    assert "lower is better" in ax.get_xlabel()


def test_long_names_of_columns_stay_apart():
    found = effects(
        tournament(
            [RuleSet.preset("room-fish-all", 2), RuleSet.preset("room-fish-one", 2)],
            ["weights:pips=1,double=3,range=2", "weights:pips=1,double=3,range=4"],
            4,
            seed=1,
        ).frame
    )
    ax = plots.changes(found)
    columns = [label.get_text() for label in ax.get_xticklabels()]
    assert sorted(columns) == ["weights:\u20263,range=2", "weights:\u20263,range=4"]
