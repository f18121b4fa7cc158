"""Lanes: each kind of traffic has its own limits, so that none starves another.

A burst of status patches must never delay a binding, nor events the lease (kubernetes/kubernetes#135900).
Every lane has a bound on requests in flight and a token bucket of its own, filled as `clientConnection` says;
upstream gives each of its clients such a bucket (`client-go/util/flowcontrol`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from kubesched.client.errors import UnreachableError
from kubesched.clock import Clock


class TokenBucket:
    """Lets `qps` requests per second through on average, and `burst` at once. A qps below 0 is no limit."""

    __slots__ = ("_burst", "_clock", "_filled_at", "_qps", "_tokens")

    def __init__(self, clock: Clock, qps: float, burst: int) -> None:
        self._clock = clock
        self._qps = qps
        self._burst = max(burst, 1)
        self._tokens = float(self._burst)
        self._filled_at = clock.now()

    async def take(self) -> None:
        """Wait for a token. Callers are served in the order in which they came."""
        delay = self.reserve()
        if delay > 0:
            await self._clock.sleep(delay)

    def reserve(self) -> float:
        """Take a token now, even from the future: the seconds to wait before using it."""
        if self._qps < 0:
            return 0.0
        now = self._clock.now()
        self._tokens = min(self._burst, self._tokens + (now - self._filled_at) * self._qps)
        self._filled_at = now
        self._tokens -= 1
        return max(0.0, -self._tokens / self._qps)


class NotLeadingError(UnreachableError):
    """The request was not sent: another replica may hold the lease by now."""

    def __init__(self) -> None:
        super().__init__("this replica does not hold the lease", sent=False)


class Lane:
    """One kind of traffic: its name, its rate, its bound on requests in flight, and how long one may take.

    `may_send` is asked at the last moment, when a request has waited for its turn: a process that was stopped
    for a while, or has lost its lease, must not write what it decided before.
    """

    __slots__ = ("_bucket", "_slots", "may_send", "name", "timeout")

    def __init__(self, name: str, bucket: TokenBucket, *, in_flight: int, timeout: float) -> None:
        self.name = name
        self.timeout = timeout
        self.may_send: Callable[[], bool] | None = None
        self._bucket = bucket
        self._slots = asyncio.Semaphore(in_flight)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold one of the lane's places, having waited for a token. Raises NotLeadingError."""
        async with self._slots:
            await self._bucket.take()
            if self.may_send is not None and not self.may_send():
                raise NotLeadingError
            yield


class Lanes:
    """The lanes of a scheduler."""

    def __init__(self, clock: Clock, *, qps: float, burst: int, lease_timeout: float) -> None:
        def lane(name: str, in_flight: int, timeout: float) -> Lane:
            return Lane(name, TokenBucket(clock, qps, burst), in_flight=in_flight, timeout=timeout)

        self.bind = lane("bind", 64, 40.0)
        self.status = lane("status", 16, 40.0)
        self.event = lane("event", 8, 40.0)
        self.lease = lane("lease", 2, lease_timeout)
        self.read = lane("read", 16, 60.0)
        self.review = lane("review", 8, 10.0)

    def guard(self, may_write: Callable[[], bool]) -> None:
        """Send bindings, status patches and evictions only while this says so."""
        self.bind.may_send = may_write
        self.status.may_send = may_write
