"""DynamicResources' answers for pods without resource claims, and a plain refusal of pods with claims.

Every pod meets this plugin: its PostFilter adds to the message of a failed attempt, or ends the attempt with
an error when its PreFilter never ran; its Score gives 0. Devices are not allocated: a pod that needs some is
kept waiting with a reason that says so, never placed wrongly. An extended resource that a device class stands
for needs none on a node that has the resource itself. Follows upstream `dynamicresources/dynamicresources.go`
and `extendeddynamicresources.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar

import numpy as np

from kubesched.api.objects import Pod
from kubesched.framework import (
    SKIP,
    ClusterEventWithHint,
    Code,
    Codes,
    Cycle,
    Diagnosis,
    Handle,
    Points,
    PostFilterResult,
    Slot,
    Status,
    View,
    unresolvable,
    unschedulable,
)
from kubesched.plugins.dynamicresources.device_classes import backs
from kubesched.state.events import ActionType, ClusterEvent, Resource

NOT_ALLOCATED = unresolvable("kubesched does not allocate devices for resource claims yet")
NOTHING_TO_FREE = unschedulable("no new claims to deallocate")
NOTHING_HELPS = unschedulable("still not schedulable")
_BACKED: Slot[tuple[int, ...]] = Slot("DynamicResources columns that device classes stand for")


class DynamicResources:
    """The part of DynamicResources that pods without claims can tell is there."""

    name: ClassVar[str] = "DynamicResources"

    def __init__(self, *, extended_resources: bool) -> None:
        self._extended_resources = extended_resources

    def pre_filter(self, cycle: Cycle) -> Status | None:
        """Refuse pods with claims, skip pods to which devices do not matter; remember that PreFilter ran."""
        backed = self._backed(cycle)
        cycle.put(_BACKED, backed)
        if cycle.pod.spec.resource_claims:
            return NOT_ALLOCATED
        return None if backed else SKIP

    def filter(self, cycle: Cycle, view: View) -> Codes:
        """Reject nodes that have none of a resource for which devices would have to be allocated."""
        codes: Codes = np.zeros(len(view), np.int64)
        for column in cycle.get(_BACKED):
            codes[cycle.cluster.nodes.allocatable[view.rows, column] == 0] = 1
        return codes

    def status(self, _cycle: Cycle, _code: int) -> Status:
        """Give the one reason there is."""
        return NOT_ALLOCATED

    def sign(self, pod: Pod) -> Hashable | None:
        """Nothing counts for a pod that asks for no devices; for others, claims and device classes do.

        With volumes the state has to be this pod's own: a plugin before this one may refuse the pod, and then
        there must be none.
        """
        devices = pod.spec.resource_claims or any("/" in name for name in pod.requests)
        return None if devices or pod.spec.volumes else ()

    def post_filter(self, cycle: Cycle, _diagnosis: Diagnosis) -> PostFilterResult:
        """Say that no claim can be freed; without PreFilter upstream has no state, and that is an error."""
        backed = cycle.find(_BACKED)
        if backed is None:
            return PostFilterResult(Status(Code.Error, ("not found",)))
        return PostFilterResult(NOTHING_HELPS if backed else NOTHING_TO_FREE)

    def score(self, _cycle: Cycle, view: View) -> Points:
        """Prefer no node."""
        return np.zeros(len(view), np.int64)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Claims, classes and slices that come or change, and nodes, may help a pod that needs devices."""
        changed = ActionType.Add | ActionType.Update
        node = ActionType.Add | ActionType.UpdateNodeLabel | ActionType.UpdateNodeAllocatable
        events = [
            ClusterEvent(Resource.Node, node),
            ClusterEvent(Resource.ResourceClaim, changed),
            ClusterEvent(Resource.Pod, ActionType.UpdatePodGeneratedResourceClaim),
            ClusterEvent(Resource.DeviceClass, changed),
            ClusterEvent(Resource.ResourceSlice, changed),
        ]
        return [ClusterEventWithHint(event) for event in events]

    def _backed(self, cycle: Cycle) -> tuple[int, ...]:
        """The columns of the pod's resources that device classes stand for."""
        if not self._extended_resources:
            return ()
        return tuple(
            cycle.cluster.nodes.resource_index(name)
            for name, amount in cycle.pod.requests.items()
            if amount and "/" in name and backs(cycle.cluster, name)
        )


def build(_args: object, handle: Handle) -> DynamicResources:
    """Build the plugin."""
    return DynamicResources(extended_resources=handle.gates.enabled("DRAExtendedResource"))
