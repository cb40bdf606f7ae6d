"""What a manifest claims beside its files' hashes, held against the design and the files' list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kozel_sim.columns import kind_of
from kozel_sim.policies import describe_policy, get_policy
from kozel_sim.policies.builtin import BUILTIN
from kozel_sim.policies.registry import set_aside
from kozel_sim.runs import block_of, folder_of_block, number_of_block
from kozel_sim.tournaments import Tournament


def wrong_claims(manifest: dict[str, Any], planned: Tournament) -> Iterator[str]:
    """Yield what a manifest says that its design, or its list of files, does not bear out."""
    yield from _wrong_names(manifest)
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
