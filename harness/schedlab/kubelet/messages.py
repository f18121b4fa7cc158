"""What a kubelet says about an eviction: the pod's message, and the annotations of the Event.

Follows pkg/kubelet/eviction/helpers.go (evictionMessage), trailing spaces included: a message is made of
sentences that each end in one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from schedlab.api.objects import Object
from schedlab.kubelet.pods import pod_level
from schedlab.kubelet.quantities import Quantity, parse
from schedlab.kubelet.signals import RESOURCES, Observations
from schedlab.kubelet.stats import ContainerStats, PodStats
from schedlab.kubelet.thresholds import Threshold

_ZERO = Quantity(0)


@dataclass(frozen=True, slots=True)
class Words:
    """A message and the Event's annotations."""

    message: str
    annotations: Mapping[str, str]


def low_on(
    resource: str,
    pod: Object,
    usage: PodStats | None,
    thresholds: Sequence[Threshold],
    observations: Observations,
) -> Words:
    """Why the pod had to go when the node was low on a resource, and which containers are to blame."""
    message = f"The node was low on resource: {resource}. "
    for threshold in thresholds:
        observed = observations.get(threshold.signal)
        if RESOURCES[threshold.signal] == resource and observed is not None:
            least = threshold.bound.of(observed.capacity)
            message += f"Threshold quantity: {least}, available: {observed.available}. "
            break
    if usage is None:
        return Words(message, {})
    annotations = {}
    own = (pod["spec"].get("resources") or {}).get("requests") or {}
    if resource == "memory" and pod_level(pod) and resource in own:
        used = str(Quantity(usage.memory))
        name = pod["metadata"]["name"]
        message += _larger("Pod", name, used, parse(own[resource]), resource)
        annotations = {"offending_pod": name, "offending_pod_usage": used}
    blamed = list(_blamed(resource, pod, usage))
    message += "".join(_larger("Container", name, str(used), asked, resource) for name, used, asked in blamed)
    return Words(
        message,
        {
            **annotations,
            "offending_containers": ",".join(name for name, _, _ in blamed),
            "offending_containers_usage": ",".join(str(used) for _, used, _ in blamed),
            "starved_resource": resource,
        },
    )


def under(conditions: Sequence[str]) -> str:
    """Why a pod was not admitted."""
    return f"The node had condition: [{' '.join(conditions)}]. "


def empty_dir_exceeded(volume: str, limit: Quantity) -> str:
    """A volume grew beyond its sizeLimit."""
    return f'Usage of EmptyDir volume "{volume}" exceeds the limit "{limit}". '


def pod_exceeded(limit: Quantity) -> str:
    """All of a pod's local data grew beyond the sum of its limits."""
    return f"Pod ephemeral local storage usage exceeds the total limit of containers {limit}. "


def container_exceeded(container: str, limit: Quantity) -> str:
    """A container's layer and logs grew beyond its limit."""
    return f'Container {container} exceeded its local ephemeral storage limit "{limit}". '


def _larger(what: str, name: str, used: str, asked: Quantity, resource: str) -> str:
    return f"{what} {name} was using {used}, request is {asked}, has larger consumption of {resource}. "


def _blamed(resource: str, pod: Object, usage: PodStats) -> Iterator[tuple[str, Quantity, Quantity]]:
    """Containers above their own request: name, usage, request. Ephemeral containers are never blamed."""
    spec = pod["spec"]
    known = {
        container["name"]: container
        for container in (*spec["containers"], *(spec.get("initContainers") or ()))
    }
    for stats in usage.containers:
        used = _used(resource, stats)
        if stats.name not in known or used is None:
            continue
        asked = _requested(known[stats.name], resource)
        if used.value > asked.value:
            yield stats.name, used, asked


def _used(resource: str, stats: ContainerStats) -> Quantity | None:
    """What is compared with a request; of inodes and processes there is none."""
    if resource == "memory":
        return Quantity(stats.memory)
    if resource == "ephemeral-storage":
        return Quantity(stats.rootfs.used + stats.logs.used)
    return None


def _requested(container: Object, resource: str) -> Quantity:
    requests = (container.get("resources") or {}).get("requests") or {}
    return parse(str(requests[resource])) if resource in requests else _ZERO
