"""Stages of ladders as rows of numbers, and the features that a row's kernels look at."""

from __future__ import annotations

from kozel_sim.engine.layout import FEATURE_INDEX, TILE_SCORES, TRIGGER_INDEX, USED, WEIGHTS
from kozel_sim.tiles import N_TILES, PIPS

PIPS_OF, DOUBLE, RANGE, LONGEST, LAST_OF_SUIT = (
    FEATURE_INDEX[name] for name in "pips double range longest last_of_suit".split()
)
BLOCK, MATCH, COVER, LOCK, UNSEEN = (
    FEATURE_INDEX[name] for name in "block match cover lock unseen".split()
)
NEXT_VOID, NEXT_TELL, PARTNER_VOID, FEWEST_VOID = (
    FEATURE_INDEX[name] for name in "next_void next_tell partner_void fewest_void".split()
)
STRAND_DOUBLE, HOLD_LAST, FISH_AHEAD, FISH_BEHIND = (
    FEATURE_INDEX[name] for name in "strand_double hold_last fish_ahead fish_behind".split()
)
ARMS, LEFT, GOES_OUT, HOLDS_FEWEST = (
    FEATURE_INDEX[name] for name in "arms left goes_out holds_fewest".split()
)
OWN_DISTANCE, RIVAL_DISTANCE, FENCE_OPEN = (
    FEATURE_INDEX[name] for name in "own_distance rival_distance fence_open".split()
)
ALWAYS, EVEN_HAND, LONG_SUIT, LEGAL_DOUBLE = (
    TRIGGER_INDEX[name] for name in "always even_hand long_suit legal_double".split()
)
RIVAL_LOW, OWN_NEAR, RIVAL_NEAR = (
    TRIGGER_INDEX[name] for name in "rival_low own_near rival_near".split()
)


def _mask(*features):
    return sum(1 << feature for feature in features)


SUITS = _mask(RANGE, LONGEST, LAST_OF_SUIT, MATCH, COVER)
"""Features that need my suits counted."""
QUICK = _mask(PIPS_OF, DOUBLE, RANGE, LONGEST, LAST_OF_SUIT, BLOCK, MATCH, COVER, LOCK)
"""Features of my tiles and the ends alone; the engine keeps a fast path for them."""
MULTIPLE = _mask(ARMS, LEFT, GOES_OUT, HOLDS_FEWEST)
"""Features that are the same for all moves of one tile on two ends."""
REST = MULTIPLE | _mask(OWN_DISTANCE, RIVAL_DISTANCE, FENCE_OPEN)
VOIDS = _mask(NEXT_VOID, NEXT_TELL, PARTNER_VOID, FEWEST_VOID)
LONE = _mask(STRAND_DOUBLE, HOLD_LAST)
FISH = _mask(FISH_AHEAD, FISH_BEHIND)

NEEDS_OF_TRIGGER = {"even_hand": SUITS, "long_suit": SUITS}
"""What a trigger needs surveyed."""


def weigh(row, weights):
    """Write weights into a stage's row."""
    for name, weight in weights.items():
        row[USED] |= (weight != 0) << FEATURE_INDEX[name]
        row[WEIGHTS + FEATURE_INDEX[name]] = weight
    for tile in range(N_TILES):
        alone = weights.get("pips", 0) * PIPS[tile] + weights.get("double", 0) * (tile < 7)
        row[TILE_SCORES + 1 + tile] = alone
