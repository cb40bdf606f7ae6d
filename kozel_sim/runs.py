"""What comes of a run: its frame, or its sums, with the manifest of how it was made."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from kozel_sim import stats
from kozel_sim.capped import capped_matches
from kozel_sim.columns import columns_of, kind_of, need_frame
from kozel_sim.direction import POINTS_WIN, completed, of_manifest
from kozel_sim.engine.layout import GAME
from kozel_sim.frames import stack_frames
from kozel_sim.manifest import MANIFEST, TELL_DESIGN
from kozel_sim.parts import Block
from kozel_sim.schedule import COMPARING
from kozel_sim.showing import MOST_ROWS, results_html
from kozel_sim.store import (
    damaged,
    need_sound,
    open_folder,
    place_of,
    read_finished,
    read_manifest,
    read_table,
    write_table,
)
from kozel_sim.totals import Sums, join_sums, need_alike, read_sums, write_sums
from kozel_sim.words import counted


@dataclass(frozen=True)
class Run:
    """The results of a run.

    Attributes
    ----------
    frame : DataFrame
        One row per match and seat: preset, players, deal, seating, seat, side, policy, points,
        points_win (whether many points are good), goat, winner, rounds, fish_rounds, passes, draws,
        rating and bank (NaN where the rules have none), led (whether the seat led the first round)
        and capped.
    manifest : dict
        How it was made: rules, policies, seed, versions, machine, counts.
    rounds_in : DataFrame or Path, optional
        The rounds where they were asked for, or the folder that they are read from.

    Examples
    --------
    >>> from kozel_sim import tournament
    >>> run = tournament("room-fish-all", ["random", "dump_heavy"], 50, seed=1, players=2)
    >>> run.summary(metric="goat_rate")["policy"].tolist()
    ['dump_heavy', 'random']
    """

    frame: pd.DataFrame
    manifest: dict[str, Any]
    rounds_in: pd.DataFrame | Path | None = None

    @property
    def name(self) -> str:
        """The run's name."""
        return str(self.manifest["name"])

    @property
    def matches(self) -> int:
        """Matches played."""
        return int((self.frame["seat"] == 0).sum())

    @property
    def rounds(self) -> int:
        """Rounds played in all matches."""
        return int(self.frame["rounds"][self.frame["seat"] == 0].sum())

    @property
    def rounds_frame(self) -> pd.DataFrame | None:
        """One row per round and seat; None unless it was asked for."""
        if not isinstance(self.rounds_in, Path):
            return self.rounds_in
        return stack_frames(list(read_frames(self.rounds_in, self.manifest, "rounds")))

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

        Returns
        -------
        DataFrame
            Columns preset, players, the `by` column, metric, better ("less" or "more"), estimate,
            std_error, ci_low, ci_high, level, n_matches, n_deals, method.

        See Also
        --------
        kozel_sim.stats.summarise : The columns, and what else to summarise by.
        """
        return stats.only(stats.summarise(self.frame, by, level), metric)

    def presets(self, level: float = stats.LEVEL) -> pd.DataFrame:
        """Return goats, fish and rounds by preset, with intervals clustered by deal.

        Parameters
        ----------
        level : float, default 0.95
            The intervals' coverage.

        Returns
        -------
        DataFrame
            As of ``summary``, with preset and players in place of the policy. Metrics:
            goats_per_match, goat_rate (of any player), fish_rate (per round), rounds (per match),
            capped_rate.
        """
        return stats.summarise_presets(self.frame, level)

    def __repr__(self) -> str:
        return f"Run({self.name!r}, {', '.join(_counts(self))})"

    def _repr_html_(self) -> str:
        summary = self.summary() if len(self.frame) <= MOST_ROWS else None
        return results_html(f"Run {self.name}", self.manifest, _counts(self), summary)

    def save(self, folder: str | Path) -> Path:
        """Write the run to a folder that does not exist, is empty, or holds this very run.

        Parameters
        ----------
        folder : str or Path
            Where to write.

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
        with open_folder(folder, self.manifest) as kept:
            if not kept.finished:
                sizes = []
                for number, (keys, frames) in enumerate(self._blocks()):
                    deals = frames["matches"]["deal"]
                    first, end = int(deals.min()), int(deals.max()) + 1
                    sizes.append(end - first)
                    files, facts = write_frames(block_name(number, *keys), first, frames)
                    for fact in facts.values():
                        fact["deals"] = [first, end]
                    kept.keep(files, facts)
                kept.note(part_sizes=sizes)
                kept.finish(closing(self.manifest))
        return Path(folder)

    def _blocks(self) -> Iterator[tuple[Any, dict[str, pd.DataFrame]]]:
        """Yield what each block is, and its frames."""
        keys = [key for key in ("preset", "players", "duel") if key in self.frame]
        rounds = self.rounds_frame
        of_block = {} if rounds is None else dict(iter(rounds.groupby(keys, observed=True)))
        for values, rows in self.frame.groupby(keys, observed=True, sort=False):
            frames = {"matches": rows}
            if of_block:
                frames["rounds"] = of_block[values]
            yield values, frames


