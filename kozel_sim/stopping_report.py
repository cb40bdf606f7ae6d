"""What is printed of a run that may stop early."""

from __future__ import annotations

from typing import Any

from kozel_sim.printing import console, number_text, spread
from kozel_sim.words import metric_words

STOPPED = {"enough": "sure enough", "open": "not decided"}


def print_stopping(rows: list[dict[str, Any]]) -> None:
    """Print what a run that may stop early decided, naively and corrected for the stopping."""
    if not rows:
        return
    from rich.table import Table

    from kozel_sim.intervals import percent

    level = percent(rows[0]["level"])
    table = Table(title=f"stopped when sure: {metric_words(rows[0]['metric'])}, {level}")
    table.title_justify, table.title_style = "left", "bold"
    table.add_column("of", overflow="fold")
    # A rule of width adjusts nothing.
    adjusted = any(row["adjusted"] is not None for row in rows)
    for heading in ("decision", "deals", "naive", *(["adjusted"] if adjusted else [])):
        table.add_column(heading, justify="right")
    table.add_column("holds under stopping", justify="right")
    scale, digits = (100, 2) if rows[0]["metric"] == "goat_rate" else (1, 2)
    for row in rows:
        ends = (row["sequence_low"], row["sequence_high"])
        table.add_row(
            row["key"],
            STOPPED.get(row["decision"], row["decision"]),
            f"{row['n_deals']:,}",
            spread((row["estimate"], row["ci_low"], row["ci_high"]), scale, digits),
            *([number_text(row["adjusted"], scale, digits)] if adjusted else []),
            "[{}, {}]".format(*(number_text(end, scale, digits) for end in ends)),
        )
    console().print(table)
    bias = "adjusted: less its bias" if adjusted else "it is not adjusted for the stopping"
    print(
        f"naive: as if the deals had been fixed; {bias}; the last interval holds "
        f"at all looks, for all rows together ({rows[0]['method']}). It is wider than the test of "
        "who is better needs to decide, and may hold 0 beside a decision. All other tables of this "
        "run are as if its deals had been fixed.\n"
    )
