"""The tell: what it is, by examples; its count in both engines; its frame and its plot."""

from math import comb
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from command_line import picture, runner, strict_json
from matplotlib.axes import Axes

from kozel_sim import RuleSet, Worlds, play, plots, reference, tell
from kozel_sim.moves import encode_move
from kozel_sim.plain import records
from kozel_sim.policies import read_policies
from kozel_sim.record import Event, Laid, Record, Result, RoundRecord
from kozel_sim.stats import clustered_difference, clustered_mean
from kozel_sim.tell import OBSERVERS, count_tells, measure_planned, measure_tell, tells
from kozel_sim.tiles import ALL, NAMES, Hand, tile_id
from kozel_sim.tournaments import Tournament

FIELD = ["random", "dump_heavy", "keep_range", "block_ends"]


def planned(preset, players, deals=6, seed=1, **knobs):
    rules = RuleSet.preset(preset, players).replace(**knobs)
    return Tournament("tell", [rules], read_policies(FIELD), deals, seed)


# ---------------------------------------------------------------------- the definition


def round_of(players, hands, events, bazaar=""):
    """A record of one round: hands and bazaar as text, events as (seat, "tile arm" or "pass").

    A "draw" takes the bazaar's next tile. Where hands name less than seven tiles, they are filled
    up with the lowest ids that nobody needs.
    """
    dealt = [hand.split() for hand in hands]
    order = bazaar.split()
    spare = [n for n in NAMES if n not in order and not any(n in hand for hand in dealt)]
    for hand in dealt:
        while len(hand) < 7:
            hand.append(spare.pop(0))
    order += spare
    drawn = iter(order)
    acts = []
    for seat, what in events:
        if what == "draw":
            acts.append(Event(seat, draw=next(drawn)))
        elif what == "pass":
            acts.append(Event(seat))
        else:
            tile, arm = what.split()
            acts.append(Event(seat, play=(Laid(tile, int(arm)),)))
    rules = RuleSet.preset("livegames-goat-plain", players)
    hands = tuple(tuple(hand) for hand in dealt)
    zeros = (0,) * players
    played = RoundRecord(
        0, 0, hands, tuple(order), 0, None, tuple(acts), "out", 0, True, zeros, zeros, 0, zeros,
        zeros, (True,) * players,
    )  # fmt: skip
    names = ("random",) * players
    return Record(rules, 1, 0, 0, names, (played,), Result((), (), True, None, None))


MINE = "6-4 4-3 5-0 6-0 2-0 1-0 0-0"
YOURS = "6-5 3-3 5-5 5-3 3-2 5-2 6-6"
SWITCH = [(0, "6-4 0"), (1, "6-5 1"), (0, "4-3 0"), (1, "5-5 1"), (0, "5-0 1")]
"""Seat 0 leaves 3 on arm 0 and plays on arm 1."""


def test_tell_is_a_switch_to_the_other_end():
    (found,) = tells(round_of(2, [MINE, YOURS], SWITCH))
    assert (found.round, found.event, found.seat, found.value) == (0, 4, 0, 3)
    assert (found.touched, found.left, found.lacked) == (False, 4, True)
    # Of 28 tiles 5 are laid; of the 3s that are hidden 6, seat 1 has three.
    assert found.chance["table"] == pytest.approx(comb(17, 4) / comb(23, 4))
    assert found.chance["next"] == pytest.approx(comb(15, 4) / comb(18, 4))


def test_tell_of_one_who_has_the_value():
    (found,) = tells(round_of(2, [MINE.replace("6-0", "3-0"), YOURS], SWITCH))
    assert not found.lacked
    assert found.chance["table"] == pytest.approx(comb(17, 4) / comb(23, 4))