@dataclass(frozen=True)
class Totals:
    """The results of a run that was played with ``aggregate=True``: sums instead of a frame.

    Attributes
    ----------
    sums : list of Sums
        One for each rule set, in the order in which they are listed.
    manifest : dict
        How it was made, as ``Run.manifest``.
    """

    sums: list[Sums]
    manifest: dict[str, Any]

    @property
    def name(self) -> str:
        """The run's name."""
        return str(self.manifest["name"])

    @property
    def matches(self) -> int:
        """Matches played."""
        return sum(s.matches for s in self.sums)

    @property
    def rounds(self) -> int:
        """Rounds played in all matches."""
        return sum(s.sum_of(GAME.index("rounds")) for s in self.sums)

    def summary(
        self, by: str = "policy", level: float = stats.LEVEL, metric: str | None = None
    ) -> pd.DataFrame:
        """Return goat rate, points and rating by policy, as ``Run.summary`` up to rounding.

        Parameters
        ----------
        by : "policy"
            Sums are kept by policy alone.
        level : float, default 0.95
            The intervals' coverage.
        metric : {"goat_rate", "points", "rating"}, optional
            Only this one.

        Returns
        -------
        DataFrame
            As of ``Run.summary``.

        Raises
        ------
        ValueError
            If it is asked by anything else.
        """
        if by != "policy":
            raise ValueError(
                f"an aggregate is summed by policy, not by {by!r}; play without aggregate for that"
            )
        rows = []
        win = of_manifest(self.manifest)
        for sums in self.sums:
            groups = [
                (name, sums.deals * matches, sums.metrics_of(name, level))
                for name, (_, matches) in sums.policies.items()
            ]
            here = win[sums.preset, sums.players]
            rows += stats.summary_rows(sums.preset, sums.players, by, groups, here)
        return stats.only(pd.DataFrame(rows), metric)

    def presets(self, level: float = stats.LEVEL) -> pd.DataFrame:
        """Return goats, fish and rounds by preset, as ``Run.presets`` up to rounding.

        Parameters
        ----------
        level : float, default 0.95
            The intervals' coverage.

        Returns
        -------
        DataFrame
            As of ``Run.presets``.
        """
        rows = []
        for sums in self.sums:
            metrics = sums.metrics(level)
            rows += stats.preset_rows(sums.preset, sums.players, metrics, sums.matches)
        return pd.DataFrame(rows)

    def histogram(self, of: str = "points") -> pd.DataFrame:
        """Return how often each final account, or each number of rounds, was met.

        Parameters
        ----------
        of : {"points", "rounds"}
            Points of a policy's seats at the end, or rounds of a match. The lowest and the highest
            bin that a rule set can have (0 and 499 over the target; 999 rounds) also count what
            lies beyond.

        Returns
        -------
        DataFrame
            Columns preset, players, policy and points_win (only of points), `of`, count; counts of
            0 are left out.

        Raises
        ------
        ValueError
            If it is asked of anything else.
        """
        if of not in ("points", "rounds"):
            raise ValueError(f"unknown histogram {of!r}; choose from points, rounds")
        parts = []
        win = of_manifest(self.manifest)
        for sums in self.sums:
            head: dict[str, Any] = {"preset": sums.preset, "players": sums.players}
            if of == "rounds":
                parts.append((head, sums.rounds))
            else:
                rows = zip(sums.policies, sums.points, strict=True)
                head |= {POINTS_WIN: win[sums.preset, sums.players]}
                parts += [(head | {"policy": name}, counts) for name, counts in rows]
        frames = []
        for head, counts in parts:
            (met,) = counts.nonzero()
            frames.append(pd.DataFrame(head | {of: met, "count": counts[met]}))
        return pd.concat(frames, ignore_index=True)

    def __repr__(self) -> str:
        return f"Totals({self.name!r}, {', '.join(_counts(self))})"

    def _repr_html_(self) -> str:
        return results_html(f"Totals {self.name}", self.manifest, _counts(self), self.summary())

    def save(self, folder: str | Path) -> Path:
        """Write the totals to a folder that does not exist, is empty, or holds this very run.

        ``load_totals`` reads them.

        Parameters
        ----------
        folder : str or Path
            The folder.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        ValueError, OSError
            As of ``Run.save``.
        """
        with open_folder(folder, self.manifest) as kept:
            if not kept.finished:
                for number, players in enumerate(dict.fromkeys(s.players for s in self.sums)):
                    here = [sums for sums in self.sums if sums.players == players]
                    content, facts = write_sums(here)
                    rules = here[0].preset if len(here) == 1 else f"{len(here)} rule sets"
                    name = part_name("totals", block_name(number, rules, players), 0)
                    kept.keep({name: content}, {name: facts | {"deals": [0, here[0].deals]}})
                kept.finish(closing(self.manifest))
        return Path(folder)


