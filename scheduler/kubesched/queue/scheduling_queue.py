"""The scheduling queue: which pod is tried next, and when a rejected one is tried again.

A pod is in exactly one place. It enters `active` unless a PreEnqueue plugin gates it, is popped and is then
in flight; if the attempt fails it comes back: to `unschedulable`, there to wait for an event that concerns
a plugin that rejected it, or, when such an event has come already or the failure was an error, to `backoff`
or straight to `active`.

                add                     pop
     gated ◀──────────▶ active ─────────────────▶ in flight ──▶ done
       ▲                 ▲    ▲                       │ add_unschedulable
       │            time │    │ event, no backoff     ▼
       └──────────── backoff ◀─────────────── unschedulable

Nothing here does I/O or waits: the loop asks for the next pod and for the time at which asking again is
worth while. Follows upstream `backend/queue/scheduling_queue.go` (1.36) with queueing hints on (locked since
1.34). It differs in three points. Pods are known by uid, so a pod that is recreated under its name is
another pod. A pod in flight is remembered until its binding has ended, so one that vanished meanwhile does
not come back. An event visits only pods rejected by a plugin that registered it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count

from kubesched import logs
from kubesched.api.objects import Pod
from kubesched.clock import Clock
from kubesched.framework.interface import PreEnqueue
from kubesched.queue.backoff import BackoffQueue
from kubesched.queue.entry import Entry, Place
from kubesched.queue.heap import Less
from kubesched.queue.hints import HintMap, Observe, Registrations, Strategy
from kubesched.queue.in_flight import InFlight
from kubesched.queue.labels import BACKOFF_COMPLETE, SCHEDULE_ATTEMPT_FAILURE
from kubesched.queue.pending import Pending
from kubesched.queue.places import OnMove, Places
from kubesched.state.events import (
    FORCE_ACTIVATE,
    UNSCHEDULABLE_TIMEOUT,
    UNSCHEDULED_POD_ADD,
    UNSCHEDULED_POD_UPDATE,
    ClusterEvent,
    pod_changes,
)

_log = logs.get(__name__)

LEFTOVER_FLUSH_PERIOD = 30.0
"""Seconds between two looks for pods that no event has woken for too long."""

_QUEUED = frozenset({Place.ACTIVE, Place.BACKOFF})
_NO_HINTS = HintMap({})


class SchedulingQueue:
    """Every pod that waits for a node, and those being tried right now."""

    def __init__(
        self,
        clock: Clock,
        hints: Mapping[str, Registrations],
        *,
        less: Less,
        pre_enqueue: Mapping[str, Sequence[PreEnqueue]],
        initial_backoff: float = 1.0,
        max_backoff: float = 10.0,
        max_in_unschedulable: float = 300.0,
        pop_from_backoff: bool = True,
        on_move: OnMove | None = None,
        on_hint: Observe | None = None,
    ) -> None:
        """`hints` and `pre_enqueue` are keyed by scheduler name; `less` is QueueSort's, the same for all.

        `max_backoff` 0 switches backoff off. Durations are seconds.
        """
        self._clock = clock
        self._hints = {name: HintMap(registered, clock.now, on_hint) for name, registered in hints.items()}
        self._max_in_unschedulable = max_in_unschedulable
        backoff = BackoffQueue(less, initial=initial_backoff, maximum=max_backoff, aligned=pop_from_backoff)
        self._places = Places(
            clock, less, backoff, pre_enqueue, pop_from_backoff=pop_from_backoff, on_move=on_move
        )
        self._in_flight = InFlight()
        self._stamps = count()
        self._next_leftover_flush = clock.now() + LEFTOVER_FLUSH_PERIOD
        self._closed = False

    # Pods come and go

    def add(self, pod: Pod) -> None:
        """Take in an unassigned pod of one of the profiles; a pod that is known already is updated."""
        flight, entry = self._in_flight.get(pod.uid), self._places.get(pod.uid)
        known = flight.pod if flight is not None else entry.pod if entry is not None else None
        if known is None:
            self._activate_new(pod, UNSCHEDULED_POD_ADD)
        else:
            self.update(known, pod)

    def update(self, old: Pod, new: Pod) -> None:
        """Replace a pod wherever it is, and wake it if one of its rejectors finds the change worth while.

        A pod in flight is not touched; the change is kept for its return. An unknown pod is added, so that
        a missed add event is made good (k8s #102790). A different uid is a different pod.
        """
        if old.uid != new.uid:
            self.delete(old)
            self.add(new)
            return
        flight = self._in_flight.get(new.uid)
        if flight is not None:
            flight.pod, flight.gone = new, False
            if self._in_flight.is_open(new.uid):
                for event in pod_changes(old, new):
                    self._in_flight.record(event)
            return
        for waiting in (self._places.active, self._places.backoff):
            entry = waiting.get(new.uid)
            if entry is not None:
                entry.pod = new
                waiting.reorder(new.uid)
                return
        entry = self._places.unschedulable.get(new.uid)
        if entry is None:
            self._activate_new(new, UNSCHEDULED_POD_UPDATE)
        else:
            entry.pod = new
            for event in pod_changes(old, new):
                if self._wakes(entry, event):
                    break

    def delete(self, pod: Pod) -> None:
        """Forget a pod that was deleted or bound; if it is in flight it will not come back."""
        flight = self._in_flight.get(pod.uid)
        if flight is not None:
            flight.gone = True
        self._places.take_out(pod.uid)

    # Attempts

    def pop(self, now: float) -> Entry | None:
        """Take the next pod to try, or None if none is due; its attempt begins and it is in flight.

        When no pod is active, the rejected pod whose backoff ends first is taken early.
        """
        if self._closed:
            return None
        self.flush(now)
        entry = self._places.pop()
        if entry is not None:
            entry.attempts += 1
            self._in_flight.start(entry)
        return entry

    def binding(self, uid: str) -> None:
        """The pod passed Permit: no rejection can follow, so no more events are kept for it.

        It stays in flight, and its updates and deletion are noted, until `done` or `add_unschedulable`.
        """
        self._in_flight.close(uid)

    def done(self, uid: str) -> None:
        """The attempt, and the binding if there was one, is over and the pod does not come back."""
        self._in_flight.land(uid)

    def add_unschedulable(self, entry: Entry, *, error: bool = False) -> Place | None:
        """Take back a pod whose attempt failed, and say where it went; None if the pod is gone.

        The caller has set the entry's `unschedulable_plugins` and `pending_plugins` to those of this
        attempt. `error` means that no plugin rejected the pod; they are then cleared, so that rejectors of
        an earlier attempt cannot park a pod whom no event will wake (k8s #120334). What happened during the
        attempt is weighed before the pod is put to rest (k8s #72122).
        """
        events = self._in_flight.events_since_start(entry.uid)
        flight = self._in_flight.land(entry.uid)
        if flight is not None and flight.gone:
            return None
        present = self._places.where(entry.uid)
        if present is not None:
            _log.error("Pod is already present in the queue", pod=entry.pod.key, queue=present)
            return present
        if flight is not None:
            entry.pod = flight.pod
        self._count_failure(entry, error=error)
        return self._places.requeue(entry, self._strategy_after(entry, events), SCHEDULE_ATTEMPT_FAILURE)

    # Events

    def move_all(self, event: ClusterEvent, *, only: Callable[[Pod], bool] | None = None) -> None:
        """Wake every waiting pod that the event might make schedulable, and keep it for those in flight.

        `only` narrows the waiting pods that are looked at. A gated pod is looked at only if its gating
        plugin registered the event.
        """
        concerned = self._concerned(event)
        if concerned is None:
            return
        if only is not None:
            concerned = [entry for entry in concerned if only(entry.pod)]
        self._wake(concerned, event)

    def activate(self, pods: Iterable[Pod]) -> None:
        """Make pods active at once, whatever their backoff; one in flight is tried again when it returns."""
        for pod in pods:
            if (entry := self._places.unschedulable.get(pod.uid)) is not None:
                self._places.to_active(entry, FORCE_ACTIVATE.title)
            elif (entry := self._places.backoff.get(pod.uid)) is not None:
                self._places.to_active(entry, FORCE_ACTIVATE.title, from_backoff=True)
            elif self._in_flight.is_open(pod.uid):
                self._in_flight.record(replace(FORCE_ACTIVATE, new=pod))

    # Time

    def flush(self, now: float) -> None:
        """Let go pods whose backoff is over, and every 30 s those that waited too long for an event."""
        for entry in self._places.backoff.pop_completed(now):
            self._places.to_active(entry, BACKOFF_COMPLETE, from_backoff=True)
        if now >= self._next_leftover_flush:
            periods = (now - self._next_leftover_flush) // LEFTOVER_FLUSH_PERIOD + 1
            self._next_leftover_flush += periods * LEFTOVER_FLUSH_PERIOD
            self._flush_leftover(now)

    def next_deadline(self) -> float | None:
        """When `pop` may find a pod without anything else happening; None if never."""
        leftover = self._next_leftover_flush if len(self._places.unschedulable) else None
        return min(
            (t for t in (self._places.backoff.next_release(), leftover) if t is not None), default=None
        )

    # What is where

    def where(self, uid: str) -> Place | None:
        """The one place where the pod is."""
        return Place.IN_FLIGHT if self._in_flight.get(uid) is not None else self._places.where(uid)

    def get(self, uid: str) -> Entry | None:
        """The entry of a pod that waits or is in flight."""
        flight = self._in_flight.get(uid)
        return flight.entry if flight is not None else self._places.get(uid)

    def pending(self) -> Pending:
        """A picture of all places."""
        waiting = list(self._places.unschedulable)
        return Pending(
            active=tuple(entry.pod for entry in self._places.active),
            backoff=tuple(entry.pod for entry in self._places.backoff),
            unschedulable=tuple(entry.pod for entry in waiting if not entry.is_gated),
            gated=tuple(entry.pod for entry in waiting if entry.is_gated),
            in_flight=tuple(flight.pod for flight in self._in_flight),
            in_flight_events=self._in_flight.event_count,
        )

    def rejections(self) -> Counter[tuple[str, str]]:
        """How many queued pods each (scheduler name, plugin) last rejected: the unschedulable_pods metric."""
        return self._places.rejections()

    def in_flight_events(self) -> dict[str, int]:
        """How many events are kept for open attempts, by name: the inflight_events metric."""
        return self._in_flight.counts()

    def close(self) -> None:
        """Hand out no more pods, and drop what was kept for attempts."""
        self._closed = True
        self._in_flight = InFlight()

    # Decisions

    def _count_failure(self, entry: Entry, *, error: bool) -> None:
        """Lengthen the backoff that belongs to this kind of failure, and start it now."""
        if error:
            entry.clear_rejectors()
        if entry.rejectors:
            entry.unschedulable_count += 1
            entry.consecutive_errors = 0
        else:
            entry.consecutive_errors += 1
        entry.timestamp = self._clock.now()
        entry.order = next(self._stamps)
        entry.backoff_expiration = None
        entry.was_flushed_from_unschedulable = False

    def _strategy_after(self, entry: Entry, events: Sequence[ClusterEvent] | None) -> Strategy:
        """The strongest answer to what happened during the attempt; unknown events count as a yes."""
        if events is None or not entry.rejectors:
            return Strategy.AFTER_BACKOFF
        hints = self._hints_of(entry)
        highest = Strategy.IMMEDIATELY if entry.pending_plugins else Strategy.AFTER_BACKOFF
        strongest = Strategy.SKIP
        for event in events:
            strongest = max(strongest, hints.strategy(entry, event))
            if strongest is highest:
                break
        return strongest

    def _wake(self, entries: Iterable[Entry], event: ClusterEvent) -> list[Entry]:
        """Show an event to waiting pods, keep it for those in flight, and say whom it woke."""
        woken = []
        for entry in entries:
            if entry.is_gated and entry.gating_plugin not in self._hints_of(entry).interested(event):
                continue
            if self._wakes(entry, event):
                woken.append(entry)
        self._in_flight.record(event)
        return woken

    def _wakes(self, entry: Entry, event: ClusterEvent) -> bool:
        """Show an event to one waiting pod; it may still be gated on its way out."""
        strategy = self._hints_of(entry).strategy(entry, event)
        if strategy is Strategy.SKIP:
            return False
        return self._places.requeue(entry, strategy, event.title) in _QUEUED

    def _concerned(self, event: ClusterEvent) -> list[Entry] | None:
        """The waiting pods rejected by a plugin that registered the event; None if no plugin did."""
        if event.is_wild_card:
            return list(self._places.unschedulable)
        interested = {profile: hints.interested(event) for profile, hints in self._hints.items()}
        if not any(interested.values()):
            return None
        return [
            entry
            for profile, plugins in interested.items()
            for entry in self._places.unschedulable.rejected_by(profile, plugins)
        ]

    def _flush_leftover(self, now: float) -> None:
        longest = self._max_in_unschedulable
        waited = [entry for entry in self._places.unschedulable if now - entry.timestamp > longest]
        if waited:
            for entry in self._wake(waited, UNSCHEDULABLE_TIMEOUT):
                entry.was_flushed_from_unschedulable = True

    def _activate_new(self, pod: Pod, event: ClusterEvent) -> None:
        self._places.to_active(Entry(pod.uid, pod, self._clock.now(), next(self._stamps)), event.title)

    def _hints_of(self, entry: Entry) -> HintMap:
        return self._hints.get(entry.pod.scheduler_name, _NO_HINTS)
