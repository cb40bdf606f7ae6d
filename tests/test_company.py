"""Company and shares of variance: against made-up tables whose truth is known."""

import numpy as np
import pandas as pd
import pytest
from command_line import runner, strict_json

from kozel_sim import RuleSet, duel, tournament
from kozel_sim.company import company
from kozel_sim.plain import records
from kozel_sim.skill import SOURCES, variance_shares

FIELD = ["random", "dump_heavy", "allround", "seven_tips"]


def test_company_splits_a_policys_matches_by_the_others():
    frame = tournament("room-fish-all", FIELD, 60, seed=1, players=3).frame
    table = company(frame, "points")
    assert len(table) == 4 * 3
    match = np.arange(len(frame)) // 3
    of_match = frame.groupby(match)["policy"].agg(set)
    row = table[(table["policy"] == "random") & (table["company"] == "allround, dump_heavy")].iloc[
        0
    ]
    wanted = of_match.map(lambda names: names == {"random", "allround", "dump_heavy"}).to_numpy()
    mine = frame[wanted[match] & (frame["policy"] == "random").to_numpy()]
    assert row["estimate"] == pytest.approx(mine["points"].mean())
    assert row["n_matches"] == len(mine)
    whole = frame.loc[frame["policy"] == "random", "points"].mean()
    assert row["difference"] == pytest.approx(mine["points"].mean() - whole)
    assert row["ci_low"] < row["estimate"] < row["ci_high"]
    assert row["diff_ci_low"] < row["difference"] < row["diff_ci_high"]


def test_company_of_pairs_names_the_partner_and_of_duels_the_number():
    pairs = company(tournament("pair-traditional", FIELD, 12, seed=1).frame)
    assert "with allround against dump_heavy, seven_tips" in set(pairs["company"])
    duels = tournament("room-fish-all", FIELD[:2], 12, seed=1, design="duels").frame
    assert set(company(duels)["company"]) >= {"3 x dump_heavy", "3 x random"}


def made_up(deals, policy, seat, deal, rest, seed, k=4, n=3, repeats=2):
    """Points with variance parts of known size; sums of policies' and seats' effects are 0."""
    rng = np.random.default_rng(seed)
    grid = np.indices((deals, repeats, k, n)).reshape(4, -1)
    d, r, p, s = grid
    skill = policy * np.linspace(-1, 1, k) / np.linspace(-1, 1, k).std()
    place = seat * np.linspace(-1, 1, n) / np.linspace(-1, 1, n).std()
    luck = deal * rng.normal(size=(deals, n))
    points = skill[p] + place[s] + luck[d, s] + rest * rng.normal(size=len(d))
    return pd.DataFrame(
        {"preset": "x", "players": n, "deal": d, "seat": s, "policy": p.astype(str)}
        | {"seating": r * 0, "points": points}
    )


def test_shares_are_those_that_were_made_up():
    found = variance_shares(made_up(4000, 3, 1, 2, 5, 1)).set_index("source")
    assert tuple(found.index) == SOURCES
    wanted = np.array([9, 1, 4, 25])
    assert found["variance"].to_numpy() == pytest.approx(wanted, rel=0.06, abs=0.15)
    assert found["share"].sum() == pytest.approx(1)


def test_intervals_of_shares_cover_what_was_made_up():
    """60 tournaments of 80 deals: at 95%, fewer than 52 of 60 come once in 200."""
    wanted = np.array([4, 0.25, 2.25, 16]) / 22.5
    held = np.zeros(4)
    for seed in range(60):
        table = variance_shares(made_up(80, 2, 0.5, 1.5, 4, seed))
        held += (table["ci_low"] <= wanted) & (wanted <= table["ci_high"])
    assert held.min() >= 52, held


def test_frames_that_do_not_tell_are_refused():
    frame = tournament("room-fish-all", FIELD, 4, seed=1, players=2).frame
    with pytest.raises(ValueError, match="every policy sits equally often"):
        variance_shares(frame[frame["policy"] != "random"].iloc[:-3])
    with pytest.raises(ValueError, match="is divided by rounds"):
        variance_shares(frame, "points_per_round")
    with pytest.raises(ValueError, match="unknown metric"):
        company(frame, "luck")


@pytest.fixture
def kozel(monkeypatch, capsys):
    return runner(monkeypatch, capsys)


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A small tournament of two with matches that reach the cap, on disk."""
    rules = RuleSet.preset("room-fish-all", 2).replace(max_rounds=8)
    place = tmp_path_factory.mktemp("company") / "run"
    return tournament(rules, FIELD[:3], 12, seed=1, folder=place).frame, place


def test_show_prints_company_and_the_same_in_json(kozel, played):
    frame, place = played
    code, out, err = kozel("show", place, "--company")
    assert (code, err) == (0, "")
    heads = ("policy", "company", "goat rate", "less its mean", "points")
    assert all(head in out for head in heads)
    assert "reached the cap of 8 rounds" in out
    code, out, _ = kozel("show", place, "--company", "--json")
    tables = strict_json(out)
    assert tables["goat_rate"] == records(company(frame))
    assert tables["points"] == records(company(frame, "points"))
    rows = tables["goat_rate"]
    assert len(rows) == 6
    assert {row["n_matches"] for row in rows} == {24}
    assert sum(row["n_capped"] for row in rows) == frame["capped"].sum() > 0


def test_show_prints_luck_and_the_same_in_json(kozel, played):
    frame, place = played
    code, out, err = kozel("show", place, "--luck")
    assert (code, err) == (0, "")
    assert all(source in out for source in SOURCES)
    assert "reached the cap of 8 rounds" in out
    code, out, _ = kozel("show", place, "--luck", "--json")
    rows = strict_json(out)
    assert rows == records(variance_shares(frame))
    assert {row["n_capped"] for row in rows} == {frame["capped"].sum() / 2}


def test_show_refuses_what_does_not_go_together_or_has_no_answer(kozel, played, tmp_path):
    _, place = played
    code, out, err = kozel("show", place, "--luck", "--company")
    assert (code, out) == (2, "")
    assert err == "kozel: error: choose one of --sweep, --company and --luck\n"
    duel("room-fish-all", *FIELD[:2], 4, 1, folder=tmp_path / "duel")
    code, out, err = kozel("show", tmp_path / "duel", "--luck")
    assert (code, out) == (2, "")
    assert err.startswith("kozel: error: shares of variance need a tournament")
    assert err.count("\n") == 1
