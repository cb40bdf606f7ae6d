"""What the command line prints and writes of runs. Heavy imports wait until they are needed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kozel_sim.crashes import look_after
from kozel_sim.performing import prints_aside, say_rounding, warm_up, what_is_kept
from kozel_sim.plain import records
from kozel_sim.printing import (
    console,
    hush,
    interval,
    p_text,
    print_json,
    progress_bar,
    show,
    spread,
)
from kozel_sim.run_pictures import ALL_DUELS, CHANGES, FORESTS, LEADERBOARDS, draw_run
from kozel_sim.seat_report import print_balance
from kozel_sim.stopping_report import print_stopping
from kozel_sim.verdicts import (
    alike_words,
    decisions_to_tell,
    duel_of,
    equivalence_words,
    is_equivalent,
)
from kozel_sim.words import counted

if TYPE_CHECKING:
    import pandas as pd

    from kozel_sim.checks import Engine
    from kozel_sim.runs import Run, Totals
    from kozel_sim.tournaments import Mapper, Tournament


@dataclass(frozen=True)
class Face:
    """How a kind of run is shown: as tables, as JSON, as files beside its frame, as pictures."""

    show: Callable[[Any], None]
    data: Callable[[Any], dict[str, Any]]
    write: Callable[[Any, Path], None]
    pictures: tuple[str, ...]


def report(
    planned: Tournament,
    face: Face,
    folder: Path | None,
    workers: int,
    json_: bool,
    quiet: bool,
    mapper: Mapper | None = None,
    engine: Engine = "auto",
) -> None:
    """Play what is planned, or what is left of it in its folder; print and write it."""
    from kozel_sim.checks import need_engine
    from kozel_sim.extending import Place, look_up, open_run

    need_engine(engine, workers)
    manifest = planned.manifest(engine)
    look_after(planned.policies, folder)
    before = Place({}) if folder is None else look_up(folder, manifest)
    parts = sum((Path(folder or "") / file).is_file() for file in before.files)
    known = before.whole
    if not known:
        if folder is not None:
            # A folder that cannot be written to is refused before anything is compiled.
            with open_run(folder, manifest):
                pass
        if quiet:
            hush()
        else:
            say_rounding(planned)
    try:
        if not known:
            warm_up(planned.aggregate, engine)
        with progress_bar(planned.matches, quiet or json_) as step, prints_aside():
            played = planned.play(engine, workers, None, step, folder, mapper, face.write)
    except KeyboardInterrupt:
        kept = what_is_kept(folder, manifest) or "; nothing is kept"
        print(f"kozel: interrupted{kept}", file=sys.stderr)
        raise
    except OSError as error:
        if kept := what_is_kept(folder, manifest):
            said = f"{error.filename}: {error.strerror}" if error.filename else str(error)
            raise OSError(f"{said}{kept}") from None
        raise
    seed = played.manifest["seed"]
    note = f"{counted(played.matches, 'match')} in {played.manifest['seconds']:.1f} s, seed {seed}"
    if planned.shard is not None:
        note = f"shard {planned.shard[0]} of {planned.shard[1]} alone: {note}"
    if known:
        note = f"{folder} holds this very run already; read, not played again"
    elif folder is not None:
        note += f"; written to {folder}"
        total = len(played.manifest["files"])
        if before.extends:
            deals = counted(planned.deals, "deal was", "deals were")
            note += f" (extended: {before.extends:,} of {deals} there)"
        elif before.manifest:
            note += f" (continued: {parts} of {counted(total, 'part was', 'parts were')} there)"
    if not quiet:
        show_run(played, face, json_)
    if folder is not None:
        sys.stdout.flush()
        draw_run(played, folder, *face.pictures)
    if not (quiet or json_):
        print(note)


def show_run(played: Run | Totals, face: Face, json_: bool) -> None:
    """Print a run's tables, or its manifest and tables as JSON."""
    from kozel_sim.capped import capped_words

    if json_:
        print_json({"manifest": played.manifest} | face.data(played))
    else:
        face.show(played)
        for words in capped_words(played):
            print(f"{words}\n")
        print_stopping(played.manifest.get("stopping", []))
        if hasattr(played, "frame"):
            print_balance(played.frame)


# ---------------------------------------------------------------------- tournaments


def results_of(played: Run | Totals) -> pd.DataFrame | Totals:
    """Return what a sweep's tables are made of: the frame, or the sums."""
    return played.frame if hasattr(played, "frame") else played


