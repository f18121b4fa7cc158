"""What runs on a node uses so much: the measurements from which a kubelet derives its signals.

Follows the kubelet's summary (pkg/kubelet/eviction/helpers.go, makeSignalObservations). Which file system a
byte lies on depends on the node's disks; see `Disks`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from schedlab.api.objects import Object
from schedlab.kubelet.quantities import Form, Quantity
from schedlab.kubelet.signals import (
    ALLOCATABLE,
    CONTAINERFS,
    CONTAINERFS_INODES,
    IMAGEFS,
    IMAGEFS_INODES,
    MEMORY,
    NODEFS,
    NODEFS_INODES,
    PIDS,
    Observation,
)


class Disks(Enum):
    """How many file systems a node has, and what lies where.

    `ONE`: nodefs holds everything. `IMAGEFS`: images and containers' writable layers lie on imagefs, logs and
    volumes on nodefs. `SPLIT`: only images lie on imagefs.
    """

    ONE = "one"
    IMAGEFS = "imagefs"
    SPLIT = "split"


@dataclass(frozen=True, slots=True)
class Files:
    """Bytes and inodes in use."""

    used: int = 0
    inodes: int = 0

    def __add__(self, other: Files) -> Files:
        return Files(self.used + other.used, self.inodes + other.inodes)


@dataclass(frozen=True, slots=True)
class ContainerStats:
    """One running container: its working set in bytes, its writable layer, its logs."""

    name: str
    memory: int = 0
    rootfs: Files = Files()
    logs: Files = Files()


@dataclass(frozen=True, slots=True)
class PodStats:
    """One running pod; `volumes` by the name of the volume."""

    containers: Sequence[ContainerStats] = ()
    volumes: Mapping[str, Files] = field(default_factory=dict)
    processes: int = 0

    @property
    def memory(self) -> int:
        """The working set of all its containers."""
        return sum(container.memory for container in self.containers)


@dataclass(frozen=True, slots=True)
class Room:
    """How much a node has of everything; memory for pods is what is allocatable."""

    memory: int
    allocatable: int
    nodefs: Files
    imagefs: Files
    processes: int


@dataclass(frozen=True, slots=True)
class Summary:
    """All of one node at one moment.

    `system` is what runs beside pods, `images` what images take up. `pods` is by uid; a pod that is not in it
    has no statistics (yet).
    """

    room: Room
    disks: Disks = Disks.ONE
    memory: int = 0
    processes: int = 0
    system: Files = Files()
    images: Files = Files()
    dead_containers: Files = Files()
    pods: Mapping[str, PodStats] = field(default_factory=dict)
    local: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Names of the volumes on the node's own disk, by the pod's uid."""

    def observations(self) -> dict[str, Observation]:
        """Each signal's reading."""
        nodefs, imagefs = self._filesystems()
        pods = sum(pod.memory for pod in self.pods.values())
        processes = self.processes + sum(pod.processes for pod in self.pods.values())
        room = self.room
        containerfs = (imagefs, room.imagefs) if self.disks is Disks.IMAGEFS else (nodefs, room.nodefs)
        on_nodefs = (nodefs, room.nodefs)
        on_imagefs = on_nodefs if self.disks is Disks.ONE else (imagefs, room.imagefs)
        return {
            MEMORY: _left(room.memory, self.memory + pods, Form.BINARY),
            ALLOCATABLE: _left(room.allocatable, pods, Form.BINARY),
            PIDS: _left(room.processes, processes, Form.DECIMAL),
            **_filesystem(NODEFS, NODEFS_INODES, *on_nodefs),
            **_filesystem(IMAGEFS, IMAGEFS_INODES, *on_imagefs),
            **_filesystem(CONTAINERFS, CONTAINERFS_INODES, *containerfs),
        }

    def _filesystems(self) -> tuple[Files, Files]:
        """What lies on nodefs and on imagefs; with one file system, everything on the first."""
        layers, rest = self.dead_containers, self.system
        for uid, pod in self.pods.items():
            for container in pod.containers:
                layers += container.rootfs
                rest += container.logs
            for name in self.local.get(uid, ()):
                rest += pod.volumes.get(name, Files())
        if self.disks is Disks.ONE:
            return rest + layers + self.images, Files()
        if self.disks is Disks.IMAGEFS:
            return rest, layers + self.images
        return rest + layers, self.images


def local_volumes(pod: Object) -> list[str]:
    """The volumes of a pod that take room on the node's own disk (IsLocalEphemeralVolume, and hostPath)."""

    def local(volume: Object) -> bool:
        if "emptyDir" in volume:
            return not (volume["emptyDir"] or {}).get("medium")
        return any(kind in volume for kind in ("hostPath", "configMap", "gitRepo"))

    return [volume["name"] for volume in pod["spec"].get("volumes") or () if local(volume)]


def _left(capacity: int, used: int, form: Form) -> Observation:
    return Observation(Quantity(max(capacity - used, 0), form), capacity)


def _filesystem(space: str, inodes: str, used: Files, room: Files) -> dict[str, Observation]:
    return {
        space: _left(room.used, used.used, Form.BINARY),
        inodes: _left(room.inodes, used.inodes, Form.DECIMAL),
    }
