"""Runs on disk: Parquet chunks and a manifest, written whole or not at all.

A run's folder holds ``manifest.json``, ``matches-00000.parquet`` ... (the frame), and what is drawn
of it. A folder that holds a different run is never overwritten.
pyarrow takes a while to load, so it waits until something is written or read.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from kozel_sim import stats

FORMAT = "kozel-run/1"
MANIFEST = "manifest.json"
ROWS_PER_FILE = 1_000_000


@dataclass(frozen=True)
class Run:
    """The results of a run.

    Attributes
    ----------
    frame : DataFrame
        One row per match and seat: preset, players, deal, seating, seat, side, policy, points,
        goat, winner, rounds, fish_rounds, passes, draws, rating and bank (NaN where the rules have
        none), led (whether the seat led the first round) and capped.
    manifest : dict
        How it was made: rules, policies, seed, versions, machine, counts.
    """

    frame: pd.DataFrame
    manifest: dict[str, Any]

    @property
    def name(self) -> str:
        """The run's name."""
        return str(self.manifest["name"])

    @property
    def matches(self) -> int:
        """Matches played."""
        return int(self.manifest["counts"]["matches"])

    @property
    def rounds(self) -> int:
        """Rounds played in all matches."""
        return int(self.manifest["counts"]["rounds"])

    def summary(
        self, by: str = "policy", level: float = stats.LEVEL, metric: str | None = None
    ) -> pd.DataFrame:
        """Return goat rate, points and rating by policy, with intervals clustered by deal.

        Parameters
        ----------
        by : str, default "policy"
            A column of the frame: policy, seat, led ...
        level : float, default 0.95
            The intervals' coverage.
        metric : {"goat_rate", "points", "rating"}, optional
            Only this one.

        See Also
        --------
        kozel_sim.stats.summarise : The columns, and what else to summarise by.
        """
        return stats.only(stats.summarise(self.frame, by, level), metric)

    def presets(self, level: float = stats.LEVEL) -> pd.DataFrame:
        """Return goats, fish and rounds by preset, with intervals clustered by deal."""
        return stats.summarise_presets(self.frame, level)

    def __repr__(self) -> str:
        return f"Run({self.name!r}, {self.matches:,} matches, {self.rounds:,} rounds)"

    def save(self, folder: str | Path, extra: Callable[[Path], None] | None = None) -> Path:
        """Write the run to a folder that does not exist, is empty, or holds this very run.

        Parameters
        ----------
        folder : str or Path
            Where to write; it appears whole or not at all.
        extra : callable, optional
            Called with the folder while it is being made, to add files such as plots.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        FileExistsError
            If the folder holds something else; it is left as it is.
        OSError
            If the folder cannot be written.
        """
        folder = Path(folder)
        if prepare_folder(folder, self.manifest):
            return folder

        def fill(scratch: Path) -> None:
            files = list(self._write_frame(scratch))
            text = json.dumps(self.manifest | {"files": files}, indent=1)
            if extra is not None:
                extra(scratch)
            (scratch / MANIFEST).write_text(text + "\n", encoding="utf-8")

        write_folder(folder, fill)
        return folder

    def _write_frame(self, folder: Path) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        for number, first in enumerate(range(0, len(self.frame), ROWS_PER_FILE)):
            rows = self.frame.iloc[first : first + ROWS_PER_FILE]
            path = folder / f"matches-{number:05}.parquet"
            table = pa.Table.from_pandas(rows, preserve_index=False)
            pq.write_table(table, path, compression="zstd")
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            yield {"file": path.name, "rows": len(rows), "sha256": digest}


def write_folder(folder: Path, fill: Callable[[Path], None]) -> None:
    """Make a folder that is not there, or is empty; it appears whole or not at all.

    `fill` is called with a folder beside it, to write the files.
    """
    made = [path for path in folder.absolute().parents if not path.exists()]
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        fill(scratch)
        scratch.chmod(0o777 & ~_umask())
        if folder.exists():
            folder.rmdir()
        scratch.rename(folder)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        for path in made:
            path.rmdir()
        raise


def identity(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return what makes a run this run: everything that its results depend on."""
    keys = ("format", "stream", "sources", "seed", "deals", "engine", "design", "rules", "policies")
    return {key: manifest.get(key) for key in (*keys, "aggregate")}


def holds_run(folder: Path, manifest: dict[str, Any]) -> bool:
    """Tell whether a folder holds this very run; False where it is free.

    Raises
    ------
    FileExistsError
        If it holds anything else; the message says what differs.
    NotADirectoryError
        If it is a file.
    """
    if not folder.exists():
        return False
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file, not a folder for a run")
    if not any(folder.iterdir()):
        return False
    if not (folder / MANIFEST).is_file():
        raise FileExistsError(f"{folder} is not empty and holds no run; choose another folder")
    theirs = identity(read_manifest(folder))
    mine = json.loads(json.dumps(identity(manifest)))
    differing = [key for key in mine if mine[key] != theirs[key]]
    if differing:
        raise FileExistsError(
            f"{folder} holds a different run (other {', '.join(differing)}); it is not "
            "overwritten: choose another folder or remove it"
        )
    return True


def prepare_folder(folder: Path, manifest: dict[str, Any]) -> bool:
    """Tell whether a folder holds this very run; where it does not, see that it can be written.

    Raises
    ------
    OSError
        If the folder holds something else (FileExistsError), or cannot be written.
    """
    if holds_run(folder, manifest):
        return True
    # The run is made beside the folder and takes its place.
    here = folder.exists() and folder.samefile(Path.cwd())
    if here or folder.name in ("", "..") or os.path.ismount(folder):
        raise FileExistsError(
            f"{folder} cannot be replaced by a run's folder; name one in it, like {folder / 'run'}"
        )
    for path in (folder, *folder.absolute().parents):
        if path.is_symlink() and (path == folder or not path.exists()):
            raise FileExistsError(f"{path} is a symbolic link; name the folder that it stands for")
    parent = next(path for path in folder.absolute().parents if path.exists())
    try:
        with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=parent):
            return False
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from None


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a run's folder.

    Raises
    ------
    ValueError
        If it is not one.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{folder} holds no run: there is no {MANIFEST}") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is damaged: {error}") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ValueError(f"{path} is not a manifest of the format {FORMAT}")
    return manifest


def load_run(folder: str | Path) -> Run:
    """Read a run back from its folder.

    Parameters
    ----------
    folder : str or Path
        A folder that ``Run.save`` or ``kozel run`` has written.

    Returns
    -------
    Run
        Equal to the run that was saved.

    Raises
    ------
    ValueError
        If the folder holds no run, or a file of it is missing or damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = Path(folder)
    manifest = read_manifest(folder)
    if manifest.get("aggregate"):
        raise ValueError(f"{folder} holds an aggregate, which has no frame; use load_totals")
    tables = []
    try:
        files = [(entry["file"], entry["sha256"]) for entry in manifest["files"]]
    except (KeyError, TypeError):
        raise ValueError(f"{folder / MANIFEST} is damaged: it does not list its files") from None
    for name, digest in files:
        path = folder / name
        if not path.is_file():
            raise ValueError(f"{path} is missing")
        if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            raise ValueError(f"{path} is damaged: its hash is not the manifest's")
        tables.append(pq.read_table(path))
    frame = pa.concat_tables(tables, promote_options="permissive").to_pandas()
    return Run(frame, manifest)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
