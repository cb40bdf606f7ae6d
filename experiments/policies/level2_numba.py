"""Level 2: a policy as a small function that numba compiles; it plays at the engine's speed.

kozel check-policy experiments/policies/level2_numba.py
kozel tournament --code experiments/policies/level2_numba.py --players 2

Everything that is known of the position is in `view` (docs/policies.md lists its fields), and the
words to write with are in kozel_sim.kit. `score` is plain Python: it is compiled with the policy.
"""

from kozel_sim import policy
from kozel_sim.kit import best_move, feature, lacks, next_seat, pips_of, values_after


def score(view, move):
    """Shed pips and doubles, stay playable, and leave the next player what he lacks."""
    total = pips_of(move) + 3 * feature(view, move, "double") + 1.5 * feature(view, move, "lock")
    shown = values_after(view, move)
    for value in range(7):
        if shown >> value & 1 and lacks(view, next_seat(view), value):
            total += view.params[0]
    return total


@policy(spite=2)
def careful(view):
    """Weights, and a bonus for showing values that the next player has passed on."""
    return best_move(view, score)
