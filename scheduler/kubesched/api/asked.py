"""What a pod asks for, worked out once for all pods that ask alike.

The pods of a workload differ in names and status, not in what they request, and neither does one pod before
and after an update. So the amounts belong to the content that decides them, and pods share them.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import msgspec

from kubesched.api import resources
from kubesched.api.base import derived

if TYPE_CHECKING:
    from kubesched.api.container import ContainerStatus, ResourceRequirements
    from kubesched.api.pod import Pod

_MOST = 4096


class Asked:
    """The amounts, each worked out when first asked for; never write into them.

    Every property raises ValueError for an amount that cannot be read.
    """

    def __init__(self, pod: Pod) -> None:
        self._pod = pod

    @derived
    def exact(self) -> dict[str, int]:
        """What the pod takes from its node, in exact nano-units, before rounding."""
        return resources.pod_requests(self._pod)

    @derived
    def requests(self) -> dict[str, int]:
        """What the pod takes from its node: cpu in milli, everything else in base units."""
        return resources.rounded(self.exact)

    @derived
    def incoming(self) -> dict[str, int]:
        """What the pod asks for before it runs: no resize counts, as in NodeResourcesFit's PreFilter."""
        if not _has_status(self._pod):
            return self.requests
        return resources.rounded(resources.pod_requests(self._pod, use_status=False))

    @derived
    def scoring(self) -> dict[str, int]:
        """What NodeResourcesFit's score takes the incoming pod to request.

        A container without a request for cpu or memory counts with the default amount. Requests on the pod
        level and a resize under way do not count here: upstream's Fit never passes these options to its
        scorer.
        """
        pod = self._pod
        if pod.spec.resources is not None:
            pod = msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, resources=None))
        defaults = resources.NONZERO_DEFAULTS
        return resources.rounded(resources.pod_requests(pod, use_status=False, defaults=defaults))

    @derived
    def nonzero(self) -> tuple[int, int]:
        """(milli cpu, memory bytes) with defaults, as a node's books count the pod."""
        return resources.existing_nonzero(self._pod, self.exact)


_known: dict[Hashable, Asked] = {}


def asked(pod: Pod) -> Asked:
    """What the pod asks for, shared with all pods of equal content."""
    content = _content(pod)
    found = _known.get(content)
    if found is None:
        if len(_known) >= _MOST:
            _known.clear()
        found = _known[content] = Asked(pod)
    return found


def _content(pod: Pod) -> Hashable:
    """All that the amounts follow from."""
    spec = pod.spec
    return (
        tuple([tuple(item.resources.requests.items()) for item in spec.containers]),
        tuple([(item.is_sidecar, *item.resources.requests.items()) for item in spec.init_containers]),
        None if spec.resources is None else tuple(spec.resources.requests.items()),
        tuple(spec.overhead.items()),
        _resize(pod) if _has_status(pod) else None,
    )


def _has_status(pod: Pod) -> bool:
    """Whether something may be in force that differs from what is specified."""
    status = pod.status
    return bool(
        status.container_statuses
        or status.init_container_statuses
        or status.resources is not None
        or status.allocated_resources
    )


def _resize(pod: Pod) -> Hashable:
    """All that a resize under way may change; statuses belong to containers by name."""
    spec, status = pod.spec, pod.status
    return (
        tuple([item.name for item in (*spec.containers, *spec.init_containers)]),
        tuple([_in_force(item) for item in status.container_statuses]),
        tuple([_in_force(item) for item in status.init_container_statuses]),
        _listed(status.resources),
        tuple(status.allocated_resources.items()),
        pod.resize_is_infeasible,
    )


def _in_force(item: ContainerStatus) -> Hashable:
    return item.name, _listed(item.resources), tuple(item.allocated_resources.items())


def _listed(given: ResourceRequirements | None) -> Hashable:
    return None if given is None else tuple(given.requests.items())
