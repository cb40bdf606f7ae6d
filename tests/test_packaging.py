"""The lock file agrees with pyproject.toml and holds nothing that ties it to one place."""

import re
import shutil
import subprocess
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def locked_lines() -> list[str]:
    """Each requirement of the lock with its hashes, on one line."""
    joined = re.sub(r"\\\n\s*", "", LOCK)
    return [line for line in joined.splitlines() if line and not line.startswith("#")]


def locked_versions() -> dict[str, set[str]]:
    versions: dict[str, set[str]] = {}
    for line in locked_lines():
        requirement = Requirement(line.split(" --hash=")[0])
        (pin,) = requirement.specifier
        versions.setdefault(canonicalize_name(requirement.name), set()).add(pin.version)
    return versions


def declared_requirements() -> list[str]:
    project = PROJECT["project"]
    declared = (
        project["dependencies"]
        + project["optional-dependencies"]["notebook"]
        + PROJECT["dependency-groups"]["dev"]
    )
    return sorted(set(declared))


def test_every_locked_requirement_is_exact_and_hashed():
    pinned = re.compile(r"[\w.-]+==[^\s*]+( ; .+?)?( --hash=sha256:[0-9a-f]{64})+")
    assert locked_lines()
    assert [line for line in locked_lines() if not pinned.fullmatch(line)] == []


@pytest.mark.parametrize("word", ["://", "--index-url", "--extra-index-url", "--find-links"])
def test_lock_names_no_place_to_fetch_from(word):
    assert word not in LOCK


@pytest.mark.parametrize("declared", declared_requirements())
def test_declared_requirement_is_locked(declared):
    requirement = Requirement(declared)
    versions = locked_versions().get(canonicalize_name(requirement.name), set())
    assert versions, "not locked: run make lock"
    assert all(requirement.specifier.contains(version) for version in versions)


def test_no_other_lock_file_is_tracked():
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("not a git checkout")
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    names = {Path(path).name for path in tracked}
    assert not [n for n in names if n == "uv.lock" or fnmatch(n, "pylock*.toml")]


def test_citation_is_of_this_project():
    """What CFF 1.2.0 demands, and figures that are kept elsewhere, too."""
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    about = PROJECT["project"]
    known = {"cff-version", "message", "type", "title", "abstract", "authors", "version"}
    assert {"cff-version", "message", "title", "authors"} <= set(cff)
    assert set(cff) <= known | {"license", "keywords", "doi", "url", "repository-code"}
    assert cff["cff-version"] == "1.2.0"
    assert cff["type"] == "software"
    assert cff["title"] == about["name"]
    assert cff["version"] == about["version"]
    assert cff["license"] == about["license"]
    # An entity has a name; a person would have given-names and family-names.
    assert cff["authors"] == about["authors"]
    assert all(isinstance(word, str) and word for word in cff["keywords"])
    assert len(cff["keywords"]) == len(set(cff["keywords"]))


# ---------------------------------------------------------------------- the oldest versions


def test_oldest_versions_are_tested_by_files_that_are_there():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    (names,) = re.findall(r"^OLDEST_TESTS := (.*)$", makefile, re.MULTILINE)
    missing = [name for name in names.split() if not (ROOT / f"tests/test_{name}.py").is_file()]
    assert missing == []
    assert "--resolution lowest-direct" in makefile
    assert "/.venv-oldest\n" in (ROOT / ".gitignore").read_text(encoding="utf-8")


@pytest.mark.parametrize("declared", PROJECT["project"]["dependencies"])
def test_every_dependency_has_a_lower_bound(declared):
    assert [each.operator for each in Requirement(declared).specifier] == [">="]


def test_versions_that_were_seen_to_fail_are_not_allowed():
    allowed = {
        each.name: each.specifier for each in map(Requirement, PROJECT["project"]["dependencies"])
    }
    for name, version in [
        # A rule set's knob `pass` is not found by its name.
        ("pydantic", "2.9.2"),
        ("pydantic", "2.10.6"),
        # No --help with the click that is installed beside it.
        ("typer", "0.15.0"),
        ("typer", "0.15.3"),
    ]:
        assert version not in allowed[name], (name, version)
