"""The report: one page for every kind of run, which needs nothing but a browser."""

import base64
import re
import shlex
import zlib
from dataclasses import replace
from fractions import Fraction
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from command_line import picture, runner
from user_policies import own_registry

from kozel_sim import (
    PRESETS,
    RuleSet,
    ladder,
    load_code,
    load_run,
    report_html,
    simulate,
    tournament,
)
from kozel_sim.decision import Ladder, Policy
from kozel_sim.rule_words import NONE, in_words, rules_in_words
from kozel_sim.runs import load
from kozel_sim.tournaments import Tournament

PAGES: dict[str, str] = {}
VOID = {"meta", "link", "input", "br", "wbr", "hr"}
KINDS = {
    "singles": "tournament -n 12 --seed 1",
    "two": "tournament -n 60 --seed 1 --players 2 --rounds",
    "pairs": "tournament -n 12 --seed 1 --rules pair-traditional --rounds",
    "sums": "tournament -n 60 --seed 1 --players 2 --aggregate",
    "duels": "tournament -n 30 --seed 1 --players 2 --design duels",
    "gauntlet": "tournament -n 12 --seed 1 --design gauntlet",
    "teams": "tournament -n 6 --seed 1 --rules pair-traditional --policies random,dump_heavy "
    "--design teams",
    "compare": "compare seven_tips random -n 60 --seed 1",
    "sure": "compare seven_tips dump_heavy --seed 1 --players 2 --stop sprt -n 400",
    "sure alone": "compare seven_tips random --seed 1 --stop sprt -n 400",
    "narrow": "tournament --seed 1 --players 2 --stop width=0.2 -n 400",
    "sweep": "sweep --rules room-fish-one --vary open_at=0,25 --players 3 -n 12 --seed 1",
    "experiment": "run mine.toml",
    "shard": "run small.toml --shard 1/2",
}
EXPERIMENT = """
name = "mine"
seed = 3
deals = 12
rules = ["room-fish-one", "livegames-goat"]
players = [2, 4]
policies = ["random", "dump_heavy", "seven_tips", "weights:pips=1,double=3,range=2,block=0.5"]
"""
SMALL = EXPERIMENT.replace("[2, 4]", "[2]").replace('"livegames-goat"', "")


