"""Which nodes a node selector, or a pod's node affinity, admits.

Follows upstream component-helpers `scheduling/corev1/nodeaffinity`: terms are ORed, what is inside a term is
ANDed, an empty term matches nothing, and a term that cannot be read matters only if no other term matches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kubesched.api.affinity import (
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PreferredSchedulingTerm,
)
from kubesched.api.labels import Operator, Requirement, requirement
from kubesched.api.pod import Pod


@dataclass(frozen=True, slots=True)
class Term:
    """A compiled term.

    `fields` knows metadata.name, every other field is empty; `error` tells what is unreadable.
    """

    labels: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()
    error: str | None = None

    def matches(self, labels: Mapping[str, str], name: str) -> bool:
        """Say whether a node with these labels and this name meets the term."""
        if self.error is not None:
            return False
        return all(r.matches(labels) for r in self.labels) and all(
            r.admits(name if r.key == "metadata.name" else "") for r in self.fields
        )


def compile_term(term: NodeSelectorTerm) -> Term | None:
    """Compile one term; None for a term without requirements, which matches nothing."""
    if not term.match_expressions and not term.match_fields:
        return None
    try:
        labels = tuple(requirement(e.key, e.operator, e.values) for e in term.match_expressions)
        fields = tuple(_field_requirement(e) for e in term.match_fields)
    except ValueError as error:
        return Term(error=str(error))
    return Term(labels, fields)


def compile_terms(selector: NodeSelector | None) -> tuple[Term, ...]:
    """Compile the terms of a selector, without the empty ones."""
    if selector is None:
        return ()
    compiled = (compile_term(term) for term in selector.node_selector_terms)
    return tuple(term for term in compiled if term is not None)


def matches_any(terms: Iterable[Term], labels: Mapping[str, str], name: str) -> bool:
    """Say whether one term matches.

    ValueError tells what is unreadable when none does and one could not be read.
    """
    errors = []
    for term in terms:
        if term.error is not None:
            errors.append(term.error)
        elif term.matches(labels, name):
            return True
    if errors:
        raise ValueError("; ".join(errors))
    return False


@dataclass(frozen=True, slots=True)
class RequiredNodeAffinity:
    """A pod's nodeSelector and required node affinity together.

    `terms` is None where the pod has no such affinity.
    """

    node_selector: tuple[Requirement, ...]
    terms: tuple[Term, ...] | None

    def matches(self, labels: Mapping[str, str], name: str) -> bool:
        """Say whether the node is admitted. ValueError as in `matches_any`."""
        if not all(r.matches(labels) for r in self.node_selector):
            return False
        return self.terms is None or matches_any(self.terms, labels, name)


def required_node_affinity(pod: Pod) -> RequiredNodeAffinity:
    """Compile what a pod requires of its node."""
    selector = tuple(
        Requirement(key, Operator.IN, frozenset((value,))) for key, value in pod.spec.node_selector.items()
    )
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    required = affinity.required if affinity else None
    return RequiredNodeAffinity(selector, None if required is None else compile_terms(required))


def compile_preferred(terms: Iterable[PreferredSchedulingTerm]) -> tuple[tuple[Term, int], ...]:
    """Compile preferred terms with their weights.

    ValueError if one of weight other than zero cannot be read.
    """
    compiled = []
    for preferred in terms:
        term = compile_term(preferred.preference) if preferred.weight else None
        if term is None:
            continue
        if term.error is not None:
            raise ValueError(term.error)
        compiled.append((term, preferred.weight))
    return tuple(compiled)


def _field_requirement(expression: NodeSelectorRequirement) -> Requirement:
    """Compile a field requirement: In or NotIn with exactly one value, on metadata.name."""
    if expression.operator not in (Operator.IN, Operator.NOT_IN):
        raise ValueError(f"{expression.operator!r} is not a valid field selector operator (In or NotIn)")
    if len(expression.values) != 1:
        raise ValueError(f"{expression.key}: values must have one element")
    return requirement(expression.key, expression.operator, expression.values)
