"""The records that kernels read and fill: matches, players, and a worker's scratch space.

Kernels take records, not arrays, because numba counts references to arrays atomically, and to
records not at all.
"""

from __future__ import annotations

import numpy as np

from kozel_sim.features import FEATURES, TRIGGERS
from kozel_sim.tiles import N_TILES
from kozel_sim.view import LINE, N_PARAMS

MATCH = np.dtype(
    [
        ("deal", "u8"),
        ("players", "i4", (4,)),
        ("points", "i4", (4,)),
        ("passes", "i4", (4,)),
        ("draws", "i4", (4,)),
        ("rounds", "i4"),
        ("fish_rounds", "i4"),
        ("goats", "u1"),
        ("winners", "u1"),
        ("capped", "u1"),
        ("first_leader", "u1"),
    ],
    align=True,
)
"""One match. In go its deal id and the player of each seat (an index of PLAYER records); out come
points by side, passes and draws by seat, goats and winners as masks over sides."""

FEATURE_INDEX = {name: i for i, name in enumerate(FEATURES)}
TRIGGER_INDEX = {name: i for i, name in enumerate(TRIGGERS)}
MAX_PARTS = 8
MAX_STAGES = 32
TRIGGER, USED, WEIGHTS = 0, 1, 2
TILE_SCORES = WEIGHTS + len(FEATURES)
STAGE_WIDTH = TILE_SCORES + 1 + N_TILES
"""A stage is a row of ints: its trigger, a mask of the features in use, a weight per feature, and
what each tile scores by itself (pips and double), by tile id + 1."""

PLAYER = np.dtype(
    [
        ("random", "i4"),
        ("n_parts", "i4"),
        ("threshold", "u8", (MAX_PARTS,)),
        ("address", "i8", (MAX_PARTS,)),
        ("asks_words", "i4", (MAX_PARTS,)),
        ("needs", "i4", (MAX_PARTS,)),
        ("first_stage", "i4", (MAX_PARTS,)),
        ("end_stage", "i4", (MAX_PARTS,)),
        ("params", "f8", (MAX_PARTS, N_PARAMS)),
        ("stages", "i4", (MAX_STAGES, STAGE_WIDTH)),
    ],
    align=True,
)
"""One policy. random is 1 for the random legal policy alone; the other fields but stages are by
part. A part is a function's address, or (address 0) the stages first_stage to end_stage - 1, and
needs is the mask of the features that they look at."""

MAX_MOVES = 128
WORD_GROUP = 32
DESK = np.dtype(
    [
        ("hands", "u4", (4,)),
        ("key", "u4", (4,)),
        ("choice", "u4", (WORD_GROUP,)),
        ("bazaar", "u4", (WORD_GROUP,)),
        ("own", "u4", (WORD_GROUP,)),
        ("deal", "u4", (WORD_GROUP,)),
        ("spare", "u4", (WORD_GROUP,)),
        ("watched", "i8"),
        ("randoms", "i8"),
        ("held", "i8", (4,)),
        ("written", "i8", (4,)),
        ("moves", "i8", (MAX_MOVES,)),
        ("n_moves", "i8"),
        ("fault_deal", "u8"),
        ("fault_round", "i8"),
        ("fault_event", "i8"),
        ("fault_seat", "i8"),
        ("fault_move", "i8"),
        ("log", "i8"),
        ("log_size", "i8"),
        ("log_used", "i8"),
    ],
    align=True,
)
"""A worker's scratch space: hands, groups of random words, whether anybody looks at the history,
which seats play at random, scores, the legal moves of the last choice, where an illegal move was
made, and the address of the log (0 when none is kept)."""

OK, ILLEGAL = 0, 1
"""What a kernel returns."""

LOG_ROUND, LOG_PLAY, LOG_DRAW, LOG_PASS, LOG_END = range(5)
"""Kinds of entries in the log."""


OUT, FISH, FAULT = 0, 1, 2
"""How a round ends."""

ROUND = np.dtype(
    [
        ("round", "i4"),
        ("redeals", "i1"),
        ("hand", "i4"),
        ("doubles", "i1"),
        ("hand_pips", "i1"),
        ("leader", "?"),
        ("passes", "i1"),
        ("draws", "i1"),
        ("end", "i1"),
        ("by", "?"),
        ("true_fish", "?"),
        ("tiles_left", "i1"),
        ("hand_points", "i2"),
        ("written", "i4"),
        ("pot", "i4"),
        ("account", "i4"),
        ("memory", "i4"),
        ("opened", "?"),
        ("last", "?"),
    ]
)
"""One seat in one round, by the columns of the rounds frame; end is OUT or FISH."""

HISTORY = ("played", "void", "last", "shown", "tell", "bazaar")
"""The View's fields that only who looks at the history needs, and that cost time to keep."""

GAME = (
    "deals",
    "rounds",
    "fish_rounds",
    "capped",
    "goats",
    "several_goats",
    "goat_points",
    "passes",
    "draws",
    "led_goats",
)
"""A deal's sums over its matches, in the order of their columns; deals is 1."""
OF_A_POLICY = ("goat", "points", "rating", "rated")
"""A deal's sums over the seats of a policy: the columns behind, so many for each policy. Rated
counts the seats with a rating; the last two are there only where the rules rate."""

BLOCK = 272
"""Deals whose sums stay in the nearest cache until they are multiplied; a power of two would put
all columns of a deal into the same corner of it."""


def aligned(n: int, dtype: np.dtype | type) -> np.ndarray:
    """Return n zeros of a type, the first one at the beginning of a line of the cache."""
    space = np.zeros(n * np.dtype(dtype).itemsize + LINE, np.uint8)
    start = -space.ctypes.data % LINE
    return space[start : start + space.size - LINE].view(dtype)
