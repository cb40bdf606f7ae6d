"""A finished run is extended to more deals, and is then the run that was played at once."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from command_line import picture, runner

from kozel_sim import load_run, load_totals, tournament
from kozel_sim.experiment import Experiment
from kozel_sim.extending import EXTENSION
from kozel_sim.manifest import MANIFEST
from kozel_sim.merging import merge
from kozel_sim.parts import PartPlayer
from kozel_sim.stopping import read_stop
from kozel_sim.store import read_manifest
from kozel_sim.totals import same_sums
from kozel_sim.tournaments import Tournament
from kozel_sim.verifying import verify

FIELD = ["random", "dump_heavy", "weights:pips=1,double=3"]
DUEL = {"rules": "room-fish-all", "policies": FIELD[:2], "seed": 7, "players": 2}
RUNS = {
    "orders": {
        "rules": ["room-fish-all", "livegames-goat"],
        "policies": [*FIELD, "seven_tips"],
        "seed": 7,
        "players": 4,
    },
    "duels": DUEL | {"policies": FIELD, "design": "duels"},
    "permutations": DUEL | {"policies": FIELD, "design": "permutations", "players": 3},
    "rounds": DUEL | {"rounds": True},
}
"""By name: what is played, with any number of deals."""


@pytest.fixture
def kozel(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    return runner(monkeypatch, capsys)


@pytest.fixture
def played(monkeypatch):
    """The deals that are played from here on, by block."""
    found = {}
    real = PartPlayer.play

    def play(self, part, progress=None):
        found.setdefault(part.block, []).extend(range(part.first, part.end))
        return real(self, part, progress)

    monkeypatch.setattr(PartPlayer, "play", play)
    return found


def assert_same(found, whole):
    """Two runs are equal to the bit."""
    pd.testing.assert_frame_equal(found.frame, whole.frame, check_exact=True)
    if whole.rounds_frame is not None:
        pd.testing.assert_frame_equal(found.rounds_frame, whole.rounds_frame, check_exact=True)
    pd.testing.assert_frame_equal(found.summary(), whole.summary(), check_exact=True)
    assert found.manifest["counts"] == whole.manifest["counts"]


def assert_sound(folder):
    """All is listed, as it was written, and comes out the same; nothing else is there."""
    wrong = [finding for finding in verify(folder, 10**6) if not finding.ok]
    assert wrong == []
    manifest = read_manifest(folder)
    names = {name for name, content in picture(folder).items() if content is not None}
    assert names == {MANIFEST, *(entry["file"] for entry in manifest["files"])}
    return manifest


@pytest.mark.parametrize("name", RUNS)
def test_extended_run_is_that_played_at_once(tmp_path, name, played):
    what, folder = RUNS[name], tmp_path / "run"
    tournament(**what, deals=24, chunk=70, folder=folder)
    blocks = sorted(played)
    stages = [read_manifest(folder)]
    for before, deals, chunk in ((24, 42, 1000), (42, 120, 100)):
        played.clear()
        run = tournament(**what, deals=deals, chunk=chunk, folder=folder, workers=2)
        assert {b: sorted(there) for b, there in played.items()} == {
            b: list(range(before, deals)) for b in blocks
        }
        whole = tournament(**what, deals=deals)
        assert_same(run, whole)
        assert_same(load_run(folder), whole)
        stages.append(assert_sound(folder))
    first, second, last = stages
    assert last["deals"] == 120
    keys = ("deals", "made", "seconds", "versions", "machine")
    assert last["extended"] == [{key: each[key] for key in keys} for each in (first, second)]
    assert last["seconds"] >= second["seconds"] >= first["seconds"]
    before = picture(folder)
    played.clear()
    tournament(**what, deals=120, folder=folder)
    assert (picture(folder), played) == (before, {})


def test_extended_sums_are_those_added_at_once(tmp_path, played):
    what = RUNS["orders"] | {"rules": ["room-fish-all", "livegames-goat"], "aggregate": True}
    folder = tmp_path / "sums"
    tournament(**what, deals=24, chunk=100, folder=folder)
    played.clear()
    found = tournament(**what, deals=61, folder=folder)
    assert played == {0: list(range(24, 66))}
    whole = tournament(**what, deals=66)
    assert same_sums(found.sums, whole.sums)
    assert same_sums(load_totals(folder).sums, whole.sums)
    manifest = assert_sound(folder)
    assert (manifest["deals"], manifest["deals_asked"]) == (66, 61)


def test_saved_run_is_extended(tmp_path):
    folder = tournament(**DUEL, deals=20).save(tmp_path / "run")
    assert_same(tournament(**DUEL, deals=50, folder=folder), tournament(**DUEL, deals=50))
    assert_sound(folder)
    sums = DUEL | {"aggregate": True}
    folder = tournament(**sums, deals=20).save(tmp_path / "sums")
    found = tournament(**sums, deals=50, folder=folder)
    assert same_sums(found.sums, tournament(**sums, deals=50).sums)
    assert_sound(folder)


def stopped(deals, rule="sprt"):
    values = {"name": "x", "rules": ["room-fish-all"], "players": [2], "seed": 3}
    values |= {"policies": ["random", "dump_heavy", "seven_tips"], "design": "duels"}
    return Tournament.of(Experiment.read(values | {"deals": deals}, "x"), stop=read_stop(rule))


@pytest.mark.parametrize("rule", ["sprt", "width=0.05"])
@pytest.mark.parametrize("deals", [(110, 111), (110, 900), (900, 905)])
def test_run_that_stops_is_extended_look_by_look(tmp_path, rule, deals):
    """The looks of fewer deals are those of more, but for the last one."""
    folder = tmp_path / "run"
    stopped(deals[0], rule).play(folder=folder)
    found, whole = stopped(deals[1], rule).play(folder=folder), stopped(deals[1], rule).play()
    assert_same(found, whole)
    assert found.manifest["stopping"] == whole.manifest["stopping"]
    assert_sound(folder)


# ---------------------------------------------------------------------- cut off


def break_at(monkeypatch, first, fault=None):
    """Let parts fail from a deal on."""
    real = PartPlayer.play

    def play(self, part, progress=None):
        if part.first >= first:
            raise fault or RuntimeError("no ink")
        return real(self, part, progress)

    monkeypatch.setattr(PartPlayer, "play", play)


def test_extension_of_which_nothing_was_kept_leaves_no_trace(tmp_path, monkeypatch):
    folder = tmp_path / "run"
    tournament(**DUEL, deals=24, folder=folder)
    before = picture(folder)
    with monkeypatch.context() as patch:
        break_at(patch, 0)
        with pytest.raises(RuntimeError, match="no ink"):
            tournament(**DUEL, deals=60, folder=folder)
    assert picture(folder) == before


def test_extension_that_was_cut_off_goes_on(tmp_path, monkeypatch, played):
    what, folder = RUNS["rounds"], tmp_path / "run"
    old = tournament(**what, deals=24, folder=folder)
    with monkeypatch.context() as patch:
        break_at(patch, 40)
        with pytest.raises(RuntimeError, match="no ink"):
            tournament(**what, deals=60, chunk=10, folder=folder)
    assert (folder / EXTENSION.manifest).exists()
    # What was there is still what is read, and nothing of it is wrong.
    assert_same(load_run(folder), old)
    assert [finding for finding in verify(folder, 10**6) if not finding.ok] == []
    assert_same(tournament(**what, deals=24, folder=folder), old)
    refused = f"24 deals, not 50: it is being extended to 60 deals; .*{EXTENSION.manifest}"
    with pytest.raises(FileExistsError, match=refused):
        tournament(**what, deals=50, folder=folder)
    played.clear()
    found = tournament(**what, deals=80, chunk=26, folder=folder)
    assert sorted(played[0]) == list(range(44, 80))
    assert_same(found, tournament(**what, deals=80))
    assert [stage["deals"] for stage in assert_sound(folder)["extended"]] == [24]


SCRIPT = """
import os, signal, sys
from kozel_sim import tournament
from kozel_sim.parts import PartPlayer
real = PartPlayer.play
def play(self, part, progress=None):
    if part.first >= 40:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(self, part, progress)
