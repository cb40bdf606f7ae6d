"""Notable matches: the same that a reader of all records would choose."""

from dataclasses import replace

import pytest
from user_policies import own_registry

from kozel_sim import RuleSet, duel, notable, play, simulate, tournament
from kozel_sim.moments import pot_paid
from kozel_sim.notable import CLOSEST, FISH, LONGEST, notable_matches, replay_of
from kozel_sim.report_page import _told

FIELD = ["random", "dump_heavy", "seven_tips", "keep_range"]


def records_of(run):
    """Each match of a run by the readable engine, in the order of the frame."""
    rules = {r["preset"]: RuleSet.from_knobs(r["knobs"], r["base"]) for r in run.manifest["rules"]}
    frame = run.frame
    starts = (frame["seat"] == 0).to_numpy().nonzero()[0]
    for start, end in zip(starts, [*starts[1:], len(frame)], strict=True):
        rows = frame.iloc[start:end]
        first = rows.iloc[0]
        seed, deal = run.manifest["seed"], int(first["deal"])
        seated = rows["policy"].astype(str).tolist()
        record = play(rules[first["preset"]], seated, seed, deal, engine="reference")
        yield record, (tuple(seated), deal, int(first["seating"]))


def found_by_reading(run):
    """By preset and kind the first match with the greatest value, and the value."""
    best = {}

    def offer(record, kind, value, which):
        key = (record.rules.name, kind)
        if key not in best or value > best[key][0]:
            best[key] = (value, which)

    for record, which in records_of(run):
        offer(record, LONGEST, len(record.rounds), which)
        for told in record.rounds:
            if told.end == "fish":
                offer(record, FISH, max(told.written), (*which, told.round))
        goats = set(record.result.goats)
        accounts = record.rounds[-1].accounts
        others = [a for side, a in enumerate(accounts) if side not in goats]
        if goats and others:
            of_goats = [accounts[side] for side in goats]
            gap = min(of_goats) - max(others)
            if record.rules.reach_effect == "wins":
                gap = min(others) - max(of_goats)
            offer(record, CLOSEST, -gap, which)
    return best


RUNS = {
    "two players": ("room-fish-one", FIELD, 20, 3, {"players": 2}),
    "three players": ("livegames-goat", FIELD, 6, 4, {"players": 3}),
    "pairs": ("pair-traditional", FIELD, 12, 5, {}),
    "two rule sets": (["logic-games-goat", "household-300"], FIELD, 6, 6, {}),
    "duels": ("room-fish-one", FIELD, 10, 7, {"players": 2, "design": "duels"}),
}


@pytest.mark.parametrize("rounds", [True, False])
@pytest.mark.parametrize("kind", RUNS)
def test_they_are_those_that_a_reader_of_all_records_finds(kind, rounds):
    *what, how = RUNS[kind]
    run = tournament(*what, rounds=rounds, **how)
    expected = found_by_reading(run)
    mine = {}
    for found in notable_matches(run):
        assert found.searched == ""
        for each in found.matches:
            which = (each.policies, each.deal, each.seating)
            if each.kind == FISH:
                which = (*which, each.round)
            value = -each.value if each.kind == CLOSEST else each.value
            mine[found.rules.name, each.kind] = (value, which)
    assert mine == expected
    assert len(mine) == 3 * len(run.manifest["rules"])


def test_a_run_on_disk_has_the_same(tmp_path):
    for rounds in (True, False):
        place = tmp_path / str(rounds)
        run = tournament("room-fish-one", FIELD, 12, 3, rounds=rounds, folder=place)
        again = tournament("room-fish-one", FIELD, 12, 3, rounds=rounds)
        assert notable_matches(run) == notable_matches(again)


def test_only_some_deals_of_a_large_run_are_played_again(monkeypatch):
    run = tournament("room-fish-one", FIELD, 60, 3, rounds=True)
    (whole,) = notable_matches(run)
    monkeypatch.setattr(notable, "MOST_AGAIN", 40)
    (some,) = notable_matches(replace(run, manifest=run.manifest | {"rounds": False}))
    assert some.searched == "looked for in the first 10 of 60 deals; with --rounds in all"
    fish = next(each for each in some.matches if each.kind == FISH)
    assert fish.deal < 10
    assert fish.value <= next(each for each in whole.matches if each.kind == FISH).value
    assert [e for e in some.matches if e.kind != FISH] == [
        e for e in whole.matches if e.kind != FISH
    ]


def test_replay_is_the_match_of_the_run():
    run = duel("room-fish-one", "random", "dump_heavy", 30, 1, players=2)
    (found,) = notable_matches(run)
    for each in found.matches:
        record = replay_of(each, run)
        assert record.policies == each.policies
        assert (record.seed, record.deal, record.seating) == (1, each.deal, each.seating)


@pytest.mark.parametrize(
    "changed", [{"rounds": 99}, {"points": (1, 2)}, {"value": 1, "kind": FISH}]
)
def test_a_match_that_comes_out_otherwise_is_not_shown(changed):
    run = duel("room-fish-one", "random", "dump_heavy", 30, 1, players=2)
    (found,) = notable_matches(run)
    wanted = changed.get("kind", LONGEST)
    match = next(each for each in found.matches if each.kind == wanted)
    with pytest.raises(ValueError, match="plays the match otherwise"):
        replay_of(replace(match, **changed), run)


def test_a_run_whose_matches_come_out_otherwise_is_not_searched():
    run = tournament("room-fish-one", ["random", "dump_heavy"], 10, 1, players=2)
    other = replace(run, manifest=run.manifest | {"seed": 2})
    (found,) = notable_matches(other)
    assert "plays the matches otherwise" in found.searched
    assert [each.kind for each in found.matches] == [LONGEST, CLOSEST]


def test_a_function_that_is_gone_is_named():
    with own_registry():
        run = tournament("room-fish-one", ["last_legal", "random"], 10, 1, players=2)
        (found,) = notable_matches(run)
        assert [each.kind for each in found.matches] == [LONGEST, FISH, CLOSEST]
        assert len(replay_of(found.matches[0], run).rounds) == found.matches[0].value
    (found,) = notable_matches(run)
    assert found.searched.startswith("not looked for: policy last_legal is a function")
    with pytest.raises(ValueError, match="not known here"):
        replay_of(found.matches[0], run)


def test_where_all_are_goats_or_none_nothing_is_close():
    capped = RuleSet.preset("room-fish-one", 2).replace(max_rounds=1)
    (found,) = notable_matches(simulate(capped, ["random", "random"], 20, 1))
    assert CLOSEST not in [each.kind for each in found.matches]


@pytest.mark.parametrize("rounds", [False, True])
def test_the_biggest_fish_knows_of_the_pot_that_it_paid(rounds):
    run = tournament("logic-games-donkey", FIELD, 24, 6, players=3, rounds=rounds)
    for found in notable_matches(run):
        (fish,) = (match for match in found.matches if match.kind == FISH)
        record = replay_of(fish, run)
        waited, side = pot_paid(record, fish.round)
        assert (fish.waited, record.rules.side_of(fish.seat)) == (waited, side)
        assert fish.waited > 0
        facts = _told(fish)[0]
        assert f"{fish.value} points" in facts
        assert facts.endswith(f"; the pot of {waited} that had waited was paid in it")
    usual = notable_matches(simulate("room-fish-all", FIELD[:2], 20, 1))
    assert [match.waited for match in usual[0].matches] == [0, 0, 0]
    assert not any("pot" in _told(match)[0] for match in usual[0].matches)
