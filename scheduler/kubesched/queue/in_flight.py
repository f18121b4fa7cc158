"""Pods that were popped, and the events that arrived since.

A pod that is being tried is in no queue, so an event that would have woken it would be lost. Therefore every
event is logged while any attempt is open, each attempt remembers where in the log it began, and a pod that
comes back rejected is first shown what happened meanwhile. What no open attempt needs any more is dropped
at once: the log holds the events since the oldest open attempt and nothing else.

The newest version of the pod, and whether it still exists, are kept until its binding has ended, since the
watch goes on meanwhile. Follows upstream `backend/queue/active_queue.go` (1.36), where both come from the
informer's cache.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from kubesched.api.objects import Pod
from kubesched.queue.entry import Entry
from kubesched.state.events import ClusterEvent

_POPPED = "PodPopped"


@dataclass(slots=True, eq=False)
class Flight:
    """One popped pod: its entry, its newest version, and whether it has left the queue's care."""

    entry: Entry
    pod: Pod
    gone: bool = False
    """The pod was deleted, or bound by somebody else: it must not come back."""


class InFlight:
    """Popped pods by uid, and the log of events since the oldest open attempt."""

    __slots__ = ("_began", "_events", "_first", "_flights")

    def __init__(self) -> None:
        self._flights: dict[str, Flight] = {}
        self._began: dict[str, int] = {}  # position in the log, ascending: attempts are opened in order
        self._events: deque[ClusterEvent] = deque()
        self._first = 0  # position of the oldest event kept

    def __len__(self) -> int:
        return len(self._flights)

    def __iter__(self) -> Iterator[Flight]:
        return iter(self._flights.values())

    @property
    def event_count(self) -> int:
        """How many events are kept for open attempts."""
        return len(self._events)

    def counts(self) -> dict[str, int]:
        """What upstream's log would hold, by the event's name; each open attempt is an entry, too."""
        found = {_POPPED: len(self._began)}
        for event in self._events:
            found[event.title] = found.get(event.title, 0) + 1
        return found

    def get(self, uid: str) -> Flight | None:
        """The flight of a popped pod."""
        return self._flights.get(uid)

    def start(self, entry: Entry) -> None:
        """Open an attempt: from now on events are kept for this pod."""
        self._flights[entry.uid] = Flight(entry, entry.pod)
        self._began[entry.uid] = self._first + len(self._events)

    def record(self, event: ClusterEvent) -> None:
        """Log an event if any attempt is open."""
        if self._began:
            self._events.append(event)

    def is_open(self, uid: str) -> bool:
        """Whether events are still kept for this pod."""
        return uid in self._began

    def events_since_start(self, uid: str) -> list[ClusterEvent] | None:
        """What happened since the attempt began, oldest first; None if it is no longer open."""
        began = self._began.get(uid)
        return None if began is None else list(islice(self._events, began - self._first, None))

    def close(self, uid: str) -> None:
        """Stop keeping events for this pod; it stays in flight until it is landed."""
        if self._began.pop(uid, None) is None:
            return
        needed = next(iter(self._began.values()), self._first + len(self._events))
        while self._first < needed:
            self._events.popleft()
            self._first += 1

    def land(self, uid: str) -> Flight | None:
        """Forget the pod: its attempt and its binding are over."""
        self.close(uid)
        return self._flights.pop(uid, None)
