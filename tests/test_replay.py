"""The replay: one piece of HTML that needs nothing, in a real browser where there is one."""

import json
import re
from dataclasses import replace

import nbformat
import pytest
from browser import browser, needs_browser

from kozel_sim import play, show
from kozel_sim.moments import moments
from kozel_sim.positions import random_positions
from kozel_sim.replay import MOST_ROUNDS, replay_html, replay_page

SPEC = "prefer:legal_double?double>pips"


@pytest.fixture(scope="module")
def record():
    return play("room-fish-all", ["seven_tips", "random", SPEC], 2, 5, engine="reference")


@pytest.fixture(scope="module")
def donkey():
    return play("livegames-donkey", ["random"] * 4, 3, 1, engine="reference")


def data_of(html):
    (text,) = re.findall(r"<script type='application/json' class='kz-data'>(.*?)</script>", html)
    return json.loads(text)


# ---------------------------------------------------------------------- the text


def test_replay_tells_every_event_and_score(record):
    data = data_of(replay_html(record))
    assert len(data["rounds"]) == len(record.rounds)
    for told, drawn in zip(record.rounds, data["rounds"], strict=True):
        assert [e["s"] for e in drawn["events"]] == [e.seat for e in told.events]
        found = moments(record, told.round)
        for moment, written in zip(found, drawn["moments"], strict=True):
            assert written["s"] == moment.seat
            assert len(written["m"]) == len(moment.moves)
            if moment.chosen is not None:
                assert moment.moves[written["c"]] == moment.chosen
            scores = [w.scores for w in moment.weighings]
            assert [tuple(g["v"]) for g in written.get("g", [])] == scores
    assert "double" in " ".join(data["stages"])


def test_a_draw_has_words_for_those_who_do_not_see_it(record):
    drawn = [e for r in data_of(replay_html(record))["rounds"] for e in r["events"] if "d" in e]
    assert drawn
    assert all(e["h"] == "draws a tile" and re.search(r"\d-\d", e["w"]) for e in drawn)


def test_replay_asks_for_nothing_and_has_no_ids(record):
    html = replay_page([record])
    assert not re.search(r"https?:|src=|url\(|@import|\bid=", html)
    assert html.count("href=") == 1, "the empty icon"
    assert "double&gt;pips" in html


def test_a_name_cannot_end_the_script():
    record = play("room-fish-all", ["random", "random"], 1, 0, engine="reference")
    evil = replace(record, policies=("</script><b>&'", "random"))
    html = replay_html(evil)
    assert html.count("</script>") == 2
    assert "<b>&'" not in html


def test_size_of_a_usual_match():
    record = play("livegames-goat", ["seven_tips"] * 4, 1, 0, engine="reference")
    assert sum(len(r.events) for r in record.rounds) > 200
    assert len(replay_page([record]).encode()) < 1_500_000


def test_a_long_match_shows_its_last_rounds():
    long = play("sea-goat", ["seven_tips"] * 4, 1, 0, engine="reference")
    assert len(long.rounds) > MOST_ROUNDS
    html = replay_html(long)
    assert len(data_of(html)["rounds"]) == MOST_ROUNDS
    last = len(long.rounds) - 1
    assert f"shown: round {last - MOST_ROUNDS + 1} to {last}" in html
    assert "The match is over" in html
    assert "shown: round 3<" in replay_html(long, 3)
    assert len(html.encode()) < 1_500_000


def test_show_takes_what_can_be_looked_at(record):
    assert show(record)._repr_html_() == replay_html(record)
    assert show(record, 1).html == replay_html(record, 1)
    (position,) = random_positions(record.rules, 1, seed=2)
    table = position.round()
    view = position.view(table, table.moves())
    for thing in (position, table, view):
        assert "<svg" in show(thing).html
        with pytest.raises(ValueError, match="round 0 is for a match"):
            show(thing, 0)
    with pytest.raises(TypeError, match=r"show takes a Record.*, not str"):
        show("record")
    with pytest.raises(ValueError, match="has no round 99"):
        show(record, 99)


# ---------------------------------------------------------------------- in a browser


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture
def opened(window, tmp_path):
    """``opened(html)``: the browser with a page of that text; afterwards it must be content."""

    def open_(html, width=1400):
        path = tmp_path / "page.html"
        path.write_text(html, encoding="utf-8")
        window.resize(width)
        window.open(path)
        return window

    yield open_
    assert window.complaints() == []
    assert window.requests() == []


def said(window, nth=0):
    return window.run("return document.querySelectorAll('.kz-say')[arguments[0]].innerText", nth)


def count(window, nth=0):
    return window.run("return document.querySelectorAll('.kz-count')[arguments[0]].innerText", nth)


def choose(window, select, value):
    window.run(
        "const s = document.querySelector(arguments[0]); s.value = arguments[1];"
        "s.dispatchEvent(new Event('change'))",
        select,
        value,
    )


SEEN = """
const seen = (e) => e.getClientRects().length && getComputedStyle(e).visibility === 'visible';
const boxes = (s) => [...document.querySelectorAll(s)].filter(seen);
"""


