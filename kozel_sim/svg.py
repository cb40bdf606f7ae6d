"""Pictures of the game as plain SVG text: tiles, hands, the board after an event, whole matches.

Ink on ivory, so it prints; what matters is never told by colour alone: the tiles just laid have a
thick edge, legal ones a bar underneath, closed ones are hatched and have their value written on.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from kozel_sim.chain import ARM_NAMES, Chain, Spot, lay_chain
from kozel_sim.moments import (
    account_words,
    event_words,
    outcome_words,
    pot_words,
    round_of,
    table_at,
)
from kozel_sim.moves import move_tiles
from kozel_sim.record import Record
from kozel_sim.reference import Round
from kozel_sim.tiles import HIGH, LOW, N_VALUES, NAMES, Hand, tile_id, tiles_of
from kozel_sim.view import View
from kozel_sim.words import counted

UNIT = 20
"""Pixels of half a tile, at the size at which a picture is drawn."""
INK, IVORY, BLUE, ORANGE = "#1b1b1b", "#fffdf4", "#0072B2", "#D55E00"
FELT, BACK, GREY = "#e9f0ea", "#47566b", "#5a5a5a"
FONT = "font-family='system-ui,Segoe UI,Helvetica,Arial,sans-serif'"
_FAR = 5.0
_CORNERS = ((-_FAR, -_FAR), (_FAR, _FAR), (_FAR, -_FAR), (-_FAR, _FAR))
_SIDES = ((-_FAR, 0.0), (_FAR, 0.0))
PIPS_AT: tuple[tuple[tuple[float, float], ...], ...] = (
    (),
    ((0.0, 0.0),),
    _CORNERS[:2],
    (*_CORNERS[:2], (0.0, 0.0)),
    _CORNERS,
    (*_CORNERS, (0.0, 0.0)),
    (*_CORNERS, *_SIDES),
)
"""By value: where the pips are on a half of an upright tile, from its middle, in pixels."""


def _number(value: float) -> str:
    """Write a coordinate shortly."""
    return f"{value:.1f}".removesuffix(".0")


# ---------------------------------------------------------------------- a tile


def pips_path(values: Sequence[int], along: tuple[int, int]) -> str:
    """Return the path of a tile's pips: a dot is a line of no length with round ends."""
    dots = []
    for value, side in zip(values, (-0.5, 0.5), strict=True):
        for px, py in PIPS_AT[value]:
            # An upright half is turned with its tile.
            x, y = (px, py) if along[1] else (-py, px)
            x, y = x + side * UNIT * along[0], y + side * UNIT * along[1]
            dots.append(f"M{_number(x)} {_number(y)}h0")
    return "".join(dots)


def tile_group(
    values: Sequence[int],
    x: float,
    y: float,
    along: tuple[int, int],
    *,
    closed: bool = False,
    fresh: bool = False,
    attributes: str = "",
) -> str:
    """Return a tile as an SVG group, its middle at (x, y) in pixels."""
    wide, high = (2 * UNIT, UNIT) if along[0] else (UNIT, 2 * UNIT)
    edge = f" stroke='{BLUE}' stroke-width='3.2'" if fresh else ""
    face = f" fill='{BACK}'" if closed else ""
    box = (
        f"<rect x='{_number(0.6 - wide / 2)}' y='{_number(0.6 - high / 2)}' "
        f"width='{_number(wide - 1.2)}' height='{_number(high - 1.2)}' rx='3.5'{face}{edge}/>"
    )
    if closed:
        inside = _hatching(wide, high) + (
            f"<text y='4' text-anchor='middle' font-size='11' font-weight='700' {FONT} "
            f"fill='#fff' stroke='{BACK}' stroke-width='3' paint-order='stroke'>"
            f"{values[0]}-{values[1]}</text>"
        )
    else:
        line = (
            f"M0 {-UNIT / 2 + 3:.0f}v{UNIT - 6}"
            if along[0]
            else f"M{-UNIT / 2 + 3:.0f} 0h{UNIT - 6}"
        )
        inside = (
            f"<path d='{line}' stroke-width='1'/>"
            f"<path d='{pips_path(values, along)}' stroke-width='3.9'/>"
        )
    return f"<g transform='translate({_number(x)} {_number(y)})'{attributes}>{box}{inside}</g>"