def _counts(played: Run | Totals) -> list[str]:
    """Say how much was played, and how many matches reached the cap of rounds, if any did."""
    capped = int(capped_matches(played)["n_capped"].sum())
    told = counted(played.matches, "match") + f" ({capped:,} capped)" * (capped > 0)
    return [told, counted(played.rounds, "round")]


def load_run(folder: str | Path, *, unfinished: bool = False) -> Run:
    """Read a run back from its folder.

    Parameters
    ----------
    folder : str or Path
        A folder that ``Run.save`` or ``kozel run`` has written.
    unfinished : bool, default False
        Read what is there of a run that is not finished.

    Returns
    -------
    Run
        Equal to the run that was saved.

    Raises
    ------
    ValueError
        If the folder holds no run, an unfinished one, or a file of it is missing or damaged.

    Examples
    --------
    >>> import tempfile
    >>> from kozel_sim import tournament
    >>> field = ["random", "dump_heavy"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = tournament("room-fish-all", field, 10, seed=1, players=2, folder=folder)
    ...     load_run(folder).frame.equals(run.frame)
    True
    """
    folder = Path(folder)
    return _run_of(folder, read_manifest(folder) if unfinished else read_finished(folder))


def _run_of(folder: Path, manifest: dict[str, Any]) -> Run:
    need_matches(folder, manifest)
    need_whole(folder, manifest)
    if manifest.get("aggregate"):
        raise ValueError(f"{folder} holds an aggregate, which has no frame; use load_totals")
    frames = list(read_frames(folder, manifest, "matches"))
    if not frames:
        raise ValueError(f"{folder / MANIFEST} is damaged: it does not list its files")
    for entry in manifest["files"]:
        # They are read when they are asked for; that they are as they were is seen now.
        if kind_of(entry["file"]) == "rounds":
            need_sound(folder, entry)
    return Run(
        stack_frames(frames), manifest, folder.absolute() if manifest.get("rounds") else None
    )


def load_totals(folder: str | Path, *, unfinished: bool = False) -> Totals:
    """Read totals back from their folder.

    Parameters
    ----------
    folder : str or Path
        A folder that ``Totals.save`` or ``kozel run --aggregate`` has written.
    unfinished : bool, default False
        Read what is there of a run that is not finished.

    Returns
    -------
    Totals
        Equal to those that were saved.

    Raises
    ------
    ValueError
        If the folder holds no totals, unfinished ones, or a file is missing or damaged.

    Examples
    --------
    >>> import tempfile
    >>> from kozel_sim import simulate
    >>> seats = ["random", "dump_heavy"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     totals = simulate("room-fish-all", seats, 10, seed=1, aggregate=True, folder=folder)
    ...     load_totals(folder).matches
    10
    """
    folder = Path(folder)
    return _totals_of(folder, read_manifest(folder) if unfinished else read_finished(folder))


def _totals_of(folder: Path, manifest: dict[str, Any]) -> Totals:
    need_matches(folder, manifest)
    need_whole(folder, manifest)
    if not manifest.get("aggregate"):
        raise ValueError(f"{folder} holds a run with a frame; read it with load_run")
    blocks: dict[str, list[list[Sums]]] = {}
    for entry in manifest["files"]:
        blocks.setdefault(block_of(entry["file"]), []).append(read_sums(folder, entry))
    if not blocks:
        raise ValueError(f"{folder / MANIFEST} is damaged: it does not list its sums")
    need_alike(folder, manifest, blocks)
    return totals_of([join_sums(parts) for parts in blocks.values()], manifest)


def load(folder: str | Path, *, unfinished: bool = False) -> Run | Totals:
    """Read a run or totals, whichever a folder holds."""
    folder = Path(folder)
    return load_listed(folder, read_manifest(folder) if unfinished else read_finished(folder))


def load_listed(folder: Path, manifest: dict[str, Any]) -> Run | Totals:
    """Read what a manifest lists, be it that of the folder or one that is still to come."""
    return (_totals_of if manifest.get("aggregate") else _run_of)(folder, manifest)


