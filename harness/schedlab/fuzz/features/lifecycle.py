"""Existing pods that are on their way out: terminating, succeeded, failed."""

from __future__ import annotations

from collections.abc import Sequence

from schedlab.fuzz.blueprint import Blueprint
from schedlab.fuzz.features.contract import Object, pods_in

_LEAVING = "2025-01-01T00:00:00Z"


class Lifecycle:
    """Terminating pods hold resources but are not counted by spread; finished pods hold nothing."""

    name = "lifecycle"

    def draw(self, plan: Blueprint) -> None:
        """Let some existing pods terminate and others be finished."""
        draw = plan.draw.fork(self.name)
        for pod in plan.pods:
            if draw.chance(0.25):
                pod["metadata"]["deletionTimestamp"] = _LEAVING  # the API server puts the real time
            elif not plan.collides and draw.chance(0.2):
                pod.setdefault("status", {})["phase"] = draw.pick(("Succeeded", "Failed"))

    def strip(self, objects: Sequence[Object], pod: Object) -> None:
        """All pods are alive."""
        del pod
        for one in pods_in(objects):
            one["metadata"].pop("deletionTimestamp", None)
            one["metadata"].pop("deletionGracePeriodSeconds", None)
            one["status"]["phase"] = "Running"
