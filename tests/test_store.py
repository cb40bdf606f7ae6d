"""Runs on disk: what was saved is what is loaded, and nothing else is ever touched."""

import json
import re

import pandas as pd
import pytest
from command_line import picture
from user_policies import illegal, own_registry

from kozel_sim import RuleSet, load_run, policy, simulate, tournament
from kozel_sim.files import SCRATCH
from kozel_sim.policies import rebuild_policy
from kozel_sim.store import MANIFEST, holds_run

FIELD = ["random", "dump_heavy", "weights:pips=1,double=3"]


@pytest.fixture(scope="module")
def run():
    rules = [RuleSet.preset(name, 2) for name in ("room-fish-all", "livegames-goat")]
    return tournament(rules, FIELD, 20, seed=1)


# ---------------------------------------------------------------------- there and back


def test_saved_run_is_loaded_as_it_was(run, tmp_path):
    folder = run.save(tmp_path / "mine")
    again = load_run(str(folder))
    pd.testing.assert_frame_equal(again.frame, run.frame)
    more = {key: again.manifest[key] for key in ("files", "state", "part_sizes")}
    assert again.manifest == run.manifest | more
    assert (again.name, again.matches, again.rounds) == (run.name, run.matches, run.rounds)
    assert repr(again) == repr(run)
    pd.testing.assert_frame_equal(again.summary(), run.summary())


def test_run_in_several_files_is_loaded_as_it_was(run, tmp_path):
    folder = tmp_path / "mine"
    rules = [RuleSet.preset(name, 2) for name in ("room-fish-all", "livegames-goat")]
    played = tournament(rules, FIELD, 20, seed=1, chunk=50, folder=folder)
    files = played.manifest["files"]
    assert [entry["rows"] for entry in files] == [96, 96, 48] * 2
    found = sorted(name for name, content in picture(folder).items() if content is not None)
    assert found == sorted([MANIFEST, *(entry["file"] for entry in files)])
    for frame in (played.frame, load_run(folder).frame):
        pd.testing.assert_frame_equal(frame, run.frame)


def test_manifest_says_how_the_run_was_made(run, tmp_path):
    manifest = json.loads((run.save(tmp_path / "mine") / MANIFEST).read_text(encoding="utf-8"))
    assert manifest["format"] == "kozel-run/2"
    assert (manifest["seed"], manifest["deals"], manifest["engine"]) == (1, 20, "auto")
    assert [entry["name"] for entry in manifest["policies"]] == FIELD
    assert [rebuild_policy(entry).name for entry in manifest["policies"]] == FIELD
    assert manifest["counts"] == {"matches": 240, "rounds": run.rounds, "rows": 480}
    assert {"stream", "sources", "versions", "machine", "made", "seconds"} <= set(manifest)
    for entry in manifest["rules"]:
        rules = RuleSet.from_knobs(entry["knobs"], base=entry["base"])
        assert rules.digest == entry["digest"]


def test_run_may_be_saved_in_an_empty_folder(run, tmp_path):
    (tmp_path / "empty").mkdir()
    run.save(tmp_path / "empty")
    assert load_run(tmp_path / "empty").matches == run.matches


def test_folders_above_are_made(run, tmp_path):
    assert load_run(run.save(tmp_path / "a" / "b" / "c")).matches == run.matches


# ---------------------------------------------------------------------- never overwritten


def test_same_run_again_is_accepted_and_left_as_it_is(run, tmp_path):
    folder = run.save(tmp_path / "mine")
    before = picture(tmp_path)
    rules = [RuleSet.preset(name, 2) for name in ("room-fish-all", "livegames-goat")]
    again = tournament(rules, FIELD, 20, seed=1, workers=2, chunk=7)
    assert holds_run(folder, again.manifest)
    assert again.save(folder) == folder
    assert picture(tmp_path) == before


@pytest.mark.parametrize(
    ("changes", "differing"),
    [
        ({"seed": 2}, "seed 1 there, 2 now"),
        ({"deals": 21}, "deals 20 there, 21 now"),
        ({"policies": FIELD[::-1]}, f"policies {', '.join(FIELD)} there, {FIELD[2]}, "),
        ({"rules": "room-fish-one"}, "rules room-fish-all there, room-fish-one now"),
        ({"design": "duels"}, "design rotations there, duels now; other schedule"),
    ],
)
def test_folder_of_a_different_run_is_refused(tmp_path, changes, differing):
    values = {"rules": "room-fish-all", "policies": FIELD, "deals": 20, "seed": 1, "players": 2}
    tournament(**values).save(tmp_path / "mine")
    before = picture(tmp_path)
    with pytest.raises(FileExistsError, match=re.escape(differing)):
        tournament(**(values | changes)).save(tmp_path / "mine")
    assert picture(tmp_path) == before


