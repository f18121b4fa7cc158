"""Limits of local storage: pods that outgrow what they themselves declared are evicted at once.

No threshold and no ranking are involved, and the pod gets no DisruptionTarget condition. Follows
pkg/kubelet/eviction/eviction_manager.go (localStorageEviction).
"""

from __future__ import annotations

from schedlab.api.objects import Object
from schedlab.judge.rules import requests
from schedlab.kubelet.messages import container_exceeded, empty_dir_exceeded, pod_exceeded
from schedlab.kubelet.quantities import Form, Quantity, parse
from schedlab.kubelet.ranking import Parts, disk_usage
from schedlab.kubelet.stats import Disks, PodStats

_RESOURCE = "ephemeral-storage"


def exceeded(pod: Object, usage: PodStats, disks: Disks) -> str:
    """Why the pod must go, or nothing: a volume's limit counts first, then the pod's, then a container's."""
    return _volume(pod, usage) or _pod(pod, usage) or _container(pod, usage, disks)


def _volume(pod: Object, usage: PodStats) -> str:
    for volume in pod["spec"].get("volumes") or ():
        limit = (volume.get("emptyDir") or {}).get("sizeLimit")
        used = usage.volumes.get(volume["name"])
        if limit is not None and used is not None:
            size = parse(str(limit))
            if 0 < size.value < used.used:
                return empty_dir_exceeded(volume["name"], size)
    return ""


def _pod(pod: Object, usage: PodStats) -> str:
    """Only if some container has a limit; what is compared is the sum of the limits there are."""
    limits = _limits(pod)
    if _RESOURCE not in limits:
        return ""
    limit = limits[_RESOURCE]
    used = disk_usage(pod, usage, Parts.LAYERS | Parts.LOGS | Parts.VOLUMES).used
    return pod_exceeded(limit) if used > limit.value else ""


def _container(pod: Object, usage: PodStats, disks: Disks) -> str:
    """Logs count, and the writable layer where it lies on nodefs; init containers have no such limit."""
    own = {c["name"]: parse(str(text)) for c in pod["spec"]["containers"] if (text := _limit(c)) is not None}
    for stats in usage.containers:
        used = stats.logs.used + (stats.rootfs.used if disks is Disks.ONE else 0)
        limit = own.get(stats.name)
        if limit is not None and 0 < limit.value < used:
            return container_exceeded(stats.name, limit)
    return ""


def _limit(container: Object) -> str | None:
    limits = (container.get("resources") or {}).get("limits") or {}
    return limits.get(_RESOURCE)


def _limits(pod: Object) -> dict[str, Quantity]:
    """The pod's limits, summed as requests are: those of init containers count by their maximum."""

    def swapped(container: Object) -> Object:
        return {
            **container,
            "resources": {"requests": (container.get("resources") or {}).get("limits") or {}},
        }

    spec = pod["spec"]
    limits = {
        "containers": [swapped(one) for one in spec["containers"]],
        "initContainers": [swapped(one) for one in spec.get("initContainers") or ()],
    }
    summed = requests({"spec": limits})
    written = (parse(str(text)).form for one in spec["containers"] if (text := _limit(one)))
    form = next(written, Form.BINARY)
    return {name: Quantity(value, form) for name, value in summed.items()}