def _hatching(wide: float, high: float) -> str:
    """Return the lines on the back of a tile that lies closed."""
    lines = []
    for at in range(6, int(wide + high), 6):
        x0, y0 = min(at, wide), max(0.0, at - wide)
        x1, y1 = max(0.0, at - high), min(at, high)
        start = f"M{_number(x0 - wide / 2)} {_number(y0 - high / 2)}"
        lines.append(f"{start}L{_number(x1 - wide / 2)} {_number(y1 - high / 2)}")
    return f"<path d='{''.join(lines)}' stroke='#a9b4c4' stroke-width='.8'/>"


def upright(tile: int, *, closed: bool = False) -> str:
    """Return a tile of a hand as an SVG group around (0, 0), the higher half on top."""
    return tile_group((HIGH[tile], LOW[tile]), 0, 0, (0, 1), closed=closed)


STYLE = f"fill='{IVORY}' stroke='{INK}' stroke-width='1.2' stroke-linecap='round'"
"""What all tiles of a group have in common."""


def tile_svg(tile: str, *, upright: bool = True, closed: bool = False) -> str:
    """Return the picture of a tile.

    Parameters
    ----------
    tile : str
        Its name, like ``"6-4"``; the half named first is on top, or left.
    upright : bool, default True
        Whether it stands or lies.
    closed : bool, default False
        Whether it is laid closed.

    Raises
    ------
    ValueError
        If there is no such tile.

    Examples
    --------
    >>> tile_svg("6-4").count("h0")  # a pip each
    10
    """
    tile_id(tile)
    values = int(tile[0]), int(tile[2])
    wide, high = (UNIT, 2 * UNIT) if upright else (2 * UNIT, UNIT)
    along = (0, 1) if upright else (1, 0)
    group = tile_group(values, wide / 2, high / 2, along, closed=closed)
    return _picture(wide, high, f"<g {STYLE}>{group}</g>", f"tile {tile}", scale=2)


def hand_svg(hand: Sequence[str], legal: Sequence[str] = ()) -> str:
    """Return the picture of a hand, a bar under each tile that may be laid.

    Parameters
    ----------
    hand : sequence of str
        Tile names.
    legal : sequence of str
        Those that may be laid.

    Raises
    ------
    ValueError
        If a name is no tile.

    Examples
    --------
    >>> hand_svg(["6-4", "1-1"]).count("h0")  # a pip each
    12
    """
    tiles = [tile_id(name) for name in hand]
    marked = Hand.of(*legal)
    wide = max(1, len(tiles)) * (UNIT + 6) + 6
    row = _row(tiles, marked, 3 + UNIT / 2 + 3, UNIT + 4)
    words = f"hand: {' '.join(hand) or 'empty'}"
    return _picture(wide, 2 * UNIT + 14, row, words, scale=1.5)


def _row(tiles: Sequence[int], legal: int, x: float, y: float, *, back: bool = False) -> str:
    """Return upright tiles side by side, the first one's middle at (x, y)."""
    parts = []
    for number, tile in enumerate(tiles):
        at = x + number * (UNIT + 6)
        parts.append(f"<g transform='translate({_number(at)} {_number(y)})'>")
        parts.append(tile_back() if back else upright(tile))
        if legal >> tile & 1:
            parts.append(f"<path d='M-7 {UNIT + 4.5}h14' stroke='{BLUE}' stroke-width='4'/>")
        parts.append("</g>")
    return f"<g {STYLE}>{''.join(parts)}</g>"


