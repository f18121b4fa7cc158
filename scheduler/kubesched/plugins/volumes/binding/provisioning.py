"""Whether a volume can be made for a claim on each node.

Follows `checkVolumeProvisions` and `hasEnoughCapacity` in upstream `volumebinding/binder.go` (1.36).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kubesched.api.objects import CSIDriver, CSIStorageCapacity, PersistentVolumeClaim
from kubesched.api.quantity import value
from kubesched.plugins.volumes.binding.reach import accessible, allowed
from kubesched.plugins.volumes.claims import class_of_claim, find_class

if TYPE_CHECKING:
    from kubesched.state import ClusterReader

_UNSUPPORTED = frozenset({"", "kubernetes.io/no-provisioner"})


@dataclass(slots=True)
class Provisioning:
    """Of each node (by slot): the class provisions there, there is room, how many bytes (0: unknown)."""

    possible: NDArray[np.bool_]
    room: NDArray[np.bool_]
    capacity: NDArray[np.int64]


def provisioning(cluster: ClusterReader, claim: PersistentVolumeClaim) -> Provisioning:
    """Say where the claim's volume could be made. Raises ValueError for a class that is not there."""
    nodes = cluster.nodes
    everywhere, unknown = np.ones(nodes.capacity, np.bool_), np.zeros(nodes.capacity, np.int64)
    name = class_of_claim(claim)
    storage_class = find_class(cluster, name)
    if storage_class is None:
        raise ValueError(
            f'failed to find storage class "{name}"' if name else f'no class for claim "{claim.key}"'
        )
    if storage_class.provisioner in _UNSUPPORTED:
        return Provisioning(~everywhere, everywhere, unknown)
    possible = allowed(nodes, storage_class)
    size = claim.spec.resources.requests.get("storage")
    if size is None or not _tracks_capacity(cluster, storage_class.provisioner):
        return Provisioning(possible, everywhere, unknown)
    room, capacity = ~everywhere, unknown
    for item in cluster.list("CSIStorageCapacity"):
        if isinstance(item, CSIStorageCapacity) and item.storage_class_name == name:
            limit = volume_limit(item)
            if limit is not None and limit >= value(size):
                reached = accessible(nodes, item) & ~room
                capacity[reached] = value(item.capacity) if item.capacity is not None else 0
                room |= reached
    return Provisioning(possible, room, capacity)


def volume_limit(capacity: CSIStorageCapacity) -> int | None:
    """The largest volume that can be made, in bytes; None when it is not known."""
    limit = capacity.capacity if capacity.maximum_volume_size is None else capacity.maximum_volume_size
    return None if limit is None else value(limit)


def _tracks_capacity(cluster: ClusterReader, provisioner: str) -> bool:
    driver = cluster.get("CSIDriver", provisioner)
    return isinstance(driver, CSIDriver) and bool(driver.spec.storage_capacity)