def test_end_that_was_touched_counts_while_it_shows_the_value_again():
    events = [*SWITCH[:3], (1, "3-3 0"), SWITCH[4]]
    (found,) = (t for t in tells(round_of(2, [MINE, YOURS], events)) if t.seat == 0)
    assert (found.value, found.touched, found.left) == (3, True, 4)
    assert found.chance["table"] == pytest.approx(comb(18, 4) / comb(23, 4))


@pytest.mark.parametrize(
    "events",
    [
        [*SWITCH[:3], (1, "3-2 0"), SWITCH[4]],
        [*SWITCH[:3], (1, "5-5 1"), (0, "3-0 0")],
        [*SWITCH[:3], (1, "5-5 1"), (0, "5-3 1")],
        [(0, "6-4 0"), (1, "6-5 1"), (0, "4-3 0")],
        SWITCH[:4],
    ],
    ids=["covered", "same-end", "fitted-both", "lead-then-its-low-end", "not-yet"],
)
def test_no_tell(events):
    mine = MINE.replace("6-0", "3-0").replace("2-0", "5-3")
    record = round_of(2, [mine, YOURS.replace("5-3", "6-2")], events)
    assert [t for t in tells(record) if t.seat == 0] == []


def test_lead_leaves_its_low_half_on_arm_0():
    events = [(0, "6-4 0"), (1, "6-5 1"), (0, "5-0 1")]
    (found,) = tells(round_of(2, [MINE, YOURS], events))
    assert (found.value, found.left) == (4, 5)


@pytest.mark.parametrize("between", ["pass", "draw"])
def test_pass_or_draw_lies_between(between):
    """As in a record where seat 0 could not go on; what it held does not matter to the count."""
    events = [*SWITCH[:4], (0, between), *[(1, "5-2 1")] * (between == "pass")]
    last = (0, "2-0 1" if between == "pass" else "5-0 1")
    assert len(list(tells(round_of(2, [MINE, YOURS], [*SWITCH[:4], (0, "5-0 1")])))) == 1
    assert list(tells(round_of(2, [MINE, YOURS], [*events, last]))) == []


def test_round_that_ends_with_the_play_shows_nothing():
    mine = "6-4 4-3 5-0"
    events = [*SWITCH[:4], (0, "5-0 1")]
    record = round_of(2, [MINE, YOURS], events)
    ended = record.rounds[0].__dict__ | {"hands": (tuple(mine.split()), record.rounds[0].hands[1])}
    short = Record(**record.__dict__ | {"rounds": (RoundRecord(**ended),)})
    assert len(list(tells(record))) == 1
    assert list(tells(short)) == []


# ---------------------------------------------------------------------- what is known


DRAWN = [(0, "6-4 0"), (1, "6-5 1"), (0, "4-3 0")]


def test_drawing_shows_what_a_hand_lacks():
    """Seat 1 had neither 3 nor 5, and its only drawn tile is laid."""
    events = [*DRAWN, (1, "draw"), (1, "5-4 1"), (0, "4-0 1")]
    mine = MINE.replace("5-0", "4-0")
    record = round_of(2, [mine, "6-5 6-6 1-1 2-1 6-1 2-2 6-2"], events, "5-4")
    (found,) = tells(record)
    hidden = ALL & ~Hand.of("6-4", "6-5", "4-3", "5-4", "4-0")
    known = Worlds(hidden, [4, 6, 13], [0, 1 << 3 | 1 << 5, 0])
    assert found.chance["table"] == known.chance_lacks(0, 3)
    assert found.chance["table"] != Worlds(hidden, [4, 6, 13]).chance_lacks(0, 3)


