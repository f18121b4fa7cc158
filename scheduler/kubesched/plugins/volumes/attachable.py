"""Which volumes a pod needs attached: the CSI driver and handle of each.

Follows `filterAttachableVolumes` and `getCSIDriverInfo` in upstream `nodevolumelimits/csi.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kubesched.api.objects import PersistentVolumeClaim, Pod
from kubesched.api.volumes import Volume
from kubesched.plugins.volumes.claims import (
    claim_name,
    claim_not_found,
    class_of_claim,
    find_claim,
    find_class,
    find_volume,
    not_made_for,
)
from kubesched.plugins.volumes.migration import Identity, driver_of, identity, plugin_of

if TYPE_CHECKING:
    from kubesched.state import ClusterReader


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


class Attachable:
    """Resolves volumes, each claim once. Good for one cycle."""

    def __init__(self, cluster: ClusterReader) -> None:
        self._cluster = cluster
        self._known: dict[str, Identity | None] = {}

    def of_new_pod(self, pod: Pod) -> set[Identity]:
        """What the pod to be placed needs.

        Raises ClaimNotFoundError, and ValueError for a claim or disk that cannot be the pod's.
        """
        return {
            found
            for volume in pod.spec.volumes
            if (found := self._resolve(pod, volume, new=True)) is not None
        }

    def of_mounts(self, mounts: Iterable[tuple[Pod, Volume]]) -> set[Identity]:
        """What pods that have a node need; claims that are gone do not count. Raises ValueError."""
        return {
            found for pod, volume in mounts if (found := self._resolve(pod, volume, new=False)) is not None
        }

    def _resolve(self, pod: Pod, volume: Volume, *, new: bool) -> Identity | None:
        name = claim_name(pod, volume)
        if name is None:
            try:
                return identity(volume, {})
            except ValueError as error:
                raise ValueError(f"converting volume({volume.name}) from inline to csi: {error}") from error
        if not name:
            raise ValueError("PersistentVolumeClaim had no name")
        claim = find_claim(self._cluster, pod.namespace, name)
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
        volume = find_volume(self._cluster, claim.spec.volume_name) if claim.spec.volume_name else None
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
        storage_class = find_class(self._cluster, class_of_claim(claim))
        driver = driver_of(storage_class.provisioner) if storage_class else ""
        return (driver, f"\n{claim.key}") if driver else None
