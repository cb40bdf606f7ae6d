"""A user's function is known by all that it reads, so old compiled code is never played for new."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from kozel_sim import kit
from kozel_sim.fingerprint import fingerprint, may_read


def built(source: str, **names: object):
    """Return the function f of a source, with some globals."""
    scope: dict[str, object] = {"__name__": "somewhere", **names}
    exec(textwrap.dedent(source), scope)
    return scope["f"]


READS_A_GLOBAL = "def f(view):\n    return ORDER[0] + view.seat\n"


def test_fingerprint_is_the_same_for_the_same_function():
    assert fingerprint(built(READS_A_GLOBAL, ORDER=(1, 2))) == fingerprint(
        built(READS_A_GLOBAL, ORDER=(1, 2))
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [((1, 2), (2, 1)), (1, 1.0), (1, True), (np.arange(3), np.arange(1, 4)), ([1], (1,))],
)
def test_fingerprint_changes_with_a_global(before, after):
    source = "def f(view):\n    return ORDER\n"
    assert fingerprint(built(source, ORDER=before)) != fingerprint(built(source, ORDER=after))


def test_fingerprint_changes_with_code_constants_defaults_and_closures():
    sources = [
        "def f(view):\n    return 1\n",
        "def f(view):\n    return 2\n",
        "def f(view, a=1):\n    return a\n",
        "def f(view, a=2):\n    return a\n",
        "def f(view):\n    return view.seat\n",
        "def f(view):\n    return view.side\n",
        "def outer(k):\n    def g(view):\n        return k\n    return g\nf = outer(1)\n",
        "def outer(k):\n    def g(view):\n        return k\n    return g\nf = outer(2)\n",
    ]
    prints = [fingerprint(built(source)) for source in sources]
    assert None not in prints
    assert len(set(prints)) == len(sources)


def test_fingerprint_follows_helpers():
    helper = "def g(x):\n    return x + STEP\n"
    prints = set()
    for step in (1, 2):
        scope = {"__name__": "elsewhere", "STEP": step}
        exec(helper, scope)
        prints.add(fingerprint(built("def f(view):\n    return g(1)\n", g=scope["g"])))
    assert len(prints) == 2


def test_fingerprint_of_what_reads_an_unknown_object_cannot_be_told():
    assert fingerprint(built("def f(view):\n    return thing\n", thing=object())) is None


POLICY = """
from kozel_sim import play, policy

ORDER = {order}

@policy
def ordered(view):
    for arm in ORDER:
        for tile in range(28):
            if view.legal[arm] >> tile & 1:
                return (tile + 1) << (8 * arm)
    return 0

if __name__ == "__main__":
    for engine in ("scalar", "reference"):
        record = play("room-fish-all", ["ordered", "random"], seed=1, deal=3, engine=engine)
        print(hash(record.to_json()))
"""


def test_changed_global_is_played_by_the_next_process(tmp_path: Path):
    env = {**os.environ, "PYTHONHASHSEED": "0"}
    seen = []
    for order in ((0, 1, 2, 3), (3, 2, 1, 0)):
        file = tmp_path / "pol.py"
        file.write_text(POLICY.format(order="(0, 1, 2, 3)" if order[0] == 0 else "(3, 2, 1, 0)"))
        # The same size and time as before, so that only the fingerprint can tell.
        os.utime(file, (1e9, 1e9))
        done = subprocess.run(
            [sys.executable, str(file)], env=env, capture_output=True, text=True, check=True
        )
        compiled, reference = done.stdout.split()
        assert compiled == reference
        seen.append(compiled)
    assert seen[0] != seen[1]


# ---------------------------------------------------------------------- what a function reads

HISTORY = ("played", "void")


@pytest.mark.parametrize(
    "source",
    [
        "def f(view):\n    return view.void[0]\n",
        "def f(view):\n    return getattr(view, 'played')[0]\n",
        "def g(x):\n    return x.void[0]\ndef f(view):\n    return g(view)\n",
        "def g(x):\n    return x.void[0]\ng.py_func = g\ndef f(view):\n    return (g,)[0](view)\n",
        "def f(view):\n    return [x for x in view.played][0]\n",
        "def f(view):\n    return UNKNOWN(view)\n",
        "def f(view, of=(UNKNOWN,)):\n    return of[0](view)\n",
        "def outer(g):\n    return lambda view: g(view)\nf = outer(UNKNOWN)\n",
    ],
)
def test_function_may_read_what_it_or_a_helper_mentions(source):
    assert may_read(built(source, UNKNOWN=Path("x").joinpath), HISTORY)


@pytest.mark.parametrize(
    "source",
    [
        "def f(view):\n    void = view.legal[0]\n    return void\n",
        "def g(x):\n    return x & -x\ndef f(view):\n    return np.int64(g(view.table)) + max(X)\n",
    ],
)
def test_function_does_not_read_what_nobody_mentions(source):
    assert not may_read(built(source, np=np, X=(1, 2)), HISTORY)


@pytest.mark.parametrize(("word", "reads"), [("lacks", True), ("pips", False), ("feature", True)])
def test_words_of_the_kit_are_looked_into(word, reads):
    source = f"def f(view):\n    return {word}\n"
    assert may_read(built(source, **{word: getattr(kit, word)}), HISTORY) is reads
