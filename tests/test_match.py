"""The match around the rounds, in both engines: redeals, who leads next, how it ends."""

import itertools

import pytest
from conftest import BLOCKER, RANDOM

from kozel_sim import reference
from kozel_sim.engine import play
from kozel_sim.opening import needs_redeal
from kozel_sim.rng import Luck
from kozel_sim.rules import RuleSet
from kozel_sim.tiles import Hand

ENGINES = pytest.mark.parametrize(
    "play_match", [reference.play_match, play.play_match], ids=["reference", "compiled"]
)


def records(play_match, rules, n, seed=1, policy=RANDOM):
    policies = [policy] * rules.players
    return [play_match(rules, policies, seed, deal) for deal in range(n)]


def neighbours(play_match, rules, n, policy=RANDOM):
    """Pairs of a round and the next one."""
    for record in records(play_match, rules, n, policy=policy):
        yield from itertools.pairwise(record.rounds)


def smallest_double_or_highest_tile(hands, *, blank_first=False) -> tuple[int, str]:
    """Who leads first, and what, where 0-0 is the last double, or the first one."""

    def claim(tile):
        high, low = int(tile[0]), int(tile[2])
        double = (0, high if blank_first else (high - 1) % 7, 0)
        return double if high == low else (1, -high - low, -high)

    return min(
        ((seat, tile) for seat, hand in enumerate(hands) for tile in hand),
        key=lambda held: claim(held[1]),
    )


# ---------------------------------------------------------------------- deals


@ENGINES
@pytest.mark.parametrize("players", [2, 4])
def test_round_is_redealt_until_no_hand_asks_for_it(play_match, players):
    rules = RuleSet.preset("room-fish-all", players)
    redealt = 0
    for record in records(play_match, rules, 60):
        luck = Luck(record.seed, record.deal)
        for r in record.rounds:
            for attempt in range(r.redeals + 1):
                hands, bazaar = luck.deal(r.round, attempt, players)
                names = [Hand(hand).names for hand in hands]
                asked = any(needs_redeal(rules, hand) for hand in names)
                assert asked is (attempt < r.redeals)
            assert [list(hand) for hand in r.hands] == names
            assert Hand.of(*r.bazaar) == bazaar
            redealt += r.redeals > 0
    assert redealt > 0


@ENGINES
def test_rules_without_redeal_play_the_deal(play_match):
    rules = RuleSet.preset("livegames-goat", 4)
    dirty = 0
    for record in records(play_match, rules, 60):
        for r in record.rounds:
            hands, _ = Luck(record.seed, record.deal).deal(r.round, 0, 4)
            assert [Hand.of(*hand) for hand in r.hands] == hands
            assert r.redeals == 0
            dirty += any(needs_redeal(RuleSet.preset("room-fish-all"), hand) for hand in r.hands)
    assert dirty > 0


# ---------------------------------------------------------------------- leads


@ENGINES
def test_first_lead_is_forced_and_later_the_finisher_leads(play_match):
    """A20: the fisherman leads too, whatever his hand was worth."""
    rules = RuleSet.preset("room-fish-all", 3)
    for record in records(play_match, rules, 20):
        first = record.rounds[0]
        assert (first.leader, first.forced) == smallest_double_or_highest_tile(first.hands)
        assert first.events[0].play[0].tile == first.forced
    ends = set()
    for before, after in neighbours(play_match, rules, 20):
        assert (after.leader, after.forced) == (before.by, None)
        assert before.by == next(e.seat for e in reversed(before.events) if e.play)
        ends.add(before.end)
    assert ends == {"out", "fish"}


@ENGINES
def test_first_lead_repeats_until_somebody_has_an_official_record(play_match):
    """A17, A18: after that the finisher leads, also after a round that is not recorded."""
    rules = RuleSet.preset("dominoes3d-duel").replace(open_at=25)
    seen = set()
    for before, after in neighbours(play_match, rules, 150, BLOCKER):
        if any(before.opened):
            assert (after.leader, after.forced) == (before.by, None)
        else:
            assert (after.leader, after.forced) == smallest_double_or_highest_tile(after.hands)
        seen.add((any(before.opened), any(before.written), before.pot > 0))
    # With and without a record: rounds written, and tied fish with their eggs.
    assert seen >= {(False, True, False), (False, False, True), (True, True, False)}


@ENGINES
def test_first_lead_repeats_after_every_unrecorded_round_but_not_after_eggs(play_match):
    """A17, A18, example V45: an unrecorded round is led as the first one, whoever is open."""
    rules = RuleSet.preset("logic-games-goat", 2).replace(
        lead_repeat="after_every_unrecorded_round", open_at=25, target=202
    )
    seen = set()
    pot, accounts = 0, ()
    for before, after in neighbours(play_match, rules, 150, BLOCKER):
        if before.round == 0:
            pot, accounts = 0, (0, 0)
        eggs = before.end == "fish" and before.pot > pot
        recorded = before.accounts != accounts
        if recorded or eggs:
            assert (after.leader, after.forced) == (before.by, None)
        else:
            assert (after.leader, after.forced) == smallest_double_or_highest_tile(after.hands)
        seen.add((recorded, eggs, any(before.opened)))
        pot, accounts = before.pot, before.accounts
    assert seen >= {(True, False, True), (False, False, False), (False, False, True)}
    assert (False, True, True) in seen
    assert (False, True, False) in seen


