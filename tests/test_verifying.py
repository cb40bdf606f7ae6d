"""What ``verify`` holds a run against: each claim of a manifest that is forged is told."""

import json

import pytest

from kozel_sim import RuleSet, load_run, read_stop, tournament
from kozel_sim.manifest import JOURNAL, MANIFEST
from kozel_sim.merging import merge
from kozel_sim.policies import read_policies
from kozel_sim.tournaments import Tournament
from kozel_sim.verifying import verify

WHAT = {"rules": "room-fish-all", "policies": ["random", "dump_heavy"], "deals": 6, "seed": 1}
ROOM = RuleSet.preset("room-fish-all", 2)


def planned(design="rotations", deals=12, stop=None, shard=None, **more):
    rule = None if stop is None else read_stop(stop)
    field = read_policies("random,dump_heavy")
    return Tournament("t", [ROOM], field, deals, 1, design, stop=rule, shard=shard, **more)


def forged(folder, change):
    """Change a manifest, and return what is then found to be wrong."""
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    change(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest), "utf-8")
    return wrong(folder)


def wrong(folder):
    return [f"{found.file}: {found.detail}" for found in verify(folder, 1, 1) if not found.ok]


def told(said, text):
    assert any(text in line for line in said), said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda m: m["counts"].update(rounds=1), "counts: it has 116 rounds, not 1"),
        (lambda m: m["versions"].update(kozel_sim="0.0.9"), "versions.kozel_sim: it is 0.0.9, and"),
        (lambda m: m["versions"].update(stream="77"), "versions.stream: it is 77, and the run is"),
        (lambda m: m.update(engine="vector"), "engine: vector cannot have played this: engine"),
        (
            lambda m: m["files"][1].update(rows=m["files"][1]["rows"] - 2),
            "it should have 232 rows, one of each round and seat",
        ),
    ],
)
def test_claim_of_a_run_with_rounds_is_counted_again(tmp_path, change, said):
    tournament(**WHAT, players=2, rounds=True, folder=tmp_path)
    assert not wrong(tmp_path)
    told(forged(tmp_path, change), said)


@pytest.mark.parametrize("aggregate", [True, False])
def test_rounds_are_counted_in_sums_too(tmp_path, aggregate):
    played = tournament(**WHAT, players=2, aggregate=aggregate, folder=tmp_path)
    assert not wrong(tmp_path)
    said = forged(tmp_path, lambda m: m["counts"].update(rounds=played.rounds + 1))
    assert said == [f"{MANIFEST}: counts: it has {played.rounds} rounds, not {played.rounds + 1}"]


# ---------------------------------------------------------------------- stopping


@pytest.fixture
def stopped(tmp_path):
    planned("duels", 2000, "sprt,effect=0.2").play(folder=tmp_path / "run")
    assert not wrong(tmp_path / "run")
    return tmp_path / "run"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda row: row.update(decision="better"), "stopping.0.decision: it comes out as worse"),
        (lambda row: row.update(estimate=0.5), "stopping.0.estimate: it comes out as "),
        (lambda row: row.update(adjusted=None), "stopping.0.adjusted: it comes out as "),
        (lambda row: row.update(more=1), "stopping.0: column more is none"),
        (lambda row: row.pop("n_capped"), "stopping.0: column n_capped is missing"),
    ],
)
def test_rule_is_asked_again(stopped, change, said):
    told(forged(stopped, lambda m: change(m["stopping"][0])), said)


def test_stopping_table_may_not_be_left_out(stopped):
    assert forged(stopped, lambda m: m["stopping"].clear()) == [
        f"{MANIFEST}: stopping: it should have 1 rows, not 0"
    ]
    told(forged(stopped, lambda m: m.pop("stopping")), "stopping: it lacks what the rule found")


