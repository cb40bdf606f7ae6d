"""What is printed of seats and first leaders. Heavy imports wait until they are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kozel_sim.plain import part_of, records
from kozel_sim.printing import console, p_text, spread

if TYPE_CHECKING:
    import pandas as pd


def print_balance(frame: pd.DataFrame) -> None:
    """Print the goat rate by seat and by first leader, and whether seats and leaders are alike."""
    from rich.table import Table

    from kozel_sim.balance import seat_balance, seat_tables
    from kozel_sim.intervals import percent

    tables = seat_tables(frame)
    tables = tables[tables["metric"] == "goat_rate"]
    tests = seat_balance(frame)
    tests = tests[tests["metric"] == "goat_rate"]
    level = percent(tables["level"].iloc[0])
    for players, of_players in tables.groupby("players", sort=False):
        title = f"goat rate by seat and by first leader, {players} players ({level} intervals)"
        table = Table(title=title, title_justify="left", title_style="bold")
        table.add_column("rules", overflow="fold")
        groups = list(dict.fromkeys(of_players["group"].astype(str)))
        headings = [f"seat {g}" if g.isdigit() else g for g in groups]
        for heading in headings:
            table.add_column(heading, justify="right")
        lines = []
        for preset, rows in of_players.groupby("preset", sort=False, observed=True):
            cells = [
                spread((row["estimate"], row["ci_low"], row["ci_high"]), 100, 1).replace("%", "")
                for row in rows.to_dict("records")
            ]
            table.add_row(str(preset), *cells)
            asked = records(part_of(tests, str(preset), int(str(players))))
            told = [
                f"do {what} differ? chi² {t['chi_square']:.1f}, {p_text(t['p_value'], 'p')}"
                for what, t in zip(("seats", "leaders"), asked, strict=True)
            ]
            lines.append(f"{preset}: {'; '.join(told)}")
        console().print(table)
        print("\n".join(lines))
    print("percent; chi-squares are clustered by deal\n")
