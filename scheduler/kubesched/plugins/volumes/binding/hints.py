"""Which events may make a pod schedulable that VolumeBinding rejected.

Follows the queueing hints of upstream `volumebinding/volume_binding.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Sequence

from kubesched.api.objects import CSIDriver, CSINode, CSIStorageCapacity, Pod, StorageClass
from kubesched.framework import ClusterEventWithHint, Hint
from kubesched.plugins.volumes.binding.provisioning import volume_limit
from kubesched.plugins.volumes.claims import uses_claim
from kubesched.state.events import ActionType, ClusterEvent, Resource

_MIGRATED = "storage.alpha.kubernetes.io/migrated-plugins"


def events() -> Sequence[ClusterEventWithHint]:
    """Everything that takes part in binding, as it comes or changes."""
    changed = ActionType.Add | ActionType.Update
    node = ActionType.Add | ActionType.UpdateNodeLabel
    return [
        ClusterEventWithHint(ClusterEvent(Resource.StorageClass, changed), _after_class),
        ClusterEventWithHint(ClusterEvent(Resource.PersistentVolumeClaim, changed), uses_claim),
        ClusterEventWithHint(ClusterEvent(Resource.PersistentVolume, changed)),
        ClusterEventWithHint(ClusterEvent(Resource.Node, node)),
        ClusterEventWithHint(ClusterEvent(Resource.CSINode, changed), _after_csi_node),
        ClusterEventWithHint(ClusterEvent(Resource.CSIDriver, ActionType.Update), _after_driver),
        ClusterEventWithHint(ClusterEvent(Resource.CSIStorageCapacity, changed), _after_capacity),
    ]


def _after_class(_waiting: Pod, event: ClusterEvent) -> Hint:
    """A class came, or provisions elsewhere."""
    old, new = event.old, event.new
    if not isinstance(old, StorageClass) or not isinstance(new, StorageClass):
        return Hint.Queue
    return Hint.Skip if old.allowed_topologies == new.allowed_topologies else Hint.Queue


def _after_csi_node(_waiting: Pod, event: ClusterEvent) -> Hint:
    """A node's drivers came, or took over in-tree plugins."""
    old, new = event.old, event.new
    if not isinstance(old, CSINode) or not isinstance(new, CSINode):
        return Hint.Queue
    same = old.annotations.get(_MIGRATED, "") == new.annotations.get(_MIGRATED, "")
    return Hint.Skip if same else Hint.Queue


def _after_driver(waiting: Pod, event: ClusterEvent) -> Hint:
    """A driver of one of the pod's inline volumes no longer tracks its capacity."""
    old, new = event.old, event.new
    if not isinstance(old, CSIDriver) or not isinstance(new, CSIDriver):
        return Hint.Queue
    ended = bool(old.spec.storage_capacity) and not new.spec.storage_capacity
    inline = any(v.csi is not None and v.csi.driver == new.name for v in waiting.spec.volumes)
    return Hint.Queue if ended and inline else Hint.Skip


def _after_capacity(_waiting: Pod, event: ClusterEvent) -> Hint:
    """There is room that was not known, or more than there was."""
    old, new = event.old, event.new
    if not isinstance(old, CSIStorageCapacity) or not isinstance(new, CSIStorageCapacity):
        return Hint.Queue
    before, now = volume_limit(old), volume_limit(new)
    return Hint.Queue if now is not None and (before is None or now > before) else Hint.Skip
