"""Any sequence of operations under virtual time, against a plain model of where each pod must be.

The model is slow and obvious: every pod knows its place, every open attempt has its own list of events, and
the next pod to try is found by sorting.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from queue_world import NODE_ADD, PV_ADD, World, a_pod, queue_hint, skip_hint

from kubesched.api.pod import Pod
from kubesched.queue import Place
from kubesched.state.events import ActionType, ClusterEvent, Resource

CSI_ADD = ClusterEvent(Resource.CSINode, ActionType.Add)
LABELLED = ClusterEvent(Resource.Pod, ActionType.UpdatePodLabel)
HINTS = {
    NODE_ADD: [("A", queue_hint), ("B", skip_hint)],
    PV_ADD: [("B", queue_hint), ("C", skip_hint)],
    LABELLED: [("Gate", queue_hint), ("A", skip_hint)],
}
QUEUES = {NODE_ADD: {"A"}, PV_ADD: {"B"}, CSI_ADD: set(), LABELLED: {"Gate"}}
"""Which plugins' hints say yes to which event."""
WAITING = (Place.UNSCHEDULABLE, Place.GATED)
PLUGINS = st.sets(st.sampled_from("ABC"), max_size=2)


class LabelGate:
    """Holds every pod that wears the label `hold`."""

    name = "Gate"

    def pre_enqueue(self, pod: Pod):
        from kubesched.framework import unresolvable

        return unresolvable("held") if "hold" in pod.labels else None


@dataclass
class Known:
    """What the model knows of one pod."""

    pod: Pod
    place: Place
    stamp: tuple[float, int]
    plugins: set[str] = field(default_factory=set)
    pending: set[str] = field(default_factory=set)
    rejections: int = 0
    errors: int = 0
    attempts: int = 0
    seen: list[ClusterEvent | None] | None = None
    """What happened since the attempt began; None when no attempt is open."""
    gone: bool = False
    aligned: bool = True
    """Expirations are rounded down to whole seconds."""

    @property
    def rejectors(self) -> set[str]:
        return self.plugins | self.pending

    @property
    def expiration(self) -> float:
        count = self.errors or self.rejections
        end = self.stamp[0] + min(2 ** (count - 1), 10) if count else -math.inf
        return math.floor(end) if count and self.aligned else end

    @property
    def release(self) -> float:
        """When the flush that runs once a second finds the backoff completed."""
        return math.floor(self.expiration) + 1


