"""Installed packages that bring policies of their own."""

import os
import subprocess
import sys
import textwrap

import pytest
from user_policies import own_registry

from kozel_sim import get_policy, list_policies, play
from kozel_sim.policies import policy_table, registry

MODULE = """
    from kozel_sim import policy
    from kozel_sim.kit import first_move

    @policy
    def {name}(view):
        '''The first legal move.'''
        return first_move(view)
"""


@pytest.fixture(autouse=True)
def forgetful_registry(monkeypatch):
    monkeypatch.setattr(registry, "_plugins_are_loaded", False)
    with own_registry():
        yield


@pytest.fixture
def install(tmp_path, monkeypatch):
    """``install(package, source)``: put a distribution with one plug-in on the path."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))

    def install(package, source):
        (site / f"{package}.py").write_text(textwrap.dedent(source), encoding="utf-8")
        about = site / f"{package}-1.2.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
        (about / "entry_points.txt").write_text(f"[{registry.PLUGINS}]\n{package} = {package}\n")
        monkeypatch.delitem(sys.modules, package, raising=False)
        return site

    yield install
    for path in site.glob("*.py"):
        sys.modules.pop(path.stem, None)


def kozel(site, *words):
    """Run the command with a folder on the path: (exit code, stdout, stderr)."""
    path = os.pathsep.join([str(site), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", "from kozel_sim.cli import main; main()", *words],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_plugin_is_found_by_name(install):
    install("goatpack", MODULE.format(name="from_pack"))
    assert "from_pack" not in registry._registry
    assert get_policy("from_pack").doc == "The first legal move."
    record = play("room-fish-all", ["from_pack", "random"], 1, 0)
    assert record == play("room-fish-all", ["from_pack", "random"], 1, 0, engine="reference")


def test_plugin_is_listed_with_its_package(install):
    install("goatpack", MODULE.format(name="from_pack"))
    assert list_policies()[-1] == "from_pack"
    row = policy_table()[-1]
    assert row["source"].startswith("goatpack 1.2, goatpack.py sha256 ")


def test_plugins_wait_until_they_are_asked_for(install):
    install("goatpack", MODULE.format(name="from_pack"))
    get_policy("random")
    assert "goatpack" not in sys.modules


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("def f(:", "SyntaxError"),
        ("raise SystemExit(4)", "SystemExit: 4"),
    ],
)
def test_broken_plugin_is_left_out_with_a_warning(install, source, message):
    install("badpack", source)
    install("goatpack", MODULE.format(name="from_pack"))
    with pytest.warns(UserWarning, match=f"'badpack' of badpack 1.2 is left out: {message}"):
        assert "from_pack" in list_policies()


def test_plugin_with_a_name_that_is_taken_is_left_out_whole(install):
    install("badpack", MODULE.format(name="fresh") + MODULE.format(name="random"))
    message = r"'badpack' of badpack 1.2 is left out: .*'random' is taken .* \(built in\)"
    with pytest.warns(UserWarning, match=message):
        assert "fresh" not in list_policies()


def test_plugins_that_want_the_same_name_are_both_named(install):
    install("firstpack", MODULE.format(name="wanted"))
    install("secondpack", MODULE.format(name="wanted"))
    message = r"'secondpack' of secondpack 1.2 .*'wanted' is taken .*\(firstpack 1.2, "
    with pytest.warns(UserWarning, match=message):
        assert get_policy("wanted").name == "wanted"


def test_command_line_warns_in_one_line_and_goes_on(install):
    site = install("badpack", "import no_such_module")
    code, out, err = kozel(site, "rules")
    assert (code, err) == (0, "")
    code, out, err = kozel(site, "policies")
    assert code == 0
    assert "dump_heavy" in out
    (line,) = err.splitlines()
    assert line.startswith("kozel: warning: the plug-in 'badpack' of badpack 1.2 is left out: ")
