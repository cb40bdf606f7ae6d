"""The command ``kozel replay``. Heavy imports wait until it is called."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kozel_sim.options import (
    Code,
    FixedSeed,
    Players,
    Policies,
    RulesOption,
    Set,
    number,
    read_code,
    read_rules,
)
from kozel_sim.performing import prints_aside
from kozel_sim.printing import need_new_file, write_text

if TYPE_CHECKING:
    from kozel_sim.record import Record

MOST_REPLAYS = 20
"""Matches that one page of replays holds: more would be slow to open."""
TEXT_BYTES = 1 << 15
"""Memory that replay takes for a match (a long one, with four players, and room for joining)."""


def replay(
    rules: RulesOption = "room-fish-all",
    players: Players = None,
    policies: Policies = None,
    set_: Set = None,
    code: Code = None,
    seed: FixedSeed = 1,
    deal: Annotated[int, number("--deal", help="The first deal.")] = 0,
    count: Annotated[int, number("--count", help="How many deals.")] = 1,
    seating: Annotated[int, number("--seating", help="Who sits where; 0 as listed.")] = 0,
    round_: Annotated[
        int | None, number("--round", help="Only this round, from 0; as text.")
    ] = None,
    format_: Annotated[str, typer.Option("--format", help="json (a line each) or text.")] = "text",
    engine: Annotated[str, typer.Option("--engine", help="auto, scalar or reference.")] = "auto",
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="File to write to; - prints it.")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", help="File for an interactive replay, - prints it; no text is printed then."
        ),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(
            "--svg", help="File for a picture of each round's end, - prints it; no text is printed."
        ),
    ] = None,
) -> None:
    """Play matches again, and print their records or write pictures of them."""
    from kozel_sim.checks import need_memory, need_positive
    from kozel_sim.playing import play

    if format_ not in ("json", "text"):
        raise ValueError(f"unknown format {format_!r}; choose from json, text")
    if format_ == "json" and round_ is not None:
        raise ValueError(f"--round {round_} is for text; a record in JSON holds all rounds")
    need_positive("count", count)
    need_memory(f"{count:,} records", TEXT_BYTES * count)
    _need_picture_files(out, html, svg, count)
    read_code(code)
    (rule_set,) = read_rules(rules, players, set_, one=True)
    entrants = policies or ",".join(["random"] * rule_set.players)
    texts, shown = [], []
    for i in range(count):
        with prints_aside():
            record = play(rule_set, entrants, seed, deal + i, seating, engine=engine)  # type: ignore[arg-type]
        texts.append(record.to_json() if format_ == "json" else record.to_text(round_) + "\n")
        shown += [record] if html or svg else []
    pictures = _draw(shown, round_, html, svg)
    if out is not None or not pictures:
        write_text("\n".join(texts) + "\n" * (format_ == "json"), out)
    for file, picture in pictures.items():
        write_text(picture, file)


def _need_picture_files(out: Path | None, html: Path | None, svg: Path | None, count: int) -> None:
    """Raise unless replay can write each of its files, all of them new."""
    seen: set[Path] = set()
    for file in (out, html, svg):
        need_new_file(file)
        if file is not None and file.resolve() in seen:
            raise ValueError(f"{file} is named twice; --out, --html and --svg are files apart")
        seen |= {file.resolve()} if file else set()
    for option, file, most in (("--html", html, MOST_REPLAYS), ("--svg", svg, 1)):
        if file is not None and count > most:
            raise ValueError(f"--count {count} is too many for {option}, which draws up to {most}")


def _draw(
    records: list[Record], round_: int | None, html: Path | None, svg: Path | None
) -> dict[Path, str]:
    """Return the pictures that replay was asked for, by file."""
    pictures: dict[Path, str] = {}
    if html is not None:
        from kozel_sim.replay import replay_page

        pictures[html] = replay_page(records, round_)
    if svg is not None:
        from kozel_sim.svg import record_svg

        pictures[svg] = record_svg(records[0], round_)
    return pictures
