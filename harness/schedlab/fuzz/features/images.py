"""Images that nodes already hold."""

from __future__ import annotations

from collections.abc import Sequence

from schedlab.fuzz.blueprint import Blueprint
from schedlab.fuzz.features.contract import Object, nodes_in

_MIB = 1024 * 1024
_IMAGES = ("app:v1", "app:v2", "model:latest", "tool")


class Images:
    """Sizes around the scoring thresholds; the same image reported with different sizes; untagged names."""

    name = "images"

    def draw(self, plan: Blueprint) -> None:
        """Put images on nodes and let pods use them."""
        draw = plan.draw.fork(self.name)
        for node in plan.nodes:
            if draw.chance(0.9):
                node["status"]["images"] = [
                    {
                        "names": [_full(name), f"mirror/{name}"],
                        "sizeBytes": draw.pick((1, 23, 24, 100, 400, 999, 1000, 3000, 3000)) * _MIB,
                    }
                    for name in draw.some(_IMAGES, 1, 3)
                ]
        for pod in plan.arrivals:
            for container in (*pod["spec"]["containers"], *pod["spec"].get("initContainers", ())):
                container["image"] = draw.pick((*_IMAGES, "absent:v1"))

    def strip(self, objects: Sequence[Object], pod: Object) -> None:
        """No node holds an image."""
        del pod
        for node in nodes_in(objects):
            node["status"].pop("images", None)


def _full(name: str) -> str:
    return name if ":" in name else f"{name}:latest"
