"""A cluster fed from objects or events, as the scheduler's own event handlers would feed it.

Assigned pods and all other kinds go to the cluster; a pod that waits matters only if it is nominated to a
node; a pod that ran to its end does not exist.
"""

from __future__ import annotations

from collections.abc import Collection

from kubesched.api.objects import Object, Pod
from kubesched.clock import VirtualClock
from kubesched.state import Cluster
from kubesched.state.events import WatchEvent

_LATE = 4_102_444_800.0
"""2100-01-01: a pod without a start time counts as started now, later than all that have one."""


class Feed:
    """One state that grows by events; `waiting` are the pods without a node by namespace/name.

    `schedulers` are the names of the profiles: a nomination by another scheduler does not count.
    """

    def __init__(self, schedulers: Collection[str]) -> None:
        self.clock = VirtualClock(epoch=_LATE)
        self.cluster = Cluster(self.clock)
        self.waiting: dict[str, Pod] = {}
        self._schedulers = schedulers

    def apply(self, event: WatchEvent) -> None:
        """Take in one event."""
        obj = event.object
        if not isinstance(obj, Pod):
            self.cluster.apply(event)
            return
        gone = event.type == "DELETED" or obj.is_terminal
        if obj.node_name or gone:
            self._forget_waiting(obj)
            if obj.node_name:
                self.cluster.apply(event)
            return
        before = self.waiting.get(obj.key)
        self.waiting[obj.key] = obj
        if obj.scheduler_name not in self._schedulers:
            return
        if before is None:
            self.cluster.nominated.add(obj)
        else:
            self.cluster.nominated.update(before, obj)

    def add(self, obj: Object) -> None:
        """Take in an object of a list."""
        self.apply(WatchEvent("ADDED", obj))

    def _forget_waiting(self, pod: Pod) -> None:
        before = self.waiting.pop(pod.key, None)
        self.cluster.nominated.delete(pod.uid if before is None else before.uid)