def tiles_seen(window):
    """How many tiles lie on the board, are held by each seat, and show their pips."""
    return window.run(
        SEEN
        + """return [
          boxes('.kz-board g[data-e]').length,
          [...document.querySelectorAll('.kz-seats:not([hidden]) [data-seat]')].map(
            (s) => [...s.querySelectorAll('[data-t]')].filter(seen).length),
          [...document.querySelectorAll('.kz-seats:not([hidden]) [data-seat]')].map(
            (s) => [...s.querySelectorAll('[data-t]:not(.kz-back)')].filter(seen).length)]"""
    )


@needs_browser
def test_steps_show_the_table_of_every_event(opened, record):
    window = opened(replay_page([record]))
    told = record.rounds[0]
    held = [len(hand) for hand in told.hands]
    laid = 0
    assert count(window) == f"0 / {len(told.events)}"
    for event in told.events:
        assert tiles_seen(window)[:2] == [laid, held]
        window.press("right")
        laid += len(event.play)
        held[event.seat] += (event.draw is not None) - len(event.play)
        assert f"Seat {event.seat} " in said(window)
    assert tiles_seen(window)[:2] == [laid, held]
    assert "Left in hand" in said(window)
    window.press("right")
    assert count(window) == f"0 / {len(record.rounds[1].events)}"
    window.press("left")
    assert count(window) == f"{len(told.events)} / {len(told.events)}"


@needs_browser
def test_keys_and_buttons(opened, record):
    window = opened(replay_page([record]))
    n = len(record.rounds[0].events)
    window.press("end")
    assert count(window) == f"{n} / {n}"
    window.press("home", "right", "right", "left")
    assert count(window) == f"1 / {n}"
    window.press("space")
    playing = "return document.querySelector('.kz-play').innerText"
    assert window.run(playing) == "Pause"
    window.press("space")
    assert window.run(playing) == "Play"
    window.click(".kz-button[aria-label='One step on']")
    window.press("space")
    assert count(window) == f"3 / {n}", "space presses the button that has the focus"
    window.run("document.querySelector('.kz-slider').focus()")
    window.press("right")
    assert count(window) == f"4 / {n}", "one step, not the slider's own as well"
    choose(window, ".kz-pick", "1")
    assert count(window).startswith("0 / ")


@needs_browser
def test_an_address_names_a_moment(opened, record):
    window = opened(replay_page([record]))
    for place, words in (("#1.4", "4 / "), ("#1.9999", "{0} / {0}"), ("#99.1", "{0} / {0}")):
        window.run("location.hash = arguments[0]", place)
        settled = "return new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))"
        window.run(settled)
        assert count(window).startswith(words.format(len(record.rounds[1].events)))
        assert window.run("return document.querySelector('.kz-pick').value") == "1"


@needs_browser
def test_playing_goes_on_by_itself(opened, record):
    window = opened(replay_page([record]))
    script = """
    const done = arguments[arguments.length - 1];
    const shown = document.querySelector('.kz-count');
    new MutationObserver(() => shown.innerText.startsWith('2 /') && done(true))
      .observe(shown, {childList: true, characterData: true, subtree: true});
    document.querySelector('.kz-play').click();"""
    window.ask("POST", "/execute/async", {"script": script, "args": []})
    assert count(window).startswith("2 / ")
    window.press("space")


@needs_browser
def test_one_seats_view_hides_the_other_hands(opened, record):
    window = opened(replay_page([record]))
    draw = next(
        (r.round, n, e.seat)
        for r in record.rounds
        for n, e in enumerate(r.events)
        if e.draw is not None
    )
    number, event, seat = draw
    tile = record.rounds[number].events[event].draw
    choose(window, ".kz-pick", str(number))
    for _ in range(event + 1):
        window.press("right")
    assert f"Seat {seat} draws {tile}" in said(window)
    for viewer in range(3):
        choose(window, ".kz-view", str(viewer))
        _, held, open_ = tiles_seen(window)
        assert open_ == [n if s == viewer else 0 for s, n in enumerate(held)]
        assert (f"draws {tile}" in said(window)) == (viewer == seat)
        texts = window.run("return document.querySelector('.kz-tables').innerText")
        assert (f"draws {tile}" in texts) == (viewer == seat)
    now = moments(record, number)[event + 1].seat
    choose(window, ".kz-view", str((now + 1) % 3))
    assert window.run("return document.querySelector('.kz-moves').innerText") == ""


