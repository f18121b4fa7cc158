"""What the pods and the machines of a test use, as the test declares it.

Nothing runs on a fake node, so nothing is measured there: `usage` says what would be. Later declarations win
over earlier ones, field by field, and a declaration also holds for pods that come later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from schedlab.api.objects import Object, matches_labels
from schedlab.judge.values import quantity
from schedlab.kubelet.courses import Amount, amount_at
from schedlab.kubelet.stats import (
    ContainerStats,
    Disks,
    Files,
    PodStats,
    Room,
    Summary,
    local_volumes,
)

_PIDS = 4_194_304  # kernel.pid_max on 64-bit machines
_BYTES_PER_INODE = 16_384  # as mkfs.ext4 makes them


@dataclass(frozen=True, slots=True)
class PodUsage:
    """What pods use from a moment on: of a namespace, by name or by labels; of one container or the first.

    `began` is in seconds; for a pod that started later, time counts from its start.
    """

    namespace: str
    began: float
    pod: str | None = None
    selector: Mapping[str, str] = field(default_factory=dict)
    container: str | None = None
    amounts: Mapping[str, Amount] = field(default_factory=dict)
    volumes: Mapping[str, Amount] = field(default_factory=dict)

    def about(self, pod: Object) -> bool:
        """True if the pod is meant."""
        metadata = pod["metadata"]
        return (
            metadata.get("namespace") == self.namespace
            and self.pod in (None, metadata["name"])
            and matches_labels(pod, dict(self.selector))
        )


@dataclass(frozen=True, slots=True)
class NodeUsage:
    """What runs on a machine besides pods, what its images take, how large it is; from a moment on."""

    node: str
    began: float
    amounts: Mapping[str, Amount] = field(default_factory=dict)
    capacity: Mapping[str, int | str] = field(default_factory=dict)


@dataclass(slots=True)
class Declared:
    """All declarations of a test, in the order in which they were made."""

    pods: list[PodUsage] = field(default_factory=list)
    nodes: list[NodeUsage] = field(default_factory=list)

    def of_pod(self, pod: Object, started: float, now: float) -> PodStats:
        """What a pod uses now; nothing of what nobody has said anything about."""
        names = [container["name"] for container in pod["spec"]["containers"]]
        found: dict[str, dict[str, int]] = {name: {} for name in names}
        volumes: dict[str, int] = {}
        for rule in self.pods:
            if rule.about(pod):
                since = now - max(rule.began, started)
                into = found.setdefault(rule.container or names[0], {})
                into.update({key: amount_at(value, since) for key, value in rule.amounts.items()})
                volumes.update({key: amount_at(value, since) for key, value in rule.volumes.items()})
        return PodStats(
            containers=[_container(name, amounts) for name, amounts in found.items()],
            volumes={name: Files(used, 0) for name, used in volumes.items()},
            processes=sum(amounts.get("pids", 0) for amounts in found.values()),
        )

    def of_node(self, node: Object, now: float) -> tuple[dict[str, int], dict[str, int]]:
        """What a machine uses now besides its pods, and the capacities that were declared for it."""
        used: dict[str, int] = {}
        capacity: dict[str, int] = {}
        for rule in self.nodes:
            if rule.node == node["metadata"]["name"]:
                used |= {key: amount_at(value, now - rule.began) for key, value in rule.amounts.items()}
                capacity |= {key: amount_at(value, 0) for key, value in rule.capacity.items()}
        return used, capacity


@dataclass(frozen=True, slots=True)
class Freed:
    """What was freed on a machine for good: its unused images and dead containers."""

    images: bool = False
    containers: bool = False


def summarize(
    declared: Declared,
    node: Object,
    pods: Iterable[tuple[Object, float]],
    now: float,
    *,
    disks: Disks,
    freed: Freed,
) -> Summary:
    """What a kubelet would measure on a node now; `pods` are the running ones with the time they started."""
    used, capacity = declared.of_node(node, now)
    running = list(pods)
    unused = 0 if freed.images else used.get("unusedImages", 0)
    dead = 0 if freed.containers else used.get("deadContainers", 0)
    return Summary(
        room=_room(node, capacity),
        disks=disks,
        memory=used.get("memory", 0),
        processes=used.get("pids", 0),
        system=Files(used.get("nodefs", 0), used.get("nodefsInodes", 0)),
        images=Files(used.get("images", 0) + unused, used.get("imagesInodes", 0)),
        dead_containers=Files(dead),
        pods={pod["metadata"]["uid"]: declared.of_pod(pod, started, now) for pod, started in running},
        local={pod["metadata"]["uid"]: local_volumes(pod) for pod, _ in running},
    )


def _room(node: Object, declared: Mapping[str, int]) -> Room:
    """The machine's size: what its Node says, unless it was declared otherwise."""
    status = node["status"]
    stated = {**(status.get("capacity") or {}), "memory": (status.get("capacity") or {}).get("memory", "0")}
    memory = int(quantity(str(stated["memory"])))
    nodefs = declared.get("nodefs", int(quantity(str(stated.get("ephemeral-storage", "0")))))
    imagefs = declared.get("imagefs", nodefs)
    allocatable = (status.get("allocatable") or {}).get("memory", stated["memory"])
    return Room(
        memory=declared.get("memory", memory),
        allocatable=int(quantity(str(allocatable))),
        nodefs=Files(nodefs, declared.get("nodefsInodes", nodefs // _BYTES_PER_INODE)),
        imagefs=Files(imagefs, declared.get("imagefsInodes", imagefs // _BYTES_PER_INODE)),
        processes=declared.get("pids", _PIDS),
    )


def _container(name: str, amounts: Mapping[str, int]) -> ContainerStats:
    return ContainerStats(
        name=name,
        memory=amounts.get("memory", 0),
        rootfs=Files(amounts.get("rootfs", 0), amounts.get("inodes", 0)),
        logs=Files(amounts.get("logs", 0), 0),
    )
