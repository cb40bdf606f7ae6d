"""Runs whose files are lost, damaged or forged: one line of complaint, and nothing outside them."""

import copy
import json
import random

import pytest

from kozel_sim import load_run, tournament
from kozel_sim.experiment import load_experiment
from kozel_sim.merging import merge
from kozel_sim.runs import load
from kozel_sim.store import JOURNAL, MANIFEST, read_manifest
from kozel_sim.verifying import verify

WHAT = {"rules": "room-fish-all", "policies": ["random", "dump_heavy"], "deals": 6, "seed": 1}
VALUES = [None, [], {}, 1, -1, 1.5, "x", "", True, 10**30, "\0", [[]], "../x", float("nan"),
          "\ud800"]  # fmt: skip


def places(value, at=()):
    yield at
    listed = enumerate(value) if isinstance(value, list) else ()
    for key, each in value.items() if isinstance(value, dict) else listed:
        yield from places(each, (*at, key))


def complaint(folder):
    """What is said of a run that cannot be read; nothing where it can be."""
    try:
        load(folder).summary()
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("more", [{"rounds": True}, {"aggregate": True}, {"design": "duels"}])
def test_manifest_that_was_changed_anywhere_is_one_line(tmp_path, more):
    tournament(**WHAT, **more, players=2, folder=tmp_path)
    whole = json.loads((tmp_path / MANIFEST).read_text("utf-8"))
    draw, refused = random.Random(1), 0
    for _ in range(200):
        changed = copy.deepcopy(whole)
        *above, key = draw.choice([place for place in places(whole) if place])
        inner = changed
        for each in above:
            inner = inner[each]
        if draw.random() < 0.1:
            del inner[key]
        else:
            inner[key] = draw.choice(VALUES)
        (tmp_path / MANIFEST).write_text(json.dumps(changed), "utf-8")
        said = complaint(tmp_path)
        refused += bool(said)
        assert not said or (str(tmp_path) in said and "\n" not in said)
    assert refused > 150


@pytest.mark.parametrize("line", ["[]", "1", "{}", "null"])
def test_journal_that_was_changed_is_one_line(tmp_path, line):
    tournament(**WHAT, players=2, folder=tmp_path)
    (tmp_path / JOURNAL).write_text(f"{line}\n", "utf-8")
    with pytest.raises(ValueError, match=r"parts.jsonl is damaged: line 1: "):
        read_manifest(tmp_path)


@pytest.mark.parametrize("name", ["../planted", "/dev/zero", "matches/../../x", "matches/\0"])
def test_name_that_leads_out_of_the_folder_is_refused(tmp_path, name):
    folder = tmp_path / "run"
    tournament(**WHAT, players=2, folder=folder)
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    manifest["files"][0]["file"] = name
    manifest["shard"] = "1/1"
    (folder / MANIFEST).write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(ValueError, match=r"files.0.file: no part of a run has such a name"):
        merge([folder], tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "planted").exists()


@pytest.mark.parametrize("which", ["file", "folder", "manifest", "device"])
def test_link_in_place_of_a_runs_file_is_refused(tmp_path, which):
    folder = tmp_path / "run"
    tournament(**WHAT, players=2, folder=folder)
    (part,) = folder.glob("matches/*/*")
    place = {"folder": folder / "matches", "manifest": folder / MANIFEST}.get(which, part)
    place.rename(tmp_path / "outside")
    place.symlink_to("/dev/zero" if which == "device" else tmp_path / "outside")
    with pytest.raises(ValueError, match="is a link"):
        load_run(folder)
    with pytest.raises(ValueError, match="is a link"):
        tournament(**WHAT, players=2, folder=folder)


def test_lost_rounds_are_played_again_and_damaged_ones_are_told(tmp_path):
    what = {**WHAT, "players": 2, "rounds": True, "folder": tmp_path}
    before = tournament(**what).rounds_frame
    (path,) = tmp_path.glob("rounds/*/*")
    content = path.read_bytes()
    path.unlink()
    with pytest.raises(ValueError, match="is missing; the command that made the run plays it"):
        load_run(tmp_path)
    assert tournament(**what).rounds_frame.equals(before)
    assert path.read_bytes() == content
    path.write_bytes(content[:-1])
    for read in (lambda: load_run(tmp_path), lambda: tournament(**what)):
        with pytest.raises(ValueError, match=r"is damaged: its hash .* remove it, and the command"):
            read()


def swap_names(manifest):
    a, b = manifest["policies"]
    a["name"], b["name"] = b["name"], a["name"]


@pytest.mark.parametrize(
    ("forge", "said"),
    [
        (swap_names, "policy dump_heavy is another one than that name stands for"),
        (lambda m: m["counts"].update(matches=13), "counts: it has 12 matches, not 13"),
        (lambda m: m["counts"].update(rows=25), "counts: it has 24 rows, not 25"),
        (lambda m: m.update(part_sizes=[5]), "has 6 deals, and a part 5"),
        (lambda m: m.update(blocks=2, part_sizes=[6, 6]), "it has 1 blocks, not 2"),
    ],
)
def test_claims_that_the_design_does_not_bear_out_are_found(tmp_path, forge, said):
    tournament(**WHAT, players=2, folder=tmp_path)
    assert all(finding.ok for finding in verify(tmp_path, 10))
    manifest = json.loads((tmp_path / MANIFEST).read_text("utf-8"))
    forge(manifest)
    (tmp_path / MANIFEST).write_text(json.dumps(manifest), "utf-8")
    assert any(said in finding.detail for finding in verify(tmp_path, 10))


def test_experiment_that_is_endless_or_too_deep_is_refused(tmp_path):
    with pytest.raises(ValueError, match="/dev/zero holds more than 1,048,576 bytes"):
        load_experiment("/dev/zero")
    (tmp_path / "deep.toml").write_text(f"a = {'[' * 10_000}", "utf-8")
    with pytest.raises(ValueError, match=r"deep.toml is not valid TOML"):
        load_experiment(tmp_path / "deep.toml")
