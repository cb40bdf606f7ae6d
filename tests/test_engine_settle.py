"""The compiled score of a round equals the plain one, on random rounds under random rules."""

import random

import numpy as np
from kernels import kernel

from kozel_sim.engine.layout import DESK
from kozel_sim.engine.settle import result, settle
from kozel_sim.rules import RuleSet, knob_choices
from kozel_sim.scoring import settle as plain_settle
from kozel_sim.tiles import Hand, mask_of
from kozel_sim.view import VIEW


@kernel
def settle_one(rules, views, desks, fish, by, out):
    """Settle what lies on the view and the desk; out: entries, tied, goats, winners."""
    view, desk = views[0], desks[0]
    out[0], out[1] = settle(rules, view, desk.hands, fish, by, desk.held, desk.written)
    out[2], out[3] = result(rules, view)


KNOBS = {
    "players": (2, 3, 4),
    "teams": ("none", "none", "pairs"),
    "fish_scoring": knob_choices("fish_scoring"),
    "pair_fish_points": knob_choices("pair_fish_points"),
    "fish_tie": knob_choices("fish_tie"),
    "eggs_help_open": (True, False),
    "memory_on_draw": knob_choices("memory_on_draw"),
    "tile_over": ("none", "0-0:10 alone", "0-0:25 6-6:50", "0-0:25 6-6:50 alone", "6-4:0"),
    "ledger": knob_choices("ledger"),
    "open_at": (0, 1, 13, 25),
    "open_test": knob_choices("open_test"),
    "memory_owner": ("player", "pair"),
    "memory_reset": knob_choices("memory_reset"),
    "fish_memory": knob_choices("fish_memory"),
    "target": (51, 101, 202),
    "reach_effect": knob_choices("reach_effect"),
    "dry_rule": knob_choices("dry_rule"),
}


def random_rules(rnd: random.Random) -> RuleSet:
    """Rules with random knobs; those that exclude each other are tossed again."""
    while True:
        try:
            return RuleSet(**{knob: rnd.choice(values) for knob, values in KNOBS.items()})
        except ValueError:
            pass


def random_hands(rnd: random.Random, players: int, end: str, by: int) -> list[list[int]]:
    """Small hands, so that equal sums are common; whoever goes out holds nothing."""
    tiles = rnd.sample(range(28), 28)
    hands = [[tiles.pop() for _ in range(rnd.choice((1, 1, 1, 2, 3)))] for _ in range(players)]
    if end == "out":
        hands[by] = []
    return hands


def sides_of(mask: int) -> list[int]:
    return [side for side in range(4) if mask >> side & 1]


def test_compiled_settle_equals_the_plain_one():
    rnd = random.Random(1)
    seen = set()
    for _ in range(400):
        rules = random_rules(rnd)
        encoded = rules.encode()
        for _ in range(25):
            n = rules.sides
            end = rnd.choice(("out", "fish"))
            by = rnd.randrange(rules.players)
            hands = random_hands(rnd, rules.players, end, by)
            opened = [rules.open_at == 0 or rnd.random() < 0.5 for _ in range(n)]
            accounts = [rnd.choice((0, rnd.randrange(rules.target))) * o for o in opened]
            memory = [rnd.choice((0, rnd.randrange(40))) * (not o) for o in opened]
            pot = rnd.choice((0, 0, rnd.randrange(60)))
            names = [Hand(mask_of(hand)).names for hand in hands]
            plain = plain_settle(rules, names, end, by, accounts, memory, opened, pot)

            views, desks = np.zeros(1, VIEW), np.zeros(1, DESK)
            desks["hands"][0, : rules.players] = [mask_of(hand) for hand in hands]
            for field, values in (("accounts", accounts), ("memory", memory), ("opened", opened)):
                views[field][0, :n] = values
            views["pot"] = pot
            out = np.zeros(4, np.int64)
            settle_one(encoded, views, desks, end == "fish", by, out)

            assert desks["written"][0, :n].tolist() == plain.written
            assert views["accounts"][0, :n].tolist() == plain.accounts
            assert views["memory"][0, :n].tolist() == plain.memory
            assert views["opened"][0, :n].tolist() == plain.opened
            assert views["pot"][0] == plain.pot
            assert bool(out[0]) == plain.recorded
            assert sides_of(out[2]) == plain.goats
            assert sides_of(out[3]) == plain.winners
            seen.add((end, bool(out[1]), plain.recorded, plain.over))
    # Exits, fishes and tied fishes, with and without an entry, in and at the end of a match.
    untied = {(end, False, r, o) for end in ("out", "fish") for r in (0, 1) for o in (0, r)}
    assert seen == untied | {("fish", True, False, False)}
