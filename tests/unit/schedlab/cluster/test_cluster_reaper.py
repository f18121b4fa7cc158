"""What a killed schedlab left is ended and removed; what others use is not touched."""

import os
import signal
import subprocess

import pytest

from schedlab.cluster import processes, reaper
from schedlab.cluster.components import stop_order
from schedlab.cluster.layout import Layout
from schedlab.cluster.processes import MARKER, Identity
from schedlab.cluster.state import ProcessRecord, Registry, new_record

ME = Identity.of(os.getpid())
GONE = Identity(ME.pid, ME.started + 1, ME.boot)


@pytest.fixture
def registry():
    return Registry()


@pytest.fixture
def spawn(tmp_path):
    """Starts sleeping processes that would outlive this one, and ends them after the test."""
    started = []

    def start(name="etcd", env=None, argv=("/bin/sleep", "60")):
        log = tmp_path / f"{name}.log"
        process = processes.start(name, argv, log=log, env=env or {}, dies_with_parent=False)
        started.append(process)
        return process

    yield start
    for process in started:
        process.signal(signal.SIGKILL)
        process.stop_now(0)


def record(registry, tmp_path, *, owner, started=(), owns_directory=True, name="lab"):
    """A recorded control plane with its directories on disk."""
    layout = Layout(directory=tmp_path / name / "run", private=tmp_path / name / "private")
    (layout.directory / "logs").mkdir(parents=True)
    layout.private.mkdir()
    made = new_record(name, owner=owner, background=False, layout=layout, owns_directory=owns_directory)
    made.processes = [ProcessRecord(one.name, one.identity, one.argv, str(one.log)) for one in started]
    registry.save(made)
    return made


def test_the_leavings_of_a_dead_owner_are_removed(registry, tmp_path, spawn):
    """Processes, both directories, and the record."""
    started = [spawn("etcd"), spawn("kube-apiserver")]
    left = record(registry, tmp_path, owner=GONE, started=started)
    (reaped,) = reaper.reap(registry)
    assert reaped.processes == ("kube-apiserver", "etcd")
    assert not any(process.identity.alive for process in started)
    assert not (tmp_path / "lab" / "run").exists()
    assert not (tmp_path / "lab" / "private").exists()
    assert registry.records() == []
    assert left.alive == []


def test_what_a_living_owner_uses_is_left_alone(registry, tmp_path, spawn):
    """Another run on the same machine is none of our business."""
    process = spawn()
    record(registry, tmp_path, owner=ME, started=[process])
    assert reaper.reap(registry) == []
    assert process.alive
    assert (tmp_path / "lab" / "run").exists()


def test_a_pid_that_somebody_else_has_now_is_not_ended(registry, tmp_path, spawn):
    """The recorded start time differs from that of the process which has the pid."""
    stranger = spawn()
    left = record(registry, tmp_path, owner=GONE, started=[stranger])
    identity = stranger.identity
    reused = Identity(identity.pid, identity.started - 5, identity.boot)
    left.processes = [ProcessRecord("etcd", reused, [], "")]
    registry.save(left)
    (reaped,) = reaper.reap(registry)
    assert reaped.processes == ()
    assert stranger.alive


def test_a_process_that_was_not_yet_written_down_is_found_by_its_marker(registry, tmp_path, spawn):
    """The owner may be killed between starting a program and recording it."""
    left = record(registry, tmp_path, owner=GONE)
    unrecorded = spawn("etcd", env={MARKER: left.id})
    other = spawn("etcd", env={MARKER: left.id + "0"})
    (reaped,) = reaper.reap(registry)
    assert reaped.processes == ("sleep",)
    assert not unrecorded.identity.alive
    assert other.alive


def test_a_run_directory_of_the_users_stays(registry, tmp_path):
    """It holds the logs that explain the run; only keys and data go."""
    record(registry, tmp_path, owner=GONE, owns_directory=False)
    reaper.reap(registry)
    assert (tmp_path / "lab" / "run" / "logs").exists()
    assert not (tmp_path / "lab" / "private").exists()


def test_a_process_that_ignores_sigterm_is_killed(tmp_path, spawn):
    """After its grace."""
    ready = tmp_path / "ready"
    body = f"trap '' TERM; touch {ready}; while :; do sleep 0.05; done"
    stubborn = spawn(argv=("/bin/sh", "-c", body))
    while not ready.exists():
        assert stubborn.alive
    assert reaper.end(stubborn.identity, grace=0.1)
    assert stubborn.returncode == -signal.SIGKILL


def test_a_stopped_process_is_ended_too(spawn):
    """A fault injector may have been killed between SIGSTOP and SIGCONT."""
    process = spawn()
    process.signal(signal.SIGSTOP)
    assert reaper.end(process.identity, grace=10)
    assert process.returncode == -signal.SIGTERM


def test_ending_what_is_gone_changes_nothing(spawn):
    """And says so."""
    process = spawn()
    process.stop_now(5)
    assert not reaper.end(process.identity, grace=0)


def test_clients_stop_before_what_they_talk_to():
    """The last started first; then the controllers, the API server, and etcd at the very end."""
    names = ["etcd", "kube-apiserver", "kube-controller-manager", "kwok", "kube-scheduler", "proxy"]
    started = [ProcessRecord(name, ME, [], "") for name in names]
    assert [one.name for one in stop_order(started)] == [
        "proxy",
        "kube-scheduler",
        "kwok",
        "kube-controller-manager",
        "kube-apiserver",
        "etcd",
    ]


def test_processes_of_other_users_do_not_stop_the_search():
    """Their environment cannot be read; the search goes on."""
    assert subprocess.run(["/bin/true"], check=True).returncode == 0
    assert list(reaper.marked("no-such-cluster")) == []
