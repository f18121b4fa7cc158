"""NodeDeclaredFeatures: the node says that it has the features that the pod's spec calls for.

Follows upstream `nodedeclaredfeatures/nodedeclaredfeatures.go` and component-helpers `nodedeclaredfeatures`
(1.36), in which two features are called for by specs.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar

import numpy as np

from kubesched.api.objects import Node, Pod
from kubesched.framework import (
    SKIP,
    ClusterEventWithHint,
    Codes,
    Cycle,
    Handle,
    Hint,
    Slot,
    Status,
    View,
    unresolvable,
)
from kubesched.state.events import ActionType, ClusterEvent, Resource

MISSING = unresolvable("node(s) didn't match Pod's required features")
_REQUIRED: Slot[frozenset[str]] = Slot("NodeDeclaredFeatures required")


class NodeDeclaredFeatures:
    """Rejects nodes without a feature that the pod's spec calls for."""

    name: ClassVar[str] = "NodeDeclaredFeatures"

    def __init__(self, *, enabled: bool) -> None:
        self._enabled = enabled

    def pre_filter(self, cycle: Cycle) -> Status | None:
        """Skip pods that call for nothing, and all of them without the gate."""
        required = required_features(cycle.pod) if self._enabled else None
        if not required:
            return SKIP
        cycle.put(_REQUIRED, required)
        return None

    def filter(self, cycle: Cycle, view: View) -> Codes:
        """Look at what each node declares; few pods ask."""
        required, objects = cycle.get(_REQUIRED), cycle.cluster.nodes.objects
        declared = (objects[row] for row in view.rows)
        lacking = [node is None or not required.issubset(node.status.declared_features) for node in declared]
        return np.array(lacking, np.int64)

    def sign(self, pod: Pod) -> Hashable:
        """What the pod calls for decides."""
        return required_features(pod) if self._enabled else ()

    def status(self, _cycle: Cycle, _code: int) -> Status:
        """Give the one reason there is."""
        return MISSING

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Nodes that come or declare other features, and the pod's own change."""
        if not self._enabled:
            return []
        node = ActionType.Add | ActionType.UpdateNodeDeclaredFeature
        return [
            ClusterEventWithHint(ClusterEvent(Resource.Node, node), _after_node),
            ClusterEventWithHint(ClusterEvent(Resource.Pod, ActionType.Update), _after_own_update),
        ]


def required_features(pod: Pod) -> frozenset[str]:
    """The features that the spec calls for."""
    spec, required = pod.spec, set()
    if spec.host_network and spec.host_users is False:
        required.add("UserNamespacesHostNetworkSupport")
    containers = (*spec.containers, *spec.init_containers)
    if any(
        rule.action == "RestartAllContainers" for item in containers for rule in item.restart_policy_rules
    ):
        required.add("RestartAllContainersOnContainerExits")
    return frozenset(required)


def _after_node(_waiting: Pod, event: ClusterEvent) -> Hint:
    """A node came, or declares other features."""
    old, new = event.old, event.new
    same = (
        isinstance(old, Node)
        and isinstance(new, Node)
        and old.status.declared_features == new.status.declared_features
    )
    return Hint.Skip if same else Hint.Queue


def _after_own_update(waiting: Pod, event: ClusterEvent) -> Hint:
    """The pod itself calls for something else."""
    old, new = event.old, event.new
    if not isinstance(old, Pod) or not isinstance(new, Pod) or new.uid != waiting.uid:
        return Hint.Skip
    return Hint.Skip if required_features(old) == required_features(new) else Hint.Queue


def build(_args: object, handle: Handle) -> NodeDeclaredFeatures:
    """Build the plugin."""
    return NodeDeclaredFeatures(enabled=handle.gates.enabled("NodeDeclaredFeatures"))
