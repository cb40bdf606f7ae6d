"""What ``kozel plan`` and ``kozel ratings`` print. Heavy imports wait until they are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kozel_sim.plain import part_of, records
from kozel_sim.printing import console, show, spread
from kozel_sim.words import counted, metric_words

if TYPE_CHECKING:
    import pandas as pd


# ---------------------------------------------------------------------- plans


def print_plan(rows: list[dict[str, Any]]) -> None:
    """Print how many deals a comparison needs, and what it would need for other wishes."""
    from rich.table import Table

    from kozel_sim.capped import told_of
    from kozel_sim.planning import EQUIVALENCE

    equal = [row for row in rows if row["method"] == EQUIVALENCE]
    first, *others = (row for row in rows if row["method"] != EQUIVALENCE)
    metric = metric_words(first["metric"])
    if words := told_of({key: first[f"pilot_{key[2:]}"] for key in ("n_matches", "n_capped")}):
        print(f"pilot: {words}")
    print(
        f"{first['duel']} under {first['preset']}, {first['players']} players: to find a "
        f"difference of {first['detect']:g} in {metric} with power {first['power']:.0%} (level "
        f"{first['level']:.0%}):\n"
        f"  {counted(first['deals'], 'deal')}, {counted(first['matches'], 'match')}, about "
        f"{seconds_text(first['seconds'])} on this machine\n"
        f"  {counted(first['deals_high'], 'deal')}, {seconds_text(first['seconds_high'])}, if the "
        f"spread is at the upper limit that {counted(first['pilot_deals'], 'deal')} of a pilot "
        "leave open\n"
        f"  {counted(first['unpaired_matches'], 'match')} if each had a deal of its own\n"
    )
    table = Table(title="deals for other wishes", title_justify="left", title_style="bold")
    table.add_column("difference", justify="right")
    powers = list(dict.fromkeys(row["power"] for row in others))
    for power in powers:
        table.add_column(f"power {power:.0%}", justify="right")
    for detect in dict.fromkeys(row["detect"] for row in others):
        here = {row["power"]: row for row in others if row["detect"] == detect}
        table.add_row(
            f"{detect:g}",
            *(f"{here[p]['deals']:,} ({seconds_text(here[p]['seconds'])})" for p in powers),
        )
    console().print(table)
    if equal:
        scale, unit = (100, " percentage points") if first["metric"] == "goat_rate" else (1, "")
        deals = ", ".join(
            f"{counted(row['deals'], 'deal')} ({seconds_text(row['seconds'])}) "
            f"with power {row['power']:.0%}"
            for row in equal
        )
        print(
            f"to show that {metric} differs by less than {scale * equal[0]['detect']:g}{unit}, if "
            f"it does not differ at all: {deals}"
        )


def print_forecast(rows: list[dict[str, Any]]) -> None:
    """Print what a test that stops by itself will say, and after how many deals."""
    from rich.table import Table

    if not rows:
        return
    first = rows[0]
    of_family = f", one of {first['family']} pairs" if first["family"] > 1 else ""
    print(f"\na test that stops by itself: --stop {first['rule']}{of_family}")
    metric = metric_words(first["metric"])
    table = Table(
        title=f"chances of what it says, by how much better the first policy is in {metric}",
        title_justify="left",
        title_style="bold",
    )
    undecided = any(f"{row['open']:.1%}" != "0.0%" for row in rows)
    heads = ["true difference", "better", "worse", "no difference", *["undecided"] * undecided]
    heads += ["deals: expected", "median", "90% within", f"{first['fixed_deals']:,} deals find it"]
    for heading in heads:
        table.add_column(heading, justify="right")
    for row in rows:
        chances = ["better", "worse", "no_difference", *["open"] * undecided]
        table.add_row(
            f"{row['difference']:g}",
            *(f"{row[chance]:.1%}" for chance in chances),
            f"{row['deals']:,.0f} ({seconds_text(row['seconds'])})",
            f"{row['deals_median']:,}",
            f"{row['deals_high']:,}",
            f"{row['fixed_power']:.1%}",
        )
    console().print(table)
    asked, half = (next(row for row in rows if row["share"] == share) for share in (1, 0.5))
    print(
        f"if half of the difference is true, it is found with a chance of {half['better']:.0%} "
        f"({asked['better']:.0%} if all of it is), after {half['deals']:,.0f} deals instead of "
        f"{asked['deals']:,.0f} on average"
    )


def seconds_text(seconds: float) -> str:
    """Write a time as people say it.

    Examples
    --------
    >>> [seconds_text(s) for s in (0.02, 7.6, 190, 9000)]
    ['under 1 s', '8 s', '3 min', '2.5 h']
    """
    if seconds < 1:
        return "under 1 s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


# ---------------------------------------------------------------------- ratings


def ratings_of(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return ratings, of two players Elo points too, and of duels what they say as a game.

    Rule sets under which all matches reached the cap of rounds are in none of these tables; how
    many did so is in the table ``capped``, where any match did.
    """
    from kozel_sim.capped import all_capped, capped_matches, capped_of
    from kozel_sim.metagame import intransitive, nash, payoffs
    from kozel_sim.ratings import elo_ratings, rate

    found = {"ratings": rate(frame)}
    capped = capped_matches(frame)
    if capped["n_capped"].any():
        found["capped"] = capped
        for preset, players in set(zip(capped["preset"], capped["players"], strict=True)):
            if all_capped(capped_of(capped, preset, players)):
                frame = frame[(frame["preset"] != preset) | (frame["players"] != players)]
        if frame.empty:
            return found
    of_two = frame[frame["players"] == 2]
    if len(of_two):
        found["elo"] = elo_ratings(of_two, shuffles=20)
    if "duel" in frame:
        found["payoffs"] = payoffs(frame, simultaneous=True)
        if _all_meet(found["payoffs"]):
            found["mixture"] = nash(frame)
            found["circles"] = intransitive(frame)
    return found


