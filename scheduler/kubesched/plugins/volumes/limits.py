"""NodeVolumeLimits: how many volumes of a CSI driver a node takes.

Follows upstream `nodevolumelimits/csi.go` (1.36).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from kubesched.api.objects import CSINode, Pod, VolumeAttachment
from kubesched.api.volumes import Volume
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
from kubesched.plugins.volumes.attachable import Attachable, ClaimNotFoundError, counts
from kubesched.plugins.volumes.claims import find_volume, uses_claim
from kubesched.plugins.volumes.migration import Identity, identity
from kubesched.state.events import ActionType, ClusterEvent, Resource

if TYPE_CHECKING:
    from kubesched.state import ClusterReader

TOO_MANY = unschedulable("node(s) exceed max volume count")
_MISSING: Slot[Status] = Slot("NodeVolumeLimits missing claim")
_EXCEEDED, _NO_CLAIM = 1, 2


class NodeVolumeLimits:
    """Rejects nodes to which the pod's volumes could not all be attached."""

    name: ClassVar[str] = "NodeVolumeLimits"

    def __init__(self) -> None:
        self._mounts = _Mounts()

    def pre_filter(self, cycle: Cycle) -> Status | None:
        """Skip pods without volumes that count."""
        return None if any(map(counts, cycle.pod.spec.volumes)) else SKIP

    def filter(self, cycle: Cycle, view: View) -> Codes | None:
        """Count on the nodes that have limits. Raises ValueError for volumes that cannot be read."""
        attachable = Attachable(cycle.cluster)
        try:
            wanted = attachable.of_new_pod(cycle.pod)
        except ClaimNotFoundError as missing:
            cycle.put(_MISSING, unresolvable(str(missing)))
            return np.full(len(view), _NO_CLAIM, np.int64)
        if not wanted:
            return None
        codes: Codes = np.zeros(len(view), np.int64)
        attachments: Mapping[str, set[Identity]] | None = None
        for k, node_name in enumerate(cycle.cluster.nodes.names[row] for row in view.rows):
            limits = _limits(cycle.cluster, node_name)
            if limits:
                attachments = attachments if attachments is not None else _attachments(cycle.cluster)
                used = attachable.of_mounts(self._mounts.of(view, k))
                if _exceeded(limits, wanted, used, attachments.get(node_name, set())):
                    codes[k] = _EXCEEDED
        return codes

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


class _Mounts:
    """The volumes that count of the pods on each node, kept until the node's generation moves."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, tuple[tuple[Pod, Volume], ...]]] = {}

    def of(self, view: View, k: int) -> Iterable[tuple[Pod, Volume]]:
        """Those in world k."""
        if view.overlay is not None and view.overlay.worlds[k]:
            return _mounts(view.pods(k))
        row = int(view.rows[k])
        generation = int(view.cluster.nodes.generation[row])
        known = self._known.get(row)
        if known is None or known[0] != generation:
            known = self._known[row] = (generation, tuple(_mounts(view.pods(k))))
        return known[1]


def _mounts(pods: Iterable[Pod]) -> Iterator[tuple[Pod, Volume]]:
    return ((pod, volume) for pod in pods for volume in pod.spec.volumes if counts(volume))


def _limits(cluster: ClusterReader, node_name: str) -> Mapping[str, int]:
    """How many volumes of each driver the node takes; drivers without a limit are absent."""
    found = cluster.get("CSINode", node_name)
    if not isinstance(found, CSINode):
        return {}
    return {
        driver.name: driver.allocatable.count
        for driver in found.spec.drivers
        if driver.allocatable is not None and driver.allocatable.count is not None
    }


def _exceeded(
    limits: Mapping[str, int], wanted: set[Identity], used: set[Identity], attached: set[Identity]
) -> bool:
    """Whether some driver would have more volumes than its limit; a shared volume counts once."""
    there = Counter(driver for driver, _ in used | attached)
    new = Counter(driver for driver, _ in wanted - used)
    return any(driver in limits and there[driver] + more > limits[driver] for driver, more in new.items())


def _attachments(cluster: ClusterReader) -> Mapping[str, set[Identity]]:
    """The CSI volumes that are attached to each node, or are to be."""
    found: dict[str, set[Identity]] = {}
    for item in cluster.list("VolumeAttachment"):
        if not isinstance(item, VolumeAttachment) or not item.spec.attacher:
            continue
        name = item.spec.source.persistent_volume_name
        volume = None if name is None else find_volume(cluster, name)
        if volume is not None and volume.spec.csi is not None:
            volumes = found.setdefault(item.spec.node_name, set())
            volumes.add((item.spec.attacher, volume.spec.csi.volume_handle))
    return found


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
    """A volume was detached, and the pod names a claim or an in-tree disk of the same driver."""
    gone = event.old
    for volume in waiting.spec.volumes:
        if volume.persistent_volume_claim is not None:
            return Hint.Queue
        known = identity(volume, {})
        if known is not None and isinstance(gone, VolumeAttachment) and gone.spec.attacher == known[0]:
            return Hint.Queue
    return Hint.Skip


def build(_args: object, handle: Handle) -> NodeVolumeLimits:
    """Build the plugin; ValueError when a gate asks for what it cannot do."""
    if handle.gates.enabled("VolumeLimitScaling"):
        raise ValueError("feature gate VolumeLimitScaling is not built: turn it off")
    return NodeVolumeLimits()
