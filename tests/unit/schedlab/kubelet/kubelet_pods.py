"""Pods and measurements as the tests of kubelets need them, one line each."""

from __future__ import annotations

from typing import Any

from schedlab.api.objects import Object
from schedlab.kubelet.quantities import parse
from schedlab.kubelet.signals import MEMORY, NODEFS, NODEFS_INODES, PIDS, Observation
from schedlab.kubelet.stats import ContainerStats, Files, PodStats, Room, Summary

LOW, DEFAULT, HIGH = -1, 0, 1
MI = 1 << 20
ROOM = Room(
    memory=8192 * MI,
    allocatable=8192 * MI,
    nodefs=Files(100_000 * MI, 100_000),
    imagefs=Files(100_000 * MI, 100_000),
    processes=1000,
)


def pod(
    name: str,
    priority: int = DEFAULT,
    *,
    memory: str = "",
    storage: str = "",
    limit: str = "",
    qos: str = "",
    **spec: Any,
) -> Object:
    """A pod with one container `main`, its requests, its limit of ephemeral-storage, and more of a spec."""
    asked = {name: text for name, text in (("memory", memory), ("ephemeral-storage", storage)) if text}
    resources = {"requests": asked, "limits": {"ephemeral-storage": limit} if limit else {}}
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "ns", "uid": f"uid-{name}", "generation": 1},
        "spec": {"priority": priority, "containers": [{"name": "main", "resources": resources}], **spec},
        "status": {"qosClass": qos or ("Burstable" if asked or limit else "BestEffort")},
    }


def memory(text: str) -> PodStats:
    return PodStats([ContainerStats("main", memory=parse(text).value)])


def disk(rootfs: str, logs: str = "0", volume: str = "0") -> PodStats:
    return PodStats(
        [ContainerStats("main", rootfs=Files(parse(rootfs).value), logs=Files(parse(logs).value))],
        {"local-volume": Files(parse(volume).value)},
    )


def inodes(rootfs: int, logs: int, volume: int) -> PodStats:
    container = ContainerStats("main", rootfs=Files(0, rootfs), logs=Files(0, logs))
    return PodStats([container], {"local-volume": Files(0, volume)})


LOCAL = [{"name": "local-volume", "emptyDir": {}}]


def observed(**available: str) -> dict[str, Observation]:
    """Readings by the part of the signal before the dot; each `available/capacity`, or available alone."""
    signals = {"memory": MEMORY, "nodefs": NODEFS, "inodes": NODEFS_INODES, "pid": PIDS}
    readings = {}
    for name, text in available.items():
        left, _, capacity = text.partition("/")
        quantity = parse(left)
        readings[signals[name]] = Observation(quantity, parse(capacity).value if capacity else 0)
    return readings


class Node:
    """A machine whose memory left is set by hand; the pods' usage only ranks them."""

    def __init__(self, stats: dict[str, PodStats], available: str) -> None:
        self.stats = stats
        self.available = available
        self.reclaimed: list[str] = []
        self.images = "0"
        self.containers = "0"
        self.nodefs = "0"

    def summary(self) -> Summary:
        pods = sum(usage.memory for usage in self.stats.values())
        return Summary(
            room=ROOM,
            memory=ROOM.memory - parse(self.available).value - pods,
            images=Files(parse(self.images).value),
            dead_containers=Files(parse(self.containers).value),
            system=Files(parse(self.nodefs).value),
            pods=self.stats,
        )

    def delete_unused_images(self) -> None:
        self.reclaimed.append("images")
        self.images = "0"

    def delete_dead_containers(self) -> None:
        self.reclaimed.append("containers")
        self.containers = "0"
