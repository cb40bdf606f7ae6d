"""Made-up tables for every plot, and the pictures that they must look like: tests/baseline/.

``python tests/pictures.py [NAME ...]`` remakes pictures. Look at them before you keep them.
"""

import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from kozel_sim import plots

BASELINE = Path(__file__).parent / "baseline"
FIELD = ["random", "dump_heavy", "dump_doubles", "keep_range", "weights:pips=1,double=3,range=2"]
STYLE = mpl.rcParamsDefault | {"font.family": "DejaVu Sans"}
TABLE = {"preset": "room-fish-all", "players": 4, "level": 0.95}


def _spread(values, half):
    values = np.asarray(values, float)
    return {"estimate": values, "ci_low": values - half, "ci_high": values + half}


def _board(last):
    rates = _spread([0.45, 0.12, 0.2, 0.37, last], 0.03)
    return pd.DataFrame(TABLE | {"policy": FIELD, "metric": "goat_rate"} | rates)


def leaderboard(ax, other):
    """One rate differs in the other picture; so in all below."""
    plots.leaderboard(_board(0.33 if other else 0.26), ax)


def goat_rates(ax, other):
    first, second = _board(0.33 if other else 0.26), _board(0.2).assign(preset="room-fish-one")
    plots.goat_rates(pd.concat([first, second]), ax)


def seats(ax, other):
    groups = {"by": ["seat"] * 4 + ["led"] * 2, "group": [*"0123", "leader", "others"]}
    rates = _spread([0.29, 0.28, 0.29, 0.33 if other else 0.3, 0.26, 0.3], 0.01)
    plots.seats(pd.DataFrame(TABLE | groups | {"metric": "goat_rate"} | rates), ax)


def _effects(values):
    values = np.asarray(values, float)
    ends = {"difference": values, "diff_ci_low": values - 0.01, "diff_ci_high": values + 0.01}
    names = ["room-fish-all", "room-fish-one", "room-fish-all[target=51]", "sea-goat"]
    head = TABLE | {"preset": names, "baseline": names[0], "policy": "all", "metric": "goat_rate"}
    return pd.DataFrame(head | ends)


def forest(ax, other):
    plots.forest(_effects([0, -0.04, 0.07 if other else 0.02, 0.1]), ax)


def changes(ax, other):
    table = [[0.1, 0.2, 0.3], [0.05, 0.21, 0.5], [0.3, 0.1 if other else 0.4, 0.295]]
    names = ["room-fish-all", "room-fish-one", "room-fish-all[target=51]"]
    rows = [
        {"preset": name, "policy": policy, "estimate": rate, "difference": rate - base}
        for name, rates in zip(names, table, strict=True)
        for policy, rate, base in zip(FIELD[:3], rates, table[0], strict=True)
    ]
    frame = pd.DataFrame(rows).assign(**TABLE | {"metric": "goat_rate", "baseline": names[0]})
    frame["preset"] = [row["preset"] for row in rows]
    ends = {"diff_ci_low": frame["difference"] - 0.02, "diff_ci_high": frame["difference"] + 0.02}
    plots.changes(frame.assign(**ends), ax)


def _comparisons(last):
    pairs = [(name, "random") for name in [*FIELD[1:4], "strand_double"]]
    pairs += [("prefer:hold_last>dump_heavy", "dump_heavy"), ("few_answers", "dump_heavy")]
    policy, against = zip(*pairs, strict=True)
    values = np.array([-0.3, -0.28, -0.1, 0.01, 0.06, last])
    ends = {"difference": values, "ci_low": values - 0.02, "ci_high": values + 0.02}
    names = {"policy": policy, "against": against, "metric": "goat_rate"}
    return pd.DataFrame(TABLE | names | ends)


def duels(ax, other):
    plots.duels(_comparisons(-0.2 if other else -0.08), ax, metric="goat_rate")


def ablation(ax, other):
    plots.ablation(_comparisons(-0.2 if other else -0.08), ax)