class Tree(HTMLParser):
    """Reads a page as a browser would, and is strict about what is left open."""

    def __init__(self, html):
        super().__init__()
        self.open, self.ids, self.links, self.tags, self.text = [], [], [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.links += [attributes["href"]] if tag == "a" else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.text.append(data)

    @property
    def words(self):
        return " ".join("".join(self.text).split())


def unpacked(html):
    """The replays of a page."""
    packed = re.findall(r'class="packed">([^<]*)<', html)
    return [zlib.decompress(base64.b64decode(text)).decode() for text in packed]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Runs on disk, each made when it is first asked for."""
    place = tmp_path_factory.mktemp("runs")
    (place / "mine.toml").write_text(EXPERIMENT, encoding="utf-8")
    (place / "small.toml").write_text(SMALL, encoding="utf-8")
    return place


@pytest.fixture
def kozel(monkeypatch, capsys, folders):
    monkeypatch.chdir(folders)
    return runner(monkeypatch, capsys)


@pytest.fixture
def run_of(kozel):
    def made(kind):
        if not Path(kind).exists():
            assert kozel(*shlex.split(KINDS[kind]), "-o", kind, "--quiet") == (0, "", "")
        return Path(kind)

    return made


@pytest.fixture
def page_of(run_of):
    """The page of each kind, written once."""

    def made(kind):
        if kind not in PAGES:
            PAGES[kind] = report_html(load(run_of(kind)))
        return PAGES[kind]

    return made


# ---------------------------------------------------------------------- every kind of run


@pytest.mark.parametrize("kind", KINDS)
def test_page_of_every_kind_is_whole_and_asks_for_nothing(page_of, kind):
    html = page_of(kind)
    tree = Tree(html)
    assert len(tree.ids) == len(set(tree.ids)), "every name once"
    assert not re.search(r"https?:|//[a-z]+\.|@import|\bsrc=|url\((?!#)", html)
    for link in tree.links:
        assert link.startswith("#")
        assert link[1:] in tree.ids
    for tag, attributes in tree.tags:
        assert not [name for name in attributes if name.startswith("on")]
        if tag == "th":
            assert attributes["scope"] in ("col", "row")
        if tag == "svg" and "viewbox" in attributes:
            assert attributes["role"] == "img"
            assert attributes["aria-label"]
    words = tree.words
    for heading in ("What was played", "Results", "Notable matches", "fine print", "How it was"):
        assert heading in words
    assert len(html) < 1_000_000


@pytest.mark.parametrize("kind", ["two", "sums", "duels"])
def test_same_run_gives_the_same_bytes(page_of, run_of, kind):
    assert report_html(load(run_of(kind))) == page_of(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_seed_versions_and_policies_are_named(page_of, run_of, kind):
    run = load(run_of(kind))
    words = Tree(page_of(kind)).words
    manifest = run.manifest
    for value in (manifest["seed"], manifest["sources"], *manifest["versions"].values()):
        assert str(value) in words
    for policy in manifest["policies"]:
        assert policy["name"] in words
    for rules in manifest["rules"]:
        assert f"{rules['preset']}, {rules['knobs']['players']} players" in words
    assert "Each is dealt 7 of the 28 tiles" in words


def test_leaderboard_has_what_is_printed(page_of, run_of, kozel):
    folder = run_of("singles")
    words = Tree(page_of("singles")).words
    _, printed, _ = kozel("show", folder)
    found = re.findall(r"│ +(\d+\.\d+% \[\d+\.\d+, \d+\.\d+\])", printed)
    assert len(found) >= 5
    for each in found:
        assert each in words


def test_seats_are_as_printed(page_of, run_of, kozel):
    folder = run_of("two")
    words = Tree(page_of("two")).words
    _, printed, _ = kozel("show", folder)
    seats = re.findall(r"│ (\d+\.\d \[\d+\.\d, \d+\.\d\])", printed)
    assert len(seats) >= 2
    for each in seats:
        estimate, _, ends = each.partition(" ")
        assert f"{estimate}% {ends}" in words
    for tested in re.findall(r"chi² (\d+\.\d)|χ² (\d+\.\d)", printed):
        assert f"χ² {tested[0] or tested[1]}" in words


def test_duels_are_as_printed(page_of, run_of, kozel):
    folder = run_of("duels")
    words = Tree(page_of("duels")).words
    _, printed, _ = kozel("show", folder)
    found = re.findall(r"-?\d+\.\d+% \[-?\d+\.\d+, -?\d+\.\d+\]", printed)
    assert len(found) >= 10
    for each in found:
        assert each in words


def test_sums_have_no_ranks_seats_and_matches(page_of):
    tree = Tree(page_of("sums"))
    assert "The run kept sums alone" in tree.words
    assert "there are no matches to point at" in tree.words
    assert "seats" not in tree.ids
    assert "rank" not in tree.words.split()
    assert not [tag for tag, _ in tree.tags if tag == "dialog"]
    assert "Sums alone" in tree.words
    assert "chi-square" not in tree.words


@pytest.mark.parametrize("kind", ["sure", "narrow"])
def test_a_run_that_stopped_shows_its_decisions(page_of, run_of, kind):
    run = load(run_of(kind))
    words = Tree(page_of(kind)).words
    assert "holds under stopping" in words
    assert run.manifest["stop"] in words
    for row in run.manifest["stopping"]:
        assert row["key"] in words
    assert "as if the deals had been fixed" in words


def test_fine_print_says_nothing_of_other_kinds(page_of):
    said = {kind: Tree(page_of(kind)).words for kind in ("two", "singles", "duels")}
    assert "Neighbours change" in said["singles"]
    assert "Neighbours change" not in said["two"], "two players have one cyclic order"
    assert "Holm" in said["two"]
    assert "Holm" not in said["duels"]
    for words in said.values():
        assert "stopped by the rule" not in words
        assert "Pearson" in words


def test_shard_says_that_it_is_one(page_of):
    assert "shard 1/2 of a run alone" in Tree(page_of("shard")).words


def test_rule_sets_are_compared_where_they_can_be(page_of):
    assert "what-the-rules-change" in Tree(page_of("sweep")).ids
    for kind in ("duels", "shard", "singles"):
        assert "what-the-rules-change" not in Tree(page_of(kind)).ids


def test_policies_that_kept_their_seats_are_not_ranked(tmp_path, monkeypatch):
    run = simulate("room-fish-one", ["random", "random", "dump_heavy"], 40, seed=1)
    tree = Tree(report_html(run))
    assert "Every policy kept its seat" in tree.words
    assert "short" not in tree.ids
    (code,) = re.findall(
        r"<pre[^>]*>(from kozel_sim import .*?)</pre>", report_html(run), re.DOTALL
    )
    monkeypatch.chdir(tmp_path)
    exec(unescape(code), {})
    assert load_run("again").frame.equals(run.frame)


CODE = """
from kozel_sim import policy
from kozel_sim.kit import first_move
@policy
def careful(view):
    return first_move(view)
"""


def test_own_policies_that_kept_their_seats_are_named_in_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("FILE").with_suffix(".py").write_text(CODE, encoding="utf-8")
    with own_registry():
        mine = ladder("mine", "double>pips")
        load_code("FILE.py")
        run = simulate("room-fish-one", [mine, "careful", "mix:0.25*mine+0.75*random"], 6, seed=1)
    html = report_html(run)
    assert "FILE is the Python file" in Tree(html).words
    (code,) = re.findall(r"<pre[^>]*>(from kozel_sim import .*?)</pre>", html, re.DOTALL)
    with own_registry():
        exec(unescape(code).replace("'FILE'", "'FILE.py'"), {})
    again = load_run("again").frame.drop(columns="policy")
    assert again.equals(run.frame.drop(columns="policy"))


@pytest.mark.parametrize(
    ("preset", "players", "alone"),
    [("room-fish-all", 2, False), ("room-fish-all", 3, True), ("pair-traditional", 4, False)],
)
def test_who_sat_alone_in_a_duel_is_told_where_somebody_did(preset, players, alone):
    run = tournament(preset, ["random", "dump_heavy"], 12, 1, players=players, design="duels")
    words = Tree(report_html(run)).words
    assert "random is " in words or "Not decided: random" in words
    assert ("the first named sat alone" in words) == alone


def test_who_sat_alone_is_told_of_a_comparison_that_stopped(page_of):
    assert "the first named sat alone" in Tree(page_of("sure alone")).words
    assert "the first named sat alone" not in Tree(page_of("sure")).words


# ---------------------------------------------------------------------- rules


RULES = [RuleSet.preset(name, n) for name in PRESETS for n in PRESETS[name].players]
RULES += [
    RuleSet.preset("room-fish-all", 2).replace(redeal="none"),
    RuleSet.preset("room-fish-all", 2).replace(dead_value_stop=False),
]


@pytest.mark.parametrize("first", RULES, ids=lambda rules: f"{rules.name}-{rules.players}")
def test_what_is_said_of_further_rules_is_all_that_differs(first):
    """Put into the words of the first, it gives their own words; nothing that is gone is left."""
    known = rules_in_words(first)
    for other in RULES:
        _, told = in_words([first, other])
        put = {**known, **told["words"]}
        gone = {heading for heading, words in put.items() if words == [NONE]}
        assert {h: words for h, words in put.items() if h not in gone} == rules_in_words(other)
        assert bool(told["words"]) == (rules_in_words(other) != known)


# ---------------------------------------------------------------------- replays


def test_replays_open_where_they_are_notable(page_of):
    html = page_of("two")
    tree = Tree(html)
    dialogs = [attributes for tag, attributes in tree.tags if tag == "dialog"]
    assert [d["id"] for d in dialogs] == [
        "replay-1-longest",
        "replay-1-fish",
        "replay-1-closest",
    ]
    replays = unpacked(html)
    assert len(replays) == 3
    number, event = map(int, dialogs[1]["data-at"].split("."))
    assert f"in round {number}" in dialogs[1]["aria-label"]
    assert "makes a fish" in replays[1]
    assert event > 4
    for replay in replays:
        assert "kz-replay" in replay
        assert not re.search(r"https?:|src=|\bid=", replay)


def test_command_stands_beside_every_match(page_of):
    words = Tree(page_of("experiment")).words
    assert words.count("kozel replay --rules") == 3 * 4
    assert words.count("Watch the match") == 12


def test_a_page_holds_few_replays(run_of, monkeypatch):
    monkeypatch.setattr("kozel_sim.report_page.MOST_REPLAYS", 4)
    html = report_html(load(run_of("experiment")))
    assert len(unpacked(html)) == 4
    assert Tree(html).words.count("The command opens it.") == 8


def test_functions_that_are_not_known_are_told():
    with own_registry():
        run = tournament("room-fish-one", ["last_legal", "random"], 12, 1, players=2)
        known = report_html(run)
    unknown = report_html(run)
    assert len(unpacked(known)) == 3
    assert unpacked(unknown) == []
    words = Tree(unknown).words
    assert "It cannot be played again here: policy last_legal is a function" in words
    assert "--code FILE" in words
    assert "def last_legal(view):" in words


# ---------------------------------------------------------------------- what others have named


def test_names_of_others_are_no_markup():
    evil = "<script>alert('x')</script>\"'&$\\frac$ </svg>"
    policies = [Policy(evil, ((Fraction(1), Ladder()),)), Policy("b", ((Fraction(1), Ladder()),))]
    rules = RuleSet.preset("room-fish-one", 2)
    run = Tournament(evil, [rules], policies, 20, 1).play()
    html = report_html(run)
    tree = Tree(html)
    assert "<script>alert" not in html
    assert evil in tree.words
    assert [tag for tag, _ in tree.tags].count("script") == 1 + len(unpacked(html))
    for replay in unpacked(html):
        assert "<script>alert" not in replay


def test_a_forged_manifest_is_no_markup(run_of):
    run = load(run_of("two"))
    evil = "<img onerror=alert(1)>"
    manifest = run.manifest | {"name": evil, "made": evil, "version": evil, "sources": evil}
    manifest |= {"machine": {"cpu": evil}, "versions": {evil: evil}}
    tree = Tree(report_html(replace(run, manifest=manifest)))
    assert "img" not in [tag for tag, _ in tree.tags]
    assert evil in tree.words


# ---------------------------------------------------------------------- the command


def test_command_writes_beside_the_run_and_disturbs_nothing(run_of, kozel):
    folder = run_of("narrow")
    before = picture(folder)
    assert kozel("report", folder) == (0, f"written to {folder / 'report.html'}\n", "")
    after = picture(folder)
    assert after.pop("report.html").startswith(b"<!doctype html>")
    assert after == before
    code, out, _ = kozel("verify", folder, "--seed", 1)
    assert (code, "all as it was written" in out) == (0, True)
    code, out, _ = kozel(*shlex.split(KINDS["narrow"]), "-o", folder)
    assert "holds this very run already" in out
    html = (folder / "report.html").read_bytes()
    assert kozel("report", folder) == (0, f"written over the report in {folder}/report.html\n", "")
    assert (folder / "report.html").read_bytes() == html
    assert html.decode() == report_html(load_run(folder))


def test_report_in_a_shard_disturbs_no_merge(kozel):
    for i in (1, 2):
        words = ["run", "small.toml", "--shard", f"{i}/2", "-o", f"part{i}", "--quiet"]
        assert kozel(*words) == (0, "", "")
        assert kozel("report", f"part{i}")[0] == 0
    assert kozel("merge", "part1", "part2", "-o", "whole", "--quiet") == (0, "", "")
    assert not Path("whole/report.html").exists()
    assert kozel("report", "whole")[0] == 0
    words = Tree(Path("whole/report.html").read_text(encoding="utf-8")).words
    assert "shard 1/2" in words
    assert "of a run alone" not in words


def test_functions_are_named_by_their_file(kozel):
    Path("left.py").write_text(
        "from kozel_sim import policy\n\n\n@policy\ndef leftmost(view):\n"
        "    for arm in range(4):\n        for tile in range(28):\n"
        "            if view.legal[arm] >> tile & 1:\n"
        "                return (tile + 1) << (8 * arm)\n    return 0\n",
        encoding="utf-8",
    )
    with own_registry():
        words = "tournament --code left.py --policies leftmost,random --players 2 -n 12 --seed 1"
        assert kozel(*words.split(), "-o", "own", "--quiet") == (0, "", "")
    assert kozel("report", "own", "-o", "without.html")[0] == 0
    with own_registry():
        assert kozel("report", "own", "-o", "with.html", "--code", "left.py")[0] == 0
    without, with_code = (
        Path(f"{name}.html").read_text(encoding="utf-8") for name in ("without", "with")
    )
    assert len(unpacked(without)) == 0
    assert len(unpacked(with_code)) == 3


def test_what_is_no_report_is_not_written_over(run_of, kozel):
    folder = run_of("two")
    Path("mine.html").write_text("my own\n", encoding="utf-8")
    code, out, err = kozel("report", folder, "-o", "mine.html")
    assert (code, out) == (2, "")
    assert err == "kozel: error: mine.html is there and is no report; choose another file\n"
    assert Path("mine.html").read_text(encoding="utf-8") == "my own\n"


def _unfinished(folder):
    planned = Tournament.of_manifest(load_run(folder).manifest)

    def break_down(planned, engine, parts, deliver, progress):
        player = planned.player(engine)
        deliver(parts[0], player.play(parts[0]))
        raise RuntimeError("no ink")

    with pytest.raises(RuntimeError):
        planned.play(folder="torn", mapper=break_down, chunk=20)


def test_mistakes_are_one_line(run_of, kozel):
    folder = run_of("two")
    if not Path("torn").exists():
        _unfinished(folder)
    Path("empty").mkdir(exist_ok=True)
    tell = "tell --players 2 -n 10 --seed 1 -o tell --quiet"
    assert kozel(*tell.split()) == (0, "", "")
    before = picture()
    for words, said in (
        (["nowhere"], "nowhere holds no run: there is no manifest.json"),
        (["empty"], "empty holds no run"),
        (["mine.toml"], "mine.toml holds no run"),
        (["torn"], "torn holds an unfinished run"),
        (["tell"], "tell holds a table of the tell, and no matches; kozel tell prints it again"),
        ([folder, "-o", "no/where.html"], "no/where.html: No such file or directory"),
        ([folder, "-o", "empty"], "empty: "),
        ([folder, "--code", "none.py", "-o", "x.html"], "no Python file at none.py"),
        ([], "missing argument"),
    ):
        code, out, err = kozel("report", *words)
        assert (code, out) == (2, "")
        assert err.startswith("kozel: error: ")
        assert err.count("\n") == 1
        assert said in err
    assert picture() == before