def test_second_tile_drawn_hides_what_was_lacked_before():
    """Seat 2 lacks 4 and 5 when it draws 5-4, then 1 and 3 when it draws 4-0 and 5-1."""
    hands = [
        "6-4 4-3 1-0 0-0 5-0 3-2 4-2",
        "6-5 4-1 2-1 6-1 3-1 5-2 5-3",
        "2-2 6-6 6-2 2-0 6-0 5-5 4-4",
    ]
    events = [
        *[(0, "6-4 0"), (1, "6-5 1"), (2, "draw"), (2, "5-4 1")],
        *[(0, "4-3 0"), (1, "4-1 1"), (2, "draw"), (2, "draw"), (2, "5-1 1"), (0, "5-0 1")],
    ]
    record = round_of(3, hands, events, "5-4 4-0 5-1")
    (found,) = tells(record)
    laid = Hand.of("6-4", "6-5", "5-4", "4-3", "4-1", "5-1", "5-0")
    known = Worlds(ALL & ~laid, [4, 5, 8, 4], [0, 0, 1 << 1 | 1 << 3, 0])
    assert (found.value, found.left) == (3, 4)
    assert found.chance["table"] == known.chance_lacks(0, 3)


# ---------------------------------------------------------------------- fast and slow

FAMILIES = [
    ("room-fish-all", 4, {}),
    ("room-fish-all", 3, {}),
    ("room-fish-all", 2, {}),
    ("pair-traditional", 4, {}),
    ("dominoes3d-duel", 2, {}),
    ("household-300", 4, {}),
    ("household-300", 3, {}),
    ("sea-goat", 4, {"max_rounds": 10}),
    ("logic-games-donkey", 4, {}),
    ("livegames-donkey", 2, {}),
]


@pytest.mark.parametrize(("preset", "players", "knobs"), FAMILIES)
def test_compiled_count_is_the_count_over_records(preset, players, knobs):
    plan = planned(preset, players, 2, **knobs)
    fast = count_tells(plan, plan.rules[0])
    slow = count_tells(plan, plan.rules[0], "reference")
    assert fast["events"].sum() > 20
    assert (fast["events"] == slow["events"]).all()
    assert (fast["lacked"] == slow["lacked"]).all()
    assert fast["chance"] == pytest.approx(slow["chance"], rel=1e-12)


@pytest.mark.parametrize(("preset", "players"), [(p, n) for p, n, knobs in FAMILIES if not knobs])
def test_tells_are_those_that_a_view_shows(preset, players):
    """While the round goes on; the readable table's own memory is asked here."""
    checked = 0
    for deal in range(4):
        record = play(RuleSet.preset(preset, players), FIELD[:players], seed=2, deal=deal)
        shown = [tell_bits for r in record.rounds for tell_bits in bits_shown(record.rules, r)]
        found = [(t.round, t.event, t.seat, t.value) for t in tells(record)]
        assert found == shown
        checked += len(found)
    assert checked > 5


def bits_shown(rules, played):
    """(round, event, seat, value) of every bit that a play sets in the field `tell`."""
    bazaar = [tile_id(name) for name in played.bazaar]
    table = reference.Round(rules, [Hand.of(*h) for h in played.hands], bazaar, played.leader)
    for number, event in enumerate(played.events):
        table.tell = [0] * 4
        if event.draw is not None:
            table.draw()
        elif not event.play:
            table.pass_turn()
        else:
            table.play(encode_move([(tile_id(p.tile), p.arm, p.closed) for p in event.play]))
        if table.tell[event.seat] and table.end is None:
            yield played.round, number, event.seat, table.tell[event.seat].bit_length() - 1


@pytest.mark.parametrize(("preset", "players"), [(p, n) for p, n, knobs in FAMILIES if not knobs])
def test_what_a_hand_was_seen_to_lack_it_lacks(preset, players):
    """So a chance is 0 or 1 only where it is so, also behind draws; and most are neither."""
    chances = []
    for deal in range(4):
        record = play(RuleSet.preset(preset, players), FIELD[:players], seed=3, deal=deal)
        for found in tells(record):
            for chance in found.chance.values():
                assert found.lacked if chance == 1 else chance > 0 or not found.lacked
                chances.append(chance)
    assert np.mean([0 < chance < 1 for chance in chances]) > 0.5