class QueueMachine(RuleBasedStateMachine):
    """The queue and its model, step by step."""

    @initialize(start=st.sampled_from([0.0, 0.75, 100.25]), early=st.booleans())
    def begin(self, start: float, early: bool) -> None:
        self.early = early
        """SchedulerPopFromBackoffQ: a pod may be taken before its backoff ends; it is gated on the way in."""
        self.world = World(HINTS, gates=[LabelGate()], start=start, pop_from_backoff=early)
        self.queue = self.world.queue
        self.known: dict[str, Known] = {}
        self.stamps = 0
        self.start = start
        self.looks = 0

    # What the model expects

    @property
    def now(self) -> float:
        return self.world.clock.now()

    def stamp(self) -> tuple[float, int]:
        self.stamps += 1
        return (self.now, self.stamps)

    def answer(self, known: Known, event: ClusterEvent | None) -> str:
        if not known.rejectors or event is None:
            return "after backoff"
        yes = QUEUES[event] & known.rejectors
        return "at once" if yes & known.pending else "after backoff" if yes else "no"

    def put(self, known: Known, answer: str) -> None:
        """Where an answer sends a pod that is not in flight; PreEnqueue is asked on the way out."""
        now = math.floor(self.now) if self.early else self.now
        waits = answer == "after backoff" and known.expiration >= now
        if answer == "no":
            known.place = Place.UNSCHEDULABLE
        elif "hold" in known.pod.labels and (self.early or not waits):
            known.place = Place.GATED
            known.plugins |= {"Gate"}
        else:
            known.place = Place.BACKOFF if waits else Place.ACTIVE

    def wake(self, known: Known) -> None:
        """A pod leaves backoff for active; it was asked to pass the gate on the way in, or is asked now."""
        if self.early:
            known.place = Place.ACTIVE
        else:
            self.put(known, "at once")

    def happens(self, event: ClusterEvent | None) -> None:
        """Every open attempt sees the event; None wakes whoever sees it."""
        for known in self.known.values():
            if known.seen is not None:
                known.seen.append(event)

    def flushed(self) -> None:
        for known in self.known.values():
            if known.place is Place.BACKOFF and known.release <= self.now:
                self.wake(known)
        looks = int((self.now - self.start) // 30)
        if looks > self.looks:
            self.looks = looks
            old = [
                known
                for known in self.known.values()
                if known.place in WAITING and self.now - known.stamp[0] > 300
            ]
            for known in old:
                if known.place is Place.UNSCHEDULABLE:
                    self.put(known, "after backoff")
            if old:
                self.happens(None)

    def weighed(self, known: Known) -> str:
        if known.seen is None or not known.rejectors:
            return "after backoff"
        answers = {self.answer(known, event) for event in known.seen}
        return next((answer for answer in ("at once", "after backoff") if answer in answers), "no")

    def flying(self) -> list[str]:
        return sorted(uid for uid, known in self.known.items() if known.place is Place.IN_FLIGHT)

    # Operations

    @rule(which=st.integers(0, 6), priority=st.integers(0, 2), hold=st.booleans())
    def add(self, which: int, priority: int, hold: bool) -> None:
        pod = a_pod(str(which), priority, **({"hold": "yes"} if hold else {}))
        if pod.uid in self.known:
            return
        self.queue.add(pod)
        known = self.known[pod.uid] = Known(pod, Place.ACTIVE, self.stamp(), aligned=self.early)
        self.put(known, "at once")

    @rule()
    def pop(self) -> None:
        self.flushed()
        active = [known for known in self.known.values() if known.place is Place.ACTIVE]
        early = [known for known in self.known.values() if known.place is Place.BACKOFF and known.rejectors]
        early = early if self.early else []
        order = sorted(active, key=lambda known: (-known.pod.priority, known.stamp)) or sorted(
            early, key=lambda known: (known.expiration, -known.pod.priority, known.stamp)
        )
        entry = self.queue.pop(self.now)
        assert (entry.pod if entry else None) is (order[0].pod if order else None)
        if entry:
            order[0].place, order[0].seen = Place.IN_FLIGHT, []
            order[0].attempts += 1
            assert entry.attempts == order[0].attempts

    @precondition(lambda self: self.flying())
    @rule(data=st.data(), plugins=PLUGINS, pending=PLUGINS, error=st.booleans())
    def fail(self, data, plugins: set[str], pending: set[str], error: bool) -> None:
        uid = data.draw(st.sampled_from(self.flying()))
        known, entry = self.known[uid], self.queue.get(uid)
        entry.unschedulable_plugins, entry.pending_plugins = set(plugins), set(pending)
        place = self.queue.add_unschedulable(entry, error=error)
        if known.gone:
            assert place is None
            del self.known[uid]
            return
        known.plugins, known.pending = (set(), set()) if error else (set(plugins), set(pending))
        known.stamp = self.stamp()
        if known.rejectors:
            known.rejections, known.errors = known.rejections + 1, 0
        else:
            known.errors += 1
        self.put(known, self.weighed(known))
        known.seen = None
        assert place is known.place
        assert entry.pod is known.pod

    @precondition(lambda self: self.flying())
    @rule(data=st.data(), how=st.sampled_from(["binding", "done"]))
    def leave(self, data, how: str) -> None:
        uid = data.draw(st.sampled_from(self.flying()))
        getattr(self.queue, how)(uid)
        self.known[uid].seen = None
        if how == "done":
            del self.known[uid]

    @rule(which=st.integers(0, 6), priority=st.integers(0, 2), hold=st.booleans())
    def update(self, which: int, priority: int, hold: bool) -> None:
        newer = a_pod(str(which), priority, **({"hold": "yes"} if hold else {}))
        known = self.known.get(newer.uid)
        if known is None or known.gone:
            return
        older, known.pod = known.pod, newer
        self.queue.update(older, newer)
        changed = older.labels != newer.labels
        if known.place is Place.IN_FLIGHT and known.seen is not None and changed:
            self.happens(LABELLED)
        elif known.place in WAITING and changed and self.answer(known, LABELLED) != "no":
            self.put(known, self.answer(known, LABELLED))

    @rule(which=st.integers(0, 6))
    def delete(self, which: int) -> None:
        pod = a_pod(str(which))
        self.queue.delete(pod)
        self.vanishes(pod.uid)

    @rule(which=st.integers(0, 6), priority=st.integers(0, 2))
    def recreate(self, which: int, priority: int) -> None:
        """The pod is deleted and made again under its name; an update is all that is seen of it."""
        old = a_pod(str(which))
        new = a_pod(str(which), priority, uid=f"uid-{which}-again")
        if old.uid not in self.known or new.uid in self.known:
            return
        self.queue.update(self.known[old.uid].pod, new)
        self.vanishes(old.uid)
        known = self.known[new.uid] = Known(new, Place.ACTIVE, self.stamp(), aligned=self.early)
        self.put(known, "at once")

    def vanishes(self, uid: str) -> None:
        known = self.known.get(uid)
        if known is not None and known.place is Place.IN_FLIGHT:
            known.gone = True
        else:
            self.known.pop(uid, None)

    @rule(event=st.sampled_from([NODE_ADD, PV_ADD, CSI_ADD]), bound=st.sampled_from([None, 0, 1]))
    def event(self, event: ClusterEvent, bound: int | None) -> None:
        """Show an event to all waiting pods, or to those of no higher priority."""
        only = None if bound is None else lambda pod: pod.priority <= bound
        self.queue.move_all(event, only=only)
        for known in self.known.values():
            if only is not None and not only(known.pod):
                continue
            if known.place is Place.UNSCHEDULABLE and (answer := self.answer(known, event)) != "no":
                self.put(known, answer)
        if event is not CSI_ADD:
            self.happens(event)

    @rule(which=st.integers(0, 6))
    def activate(self, which: int) -> None:
        pod = a_pod(str(which))
        self.queue.activate([pod])
        known = self.known.get(pod.uid)
        if known is None:
            return
        if known.place in WAITING:
            self.put(known, "at once")
        elif known.place is Place.BACKOFF:
            self.wake(known)
        elif known.seen is not None:
            known.seen.append(None)

    @rule(seconds=st.sampled_from([0.25, 0.5, 1.0, 3.0, 31.0, 310.0]))
    def advance(self, seconds: float) -> None:
        self.world.clock.advance(seconds)

    @rule()
    def flush(self) -> None:
        self.flushed()
        self.queue.flush(self.now)

    # What must always hold

    @invariant()
    def every_pod_is_in_its_one_place(self) -> None:
        pending = self.queue.pending()
        shown = {
            place: sorted(pod.uid for pod in pods)
            for place, pods in zip(
                (Place.ACTIVE, Place.BACKOFF, Place.UNSCHEDULABLE, Place.GATED, Place.IN_FLIGHT),
                (pending.active, pending.backoff, pending.unschedulable, pending.gated, pending.in_flight),
                strict=True,
            )
        }
        for place, uids in shown.items():
            assert uids == sorted(uid for uid, known in self.known.items() if known.place is place)
        assert all(self.queue.where(uid) is known.place for uid, known in self.known.items())
        waiting = [known for known in self.known.values() if known.place is not Place.IN_FLIGHT]
        assert all(self.queue.get(known.pod.uid).pod is known.pod for known in waiting)

    @invariant()
    def rejectors_are_counted(self) -> None:
        waiting = [known for known in self.known.values() if known.place is not Place.IN_FLIGHT]
        assert self.queue.rejections().total() == sum(len(known.rejectors) for known in waiting)

    @invariant()
    def nothing_is_kept_without_an_open_attempt(self) -> None:
        if all(known.seen is None for known in self.known.values()):
            assert self.queue.pending().in_flight_events == 0

    @invariant()
    def the_deadline_is_when_something_is_due(self) -> None:
        deadline = self.queue.next_deadline()
        ends = [known.release for known in self.known.values() if known.place is Place.BACKOFF]
        if any(known.place in WAITING for known in self.known.values()):
            ends.append(self.start + 30 * (self.looks + 1))
        assert deadline == min(ends, default=None)


QueueMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestQueue = QueueMachine.TestCase
