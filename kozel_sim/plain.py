"""Frames as plain values, for JSON, and of one rule set."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def part_of(frame: pd.DataFrame, preset: str, players: int) -> pd.DataFrame:
    """Return the rows of one rule set."""
    return frame[(frame["preset"] == preset) & (frame["players"] == players)]


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a frame as a list of rows of plain values."""
    return [{str(k): _plain(v) for k, v in row.items()} for row in frame.to_dict("records")]


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; an interval without an end is null there."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
