"""What a pod asks of a node.

Init containers count as their largest, containers as their sum; sidecars (init containers that keep running)
count in both; overhead comes on top; a request on the pod level replaces the sum for cpu, memory and huge
pages. A pod whose resize is under way counts as the largest of what is specified, allocated and in force. All
sums are exact; each total is rounded up once. Follows upstream component-helpers `resource/helpers.go` (KEPs
753, 1287, 2837, 5419).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from kubesched.api import quantity
from kubesched.api.base import Quantities

if TYPE_CHECKING:
    from kubesched.api.container import Container, ContainerStatus
    from kubesched.api.pod import Pod

CPU = "cpu"
MEMORY = "memory"
EPHEMERAL_STORAGE = "ephemeral-storage"
PODS = "pods"

#: What a container that requests none is taken to use, for scoring only (upstream util/pod_resources.go).
DEFAULT_MILLI_CPU = 100
DEFAULT_MEMORY = 200 * 1024 * 1024

NONZERO_DEFAULTS = {CPU: DEFAULT_MILLI_CPU * 10**6, MEMORY: DEFAULT_MEMORY * 10**9}

_PART = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_EXTENDED = re.compile(
    rf"(?=[^/]{{1,253}}/){_PART}(\.{_PART})*/(?=.{{1,63}}$)[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?", re.ASCII
)

Amounts = dict[str, int]
"""Resource name to exact nano-units."""


def rounded(amounts: Mapping[str, int]) -> dict[str, int]:
    """Round exact amounts up, once: cpu to milli, the rest to base units.

    Names that nodes do not count are left out.
    """
    return {
        name: quantity.millis(amount) if name == CPU else quantity.units(amount)
        for name, amount in amounts.items()
        if is_counted(name)
    }


def allocatable(listed: Quantities) -> dict[str, int]:
    """Read a node's resource list: cpu in milli, the rest in base units; `pods` is kept."""
    return {
        name: quantity.milli_value(text) if name == CPU else quantity.value(text)
        for name, text in listed.items()
        if name == PODS or is_counted(name)
    }


@lru_cache(maxsize=1024)
def is_counted(name: str) -> bool:
    """Say whether a node's books know the resource: cpu, memory, ephemeral storage, or a scalar resource.

    Scalars are extended resources (qualified names, with room for the prefix that quotas give them), huge
    pages, anything under kubernetes.io/ and attachable volume counts (upstream util.IsScalarResourceName).
    """
    if name in (CPU, MEMORY, EPHEMERAL_STORAGE) or name.startswith(("hugepages-", "attachable-volumes-")):
        return True
    if "kubernetes.io/" in name:
        return True
    return not name.startswith("requests.") and _EXTENDED.fullmatch(f"requests.{name}") is not None


def pod_requests(pod: Pod, *, use_status: bool = True, defaults: Mapping[str, int] | None = None) -> Amounts:
    """Sum up what the pod asks for, in exact nano-units.

    `use_status` takes a resize under way into account (a pod that runs); `defaults` are taken for each
    container that names no request for the resource, an explicit zero stays zero.
    """
    total = _containers(pod, use_status=use_status, defaults=defaults or {})
    level = pod.spec.resources
    if level is not None and _has_pod_level_requests(pod):
        effective = None
        if use_status and pod.status.resources is not None:
            effective = _effective(
                pod, level.requests, pod.status.resources.requests, pod.status.allocated_resources
            )
        for name, text in level.requests.items():
            if _is_pod_level(name):
                total[name] = quantity.nanos(text) if effective is None else effective.get(name, 0)
    _add(total, _exact(pod.spec.overhead))
    return total


def existing_nonzero(pod: Pod, exact: Amounts) -> tuple[int, int]:
    """Give (milli cpu, memory bytes) with defaults as a node's books count a pod that is on it.

    `exact` are its `pod_requests`. Where requests on the pod level are set, a default applies only to a
    resource that nobody in the pod names (upstream framework/types.go CalculateResource).
    """
    defaults: Mapping[str, int] = NONZERO_DEFAULTS
    if _has_pod_level_requests(pod):
        defaults = {name: amount for name, amount in defaults.items() if name not in exact}
    elif _names_all_defaults(pod):
        defaults = {}
    total = pod_requests(pod, defaults=defaults) if defaults else exact
    return quantity.millis(total.get(CPU, 0)), quantity.units(total.get(MEMORY, 0))


def _containers(pod: Pod, *, use_status: bool, defaults: Mapping[str, int]) -> Amounts:
    """Sum the containers and take the largest init phase, resource by resource."""
    statuses = _statuses(pod) if use_status else {}
    total: Amounts = {}
    for container in pod.spec.containers:
        _add(total, _container(pod, container, statuses, defaults))
    sidecars: Amounts = {}
    largest: Amounts = {}
    for container in pod.spec.init_containers:
        known = statuses if container.is_sidecar else {}
        asked = _container(pod, container, known, defaults)
        if container.is_sidecar:
            _add(total, asked)
            _add(sidecars, asked)
            _maximum(largest, sidecars)
        else:
            _add(asked, sidecars)
            _maximum(largest, asked)
    _maximum(total, largest)
    return total


def _container(
    pod: Pod, container: Container, statuses: Mapping[str, ContainerStatus], defaults: Mapping[str, int]
) -> Amounts:
    """Give one container's effective requests as a new mapping."""
    status = statuses.get(container.name)
    requests = container.resources.requests
    if status is not None and status.resources is not None:
        asked = _effective(pod, requests, status.resources.requests, status.allocated_resources)
    else:
        asked = _exact(requests)
    for name, amount in defaults.items():
        asked.setdefault(name, amount)
    return asked


def _statuses(pod: Pod) -> dict[str, ContainerStatus]:
    """Find container statuses by name; where a name repeats, the init container's counts."""
    status = pod.status
    if not (status.container_statuses or status.init_container_statuses):
        return {}
    return {s.name: s for s in (*status.container_statuses, *status.init_container_statuses)}


def _effective(pod: Pod, spec: Quantities, actuated: Quantities, allocated: Quantities) -> Amounts:
    """Take the largest of what is specified, in force and allocated; an infeasible resize does not count."""
    result: Amounts = {} if pod.resize_is_infeasible else _exact(spec)
    _maximum(result, _exact(actuated))
    _maximum(result, _exact(allocated))
    return result


def _has_pod_level_requests(pod: Pod) -> bool:
    """Say whether the pod itself requests something that may be requested on its level."""
    level = pod.spec.resources
    return level is not None and any(_is_pod_level(name) for name in level.requests)


def _names_all_defaults(pod: Pod) -> bool:
    """Say whether every container names all that has a default, so that none applies."""
    if pod.resize_is_infeasible:
        return False
    every = (*pod.spec.containers, *pod.spec.init_containers)
    return all(CPU in c.resources.requests and MEMORY in c.resources.requests for c in every)


def _is_pod_level(name: str) -> bool:
    """Say whether a resource may be requested on the pod level."""
    return name in (CPU, MEMORY) or name.startswith("hugepages-")


def _exact(listed: Quantities) -> Amounts:
    """Read a resource list as nano-units."""
    return {name: quantity.nanos(text) for name, text in listed.items()}


def _add(total: Amounts, more: Mapping[str, int]) -> None:
    """Add up in place."""
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount


def _maximum(total: Amounts, other: Mapping[str, int]) -> None:
    """Keep the larger amount of each resource, in place."""
    for name, amount in other.items():
        if name not in total or amount > total[name]:
            total[name] = amount
