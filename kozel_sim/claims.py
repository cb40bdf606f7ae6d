"""What a manifest claims beside its files' hashes, held against the design and the files' list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kozel_sim.checks import need_recording_engine
from kozel_sim.columns import kind_of
from kozel_sim.parts import Part, cut
from kozel_sim.policies import describe_policy, get_policy
from kozel_sim.policies.builtin import BUILTIN
from kozel_sim.policies.registry import set_aside
from kozel_sim.runs import block_of, folder_of_block, number_of_block
from kozel_sim.tournaments import Tournament


def wrong_claims(manifest: dict[str, Any], planned: Tournament) -> Iterator[str]:
    """Yield what a manifest says that its design, or its list of files, does not bear out."""
    yield from _wrong_names(manifest)
    yield from _wrong_versions(manifest)
    yield from _wrong_engine(manifest, planned)
    if manifest["blocks"] != len(planned.blocks):
        yield f"it has {len(planned.blocks)} blocks, not {manifest['blocks']}"
        return
    played = {"matches": 0, "rows": 0}
    sizes = manifest.get("part_sizes")
    for entry in manifest["files"]:
        block = planned.blocks[number_of_block(entry["file"])]
        first, end = entry["deals"]
        if block_of(entry["file"]) != folder_of_block(block):
            yield f"{entry['file']} should be below {folder_of_block(block)}"
        if sizes and end - first > sizes[block.number]:
            yield f"{entry['file']} has {end - first} deals, and a part {sizes[block.number]}"
        if kind_of(entry["file"]) == "rounds":
            continue
        matches = block.matches_per_deal * (end - first)
        played["matches"] += matches
        rows = matches * block.rules[0].players
        played["rows"] += rows
        if entry.get("rows", rows) != rows:
            yield f"{entry['file']} should have {rows} rows, not {entry['rows']}"
    for key, number in played.items() if manifest["state"] == "finished" else ():
        said = manifest["counts"].get(key, number)
        if said != number:
            yield f"counts: it has {number} {key}, not {said}"
    if manifest["state"] == "finished" and sizes and planned.stop is None:
        yield from _wrong_parts(manifest, planned, sizes)


def _wrong_parts(
    manifest: dict[str, Any], planned: Tournament, sizes: Sequence[int]
) -> Iterator[str]:
    """Yield which parts of a shard, or of a run that was merged, are not where they should be.

    Of a whole run ``gaps`` tells which deals are missing.
    """
    merged = [each["shard"] for each in manifest.get("shards", ())]
    shards = len(merged)
    wanted = {f"{i}/{shards}" for i in range(1, shards + 1)}
    if planned.shard is None and not merged:
        return
    if merged and set(merged) != wanted:
        yield f"shards: they are {', '.join(merged)}, not {', '.join(sorted(wanted))}"
        return
    i, n = planned.shard or (1, 1)
    total = sum(-(-planned.deals // size) for size in sizes)
    kinds = ("totals",) if planned.aggregate else ("matches", *["rounds"] * planned.rounds)
    for kind in kinds:
        there = {
            (number_of_block(entry["file"]), *entry["deals"]): entry.get("shard")
            for entry in manifest["files"]
            if kind_of(entry["file"]) == kind
        }
        # Nothing is listed of a run that claims to be endless.
        if len(there) != len(range(i - 1, total, n)):
            yield f"it lists {len(there)} files of {kind}, not {len(range(i - 1, total, n))}"
            continue
        for place, part in enumerate(parts_of(planned, sizes)):
            key = (part.block, part.first, part.end)
            if key not in there:
                yield f"it lacks {kind} of block {part.block}: deals {part.first} to {part.end - 1}"
            elif merged and there[key] not in (None, place % shards + 1):
                which = f"{kind} of block {part.block} from deal {part.first}"
                yield f"{which} are of shard {place % shards + 1}, not {there[key]}"


def parts_of(planned: Tournament, sizes: Sequence[int]) -> list[Part]:
    """Return the parts of a run, or of a shard, where a part of each block has so many deals."""
    whole = [
        part
        for block, size in zip(planned.blocks, sizes, strict=True)
        for part in cut(block, 0, planned.deals, size)
    ]
    i, n = planned.shard or (1, 1)
    return whole[i - 1 :: n]


def _wrong_versions(manifest: dict[str, Any]) -> Iterator[str]:
    """Yield what the versions that were noted say otherwise than the manifest's head.

    Shards may be merged by another version than played them.
    """
    wanted = {"kozel_sim": manifest["version"], "stream": str(manifest["stream"])}
    shards = {f"shards.{i}.versions": each for i, each in enumerate(manifest.get("shards", ()))}
    for place, each in (shards or {"versions": manifest}).items():
        for key, value in wanted.items():
            said = (each.get("versions") or wanted).get(key)
            if said != value:
                yield f"{place}.{key}: it is {said}, and the run is of {value}"


def _wrong_engine(manifest: dict[str, Any], planned: Tournament) -> Iterator[str]:
    """Yield why the engine that is named cannot have played this."""
    engine = manifest["engine"]
    try:
        if planned.rounds:
            need_recording_engine(engine)
        if engine != "auto":
            planned.player(engine)
    except (NotImplementedError, ValueError) as error:
        yield f"engine: {engine} cannot have played this: {error}"


def _wrong_names(manifest: dict[str, Any]) -> Iterator[str]:
    """Yield what is not what its name says: a policy that is built in, or that a spec spells out.

    Of a ladder that somebody named the manifest alone knows the stages.
    """
    for described in manifest["policies"]:
        name = described["name"]
        if name not in BUILTIN and ":" not in name:
            continue
        with set_aside():
            try:
                known = describe_policy(get_policy(name))
            except ValueError:
                # A mixture or the like of what only its user has named.
                continue
        if known["parts"] != described["parts"]:
            yield f"policy {name} is another one than that name stands for"
