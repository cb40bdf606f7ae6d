"""The tables of docs/variants.md, docs/tips.md and docs/tell.md, made from the studies themselves.

``python tests/study_pages.py`` plays the studies (a minute or two) and writes what stands between
the pages' marks again; text outside the marks is kept, and is to be read against the new figures.
"""

import re
import tempfile
from pathlib import Path

import pandas as pd

from kozel_sim import load_run, measure_tell
from kozel_sim.cli import app
from kozel_sim.skill import SOURCES, variance_shares

ROOT = Path(__file__).resolve().parents[1]
MARKED = re.compile(r"<!-- (\w+: [^\n]*?) -->\n.*?<!-- end -->", re.DOTALL)
SEED = 2026
TIPS = {
    "alone": [
        ("T1 `keep_range`", "keep_range v random"),
        ("T2 `block_ends`", "block_ends v random"),
        ("T3 `dump_doubles`", "dump_doubles v random"),
        ("T4 `strand_double`", "strand_double v random"),
        ("T5 `next_tell` acted on", "tell_only v random"),
        ("T6 `dump_heavy`", "dump_heavy v random"),
        ("T7 `hold_last`", "hold_last v random"),
        ("all: `seven_tips`", "seven_tips v random"),
    ],
    "added": [
        ("T1 `keep_range`", "prefer:keep_range>dump_heavy v dump_heavy"),
        ("T2 `block_ends`", "prefer:block_ends>dump_heavy v dump_heavy"),
        ("T3 `dump_doubles`", "prefer:dump_doubles>dump_heavy v dump_heavy"),
        ("T4 `strand_double`", "prefer:strand_double>dump_heavy v dump_heavy"),
        ("T5 `next_tell` acted on", "prefer:tell_only>dump_heavy v dump_heavy"),
        ("T6 `dump_heavy`: what the others are added to", None),
        ("T7 `hold_last`", "prefer:hold_last>dump_heavy v dump_heavy"),
        ("all: `seven_tips`", "seven_tips v dump_heavy"),
    ],
    "dropped": [
        ("T1 `keep_range`", "without_keep_range v seven_tips"),
        ("T2 `block_ends`", "without_block_ends v seven_tips"),
        ("T3 `dump_doubles`", "without_dump_doubles v seven_tips"),
        ("T4 `strand_double`", "without_strand_double v seven_tips"),
        ("T6 `dump_heavy`", "without_dump_heavy v seven_tips"),
        ("T7 `hold_last`", "without_hold_last v seven_tips"),
        ("T5 put first", "prefer:tell_only>seven_tips v seven_tips"),
    ],
    "order": [
        ("before T3 (as in `seven_tips`)", "seven_tips v without_keep_range"),
        ("after T3, before T6", "range_after_doubles v without_keep_range"),
        ("last", "range_last v without_keep_range"),
    ],
}
"""By table of docs/tips.md: how a row is called, and its duel."""
SETTINGS = [("room-fish-all", 2), ("room-fish-all", 4), ("pair-traditional", 4)]
"""The columns of docs/tips.md."""
COMPANY = ("random", "dump_heavy", "allround")


def kozel(*words):
    """Run a command, quietly."""
    app(list(words), standalone_mode=False)


def table(head, rows, left=1):
    """A table in Markdown; so many columns stand at the left."""
    kinds = ["---"] * left + ["--:"] * (len(head) - left)
    lines = [head, kinds, *rows]
    lines = ["| " + " | ".join(line) + " |" for line in lines]
    lines[1] = "|" + "|".join(kinds) + "|"
    return "\n".join(lines)


def span(row, value, low, high, scale=1.0, digits=2):
    """An estimate with its interval."""
    one, least, most = (scale * row[key] for key in (value, low, high))
    return f"{one:.{digits}f} [{least:.{digits}f}, {most:.{digits}f}]"


# ---------------------------------------------------------------------- rule variants


def variants(folder):
    """The tables of docs/variants.md from a run of experiments/rule_variants.toml, by players."""
    effects = pd.read_csv(folder / "effects.csv")
    ranks = pd.read_csv(folder / "ranking.csv")
    at = effects.set_index(["players", "preset", "policy", "metric"]).sort_index()
    for players, part in effects.groupby("players", sort=False):
        rows = []
        for preset in part["preset"].unique():
            goats, random, rounds, fish = (
                at.loc[players, preset, policy, metric]
                for policy, metric in [
                    ("all", "goat_rate"),
                    ("random", "goat_rate"),
                    ("all", "rounds"),
                    ("all", "fish_rate"),
                ]
            )
            base = preset == goats["baseline"]
            change = ("difference", "diff_ci_low", "diff_ci_high", 100)
            plain = ("estimate", "ci_low", "ci_high")
            here = ranks[(ranks["preset"] == preset) & (ranks["players"] == players)]
            best = here.loc[here["rank_low"] == 1, "policy"]
            rows.append(
                [
                    preset,
                    span(goats, *plain, 100),
                    "-" if base else span(goats, *change),
                    span(rounds, *plain),
                    span(fish, *plain, 100),
                    "-" if base else span(random, *change),
                    ", ".join(f"`{name}`" for name in best),
                ]
            )
        head = ["rules", "goat rate, %", "difference", "rounds per match", "fish per round, %"]
        head += ["goat rate of `random`: difference", f"best of these {len(here)}"]
        made = table(head, rows).splitlines()
        made[1] = "|---|--:|--:|--:|--:|--:|---|"
        yield f"variants: {players} players", "\n".join(made)


