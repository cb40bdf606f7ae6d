"""The presets: named values of the knobs, each with its source.

A knob that depends on the number of players is a dict ``{players: value}``. Decisions taken where a
source is silent are listed in ``docs/rules.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kozel_sim.words import did_you_mean, quoted


@dataclass(frozen=True)
class Preset:
    """A named set of knobs.

    Attributes
    ----------
    source : str
        Where the rules were published.
    summary : str
        The preset in one line.
    players : tuple of int
        The numbers of players it is played by.
    knobs : dict
        Knob values that differ from the defaults of ``RuleSet``.
    """

    source: str
    summary: str
    players: tuple[int, ...]
    knobs: dict[str, Any]

    def vary(
        self, source: str, summary: str, players: tuple[int, ...] = (), **knobs: Any
    ) -> Preset:
        """Return a preset that differs from this one in some knobs."""
        return Preset(source, summary, players or self.players, {**self.knobs, **knobs})


class Presets(dict[str, Preset]):
    """Every preset by its name: 13 from published rules, then 5 public extras.

    ``RuleSet.preset(name, players)`` makes rules of one; wherever rules are wanted, the name alone
    will do. ``list(PRESETS)`` are the names, and a notebook completes them: ``PRESETS["room<Tab>``.

    Examples
    --------
    >>> PRESETS["room-fish-all"].players
    (2, 3, 4)
    """

    def __missing__(self, name: object) -> Preset:
        raise KeyError(unknown_preset(name))


def unknown_preset(name: object) -> str:
    """Say that a preset is none, which was perhaps meant, and what there is."""
    # A name's beginning is as near as a slip.
    begun = [known for known in PRESETS if isinstance(name, str) and known.startswith(name or "-")]
    hint = f" (did you mean {begun[0]!r}?)" if begun else did_you_mean(name, PRESETS)
    return f"unknown preset {quoted(name)}{hint}; choose from {', '.join(PRESETS)}"


_ROOM = Preset(
    source="rules page of an online game room (two texts agree)",
    summary="2-4 singles, fence 13; after a fish everyone writes his own hand",
    players=(2, 3, 4),
    knobs={
        "redeal": "doubles5_or_same6",
        "fish_def": "six_closed",
        "fish_scoring": "all_own",
        "tile_over": "0-0:10 alone",
        "open_at": 13,
        "settlement": ("rating100", "timeout"),
    },
)
_ROOM_ONE = _ROOM.vary(
    source=_ROOM.source,
    summary="as room-fish-all, but after a fish the highest hand writes the sum of all hands",
    fish_scoring="max_takes_all",
    fish_tie="carry_to_unique_max",
)
_LIVEGAMES = Preset(
    source="LiveGames, Goat",
    summary="2-4 singles, 0-0 leads first; the lowest hand of a fish writes nothing; bank",
    players=(2, 3, 4),
    knobs={
        "lead_order": "blank_first",
        "fish_scoring": "lowest_free",
        "fish_tie": "tied_lowest_write_0",
        "open_at": 13,
        "settlement": ("bank",),
    },
)
_LOGIC = Preset(
    source="logic-games, Goat",
    summary="2-4 singles, more than 12 to start, tied fish makes eggs; Elo for two",
    players=(2, 3, 4),
    knobs={
        "fish_scoring": "lowest_free",
        "fish_tie": "eggs_all_hands",
        "open_at": 13,
        "settlement": {2: ("elo",), 3: (), 4: ()},
    },
)
_HOUSEHOLD = Preset(
    source="household rules page",
    summary="2-4 singles with 7 or 5 tiles, 0-0 is 25 and 6-6 is 50, 300 wins",
    players=(2, 3, 4),
    knobs={
        "hand_size": {2: 7, 3: 5, 4: 5},
        "lead_no_double": "min_total",
        "fish_scoring": "credit_lowest",
        "fish_tie": "void",
        "tile_over": "0-0:25 6-6:50",
        "ledger": "credit",
        "target": 300,
        "reach_effect": "wins",
    },
)
_DONKEY: dict[str, Any] = {
    "multi_double": "any_ends",
    "spinner": True,
    "close_doubles": True,
    "close_two_rule": True,
}
_PAIR = Preset(
    source="traditional rules page, Goat in pairs",
    summary="two pairs, the winners are credited the losers' hands, 101 wins",
    players=(4,),
    knobs={
        "teams": "pairs",
        "lead_order": "ones_only",
        "lead_repeat": "after_every_unrecorded_round",
        "bazaar_draw": "none",
        "fish_scoring": "pair_lower_wins",
        "fish_tie": "eggs_all_hands",
        "ledger": "credit",
        "open_at": 13,
        "memory_owner": "pair",
        "memory_reset": "on_opponents_record",
        "reach_effect": "wins",
    },
)
_SEA = _PAIR.vary(
    source="traditional rules page, Sea goat",
    summary="pairs to 202, won only dry; two doubles may be laid at once",
    multi_double="both_ends",
    target=202,
    dry_rule="reset_both",
)
_APP_PAIR = Preset(
    source="Dominoes 3D, Russian rules, pairs",
    summary="two pairs, losers write their hands, eggs wait for an official record",
    players=(4,),
    knobs={
        "teams": "pairs",
        "redeal": "doubles5_or_same6",
        "lead_order": "ones_only",
        "lead_repeat": "until_any_official_record",
        "bazaar_draw": "none",
        "fish_scoring": "pair_lower_wins",
        "fish_tie": "eggs_one_side",
        "eggs_help_open": False,
        "tile_over": "0-0:10 alone",
        "open_at": 13,
        "memory_owner": "pair",
        "memory_reset": "on_opponents_record",
    },
)

_PRESETS = {
    "room-fish-all": _ROOM,
    "room-fish-one": _ROOM_ONE,
    "blog-fish-one": _ROOM_ONE.vary(
        source="rules page of a blog",
        summary="as room-fish-one, but with no double dealt the lowest tile leads; no rating",
        lead_no_double="min_total",
        settlement=(),
    ),
    "livegames-goat": _LIVEGAMES,
    "livegames-goat-plain": _LIVEGAMES.vary(
        source=_LIVEGAMES.source, summary="as livegames-goat, without a fence", open_at=0
    ),
    "household-300": _HOUSEHOLD,
    "logic-games-goat": _LOGIC,
    "logic-games-donkey": _LOGIC.vary(
        source="logic-games, Donkey (its list of differences taken from LiveGames)",
        summary="as logic-games-goat, with a four-way first double and closed doubles",
        **_DONKEY,
    ),
    "pair-traditional": _PAIR,
    "sea-goat": _SEA,
    "dominoes3d-pair": _APP_PAIR,
    "dominoes3d-duel": _APP_PAIR.vary(
        source="Dominoes 3D, Russian rules, one against one",
        summary="two players, the bazaar's last tile is never drawn, eggs wait for a record",
        players=(2,),
        teams="none",
        lead_order="ones_first",
        bazaar_draw="until_playable",
        bazaar_reserve=1,
        memory_owner="player",
    ),
    "livegames-donkey": _LIVEGAMES.vary(
        source="LiveGames, Donkey",
        summary="as livegames-goat, with a four-way first double and closed doubles",
        **_DONKEY,
    ),
    "sea-goat-125": _SEA.vary(
        source="public extra",
        summary="as sea-goat, with a fence of 25 and a target of 125",
        open_at=25,
        target=125,
    ),
    "moldova-lone": _ROOM.vary(
        source="public extra",
        summary="as room-fish-all, a last 0-0 is 25 and a last 6-6 is 50",
        tile_over="0-0:25 6-6:50 alone",
    ),
    "kozel-2p-plain": _LIVEGAMES.vary(
        source="public extra",
        summary="two players, no fence, a tied fish is void",
        players=(2,),
        open_at=0,
        fish_tie="void",
    ),
    "leaflet-200": _HOUSEHOLD.vary(
        source="public extra (leaflets sold with sets of tiles)",
        summary="as household-300, but 0-0 may not lead and counts 10, 6-6 counts 12; 200 wins",
        lead_no_double="max_total",
        lead_blank=False,
        tile_over="0-0:10",
        target=200,
    ),
    "block-100": _HOUSEHOLD.vary(
        source="public extra (rules pages of block dominoes)",
        summary="nothing is drawn, the lead goes round, a fish pays the difference; 100 wins",
        lead_order="highest_double",
        lead_no_double="max_total",
        lead_next="next_seat",
        bazaar_draw="none",
        fish_scoring="credit_difference",
        tile_over="none",
        target=100,
    ),
}
PRESETS = Presets(_PRESETS)