def totals_of(blocks: Sequence[list[Sums]], manifest: dict[str, Any]) -> Totals:
    """Return totals with the rule sets in the manifest's order."""
    order = [(rules["preset"], rules["knobs"]["players"]) for rules in manifest["rules"]]
    found = [sums for block in blocks for sums in block]
    found.sort(key=lambda sums: order.index((sums.preset, sums.players)))
    return Totals(found, manifest)


# ---------------------------------------------------------------------- files


def part_name(kind: str, block: str, first: int) -> str:
    """Return the file of a part: what it holds, its block, its first deal."""
    return f"{kind}/{block}/deal-{first:012}.parquet"


def block_of(name: str) -> str:
    """Return the block that a file belongs to."""
    return name.split("/")[1]


def number_of_block(name: str) -> int:
    """Return the number of the block that a file belongs to."""
    return place_of(name)[1]


def folder_of_block(block: Block) -> str:
    """Return the name of a block's folder: its number, rules, players and duel."""
    name = block.rules[0].name if len(block.rules) == 1 else f"{len(block.rules)} rule sets"
    return block_name(block.number, name, block.rules[0].players, block.duel)


def block_name(number: int, rules: str, players: int, duel: str = "") -> str:
    """Return the name of a block's folder.

    Examples
    --------
    >>> block_name(3, "room-fish-all", 4, "dump_heavy v random")
    '03-room-fish-all-4-dump-heavy-v-random'
    """
    text = re.sub(r"[^A-Za-z0-9]+", "-", f"{rules} {players} {duel}").strip("-")
    return f"{number:02}-{text[:60].strip('-')}"


def gaps(manifest: dict[str, Any]) -> list[str]:
    """Return what a finished run lacks, in words: deals of a block that no file has, or has twice.

    A run that stopped when it was sure may end anywhere, and a shard has some parts alone.
    """
    if "blocks" not in manifest or "shard" in manifest:
        return []
    kinds = ["totals"] if manifest.get("aggregate") else ["matches"]
    kinds += ["rounds"] if manifest.get("rounds") else []
    found = []
    for kind in kinds:
        for number in range(manifest["blocks"]):
            entries = [e for e in manifest["files"] if place_of(e["file"])[:2] == (kind, number)]
            at = 0
            for first, end in sorted(e.get("deals", (-1, -1)) for e in entries):
                if first != at:
                    found.append(f"{kind} of block {number}: deals {at} to {first - 1}")
                at = end
            if at != manifest["deals"] and "stop" not in manifest:
                found.append(f"{kind} of block {number}: deals {at} to {manifest['deals'] - 1}")
    return found


def need_matches(folder: Path, manifest: dict[str, Any]) -> None:
    """Raise ValueError of a run that measured the tell: it has no matches."""
    if str(manifest["design"]).startswith(TELL_DESIGN):
        raise ValueError(
            f"{folder} holds a table of the tell, and no matches; kozel tell prints it again"
        )


def need_whole(folder: Path, manifest: dict[str, Any]) -> None:
    """Raise ValueError unless a finished run has all its deals, each once."""
    if manifest.get("state") == "finished" and (lacking := gaps(manifest)):
        raise ValueError(
            f"{folder / MANIFEST} is damaged: it does not list {'; '.join(lacking[:3])}"
        )


def write_frames(
    block: str, first: int, frames: dict[str, pd.DataFrame]
) -> tuple[dict[str, bytes], dict[str, dict[str, Any]]]:
    """Return the files of a part's frames by name, and what the manifest says of each."""
    import pyarrow as pa

    files, facts = {}, {}
    for kind, frame in frames.items():
        name = part_name(kind, block, first)
        files[name] = write_table(pa.Table.from_pandas(frame, preserve_index=False))
        facts[name] = {"rows": len(frame)}
    return files, facts


def read_frames(folder: Path, manifest: dict[str, Any], kind: str) -> Iterator[pd.DataFrame]:
    """Yield the frames of a kind, "matches" or "rounds", part by part."""
    for entry in manifest["files"]:
        if kind_of(entry["file"]) == kind:
            yield read_frame(folder, manifest, entry)


def read_frame(folder: Path, manifest: dict[str, Any], entry: dict[str, Any]) -> pd.DataFrame:
    """Read the frame of a part; ValueError if it is missing or damaged."""
    columns = columns_of(kind_of(entry["file"]), manifest["design"] in COMPARING)
    table = read_table(folder, entry, columns, later=[POINTS_WIN])
    frame: pd.DataFrame = table.to_pandas(ignore_metadata=True)
    try:
        need_frame(frame, entry, manifest)
    except ValueError as error:
        raise damaged(folder / entry["file"], error) from None
    return completed(frame, manifest)


def closing(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a manifest that is known at the end."""
    keys = ("counts", "made", "seconds", "versions", "machine")
    return {"state": "finished", **{key: manifest[key] for key in keys if key in manifest}}
