"""Ask a policy for its moves outside a match."""

from __future__ import annotations

from kozel_sim._jit import kernel
from kozel_sim.engine.cross import ONE_DOUBLE, list_all_moves
from kozel_sim.engine.decide import choose, choose_listed


@kernel
def ask(rules, players, views, desks, repeats, moves):
    """Write the first player's move at each View, or -1 where it is illegal; again if asked so."""
    several = rules.spinner or rules.close_doubles or rules.multi_double != ONE_DOUBLE
    desk = desks[0]
    for _ in range(repeats):
        for i in range(views.size):
            view = views[i]
            if several:
                n = list_all_moves(rules, view, desk.moves)
                moves[i] = choose_listed(view, players[0], desk, n)
            else:
                moves[i] = choose(view, players[0], desk, False)
