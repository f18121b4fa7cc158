"""Clusters without room: whoever comes must preempt or wait."""

from __future__ import annotations

from collections.abc import Sequence

from schedlab.fuzz.blueprint import Blueprint, pod, start_apart
from schedlab.fuzz.draw import Draw
from schedlab.fuzz.features.contract import Object, nodes_in

_LABELS = {"app": ("web", "api", "batch"), "version": ("v1", "v2")}


class Crowds:
    """Full nodes, by cpu or by number of pods, and pods that arrive ever more important.

    Drawn first, so that other features decorate the crowd, too; `priorities` only gives the crowd its own.
    Pods of one size each make choices close: what decides is whom they push aside.
    """

    name = "crowds"

    def draw(self, plan: Blueprint) -> None:
        """Fill every node with two to four pods, and let most arrivals ask for one or two places."""
        draw = plan.draw.fork(self.name)
        plan.pods.clear()
        for node in plan.nodes:
            _fill(draw, plan, node)
        start_apart(draw, plan)
        climb = draw.pick((0, 1, 10))
        for index, one in enumerate(plan.arrivals):
            one["spec"]["containers"][0]["resources"] = {"requests": {"cpu": draw.pick(("900m", "1", "2"))}}
            one["spec"]["priority"] = 1000 + climb * index if draw.chance(0.85) else draw.pick((0, 5, 100))

    def strip(self, objects: Sequence[Object], pod: Object) -> None:
        """Every node has room for everybody."""
        del pod
        for node in nodes_in(objects):
            node["status"]["allocatable"] |= {"cpu": "1000", "memory": "1000Gi", "pods": "1000"}


def _fill(draw: Draw, plan: Blueprint, node: Object) -> None:
    count = draw.between(2, 4)
    by_number = draw.chance(0.3)
    node["status"]["allocatable"] |= {
        "cpu": "64" if by_number else f"{count}",
        "memory": "64Gi",
        "pods": str(count) if by_number else "110",
    }
    for index in range(count):
        labels = {key: draw.pick(values) for key, values in _LABELS.items()}
        made = pod(f"old-{node['metadata']['name']}-{index}", "default", labels)
        made["spec"]["nodeName"] = node["metadata"]["name"]
        made["spec"]["containers"][0]["resources"] = {"requests": {"cpu": draw.pick(("900m", "1"))}}
        plan.pods.append(made)
