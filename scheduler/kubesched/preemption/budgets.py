"""Which victims would violate a disruption budget.

Follows upstream `filterPodsWithPDBViolation` (plugins/defaultpreemption, 1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kubesched.api.labels import Selector, compile_selector
from kubesched.api.objects import Pod, PodDisruptionBudget


@dataclass(frozen=True, slots=True)
class Budget:
    """A budget with its selector compiled."""

    budget: PodDisruptionBudget
    selector: Selector

    def covers(self, pod: Pod) -> bool:
        """Whether the pod counts against it; not if its disruption has been accounted for already."""
        return (
            self.budget.namespace == pod.namespace
            and self.selector.matches(pod.labels)
            and pod.name not in self.budget.status.disrupted_pods
        )


def compile_budgets(budgets: Iterable[PodDisruptionBudget]) -> tuple[Budget, ...]:
    """Budgets that can cover a pod: a nil, empty or invalid selector covers none."""
    found = []
    for budget in budgets:
        try:
            selector = compile_selector(budget.spec.selector)
        except ValueError:
            continue
        if not selector.nothing and not selector.is_empty:
            found.append(Budget(budget, selector))
    return tuple(found)


def split(pods: Sequence[Pod], budgets: Sequence[Budget]) -> tuple[list[Pod], list[Pod]]:
    """Pods whose eviction would violate a budget, and the others, both in the given order.

    Each pod uses up one disruption of every budget that covers it, also when another one is violated.
    """
    left = [item.budget.status.disruptions_allowed for item in budgets]
    violating: list[Pod] = []
    others: list[Pod] = []
    for pod in pods:
        violated = False
        for index, item in enumerate(budgets if pod.labels else ()):
            if item.covers(pod):
                left[index] -= 1
                violated = violated or left[index] < 0
        (violating if violated else others).append(pod)
    return violating, others
