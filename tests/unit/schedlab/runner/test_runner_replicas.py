"""Ends of replicas mean what the test says; of a scheduler that nobody manages, that nothing can be said."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from schedlab.api.errors import ApiError
from schedlab.cluster import processes
from schedlab.history import History
from schedlab.operations.base import OperationError
from schedlab.runner.replicas import Replicas
from schedlab.runner.station import Setup

SLEEPER = """
import signal
signal.signal(signal.SIGTERM, lambda *_: exit(0))
print("up", flush=True)
signal.pause()
"""


class Replica:
    """A process that sleeps, started like a scheduler."""

    def __init__(self, name: str, directory: Path, *, elects: bool) -> None:
        self.spec = SimpleNamespace(name=name)
        self.config = {"leaderElection": {"leaderElect": elects, "resourceName": "mine"}}
        self.credential = f"by-{name}"
        self.log = directory / f"{name}.log"
        self.process = processes.start(name, [sys.executable, "-c", SLEEPER], log=self.log, env={})

    @property
    def alive(self) -> bool:
        return self.process.alive

    async def ended(self) -> str:
        return f"ended with {await self.process.wait()}"

    async def stop(self) -> None:
        await self.process.stop()


class Station:
    """Starts sleepers."""

    def __init__(self, directory: Path, *, elects: bool = True) -> None:
        self.spec = SimpleNamespace(name="mine")
        self.directory = directory
        self.elects = elects
        self.client = self
        self.asked: list[tuple[str, str]] = []
        self.discarded = False
        self.started: list[Replica] = []

    def replica(self) -> Replica:
        replica = Replica(f"mine-{len(self.started)}", self.directory, elects=self.elects)
        self.started.append(replica)
        return replica

    async def start_scheduler(self, setup: Setup, spec: Any) -> Replica:
        return self.replica()

    async def stop_scheduler(self) -> None:
        self.discarded = True
        await self.started[0].stop()

    async def request(self, verb: str, path: str) -> None:
        self.asked.append((verb, path))
        raise ApiError(f"{verb} {path}", 404, "NotFound", "no such lease")


@pytest.fixture
async def station(tmp_path: Path) -> AsyncIterator[Station]:
    """Whatever it starts ends with the test."""
    station = Station(tmp_path)
    yield station
    for replica in station.started:
        await replica.stop()


def replicas_on(station: Station) -> tuple[Replicas, History, list[Replica]]:
    history, kept = History(), list[Replica]()
    first = station.replica()
    replicas = Replicas(station, Setup(), first, history, kept=kept.append)  # type: ignore[arg-type]
    return replicas, history, kept


def events(history: History) -> list[tuple[str, str, int | None]]:
    return [(event.process, event.event, event.code) for event in history.processes]


async def until_up(replica: Replica) -> None:
    while b"up" not in replica.log.read_bytes():
        await asyncio.get_running_loop().run_in_executor(None, replica.log.stat)


async def test_an_end_nobody_asked_for_is_told(station: Station) -> None:
    """It makes the test inconclusive, and is in the record."""
    replicas, history, _ = replicas_on(station)
    station.started[0].process.signal(signal.SIGKILL)
    assert await replicas.ended() == "ended with -9"
    assert events(history) == [("mine-0", "ready", None), ("mine-0", "exited", -9)]
    await replicas.close()
    assert not station.discarded
    assert station.asked == []


async def test_managed_replicas_end_as_the_test_wants(station: Station) -> None:
    """Signals and exits are written down with the credential by which the audit log knows them."""
    replicas, history, kept = replicas_on(station)
    ended = asyncio.create_task(replicas.ended())
    assert await replicas.scale(2, None) == ["mine-0", "mine-1"]
    await until_up(station.started[0])
    replicas.signal("mine-0", signal.SIGTERM)
    while ("mine-0", "exited", 0) not in events(history):
        await asyncio.wait({ended}, timeout=0.01)
    assert not ended.done()
    assert replicas.names == ["mine-1"]
    assert ("mine-0", "signalled", None) in events(history)
    assert {event.credential for event in history.processes} == {"by-mine-0", "by-mine-1"}
    assert await replicas.restart("mine-0") == "mine-2"
    assert kept == station.started[1:]
    ended.cancel()
    await replicas.close()


async def test_nothing_is_left_of_managed_replicas(station: Station) -> None:
    """No process, stopped ones included; no lease that the next scheduler would have to wait for."""
    replicas, _, _ = replicas_on(station)
    await replicas.scale(2, None)
    replicas.signal("mine-1", signal.SIGSTOP)
    await replicas.close()
    assert [replica.alive for replica in station.started] == [False, False]
    assert station.discarded
    assert station.asked == [("DELETE", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/mine")]


async def test_replicas_need_an_election(tmp_path: Path) -> None:
    """Else all of them would schedule."""
    station = Station(tmp_path, elects=False)
    replicas, _, _ = replicas_on(station)
    with pytest.raises(OperationError, match="would all schedule"):
        await replicas.scale(2, None)
    await replicas.close()


async def test_mistakes_are_said(station: Station) -> None:
    """Fewer than there are; one that does not exist; one that has not ended; one that has."""
    replicas, _, _ = replicas_on(station)
    await replicas.scale(2, None)
    with pytest.raises(OperationError, match="2 replicas live already, not 1"):
        await replicas.scale(1, None)
    with pytest.raises(OperationError, match="no replica is called 'mine-7'"):
        replicas.signal("mine-7", signal.SIGKILL)
    with pytest.raises(OperationError, match="mine-1 has not ended"):
        await replicas.restart("mine-1")
    replicas.signal("mine-1", signal.SIGKILL)
    await station.started[1].process.wait()
    with pytest.raises(OperationError, match="mine-1 has ended with exit code -9"):
        replicas.signal("mine-1", signal.SIGCONT)
    await replicas.close()
