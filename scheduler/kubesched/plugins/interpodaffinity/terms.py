"""The affinity terms of the pod that is to be placed, and counts of pods per topology domain.

Follows upstream `interpodaffinity/{plugin,filtering}.go` (1.36). A quirk is kept: upstream unrolls an
incoming term's namespace selector into names but goes on matching it, against no labels at all; so a
selector that matches no labels (NotIn, DoesNotExist) selects every namespace.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kubesched.api.affinity import PodAffinity, PodAffinityTerm
from kubesched.api.labels import Selector
from kubesched.api.objects import Pod
from kubesched.state.selectors import SelectorClass
from kubesched.state.terms import TermClass, TermKind, selected_pods

if TYPE_CHECKING:
    from kubesched.state import ClusterReader

EVERY_NAMESPACE = Selector()


@dataclass(frozen=True, slots=True)
class IncomingTerm:
    """One term of the pod that is to be placed; `weight` is 0 for a required one, negative for aversion."""

    topology_key: str
    pods: SelectorClass
    weight: int = 0

    def selects(self, cluster: ClusterReader, pod: Pod) -> bool:
        """Whether the term is about the other pod."""
        return self.pods.matches(pod.namespace, pod.labels, cluster.pods.namespaces.get(pod.namespace))


def required_affinity(pod: Pod) -> tuple[IncomingTerm, ...]:
    """What must be near; ValueError for an unreadable term."""
    affinity = _affinity(pod)
    return () if affinity is None else _compiled(pod, ((term, 0) for term in affinity.required))


def required_anti_affinity(pod: Pod) -> tuple[IncomingTerm, ...]:
    """What must not be near; ValueError for an unreadable term."""
    affinity = _anti_affinity(pod)
    return () if affinity is None else _compiled(pod, ((term, 0) for term in affinity.required))


def preferred(pod: Pod) -> tuple[IncomingTerm, ...]:
    """What is better near, and with negative weight what is better far; ValueError for an unreadable term."""
    near, far = _affinity(pod), _anti_affinity(pod)
    terms = [(item.pod_affinity_term, item.weight) for item in (near.preferred if near else ())]
    terms += [(item.pod_affinity_term, -item.weight) for item in (far.preferred if far else ())]
    return _compiled(pod, terms)


def concerns(cluster: ClusterReader, pod: Pod, *kinds: TermKind) -> bool:
    """Whether the pod has pod affinity of its own, or pods there have terms of those kinds about it."""
    if _affinity(pod) is not None or _anti_affinity(pod) is not None:
        return True
    return any(cluster.pods.terms_about(kind, pod) for kind in kinds)


def _affinity(pod: Pod) -> PodAffinity | None:
    return pod.spec.affinity.pod_affinity if pod.spec.affinity else None


def _anti_affinity(pod: Pod) -> PodAffinity | None:
    return pod.spec.affinity.pod_anti_affinity if pod.spec.affinity else None


def _compiled(pod: Pod, terms: Iterable[tuple[PodAffinityTerm, int]]) -> tuple[IncomingTerm, ...]:
    return tuple(
        IncomingTerm(term.topology_key, _unrolled(selected_pods(pod, term)), weight) for term, weight in terms
    )


def _unrolled(pods: SelectorClass) -> SelectorClass:
    return replace(pods, namespace_selector=EVERY_NAMESPACE) if pods.namespace_selector.matches({}) else pods


class DomainSums:
    """Whole numbers per topology domain, one array per key; nodes without the key belong to no domain."""

    def __init__(self, cluster: ClusterReader) -> None:
        self._nodes = cluster.nodes
        self._sums: dict[str, NDArray[np.int64]] = {}
        self.touched = False

    @property
    def keys(self) -> Sequence[str]:
        """The topology keys under which something was added."""
        return list(self._sums)

    def add(self, key: str, per_node: NDArray[np.int32], weight: int = 1) -> None:
        """Add I32[N] per node, times a weight, to each node's domain."""
        slots = np.flatnonzero(per_node)
        self._add(key, slots, per_node.take(slots), weight)

    def add_class(self, known: TermClass, weight: int = 1) -> None:
        """Add the pods that carry a term, times a weight, to the domains of the term's key."""
        slots, counts = known.nodes()
        self._add(known.term.topology_key, slots, counts, weight)

    def at(self, key: str, rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """I64[K]: the sum in the domain of each row, 0 where it has none."""
        sums = self._sums.get(key)
        if sums is None:
            return np.zeros(len(rows), np.int64)
        return sums.take(self._nodes.label(key).take(rows), mode="wrap")

    def domains(self) -> int:
        """The number of domains, over all keys, whose sum is not 0."""
        return sum(int(np.count_nonzero(sums)) for sums in self._sums.values())

    def _add(self, key: str, slots: NDArray[np.integer], counts: NDArray[np.int32], weight: int) -> None:
        domain = self._nodes.label(key).take(slots)
        inside = domain >= 0
        if not inside.any():
            return
        self.touched = True
        size = len(self._nodes.label_values(key)) + 1
        more = np.bincount(domain[inside], counts[inside], size).astype(np.int64) * weight
        known = self._sums.get(key)
        self._sums[key] = more if known is None else known + more
