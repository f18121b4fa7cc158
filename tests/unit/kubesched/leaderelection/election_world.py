"""An election under virtual time: one store for the lease, replicas with clocks of their own, and faults."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from random import Random

import msgspec

from kubesched.clock import VirtualClock
from kubesched.leaderelection import (
    Callbacks,
    ConflictError,
    ElectionSettings,
    LeaderElector,
    Lease,
    LeaseError,
    LeaseLock,
    LeaseSpec,
    NotFoundError,
)

LONG_AGO = "2020-01-01T00:00:00.000000Z"


def spec(holder: str | None, *, seconds: int | None = 15, transitions: int | None = 0) -> LeaseSpec:
    return LeaseSpec(
        holder_identity=holder,
        lease_duration_seconds=seconds,
        acquire_time=LONG_AGO,
        renew_time=LONG_AGO,
        lease_transitions=transitions,
    )


class ReplicaClock:
    """A clock that is off: `now` and `wall` by an offset, both by a rate; and that can stand still.

    A stopped process's clock runs on, as a machine's does, but no sleep ends before the process is continued.
    """

    def __init__(
        self, world: VirtualClock, *, offset: float = 0.0, rate: float = 1.0, wall_offset: float = 0.0
    ) -> None:
        self._world, self._offset, self._rate, self._wall_offset = world, offset, rate, wall_offset
        self.running = asyncio.Event()
        self.running.set()

    def now(self) -> float:
        return self._offset + self._world.now() * self._rate

    def wall(self) -> float:
        return self._world.wall() * self._rate + self._wall_offset

    async def sleep(self, seconds: float) -> None:
        await self._world.sleep(seconds / self._rate)
        await self.running.wait()


class Store:
    """The API server's one lease, with optimistic concurrency, and a log of the writes."""

    def __init__(self, clock: VirtualClock, spec: LeaseSpec | None = None) -> None:
        self.clock = clock
        self.lease: Lease | None = None
        self.writes: list[tuple[float, str, str, int]] = []
        self._version = 100
        if spec is not None:
            self.edit(spec)

    @property
    def spec(self) -> LeaseSpec:
        assert self.lease is not None
        return self.lease.spec

    @property
    def holder(self) -> str:
        return self.spec.holder

    def edit(self, spec: LeaseSpec | None, **metadata: object) -> None:
        """Somebody changes or deletes the lease behind everybody's back."""
        if spec is None:
            self.lease = None
        else:
            self._store(
                Lease(metadata={**(self.lease.metadata if self.lease else {}), **metadata}, spec=spec)
            )

    def get(self) -> Lease:
        if self.lease is None:
            raise NotFoundError("404")
        return self.lease

    def create(self, lease: Lease) -> Lease:
        if self.lease is not None:
            raise ConflictError("409 AlreadyExists")
        return self._written("create", self._store(lease))

    def update(self, lease: Lease) -> Lease:
        if self.lease is None:
            raise NotFoundError("404")
        if lease.metadata["resourceVersion"] != self.lease.metadata["resourceVersion"]:
            raise ConflictError("409")
        return self._written("update", self._store(lease))

    def _store(self, lease: Lease) -> Lease:
        self._version += 1
        metadata = {**lease.metadata, "resourceVersion": str(self._version)}
        self.lease = msgspec.structs.replace(lease, metadata=metadata)
        return self.lease

    def _written(self, verb: str, lease: Lease) -> Lease:
        self.writes.append((self.clock.now(), verb, lease.spec.holder, lease.spec.lease_transitions or 0))
        return lease


