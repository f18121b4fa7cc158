"""What a kubelet writes: the status of an evicted or rejected pod, a node's conditions, Events.

The texts are the kubelet's (pkg/kubelet/nodestatus/setters.go, pkg/kubelet/kubelet.go, rejectPod).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from schedlab.api.objects import Object, ref_of
from schedlab.kubelet.manager import Eviction
from schedlab.kubelet.signals import DISK_PRESSURE, MEMORY_PRESSURE, PID_PRESSURE

EVICTED = "Evicted"
_KILLED = 137


@dataclass(frozen=True, slots=True)
class Wording:
    """How a condition reads, and the reason of the Event about its change."""

    reason: str
    message: str
    event: str


WORDS: Mapping[tuple[str, bool], Wording] = {
    (MEMORY_PRESSURE, True): Wording(
        "KubeletHasInsufficientMemory",
        "kubelet has insufficient memory available",
        "NodeHasInsufficientMemory",
    ),
    (MEMORY_PRESSURE, False): Wording(
        "KubeletHasSufficientMemory", "kubelet has sufficient memory available", "NodeHasSufficientMemory"
    ),
    (DISK_PRESSURE, True): Wording(
        "KubeletHasDiskPressure", "kubelet has disk pressure", "NodeHasDiskPressure"
    ),
    (DISK_PRESSURE, False): Wording(
        "KubeletHasNoDiskPressure", "kubelet has no disk pressure", "NodeHasNoDiskPressure"
    ),
    (PID_PRESSURE, True): Wording(
        "KubeletHasInsufficientPID", "kubelet has insufficient PID available", "NodeHasInsufficientPID"
    ),
    (PID_PRESSURE, False): Wording(
        "KubeletHasSufficientPID", "kubelet has sufficient PID available", "NodeHasSufficientPID"
    ),
}
"""By condition and whether it is true."""


def node_condition(kind: str, now: datetime, *, pressed: bool) -> Object:
    """A condition that has just changed."""
    words = WORDS[kind, pressed]
    return {
        "type": kind,
        "status": str(pressed),
        "reason": words.reason,
        "message": words.message,
        "lastHeartbeatTime": stamp(now),
        "lastTransitionTime": stamp(now),
    }


def evicted(eviction: Eviction, now: datetime) -> Object:
    """The patch of an evicted pod's status, once its containers have ended."""
    pod = eviction.pod
    conditions = [
        {"type": kind, "status": "False", "reason": "PodFailed", "lastTransitionTime": stamp(now)}
        for kind in ("Ready", "ContainersReady")
    ]
    if eviction.disruption:
        target = {"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet"}
        generation = pod["metadata"].get("generation")
        observed = {"observedGeneration": generation} if generation else {}
        conditions.append(
            {**target, "message": eviction.message, "lastTransitionTime": stamp(now), **observed}
        )
    return {
        "metadata": {"uid": pod["metadata"]["uid"]},
        "status": {
            "phase": "Failed",
            "reason": EVICTED,
            "message": eviction.message,
            "conditions": conditions,
            "containerStatuses": list(_ended(pod, now)),
        },
    }


def rejected(pod: Object, message: str) -> Object:
    """The patch of the status of a pod that was not admitted."""
    return {
        "metadata": {"uid": pod["metadata"]["uid"]},
        "status": {"phase": "Failed", "reason": EVICTED, "message": f"Pod was rejected: {message}"},
    }


def event(
    about: Object,
    node: str,
    now: datetime,
    *,
    kind: str,
    reason: str,
    message: str,
    annotations: Mapping[str, str],
) -> Object:
    """An Event by the kubelet of a node; those about nodes lie in the namespace `default`."""
    ref = ref_of(about)
    name = f"{ref.name}.{int(now.timestamp() * 1e6):x}"
    involved = {"kind": ref.kind, "name": ref.name, "uid": ref.uid, "apiVersion": "v1"}
    if ref.namespace:
        involved["namespace"] = ref.namespace
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": name,
            "namespace": ref.namespace or "default",
            "annotations": dict(annotations),
        },
        "involvedObject": involved,
        "type": kind,
        "reason": reason,
        "message": message,
        "source": {"component": "kubelet", "host": node},
        "reportingComponent": "kubelet",
        "reportingInstance": node,
        "firstTimestamp": stamp(now),
        "lastTimestamp": stamp(now),
        "count": 1,
    }


def stamp(moment: datetime) -> str:
    """A time as the API writes it, in whole seconds."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _ended(pod: Object, now: datetime) -> Iterator[Object]:
    """The containers' states after they were killed."""
    for status in (pod.get("status") or {}).get("containerStatuses") or ():
        running = (status.get("state") or {}).get("running") or {}
        ended = {
            "exitCode": _KILLED,
            "reason": "Error",
            "startedAt": running.get("startedAt", stamp(now)),
            "finishedAt": stamp(now),
        }
        yield {**status, "ready": False, "started": False, "state": {"terminated": ended}}
