"""Cordoned nodes, and pods that tolerate it."""

from __future__ import annotations

from collections.abc import Sequence

from schedlab.fuzz.blueprint import Blueprint
from schedlab.fuzz.features.contract import Object, nodes_in

_TAINT = "node.kubernetes.io/unschedulable"


class Unschedulable:
    """`spec.unschedulable` on some nodes, with and without the taint that the node controller adds to it."""

    name = "unschedulable"

    def draw(self, plan: Blueprint) -> None:
        """Cordon some nodes; let some pods tolerate it, as DaemonSet pods do."""
        draw = plan.draw.fork(self.name)
        for node in plan.nodes:
            if draw.chance(0.25):
                node["spec"]["unschedulable"] = True
                if draw.chance(0.3):
                    node["spec"].setdefault("taints", []).append({"key": _TAINT, "effect": "NoSchedule"})
        for pod in plan.arrivals:
            if draw.chance(0.25):
                effect = draw.pick(({"effect": "NoSchedule"}, {"effect": "NoExecute"}, {}))
                pod["spec"].setdefault("tolerations", []).append(
                    {"key": _TAINT, "operator": "Exists", **effect}
                )

    def strip(self, objects: Sequence[Object], pod: Object) -> None:
        """No node is cordoned."""
        del pod
        for node in nodes_in(objects):
            node["spec"].pop("unschedulable", None)