def tile_back() -> str:
    """Return the back of an upright tile around (0, 0)."""
    box = f"x='{0.6 - UNIT / 2}' y='{0.6 - UNIT}' width='{UNIT - 1.2}' height='{2 * UNIT - 1.2}'"
    return f"<rect {box} rx='3.5' fill='{BACK}'/>{_hatching(UNIT, 2 * UNIT)}"


# ---------------------------------------------------------------------- the chain


def spot_group(spot: Spot, *, fresh: bool = False, attributes: str = "") -> str:
    """Return a tile of the chain where it lies."""
    return tile_group(
        spot.values,
        spot.x * UNIT,
        spot.y * UNIT,
        spot.along,
        closed=spot.closed,
        fresh=fresh,
        attributes=attributes,
    )


def end_group(arm: int, x: float, y: float, attributes: str = "") -> str:
    """Return the sign of an open end: the first letter of its arm's name."""
    return (
        f"<text x='{_number(x * UNIT)}' y='{_number(y * UNIT + 4)}' text-anchor='middle' "
        f"font-size='12' font-weight='700' {FONT} fill='{ORANGE}' stroke='none'{attributes}>"
        f"{ARM_NAMES[arm][0].upper()}</text>"
    )


def chain_box(chain: Chain) -> tuple[float, float, float, float]:
    """Return the board's left, top, width and height in pixels: all that the round will need."""
    left, top, right, bottom = chain.box
    margin = 0.6
    left, right = min(left, -6.0) - margin, max(right, 6.0) + margin
    top, bottom = min(top, -2.0) - margin, max(bottom, 2.0) + margin
    return left * UNIT, top * UNIT, (right - left) * UNIT, (bottom - top) * UNIT


def _chain_group(chain: Chain, event: int) -> str:
    """Return the chain as it is after an event."""
    # The tiles just laid come last and so are drawn on top: their edge is whole.
    tiles = [spot_group(s, fresh=s.event == event) for s in chain.spots if s.event <= event]
    ends = [
        end_group(e.arm, e.x, e.y)
        for e in chain.ends
        if e.since <= event and (e.until is None or e.until > event)
    ]
    return f"<g {STYLE}>{''.join(tiles)}{''.join(ends)}</g>"


# ---------------------------------------------------------------------- a whole board


def board_svg(record: Record, round: int = 0, event: int | None = None) -> str:
    """Return the picture of the table after an event: chain, hands, bazaar, who did what, accounts.

    Parameters
    ----------
    record : Record
        A match.
    round : int, default 0
        The round.
    event : int, optional
        The event, from 0; -1 is the deal. By default the round's last.

    Returns
    -------
    str
        SVG text. Tiles keep their places from event to event.

    Raises
    ------
    ValueError
        If there is no such round or event.

    Examples
    --------
    >>> from kozel_sim import play
    >>> record = play("room-fish-all", ["random", "random"], 1, 0, engine="reference")
    >>> board_svg(record, 0, -1).startswith("<svg")
    True
    """
    told = round_of(record, round)
    table = table_at(record, round, event)
    at = len(table.events) - 1
    chain = lay_chain(told.events, record.rules.spinner)
    over = at == len(told.events) - 1
    title = f"{record.rules.name}, seed {record.seed}, deal {record.deal}, round {round}"
    if at < 0:
        said = f"the deal; seat {told.leader} leads"
    else:
        act = event_words(told.events[at], first=at == 0)
        said = f"event {at}: seat {told.events[at].seat} {act}"
    accounts = [
        account_words(record, round, seat, after=over) for seat in range(record.rules.players)
    ]
    waiting = record.rounds[round - 1].pot if round else 0
    end = outcome_words(record, round) if over else f"{pot_words(waiting)}." if waiting else ""
    return _table_svg(table, chain, title, said, record.policies, accounts, end)


