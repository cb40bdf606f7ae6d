"""Write tables.h; tiles are in the order of the first lead: 1-1 to 6-6, 0-0, then 6-5 to 1-0."""

import textwrap
from pathlib import Path

TILES = [(v, v) for v in (1, 2, 3, 4, 5, 6, 0)]
TILES += sorted(((a, b) for a in range(7) for b in range(a + 1, 7)), key=lambda t: (-t[1], -t[0]))


def mask(chosen: list[bool]) -> int:
    return sum(1 << i for i, is_in in enumerate(chosen) if is_in)


def table(name: str, meaning: str, values: list[int]) -> str:
    numbers = textwrap.indent(textwrap.fill(", ".join(map(str, values)), 90), "    ")
    return f"/* {meaning} */\nstatic const uint32_t {name}[{len(values)}] = {{\n{numbers}}};\n"


PAD = [0] * 4
TABLES = [
    table("LOW", "by tile: its lower half", [a for a, _ in TILES] + PAD),
    table("PIPS", "by tile: the sum of its halves", [a + b for a, b in TILES] + PAD),
    table(
        "HAS",
        "by value: its tiles; by 7, the empty table's end: all tiles",
        [mask([v in tile for tile in TILES]) for v in range(7)] + [(1 << 28) - 1],
    ),
    table(
        "PIP_BITS",
        "by bit of the pips: the tiles that have it",
        [mask([bool(sum(tile) >> k & 1) for tile in TILES]) for k in range(4)],
    ),
    f"#define BLANK (1u << {TILES.index((0, 0))}) /* 0-0 */\n"
    "#define DOUBLES 0x7Fu\n#define ALL 0x0FFFFFFFu\n",
]

if __name__ == "__main__":
    text = "/* Made by gen_tables.py. */\n" + "\n".join(TABLES)
    (Path(__file__).parent / "tables.h").write_text(text, encoding="utf-8")
