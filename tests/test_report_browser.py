"""The report in a real browser: nothing is fetched, all is readable, and keys reach everything."""

import re

import pytest
from browser import KEYS, browser, needs_browser

from kozel_sim import report_html, tournament

KEYS |= {"tab": "\ue004", "enter": "\ue007", "escape": "\ue00c"}
FIELD = ["random", "dump_heavy", "seven_tips", "weights:pips=1,double=3,range=2,block=0.5,lock=1.5"]
SETTLED = "return new Promise(done => requestAnimationFrame(() => setTimeout(done, 80)))"
OPEN = "return document.querySelector('dialog[open]')?.id ?? null"
TEXTS = """
const seen = [...document.querySelectorAll('*')].filter(e => e.checkVisibility() &&
  !e.closest('script, style, noscript') && !e.matches('.skip') &&
  [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()));
"""
CONTRAST = (
    TEXTS
    + """
const parts = (c) => [...c.match(/[\\d.]+/g).map(Number), 1].slice(0, 4);
const light = ([r, g, b]) => { const f = v => { v /= 255;
  return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; };
  return .2126 * f(r) + .7152 * f(g) + .0722 * f(b); };
const behind = (e) => { for (let at = e; at; at = at.parentElement) {
  const p = parts(getComputedStyle(at).backgroundColor); if (p[3] > 0) return p; }
  return [255, 255, 255, 1]; };
return seen.map(e => { const style = getComputedStyle(e);
  const ink = parts(e instanceof SVGElement ? style.fill : style.color);
  const [a, b] = [light(ink), light(behind(e))].sort((x, y) => y - x);
  return [(a + .05) / (b + .05), e.textContent.trim().slice(0, 30)]; })
  .filter(([ratio]) => ratio < 4.5);"""
)
SIZES = (
    TEXTS
    + """
return seen.map(e => { const size = parseFloat(getComputedStyle(e).fontSize);
  const drawn = e instanceof SVGElement ? size * e.getScreenCTM().a : size;
  return [e instanceof SVGElement, drawn]; });"""
)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A report of two rule sets, on disk."""
    run = tournament(["room-fish-one", "pair-traditional"], FIELD, 12, seed=1, rounds=True)
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(report_html(run), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture
def opened(window, page):
    """Open the page, and see in the end that the browser had nothing to complain of."""

    def go(width=1000, address=""):
        window.resize(width)
        window.devtools("Emulation.setEmulatedMedia", {"media": "", "features": []})
        window.ask("POST", "/url", {"url": "about:blank"})
        window.open(page)
        if address:
            window.ask("POST", "/url", {"url": page.resolve().as_uri() + address})
            window.run("location.reload()")
        window.run(SETTLED)
        return window

    yield go
    assert window.complaints() == []
    assert [url for url in window.requests() if not url.startswith("file:")] == []


def focused(window):
    return window.run(
        "const e = document.activeElement; return e.getAttribute('href') || e.tagName"
    )


@needs_browser
@pytest.mark.parametrize("width", [400, 1400])
def test_page_fits_and_is_readable(opened, width):
    window = opened(width)
    wide, inner = window.run("return [document.documentElement.scrollWidth, innerWidth]")
    assert wide <= inner == width
    for drawn, size in window.run(SIZES):
        assert size >= (9.5 if drawn else 13) - 0.01
    cut = window.run(
        "return [...document.querySelectorAll('main *')]"
        ".filter(e => !e.closest('.scroll, svg, pre'))"
        ".filter(e => e.getBoundingClientRect().right > innerWidth).map(e => e.outerHTML)"
    )
    assert cut == []
    beyond = window.run(
        "return [...document.querySelectorAll('figure svg')].flatMap(svg => {"
        "const box = svg.getBoundingClientRect(); return [...svg.querySelectorAll('text')]"
        ".filter(t => { const b = t.getBoundingClientRect(); return b.left < box.left - 1 ||"
        "b.right > box.right + 1; }).map(t => t.textContent)})"
    )
    assert beyond == [], "no text of a plot is cut"


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_is_enough(opened, scheme):
    window = opened()
    feature = {"name": "prefers-color-scheme", "value": scheme}
    window.devtools("Emulation.setEmulatedMedia", {"features": [feature]})
    assert window.run(CONTRAST) == []


@needs_browser
def test_tab_reaches_everything_and_shows_where_it_is(opened):
    window = opened(400)
    everything = window.run(
        "return [...document.querySelectorAll('a[href], summary, [tabindex=\"0\"]')]"
        ".filter(e => e.checkVisibility()).length"
    )
    seen = []
    script = """
    const e = document.activeElement;
    if (e === document.body) return null;
    e.dataset.place ??= String(document.querySelectorAll('[data-place]').length);
    const style = getComputedStyle(e), box = e.getBoundingClientRect();
    const shown = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
    return [e.dataset.place, style.outlineStyle, shown]"""
    for _ in range(everything + 1):
        window.press("tab")
        now = window.run(script)
        if now is None:
            break
        seen.append(now)
    assert len({place for place, _, _ in seen}) == everything
    assert {outline for _, outline, _ in seen} == {"solid"}
    assert all(shown for _, _, shown in seen)


@needs_browser
def test_first_link_leads_to_the_results(opened):
    window = opened()
    window.press("tab")
    assert focused(window) == "#main"
    window.press("enter")
    window.run(SETTLED)
    assert focused(window) == "MAIN"


@needs_browser
def test_contents_lead_to_their_sections(opened):
    window = opened()
    for link in window.run(
        "return [...document.querySelectorAll('nav a')].map(a => a.getAttribute('href'))"
    ):
        window.click(f"nav a[href='{link}']")
        window.run(SETTLED)
        top = window.run(f"return document.querySelector('{link}').getBoundingClientRect().top")
        at_end = window.run("return innerHeight + scrollY >= document.body.scrollHeight - 2")
        assert -1 <= top < 60 or at_end


def focus_link(window, name):
    window.run("document.querySelector(arguments[0]).focus()", f"a[href='#{name}']")


def count(window):
    return window.run("return document.querySelector('dialog[open] .kz-count').innerText")


@needs_browser
@pytest.mark.parametrize("leave", ["escape", "back", "link"])
def test_a_replay_opens_by_enter_steps_by_keys_and_is_left(opened, leave):
    window = opened()
    focus_link(window, "replay-1-fish")
    window.press("enter")
    window.run(SETTLED)
    assert window.run(OPEN) == "replay-1-fish"
    assert window.run("return location.hash") == "#replay-1-fish"
    at, _, events = count(window).partition(" / ")
    assert at == events, "it opens where the fish is"
    assert "makes a fish" in window.run("return document.querySelector('.kz-say').innerText")
    window.press("left", "left")
    assert count(window) == f"{int(events) - 2} / {events}"
    window.press("home", "right")
    assert count(window) == f"1 / {events}"
    if leave == "escape":
        window.press("escape")
    elif leave == "back":
        window.ask("POST", "/back", {})
    else:
        window.click("dialog[open] .back")
    window.run(SETTLED)
    assert window.run(OPEN) is None
    assert window.run("return location.hash") == ("#matches" if leave == "link" else "")
    assert focused(window) == "#replay-1-fish", "the focus is where it was"
    # Keys are the page's again, and the replay can be opened once more.
    focus_link(window, "replay-2-longest")
    window.press("enter")
    window.run(SETTLED)
    assert window.run(OPEN) == "replay-2-longest"
    assert count(window).startswith("0 / ")


@needs_browser
def test_an_address_opens_a_replay_at_a_moment(opened, page):
    window = opened(address="#replay-1-closest/1.3")
    assert window.run(OPEN) == "replay-1-closest"
    assert count(window).startswith("3 / ")
    picked = "return document.querySelector('dialog[open] .kz-pick').selectedOptions[0].text"
    assert window.run(picked) == "1"
    window.press("escape")
    window.run(SETTLED)
    assert window.run(OPEN) is None
    assert focused(window) == "#replay-1-closest"
    assert window.run("return location.hash") == "#matches"


@needs_browser
@pytest.mark.parametrize("address", ["#nothing", "#%E0%A4%A", "#/1.2", "#main/1.2"])
def test_a_strange_address_opens_nothing(opened, address):
    window = opened(address=address)
    assert window.run(OPEN) is None


@needs_browser
def test_every_replay_opens_with_its_tiles(opened):
    window = opened()
    names = window.run("return [...document.querySelectorAll('dialog')].map(d => d.id)")
    assert len(names) == 6
    for name in names:
        window.run("location.hash = arguments[0]", f"#{name}")
        window.run(SETTLED)
        assert window.run(OPEN) == name
        window.press("end")
        caps = window.run(
            "return [...document.querySelectorAll('dialog[open] .kz-board .kz-on path')]"
            ".map(e => getComputedStyle(e).strokeLinecap)"
        )
        assert len(caps) > 4
        assert set(caps) == {"round"}, "pips are dots, which no style of the page has taken"
        wide, inner = window.run("return [document.documentElement.scrollWidth, innerWidth]")
        assert wide <= inner


@needs_browser
@pytest.mark.parametrize("width", [400, 1400])
def test_a_replay_fits(opened, width):
    window = opened(width, "#replay-1-longest")
    sticking = window.run(
        "return [...document.querySelectorAll('dialog[open] *')].filter(e => e.checkVisibility() &&"
        "!e.closest('.kz-moves table') && !e.matches('option'))"
        ".filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML)"
    )
    assert sticking == []


@needs_browser
def test_it_prints(opened):
    window = opened()
    printed = window.devtools("Page.printToPDF", {"printBackground": False})["data"]
    assert len(printed) > 50_000
    window.devtools("Emulation.setEmulatedMedia", {"media": "print"})
    hidden = window.run("return getComputedStyle(document.querySelector('nav')).display")
    assert hidden == "none"


@needs_browser
def test_without_scripts_the_page_says_so(opened):
    window = opened()
    try:
        window.devtools("Emulation.setScriptExecutionDisabled", {"value": True})
        window.ask("POST", "/refresh", {})
        source = window.ask("GET", "/source")
    finally:
        window.devtools("Emulation.setScriptExecutionDisabled", {"value": False})
    assert re.search(r"<noscript>.*Replays need JavaScript", source, re.DOTALL)
