"""Machines and pods as lives: when each came, what it held, and how it went."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from schedlab.api.objects import Object, ref_of
from schedlab.history.entries import Revision
from schedlab.history.history import History
from schedlab.judge.rules import requests
from schedlab.judge.values import quantity
from schedlab.report.story import Guest, Machine, Room, Span
from schedlab.runner.barrier import NAMESPACE as PROBES

Clock = Callable[[datetime], float]

_ACCELERATOR = re.compile(r"(^|[./-])(gpu|mig|tpu|npu|neuron|neuroncore|gaudi|xpu|dpu)\b", re.IGNORECASE)
_RACKS = ("topology.schedlab/rack", "nvidia.com/gpu.clique", "topology.kubernetes.io/zone")
_MODELS = ("nvidia.com/gpu.product", "node.kubernetes.io/instance-type")
_JOBS = ("job-name", "job", "app", "app.kubernetes.io/name", "batch.kubernetes.io/job-name")
_EVICTIONS = {
    "PreemptionByScheduler": "preempted",
    "EvictionByEvictionAPI": "evicted",
    "DeletionByTaintManager": "evicted",
    "TerminationByKubelet": "evicted",
}


def machines(history: History, clock: Clock) -> Iterator[Machine]:
    """Every node that the history has seen, in the order in which it was first seen."""
    for revisions in _lives(history, "Node"):
        latest = revisions[-1].object
        labels = latest["metadata"].get("labels") or {}
        room = tuple(_rooms(revisions, clock))
        yield Machine(
            name=ref_of(latest).name,
            since=clock(revisions[0].at),
            rack=next((labels[key] for key in _RACKS if key in labels), ""),
            model=next((labels[key] for key in _MODELS if key in labels), ""),
            slots=_most([_slots(one.object, "capacity") for one in revisions] + [one.slots for one in room]),
            room=room,
            shut=tuple(_shut(revisions, clock)),
            until=_end(revisions, clock),
        )


def guests(history: History, clock: Clock) -> Iterator[Guest]:
    """Every pod that the history has seen but the harness's own, in the order in which it was first seen."""
    for revisions in _lives(history, "Pod"):
        first, latest = revisions[0].object, revisions[-1].object
        ref = ref_of(latest)
        if ref.namespace == PROBES:
            continue
        bound = next((one for one in revisions if _node(one.object)), None)
        finished, how = _finish(revisions, clock)
        yield Guest(
            name=ref.name,
            since=clock(revisions[0].at),
            job=job_of(latest),
            takes=_requests(latest),
            priority=int(latest["spec"].get("priority") or 0),
            node=_node(latest),
            bound=clock(bound.at) if bound else None,
            until=finished,
            end=how,
            gated=bool(first["spec"].get("schedulingGates")),
        )


def job_of(pod: Object) -> str:
    """To which job a pod belongs: a label that says so, its owner, or its name without what is counted."""
    metadata = pod["metadata"]
    labels = metadata.get("labels") or {}
    named = next((str(labels[key]) for key in _JOBS if labels.get(key)), "")
    owners = metadata.get("ownerReferences") or []
    return named or (str(owners[0].get("name")) if owners else re.sub(r"[-.]?\d+$", "", metadata["name"]))


def _lives(history: History, kind: str) -> Iterator[list[Revision]]:
    """The revisions of each object of a kind, by uid."""
    found: dict[str, list[Revision]] = {}
    for revision in history:
        if revision.kind == kind:
            found.setdefault(revision.uid, []).append(revision)
    yield from found.values()


def _rooms(revisions: Iterable[Revision], clock: Clock) -> Iterator[Room]:
    last: dict[str, int] | None = None
    for revision in revisions:
        slots = _slots(revision.object, "allocatable")
        if slots != last and (slots or last):
            yield Room(clock(revision.at), slots)
        last = slots


def _slots(node: Object, field: str) -> dict[str, int]:
    given = (node.get("status") or {}).get(field) or {}
    counts = {name: int(quantity(str(value))) for name, value in given.items() if _ACCELERATOR.search(name)}
    return {name: count for name, count in counts.items() if count}


def _most(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    most: dict[str, int] = {}
    for one in counts:
        for name, count in one.items():
            most[name] = max(count, most.get(name, 0))
    return most


def _shut(revisions: Iterable[Revision], clock: Clock) -> Iterator[Span]:
    """When a node took no pods: it was cordoned, or not ready any more."""
    since, why, ready = 0.0, "", False
    for revision in revisions:
        status = _ready(revision.object)
        ready = ready or status
        now = "cordoned" if revision.object["spec"].get("unschedulable") else ""
        now = now or ("not ready" if ready and not status else "")
        if now == why:
            continue
        if why:
            yield Span(since, why, clock(revision.at))
        since, why = clock(revision.at), now
    if why:
        yield Span(since, why)


def _ready(node: Object) -> bool:
    conditions = (node.get("status") or {}).get("conditions") or []
    return any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions)


def _finish(revisions: list[Revision], clock: Clock) -> tuple[float | None, str]:
    """When a pod gave back what it had, and how it came to that."""
    for revision in revisions:
        status = revision.object.get("status") or {}
        phase = status.get("phase")
        if revision.type == "DELETED" or phase in ("Succeeded", "Failed"):
            cause = _disrupted(status) or ("evicted" if status.get("reason") == "Evicted" else "")
            ended = str(phase).lower() if phase in ("Succeeded", "Failed") else ""
            return clock(revision.at), cause or ended
    return None, ""


def _disrupted(status: dict[str, Any]) -> str:
    for condition in status.get("conditions") or []:
        if condition.get("type") == "DisruptionTarget" and condition.get("status") == "True":
            return _EVICTIONS.get(str(condition.get("reason")), "evicted")
    return ""


def _end(revisions: list[Revision], clock: Clock) -> float | None:
    return clock(revisions[-1].at) if revisions[-1].type == "DELETED" else None


def _node(pod: Object) -> str:
    return str((pod.get("spec") or {}).get("nodeName") or "")


def _requests(pod: Object) -> dict[str, int]:
    """What a pod takes of accelerators."""
    return {name: count for name, count in requests(pod).items() if _ACCELERATOR.search(name) and count}
