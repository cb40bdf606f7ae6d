"""Level 3: the same kind of function run as plain Python, to try things out with print or pdb.

python experiments/policies/level3_python.py
kozel check-policy experiments/policies/level3_python.py

The reference engine calls the function as it stands, on one thread, several hundred times slower.
When it does what you want, it is a level 2 policy already: both engines make the same moves.
"""

from kozel_sim import play, policy
from kozel_sim.kit import moves, pips_of, popcount, tiles_of, values
from kozel_sim.moves import move_text


def choose(view):
    """Keep most different values in hand; of equal moves the one with more pips."""
    best = -1
    choice = 0
    for move in moves(view):
        kept = popcount(values(view.hand & ~tiles_of(move)))
        worth = 100 * kept + pips_of(move)
        if worth > best:
            best = worth
            choice = move
    return choice


@policy
def keeps_values(view):
    """Keep most different values in hand; of equal moves the one with more pips."""
    return choose(view)


if __name__ == "__main__":

    @policy
    def aloud(view):
        """The same, and say what it sees: only plain Python can print the names of moves."""
        move = choose(view)
        legal = ", ".join(move_text(m) for m in moves(view))
        print(f"seat {view.seat}, ends {view.arms[:2]}: {move_text(move)} of {legal}")
        return move

    record = play("room-fish-all", [aloud, "random"], seed=1, deal=0, engine="reference")
    print(record.to_text())
