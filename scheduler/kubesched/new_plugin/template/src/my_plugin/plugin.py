"""Keeps pods off nodes in maintenance, which a label marks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from kubesched.framework import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    Cycle,
    NodeView,
    PluginArgs,
    Resource,
    Status,
    unresolvable,
)


class MyPluginArgs(PluginArgs, frozen=True, kw_only=True):
    """What `pluginConfig` may say about MyPlugin; a file writes `maintenanceLabel`."""

    maintenance_label: str = "example.com/maintenance"

    def problems(self) -> Iterable[tuple[str, str]]:
        """Say what is wrong with the values, beyond their types."""
        if not self.maintenance_label:
            yield "maintenanceLabel", "Required value: a label marks the nodes in maintenance"


class MyPlugin:
    """Rejects every node that has the label; evicting pods would not help there."""

    name: ClassVar[str] = "MyPlugin"

    def __init__(self, args: MyPluginArgs) -> None:
        self._label = args.maintenance_label

    def filter_node(self, cycle: Cycle, node: NodeView) -> Status | None:
        """Say why the pod `cycle.pod` cannot go to this node, or nothing where it can."""
        return unresolvable("node(s) were in maintenance") if self._label in node.labels else None

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Name what makes another attempt worthwhile for a pod that was rejected."""
        change = ActionType.Add | ActionType.UpdateNodeLabel
        return [ClusterEventWithHint(ClusterEvent(Resource.Node, change))]
