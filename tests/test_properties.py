"""What holds in every match of the room rules, checked by a walker of its own.

The walker reads a record's names only: it asks nothing of the engines, of the legal moves or of the
scoring.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from conftest import BLOCKER, RANDOM, ladder, pips
from hypothesis import given, settings
from hypothesis import strategies as st

from kozel_sim.engine.play import play_match
from kozel_sim.record import Event, Record, RoundRecord
from kozel_sim.rules import RuleSet

DOUBLE_SIX = {f"{high}-{low}" for high in range(7) for low in range(high + 1)}
HEAVY = ladder("heavy", ("always", {"pips": 1000}))

MATCHES = st.tuples(
    st.sampled_from(["room-fish-all", "room-fish-one"]),
    st.integers(2, 4),
    st.integers(0, 2**64 - 1),
    st.integers(0, 2**64 - 1),
    st.lists(st.sampled_from([RANDOM, BLOCKER, HEAVY]), min_size=4, max_size=4),
)
few = settings(derandomize=True, deadline=None, max_examples=200)


def played(match) -> Record:
    preset, players, seed, deal, policies = match
    return play_match(RuleSet.preset(preset, players), policies[:players], seed, deal)


# ---------------------------------------------------------------------- the walker


@dataclass
class Position:
    """The table at one moment."""

    hands: list[set[str]]
    bazaar: list[str]
    table: list[str] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)
    turn: int = 0

    def fits(self, tile: str) -> bool:
        return not self.ends or tile[0] in self.ends or tile[2] in self.ends

    def playable(self, seat: int) -> set[str]:
        return {tile for tile in self.hands[seat] if self.fits(tile)}

    def out(self) -> bool:
        return any(not hand for hand in self.hands)

    def six_closed(self) -> bool:
        """Both ends show v and the six other tiles of v are out."""
        if len(set(self.ends)) != 1:
            return False
        v = self.ends[0]
        return sum(v in tile and tile != f"{v}-{v}" for tile in self.table) == 6

    def stuck(self) -> bool:
        """Nobody can play, and nothing is left to draw."""
        return not self.bazaar and not any(map(self.playable, range(len(self.hands))))

    def dead(self) -> bool:
        """No tile off the table fits."""
        return not any(map(self.fits, DOUBLE_SIX - set(self.table)))

    def fish(self) -> bool:
        return bool(self.table) and (self.six_closed() or self.stuck() or self.dead())

    def after(self, event: Event) -> None:
        """Do what an event says, without asking whether it may be done."""
        if event.draw:
            self.bazaar.remove(event.draw)
            self.hands[event.seat].add(event.draw)
            return
        for laid in event.play:
            self.hands[event.seat].remove(laid.tile)
            halves = [laid.tile[2], laid.tile[0]]
            if self.table:
                halves.remove(self.ends[laid.arm])
                self.ends[laid.arm] = halves[0]
            else:
                self.ends = halves
            self.table.append(laid.tile)
        self.turn = (event.seat + 1) % len(self.hands)


def start(r: RoundRecord) -> Position:
    return Position([set(hand) for hand in r.hands], list(r.bazaar), turn=r.leader)


def moments(record: Record) -> Iterator[tuple[RoundRecord, Position, Event | None]]:
    """Each round's positions with the event that follows; None follows the last."""
    for r in record.rounds:
        position = start(r)
        for event in r.events:
            yield r, position, event
            position.after(event)
        yield r, position, None


# ---------------------------------------------------------------------- the table


@few
@given(MATCHES)
def test_tiles_are_conserved_at_every_moment(match):
    record = played(match)
    for _, position, _ in moments(record):
        places = [*map(list, position.hands), position.table, position.bazaar]
        tiles = [tile for place in places for tile in place]
        assert len(tiles) == 28
        assert set(tiles) == DOUBLE_SIX


@few
@given(MATCHES)
def test_every_round_deals_seven_tiles_to_each_seat(match):
    record = played(match)
    players = record.rules.players
    for r in record.rounds:
        assert [len(hand) for hand in r.hands] == [7] * players
        assert len(r.bazaar) == 28 - 7 * players


@few
@given(MATCHES)
def test_turn_goes_round_and_stays_while_drawing(match):
    for _, position, event in moments(played(match)):
        assert event is None or event.seat == position.turn


