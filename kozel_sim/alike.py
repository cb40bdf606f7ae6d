"""Whether two policies played alike: the same results in every match, and the same moves.

In a duel each deal is played from every seat, and luck is the deal's and the seats'. If all matches
of a deal come out the same, whoever sat where, nothing tells the two apart; if the moves are the
same, too, each has chosen, wherever one of them chose, just what the other one did. Results are in
the run's frame. Only where all of them agree, which is rare, the matches are played again and their
moves compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kozel_sim.engine.play import Table, new_matches
from kozel_sim.metrics import duels_of, need_columns, parts_of
from kozel_sim.policies import find_policy
from kozel_sim.rows import whole_matches
from kozel_sim.rules import RuleSet
from kozel_sim.runs import Run
from kozel_sim.schedule import VERSUS

RESULTS = ("points", "goat", "rounds", "fish_rounds", "passes", "draws", "led", "capped")
"""What a frame tells of a seat's match, but for what follows from it."""
MOVES, SAME_RESULTS, DIFFERENT = "moves", "results", "nothing"
"""What is the same: moves too; results, of matches that could not be played again; or neither."""
BATCH = 256
"""Deals whose matches are compared at a time."""
LOG_WORDS = 1 << 21


def same_play(run: Run) -> pd.DataFrame:
    """Return how much of each duel was the same, whoever of the two sat where.

    Parameters
    ----------
    run : Run
        A duel, or a tournament of duels.

    Returns
    -------
    DataFrame
        Columns preset, players, duel, policy, against, same ("moves" where all moves were the same
        in all matches; "results" where all results were, and the policies are not at hand to look
        at their moves, or these differ; else "nothing"), differing_deals (in how many deals the
        results differ by who sat where), n_matches, n_deals.

    Raises
    ------
    ValueError
        If the run has no duels.

    Examples
    --------
    >>> from kozel_sim import duel
    >>> run = duel("room-fish-all", "weights:pips=1", "weights:pips=2", 50, seed=1, players=2)
    >>> same_play(run)[["same", "differing_deals", "n_matches"]].to_numpy().tolist()
    [['moves', 0, 100]]
    """
    need_columns(run.frame, ["duel"], "; it comes from duel(), or a tournament of duels")
    rows: list[dict[str, Any]] = []
    for keys, part in parts_of(run.frame):
        # The policies themselves; of teams, duels are named by two of them.
        for (first, second, _), (_, here) in zip(
            duels_of(part), part.groupby("duel", observed=True, sort=False), strict=True
        ):
            players = int(keys["players"])
            here = whole_matches(here, players)
            first_of_deal, deals = _firsts(here["deal"].to_numpy()[::players])
            differing = _differing(here, players, first_of_deal)
            same = DIFFERENT
            if not differing.any():
                rules = _rules_of(run, str(keys["preset"]), players)
                alike = rules is not None and _same_moves(run, rules, here, first_of_deal)
                same = MOVES if alike else SAME_RESULTS
            rows.append(
                keys
                | {"duel": f"{first}{VERSUS}{second}", "policy": first, "against": second}
                | {"same": same, "differing_deals": len(np.unique(first_of_deal[differing]))}
                | {"n_matches": len(here) // players, "n_deals": deals}
            )
    return pd.DataFrame(rows)


def _firsts(deals: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], int]:
    """Return the first match of each match's deal, ``[match]``, and how many deals there are."""
    _, firsts, codes = np.unique(deals, return_index=True, return_inverse=True)
    return firsts[codes], len(firsts)


def _differing(
    rows: pd.DataFrame, players: int, firsts: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Tell which matches have other results than the first one of their deal, ``[match]``."""
    found = np.zeros(len(firsts), bool)
    for column in RESULTS:
        values = rows[column].to_numpy().reshape(-1, players)
        found |= (values != values[firsts]).any(axis=1)
    return found


def _rules_of(run: Run, preset: str, players: int) -> RuleSet | None:
    listed = (RuleSet.from_knobs(each["knobs"], each["base"]) for each in run.manifest["rules"])
    return next((one for one in listed if (one.name, one.players) == (preset, players)), None)


def _same_moves(
    run: Run, rules: RuleSet, rows: pd.DataFrame, firsts: npt.NDArray[np.int64]
) -> bool:
    """Play matches again, and tell whether those of each deal have the same moves."""
    described = {each["name"]: each for each in run.manifest["policies"]}
    names = [str(name) for name in pd.unique(rows["policy"])]
    try:
        table = Table(rules, [find_policy(described[name]) for name in names], "scalar")
    except (KeyError, ValueError, NotImplementedError, OSError):
        return False
    n = rules.players
    seats = pd.Categorical(rows["policy"], names).codes.reshape(-1, n).astype(np.int64)
    matches = new_matches(rows["deal"].to_numpy()[::n].astype(np.uint64), seats)
    seed = int(run.manifest["seed"])
    others = np.flatnonzero(firsts != np.arange(len(firsts)))
    for first in range(0, len(others), BATCH):
        these = others[first : first + BATCH]
        pairs = zip(
            _logs(table, matches[firsts[these]], seed),
            _logs(table, matches[these], seed),
            strict=True,
        )
        if not all(np.array_equal(one, other) for one, other in pairs):
            return False
    return True


def _logs(table: Table, matches: npt.NDArray[Any], seed: int) -> Iterator[npt.NDArray[np.int64]]:
    """Yield what matches leave in the log, all together, or one by one where they are long."""
    log = np.zeros(LOG_WORDS, np.int64)
    used = table.play(matches.copy(), seed, log)
    if used <= len(log):
        yield log[:used]
        return
    for at in range(len(matches)):
        log = np.zeros(LOG_WORDS, np.int64)
        used = table.play(matches[at : at + 1].copy(), seed, log)
        if used > len(log):
            log = np.zeros(used, np.int64)
            table.play(matches[at : at + 1].copy(), seed, log)
        yield log[:used]
