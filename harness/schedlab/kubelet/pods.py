"""What a kubelet asks of a pod before it evicts it: is it critical, what did it request, its priority."""

from __future__ import annotations

from schedlab.api.objects import Object
from schedlab.judge.rules import requests

_SYSTEM_CRITICAL = 2_000_000_000
_SOURCE = "kubernetes.io/config.source"
_MIRROR = "kubernetes.io/config.mirror"


def priority(pod: Object) -> int:
    """The pod's priority, 0 if it has none."""
    return int(pod["spec"].get("priority") or 0)


def critical(pod: Object) -> bool:
    """True for what a kubelet never evicts: static pods, their mirrors, and system priorities.

    Follows pkg/kubelet/types/pod_update.go (IsCriticalPod).
    """
    annotations = pod["metadata"].get("annotations") or {}
    static = annotations.get(_SOURCE, "api") != "api"
    return static or _MIRROR in annotations or priority(pod) >= _SYSTEM_CRITICAL


def request(pod: Object, resource: str) -> int:
    """How much of a resource the pod asked for, in whole units.

    Resources on the pod itself replace those of its containers, also where they say nothing about this one;
    overhead counts only on top of a request. Follows pkg/api/v1/resource/helpers.go
    (GetResourceRequestQuantity).
    """
    spec = pod["spec"]
    bare = {**spec, "overhead": None}
    if pod_level(pod):
        bare = {"containers": [], "resources": spec["resources"]}
    asked = requests({"spec": bare}).get(resource, 0)
    if not asked:
        return 0
    overhead = requests({"spec": {"containers": [], "overhead": spec.get("overhead")}})
    return asked + overhead.get(resource, 0)


def pod_level(pod: Object) -> bool:
    """True if the pod has resources of its own."""
    own = pod["spec"].get("resources") or {}
    return bool(own.get("requests") or own.get("limits"))