@few
@given(MATCHES)
def test_nobody_draws_or_passes_with_a_playable_tile(match):
    for _, position, event in moments(played(match)):
        if event is not None and not event.play:
            assert not position.playable(event.seat)
            # The bazaar is drawn in its order, and a pass comes only when it is empty.
            assert [event.draw] == position.bazaar[:1] or (event.draw, position.bazaar) == (
                None,
                [],
            )


@few
@given(MATCHES)
def test_every_play_is_one_tile_of_the_hand_that_fits_its_arm(match):
    for r, position, event in moments(played(match)):
        if event is not None and event.play:
            (laid,) = event.play
            assert laid.tile in position.playable(event.seat)
            assert not laid.closed
            if not position.table:
                assert laid.arm == 0
                assert r.forced in (None, laid.tile)
            else:
                assert position.ends[laid.arm] in (laid.tile[0], laid.tile[2])
                assert laid.arm == 0 or position.ends[0] != position.ends[1]


@few
@given(MATCHES)
def test_round_ends_when_a_hand_is_empty_or_a_fish_is_made_and_not_before(match):
    last = None
    for r, position, event in moments(played(match)):
        if event is not None:
            assert not position.out()
            assert not position.fish()
            last = event.seat if event.play else last
        else:
            assert r.end == ("out" if position.out() else "fish")
            assert position.out() or position.fish()
            assert r.by == last


# ---------------------------------------------------------------------- the match


def points(hand: set[str]) -> int:
    """The room's value of a hand: 0-0 is 10 when it is alone."""
    return 10 if hand == {"0-0"} else sum(map(pips, hand))


def written_by_the_room(held: list[int], end: str, pot: int, *, for_one: bool) -> list[int] | None:
    """What each seat writes, None when a tied fish is carried."""
    unique = held.count(max(held)) == 1
    carry = [pot * (unique and h == max(held)) for h in held]
    if end == "fish" and for_one:
        return [(sum(held) + pot) * (h == max(held)) for h in held] if unique else None
    return [h + c for h, c in zip(held, carry, strict=True)]


@few
@given(MATCHES)
def test_books_are_kept_as_the_room_says(match):
    record = played(match)
    players = record.rules.players
    accounts, memory, pot = [0] * players, [0] * players, 0
    opened = [False] * players
    for r, position, event in moments(record):
        if event is not None:
            continue
        held = [points(hand) for hand in position.hands]
        assert list(r.hand_points) == held
        for_one = record.rules.base == "room-fish-one"
        written = written_by_the_room(held, r.end, pot, for_one=for_one)
        if written is None:
            pot += sum(held)
            written = [0] * players
        else:
            pot = pot if sum(written) == sum(held) else 0
            for seat, x in enumerate(written):
                memory[seat] = memory[seat] + x if x else 0
                opened[seat] |= x >= 13
                if opened[seat]:
                    accounts[seat] += memory[seat]
                    memory[seat] = 0
        assert (list(r.written), r.pot) == (written, pot)
        assert (list(r.accounts), list(r.memory)) == (accounts, memory)
        assert list(r.opened) == opened


@few
@given(MATCHES)
def test_accounts_never_fall(match):
    for before, after in pairwise(played(match).rounds):
        assert all(b <= a for b, a in zip(before.accounts, after.accounts, strict=True))
        assert all(b <= a for b, a in zip(before.opened, after.opened, strict=True))


@few
@given(MATCHES)
def test_match_ends_exactly_when_somebody_reaches_the_target(match):
    record = played(match)
    highest = [max(r.accounts) for r in record.rounds]
    assert [points >= 101 for points in highest] == [False] * (len(highest) - 1) + [True]
    last = record.rounds[-1].accounts
    assert record.result.goats == tuple(s for s, a in enumerate(last) if a >= 101)
    assert record.result.winners == tuple(s for s, a in enumerate(last) if a < 101)
    assert [r.round for r in record.rounds] == list(range(len(highest)))


@few
@given(MATCHES)
def test_finisher_leads_the_next_round(match):
    for before, after in pairwise(played(match).rounds):
        assert after.leader == before.by
        assert after.forced is None
