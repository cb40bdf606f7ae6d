"""The kit for policy writers: its words, and that compiled policies mean the same by them."""

import ctypes
import random
import textwrap
from functools import cache

import numpy as np
import pytest
from user_policies import own_registry

from kozel_sim import PRESETS, RuleSet, kit, load_code, play, policy
from kozel_sim._jit import compile_policy
from kozel_sim.engine.players import choose_signature, compiled
from kozel_sim.features import FEATURES, ends_after
from kozel_sim.kit import (
    ALL,
    arm_of,
    below,
    best_move,
    count,
    doubles_of,
    end_after,
    feature,
    first_move,
    fits,
    has,
    high,
    is_closed,
    is_double,
    is_rival,
    lacks,
    low,
    lowest,
    move_of,
    moves,
    n_moves,
    next_move,
    next_seat,
    nth_move,
    pips,
    pips_of,
    popcount,
    tie,
    tile_of,
    tiles_of,
    unseen,
    values,
    values_after,
)
from kozel_sim.moves import decode_move, encode_move, move_tiles
from kozel_sim.positions import random_positions
from kozel_sim.reference import Round
from kozel_sim.tiles import HIGH, LOW, PIPS, count_value, mask_of, tile_id
from kozel_sim.tiles import tiles_of as tiles_in
from kozel_sim.view import VIEW, View

C_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p)
TABLES = [(name, n) for name, preset in PRESETS.items() for n in preset.players]
by_table = pytest.mark.parametrize(("preset", "players"), TABLES)


@pytest.fixture(autouse=True)
def forgetful_registry():
    with own_registry():
        yield


@cache
def views_of(preset, players):
    """Random positions: (round, legal moves, View)."""
    found = []
    for position in random_positions(RuleSet.preset(preset, players), 30, seed=3):
        round_ = position.round()
        found.append((round_, round_.moves(), position.view(round_, round_.moves())))
    return found


def as_record(view):
    """The compiled form of a View."""
    record = np.zeros(1, VIEW)
    for name in VIEW.names:
        record[name] = getattr(view, name)
    return record


def run(function, view):
    """What a compiled policy returns."""
    return C_FUNCTION(function.address)(as_record(view).ctypes.data)


# ---------------------------------------------------------------------- the words


def test_words_of_a_tile():
    for tile in range(28):
        assert (high(tile), low(tile), pips(tile)) == (HIGH[tile], LOW[tile], PIPS[tile])
        assert is_double(tile) == (HIGH[tile] == LOW[tile])


def test_words_of_a_mask():
    rng = random.Random(1)
    for _ in range(200):
        mask = rng.randrange(1, ALL + 1)
        inside = list(tiles_in(mask))
        assert (popcount(mask), lowest(mask)) == (len(inside), inside[0])
        for value in range(7):
            carrying = [t for t in inside if value in (HIGH[t], LOW[t])]
            assert count(mask, value) == count_value(mask, value) == len(carrying)
            assert list(tiles_in(mask & has(value))) == carrying
            assert values(mask) >> value & 1 == bool(carrying)
    assert has(-1) == 0


@pytest.mark.parametrize(
    "words", ["6-4@0", "6-4@1", "0-0@3!", "3-3@0 5-5@1!", "1-1@1 2-2@2 6-6@3!"]
)
def test_words_of_a_move(words):
    laid = [(tile_id(w[:3]), int(w[4]), w.endswith("!")) for w in words.split()]
    move = encode_move(laid)
    tile, arm, _ = laid[0]
    assert (tile_of(move), arm_of(move), is_closed(move)) == (tile, arm, "!" in words)
    assert tiles_of(move) == move_tiles(move) == sum(1 << t for t, _, _ in laid)
    assert pips_of(move) == sum(PIPS[t] for t, _, _ in laid)
    assert doubles_of(move) == sum(t < 7 for t, _, _ in laid)
    if len(laid) == 1 and "!" not in words:
        assert move_of(tile, arm) == move


def test_words_of_the_others():
    view = View(hand=0b11, table=0b100, seat=3, partner=1, players=4, void=[0b1000000, 0, 0, 0])
    assert unseen(view) == ALL & ~0b111
    assert next_seat(view) == 0
    assert [is_rival(view, seat) for seat in range(4)] == [True, False, True, False]
    assert lacks(view, 0, 6)
    assert not lacks(view, 1, 6)
    assert not lacks(view, 0, 5)


