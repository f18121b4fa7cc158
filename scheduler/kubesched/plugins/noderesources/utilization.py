"""What a score over resources is computed from: capacity, and use without and with the pod.

Follows upstream `noderesources/resource_allocation.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kubesched.api import resources
from kubesched.state.nodes import NONZERO, REQUESTED

if TYPE_CHECKING:
    from kubesched.config.args import ResourceSpec
    from kubesched.framework import View
    from kubesched.state import ClusterReader

CPU, MEMORY = resources.CPU, resources.MEMORY
_NATIVE = frozenset({CPU, MEMORY, resources.EPHEMERAL_STORAGE})
_NONZERO = {CPU: NONZERO.start, MEMORY: NONZERO.start + 1}


@dataclass(frozen=True, slots=True)
class Utilization:
    """R resources on K worlds; a world whose capacity of a resource is 0 does not have it, and leaves it out.

    `weights` I64[R, 1]; `capacity`, `allocated` (without the pod) and `requested` (with it) I64[R, K].
    """

    weights: NDArray[np.int64]
    capacity: NDArray[np.int64]
    allocated: NDArray[np.int64]
    requested: NDArray[np.int64]

    @property
    def is_everywhere(self) -> bool:
        """Every world has every resource."""
        return bool(self.capacity.all())


def utilization(
    view: View, specs: Sequence[ResourceSpec], requests: Mapping[str, int], *, nonzero: bool
) -> Utilization:
    """The resources that count for this pod, in configured order.

    `nonzero` counts every existing container that requests no cpu or memory with the default amount. An
    extended resource that the pod does not request is left out, whatever the nodes have of it.
    """
    nodes = view.cluster.nodes
    counted = [spec for spec in specs if spec.name in _NATIVE or requests.get(spec.name, 0)]
    columns = np.array([nodes.resource_index(spec.name) for spec in counted], np.intp)
    books = columns + REQUESTED.start
    if nonzero:
        for index, spec in enumerate(counted):
            books[index] = _NONZERO.get(spec.name, books[index])
    allocated = view.books.take(books, axis=1).T
    request = np.array([[requests.get(spec.name, 0)] for spec in counted], np.int64).reshape(-1, 1)
    weights = np.array([[spec.weight] for spec in counted], np.int64).reshape(-1, 1)
    capacity = nodes.allocatable.take(view.rows, axis=0).take(columns, axis=1).T
    return Utilization(weights, capacity, allocated, allocated + request)


def intern(cluster: ClusterReader, specs: Sequence[ResourceSpec]) -> None:
    """Give every configured resource its column before a view can be gathered without it."""
    for spec in specs:
        cluster.nodes.resource_index(spec.name)