PartPlayer.play = play
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system kills otherwise")
def test_extension_that_was_killed_goes_on(tmp_path, played):
    folder = tmp_path / "run"
    old = tournament(**DUEL, deals=24, folder=folder)
    code = f"{SCRIPT}\ntournament(**{DUEL}, deals=60, chunk=16, folder={str(folder)!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL
    assert_same(load_run(folder), old)
    assert [finding for finding in verify(folder, 10**6) if not finding.ok] == []
    played.clear()
    found = tournament(**DUEL, deals=60, folder=folder)
    assert sorted(played[0]) == list(range(40, 60))
    assert_same(found, tournament(**DUEL, deals=60))
    assert_sound(folder)


def test_extension_whose_last_step_lacks_is_finished(tmp_path, monkeypatch, played):
    """All was played and noted; the manifest alone was not replaced yet."""
    folder = tmp_path / "run"
    old = tournament(**DUEL, deals=24, folder=folder)
    with monkeypatch.context() as patch:
        patch.setattr("kozel_sim.extending.Extension._close", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            tournament(**DUEL, deals=60, folder=folder)
    assert_same(load_run(folder), old)
    played.clear()
    assert_same(tournament(**DUEL, deals=60, folder=folder), tournament(**DUEL, deals=60))
    assert played[0] == list(range(60))  # by the second, which has no folder
    assert_sound(folder)


@pytest.mark.parametrize("kind", ["matches", "rounds"])
@pytest.mark.parametrize("deals", [60, 90])
def test_lost_parts_of_an_extended_run_are_played_again(tmp_path, kind, deals, played):
    """Parts of two sizes side by side are lost: they are cut otherwise when they are played."""
    what, folder = RUNS["rounds"], tmp_path / "run"
    tournament(**what, deals=24, chunk=10, folder=folder)
    tournament(**what, deals=60, chunk=24, folder=folder)
    for first in (15, 20, 24):
        next(folder.glob(f"{kind}/*/deal-{first:012}.parquet")).unlink()
    played.clear()
    found = tournament(**what, deals=deals, folder=folder)
    assert sorted(played[0]) == [*range(15, 36), *range(60, deals)]
    assert_same(found, tournament(**what, deals=deals))
    assert_sound(folder)


# ---------------------------------------------------------------------- refused


def refused(folder, play):
    """The one line that refuses to extend a run, which stays as it is."""
    before = picture(folder)
    with pytest.raises(FileExistsError) as caught:
        play()
    assert picture(folder) == before
    line = str(caught.value)
    assert "\n" not in line
    return line


def test_run_is_not_shortened(tmp_path):
    folder = tmp_path / "run"
    tournament(**DUEL, deals=24, folder=folder)
    line = refused(folder, lambda: tournament(**DUEL, deals=23, folder=folder))
    assert line == (
        f"{folder} holds this run with 24 deals, not 23: it has more deals than are asked for, and "
        "a run is not shortened; choose another folder or remove it"
    )


def test_unfinished_run_is_finished_first(tmp_path, monkeypatch):
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        break_at(patch, 10)
        with pytest.raises(RuntimeError):
            tournament(**DUEL, deals=24, chunk=10, folder=folder)
    line = refused(folder, lambda: tournament(**DUEL, deals=60, folder=folder))
    assert "it is unfinished; the command that began it finishes it" in line


def test_shards_and_what_was_merged_are_not_extended(tmp_path):
    def part(deals, shard):
        values = {"name": "x", "rules": ["room-fish-all"], "players": [2], "seed": 3}
        values |= {"policies": FIELD, "deals": deals}
        return Tournament.of(Experiment.read(values, "x"), shard=shard)

    for i in (1, 2):
        part(40, (i, 2)).play(folder=tmp_path / str(i))
    merge([tmp_path / "1", tmp_path / "2"], tmp_path / "all")
    line = refused(tmp_path / "1", lambda: part(80, (1, 2)).play(folder=tmp_path / "1"))
    assert "with 40 deals, not 80: shard 1/2 is not extended, since all shards are cut" in line
    line = refused(tmp_path / "all", lambda: part(80, None).play(folder=tmp_path / "all"))
    assert "with 40 deals, not 80: a run that was merged of shards is not extended" in line


def test_other_differences_are_told_too(tmp_path):
    folder = tmp_path / "run"
    tournament(**DUEL, deals=24, folder=folder)
    line = refused(folder, lambda: tournament(**DUEL | {"seed": 8}, deals=60, folder=folder))
    assert "a different run (seed 7 there, 8 now; deals 24 there, 60 now)" in line


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "kozel-run/2"}'])
def test_damaged_list_of_an_extension_is_named(tmp_path, text):
    folder = tmp_path / "run"
    old = tournament(**DUEL, deals=24, folder=folder)
    (folder / EXTENSION.manifest).write_text(text, "utf-8")
    with pytest.raises(ValueError, match=rf"{EXTENSION.manifest} is damaged: .*; remove it"):
        tournament(**DUEL, deals=60, folder=folder)
    assert_same(load_run(folder), old)
    wrong = [finding for finding in verify(folder, 10**6) if not finding.ok]
    assert [finding.file for finding in wrong] == [EXTENSION.manifest]