def luck(folder):
    """The table of skill and luck, from the same run: as ``kozel show FOLDER --luck``."""
    rows = []
    shares = variance_shares(load_run(folder).frame)
    for (preset, players), part in shares.groupby(["preset", "players"], sort=False):
        at = part.set_index("source")
        cells = [span(at.loc[source], "share", "ci_low", "ci_high", 100, 1) for source in SOURCES]
        rows.append([preset, str(players), *(re.sub(r"-(0\.0)\b", r"\1", x) for x in cells)])
    head = ["rules", "players", *(f"{source}, %" for source in SOURCES)]
    yield "luck: shares", table(head, rows)


# ---------------------------------------------------------------------- tips


def tips(folder):
    """The tables of docs/tips.md from a run of experiments/tips.toml."""
    duels = pd.read_csv(folder / "duels.csv")
    at = duels.set_index(["preset", "players", "duel", "metric"]).sort_index()
    head = ["tip", "2 players: points", "goat rate", "4 singles: points", "goat rate"]
    head += ["pairs: points", "goat rate"]
    for name, duels_of_table in TIPS.items():
        rows = []
        for words, duel in duels_of_table:
            row = [words]
            for setting in SETTINGS:
                if duel is None:
                    row += ["-", "-"]
                    continue
                points, goats = (
                    at.loc[(*setting, duel, metric)] for metric in ("points_per_round", "goat_rate")
                )
                row.append(span(points, "difference", "ci_low", "ci_high"))
                row.append(span(goats, "difference", "ci_low", "ci_high", 100, 1))
            rows.append(row)
        yield f"tips: {name}", table(["T1" if name == "order" else "tip", *head[1:]], rows)


# ---------------------------------------------------------------------- the tell


HEAD = ["tells", "frequency", "chance (table)", "beyond it (table)", "beyond it (next)", "60-70%?"]


def told(frame, **where):
    """A row of the tell's tables, as a list of cells; ``where`` are values of columns."""
    wanted = {"policy": "all", "touched": "all", "left": 0} | where
    rows = frame.loc[(frame[list(wanted)] == pd.Series(wanted)).all(axis=1)].set_index("observer")
    one, seat = rows.loc["table"], rows.loc["next"]
    beyond = ("difference", "diff_ci_low", "diff_ci_high", 100)
    return [
        f"{one['events']:,}",
        span(one, "estimate", "ci_low", "ci_high", 100),
        f"{100 * one['baseline']:.2f}",
        span(one, *beyond),
        span(seat, *beyond),
        {"within": "yes"}.get(one["claim"], f"no: {one['claim']}"),
    ]


def measured(rules="room-fish-all", players=4, **more):
    """The frame of a ``kozel tell -n 6000 --seed 2026``."""
    return measure_tell(rules, deals=6000, seed=SEED, players=players, **more)


def tell():
    """The tables of docs/tell.md."""
    four = measured()
    policies = [name for name in four["policy"].unique() if name != "all"]
    rows = [["all", *told(four)]]
    rows += [[f"`{name}`", *told(four, policy=name)] for name in policies]
    yield "tell: policies", right(["who switched ends", *HEAD], rows)
    rows = [["left end not touched", *told(four, touched="no")]]
    rows += [["touched since", *told(four, touched="yes")]]
    for left in range(1, 6):
        rows.append([f"{left} tile{'s' * (left > 1)} left", *told(four, left=left)])
    yield "tell: when", right(["all policies", *HEAD], rows)
    rows = []
    for one in COMPANY:
        cells = [f"`{one}`"]
        for others in COMPANY:
            # Three of a kind under different names: partner_void is 0 where there are no pairs.
            three = [f"prefer:{others}>partner_void={n}" for n in (1, 2, 3)]
            cells.append(told(measured(policies=[one, *three]), policy=one)[3])
        rows.append(cells)
    head = ["who switched ends", *(f"three `{name}`" for name in COMPANY)]
    yield "tell: company", table(head, rows)
    rows = []
    for rules, players in [("pair-traditional", 4), ("room-fish-all", 3), ("room-fish-all", 2)]:
        rows.append([f"{rules}, {players} players", *told(measured(rules, players))])
    yield "tell: others", right(["all policies", *HEAD], rows)


def right(head, rows):
    """A table whose last column stands at the left, too."""
    made = table(head, rows).splitlines()
    made[1] = made[1].removesuffix("--:|") + "---|"
    return "\n".join(made)


# ---------------------------------------------------------------------- pages


def studies():
    """Play all studies: what stands between the marks of the three pages, by page and mark."""
    with tempfile.TemporaryDirectory() as place:
        rules, duels = Path(place, "rules"), Path(place, "tips")
        kozel("sweep", str(ROOT / "experiments/rule_variants.toml"), "--out", str(rules), "--quiet")
        kozel("run", str(ROOT / "experiments/tips.toml"), "--out", str(duels), "--quiet")
        return {
            "variants.md": dict(variants(rules)) | dict(luck(rules)),
            "tips.md": dict(tips(duels)),
            "tell.md": dict(tell()),
        }


def page_of(text, tables):
    """A page with its tables as they were made; every table has its marks there."""
    marks = MARKED.findall(text)
    assert sorted(marks) == sorted(tables), f"marks {marks}, tables {list(tables)}"
    return MARKED.sub(lambda m: f"<!-- {m[1]} -->\n{tables[m[1]]}\n<!-- end -->", text)


if __name__ == "__main__":
    for name, made in studies().items():
        page = ROOT / "docs" / name
        page.write_text(page_of(page.read_text(encoding="utf-8"), made), encoding="utf-8")
        print(f"written to {page}")
