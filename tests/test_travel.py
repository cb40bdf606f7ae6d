"""Policies as JSON values: what is built again plays as the first."""

import json

import pandas as pd
import pytest
from user_policies import last_legal, own_registry

from kozel_sim import get_policy, list_policies, load_code, policy, tournament
from kozel_sim.policies import describe_policy, find_policy, rebuild_policy
from kozel_sim.policies.registry import set_aside

CODE = """
from kozel_sim import policy
from kozel_sim.kit import low, high

START = 27


def fits(view, arm, tile):
    return view.legal[arm] >> tile & 1


@policy(start=0.0, words=True)
def falling(view):
    for arm in range(4):
        for i in range(28):
            tile = (START + 28 - int(view.params[0]) - i) % 28
            if fits(view, arm, tile):
                return (tile + 1) << (8 * arm)
    return 0


@policy(name="other_name")
def last(view):
    for arm in range(4):
        for tile in range(28):
            if fits(view, arm, tile):
                return (tile + 1) << (8 * arm)
    return 0
"""


@pytest.fixture(autouse=True)
def forgetful_registry():
    with own_registry():
        yield


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(CODE, "utf-8")
    return path


def travelled(name):
    """A policy that went through JSON and is built where nothing is known."""
    described = json.loads(json.dumps(describe_policy(get_policy(name))))
    with set_aside():
        return described, rebuild_policy(described)


@pytest.mark.parametrize("name", [*list_policies(), "weights:pips=1,double=-3.5",
                                  "mix:0.25*seven_tips+0.75*weights:pips=1"])  # fmt: skip
def test_ladders_are_built_again_equal(name):
    described, again = travelled(name)
    assert again == get_policy(name) == find_policy(described)


@pytest.mark.parametrize(
    "name", ["falling", "falling:start=5", "other_name", "mix:0.5*falling+0.5*dump_heavy"]
)
def test_functions_are_built_again_from_source_alone(file, name):
    load_code(file)
    described, again = travelled(name)
    assert json.loads(json.dumps(describe_policy(again))) == described
    field = ["random", "dump_heavy"]
    one, other = (
        tournament("room-fish-all", [*field, each], 60, seed=1, players=3).frame
        for each in (get_policy(name), again)
    )
    pd.testing.assert_frame_equal(one, other)


def test_building_leaves_the_registry_as_it_was(file):
    load_code(file)
    described = describe_policy(get_policy("falling"))
    before = list_policies()
    rebuild_policy(described)
    assert list_policies() == before
    assert get_policy("falling").parts == find_policy(described).parts


def test_function_is_not_run_from_a_manifest_unasked(file):
    load_code(file)
    described = describe_policy(get_policy("falling"))
    with set_aside(), pytest.raises(ValueError, match=r"falling is a function.*--code"):
        find_policy(described)


def test_function_that_has_changed_is_told(file):
    load_code(file)
    described = describe_policy(get_policy("falling"))
    file.write_text(file.read_text("utf-8").replace("START = 27", "START = 20"), "utf-8")
    load_code(file)
    with pytest.raises(ValueError, match="falling is not the one that was played"):
        find_policy(described)


def test_function_that_needs_more_than_its_source_is_told():
    policy(last_legal)
    described = describe_policy(get_policy("last_legal"))
    part = described["parts"][0]
    for source, reason in (
        ("@policy\ndef last_legal(view):\n    return 0\n", "NameError"),
        ("raise SystemExit('no')", "SystemExit: no"),
        ("def other(view):\n    return 0\n", "KeyError"),
        ("def last_legal(view):\n    return 0\n", "is not the one that was played"),
    ):
        with pytest.raises(ValueError, match=reason):
            rebuild_policy(described | {"parts": [part | {"source": source}]})
