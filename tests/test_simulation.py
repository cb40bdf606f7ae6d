"""simulate(): the frame says what the records say, whoever plays it and in whatever pieces."""

import _thread
import re
import time

import numpy as np
import pandas as pd
import pytest
from user_policies import own_registry

from kozel_sim import IllegalMoveError, RuleSet, play, policy, simulate, tournament

FOUR = ["random", "dump_heavy", "keep_range", "mix:0.5*block_ends+0.5*random"]
COLUMNS = {
    "preset": "category",
    "players": "int8",
    "deal": "int64",
    "seating": "int8",
    "seat": "int8",
    "side": "int8",
    "policy": "category",
    "points": "int32",
    "points_win": "bool",
    "goat": "bool",
    "winner": "bool",
    "rounds": "int32",
    "fish_rounds": "int32",
    "passes": "int32",
    "draws": "int32",
    "rating": "float32",
    "bank": "float32",
    "led": "bool",
    "capped": "bool",
}


@pytest.fixture(autouse=True)
def forgetful_registry():
    with own_registry():
        yield


@pytest.fixture(scope="module")
def run():
    return simulate("room-fish-all", FOUR, 200, seed=9)


# ---------------------------------------------------------------------- the frame


def test_frame_has_a_row_per_match_and_seat(run):
    assert len(run.frame) == 200 * 4
    assert run.frame["deal"].tolist() == [deal for deal in range(200) for _ in range(4)]
    assert run.frame["seat"].tolist() == list(range(4)) * 200


def test_frame_has_these_columns_and_types(run):
    assert run.frame.dtypes.astype(str).to_dict() == COLUMNS
    assert list(run.frame) == list(COLUMNS)


def test_run_counts_matches_and_rounds(run):
    first_seats = run.frame[run.frame["seat"] == 0]
    assert run.matches == len(first_seats) == 200
    assert run.rounds == first_seats["rounds"].sum()
    assert run.manifest["counts"] == {"matches": 200, "rounds": run.rounds, "rows": 800}


def rows_of(record, rules):
    """What the frame must say of a match, from its record."""
    events = [event for r in record.rounds for event in r.events]
    for seat in range(rules.players):
        side = rules.side_of(seat)
        result = record.result
        mine = [event for event in events if event.seat == seat]
        yield {
            "preset": rules.name,
            "players": rules.players,
            "deal": record.deal,
            "seating": record.seating,
            "seat": seat,
            "side": side,
            "policy": record.policies[seat],
            "points": record.rounds[-1].accounts[side],
            "points_win": rules.points_win,
            "goat": side in result.goats,
            "winner": side in result.winners,
            "rounds": len(record.rounds),
            "fish_rounds": sum(r.end == "fish" for r in record.rounds),
            "passes": sum(not event.play and event.draw is None for event in mine),
            "draws": sum(event.draw is not None for event in mine),
            "rating": result.rating[side] if result.rating else np.nan,
            "bank": result.bank[side] if result.bank else np.nan,
            "led": record.rounds[0].leader == seat,
            "capped": result.capped,
        }


@pytest.mark.parametrize(
    ("preset", "players", "seating"),
    [
        ("room-fish-all", 4, 0),
        ("room-fish-all", 4, 17),
        ("room-fish-one", 3, 5),
        ("room-fish-one", 2, 1),
        ("livegames-goat", 4, 3),
    ],
)
@pytest.mark.parametrize("engine", ["auto", "scalar", "reference"])
def test_frame_says_what_the_records_say(preset, players, seating, engine):
    rules = RuleSet.preset(preset, players)
    field = FOUR[:players]
    run = simulate(rules, field, 12, seed=4, engine=engine, seating=seating)
    records = [play(rules, field, seed=4, deal=deal, seating=seating) for deal in range(12)]
    wanted = pd.DataFrame([row for record in records for row in rows_of(record, rules)])
    pd.testing.assert_frame_equal(
        run.frame, wanted.astype(run.frame.dtypes), check_categorical=False
    )
    assert run.frame["policy"].astype(str).equals(wanted["policy"].astype(str))


