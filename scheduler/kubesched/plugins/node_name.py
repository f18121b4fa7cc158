"""NodeName: a pod that names its node can go nowhere else.

Follows upstream `nodename/node_name.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar

import numpy as np

from kubesched.api.objects import Pod
from kubesched.framework import ClusterEventWithHint, Codes, Cycle, Status, View, unresolvable
from kubesched.state.events import ActionType, ClusterEvent, Resource

MISMATCH = unresolvable("node(s) didn't match the requested node name")


class NodeName:
    """Compares `spec.nodeName` with the node."""

    name: ClassVar[str] = "NodeName"

    def filter(self, cycle: Cycle, view: View) -> Codes | None:
        """Reject every node but the named one."""
        wanted = cycle.pod.node_name
        if not wanted:
            return None
        row = cycle.cluster.nodes.slot.get(wanted, -1)
        return np.not_equal(view.rows, row).astype(np.int64)

    def sign(self, pod: Pod) -> Hashable:
        """The name decides."""
        return pod.node_name

    def status(self, _cycle: Cycle, _code: int) -> Status:
        """Give the one reason there is."""
        return MISMATCH

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Only a new node can be the named one."""
        return [ClusterEventWithHint(ClusterEvent(Resource.Node, ActionType.Add))]
