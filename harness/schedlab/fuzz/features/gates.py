"""Scheduling gates."""

from __future__ import annotations

from collections.abc import Sequence

from schedlab.fuzz.blueprint import Blueprint
from schedlab.fuzz.features.contract import Object


class Gates:
    """A few pods are held back by one or two gates."""

    name = "gates"

    def draw(self, plan: Blueprint) -> None:
        """Gate one pod in eight."""
        draw = plan.draw.fork(self.name)
        for pod in plan.arrivals:
            if draw.chance(0.12):
                names = draw.some(("example.com/quota", "example.com/data"), 1, 2)
                pod["spec"]["schedulingGates"] = [{"name": name} for name in names]

    def strip(self, objects: Sequence[Object], pod: Object) -> None:
        """No gates, and not the condition that the API server wrote because of them."""
        del objects
        if pod["spec"].pop("schedulingGates", None):
            pod["status"].pop("conditions", None)