def test_run_that_stopped_where_its_rule_does_not_is_told(tmp_path):
    plan = planned("duels", 2000, "sprt,effect=0.2")
    plan.play(folder=tmp_path / "run")
    shorter = planned("duels", 20).play(folder=tmp_path / "short").manifest
    longer = planned("duels", 300).play(folder=tmp_path / "long").manifest

    def take(other, folder):
        for entry in other["files"]:
            target = tmp_path / "run" / entry["file"]
            target.write_bytes((folder / entry["file"]).read_bytes())
        return lambda m: m.update(files=other["files"], part_sizes=other["part_sizes"])

    said = forged(tmp_path / "run", take(shorter, tmp_path / "short"))
    told(said, "stop: the rule asks for deals 0 to 99 of block 0, and they are not there")
    said = forged(tmp_path / "run", take(longer, tmp_path / "long"))
    told(said, "stop: the rule ends block 0 with deal 99, and there is deal 299")


def test_saved_run_that_stopped_is_whole(tmp_path):
    run = planned("duels", 2000, "sprt,effect=0.2").play()
    assert not wrong(run.save(tmp_path / "run"))


# ---------------------------------------------------------------------- shards


@pytest.fixture
def shards(tmp_path):
    folders = [tmp_path / f"shard{i}" for i in (1, 2)]
    for i, folder in enumerate(folders, 1):
        planned(shard=(i, 2)).play(folder=folder, chunk=4)
        assert not wrong(folder)
    return folders


def test_shard_that_lacks_a_part_of_its_own_is_told(shards):
    folder = shards[1]

    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    (folder / manifest["files"].pop()["file"]).unlink()
    (folder / MANIFEST).write_text(json.dumps(manifest), "utf-8")
    told(wrong(folder), f"it lists {len(manifest['files'])} files of matches, not ")


def test_part_of_another_shard_is_told(shards):
    one, two = (json.loads((folder / MANIFEST).read_text("utf-8")) for folder in shards)
    theirs, mine = one["files"][0], two["files"][0]
    (shards[1] / mine["file"]).unlink()
    (shards[1] / theirs["file"]).write_bytes((shards[0] / theirs["file"]).read_bytes())
    two["files"][0] = theirs
    (shards[1] / MANIFEST).write_text(json.dumps(two), "utf-8")
    told(wrong(shards[1]), f"it lacks matches of block 0: deals {mine['deals'][0]} to ")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda m: m["checks"]["seats"][0].update(p_value=2.0), "checks.seats.0.p_value: it "),
        (lambda m: m["checks"]["shards"].clear(), "checks.shards: it should have "),
        (lambda m: m.pop("checks"), "checks: it lacks those of a merged run"),
        (lambda m: m["shards"].pop(), "shards: they are 1/2, not 1/1"),
        (lambda m: m["files"][0].update(shard=2), "from deal 0 are of shard 1, not 2"),
        (
            lambda m: m["shards"][1]["versions"].update(stream="0"),
            "shards.1.versions.stream: it is 0, and the run is of ",
        ),
    ],
)
def test_claim_of_a_merged_run_is_held_against_its_parts(shards, tmp_path, change, said):
    merge(shards, tmp_path / "whole")
    assert not wrong(tmp_path / "whole")
    told(forged(tmp_path / "whole", change), said)


def test_merged_run_that_was_read_and_saved_is_whole(shards, tmp_path):
    merge(shards, tmp_path / "whole")
    saved = load_run(tmp_path / "whole").save(tmp_path / "saved")
    assert not wrong(saved)


def test_merged_run_of_which_a_part_was_played_again_is_whole(shards, tmp_path):
    merge(shards, tmp_path / "whole")
    min((tmp_path / "whole").glob("matches/*/*")).unlink()
    planned().play(folder=tmp_path / "whole")
    assert not wrong(tmp_path / "whole")


# ---------------------------------------------------------------------- unfinished


def test_unfinished_run_is_told_as_such(tmp_path):
    tournament(**WHAT, players=2, folder=tmp_path)
    manifest = json.loads((tmp_path / MANIFEST).read_text("utf-8"))
    line = json.dumps({"seconds": 1.0, "files": manifest["files"]})
    manifest |= {"state": "unfinished", "files": []}
    (tmp_path / MANIFEST).write_text(json.dumps(manifest), "utf-8")
    (tmp_path / JOURNAL).write_text(f"{line}\n", "utf-8")
    found = list(verify(tmp_path))
    assert all(each.ok for each in found)
    assert [each.detail for each in found if each.check == "state"] == [
        "it is unfinished, 1 file is there; the command that began it continues it"
    ]
