"""The places in which a pod waits, and the moves between them.

Every move takes the pod out of where it is before it puts it elsewhere, so that a pod is in exactly one
place. Follows upstream `moveToActiveQ`, `moveToBackoffQ` and `requeuePodWithQueueingStrategy` in
`backend/queue/scheduling_queue.go` (1.36).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeAlias

from kubesched.clock import Clock
from kubesched.framework.interface import PreEnqueue
from kubesched.queue.backoff import BackoffQueue
from kubesched.queue.entry import Entry, Place
from kubesched.queue.gate import ask_pre_enqueue
from kubesched.queue.heap import EntryHeap, Less
from kubesched.queue.hints import Strategy
from kubesched.queue.labels import POP_FROM_BACKOFF
from kubesched.queue.unschedulable import UnschedulablePods

OnMove: TypeAlias = Callable[[Entry, Place, str], None]
"""Hears of every entry into a place, with the label of the event that caused it; for metrics and logs."""


class Places:
    """Active, backoff, unschedulable and gated pods; in flight is none of them."""

    def __init__(
        self,
        clock: Clock,
        less: Less,
        backoff: BackoffQueue,
        pre_enqueue: Mapping[str, Sequence[PreEnqueue]],
        *,
        pop_from_backoff: bool,
        on_move: OnMove | None,
    ) -> None:
        self.active = EntryHeap(less)
        self.backoff = backoff
        self.unschedulable = UnschedulablePods()
        self._clock = clock
        self._pre_enqueue = pre_enqueue
        self._pop_from_backoff = pop_from_backoff
        self._on_move = on_move

    def __iter__(self) -> Iterator[Entry]:
        return chain(self.active, self.backoff, self.unschedulable)

    def get(self, uid: str) -> Entry | None:
        """The entry, wherever it waits."""
        return self.active.get(uid) or self.backoff.get(uid) or self.unschedulable.get(uid)

    def where(self, uid: str) -> Place | None:
        """The place where the pod waits."""
        if self.active.get(uid) is not None:
            return Place.ACTIVE
        if self.backoff.get(uid) is not None:
            return Place.BACKOFF
        entry = self.unschedulable.get(uid)
        if entry is None:
            return None
        return Place.GATED if entry.is_gated else Place.UNSCHEDULABLE

    def take_out(self, uid: str) -> None:
        """Remove the pod from where it waits, if it does."""
        for place in (self.active, self.backoff, self.unschedulable):
            if place.remove(uid) is not None:
                return

    def pop(self) -> Entry | None:
        """Take out the next pod to try; when none is active, the rejected one whose backoff ends first."""
        entry = self.active.pop()
        if entry is None and self._pop_from_backoff:
            entry = self.backoff.pop_early()
            if entry is not None:
                self._report(entry, Place.ACTIVE, POP_FROM_BACKOFF)
        return entry

    def requeue(self, entry: Entry, strategy: Strategy, event: str) -> Place:
        """Put a pod where the answer to an event sends it, and say where it went."""
        if strategy is Strategy.SKIP:
            return self._to_unschedulable(entry, event)
        if strategy is Strategy.AFTER_BACKOFF and self.backoff.is_backing_off(entry, self._clock.now()):
            return self._to_backoff(entry, event)
        return self.to_active(entry, event)

    def to_active(self, entry: Entry, event: str, *, from_backoff: bool = False) -> Place:
        """Make a pod active unless it is gated, and say where it went.

        PreEnqueue is not asked again on the way from backoff, if it was asked on the way there.
        """
        if not (from_backoff and self._pop_from_backoff):
            self._ask_pre_enqueue(entry)
        if entry.is_gated:
            return self._to_unschedulable(entry, event)
        if entry.initial_attempt_timestamp is None:
            entry.initial_attempt_timestamp = self._clock.now()
        self.take_out(entry.uid)
        self.active.push(entry)
        self._report(entry, Place.ACTIVE, event)
        return Place.ACTIVE

    def rejections(self) -> Counter[tuple[str, str]]:
        """How many waiting pods each (scheduler name, plugin) rejected last."""
        return Counter((entry.pod.scheduler_name, plugin) for entry in self for plugin in entry.rejectors)

    def _to_backoff(self, entry: Entry, event: str) -> Place:
        """PreEnqueue is asked here if pods may be popped from backoff."""
        if self._pop_from_backoff:
            self._ask_pre_enqueue(entry)
            if entry.is_gated:
                return self._to_unschedulable(entry, event)
        self.take_out(entry.uid)
        self.backoff.push(entry)
        self._report(entry, Place.BACKOFF, event)
        return Place.BACKOFF

    def _to_unschedulable(self, entry: Entry, event: str) -> Place:
        place = Place.GATED if entry.is_gated else Place.UNSCHEDULABLE
        stays = self.unschedulable.get(entry.uid) is not None
        self.take_out(entry.uid)
        self.unschedulable.push(entry)
        if not stays:
            self._report(entry, place, event)
        return place

    def _ask_pre_enqueue(self, entry: Entry) -> None:
        ask_pre_enqueue(self._pre_enqueue.get(entry.pod.scheduler_name, ()), entry)

    def _report(self, entry: Entry, place: Place, event: str) -> None:
        if self._on_move is not None:
            self._on_move(entry, place, event)
