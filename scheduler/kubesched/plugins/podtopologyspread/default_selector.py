"""The pods that belong together with a pod: its services' and its controller's selectors, all of them.

Follows upstream `helper/spread.go` (1.36).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubesched.api.labels import Selector, compile_selector, selector_from_map
from kubesched.api.objects import Pod, ReplicaSet, ReplicationController, Service, StatefulSet

if TYPE_CHECKING:
    from kubesched.state import ClusterReader

_KINDS = {
    ("v1", "ReplicationController"): "ReplicationController",
    ("apps/v1", "ReplicaSet"): "ReplicaSet",
    ("apps/v1", "StatefulSet"): "StatefulSet",
}


def default_selector(cluster: ClusterReader, pod: Pod) -> Selector:
    """What selects the pod, combined; empty when nothing does."""
    labels: dict[str, str] = {}
    for service in cluster.list("Service"):
        if isinstance(service, Service) and _selects(service, pod):
            labels |= service.spec.selector
    owner = next((item for item in pod.metadata.owner_references if item.controller), None)
    kind = _KINDS.get((owner.api_version, owner.kind)) if owner else None
    if owner is None or kind is None:
        return selector_from_map(labels)
    controller = cluster.get(kind, f"{pod.namespace}/{owner.name}")
    if isinstance(controller, ReplicationController):
        return selector_from_map(labels | controller.spec.selector)
    selector = selector_from_map(labels)
    if isinstance(controller, ReplicaSet | StatefulSet):
        own = compile_selector(controller.spec.selector)
        if not own.nothing:
            return Selector(selector.requirements | own.requirements)
    return selector


def _selects(service: Service, pod: Pod) -> bool:
    wanted = service.spec.selector
    if not wanted or service.namespace != pod.namespace:
        return False
    labels = pod.labels
    return all(labels.get(key) == value for key, value in wanted.items())
