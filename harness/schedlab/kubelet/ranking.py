"""In which order a kubelet evicts: who exceeds its request, then low priority, then by how much.

Follows pkg/kubelet/eviction/helpers.go (rankMemoryPressure, rankPIDPressure, rankDiskPressureFunc). What has
no statistics goes first. Pods that compare equal stay in the order given; the kubelet leaves it to chance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Flag, auto
from typing import TypeAlias

from schedlab.api.objects import Object
from schedlab.kubelet.pods import priority, request
from schedlab.kubelet.signals import ALLOCATABLE, IMAGEFS, IMAGEFS_INODES, MEMORY, PIDS, RESOURCES
from schedlab.kubelet.signals import NODEFS as NODEFS_SIGNAL
from schedlab.kubelet.signals import NODEFS_INODES as NODEFS_INODES_SIGNAL
from schedlab.kubelet.stats import Disks, Files, PodStats, local_volumes

Stats: TypeAlias = Mapping[str, PodStats]
"""Statistics by the pod's uid."""


class Parts(Flag):
    """Parts of what a pod keeps on disk."""

    NOTHING = 0
    LAYERS = auto()
    LOGS = auto()
    VOLUMES = auto()


def ranked(pods: Sequence[Object], stats: Stats, signal: str, disks: Disks) -> list[Object]:
    """The pods in the order in which they are evicted when `signal` is low."""
    if signal in (MEMORY, ALLOCATABLE):
        return by_memory(pods, stats)
    if signal == PIDS:
        return by_processes(pods, stats)
    return by_disk(pods, stats, measured(signal, disks), RESOURCES[signal])


def by_memory(pods: Iterable[Object], stats: Stats) -> list[Object]:
    """Above the request first, then the lower priority, then the most above the request."""
    return _by_excess(
        pods, stats, lambda _pod, usage: usage.memory, lambda pod: request(pod, "memory"), same=True
    )


def by_disk(pods: Iterable[Object], stats: Stats, parts: Parts, resource: str) -> list[Object]:
    """As for memory, by bytes or inodes.

    Nobody requests inodes, so any use of them is above the request; but the request that is subtracted at the
    end is that of ephemeral-storage in either case, as in the kubelet.
    """

    def used(pod: Object, usage: PodStats) -> int:
        files = disk_usage(pod, usage, parts)
        return files.inodes if resource == "inodes" else files.used

    return _by_excess(
        pods, stats, used, lambda pod: request(pod, "ephemeral-storage"), same=resource != "inodes"
    )


def by_processes(pods: Iterable[Object], stats: Stats) -> list[Object]:
    """The lower priority first, then the most processes; requests play no part."""

    def key(pod: Object) -> tuple[int, int, int]:
        usage = stats.get(pod["metadata"]["uid"])
        return (priority(pod), usage is not None, -usage.processes if usage else 0)

    return sorted(pods, key=key)


def measured(signal: str, disks: Disks) -> Parts:
    """The parts of a pod's data that count for a signal: those that lie on its file system.

    Images count for none, since they belong to no single pod.
    """
    if disks is Disks.ONE:
        return Parts.LAYERS | Parts.LOGS | Parts.VOLUMES
    nodefs = signal in (NODEFS_SIGNAL, NODEFS_INODES_SIGNAL)
    if disks is Disks.IMAGEFS:
        return Parts.LOGS | Parts.VOLUMES if nodefs else Parts.LAYERS
    if signal in (IMAGEFS, IMAGEFS_INODES):
        return Parts.NOTHING
    return Parts.LAYERS | Parts.LOGS | Parts.VOLUMES


def disk_usage(pod: Object, usage: PodStats, parts: Parts) -> Files:
    """What a pod keeps in those parts."""
    files = Files()
    for container in usage.containers:
        if Parts.LAYERS in parts:
            files += container.rootfs
        if Parts.LOGS in parts:
            files += container.logs
    if Parts.VOLUMES in parts:
        for name in local_volumes(pod):
            files += usage.volumes.get(name, Files())
    return files


def _by_excess(
    pods: Iterable[Object],
    stats: Stats,
    used: Callable[[Object, PodStats], int],
    requested: Callable[[Object], int],
    *,
    same: bool,
) -> list[Object]:
    """By excess, priority and amount. Unless it is the `same` resource, any use is above the request."""

    def key(pod: Object) -> tuple[int, int, int]:
        usage = stats.get(pod["metadata"]["uid"])
        if usage is None:
            return (0, priority(pod), 0)
        amount, asked = used(pod, usage), requested(pod)
        exceeds = amount > (asked if same else 0)
        return (1 if exceeds else 2, priority(pod), asked - amount)

    return sorted(pods, key=key)
