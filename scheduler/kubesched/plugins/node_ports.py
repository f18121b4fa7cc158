"""NodePorts: the host ports that the pod wants are free on the node.

Follows upstream `nodeports/node_ports.go` and `HostPortInfo` (framework/types.go, 1.36).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import ClassVar

from kubesched.api.objects import Pod
from kubesched.api.pod import HostPort
from kubesched.framework import (
    SKIP,
    ClusterEventWithHint,
    Codes,
    Cycle,
    Handle,
    Hint,
    Status,
    View,
    unschedulable,
)
from kubesched.plugins.per_class import Answers
from kubesched.state.events import ActionType, ClusterEvent, Resource

TAKEN = unschedulable("node(s) didn't have free ports for the requested pod ports")
_ANY = "0.0.0.0"  # noqa: S104 - upstream's name for all addresses


class NodePorts:
    """Rejects nodes on which a wanted port is taken."""

    name: ClassVar[str] = "NodePorts"

    def __init__(self, handle: Handle) -> None:
        self._conflicts = Answers(handle.cluster.nodes.port_classes)

    def pre_filter(self, cycle: Cycle) -> Status | None:
        """Skip pods without host ports."""
        return None if cycle.pod.host_ports else SKIP

    def filter(self, cycle: Cycle, view: View) -> Codes:
        """One question per distinct set of used ports."""
        wanted = cycle.pod.host_ports
        classes = view.ports()
        return self._conflicts.to(wanted, lambda used: conflict(wanted, used))[classes]

    def sign(self, pod: Pod) -> Hashable:
        """The ports decide."""
        return pod.host_ports

    def status(self, _cycle: Cycle, _code: int) -> Status:
        """Give the one reason there is."""
        return TAKEN

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A pod that leaves one of the ports, or a new node, may help."""
        return [
            ClusterEventWithHint(ClusterEvent(Resource.Pod, ActionType.Delete), _freed),
            ClusterEventWithHint(ClusterEvent(Resource.Node, ActionType.Add)),
        ]


def conflict(wanted: Collection[HostPort], used: Collection[HostPort]) -> bool:
    """Whether some port is wanted and used on a common address; 0.0.0.0 is common to all."""
    return any(
        want.protocol == use.protocol
        and want.port == use.port
        and (want.ip == use.ip or _ANY in (want.ip, use.ip))
        for want in wanted
        for use in used
    )


def _freed(pod: Pod, event: ClusterEvent) -> Hint:
    """The pod that left had a node, and a port that this pod wants."""
    old = event.old
    if not isinstance(old, Pod) or not (old.node_name or old.nominated_node_name):
        return Hint.Skip
    return Hint.Queue if conflict(pod.host_ports, old.host_ports) else Hint.Skip


def build(_args: object, handle: Handle) -> NodePorts:
    """Build the plugin."""
    return NodePorts(handle)