def position_svg(table: Round) -> str:
    """Return the picture of a Round: chain, hands, bazaar, and what the seat to act may lay.

    Parameters
    ----------
    table : Round
        A round of the reference engine, at any moment; of a Position its ``round()``.

    Returns
    -------
    str
        SVG text with all hands face up.
    """
    chain = lay_chain(table.events, table.rules.spinner)
    act = ""
    if table.events:
        last = table.events[-1]
        words = event_words(last, first=len(table.events) == 1)
        act = f"event {len(table.events) - 1}: seat {last.seat} {words}"
    return _table_svg(table, chain, table.rules.name, act or "nothing laid yet")


def _table_svg(
    table: Round,
    chain: Chain,
    title: str,
    said: str,
    names: Sequence[str] = (),
    accounts: Sequence[str] = (),
    end: str = "",
) -> str:
    """Put title, chain, hands and bazaar under each other."""
    event = len(table.events) - 1
    left, top, wide, high = chain_box(chain)
    longest = max([hand.bit_count() for hand in table.hands] + [len(table.bazaar)])
    beside = 240 if accounts else 0
    width = max(wide, longest * (UNIT + 6) + 30 + beside, 480.0)
    rows = [_line(12, 20, title, bold=True), _line(12, 39, said)]
    y = 50.0
    board = (
        f"<rect x='8' y='{_number(y)}' width='{_number(width - 16)}' height='{_number(high)}' "
        f"rx='8' fill='{FELT}' stroke='#9aa79d'/>"
        f"<g transform='translate({_number(width / 2 - left - wide / 2)} {_number(y - top)})'>"
        f"{_chain_group(chain, event)}</g>"
    )
    rows.append(board)
    y += high + 22
    for seat, hand in enumerate(table.hands):
        acts = table.end is None and seat == table.seat
        legal = 0
        for code in table.moves() if acts else ():
            legal |= move_tiles(code)
        count = hand.bit_count()
        words = f"seat {seat}{f' ({names[seat]})' if names else ''}: {counted(count, 'tile')}"
        words += _last_act(table, seat)
        rows.append(_line(12, y, "▶ " * acts + words, bold=acts, room=int(width / 7)))
        rows.append(_row(list(tiles_of(hand)), legal, 12 + UNIT / 2 + 2, y + 10 + UNIT))
        if accounts:
            beside = 30 + max(count, 7) * (UNIT + 6)
            rows.append(_line(beside, y + 14 + UNIT, f"account: {accounts[seat]}"))
        y += 2 * UNIT + 38
    if table.bazaar:
        drawable = f", {table.drawable} may be drawn" if table.drawable < len(table.bazaar) else ""
        rows.append(_line(12, y, f"bazaar: {len(table.bazaar)} in the order of drawing{drawable}"))
        rows.append(_row(table.bazaar, 0, 12 + UNIT / 2 + 2, y + 10 + UNIT))
        y += 2 * UNIT + 38
    for words in _wrapped(end, int(width / 6.6)):
        rows.append(_line(12, y, words))
        y += 18
    return _picture(width, y - 8, "".join(rows), f"{title}; {said}")


def _last_act(table: Round, seat: int) -> str:
    """Say what a seat did last in this round."""
    for number in range(len(table.events) - 1, -1, -1):
        if table.events[number].seat == seat:
            return f"; {event_words(table.events[number], first=number == 0)}"
    return ""


def record_svg(record: Record, round: int | None = None) -> str:
    """Return the picture of a match: each round's last board with its score, under each other.

    Parameters
    ----------
    record : Record
        A match.
    round : int, optional
        Only this round.

    Returns
    -------
    str
        SVG text.

    Raises
    ------
    ValueError
        If the match has no such round.
    """
    if round is not None:
        return board_svg(record, round)
    boards = [board_svg(record, number) for number in range(len(record.rounds))]
    sizes = [_size(board) for board in boards]
    width = max(w for w, _ in sizes)
    parts, y = [], 0.0
    for board, (_, high) in zip(boards, sizes, strict=True):
        parts.append(board.replace("<svg ", f"<svg y='{_number(y)}' ", 1))
        y += high + 16
    words = f"{record.rules.name}, seed {record.seed}, deal {record.deal}: every round's end"
    return _picture(width, y - 16, "".join(parts), words)