def test_seat_that_does_not_play_is_no_rival():
    view = View(seat=0, partner=-1, players=2)
    assert [is_rival(view, seat) for seat in range(4)] == [False, True, False, False]


# ---------------------------------------------------------------------- on positions


def walk_is(legal, view):
    assert list(moves(view)) == legal
    assert n_moves(view) == len(legal)
    assert [nth_move(view, n) for n in range(len(legal) + 1)] == [*legal, 0]
    assert first_move(view) == legal[0]
    assert [next_move(view, m) for m in legal] == [*legal[1:], 0]


@by_table
def test_legal_moves_are_walked_in_order(preset, players):
    for _, legal, view in views_of(preset, players):
        walk_is(legal, view)


def crowded(rules, rng):
    """A round where the seat to act has four doubles or more that may fit; an arm may be closed."""
    doubles = rng.sample(range(7), rng.randrange(4, 8))
    hand = mask_of(doubles) | mask_of(rng.sample(range(7, 28), 3))
    round_ = Round(rules, [hand, 0, 0, 0][: rules.players], [], 0)
    round_.table = rng.choice([0, 1 << 27, ALL & ~hand])
    round_.spinner = rules.spinner and bool(round_.table & 0x7F)
    if round_.table:
        ends = rng.choices([None, *range(7)], k=4 if round_.spinner else 2)
        round_.arms = ends
    return round_


@pytest.mark.parametrize("preset", ["livegames-donkey", "logic-games-donkey", "sea-goat"])
def test_moves_of_several_doubles_are_walked_in_order(preset):
    rules = RuleSet.preset(preset, 4)
    rng = random.Random(preset)
    function = compile_policy(walked, choose_signature())
    most = 0
    for _ in range(600):
        round_ = crowded(rules, rng)
        legal = round_.moves()
        if legal:
            view = round_.view(legal)
            walk_is(legal, view)
            assert run(function, view) == walked(view)
            most = max(most, max(len(decode_move(m)) for m in legal))
    assert most == (2 if preset == "sea-goat" else 4)


def walked(view):
    """Mix the legal moves in their order."""
    mix = 1
    for rank, move in enumerate(moves(view)):
        mix = (31 * mix + move + rank) % 1000003
    return mix


@by_table
def test_ends_and_fits_are_those_of_the_rules(preset, players):
    for round_, legal, view in views_of(preset, players):
        for move in legal:
            shown = ends_after(view, move)
            assert values_after(view, move) == sum(1 << v for v in set(shown))
            assert [v for arm in range(4) if (v := end_after(view, move, arm)) >= 0] == shown
        for arm, value in enumerate(round_.arms):
            for tile in range(28):
                assert fits(view, tile, arm) == (value in (HIGH[tile], LOW[tile]))


LINES = [f"    mix = (31 * mix + feature(view, move, {name!r})) % 1000003" for name in FEATURES]
exec("\n".join(["def mix_features(view, move, mix):", *LINES, "    return mix"]))


def everything(view):
    """Mix what every word of the kit says about a position."""
    mix = 1
    n = 0
    for move in moves(view):
        mix = (31 * mix + move + 3 * tile_of(move) + 5 * arm_of(move)) % 1000003
        mix = (31 * mix + tiles_of(move) + 3 * pips_of(move) + 5 * doubles_of(move)) % 1000003
        mix = (31 * mix + values_after(view, move) + 3 * int(is_closed(move))) % 1000003
        mix = (31 * mix + next_move(view, move) + n_moves(view)) % 1000003
        mix = (31 * mix + nth_move(view, n) + end_after(view, move, arm_of(move))) % 1000003
        mix = (31 * mix + 3 * high(tile_of(move)) + 5 * low(tile_of(move))) % 1000003
        mix = (31 * mix + 3 * int(is_double(tile_of(move))) + pips(tile_of(move))) % 1000003
        mix = mix_features(view, move, mix)  # noqa: F821
        n += 1
    mix = (31 * mix + unseen(view) + first_move(view) + below(view.words[1], 9)) % 1000003
    mix = (31 * mix + popcount(view.hand) + 3 * lowest(view.hand) + tie(view, n)) % 1000003
    mix = (31 * mix + next_seat(view) + values(view.hand) + move_of(n, 2)) % 1000003
    for seat in range(4):
        mix = (2 * mix + int(is_rival(view, seat)) + 3 * int(lacks(view, seat, seat))) % 1000003
        mix = (31 * mix + has(view.arms[seat]) + count(view.hand, view.arms[seat])) % 1000003
        mix = (31 * mix + int(fits(view, 9, seat))) % 1000003
    return mix


