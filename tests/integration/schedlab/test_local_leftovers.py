"""However a runner ends, nothing of it stays: no process, no port, no directory."""

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from schedlab.cluster import reaper
from schedlab.cluster.state import Registry

pytestmark = pytest.mark.cluster

RUNNER = """
import asyncio, json, sys
from schedlab.cluster import local
from schedlab.cluster.backend import ClusterSpec
from schedlab.cluster.nodes import NodeGroup

async def main(background, ending):
    if background:
        local.LocalControlPlane.hand_over = lambda self: None  # killed before it could
    spec = ClusterSpec("victim", nodes=[NodeGroup("cpu-32", 1)], background=background)
    plane = await local.LocalBackend().up(spec)
    plane.spawn("extra", ["/bin/sleep", "600"])
    print(json.dumps({"id": plane.record.id, "private": plane.record.private, "ports": plane.record.ports}), flush=True)
    if ending == "error":
        raise RuntimeError("a bug")
    if ending == "wait":
        await asyncio.Event().wait()

asyncio.run(main(sys.argv[1] == "background", sys.argv[2]))
"""


@pytest.fixture
def runner():
    """Starts a program that boots a control plane and then does as told; gives the program and what it made."""
    started = []

    def start(kind="owned", ending="wait"):
        argv = [sys.executable, "-c", RUNNER, kind, ending]
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(process)
        line = process.stdout.readline()
        assert line, process.stderr.read()
        return process, json.loads(line)

    yield start
    for process in started:
        process.kill()
        process.communicate()
    reaper.reap(Registry())


def running(made):
    """The processes that still carry the mark of a control plane."""
    return list(reaper.marked(made["id"]))


def bound(made):
    """The ports of a control plane on which something listens."""
    taken = []
    for port in made["ports"].values():
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                taken.append(port)
    return taken


def test_the_next_start_leaves_nothing_of_a_killed_runner(runner, boot, eventually):
    """SIGKILL in the middle: its programs die with it, its directories and its record go at the next start."""
    process, made = runner()
    assert len(running(made)) == 5
    assert bound(made)
    process.kill()
    process.wait()
    eventually(lambda: not running(made))
    assert Path(made["private"]).exists()
    boot(name="next")
    assert not Path(made["private"]).exists()
    assert bound(made) == []
    assert [record.name for record in Registry().records()] == ["next"]


def test_programs_that_outlive_a_killed_runner_are_reaped(runner, boot):
    """Where nothing ties them to their parent, as while `schedlab up` is starting."""
    process, made = runner("background")
    process.kill()
    process.wait()
    assert len(running(made)) == 5
    assert bound(made)
    boot(name="next")
    assert running(made) == []
    assert bound(made) == []
    assert not Path(made["private"]).exists()
    assert [record.name for record in Registry().records()] == ["next"]


@pytest.mark.parametrize("ending", ["return", "error", "interrupt"])
def test_a_runner_that_can_tidies_up_itself(runner, ending):
    """At its normal end without `down`, after an exception, at Ctrl-C: without the help of a next start."""
    process, made = runner(ending="wait" if ending == "interrupt" else ending)
    if ending == "interrupt":
        process.send_signal(signal.SIGINT)
    assert (process.wait(30) == 0) == (ending == "return")
    assert running(made) == []
    assert bound(made) == []
    assert not Path(made["private"]).exists()
    assert Registry().records() == []


def test_ctrl_c_during_a_start_leaves_nothing(tmp_path):
    """Whatever has been started by then is ended."""
    code = (
        "import asyncio\nfrom schedlab.cluster.local import LocalBackend\n"
        "from schedlab.cluster.backend import ClusterSpec\n"
        "asyncio.run(LocalBackend().up(ClusterSpec('victim')))"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    records = []
    while not records or not records[0].processes:
        assert process.poll() is None
        records = Registry().records()
    process.send_signal(signal.SIGINT)
    assert process.wait(30) != 0
    assert running({"id": records[0].id}) == []
    assert not Path(records[0].private).exists()
    assert Registry().records() == []


def test_a_runner_in_use_is_not_touched(runner, boot):
    """Somebody else's start reaps the dead only."""
    process, made = runner()
    boot(name="next")
    assert process.poll() is None
    assert len(running(made)) == 5
