"""What the vector engine keeps of the matches in flight, and how it is given the policies.

Legend
------
block    sixteen matches: a run of rows in memory.
row      one fact about each of the sixteen, as a vector; below is each row's offset in bytes.
place    where a match is: 4 * place bytes from the first block are its words of the first row.
slot     whose hand: where nobody can draw and four play, seats counted from the leader; else seats.
bench    one block more, onto which finished matches are gathered from anywhere to be settled.
"""

from __future__ import annotations

import numpy as np

from kozel_sim.engine.layout import PLAYER, STAGE_WIDTH, TILE_SCORES, TRIGGER, USED, WEIGHTS
from kozel_sim.engine.stages import MULTIPLE, REST
from kozel_sim.features import FEATURES

LANES = 16
VECTOR_BYTES = 4 * LANES
_rows = 0


def _row(n: int = 1) -> int:
    """Set rows aside; return the offset of the first."""
    global _rows
    _rows += n
    return (_rows - n) * VECTOR_BYTES


# The round in play
HAND = _row(4)
"""By slot."""
LEFT_END = _row()
RIGHT_END = _row()
"""7 while the table is empty."""
TABLE = _row()
BAZAAR = _row()
RANKS_LOW = _row()
RANKS_HIGH = _row()
"""The order of the bazaar: four bits for each draw to come, its rank among the tiles left."""
DRAWN = _row()
LEAD = _row()
"""What may be led in a round's first event, all tiles later; 0 in a lane that waits or is done."""
TURN = _row()
"""Four events each, from 0."""
SEAT = _row()
"""Who acts next; the leader, where slots are counted from him."""
BY = _row()
"""The slot that laid the last tile."""
PASSED = _row()
DREW = _row()
"""How often, a byte for each slot."""
VOIDS = _row()
TELLS = _row()
"""Values, a byte for each slot: as ``View.void`` and ``View.tell``."""
SHOWN = _row()
"""A byte for each slot: the value that its last move left showing, 8 if there was one, 16 times its
arm."""
LINE_UP = _row()
"""The first part of each seat's player, a byte for each."""
# Luck
ROUND = _row()
ATTEMPT = _row()
DEAL_LOW = _row()
DEAL_HIGH = _row()
# The match
LEADER = _row()
FIRST = _row()
"""Whether the first-lead rule is to be used."""
ACCOUNT = _row(4)
MEMORY = _row(4)
"""By side."""
OPENED = _row()
"""A mask over sides."""
POT = _row()
OFFICIAL = _row()
"""Whether anything was entered yet."""
FISH_ROUNDS = _row()
FIRST_LEADER = _row()
PASSES = _row(4)
DRAWS = _row(4)
"""By seat."""
MATCH = _row()
"""Its index, -1 where there is none."""
GOATS = _row()
WINNERS = _row()
# The bench alone
HELD = _row(4)
WRITTEN = _row(4)
ROWS = _rows + 1 - _rows % 2
"""An odd number, so that the blocks' rows spread over the cache."""
BLOCK_BYTES = ROWS * VECTOR_BYTES
BLOCK_WORDS = ROWS * LANES

MOST_BLOCKS = 32
"""Blocks in flight: their rows in use stay in the nearest caches."""
MOST_PARTS = 256
"""A part of a player is kept in a byte."""
MOST_IN_BAZAAR = 16
"""A rank is kept in four bits."""

BOOK_WIDTH = 64
BOOK_TILES = 32
"""A row of the book: a stage's trigger, a weight for each feature, then what each tile scores."""
NEVER = -1
ALWAYS_BELOW = 2**32
PLAN = np.dtype(
    [
        ("depth", "i8"),
        ("alike", "i8"),
        ("mixes", "i8"),
        ("first_part", "i8", (MOST_PARTS,)),
        ("limits", "i8"),
        ("watched", "i8"),
        ("needs", "i8"),
        ("used", "i8", (32,)),
        ("triggers", "i8", (32,)),
        ("book", "i8"),
        ("stage_bytes", "i8"),
    ],
    align=True,
)
"""All players as one; a player is one ladder, or the parts of a mixture, which follow one another.

How many stages the longest ladder has, whether all are the same, how many parts a player has but
the first, by player his first part, where the words that pick each part end (as signed words, at
this address), whether anybody looks at the history, which features are used at all and by stage,
which triggers by stage, and the address of the book: by stage and part a row of weights."""


def fits_in_words(stages: np.ndarray) -> bool:
    """Tell whether no score of some stages' rows can leave 32 bits, in whatever order it is added.

    ``last_of_suit`` is counted by what is left of up to 7 values, so that it may weigh more.
    """
    largest = np.array([max(f.largest, 7) for f in FEATURES.values()], np.int64)
    weights = np.abs(stages[..., WEIGHTS:TILE_SCORES].astype(np.int64))
    return bool((weights @ largest <= 2**31 - 1).all())


def make_plan(players: np.ndarray, watched: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return a PLAN, and the memory it points to, of PLAYER records whose parts are ladders."""
    assert players.dtype == PLAYER
    assert 1 + len(FEATURES) <= BOOK_TILES
    assert STAGE_WIDTH - TILE_SCORES - 1 + BOOK_TILES <= BOOK_WIDTH
    plans = np.zeros(1, PLAN)
    plan = plans[0]
    parts: list[tuple[np.ndarray, int, int]] = []
    for i, player in enumerate(players):
        plan["first_part"][i] = len(parts)
        shares = np.diff(player["threshold"].astype(np.int64), prepend=0)
        chosen = [p for p in range(player["n_parts"]) if shares[p] > 0] or [0]
        plan["mixes"] = max(plan["mixes"], len(chosen) - 1)
        for p in chosen:
            stages = player["stages"][player["first_stage"][p] : player["end_stage"][p]]
            parts.append((stages, int(player["threshold"][p]) or ALWAYS_BELOW, player["needs"][p]))
    depth = max(len(stages) for stages, _, _ in parts)
    pages = depth * len(parts) * BOOK_WIDTH
    space = np.zeros(pages + len(parts) + LANES, np.int32)
    start = -space.ctypes.data % VECTOR_BYTES // 4
    book = space[start : start + pages].reshape(depth, len(parts), BOOK_WIDTH)
    limits = space[start + pages :][: len(parts)]
    book[..., 0] = NEVER
    for i, (stages, threshold, needs) in enumerate(parts):
        limits[i] = threshold - 1 - 2**31
        plan["needs"] |= needs
        for stage, row in enumerate(stages):
            book[stage, i, 0] = row[TRIGGER]
            book[stage, i, 1 : 1 + len(FEATURES)] = row[WEIGHTS:TILE_SCORES]
            book[stage, i, BOOK_TILES : BOOK_TILES + 28] = row[TILE_SCORES + 1 :]
            plan["used"][stage] |= row[USED] & ~(REST | MULTIPLE)
            plan["triggers"][stage] |= 1 << row[TRIGGER]
    plan["depth"] = depth
    plan["alike"] = bool((book == book[:, :1]).all())
    plan["mixes"] *= 1 - plan["alike"]
    plan["watched"] = watched
    plan["book"] = book.ctypes.data
    plan["limits"] = limits.ctypes.data
    plan["stage_bytes"] = 4 * BOOK_WIDTH * len(parts)
    return plans, space
