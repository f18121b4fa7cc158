"""Node selector terms over columns: which slots meet them.

Follows upstream component-helpers `scheduling/corev1/nodeaffinity` (1.36) in what a term means.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kubesched.api.labels import Operator, Requirement
from kubesched.api.nodeaffinity import RequiredNodeAffinity, Term

if TYPE_CHECKING:
    from kubesched.state.nodes import NodeColumns


def meets_term(nodes: NodeColumns, term: Term) -> NDArray[np.bool_]:
    """Bool[N]: every requirement of the term holds; an unreadable term holds nowhere."""
    if term.error is not None:
        return np.zeros(nodes.capacity, np.bool_)
    return meets_labels(nodes, term.labels) & _meets_fields(nodes, term.fields)


def meets_any(nodes: NodeColumns, terms: Iterable[Term]) -> NDArray[np.bool_]:
    """Bool[N]: one of the terms holds; without any it holds nowhere."""
    found = np.zeros(nodes.capacity, np.bool_)
    for term in terms:
        found |= meets_term(nodes, term)
    return found


def meets_required(nodes: NodeColumns, required: RequiredNodeAffinity) -> NDArray[np.bool_]:
    """Bool[N]: the pod's node selector and required node affinity hold; unreadable terms are passed over."""
    found = meets_labels(nodes, required.node_selector)
    return found if required.terms is None else found & meets_any(nodes, required.terms)


def meets_labels(nodes: NodeColumns, requirements: Sequence[Requirement]) -> NDArray[np.bool_]:
    """Bool[N]: all label requirements hold."""
    found = np.ones(nodes.capacity, np.bool_)
    for requirement in requirements:
        found &= nodes.admits(requirement)
    return found


def _meets_fields(nodes: NodeColumns, requirements: Sequence[Requirement]) -> NDArray[np.bool_]:
    """Bool[N]: all field requirements hold; of a node's fields only its name is known, others are empty."""
    found = np.ones(nodes.capacity, np.bool_)
    for requirement in requirements:
        if requirement.key != "metadata.name":
            found &= requirement.admits("")
            continue
        named = np.zeros(nodes.capacity, np.bool_)
        named[[nodes.slot[name] for name in requirement.values if name in nodes.slot]] = True
        found &= named if requirement.operator is Operator.IN else ~named
    return found
