"""Runs on disk: what was saved is what is loaded, and nothing else is ever touched."""

import json

import pandas as pd
import pytest
from command_line import picture

from kozel_sim import RuleSet, get_policy, load_run, simulate, store, tournament
from kozel_sim.store import MANIFEST, prepare_folder

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
    assert again.manifest == run.manifest | {"files": again.manifest["files"]}
    assert (again.name, again.matches, again.rounds) == (run.name, run.matches, run.rounds)
    assert repr(again) == repr(run)
    pd.testing.assert_frame_equal(again.summary(), run.summary())


def test_run_in_several_files_is_loaded_as_it_was(run, tmp_path, monkeypatch):
    monkeypatch.setattr(store, "ROWS_PER_FILE", 100)
    folder = run.save(tmp_path / "mine")
    files = load_run(folder).manifest["files"]
    assert [entry["rows"] for entry in files] == [100, 100, 100, 100, 80]
    assert sorted(picture(folder)) == sorted([MANIFEST, *(entry["file"] for entry in files)])
    pd.testing.assert_frame_equal(load_run(folder).frame, run.frame)


def test_manifest_says_how_the_run_was_made(run, tmp_path):
    manifest = json.loads((run.save(tmp_path / "mine") / MANIFEST).read_text(encoding="utf-8"))
    assert manifest["format"] == "kozel-run/1"
    assert (manifest["seed"], manifest["deals"], manifest["engine"]) == (1, 20, "auto")
    assert [entry["name"] for entry in manifest["policies"]] == FIELD
    ladders = [get_policy(ladder) for entry in manifest["policies"] for ladder in entry["ladders"]]
    assert [p.parts for p in ladders] == [get_policy(name).parts for name in FIELD]
    assert manifest["counts"] == {"matches": 240, "rounds": run.rounds, "rows": 480}
    assert {"stream", "sources", "versions", "machine", "made", "seconds"} <= set(manifest)
    for entry in manifest["rules"]:
        rules = RuleSet.from_knobs(entry["knobs"], base=entry["preset"])
        assert rules.digest == entry["digest"]


def test_run_may_be_saved_in_an_empty_folder(run, tmp_path):
    (tmp_path / "empty").mkdir()
    run.save(tmp_path / "empty")
    assert load_run(tmp_path / "empty").matches == run.matches


def test_folders_above_are_made(run, tmp_path):
    assert load_run(run.save(tmp_path / "a" / "b" / "c")).matches == run.matches


def test_extra_files_are_saved_with_the_run(run, tmp_path):
    folder = run.save(
        tmp_path / "mine", extra=lambda place: (place / "note.txt").write_text("so", "utf-8")
    )
    assert (folder / "note.txt").read_text("utf-8") == "so"
    assert load_run(folder).matches == run.matches


# ---------------------------------------------------------------------- never overwritten


def test_same_run_again_is_accepted_and_left_as_it_is(run, tmp_path):
    folder = run.save(tmp_path / "mine")
    before = picture(tmp_path)
    rules = [RuleSet.preset(name, 2) for name in ("room-fish-all", "livegames-goat")]
    again = tournament(rules, FIELD, 20, seed=1, workers=2, chunk=7)
    assert prepare_folder(folder, again.manifest)
    assert again.save(folder) == folder
    assert picture(tmp_path) == before


@pytest.mark.parametrize(
    ("changes", "differing"),
    [
        ({"seed": 2}, "seed"),
        ({"deals": 21}, "deals"),
        ({"policies": FIELD[::-1]}, "policies"),
        ({"rules": "room-fish-one"}, "rules"),
        ({"engine": "reference", "deals": 2}, "deals, engine"),
    ],
)
def test_folder_of_a_different_run_is_refused(tmp_path, changes, differing):
    values = {"rules": "room-fish-all", "policies": FIELD, "deals": 20, "seed": 1, "players": 2}
    tournament(**values).save(tmp_path / "mine")
    before = picture(tmp_path)
    with pytest.raises(FileExistsError, match=rf"mine holds a different run \(other {differing}\)"):
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
    with pytest.raises(ValueError, match="not a manifest of the format kozel-run/1"):
        run.save(tmp_path / "mine")
    assert picture(tmp_path) == before


@pytest.mark.parametrize("inside", [".", "deep/er"])
def test_file_in_the_way_is_refused(run, tmp_path, inside):
    (tmp_path / "file").write_text("precious", "utf-8")
    before = picture(tmp_path)
    with pytest.raises(NotADirectoryError, match="file"):
        run.save(tmp_path / "file" / inside)
    assert picture(tmp_path) == before


def test_folder_that_cannot_be_replaced_is_refused(run, tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("nothere")
    before = picture(tmp_path)
    with pytest.raises(FileExistsError, match="link is a symbolic link"):
        run.save(tmp_path / "link")
    with pytest.raises(FileExistsError, match="link is a symbolic link"):
        run.save(tmp_path / "link" / "mine")
    monkeypatch.chdir(tmp_path / "empty")
    for folder in (".", tmp_path / "empty", "../empty"):
        with pytest.raises(FileExistsError, match="cannot be replaced by a run's folder"):
            run.save(folder)
    assert picture(tmp_path) == before


def test_saving_that_fails_midway_leaves_nothing_behind(run, tmp_path):
    def extra(place):
        assert list(place.glob("*.parquet"))
        raise RuntimeError("no ink")

    with pytest.raises(RuntimeError, match="no ink"):
        run.save(tmp_path / "mine", extra)
    assert picture(tmp_path) == {}
    (tmp_path / "empty").mkdir()
    with pytest.raises(RuntimeError, match="no ink"):
        run.save(tmp_path / "empty", extra)
    assert picture(tmp_path) == {"empty": None}


def test_saving_that_fails_midway_leaves_no_folders_above(run, tmp_path):
    def extra(place):
        raise RuntimeError("no ink")

    with pytest.raises(RuntimeError, match="no ink"):
        run.save(tmp_path / "a" / "b" / "mine", extra)
    assert picture(tmp_path) == {}


# ---------------------------------------------------------------------- damaged


@pytest.fixture
def saved(tmp_path):
    return simulate("room-fish-all", FIELD[:2], 5, seed=1).save(tmp_path / "mine")


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
    (saved / "matches-00000.parquet").unlink()
    assert complaint(saved).endswith("matches-00000.parquet is missing")


@pytest.mark.parametrize("damage", ["one bit", "cut", "empty"])
def test_damaged_parquet_is_named(saved, damage):
    path = saved / "matches-00000.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes({"one bit": data, "cut": data[: len(data) // 2], "empty": b""}[damage])
    assert "matches-00000.parquet is damaged" in complaint(saved)


@pytest.mark.parametrize("text", ["", "{", "[]", '"kozel-run/1"', '{"format": "kozel-run/2"}'])
def test_damaged_manifest_is_named(saved, text):
    (saved / MANIFEST).write_text(text, "utf-8")
    assert MANIFEST in complaint(saved)


@pytest.mark.parametrize("key", ["files", "sha256"])
def test_manifest_without_its_files_is_named(saved, key):
    text = (saved / MANIFEST).read_text("utf-8").replace(f'"{key}"', '"gone"')
    (saved / MANIFEST).write_text(text, "utf-8")
    assert MANIFEST in complaint(saved)
