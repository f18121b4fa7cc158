"""Nodes on which evictions would make room, and which of them is best.

Follows upstream `pickOneNodeForPreemption` (framework/preemption/preemption.go) and `util.MoreImportantPod`
(1.36).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kubesched.api.objects import Pod
from kubesched.framework.status import Status

_LOWEST_PRIORITY = -(1 << 31)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One node with the pods that would have to go, the most important first."""

    node_name: str
    victims: tuple[Pod, ...]
    violations: int

    def cost(self, now: float) -> tuple[int, int, int, int, float]:
        """What decides between candidates, in order of weight; lower is better.

        Budget violations, the highest priority among the victims, the sum of their priorities (each raised
        to zero or above, so that more victims never cost less), their number, and how early the first of
        the most important victims started: of two, the one that has run shorter goes.
        """
        highest = self.victims[0].priority
        first = min(started(pod, now) for pod in self.victims if pod.priority == highest)
        total = sum(pod.priority - _LOWEST_PRIORITY for pod in self.victims)
        return self.violations, highest, total, len(self.victims), -first


@dataclass(slots=True)
class Candidates:
    """What a dry run found: the candidates, and by row why the other nodes are none."""

    found: list[Candidate] = field(default_factory=list)
    refused: dict[int, Status] = field(default_factory=dict)

    def best(self, now: float) -> list[Candidate]:
        """The candidates that may be picked: equals in everything that counts. `now` is epoch seconds."""
        if len(self.found) <= 1:
            return list(self.found)
        costs = [item.cost(now) for item in self.found]
        lowest = min(costs)
        return [item for item, cost in zip(self.found, costs, strict=True) if cost == lowest]


def by_importance(pods: Sequence[Pod], now: float) -> list[Pod]:
    """The most important pod first: higher priority, then the one that has run longer."""
    return sorted(pods, key=lambda pod: (-pod.priority, started(pod, now)))


def started(pod: Pod, now: float) -> float:
    """When the pod started, in epoch seconds; now for one that has not."""
    return now if pod.start_time is None else pod.start_time
