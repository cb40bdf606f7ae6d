"""What every policy keeps to, whoever wrote it; and what each built-in tip does.

A policy is legal, a function of its stream of luck, and blind to what its seat cannot see.
"""

import copy
import dataclasses
import random

import pytest
from user_policies import own_registry

from kozel_sim import RuleSet, check_record, get_policy, list_policies, play, policy
from kozel_sim.moves import decode_move, legal_codes
from kozel_sim.opening import first_lead
from kozel_sim.reference import Round, deal_round, run_round
from kozel_sim.rng import Luck
from kozel_sim.tiles import ALL, NAMES, Hand, mask_of, tiles_of
from kozel_sim.view import View

POLICIES = [
    *list_policies(),
    "weights:pips=1,double=3,range=2,block=0.5,lock=1.5",
    "mix:0.4*keep_range+0.3*scatter:which=1+0.3*weights:block=1,longest=-1",
    "last_legal",
    "scatter:which=2",
    "reads_everything",
]
RULES = {
    f"{name}-{players}": RuleSet.preset(name, players)
    for name, players in [("room-fish-all", 2), ("room-fish-one", 3), ("room-fish-all", 4)]
}

by_policy = pytest.mark.parametrize("spec", POLICIES)
by_rules = pytest.mark.parametrize("rules", RULES.values(), ids=RULES)


@pytest.fixture(autouse=True)
def forgetful_registry():
    with own_registry():
        yield


def field_of(spec, rules):
    """The policy at every second seat, a random one between."""
    return [spec, "random", spec, "random"][: rules.players]


# ---------------------------------------------------------------------- the contract


@by_policy
@by_rules
def test_policy_plays_legally_and_alike_in_both_engines(spec, rules):
    for deal in range(4):
        record = play(rules, field_of(spec, rules), seed=11, deal=deal)
        check_record(record)
        assert record == play(rules, field_of(spec, rules), 11, deal, engine="reference")


@by_policy
@by_rules
def test_policy_plays_alike_whenever_it_is_asked(spec, rules):
    def played():
        return [play(rules, field_of(spec, rules), seed=5, deal=deal) for deal in range(5)]

    first = played()
    play(rules, field_of(spec, rules), seed=6, deal=0)
    assert played() == first
    assert len({record.rounds[0].events for record in first}) == len(first)


def round_of(rules, deal):
    """A round as the reference engine deals it: (round, forced tile, luck)."""
    luck = Luck(seed=7, deal=deal)
    hands, bazaar, _ = deal_round(rules, luck, 0)
    leader, forced = first_lead(rules, hands)
    return Round(rules, hands, bazaar, leader), forced, luck


def shuffle_unseen(round_, shuffler):
    """Deal anew what the seat to act cannot see: the others' hands and the bazaar."""
    mine = round_.hands[round_.seat]
    unseen = list(tiles_of(ALL & ~round_.table & ~mine))
    shuffler.shuffle(unseen)
    for seat, hand in enumerate(round_.hands):
        if seat != round_.seat:
            size = hand.bit_count()
            round_.hands[seat], unseen = mask_of(unseen[:size]), unseen[size:]
    round_.bazaar = unseen


@by_policy
@by_rules
def test_policy_is_blind_to_unseen_tiles(spec, rules):
    asked = get_policy(spec)
    shuffler = random.Random(spec)
    changed = 0

    def choose(round_, moves):
        """Ask with the true hands, and again with others."""
        nonlocal changed
        event = len(round_.events)
        part = asked.pick(luck.mixture(0, event))
        choices = []
        other = copy.deepcopy(round_)
        shuffle_unseen(other, shuffler)
        changed += other.hands != round_.hands
        for world in (round_, other):
            assert world.moves() == moves
            view = world.view(moves)
            view.word = luck.choice(0, event)
            view.words = list(luck.own(0, event))
            choices.append((dataclasses.asdict(view), part.choose(view, moves)))
        assert choices[0] == choices[1]
        return choices[0][1]

    for deal in range(8):
        round_, forced, luck = round_of(rules, deal)
        run_round(round_, forced, choose)
    assert changed > 8


def test_policy_is_asked_only_when_there_is_a_choice():
    def choose(round_, moves):
        assert len(set(moves)) == len(moves) > 1
        return moves[-1]

    for deal in range(20):
        for rules in RULES.values():
            round_, forced, _ = round_of(rules, deal)
            run_round(round_, forced, choose)


def overwrites_everything(view):
    """The highest legal tile; then nonsense on every field of the View."""
    move = 0
    for arm in range(4):
        for tile in range(28):
            if view.legal[arm] >> tile & 1:
                move = (tile + 1) << (8 * arm)
    view.hand = view.seat = view.side = view.partner = view.players = 3
    view.table = view.spinner = view.bazaar = view.reserve = view.round = view.event = 3
    view.pot = view.target = view.open_at = view.credit = view.word = 3
    view.four_way = view.six_closed = view.several = view.close = view.close_two = 3
    for i in range(4):
        view.legal[i] = view.arms[i] = view.counts[i] = view.played[i] = view.void[i] = 3
        view.last[i] = view.shown[i] = view.tell[i] = view.words[i] = 3
        view.accounts[i] = view.memory[i] = view.opened[i] = 3
    for i in range(8):
        view.params[i] = 3
    return move


def test_vandal_overwrites_every_field():
    view = View()
    overwrites_everything(view)
    for field in dataclasses.fields(View):
        value = getattr(view, field.name)
        assert value in (3, [3] * 4, [3] * 8), field.name