def leaderboard_data(played: Run | Totals) -> dict[str, Any]:
    """Return a tournament's tables as JSON values."""
    found = {"summary": played.summary(), "presets": played.presets()}
    plain = {name: records(marked(frame, played)) for name, frame in found.items()}
    return plain | conclusions_data(played)


def conclusions_data(played: Run | Totals) -> dict[str, Any]:
    """Return ranks, seats and their balance as JSON values, of a run of sums none of these.

    Where matches reached the cap of rounds, their numbers come first.
    """
    from kozel_sim.capped import capped_data

    capped = {"capped": rows} if (rows := capped_data(played)) else {}
    if not hasattr(played, "frame"):
        return capped
    from kozel_sim.balance import seat_balance, seat_tables
    from kozel_sim.rankings import ranking

    found = {"seats": seat_tables(played.frame), "balance": seat_balance(played.frame)}
    if "duel" not in played.frame:
        found["ranking"] = ranking(played.frame)
    plain = {name: records(marked(frame, played)) for name, frame in found.items()}
    if "stopping" in played.manifest:
        plain["stopping"] = played.manifest["stopping"]
    return capped | plain


def marked(frame: pd.DataFrame, played: Run | Totals) -> pd.DataFrame:
    """Say of intervals whether they are those of a run that stopped when it was sure."""
    if "stopping" not in played.manifest or "method" not in frame:
        return frame
    return frame.assign(method=frame["method"] + UNCORRECTED)


UNCORRECTED = ", not corrected for stopping"


def write_leaderboard(played: Run | Totals, folder: Path) -> None:
    """Write a tournament's summary."""
    marked(played.summary(), played).to_csv(folder / "summary.csv", index=False)
    write_conclusions(played, folder)


def write_conclusions(played: Run | Totals, folder: Path) -> None:
    """Write ranks, seats, their balance and the numbers of capped matches (CSV)."""
    import pandas as pd

    for name, rows in conclusions_data(played).items():
        pd.DataFrame(rows).to_csv(folder / f"{name}.csv", index=False)


def print_run(played: Run | Totals) -> None:
    """Print the leaderboards and what each preset makes of the game."""
    from kozel_sim.rankings import ranking

    summary = played.summary()
    presets = played.presets()
    ranks = ranking(played.frame) if hasattr(played, "frame") else None
    if ranks is None:
        print("sums alone: for ranks, and tables by seat and leader, play without --aggregate\n")
    for preset, players in tables_of(played):
        if part_of(summary, preset, players).empty:
            print(f"{preset}, {players} players: this shard has no deals of it\n")
            continue
        print_board(
            part_of(summary, preset, players),
            part_of(presets, preset, players),
            None if ranks is None else part_of(ranks, preset, players),
        )


def tables_of(played: Run | Totals) -> list[tuple[str, int]]:
    """Return (preset, players) of each rule set of a run, in its order."""
    return [(rules["preset"], rules["knobs"]["players"]) for rules in played.manifest["rules"]]


def part_of(frame: pd.DataFrame, preset: str, players: int) -> pd.DataFrame:
    """Return the rows of one rule set."""
    return frame[(frame["preset"] == preset) & (frame["players"] == players)]


def print_board(
    summary: pd.DataFrame, of_preset: pd.DataFrame, ranks: pd.DataFrame | None = None
) -> None:
    """Print one leaderboard; ranks, where they are given, hold all together."""
    from rich.table import Table

    from kozel_sim.stats import percent

    level = percent(summary["level"].iloc[0])
    first = summary.iloc[0]
    title = f"{first['preset']}, {first['players']} players ({level} intervals, clustered by deal)"
    table = Table(title=title, title_justify="left", title_style="bold")
    spans = {} if ranks is None else {row.policy: row for row in ranks.itertuples()}
    if spans:
        table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("policy", overflow="fold")
    for heading in ("goat rate", "points", "room rating"):
        table.add_column(heading, justify="right", no_wrap=True)
    for policy, rows in summary.groupby("policy", observed=True, sort=False):
        cells = {row.metric: row for row in rows.itertuples()}
        table.add_row(
            *([rank_text(spans[policy])] if spans else []),
            str(policy),
            *(
                interval(cells[m], scale, digits) if m in cells else "-"
                for m, scale, digits in (("goat_rate", 100, 2), ("points", 1, 2), ("rating", 1, 3))
            ),
        )
    console().print(table)
    cells = {row.metric: row for row in of_preset.itertuples()}
    print(
        f"goats per match {interval(cells['goats_per_match'], 1, 3)}, "
        f"goat rate {interval(cells['goat_rate'], 100, 2)}, "
        f"fish rate per round {interval(cells['fish_rate'], 100, 2)}, "
        f"rounds per match {interval(cells['rounds'], 1, 2)}"
        + (
            f", capped {interval(cells['capped_rate'], 100, 2)} (these have no goat)"
            if cells["capped_rate"].estimate
            else ""
        )
        + "\n"
    )


