"""A queue under a virtual clock, with hints and gates as a table; shared by the queue's tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from kubesched.api.base import ObjectMeta
from kubesched.api.pod import Pod, PodSchedulingGate, PodSpec
from kubesched.clock import VirtualClock
from kubesched.framework import Hint, Status, error, unresolvable
from kubesched.queue import Entry, Place, SchedulingQueue
from kubesched.state.events import ActionType, ClusterEvent, Resource

PROFILE = "default-scheduler"
NODE_ADD = ClusterEvent(Resource.Node, ActionType.Add)
NODE_LABEL = ClusterEvent(Resource.Node, ActionType.UpdateNodeLabel)
PV_ADD = ClusterEvent(Resource.PersistentVolume, ActionType.Add)
POD_UPDATE = ClusterEvent(Resource.Pod, ActionType.Update)

HintFn = Callable[[Pod, ClusterEvent], Hint]


def queue_hint(_pod: Pod, _event: ClusterEvent) -> Hint:
    return Hint.Queue


def skip_hint(_pod: Pod, _event: ClusterEvent) -> Hint:
    return Hint.Skip


def failing_hint(_pod: Pod, _event: ClusterEvent) -> Hint:
    raise RuntimeError("the hint function is broken")


def a_pod(name: str, priority: int = 0, *, uid: str = "", gates: Sequence[str] = (), **labels: str) -> Pod:
    return Pod(
        metadata=ObjectMeta(name=name, namespace="ns", uid=uid or f"uid-{name}", labels=labels),
        spec=PodSpec(priority=priority, scheduling_gates=tuple(PodSchedulingGate(gate) for gate in gates)),
    )


def relabelled(pod: Pod, **labels: str) -> Pod:
    return msgspec.structs.replace(
        pod, metadata=msgspec.structs.replace(pod.metadata, labels={**pod.labels, **labels})
    )


def with_spec(pod: Pod, **fields: object) -> Pod:
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, **fields))


def by_priority(left: Entry, right: Entry) -> bool:
    """PrioritySort's order."""
    if left.pod.priority != right.pod.priority:
        return left.pod.priority > right.pod.priority
    return left.timestamp < right.timestamp


HINTS = {
    NODE_ADD: [("Queue", queue_hint), ("Skip", skip_hint)],
    POD_UPDATE: [("Queue", queue_hint), ("Skip", skip_hint)],
}
"""A plugin `Queue` that always says yes, and a plugin `Skip` that always says no."""


@dataclass
class Gate:
    """A PreEnqueue plugin that lets pods with one of these labels pass, and counts how often it was asked."""

    name: str
    open_for: set[str] = field(default_factory=set)
    fails: bool = False
    asked: int = 0

    def pre_enqueue(self, pod: Pod) -> Status | None:
        self.asked += 1
        if self.open_for & pod.labels.keys():
            return None
        return error("broken") if self.fails else unresolvable("closed")


class World:
    """One queue, its clock, and every move it reported."""

    def __init__(
        self,
        hints: Mapping[ClusterEvent, Sequence[tuple[str, HintFn]]] | None = None,
        gates: Iterable[Gate] = (),
        start: float = 100.0,
        **options: object,
    ) -> None:
        self.clock = VirtualClock(start)
        self.moves: list[tuple[str, Place, str]] = []
        self.queue = SchedulingQueue(
            self.clock,
            {PROFILE: hints or {}},
            less=by_priority,
            pre_enqueue={PROFILE: tuple(gates)},
            on_move=lambda entry, place, event: self.moves.append((entry.pod.name, place, event)),
            **options,
        )

    def pop(self) -> Entry:
        entry = self.queue.pop(self.clock.now())
        assert entry is not None
        return entry

    def pop_nothing(self) -> None:
        assert self.queue.pop(self.clock.now()) is None

    def add_and_pop(self, pod: Pod) -> Entry:
        self.queue.add(pod)
        entry = self.pop()
        assert entry.pod is pod
        return entry

    def rejected(self, pod: Pod, *plugins: str, pending: Sequence[str] = ()) -> Entry:
        """Add a pod, let one attempt fail, and give back its entry."""
        entry = self.add_and_pop(pod)
        self.reject(entry, *plugins, pending=pending)
        return entry

    def reject(self, entry: Entry, *plugins: str, pending: Sequence[str] = ()) -> Place | None:
        entry.unschedulable_plugins, entry.pending_plugins = set(plugins), set(pending)
        return self.queue.add_unschedulable(entry)

    def where(self, pod: Pod) -> Place | None:
        return self.queue.where(pod.uid)

    def names_popped(self) -> list[str]:
        """Pop until nothing is due."""
        names = []
        while (entry := self.queue.pop(self.clock.now())) is not None:
            names.append(entry.pod.name)
        return names
