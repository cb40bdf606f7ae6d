"""Watch a match: an interactive replay in HTML, which needs nothing else; and ``show``.

Python draws every tile of a round once, and computes what each policy made of its choices; a small
script (``web/replay.js``) shows and hides them from event to event. There are no ids, so several
replays on a page do not disturb each other.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import Any

from kozel_sim.chain import lay_chain
from kozel_sim.moments import (
    Moment,
    Weighing,
    account_words,
    event_words,
    moments,
    move_words,
    outcome_words,
    pot_words,
    round_of,
)
from kozel_sim.moves import move_tiles
from kozel_sim.positions import Position
from kozel_sim.record import Record, RoundRecord
from kozel_sim.reference import Round
from kozel_sim.svg import (
    BLUE,
    STYLE,
    chain_box,
    end_group,
    position_svg,
    spot_group,
    upright,
    view_svg,
)
from kozel_sim.tiles import NAMES, PIPS, tile_id, tiles_of
from kozel_sim.view import View, need_view
from kozel_sim.words import counted

MOST_ROUNDS = 50
"""Of a longer match a replay shows the last ones, so that the file stays below 1.5 MB."""
NEVER = 9999
"""A tile that stays to the end leaves after this event."""


@dataclass(frozen=True)
class Shown:
    """Something that Jupyter shows: put it last in a cell.

    Attributes
    ----------
    html : str
        A piece of HTML that needs nothing from elsewhere.
    """

    html: str = field(repr=False)  # Jupyter keeps the repr beside it.

    def _repr_html_(self) -> str:
        return self.html


def show(thing: Record | Round | Position | View, round: int | None = None) -> Shown:
    """Show a match as an interactive replay, or a position or a View as a picture.

    Parameters
    ----------
    thing : Record, Round, Position or View
        What to look at. Of a View everything its seat knows is shown: its hand, what may be laid,
        the ends, and what the others laid and lack.
    round : int, optional
        Of a match only this round.

    Returns
    -------
    Shown
        Jupyter shows it; `html` is the text.

    Raises
    ------
    ValueError
        If the match has no such round, an event of it cannot happen, or a View's field is wrong.
    TypeError
        If it is nothing that can be shown.

    Examples
    --------
    >>> from kozel_sim import play
    >>> record = play("room-fish-all", ["random", "random"], 1, 0, engine="reference")
    >>> "Play" in show(record).html
    True
    """
    if isinstance(thing, Record):
        return Shown(replay_html(thing, round))
    if round is not None:
        raise ValueError(f"round {round!r} is for a match; {type(thing).__name__} has none")
    if isinstance(thing, Position):
        return Shown(_framed(position_svg(thing.round())))
    if isinstance(thing, Round):
        return Shown(_framed(position_svg(thing)))
    if isinstance(thing, View):
        return Shown(_framed(view_svg(need_view(thing))))
    raise TypeError(
        f"show takes a Record, a Round, a Position or a View, not {type(thing).__name__}"
    )


def _framed(svg: str) -> str:
    return f"<div style='max-width:100%;overflow-x:auto'>{svg}</div>"


def replay_page(records: Sequence[Record], round: int | None = None) -> str:
    """Return a whole HTML page with a replay of each match, to be opened from disk.

    Parameters
    ----------
    records : sequence of Record
        One or more matches.
    round : int, optional
        Only this round of each.

    Returns
    -------
    str
        It fetches nothing. An address that ends in ``#3.14`` opens round 3 after 14 events, where
        the page has one match.

    Raises
    ------
    ValueError
        If a match has no such round.
    """
    first = records[0]
    title = escape(f"Kozel: {first.rules.name}, seed {first.seed}, deal {first.deal}")
    alone = len(records) == 1
    replays = "\n".join(replay_html(record, round, page=alone) for record in records)
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width,initial-scale=1'>"
        f"<link rel='icon' href='data:,'><title>{title}</title>"
        "<style>body{margin:0;padding:8px;background:#f1f3f1}.kz-replay+.kz-replay{margin-top:14px}"
        "@media(prefers-color-scheme:dark){body{background:#111412}}</style></head>"
        f"<body><main>\n{replays}\n</main></body></html>\n"
    )


def replay_html(record: Record, round: int | None = None, *, page: bool = False) -> str:
    """Return the replay of a match as a piece of HTML.

    Parameters
    ----------
    record : Record
        A match that the rules allow; policies are looked up by their names, for the scores.
    round : int, optional
        Only this round; by default all, of a long match the last `MOST_ROUNDS`.
    page : bool, default False
        Whether it is alone on its page, and keys are meant for it wherever the focus is.

    Returns
    -------
    str
        It fetches nothing, and works in a notebook's export without a kernel.

    Raises
    ------
    ValueError
        If the match has no such round.
    """
    total = len(record.rounds)
    if round is None:
        chosen = list(range(max(0, total - MOST_ROUNDS), total))
    else:
        chosen = [round_of(record, round).round]
    stages: dict[str, int] = {}
    rounds, boards, tables = [], [], []
    for number in chosen:
        told = record.rounds[number]
        seen = moments(record, number)
        rounds.append(_round_data(record, told, seen, stages))
        boards.append(_board_html(record, told))
        tables.append(_table_html(record, told))
    data = {"rounds": rounds, "stages": list(stages)}
    # "<" would let a text end the script.
    packed = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    web = files("kozel_sim") / "web"
    css, js = ((web / f"replay.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    return (
        f"<section class='kz-replay' aria-label='Replay of a match'{' data-page=1' * page} "
        f"tabindex='0'><style>{css}</style>{_head(record, chosen)}"
        "<div class='kz-say' role='status' aria-live='polite'></div><div class='kz-main'>"
        f"<div class='kz-boards'>{''.join(boards)}</div>"
        f"<div class='kz-tables'>{''.join(tables)}</div>"
        "<div class='kz-moves' tabindex='0' role='region' aria-label='Legal moves'></div></div>"
        "<p class='kz-keys'>Keys: ← → step, space plays and pauses, Home and End of the round.</p>"
        f"<script type='application/json' class='kz-data'>{packed}</script>"
        f"<script>{js}</script></section>"
    )


def _head(record: Record, chosen: Sequence[int]) -> str:
    """Return the title, the buttons and the choices."""
    rules = record.rules
    seats = enumerate(record.policies)
    cut = ""
    if len(chosen) < len(record.rounds):
        cut = f"; shown: round {chosen[0]}" + (f" to {chosen[-1]}" if len(chosen) > 1 else "")
    title = f"{rules.name}: seed {record.seed}, deal {record.deal}, seating {record.seating}"
    about = f"{rules.players} players, {counted(len(record.rounds), 'round')}{cut}"
    picks = "".join(f"<option value='{i}'>{n}</option>" for i, n in enumerate(chosen))
    views = "".join(f"<option value='{s}'>seat {s} ({escape(n)})</option>" for s, n in seats)
    buttons = "".join(
        f"<button type='button' class='kz-button{more}' aria-label='{label}'>{words}</button>"
        for words, label, more in (
            ("|◀", "To the start of the round", ""),
            ("◀", "One step back", ""),
            ("Play", "Play or pause", " kz-play"),
            ("▶", "One step on", ""),
            ("▶|", "To the end of the round", ""),
        )
    )
    return (
        f"<h2>{escape(title)}</h2><p class='kz-note'>{escape(about)}</p>"
        f"<div class='kz-bar'>{buttons}"
        "<span class='kz-slide'><input type='range' class='kz-slider' min='0' value='0' step='1' "
        "aria-label='Event of the round'><span class='kz-count'></span></span></div>"
        f"<div class='kz-bar'><label>Round <select class='kz-pick'>{picks}</select></label>"
        "<label>Seen by <select class='kz-view'>"
        f"<option value=''>all hands face up</option>{views}</select></label></div>"
    )


# ---------------------------------------------------------------------- what is drawn


def _table_html(record: Record, told: RoundRecord) -> str:
    """Draw all that the seats and the bazaar hold in a round."""
    seats = "".join(_seat_html(record, told, seat) for seat in range(record.rules.players))
    pot = "<p class='kz-pot'></p>" * any(_pots(record, told))
    return f"<div class='kz-seats' hidden>{seats}{_bazaar_html(told)}{pot}</div>"


def _board_html(record: Record, told: RoundRecord) -> str:
    chain = lay_chain(told.events, record.rules.spinner)
    tiles = (spot_group(s, attributes=f" data-e='{s.event}'") for s in chain.spots)
    ends = (
        end_group(e.arm, e.x, e.y, f" data-a='{e.since}' data-b='{e.until or NEVER}'")
        for e in chain.ends
    )
    edges = chain_box(chain)
    box, wide = " ".join(f"{edge:.0f}" for edge in edges), edges[2]
    return (
        f"<div class='kz-board' hidden><svg viewBox='{box}' role='img' "
        "aria-label='The chain on the table' "
        f"style='max-width:{1.9 * wide:.0f}px'><g {STYLE}>{''.join(tiles)}{''.join(ends)}</g></svg>"
        "</div>"
    )


def _seat_html(record: Record, told: RoundRecord, seat: int) -> str:
    """Draw all tiles that a seat holds in a round, each with the events between which it does."""
    since = {tile_id(name): -1 for name in told.hands[seat]}
    until: dict[int, int] = {}
    for number, event in enumerate(told.events):
        if event.seat == seat and event.draw is not None:
            since[tile_id(event.draw)] = number
        if event.seat == seat:
            until |= {tile_id(laid.tile): number for laid in event.play}
    hand = "".join(
        _small_tile(tile, f" data-a='{since[tile]}' data-b='{until.get(tile, NEVER)}'")
        for tile in sorted(since)
    )
    partner = f", with seat {seat ^ 2}" if record.rules.teams == "pairs" else ""
    return (
        f"<div class='kz-seat' data-seat='{seat}'><div class='kz-who'>"
        f"<b>Seat {seat}{partner}: {escape(record.policies[seat])}</b>"
        "<span class='kz-held'></span><span class='kz-account'></span></div>"
        f"<div class='kz-hand'>{hand}</div><div class='kz-did'></div></div>"
    )


def _bazaar_html(told: RoundRecord) -> str:
    if not told.bazaar:
        return ""
    drawn = {event.draw: n for n, event in enumerate(told.events) if event.draw is not None}
    tiles = "".join(
        _small_tile(tile_id(name), f" data-b='{drawn.get(name, NEVER)}'") for name in told.bazaar
    )
    return (
        "<div class='kz-seat kz-bazaar'><div class='kz-who'><b>Bazaar</b>"
        f"<span class='kz-held'></span></div><div class='kz-hand'>{tiles}</div></div>"
    )


def _small_tile(tile: int, attributes: str) -> str:
    """Return a tile of a hand as a picture of its own, so that a hand wraps like words."""
    name = NAMES[tile]
    return (
        f"<svg viewBox='-11 -21 22 48' data-t='{name}' data-p='{PIPS[tile]}'{attributes} {STYLE} "
        f"aria-hidden='true'>{upright(tile)}"
        f"<path class='kz-bar1' d='M-7 24h14' stroke='{BLUE}' stroke-width='4'/></svg>"
    )


# ---------------------------------------------------------------------- what the script is told


def _round_data(
    record: Record, told: RoundRecord, seen: Sequence[Moment], stages: dict[str, int]
) -> dict[str, Any]:
    """Return a round as the script reads it: events, moments, accounts before and after."""
    seats = range(record.rules.players)
    return {
        "n": told.round,
        "events": [
            {"s": event.seat, "w": event_words(event, first=n == 0)}
            | ({"d": 1, "h": event_words(event, hidden=True)} if event.draw is not None else {})
            for n, event in enumerate(told.events)
        ],
        "moments": [_moment_data(moment, stages) for moment in seen],
        "accounts": [
            [account_words(record, told.round, seat, after=after) for seat in seats]
            for after in (False, True)
        ],
        "outcome": outcome_words(record, told.round),
        "pot": [pot_words(pot) if pot else "" for pot in _pots(record, told)],
    }


def _pots(record: Record, told: RoundRecord) -> tuple[int, int]:
    """Return what waits in the pot before and after a round."""
    return record.rounds[told.round - 1].pot if told.round else 0, told.pot


def _moment_data(moment: Moment, stages: dict[str, int]) -> dict[str, Any]:
    """Return a moment: seat, moves (words, tiles), which was chosen, the stages' scores."""
    data: dict[str, Any] = {
        "s": moment.seat,
        "m": [
            {
                "w": move_words(code, first=moment.event == 0),
                "t": [NAMES[tile] for tile in tiles_of(move_tiles(code))],
            }
            for code in moment.moves
        ],
    }
    if moment.chosen in moment.moves:
        data["c"] = moment.moves.index(moment.chosen)
    if moment.part:
        data["p"] = moment.part
    if moment.weighings:
        data["g"] = [
            {
                "n": stages.setdefault(_stage_words(w), len(stages)),
                "v": [None if score is None else _short(score) for score in w.scores],
                "k": [int(kept) for kept in w.kept],
            }
            for w in moment.weighings
        ]
    return data


def _short(score: float) -> float | int:
    return int(score) if score == int(score) else score


def _stage_words(weighing: Weighing) -> str:
    """Write a stage: its weights, and its trigger unless it always speaks."""
    weights = " + ".join(
        name if weight == 1 else f"−{name}" if weight == -1 else f"{weight:g}·{name}"
        for name, weight in weighing.weights.items()
    )
    words = weights.replace("+ −", "− ")
    return words if weighing.trigger == "always" else f"{weighing.trigger}: {words}"
