"""The claims of a pod, sorted by what is to be done about them.

Follows `podHasPVCs` and `GetPodVolumeClaims` in upstream `volumebinding` (1.36).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kubesched.api.objects import PersistentVolume, PersistentVolumeClaim, Pod
from kubesched.plugins.volumes.binding.assumed import Assumed
from kubesched.plugins.volumes.claims import (
    claim_name,
    claim_not_found,
    class_of_claim,
    class_of_volume,
    find_claim,
    find_class,
    not_made_for,
)

if TYPE_CHECKING:
    from kubesched.state import ClusterReader

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
SELECTED_NODE = "volume.kubernetes.io/selected-node"


@dataclass(slots=True)
class PodClaims:
    """Bound claims, those that wait for this pod, and those that should be bound by now.

    `available` has the volumes of each class that a waiting claim asks for.
    """

    bound: list[PersistentVolumeClaim] = field(default_factory=list)
    waiting: list[PersistentVolumeClaim] = field(default_factory=list)
    overdue: list[PersistentVolumeClaim] = field(default_factory=list)
    available: dict[str, list[PersistentVolume]] = field(default_factory=dict)


def unusable_claim(cluster: ClusterReader, pod: Pod) -> str | None:
    """Why one of the pod's claims cannot be used at all."""
    for volume in pod.spec.volumes:
        name = claim_name(pod, volume)
        if name is None:
            continue
        ephemeral = volume.persistent_volume_claim is None
        claim = find_claim(cluster, pod.namespace, name)
        if claim is None:
            waiting = "waiting for ephemeral volume controller to create the persistentvolumeclaim"
            return f'{waiting} "{name}"' if ephemeral else claim_not_found(name)
        problem = _problem(claim) or (not_made_for(pod, claim) if ephemeral else None)
        if problem:
            return problem
    return None


def _problem(claim: PersistentVolumeClaim) -> str | None:
    if claim.status.phase == "Lost":
        volume = claim.spec.volume_name
        return f'persistentvolumeclaim "{claim.name}" bound to non-existent persistentvolume "{volume}"'
    if claim.metadata.deletion_timestamp is not None:
        return f'persistentvolumeclaim "{claim.name}" is being deleted'
    return None


def is_bound(claim: PersistentVolumeClaim) -> bool:
    """The claim has its volume, and the controller has finished."""
    return bool(claim.spec.volume_name) and BIND_COMPLETED in claim.annotations


def claims_of(pod: Pod, claims: Assumed[PersistentVolumeClaim]) -> Iterator[PersistentVolumeClaim]:
    """The pod's claims, one per volume. Raises ValueError for one that is not there."""
    for volume in pod.spec.volumes:
        name = claim_name(pod, volume)
        if name is not None:
            claim = claims.current(f"{pod.namespace}/{name}")
            if claim is None:
                raise ValueError(f'error getting PVC "{pod.namespace}/{name}": {claim_not_found(name)}')
            yield claim


def sort_claims(
    cluster: ClusterReader,
    pod: Pod,
    claims: Assumed[PersistentVolumeClaim],
    volumes: Assumed[PersistentVolume],
) -> PodClaims:
    """Sort the pod's claims. Raises ValueError for a class without a binding mode."""
    found = PodClaims()
    for claim in claims_of(pod, claims):
        if is_bound(claim):
            found.bound.append(claim)
        elif _waits(cluster, claim) and not claim.spec.volume_name:
            found.waiting.append(claim)
        else:
            found.overdue.append(claim)
    wanted = {class_of_claim(claim) for claim in found.waiting}
    if wanted:
        found.available = {name: [] for name in wanted}
        for volume in volumes.all():
            if (name := class_of_volume(volume)) in wanted:
                found.available[name].append(volume)
    return found


def _waits(cluster: ClusterReader, claim: PersistentVolumeClaim) -> bool:
    name = class_of_claim(claim)
    storage_class = find_class(cluster, name) if name else None
    if storage_class is None:
        return False
    if storage_class.volume_binding_mode is None:
        raise ValueError(f'VolumeBindingMode not set for StorageClass "{name}"')
    return storage_class.waits_for_consumer
