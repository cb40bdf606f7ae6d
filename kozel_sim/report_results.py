"""The results in a report: tables and plots by rule set, in the words that are printed of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from kozel_sim import report_plots
from kozel_sim.balance import seat_balance, seat_tables
from kozel_sim.capped import all_capped, capped_matches, capped_of, no_winner, told_of
from kozel_sim.direction import POINTS_WIN, rule_in_words
from kozel_sim.duels import compare
from kozel_sim.fixed import FIXED
from kozel_sim.intervals import percent
from kozel_sim.plain import part_of, records
from kozel_sim.printing import number_text, p_text
from kozel_sim.rankings import ranking
from kozel_sim.report_plots import Plot
from kozel_sim.reporting import (
    decision_text,
    rank_text,
    results_of,
    short_name,
    tables_of,
    verdict,
)
from kozel_sim.runs import Run, Totals
from kozel_sim.schedule import VERSUS
from kozel_sim.stopping_report import STOPPED
from kozel_sim.sweep import ALL, METRICS, effects
from kozel_sim.verdicts import Duel, alike_words, decisions_to_tell, duel_of
from kozel_sim.words import counted, metric_words

FEW_TABLES = 6
"""Up to so many rule sets have plots of their own; of more the plots would bury the tables."""
FEW_SENTENCES = 8
"""Of more duels the table says which is better, not a sentence each."""
CHANGES = {"goat_rate": (100, 2), "rounds": (1, 3), "fish_rate": (100, 2)}
"""What a sweep's table shows, with scale and digits."""


@dataclass(frozen=True)
class Cell:
    """An estimate, and its interval."""

    estimate: str
    ends: str


@dataclass(frozen=True)
class Table:
    """A table of a page: the first cell of each row names it."""

    caption: str
    columns: list[str]
    rows: list[list[str | Cell]]


@dataclass
class Section:
    """A part of the page below a heading: sentences, tables and plots."""

    title: str
    words: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)


@dataclass
class Results:
    """What came out, and by which methods, which the fine print explains."""

    short: list[str] = field(default_factory=list)
    boards: list[Section] = field(default_factory=list)
    more: list[Section] = field(default_factory=list)
    methods: set[str] = field(default_factory=set)


def cell(values: Sequence[float | None], scale: float, digits: int) -> Cell:
    """Write an estimate with its interval."""
    middle, low, high = (number_text(v, scale, digits) for v in values)
    return Cell(f"{middle}{'%' if scale == 100 else ''}", f"[{low}, {high}]")


def results_of_run(played: Run | Totals) -> Results:
    """Return the tables and plots of a run, whatever its kind."""
    found = Results()
    has_duels = isinstance(played, Run) and "duel" in played.frame
    if isinstance(played, Run) and has_duels:
        _add_duels(played, found)
    else:
        _add_boards(played, found)
    _add_changes(played, found, has_duels)
    if rows := played.manifest.get("stopping"):
        _add_stopping(
            rows, found, alike_words(played) if isinstance(played, Run) and has_duels else {}
        )
    knobs = [rules["knobs"] for rules in played.manifest["rules"]]
    singles = any(each["players"] > 2 and each["teams"] == "none" for each in knobs)
    if has_duels and found.short and singles:
        found.short.append(
            "Where more than two played for themselves, the first named sat alone, and all others "
            "played the second."
        )
    if isinstance(played, Run):
        _add_seats(played, found)
    return found


def histogram(played: Run | Totals, of: str) -> pd.DataFrame:
    """Count the final accounts by policy, or the rounds of matches, as ``Totals.histogram``."""
    if isinstance(played, Totals):
        return played.histogram(of)
    rows = played.frame if of == "points" else played.frame[played.frame["seat"] == 0]
    keys = ["preset", "players", *(["policy", POINTS_WIN] if of == "points" else []), of]
    return rows.groupby(keys, observed=True, sort=False).size().rename("count").reset_index()


def seated(played: Run | Totals) -> bool:
    """Tell whether policies kept their seats, so that seats stand for policies."""
    return str(played.manifest["design"]).startswith("seating")


# ---------------------------------------------------------------------- leaderboards


