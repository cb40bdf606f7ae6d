"""A run in a folder goes on after whatever cut it off, and nothing that was written is lost."""

import errno
import json
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pandas as pd
import pytest
from command_line import picture, runner
from user_policies import own_registry

from kozel_sim import load_run, load_totals, store, tournament
from kozel_sim.cluster import Cluster
from kozel_sim.experiment import Experiment
from kozel_sim.files import SCRATCH
from kozel_sim.merging import merge
from kozel_sim.parts import PartPlayer
from kozel_sim.store import MANIFEST, read_manifest
from kozel_sim.tournaments import Tournament
from kozel_sim.verifying import verify

FIELD = ["random", "dump_heavy", "weights:pips=1,double=3"]
ROOMS = ["room-fish-all", "livegames-goat"]
WHAT = {"rules": ROOMS, "policies": FIELD, "deals": 120, "seed": 7, "players": 2}
SCRIPT = f"""
import sys
from kozel_sim import tournament
tournament("room-fish-all", {FIELD}, 6, 1, players=2)
print("ready", flush=True)
tournament(**{WHAT}, chunk=12, workers=2, folder=sys.argv[1])
print("done", flush=True)
"""


@pytest.fixture(scope="module")
def whole():
    """The run that nothing cuts off, in memory."""
    return tournament(**WHAT)


@pytest.fixture(autouse=True)
def forgetful_registry():
    with own_registry():
        yield


