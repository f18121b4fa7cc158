"""NodeAffinity: the pod's node selector and node affinity, and an affinity that the profile adds to all pods.

Follows upstream `nodeaffinity/node_affinity.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar

import numpy as np

from kubesched.api.affinity import NodeAffinity as NodeAffinitySpec
from kubesched.api.affinity import NodeSelectorTerm
from kubesched.api.nodeaffinity import (
    RequiredNodeAffinity,
    Term,
    compile_preferred,
    compile_terms,
    required_node_affinity,
)
from kubesched.api.objects import Node, Pod
from kubesched.config.args import NodeAffinityArgs
from kubesched.framework import (
    SKIP,
    ClusterEventWithHint,
    Codes,
    Cycle,
    Handle,
    Hint,
    NodeNames,
    Points,
    Slot,
    Status,
    View,
    unresolvable,
)
from kubesched.plugins.node_terms import meets_any, meets_required, meets_term
from kubesched.plugins.normalize import default_normalize
from kubesched.state.events import ActionType, ClusterEvent, Resource

MISMATCH = unresolvable("node(s) didn't match Pod's node affinity/selector")
ENFORCED = unresolvable("node(s) didn't match scheduler-enforced node affinity")
CONFLICT = unresolvable("pod affinity terms conflict")
_REASONS = {1: ENFORCED, 2: MISMATCH}
_REQUIRED: Slot[RequiredNodeAffinity] = Slot("NodeAffinity required terms")
_FEW = 8
"""So many nodes are asked one by one rather than all at once."""
_PREFERRED: Slot[Sequence[tuple[Term, int]]] = Slot("NodeAffinity preferred terms")


class NodeAffinity:
    """Filters by required terms, scores by preferred ones."""

    name: ClassVar[str] = "NodeAffinity"

    def __init__(self, added: NodeAffinitySpec | None) -> None:
        self._added = _compile_added(added)
        self._added_preferred = () if added is None else compile_preferred(added.preferred)

    def sign(self, pod: Pod) -> Hashable:
        """The node selector and the affinity decide."""
        affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
        selector = pod.spec.node_selector
        return affinity, frozenset(selector.items()) if selector else None

    def pre_filter(self, cycle: Cycle) -> Status | NodeNames | None:
        """Read the terms; name the nodes if the terms do."""
        pod = cycle.pod
        terms = _required_terms(pod)
        if terms is None and self._added is None and not pod.spec.node_selector:
            return SKIP
        cycle.put(_REQUIRED, required_node_affinity(pod))
        return _named_nodes(terms or ())

    def filter(self, cycle: Cycle, view: View) -> Codes:
        """Apply the terms; when PreFilter is disabled, read them here."""
        required = cycle.find(_REQUIRED) or required_node_affinity(cycle.pod)
        nodes = cycle.cluster.nodes
        if len(view) <= _FEW:
            asked = (nodes.objects[row] for row in view.rows.tolist())
            return np.array([0 if node is None else self._code(required, node) for node in asked], np.int64)
        codes = np.where(meets_required(nodes, required), 0, 2)
        if self._added is not None:
            codes = np.where(meets_any(nodes, self._added), codes, 1)
        return codes[view.rows]

    def status(self, _cycle: Cycle, code: int) -> Status:
        """Tell the profile's affinity from the pod's."""
        return _REASONS[code]

    def pre_score(self, cycle: Cycle, _view: View) -> Status | None:
        """Skip when neither the pod nor the profile prefers anything; ValueError for an unreadable term."""
        preferred = _preferred_terms(cycle.pod)
        if not preferred and not self._added_preferred:
            return SKIP
        cycle.put(_PREFERRED, (*self._added_preferred, *preferred))
        return None

    def score(self, cycle: Cycle, view: View) -> Points:
        """The sum of the weights of the preferred terms that the node meets."""
        terms = cycle.find(_PREFERRED)
        if terms is None:
            terms = (*self._added_preferred, *_preferred_terms(cycle.pod))
        nodes = cycle.cluster.nodes
        if len(view) <= _FEW:
            asked = (nodes.objects[row] for row in view.rows.tolist())
            return np.array([_preference(terms, node) for node in asked], np.int64)
        total: Points = np.zeros(len(view), np.int64)
        for term, weight in terms:
            total += meets_term(nodes, term)[view.rows] * weight
        return total

    def normalize(self, _cycle: Cycle, _view: View, raw: Points) -> Points:
        """The node with the highest sum gets 100."""
        return default_normalize(raw, reverse=False)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A node that is new or changes its labels may match."""
        node = ClusterEvent(Resource.Node, ActionType.Add | ActionType.UpdateNodeLabel)
        return [ClusterEventWithHint(node, self._became_match)]

    def _code(self, required: RequiredNodeAffinity, node: Node) -> int:
        if not self._admits_added(node):
            return 1
        return 0 if _meets(required, node) else 2

    def _became_match(self, pod: Pod, event: ClusterEvent) -> Hint:
        """The node matches now and did not before."""
        old, new = event.old, event.new
        if not isinstance(new, Node) or not self._admits_added(new):
            return Hint.Skip
        required = required_node_affinity(pod)
        if not _admits(required, new):
            return Hint.Skip
        return Hint.Skip if isinstance(old, Node) and _admits(required, old) else Hint.Queue

    def _admits_added(self, node: Node) -> bool:
        return self._added is None or any(term.matches(node.labels, node.name) for term in self._added)


def _meets(required: RequiredNodeAffinity, node: Node) -> bool:
    """Whether the node is admitted; unreadable terms are passed over."""
    labels, terms = node.labels, required.terms
    if not all(item.matches(labels) for item in required.node_selector):
        return False
    return terms is None or any(term.error is None and term.matches(labels, node.name) for term in terms)


def _preference(terms: Sequence[tuple[Term, int]], node: Node | None) -> int:
    return 0 if node is None else sum(w for term, w in terms if term.matches(node.labels, node.name))


def _admits(required: RequiredNodeAffinity, node: Node) -> bool:
    return required.matches(node.labels, node.name)


def _compile_added(added: NodeAffinitySpec | None) -> tuple[Term, ...] | None:
    """The profile's required terms; ValueError if one is unreadable."""
    if added is None or added.required is None:
        return None
    terms = compile_terms(added.required)
    if unreadable := [term.error for term in terms if term.error is not None]:
        raise ValueError(
            f"parsing addedAffinity.requiredDuringSchedulingIgnoredDuringExecution: {'; '.join(unreadable)}"
        )
    return terms


def _required_terms(pod: Pod) -> tuple[NodeSelectorTerm, ...] | None:
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    return None if affinity is None or affinity.required is None else affinity.required.node_selector_terms


def _preferred_terms(pod: Pod) -> tuple[tuple[Term, int], ...]:
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    return () if affinity is None else compile_preferred(affinity.preferred)


def _named_nodes(terms: Sequence[NodeSelectorTerm]) -> Status | NodeNames | None:
    """The nodes that the terms name by metadata.name, if each of them names some.

    A conflict means that no node satisfies what any term says about its name.
    """
    if not terms:
        return None
    union: frozenset[str] = frozenset()
    for term in terms:
        sets = [
            frozenset(f.values) for f in term.match_fields if f.key == "metadata.name" and f.operator == "In"
        ]
        if not sets:
            return None
        union |= frozenset.intersection(*sets)
    return NodeNames(union) if union else CONFLICT


def build(args: object, _handle: Handle) -> NodeAffinity:
    """Build the plugin from its arguments."""
    return NodeAffinity(args.added_affinity if isinstance(args, NodeAffinityArgs) else None)
