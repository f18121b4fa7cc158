"""Which events may make a pod fit that NodeResourcesFit rejected.

Follows the queueing hints of upstream `noderesources/fit.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kubesched.api import resources
from kubesched.api.objects import DeviceClass, Node, Pod
from kubesched.framework import ClusterEventWithHint, Hint
from kubesched.plugins.dynamicresources.device_classes import backs, implicit_resource
from kubesched.state.events import ActionType, ClusterEvent, Resource

if TYPE_CHECKING:
    from kubesched.state import ClusterReader


class FitHints:
    """The hints; they look at the cluster only for device classes that stand for an extended resource.

    Without `devices` (the gate DRAExtendedResource), no device class does.
    """

    def __init__(self, cluster: ClusterReader, *, devices: bool) -> None:
        self._cluster = cluster
        self._devices = devices

    def events(self) -> Sequence[ClusterEventWithHint]:
        """The events with their hints."""
        pod = ClusterEvent(Resource.Pod, ActionType.Delete | ActionType.UpdatePodScaleDown)
        node = ClusterEvent(Resource.Node, ActionType.Add | ActionType.UpdateNodeAllocatable)
        device_class = ClusterEvent(Resource.DeviceClass, ActionType.Add | ActionType.Update)
        events = [ClusterEventWithHint(pod, _after_pod), ClusterEventWithHint(node, self._after_node)]
        return [*events, ClusterEventWithHint(device_class, _after_device_class)] if self._devices else events

    def _after_node(self, pod: Pod, event: ClusterEvent) -> Hint:
        """The node could hold the pod and, if it is not new, has more of something the pod requests."""
        old, new = event.old, event.new
        if not isinstance(new, Node) or not self._fits(pod, new):
            return Hint.Skip
        if not isinstance(old, Node):
            return Hint.Queue
        return Hint.Queue if self._grew(pod, old, new) else Hint.Skip

    def _fits(self, pod: Pod, node: Node) -> bool:
        allocatable = node.allocatable
        if allocatable.get(resources.PODS, 0) < 1:
            return False
        return all(
            amount <= allocatable.get(name, 0) or self._delegated(name, allocatable)
            for name, amount in pod.asked.incoming.items()
            if amount > 0
        )

    def _grew(self, pod: Pod, old: Node, new: Node) -> bool:
        before, after = old.allocatable, new.allocatable
        if after.get(resources.PODS, 0) > before.get(resources.PODS, 0):
            return True
        return any(
            after.get(name, 0) > before.get(name, 0) or self._delegated(name, after)
            for name, amount in pod.asked.incoming.items()
            if amount > 0
        )

    def _delegated(self, name: str, allocatable: Mapping[str, int]) -> bool:
        """The node's own count is 0 and some device class offers the resource instead."""
        return self._devices and not allocatable.get(name, 0) and backs(self._cluster, name)


def _after_pod(pod: Pod, event: ClusterEvent) -> Hint:
    """A pod left a node, or something that this pod requests was scaled down."""
    old, new = event.old, event.new
    if not isinstance(old, Pod):
        return Hint.Queue
    if not isinstance(new, Pod):
        return Hint.Queue if old.node_name or old.nominated_node_name else Hint.Skip
    if new.uid == pod.uid:
        return Hint.Queue
    if not new.node_name:
        return Hint.Skip
    freed = any(
        amount and old.requests.get(name, 0) > new.requests.get(name, 0)
        for name, amount in pod.requests.items()
    )
    return Hint.Queue if freed else Hint.Skip


def _after_device_class(pod: Pod, event: ClusterEvent) -> Hint:
    """A device class now stands for an extended resource that the pod requests."""
    old, new = event.old, event.new
    if not isinstance(new, DeviceClass):
        return Hint.Queue
    explicit = new.spec.extended_resource_name
    if isinstance(old, DeviceClass):
        if (old.spec.extended_resource_name or "") == (explicit or ""):
            return Hint.Skip
    elif implicit_resource(new) in pod.requests:
        return Hint.Queue
    return Hint.Queue if explicit is not None and explicit in pod.requests else Hint.Skip
