"""SchedulingGates: a pod with gates stays out of the active queue until its last gate is removed.

Follows upstream `schedulinggates/scheduling_gates.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from kubesched.api.objects import Pod
from kubesched.framework import ClusterEventWithHint, Hint, Status, unresolvable
from kubesched.state.events import ActionType, ClusterEvent, Resource


class SchedulingGates:
    """Holds gated pods back."""

    name: ClassVar[str] = "SchedulingGates"

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Reject a pod that still carries gates, naming them."""
        if not pod.spec.scheduling_gates:
            return None
        gates = " ".join(gate.name for gate in pod.spec.scheduling_gates)
        return unresolvable(f"waiting for scheduling gates: [{gates}]")

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Only the removal of the pod's own last gate helps."""
        removed = ClusterEvent(Resource.Pod, ActionType.UpdatePodSchedulingGatesEliminated)
        return [ClusterEventWithHint(removed, _own_gates_removed)]


def _own_gates_removed(pod: Pod, event: ClusterEvent) -> Hint:
    """The gates of another pod do not matter."""
    return Hint.Queue if event.new is not None and event.new.uid == pod.uid else Hint.Skip
