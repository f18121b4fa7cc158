"""VolumeRestrictions: disks that only one pod may mount, and claims that only one pod may use.

Follows upstream `volumerestrictions/volume_restrictions.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from kubesched.api.objects import Pod
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
from kubesched.plugins.volumes.claims import claim_not_found, find_claim, named_claims, names_claim
from kubesched.state.events import ActionType, ClusterEvent, Resource
from kubesched.state.mounts import claim_mount, mounts_of

if TYPE_CHECKING:
    from kubesched.state import ClusterReader

DISK_CONFLICT = unschedulable("node(s) had no available disk")
CLAIM_IN_USE = unschedulable(
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by "
    "another pod"
)
_STATUSES = {1: DISK_CONFLICT, 2: CLAIM_IN_USE}
_EXCLUSIVE: Slot[tuple[frozenset[str], int]] = Slot("VolumeRestrictions exclusive claims and their users")


class VolumeRestrictions:
    """Rejects nodes where a disk is mounted, and all nodes while an exclusive claim is in use."""

    name: ClassVar[str] = "VolumeRestrictions"

    def sign(self, pod: Pod) -> Hashable | None:
        """Nothing counts for a pod without storage; for others, claims and volumes do."""
        return None if pod.has_storage else ()

    def pre_filter(self, cycle: Cycle) -> Status | None:
        """Find the pod's exclusive claims and whether they are in use; skip pods with nothing to check."""
        pod, exclusive = cycle.pod, set()
        for name in named_claims(pod):
            claim = find_claim(cycle.cluster, pod.namespace, name)
            if claim is None:
                return unresolvable(claim_not_found(name))
            if "ReadWriteOncePod" in claim.spec.access_modes:
                exclusive.add(name)
        in_use = _in_use(cycle.cluster, pod.namespace, exclusive)
        if not in_use and not any(map(_is_disk, pod.spec.volumes)):
            return SKIP
        cycle.put(_EXCLUSIVE, (frozenset(exclusive), in_use))
        return None

    def filter(self, cycle: Cycle, view: View) -> Codes:
        """Compare disks with the pods on each node; users of exclusive claims count wherever they are.

        Pods that a what-if moves count by the claim's name alone, whatever their namespace, as upstream.
        """
        exclusive, in_use = cycle.get(_EXCLUSIVE)
        users = in_use + view.moved(lambda pod: sum(name in exclusive for name in named_claims(pod)))
        codes: Codes = np.where(users > 0, 2, 0)
        codes[_mounted(cycle.pod, view)] = 1
        return codes

    def status(self, _cycle: Cycle, code: int) -> Status:
        """Tell disks from claims."""
        return _STATUSES[code]

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A pod that leaves a disk or a claim, a node, or a claim that was missing, may help."""
        return [
            ClusterEventWithHint(ClusterEvent(Resource.Pod, ActionType.Delete), _after_delete),
            ClusterEventWithHint(ClusterEvent(Resource.Node, ActionType.Add)),
            ClusterEventWithHint(ClusterEvent(Resource.PersistentVolumeClaim, ActionType.Add), names_claim),
        ]


def conflict(wanted: Volume, used: Volume) -> bool:
    """Whether both are the same disk and may not be mounted together."""
    return (
        _same_gce(wanted, used)
        or _same_aws(wanted, used)
        or _same_iscsi(wanted, used)
        or _same_rbd(wanted, used)
    )


def _same_gce(wanted: Volume, used: Volume) -> bool:
    a, b = wanted.gce_persistent_disk, used.gce_persistent_disk
    return a is not None and b is not None and a.pd_name == b.pd_name and not (a.read_only and b.read_only)


def _same_aws(wanted: Volume, used: Volume) -> bool:
    a, b = wanted.aws_elastic_block_store, used.aws_elastic_block_store
    return a is not None and b is not None and a.volume_id == b.volume_id


def _same_iscsi(wanted: Volume, used: Volume) -> bool:
    a, b = wanted.iscsi, used.iscsi
    return a is not None and b is not None and a.iqn == b.iqn and not (a.read_only and b.read_only)


def _same_rbd(wanted: Volume, used: Volume) -> bool:
    a, b = wanted.rbd, used.rbd
    if a is None or b is None or (a.read_only and b.read_only):
        return False
    return (a.pool, a.image) == (b.pool, b.image) and not set(a.monitors).isdisjoint(b.monitors)


def _is_disk(volume: Volume) -> bool:
    sources = (volume.gce_persistent_disk, volume.aws_elastic_block_store, volume.iscsi, volume.rbd)
    return any(source is not None for source in sources)


def _conflicts(pod: Pod, other: Pod) -> bool:
    return any(conflict(wanted, used) for wanted in pod.spec.volumes for used in other.spec.volumes)


def _mounted(pod: Pod, view: View) -> NDArray[np.bool_]:
    """Bool[K]: some pod on the world's node has one of the pod's disks.

    Only nodes with a pod that names the same disk are looked at, and worlds in which some pod was moved.
    """
    mounted = np.zeros(len(view), np.bool_)
    if any(map(_is_disk, pod.spec.volumes)):
        mounts = view.cluster.pods.mounts
        sharing = {slot for mount in mounts_of(pod) for slot in mounts.slots(mount)}
        worlds = np.flatnonzero(np.isin(view.rows, list(sharing)))
        for k in {*worlds.tolist(), *view.moved_worlds()}:
            mounted[k] = any(_conflicts(pod, other) for other in view.pods(k) if other.spec.volumes)
    return mounted


def _in_use(cluster: ClusterReader, namespace: str, claims: set[str]) -> int:
    """How many of the claims some pod on a known node uses."""
    nodes, mounts = cluster.nodes, cluster.pods.mounts
    return sum(
        any(nodes.objects[slot] is not None for slot in mounts.slots(claim_mount(namespace, name)))
        for name in claims
    )


def _after_delete(waiting: Pod, event: ClusterEvent) -> Hint:
    """A pod of the namespace left a disk or a claim that this pod wants."""
    gone = event.old
    if not isinstance(gone, Pod) or gone.namespace != waiting.namespace:
        return Hint.Skip
    freed = _conflicts(waiting, gone) or not set(named_claims(waiting)).isdisjoint(named_claims(gone))
    return Hint.Queue if freed else Hint.Skip


def build(_args: object, _handle: Handle) -> VolumeRestrictions:
    """Build the plugin."""
    return VolumeRestrictions()