def _all_meet(table: pd.DataFrame) -> bool:
    """Tell whether every policy met every other, as a mixture needs."""
    for _, rows in table.groupby(["preset", "players"], observed=True):
        policies = set(rows["policy"]) | set(rows["against"])
        if len(rows) < len(policies) * (len(policies) - 1):
            return False
    return True


def print_ratings(found: dict[str, pd.DataFrame]) -> None:
    """Print ratings and what goes with them."""
    for keys, rows in found["ratings"].groupby(["preset", "players"], observed=True, sort=False):
        preset, players = str(keys[0]), int(str(keys[1]))
        method = rows["method"].iloc[0]
        print(f"{preset}, {players} players, a field of {len(rows)} policies: {method}")
        elos = part_of(found["elo"], preset, players) if "elo" in found else None
        elo = {} if elos is None else dict(zip(elos["policy"], elos["elo"], strict=True))
        lines = [
            {
                "policy": row["policy"],
                "rating": spread((row["rating"], row["ci_low"], row["ci_high"]), 1, 1),
                "beats the average": f"{row['beats_average']:.0%}",
            }
            | ({"Elo, average of 20 orders": f"{elo[row['policy']]:.0f}"} if elo else {})
            for row in records(rows)
        ]
        show(lines, json_=False)
        if "payoffs" in found:
            print_payoffs(part_of(found["payoffs"], preset, players))
        if "mixture" in found:
            mixture = part_of(found["mixture"], preset, players)
            print_mixture(records(mixture), records(part_of(found["circles"], preset, players)))
    print_capped(found)
    tables = found["ratings"][["preset", "players"]].drop_duplicates()
    if len(tables):
        print(f"400 rating points are odds of ten to one; {_within(len(tables))}")


def _within(tables: int) -> str:
    """Say within what ratings compare."""
    if tables == 1:
        return "the average of this field under these rules is 0"
    return (
        "each rule set's field has an average of 0 of its own, so ratings compare within a rule "
        "set and its field, not between them"
    )


def print_capped(found: dict[str, pd.DataFrame]) -> None:
    """Print how many matches reached the cap of rounds, and what became of them."""
    from kozel_sim.capped import OF_RATINGS, capped_of, told_of

    if "capped" not in found:
        return
    table = found["capped"]
    for preset, players in dict.fromkeys(zip(table["preset"], table["players"], strict=True)):
        words = told_of(capped_of(table, preset, players), OF_RATINGS, "no rating")
        if words:
            print(f"{preset}, {players} players: {words}")


def print_payoffs(rows: pd.DataFrame) -> None:
    """Print by how much each policy does better than each other one."""
    metric = metric_words(rows["metric"].iloc[0])
    print(f"payoffs: how much better the row does than the column, {metric} ({_ends(rows)})")
    names = list(dict.fromkeys([*rows["policy"], *rows["against"]]))
    cells = {(r["policy"], r["against"]): r for r in records(rows)}
    lines = []
    for name in names:
        line = {"": name}
        for other in names:
            row = cells.get((name, other))
            line[other] = (
                "" if row is None else spread((row["payoff"], row["ci_low"], row["ci_high"]), 1, 1)
            )
        lines.append(line)
    show(lines, json_=False)


def _ends(rows: pd.DataFrame) -> str:
    from kozel_sim.intervals import percent

    return f"{percent(rows['level'].iloc[0])} intervals, all together"


def print_mixture(mixture: list[dict[str, Any]], circles: list[dict[str, Any]]) -> None:
    """Print the mixture that nothing does better against, and circles of three."""
    told = [
        f"{row['policy']} {row['share']:.0%} [{row['ci_low']:.0%}, {row['ci_high']:.0%}]"
        for row in mixture
        if row["share"] > 0 or row["support"] > 0
    ]
    print(f"mixture that none does better against (Nash): {', '.join(told)}")
    for row in circles:
        sure = "sure" if row["significant"] else "not sure"
        print(
            f"circle: {row['first']} beats {row['second']} beats {row['third']} beats "
            f"{row['first']} ({sure})"
        )
    if not circles:
        print("no circle of three")
    print()