def test_capped_match_has_no_goat_no_winner_and_no_worth():
    rules = RuleSet.preset("room-fish-all", 2).replace(max_rounds=8)
    frame = simulate(rules, ["random", "random"], 60, seed=1).frame
    capped = frame[frame["capped"]]
    assert 0 < len(capped) < len(frame)
    assert not capped[["goat", "winner"]].any(axis=None)
    assert capped[["rating", "bank"]].isna().all(axis=None)
    assert (capped["rounds"] == 8).all()
    assert frame[~frame["capped"]]["rating"].notna().all()


def test_same_policy_may_sit_at_several_seats():
    frame = simulate("room-fish-all", ["random", "dump_heavy", "random", "random"], 5, seed=1).frame
    assert frame["policy"].value_counts().to_dict() == {"random": 15, "dump_heavy": 5}


# ---------------------------------------------------------------------- the same bits


def test_reference_engine_gives_the_same_frame():
    fast = simulate("room-fish-one", FOUR[:3], 30, seed=2)
    slow = simulate("room-fish-one", FOUR[:3], 30, seed=2, engine="reference")
    pd.testing.assert_frame_equal(fast.frame, slow.frame)
    assert fast.manifest["engine"] == "auto"
    assert slow.manifest["engine"] == "reference"


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_workers_and_chunks_do_not_change_a_bit(run, workers, chunk):
    again = simulate("room-fish-all", FOUR, 200, seed=9, workers=workers, chunk=chunk)
    pd.testing.assert_frame_equal(again.frame, run.frame)


def test_user_policies_play_alike_on_threads():
    field = ["reads_everything", "scatter:which=1", "last_legal", "mix:0.5*scatter+0.5*random"]
    one = simulate("room-fish-all", field, 100, seed=9)
    three = simulate("room-fish-all", field, 100, seed=9, workers=3, chunk=5)
    pd.testing.assert_frame_equal(one.frame, three.frame)


def test_fewer_matches_are_the_first_of_more(run):
    fewer = simulate("room-fish-all", FOUR, 50, seed=9)
    pd.testing.assert_frame_equal(fewer.frame, run.frame.iloc[:200])


def test_another_seed_gives_other_results(run):
    other = simulate("room-fish-all", FOUR, 200, seed=10)
    assert (other.frame["points"] != run.frame["points"]).mean() > 0.5


def test_seed_is_drawn_and_noted_when_none_is_given():
    runs = [simulate("room-fish-all", FOUR, 20) for _ in range(2)]
    seeds = [run.manifest["seed"] for run in runs]
    assert seeds[0] != seeds[1]
    again = simulate("room-fish-all", FOUR, 20, seed=seeds[0])
    pd.testing.assert_frame_equal(again.frame, runs[0].frame)


def test_largest_seed_is_taken():
    run = simulate("room-fish-all", FOUR, 1, seed=np.uint64(2**64 - 1))
    assert run.manifest["seed"] == 2**64 - 1


@pytest.mark.parametrize("workers", [1, 3])
def test_progress_counts_every_match(workers):
    told = []
    simulate("room-fish-all", FOUR, 50, seed=1, workers=workers, chunk=8, progress=told.append)
    assert sorted(told) == [2] + [8] * 6


def test_interrupt_does_not_wait_for_the_rest():
    """As Ctrl-C does it: on the main thread, while workers play."""
    told = []

    def progress(n):
        told.append(n)
        if len(told) == 100:
            _thread.interrupt_main()
        time.sleep(0.002)

    with pytest.raises(KeyboardInterrupt):
        simulate("room-fish-all", FOUR, 600, seed=1, workers=2, chunk=1, progress=progress)
    assert len(told) < 400


def test_specs_may_be_one_text():
    run = simulate("room-fish-all", "random,weights:pips=1,double=2", 1, seed=1)
    assert [p["name"] for p in run.manifest["policies"]] == ["random", "weights:pips=1,double=2"]


