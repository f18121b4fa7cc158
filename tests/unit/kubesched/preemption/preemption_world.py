"""Preemption on a small state, under the default profile."""

from __future__ import annotations

from kubesched.api.base import ObjectMeta
from kubesched.api.labels import LabelSelector
from kubesched.api.workloads import (
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
)
from kubesched.config.defaults import default_configuration
from kubesched.config.gates import FeatureGates
from kubesched.explain.session import Answerer


def explained(incoming, *objects):
    gates = FeatureGates()
    answerer = Answerer(default_configuration(gates), gates)
    for obj in objects:
        answerer.feed.add(obj)
    return answerer.answer(incoming)


def candidates(incoming, *objects):
    """The victims by node, and the nodes that may be picked; None when preemption was not tried."""
    found = explained(incoming, *objects).preemption
    if found is None:
        return None
    return {
        name: [key.removeprefix("default/") for key in victims] for name, victims in found.candidates.items()
    }, found.best


def budget(allowed, *, disrupted=(), **labels):
    return PodDisruptionBudget(
        metadata=ObjectMeta(name="budget", namespace="default"),
        spec=PodDisruptionBudgetSpec(selector=LabelSelector(match_labels=labels)),
        status=PodDisruptionBudgetStatus(
            disruptions_allowed=allowed, disrupted_pods=dict.fromkeys(disrupted, "2026-01-01T00:00:00Z")
        ),
    )
