"""How a pod's volumes lead to claims, volumes and classes.

Follows upstream component-helpers `storage/ephemeral`, `storage/volume/helpers.go` and the NotFound texts of
the listers (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from kubesched.api.objects import Object, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass
from kubesched.api.volumes import Volume
from kubesched.framework import Hint
from kubesched.state.events import ClusterEvent

_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"


class Lookup(Protocol):
    """Gives objects by kind and key; the cluster does, and so does one who writes down what was asked for."""

    def get(self, kind: str, key: str) -> Object | None:
        """The object of that key."""
        ...


def claim_name(pod: Pod, volume: Volume) -> str | None:
    """The claim behind a volume: named, or made for an ephemeral volume; None for every other source."""
    if volume.persistent_volume_claim is not None:
        return volume.persistent_volume_claim.claim_name
    return f"{pod.name}-{volume.name}" if volume.ephemeral is not None else None


def named_claims(pod: Pod) -> Iterator[str]:
    """The claims that the pod names itself, without those of ephemeral volumes."""
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            yield volume.persistent_volume_claim.claim_name


def all_claims(pod: Pod) -> Iterator[str]:
    """All claims of the pod."""
    for volume in pod.spec.volumes:
        name = claim_name(pod, volume)
        if name is not None:
            yield name


def names_claim(pod: Pod, event: ClusterEvent) -> Hint:
    """Hint: the object that came or changed is a claim that the pod names."""
    return _about(pod, event.new, named_claims(pod))


def uses_claim(pod: Pod, event: ClusterEvent) -> Hint:
    """Hint: the object that came or changed is a claim of the pod."""
    return _about(pod, event.new, all_claims(pod))


def _about(pod: Pod, claim: object, names: Iterable[str]) -> Hint:
    if not isinstance(claim, PersistentVolumeClaim) or claim.namespace != pod.namespace:
        return Hint.Skip
    return Hint.Queue if claim.name in names else Hint.Skip


def not_made_for(pod: Pod, claim: PersistentVolumeClaim) -> str | None:
    """Why the claim is not that of the pod's ephemeral volume, None when it is."""
    owners = claim.metadata.owner_references
    if claim.namespace == pod.namespace and any(o.controller and o.uid == pod.uid for o in owners):
        return None
    return f"PVC {claim.key} was not created for pod {pod.key} (pod is not owner)"


def find_claim(cluster: Lookup, namespace: str, name: str) -> PersistentVolumeClaim | None:
    """The claim of that name."""
    found = cluster.get("PersistentVolumeClaim", f"{namespace}/{name}")
    return found if isinstance(found, PersistentVolumeClaim) else None


def find_volume(cluster: Lookup, name: str) -> PersistentVolume | None:
    """The persistent volume of that name."""
    found = cluster.get("PersistentVolume", name)
    return found if isinstance(found, PersistentVolume) else None


def find_class(cluster: Lookup, name: str) -> StorageClass | None:
    """The storage class of that name."""
    found = cluster.get("StorageClass", name)
    return found if isinstance(found, StorageClass) else None


def class_of_claim(claim: PersistentVolumeClaim) -> str:
    """The class that the claim asks for, empty when it asks for none."""
    return claim.annotations.get(_BETA_CLASS, claim.spec.storage_class_name or "")


def class_of_volume(volume: PersistentVolume) -> str:
    """The class of the volume."""
    return volume.annotations.get(_BETA_CLASS, volume.spec.storage_class_name)


def claim_not_found(name: str) -> str:
    """What a lister says of an unknown claim."""
    return f'persistentvolumeclaim "{name}" not found'


def volume_not_found(name: str) -> str:
    """What a lister says of an unknown volume."""
    return f'persistentvolume "{name}" not found'


def class_not_found(name: str) -> str:
    """What a lister says of an unknown class."""
    return f'storageclass.storage.k8s.io "{name}" not found'
