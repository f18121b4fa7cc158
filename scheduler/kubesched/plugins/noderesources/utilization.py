"""What a score over resources is computed from: capacity, and use without and with the pod.

Follows upstream `noderesources/resource_allocation.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from kubesched.api import quantity, resources
from kubesched.api.objects import Pod

if TYPE_CHECKING:
    from kubesched.config.args import ResourceSpec
    from kubesched.framework import View
    from kubesched.state import ClusterReader

CPU, MEMORY = resources.CPU, resources.MEMORY
_NATIVE = frozenset({CPU, MEMORY, resources.EPHEMERAL_STORAGE})
_NONZERO_DEFAULTS = {
    CPU: quantity.nanos(f"{resources.DEFAULT_MILLI_CPU}m"),
    MEMORY: quantity.nanos(resources.DEFAULT_MEMORY),
}
_NONZERO_COLUMN = {CPU: 0, MEMORY: 1}


@dataclass(frozen=True, slots=True)
class Utilization:
    """One resource on K worlds. A world whose `capacity` is 0 does not have the resource and is left out."""

    weight: int
    capacity: NDArray[np.int64]
    allocated: NDArray[np.int64]
    requested: NDArray[np.int64]


def utilization(
    view: View, specs: Sequence[ResourceSpec], requests: Mapping[str, int], *, nonzero: bool
) -> Iterator[Utilization]:
    """The resources that count for this pod, in configured order.

    `nonzero` counts every existing container that requests no cpu or memory with the default amount. An
    extended resource that the pod does not request is left out, whatever the nodes have of it.
    """
    nodes = view.cluster.nodes
    capacities = nodes.allocatable.take(view.rows, axis=0)
    used, with_defaults = view.requested, view.nonzero if nonzero else None
    for spec in specs:
        request = requests.get(spec.name, 0)
        if request == 0 and spec.name not in _NATIVE:
            continue
        column = nodes.resource_index(spec.name)
        if with_defaults is not None and spec.name in _NONZERO_COLUMN:
            allocated = with_defaults[:, _NONZERO_COLUMN[spec.name]]
        else:
            allocated = used[:, column]
        yield Utilization(spec.weight, capacities[:, column], allocated, allocated + request)


def intern(cluster: ClusterReader, specs: Sequence[ResourceSpec]) -> None:
    """Give every configured resource its column before a view can be gathered without it."""
    for spec in specs:
        cluster.nodes.resource_index(spec.name)


def scoring_requests(pod: Pod) -> dict[str, int]:
    """What NodeResourcesFit's score takes the incoming pod to request.

    A container without a request for cpu or memory counts with the default amount. Requests on the pod
    level and a resize under way do not count here: upstream's Fit never passes these options to its scorer.
    """
    if pod.spec.resources is not None:
        pod = msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, resources=None))
    return resources.rounded(resources.pod_requests(pod, use_status=False, defaults=_NONZERO_DEFAULTS))
