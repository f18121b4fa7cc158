"""Time as something given: the core never asks the machine what time it is.

`SystemClock` is the real one. `VirtualClock` stands still until somebody advances it, and wakes sleepers in
the order of their deadlines; tests, `simulate` and `explain` run on it.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from itertools import count
from typing import Protocol


class Clock(Protocol):
    """What the core may know about time. All figures are seconds."""

    def now(self) -> float:
        """Monotonic seconds: for durations, backoff and deadlines."""
        ...

    def wall(self) -> float:
        """Seconds since the epoch: for timestamps that other programs read."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after that many seconds of this clock."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        """Monotonic seconds since an arbitrary start."""
        return time.monotonic()  # noqa: TID251 - the one place that reads the machine's clock

    def wall(self) -> float:
        """Seconds since the epoch."""
        return time.time()  # noqa: TID251 - the one place that reads the machine's clock

    async def sleep(self, seconds: float) -> None:
        """Suspend the calling task."""
        await asyncio.sleep(seconds)  # noqa: TID251 - the one place that sleeps


class VirtualClock:
    """A clock that moves only by `advance`.

    `wall` starts at `epoch` (seconds since 1970) when `now` is 0.
    """

    def __init__(self, start: float = 0.0, *, epoch: float = 1_600_000_000.0) -> None:
        self._now = start
        self._epoch = epoch
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = count()

    def now(self) -> float:
        """Seconds since 0, as far as the clock was advanced."""
        return self._now

    def wall(self) -> float:
        """Seconds since the epoch, moving with `now`."""
        return self._epoch + self._now

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock was advanced by that much; zero or less only yields to other tasks."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if seconds <= 0:
            asyncio.get_running_loop().call_soon(_wake, future)
        else:
            heapq.heappush(self._sleepers, (self._now + seconds, next(self._order), future))
        await future

    def advance(self, seconds: float) -> None:
        """Move time forward and wake every sleeper whose deadline was passed, earliest first.

        The woken tasks run when the loop next gets to run; what they then ask of the clock is the new time.
        Raises ValueError for a negative step.
        """
        if seconds < 0:
            raise ValueError(f"a clock does not go back: {seconds}")
        self._now += seconds
        while self._sleepers and self._sleepers[0][0] <= self._now:
            _wake(heapq.heappop(self._sleepers)[2])

    def next_deadline(self) -> float | None:
        """The time at which the next sleeper wakes, or None if nobody sleeps."""
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)
        return self._sleepers[0][0] if self._sleepers else None


def _wake(future: asyncio.Future[None]) -> None:
    """Complete the sleeper's future, unless its task was cancelled."""
    if not future.done():
        future.set_result(None)