def _add_boards(played: Run | Totals, found: Results) -> None:
    """Add a leaderboard for each rule set."""
    summary, presets, capped = played.summary(), played.presets(), capped_matches(played)
    ranks = ranking(played.frame) if isinstance(played, Run) and not seated(played) else None
    points = histogram(played, "points")
    found.methods |= set(summary["method"]) | set(presets["method"])
    tables = tables_of(played)
    firsts: dict[str, list[str]] = {}
    for preset, players in tables:
        section = Section(f"{preset}, {players} players")
        found.boards.append(section)
        here = part_of(summary, preset, players)
        if here.empty:
            section.words.append("This shard has no deals of it.")
            continue
        of_table = None if ranks is None else part_of(ranks, preset, players)
        section.tables.append(_board(here, of_table))
        section.words.append(_game(part_of(presets, preset, players)))
        section.words += filter(None, [told_of(capped_of(capped, preset, players))])
        if of_table is not None:
            who, rate = _first(of_table, played)
            if all_capped(counts := capped_of(capped, preset, players)):
                who, rate = no_winner(counts).removesuffix("."), ""
            firsts.setdefault(who, []).append(f"{rate}{section.title}")
        if len(tables) <= FEW_TABLES:
            section.plots.append(report_plots.leaderboard(here, section.title))
            section.plots.append(
                report_plots.points(part_of(points, preset, players), section.title)
            )
    for who, where in firsts.items():
        named = "; ".join(where) if len(where) <= FEW_TABLES else f"{len(where)} rule sets"
        found.short.append(f"{who}: {named}.")
    if len(tables) <= 4 * FEW_TABLES:
        found.more.append(
            Section("Length of matches", plots=[report_plots.rounds(histogram(played, "rounds"))])
        )


def _board(summary: pd.DataFrame, ranks: pd.DataFrame | None) -> Table:
    """Return the leaderboard of a rule set."""
    level = percent(summary["level"].iloc[0])
    metrics = {"goat_rate": (100, 2), "points": (1, 2), "rating": (1, 3)}
    shown = [m for m in metrics if m in set(summary["metric"])]
    spans = {} if ranks is None else {row.policy: rank_text(row) for row in ranks.itertuples()}
    rows: list[list[str | Cell]] = []
    for policy, of_policy in summary.groupby("policy", observed=True, sort=False):
        cells = {row["metric"]: row for row in records(of_policy)}
        numbers = [
            cell([cells[m][k] for k in ("estimate", "ci_low", "ci_high")], *metrics[m])
            for m in shown
        ]
        rows.append([str(policy), *([spans[policy]] if spans else []), *numbers])
    n = int(summary["n_deals"].max())
    return Table(
        f"The lowest goat rate first, with {level} intervals; {counted(n, 'deal')}",
        ["policy", *(["rank"] if spans else []), *map(metric_words, shown)],
        rows,
    )


def _game(presets: pd.DataFrame) -> str:
    """Say what a rule set made of the game."""
    cells = {row["metric"]: row for row in records(presets)}

    def told(metric: str, scale: float, digits: int) -> str:
        one = cell([cells[metric][k] for k in ("estimate", "ci_low", "ci_high")], scale, digits)
        ends = f"({FIXED})" if cells[metric]["method"] == FIXED else one.ends
        return f"{one.estimate} {ends}"

    words = (
        f"A match had {told('rounds', 1, 2)} rounds and {told('goats_per_match', 1, 3)} goats; "
        f"{told('fish_rate', 100, 2)} of the rounds ended in a fish"
    )
    if cells["capped_rate"]["estimate"]:
        capped = told("capped_rate", 100, 2)
        words += f", and {capped} of the matches reached the cap of rounds, without a goat"
    return f"{words}."


def _first(ranks: pd.DataFrame, played: Run | Totals) -> tuple[str, str]:
    """Say who may be the first of a rule set, and with which goat rate where it is one."""
    level = percent(ranks["level"].iloc[0])
    level += ", as if its deals had been fixed" if "stopping" in played.manifest else ""
    field = f"the {len(ranks)} policies played"
    names = [str(row.policy) for row in ranks.itertuples() if row.rank_low == 1]
    if len(names) == 1:
        rate = number_text(records(ranks)[0]["estimate"], 100, 2)
        return f"Of {field} {names[0]} has the lowest goat rate, sure at {level}", f"{rate}% in "
    among = f"{len(names)} of them" if len(names) > 4 else ", ".join(names)
    who = f"Who of {field} has the lowest goat rate is not decided at {level}, among {among}"
    return who, ""


