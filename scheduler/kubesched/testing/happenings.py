"""What happens to a state after it was built: for hints, and for what plugins keep between decisions."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from kubesched.api.base import Object, ObjectMeta
from kubesched.api.devices import DeviceClassSpec
from kubesched.api.objects import (
    DeviceClass,
    Namespace,
    Node,
    PersistentVolumeClaim,
    Pod,
    ResourceClaim,
    ResourceSlice,
    VolumeAttachment,
)
from kubesched.api.storage import VolumeAttachmentSource, VolumeAttachmentSpec
from kubesched.state.events import ActionType, ClusterEvent, Resource, WatchEvent
from kubesched.testing.builders import ZONE, node, pod
from kubesched.testing.scenarios import Scenario
from kubesched.testing.storage import capacity, claim, csi_driver, csi_node, storage_class, volume


def _attachment(to: str) -> VolumeAttachment:
    source = VolumeAttachmentSource(persistent_volume_name="in-b")
    spec = VolumeAttachmentSpec(attacher="csi.example.com", node_name=to, source=source)
    return VolumeAttachment(metadata=ObjectMeta(name="attachment"), spec=spec)


def _device_class(stands_for: str | None) -> DeviceClass:
    spec = DeviceClassSpec(extended_resource_name=stands_for)
    return DeviceClass(metadata=ObjectMeta(name="devices"), spec=spec)


_NAMED = ObjectMeta(name="fresh", namespace="default")
_SAMPLES: dict[Resource, tuple[Object, Object]] = {
    Resource.Node: (node("fresh"), node("fresh").label("x", "y").taint("t").cpu(64)),
    Resource.Pod: (pod("other").on("n0").host_port(80), pod("other").on("n0").label("app", "web")),
    Resource.PersistentVolume: (volume("in-b"), volume("in-b", labels={ZONE: "b"})),
    Resource.PersistentVolumeClaim: (claim("waiting"), claim("waiting", bound_to="free")),
    Resource.CSINode: (csi_node("n0", 1), csi_node("n0", 2)),
    Resource.CSIDriver: (csi_driver(), csi_driver(tracks_capacity=False)),
    Resource.CSIStorageCapacity: (capacity("room", "1Gi"), capacity("room", "2Gi")),
    Resource.StorageClass: (storage_class("standard", zones=("a",)), storage_class("standard")),
    Resource.VolumeAttachment: (_attachment("n0"), _attachment("n2")),
    Resource.DeviceClass: (_device_class(None), _device_class("nvidia.com/gpu")),
    Resource.ResourceClaim: (ResourceClaim(metadata=_NAMED), ResourceClaim(metadata=_NAMED)),
    Resource.ResourceSlice: (ResourceSlice(metadata=_NAMED), ResourceSlice(metadata=_NAMED)),
}
"""An object of each kind that plugins can wait for, before and after a change."""


def happened(registered: ClusterEvent) -> Iterator[ClusterEvent]:
    """Events that the registration covers, with the objects that such an event carries."""
    sample = _SAMPLES.get(registered.resource)
    if sample is None:
        return
    before, after = sample
    if registered.action & ActionType.Add:
        yield ClusterEvent(registered.resource, ActionType.Add, new=after)
    for action in ActionType:
        if action & registered.action & ActionType.Update:
            yield ClusterEvent(registered.resource, action, old=before, new=after)
            yield ClusterEvent(registered.resource, action, old=before, new=before)
    if registered.action & ActionType.Delete:
        yield ClusterEvent(registered.resource, ActionType.Delete, old=before)


def history(scenario: Scenario) -> Iterator[WatchEvent]:
    """Pods come, change and go, nodes move and go, namespaces and claims change: some of each kind."""
    nodes = [item for item in scenario.objects if isinstance(item, Node)]
    pods = [item for item in scenario.objects if isinstance(item, Pod)]
    for guest, at in zip(scenario.guests, reversed(nodes), strict=False):
        yield WatchEvent("ADDED", guest.assigned_to(at.name))
    for number, one in enumerate(pods):
        if number % 2:
            yield WatchEvent("DELETED", one)
        else:
            yield WatchEvent("MODIFIED", _labelled(one, "app", "db"))
    for moved in nodes[1:3]:
        yield WatchEvent("MODIFIED", _labelled(moved, ZONE, "moved"))
    for gone in nodes[3:4]:
        yield WatchEvent("DELETED", gone)
    for item in scenario.objects:
        if isinstance(item, Namespace):
            yield WatchEvent("MODIFIED", _labelled(item, "team", "c"))
        elif isinstance(item, PersistentVolumeClaim) and not item.spec.volume_name:
            yield WatchEvent("MODIFIED", replace(item, spec=replace(item.spec, volume_name="free")))
    for kind in (Resource.CSINode, Resource.VolumeAttachment, Resource.StorageClass):
        yield WatchEvent("MODIFIED", _SAMPLES[kind][1])


def _labelled(item: Object, key: str, value: str) -> Object:
    return replace(item, metadata=replace(item.metadata, labels={**item.labels, key: value}))