@ENGINES
def test_first_lead_repeats_after_a_void_fish(play_match):
    """A void tie leaves no eggs: it is an unrecorded round like any other."""
    rules = RuleSet.preset("kozel-2p-plain").replace(lead_repeat="after_every_unrecorded_round")
    void = 0
    for before, after in neighbours(play_match, rules, 150, BLOCKER):
        if before.end == "fish" and not any(before.written):
            lead = smallest_double_or_highest_tile(after.hands, blank_first=True)
            assert (after.leader, after.forced) == lead
            void += 1
    assert void > 0


@ENGINES
def test_unforced_first_lead_is_free(play_match):
    rules = RuleSet.preset("room-fish-all", 2).replace(lead_forced=False)
    rounds = [record.rounds[0] for record in records(play_match, rules, 40)]
    leads = [smallest_double_or_highest_tile(r.hands) for r in rounds]
    assert [r.leader for r in rounds] == [seat for seat, _ in leads]
    assert {r.forced for r in rounds} == {None}
    assert any(r.events[0].play[0].tile != tile for r, (_, tile) in zip(rounds, leads, strict=True))


@ENGINES
def test_blank_may_not_lead_the_first_round_nor_a_later_one(play_match):
    rules = RuleSet.preset("leaflet-200", 2)
    passed_over = 0
    for record in records(play_match, rules, 40):
        for r in record.rounds:
            led = r.events[0].play[0].tile
            assert led != "0-0"
            passed_over += "0-0" in r.hands[r.leader]
        doubles = {tile for hand in record.rounds[0].hands for tile in hand if tile[0] == tile[2]}
        assert record.rounds[0].forced != "0-0"
        assert doubles == {"0-0"} or record.rounds[0].forced in doubles or not doubles
    assert passed_over > 0


@ENGINES
def test_lead_goes_round_the_table(play_match):
    rules = RuleSet.preset("block-100", 3)
    for before, after in neighbours(play_match, rules, 20):
        assert (after.leader, after.forced) == ((before.leader + 1) % 3, None)


@ENGINES
@pytest.mark.parametrize("kind", ["winner", "loser"])
def test_winner_or_loser_leads_next(play_match, kind):
    rules = RuleSet.preset("livegames-goat-plain", 3).replace(lead_next=kind)
    seen = set()
    for before, after in neighbours(play_match, rules, 40):
        held = list(before.hand_points)
        best = min(held) if kind == "winner" else max(held)
        if held.count(best) == 1:
            assert after.leader == held.index(best)
            seen.add((before.end, after.leader == before.by))
    expected = {("out", kind == "winner"), ("fish", False), ("fish", True)}
    assert seen == expected


# ---------------------------------------------------------------------- the end


@ENGINES
def test_capped_match_has_no_goat_and_no_winner(play_match):
    """B10."""
    rules = RuleSet.preset("room-fish-all", 4).replace(max_rounds=2, settlement="rating100,bank")
    for record in records(play_match, rules, 10):
        assert len(record.rounds) == 2
        result = record.result
        assert (result.goats, result.winners, result.capped) == ((), (), True)
        assert (result.rating, result.bank) == (None, None)


@ENGINES
def test_match_that_ends_in_its_last_round_is_not_capped(play_match):
    rules = RuleSet.preset("room-fish-all", 4)
    record = records(play_match, rules, 1)[0]
    capped = rules.replace(max_rounds=len(record.rounds))
    again = records(play_match, capped, 1)[0]
    assert again.rounds == record.rounds
    assert (again.result, again.result.capped) == (record.result, False)


@ENGINES
def test_match_is_settled_by_the_knobs(play_match):
    room, live, house = (
        records(play_match, RuleSet.preset(name, 3), 1)[0]
        for name in ("room-fish-all", "livegames-goat", "household-300")
    )
    for record in (room, live, house):
        accounts, target = record.rounds[-1].accounts, record.rules.target
        reached = tuple(side for side in range(3) if accounts[side] >= target)
        others = tuple(side for side in range(3) if accounts[side] < target)
        assert reached
        wins = record is house
        assert record.result.goats == (others if wins else reached)
        assert record.result.winners == (reached if wins else others)
    assert room.result.bank is None
    goats, accounts = room.result.goats, room.rounds[-1].accounts
    assert room.result.rating == tuple(
        0 if side in goats else max(1, (105 - accounts[side]) // 10) for side in range(3)
    )
    assert live.result.rating is None
    assert sum(live.result.bank) == pytest.approx(1)
    assert all((live.result.bank[side] == 0) for side in live.result.goats)
    assert (house.result.rating, house.result.bank) == (None, None)
