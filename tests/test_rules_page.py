"""The page of rules against the code: knobs, values, presets, refusals and examples."""

from __future__ import annotations

import re
from typing import get_args

import pages
import pytest

from kozel_sim.presets import PRESETS
from kozel_sim.rules import RuleSet, Settlement, knob_choices, knob_names

PAGE = pages.read("docs/rules.md")
DEFAULTS = RuleSet().knobs()
FIELDS = {f.alias or name: name for name, f in RuleSet.model_fields.items()}

PARAGRAPHS = {
    knob: (default, re.findall(r"^- ((?:`[^`]*`|[^:`\n])+)", bullets, re.MULTILINE))
    for knob, default, bullets in re.findall(
        r"^\*\*`(\w+)`\*\*, default `(.+?)`\.(?:.+\n)+\n((?:(?:- |  ).+\n)+)", PAGE, re.MULTILINE
    )
}
"""Each knob's paragraph: its default, and how its bullets begin."""

REFUSALS = re.findall(r"^\|.*\| `([\w-]+)` with `(\w+)=(\w+)` \|$", PAGE, re.MULTILINE)


def word(value: object) -> str:
    """A knob's value as the page writes it."""
    if isinstance(value, list):
        return "+".join(value) or "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def either(numbers: list[int] | tuple[int, ...]) -> str:
    """Numbers as ``2, 3 or 4``."""
    *most, last = map(str, numbers)
    return f"{', '.join(most)} or {last}" if most else last


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split(" | ")]


def section(number: int) -> str:
    """The text between two headings."""
    found = re.search(rf"^## {number}\. .*?(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found.group()


def values_of(knob: str) -> list[str]:
    """The words that a knob can be; [] where it takes a number or a text."""
    if knob == "settlement":
        return list(get_args(Settlement))
    if isinstance(DEFAULTS[knob], bool):
        return ["false", "true"]
    return [word(value) for value in knob_choices(FIELDS[knob])]


# ---------------------------------------------------------------------- knobs


def test_every_knob_has_a_paragraph_in_the_order_of_the_record():
    assert list(PARAGRAPHS) == knob_names()


@pytest.mark.parametrize("knob", knob_names())
def test_paragraph_of_a_knob_names_its_default_and_every_value(knob):
    default, bullets = PARAGRAPHS[knob]
    assert default == word(DEFAULTS[knob])
    values = values_of(knob)
    named = [value for bullet in bullets for value in re.findall(r"`([^`]+)`", bullet)]
    if values:
        assert named == values
    else:
        assert bullets


@pytest.mark.parametrize("knob", ["open_at", "target", "elo_k", "max_rounds"])
def test_paragraph_of_a_number_names_its_limits(knob):
    (low, high) = map(int, re.findall(r"from (\d+) to (\d+)", PARAGRAPHS[knob][1][0])[0])
    inside = RuleSet(target=10_000)
    for value in (low, high):
        assert getattr(inside.replace(**{knob: value}), knob) == value
    for value in (low - 1, high + 1):
        with pytest.raises(ValueError, match=f"^{knob}="):
            inside.replace(**{knob: value})


@pytest.mark.parametrize("text", [v.strip("`") for v in PARAGRAPHS["tile_over"][1]])
def test_examples_of_tile_values_can_be_read(text):
    assert RuleSet(tile_over=text).tile_over == text


def test_refused_examples_are_refused_each_for_its_own_reason():
    reasons = set()
    for preset, knob, value in REFUSALS:
        with pytest.raises(ValueError, match=r"^\w+") as error:
            RuleSet.preset(preset).replace(**{knob: int(value) if value.isdigit() else value})
        reasons.add(str(error.value))
    assert len(reasons) == len(REFUSALS) == 17


# ---------------------------------------------------------------------- presets


def preset_row(name: str) -> str:
    preset = PRESETS[name]
    return f"| `{name}` | {preset.source} | {either(preset.players)} | {preset.summary} |"


def difference_row(name: str) -> str:
    """A preset's knobs that differ from the defaults, with the numbers of players they are for."""
    by_players = {n: RuleSet.preset(name, n).knobs() for n in PRESETS[name].players}
    changes = []
    for knob in knob_names():
        words = {n: word(knobs[knob]) for n, knobs in by_players.items()}
        changed = [n for n in words if words[n] != word(DEFAULTS[knob])]
        if knob == "players" or not changed:
            continue
        assert len({words[n] for n in changed}) == 1
        who = f" ({either(changed)} players)" if len(changed) < len(words) else ""
        changes.append(f"`{knob}={words[changed[0]]}`{who}")
    return f"| `{name}` | {', '.join(changes)} |"


def test_tables_of_presets_are_those_of_the_code():
    rows = [line for line in section(5).splitlines() if line.startswith("| `")]
    assert rows == [*map(preset_row, PRESETS), *map(difference_row, PRESETS)]


def test_public_extras_are_marked():
    extras = [name for name, preset in PRESETS.items() if preset.source.startswith("public extra")]
    assert len(extras) == 5
    marked = section(6).partition("### Public extras")[2].partition("###")[0]
    assert re.findall(r"^- `([\w-]+)`", marked, re.MULTILINE) == extras


# ---------------------------------------------------------------------- the rest of the page


def test_what_looks_like_a_preset_or_a_change_of_a_knob_is_one():
    """A renamed knob, value or preset must not survive in the prose."""
    for knob, value in re.findall(r"`(\w+)=(\w+)`", PAGE):
        assert knob in FIELDS
        values = values_of(knob)
        assert not values or value in values or knob == "players"
    for name in re.findall(r"`([a-z]\w*(?:-\w+)+)`", PAGE):
        assert name in PRESETS


def test_settlements_name_every_value_and_its_function():
    table = [cells(line) for line in section(7).splitlines() if line.startswith("| `")]
    assert sorted(row[0].strip("`") for row in table) == sorted(get_args(Settlement))


def test_links_lead_somewhere():
    assert PAGE.count("](#") > 8
    assert pages.broken_links("docs/rules.md") == []


def test_snippets_run_as_they_stand():
    pages.doctests(PAGE, "docs/rules.md", least=61)
