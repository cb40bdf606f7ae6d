"""Runs on a Dask cluster: real processes, started as docs/runs.md says."""

import logging
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import distributed
import pandas as pd
import pytest
from command_line import runner, strict_json
from user_policies import own_registry

import kozel_sim.cluster
from kozel_sim import load_run

PAGE = (Path(__file__).parents[1] / "docs" / "runs.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^```\n((?:dask|kozel).*?)\n```$", PAGE, re.MULTILINE)
FUNCTION = '''
from kozel_sim import policy

FROM = 27


@policy(first=0.0)
def heavy_end(view):
    """Play the highest tile on the first end that it fits."""
    for arm in range(4):
        for tile in range(FROM, -1, -1):
            if view.legal[arm] >> tile & 1:
                return (tile + 1) << (8 * arm)
    return 0
'''


@pytest.fixture(autouse=True)
def forgetful_registry():
    with own_registry():
        yield


@pytest.fixture
def kozel(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    return runner(monkeypatch, capsys)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.fixture
def cluster():
    """A scheduler and two workers: (address, the workers' processes)."""
    port = str(free_port())
    started = []
    scheduler, *workers = [line for line in COMMANDS if line.startswith("dask ")]
    assert len(workers) == 2
    try:
        for line in (scheduler, *workers):
            words = line.replace("8786", port).split()[1:]
            words += ["--no-dashboard"] + ["--no-nanny"] * (words[0] == "worker")
            command = [sys.executable, "-m", "dask", *words]
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            started.append(subprocess.Popen(command, **quiet))
            time.sleep(0.2)
        yield f"tcp://127.0.0.1:{port}", started[1:]
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


@pytest.mark.filterwarnings("default")
def test_cluster_of_the_page_gives_the_same_run_and_a_lost_worker_is_made_up_for(kozel, cluster):
    address, workers = cluster
    Path("mine.py").write_text(FUNCTION, "utf-8")
    words = ["tournament", "-n", 30_000, "--seed", 1, "--players", 2, "--code", "mine.py"]
    words += ["--policies", "heavy_end,heavy_end:first=1,random,dump_heavy"]
    loss = threading.Timer(3, workers[0].kill)
    loss.start()
    code, out, err = kozel(*words, "-o", "clustered", "--dask", address)
    assert code == 0, err
    assert "360,000 matches" in out
    loss.join()
    assert workers[0].wait(10) == -signal.SIGKILL
    assert kozel(*words, "-o", "plain")[0] == 0
    found, wanted = (load_run(folder).frame for folder in ("clustered", "plain"))
    pd.testing.assert_frame_equal(found, wanted, check_exact=True)


def test_last_command_of_the_page_plays_on_the_cluster():
    """What the page starts is what its last command is told of."""
    *_, last = COMMANDS
    assert last.split()[:2] == ["kozel", "run"]
    assert last.endswith("--dask tcp://127.0.0.1:8786")


@pytest.mark.filterwarnings("default")
def test_scheduler_that_does_not_answer_is_named(kozel, monkeypatch):
    code, out, err = kozel("tournament", "-n", 6, "--dask", "tcp:nonsense")
    assert (code, out) == (2, "")
    assert err == "kozel: error: no Dask scheduler answers at 'tcp:nonsense'\n"


def test_missing_extra_is_named(kozel, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, out, err = kozel("tournament", "-n", 6, "--dask", "local")
    assert (code, out) == (2, "")
    assert "--dask needs the extra dask" in err


@pytest.mark.filterwarnings("default")
def test_scheduler_without_workers_is_told_and_waited_for(kozel, monkeypatch):
    """A worker comes when that is said, and no earlier."""
    said = []

    def status(text):
        said.append(text)
        if text.startswith("no workers"):
            local.scale(1)

    monkeypatch.setattr("kozel_sim.cluster.status", status)
    monkeypatch.setattr("kozel_sim.cluster.PATIENCE", 0.5)
    nothing = {"n_workers": 0, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**nothing, silence_logs=logging.CRITICAL) as local:
        at = local.scheduler_address
        words = ["-n", "2", "--players", "2", "--policies", "random,dump_heavy", "--seed", "1"]
        code, out, err = kozel("tournament", *words, "--dask", at, "--json")
    assert (code, err) == (0, "")
    assert strict_json(out)["manifest"]["seed"] == 1
    told = f"no workers at the Dask scheduler {at}; waiting for one (dask worker {at})"
    assert said[0] == told
    assert said[1:] in ([], ["workers have come to the Dask scheduler: it is played"])


def test_patience_is_three_seconds():
    assert kozel_sim.cluster.PATIENCE == 3
