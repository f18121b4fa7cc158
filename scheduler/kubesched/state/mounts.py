"""Which slots have pods that mount a claim, or a disk that pods name themselves, and how many pods each has.

Kept through every pod event, so that "who uses this claim" never means a look at all pods. Follows upstream
`framework/types.go` (NodeInfo.PVCRefCounts).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kubesched.api.pod import Pod

Mount = tuple[str, ...]
"""What is mounted: the kind of source, then what names it within the kind."""


def claim_mount(namespace: str, name: str) -> Mount:
    """A claim that pods name themselves."""
    return "claim", namespace, name


def ephemeral_mount(namespace: str, name: str) -> Mount:
    """The claim that was made for an ephemeral volume."""
    return "ephemeral", namespace, name


def mounts_of(pod: Pod) -> Iterator[Mount]:
    """The pod's mounts, one per volume; sources that cannot be shared between pods are left out."""
    for volume in pod.spec.volumes:
        if (source := volume.persistent_volume_claim) is not None:
            yield claim_mount(pod.namespace, source.claim_name)
        elif volume.ephemeral is not None:
            yield ephemeral_mount(pod.namespace, f"{pod.name}-{volume.name}")
        elif (google := volume.gce_persistent_disk) is not None:
            yield "gce", google.pd_name
        elif (amazon := volume.aws_elastic_block_store) is not None:
            yield "aws", amazon.volume_id
        elif (iscsi := volume.iscsi) is not None:
            yield "iscsi", iscsi.iqn
        elif (rbd := volume.rbd) is not None:
            yield "rbd", rbd.pool, rbd.image


class Mounts:
    """The mounts of all pods on nodes."""

    def __init__(self) -> None:
        self._slots: dict[Mount, dict[int, int]] = {}

    def slots(self, mount: Mount) -> Collection[int]:
        """The slots with pods that have the mount; a slot may be that of a node that is not known."""
        return self._slots.get(mount, {}).keys()

    def add(self, slot: int, pod: Pod) -> None:
        """Count a pod's mounts in."""
        for mount in mounts_of(pod):
            counts = self._slots.setdefault(mount, {})
            counts[slot] = counts.get(slot, 0) + 1

    def remove(self, slot: int, pod: Pod) -> None:
        """Count a pod's mounts out."""
        for mount in mounts_of(pod):
            counts = self._slots[mount]
            counts[slot] -= 1
            if not counts[slot]:
                del counts[slot]
            if not counts:
                del self._slots[mount]

    def all(self) -> dict[Mount, dict[int, int]]:
        """Every mount with its pods per slot; not to be written."""
        return self._slots
