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

from kozel_sim.engine.features import MULTIPLE, REST
from kozel_sim.engine.layout import PLAYER, STAGE_WIDTH, TILE_SCORES, TRIGGER, USED, WEIGHTS
from kozel_sim.engine.lockstep.vector import LANES, VECTOR_BYTES
from kozel_sim.features import FEATURES

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
"""The player of each seat, a byte for each."""
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
MOST_PLAYERS = 256
"""A player is kept in a byte."""
MOST_IN_BAZAAR = 16
"""A rank is kept in four bits."""

BOOK_WIDTH = 64
BOOK_TILES = 32
"""In a stage of the book: its trigger, a weight for each feature, then what each tile scores."""
NEVER = -1
PLAN = np.dtype(
    [
        ("depth", "i8"),
        ("alike", "i8"),
        ("watched", "i8"),
        ("needs", "i8"),
        ("used", "i8", (32,)),
        ("triggers", "i8", (32,)),
        ("book", "i8"),
        ("stage_bytes", "i8"),
    ],
    align=True,
)
"""All players as one: how many stages the longest ladder has, whether all have the same, whether
anybody looks at the history, which features are used at all and by stage, which triggers by stage,
and the address of the book: by stage and player the rows of their weights."""


def fits_in_words(stages: np.ndarray) -> bool:
    """Tell whether no score of some stages' rows can leave 32 bits, in whatever order it is added.

    ``last_of_suit`` is counted by what is left of up to 7 values, so that it may weigh more.
    """
    largest = np.array([max(f.largest, 7) for f in FEATURES.values()], np.int64)
    weights = np.abs(stages[..., WEIGHTS:TILE_SCORES].astype(np.int64))
    return bool((weights @ largest <= 2**31 - 1).all())


def make_plan(players: np.ndarray, watched: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return a PLAN, and the book it points to, of PLAYER records that are one ladder each."""
    assert players.dtype == PLAYER
    assert 1 + len(FEATURES) <= BOOK_TILES
    assert STAGE_WIDTH - TILE_SCORES - 1 + BOOK_TILES <= BOOK_WIDTH
    ends = players["end_stage"][:, 0]
    depth = int(ends.max(initial=0))
    space = np.zeros(max(depth, 1) * len(players) * BOOK_WIDTH + LANES, np.int32)
    start = -space.ctypes.data % VECTOR_BYTES // 4
    book = space[start : start + space.size - LANES].reshape(-1, len(players), BOOK_WIDTH)
    book[..., 0] = NEVER
    plans = np.zeros(1, PLAN)
    plan = plans[0]
    for stage in range(depth):
        rows = players["stages"][:, stage]
        there = ends > stage
        book[stage, there, 0] = rows[there, TRIGGER]
        book[stage, there, 1 : 1 + len(FEATURES)] = rows[there, WEIGHTS:TILE_SCORES]
        book[stage, there, BOOK_TILES : BOOK_TILES + 28] = rows[there, TILE_SCORES + 1 :]
        used = int(np.bitwise_or.reduce(rows[there, USED])) & ~(REST | MULTIPLE)
        plan["used"][stage] = used
        plan["needs"] |= used
        plan["triggers"][stage] = sum(1 << int(t) for t in np.unique(rows[there, TRIGGER]))
    plan["needs"] |= int(np.bitwise_or.reduce(players["needs"][:, 0]))
    plan["depth"] = depth
    plan["alike"] = bool((book == book[:, :1]).all())
    plan["watched"] = watched
    plan["book"] = book.ctypes.data
    plan["stage_bytes"] = 4 * BOOK_WIDTH * len(players)
    return plans, space
