"""VolumeZone: bound volumes that carry zone or region labels want nodes with the same.

Follows upstream `volumezone/volume_zone.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kubesched.api.labels import Operator, Requirement
from kubesched.api.objects import PersistentVolume, PersistentVolumeClaim, Pod, StorageClass
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
)
from kubesched.plugins.volumes.claims import (
    claim_not_found,
    class_not_found,
    class_of_claim,
    find_claim,
    find_class,
    find_volume,
    named_claims,
    names_claim,
    volume_not_found,
)
from kubesched.state.events import ActionType, ClusterEvent, Resource

ELSEWHERE = unresolvable("node(s) had no available volume zone")
_ZONE, _REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
# Each label of a volume, and the label of a node that stands in for it.
_LABELS = {
    "failure-domain.beta.kubernetes.io/zone": _ZONE,
    "failure-domain.beta.kubernetes.io/region": _REGION,
    _ZONE: _ZONE,
    _REGION: _REGION,
}


@dataclass(frozen=True, slots=True)
class Topology:
    """A label of a volume: the key, and the values of nodes that reach it."""

    key: str
    values: frozenset[str]


_TOPOLOGIES: Slot[tuple[Topology, ...]] = Slot("VolumeZone topologies")


class VolumeZone:
    """Rejects nodes in another zone or region than one of the pod's bound volumes."""

    name: ClassVar[str] = "VolumeZone"

    def sign(self, pod: Pod) -> Hashable | None:
        """Nothing counts for a pod without storage; for others, claims and volumes do."""
        return None if pod.has_storage else ()

    def pre_filter(self, cycle: Cycle) -> Status | None:
        """Collect the labels of the pod's bound volumes; skip pods whose volumes have none."""
        found: list[Topology] = []
        for name in named_claims(cycle.pod):
            volume = _volume(cycle, name)
            if isinstance(volume, Status):
                return volume
            if volume is not None:
                found += topologies(volume)
        if not found:
            return SKIP
        cycle.put(_TOPOLOGIES, tuple(found))
        return None

    def filter(self, cycle: Cycle, view: View) -> Codes:
        """One question per label; a node without any zone or region label may be anywhere."""
        nodes = cycle.cluster.nodes
        unlabelled, reached = ~_has(view, *_LABELS), np.ones(nodes.capacity, np.bool_)
        for topology in cycle.get(_TOPOLOGIES):
            same = nodes.admits(Requirement(topology.key, Operator.IN, topology.values))
            stand_in = _LABELS[topology.key]
            if stand_in != topology.key:
                missing = nodes.admits(Requirement(topology.key, Operator.DOES_NOT_EXIST, frozenset()))
                same = same | (missing & nodes.admits(Requirement(stand_in, Operator.IN, topology.values)))
            reached &= same
        codes: Codes = (~(unlabelled | reached[view.rows])).astype(np.int64)
        return codes

    def status(self, _cycle: Cycle, _code: int) -> Status:
        """Give the one reason there is."""
        return ELSEWHERE

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Classes, nodes, claims and volumes that come, or that change where a volume is, may help."""
        changed = ActionType.Add | ActionType.Update
        node = ActionType.Add | ActionType.UpdateNodeLabel
        return [
            ClusterEventWithHint(ClusterEvent(Resource.StorageClass, ActionType.Add), _after_class),
            ClusterEventWithHint(ClusterEvent(Resource.Node, node)),
            ClusterEventWithHint(ClusterEvent(Resource.PersistentVolumeClaim, changed), names_claim),
            ClusterEventWithHint(ClusterEvent(Resource.PersistentVolume, changed), _after_volume),
        ]


def topologies(volume: PersistentVolume) -> Iterator[Topology]:
    """The zone and region labels of a volume; one with an empty part is passed over."""
    for key in _LABELS:
        if key in volume.labels:
            values = [value.strip() for value in volume.labels[key].split("__")]
            if all(values):
                yield Topology(key, frozenset(values))


def _volume(cycle: Cycle, name: str) -> PersistentVolume | Status | None:
    """The volume of a claim; None while it waits for a consumer; a status when there should be one."""
    if not name:
        return unresolvable("PersistentVolumeClaim had no name")
    claim = find_claim(cycle.cluster, cycle.pod.namespace, name)
    if claim is None:
        return unresolvable(claim_not_found(name))
    if claim.spec.volume_name:
        volume = find_volume(cycle.cluster, claim.spec.volume_name)
        return unresolvable(volume_not_found(claim.spec.volume_name)) if volume is None else volume
    return _waits(cycle, claim)


def _waits(cycle: Cycle, claim: PersistentVolumeClaim) -> Status | None:
    """None for an unbound claim whose class waits for a consumer; otherwise it should be bound by now."""
    name = class_of_claim(claim)
    if not name:
        return unresolvable("PersistentVolumeClaim had no pv name and storageClass name")
    storage_class = find_class(cycle.cluster, name)
    if storage_class is None:
        return unresolvable(class_not_found(name))
    if storage_class.volume_binding_mode is None:
        return unresolvable(f'VolumeBindingMode not set for StorageClass "{name}"')
    return None if storage_class.waits_for_consumer else unresolvable("PersistentVolume had no name")


def _has(view: View, *keys: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Bool[K]: the node has one of the labels."""
    nodes = view.cluster.nodes
    found = np.zeros(nodes.capacity, np.bool_)
    for key in keys:
        found |= nodes.admits(Requirement(key, Operator.EXISTS, frozenset()))
    return found[view.rows]


def _after_class(_waiting: Pod, event: ClusterEvent) -> Hint:
    """Only a class that waits for a consumer makes an unbound claim acceptable."""
    new = event.new
    return Hint.Queue if isinstance(new, StorageClass) and new.waits_for_consumer else Hint.Skip


def _after_volume(_waiting: Pod, event: ClusterEvent) -> Hint:
    """A volume came, or its labels changed."""
    old, new = event.old, event.new
    if not isinstance(old, PersistentVolume) or not isinstance(new, PersistentVolume):
        return Hint.Queue
    return Hint.Skip if list(topologies(old)) == list(topologies(new)) else Hint.Queue


def build(_args: object, _handle: Handle) -> VolumeZone:
    """Build the plugin."""
    return VolumeZone()