# ---------------------------------------------------------------------- the frame


@pytest.fixture(scope="module")
def frame():
    return measure_tell("room-fish-all", FIELD, 60, seed=1)


def test_workers_and_chunks_and_the_logs_size_do_not_change_a_bit(frame, monkeypatch):
    pd.testing.assert_frame_equal(measure_tell("room-fish-all", FIELD, 60, 1, workers=2), frame)
    monkeypatch.setattr(tell, "CHUNK", 20)
    monkeypatch.setattr(tell, "WORDS_PER_MATCH", 1)
    counted = []
    again = measure_tell("room-fish-all", FIELD, 60, 1, workers=3, progress=counted.append)
    pd.testing.assert_frame_equal(again, frame)
    assert counted == [20] * 12


def test_frame_of_the_reference_engine_is_the_same():
    fast, slow = (
        measure_tell("room-fish-all", FIELD[:3], 2, seed=4, players=3, engine=engine)
        for engine in ("auto", "reference")
    )
    pd.testing.assert_frame_equal(fast, slow)


def test_rows_are_the_estimates_of_the_cells(frame):
    plan = planned("room-fish-all", 4, 60)
    cells = count_tells(plan, plan.rules[0])
    picks = [
        ("all", "all", 0, np.s_[:, :, :, :]),
        ("keep_range", "all", 0, np.s_[:, 2:3, :, :]),
        ("all", "yes", 0, np.s_[:, :, 1:2, :]),
        ("all", "all", 3, np.s_[:, :, :, 2:3]),
        ("block_ends", "no", 5, np.s_[:, 3:4, 0:1, 4:5]),
    ]
    rows = frame.set_index(["policy", "touched", "left", "observer"]).sort_index()
    for policy, touched, left, pick in picks:
        part = cells[pick]
        events, lacked = (part[f].sum(axis=(1, 2, 3)) for f in ("events", "lacked"))
        some = events > 0
        # With four players six cyclic orders take turns.
        orders = np.arange(60)[some] % 6
        for observer, i in OBSERVERS.items():
            chance = part["chance"][..., i].sum(axis=(1, 2, 3))
            row = rows.loc[(policy, touched, left, observer)]
            found = clustered_mean(lacked[some], events[some], rate=True, strata=orders)
            pair = (lacked[some], events[some]), (chance[some], events[some])
            beyond = clustered_difference(*pair, rate=True, strata=orders)
            assert row["events"] == events.sum()
            assert row["n_deals"] == some.sum()
            assert (row["estimate"], row["ci_low"], row["ci_high"]) == pytest.approx(
                (found.estimate, found.ci_low, found.ci_high)
            )
            assert row["baseline"] == pytest.approx(chance.sum() / events.sum())
            assert (row["difference"], row["diff_ci_low"], row["diff_ci_high"]) == pytest.approx(
                (beyond.estimate, beyond.ci_low, beyond.ci_high)
            )


def test_frame_has_a_row_for_each_part(frame):
    assert list(frame.columns) == list(tell.COLUMNS)
    keys = ["preset", "players", "policy", "touched", "left", "observer"]
    assert not frame.duplicated(keys).any()
    assert set(frame["policy"]) == {"all", *FIELD}
    assert set(frame["left"]) == {0, 1, 2, 3, 4, 5}
    assert set(frame["touched"]) == {"all", "no", "yes"}
    assert set(frame["claim"]) <= {"below", "within", "above", "open"}
    whole = frame[(frame["policy"] == "all") & (frame["observer"] == "next")]
    events = whole.set_index(["touched", "left"])["events"]
    assert events["all", 0] == events["no", 0] + events["yes", 0] == events["all"].iloc[1:].sum()
    for low, middle, high in (
        ("ci_low", "estimate", "ci_high"),
        ("baseline_ci_low", "baseline", "baseline_ci_high"),
        ("diff_ci_low", "difference", "diff_ci_high"),
    ):
        assert (frame[low] <= frame[middle] + 1e-12).all()
        assert (frame[middle] <= frame[high] + 1e-12).all()


