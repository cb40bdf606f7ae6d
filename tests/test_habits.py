"""Policies that draw their own random numbers are refused, those that remember are told."""

import importlib
import itertools
import random
import secrets
from random import Random, choice
from random import randrange as drawn

import numpy as np
import numpy.random as npr
import pytest
from user_policies import own_registry

from kozel_sim import load_code, policy
from kozel_sim.policies.habits import _parted, find_chance, find_memory

RNG = np.random.default_rng(3)
OWN = Random(3)
SEEN = []
COUNTER = itertools.count()
COUNTS = np.zeros(3)


def helper(view):
    return random.random()


def imports_inside(view):
    import random

    return random.random()


def imports_a_name_inside(view):
    from random import choice

    return choice([1, 2])


def imports_secrets_inside(view):
    import secrets

    return secrets.randbelow(3)


def under_two_names(view):
    drawing = random
    return drawing.random()


DRAWING = {
    "random": lambda view: random.random(),
    "a name of it": lambda view: choice([1, 2]),
    "under another name": lambda view: drawn(3),
    "numpy": lambda view: np.random.randint(3),  # noqa: NPY002
    "numpy under another name": lambda view: npr.randint(3),  # noqa: NPY002
    "a generator made anew": lambda view: np.random.default_rng().integers(3),
    "a generator beside it": lambda view: RNG.integers(3),
    "Python's beside it": lambda view: OWN.random(),
    "without a seed": lambda view: Random().random(),
    "secrets": lambda view: secrets.randbelow(3),
    "in a list": lambda view: max([random.random() for _ in range(3)]),
    "in a helper": lambda view: helper(view),
    "imported inside": imports_inside,
    "a name imported inside": imports_a_name_inside,
    "secrets imported inside": imports_secrets_inside,
    "imported by a call": lambda view: __import__("random").random(),
    "a part imported by a call": lambda view: __import__("numpy.random").random.rand(),
    "by importlib": lambda view: importlib.import_module("numpy.random").rand(),
    "under a name of its own": under_two_names,
}


def inner_list_of_the_same_name(view):
    def inner():
        SEEN = []  # noqa: N806
        SEEN.append(view.seat)
        return len(SEEN)

    return inner() + (lambda SEEN: SEEN.pop())([0])  # noqa: N803


STILL = {
    "a list within that is called so too": inner_list_of_the_same_name,
    "imports what draws nothing": lambda view: __import__("math").floor(0.5),
    "seeded by the View": lambda view: Random(view.word).random(),
    "numpy seeded by the View": lambda view: np.random.default_rng(int(view.word)).integers(3),
    "reads what is beside it": lambda view: len(SEEN) + COUNTS[0],
    "sorts a copy": lambda view: sorted(SEEN),
}


@pytest.fixture(autouse=True)
def forgetful_registry():
    with own_registry():
        yield


@pytest.mark.parametrize("function", DRAWING.values(), ids=DRAWING)
def test_random_numbers_of_its_own_are_found(function):
    assert "(test_habits.py, line " in find_chance(function)
    assert find_memory(function) == ""


@pytest.mark.parametrize("function", STILL.values(), ids=STILL)
def test_what_the_view_fixes_is_no_chance_and_no_memory(function):
    assert find_chance(function) == find_memory(function) == ""


def test_policy_that_draws_is_refused_with_what_to_use(tmp_path):
    path = tmp_path / "lucky.py"
    path.write_text(
        "import random\nfrom kozel_sim import policy\n\n@policy\ndef lucky(view):\n"
        "    return random.randrange(3)\n"
    )
    with pytest.raises(ValueError, match=r"lucky draws random numbers of its own") as error:
        load_code(path)
    for needle in ("random.randrange (lucky.py, line 6)", "below(view.word, n)", "words=True"):
        assert needle in str(error.value)


def test_steps_that_python_joins_are_two():
    assert _parted("STORE_FAST_LOAD_FAST", ("a", "b")) == [("STORE_FAST", "a"), ("LOAD_FAST", "b")]
    assert _parted("LOAD_FAST_CHECK", "a") == [("LOAD_FAST", "a")]
    assert _parted("LOAD_CONST", (1, 2)) == [("LOAD_CONST", (1, 2))]


def appends_within(view):
    def inner():
        SEEN.append(view.seat)

    return inner()


def appends(view):
    SEEN.append(view.seat)
    return 0


def counts_on(view):
    COUNTS[view.seat] += 1
    return 0


def asks_a_counter(view):
    return next(COUNTER)


def has_an_attribute(view):
    has_an_attribute.calls += 1
    return 0


def sets_a_global(view):
    global SEEN
    SEEN = [view.seat]
    return 0


def keeps_a_default(view, kept=[]):  # noqa: B006
    kept.append(view.seat)
    return 0


def calls_one_that_keeps(view):
    return keeps_a_default(view)


def make_closures():
    calls, seen = 0, []

    def sets_what_is_around(view):
        nonlocal calls
        calls += 1
        return 0

    def changes_what_is_around(view):
        seen.append(view.seat)
        return 0

    return sets_what_is_around, changes_what_is_around


REMEMBERING = [
    *(
        appends,
        appends_within,
        counts_on,
        asks_a_counter,
        has_an_attribute,
        sets_a_global,
        calls_one_that_keeps,
    ),
    *make_closures(),
]


@pytest.mark.parametrize("function", REMEMBERING, ids=lambda function: function.__name__)
def test_policy_that_remembers_is_told_at_once(function):
    with pytest.warns(UserWarning, match=r"test_habits\.py, line \d+\): a policy has no memory"):
        policy(function)


def test_lists_of_its_own_are_no_memory():
    def own(view):
        seen = []
        seen.append(view.seat)
        view.params[0] = 3

        def inner():
            nonlocal seen
            seen = [2]

        return seen

    assert find_memory(own) == ""