@pytest.fixture
def kozel(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    return runner(monkeypatch, capsys)


def assert_whole(folder, whole):
    """The run is there to the bit, and nothing else."""
    run = load_run(folder)
    pd.testing.assert_frame_equal(run.frame, whole.frame, check_exact=True)
    assert not list(folder.rglob(f"{SCRATCH}*"))
    assert not (folder / ".lock").exists()
    found = {name for name, content in picture(folder).items() if content is not None}
    assert found == {MANIFEST, *(entry["file"] for entry in run.manifest["files"])}


def stopped(folder, after, how):
    """Begin the run in a process of its own and stop it; tell whether it was done by then."""
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout.readline() == b"ready\n"
    time.sleep(after)
    process.send_signal(how)
    out, _ = process.communicate(timeout=60)
    return b"done" in out


def is_cut_off_and_goes_on(folder, whole, times):
    """Kill the run at random moments until it is done, then finish it."""
    moments = random.Random(3)
    for _ in range(times):
        stopped(folder, moments.uniform(0.0, 0.15), signal.SIGKILL)
    again = tournament(**WHAT, chunk=12, folder=folder)
    pd.testing.assert_frame_equal(again.frame, whole.frame, check_exact=True)
    assert_whole(folder, whole)


def test_killed_run_goes_on_and_is_the_same(tmp_path, whole):
    is_cut_off_and_goes_on(tmp_path / "run", whole, 2)


@pytest.mark.slow
def test_run_killed_ten_times_goes_on_and_is_the_same(tmp_path, whole):
    is_cut_off_and_goes_on(tmp_path / "run", whole, 10)


def test_interrupted_run_finishes_its_parts_and_goes_on(tmp_path, whole):
    folder = tmp_path / "run"
    done = stopped(folder, 0.05, signal.SIGINT)
    if not done and (folder / MANIFEST).exists():
        # No part was left half done.
        assert not list(folder.rglob(f"{SCRATCH}*"))
        files = read_manifest(folder)["files"]
        assert sorted(f.name for f in folder.glob("matches/*/*")) == sorted(
            Path(entry["file"]).name for entry in files
        )
    tournament(**WHAT, folder=folder)
    assert_whole(folder, whole)


# ---------------------------------------------------------------------- faults


def fail_after(monkeypatch, writes, number=errno.ENOSPC):
    """Let the disk be full after some files."""
    count = iter(range(10**6))

    def fsync(_):
        if next(count) >= writes:
            raise OSError(number, "No space left on device")

    monkeypatch.setattr(store.os, "fsync", fsync)


@pytest.mark.parametrize("writes", [1, 2, 5, 8, 30])
def test_full_disk_loses_nothing(tmp_path, whole, monkeypatch, writes):
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        fail_after(patch, writes)
        with pytest.raises(OSError, match="No space left on device"):
            tournament(**WHAT, chunk=12, folder=folder)
    assert not list(tmp_path.rglob(f"{SCRATCH}*"))
    before = set(picture(tmp_path))
    # The manifest takes two writes; then each part two, itself and its line in the journal.
    kept = max(0, (writes - 2) // 2)
    assert (len(read_manifest(folder)["files"]) if before else 0) == kept
    tournament(**WHAT, chunk=12, folder=folder)
    assert_whole(folder, whole)


def test_full_disk_is_one_line(kozel, monkeypatch):
    fail_after(monkeypatch, 1)
    code, out, err = kozel("tournament", "-n", 6, "--seed", 1, "--out", "mine")
    assert (code, out) == (2, "")
    assert err.startswith("kozel: error: ")
    assert err.endswith("No space left on device\n")
    assert err.count("\n") == 1
    assert picture() == {}


def test_full_disk_says_what_is_kept(kozel, monkeypatch):
    fail_after(monkeypatch, 5)
    words = ["tournament", "-n", 20_000, "--players", 2, "--policies", "random,dump_heavy"]
    code, out, err = kozel(*words, "--seed", 1, "--out", "mine")
    assert (code, out) == (2, "")
    assert "No space left on device; 1 part is in mine, and the same command goes on\n" in err
    assert err.count("\n") == 1


def test_fault_in_the_middle_keeps_the_parts_before(tmp_path, whole, monkeypatch):
    folder = tmp_path / "run"
    real = PartPlayer.play

    def play(self, part, progress=None):
        if part.first >= 50:
            raise RuntimeError("no ink")
        return real(self, part, progress)

    with monkeypatch.context() as patch:
        patch.setattr(PartPlayer, "play", play)
        with pytest.raises(RuntimeError, match="no ink"):
            tournament(**WHAT, chunk=60, folder=folder)
    assert len(read_manifest(folder)["files"]) == 5
    with pytest.raises(ValueError, match=r"unfinished run.*5 parts are there"):
        load_run(folder)
    assert load_run(folder, unfinished=True).matches == 5 * 60
    tournament(**WHAT, folder=folder)
    assert_whole(folder, whole)


@pytest.mark.parametrize("damage", ["bit", "cut", "empty"])
def test_damaged_part_is_named_and_played_again_when_it_is_removed(tmp_path, whole, damage):
    folder = tmp_path / "run"
    tournament(**WHAT, chunk=60, folder=folder)
    path = sorted(folder.glob("matches/*/*"))[3]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes({"bit": data, "cut": data[: len(data) // 2], "empty": b""}[damage])
    with pytest.raises(ValueError, match=rf"{path.name} is damaged: .* remove it"):
        tournament(**WHAT, folder=folder)
    wrong = [f for f in verify(folder, 10**6) if not f.ok]
    assert {f.check for f in wrong} == {"hash", "replay"}
    assert {f.file for f in wrong} == {path.relative_to(folder).as_posix()}
    path.unlink()
    tournament(**WHAT, folder=folder)
    assert_whole(folder, whole)


def test_second_process_is_refused(tmp_path, whole):
    folder = tmp_path / "run"
    inside, leave = threading.Event(), threading.Event()

    def wait(planned, engine, parts, deliver, progress):
        inside.set()
        leave.wait(30)
        player = planned.player(engine)
        for part in parts:
            deliver(part, player.play(part))

    planned = Tournament.of(
        Experiment.read(
            {"name": "x", "rules": ROOMS, "players": [2], "policies": FIELD}
            | {"deals": 120, "seed": 7},
            "x",
        )
    )
    first = threading.Thread(target=lambda: planned.play(folder=folder, mapper=wait))
    first.start()
    try:
        assert inside.wait(30)
        code = SCRIPT.replace('print("done"', 'print("also done"')
        second = subprocess.run(
            [sys.executable, "-c", code, folder], capture_output=True, text=True, timeout=120
        )
        assert second.returncode == 1
        assert "another process is writing to" in second.stderr
        assert "also done" not in second.stdout
    finally:
        leave.set()
        first.join()
    assert_whole(folder, whole)


# ---------------------------------------------------------------------- however it is played


@pytest.mark.parametrize(("workers", "chunk"), [(1, 77), (2, 9), (4, 1000), (2, None)])
def test_workers_and_chunks_change_nothing(tmp_path, whole, workers, chunk):
    tournament(**WHAT, workers=workers, chunk=chunk, folder=tmp_path / "run")
    assert_whole(tmp_path / "run", whole)


EXPERIMENT = """
name = "both"
seed = 7
deals = 120
rules = ["room-fish-all", "livegames-goat"]
players = [2]
policies = ["random", "dump_heavy", "weights:pips=1,double=3"]
"""


def test_shards_merged_are_the_run(kozel, whole):
    Path("both.toml").write_text(EXPERIMENT, "utf-8")
    for i in (1, 2, 3):
        code, out, err = kozel("run", "both.toml", "--shard", f"{i}/3", "-o", f"shard{i}")
        assert (code, err) == (0, "")
    code, out, err = kozel("merge", "shard3", "shard1", "shard2", "-o", "all")
    assert (code, err) == (0, "")
    assert "3 shards, 1,440 matches; written to all" in out
    run = load_run("all")
    pd.testing.assert_frame_equal(run.frame, whole.frame, check_exact=True)
    assert [each["shard"] for each in run.manifest["shards"]] == ["3/3", "1/3", "2/3"]
    assert kozel("verify", "all", "--all")[0] == 0
    assert "read, not played again" in kozel("run", "both.toml", "-o", "all")[1]


def test_sums_of_shards_are_those_of_the_run(tmp_path):
    values = {"name": "x", "rules": ROOMS, "players": [2], "policies": FIELD}
    planned = [
        Tournament.of(
            Experiment.read(values | {"deals": 120, "seed": 7}, "x"), aggregate=True, shard=shard
        )
        for shard in (None, (1, 2), (2, 2))
    ]
    whole, *_ = (p.play(folder=tmp_path / str(i)) for i, p in enumerate(planned))
    merged = merge([tmp_path / "1", tmp_path / "2"], tmp_path / "all")
    for found in (merged, load_totals(tmp_path / "0")):
        pd.testing.assert_frame_equal(found.summary(), whole.summary(), check_exact=True)
    assert all(f.ok for f in verify(tmp_path / "all", 10**6))


def test_shards_that_do_not_belong_together_are_refused(kozel):
    Path("both.toml").write_text(EXPERIMENT, "utf-8")
    Path("other.toml").write_text(EXPERIMENT.replace("seed = 7", "seed = 8"), "utf-8")
    for name, file, more in (
        ("one", "both.toml", ["--shard", "1/2"]),
        ("two", "both.toml", ["--shard", "2/2"]),
        ("third", "both.toml", ["--shard", "2/3"]),
        ("strange", "other.toml", ["--shard", "2/2"]),
        ("all", "both.toml", []),
    ):
        assert kozel("run", file, *more, "-o", name, "--quiet")[0] == 0
    for folders, complaint in (
        (["one"], "shards 2/2 are missing"),
        (["one", "one"], "one is named twice"),
        (["one", "third"], "third is not of the same run as one: shard 1/2 there, 2/3 here"),
        (["one", "strange"], "strange is not of the same run as one: seed 7 there, 8 here"),
        (["one", "all"], "all is no shard; it holds a whole run"),
        (["one", "nothere"], "nothere holds no run"),
    ):
        code, out, err = kozel("merge", *folders, "-o", "out")
        assert (code, out) == (2, "")
        assert complaint in err
        assert not Path("out").exists()


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "1/0", "-1/3"])
def test_shard_that_is_none_is_refused(kozel, text):
    Path("both.toml").write_text(EXPERIMENT, "utf-8")
    code, out, err = kozel("run", "both.toml", f"--shard={text}")
    assert (code, out) == (2, "")
    assert f"shard '{text}' is none; write i/n" in err


def test_shard_without_a_rule_sets_deals_is_shown(kozel):
    Path("both.toml").write_text(EXPERIMENT.replace("deals = 120", "deals = 3"), "utf-8")
    for i in range(1, 7):
        code, out, err = kozel("run", "both.toml", "--shard", f"{i}/6", "-o", f"s{i}")
        assert (code, err) == (0, "")
        assert f"shard {i} of 6 alone" in out
        assert "this shard has no deals of it" in out
        assert kozel("show", f"s{i}")[0] == 0
    assert kozel("merge", *(f"s{i}" for i in range(1, 7)), "-o", "all")[0] == 0
    assert load_run("all").matches == 36


def test_run_too_small_for_its_shards_is_refused(kozel):
    Path("both.toml").write_text(EXPERIMENT.replace("deals = 120", "deals = 1"), "utf-8")
    code, out, err = kozel("run", "both.toml", "--shard", "3/3")
    assert (code, out) == (2, "")
    assert "too small for so many shards" in err
    assert not Path("results").exists()


def test_shards_that_were_cut_otherwise_are_refused(tmp_path):
    values = {
        "name": "x",
        "rules": ROOMS,
        "players": [2],
        "policies": FIELD,
        "deals": 120,
        "seed": 7,
    }
    for i, chunk in ((1, 60), (2, 120)):
        planned = Tournament.of(Experiment.read(values, "x"), shard=(i, 2))
        planned.play(chunk=chunk, folder=tmp_path / str(i))
    with pytest.raises(ValueError, match=r"not cut alike: matches of block 0: deals "):
        merge([tmp_path / "1", tmp_path / "2"], tmp_path / "all")
    assert not (tmp_path / "all").exists()


def test_more_than_a_hundred_blocks_come_in_their_order(tmp_path):
    field = [f"weights:pips={i},double=1" for i in range(1, 16)]
    what = {"rules": "room-fish-all", "policies": field, "deals": 4, "seed": 1, "players": 2}
    plain = tournament(**what, design="duels")
    kept = tournament(**what, design="duels", folder=tmp_path / "run")
    assert plain.frame["duel"].nunique() == 105
    pd.testing.assert_frame_equal(kept.frame, plain.frame, check_exact=True)
    pd.testing.assert_frame_equal(load_run(tmp_path / "run").frame, plain.frame, check_exact=True)


def test_saved_run_that_was_cut_off_goes_on(tmp_path, whole, monkeypatch):
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        fail_after(patch, 3)
        with pytest.raises(OSError, match="No space left"):
            whole.save(folder)
    assert len(read_manifest(folder)["files"]) == 1
    tournament(**WHAT, folder=folder)
    assert_whole(folder, whole)
    whole.save(tmp_path / "other")
    next((tmp_path / "other").glob("matches/00*/*")).unlink()
    tournament(**WHAT, folder=tmp_path / "other")
    assert_whole(tmp_path / "other", whole)


def test_run_without_a_seed_goes_on_with_its_own(kozel):
    words = ["tournament", "--players", 2, "-n", 60, "-o", "mine", "--policies", "random,allround"]
    assert kozel(*words, "--quiet")[0] == 0
    code, out, err = kozel(*words)
    assert (code, err) == (0, "")
    assert "read, not played again" in out
    run = tournament("room-fish-all", ["random", "allround"], 60, players=2, folder="mine")
    assert run.manifest["seed"] == load_run("mine").manifest["seed"]


def test_torn_line_of_the_journal_does_not_count(tmp_path, whole):
    folder = tmp_path / "run"

    def break_down(planned, engine, parts, deliver, progress):
        player = planned.player(engine)
        for part in parts[:4]:
            deliver(part, player.play(part))
        raise RuntimeError("no ink")

    planned = Tournament.of(
        Experiment.read(
            {"name": "tournament", "rules": ROOMS, "players": [2], "policies": FIELD}
            | {"deals": 120, "seed": 7},
            "x",
        )
    )
    with pytest.raises(RuntimeError, match="no ink"):
        planned.play(chunk=60, folder=folder, mapper=break_down)
    journal = folder / store.JOURNAL
    journal.write_bytes(journal.read_bytes()[:-40])
    assert len(read_manifest(folder)["files"]) == 3
    tournament(**WHAT, folder=folder)
    assert_whole(folder, whole)


def test_folder_that_another_process_fills_meanwhile_is_left_alone(tmp_path, whole, monkeypatch):
    """It was free when it was looked at, and is not when it is locked."""
    folder = tmp_path / "run"
    real = store.FileLock.acquire
    whole.save(tmp_path / "theirs")

    def late(self, *args, **kwargs):
        if not folder.joinpath(MANIFEST).exists():
            (tmp_path / "theirs" / MANIFEST).rename(folder / MANIFEST)
            (tmp_path / "theirs" / "matches").rename(folder / "matches")
        return real(self, *args, **kwargs)

    monkeypatch.setattr(store.FileLock, "acquire", late)
    with pytest.raises(FileExistsError, match="not overwritten"):
        tournament(**(WHAT | {"seed": 8}), folder=folder)
    assert load_run(folder).matches == whole.matches


def test_policy_that_reads_another_module_is_not_kept(kozel, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    Path("elsewhere.py").write_text("FROM = 27\n", "utf-8")
    Path("mine.py").write_text(
        "import elsewhere\nfrom kozel_sim import policy\n\n\n@policy\ndef reader(view):\n"
        "    for arm in range(4):\n        for tile in range(elsewhere.FROM, -1, -1):\n"
        "            if view.legal[arm] >> tile & 1:\n"
        "                return (tile + 1) << (8 * arm)\n    return 0\n",
        "utf-8",
    )
    words = ["tournament", "--players", 2, "-n", 6, "--policies", "reader,random"]
    words += ["--code", "mine.py"]
    assert kozel(*words, "--quiet")[0] == 0
    code, out, err = kozel(*words, "-o", "run")
    assert (code, out) == (2, "")
    assert "policy reader reads something whose value cannot be noted" in err
    assert not Path("run").exists()


# ---------------------------------------------------------------------- verify


def test_verify_plays_parts_again_by_any_engine(kozel):
    words = ["--players", 2, "-n", 6, "--seed", 1, "--policies", "random,dump_heavy"]
    kozel("tournament", *words, "-o", "mine")
    for engine in ("auto", "scalar", "reference"):
        code, out, err = kozel("verify", "mine", "--engine", engine)
        assert (code, err) == (0, "")
        assert out.startswith("1 file hashed, 1 played again (seed ")
        assert out.endswith("): all as it was written\n")


def test_verify_finds_what_the_hash_does_not_show(kozel, tmp_path):
    """A result that was changed together with its hash comes out otherwise when it is played."""
    folder = tmp_path / "run"
    run = tournament(**WHAT)
    run.frame.loc[3, "points"] += 1
    run.save(folder)
    code, out, _ = kozel("verify", folder, "--all", "--json")
    assert code == 1
    found = json.loads(out)
    assert (found["hashed"], found["replayed"]) == (2, 2)
    (wrong,) = found["wrong"]
    assert (wrong["check"], wrong["detail"]) == ("replay", "other points")


def test_verify_names_files_that_are_not_listed(tmp_path, whole):
    folder = whole.save(tmp_path / "run")
    block = next(folder.glob("matches/*"))
    (block / "more.parquet").write_bytes(b"")
    wrong = [f for f in verify(folder) if not f.ok]
    assert [(f.check, f.file) for f in wrong] == [("listed", f"matches/{block.name}/more.parquet")]


def test_part_that_nobody_lists_is_missed(tmp_path, whole):
    folder = tmp_path / "run"
    tournament(**WHAT, chunk=60, folder=folder)
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    gone = manifest["files"].pop(2)
    (folder / gone["file"]).unlink()
    (folder / MANIFEST).write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(ValueError, match="does not list matches of block 0: deals 20 to 29"):
        load_run(folder)
    wrong = [f for f in verify(folder, 10**6) if not f.ok]
    assert wrong[0].detail == "it does not list matches of block 0: deals 20 to 29"
    assert {f.detail.partition(":")[0] for f in wrong[1:]} == {"counts"}


@pytest.mark.parametrize("key", ["rules", "policies", "state", "seed", "name"])
def test_manifest_that_lacks_something_is_one_line(kozel, whole, key):
    whole.save("run")
    manifest = json.loads(Path("run", MANIFEST).read_text("utf-8"))
    del manifest[key]
    Path("run", MANIFEST).write_text(json.dumps(manifest), "utf-8")
    for command in ("verify", "show", "ratings"):
        code, out, err = kozel(command, "run")
        assert (code, out) == (2, "")
        assert f"is damaged: {key} missing" in err


def test_verify_needs_the_same_version(tmp_path, whole, monkeypatch):
    folder = whole.save(tmp_path / "run")
    text = (folder / MANIFEST).read_text("utf-8")
    (folder / MANIFEST).write_text(text.replace(whole.manifest["sources"], "0" * 16), "utf-8")
    with pytest.raises(ValueError, match=r"cannot be played again by this one.*other sources"):
        list(verify(folder))


# ---------------------------------------------------------------------- Dask


@pytest.mark.filterwarnings("default")
def test_dask_gives_the_same_run(tmp_path, whole):
    planned = Tournament.of(
        Experiment.read(
            {"name": "tournament", "rules": ROOMS, "players": [2], "policies": FIELD}
            | {"deals": 120, "seed": 7},
            "x",
        )
    )
    with Cluster("local") as cluster:
        planned.play(chunk=60, folder=tmp_path / "run", mapper=cluster)
    assert_whole(tmp_path / "run", whole)


# ---------------------------------------------------------------------- rounds


def test_rounds_are_kept_beside_the_matches(tmp_path, whole):
    plain = tournament(**WHAT, rounds=True)
    pd.testing.assert_frame_equal(plain.frame, whole.frame, check_exact=True)
    run = tournament(**WHAT, rounds=True, chunk=60, workers=2, folder=tmp_path / "run")
    pd.testing.assert_frame_equal(run.rounds_frame, plain.rounds_frame, check_exact=True)
    assert len(run.rounds_frame) == 2 * run.rounds
    assert all(f.ok for f in verify(tmp_path / "run", 10**6))
    saved = load_run(plain.save(tmp_path / "saved"))
    pd.testing.assert_frame_equal(saved.rounds_frame, plain.rounds_frame, check_exact=True)
    assert load_run(whole.save(tmp_path / "plain")).rounds_frame is None


def test_frames_are_exported(kozel):
    words = ["--players", 2, "-n", 6, "--seed", 1, "--policies", "random,dump_heavy"]
    assert kozel("tournament", *words, "-o", "mine", "--rounds", "--quiet")[0] == 0
    run = load_run("mine")
    for more, frame in (([], run.frame), (["--rounds"], run.rounds_frame)):
        name = f"frame{len(more)}.csv"
        assert kozel("export", "mine", "--csv", name, *more)[1] == f"written to {name}\n"
        again = pd.read_csv(name, dtype=frame.dtypes.to_dict())
        pd.testing.assert_frame_equal(again, frame, check_categorical=False)
        code, out, err = kozel("export", "mine", "--csv", name, *more)
        assert (code, out) == (2, "")
        assert "File exists" in err


def test_frame_that_is_not_there_is_not_exported(kozel):
    words = ["--players", 2, "-n", 6, "--seed", 1, "--policies", "random,dump_heavy"]
    kozel("tournament", *words, "-o", "plain", "--quiet")
    kozel("tournament", *words, "-o", "sums", "--aggregate", "--quiet")
    for folder, more, complaint in (
        ("plain", ["--rounds"], "plain has no rounds; play it with --rounds"),
        ("sums", [], "sums has no matches; play it without --aggregate"),
    ):
        code, out, err = kozel("export", folder, "--csv", "new.csv", *more)
        assert (code, out) == (2, "")
        assert complaint in err
        assert not Path("new.csv").exists()


def test_aggregate_has_no_rounds(kozel):
    code, out, err = kozel("tournament", "-n", 6, "--aggregate", "--rounds")
    assert (code, out) == (2, "")
    assert "an aggregate keeps sums alone; it has no rounds" in err