# ---------------------------------------------------------------------- bad values


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"matches": 0}, "matches must be a whole number of 1 or more, not 0"),
        ({"matches": -1}, "matches must .* not -1"),
        ({"matches": True}, "matches must .* not True"),
        ({"matches": 1.5}, "matches must .* not 1.5"),
        ({"seed": -1}, "seed must be a whole number from 0 to .* not -1"),
        ({"seed": 2**64}, "seed must .* not 18446744073709551616"),
        ({"seed": 1.0}, "seed must .* not 1.0"),
        ({"workers": 0}, "workers must .* not 0"),
        ({"chunk": 0}, "chunk must .* not 0"),
        (
            {"engine": "turbo"},
            "unknown engine 'turbo'; choose from auto, vector, scalar, reference",
        ),
        ({"seating": 24}, "seating 24 is not below 24"),
        ({"seating": -1}, "seating -1 is not below 24"),
        (
            {"rules": "room"},
            "unknown preset 'room' .did you mean 'room-fish-all'.*; choose from room-fish-all",
        ),
        ({"policies": ["random"]}, "played by 2 or 3 or 4 players, not 1"),
        ({"policies": ["random"] * 5}, "played by 2 or 3 or 4 players, not 5"),
        ({"policies": ["random"] * 3 + ["rendom"]}, "unknown policy 'rendom'"),
        (
            {"rules": RuleSet.preset("room-fish-all", 4), "policies": ["random"] * 3},
            "room-fish-all is played by 4, and 3 policies are given",
        ),
    ],
)
def test_bad_value_is_refused_by_name(changes, complaint):
    values = {"rules": "room-fish-all", "policies": FOUR, "matches": 2, "seed": 1} | changes
    with pytest.raises(ValueError, match=complaint):
        simulate(**values)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"seed": -1}, "seed must"),
        ({"seating": 24}, "seating 24 is not below 24"),
        ({"engine": "turbo"}, "unknown engine 'turbo'"),
        ({"policies": FOUR[:1]}, "not 1"),
        pytest.param({"deal": -1}, "deal must"),
    ],
)
def test_play_refuses_bad_values_too(changes, complaint):
    values = {"rules": "room-fish-all", "policies": FOUR, "seed": 1, "deal": 0} | changes
    with pytest.raises(ValueError, match=complaint):
        play(**values)


# ---------------------------------------------------------------------- illegal moves


@pytest.fixture
def cheat():
    @policy
    def cheat(view):
        """Lays 6-6, legal or not, in its third round at seat 2."""
        if view.seat == 2 and view.round == 2:
            return 7
        for arm in range(4):
            for tile in range(28):
                if view.legal[arm] >> tile & 1:
                    return (tile + 1) << (8 * arm)
        return 0

    return cheat


def complaints(play_it):
    """What is raised, and its parts."""
    with pytest.raises(IllegalMoveError) as error:
        play_it()
    text = str(error.value)
    shape = (
        r"policy (\w+) returned an illegal move: 6-6@0 \(7\) in deal (\d+), round 2, "
        r"event (\d+), seat 2; legal moves: \d-\d@[01] \(\d+\)(, \d-\d@[01] \(\d+\))+"
    )
    found = re.fullmatch(shape, text)
    assert found, text
    return text, found[1], int(found[2])


def test_illegal_move_names_policy_deal_seat_move_and_legal_moves(cheat):
    field = ["random", "random", cheat, "random"]
    fast, name, deal = complaints(lambda: simulate("room-fish-all", field, 50, seed=3))
    slow, _, _ = complaints(
        lambda: simulate("room-fish-all", field, 50, seed=3, engine="reference")
    )
    one, _, _ = complaints(lambda: play("room-fish-all", field, seed=3, deal=deal))
    assert name == "cheat"
    assert fast == slow == one


@pytest.mark.parametrize("chunk", [1, 7])
def test_illegal_move_is_raised_from_worker_threads(cheat, chunk):
    field = ["random", "random", cheat, "random"]
    text, name, deal = complaints(
        lambda: simulate("room-fish-all", field, 50, seed=3, workers=3, chunk=chunk)
    )
    one, _, _ = complaints(lambda: play("room-fish-all", field, seed=3, deal=deal))
    assert name == "cheat"
    assert text == one


def test_illegal_move_in_a_tournament_names_the_policy_at_that_seat(cheat):
    """The same deal is played legally in other rotations before."""
    field = ["random", "dump_heavy", "keep_range", cheat]
    _, name, _ = complaints(lambda: tournament("room-fish-all", field, 6, seed=3, workers=2))
    assert name == "cheat"


def test_illegal_move_in_a_mixture_names_the_mixture(cheat):
    field = ["random", "random", "mix:0.5*cheat+0.5*random", "random"]
    with pytest.raises(IllegalMoveError, match=re.escape("policy mix:0.5*cheat+0.5*random ")):
        simulate("room-fish-all", field, 50, seed=3)
