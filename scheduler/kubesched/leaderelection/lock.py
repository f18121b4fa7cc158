"""The lease as a lock: read it, create it, replace what was read.

Every update carries the resource version of the last read or write, so that a replica cannot overwrite what
it has not seen. Follows client-go `tools/leaderelection/resourcelock/leaselock.go` (1.36).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Protocol, TypeVar

import msgspec

from kubesched.clock import Clock
from kubesched.leaderelection.lease import Lease, LeaseSpec

T = TypeVar("T")


class LeaseError(Exception):
    """A request for the lease failed, or its answer never came: then it may still have been applied."""


class NotFoundError(LeaseError):
    """There is no lease yet, or no longer."""


class ConflictError(LeaseError):
    """Somebody else created or changed the lease first."""


class LeaseApi(Protocol):
    """The three requests of leader election, for one lease. All raise LeaseError when they fail."""

    async def get(self) -> Lease:
        """Read the lease. Raises NotFoundError."""
        ...

    async def create(self, lease: Lease) -> Lease:
        """Create the lease and give it back as stored; ConflictError if it exists."""
        ...

    async def update(self, lease: Lease) -> Lease:
        """Replace the lease if its resource version is still current; ConflictError if not."""
        ...


class LeaseLock:
    """One lease by name, and its version last seen. No request takes longer than `timeout` seconds."""

    def __init__(self, api: LeaseApi, clock: Clock, namespace: str, name: str, *, timeout: float) -> None:
        self.namespace = namespace
        self.name = name
        self._api = api
        self._clock = clock
        self._timeout = timeout
        self._seen: Lease | None = None

    @property
    def lease(self) -> Lease:
        """The lease as last seen, for events about it."""
        return self._seen or Lease(metadata={"namespace": self.namespace, "name": self.name})

    async def get(self) -> LeaseSpec:
        """Read the lease."""
        self._seen = await self._timely(self._api.get())
        return self._seen.spec

    async def create(self, spec: LeaseSpec) -> None:
        """Create the lease."""
        fresh = Lease(metadata={"namespace": self.namespace, "name": self.name}, spec=spec)
        self._seen = await self._timely(self._api.create(fresh))

    async def update(self, spec: LeaseSpec) -> None:
        """Replace the lease last seen."""
        if self._seen is None:
            raise LeaseError("lease not initialized, call get or create first")
        replaced = msgspec.structs.replace(self._seen, spec=spec)
        self._seen = await self._timely(self._api.update(replaced))

    async def _timely(self, request: Awaitable[T]) -> T:
        return await within(self._clock, self._timeout, request)


async def within(clock: Clock, seconds: float, work: Awaitable[T]) -> T:
    """Await something, but no longer than that by this clock; then cancel it and raise LeaseError."""
    task = asyncio.ensure_future(work)
    timer = asyncio.ensure_future(clock.sleep(seconds))
    try:
        await asyncio.wait({task, timer}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise LeaseError(f"no answer within {seconds:g}s")
    finally:
        task.cancel()
        timer.cancel()
        await asyncio.gather(task, timer, return_exceptions=True)
