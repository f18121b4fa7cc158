"""What every pod asks for, as the metrics of /metrics/resources: one series per pod and resource.

Made anew for every scrape, since it grows with the pods. Follows
`pkg/scheduler/metrics/resources/resources.go` (KEP-1748).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from kubesched.api import quantity
from kubesched.api.objects import Pod
from kubesched.api.resources import Amounts, pod_requests

_LABELS = ("namespace", "pod", "node", "scheduler", "priority", "resource", "unit")
_BYTES = frozenset({"memory", "storage", "ephemeral-storage"})
_NANO = 10**9


def page(pods: Callable[[], Iterable[Pod]]) -> Callable[[], str]:
    """What writes the page, of all pods at that moment."""

    def write() -> str:
        registry = CollectorRegistry()
        registry.register(_PodResources(pods()))
        return generate_latest(registry).decode()

    return write


class _PodResources(Collector):
    def __init__(self, pods: Iterable[Pod]) -> None:
        self._pods = pods

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """Nothing is read when the collector is registered."""
        return ()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Requests and limits of the pods that have not ended."""
        families = [
            GaugeMetricFamily(
                f"kube_pod_resource_{what}",
                f"[STABLE] Resources {verb} workloads on the cluster, broken down by pod. This shows the "
                "resource usage the scheduler and kubelet expect per pod for resources along with the unit "
                "for the resource if any.",
                labels=_LABELS,
            )
            for what, verb in (("request", "requested by"), ("limit", "limit for"))
        ]
        for pod in self._pods:
            if not pod.is_terminal:
                for family, amounts in zip(families, (pod_requests(pod), _limits(pod)), strict=True):
                    _add(family, pod, amounts)
        yield from (family for family in families if family.samples)


def _add(family: GaugeMetricFamily, pod: Pod, amounts: Mapping[str, int]) -> None:
    priority = "" if pod.spec.priority is None else str(pod.spec.priority)
    who = (pod.namespace, pod.name, pod.node_name, pod.scheduler_name, priority)
    for name, amount in amounts.items():
        if amount:
            family.add_metric((*who, name, _unit(name)), amount / _NANO)


def _unit(resource: str) -> str:
    if resource == "cpu":
        return "cores"
    if resource in _BYTES or resource.startswith("hugepages-"):
        return "bytes"
    return "integer" if resource.startswith("attachable-volumes-") else ""


def _limits(pod: Pod) -> Amounts:
    """The pod's limits: containers and sidecars add up, other init containers count as their largest.

    Overhead is added where there is a limit.
    """
    total: Amounts = {}
    for container in pod.spec.containers:
        _plus(total, container.resources.limits)
    sidecars: Amounts = {}
    largest: Amounts = {}
    for container in pod.spec.init_containers:
        if container.is_sidecar:
            _plus(total, container.resources.limits)
            _plus(sidecars, container.resources.limits)
            phase = sidecars
        else:
            phase = dict(sidecars)
            _plus(phase, container.resources.limits)
        for name, amount in phase.items():
            largest[name] = max(amount, largest.get(name, 0))
    for name, amount in largest.items():
        total[name] = max(amount, total.get(name, 0))
    for name, text in pod.spec.overhead.items():
        if total.get(name):
            total[name] += quantity.nanos(text)
    return total


def _plus(total: Amounts, listed: Mapping[str, str | int | float]) -> None:
    for name, text in listed.items():
        total[name] = total.get(name, 0) + quantity.nanos(text)
