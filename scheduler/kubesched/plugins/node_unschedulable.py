"""NodeUnschedulable: a cordoned node takes only pods that tolerate node.kubernetes.io/unschedulable.

Follows upstream `nodeunschedulable/node_unschedulable.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar

import numpy as np

from kubesched.api.objects import Node, Pod
from kubesched.api.taints import NO_SCHEDULE, Taint, tolerates
from kubesched.framework import ClusterEventWithHint, Codes, Cycle, Handle, Hint, Status, View, unresolvable
from kubesched.state.events import ActionType, ClusterEvent, Resource

CORDONED = unresolvable("node(s) were unschedulable")
_TAINT = Taint(key="node.kubernetes.io/unschedulable", effect=NO_SCHEDULE)


class NodeUnschedulable:
    """Keeps pods off cordoned nodes."""

    name: ClassVar[str] = "NodeUnschedulable"

    def __init__(self, *, comparison: bool) -> None:
        self._comparison = comparison

    def filter(self, cycle: Cycle, view: View) -> Codes | None:
        """Reject cordoned nodes, unless the pod tolerates the taint that goes with it."""
        cordoned = cycle.cluster.nodes.unschedulable
        if not cordoned.any() or self._tolerates(cycle.pod):
            return None
        return cordoned.take(view.rows).astype(np.int64)

    def sign(self, pod: Pod) -> Hashable:
        """The tolerations decide."""
        return pod.spec.tolerations

    def status(self, _cycle: Cycle, _code: int) -> Status:
        """Give the one reason there is."""
        return CORDONED

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A node that is new or changes its taints, or a new toleration of the pod, may help."""
        node = ClusterEvent(Resource.Node, ActionType.Add | ActionType.UpdateNodeTaint)
        pod = ClusterEvent(Resource.Pod, ActionType.UpdatePodTolerations)
        return [
            ClusterEventWithHint(node, _became_schedulable),
            ClusterEventWithHint(pod, self._own_toleration),
        ]

    def _tolerates(self, pod: Pod) -> bool:
        return any(tolerates(item, _TAINT, comparison=self._comparison) for item in pod.spec.tolerations)

    def _own_toleration(self, pod: Pod, event: ClusterEvent) -> Hint:
        """The pod itself now tolerates the taint."""
        new = event.new
        helps = isinstance(new, Pod) and new.uid == pod.uid and self._tolerates(new)
        return Hint.Queue if helps else Hint.Skip


def _became_schedulable(_pod: Pod, event: ClusterEvent) -> Hint:
    """The node is new and schedulable, or was uncordoned."""
    old, new = event.old, event.new
    if not isinstance(new, Node) or new.unschedulable:
        return Hint.Skip
    return Hint.Queue if old is None or (isinstance(old, Node) and old.unschedulable) else Hint.Skip


def build(_args: object, handle: Handle) -> NodeUnschedulable:
    """Build the plugin; the gate decides whether Lt and Gt tolerations count."""
    return NodeUnschedulable(comparison=handle.gates.enabled("TaintTolerationComparisonOperators"))