# ---------------------------------------------------------------------- duels


def _add_duels(played: Run, found: Results) -> None:
    """Add the comparisons of each rule set."""
    compared, alike, capped = compare(played.frame), alike_words(played), capped_matches(played)
    found.methods |= set(compared["method"])
    scales = {
        "points_per_round": (1.0, 3),
        "points_per_match": (1.0, 2),
        "goat_rate": (100.0, 2),
    }
    tables = tables_of(played)
    for preset, players in tables:
        section = Section(f"{preset}, {players} players")
        found.boards.append(section)
        here = part_of(compared, preset, players)
        if here.empty:
            section.words.append("This shard has no deals of it.")
            continue
        level = percent(here["level"].iloc[0])
        counts = capped_of(capped, preset, players)
        rows: list[list[str | Cell]] = []
        for title, of_duel in here.groupby("duel", observed=True, sort=False):
            numbers = [
                cell([row[k] for k in ("difference", "ci_low", "ci_high")], *scales[row["metric"]])
                for row in records(of_duel)
            ]
            last = records(of_duel)[-1]
            met = [f"{last['n_capped']:,} of {last['n_matches']:,}"] * bool(counts["n_capped"])
            rows.append([str(title), *numbers, p_text(last["p_value"]), *met])
        columns = ["duel", *map(metric_words, scales), "p-value"]
        columns += ["capped"] * bool(counts["n_capped"])
        caption = (
            f"The first policy less the second, with {level} intervals, and the p-value of the "
            f"goat rates being equal; {counted(int(here['n_deals'].max()), 'deal')}"
        )
        section.tables.append(Table(caption, columns, rows))
        section.words.append(rule_in_words(played.manifest, preset, players))
        section.words += filter(None, [told_of(counts)])
        if all_capped(counts):
            found.short.append(f"{preset}, {players} players: {no_winner(counts)}")
        rates = [row for row in records(here[here["metric"] == "goat_rate"]) if not all_capped(row)]
        if "stopping" not in played.manifest and len(rates) * len(tables) <= FEW_SENTENCES:
            found.short += [
                alike.get(duel_of(row)) or verdict(row, f"{preset}, {players} players")
                for row in rates
            ]
        if len(tables) <= FEW_TABLES:
            section.plots.append(report_plots.duels(here, section.title))
    if len(tables) <= 4 * FEW_TABLES:
        found.more.append(
            Section("Length of matches", plots=[report_plots.rounds(histogram(played, "rounds"))])
        )


# ---------------------------------------------------------------------- several rule sets


def _add_changes(played: Run | Totals, found: Results, has_duels: bool) -> None:
    """Add what the rule sets differ in, where they were played on the same deals by the same."""
    if has_duels or seated(played) or {"stop", "shard"} & played.manifest.keys():
        return
    sizes = [players for _, players in tables_of(played)]
    if max(map(sizes.count, sizes)) < 2:
        return
    section = Section("What the rules change")
    of_run = effects(results_of(played))
    found.methods |= set(of_run["method"])
    for players, here in of_run[of_run["policy"] == ALL].groupby("players", sort=False):
        if here["preset"].nunique() < 2:
            continue
        section.tables.append(_changes(here, f"{players} players"))
        by_policy = of_run[(of_run["policy"] != ALL) & (of_run["players"] == players)]
        section.tables.append(_policy_changes(by_policy, f"{players} players"))
        for metric in ("goat_rate", "rounds"):
            section.plots.append(report_plots.forest(here, metric, METRICS[metric].meaning))
    found.more.append(section)


def _changes(here: pd.DataFrame, of: str) -> Table:
    """Return how rule sets differ from the first."""
    base = str(here["baseline"].iloc[0])
    level = percent(here["level"].iloc[0])
    rows: list[list[str | Cell]] = []
    for preset, part in here.groupby("preset", observed=True, sort=False):
        if preset == base:
            continue
        cells = {row["metric"]: row for row in records(part)}
        ends = ("difference", "diff_ci_low", "diff_ci_high")
        numbers = [cell([cells[m][k] for k in ends], *look) for m, look in CHANGES.items()]
        rows.append([short_name(str(preset), base), *numbers])
    return Table(
        f"{of}: difference from {base}, paired by deal, with {level} intervals",
        ["rules", *(METRICS[metric].meaning for metric in CHANGES)],
        rows,
    )