class Client:
    """One replica's way to the store, with its faults."""

    def __init__(self, store: Store, clock: ReplicaClock) -> None:
        self._store, self._clock = store, clock
        self.requests: list[str] = []
        self.latency = 0.0
        self.refuses: set[str] = set()
        """Requests that fail: get, create, update."""
        self.hangs = False
        """No request is ever answered, nor applied."""
        self.loses_replies = False
        """Writes are applied, and never answered."""

    async def get(self) -> Lease:
        return await self._request("get", self._store.get)

    async def create(self, lease: Lease) -> Lease:
        return await self._request("create", lambda: self._store.create(lease))

    async def update(self, lease: Lease) -> Lease:
        return await self._request("update", lambda: self._store.update(lease))

    async def _request(self, verb: str, apply: Callable[[], Lease]) -> Lease:
        self.requests.append(verb)
        await self._clock.sleep(self.latency / 2)
        if self.hangs:
            await asyncio.Event().wait()
        if verb in self.refuses:
            raise LeaseError(f"500 {verb}")
        answer = apply()
        if self.loses_replies and verb != "get":
            await asyncio.Event().wait()
        await self._clock.sleep(self.latency / 2)
        return answer


STARTED: list[Replica] = []
"""Every replica of the test that runs now; the fixture in conftest.py ends them."""


class Replica:
    """One scheduler: its elector, what it was told, and whether its work runs."""

    def __init__(
        self,
        store: Store,
        name: str,
        clock: ReplicaClock | None = None,
        seed: int = 0,
        **durations: float,
    ) -> None:
        self.name = name
        self.clock = clock or ReplicaClock(store.clock)
        self.client = Client(store, self.clock)
        self.settings = ElectionSettings(name, **durations)
        self.heard: list[str] = []
        self.working = False
        self.finished = asyncio.Event()
        self.last_words: Callable[[], Awaitable[None]] | None = None
        """What the work does after it was cancelled, before it ends."""
        self._seed = seed
        self.elector = self._elector()
        self.task: asyncio.Task[bool] | None = None

    def _elector(self) -> LeaderElector:
        lock = LeaseLock(
            self.client, self.clock, "kube-system", "kube-scheduler", timeout=self.settings.request_timeout
        )
        callbacks = Callbacks(
            started=lambda: self.heard.append("started"),
            stopped=lambda: self.heard.append("stopped"),
            new_leader=lambda leader: self.heard.append(f"leader {leader}"),
            event=lambda text: self.heard.append(f"event {text}"),
        )
        return LeaderElector(lock, self.settings, self.clock, Random(self._seed), callbacks)

    def start(self) -> Replica:
        """Start the process, or start it again."""
        if self.task is not None:
            self.elector = self._elector()
        STARTED.append(self)
        self.task = asyncio.ensure_future(self.elector.run(self._work))
        return self

    @property
    def may_write(self) -> bool:
        return self.elector.may_write()

    async def _work(self) -> None:
        self.working = True
        try:
            await self.finished.wait()
        except asyncio.CancelledError:
            if self.last_words is not None:
                await self.last_words()
            raise
        finally:
            self.working = False


async def settle(clock: VirtualClock) -> None:
    """Let every task run until it waits for time or for somebody else."""
    ready = asyncio.get_running_loop()._ready
    await clock.sleep(0)
    while ready:
        await clock.sleep(0)


async def elapse(clock: VirtualClock, seconds: float, check: Callable[[], None] | None = None) -> None:
    """Let that much time pass, waking every sleeper at its own moment; `check` looks in between."""
    end = clock.now() + seconds
    await settle(clock)
    while clock.now() < end:
        next_wake = clock.next_deadline()
        step = (end if next_wake is None else min(end, next_wake)) - clock.now()
        clock.advance(max(step, 1e-9))  # a rounding error must not make time stand still
        await settle(clock)
        if check is not None:
            check()


async def stop_all(*replicas: Replica) -> None:
    """End the tests' tasks."""
    tasks = [replica.task for replica in replicas if replica.task is not None]
    for task in tasks:
        task.cancel()
        task.cancel()
    for replica in replicas:
        replica.clock.running.set()
        replica.finished.set()
        replica.last_words = None
    pending = {task for task in tasks if not task.done()}
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=0)