def test_stages_that_are_none_are_told(tmp_path):
    folder = tmp_path / "run"
    tournament(**DUEL, deals=24, folder=folder)
    tournament(**DUEL, deals=60, folder=folder)
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    manifest["extended"][0]["deals"] = 60
    (folder / MANIFEST).write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(ValueError, match=re.escape("had [60, 60] deals, one after another")):
        load_run(folder)


# ---------------------------------------------------------------------- command line


def test_command_with_more_matches_extends(kozel, monkeypatch):
    words = ["tournament", "--players", 2, "--policies", "random,dump_heavy", "--seed", 1]
    assert kozel(*words, "-n", 24, "-o", "mine")[0] == 0
    code, out, err = kozel(*words, "-n", 60, "-o", "mine")
    assert (code, err) == (0, "")
    assert out.endswith("; written to mine (extended: 24 of 60 deals were there)\n")
    assert kozel(*words, "-n", 60, "-o", "once")[0] == 0
    assert_same(load_run("mine"), load_run("once"))
    tables = sorted(path.name for path in Path("once").glob("*.csv"))
    assert [Path("mine", t).read_bytes() for t in tables] == [
        Path("once", t).read_bytes() for t in tables
    ]
    assert "all as it was written" in kozel("verify", "mine", "--all")[1]
    assert "read, not played again" in kozel(*words, "-n", 60, "-o", "mine")[1]
    code, out, err = kozel(*words, "-n", 12, "-o", "mine")
    assert (code, out) == (2, "")
    assert err.startswith("kozel: error: mine holds this run with 60 deals, not 12: it has more")
    assert err.count("\n") == 1
    break_at(monkeypatch, 60, OSError(28, "No space left on device"))
    code, out, err = kozel(*words, "-n", 90, "-o", "mine")
    assert (code, out) == (2, "")
    assert "2 parts are in mine, and the same command goes on" in err


def test_table_of_the_tell_is_not_extended(kozel):
    words = ["tell", "--players", 2, "--policies", "random,dump_heavy", "--seed", 1, "-o", "mine"]
    assert kozel(*words, "-n", 6, "--quiet")[0] == 0
    before = picture()
    code, out, err = kozel(*words, "-n", 12)
    assert (code, out) == (2, "")
    assert "mine holds this run with 6 deals, not 12: a table of the tell is not extended" in err
    assert err.count("\n") == 1
    assert picture() == before