@pytest.mark.parametrize(
    ("low", "high", "claim"),
    [
        (0.2, 0.59, "below"),
        (0.6, 0.7, "within"),
        (0.71, 0.9, "above"),
        (0.5, 0.65, "open"),
        (0.65, 0.8, "open"),
        (0.5, 0.8, "open"),
    ],
)
def test_claim_is_judged_by_the_interval(low, high, claim):
    assert tell._claim(low, high) == claim


def test_hands_of_seven_and_more_are_one_row():
    frame = measure_tell("room-fish-all", FIELD[:2], 30, seed=1, players=2)
    assert set(frame["left"]) == set(range(8))
    dealt = [len(h) for h in play("room-fish-all", FIELD[:2], seed=1, deal=0).rounds[0].hands]
    assert dealt == [7, 7]  # more than seven less two only by drawing


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"deals": 0}, "deals must be a whole number of 1 or more, not 0"),
        ({"policies": FIELD[:3]}, "needs 4 distinct policies; 3 given"),
        ({"policies": [*FIELD, "random"]}, "random is listed twice"),
        ({"rules": "rom"}, "unknown preset 'rom'"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"workers": 0}, "workers must be a whole number of 1 or more, not 0"),
        ({"engine": "turbo"}, "unknown engine 'turbo'; choose from auto, scalar, reference"),
        ({"level": 1.5}, "level must be between 0 and 1"),
    ],
)
def test_wrong_values_are_named(arguments, complaint):
    given = {"rules": "room-fish-all", "policies": FIELD, "deals": 1, "seed": 1} | arguments
    with pytest.raises(ValueError, match=complaint):
        measure_tell(**given)


def test_several_rule_sets_stand_below_each_other():
    frame = measure_tell(["room-fish-all", "pair-traditional"], FIELD, 1, seed=1)
    assert list(frame["preset"].unique()) == ["room-fish-all", "pair-traditional"]
    plan = planned("pair-traditional", 4, 1)
    alone = measure_planned(plan)
    below = frame[frame["preset"] == "pair-traditional"].reset_index(drop=True)
    pd.testing.assert_frame_equal(below, alone)


# ---------------------------------------------------------------------- the plot


@pytest.fixture
def ax():
    plt.switch_backend("agg")
    yield plt.figure(figsize=(5, 3)).add_subplot()
    plt.close("all")


def test_plot_draws_frequency_and_chance_of_every_row(frame, ax):
    assert plots.tell(frame, ax, policy="keep_range", touched="no", observer="next") is ax
    rows = frame.query(
        "policy == 'keep_range' and touched == 'no' and observer == 'next' and left > 0"
    )
    chance, frequency = ax.containers
    for bars, columns in (
        (frequency, ["estimate", "ci_low", "ci_high"]),
        (chance, ["baseline", "baseline_ci_low", "baseline_ci_high"]),
    ):
        points, _, (lines,) = bars.lines
        ends = np.array([path.vertices[:, 1] for path in lines.get_paths()])
        drawn = np.column_stack([points.get_ydata(), ends])
        assert drawn == pytest.approx(rows[columns].to_numpy())
        assert np.round(points.get_xdata().astype(float)) == pytest.approx(rows["left"])
    labels = [bars.get_label() for bars in ax.containers]
    assert labels == ["chance (seen by the next seat)", "frequency"]
    assert ax.get_title(loc="left") == "room-fish-all, 4 players: keep_range"
    (band,) = ax.patches
    assert (band.get_y(), band.get_y() + band.get_height()) == pytest.approx((0.6, 0.7))