def rank_text(row: Any) -> str:
    """Write a rank, or from which to which it may be."""
    low, high = row.rank_low, row.rank_high
    return f"{low}" if low == high else f"{low}-{high}"


LEADERBOARD = Face(print_run, leaderboard_data, write_leaderboard, (LEADERBOARDS,))


# ---------------------------------------------------------------------- sweeps


def sweep_data(played: Run | Totals) -> dict[str, Any]:
    """Return a sweep's tables as JSON values."""
    from kozel_sim.sweep import best_policies, effects

    return {
        "effects": records(effects(results_of(played))),
        "best": records(best_policies(results_of(played))),
    } | conclusions_data(played)


def write_sweep(played: Run | Totals, folder: Path) -> None:
    """Write a sweep's effects (Parquet and CSV) and its best policies."""
    from kozel_sim.sweep import best_policies, effects

    found = effects(results_of(played))
    found.to_parquet(folder / "effects.parquet", index=False)
    found.to_csv(folder / "effects.csv", index=False)
    best_policies(results_of(played)).to_csv(folder / "best_policies.csv", index=False)
    write_conclusions(played, folder)


GAME_METRICS = (
    ("goat_rate", "goats_per_match", "several_goats", "goats_per_round", "points_per_goat"),
    ("rounds", "fish_rate", "passes", "draws", "leader_edge", "capped_rate"),
)
SHARES = ("goat_rate", "several_goats", "fish_rate", "capped_rate", "leader_edge")
"""Metrics that are written in percent."""


def print_sweep(played: Run | Totals) -> None:
    """Print what each rule set makes of the game, and how it differs from the first."""
    from kozel_sim.sweep import ALL, METRICS, best_policies, effects

    found = effects(results_of(played))
    for players, here in found.groupby("players", sort=False):
        base = here["baseline"].iloc[0]
        whole, policies = here[here["policy"] == ALL], here[here["policy"] != ALL]
        for metrics in GAME_METRICS:
            part = whole[whole["metric"].isin(metrics)]
            print_effects(f"{players} players", part, "metric")
            print_effects(f"{players} players: difference from {base}", part, "metric", paired=True)
        print_effects(f"{players} players: goat rate by policy", policies, "policy")
        title = f"{players} players: goat rate by policy, difference from {base}"
        print_effects(title, policies, "policy", paired=True)
        print_weakest(records(policies), str(base))
    rows = []
    for row in best_policies(results_of(played)).to_dict("records"):
        lead = (row["lead"], row["lead_ci_low"], row["lead_ci_high"])
        same = "yes" if row["same_as_baseline"] else "no"
        rows.append(
            {
                "players": row["players"],
                "rules": short_name(row["preset"], str(found["baseline"].iloc[0])),
                f"lowest goat rate of {row['n_policies']} played": row["best"] or "none: no goat",
                "next": row["next"],
                "lead in goat rate": spread(lead, 100, 2),
                "as baseline": same,
            }
        )
    show(rows, json_=False)
    for name, metric in METRICS.items():
        print(f"  {name}: {metric.meaning}")


def print_effects(title: str, rows: pd.DataFrame, columns: str, paired: bool = False) -> None:
    """Print a table with a row per rule set, and a column per metric or policy."""
    from rich.table import Table

    from kozel_sim.stats import percent

    prefix, middle = ("diff_", "difference") if paired else ("", "estimate")
    level = percent(rows["level"].iloc[0])
    how = f"{level} intervals, {'paired and ' if paired else ''}clustered by deal"
    table = Table(title=f"{title} ({how})", title_justify="left", title_style="bold")
    table.add_column("rules", overflow="fold")
    base = rows["baseline"].iloc[0]
    headings = list(dict.fromkeys(rows[columns]))
    for heading in headings:
        table.add_column(str(heading), justify="right", overflow="fold")
    for preset, of_preset in rows.groupby("preset", sort=False, observed=True):
        if paired and preset == base:
            continue
        cells = {}
        for row in of_preset.to_dict("records"):
            values = (row[middle], row[f"{prefix}ci_low"], row[f"{prefix}ci_high"])
            scale, digits = (100, 2) if row["metric"] in SHARES else (1, 3)
            cells[row[columns]] = spread(values, scale, digits)
        table.add_row(
            short_name(str(preset), str(base)), *(cells.get(heading, "-") for heading in headings)
        )
    if table.row_count:
        console().print(table)


