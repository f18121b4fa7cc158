"""Priorities, preemption policies, and the budgets that preemption prefers not to break."""

from __future__ import annotations

from collections.abc import Sequence

from schedlab.fuzz.blueprint import POD_LABELS, Blueprint, label_selector, start_apart
from schedlab.fuzz.draw import Draw
from schedlab.fuzz.features.contract import Object, pods_in

_PRIORITIES = (-10, 0, 0, 1, 5, 100, 1000)


class Priorities:
    """Existing pods of many priorities with distinct start times; arriving pods that may preempt them."""

    name = "priorities"

    def draw(self, plan: Blueprint) -> None:
        """Give every pod a priority, every existing pod a start time of its own."""
        draw = plan.draw.fork(self.name)
        levels = draw.pick((_PRIORITIES, (0, 5), (0, 1, 100)))
        start_apart(draw, plan)
        for pod in plan.pods:
            pod["spec"]["priority"] = draw.pick(levels)
            if draw.chance(0.5):
                pod["spec"]["terminationGracePeriodSeconds"] = 0
        for pod in plan.arrivals:
            pod["spec"].setdefault("priority", draw.pick((*_PRIORITIES, 1000, 1000)))
            if draw.chance(0.1):
                pod["spec"]["preemptionPolicy"] = "Never"

    def strip(self, objects: Sequence[Object], pod: Object) -> None:
        """All pods are of equal priority."""
        for one in (*pods_in(objects), pod):
            one["spec"].pop("priority", None)


class Budgets:
    """PodDisruptionBudgets, exhausted or not, overlapping, by expression, of everything, of nothing."""

    name = "budgets"

    def draw(self, plan: Blueprint) -> None:
        """Add budgets whose controller allowed between none and three disruptions."""
        draw = plan.draw.fork(self.name)
        for index in range(draw.between(3, 8)):
            plan.others.append(_budget(draw, f"budget-{index}", draw.pick(plan.namespaces)))

    def strip(self, objects: Sequence[Object], pod: Object) -> None:
        """No budget covers a pod."""
        del pod
        for obj in objects:
            if obj["kind"] == "PodDisruptionBudget":
                obj["spec"]["selector"] = {"matchLabels": {"nobody": "here"}}


def _covered(draw: Draw) -> Object:
    """Mostly the pods of one app: a budget over all of a node's pods, or none, changes nothing."""
    if draw.chance(0.6):
        return {"matchLabels": {"app": draw.pick(POD_LABELS["app"])}}
    return label_selector(draw)


def _budget(draw: Draw, name: str, namespace: str) -> Object:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"minAvailable": 1, "selector": _covered(draw)},
        "status": {
            "disruptionsAllowed": draw.weighted({0: 5, 1: 3, 2: 1}),
            "currentHealthy": 3,
            "desiredHealthy": 1,
            "expectedPods": 3,
            "observedGeneration": 1,
        },
    }
