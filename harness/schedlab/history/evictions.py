"""Whether a pod was evicted, by whom and when, as the pod itself tells it.

Whoever evicts a pod says so in its DisruptionTarget condition before it goes; the kubelet, which enforces
limits of local storage without that condition, in the pod's reason. A preemption is no eviction.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from schedlab.api.objects import Object, Ref, ref_of
from schedlab.history.audit import Write
from schedlab.history.entries import Revision
from schedlab.history.history import History
from schedlab.history.moments import written_at

Evictor = Literal["TaintManager", "EvictionAPI", "Kubelet", "PodGC"]

CONDITION = "DisruptionTarget"
EVICTORS: dict[str, Evictor] = {
    "DeletionByTaintManager": "TaintManager",
    "EvictionByEvictionAPI": "EvictionAPI",
    "TerminationByKubelet": "Kubelet",
    "DeletionByPodGC": "PodGC",
}
"""Who writes a reason into the condition."""


@dataclass(frozen=True, slots=True)
class Eviction:
    """One pod that had to go.

    `at` is when the server was asked for its end, by the server's clock; `version` orders that among all
    writes. `pod` is its last known state, `condition` its DisruptionTarget (empty if it has none).
    """

    pod: Object
    by: Evictor
    at: datetime
    version: int
    condition: dict[str, Any]

    @property
    def ref(self) -> Ref:
        """The pod."""
        return ref_of(self.pod)

    @property
    def node(self) -> str:
        """The node that it was on."""
        return str((self.pod.get("spec") or {}).get("nodeName") or "")


def eviction(history: History, uid: str) -> Eviction | None:
    """The eviction of one pod, or None: it was marked and asked to go, or it failed as evicted."""
    by: Evictor | None = None
    condition: dict[str, Any] = {}
    revisions = history.revisions(uid)
    for revision in revisions:
        condition = _mark(revision.object) or condition
        by = EVICTORS.get(str(condition.get("reason"))) or by
        if _failed_as_evicted(revision.object):
            by = by or "Kubelet"
        if by is not None and (_going(revision) or (by == "Kubelet" and _failed(revision.object))):
            return Eviction(
                pod=revisions[-1].object,
                by=by,
                at=written_at(history, revision, _asks_it_to_end),
                version=revision.version,
                condition=condition,
            )
    return None


def _mark(pod: Object) -> dict[str, Any]:
    for entry in (pod.get("status") or {}).get("conditions") or []:
        if entry.get("type") == CONDITION and entry.get("status") == "True":
            return dict(entry)
    return {}


def _asks_it_to_end(write: Write) -> bool:
    """A deletion, an eviction, or the report that it has failed."""
    return write.verb == "delete" or write.subresource == "eviction" or _failed(write.body or {})


def _going(revision: Revision) -> bool:
    return revision.type == "DELETED" or bool(revision.object["metadata"].get("deletionTimestamp"))


def _failed(pod: Object) -> bool:
    return bool((pod.get("status") or {}).get("phase") == "Failed")


def _failed_as_evicted(pod: Object) -> bool:
    return _failed(pod) and (pod.get("status") or {}).get("reason") == "Evicted"