def odds_words(row: dict[str, Any]) -> str:
    """Say how a policy's odds changed, and which share it has of all goats."""
    odds = (row["odds_ratio"], row["odds_low"], row["odds_high"])
    shares = (row["goat_share"], row["goat_share_low"], row["goat_share_high"])
    told = "no odds: a rate is 0% or 100%"
    if row["odds_ratio"] is not None:
        told = f"odds ratio {spread(odds, 1, 2)}"
    if row["goat_share"] is None:
        return f"{told}; nobody is a goat"
    return f"{told}; {spread(shares, 100, 1)} of all goats, at {row['seat_share']:.1%} of the seats"


def print_weakest(policies: list[dict[str, Any]], base: str) -> None:
    """Print what each variant does to the policy that the baseline treats worst."""
    at_base = [row for row in policies if row["preset"] == base]
    weakest = max(at_base, key=lambda row: row["estimate"])
    if weakest["estimate"] == 0:
        print(f"nobody was a goat under {base}\n")
        return
    print(f"weakest under {base}: {weakest['policy']}, goat rate {weakest['estimate']:.2%}")
    for row in policies:
        if row["policy"] == weakest["policy"] and row["preset"] != base:
            low, high = row["diff_ci_low"], row["diff_ci_high"]
            verdict = "leaves it open"
            if low is not None and (low > 0 or high < 0):
                verdict = "raises it" if low > 0 else "lowers it"
            if row["difference"] == row["diff_std_error"] == 0:
                verdict = "changed nothing"
            change = spread((row["difference"], low, high), 100, 2)
            print(f"  {short_name(row['preset'], base)} {verdict}: {change} (percentage points)")
            print(f"    {odds_words(row)}")
    print()


def short_name(preset: str, base: str) -> str:
    """Return the changed knobs alone where a rule set is the baseline with changes."""
    changed = preset.startswith(f"{base}[")
    return preset.removeprefix(f"{base}[").removesuffix("]") if changed else preset


SWEEP = Face(print_sweep, sweep_data, write_sweep, (FORESTS, CHANGES))


# ---------------------------------------------------------------------- duels


def duel_data(played: Run, margin: str | None = None) -> dict[str, Any]:
    """Return the duels' comparisons, and what was the same in them, as JSON values."""
    from kozel_sim.alike import same_play
    from kozel_sim.duels import compare

    found = {"duels": records(marked(compare(played.frame, equivalent=margin), played))}
    return found | {"same_play": records(same_play(played))} | conclusions_data(played)


def write_duels(played: Run, folder: Path, margin: str | None = None) -> None:
    """Write the duels' comparisons (CSV)."""
    from kozel_sim.duels import compare

    found = marked(compare(played.frame, equivalent=margin), played)
    found.to_csv(folder / "duels.csv", index=False)
    write_conclusions(played, folder)


def print_duels(played: Run) -> None:
    """Print how the first policy of each duel differs from the second."""
    from rich.table import Table

    from kozel_sim.direction import rule_in_words
    from kozel_sim.duels import compare
    from kozel_sim.stats import percent

    found = compare(played.frame)
    for preset, players in tables_of(played):
        here = part_of(found, preset, players)
        if here.empty:
            print(f"{preset}, {players} players: this shard has no deals of it\n")
            continue
        how = f"{percent(here['level'].iloc[0])} intervals, paired and clustered by deal"
        title = f"{preset}, {players} players: first policy less the second ({how})"
        table = Table(title=title, title_justify="left", title_style="bold")
        for heading in ("policy", "against"):
            table.add_column(heading, overflow="fold")
        capped = bool(here["n_capped"].any())
        for heading in ("points per round", "points per match", "goat rate", *["capped"] * capped):
            table.add_column(heading, justify="right")
        for _, rows in here.groupby("duel", observed=True, sort=False):
            cells = [
                spread((row["difference"], row["ci_low"], row["ci_high"]), *scale)
                for row, scale in zip(records(rows), ((1, 3), (1, 2), (100, 2)), strict=True)
            ]
            first = rows.iloc[0]
            cells += [f"{first['n_capped']:,} of {first['n_matches']:,}"] * capped
            table.add_row(str(first["policy"]), str(first["against"]), *cells)
        console().print(table)
        print(rule_in_words(played.manifest, preset, players))
    print("".join(f"{words}\n" for words in alike_words(played).values()), end="")


