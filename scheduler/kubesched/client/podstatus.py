"""The patch that tells a pod why it was not scheduled, and where it is nominated to.

Only what differs is sent: no difference, no request. The patch carries the UID, so a pod recreated under the
same name is never told another pod's story. Follows `updatePod` in `schedule_one.go`
and `UpdatePodCondition` in `pkg/api/v1/pod/util.go`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from kubesched.api.objects import Pod
from kubesched.api.pod import PodCondition
from kubesched.client import timestamps

POD_SCHEDULED = "PodScheduled"
DISRUPTION_TARGET = "DisruptionTarget"
UNSCHEDULABLE = "Unschedulable"
SCHEDULER_ERROR = "SchedulerError"
PREEMPTION_BY_SCHEDULER = "PreemptionByScheduler"


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition as the scheduler wants it; times and generation are worked out for the patch."""

    type: str
    status: str
    reason: str
    message: str


def unscheduled(reason: str, message: str) -> Condition:
    """PodScheduled is false. The message is not cut: only an event's note is."""
    return Condition(POD_SCHEDULED, "False", reason, message)


def preempted(scheduler_name: str) -> Condition:
    """The pod is about to be evicted for one of higher priority."""
    message = f"{scheduler_name}: preempting to accommodate a higher priority pod"
    return Condition(DISRUPTION_TARGET, "True", PREEMPTION_BY_SCHEDULER, message)


def patch(pod: Pod, condition: Condition | None, nominated: str | None, wall: float) -> bytes | None:
    """A strategic merge patch of `pods/status`; None when the pod says it all already.

    `nominated` None leaves the nomination alone, "" clears it. `wall` is now, in seconds since the epoch.
    """
    status: dict[str, Any] = {}
    if condition is not None and (changed := _changed(pod, condition, wall)):
        status["conditions"] = [changed]
    if nominated is not None and nominated != pod.nominated_node_name:
        status["nominatedNodeName"] = nominated or None
    if not status:
        return None
    return msgspec.json.encode({"metadata": {"uid": pod.metadata.uid}, "status": status})


def _changed(pod: Pod, condition: Condition, wall: float) -> dict[str, Any] | None:
    """The condition to write, or None if it stands there. An unchanged status keeps its time."""
    old = next((known for known in pod.status.conditions if known.type == condition.type), None)
    if old is not None and _same(old, condition):
        return None
    kept = old.last_transition_time if old is not None and old.status == condition.status else None
    wanted: dict[str, Any] = {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        "lastProbeTime": None,
        "lastTransitionTime": kept or timestamps.seconds(wall),
    }
    if pod.metadata.generation:
        wanted["observedGeneration"] = pod.metadata.generation
    return wanted


def _same(old: PodCondition, new: Condition) -> bool:
    return (old.status, old.reason, old.message) == (new.status, new.reason, new.message)
