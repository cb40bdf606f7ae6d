"""Users' policies: files, what is refused in one line, what does not compile."""

import functools
import linecache
import math
import textwrap

import numba
import numpy as np
import pytest
from user_policies import own_registry

from kozel_sim import get_policy, list_policies, load_code, play, policy
from kozel_sim.policies import policy_table

GOOD = """
    from kozel_sim import policy

    @policy
    def from_file(view):
        for arm in range(4):
            for tile in range(28):
                if view.legal[arm] >> tile & 1:
                    return (tile + 1) << (8 * arm)
        return 0
"""


@pytest.fixture(autouse=True)
def forgetful_registry():
    with own_registry():
        yield


@pytest.fixture
def write(tmp_path):
    """``write(source, name)``: a file of code."""

    def write(source, name="mine.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        return path

    return write


def test_file_registers_its_policies(write):
    assert load_code(write(GOOD)) == ["from_file"]
    assert get_policy("from_file").name == list_policies()[-1] == "from_file"


def test_file_may_be_loaded_again(write):
    path = write(GOOD)
    assert load_code(path) == load_code(str(path)) == ["from_file"]


def test_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"no Python file at .*nothere\.py"):
        load_code(tmp_path / "nothere.py")


def test_folder_and_other_files_are_no_code(tmp_path, write):
    for path in (tmp_path, write(GOOD, "notes.txt")):
        with pytest.raises(ValueError, match="no Python file at"):
            load_code(path)


def test_syntax_error_names_file_and_line(write):
    with pytest.raises(ValueError, match=r"mine\.py, line 3: .+") as error:
        load_code(write("x = 1\ny = 2\ndef f(:\n"))
    assert "\n" not in str(error.value)


def test_exception_names_file_line_and_kind(write):
    source = "def f():\n    return 1 / 0\n\nf()\n"
    with pytest.raises(ValueError, match=r"mine\.py, line 2: ZeroDivisionError: division by zero"):
        load_code(write(source))


def test_file_that_registers_nothing_is_refused(write):
    with pytest.raises(ValueError, match=r"mine\.py registers no policy; put @policy above"):
        load_code(write("def from_file(view):\n    return 0\n"))


def test_name_that_is_taken_is_refused_with_the_line(write):
    source = GOOD.replace("from_file", "random")
    with pytest.raises(ValueError, match=r"mine\.py, line .*'random' is taken"):
        load_code(write(source))


def test_name_taken_by_another_file_of_the_same_name_is_refused(write):
    load_code(write(GOOD, "a/mine.py"))
    with pytest.raises(ValueError, match="'from_file' is taken"):
        load_code(write(GOOD, "b/mine.py"))


def test_loaded_policy_plays_alike_in_both_engines(write):
    load_code(write(GOOD))
    players = ["from_file", "random", "from_file"]
    for deal in range(5):
        compiled = play("room-fish-one", players, 3, deal)
        assert compiled == play("room-fish-one", players, 3, deal, engine="reference")


def test_policy_typed_at_a_prompt_plays_alike_in_both_engines():
    exec(compile(textwrap.dedent(GOOD), "<stdin>", "exec"), {"__name__": "__main__"})
    compiled = play("room-fish-all", ["from_file", "random"], 3, 0)
    assert compiled == play("room-fish-all", ["from_file", "random"], 3, 0, engine="reference")


# ---------------------------------------------------------------------- what numba refuses

BROKEN = {
    "mixes types": 'return "6-4" + view.hand',
    "returns nothing": "pass",
    "returns a list": "return [1, 2]",
    "unknown name": "return no_such_name(view)",
    "a library": "return json.loads('1')",
}
WORSE = {
    "unknown field": "return view.others[0]",
    "imports inside": "import math\n    return math.floor(1.0)",
    "defines a class": "class Best: pass\n    return 1",
}


def complain(write, body):
    """Play a function that cannot be compiled; return the complaint."""
    write_to = write(
        f"import json\nfrom kozel_sim import policy\n\n@policy\ndef clumsy(view):\n    {body}\n"
    )
    load_code(write_to)
    with pytest.raises(ValueError, match="clumsy") as error:
        play("room-fish-all", ["clumsy", "random"], seed=1, deal=0)
    return str(error.value)


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN)
def test_function_that_does_not_compile_is_named_in_one_line(write, body):
    text = complain(write, body)
    assert text.startswith("policy clumsy does not compile: ")
    assert "\n" not in text