def print_comparison(played: Run, margin: str | None = None) -> None:
    """Print a duel metric by metric, and what it says in plain words."""
    from kozel_sim.capped import all_capped
    from kozel_sim.duels import compare

    found, alike = compare(played.frame, equivalent=margin), alike_words(played)
    for preset, players in tables_of(played):
        here = part_of(found, preset, players)
        if here.empty:
            print(f"{preset}, {players} players: this shard has no deals of it\n")
            continue
        lines = [
            {
                "metric": row["metric"].replace("_", " "),
                row["policy"]: f"{scale * row['estimate']:.{digits}f}{unit}",
                row["against"]: f"{scale * row['against_estimate']:.{digits}f}{unit}",
                "difference": spread((row["difference"], row["ci_low"], row["ci_high"]), *form),
                "p-value": p_text(row["p_value"]),
                "variance saved": f"{row['variance_reduction']:.0%}",
            }
            for row, form in zip(records(here), ((1, 3), (1, 2), (100, 2)), strict=True)
            for (scale, digits), unit in [(form, "%" * (form[0] == 100))]
        ]
        print(f"{preset}, {players} players, {counted(here['n_deals'].iloc[0], 'deal')}")
        show(lines, json_=False)
        rows = records(here)
        if duel_of(rows[-1]) in alike:
            print(alike[duel_of(rows[-1])] + "\n")
        elif "stopping" not in played.manifest and not all_capped(rows[-1]):
            print(verdict(rows[-1], preset) + "\n")
        for row in (row for row in rows if row.get("margin") is not None):
            print(equivalence_words(row, preset) + "\n")
    for row in decisions_to_tell(played.manifest.get("stopping", []), alike):
        if not all_capped(row):
            print(decision_text(row) + "\n")


DECIDED = {
    "better": "the first is better by {}",
    "worse": "the first is worse by {}",
    "no difference": "no difference worth finding by {}",
    "enough": "the interval of {} is as narrow as asked",
    "open": "not decided by {}; more deals (-n) would tell",
}
"""What a rule decided of a comparison, in plain words."""


def decision_text(row: dict[str, Any]) -> str:
    """Say in plain words what a stopping rule decided of a comparison, and by which measure."""
    return f"{row['key']}: {DECIDED[row['decision']].format(row['metric'].replace('_', ' '))}"


def verdict(row: dict[str, Any], rules: str) -> str:
    """Say in plain words what the difference in goat rate says."""
    from kozel_sim.capped import all_capped, no_winner

    if all_capped(row):
        return no_winner(row)
    if row["ci_low"] is None:
        return (
            f"Not decided by goat rate: one deal says nothing of luck under {rules}. More deals "
            "(-n) would."
        )
    decided = row["ci_high"] < 0 or row["ci_low"] > 0
    low, high = sorted(abs(100 * row[end]) for end in ("ci_low", "ci_high"))
    if not decided:
        head, more = "Not decided", "More deals (-n) would tell."
        if is_equivalent(row):
            head, more = "No difference found", ""
        return (
            f"{head}: {row['policy']} may be up to {-100 * row['ci_low']:.2f} points of goat "
            f"rate better or {100 * row['ci_high']:.2f} worse than {row['against']} under {rules}. "
            f"{more}".rstrip()
        )
    word, change = ("better", "less") if row["difference"] < 0 else ("worse", "more")
    return (
        f"{row['policy']} is {word} than {row['against']} under {rules}: {low:.2f} to {high:.2f} "
        f"points of goat rate {change} ({p_text(row['p_value'], 'p')})."
    )


DUELS = Face(print_duels, duel_data, write_duels, (ALL_DUELS,))
COMPARISON = Face(print_comparison, duel_data, write_duels, (ALL_DUELS,))


def comparison_face(margin: str | None, stop: str | None) -> Face:
    """Return how a comparison is shown that may be asked for equivalence, within a margin."""
    if margin is None:
        return COMPARISON
    from kozel_sim.duels import read_compared

    read_compared(margin)
    if stop is not None:
        raise ValueError(
            f"--equivalent {margin} tests a fixed number of deals; it does not go with --stop"
        )
    return replace(
        COMPARISON,
        show=partial(print_comparison, margin=margin),
        data=partial(duel_data, margin=margin),
        write=partial(write_duels, margin=margin),
    )
