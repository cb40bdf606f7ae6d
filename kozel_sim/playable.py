"""Which knobs cannot go together: what no table could play, and what would mean nothing."""

from __future__ import annotations

from typing import Any

_CREDITED = ("credit_lowest", "credit_difference")


def need_playable(rules: Any) -> None:
    """Raise ValueError if knobs of a RuleSet cannot go together; the message says which."""
    for refused, reason in _refusals(rules):
        if refused:
            raise ValueError(reason)


def _refusals(rules: Any) -> list[tuple[bool, str]]:
    """Return what is refused, and why."""
    return [
        (
            rules.teams == "pairs" and rules.players != 4,
            f"teams=pairs needs 4 players, not {rules.players}",
        ),
        (
            rules.teams == "pairs" and rules.fish_scoring == "max_takes_all",
            "fish_scoring=max_takes_all is for singles; with teams=pairs use pair_lower_wins",
        ),
        (
            rules.fish_scoring == "pair_lower_wins" and rules.sides != 2,
            f"fish_scoring=pair_lower_wins needs two sides, not {rules.sides}",
        ),
        (
            rules.fish_tie == "eggs_one_side" and rules.sides != 2,
            f"fish_tie=eggs_one_side needs two sides, not {rules.sides}",
        ),
        (
            rules.fish_tie == "tied_lowest_write_0" and rules.fish_scoring != "lowest_free",
            "fish_tie=tied_lowest_write_0 goes with fish_scoring=lowest_free",
        ),
        (
            rules.ledger == "credit" and rules.fish_scoring not in ("pair_lower_wins", *_CREDITED),
            f"ledger=credit needs a fish with a winner: fish_scoring=pair_lower_wins, "
            f"credit_lowest or credit_difference, not {rules.fish_scoring}",
        ),
        (
            rules.ledger == "penalty" and rules.fish_scoring in _CREDITED,
            f"fish_scoring={rules.fish_scoring} goes with ledger=credit",
        ),
        (
            (rules.teams == "pairs") != (rules.memory_owner == "pair") and rules.open_at > 0,
            f"memory_owner={rules.memory_owner} does not fit teams={rules.teams}: an account is "
            "kept by side",
        ),
        (
            rules.lead_order == "ones_only" and rules.bazaar_size > 0,
            "lead_order=ones_only needs 1-1 dealt every time, so no bazaar",
        ),
        (
            rules.lead_order == "blank_first" and not rules.lead_blank,
            "lead_order=blank_first begins with 0-0, which lead_blank=false forbids; "
            "use ones_first",
        ),
        (
            rules.bazaar_reserve > 0 and rules.bazaar_reserve >= rules.bazaar_size,
            f"bazaar_reserve={rules.bazaar_reserve} leaves nothing of "
            f"a bazaar of {rules.bazaar_size}",
        ),
        (
            rules.spinner and rules.fish_def == "six_closed",
            "spinner has four arms; fish_def=six_closed knows two ends",
        ),
        (
            rules.spinner and rules.multi_double == "both_ends",
            "multi_double=both_ends knows two ends; with spinner use any_ends",
        ),
        (
            rules.close_two_rule and not (rules.close_doubles and rules.multi_double == "any_ends"),
            "close_two_rule needs close_doubles and multi_double=any_ends",
        ),
        (
            rules.dry_rule != "none"
            and (rules.sides != 2 or rules.ledger != "credit" or rules.reach_effect != "wins"),
            f"dry_rule={rules.dry_rule} needs two sides, ledger=credit and reach_effect=wins",
        ),
        (
            "elo" in rules.settlement and rules.sides != 2,
            f"settlement=elo is for two sides, not {rules.sides}",
        ),
        (rules.open_at > rules.target, f"open_at={rules.open_at} is over target={rules.target}"),
    ]
