"""What a report says of its statistics: what holds of this run, and nothing that does not."""

from __future__ import annotations

from collections.abc import Iterable

from kozel_sim.intervals import LEVEL, percent
from kozel_sim.report_results import seated
from kozel_sim.runs import Run, Totals
from kozel_sim.schedule import ROTATIONS

METHODS = {
    "t, clustered by deal": "Means (points, rating, rounds, goats per match): a ratio of sums over "
    "deals with the standard error of such a ratio, and Student's t.",
    "Wilson, t, clustered by deal": "Rates (goat rate, fish per round): Wilson's interval with as "
    "many trials as would have the error clustered by deal, and Student's t in place of the normal "
    "deviate. It stays within 0 and 1, and holds for rare events too.",
    "t, paired and clustered by deal": "Differences: taken deal by deal, so that luck which both "
    "had falls out, and Student's t.",
    "Wilson, deals as trials": "Where all deals agreed, or there is one alone, the deals are the "
    "trials: that nothing was seen does not prove that there is nothing.",
}
"""What is said of each method that a table names."""


def fine_print(played: Run | Totals, methods: Iterable[str]) -> dict[str, list[str]]:
    """Return sentences by heading; `methods` are those that the tables name."""
    manifest = played.manifest
    used = {method.split(", Bonferroni")[0] for method in methods}
    duels = isinstance(played, Run) and "duel" in played.frame
    found = {
        "Luck": [
            "The seed fixes all luck before play: all policies, seatings and rule sets meet the "
            "same deals. What is compared is compared on common luck.",
        ],
        "The deal is the unit": [
            "Matches of one deal share its luck, so they are not independent. Every interval is "
            "clustered by deal: its evidence is the number of deals, not that of matches.",
        ],
        "Intervals": [
            *(METHODS[method] for method in METHODS if method in used),
            f"The level is {percent(LEVEL)} for each interval by itself, unless it is said to hold "
            "with others.",
        ],
        "Many comparisons": _comparisons(played, duels),
    }
    players = {rules["knobs"]["players"] for rules in manifest["rules"]}
    if manifest["design"] == ROTATIONS and max(players) > 2:
        found["The deal is the unit"].append(
            "Neighbours change with the cyclic order round the table by design and not by luck. So "
            "orders are set apart where each has at least 5 deals: only the spread of deals within "
            "an order counts."
        )
    if "stop" in manifest:
        rule = str(manifest["stop"])
        found["Stopping"] = [
            f"The run was looked at again and again, to be stopped by the rule “{rule}”. An "
            "interval as if the deals had been fixed is too sure of itself then; the last column "
            "of the decisions has intervals that hold at all looks, for all rows together.",
            "Such a run stops sooner when luck helps, and the estimates of that column are less "
            "this bias."
            if rule.startswith("sprt")
            else "A rule of width stops by the spread and not by the mean: estimates are as seen.",
            "All other tables of this report are as if the deals had been fixed.",
        ]
    if isinstance(played, Totals):
        found["Sums alone"] = [
            "The run kept sums by deal and policy, and no matches. Leaderboards are the same as of "
            "a run with matches, up to rounding; ranks, seats and notable matches need them."
        ]
    else:
        found["Seats"] = [
            "Whether seats, or the leader and the others, differ is tested by a chi-square that "
            "measures their differences against the spread of deals (Wald's in its score form), "
            "not by Pearson's, which takes matches for independent."
        ]
    found["What is not promised"] = [
        "Intervals of means lean on the central limit theorem: of few deals they cover a little "
        "less than they say.",
        "Results hold for these policies under these rules. Nothing here is about people.",
    ]
    return {heading: words for heading, words in found.items() if words}


def _comparisons(played: Run | Totals, duels: bool) -> list[str]:
    """Say what is made to hold for several comparisons at once, and what is not."""
    level = percent(LEVEL)
    if duels:
        return [
            "Each duel's interval and p-value stand by themselves. Of many duels between equals "
            "about one in twenty looks decided."
        ]
    if isinstance(played, Run) and not seated(played):
        return [
            f"Ranks hold all together at {level} within a rule set: a policy counts as better only "
            "where the paired difference is significant after Holm's adjustment over all pairs and "
            "both signs. That two intervals overlap does not mean that two policies are alike."
        ]
    if seated(played):
        return ["Policies kept their seats: what differs is due to seats as well as to policies."]
    return []