@pytest.mark.parametrize("name", ["results.csv", ".hidden", "deep/file"])
def test_folder_of_foreign_files_is_refused(run, tmp_path, name):
    path = tmp_path / "mine" / name
    path.parent.mkdir(parents=True)
    path.write_text("precious", "utf-8")
    before = picture(tmp_path)
    with pytest.raises(FileExistsError, match="mine is not empty and holds no run"):
        run.save(tmp_path / "mine")
    assert picture(tmp_path) == before


def test_folder_with_a_foreign_manifest_is_refused(run, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / MANIFEST).write_text('{"name": "another program"}', "utf-8")
    before = picture(tmp_path)
    with pytest.raises(ValueError, match="not a manifest of the format kozel-run/2"):
        run.save(tmp_path / "mine")
    assert picture(tmp_path) == before


@pytest.mark.parametrize("inside", [".", "deep/er"])
def test_file_in_the_way_is_refused(run, tmp_path, inside):
    (tmp_path / "file").write_text("precious", "utf-8")
    before = picture(tmp_path)
    with pytest.raises(NotADirectoryError, match="file"):
        run.save(tmp_path / "file" / inside)
    assert picture(tmp_path) == before


def test_link_to_nothing_is_refused(run, tmp_path):
    (tmp_path / "link").symlink_to("nothere")
    before = picture(tmp_path)
    with pytest.raises(FileExistsError, match="link is a symbolic link"):
        run.save(tmp_path / "link")
    with pytest.raises(FileExistsError, match="link is a symbolic link"):
        run.save(tmp_path / "link" / "mine")
    assert picture(tmp_path) == before


def test_working_folder_may_be_the_runs(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run.save(".")
    assert load_run(tmp_path).matches == run.matches


@pytest.mark.parametrize("inside", ["mine", "a/b/mine"])
def test_run_that_fails_before_its_first_part_leaves_nothing_behind(tmp_path, inside):
    with own_registry():
        policy(illegal)
        with pytest.raises(ValueError, match="illegal"):
            tournament("room-fish-all", ["illegal", "random"], 3, 1, players=2,
                       folder=tmp_path / inside)  # fmt: skip
    assert picture(tmp_path) == {}
    (tmp_path / "empty").mkdir()
    with own_registry():
        policy(illegal)
        with pytest.raises(ValueError, match="illegal"):
            tournament("room-fish-all", ["illegal", "random"], 3, 1, players=2,
                       folder=tmp_path / "empty")  # fmt: skip
    assert picture(tmp_path) == {"empty": None}


# ---------------------------------------------------------------------- damaged


@pytest.fixture
def saved(tmp_path):
    return simulate("room-fish-all", FIELD[:2], 5, seed=1).save(tmp_path / "mine")


def part_of(folder):
    """The only part of a run."""
    (path,) = folder.glob("matches/*/*.parquet")
    return path


def complaint(folder):
    """The one line that says why a folder cannot be loaded."""
    with pytest.raises(ValueError, match=str(folder)) as error:
        load_run(folder)
    text = str(error.value)
    assert "\n" not in text
    return text


def test_folder_without_a_run_is_refused(tmp_path):
    assert "holds no run" in complaint(tmp_path)
    assert "holds no run" in complaint(tmp_path / "nothere")


def test_missing_parquet_is_named(saved):
    part_of(saved).unlink()
    assert complaint(saved).endswith(
        "deal-000000000000.parquet is missing; the command that made the run plays it again"
    )


@pytest.mark.parametrize("damage", ["one bit", "cut", "empty"])
def test_damaged_parquet_is_named(saved, damage):
    path = part_of(saved)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes({"one bit": data, "cut": data[: len(data) // 2], "empty": b""}[damage])
    assert "deal-000000000000.parquet is damaged" in complaint(saved)


@pytest.mark.parametrize("text", ["", "{", "[]", '"kozel-run/2"', '{"format": "kozel-run/1"}'])
def test_damaged_manifest_is_named(saved, text):
    (saved / MANIFEST).write_text(text, "utf-8")
    assert MANIFEST in complaint(saved)


@pytest.mark.parametrize("key", ["files", "sha256"])
def test_manifest_without_its_files_is_named(saved, key):
    text = (saved / MANIFEST).read_text("utf-8").replace(f'"{key}"', '"gone"')
    (saved / MANIFEST).write_text(text, "utf-8")
    assert MANIFEST in complaint(saved)


def test_folder_of_a_process_that_ended_at_its_first_file_is_free(tmp_path):
    (tmp_path / f"{SCRATCH}0123").write_bytes(b'{"format"')
    again = tournament("room-fish-all", FIELD[:2], 4, seed=1, players=2, folder=tmp_path)
    assert load_run(tmp_path).frame.equals(again.frame)
    assert not list(tmp_path.glob(f"{SCRATCH}*"))
