"""Eviction signals: what a kubelet measures, by the names that a configuration uses.

Follows pkg/kubelet/eviction/api/types.go and helpers.go (signalToResource, signalToNodeCondition).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from schedlab.kubelet.quantities import Quantity

MEMORY, ALLOCATABLE = "memory.available", "allocatableMemory.available"
NODEFS, NODEFS_INODES = "nodefs.available", "nodefs.inodesFree"
IMAGEFS, IMAGEFS_INODES = "imagefs.available", "imagefs.inodesFree"
CONTAINERFS, CONTAINERFS_INODES = "containerfs.available", "containerfs.inodesFree"
PIDS = "pid.available"

MEMORY_PRESSURE, DISK_PRESSURE, PID_PRESSURE = "MemoryPressure", "DiskPressure", "PIDPressure"

RESOURCES: Mapping[str, str] = {
    MEMORY: "memory",
    ALLOCATABLE: "memory",
    IMAGEFS: "ephemeral-storage",
    IMAGEFS_INODES: "inodes",
    CONTAINERFS: "ephemeral-storage",
    CONTAINERFS_INODES: "inodes",
    NODEFS: "ephemeral-storage",
    NODEFS_INODES: "inodes",
    PIDS: "pids",
}
"""The resource that is starved when a signal is low, in the words of messages."""

CONDITIONS: Mapping[str, str] = {
    signal: {"memory": MEMORY_PRESSURE, "pids": PID_PRESSURE}.get(resource, DISK_PRESSURE)
    for signal, resource in RESOURCES.items()
}
"""The node condition that a signal stands for."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What is left of something, and how much of it there is (in bytes, inodes or processes)."""

    available: Quantity
    capacity: int


Observations: TypeAlias = Mapping[str, Observation]
"""What was measured, by signal."""
