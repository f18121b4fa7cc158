"""Several namespaces with labels, and pods in all of them."""

from __future__ import annotations

from collections.abc import Sequence

from schedlab.fuzz.blueprint import Blueprint
from schedlab.fuzz.features.contract import Object, pods_in

_NAMES = ("blue", "green", "red")
_TEAMS = ("search", "ads")


class Namespaces:
    """Drawn first, so that other features put their objects into these namespaces, too."""

    name = "namespaces"

    def draw(self, plan: Blueprint) -> None:
        """Make the namespaces and move pods into them; most stay together, or nothing would ever match."""
        draw = plan.draw.fork(self.name)
        for name in _NAMES:
            labels = {"team": draw.pick(_TEAMS)} if draw.chance(0.8) else {}
            plan.others.append(
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
            )
        plan.namespaces.extend(_NAMES)
        for pod in (*plan.pods, *plan.arrivals):
            if draw.chance(0.5):
                pod["metadata"]["namespace"] = draw.pick(_NAMES)

    def strip(self, objects: Sequence[Object], pod: Object) -> None:
        """Everything lives in the pod's own namespace."""
        home = pod["metadata"]["namespace"]
        for one in pods_in(objects):
            if one["metadata"]["namespace"] != home:
                one["metadata"]["name"] = f"{one['metadata']['namespace']}-{one['metadata']['name']}"
                one["metadata"]["namespace"] = home