@needs_browser
def test_legal_moves_are_marked_and_scored(opened, record):
    window = opened(replay_page([record]))
    found = moments(record, 0)
    at = next(m.event for m in found if len(m.weighings) > 1)
    for _ in range(at):
        window.press("right")
    rows = window.run(
        "return [...document.querySelectorAll('.kz-moves tbody tr')].map(r =>"
        "[...r.cells].map(c => c.innerText))"
    )
    moment = found[at]
    assert len(rows) == len(moment.moves)
    assert [row[-1] != "" for row in rows] == [m == moment.chosen for m in moment.moves]
    for i, weighing in enumerate(moment.weighings):
        for row, score, kept in zip(rows, weighing.scores, weighing.kept, strict=True):
            assert row[1 + i] == ("–" if score is None else f"{score:g}" + " ✓" * kept)
    marked = window.run(SEEN + "return boxes('.kz-legal').map(t => t.dataset.t)")
    assert len(marked) == len(set(marked)) >= 1


@needs_browser
@pytest.mark.parametrize("width", [400, 1400])
def test_nothing_sticks_out_sideways(opened, record, donkey, width):
    window = opened(replay_page([record, donkey]), width)
    for _ in range(3):
        window.run("document.querySelectorAll('.kz-button').forEach(b => b.click())")
        wide, inner = window.run("return [document.documentElement.scrollWidth, innerWidth]")
        assert wide <= inner == width
        sticking = window.run(
            SEEN + "return boxes('.kz-replay *').filter(e => !e.closest('.kz-moves table'))"
            ".filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML)"
        )
        assert sticking == []


@needs_browser
def test_tiles_on_the_board_do_not_overlap_as_drawn(opened, donkey):
    window = opened(replay_page([donkey]))
    for number in range(len(donkey.rounds)):
        choose(window, ".kz-pick", str(number))
        window.press("end")
        boxes = window.run(
            SEEN + "return boxes('.kz-board g[data-e] > rect').map(e => e.getBBox && "
            "(b => [b.x + b.width / 2, b.y + b.height / 2, b.width, b.height])"
            "(e.getBoundingClientRect()))"
        )
        laid = [p for e in donkey.rounds[number].events for p in e.play]
        assert len(boxes) == len(laid)
        named = "return boxes('.kz-board [data-e] text').map(e => e.textContent)"
        closed = window.run(SEEN + named)
        assert closed == [p.tile for p in laid if p.closed]
        for i, (x, y, w, h) in enumerate(boxes):
            for u, v, w2, h2 in boxes[:i]:
                assert abs(x - u) > (w + w2) / 2 - 4 or abs(y - v) > (h + h2) / 2 - 4


@needs_browser
def test_several_replays_on_a_page_do_not_disturb_each_other(opened, record, donkey):
    window = opened(f"<!doctype html><body>{replay_html(record)}{replay_html(donkey)}")
    window.run("document.querySelectorAll('.kz-replay')[1].focus()")
    window.press("right", "right", "right")
    assert count(window, 0).startswith("0 / ")
    assert count(window, 1).startswith("3 / ")
    window.run("document.querySelectorAll('.kz-replay')[0].focus()")
    window.press("end")
    assert count(window, 1).startswith("3 / ")


@needs_browser
def test_it_is_made_for_everybody(opened, record):
    window = opened(replay_page([record]))
    unnamed = window.run(
        "return [...document.querySelectorAll('button, input, select, svg[role]')].filter("
        "e => !e.getAttribute('aria-label') && !e.closest('label')).map(e => e.outerHTML)"
    )
    assert unnamed == []
    assert window.run("return document.querySelector('[aria-live=polite]').innerText")
    window.press("\ue004")
    outline = window.run("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid", "the focus is visible"


@needs_browser
def test_it_works_in_a_notebooks_export_without_a_kernel(opened, record):
    """The outputs of two cells, as a notebook keeps them and nbconvert writes them."""
    nbconvert = pytest.importorskip("nbconvert")
    cells = []
    for number, thing in enumerate((show(record), show(record, 1))):
        output = nbformat.v4.new_output(
            "execute_result", {"text/html": thing._repr_html_()}, execution_count=number + 1
        )
        cells.append(nbformat.v4.new_code_cell("show(record)", outputs=[output]))
    notebook = nbformat.v4.new_notebook(cells=cells)
    # The template that leaves the page's frame, with scripts from the network, to others.
    html, _ = nbconvert.HTMLExporter(template_name="basic").from_notebook_node(notebook)
    window = opened(f"<!doctype html><meta charset='utf-8'><body>{html}")
    window.run("document.querySelectorAll('.kz-replay')[1].focus()")
    window.press("right", "right")
    assert count(window, 0).startswith("0 / ")
    assert count(window, 1) == f"2 / {len(record.rounds[1].events)}"


@needs_browser
def test_a_notebooks_insertion_runs_it(opened, record):
    """Jupyter inserts HTML and then makes its scripts anew, which have no place of their own."""
    window = opened("<!doctype html><body><div id='out'></div>")
    window.run(
        """const out = document.getElementById('out');
        out.innerHTML = arguments[0];
        for (const old of out.querySelectorAll('script')) {
          const made = document.createElement('script');
          for (const a of old.attributes) made.setAttribute(a.name, a.value);
          made.textContent = old.textContent;
          old.replaceWith(made);
        }""",
        replay_html(record),
    )
    assert count(window).startswith("0 / ")
    assert "dealt" in said(window)