@pytest.mark.parametrize("body", WORSE.values(), ids=WORSE)
def test_function_that_numba_gives_up_on_is_named_in_one_line(write, body):
    text = complain(write, body)
    assert text.startswith("policy clumsy does not compile: ")
    assert "\n" not in text


def test_compiled_function_follows_an_edit_of_its_file(write):
    """Code compiled for the first version must not be found again for the second."""
    records = []
    for order in ("range(28)", "range(27, -1, -1)"):
        load_code(write(GOOD.replace("range(28)", order), "edited.py"))
        records.append(play("room-fish-all", ["from_file", "random"], seed=1, deal=0))
        slow = play("room-fish-all", ["from_file", "random"], 1, 0, engine="reference")
        assert records[-1] == slow
    assert records[0] != records[1]


def test_compiled_function_follows_a_change_of_what_it_reads(write):
    """As in a notebook: the same source again, after a constant that it reads has changed."""
    source = GOOD.replace("range(28)", "range(28) if UP else range(27, -1, -1)").replace(
        "@policy", "UP = Path(__file__).with_name('up').exists()\n\n    @policy"
    )
    path = write("    from pathlib import Path\n" + source, "reader.py")
    for _ in range(2):
        load_code(path)
        fast = play("room-fish-all", ["from_file", "random"], seed=1, deal=0)
        slow = play("room-fish-all", ["from_file", "random"], 1, 0, engine="reference")
        assert fast == slow
        write("", "up")


def test_global_that_is_named_as_a_field_of_the_view_does_not_matter():
    """As in a notebook, where ``table`` is a frame."""
    source = "import pandas as pd\ntable = pd.DataFrame({'a': [1, 2]})\n" + textwrap.dedent(GOOD)
    source = source.replace("view.legal[arm]", "(view.legal[arm] & ~view.table)")
    exec(compile(source, "<stdin>", "exec"), {"__name__": "__main__"})
    compiled = play("room-fish-all", ["from_file", "random"], 3, 0)
    assert compiled == play("room-fish-all", ["from_file", "random"], 3, 0, engine="reference")


# ---------------------------------------------------------------------- what @policy takes


def first_legal(view):
    for arm in range(4):
        for tile in range(28):
            if view.legal[arm] >> tile & 1:
                return (tile + 1) << (8 * arm)
    return 0


class Chooser:
    """An object that can be called like a policy."""

    def __call__(self, view):
        return first_legal(view)

    def method(self, view):
        return first_legal(view)


def generator(view):
    yield first_legal(view)


async def coroutine(view):
    return first_legal(view)


