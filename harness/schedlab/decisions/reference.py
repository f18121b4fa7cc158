"""kube-scheduler as a source of decisions: its log, the tap, and what it did in the API, merged.

Nothing is inferred from rules: a field is filled only if one of the three showed it. The one conclusion drawn
is from silence: the tap is asked whenever a node is feasible, so a finished "no fit" without a call had no
feasible node, and likewise for candidates of preemption.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from schedlab.decisions.decision import (
    UNOBSERVED,
    Candidate,
    Decision,
    NodeName,
    PodKey,
    Preemption,
    Result,
    Seen,
)
from schedlab.decisions.logbook import Attempt
from schedlab.decisions.tap import Tapped, Uid

#: How a pod fails for which a node had been found: the API server refuses the write of a claim or a
#: volume, or the binding of a pod that still has gates.
_HELD = re.compile(
    r'running PreBind plugin "VolumeBinding": .* is forbidden: User '
    r'|running Bind plugin "DefaultBinder": .* has non-empty \.spec\.schedulingGates'
)


@dataclass(frozen=True, slots=True)
class Deeds:
    """What the API showed of one attempt: the pod afterwards, and the pods that were deleted meanwhile."""

    pod: Mapping[str, Any]
    deleted: frozenset[PodKey] = frozenset()


def key_of(pod: Mapping[str, Any]) -> PodKey:
    """`namespace/name`, as kube-scheduler writes a pod in its log."""
    meta = pod["metadata"]
    return f"{meta.get('namespace', 'default')}/{meta['name']}"


def scheduled_condition(pod: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The pod's PodScheduled condition, if it has one."""
    conditions = pod.get("status", {}).get("conditions", ())
    return next((one for one in conditions if one["type"] == "PodScheduled"), None)


def decision(
    attempt: Attempt | None, tapped: Tapped | None, deeds: Deeds, names: Mapping[Uid, PodKey]
) -> Decision:
    """Merge what the three showed of one attempt.

    `tapped` is None if no tap is attached; `attempt` is None if the pod was never tried.
    `names` translates the UIDs that the tap reports; an unknown one stands for itself.
    """
    pod = deeds.pod
    condition = scheduled_condition(pod)
    message = condition.get("message") or None if condition else None
    if attempt is None:
        return Decision(pod=key_of(pod), result="Gated", message=message, node=None)
    result = _result(attempt)
    return Decision(
        pod=key_of(pod),
        result=result,
        message=None if result == "Scheduled" else message,
        feasible=_feasible(result, tapped),
        scores=attempt.scores or UNOBSERVED,
        totals=attempt.totals or UNOBSERVED,
        node=UNOBSERVED if held(attempt.message) else pod["spec"].get("nodeName"),
        preemption=_preemption(tapped, deeds, names) if result == "Unschedulable" else UNOBSERVED,
    )


def held(message: str | None) -> bool:
    """True if a pod failed only because the API server refuses what follows from the decision."""
    return bool(message and _HELD.match(message))


def _result(attempt: Attempt) -> Result:
    if attempt.end == "Scheduled" or held(attempt.message):
        return "Scheduled"
    return "Unschedulable" if attempt.end == "Unschedulable" else "Error"


def _feasible(result: Result, tapped: Tapped | None) -> Seen[frozenset[NodeName]]:
    if tapped is None or result == "Error":
        return UNOBSERVED
    if tapped.feasible:
        return tapped.feasible[-1]
    return frozenset() if result == "Unschedulable" else UNOBSERVED


def _preemption(tapped: Tapped | None, deeds: Deeds, names: Mapping[Uid, PodKey]) -> Preemption:
    nominated = deeds.pod.get("status", {}).get("nominatedNodeName")
    if tapped is None:
        return Preemption(nominated=nominated, deleted=deeds.deleted)
    found = tapped.candidates[-1] if tapped.candidates else {}
    candidates = {
        node: Candidate(frozenset(names.get(uid, uid) for uid in one.victims), one.violations)
        for node, one in found.items()
    }
    return Preemption(candidates=candidates, nominated=nominated, deleted=deeds.deleted)