def test_plot_leaves_the_callers_figure_alone(frame, ax, monkeypatch):
    figure = ax.figure
    before = (figure.get_size_inches().tolist(), figure.get_layout_engine(), figure.dpi)
    place = ax.get_position().bounds
    for forbidden in ("show", "tight_layout", "subplots_adjust", "savefig", "close", "draw"):
        monkeypatch.setattr(plt, forbidden, None)
    plots.tell(frame, ax)
    assert (figure.get_size_inches().tolist(), figure.get_layout_engine(), figure.dpi) == before
    assert ax.get_position().bounds == place
    assert plt.get_fignums() == [figure.number]


def test_plot_makes_axes_if_none_are_given(frame, ax):
    made = plots.tell(frame)
    assert isinstance(made, Axes)
    assert made.figure is not ax.figure


def test_plots_of_all_policies(frame, ax):
    figure = plots.tells(frame)
    titles = [a.get_title(loc="left").split(": ")[1] for a in figure.axes]
    assert titles == ["all policies", *FIELD]


@pytest.mark.parametrize(
    ("choice", "complaint"),
    [
        ({"policy": "dump"}, "no policy 'dump'; choose from all, random"),
        ({"touched": "maybe"}, "no touched 'maybe'; choose from all, no, yes"),
        ({"observer": "me"}, "no observer 'me'; choose from table, next"),
        ({"players": 3}, "no players 3; choose from 4"),
    ],
)
def test_plot_names_an_unknown_choice(frame, ax, choice, complaint):
    with pytest.raises(ValueError, match=complaint):
        plots.tell(frame, ax, **choice)
    assert not ax.has_data()


# ---------------------------------------------------------------------- the command

COMMAND = ["tell", "-n", "4", "--players", "2", "--policies", "random,dump_heavy", "--seed", "1"]


@pytest.fixture
def kozel(tmp_path, monkeypatch, capsys):
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    yield runner(monkeypatch, capsys)
    plt.close("all")


def test_command_prints_the_tell_and_writes_nothing(kozel):
    code, out, err = kozel(*COMMAND)
    assert (code, err) == (0, "")
    for words in (
        "room-fish-all, 2 players: who switched ends (95% intervals, clustered by deal",
        "room-fish-all, 2 players: all policies",
        "│ dump_heavy ",
        "│ end touched since ",
        "│ 5 left in hand ",
        "The tip claims 60% to 70%.",
        "8 matches in ",
        "; seed 1\n",
    ):
        assert words in out
    assert picture() == {}


def test_command_prints_the_frames_figures(kozel):
    _, out, _ = kozel(*COMMAND)
    frame = measure_tell("room-fish-all", "random,dump_heavy", 4, seed=1, players=2)
    whole = frame[(frame["policy"] == "random") & (frame["left"] == 0)].iloc[0]
    (line,) = (line for line in out.splitlines() if line.startswith("│ random "))
    cells = [cell.strip() for cell in line.split("│")[2:5]]
    percent = [100 * whole[c] for c in ("estimate", "ci_low", "ci_high", "baseline")]
    assert cells == [
        f"{whole['events']:,}",
        "{:.2f} [{:.2f}, {:.2f}]".format(*percent[:3]),
        f"{percent[3]:.2f}",
    ]


def test_command_json_is_the_frame(kozel):
    code, out, _ = kozel(*COMMAND, "--json")
    data = strict_json(out)
    frame = measure_tell("room-fish-all", "random,dump_heavy", 4, seed=1, players=2)
    assert code == 0
    assert data["manifest"]["seed"] == 1
    assert data["tell"] == records(frame)
    assert list(data["tell"][0]) == list(tell.COLUMNS)


def test_command_json_of_one_deal_is_json(kozel):
    _, out, _ = kozel(*COMMAND[:1], "-n", 1, *COMMAND[3:], "--json")
    row = strict_json(out)["tell"][0]
    assert row["diff_std_error"] is None
    assert (row["diff_ci_low"], row["diff_ci_high"]) == (-1, 1)


