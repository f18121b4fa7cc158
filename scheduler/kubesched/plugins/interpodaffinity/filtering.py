"""The hard half: the pod's required terms, and the required anti-affinity of pods that are there.

Follows upstream `interpodaffinity/filtering.go` (1.36).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kubesched.api.objects import Pod
from kubesched.framework import Codes, View, unresolvable, unschedulable
from kubesched.plugins.interpodaffinity.terms import (
    DomainSums,
    IncomingTerm,
    required_affinity,
    required_anti_affinity,
)
from kubesched.state.terms import Term, TermKind, pod_terms

if TYPE_CHECKING:
    from kubesched.state import ClusterReader

NOT_NEAR = unresolvable("node(s) didn't match pod affinity rules")
TOO_NEAR = unschedulable("node(s) didn't match pod anti-affinity rules")
REPELLED = unschedulable("node(s) didn't satisfy existing pods anti-affinity rules")
CODES = {1: NOT_NEAR, 2: TOO_NEAR, 3: REPELLED}


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Pods per domain that matter to the incoming pod.

    `near` counts pods that all affinity terms select, `far` those that an anti-affinity term selects,
    `repelling` those whose own anti-affinity selects the incoming pod.
    """

    cluster: ClusterReader
    pod: Pod
    affinity: tuple[IncomingTerm, ...]
    anti_affinity: tuple[IncomingTerm, ...]
    near: DomainSums
    far: DomainSums
    repelling: DomainSums

    @property
    def is_empty(self) -> bool:
        """Nothing here can reject a node."""
        return not (self.affinity or self.anti_affinity or self.repelling.touched)

    def codes(self, view: View) -> Codes:
        """The first of the three rules that a world breaks decides its code."""
        codes: Codes = np.zeros(len(view), np.int64)
        if self.affinity:
            codes = np.where(self._is_near(view), 0, 1)
        if self.anti_affinity:
            codes = np.where((codes == 0) & self._is_too_near(view), 2, codes)
        return np.where((codes == 0) & self._is_repelled(view), 3, codes)

    def _is_near(self, view: View) -> NDArray[np.bool_]:
        """Each term's domain holds a pod that all terms select, or the pod is the first of its kind."""
        moved = view.moved(lambda other: int(self._all_select(other)))
        complete = np.ones(len(view), np.bool_)
        found = np.ones(len(view), np.bool_)
        domains = np.full(len(view), self.near.domains())
        times = Counter(term.topology_key for term in self.affinity)
        for key, terms in times.items():
            inside = self.cluster.nodes.label(key).take(view.rows) >= 0
            before = self.near.at(key, view.rows)
            after = before + moved * terms
            complete &= inside
            found &= after > 0
            domains += inside & (before == 0) & (after != 0)
            domains -= inside & (before != 0) & (after == 0)
        alone = (domains == 0) & self._all_select(self.pod)
        near: NDArray[np.bool_] = complete & (found | alone)
        return near

    def _is_too_near(self, view: View) -> NDArray[np.bool_]:
        """Some term's domain holds a pod that it selects."""
        found = np.zeros(len(view), np.bool_)
        for key in dict.fromkeys(term.topology_key for term in self.anti_affinity):
            terms = [term for term in self.anti_affinity if term.topology_key == key]
            inside = self.cluster.nodes.label(key).take(view.rows) >= 0
            moved = view.moved(partial(_selecting, terms, self.cluster))
            found |= inside & (self.far.at(key, view.rows) + moved > 0)
        return found

    def _is_repelled(self, view: View) -> NDArray[np.bool_]:
        """Some domain of the node holds a pod that does not want the incoming pod there."""
        moved_keys: set[str] = set()
        view.moved(lambda other: _note_keys(self._repelling_terms(other), moved_keys))
        found = np.zeros(len(view), np.bool_)
        for key in dict.fromkeys((*self.repelling.keys, *sorted(moved_keys))):
            inside = self.cluster.nodes.label(key).take(view.rows) >= 0
            moved = view.moved(partial(self._repelling_under, key))
            found |= inside & (self.repelling.at(key, view.rows) + moved > 0)
        return found

    def _repelling_under(self, key: str, other: Pod) -> int:
        return sum(term.topology_key == key for term in self._repelling_terms(other))

    def _all_select(self, other: Pod) -> bool:
        return bool(self.affinity) and all(term.selects(self.cluster, other) for term in self.affinity)

    def _repelling_terms(self, other: Pod) -> list[Term]:
        labels = self.cluster.pods.namespaces.get(self.pod.namespace, {})
        kind = TermKind.REQUIRED_ANTI_AFFINITY
        return [term for term in pod_terms(other) if term.kind is kind and term.matches(self.pod, labels)]


def _selecting(terms: Sequence[IncomingTerm], cluster: ClusterReader, other: Pod) -> int:
    return sum(term.selects(cluster, other) for term in terms)


def _note_keys(terms: Sequence[Term], keys: set[str]) -> int:
    keys.update(term.topology_key for term in terms)
    return 0


def neighbours_of(cluster: ClusterReader, pod: Pod) -> Neighbours:
    """Count what matters to the pod over all nodes; ValueError for an unreadable term."""
    affinity, anti_affinity = required_affinity(pod), required_anti_affinity(pod)
    near, far, repelling = DomainSums(cluster), DomainSums(cluster), DomainSums(cluster)
    if affinity:
        selected = cluster.pods.count(tuple(term.pods for term in affinity))
        for term in affinity:
            near.add(term.topology_key, selected)
    for term in anti_affinity:
        far.add(term.topology_key, cluster.pods.count(term.pods))
    for known in cluster.pods.terms_about(TermKind.REQUIRED_ANTI_AFFINITY, pod):
        repelling.add_class(known)
    return Neighbours(cluster, pod, affinity, anti_affinity, near, far, repelling)
