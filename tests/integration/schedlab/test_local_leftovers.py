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

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(180)]

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
    made = {"id": plane.record.id, "private": plane.record.private, "ports": plane.record.ports}
    print(json.dumps(made), flush=True)
    if ending == "error":
        raise RuntimeError("a bug")
    if ending == "wait":
        await asyncio.Event().wait()

asyncio.run(main(sys.argv[1] == "background", sys.argv[2]))
"""


@pytest.fixture
def runner():
    """Starts a program that boots a control plane; gives the program and what it made."""
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
    """SIGKILL in the middle: its programs die with it, directories and record go at the next start."""
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


@pytest.fixture
def starting():
    """Starts a program that boots a control plane, and waits until that has started so many processes."""
    started = []

    def start(count, *, background):
        spec = f"ClusterSpec('victim', background={background})"
        code = (
            "import asyncio\nfrom schedlab.cluster.local import LocalBackend\n"
            f"from schedlab.cluster.backend import ClusterSpec\nasyncio.run(LocalBackend().up({spec}))"
        )
        process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
        started.append(process)
        records = []
        while not records or len(records[0].processes) < count:
            assert process.poll() is None
            records = Registry().records()
        return process, records[0]

    yield start
    for process in started:
        process.kill()
        process.wait()
    reaper.reap(Registry())


def test_ctrl_c_during_a_start_leaves_nothing(starting):
    """Whatever has been started by then is ended."""
    process, record = starting(1, background=False)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) != 0
    assert list(reaper.marked(record.id)) == []
    assert not Path(record.private).exists()
    assert Registry().records() == []


@pytest.mark.parametrize("count", range(5), ids=lambda count: f"after {count} processes")
def test_a_start_that_is_killed_is_reaped_in_every_phase(starting, count):
    """Nothing ties these processes to the one that is killed, so the reaper must find them all."""
    process, record = starting(count, background=True)
    process.kill()
    process.wait()
    assert len(list(reaper.marked(record.id))) >= count
    reaper.reap(Registry())
    assert list(reaper.marked(record.id)) == []
    assert not Path(record.private).exists()
    assert Registry().records() == []


def test_a_runner_in_use_is_not_touched(runner, boot):
    """Somebody else's start reaps the dead only."""
    process, made = runner()
    boot(name="next")
    assert process.poll() is None
    assert len(running(made)) == 5
