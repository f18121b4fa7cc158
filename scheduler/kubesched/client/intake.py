"""What waits for the scheduling loop: changes of the cluster and results of its requests, as they arrived.

Many tasks put, one loop drains. Everything that changes state goes through here, so between two cycles the
loop sees one ordered batch and nothing changes under a cycle that is running.
"""

from __future__ import annotations

import asyncio
from typing import Literal, NamedTuple

from kubesched.api.objects import Object
from kubesched.clock import Clock


class Change(NamedTuple):
    """One object's step, with the object as it was last delivered (`old`, None when it is new).

    Sequences per object are sound: ADDED, then any MODIFIED, then DELETED; another UID under the same name is
    another object.
    """

    type: Literal["ADDED", "MODIFIED", "DELETED"]
    object: Object
    old: Object | None = None


class Intake:
    """A buffer that one loop drains."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._items: list[object] = []
        self._filled = asyncio.Event()

    def put(self, item: object) -> None:
        """Add at the end; never blocks."""
        self._items.append(item)
        self._filled.set()

    def wake(self) -> None:
        """End a wait although nothing arrived."""
        self._filled.set()

    def drain(self) -> list[object]:
        """Everything that arrived since the last call, oldest first."""
        items, self._items = self._items, []
        self._filled.clear()
        return items

    async def wait(self, until: float | None) -> None:
        """Return when something is there, or when the clock's `now()` reaches `until`."""
        if self._items:
            return
        filled = asyncio.ensure_future(self._filled.wait())
        waiters = [filled]
        if until is not None:
            waiters.append(asyncio.ensure_future(self._deadline(until)))
        try:
            await asyncio.wait(waiters, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for waiter in waiters:
                waiter.cancel()

    async def _deadline(self, until: float) -> Literal[True]:
        await self._clock.sleep(max(0.0, until - self._clock.now()))
        return True

    def __len__(self) -> int:
        return len(self._items)
