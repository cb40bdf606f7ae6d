"""Monte Carlo strategy research for Kozel ("Goat"), the Russian domino game.

Play a match into a record::

    from kozel_sim import play
    print(play("room-fish-all", ["random", "dump_heavy"], seed=1, deal=0).to_text())

Compare policies::

    from kozel_sim import tournament
    run = tournament("room-fish-all", ["random", "dump_heavy", "keep_range", "dump_doubles"], 600)
    run.summary()

Names are loaded when they are first used, so importing the package is quick; numba is loaded when
something is played.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kozel_sim.alike import same_play
    from kozel_sim.balance import seat_balance, seat_tables, shard_balance
    from kozel_sim.checking import check_policy
    from kozel_sim.decision import IllegalMoveError, Policy
    from kozel_sim.duels import compare, duel
    from kozel_sim.forecasts import forecast
    from kozel_sim.metagame import intransitive, nash, payoffs
    from kozel_sim.moves import legal_moves
    from kozel_sim.opening import first_leader, needs_redeal
    from kozel_sim.planning import plan
    from kozel_sim.playing import check_record, play
    from kozel_sim.policies import (
        POLICIES,
        get_policy,
        ladder,
        list_policies,
        load_code,
        policy,
    )
    from kozel_sim.presets import PRESETS
    from kozel_sim.rankings import pairwise, ranking
    from kozel_sim.ratings import elo_ratings, rate
    from kozel_sim.record import Record
    from kozel_sim.replay import show
    from kozel_sim.report_page import report_html
    from kozel_sim.rounds import rounds_frame
    from kozel_sim.rules import RuleSet
    from kozel_sim.runs import Run, Totals, load_run, load_totals
    from kozel_sim.scoring import (
        bank_shares,
        elo_change,
        hand_points,
        rating100,
        settle,
        timeout_rating,
    )
    from kozel_sim.simulation import simulate
    from kozel_sim.stopping import corrected, read_stop
    from kozel_sim.tell import measure_tell
    from kozel_sim.tournaments import tournament
    from kozel_sim.worlds import Worlds

_HOMES = {
    "alike": ["same_play"],
    "balance": ["seat_balance", "seat_tables", "shard_balance"],
    "checking": ["check_policy"],
    "decision": ["IllegalMoveError", "Policy"],
    "duels": ["compare", "duel"],
    "forecasts": ["forecast"],
    "metagame": ["intransitive", "nash", "payoffs"],
    "moves": ["legal_moves"],
    "opening": ["first_leader", "needs_redeal"],
    "planning": ["plan"],
    "playing": ["check_record", "play"],
    "policies": ["POLICIES", "get_policy", "ladder", "list_policies", "load_code", "policy"],
    "presets": ["PRESETS"],
    "rounds": ["rounds_frame"],
    "rankings": ["pairwise", "ranking"],
    "ratings": ["elo_ratings", "rate"],
    "record": ["Record"],
    "replay": ["show"],
    "report_page": ["report_html"],
    "rules": ["RuleSet"],
    "scoring": [
        "bank_shares",
        "elo_change",
        "hand_points",
        "rating100",
        "settle",
        "timeout_rating",
    ],
    "runs": ["Run", "Totals", "load_run", "load_totals"],
    "simulation": ["simulate"],
    "stopping": ["corrected", "read_stop"],
    "tell": ["measure_tell"],
    "tournaments": ["tournament"],
    "worlds": ["Worlds"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "POLICIES",
    "PRESETS",
    "IllegalMoveError",
    "Policy",
    "Record",
    "RuleSet",
    "Run",
    "Totals",
    "Worlds",
    "bank_shares",
    "check_policy",
    "check_record",
    "compare",
    "corrected",
    "duel",
    "elo_change",
    "elo_ratings",
    "first_leader",
    "forecast",
    "get_policy",
    "hand_points",
    "intransitive",
    "ladder",
    "legal_moves",
    "list_policies",
    "load_code",
    "load_run",
    "load_totals",
    "measure_tell",
    "nash",
    "needs_redeal",
    "pairwise",
    "payoffs",
    "plan",
    "play",
    "policy",
    "ranking",
    "rate",
    "rating100",
    "read_stop",
    "report_html",
    "rounds_frame",
    "same_play",
    "seat_balance",
    "seat_tables",
    "settle",
    "shard_balance",
    "show",
    "simulate",
    "timeout_rating",
    "tournament",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'kozel_sim' has no attribute {name!r}")
    value = getattr(import_module(f"kozel_sim.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
