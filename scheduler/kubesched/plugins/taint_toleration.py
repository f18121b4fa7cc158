"""TaintToleration: a node's taints must be tolerated, and its soft taints count against it.

Follows upstream `tainttoleration/taint_toleration.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar

from kubesched.api.objects import Node, Pod
from kubesched.api.taints import (
    NO_EXECUTE,
    NO_SCHEDULE,
    PREFER_NO_SCHEDULE,
    Taint,
    Toleration,
    find_untolerated,
    tolerates,
)
from kubesched.framework import (
    ClusterEventWithHint,
    Codes,
    Cycle,
    Handle,
    Hint,
    Points,
    Status,
    View,
    unresolvable,
)
from kubesched.plugins.normalize import default_normalize
from kubesched.plugins.per_class import Answers
from kubesched.state.events import ActionType, ClusterEvent, Resource

UNTOLERATED = unresolvable("node(s) had untolerated taint(s)")
_HARD = (NO_SCHEDULE, NO_EXECUTE)


class TaintToleration:
    """Rejects nodes with untolerated hard taints; the fewer untolerated soft taints, the better."""

    name: ClassVar[str] = "TaintToleration"

    def __init__(self, handle: Handle) -> None:
        self._comparison = handle.gates.enabled("TaintTolerationComparisonOperators")
        self._hard = Answers(handle.cluster.nodes.taint_classes)
        self._soft = Answers(handle.cluster.nodes.taint_classes)

    def filter(self, cycle: Cycle, view: View) -> Codes | None:
        """One question per distinct list of taints: is some NoSchedule or NoExecute taint untolerated."""
        tolerations = cycle.pod.spec.tolerations
        answers = self._hard.to(tolerations, lambda taints: self._untolerated(taints, tolerations))
        return answers.take(cycle.cluster.nodes.taints.take(view.rows)) if answers.any() else None

    def sign(self, pod: Pod) -> Hashable:
        """The tolerations decide."""
        return pod.spec.tolerations

    def status(self, _cycle: Cycle, _code: int) -> Status:
        """Give the one reason there is."""
        return UNTOLERATED

    def score(self, cycle: Cycle, view: View) -> Points:
        """The number of untolerated PreferNoSchedule taints."""
        tolerations = tuple(t for t in cycle.pod.spec.tolerations if t.effect in ("", PREFER_NO_SCHEDULE))
        answers = self._soft.to(tolerations, lambda taints: self._count_soft(taints, tolerations))
        return answers.take(cycle.cluster.nodes.taints.take(view.rows))

    def normalize(self, _cycle: Cycle, _view: View, raw: Points) -> Points:
        """The node with the most such taints gets 0, one without any 100."""
        return default_normalize(raw, reverse=True)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A node that is new or changes its taints, or a new toleration of the pod, may help."""
        node = ClusterEvent(Resource.Node, ActionType.Add | ActionType.UpdateNodeTaint)
        pod = ClusterEvent(Resource.Pod, ActionType.UpdatePodTolerations)
        return [
            ClusterEventWithHint(node, self._became_tolerable),
            ClusterEventWithHint(pod, _own_toleration),
        ]

    def _untolerated(self, taints: Sequence[Taint], tolerations: Sequence[Toleration]) -> bool:
        return find_untolerated(taints, tolerations, _HARD, comparison=self._comparison) is not None

    def _count_soft(self, taints: Sequence[Taint], tolerations: Sequence[Toleration]) -> int:
        soft = (taint for taint in taints if taint.effect == PREFER_NO_SCHEDULE)
        return sum(
            not any(tolerates(t, taint, comparison=self._comparison) for t in tolerations) for taint in soft
        )

    def _became_tolerable(self, pod: Pod, event: ClusterEvent) -> Hint:
        """The node's taints are tolerated now and were not before."""
        old, new = event.old, event.new
        tolerations = pod.spec.tolerations
        was_bad = not isinstance(old, Node) or self._untolerated(old.taints, tolerations)
        is_good = isinstance(new, Node) and not self._untolerated(new.taints, tolerations)
        return Hint.Queue if was_bad and is_good else Hint.Skip


def _own_toleration(pod: Pod, event: ClusterEvent) -> Hint:
    """The pod itself got a toleration."""
    return Hint.Queue if event.new is not None and event.new.uid == pod.uid else Hint.Skip


def build(_args: object, handle: Handle) -> TaintToleration:
    """Build the plugin."""
    return TaintToleration(handle)
