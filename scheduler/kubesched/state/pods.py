"""Pods that hold a place on a node: assigned ones, and assumed ones that the API does not show there yet.

Follows upstream `framework/types.go` (NodeInfo.Pods, of which removal moves the last pod into the gap) and
`backend/cache/cache.go`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from kubesched.api.pod import Pod
from kubesched.state.mounts import Mounts
from kubesched.state.nodes import NodeColumns
from kubesched.state.selectors import Conjunction, SelectorClass, SelectorCounts
from kubesched.state.terms import Term, TermClass, TermKind, Terms, pod_terms
from kubesched.state.types import I32, I64, wide

_FIRST_CAPACITY = 64
_NO_PODS: tuple[Pod, ...] = ()


class PodColumns:
    """The pods, and what is counted of them. Everybody reads; only `Cluster` writes."""

    def __init__(self, nodes: NodeColumns) -> None:
        self.by_uid: dict[str, Pod] = {}
        self.by_key: dict[str, Pod] = {}
        self.namespaces: dict[str, Mapping[str, str]] = {}
        self._nodes = nodes
        self._slots: dict[str, int] = {}
        self._places: dict[str, int] = {}
        self._on: dict[int, list[Pod]] = {}
        self._rows: dict[str, int] = {}
        self._free: list[int] = list(range(_FIRST_CAPACITY - 1, -1, -1))
        self._amounts: I64 = np.zeros((_FIRST_CAPACITY, nodes.books.shape[1]), np.int64)
        self._pod_terms: dict[str, tuple[Term, ...]] = {}
        self._terms = Terms()
        self.mounts = Mounts()
        self._counts = SelectorCounts(lambda: nodes.capacity, self.namespaces.get)

    # Reading

    def __len__(self) -> int:
        """The number of pods."""
        return len(self.by_uid)

    def __iter__(self) -> Iterator[Pod]:
        """All pods in order of arrival."""
        return iter(self.by_uid.values())

    def on_node(self, slot: int) -> Sequence[Pod]:
        """The pods on a slot, as upstream orders them: by arrival, the last one filling a gap."""
        return self._on.get(slot, _NO_PODS)

    def slot_of(self, uid: str) -> int | None:
        """The slot a pod is on."""
        return self._slots.get(uid)

    def count(self, wanted: SelectorClass | Conjunction, live_only: bool = False) -> I32:
        """Give the number of pods on each slot that match: I32[N], not to be written.

        A tuple of classes counts the pods that match all of them. `live_only` leaves out pods that terminate.
        The first question about a class counts it; from then on events keep it up to date.
        """
        parts = (wanted,) if isinstance(wanted, SelectorClass) else wanted
        return self._counts.count(parts, live_only=live_only)

    def terms_about(self, kind: TermKind, pod: Pod) -> list[TermClass]:
        """Give the terms of a kind, carried by pods on nodes, that are about the given pod."""
        return self._terms.about(kind, pod, self.namespaces.get(pod.namespace, {}))

    @property
    def terms(self) -> Terms:
        """The affinity terms of all pods."""
        return self._terms

    @property
    def counts(self) -> SelectorCounts:
        """The counts per selector class."""
        return self._counts

    def amounts_of(self, pods: Sequence[Pod]) -> I64:
        """What some pods add to a node's books, on nodes or not: I64[len(pods), 3 + R]."""
        rows = [self._rows.get(pod.uid, -1) for pod in pods]
        others = [i for i, row in enumerate(rows) if row < 0]
        foreign = [self._nodes.amounts(pods[i]) for i in others]
        amounts = self._amounts.take(rows, axis=0, mode="clip")
        amounts = wide(amounts, self._nodes.books.shape[1])
        for i, known in zip(others, foreign, strict=True):
            amounts[i] = 0
            amounts[i, : len(known)] = known
        return amounts

    # Writing

    def add(self, pod: Pod, slot: int) -> None:
        """Put a pod on a slot, and into all books."""
        uid = pod.uid
        self._seat(pod, slot)
        row = self._rows[uid] = self._free.pop() if self._free else self._grow()
        self._charge(row, pod, slot)
        self._counts.add(slot, pod.namespace, pod.labels, pod.is_terminating)
        self.mounts.add(slot, pod)
        terms = pod_terms(pod)
        if terms:
            self._pod_terms[uid] = terms
            self._terms.add(slot, terms)

    def remove(self, uid: str) -> Pod:
        """Take a pod off its slot and out of all books."""
        slot = self._slots[uid]
        pod = self._unseat(uid)
        row = self._rows.pop(uid)
        self._nodes.charge(slot, self._amounts[row], pod.host_ports, -1)
        self._free.append(row)
        self._counts.remove(slot, pod.namespace, pod.labels, pod.is_terminating)
        self.mounts.remove(slot, pod)
        terms = self._pod_terms.pop(uid, ())
        if terms:
            self._terms.remove(slot, terms)
        return pod

    def update(self, pod: Pod) -> None:
        """Put a new version of a pod in place of the old one, touching only the books that change.

        As upstream, which removes and adds, the pod becomes the last one on its node.
        """
        uid = pod.uid
        slot = self._slots[uid]
        old = self._unseat(uid)
        self._seat(pod, slot)
        if _asks_alike(old, pod):
            self._nodes.touch(slot)
            if pod.host_ports:
                self._nodes.charge_ports(slot, pod.host_ports, 1)
        else:
            row = self._rows[uid]
            self._nodes.charge(slot, self._amounts[row], old.host_ports, -1)
            self._charge(row, pod, slot)
        if old.labels != pod.labels or old.is_terminating != pod.is_terminating:
            self._counts.remove(slot, old.namespace, old.labels, old.is_terminating)
            self._counts.add(slot, pod.namespace, pod.labels, pod.is_terminating)
        if old.spec.volumes != pod.spec.volumes:
            self.mounts.remove(slot, old)
            self.mounts.add(slot, pod)
        if old.spec.affinity != pod.spec.affinity:
            self._terms.remove(slot, self._pod_terms.pop(uid, ()))
            self._pod_terms[uid] = pod_terms(pod)
            self._terms.add(slot, self._pod_terms[uid])

    def namespace(self, name: str, labels: Mapping[str, str] | None) -> None:
        """Take over a namespace's labels; None when it is gone."""
        if self.namespaces.get(name) == labels:
            return
        if labels is None:
            del self.namespaces[name]
        else:
            self.namespaces[name] = labels
        self._counts.namespace_changed(name)

    def _seat(self, pod: Pod, slot: int) -> None:
        """Make a pod the last one on a slot."""
        uid = pod.uid
        pods = self._on.get(slot)
        if pods is None:
            pods = self._on[slot] = []
        self.by_uid[uid] = pod
        self.by_key[pod.key] = pod
        self._slots[uid] = slot
        self._places[uid] = len(pods)
        pods.append(pod)

    def _unseat(self, uid: str) -> Pod:
        """Take a pod off its slot; the last pod there moves into the gap."""
        pod = self.by_uid.pop(uid)
        if self.by_key.get(pod.key) is pod:
            del self.by_key[pod.key]
        slot = self._slots.pop(uid)
        place = self._places.pop(uid)
        pods = self._on[slot]
        last = pods.pop()
        if last is not pod:
            pods[place] = last
            self._places[last.uid] = place
        if not pods:
            del self._on[slot]
        return pod

    def _charge(self, row: int, pod: Pod, slot: int) -> None:
        """Write down what a pod asks for, and charge its node with it."""
        amounts = self._nodes.amounts(pod)
        if len(amounts) > self._amounts.shape[1]:
            self._amounts = wide(self._amounts, len(amounts))
        self._amounts[row] = amounts
        self._nodes.charge(slot, self._amounts[row], pod.host_ports, 1)

    def _grow(self) -> int:
        """Make room for more pods and give the first new row."""
        rows = len(self._amounts)
        self._amounts = np.concatenate([self._amounts, np.zeros_like(self._amounts)])
        self._free.extend(range(2 * rows - 1, rows, -1))
        return rows


def _asks_alike(old: Pod, new: Pod) -> bool:
    """Say whether two versions of a pod ask the same of their node."""
    return (
        old.requests == new.requests
        and old.nonzero_requests == new.nonzero_requests
        and old.host_ports == new.host_ports
    )
