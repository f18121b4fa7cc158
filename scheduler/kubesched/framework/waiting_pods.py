"""Pods that a Permit plugin asked to wait: reachable by plugins, released once, bounded in time.

Follows upstream `framework/runtime/waiting_pods_map.go` (1.36).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kubesched.framework.status import Code, Status

if TYPE_CHECKING:
    from kubesched.api.objects import Pod
    from kubesched.clock import Clock

MAX_WAIT = 15 * 60.0
"""No Permit plugin makes a pod wait longer than this many seconds."""


class WaitingPod:
    """One pod between Permit and binding; the first verdict counts."""

    def __init__(self, pod: Pod, timeouts: Mapping[str, float], clock: Clock) -> None:
        self.pod = pod
        self._clock = clock
        self._since = clock.now()
        self._timeouts = dict(timeouts)
        self._verdict: Status | None = None
        self._decided = asyncio.Event()

    @property
    def pending_plugins(self) -> list[str]:
        """The plugins that have not allowed the pod yet."""
        return list(self._timeouts)

    def allow(self, plugin: str) -> None:
        """Withdraw one plugin's objection; the last one releases the pod."""
        self._timeouts.pop(plugin, None)
        if not self._timeouts:
            self._decided.set()

    def reject(self, plugin: str, message: str) -> bool:
        """End the wait with a rejection; False when it had already ended."""
        return self._decide(Status(Code.Unschedulable, (message,), plugin))

    def preempt(self, plugin: str, message: str) -> bool:
        """End the wait because a preemptor takes the place; False when it had already ended."""
        return self._decide(Status(Code.Error, (message,), plugin))

    async def verdict(self) -> Status | None:
        """Wait until every plugin allows the pod, one rejects it, or one plugin's timeout passes."""
        timer = asyncio.ensure_future(self._expire())
        try:
            await self._decided.wait()
        finally:
            timer.cancel()
        return self._verdict

    def _decide(self, status: Status) -> bool:
        if self._decided.is_set():
            return False
        self._verdict = status
        self._decided.set()
        return True

    async def _expire(self) -> None:
        while not self._decided.is_set():
            plugin, seconds = min(self._timeouts.items(), key=lambda item: item[1])
            left = self._since + seconds - self._clock.now()
            if left > 0:
                await self._clock.sleep(left)
            elif plugin in self._timeouts:
                text = f"rejected due to timeout after waiting {go_duration(seconds)} at plugin {plugin}"
                self.reject(plugin, text)


class WaitingPods:
    """The waiting pods of all profiles, by uid."""

    def __init__(self) -> None:
        self._by_uid: dict[str, WaitingPod] = {}

    def add(self, waiting: WaitingPod) -> None:
        """Make the pod reachable for plugins."""
        self._by_uid[waiting.pod.uid] = waiting

    def remove(self, uid: str) -> None:
        """Forget the pod; its wait is over."""
        self._by_uid.pop(uid, None)

    def get(self, uid: str) -> WaitingPod | None:
        """The waiting pod, or None when it does not wait."""
        return self._by_uid.get(uid)

    def __iter__(self) -> Iterator[WaitingPod]:
        return iter(list(self._by_uid.values()))

    def reject(self, uid: str) -> bool:
        """Reject one pod because it is gone; False when it was not waiting."""
        waiting = self._by_uid.get(uid)
        return waiting is not None and waiting.reject("", "removed")


def go_duration(seconds: float) -> str:
    """The duration as Go prints it, since messages carry it: 0.1 is 100ms, 90 is 1m30s, 3600 is 1h0m0s."""
    if seconds < 1:
        return f"{seconds * 1000:g}ms" if seconds else "0s"
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(int(minutes), 60)
    if hours:
        return f"{hours}h{minutes}m{rest:g}s"
    return f"{minutes}m{rest:g}s" if minutes else f"{rest:g}s"
