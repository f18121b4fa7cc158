"""Which existing volume a waiting claim would get on each node.

Follows upstream `FindMatchingVolume` (component-helpers `storage/volume/pv_helpers.go`, 1.36): one that is
already meant for the claim, else the smallest that will do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kubesched.api.labels import Selector, compile_selector
from kubesched.api.objects import PersistentVolume, PersistentVolumeClaim
from kubesched.api.quantity import nanos
from kubesched.plugins.volumes.binding.reach import reach

if TYPE_CHECKING:
    from kubesched.state.nodes import NodeColumns

Choice: TypeAlias = NDArray[np.int32]
"""I32[K]: which of the volumes each world's node gets, NONE where there is none."""

NONE = -1
_STORAGE = "storage"


def requested(claim: PersistentVolumeClaim) -> int:
    """How much the claim asks for, in nano-bytes, so that any two amounts can be told apart."""
    return nanos(claim.spec.resources.requests.get(_STORAGE, 0))


def is_for(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether the volume is bound to the claim, or set aside for it."""
    ref = volume.spec.claim_ref
    if ref is None or (ref.namespace, ref.name) != (claim.namespace, claim.name):
        return False
    return not ref.uid or ref.uid == claim.metadata.uid


def match(
    nodes: NodeColumns,
    rows: NDArray[np.int32],
    claim: PersistentVolumeClaim,
    volumes: Sequence[PersistentVolume],
    taken: Sequence[Choice],
) -> Choice:
    """Choose among the volumes of the claim's class, beside those that the pod's other claims took.

    Raises ValueError for a selector that cannot be read.
    """
    chosen = np.full(len(rows), NONE, np.int32)
    open_ = np.ones(len(rows), np.bool_)
    meant, fitting = _candidates(claim, volumes)
    for number in meant:
        asked = open_ & _free(taken, number)
        chosen[asked & reach(nodes, volumes[number])[rows]] = number
        open_ &= ~asked
    for number in fitting:
        if not open_.any():
            break
        got = open_ & _free(taken, number) & reach(nodes, volumes[number])[rows]
        chosen[got] = number
        open_ &= ~got
    return chosen


def _free(taken: Sequence[Choice], number: int) -> NDArray[np.bool_] | bool:
    """The worlds in which no other claim of the pod took the volume."""
    free: NDArray[np.bool_] | bool = True
    for other in taken:
        free = free & (other != number)
    return free


def _candidates(
    claim: PersistentVolumeClaim, volumes: Sequence[PersistentVolume]
) -> tuple[list[int], list[int]]:
    """The numbers of volumes that are meant for the claim, and of those that would do, smallest first."""
    selector = _selector(claim)
    wanted, meant, fitting = requested(claim), [], []
    for number, volume in enumerate(volumes):
        if not _suits(claim, volume, wanted):
            continue
        if is_for(volume, claim):
            meant.append(number)
        elif volume.spec.claim_ref is None and _is_available(claim, volume, selector):
            fitting.append(number)
    return meant, sorted(fitting, key=lambda number: _capacity(volumes[number]))


def _suits(claim: PersistentVolumeClaim, volume: PersistentVolume, wanted: int) -> bool:
    """What must hold of any volume: large enough, of the same mode and attributes, and here to stay."""
    spec = volume.spec
    return (
        _capacity(volume) >= wanted
        and (spec.volume_mode or "Filesystem") == (claim.spec.volume_mode or "Filesystem")
        and (spec.volume_attributes_class_name or "") == (claim.spec.volume_attributes_class_name or "")
        and volume.metadata.deletion_timestamp is None
    )


def _is_available(claim: PersistentVolumeClaim, volume: PersistentVolume, selector: Selector | None) -> bool:
    """What must hold of a volume that is nobody's: free, selected, and with the claim's access modes."""
    return (
        volume.status.phase == "Available"
        and (selector is None or selector.matches(volume.labels))
        and set(claim.spec.access_modes) <= set(volume.spec.access_modes)
    )


def _capacity(volume: PersistentVolume) -> int:
    return nanos(volume.spec.capacity.get(_STORAGE, 0))


def _selector(claim: PersistentVolumeClaim) -> Selector | None:
    if claim.spec.selector is None:
        return None
    try:
        return compile_selector(claim.spec.selector)
    except ValueError as error:
        text = f"error creating internal label selector for claim: {claim.key}: {error}"
        raise ValueError(text) from error
