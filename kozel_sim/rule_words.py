"""A rule set in words, for readers who know no knobs: ``docs/rules.md`` has the long form.

A knob that has nothing to do under the others, like a reserve without a bazaar, is not spoken of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kozel_sim.rules import RuleSet, parse_tile_over
from kozel_sim.tiles import NAMES
from kozel_sim.words import counted

NUMBERS = {2: "two", 3: "three", 4: "four"}
LEADS = {
    "ones_first": "The holder of 1-1 leads the first round; if it was not dealt, of 2-2, and so on "
    "to 6-6, and 0-0 last",
    "ones_only": "The holder of 1-1 leads the first round",
    "blank_first": "The holder of 0-0 leads the first round; if it was not dealt, of 1-1, and so "
    "on to 6-6",
    "highest_double": "The holder of the highest double leads the first round",
}
NO_DOUBLE = {
    "max_total": "Where no double was dealt, the holder of the tile with most pips leads",
    "min_total": "Where no double was dealt, the holder of the tile with fewest pips leads",
}
LATER = {
    "finisher": "Whoever went out, or was the last to lay a tile before a fish, leads the next "
    "round",
    "next_seat": "The next round is led from the seat behind that of the last leader, clockwise",
    "winner": "Whoever went out leads the next round; after a fish it is the lowest hand",
    "loser": "The highest hand leads the next round",
}
OF_PAIRS = {
    "winner": "Whoever went out leads the next round; after a fish it is one of the pair with the "
    "lower hands",
    "loser": "One of the pair that lost, after a fish of that with the higher hands, leads the "
    "next round",
}
"""The same where pairs play."""
REPEATED = {
    "first_round_only": "",
    "until_any_official_record": "; but the rule of the first round holds until some account has "
    "received points",
    "after_every_unrecorded_round": "; but after a round in which no account received points, the "
    "rule of the first round holds again (not after a tied fish whose points wait)",
}
SEVERAL_DOUBLES = {
    "none": "One tile is laid at a time.",
    "both_ends": "Two doubles may be laid at once, one on each end.",
    "any_ends": "Several doubles may be laid at once, each on an end of its own.",
}
FISH = {
    "no_legal_move": "A round is blocked, a fish, when nobody holds a tile that fits and nothing "
    "can be drawn",
    "six_closed": "A round is blocked, a fish, when nobody holds a tile that fits and nothing can "
    "be drawn; also when both ends show a value whose six other tiles than the double are all on "
    "the table",
}
AFTER_FISH = {
    "all_own": "After a fish each side writes its own hand.",
    "max_takes_all": "After a fish the side with the highest hand writes the sum of all hands, the "
    "others nothing.",
    "lowest_free": "After a fish the side with the lowest hand writes nothing, the others their "
    "own hands.",
    "credit_lowest": "After a fish the side with the lowest hand is credited the sum of the "
    "others' hands.",
    "credit_difference": "After a fish the side with the lowest hand is credited the sum of the "
    "others' hands less its own.",
}
TIED_FISH = {
    "carry_to_unique_max": "If the deciding hands of a fish are equal, nothing is written, and all "
    "hands wait for whoever pays later.",
    "eggs_all_hands": "If the deciding hands of a fish are equal, nothing is written, and all "
    "hands wait as eggs for a later round.",
    "eggs_one_side": "If the deciding hands of a fish are equal, nothing is written, and one "
    "side's hands wait as eggs for a later round.",
    "void": "If the deciding hands of a fish are equal, nothing is written, and nothing is kept.",
    "tied_lowest_write_0": "If several hands are the lowest of a fish, they write nothing, the "
    "others their own.",
}
FORGOTTEN = {
    "nothing_written_this_round": "They are lost in a round in which nothing is written for their "
    "owner.",
    "on_opponents_record": "They are lost when an account of the opponents receives points.",
    "never": "They are never lost.",
}
DRY = {
    "none": "",
    "reset_both": " It must be dry: if the opponents have points, both sides start again from "
    "nothing.",
    "net": " It must be dry: points first cancel those of the opponents, and only the rest counts.",
}
WORTH = {
    "rating100": "points of the room's rating to whoever is no goat, the tenth part of what he is "
    "short of 100 (1 to 10)",
    "timeout": "points of the room's rating when somebody's time runs out (matches here have no "
    "clock)",
    "elo": "Elo points, with K = {k}",
    "bank": "shares of the bank",
}


def rules_in_words(rules: RuleSet) -> dict[str, list[str]]:
    """Return how a rule set is played: sentences by heading, in the order of a match.

    Examples
    --------
    >>> words = rules_in_words(RuleSet.preset("room-fish-one", players=3))
    >>> list(words)
    ['Table', 'Lead', 'Turn', 'Fish', 'Points', 'End']
    >>> words["Table"][0]
    'Three players, each for himself.'
    >>> words["Fish"][-1]
    'If the deciding hands of a fish are equal, nothing is written, and all hands wait for whoever
    pays later.'
    """
    return {
        "Table": _table(rules),
        "Lead": _lead(rules),
        "Turn": _turn(rules),
        "Fish": _fish(rules),
        "Points": _points(rules),
        "End": _end(rules),
    }


def _table(rules: RuleSet) -> list[str]:
    if rules.teams == "pairs":
        found = ["Two pairs, seats 0 and 2 against seats 1 and 3, with one account a pair."]
    else:
        found = [f"{NUMBERS[rules.players].capitalize()} players, each for himself."]
    over = f"the other {rules.bazaar_size} are the bazaar"
    dealt = over if rules.bazaar_size else "none is left over"
    found.append(f"Each is dealt {rules.hand_size} of the 28 tiles; {dealt}.")
    if rules.redeal != "none":
        found.append(
            "All hands are dealt again while one of them has five doubles, or six tiles that share "
            "a value."
        )
    return found


def _lead(rules: RuleSet) -> list[str]:
    tile = "That tile must be played" if rules.lead_forced else "He may play any tile"
    order, no_double = LEADS[rules.lead_order], NO_DOUBLE[rules.lead_no_double]
    if not rules.lead_blank:
        order = order.removesuffix(", and 0-0 last")
        no_double = no_double.replace("no double", "no double but 0-0")
    found = [f"{order}. {tile}."]
    if rules.lead_order != "ones_only":
        found.append(f"{no_double}.")
    if not rules.lead_blank:
        found.append("No round may be led with 0-0, and it gives nobody the lead.")
    words = {**LATER, **OF_PAIRS} if rules.teams == "pairs" else LATER
    found.append(f"{words[rules.lead_next]}{REPEATED[rules.lead_repeat]}.")
    if rules.lead_next in OF_PAIRS:
        several = "Of the two" if rules.teams == "pairs" else "Of equal ones"
        first = ", beginning with" if rules.lead_next == "winner" else " behind"
        found.append(f"{several} it is the first clockwise{first} whoever ended the round.")
    return found


def _turn(rules: RuleSet) -> list[str]:
    if rules.bazaar_size and rules.bazaar_draw == "until_playable":
        reserve = {
            0: "",
            1: " (the bazaar's last tile is never drawn)",
            2: " (the bazaar's last two tiles are never drawn)",
        }
        stuck = f"draws tiles until one fits{reserve[rules.bazaar_reserve]}, and else passes"
    else:
        stuck = "passes; nothing is drawn"
    found = ["Whoever can play must.", f"Whoever cannot {stuck}."]
    found.append(SEVERAL_DOUBLES[rules.multi_double])
    if rules.spinner:
        found.append("A double that is led has four ends.")
    if rules.close_doubles:
        found.append("A double may be laid closed: then nothing can be laid there again.")
    if rules.close_two_rule:
        found.append(
            "Both ends of a line may be closed in one move only while no double lies on the table."
        )
    return found


def _fish(rules: RuleSet) -> list[str]:
    bazaar = rules.bazaar_size and rules.bazaar_draw != "none"
    found = [f"{FISH[rules.fish_def]}."]
    if rules.dead_value_stop:
        more = ", even while there are tiles to draw" if bazaar else ""
        found.append(f"It is one at once when no tile off the table fits an end{more}.")
    if rules.fish_scoring == "pair_lower_wins":
        hands = {
            "losers_hands": "the loser's hands",
            "all_hands": "the hands of both",
            "difference": "what the loser's hands have over its own",
        }
        how = "credited to it" if rules.ledger == "credit" else "written on the other"
        found.append(
            f"After a fish the side with the lower hands wins: {hands[rules.pair_fish_points]} "
            f"{'is' if rules.pair_fish_points == 'difference' else 'are'} {how}."
        )
    else:
        found.append(AFTER_FISH[rules.fish_scoring])
    if rules.fish_scoring != "all_own":
        found.append(TIED_FISH[rules.fish_tie])
        if rules.fish_tie.startswith("eggs") and rules.open_at and not rules.eggs_help_open:
            found.append("Eggs do not help to open an account.")
        if rules.memory_on_draw == "reset" and rules.open_at:
            found.append("Remembered points are lost then.")
    return found


def _points(rules: RuleSet) -> list[str]:
    if rules.ledger == "credit":
        found = ["Whoever goes out is credited the pips that all other sides hold."]
    else:
        found = ["When somebody goes out, the others write the pips that they hold: bad points."]
    tiles, alone = parse_tile_over(rules.tile_over)
    if tiles:
        worth = ", ".join(f"{NAMES[tile]} counts {points}" for tile, points in tiles.items())
        found.append(f"{worth}{' where a hand has no other tile' if alone else ''}.")
    if not rules.open_at:
        return found
    points = counted(rules.open_at, "point")
    if rules.open_test == "round_amount":
        fence = f"An account opens only with {points} or more in one round."
    else:
        fence = f"An account opens only with {points} or more, remembered ones too."
    found.append(f"{fence} Until then points are remembered, and join it when it opens.")
    found.append(FORGOTTEN[rules.memory_reset])
    if rules.fish_memory == "max":
        found.append("Of remembered points and those of a fish the larger number is kept.")
    return found


def _end(rules: RuleSet) -> list[str]:
    points = counted(rules.target, "point")
    if rules.reach_effect == "loses":
        found = [f"Whoever has {points} or more is the goat: he has lost the match."]
    else:
        won = f"The side with {points} or more wins the match"
        found = [f"{won}, and the others are goats.{DRY[rules.dry_rule]}"]
    worth = (WORTH[each].format(k=rules.elo_k) for each in rules.settlement)
    found += [f"A match is worth {each}." for each in worth]
    return [*found, f"A match of {counted(rules.max_rounds, 'round')} is stopped, without goats."]


NONE = "There is nothing of the kind."


def in_words(rules: Sequence[RuleSet]) -> list[dict[str, Any]]:
    """Return each rule set's ``title`` and ``words``; after the first the paragraphs that differ.

    Parameters
    ----------
    rules : sequence of RuleSet
        At least one.

    Returns
    -------
    list of dict
        words are sentences by heading, as of ``rules_in_words``. A paragraph of the first that
        another rule set does not have is a sentence that says so.
    """
    first = rules_in_words(rules[0])
    found: list[dict[str, Any]] = []
    for each in rules:
        words = rules_in_words(each)
        if found:
            headings = [*first, *(heading for heading in words if heading not in first)]
            mine = words
            words = {h: mine.get(h, [NONE]) for h in headings if mine.get(h) != first.get(h)}
        found.append({"title": f"{each.name}, {each.players} players", "words": words})
    return found
