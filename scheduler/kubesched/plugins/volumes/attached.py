"""How many volumes of each CSI driver are on each node, kept from one decision to the next.

What is known of a node is worked out anew when its pods changed, or an object that was looked at on the way
from them to their volumes. So the cost of a decision depends on what happened since the last one, and not on
how many pods there are. Follows `Filter` in upstream `nodevolumelimits/csi.go` (1.36).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kubesched.api.objects import CSINode, Object, Pod, VolumeAttachment
from kubesched.plugins.volumes.attachable import Attachable
from kubesched.plugins.volumes.claims import Lookup, find_volume
from kubesched.plugins.volumes.migration import Identity

if TYPE_CHECKING:
    from kubesched.state import ClusterReader

_LOOKED_AT = ("CSINode", "PersistentVolumeClaim", "PersistentVolume", "StorageClass")
_ATTACHMENT = "VolumeAttachment"
_NO_LIMIT = -1


@dataclass(frozen=True, slots=True)
class OnNode:
    """One node with limits: the limit of each driver, its pods' volumes, and those attached to it.

    `unreadable` tells why a pod's volume cannot be read, and then `used` is empty.
    """

    limits: Mapping[str, int]
    attached: frozenset[Identity]
    used: frozenset[Identity]
    unreadable: str | None
    looked_at: frozenset[tuple[str, str]]

    def exceeded(self, wanted: set[Identity], used: Collection[Identity]) -> bool:
        """Whether some driver would have more volumes than its limit; a shared volume counts once."""
        there = Counter(driver for driver, _ in self.attached.union(used))
        new = Counter(driver for driver, _ in wanted.difference(used))
        return any(d in self.limits and there[d] + more > self.limits[d] for d, more in new.items())


class _Recorded:
    """A look-up that writes down what was asked for, found or not."""

    def __init__(self, cluster: ClusterReader) -> None:
        self._cluster = cluster
        self.asked: set[tuple[str, str]] = set()

    def get(self, kind: str, key: str) -> Object | None:
        """The object of that key."""
        self.asked.add((kind, key))
        return self._cluster.get(kind, key)


class AttachedVolumes:
    """What is known of each node with limits, as records and as one column per driver."""

    def __init__(self, cluster: ClusterReader) -> None:
        self._cluster = cluster
        self._generation = 0
        self._marks: dict[str, int] = dict.fromkeys((*_LOOKED_AT, _ATTACHMENT), 0)
        self._known: dict[int, OnNode] = {}
        self._unreadable: dict[int, str] = {}
        self._limits: dict[str, NDArray[np.int64]] = {}
        self._there: dict[str, NDArray[np.int64]] = {}
        self._holders: defaultdict[Identity, set[int]] = defaultdict(set)
        self._dependent: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        self._attachments: defaultdict[str, dict[str, VolumeAttachment]] = defaultdict(dict)
        self._attached_to: dict[str, str] = {}

    def on(self, row: int) -> OnNode:
        """What is known of a node."""
        return self._known[row]

    def unreadable(self, rows: NDArray[np.int32]) -> str | None:
        """Why a volume of some pod on one of these nodes cannot be read."""
        if not self._unreadable:
            return None
        return next((self._unreadable[row] for row in rows.tolist() if row in self._unreadable), None)

    def exceeded(self, rows: NDArray[np.int32], wanted: Collection[Identity]) -> NDArray[np.bool_]:
        """Bool[K]: as `OnNode.exceeded`, for all rows at once."""
        found = np.zeros(len(rows), np.bool_)
        drivers: defaultdict[str, list[Identity]] = defaultdict(list)
        for one in wanted:
            drivers[one[0]].append(one)
        for driver in drivers.keys() & self._limits.keys():
            limit, there = self._limits[driver][rows], self._there[driver][rows]
            new = np.full(len(rows), len(drivers[driver]))
            for volume in drivers[driver]:
                if holders := self._holders.get(volume):
                    new -= np.isin(rows, list(holders))
            found |= (limit != _NO_LIMIT) & (new > 0) & (there + new > limit)
        return found

    def refresh(self) -> None:
        """Take over what happened since the last time."""
        nodes = self._cluster.nodes
        self._fit(nodes.capacity)
        stale: set[int] = set(np.flatnonzero(nodes.generation > self._generation).tolist())
        self._generation = int(nodes.generation.max(initial=0))
        for kind in (*_LOOKED_AT, _ATTACHMENT):
            keys = self._cluster.changes.since(kind, self._marks[kind])
            self._marks[kind] = self._cluster.changes.mark(kind)
            if keys is None:
                stale.update(nodes.slot.values())
                keys = self._cluster_keys(kind)
            for key in keys:
                stale |= self._note_attachment(key) if kind == _ATTACHMENT else self._dependent[kind, key]
        for slot in stale:
            self._forget(slot)
            if nodes.objects[slot] is not None:
                self._work_out(slot)

    def _cluster_keys(self, kind: str) -> list[str]:
        """All keys of a kind, known or gone, when it is not known which of them changed."""
        gone = self._attached_to if kind == _ATTACHMENT else ()
        return list(dict.fromkeys((*(item.key for item in self._cluster.list(kind)), *gone)))

    def _note_attachment(self, key: str) -> set[int]:
        """File an attachment under its node; give the slots that it concerns."""
        names = set()
        if (before := self._attached_to.pop(key, None)) is not None:
            del self._attachments[before][key]
            names.add(before)
        item = self._cluster.get(_ATTACHMENT, key)
        if isinstance(item, VolumeAttachment):
            self._attached_to[key] = item.spec.node_name
            self._attachments[item.spec.node_name][key] = item
            names.add(item.spec.node_name)
        return {slot for name in names if (slot := self._cluster.nodes.slot.get(name)) is not None}

    def _forget(self, slot: int) -> None:
        known = self._known.pop(slot, None)
        if known is None:
            return
        self._unreadable.pop(slot, None)
        for driver in known.limits:
            self._limits[driver][slot] = _NO_LIMIT
        for driver, _ in known.used | known.attached:
            self._there[driver][slot] = 0
        for volume in known.used:
            self._holders[volume].discard(slot)
            if not self._holders[volume]:
                del self._holders[volume]
        for asked in known.looked_at:
            self._dependent[asked].discard(slot)

    def _work_out(self, slot: int) -> None:
        found = self._look_at(slot)
        for asked in found.looked_at:
            self._dependent[asked].add(slot)
        self._known[slot] = found
        if found.unreadable is not None:
            self._unreadable[slot] = found.unreadable
        capacity = self._cluster.nodes.capacity
        counts = Counter(driver for driver, _ in found.used | found.attached)
        for driver in (*found.limits, *counts):
            if driver not in self._limits:
                self._limits[driver] = np.full(capacity, _NO_LIMIT, np.int64)
                self._there[driver] = np.zeros(capacity, np.int64)
            self._limits[driver][slot] = found.limits.get(driver, _NO_LIMIT)
            self._there[driver][slot] = counts[driver]
        for volume in found.used:
            self._holders[volume].add(slot)

    def _look_at(self, slot: int) -> OnNode:
        """Read one node; of one without limits nothing more than its CSINode matters."""
        lookup = _Recorded(self._cluster)
        name = self._cluster.nodes.names[slot]
        limits = _limits(lookup.get("CSINode", name))
        if not limits:
            return OnNode({}, frozenset(), frozenset(), None, frozenset(lookup.asked))
        used, unreadable = _used(lookup, self._cluster.pods.on_node(slot))
        attached = _attached(lookup, self._attachments.get(name, {}).values())
        return OnNode(limits, attached, used, unreadable, frozenset(lookup.asked))

    def _fit(self, capacity: int) -> None:
        """Make room for more slots."""
        for columns, fill in ((self._limits, _NO_LIMIT), (self._there, 0)):
            for driver, column in columns.items():
                if len(column) < capacity:
                    rest = np.full(capacity - len(column), fill, np.int64)
                    columns[driver] = np.concatenate([column, rest])


def _limits(found: Object | None) -> dict[str, int]:
    """How many volumes of each driver the node takes; drivers without a limit are absent."""
    if not isinstance(found, CSINode):
        return {}
    return {
        driver.name: driver.allocatable.count
        for driver in found.spec.drivers
        if driver.allocatable is not None and driver.allocatable.count is not None
    }


def _used(lookup: Lookup, pods: Collection[Pod]) -> tuple[frozenset[Identity], str | None]:
    """The volumes of the pods, or why one of them cannot be read."""
    try:
        return frozenset(Attachable(lookup).of_pods(pods)), None
    except ValueError as error:
        return frozenset(), str(error)


def _attached(lookup: Lookup, attachments: Collection[VolumeAttachment]) -> frozenset[Identity]:
    """The CSI volumes that are attached to a node, or are to be."""
    found = set()
    for item in attachments:
        name = item.spec.source.persistent_volume_name
        volume = find_volume(lookup, name) if item.spec.attacher and name is not None else None
        if volume is not None and volume.spec.csi is not None:
            found.add((item.spec.attacher, volume.spec.csi.volume_handle))
    return frozenset(found)
