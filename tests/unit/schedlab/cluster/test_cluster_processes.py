"""A process is known by more than its pid, and ends when it should."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from schedlab import timing
from schedlab.cluster import processes
from schedlab.cluster.processes import Identity
from schedlab.errors import EnvironmentStartError

ENV = {"PATH": os.environ["PATH"]}


def wait_for(condition, seconds=10.0):
    """Wait for something that another process does."""
    deadline = timing.Deadline.after(seconds)
    while not condition() and not deadline.expired:
        timing.pause(0.01)
    return condition()


@pytest.fixture
def run(tmp_path):
    """Starts programs and ends them after the test."""
    started = []

    def start(*argv, **options):
        options = {"log": tmp_path / "logs" / "p.log", "env": ENV, **options}
        process = processes.start("p", argv, **options)
        started.append(process)
        return process

    yield start
    for process in started:
        process.signal(signal.SIGKILL)
        process.stop_now(0)


async def test_output_goes_to_the_log(run):
    """Both streams; the end of it is at hand for error messages."""
    process = run("/bin/sh", "-c", "echo one; echo two >&2; exit 3")
    assert await process.wait(within=20) == 3
    assert process.log.read_text() == "one\ntwo\n"
    assert process.tail(1) == "two"


async def test_the_environment_is_what_was_given(run, monkeypatch):
    """Nothing of the harness's own environment, such as credentials, reaches the program."""
    monkeypatch.setenv("SECRET", "x")
    process = run("/usr/bin/env", env={"PATH": "/bin", "GIVEN": "1"})
    await process.wait(within=20)
    assert "GIVEN=1" in process.log.read_text()
    assert "SECRET" not in process.log.read_text()


async def test_waiting_ends_with_the_process_or_with_the_time(run):
    """None means that it still runs."""
    process = run("/bin/sh", "-c", "read _ || sleep 30", dies_with_parent=False)
    assert await process.wait(within=0.05) is None
    process.signal(signal.SIGKILL)
    assert await process.wait(within=10) == -signal.SIGKILL
    assert not process.alive


def test_a_process_that_ignores_sigterm_is_killed(run, tmp_path):
    """After its grace, and not before."""
    ready = tmp_path / "ready"
    process = run("/bin/sh", "-c", f"trap '' TERM; touch {ready}; while :; do sleep 0.05; done")
    assert wait_for(ready.exists)
    assert process.stop_now(grace=0.2) == -signal.SIGKILL


def test_a_stopped_process_can_still_be_terminated(run):
    """SIGSTOP is a fault that tests inject; teardown must not wait for it."""
    process = run("/bin/sleep", "60")
    process.signal(signal.SIGSTOP)
    assert process.stop_now(grace=10) == -signal.SIGTERM


def test_ctrl_c_at_the_terminal_does_not_reach_it(run):
    """It has a session of its own, so that teardown decides the order."""
    process = run("/bin/sleep", "60", dies_with_parent=False)
    assert os.getsid(process.pid) == process.pid != os.getsid(0)


def test_what_cannot_be_executed_is_reported_by_name(run, tmp_path):
    """Before anything is forked."""
    with pytest.raises(EnvironmentStartError, match="nothing is not an executable file"):
        run(str(tmp_path / "nothing"))


def test_an_identity_holds_for_one_process_only(run):
    """Another start time or another boot is another process, whatever its pid."""
    process = run("/bin/sleep", "60")
    identity = Identity.of(process.pid)
    assert identity == process.identity
    assert identity.alive
    for impostor in (
        Identity(identity.pid, identity.started + 1, identity.boot),
        Identity(identity.pid, identity.started, "another-boot"),
    ):
        assert not impostor.alive
        assert not impostor.signal(signal.SIGKILL)
    assert process.alive
    process.stop_now(5)
    assert not identity.alive


def test_a_zombie_counts_as_gone(run):
    """Nobody can end it, and nothing is left of it but its exit code."""
    process = run("/bin/sh", "-c", "exit 0", dies_with_parent=False)
    assert wait_for(lambda: Identity.of(process.pid) is None)
    assert process.stop_now(0) == 0


def test_odd_process_names_do_not_confuse_the_start_time(run, tmp_path):
    """The kernel prints the name in parentheses, unquoted."""
    odd = tmp_path / "a) S 1 ("
    odd.symlink_to("/bin/sleep")
    process = run(str(odd), "60", dies_with_parent=False)
    assert Identity.of(process.pid).started >= Identity.of(os.getpid()).started
    assert wait_for(lambda: process.identity.command_line() == [str(odd), "60"])


PARENT = """
import os, pathlib, sys
from schedlab.cluster import processes
log = pathlib.Path(sys.argv[1])
child = processes.start("c", ["/bin/sleep", "60"], log=log, env={}, dies_with_parent=sys.argv[2] == "True")
print(child.pid, child.identity.started, child.identity.boot, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("tied", "survives"),
    [(True, False), (False, True)],
    ids=["a tied child dies too", "another one lives on"],
)
def test_what_becomes_of_children_when_the_parent_is_killed(tmp_path, tied, survives):
    """SIGKILL leaves the parent no chance to tidy up."""
    argv = [sys.executable, "-c", PARENT, str(tmp_path / "log"), str(tied)]
    parent = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with parent:
        pid, started, boot = parent.stdout.readline().split()
        child = Identity(int(pid), int(started), boot)
        assert wait_for(lambda: child.command_line() == ["/bin/sleep", "60"])
        parent.kill()
    try:
        assert wait_for(lambda: child.alive == survives, 2.0)
        assert wait_for(lambda: not child.alive, 0.2) == (not survives)
    finally:
        child.signal(signal.SIGKILL)


def test_a_program_started_by_a_thread_outlives_that_thread(run):
    """A harness may start a scheduler from a worker thread, which ends long before the scheduler should."""
    started = []
    thread = threading.Thread(target=lambda: started.append(run("/bin/sleep", "60")))
    thread.start()
    thread.join()
    assert not wait_for(lambda: not started[0].alive, 0.2)


def test_the_tail_of_a_huge_log_is_read_from_its_end(tmp_path):
    """The last lines, without reading the rest."""
    log = tmp_path / "log"
    log.write_text("x" * 200_000 + "\nlast but one\nlast\n")
    assert processes.tail(log, 2) == "last but one\nlast"
    assert processes.tail(tmp_path / "none", 5) == ""