@pytest.mark.parametrize(
    ("preset", "players"),
    [("room-fish-all", 4), ("room-fish-all", 2), ("pair-traditional", 4), ("livegames-donkey", 3)],
)
def test_policy_that_writes_on_its_view_changes_nothing_else(preset, players):
    """Neither the score, nor the chain, nor what the others see and draw."""
    vandal = policy(overwrites_everything)
    others = ["pair_allround", "mix:0.5*dump_heavy+0.5*random", "prefer:rival_near?pips>next_void"]
    for deal in range(8):
        field = [vandal, *others][:players]
        fair = play(preset, field, seed=1, deal=deal, engine="reference")
        foul = play(preset, field, seed=1, deal=deal)
        assert foul.rounds == fair.rounds


# ---------------------------------------------------------------------- the tips


def kept(spec, hand, ends):
    """Which moves a ladder keeps of a hand, as 'tile@arm'; ends () is the empty table."""
    mask = Hand.of(*hand.split())
    moves = legal_codes(RuleSet.preset("room-fish-all"), mask, ends)
    view = View(hand=mask, arms=[*ends, -1, -1, -1, -1][:4], table=bool(ends) * (ALL & ~mask))
    ladder = get_policy(spec).parts[0][1]
    return {f"{NAMES[t]}@{arm}" for m in ladder.narrow(view, moves) for t, arm, _ in decode_move(m)}


@pytest.mark.parametrize(
    ("hand", "ends", "wanted"),
    [
        ("6-4 6-1 5-2 3-3", (6, 5), {"6-4@0"}),
        ("6-1 5-2 5-0", (6, 5), {"6-1@0", "5-2@1"}),
        ("6-5 4-0", (6, 5), {"6-5@0", "6-5@1"}),
        ("0-0 3-1 2-2", (), {"3-1@0", "2-2@0"}),
    ],
)
def test_dump_heavy_keeps_the_most_pips(hand, ends, wanted):
    assert kept("dump_heavy", hand, ends) == wanted


@pytest.mark.parametrize(
    ("hand", "ends", "wanted"),
    [
        ("6-6 5-5 6-5 6-1", (6, 5), {"6-6@0"}),
        ("0-0 6-5 6-4", (0, 6), {"0-0@0"}),
        ("5-5 6-1", (6, 1), {"6-1@0", "6-1@1"}),
        ("4-4 6-1 5-0", (6, 5), {"6-1@0", "5-0@1"}),
        ("1-1 3-3 6-5", (), {"3-3@0"}),
    ],
    ids=["highest", "even 0-0", "not legal", "none", "lead"],
)
def test_dump_doubles_plays_the_highest_legal_double(hand, ends, wanted):
    assert kept("dump_doubles", hand, ends) == wanted


@pytest.mark.parametrize(
    ("hand", "ends", "wanted"),
    [
        # 6-5 leaves seven values; 6-0 would give up 0, and 2-1 both 2 and 1.
        ("6-5 4-3 2-1 6-0 5-4", (6, 2), {"6-5@0"}),
        # Six values, 6 on three tiles: 6-5 and 6-4 leave five values, 6-3 leaves all six.
        ("6-5 6-4 6-3 3-2 2-0", (6, 6), {"6-3@0"}),
        # 5-4 and 6-5 leave six values, 6-5 none of them on three tiles; 6-1 would give up 1.
        ("6-1 2-0 5-4 6-4 6-5", (1, 5), {"6-5@1"}),
    ],
)
def test_keep_range_keeps_most_values_then_no_long_suit(hand, ends, wanted):
    assert kept("keep_range", hand, ends) == wanted


@pytest.mark.parametrize(
    ("hand", "ends"),
    [
        ("6-5 4-3 6-4 5-3 3-2", (6, 2)),
        ("6-5 6-4 6-3 6-2 1-0", (6, 1)),
    ],
    ids=["five values", "four of a value"],
)
def test_keep_range_leaves_all_moves_of_an_uneven_hand(hand, ends):
    assert kept("keep_range", hand, ends) == kept("random", hand, ends)


@pytest.mark.parametrize(
    ("hand", "ends", "wanted"),
    [
        ("6-1 6-2 6-3 5-0", (1, 5), {"6-1@0"}),
        ("6-1 6-2 6-3", (6, 1), {"6-1@1"}),
        ("6-6 6-1 6-2 5-0", (), {"6-6@0"}),
        ("3-3 3-0 3-1 6-5 5-4 2-1", (0, 5), {"3-0@0"}),
        ("6-2 6-1 6-0 4-3", (6, 3), {"4-3@1"}),
    ],
    ids=["show it", "on both ends", "lead", "three of six", "do not cover it"],
)
def test_block_ends_shows_the_long_suit(hand, ends, wanted):
    assert kept("block_ends", hand, ends) == wanted


@pytest.mark.parametrize(
    ("hand", "ends"),
    [
        ("6-1 6-2 5-0", (1, 5)),
        ("6-6 6-1", (6, 1)),
        ("6-1 6-2 6-3 5-0 5-4 4-1 2-0", (1, 5)),
    ],
    ids=["two of three", "two of two", "three of seven"],
)
def test_block_ends_leaves_all_moves_without_a_long_suit(hand, ends):
    assert kept("block_ends", hand, ends) == kept("random", hand, ends)


@pytest.mark.parametrize(
    ("hand", "ends", "wanted"),
    [
        ("6-5 6-1 6-2 5-3 5-0", (1, 3), {"6-1@0"}),
        ("6-5 6-1 6-2 5-3 5-0 5-4", (1, 3), {"5-3@1"}),
    ],
    ids=["the higher value", "the one with more tiles"],
)
def test_block_ends_takes_of_two_long_suits(hand, ends, wanted):
    assert kept("block_ends", hand, ends) == wanted


def test_random_keeps_every_move():
    assert kept("random", "6-5 6-6 4-0 1-0", (6, 1)) == {"6-5@0", "6-6@0", "1-0@1"}
