"""A report: one HTML page of a run, which needs nothing else, to send to a colleague.

The page is made of ``web/report.html``, a template whose values are escaped unless they are drawn
here. Replays are packed, and unpacked when one is opened.
"""

from __future__ import annotations

import base64
import re
import zlib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from kozel_sim.commands import CODE, in_python, replay_command, run_command
from kozel_sim.fine_print import fine_print
from kozel_sim.notable import CLOSEST, FISH, LONGEST, MEANINGS, Found, Notable, notable_matches
from kozel_sim.notable import replay_of as play_again
from kozel_sim.policies import describe_policy, get_policy
from kozel_sim.policies.builtin import BUILTIN
from kozel_sim.policies.registry import set_aside
from kozel_sim.rating_report import seconds_text
from kozel_sim.replay import MOST_ROUNDS, replay_html
from kozel_sim.report_results import FEW_TABLES, results_of_run, seated
from kozel_sim.rule_words import in_words
from kozel_sim.rules import RuleSet
from kozel_sim.runs import Run, Totals
from kozel_sim.schedule import DUELS, GAUNTLET, PERMUTATIONS, ROTATIONS, TEAMS
from kozel_sim.words import counted

MARK = "<!-- kozel report -->"
"""The page's first line after its doctype: by it a report is known that may be written over."""
MOST_REPLAYS = 12
"""Replays that a page holds; of further matches it has the command alone."""
DESIGN_WORDS = {
    ROTATIONS: "Every set of policies that fills a table plays, each deal in all rotations of the "
    "seats; the order round the table changes from deal to deal.",
    PERMUTATIONS: "Every set of policies that fills a table plays, each deal in all seatings.",
    DUELS: "Duels: each deal is played from every seat. Two players change seats; of three or "
    "four singles one plays the first policy, the others the second; pairs change sides.",
    GAUNTLET: "A gauntlet: the first policy in a duel with each of the others, each deal from "
    "every seat.",
    TEAMS: "Teams: every team of two policies (or of one twice) against every other, partners "
    "opposite, each deal from every seat.",
}
TITLES = {LONGEST: "Longest", FISH: "Biggest fish", CLOSEST: "Closest"}


@dataclass(frozen=True)
class Line:
    """A notable match in the page.

    Attributes
    ----------
    title, facts : str
        What is notable, and which match it is.
    command : str
        The command that plays it again.
    address : str
        Where its replay is; empty if it has none.
    why_not : str
        Why it has none.
    packed, at : str
        The replay, packed, and where it opens: round and event.
    """

    title: str
    facts: str
    command: str
    address: str = ""
    why_not: str = ""
    packed: str = ""
    at: str = ""


