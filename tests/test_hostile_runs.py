"""Runs whose files are lost, damaged or forged: one line of complaint, and nothing outside them."""

import copy
import hashlib
import io
import json
import os
import random
from contextlib import nullcontext
from html.parser import HTMLParser

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kozel_sim import Policy, get_policy, load_run, play, report_html, tournament
from kozel_sim.experiment import load_experiment
from kozel_sim.guarded import append_to
from kozel_sim.merging import merge
from kozel_sim.replay import replay_page
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


# ---------------------------------------------------------------------- what is no plain file


def whole(folder):
    tournament(**WHAT, players=2, folder=folder)
    return folder


def test_pipe_in_place_of_a_part_is_refused_and_not_waited_for(tmp_path):
    (part,) = whole(tmp_path).glob("matches/*/*")
    part.unlink()
    os.mkfifo(part)
    for read in (
        lambda: load_run(tmp_path),
        lambda: tournament(**WHAT, players=2, folder=tmp_path),
    ):
        with pytest.raises(ValueError, match="is a pipe; what belongs to a run"):
            read()
    assert any("is a pipe" in found.detail for found in verify(tmp_path))


@pytest.mark.parametrize("name", [MANIFEST, JOURNAL])
def test_pipe_in_place_of_what_lists_the_parts_is_refused(tmp_path, name):
    whole(tmp_path)
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    with pytest.raises(ValueError, match="is a pipe; what belongs to a run"):
        load_run(tmp_path)


@pytest.mark.parametrize("name", [MANIFEST, JOURNAL])
def test_file_of_ten_gigabytes_is_not_read(tmp_path, name):
    whole(tmp_path)
    with (tmp_path / name).open("ab") as file:
        file.truncate(10 * 10**9)
    with pytest.raises(ValueError, match=r"is too large \(10,000,000,000 bytes\) to be what"):
        load_run(tmp_path)


def test_part_of_ten_gigabytes_is_not_read(tmp_path):
    (part,) = whole(tmp_path).glob("matches/*/*")
    os.truncate(part, 10 * 10**9)
    with pytest.raises(ValueError, match="10"):
        load_run(tmp_path)
    assert any("is too large" in found.detail for found in verify(tmp_path))


@pytest.mark.parametrize("name", [".lock", JOURNAL, "matches", "rounds", "totals"])
def test_link_that_was_planted_is_not_written_through(tmp_path, name):
    """A run that goes on: its manifest is there, and no part."""
    folder, outside = whole(tmp_path / "run"), tmp_path / "outside"
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    for part in folder.glob("matches/*/*"):
        part.unlink()
        part.parent.rmdir()
    (folder / "matches").rmdir()
    manifest |= {"state": "unfinished", "files": []}
    (folder / MANIFEST).write_text(json.dumps(manifest), "utf-8")
    outside.mkdir()
    kept = outside / ".making-mine"
    kept.write_text("mine", "utf-8")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(outside if "." not in name else kept)
    (folder / ".making-link").symlink_to(kept)
    # Folders of another kind of run are let be.
    refused = (
        nullcontext()
        if name in ("rounds", "totals")
        else pytest.raises(ValueError, match="is a link")
    )
    with refused:
        tournament(**WHAT, players=2, folder=folder)
    assert [path.name for path in outside.iterdir()] == [".making-mine"]
    assert kept.read_text("utf-8") == "mine"


def test_journal_that_became_a_link_or_a_pipe_is_not_written_to(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "outside")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe"):
        with pytest.raises(OSError, match=name), append_to(tmp_path / name):
            pass
    assert not (tmp_path / "outside").exists()


def test_verify_looks_at_nothing_behind_a_link(tmp_path):
    (tmp_path / "outside" / "00-x").mkdir(parents=True)
    (tmp_path / "outside" / "00-x" / "secret").write_text("", "utf-8")
    folder = whole(tmp_path / "run")
    (folder / "rounds").symlink_to(tmp_path / "outside")
    (block,) = folder.glob("matches/*")
    (block / "more").symlink_to(tmp_path / "outside")
    wrong = [found.file for found in verify(folder) if not found.ok]
    assert wrong == [f"matches/{block.name}/more"]


def test_name_of_an_unknown_file_does_not_act_on_the_terminal(tmp_path):
    (block,) = whole(tmp_path).glob("matches/*")
    (block / "a\x1b[2J\nb").write_bytes(b"")
    wrong = [found.file for found in verify(tmp_path) if not found.ok]
    assert wrong == [f"matches/{block.name}/a\\x1b[2J\\nb"]


