"""Users' compiled functions raise where plain Python does, and the message says what it raises."""

import ctypes
import math
import re

import numba
import numpy as np
import pytest
from user_policies import own_registry

from kozel_sim import load_code, play, policy
from kozel_sim._jit import compile_policy
from kozel_sim.engine.players import choose_signature, compiled
from kozel_sim.view import VIEW, View

C_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p)
TABLE = np.arange(5)


def divides(view):
    return 5 // view.seat


def takes_a_remainder(view):
    return int(5.0 % view.seat)


def reads_behind_a_list(view):
    return 3 + view.arms[view.players]


def reads_before_a_list(view):
    return 3 + view.arms[-9]


def reads_behind_an_array(view):
    return int(TABLE[view.players + 2])


def writes_far_away(view):
    view.params[10**9] = 1.0
    return 3


def shifts_back(view):
    return 8 >> view.seat - 1


def shifts_back_in_place(view):
    move = 8
    move <<= view.seat - 1
    return move


def roots(view):
    return int(math.sqrt(view.seat - 1))


def goes_over_the_top(view):
    return int(0 * math.exp(1000.0 + view.seat))


def raises_too_high(view):
    return int(0 * (10.0**200) ** (view.players - 2))


def makes_nothing_whole(view):
    return round(math.nan + view.seat)


def makes_infinity_whole(view):
    return math.floor(math.inf + view.seat)


def asserts(view):
    if view.seat != 1:
        raise AssertionError
    return 3


WRONG = [
    *(divides, takes_a_remainder, reads_behind_a_list, reads_before_a_list, reads_behind_an_array),
    *(writes_far_away, shifts_back, shifts_back_in_place, roots, goes_over_the_top),
    *(raises_too_high, makes_nothing_whole, makes_infinity_whole, asserts),
]


@pytest.fixture(autouse=True)
def forgetful_registry():
    with own_registry():
        yield


def answer(function):
    """What a compiled function returns about a View of four players, seen from seat 0."""
    record = np.zeros(1, VIEW)
    record["players"] = 4
    made = compile_policy(function, choose_signature())
    return C_FUNCTION(made.address)(record.ctypes.data)


@pytest.mark.parametrize("function", WRONG, ids=lambda function: function.__name__)
def test_what_plain_python_raises_is_raised_compiled(function, monkeypatch):
    told = []
    monkeypatch.setattr("sys.unraisablehook", lambda event: told.append(event.exc_type))
    with pytest.raises(Exception):  # noqa: B017, PT011
        function(View(players=4))
    assert answer(function) == 0
    assert len(told) == 1


def test_what_is_right_is_the_same_compiled(monkeypatch):
    def right(view):
        whole = round(2.5) + math.floor(2.5) + int(3.9) + math.ceil(1.2) + (1 << view.players)
        whole += 9 >> view.seat
        whole += int(math.sqrt(16 * view.players) + math.log(1.0) + view.players**2 + 2.0**3)
        return whole + len(np.zeros(3, np.int64)) + math.trunc(-1.5)

    told = []
    monkeypatch.setattr("sys.unraisablehook", told.append)
    assert answer(right) == right(View(players=4))
    assert not told


@pytest.mark.parametrize("move", [2**40 + 3, -1, math.nan], ids=["large", "negative", "nan"])
def test_move_that_32_bits_would_cut_is_refused(move, monkeypatch):
    told = []
    monkeypatch.setattr("sys.unraisablehook", lambda event: told.append(str(event.exc_value)))
    assert answer(lambda view: move) == 0
    assert told == ["a move has 32 bits"]


RAISING = """
from kozel_sim import policy
from kozel_sim.kit import first_move

def share(view, n):
    return 100 // (n - n)

@policy
def sharing(view):
    if view.event > 3:
        return share(view, view.seat)
    return first_move(view)
"""