def test_words_mean_the_same_when_compiled():
    function = compile_policy(everything, choose_signature())
    for preset, players in TABLES:
        for _, _, view in views_of(preset, players):
            assert run(function, view) == everything(view)


def test_everything_asks_every_word_of_the_kit():
    asked = {*everything.__code__.co_names, *mix_features.__code__.co_names}  # noqa: F821
    assert asked | {"ALL", "DOUBLES", "best_move"} >= set(kit.__all__)


# ---------------------------------------------------------------------- the best move


def score(view, move):
    return (
        feature(view, move, "pips")
        + 3 * feature(view, move, "double")
        + 1.5 * feature(view, move, "lock")
        + 0.5 * feature(view, move, "block")
    )


@pytest.mark.parametrize("preset", ["room-fish-one", "livegames-donkey", "sea-goat"])
@pytest.mark.parametrize("engine", ["scalar", "reference"])
def test_best_move_is_what_the_weights_choose(preset, engine):
    @policy
    def by_hand(view):
        return best_move(view, score)

    weights = "weights:pips=1,double=3,block=0.5,lock=1.5"
    for deal in range(6):
        as_data = play(preset, [weights] * 4, 5, deal)
        assert play(preset, [by_hand] * 4, 5, deal, engine=engine).rounds == as_data.rounds


def plain(view, move):
    return 0.0


def test_best_move_breaks_ties_among_very_many_moves_too():
    rng = random.Random(7)
    function = compile_policy(any_move, choose_signature())
    most = 0
    for _ in range(400):
        round_ = crowded(RuleSet.preset("livegames-donkey", 4), rng)
        legal = round_.moves()
        if legal:
            view = round_.view(legal)
            view.word = rng.randrange(2**32)
            assert any_move(view) == legal[tie(view, len(legal))]
            assert run(function, view) == any_move(view)
            most = max(most, len(legal))
    assert 64 < most < 120


def any_move(view):
    return best_move(view, plain)


def test_best_move_breaks_ties_as_the_built_ins_do():
    @policy
    def all_equal(view):
        return best_move(view, plain)

    for deal in range(6):
        assert (
            play("livegames-donkey", [all_equal] * 4, 1, deal).rounds
            == play("livegames-donkey", ["random"] * 4, 1, deal).rounds
        )


# ---------------------------------------------------------------------- a user's own helpers


def test_plain_helpers_are_compiled_with_the_policy(tmp_path):
    source = """
        from kozel_sim import policy
        from kozel_sim.kit import best_move, pips_of

        def twice(x):
            return 2 * x

        def worth(view, move):
            return twice(pips_of(move))

        @policy
        def with_helpers(view):
            return best_move(view, worth)
    """
    path = tmp_path / "helpers.py"
    path.write_text(textwrap.dedent(source))
    load_code(path)
    for deal in range(4):
        record = play("room-fish-all", ["with_helpers"] * 3, 2, deal)
        assert record == play("room-fish-all", ["with_helpers"] * 3, 2, deal, engine="reference")
        assert record.rounds == play("room-fish-all", ["dump_heavy"] * 3, 2, deal).rounds


# ---------------------------------------------------------------------- what is refused


def test_unknown_feature_is_named_with_the_choices():
    with pytest.raises(
        ValueError,
        match=r"unknown feature 'luck' \(did you mean 'lock'\?\); choose from pips, double, ",
    ):
        feature(View(), 1, "luck")


def asks_for_luck(view, move):
    return feature(view, move, "luck")


@pytest.mark.parametrize("inside", [False, True])
def test_policy_with_an_unknown_feature_does_not_compile(inside):
    def direct(view):
        return feature(view, first_move(view), "luck")

    def hidden(view):
        return best_move(view, asks_for_luck)

    with pytest.raises(
        ValueError, match=r"does not compile: unknown feature 'luck' .*; choose from"
    ):
        compiled(hidden if inside else direct)


def test_policy_without_a_return_is_told_so():
    def forgetful(view):
        for move in moves(view):
            if pips_of(move) > 5:
                return move

    with pytest.raises(ValueError, match="does not return a move on every path"):
        compiled(forgetful)


# ---------------------------------------------------------------------- what compiling costs


def test_policy_with_kit_and_helpers_is_kept_on_disk():
    def kept(view):
        return best_move(view, score)

    compile_policy(kept, choose_signature())
    assert compile_policy(kept, choose_signature()).cache_hits == 1
