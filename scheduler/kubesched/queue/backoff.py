"""Pods that wait for time to pass before another attempt.

A rejected pod waits 1, 2, 4, 8, 10, 10 … seconds (by its number of rejections), so that it does not waste
cycles; a pod that met an error waits as long by its errors in a row, so that a struggling API server is left
in peace. The two wait apart: when the active queue is empty the scheduler takes the next rejected pod before
its time (SchedulerPopFromBackoffQ), never one that met an error.

With that gate, expirations are aligned down to windows of one second: within a window pods leave in
QueueSort's order, and a window is released as a whole when the next one has begun. Follows upstream
`backend/queue/backoff_queue.go` (1.36) and KEP-5142.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from kubesched.queue.entry import Entry
from kubesched.queue.heap import EntryHeap, Less

_NEVER_BACKING_OFF = -math.inf
_MAX_EXPONENT = 62
"""Doubling stops mattering long before: any maximum in seconds is below 2 ** 62."""


def backoff_duration(count: int, initial: float, maximum: float) -> float:
    """Seconds to wait after the `count`-th failure: `initial`, doubled each time, at most `maximum`."""
    if count == 0:
        return 0.0
    return min(math.ldexp(initial, min(count - 1, _MAX_EXPONENT)), maximum)


class BackoffQueue:
    """Rejected pods and pods that met an error, each ordered by the end of their backoff."""

    def __init__(self, less: Less, *, initial: float, maximum: float, aligned: bool) -> None:
        """`aligned` rounds expirations down to whole seconds and orders each second by `less`."""
        self._initial = initial
        self._maximum = maximum
        self._aligned = aligned
        self._less = less
        self._rejected = EntryHeap(self._less_in_window if aligned else self._less_expiration)
        self._failed = EntryHeap(self._less_expiration)

    def __len__(self) -> int:
        return len(self._rejected) + len(self._failed)

    def __iter__(self) -> Iterator[Entry]:
        yield from self._rejected
        yield from self._failed

    def expiration(self, entry: Entry) -> float:
        """When the entry's backoff ends; minus infinity if it has none."""
        count = entry.consecutive_errors or entry.unschedulable_count
        if self._maximum == 0 or count == 0:
            return _NEVER_BACKING_OFF
        if entry.backoff_expiration is None:
            end = entry.timestamp + backoff_duration(count, self._initial, self._maximum)
            entry.backoff_expiration = math.floor(end) if self._aligned else end
        return entry.backoff_expiration

    def is_backing_off(self, entry: Entry, now: float) -> bool:
        """Whether the entry has to wait; a pod whose window is the current one still has."""
        return self.expiration(entry) >= (math.floor(now) if self._aligned else now)

    def push(self, entry: Entry) -> None:
        """Let the entry wait among the rejected, or, if nobody rejected it, among the failed."""
        (self._rejected if entry.rejectors else self._failed).push(entry)

    def get(self, uid: str) -> Entry | None:
        """The entry if it waits here."""
        return self._rejected.get(uid) or self._failed.get(uid)

    def remove(self, uid: str) -> Entry | None:
        """Take the entry out if it waits here."""
        return self._rejected.remove(uid) or self._failed.remove(uid)

    def reorder(self, uid: str) -> None:
        """Restore the order after the pod of a waiting entry changed; only among the rejected it matters."""
        if self._rejected.get(uid) is not None:
            self._rejected.reorder(uid)

    def pop_early(self) -> Entry | None:
        """Take out the rejected pod whose backoff ends first, long before it ends; never a failed one."""
        return self._rejected.pop()

    def pop_completed(self, now: float) -> list[Entry]:
        """Take out every pod whose backoff is over."""
        completed: list[Entry] = []
        for heap in (self._rejected, self._failed):
            while (entry := heap.peek()) is not None and self._release(entry) <= now:
                completed.append(entry)
                heap.remove(entry.uid)
        return completed

    def next_release(self) -> float | None:
        """When `pop_completed` will next find a pod."""
        heads = [heap.peek() for heap in (self._rejected, self._failed)]
        return min((self._release(entry) for entry in heads if entry is not None), default=None)

    def _release(self, entry: Entry) -> float:
        """The whole second at which upstream's flush, which runs once a second, lets the entry go."""
        end = self.expiration(entry)
        return end if end == _NEVER_BACKING_OFF else math.floor(end) + 1

    def _less_expiration(self, left: Entry, right: Entry) -> bool:
        return self.expiration(left) < self.expiration(right)

    def _less_in_window(self, left: Entry, right: Entry) -> bool:
        ends, other_ends = self.expiration(left), self.expiration(right)
        return ends < other_ends or (ends == other_ends and self._less(left, right))