# ---------------------------------------------------------------------- forged Parquet


def pack(table, **more):
    file = io.BytesIO()
    pq.write_table(table, file, **more)
    return file.getvalue()


def claim_rows(content):
    """Write a huge number of rows in the footer: a varint of Thrift, where the true one is."""
    size = int.from_bytes(content[-8:-4], "little")
    body, footer = content[: -8 - size], content[-8 - size : -8]
    # Field 3 of the file's metadata, an i64: the type byte, then 24 rows as a zigzag varint.
    at = footer.index(bytes([0x16, 48]))
    footer = footer[: at + 1] + b"\xfe\xff\xff\xff\xff\xff\x7f" + footer[at + 2 :]
    return body + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def lie_in_a_page(content):
    """Say that the first page unpacks to 2 GB: the second field of its header, behind a type."""
    end = 7
    while content[end] & 0x80:
        end += 1
    assert content[4] == content[6] == content[end + 1] == 0x15
    return content[:7] + b"\xfe\xff\xff\xff\x0f" + content[end + 1 :]


FORGED = {
    "another column": (
        lambda t, _: pack(t.rename_columns(["x", *t.column_names[1:]])),
        "its column preset is missing",
    ),
    "another type": (
        lambda t, _: pack(t.set_column(3, t.column_names[3], pa.array(["x"] * len(t)))),
        "its column ",
    ),
    "more columns": (lambda t, _: pack(t.append_column("x", t[0])), "its columns are not "),
    "fewer rows": (lambda t, _: pack(t.slice(2)), "it has 22 rows, and 24 listed"),
    "no table": (lambda _, __: b"PAR1" + b"\0" * 100 + b"PAR1", ""),
    "rows that are not there": (lambda _, content: claim_rows(content), ""),
    "a page that lies about its size": (lambda _, content: lie_in_a_page(content), ""),
    "a footer behind the end": (lambda _, c: c[:-8] + b"\xff\xff\xff\x7f" + b"PAR1", ""),
    "nothing": (lambda _, __: b"", ""),
}


@pytest.mark.parametrize("how", FORGED)
def test_forged_parquet_is_one_line(tmp_path, how):
    """Its hash is that of the manifest: whoever forged the one forged the other."""
    forge, said = FORGED[how]
    (part,) = whole(tmp_path).glob("matches/*/*")
    part.write_bytes(forge(pq.read_table(part), part.read_bytes()))
    manifest = json.loads((tmp_path / MANIFEST).read_text("utf-8"))
    manifest["files"][0]["sha256"] = hashlib.sha256(part.read_bytes()).hexdigest()
    (tmp_path / MANIFEST).write_text(json.dumps(manifest), "utf-8")
    line = complaint(tmp_path)
    assert line.startswith(f"{part} is damaged: {said}")
    assert "\n" not in line
    assert any(part.name in found.file for found in verify(tmp_path) if not found.ok)


# ---------------------------------------------------------------------- names in pages

EVIL = "'\"><evil onload=x>&amp;</script></style></title>"


class Tags(HTMLParser):
    """Which tags and attributes a page has, and what it says."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.text = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags += [tag, *(name for name, _ in attributes)]

    def handle_data(self, data):
        self.text.append(data)


def test_names_are_text_in_reports_and_replays():
    """Of policies, the run, and whatever else a manifest may say in its own words."""
    evil = Policy(EVIL, get_policy("dump_heavy").parts)
    run = tournament("room-fish-all", ["random", evil], 6, seed=1, players=2)
    run.manifest["name"] = EVIL
    run.manifest["made"] = EVIL
    run.manifest["machine"] |= {"cpu": EVIL, "system": EVIL}
    run.manifest["versions"] |= {"numpy": EVIL, EVIL: "1"}
    record = play("room-fish-all", ["random", evil], 1, 0)
    for page in (report_html(run), replay_page([record])):
        found = Tags(page)
        assert not {"evil", "onload"} & set(found.tags)
        assert page.count("</title>") == page.count("<title>")
        assert EVIL in "".join(found.text)


@pytest.mark.parametrize("key", ["preset", "base"])
def test_rule_set_of_a_name_that_is_none_is_refused(tmp_path, key):
    whole(tmp_path)
    manifest = json.loads((tmp_path / MANIFEST).read_text("utf-8"))
    manifest["rules"][0][key] = EVIL
    (tmp_path / MANIFEST).write_text(json.dumps(manifest), "utf-8")
    assert "is damaged: rules.0" in complaint(tmp_path)
