"""NodeVolumeLimits: how many volumes of a CSI driver a node takes.

Follows upstream `nodevolumelimits/csi.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from kubesched.api.objects import CSINode, Pod, VolumeAttachment
from kubesched.framework import (
    SKIP,
    ClusterEventWithHint,
    Codes,
    Cycle,
    Handle,
    Hint,
    Slot,
    Status,
    View,
    unresolvable,
    unschedulable,
)
from kubesched.plugins.volumes.attachable import Attachable, ClaimNotFoundError, counts, of_disks
from kubesched.plugins.volumes.attached import AttachedVolumes
from kubesched.plugins.volumes.claims import uses_claim
from kubesched.plugins.volumes.migration import Identity, driver_of, identity, plugin_of
from kubesched.state.events import ActionType, ClusterEvent, Resource

if TYPE_CHECKING:
    from kubesched.state import ClusterReader

TOO_MANY = unschedulable("node(s) exceed max volume count")
_MISSING: Slot[Status] = Slot("NodeVolumeLimits missing claim")
_EXCEEDED, _NO_CLAIM = 1, 2


class NodeVolumeLimits:
    """Rejects nodes to which the pod's volumes could not all be attached."""

    name: ClassVar[str] = "NodeVolumeLimits"

    def __init__(self, cluster: ClusterReader) -> None:
        self._attached = AttachedVolumes(cluster)

    def sign(self, pod: Pod) -> Hashable | None:
        """Nothing counts for a pod without storage; for others, claims and volumes do."""
        return None if pod.has_storage else ()

    def pre_filter(self, cycle: Cycle) -> Status | None:
        """Skip pods without volumes that count."""
        return None if any(map(counts, cycle.pod.spec.volumes)) else SKIP

    def filter(self, cycle: Cycle, view: View) -> Codes | None:
        """Count on the nodes that have limits. Raises ValueError for volumes that cannot be read."""
        attachable = Attachable(cycle.cluster)
        try:
            wanted = attachable.of_claims(cycle.pod) | _disks(cycle, view)
        except ClaimNotFoundError as missing:
            cycle.put(_MISSING, unresolvable(str(missing)))
            return np.full(len(view), _NO_CLAIM, np.int64)
        if not wanted:
            return None
        self._attached.refresh()
        moved = view.moved_worlds()
        if problem := self._attached.unreadable(np.delete(view.rows, moved)):
            raise ValueError(problem)
        exceeded = self._attached.exceeded(view.rows, wanted)
        for k in moved:
            known = self._attached.on(int(view.rows[k]))
            if known.limits:
                exceeded[k] = known.exceeded(wanted, attachable.of_pods(view.pods(k)))
        return np.where(exceeded, _EXCEEDED, 0)

    def status(self, cycle: Cycle, code: int) -> Status:
        """Tell a full node from a missing claim."""
        return TOO_MANY if code == _EXCEEDED else cycle.get(_MISSING)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Higher limits, pods and attachments that go, and claims that come, may help."""
        return [
            ClusterEventWithHint(ClusterEvent(Resource.CSINode, ActionType.Add)),
            ClusterEventWithHint(ClusterEvent(Resource.CSINode, ActionType.Update), _after_csi_node),
            ClusterEventWithHint(ClusterEvent(Resource.Pod, ActionType.Delete), _after_delete),
            ClusterEventWithHint(ClusterEvent(Resource.PersistentVolumeClaim, ActionType.Add), uses_claim),
            ClusterEventWithHint(ClusterEvent(Resource.VolumeAttachment, ActionType.Delete), _after_detach),
        ]


def _disks(cycle: Cycle, view: View) -> set[Identity]:
    """The pod's in-tree disks; only a node with a CSINode would notice one that cannot be read."""
    try:
        return of_disks(cycle.pod)
    except ValueError:
        names = (cycle.cluster.nodes.names[row] for row in view.rows)
        if any(cycle.cluster.get("CSINode", name) is not None for name in names):
            raise
        return set()


def _after_csi_node(_waiting: Pod, event: ClusterEvent) -> Hint:
    """Some limit was raised; a driver that is new with a limit counts as raised."""
    old, new = event.old, event.new
    if not isinstance(old, CSINode) or not isinstance(new, CSINode):
        return Hint.Queue
    before = {driver.name: driver.allocatable for driver in old.spec.drivers}
    for driver in new.spec.drivers:
        was = before.get(driver.name)
        if _count(driver.allocatable) > _count(was):
            return Hint.Queue
    return Hint.Skip


def _count(limit: object) -> int:
    return getattr(limit, "count", None) or 0


def _after_delete(_waiting: Pod, event: ClusterEvent) -> Hint:
    """A pod that had a node, and volumes that count, is gone."""
    gone = event.old
    if not isinstance(gone, Pod) or not (gone.node_name or gone.nominated_node_name):
        return Hint.Skip
    return Hint.Queue if any(map(counts, gone.spec.volumes)) else Hint.Skip


def _after_detach(waiting: Pod, event: ClusterEvent) -> Hint:
    """A volume was detached, and the pod names a claim or an in-tree disk of the same driver.

    Raises ValueError for a disk that cannot be translated.
    """
    gone = event.old
    for volume in waiting.spec.volumes:
        if volume.persistent_volume_claim is not None:
            return Hint.Queue
        plugin = plugin_of(volume)
        if plugin is None:
            continue
        identity(volume, {})
        if isinstance(gone, VolumeAttachment) and gone.spec.attacher == driver_of(plugin):
            return Hint.Queue
    return Hint.Skip


def build(_args: object, handle: Handle) -> NodeVolumeLimits:
    """Build the plugin; ValueError when a gate asks for what it cannot do."""
    if handle.gates.enabled("VolumeLimitScaling"):
        raise ValueError("feature gate VolumeLimitScaling is not built: turn it off")
    return NodeVolumeLimits(handle.cluster)
