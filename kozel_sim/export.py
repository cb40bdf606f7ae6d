"""Frames as CSV, for programs that read no Parquet.

pyarrow takes a while to load, so it waits until something is written.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import pandas as pd

from kozel_sim.files import replacing


def write_csv(frames: Iterable[pd.DataFrame], path: str | Path | BinaryIO) -> None:
    """Write frames with the same columns one behind the other, each when it is asked for.

    Parameters
    ----------
    frames : iterable of DataFrame
        At least one; only one at a time is in memory.
    path : str, Path or file
        The file; it is there whole or, after an error, as it was before. Or a file that is open for
        bytes, which are written as they come.

    Raises
    ------
    ValueError
        If there is no frame, or one has other columns than the first.

    Notes
    -----
    A line of names, then a line per row: texts in quotes, truths as ``true`` and ``false``, nothing
    where there is no value. A run's frame reads back equal, up to the order of categories, with
    ``pandas.read_csv(path, dtype=frame.dtypes.to_dict())``.
    """
    import pyarrow as pa
    from pyarrow import csv

    rest = iter(frames)
    first = next(rest, None)
    if first is None:
        raise ValueError("there is no frame to write")
    found = pa.Schema.from_pandas(first, preserve_index=False)
    # Categories as their texts.
    schema = pa.schema(
        (each.name, pa.string() if pa.types.is_dictionary(each.type) else each.type)
        for each in found
    )
    with ExitStack() as stack:
        if isinstance(path, str | Path):
            path = stack.enter_context(replacing(Path(path)))
        writer = stack.enter_context(csv.CSVWriter(path, schema))
        for frame in chain([first], rest):
            if list(frame) != schema.names:
                raise ValueError(
                    f"frames of one file need the same columns: {', '.join(schema.names)}, and "
                    f"then {', '.join(map(str, frame.columns))}"
                )
            writer.write_table(pa.Table.from_pandas(frame, schema, preserve_index=False))
