"""The affinity terms that pods on nodes carry: who repels or attracts an incoming pod, and from where.

Equal terms of different pods are one class with a count per slot. An index by a label pair that every match
must carry finds the classes that concern an incoming pod without trying all. Follows upstream kube-scheduler
`framework/types.go` (AffinityTerm) for how a term is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from kubesched.api.affinity import PodAffinity, PodAffinityTerm
from kubesched.api.labels import compile_selector
from kubesched.api.pod import Pod
from kubesched.state.selectors import SelectorClass
from kubesched.state.types import I32


class TermKind(StrEnum):
    """Which list of a pod's affinity a term is from."""

    REQUIRED_AFFINITY = "required affinity"
    REQUIRED_ANTI_AFFINITY = "required anti-affinity"
    PREFERRED_AFFINITY = "preferred affinity"
    PREFERRED_ANTI_AFFINITY = "preferred anti-affinity"


@dataclass(frozen=True, slots=True)
class Term:
    """One term as it is read for the pod that carries it. `weight` is 0 for a required one."""

    kind: TermKind
    pods: SelectorClass
    topology_key: str
    weight: int = 0

    def matches(self, pod: Pod, namespace_labels: Mapping[str, str]) -> bool:
        """Say whether the term is about such a pod. An unknown namespace counts as one without labels."""
        return self.pods.matches(pod.namespace, pod.labels, namespace_labels)


def pod_terms(pod: Pod) -> tuple[Term, ...]:
    """Read all affinity terms of a pod; a list with an unreadable term counts as empty, as upstream."""
    affinity = pod.spec.affinity
    if affinity is None or (affinity.pod_affinity is None and affinity.pod_anti_affinity is None):
        return ()
    return (
        *_terms(pod, affinity.pod_affinity, TermKind.REQUIRED_AFFINITY, TermKind.PREFERRED_AFFINITY),
        *_terms(
            pod, affinity.pod_anti_affinity, TermKind.REQUIRED_ANTI_AFFINITY, TermKind.PREFERRED_ANTI_AFFINITY
        ),
    )


def _terms(pod: Pod, affinity: PodAffinity | None, required: TermKind, preferred: TermKind) -> list[Term]:
    """Read the two lists of one affinity."""
    if affinity is None:
        return []
    weighted = [(term.pod_affinity_term, term.weight) for term in affinity.preferred]
    return [
        *_readable(pod, required, [(term, 0) for term in affinity.required]),
        *_readable(pod, preferred, weighted),
    ]


def _readable(pod: Pod, kind: TermKind, terms: Iterable[tuple[PodAffinityTerm, int]]) -> list[Term]:
    """Read a list of terms, or nothing if one is unreadable."""
    try:
        return [Term(kind, selected_pods(pod, term), term.topology_key, weight) for term, weight in terms]
    except ValueError:
        return []


def selected_pods(pod: Pod, term: PodAffinityTerm) -> SelectorClass:
    """Say which pods a term of this pod selects: without namespaces given, those of the pod's own.

    Raises ValueError for an invalid selector.
    """
    own = not term.namespaces and term.namespace_selector is None
    return SelectorClass(
        namespaces=frozenset((pod.namespace,) if own else term.namespaces),
        selector=compile_selector(term.label_selector),
        namespace_selector=compile_selector(term.namespace_selector),
    )


class TermClass:
    """A term, and how many pods on each slot carry it."""

    __slots__ = ("_arrays", "counts", "term")

    def __init__(self, term: Term) -> None:
        self.term = term
        self.counts: dict[int, int] = {}
        self._arrays: tuple[I32, I32] | None = None

    def nodes(self) -> tuple[I32, I32]:
        """Give the slots that have such pods, and how many each has: two I32 of equal length."""
        if self._arrays is None:
            slots = np.fromiter(self.counts.keys(), np.int32, len(self.counts))
            self._arrays = slots, np.fromiter(self.counts.values(), np.int32, len(self.counts))
        return self._arrays

    def change(self, slot: int, by: int) -> None:
        """Count a pod in or out."""
        left = self.counts.get(slot, 0) + by
        if left:
            self.counts[slot] = left
        else:
            del self.counts[slot]
        self._arrays = None


_Anchor = tuple[str, str] | None


class Terms:
    """The terms of all pods on nodes."""

    def __init__(self) -> None:
        self._classes: dict[Term, TermClass] = {}
        self._index: dict[TermKind, dict[_Anchor, dict[Term, TermClass]]] = {kind: {} for kind in TermKind}

    def add(self, slot: int, terms: Iterable[Term]) -> None:
        """Count a pod's terms in."""
        for term in terms:
            known = self._classes.get(term)
            if known is None:
                known = self._classes[term] = TermClass(term)
                self._index[term.kind].setdefault(term.pods.selector.anchor, {})[term] = known
            known.change(slot, 1)

    def remove(self, slot: int, terms: Iterable[Term]) -> None:
        """Count a pod's terms out."""
        for term in terms:
            known = self._classes[term]
            known.change(slot, -1)
            if not known.counts:
                del self._classes[term]
                anchor = term.pods.selector.anchor
                filed = self._index[term.kind][anchor]
                del filed[term]
                if not filed:
                    del self._index[term.kind][anchor]

    def about(self, kind: TermKind, pod: Pod, namespace_labels: Mapping[str, str]) -> list[TermClass]:
        """Give the terms of a kind, carried by pods on nodes, that are about a pod in such a namespace."""
        index = self._index[kind]
        if not index:
            return []
        anchors: list[_Anchor] = [None, *pod.labels.items()]
        return [
            known
            for anchor in anchors
            for known in index.get(anchor, {}).values()
            if known.term.matches(pod, namespace_labels)
        ]

    def all(self) -> Iterable[TermClass]:
        """All term classes."""
        return self._classes.values()