@pytest.mark.parametrize(
    "value",
    [
        len,
        print,
        Chooser,
        Chooser(),
        Chooser().method,
        functools.partial(first_legal),
        generator,
        coroutine,
        "random",
        1,
        numba.vectorize(lambda x: x),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_what_is_no_plain_function_is_refused(value):
    before = list_policies()
    for decorate in (policy, policy(name="odd")):
        with pytest.raises(TypeError, match="must be a plain function") as error:
            decorate(value)
        assert repr(value) in str(error.value)
    assert list_policies() == before


@functools.wraps(first_legal)
def wrapped(*views):
    return first_legal(*views)


SIGNATURES = [
    lambda: 0,
    lambda view, more: 0,
    lambda view, more=1: 0,
    lambda *view: 0,
    lambda **view: 0,
    lambda *, view: 0,
    lambda view, *more: 0,
    lambda view, *, more=1: 0,
    wrapped,
]


@pytest.mark.parametrize("function", SIGNATURES)
def test_signature_that_does_not_take_the_view_alone_is_refused(function):
    with pytest.raises(TypeError, match=r"policy odd must take one argument, the view: .*, not "):
        policy(name="odd")(function)


@pytest.mark.parametrize("value", [True, False, None, "1", b"1", [1], 1j, np.bool_(True), len])
def test_parameter_that_is_no_number_is_refused(value):
    with pytest.raises(TypeError, match=r"policy odd: alpha=.* is not a number") as error:
        policy(name="odd", alpha=value)(first_legal)
    assert repr(value) in str(error.value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400, np.float32("inf")])
def test_parameter_that_is_not_finite_is_refused(value):
    with pytest.raises(ValueError, match=r"policy odd: alpha=.* is not a finite number"):
        policy(name="odd", alpha=value)(first_legal)


@pytest.mark.parametrize("name", ["a b", "", "a=", "a,b"])
def test_parameter_that_a_spec_could_not_name_is_refused(name):
    with pytest.raises(ValueError, match="cannot name a parameter"):
        policy(name="odd", **{name: 1})(first_legal)


@pytest.mark.parametrize("number", ["1e400", "-1e400", "1e999999"])
def test_parameter_of_a_spec_that_is_too_large_is_refused(number):
    policy(name="odd", alpha=1)(first_legal)
    with pytest.raises(ValueError, match=r"policy odd: alpha=.* is too large a number"):
        get_policy(f"odd:alpha={number}")


@pytest.mark.parametrize(
    ("value", "written"),
    [(3, "3"), (0.5, "0.5"), (-0.0, "-0"), (np.int8(3), "3"), (np.float64(0.1), "0.1")],
)
def test_parameter_of_any_kind_of_number_is_kept(value, written):
    made = policy(name="odd", alpha=value)(first_legal)
    ((_, part),) = made.parts
    assert part.params == (float(value),)
    assert policy_table()[-1]["parameters"] == f"alpha={written}"
    assert get_policy("odd:alpha=7").name == "odd:alpha=7"


@pytest.mark.parametrize("words", [1, "yes", None])
def test_words_that_are_neither_true_nor_false_are_refused(words):
    with pytest.raises(TypeError, match=f"words must be True or False, not {words!r}"):
        policy(name="odd", words=words)(first_legal)


@pytest.mark.parametrize("name", ["", "two words", "1st", "weights", "mix", 5, len])
def test_name_that_is_no_plain_word_is_refused(name):
    with pytest.raises(ValueError, match="cannot name a policy"):
        policy(name=name)(first_legal)


def test_function_that_numba_has_compiled_is_taken_as_the_plain_one():
    made = policy(name="compiled")(numba.njit(first_legal))
    ((_, part),) = made.parts
    assert part.choose_code is first_legal
    players = ["compiled", "random"]
    fast = play("room-fish-all", players, seed=3, deal=0)
    assert fast == play("room-fish-all", players, seed=3, deal=0, engine="reference")
    policy(first_legal)
    plain = play("room-fish-all", ["first_legal", "random"], seed=3, deal=0)
    assert plain.rounds == fast.rounds


RAISING = """
from kozel_sim import policy

@policy
def raising(view):
    for arm in range(4):
        for tile in range(28):
            if view.legal[arm] >> tile & 1:
                if view.event > 3:
                    raise ValueError("boo")
                return (tile + 1) << (8 * arm)
    return 0
"""


def test_error_of_a_compiled_policy_is_one_line_that_says_where(tmp_path, capfd):
    path = tmp_path / "raising.py"
    path.write_text(RAISING)
    load_code(path)
    with pytest.raises(
        ValueError, match=r"raised ValueError: boo \(raising\.py, line 10\), in deal 0, round"
    ):
        play("room-fish-all", ["raising", "random"], seed=1, deal=0)
    assert capfd.readouterr().err == ""


def test_rerun_cell_plays_a_helper_of_another_cell_that_has_changed():
    """As in a notebook, where a cell's file is named after its text and does not exist."""
    first = "def least(view, move):\n    return -pips_of(move)\n"
    cell = "@policy\ndef of_cell(view):\n    return best_move(view, least)\n"
    scope = {}
    exec("from kozel_sim import policy\nfrom kozel_sim.kit import best_move, pips_of", scope)

    def run(text, number):
        name = f"/nowhere/ipykernel_1/{number}.py"
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        exec(compile(text, name, "exec"), scope)

    run(first, 1)
    run(cell, 2)
    light = play("room-fish-all", ["of_cell", "random"], seed=1, deal=0)
    run(first.replace("-pips", "+pips"), 3)
    run(cell, 2)
    heavy = play("room-fish-all", ["of_cell", "random"], seed=1, deal=0)
    slow = play("room-fish-all", ["of_cell", "random"], seed=1, deal=0, engine="reference")
    assert light.rounds != heavy.rounds
    assert heavy == slow
