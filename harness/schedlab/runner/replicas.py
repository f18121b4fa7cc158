"""The processes of the scheduler under test, from one to as many as a test asks for.

A test that never touches them has one, and its unexpected end makes the test inconclusive. Once a test starts
replicas or signals one, it manages them itself: ends are written into the history, for assertions to judge.
"""

from __future__ import annotations

import asyncio
import signal as signals
from collections.abc import Callable

from schedlab import timing
from schedlab.api.errors import ApiError
from schedlab.history.entries import ProcessChange, ProcessEvent
from schedlab.history.history import History
from schedlab.operations.base import OperationError
from schedlab.runner.station import Setup, Station
from schedlab.schedulers.declaration import SchedulerSpec, declared
from schedlab.schedulers.running import RunningScheduler
from schedlab.suite.positions import did_you_mean

Kept = Callable[[RunningScheduler], None]


class Replicas:
    """All schedulers of one test. `kept` is told of each one that is started, to keep its log."""

    def __init__(
        self, station: Station, setup: Setup, first: RunningScheduler, history: History, kept: Kept
    ) -> None:
        self.managed = False
        self._station = station
        self._setup = setup
        self._first = first
        self._history = history
        self._kept = kept
        self._running: dict[str, RunningScheduler] = {first.process.name: first}
        self._watchers: list[asyncio.Task[None]] = []
        self._note(first, "ready")

    @property
    def names(self) -> list[str]:
        """The processes that live, oldest first; stopped ones included."""
        return [name for name, replica in self._running.items() if replica.alive]

    async def ended(self) -> str:
        """What there is to say about the scheduler's end, once it has ended and nobody meant it to."""
        words = await self._first.ended()
        if self.managed:
            await asyncio.Event().wait()
        self._note(self._first, "exited", code=self._first.process.returncode)
        return words

    async def scale(self, count: int, program: str | None) -> list[str]:
        """Start replicas until `count` of them live; of another scheduler if `program` names one.

        Raises:
            OperationError: more than that live already, or they would all schedule at once.
            EnvironmentStartError: one does not start.
        """
        self._manage()
        self._require_election()
        if len(self.names) > count:
            raise OperationError(
                f"{len(self.names)} replicas live already, not {count}", hint="signal those that shall end"
            )
        spec = declared(program) if program is not None else self._station.spec
        missing = count - len(self.names)
        await asyncio.gather(*(self._start(spec) for _ in range(missing)))
        return self.names

    async def restart(self, name: str) -> str:
        """Start another process of the same scheduler in the place of one that has ended; returns its name.

        Raises:
            OperationError: it still lives, or never did.
        """
        self._manage()
        ended = self._named(name)
        if ended.alive:
            raise OperationError(f"{name} has not ended", hint="signal it first, and wait for its exit")
        return await self._start(ended.spec)

    def signal(self, name: str, number: signals.Signals) -> None:
        """Send a signal to a process.

        Raises:
            OperationError: no such process lives.
        """
        self._manage()
        replica = self._named(name)
        if not replica.alive:
            raise OperationError(f"{name} has ended with exit code {replica.process.returncode}")
        replica.process.signal(number)
        self._note(replica, "signalled", detail=number.name)

    async def close(self) -> None:
        """End the replicas; a test that managed them leaves none, and no lease of theirs."""
        for watcher in self._watchers:
            watcher.cancel()
        await asyncio.gather(*self._watchers, return_exceptions=True)
        if not (self.managed or self._setup.proxy):
            return
        others = [replica for replica in self._running.values() if replica is not self._first]
        await asyncio.gather(*(replica.stop() for replica in others))
        await self._station.stop_scheduler()
        await self._forget_lease()

    def _manage(self) -> None:
        if not self.managed:
            self.managed = True
            self._watch(self._first)

    def _require_election(self) -> None:
        if not (self._first.config.get("leaderElection") or {}).get("leaderElect"):
            raise OperationError(
                "several replicas without leader election would all schedule",
                hint="set spec.scheduler.config.leaderElection.leaderElect to true",
            )

    async def _start(self, spec: SchedulerSpec) -> str:
        replica = await self._station.start_scheduler(self._setup, spec)
        name = replica.process.name
        self._running[name] = replica
        self._kept(replica)
        self._note(replica, "ready")
        self._watch(replica)
        return name

    def _watch(self, replica: RunningScheduler) -> None:
        name = replica.process.name
        self._watchers.append(asyncio.create_task(self._exit_of(replica), name=f"exit of {name}"))

    async def _exit_of(self, replica: RunningScheduler) -> None:
        await replica.process.wait()
        self._note(replica, "exited", code=replica.process.returncode)

    def _named(self, name: str) -> RunningScheduler:
        if name not in self._running:
            raise OperationError(
                f"no replica is called {name!r}", hint=did_you_mean(name, list(self._running))
            )
        return self._running[name]

    def _note(
        self, replica: RunningScheduler, event: ProcessChange, *, code: int | None = None, detail: str = ""
    ) -> None:
        self._history.append(
            ProcessEvent(
                at=timing.now(),
                process=replica.process.name,
                event=event,
                pid=replica.process.pid,
                code=code,
                detail=detail,
                credential=replica.credential,
            )
        )

    async def _forget_lease(self) -> None:
        """Delete the lease, so that the next scheduler does not wait for it to expire."""
        election = self._first.config.get("leaderElection") or {}
        namespace = election.get("resourceNamespace") or "kube-system"
        name = election.get("resourceName") or "kube-scheduler"
        try:
            await self._station.client.request(
                "DELETE", f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}"
            )
        except ApiError as error:
            if error.status != 404:
                raise
