"""CONTRIBUTING.md: its layers are those of the tests, and what it names is there."""

import re

import pages
from test_layers import LAYERS

from kozel_sim.checks import ENGINES

PAGE = pages.read("CONTRIBUTING.md")


def test_modules_stand_under_their_layers():
    found = {
        layer: re.findall(r"`(\w+)`", modules)
        for layer, modules in re.findall(r"^\| (\w+) \| [^|`]+ \| (`.*) \|$", PAGE, re.MULTILINE)
    }
    assert list(found) == list(reversed(LAYERS)), "faces first"
    assert found == {layer: modules.split() for layer, modules in LAYERS.items()}


def test_files_it_names_are_there():
    """Names without a folder are those of the package, or beside the file named last."""
    named = set(re.findall(r"`([\w./-]+\.(?:py|md|toml|lock|png))`", PAGE))
    assert len(named) > 25
    placed = {name for name in named if not name.endswith("NAME.png")}
    package = ("kozel_sim", "kozel_sim/engine", "kozel_sim/engine/lockstep")
    homes = [pages.ROOT / folder for folder in ("", *package, "tests", "benchmarks")]
    assert [name for name in placed if not any((home / name).is_file() for home in homes)] == []
    for folder in re.findall(r"`([\w./-]+/)`", PAGE):
        assert (pages.ROOT / folder).is_dir() or folder == "results/", folder


def test_words_it_names_are_in_the_code():
    for word, file in [
        ("BUILTIN", "kozel_sim/policies/builtin.py"),
        ("NEVER_COMPILED", "kozel_sim/provenance.py"),
        ("playable", "kozel_sim/rules.py"),
        ("why_not", "kozel_sim/engine/lockstep/play.py"),
        ("KNOBS", "tests/test_engine_settle.py"),
        ("PICTURES", "tests/pictures.py"),
        ("new_axes", "kozel_sim/drawing.py"),
        ("test_digest_is_pinned", "tests/test_rules.py"),
    ]:
        assert word in pages.read(file)
        assert word.removeprefix("test_").partition("_is")[0] in PAGE


def test_targets_of_make_are_there():
    targets = re.findall(r"^([a-z-]+):.*## ", pages.read("Makefile"), re.MULTILINE)
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", PAGE, re.MULTILINE))
    assert named == set(targets) - {"run", "format", "clean"}


def test_message_it_quotes_is_one():
    assert f"choose from auto,\n  {', '.join(ENGINES[1:])}`" in PAGE


def test_links_lead_somewhere():
    assert pages.broken_links("CONTRIBUTING.md") == []