def ratings(ax, other):
    rates = _spread([230, 54, -53, -90 if other else -73, -158], 8)
    plots.ratings(
        pd.DataFrame(TABLE | {"policy": FIELD[::-1], "rating": rates["estimate"]} | rates), ax
    )


def payoffs(ax, other):
    upper = {(0, 1): -60, (0, 2): -45, (0, 3): -5, (0, 4): -66, (1, 2): 20, (1, 3): 30, (1, 4): -12}
    upper |= {(2, 3): 25, (2, 4): -40 if other else 4, (3, 4): -50}
    rows = [
        (FIELD[i], FIELD[j], sign * value)
        for (a, b), value in upper.items()
        for i, j, sign in ((a, b, 1), (b, a, -1))
    ]
    table = pd.DataFrame(rows, columns=["policy", "against", "payoff"]).assign(**TABLE)
    ends = {"ci_low": table["payoff"] - 6, "ci_high": table["payoff"] + 6}
    plots.payoffs(table.assign(metric="points_per_match", **ends), ax)


def nash(ax, other):
    shares = [0.1, 0.6, 0.3, 0, 0] if other else [0.0, 0.6, 0.4, 0, 0]
    ends = {"ci_low": [0, 0.3, 0.1, 0, 0], "ci_high": [0.1, 0.9, 0.7, 0.2, 0]}
    rows = TABLE | {"policy": FIELD, "share": shares, "support": [0.1, 1, 0.98, 0.06, 0]} | ends
    plots.nash(pd.DataFrame(rows), ax)


def _matches(deals, players=4):
    """Whole matches of four policies that took no cards in their hands."""
    rng = np.random.default_rng(1)
    seat = np.tile(np.arange(players), deals)
    points = np.where(rng.random(len(seat)) < 0.12, 0, rng.normal(60 + 12 * seat, 20).round())
    return pd.DataFrame(
        TABLE
        | {"deal": np.arange(len(seat)) // players, "seat": seat, "seating": 0, "capped": False}
        | {"policy": np.array(FIELD[:players])[seat], "points": np.maximum(points, 0)}
        | {"goat": rng.random(len(seat)) < 0.1 + 0.1 * seat, "rating": 1.0, "winner": True}
        | {"rounds": np.repeat(rng.poisson(10, deals), players)}
    )


def points(ax, other):
    frame = _matches(3000)
    plots.points(frame.assign(points=frame["points"] + 15 * other * (frame["seat"] == 2)), ax)


def rounds(ax, other):
    more = _matches(3000).assign(preset="sea-goat")
    more["rounds"] = more["rounds"] * (3 if other else 2) + more["deal"] % 2
    plots.rounds(pd.concat([_matches(3000), more]), ax)


def convergence(ax, other):
    plots.convergence(_matches(700 if other else 2000), ax, policy="dump_heavy")


def tell(ax, other):
    columns = {"left": np.arange(1, 6), "observer": "table", "touched": "all", "policy": "all"}
    chance = np.array([0.66, 0.58, 0.6 if other else 0.47, 0.33, 0.23])
    base = {"baseline": chance, "baseline_ci_low": chance - 0.01, "baseline_ci_high": chance + 0.01}
    plots.tell(pd.DataFrame(TABLE | columns | base | _spread(chance - 0.04, 0.02)), ax)


PICTURES = {
    draw.__name__: draw
    for draw in [
        *(leaderboard, goat_rates, points, rounds, convergence, seats),
        *(forest, changes, duels, ablation, ratings, payoffs, nash, tell),
    ]
}


def save(name, path, *, other=False):
    """Draw a picture; the other one is to be told from it."""
    figure = plt.figure(figsize=(8, 4), dpi=80)
    PICTURES[name](figure.add_axes((0.42, 0.24, 0.54, 0.54)), other)
    figure.savefig(path, dpi=80)
    plt.close(figure)


if __name__ == "__main__":
    plt.switch_backend("agg")
    with mpl.rc_context(STYLE):
        for wanted in sys.argv[1:] or PICTURES:
            save(wanted, BASELINE / f"{wanted}.png")