def test_command_writes_frame_and_plot_once(kozel):
    code, out, _ = kozel(*COMMAND, "--out", "new/mine", "-j", 2)
    assert code == 0
    assert "written to new/mine" in out
    before = picture()
    files = {"tell.parquet", "tell.csv", "tell.png", "manifest.json"}
    assert set(before) == {"new", "new/mine", *(f"new/mine/{name}" for name in files)}
    frame = measure_tell("room-fish-all", "random,dump_heavy", 4, seed=1, players=2)
    pd.testing.assert_frame_equal(pd.read_parquet("new/mine/tell.parquet"), frame)
    pd.testing.assert_frame_equal(pd.read_csv("new/mine/tell.csv"), frame, check_dtype=False)
    assert before["new/mine/tell.png"].startswith(b"\x89PNG")
    code, again, _ = kozel(*COMMAND, "--out", "new/mine")
    assert code == 0
    assert "holds this very run already; read, not played again" in again
    assert again.splitlines()[:12] == out.splitlines()[:12]
    assert picture() == before


def test_command_by_default_measures_seven_policies(kozel):
    _, out, _ = kozel("tell", "-n", 1, "--seed", 1, "--json")
    data = strict_json(out)
    names = list(dict.fromkeys(row["policy"] for row in data["tell"]))
    assert names == ["all", *tell.POLICIES]
    assert data["manifest"]["counts"]["matches"] == 6 * 35 * 4


@pytest.mark.parametrize(
    ("words", "needle"),
    [
        (["--rules", "rom"], "unknown preset 'rom'; choose from room-fish-all"),
        (["--policies", "random,dump_hevy"], "did you mean 'dump_heavy'?"),
        (["--policies", "random"], "needs 2 distinct policies; 1 given: random"),
        (["--players", 5], "room-fish-all is played by 2 or 3 or 4 players, not 5"),
        (["-n", 0], "deals must be a whole number of 1 or more, not 0"),
        (["--seed", -1], "seed must be a whole number from 0 to 2**64 - 1, not -1"),
        (
            ["-j", -1, "--out", "mine"],
            "--workers must be a whole number of 1 or more, or 0 for one per core, not -1",
        ),
        (["--set", "tarjet=51"], "unknown knob 'tarjet'"),
        (["--code", "nothere.py"], "no Python file at nothere.py"),
        (["--out", "file"], "file is a file, not a folder for a run"),
        (["--out", "full"], "full is not empty and holds no run"),
    ],
)
def test_command_refuses_in_one_line(kozel, words, needle):
    Path("file").write_text("precious", encoding="utf-8")
    Path("full").mkdir()
    Path("full/thesis.tex").write_text("precious", encoding="utf-8")
    before = picture()
    code, out, err = kozel(*COMMAND, *words)
    assert (code, out) == (2, "")
    assert err.startswith("kozel: error: ")
    assert err.count("\n") == 1
    assert needle in err
    assert picture() == before


def test_command_keeps_a_folder_of_another_measurement(kozel):
    kozel(*COMMAND, "--out", "mine", "--quiet")
    before = picture()
    code, out, err = kozel(*COMMAND[:-1], 2, "--out", "mine")
    assert (code, out) == (2, "")
    assert "mine holds a different run (seed 1 there, 2 now)" in err
    assert picture() == before


def test_more_tells_than_memory_holds_are_refused_before_anything_is_played(monkeypatch):
    planned = Tournament(
        "tell", [RuleSet.preset("room-fish-all", 2)], read_policies("random,dump_heavy"), 9, 1
    )
    size = count_tells(planned, planned.rules[0]).nbytes
    monkeypatch.setattr("kozel_sim.checks.free_memory", lambda: size - 1)
    monkeypatch.setattr(tell, "_Watcher", None)
    with pytest.raises(ValueError, match="the tells of 9 deals need about 1 GB of memory"):
        count_tells(planned, planned.rules[0])
