"""DynamicResources' answers for pods without resource claims, and a plain refusal of pods with claims.

Every pod meets this plugin: its PostFilter adds to the message of a failed attempt, or ends the attempt with
an error when its PreFilter never ran; its Score gives 0. Devices are not allocated: a pod that needs some is
kept waiting with a reason that says so, never placed wrongly. Follows upstream
`dynamicresources/dynamicresources.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from kubesched.api.objects import Pod
from kubesched.framework import (
    SKIP,
    ClusterEventWithHint,
    Code,
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
_SEEN: Slot[bool] = Slot("DynamicResources state")


class DynamicResources:
    """The part of DynamicResources that pods without claims can tell is there."""

    name: ClassVar[str] = "DynamicResources"

    def __init__(self, *, extended_resources: bool) -> None:
        self._extended_resources = extended_resources

    def pre_filter(self, cycle: Cycle) -> Status:
        """Skip pods without claims, refuse the others; remember that PreFilter ran."""
        cycle.put(_SEEN, value=True)
        return NOT_ALLOCATED if self._needs_devices(cycle) else SKIP

    def post_filter(self, cycle: Cycle, _diagnosis: Diagnosis) -> PostFilterResult:
        """Say that no claim can be freed; without PreFilter upstream has no state, and that is an error."""
        if cycle.find(_SEEN) is None:
            return PostFilterResult(Status(Code.Error, ("not found",)))
        return PostFilterResult(NOTHING_TO_FREE)

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

    def _needs_devices(self, cycle: Cycle) -> bool:
        pod: Pod = cycle.pod
        if pod.spec.resource_claims:
            return True
        if not self._extended_resources:
            return False
        return any(
            amount and "/" in name and backs(cycle.cluster, name) for name, amount in pod.requests.items()
        )


def build(_args: object, handle: Handle) -> DynamicResources:
    """Build the plugin."""
    return DynamicResources(extended_resources=handle.gates.enabled("DRAExtendedResource"))
