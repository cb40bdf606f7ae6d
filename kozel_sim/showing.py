"""Results as a notebook shows them: what was played, and a small leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import pandas as pd

from kozel_sim.intervals import percent
from kozel_sim.words import metric_words

MOST_BOARDS = 4
"""Leaderboards of so many tables are shown."""
MOST_ROWS = 4_000_000
"""A frame of more rows is not summarised just to be looked at."""
WRITTEN = {"goat_rate": (100, 2, "%"), "points": (1, 2, ""), "rating": (1, 3, "")}
"""By metric: its scale, digits and unit."""


def results_html(
    title: str, manifest: dict[str, Any], counts: Sequence[str], summary: pd.DataFrame | None
) -> str:
    """Return a heading, what was played, and a leaderboard for each of the first tables."""
    rules = [f"{r['preset']} ({r['knobs']['players']} players)" for r in manifest.get("rules", [])]
    policies = [policy["name"] for policy in manifest.get("policies", [])]
    facts = {"rules": "; ".join(rules), "policies": "; ".join(policies)}
    facts |= {key: str(manifest[key]) for key in ("design", "deals", "seed") if key in manifest}
    lines = [f"<b>{escape(title)}</b>: {escape(', '.join(counts))}"]
    lines += [f"{key}: {escape(text)}" for key, text in facts.items() if text]
    html = "<div>" + "<br>\n".join(lines) + "</div>\n"
    return html + (boards_html(summary) if summary is not None else "")


def boards_html(summary: pd.DataFrame) -> str:
    """Return the leaderboards of a summary, with intervals."""
    tables = list(summary.groupby(["preset", "players"], observed=True, sort=False))
    html = ""
    for (preset, players), rows in tables[:MOST_BOARDS]:
        board = pd.DataFrame({"policy": rows["policy"].unique()}).set_index("policy")
        for metric, part in rows.groupby("metric", sort=False):
            scale, digits, unit = WRITTEN[str(metric)]
            part = part.set_index("policy")
            ends = (scale * part[["estimate", "ci_low", "ci_high"]]).to_numpy()
            texts = [f"{x:.{digits}f}{unit} [{a:.{digits}f}, {b:.{digits}f}]" for x, a, b in ends]
            board[metric_words(str(metric))] = pd.Series(texts, index=part.index)
        level = percent(rows["level"].iloc[0])
        caption = f"{preset}, {players} players ({level} intervals, clustered by deal)"
        table = board.fillna("-").reset_index().to_html(index=False, border=0)
        html += f"<div>{escape(caption)}</div>\n{table}\n"
    if len(tables) > MOST_BOARDS:
        html += f"<div>and {len(tables) - MOST_BOARDS} more: see summary()</div>\n"
    return html
