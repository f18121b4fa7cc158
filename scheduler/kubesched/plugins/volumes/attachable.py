"""Which volumes a pod needs attached: the CSI driver and handle of each.

Follows `filterAttachableVolumes` and `getCSIDriverInfo` in upstream `nodevolumelimits/csi.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable

from kubesched.api.objects import PersistentVolumeClaim, Pod
from kubesched.api.volumes import Volume
from kubesched.plugins.volumes.claims import (
    Lookup,
    claim_name,
    claim_not_found,
    class_of_claim,
    find_claim,
    find_class,
    find_volume,
    not_made_for,
)
from kubesched.plugins.volumes.migration import Identity, counted_driver, identity, plugin_of


class ClaimNotFoundError(LookupError):
    """The pod names a claim that is not there."""

    def __str__(self) -> str:
        """The text alone."""
        return str(self.args[0])


def counts(volume: Volume) -> bool:
    """Whether the volume may need attaching: a claim of any kind, or a disk that a driver has taken over."""
    return (
        volume.persistent_volume_claim is not None
        or volume.ephemeral is not None
        or plugin_of(volume) is not None
    )


def of_disks(pod: Pod) -> set[Identity]:
    """What the in-tree disks that the pod names itself need; ValueError for one that cannot be read."""
    found = set()
    for volume in pod.spec.volumes:
        try:
            one = identity(volume, {})
        except ValueError as error:
            raise ValueError(f"converting volume({volume.name}) from inline to csi: {error}") from error
        if one is not None:
            found.add(one)
    return found


class Attachable:
    """Resolves volumes, each claim once. Good for as long as nothing changes."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._known: dict[str, Identity | None] = {}

    def of_claims(self, pod: Pod) -> set[Identity]:
        """What the claims of the pod that is to be placed need.

        Raises ClaimNotFoundError, and ValueError for a claim that cannot be the pod's.
        """
        found = (self._of_volume(pod, volume, new=True) for volume in pod.spec.volumes)
        return {one for one in found if one is not None}

    def of_pods(self, pods: Iterable[Pod]) -> set[Identity]:
        """What pods that have a node need; claims that are gone do not count. Raises ValueError."""
        found: set[Identity] = set()
        for pod in pods:
            claimed = (self._of_volume(pod, volume, new=False) for volume in pod.spec.volumes)
            found.update(one for one in claimed if one is not None)
            found.update(of_disks(pod))
        return found

    def _of_volume(self, pod: Pod, volume: Volume, *, new: bool) -> Identity | None:
        name = claim_name(pod, volume)
        if name is None:
            return None
        if not name:
            raise ValueError("PersistentVolumeClaim had no name")
        claim = find_claim(self._lookup, pod.namespace, name)
        if claim is None:
            if new:
                raise ClaimNotFoundError(f"looking up PVC {pod.namespace}/{name}: {claim_not_found(name)}")
            return None
        if volume.persistent_volume_claim is None and (wrong := not_made_for(pod, claim)):
            raise ValueError(wrong)
        return self._of_claim(claim)

    def _of_claim(self, claim: PersistentVolumeClaim) -> Identity | None:
        if claim.key not in self._known:
            self._known[claim.key] = self._look_up(claim)
        return self._known[claim.key]

    def _look_up(self, claim: PersistentVolumeClaim) -> Identity | None:
        """The bound volume's identity; of an unbound claim, one that stands for the volume to come."""
        volume = find_volume(self._lookup, claim.spec.volume_name) if claim.spec.volume_name else None
        if volume is None:
            return self._to_come(claim)
        if volume.spec.csi is not None:
            found: Identity | None = (volume.spec.csi.driver, volume.spec.csi.volume_handle)
        else:
            try:
                found = identity(volume.spec, volume.labels)
            except ValueError:
                return None
        return found if found and all(found) else None

    def _to_come(self, claim: PersistentVolumeClaim) -> Identity | None:
        """By the class's provisioner; no driver uses a handle that begins with a line feed."""
        storage_class = find_class(self._lookup, class_of_claim(claim))
        driver = counted_driver(storage_class.provisioner) if storage_class else ""
        return (driver, f"\n{claim.key}") if driver else None
