"""A picture of the queue for people: dumps on SIGUSR2, metrics, explain."""

from __future__ import annotations

from dataclasses import dataclass

from kubesched.api.objects import Pod


@dataclass(frozen=True, slots=True)
class Pending:
    """Which pod is where, at one moment."""

    active: tuple[Pod, ...]
    backoff: tuple[Pod, ...]
    unschedulable: tuple[Pod, ...]
    gated: tuple[Pod, ...]
    in_flight: tuple[Pod, ...]
    in_flight_events: int
    """Events kept for attempts that are still open."""

    @property
    def summary(self) -> str:
        """Upstream's one-line summary, in which gated pods count as unschedulable."""
        waiting = len(self.unschedulable) + len(self.gated)
        return f"activeQ:{len(self.active)}; backoffQ:{len(self.backoff)}; unschedulablePods:{waiting}"