def _policy_changes(here: pd.DataFrame, of: str) -> Table:
    """Return how the goat rate of each policy differs from that under the first rule set."""
    base = str(here["baseline"].iloc[0])
    level = percent(here["level"].iloc[0])
    policies = list(dict.fromkeys(here["policy"].astype(str)))
    rows: list[list[str | Cell]] = []
    for preset, part in here.groupby("preset", observed=True, sort=False):
        if preset == base:
            continue
        cells = {str(row["policy"]): row for row in records(part)}
        ends = ("difference", "diff_ci_low", "diff_ci_high")
        numbers = [cell([cells[name][k] for k in ends], 100, 2) for name in policies]
        rows.append([short_name(str(preset), base), *numbers])
    return Table(
        f"{of}: goat rate of each policy less that under {base}, in percentage points, paired by "
        f"deal, with {level} intervals; lower is better",
        ["rules", *policies],
        rows,
    )


# ---------------------------------------------------------------------- stopping, seats


def _add_stopping(rows: list[dict[str, Any]], found: Results, alike: dict[Duel, str]) -> None:
    """Add what a run decided that may stop when it is sure."""
    metric = metric_words(rows[0]["metric"])
    scale, digits = (100, 2) if rows[0]["metric"] == "goat_rate" else (1, 2)
    lines: list[list[str | Cell]] = []
    for row in rows:
        shown = row["estimate"] if row["adjusted"] is None else row["adjusted"]
        wide = [shown, row["sequence_low"], row["sequence_high"]]
        naive = [row["estimate"], row["ci_low"], row["ci_high"]]
        decision = STOPPED.get(row["decision"], row["decision"])
        numbers = [cell(naive, scale, digits), cell(wide, scale, digits)]
        lines.append([row["key"], decision, f"{row['n_deals']:,}", *numbers])
    level = percent(rows[0]["level"])
    section = Section("Stopped when sure")
    section.words.append(
        "Each row is as it was when it was decided; deals that were played after that, for others, "
        "are in the leaderboard."
    )
    if all(row["adjusted"] is None for row in rows):
        section.words.append("Estimates are not adjusted for the stopping.")
    section.tables.append(
        Table(
            f"Decisions by {metric}, at {level}",
            ["of", "decision", "deals", "as if the deals had been fixed", "holds under stopping"],
            lines,
        )
    )
    if len(rows) <= FEW_SENTENCES and all(VERSUS in row["key"] for row in rows):
        told = decisions_to_tell(rows, alike)
        found.short += list(alike.values())
        found.short += [f"{decision_text(row)}." for row in told if not all_capped(row)]
    found.more.append(section)


def _add_seats(played: Run, found: Results) -> None:
    """Add how the seats fared, and who led first."""
    tables, tests = seat_tables(played.frame), seat_balance(played.frame)
    tables = tables[tables["metric"] == "goat_rate"]
    found.methods |= set(tables["method"])
    tests = tests[tests["metric"] == "goat_rate"]
    level = percent(tables["level"].iloc[0])
    section = Section("Seats")
    if seated(played):
        section.words.append(
            "Every policy kept its seat, so these are differences of policies as well as of seats."
        )
    for players, here in tables.groupby("players", sort=False):
        groups = list(dict.fromkeys(here["group"].astype(str)))
        rows: list[list[str | Cell]] = []
        for preset, part in here.groupby("preset", sort=False, observed=True):
            ends = ("estimate", "ci_low", "ci_high")
            numbers = [cell([row[k] for k in ends], 100, 1) for row in records(part)]
            asked = records(part_of(tests, str(preset), int(str(players))))
            told = [f"χ² {t['chi_square']:.1f}, {p_text(t['p_value'], 'p')}" for t in asked]
            rows.append([str(preset), *numbers, *told])
        columns = [f"seat {g}" if g.isdigit() else g for g in groups]
        columns += ["do seats differ?", "does the leader?"]
        caption = f"{players} players: goat rate by seat and by first leader, {level} intervals"
        section.tables.append(Table(caption, ["rules", *columns], rows))
    if len(tables_of(played)) <= FEW_TABLES:
        for preset, players in tables_of(played):
            if len(part := part_of(tables, preset, players)):
                section.plots.append(report_plots.seats(part, f"{preset}, {players} players"))
    found.more.append(section)
