"""Checks of a policy: what passes, and that every kind of foul is found and named."""

import random
import re
import subprocess
import sys
import textwrap

import pytest
from command_line import picture, runner, strict_json
from numba.extending import overload
from user_policies import own_registry

from kozel_sim import PRESETS, get_policy, list_policies, load_code, policy
from kozel_sim.apart import Teller
from kozel_sim.checking import CHECKS, TABLES, Asker, check_policy, examine_table
from kozel_sim.kit import first_move, moves, n_moves, nth_move
from kozel_sim.timing import measure_policies

HEAD = "from kozel_sim import policy\nfrom kozel_sim.kit import *\n\n@policy\n"
ENDLESS = HEAD + "def endless(view):\n    while view.hand:\n        pass\n    return 0\n"
QUIET = Teller(lambda *word: None)


@pytest.fixture(autouse=True)
def forgetful_registry():
    with own_registry():
        yield


@pytest.fixture
def write(tmp_path):
    """``write(source, name)``: a file of code."""

    def write(source, name="mine.py"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        return path

    return write


@pytest.fixture
def kozel(tmp_path, monkeypatch, capsys):
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return runner(monkeypatch, capsys)


def failed(function, preset="room-fish-all", players=3, n=30):
    """Which checks a policy fails at one table, with what was wrong first."""
    asker = Asker(get_policy(function) if isinstance(function, str) else policy(function))
    findings, choices = examine_table(QUIET, asker, preset, players, n, seed=1)
    assert [f.check for f in findings] == ["legal", "alike", "steady", "gentle", "blind"]
    assert {(f.preset, f.players, f.asked) for f in findings} == {(preset, players, n)}
    assert len(choices) == n
    return {f.check: f.detail for f in findings if not f.ok}


# ---------------------------------------------------------------------- what passes


@pytest.mark.parametrize(
    "spec", [*list_policies(), "scatter", "reads_everything", "mix:0.5*random+0.5*last_legal"]
)
@pytest.mark.parametrize(("preset", "players"), [("room-fish-one", 2), ("livegames-donkey", 4)])
def test_honest_policies_pass(spec, preset, players):
    if "last_legal" in spec and preset == "livegames-donkey":
        preset = "sea-goat"
    assert failed(spec, preset, players) == {}


def test_report_covers_every_check_and_table(write):
    source = HEAD + "def mine(view):\n    return nth_move(view, tie(view, n_moves(view)))\n"
    (report,) = check_policy(write(source), positions=2)
    assert (report.policy, report.ok) == ("mine", True)
    covered = {(f.check, f.preset, f.players) for f in report.findings}
    per_table = set(CHECKS) - {"answers"}
    assert covered == {("answers", "", 0), *((c, *table) for c in per_table for table in TABLES)}
    assert {preset for preset, _ in TABLES} == set(PRESETS)
    assert report.ns_per_decision > 0
    assert report.compile_seconds >= 0
    assert [duel.rival for duel in report.duels][:1] == ["random"]
    for duel in report.duels:
        assert duel.goat_rate.ci_low <= duel.goat_rate.estimate <= duel.goat_rate.ci_high
    # It plays as random does, so its duel with random is even.
    assert abs(report.duels[0].goat_rate.estimate - report.duels[0].rival_goat_rate.estimate) < 0.1


def test_file_of_several_policies_gives_a_report_each(write, kozel):
    two = "".join(
        f"@policy\ndef {name}(view):\n    return first_move(view)\n\n" for name in ("one", "two")
    )
    path = write(HEAD.removesuffix("@policy\n") + two)
    code, out, _ = kozel("check-policy", path, "--positions", 1, "--json")
    assert code == 0
    assert [report["policy"] for report in strict_json(out)] == ["one", "two"]
    code, out, _ = kozel("check-policy", f"{path}:two", "--positions", 1)
    assert code == 0
    assert "policy two" in out
    assert out.endswith("passed\n")


def test_policy_of_this_very_process_can_be_checked():
    (report,) = check_policy(policy(name="here")(lambda view: first_move(view)), positions=1)
    assert report.ok


# ---------------------------------------------------------------------- what is found


def peek():
    """Add up what the hands of a Round in a caller's frame hold; as a cheat would."""
    frame = sys._getframe()
    while frame is not None:
        for value in list(frame.f_locals.values()):
            hands = getattr(value, "hands", None)
            if hands:
                return sum(hand * (3 + seat) for seat, hand in enumerate(hands))
        frame = frame.f_back
    return 0


@overload(peek)
def compiled_peek():
    return lambda: 0


def test_policy_that_looks_for_hands_in_its_callers_is_caught():
    def peeks(view):
        return nth_move(view, peek() % n_moves(view))

    found = failed(peeks)
    assert "with unseen tiles elsewhere" in found["blind"]
    assert "in plain Python" in found["blind"]


def test_policy_that_reads_beyond_its_view_is_caught():
    def reads_on(view):
        beyond = 0
        if view.players < 9:
            for i in range(len(view.legal), 300):
                beyond += int(view.legal[i % 300])
        return nth_move(view, beyond % n_moves(view))

    # Refused where it reads, plain and compiled, and so before it could see a hidden hand.
    assert "IndexError" in failed(reads_on)["legal"]


def test_policy_that_draws_its_own_luck_is_refused():
    def draws(view):
        return nth_move(view, int(random.random() * n_moves(view)))

    with pytest.raises(ValueError, match=r"draws random numbers of its own, random\.random"):
        policy(draws)


def lot():
    """Draw a number where nobody looks for it."""
    return int(sys.modules["random"].random() * 28)


@overload(lot)
def compiled_lot():
    return lambda: 0


def test_policy_that_draws_out_of_sight_is_not_steady():
    def draws(view):
        return nth_move(view, lot() % n_moves(view))

    assert "asked again" in failed(draws)["steady"]


def test_policy_that_writes_on_its_view_is_caught():
    def vandal(view):
        view.pot = 50
        return first_move(view)

    assert "writes on its View" in failed(vandal)["gentle"]


def test_illegal_move_is_named_with_the_legal_ones():
    def cheeky(view):
        return 28 << 8

    detail = failed(cheeky)["legal"]
    assert "6-5@1 (7168); legal: " in detail


def test_move_of_several_doubles_may_be_illegal_too():
    def both(view):
        last = 0
        for move in moves(view):
            last = move
        return last | 0x80

    assert "legal" in failed(both, "livegames-donkey", 4)


def test_plain_and_compiled_must_agree():
    def wraps(view):
        cube = view.word * view.word * view.word  # of 96 bits, or what is left in 64
        return nth_move(view, int(cube % 7) % n_moves(view))

    assert "compiled" in failed(wraps)["alike"]


# ---------------------------------------------------------------------- the time limit


@pytest.mark.slow
def test_time_limit_leaves_out_the_compiling_of_the_engine(write, tmp_path, monkeypatch):
    """Right after an installation: nothing is compiled yet."""
    monkeypatch.setenv("KOZEL_SIM_CACHE_DIR", str(tmp_path / "cache"))
    path = write(HEAD + "def first_fit(view):\n    return first_move(view)\n")
    code = (
        f"from kozel_sim import check_policy; print(check_policy({str(path)!r}, positions=2)[0].ok)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_endless_loop_is_ended_and_its_place_named(write, kozel):
    code, out, err = kozel("check-policy", write(ENDLESS), "--timeout", 1, "--positions", 1)
    assert code == 1
    assert (
        "FAILED answers: no answer within 1 s: asked, room-fish-all (2 players), position 0" in out
    )
    assert err == ""


def test_file_that_never_ends_is_ended(write):
    (report,) = check_policy(write("while True:\n    pass\n"), timeout=1)
    assert not report.ok
    assert "no answer within 1 s: running" in report.findings[-1].detail


def test_process_that_dies_is_reported(write):
    source = """
        import os
        from numba.extending import overload
        from kozel_sim import policy

        def leave():
            os._exit(3)

        @overload(leave)
        def compiled_leave():
            return lambda: 0

        @policy
        def mine(view):
            return leave()
    """
    (report,) = check_policy(write(source), positions=1)
    assert "the process ended (exit code 3): asked" in report.findings[-1].detail


def test_endless_policy_does_not_keep_the_others_from_being_measured(write):
    load_code(write(ENDLESS))
    load_code(write(HEAD + "def quick(view):\n    return nth_move(view, 1)\n", "quick.py"))
    names = ["endless", "random", "quick"]
    found = measure_policies([get_policy(name) for name in names], timeout=1)
    assert found["quick"] > 0
    assert found["endless"] == "no answer within 1 s"
    assert found["random"] > 0


# ---------------------------------------------------------------------- bad input


BAD = {
    "syntax": ("def f(:\n", r"mine\.py, line 1: "),
    "signature": (HEAD + "def mine(view, move):\n    return 0\n", "must take one argument"),
    "no return": (HEAD + "def mine(view):\n    view.pot\n", "does not return a move on every path"),
    "some return": (
        HEAD + "def mine(view):\n    for move in moves(view):\n        return move\n",
        "does not return a move on every path",
    ),
    "taken": (HEAD + "def random(view):\n    return 0\n", r"'random' is taken .* \(built in\)"),
    "feature": (
        HEAD + "def mine(view):\n    return feature(view, first_move(view), 'luck')\n",
        r"unknown feature 'luck' \(did you mean 'lock'\?\); choose from pips, double",
    ),
    "weights": (
        "from kozel_sim import get_policy\nget_policy('weights:luck=1')\n",
        "unknown feature",
    ),
    "nothing": ("x = 1\n", "registers no policy"),
}


@pytest.mark.parametrize(("source", "message"), BAD.values(), ids=BAD)
def test_bad_file_is_one_line_and_exit_code_2(source, message, write, kozel):
    before = picture()
    code, out, err = kozel("check-policy", write(source), "--positions", 1)
    assert (code, out) == (2, "")
    assert err.startswith("kozel: error: ")
    assert err.count("\n") == 1
    assert picture() == before
    assert re.search(message, err)


def test_unknown_name_lists_the_names_of_the_file(write, kozel):
    path = write(HEAD + "def mine(view):\n    return first_move(view)\n")
    code, _, err = kozel("check-policy", f"{path}:yours")
    assert (code, err) == (2, f"kozel: error: {path} has no policy 'yours'; it has mine\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothere.py"], "no Python file at nothere.py"),
        (["nobody"], "unknown policy 'nobody'"),
        (["random", "--positions", "0"], "positions must be a whole number of 1 or more"),
        (["random", "--timeout", "0"], "timeout must be over 0 seconds"),
        (["random", "--timeout", "inf"], "timeout must be over 0 seconds"),
        (["random", "--seed", "-1"], "seed must be a whole number"),
    ],
)
def test_bad_options_are_refused(words, message, kozel):
    code, _, err = kozel("check-policy", *words)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