def _size(svg: str) -> tuple[float, float]:
    """Return the width and height of a picture made here."""
    words = svg.split("'", 6)
    return float(words[3]), float(words[5])


# ---------------------------------------------------------------------- a View


def view_svg(view: View) -> str:
    """Return the picture of what one seat knows: its hand, the ends, and what each seat showed.

    Parameters
    ----------
    view : View
        What a policy is given.

    Returns
    -------
    str
        SVG text. The chain itself is not in a View: its ends are told, its tiles by who laid them.
    """
    legal = 0
    for mask in view.legal:
        legal |= mask
    shown = [arm for arm, value in enumerate(view.arms) if value >= 0]
    ends = ", ".join(f"{ARM_NAMES[arm]} {view.arms[arm]}" for arm in shown) or "the table is empty"
    title = f"seat {view.seat} of {view.players} is to act: round {view.round}, event {view.event}"
    rows = [_line(12, 20, title, bold=True)]
    rows.append(_line(12, 46, "my hand; a bar marks what may be laid"))
    rows.append(_row(list(tiles_of(view.hand)), legal, 24, 56 + UNIT))
    y = 122.0
    words = f"ends: {ends}" if view.table else "ends: the table is empty"
    rows.append(_line(12, y, f"{words}; bazaar: {view.bazaar}"))
    y += 12
    for arm in range(4):
        if view.legal[arm]:
            what = f"may be laid {ARM_NAMES[arm]}:" if view.table else "may lead:"
            names = " ".join(NAMES[t] for t in tiles_of(view.legal[arm]))
            rows.append(_line(24, y + 12, f"{what} {names}"))
            y += 18
    y += 16
    longest = view.hand.bit_count()
    for seat in range(view.players):
        lacks = " ".join(str(v) for v in range(N_VALUES) if view.void[seat] >> v & 1)
        who = " (me)" * (seat == view.seat) + " (my partner)" * (seat == view.partner)
        words = f"seat {seat}{who}: {counted(view.counts[seat], 'tile')}"
        words += f", lacks {lacks}" if lacks else ""
        played = list(tiles_of(view.played[seat]))
        longest = max(longest, len(played))
        rows.append(_line(12, y + 8, words + (", has laid" if played else ", has laid nothing")))
        if played:
            rows.append(_row(played, 0, 24, y + 18 + UNIT))
            y += 2 * UNIT + 12
        y += 26
    width = max(480.0, longest * (UNIT + 6) + 30)
    return _picture(width, y, "".join(rows), title)


# ---------------------------------------------------------------------- the frame


def _line(x: float, y: float, words: str, *, bold: bool = False, room: int = 400) -> str:
    """Return a line of text, cut to so many letters."""
    cut = words if len(words) <= room else words[: room - 1] + "…"
    weight = " font-weight='700'" if bold else ""
    return (
        f"<text x='{_number(x)}' y='{_number(y)}' font-size='13' {FONT} fill='{INK}'{weight}>"
        f"{escape(cut)}</text>"
    )


def _wrapped(words: str, room: int) -> list[str]:
    """Cut a text into lines."""
    lines: list[str] = []
    for tied in (": ", "seat ", "pair "):
        words = words.replace(tied, tied[:-1] + "\u00a0")
    for word in words.split(" ") if words else ():
        if lines and len(lines[-1]) + 1 + len(word) <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _picture(width: float, height: float, inside: str, words: str, scale: float = 1) -> str:
    """Return an SVG of its own; `words` are for those who cannot see it."""
    w, h = _number(width), _number(height)
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{_number(width * scale)}' "
        f"height='{_number(height * scale)}' viewBox='0 0 {w} {h}' role='img' "
        f"aria-label='{escape(words)}'><rect width='{w}' height='{h}' fill='#fff'/>{inside}</svg>"
    )
