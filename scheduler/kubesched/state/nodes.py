"""Nodes as columns.

A node keeps its slot for as long as it, or a pod on it, is known. What is written down per slot is brought up
to date by events; nothing is recounted. Arrays are as long as there is room (N >= the number of nodes): read
them through slots, best through `order`. They are replaced when they grow, so nobody keeps one across an
event.

Follows upstream `framework/types.go` (NodeInfo) and `backend/cache/cache.go`. A node deleted before its pods
stays as a ghost: its slot holds the pods, `order` does not hold the slot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from kubesched.api.labels import Requirement
from kubesched.api.node import Node
from kubesched.api.pod import HostPort, Pod
from kubesched.api.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS
from kubesched.api.taints import Taint
from kubesched.state.classes import ClassTable
from kubesched.state.images import Images, ImageState
from kubesched.state.label_columns import LabelColumn, LabelColumns
from kubesched.state.order import NodeOrder
from kubesched.state.types import I32, I64, Bool

_FIRST_CAPACITY = 16
_ROOM = 1024
"""How many changes are remembered at least, once there were so many."""

COUNT = 0
NONZERO = slice(1, 3)
REQUESTED = slice(3, None)
"""How a row of the books is laid out: pods, two amounts for scoring, then one per resource."""


class NodeColumns:
    """The columns. Everybody reads; only `Cluster` writes, through the methods at the end."""

    def __init__(self) -> None:
        self.slot: dict[str, int] = {}
        self.names: list[str] = []
        self.objects: list[Node | None] = []
        self.resources: list[str] = [CPU, MEMORY, EPHEMERAL_STORAGE]
        self.taint_classes: ClassTable[tuple[Taint, ...]] = ClassTable()
        self.port_classes: ClassTable[frozenset[HostPort]] = ClassTable()
        self._resource_ids = {name: i for i, name in enumerate(self.resources)}
        self.image_states = Images()
        self.label_columns = LabelColumns()
        self.node_order = NodeOrder()
        self.frozen_order: I32 = np.zeros(0, np.int32)
        self._used_ports: dict[int, set[HostPort]] = {}
        self._free: list[int] = []
        self._changed: set[int] = set()
        self.latest = 0
        self._touched: list[int] = []
        self.generation: I64 = np.zeros(0, np.int64)
        self.allocatable: I64 = np.zeros((0, len(self.resources)), np.int64)
        self.books: I64 = np.zeros((0, 3 + len(self.resources)), np.int64)
        self.allowed_pods: I64 = np.zeros(0, np.int64)
        self.taints: I32 = np.zeros(0, np.int32)
        self.ports: I32 = np.zeros(0, np.int32)
        self.unschedulable: Bool = np.zeros(0, np.bool_)
        self.frozen_images: I32 = np.zeros(0, np.int32)
        self._grow(_FIRST_CAPACITY)

    # Reading

    def __len__(self) -> int:
        """The number of nodes; ghosts do not count."""
        return len(self.node_order)

    def __contains__(self, name: str) -> bool:
        """Say whether there is a node of that name; a ghost is none."""
        return name in self.node_order

    @property
    def capacity(self) -> int:
        """N: how long the columns are."""
        return len(self.generation)

    @property
    def requested(self) -> I64:
        """What the pods on each node take: I64[N, R], one column per name in `resources`."""
        return self.books[:, REQUESTED]

    @property
    def nonzero(self) -> I64:
        """What they take with defaults for scoring: I64[N, 2], milli cpu and memory bytes."""
        return self.books[:, NONZERO]

    @property
    def pod_count(self) -> I64:
        """How many pods are on each node: I64[N]."""
        return self.books[:, COUNT]

    @property
    def order(self) -> I32:
        """The slots of all nodes, zone by zone in turn, as the latest snapshot has them: I32[M].

        Reading it, or `images`, takes the snapshot that is due.
        """
        self.snapshot()
        return self.frozen_order

    @property
    def images(self) -> I32:
        """The class of the images on each node, as the latest snapshot has them: I32[N]."""
        self.snapshot()
        return self.frozen_images

    def taint_class(self, number: int) -> tuple[Taint, ...]:
        """The taints that a class number stands for."""
        return self.taint_classes[number]

    def image_class(self, number: int) -> Mapping[str, ImageState]:
        """The images, by name, that a class number stands for."""
        return self.image_states.table[number].states if number >= 0 else {}

    def port_class(self, number: int) -> frozenset[HostPort]:
        """The used ports that a class number stands for."""
        return self.port_classes[number]

    @property
    def image_classes(self) -> Iterator[tuple[int, Mapping[str, ImageState]]]:
        """All image classes with their numbers."""
        return ((number, known.states) for number, known in self.image_states.table.items())

    @property
    def image_class_count(self) -> int:
        """How long an array indexed by image class must be."""
        return len(self.image_states.table)

    def resource_index(self, name: str) -> int:
        """The column of a resource; a name that was never seen gets the next one, zero on all nodes."""
        index = self._resource_ids.get(name)
        if index is None:
            index = self._resource_ids[name] = len(self.resources)
            self.resources.append(name)
            self.allocatable = _wider(self.allocatable)
            self.books = _wider(self.books)
        return index

    def amounts(self, pod: Pod) -> tuple[int, ...]:
        """What a pod adds to a node's books: 1, milli cpu and bytes with defaults, then one per resource."""
        requests = [0] * len(self.resources)
        for name, amount in pod.requests.items():
            index = self._resource_ids.get(name)
            if index is None:
                index = self.resource_index(name)
                requests.append(0)
            requests[index] = amount
        return 1, *pod.nonzero_requests, *requests

    def label(self, key: str) -> I32:
        """The number of each node's value of the label, ABSENT (-1) where it has none: I32[N]."""
        return self._column(key).ids

    def value_id(self, key: str, value: str) -> int:
        """The number of a value in the label's column; NOWHERE (-2) if no node has it."""
        return self._column(key).value_id(value)

    def label_values(self, key: str) -> ClassTable[str]:
        """What the numbers in the label's column mean."""
        return self._column(key).values

    def admits(self, requirement: Requirement) -> Bool:
        """Say of each slot whether the node's label meets the requirement: Bool[N]."""
        return self._column(requirement.key).admits(requirement)

    def changed_since(self, generation: int) -> I32 | None:
        """The slots of nodes that changed after a generation; None where that is too long ago to be known."""
        missed = self.latest - generation
        if missed > len(self._touched):
            return None
        slots = set(self._touched[len(self._touched) - missed :])
        return np.array([slot for slot in slots if self.objects[slot] is not None], np.int32)

    def ghosts(self) -> list[str]:
        """Names that only pods know."""
        return [name for name in self.slot if name not in self.node_order]

    # Writing

    def snapshot(self) -> None:
        """Fix what upstream fixes when a cycle begins: the order of nodes, and how each sees images."""
        if self._changed:
            for slot in self._changed:
                if self.objects[slot] is not None:
                    self.frozen_images[slot] = self.image_states.freeze(slot, int(self.frozen_images[slot]))
            self._changed.clear()
        if self.node_order.stale:
            self.frozen_order = np.array([self.slot[name] for name in self.node_order.snapshot()], np.int32)

    def put(self, node: Node) -> int:
        """Add a node, or replace what is known of it; give its slot."""
        name = node.name
        slot = self.open(name)
        old = self.objects[slot]
        self.objects[slot] = node
        self.node_order.put(name, node.zone)
        if old is None or old.status.allocatable != node.status.allocatable:
            self._write_allocatable(slot, node.allocatable)
        if old is None or old.labels != node.labels:
            self.label_columns.put(slot, node.labels)
        self.unschedulable[slot] = node.unschedulable
        self.taints[slot] = self.taint_classes.exchange(int(self.taints[slot]), node.taints)
        self.image_states.put(slot, node.status.images)
        self.touch(slot)
        return slot

    def remove(self, name: str) -> None:
        """Forget a node; with pods on it, it stays as a ghost."""
        slot = self.slot[name]
        self.node_order.remove(name)
        self.objects[slot] = None
        self._write_allocatable(slot, {})
        self.unschedulable[slot] = False
        self.taints[slot] = self.taint_classes.exchange(int(self.taints[slot]), ())
        self.label_columns.put(slot, {})
        self.image_states.remove(slot)
        if self.frozen_images[slot] >= 0:
            self.image_states.table.release(int(self.frozen_images[slot]))
            self.frozen_images[slot] = -1
        self.touch(slot)
        self.close(slot)

    def open(self, name: str) -> int:
        """Give the slot of a name, a fresh one if it has none."""
        slot = self.slot.get(name)
        if slot is None:
            if self._free:
                slot = self._free.pop()
                self.names[slot] = name
            else:
                slot = len(self.names)
                if slot == self.capacity:
                    self._grow(2 * slot)
                self.names.append(name)
                self.objects.append(None)
            self.slot[name] = slot
        return slot

    def close(self, slot: int) -> None:
        """Free a slot that holds neither node nor pods."""
        if self.objects[slot] is None and self.books[slot, COUNT] == 0:
            del self.slot[self.names[slot]]
            self.names[slot] = ""
            self._free.append(slot)

    def charge(self, slot: int, amounts: I64, ports: Sequence[HostPort], sign: int) -> None:
        """Add a pod's amounts and ports to the node's books (sign 1) or take them off (-1)."""
        row = self.books[slot, : len(amounts)]
        if sign > 0:
            row += amounts
        else:
            row -= amounts
        if ports:
            self.charge_ports(slot, ports, sign)
        self.touch(slot)

    def charge_ports(self, slot: int, ports: Sequence[HostPort], sign: int) -> None:
        """Take ports (sign 1) or free them (-1), whoever else on the node names them: a set, as upstream."""
        used = self._used_ports.setdefault(slot, set())
        if sign > 0:
            used.update(ports)
        else:
            used.difference_update(ports)
        self.ports[slot] = self.port_classes.exchange(int(self.ports[slot]), frozenset(used))
        if not used:
            del self._used_ports[slot]

    def touch(self, slot: int) -> None:
        """Note that something about the node changed. Generations are never given out twice."""
        self.latest += 1
        self.generation[slot] = self.latest
        self._changed.add(slot)
        self._touched.append(slot)
        if len(self._touched) > 2 * _ROOM:
            del self._touched[:_ROOM]

    def sweep(self) -> None:
        """Free the class numbers that only a what-if used."""
        self.port_classes.sweep()

    def _write_allocatable(self, slot: int, amounts: Mapping[str, int]) -> None:
        """Replace a node's allocatable amounts."""
        indexes = [self.resource_index(name) for name in amounts if name != PODS]
        self.allocatable[slot] = 0
        self.allocatable[slot, indexes] = [amount for name, amount in amounts.items() if name != PODS]
        self.allowed_pods[slot] = amounts.get(PODS, 0)

    def _column(self, key: str) -> LabelColumn:
        """Give a label's column, which is built when first asked for."""
        known = ((slot, node.labels) for slot, node in enumerate(self.objects) if node is not None)
        return self.label_columns.column(key, self.capacity, known)

    def _grow(self, capacity: int) -> None:
        """Make room for more slots."""
        more = capacity - self.capacity
        self.generation = _longer(self.generation, more)
        self.allocatable = _longer(self.allocatable, more)
        self.books = _longer(self.books, more)
        self.allowed_pods = _longer(self.allowed_pods, more)
        self.unschedulable = _longer(self.unschedulable, more)
        self.taints = _longer(self.taints, more, self.taint_classes.acquire((), more))
        self.ports = _longer(self.ports, more, self.port_classes.acquire(frozenset(), more))
        self.frozen_images = _longer(self.frozen_images, more, -1)
        self.label_columns.grow(capacity)


_Numbers = TypeVar("_Numbers", np.int64, np.int32, np.bool_)


def _longer(column: npt.NDArray[_Numbers], more: int, fill: int = 0) -> npt.NDArray[_Numbers]:
    """Append rows."""
    return np.concatenate([column, np.full((more, *column.shape[1:]), fill, column.dtype)])


def _wider(column: I64) -> I64:
    """Append a column of zeros."""
    return np.concatenate([column, np.zeros((len(column), 1), np.int64)], axis=1)
