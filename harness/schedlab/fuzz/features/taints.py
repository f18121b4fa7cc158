"""Taints of every effect, and tolerations of every shape."""

from __future__ import annotations

from collections.abc import Sequence

from schedlab.fuzz.blueprint import Blueprint
from schedlab.fuzz.draw import Draw
from schedlab.fuzz.features.contract import Object, nodes_in

_KEYS = ("dedicated", "maintenance", "nvidia.com/gpu")
_VALUES = ("", "a", "b")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


class Taints:
    """Taints on a third of the nodes; tolerations by value, by existence, of a key, of everything."""

    name = "taints"

    def draw(self, plan: Blueprint) -> None:
        """Taint nodes with up to three taints of distinct key and effect."""
        draw = plan.draw.fork(self.name)
        for node in plan.nodes:
            if draw.chance(0.4):
                pairs = draw.some([(key, effect) for key in _KEYS for effect in _EFFECTS], 1, 3)
                node["spec"]["taints"] = [
                    {"key": key, "value": draw.pick(_VALUES), "effect": effect} for key, effect in pairs
                ]
        for pod in plan.arrivals:
            if draw.chance(0.6):
                tolerations = [_toleration(draw) for _ in range(draw.between(1, 3))]
                pod["spec"].setdefault("tolerations", []).extend(tolerations)

    def strip(self, objects: Sequence[Object], pod: Object) -> None:
        """No taints, no tolerations."""
        for node in nodes_in(objects):
            node["spec"].pop("taints", None)
        pod["spec"].pop("tolerations", None)


def _toleration(draw: Draw) -> Object:
    effect = draw.pick(("", *_EFFECTS))
    if draw.chance(0.1):
        return {"operator": "Exists", **({"effect": effect} if effect else {})}
    toleration: Object = {"key": draw.pick(_KEYS)}
    if draw.chance(0.3):
        toleration["operator"] = "Exists"
    else:
        toleration["value"] = draw.pick(_VALUES)
        if draw.chance(0.5):
            toleration["operator"] = "Equal"
    if effect:
        toleration["effect"] = effect
    if effect == "NoExecute" and draw.chance(0.3):
        toleration["tolerationSeconds"] = 300
    return toleration
