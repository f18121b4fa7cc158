"""The cluster: the one place where watch events and placements become state.

Follows upstream `pkg/scheduler/eventhandlers.go` for what follows from an event and `backend/cache/cache.go`
for what is kept. Whether an object is added or updated is decided by what is known, not by the word in the
event, so that a list after a broken watch does no harm. There is one writer and no I/O; a change is complete
when a method returns.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from kubesched.api.objects import Namespace, Node, Object, Pod
from kubesched.clock import Clock
from kubesched.state.audit import Drift, audit
from kubesched.state.changes import Changes
from kubesched.state.events import ActionType, ClusterEvent, Resource, WatchEvent, node_changes, pod_changes
from kubesched.state.nodes import NodeColumns
from kubesched.state.nominator import Nominator
from kubesched.state.pods import PodColumns

Happened: TypeAlias = list[ClusterEvent]
"""What follows from a change, for the queue; empty where no pod can care."""

Drifts: TypeAlias = list[Drift]

_RESOURCES: dict[str, Resource] = {
    "PersistentVolume": Resource.PersistentVolume,
    "PersistentVolumeClaim": Resource.PersistentVolumeClaim,
    "CSINode": Resource.CSINode,
    "CSIDriver": Resource.CSIDriver,
    "CSIStorageCapacity": Resource.CSIStorageCapacity,
    "StorageClass": Resource.StorageClass,
    "VolumeAttachment": Resource.VolumeAttachment,
    "ResourceClaim": Resource.ResourceClaim,
    "ResourceSlice": Resource.ResourceSlice,
    "DeviceClass": Resource.DeviceClass,
}
"""Kinds whose changes wake pods; the others are only kept."""


class Cluster:
    """Nodes, pods on nodes, nominations and every other object a scheduler reads."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.epoch = 0
        self.nodes = NodeColumns()
        self.pods = PodColumns(self.nodes)
        self.nominated = Nominator(lambda uid: uid in self.pods.by_uid and uid not in self._assumed)
        self._assumed: set[str] = set()
        self.changes = Changes()
        self._objects: dict[str, dict[str, Object]] = {}

    # Reading

    def get(self, kind: str, key: str) -> Object | None:
        """Give one object by `namespace/name` (or name), None if it is not known."""
        if kind == "Pod":
            return self.pods.by_key.get(key)
        return self._objects.get(kind, {}).get(key)

    def list(self, kind: str) -> Iterable[Object]:
        """Give all objects of a kind in order of arrival. Pods are those on nodes."""
        if kind == "Pod":
            return self.pods.by_uid.values()
        return self._objects.get(kind, {}).values()

    def is_assumed(self, uid: str) -> bool:
        """Say whether a pod holds its place only because the scheduler put it there."""
        return uid in self._assumed

    @property
    def assumed(self) -> frozenset[str]:
        """The UIDs of all assumed pods."""
        return frozenset(self._assumed)

    # Writing

    def apply(self, event: WatchEvent) -> Happened:
        """Take over one event of a watch and say what happened, as upstream's event handlers would.

        Pods must be assigned to a node; pods that ran to their end count as deleted. Raises ValueError, and
        changes nothing, for a pod without a node and for amounts that cannot be read.
        """
        self._begin()
        obj = event.object
        deleted = event.type == "DELETED"
        if isinstance(obj, Pod):
            return self._remove_pod(obj) if deleted or obj.is_terminal else self._put_pod(obj)
        if isinstance(obj, Node):
            return self._remove_node(obj) if deleted else self._put_node(obj)
        return self._remove_object(obj) if deleted else self._put_object(obj)

    def assume(self, pod: Pod, node_name: str) -> Pod:
        """Put a pod on a node before the API knows; give the pod as it is now held.

        It stays until the API shows it on a node, it is deleted, or it is forgotten: there is no expiry.
        Raises ValueError if the pod holds a place already.
        """
        if pod.uid in self.pods.by_uid:
            raise ValueError(f"pod {pod.key} ({pod.uid}) is in the state already, so it cannot be assumed")
        _work_out(pod)
        self._begin()
        placed = pod.assigned_to(node_name)
        self.pods.add(placed, self.nodes.open(node_name))
        self._assumed.add(pod.uid)
        return placed

    def forget(self, uid: str) -> None:
        """Undo `assume`; nothing happens if the pod is gone.

        Raises ValueError for a pod that the API has on a node.
        """
        pod = self.pods.by_uid.get(uid)
        if pod is None:
            return
        if uid not in self._assumed:
            raise ValueError(f"pod {pod.key} ({uid}) was not assumed, so it cannot be forgotten")
        self._begin()
        self._take_off(uid)

    # Checking

    def audit(self) -> Drifts:
        """Build everything anew from the objects and name every difference; empty when all is well."""
        return audit(self)

    def dump(self) -> dict[str, Any]:
        """Write down nodes and pods for a person to read."""
        return {
            "epoch": self.epoch,
            "nodes": [self._dump_node(name, slot) for name, slot in self.nodes.slot.items()],
            "assumed": sorted(self.pods.by_uid[uid].key for uid in self._assumed),
            "nominated": {
                name: [pod.key for pod in self.nominated.on(name)] for name in self.nominated.nodes()
            },
            "objects": {kind: len(known) for kind, known in self._objects.items()},
        }

    def _begin(self) -> None:
        """Begin a change."""
        self.epoch += 1
        self.nodes.sweep()

    def _put_pod(self, pod: Pod) -> Happened:
        """Add a pod, confirm an assumed one, or update one that is known."""
        if not pod.node_name:
            raise ValueError(f"pod {pod.key} is not assigned to a node: it belongs to the queue")
        known = self.pods.by_uid.get(pod.uid) or self.pods.by_key.get(pod.key)
        _work_out(pod)
        if known is None:
            self._place(pod)
            return [ClusterEvent(Resource.AssignedPod, ActionType.Add, new=pod)]
        confirmed = known.uid in self._assumed
        if known.uid == pod.uid and known.node_name == pod.node_name:
            self._assumed.discard(pod.uid)
            self.pods.update(pod)
        else:
            self._take_off(known.uid)
            self._place(pod)
        if confirmed:
            self.nominated.delete(pod.uid)
            return [ClusterEvent(Resource.AssignedPod, ActionType.Add, new=pod)]
        return pod_changes(known, pod)

    def _remove_pod(self, pod: Pod) -> Happened:
        """Remove a pod if it is known."""
        known = self.pods.by_uid.get(pod.uid)
        if known is None:
            return []
        self._take_off(pod.uid)
        return [ClusterEvent(Resource.AssignedPod, ActionType.Delete, old=known)]

    def _place(self, pod: Pod) -> None:
        """Put a pod on its node, which may not be known yet."""
        self.pods.add(pod, self.nodes.open(pod.node_name))
        self.nominated.delete(pod.uid)

    def _take_off(self, uid: str) -> None:
        """Take a pod off its node, and the node's slot with it if that was a ghost's last pod."""
        slot = self.pods.slot_of(uid)
        self.pods.remove(uid)
        self._assumed.discard(uid)
        if slot is not None:
            self.nodes.close(slot)

    def _put_node(self, node: Node) -> Happened:
        """Add or update a node."""
        _work_out(node)
        nodes = self._objects.setdefault("Node", {})
        old = nodes.get(node.name)
        nodes[node.name] = node
        self.nodes.put(node)
        if isinstance(old, Node):
            return node_changes(old, node)
        return [ClusterEvent(Resource.Node, ActionType.Add, new=node)]

    def _remove_node(self, node: Node) -> Happened:
        """Remove a node if it is known."""
        old = self._objects.get("Node", {}).pop(node.name, None)
        if old is None:
            return []
        self.nodes.remove(node.name)
        return [ClusterEvent(Resource.Node, ActionType.Delete, old=old)]

    def _put_object(self, obj: Object) -> Happened:
        """Add or update any other object."""
        known = self._objects.setdefault(obj.kind, {})
        old = known.get(obj.key)
        known[obj.key] = obj
        self.changes.note(obj.kind, obj.key)
        if isinstance(obj, Namespace):
            self.pods.namespace(obj.name, obj.labels)
        resource = _RESOURCES.get(obj.kind)
        if resource is None:
            return []
        if old is not None:
            return [ClusterEvent(resource, ActionType.Update, old=old, new=obj)]
        return [ClusterEvent(resource, ActionType.Add, new=obj)]

    def _remove_object(self, obj: Object) -> Happened:
        """Remove any other object if it is known."""
        old = self._objects.get(obj.kind, {}).pop(obj.key, None)
        if old is None:
            return []
        self.changes.note(obj.kind, obj.key)
        if isinstance(obj, Namespace):
            self.pods.namespace(obj.name, None)
        resource = _RESOURCES.get(obj.kind)
        return [] if resource is None else [ClusterEvent(resource, ActionType.Delete, old=old)]

    def _dump_node(self, name: str, slot: int) -> dict[str, Any]:
        """Write down one node."""
        columns = self.nodes
        return {
            "name": name,
            "ghost": columns.objects[slot] is None,
            "generation": int(columns.generation[slot]),
            "allocatable": _named(columns.resources, columns.allocatable[slot].tolist()),
            "requested": _named(columns.resources, columns.requested[slot].tolist()),
            "taints": [str(taint) for taint in columns.taint_class(int(columns.taints[slot]))],
            "pods": [pod.key for pod in self.pods.on_node(slot)],
        }


def _work_out(obj: Pod | Node) -> None:
    """Work out all amounts of a pod or node, so that unreadable ones are refused before anything changes."""
    try:
        if isinstance(obj, Pod):
            obj.requests, obj.nonzero_requests, obj.host_ports  # noqa: B018 - the object keeps them
        else:
            obj.allocatable  # noqa: B018 - the object keeps it
    except ValueError as error:
        raise ValueError(f"{obj!r}: {error}") from error


def _named(resources: Iterable[str], amounts: Iterable[int]) -> dict[str, int]:
    """Pair amounts with their resources, without the zeros."""
    return {name: amount for name, amount in zip(resources, amounts, strict=True) if amount}
