"""What a scheduler did, read from a history: whom it bound, whom it displaced, and what it was refused.

Writes are known from the API server's audit log, states from the watch. Both are the server's; nothing that
the scheduler says of itself counts, but for the Event that names a preemptor, since nothing else does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from schedlab.cluster.layout import SCHEDULER
from schedlab.history.audit import Write
from schedlab.history.entries import Revision
from schedlab.history.history import History
from schedlab.judge.scope import Profile, profiles
from schedlab.judge.values import Object

_IGNORED = ("Event", "Event.events.k8s.io", "Lease.coordination.k8s.io")


@dataclass(frozen=True, slots=True)
class Binding:
    """A pod that the scheduler bound. `pod` is its last state before, `asked` when the request came."""

    pod: Revision
    bound: Revision
    node: str
    asked: datetime

    @property
    def version(self) -> int:
        """The resource version with which the pod had its node."""
        return self.bound.version


@dataclass(frozen=True, slots=True)
class Eviction:
    """A pod that the scheduler deleted. `pod` is its last state before the scheduler touched it."""

    pod: Revision
    marked: Revision
    """The first revision that shows that it has to go."""

    write: Write
    preemptor: str
    """The uid of the pod for whose sake, empty if no Event says so."""


@dataclass(frozen=True)
class Account:
    """A history, put in the order of the server's versions, and what the scheduler did in it."""

    history: History
    config: Mapping[str, Any]
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    revisions: list[Revision] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)
    evictions: list[Eviction] = field(default_factory=list)
    attempts: list[Write] = field(default_factory=list)
    """Requests to bind, refused ones included."""

    @classmethod
    def of(cls, history: History, config: Mapping[str, Any]) -> Account:
        """Read a history; `config` is the KubeSchedulerConfiguration that the scheduler ran with."""
        ordered = sorted((r for r in history if r.kind not in _IGNORED), key=lambda r: r.version)
        writes = [write for write in history.writes(user=SCHEDULER) if write.resource == "pods"]
        attempts = [write for write in writes if write.subresource == "binding" and write.verb == "create"]
        deletes = [write for write in writes if not write.subresource and write.verb == "delete"]
        return cls(
            history=history,
            config=config,
            profiles=profiles(config),
            revisions=ordered,
            bindings=list(_bindings(history, attempts)),
            evictions=list(_evictions(history, deletes)),
            attempts=attempts,
        )

    @property
    def extended(self) -> bool:
        """True if HTTP extenders take part in decisions, of which the record shows nothing."""
        return bool(self.config.get("extenders"))


def _bindings(history: History, attempts: list[Write]) -> Iterator[Binding]:
    by_uid = {uid_of(write): write for write in attempts if write.succeeded}
    seen: dict[str, Revision] = {}
    done: set[str] = set()
    for revision in history:
        if revision.kind != "Pod":
            continue
        before = seen.get(revision.uid)
        seen[revision.uid] = revision
        node = revision.object["spec"].get("nodeName")
        write = by_uid.get(revision.uid)
        if node and revision.uid not in done:
            done.add(revision.uid)
            if before is not None and write is not None:
                yield Binding(before, revision, str(node), write.at)


def _evictions(history: History, deletes: list[Write]) -> Iterator[Eviction]:
    preemptors = _preemptors(history)
    named: dict[tuple[str, str], list[Revision]] = {}
    for revision in history:
        if revision.kind == "Pod":
            named.setdefault((revision.ref.namespace, revision.ref.name), []).append(revision)
    for write in deletes:
        there = [r for r in named.get((write.namespace, write.name), ()) if r.at <= (write.done or write.at)]
        uid = uid_of(write) or (there[-1].uid if there else "")
        revisions = history.revisions(uid)
        marked = next((r for r in revisions if is_going(r)), None)
        before = [r for r in revisions if marked is not None and r.version < marked.version]
        if write.succeeded and marked is not None and before:
            yield Eviction(before[-1], marked, write, preemptors.get(uid, ""))


def _preemptors(history: History) -> dict[str, str]:
    """Victim's uid to preemptor's uid, from Events that read `Preempted by pod UID on node NODE`."""
    found = {}
    for event in history.current.list("Event.events.k8s.io"):
        words = str(event.get("note") or "").split()
        if event.get("reason") == "Preempted" and words[:3] == ["Preempted", "by", "pod"]:
            found[str((event.get("regarding") or {}).get("uid"))] = words[3]
    return found


def is_going(revision: Revision) -> bool:
    """True once a pod is told of its disruption by the scheduler, is being deleted, or is gone."""
    status = revision.object.get("status") or {}
    told = any(
        one.get("type") == "DisruptionTarget"
        and one.get("status") == "True"
        and one.get("reason") == "PreemptionByScheduler"
        for one in status.get("conditions") or ()
    )
    return told or revision.type == "DELETED" or bool(revision.object["metadata"].get("deletionTimestamp"))


def uid_of(write: Write) -> str:
    """The uid in a request about a pod: the binding's own, or the delete's precondition, if it has one."""
    body: Object = write.body or {}
    metadata = body.get("metadata") or body.get("preconditions") or {}
    return str(metadata.get("uid") or "")
