"""The built-in policies: ladders, as the text of a ``prefer:`` spec.

Tips T1-T7 are the seven strategy tips on the rules page of an online Kozel room. Where a tip does
not apply, all legal moves are equal to it: alone it then plays at random, and in a longer ladder
the next stage decides. Tip T5, the tell of a player who switches ends, changes beliefs only.
"""

from __future__ import annotations


def _tip(number: str) -> str:
    return f"tip {number}, rules page of an online Kozel room"


BUILTIN: dict[str, tuple[str, str, str]] = {
    "random": ("", "any legal move, all equally likely", "baseline"),
    "dump_heavy": ("pips", "the tile with most pips", _tip("T6")),
    "dump_doubles": (
        "legal_double?double > legal_double?pips",
        "a double when one is legal, the highest first; else random",
        _tip("T3"),
    ),
    "keep_range": (
        "even_hand?range > even_hand?-longest",
        "with an even hand, keep many different values, then no long suit; else random",
        _tip("T1"),
    ),
    "block_ends": (
        "long_suit?match > long_suit?-cover",
        "with a long suit, make the ends show it and do not cover it; else random",
        _tip("T2"),
    ),
    "strand_double": (
        "strand_double",
        "with the last tile but the double of a suit, cover its last end; else random",
        _tip("T4"),
    ),
    "hold_last": (
        "hold_last",
        "keep the tiles of an end where nobody else can lay; else random",
        _tip("T7"),
    ),
    "seven_tips": (
        "hold_last > strand_double > block_ends > keep_range > dump_doubles > dump_heavy",
        "all tips in the order T7, T4, T2, T1, T3, T6",
        _tip("T1-T4, T6, T7"),
    ),
    "tell_reader": (
        "next_void=1,next_tell=0.65 > pips",
        "ends that the next seat lacks, or left by switching (0.65 of a known one); then pips",
        _tip("T5"),
    ),
    "few_answers": (
        "-unseen > pips",
        "ends that few unseen tiles fit; then the tile with most pips",
        "hand-made",
    ),
    "allround": (
        "hold_last > pips=1,double=3,range=3,block=3,lock=1.25,unseen=-0.75,next_void=1.5,"
        "fish_ahead=1",
        "keep what nobody else can lay (T7); then a weighted sum set by hand",
        "hand-made",
    ),
    "pair_allround": (
        "hold_last > pips=1,double=3,range=3,block=3,lock=1.75,unseen=-1.5,next_void=1.5,"
        "partner_void=-2,fewest_void=2,fish_ahead=1,fish_behind=-2",
        "allround for pairs, which spares the partner the ends that he lacks",
        "hand-made",
    ),
}
"""By name: the stages, what it does, and where it comes from."""

FIELD = ("random", "dump_heavy", "dump_doubles", "seven_tips", "allround")
"""Who plays when nobody is named."""