def report_html(played: Run | Totals) -> str:
    """Return a run as one page of HTML, to be opened from disk: nothing is fetched.

    What was played, leaderboards with intervals, plots, seats, the statistics' fine print, and
    replays of the longest match, the biggest fish and the closest match. The same run gives the
    same text.

    Parameters
    ----------
    played : Run or Totals
        A run, such as ``load_run(folder)``. Of totals there are no ranks, seats and matches.

    Returns
    -------
    str
        The page.

    Examples
    --------
    >>> from kozel_sim import tournament
    >>> run = tournament("room-fish-all", ["random", "dump_heavy"], 20, seed=1, players=2)
    >>> html = report_html(run)
    >>> "Biggest fish" in html, "http" in html
    (True, False)
    """
    results = results_of_run(played)
    rules = [_rules(each) for each in played.manifest["rules"]]
    room = Environment(
        loader=PackageLoader("kozel_sim", "web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    room.filters |= {"drawn": Markup, "breakable": _breakable, "tiles": _tiles}
    web = files("kozel_sim") / "web"
    style, script = ((web / f"report.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    return room.get_template("report.html").render(
        mark=Markup(MARK),
        style=Markup(style),
        script=Markup(script),
        name=played.name,
        few=FEW_TABLES,
        facts=_facts(played),
        notes=_notes(played),
        results=results,
        design=_design(played),
        rules=in_words(rules),
        policies=[_policy(each) for each in played.manifest["policies"]],
        meanings=MEANINGS,
        titles=TITLES,
        matches=_matches(played) if isinstance(played, Run) else None,
        print=fine_print(played, results.methods),
        again=_again(played),
        made=_made(played.manifest),
    )


def _breakable(name: str) -> Markup:
    """Let a long name be broken where a spec has a joint."""
    return Markup(re.sub(r"(_|,|\+|&gt;)", r"\1<wbr>", str(escape(name))))


def _tiles(text: str) -> Markup:
    """Let no line end within the name of a tile."""
    return Markup(re.sub(r"\b(\d-\d)\b", r'<span class="tile">\1</span>', str(escape(text))))


def _rules(listed: dict[str, Any]) -> RuleSet:
    return RuleSet.from_knobs(listed["knobs"], listed["base"])


# ---------------------------------------------------------------------- what was played


def _facts(played: Run | Totals) -> dict[str, str]:
    """Return the run in a few numbers."""
    manifest = played.manifest
    found = {
        "matches": f"{played.matches:,}",
        "rounds": f"{played.rounds:,}",
        "policies": str(len(manifest["policies"])),
        "rule sets": str(len(manifest["rules"])),
        "seed": str(manifest["seed"]),
    }
    if "made" in manifest:
        found["played"] = str(manifest["made"])[:10]
    return found


def _notes(played: Run | Totals) -> list[str]:
    """Return what a reader must know of this run before anything else."""
    manifest, found = played.manifest, []
    if "shard" in manifest:
        found.append(
            f"This is shard {manifest['shard']} of a run alone; kozel merge joins all shards."
        )
    if isinstance(played, Totals):
        found.append(
            "The run kept sums alone (--aggregate): it has no ranks, no tables by seat and leader, "
            "and no matches to look at."
        )
    return found


def _design(played: Run | Totals) -> str:
    """Say who met whom, where, on how many deals."""
    manifest = played.manifest
    design, n = str(manifest["design"]), int(manifest["deals"])
    deals = f"{counted(n, 'deal')}"
    if seated(played):
        return f"The policies sat as they are listed ({design}), and kept their seats for {deals}."
    if "shard" in manifest:
        deals += f", of which this is shard {manifest['shard']}"
    many = f"up to {deals}, until it was sure" if "stop" in manifest else deals
    return f"{DESIGN_WORDS[design]} Each plays {many}."


def _policy(described: dict[str, Any]) -> dict[str, Any]:
    """Return what a policy is: a line of words, its ladders, the source of its functions."""
    name = str(described["name"])
    about = ""
    if name in BUILTIN:
        with set_aside():
            if describe_policy(get_policy(name)) == described:
                about = BUILTIN[name][1]
    parts = described["parts"]
    shares = [f"{part['share']} of the decisions: " if len(parts) > 1 else "" for part in parts]
    ladders = [
        f"{share}{part['ladder']}"
        for share, part in zip(shares, parts, strict=True)
        if "ladder" in part and part["ladder"] != name
    ]
    sources = [part["source"] for part in parts if "function" in part]
    return {"name": name, "about": about, "ladders": ladders, "sources": sources}


# ---------------------------------------------------------------------- notable matches


def _matches(played: Run) -> list[dict[str, Any]]:
    """Return the notable matches by rule set, the first ones with a replay."""
    found, left = [], MOST_REPLAYS
    for number, each in enumerate(notable_matches(played), 1):
        lines = []
        for match in each.matches:
            line = _line(match, played, f"replay-{number}-{match.kind}", left)
            left -= bool(line.packed)
            lines.append(line)
        title = f"{each.rules.name}, {each.rules.players} players"
        found.append({"title": title, "lines": lines, "lacking": _lacking(each)})
    return found


def _lacking(found: Found) -> list[str]:
    """Say where the biggest fish was looked for, and which kinds there are none of."""
    there = {match.kind for match in found.matches}
    words = [f"Biggest fish: {found.searched}."] if found.searched else []
    if FISH not in there and not found.searched:
        words.append("No round ended in a fish.")
    if CLOSEST not in there:
        words.append("No match had a goat and somebody who was none.")
    return words


def _line(match: Notable, played: Run, address: str, left: int) -> Line:
    """Return a notable match as it stands in the page."""
    described = {each["name"]: each for each in played.manifest["policies"]}
    seated = [described[name] for name in match.policies]
    command = replay_command(match.rules, seated, match.seed, match.deal, match.seating)
    title, facts = _told(match)
    if not left:
        return Line(title, facts, command, why_not="The command opens it.")
    try:
        record = play_again(match, played)
    except ValueError as error:
        return Line(title, facts, command, why_not=f"It cannot be played again here: {error}.")
    at, only = "", None
    if match.round is not None:
        at = f"{match.round}.{len(record.rounds[match.round].events)}"
        only = match.round if match.round < len(record.rounds) - MOST_ROUNDS else None
    html = replay_html(record, only)
    packed = base64.b64encode(zlib.compress(html.encode(), 9)).decode("ascii")
    return Line(title, facts, command, address, "", packed, at)


def _told(match: Notable) -> tuple[str, str]:
    """Say what is notable of a match, and which it is."""
    what = {
        LONGEST: f"{counted(match.value, 'round')}",
        FISH: f"{counted(match.value, 'point')} "
        f"{'credited to' if match.rules.ledger == 'credit' else 'written on'} seat {match.seat} "
        f"in round {match.round}"
        + f"; the pot of {match.waited} that had waited was paid in it"
        * bool(match.waited),
        CLOSEST: f"{counted(match.value, 'point')} apart",
    }[match.kind]
    facts = f"Deal {match.deal}, seating {match.seating}: {', '.join(match.policies)}"
    if match.points is not None:
        facts += f"; they ended with {', '.join(map(str, match.points))} points"
    return f"{TITLES[match.kind]}: {what}", f"{facts}."


# ---------------------------------------------------------------------- how it was made


def _again(played: Run | Totals) -> dict[str, str]:
    """Return the command that plays the run again, its experiment's file, and a note."""
    manifest = played.manifest
    command, file = run_command(manifest) or ("", "")
    note = ""
    functions = any("function" in part for each in manifest["policies"] for part in each["parts"])
    if functions:
        note = "FILE is the Python file that the functions among the policies are written in."
    if seated(played):
        rules = _rules(manifest["rules"][0])
        preset = f"RuleSet.from_knobs({rules.knobs()!r}, base={rules.base!r})"
        names = ", ".join(map(in_python, manifest["policies"]))
        needed = [
            "RuleSet",
            *["ladder"] * ("ladder(" in names),
            *["load_code"] * functions,
            "simulate",
        ]
        load = f"load_code({CODE.split()[-1]!r})\n" if functions else ""
        seating = int(str(manifest["design"]).split()[-1])
        aggregate = ", aggregate=True" if manifest.get("aggregate") else ""
        file = (
            f"from kozel_sim import {', '.join(needed)}\n\n{load}"
            f"rules = {preset}\n"
            f"simulate(rules, [{names}], {manifest['deals']}, {manifest['seed']}, "
            f"seating={seating}, folder='again'{aggregate})\n"
        )
    return {"command": command, "file": file, "note": note}


def _made(manifest: dict[str, Any]) -> dict[str, str]:
    """Return versions, machine, time and whatever else the manifest has of how it was made."""
    found = {"seed": str(manifest["seed"]), "kozel_sim": str(manifest["version"])}
    found["sources"] = str(manifest["sources"])
    versions = manifest.get("versions", {})
    found |= {key: str(value) for key, value in versions.items() if key not in found}
    found["random stream"] = found.pop("stream", str(manifest["stream"]))
    machine = manifest.get("machine", {})
    words = {"cpu": "processor", "cores": "cores", "system": "system"}
    found |= {words[key]: str(machine[key]) for key in words if machine.get(key)}
    if "made" in manifest:
        found["finished"] = str(manifest["made"])
    if "seconds" in manifest:
        found["time"] = seconds_text(float(manifest["seconds"]))
    for shard in manifest.get("shards", []):
        where = (shard.get("machine") or {}).get("cpu", "")
        found[f"shard {shard['shard']}"] = f"{shard.get('made', '')} {where}".strip()
    return found