@pytest.mark.parametrize("spec", ["sharing", "mix:0.5*sharing+0.5*dump_heavy"])
def test_both_engines_say_the_same_of_an_error(spec, tmp_path, capfd):
    (tmp_path / "sharing.py").write_text(RAISING)
    load_code(tmp_path / "sharing.py")
    said = []
    for engine in ("scalar", "reference"):
        with pytest.raises(ValueError, match="raised ZeroDivisionError") as error:
            play("room-fish-all", [spec, "random"], seed=1, deal=0, engine=engine)
        said.append(str(error.value))
    assert said[0] == said[1]
    where = r"\(sharing\.py, line 6\), in deal 0, round \d+, event \d+, seat 0; legal moves: "
    assert re.search(where, said[0])
    assert capfd.readouterr().err == ""


def test_both_engines_say_the_same_of_a_move_over_32_bits():
    @policy
    def huge(view):
        return 2**40

    said = []
    for engine in ("scalar", "reference"):
        with pytest.raises(ValueError, match=r"illegal move: .*1099511627776") as error:
            play("room-fish-all", ["huge", "random"], seed=1, deal=0, engine=engine)
        said.append(str(error.value))
    assert said[0] == said[1]


def test_error_that_plain_python_has_not_is_told_with_what_it_plays(monkeypatch):
    @policy
    def wraps(view):
        big = (1 << 62) * (view.players + 2)  # over 64 bits
        if big <= 0:
            raise ValueError("wrapped")
        for arm in range(4):
            for tile in range(28):
                if view.legal[arm] >> tile & 1:
                    return (tile + 1) << (8 * arm)
        return 0

    play("room-fish-all", ["wraps", "random"], seed=1, deal=0, engine="reference")
    with pytest.raises(ValueError, match="raised ValueError: wrapped") as error:
        play("room-fish-all", ["wraps", "random"], seed=1, deal=0)
    assert "plain Python plays " in str(error.value)


def test_name_that_may_be_unset_is_told_when_compiling(monkeypatch):
    # Not loaded: what an earlier run has kept was told of then.
    monkeypatch.setattr("kozel_sim._jit.fingerprint", lambda function: None)

    def unset(view):
        for tile in range(view.seat):
            best = tile + 1
        return best

    with pytest.warns(UserWarning, match=r"may read 'best' before it is set \(test_strict_code"):
        compiled(unset)


def test_print_of_a_function_that_is_compiled_here_ends(capfd):
    """numba leaves Python's lock taken where a function has not got its environment."""

    def helper(view):
        print("helper", view.seat, 2.5)
        return 0

    def loud(view):
        print("asked", view.players)
        return 7 + helper(view)

    assert answer(loud) == 7
    assert capfd.readouterr().out == "asked 4\nhelper 0 2.5\n"


# ---------------------------------------------------------------------- what the compiler says


def helper_with_a_slip(view):
    return view.hnad


SAID = {
    "text": (lambda view: "6-6", "it returns a text, not the code of a move"),
    "list": (lambda view: [1, 2], "it returns a list, not"),
    "set": (lambda view: {1, 2}, "it returns a set, not"),
    "tuple": (lambda view: (1, 2), "it returns a tuple, not"),
    "nothing": (lambda view: None, "it does not return a move on every path"),
    "field": (lambda view: view.hnad, r"no field 'hnad' \(did you mean 'hand'\?\) \(test_strict"),
    "in a helper": (
        lambda view: helper_with_a_slip(view),
        r"'hnad' .* \(test_strict.*line \d+\)",
    ),
    "generator": (lambda view: sum(i for i in range(3)), "write a loop.*engine='reference'"),
    "set of a name": (lambda view: TEXTS[0], "make it a tuple.*--engine reference"),
    "operator": (lambda view: "a" + view.hand, "numba knows no add.*--engine reference"),
}
TEXTS = [1, 2]


@pytest.mark.parametrize(("function", "said"), SAID.values(), ids=SAID)
def test_what_does_not_compile_is_said_with_what_would_do(function, said):
    with pytest.raises(ValueError, match=rf"does not compile: .*{said}") as error:
        compiled(function)
    assert "\n" not in str(error.value)
    assert "test_strict_code.py, line" in str(error.value)


def test_numba_told_to_compile_nothing_is_said_in_one_line(monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)

    def mine(view):
        return 1

    with pytest.raises(NotImplementedError, match=r"NUMBA_DISABLE_JIT is set.*engine='reference'"):
        compiled(mine)
