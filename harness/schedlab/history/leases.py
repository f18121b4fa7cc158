"""Who held a lease when, and what was done by programs that did not hold it.

Everything is ordered by resource version, the server's own order of all writes; no clock is compared with
another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from schedlab.api.objects import Ref
from schedlab.history.entries import Revision
from schedlab.history.history import History

KIND = "Lease.coordination.k8s.io"


@dataclass(frozen=True, slots=True)
class Term:
    """A stretch of revisions in which a lease had one holder; an empty holder means that nobody had it.

    `began` and `renewed` are when the first and the last of these revisions were received. `transitions` is
    the record's own count. `until` is the version at which the next term began, None for the present one.
    """

    holder: str
    version: int
    began: datetime
    renewed: datetime
    transitions: int
    until: int | None = None


@dataclass(frozen=True, slots=True)
class LateBinding:
    """A pod that was bound by a program at a moment at which another one, or nobody, held the lease."""

    pod: Ref
    version: int
    by: str
    holder: str


def terms(history: History, namespace: str, name: str) -> list[Term]:
    """All terms of a lease, oldest first; a deleted lease has no holder."""
    found: list[Term] = []
    for revision in _revisions(history, namespace, name):
        holder, transitions = _record(revision)
        if found and found[-1].holder == holder and found[-1].transitions == transitions:
            found[-1] = replace(found[-1], renewed=revision.at)
            continue
        if found:
            found[-1] = replace(found[-1], until=revision.version)
        found.append(Term(holder, revision.version, revision.at, revision.at, transitions))
    return found


def identities(history: History) -> dict[str, str]:
    """The process behind each identity that was ever written into a lease.

    A program writes its identity with its own credential, so the audit log knows whose it is.
    """
    owners = processes(history)
    return {
        str(identity): owners[write.credential]
        for write in history.writes()
        if write.resource == "leases" and write.credential in owners
        for identity in [((write.body or {}).get("spec") or {}).get("holderIdentity")]
        if identity
    }


def processes(history: History) -> dict[str, str]:
    """The process that has a credential."""
    return {event.credential: event.process for event in history.processes if event.credential}


def late_bindings(history: History, namespace: str, name: str) -> list[LateBinding]:
    """Every pod that one of our processes bound while it did not hold the lease."""
    held = terms(history, namespace, name)
    if not held:
        return []
    owners, who = processes(history), identities(history)
    bound = _bound(history)
    late: list[LateBinding] = []
    for write in history.writes(verb="create"):
        if write.subresource != "binding" or not write.succeeded or write.credential not in owners:
            continue
        revision = bound.get((write.namespace, write.name))
        if revision is None:
            continue
        term = _at(held, revision.version)
        holder = term.holder if term is not None else ""
        if who.get(holder) != owners[write.credential]:
            late.append(LateBinding(revision.ref, revision.version, owners[write.credential], holder))
    return late


def _bound(history: History) -> dict[tuple[str, str], Revision]:
    """The revision with which each pod got its node, by namespace and name; the last one of that name."""
    found: dict[tuple[str, str], Revision] = {}
    seen: set[str] = set()
    for revision in history:
        if revision.kind != "Pod" or revision.uid in seen:
            continue
        if (revision.object.get("spec") or {}).get("nodeName"):
            seen.add(revision.uid)
            found[revision.ref.namespace, revision.ref.name] = revision
    return found


def _at(held: list[Term], version: int) -> Term | None:
    return next((term for term in reversed(held) if term.version <= version), None)


def _revisions(history: History, namespace: str, name: str) -> Iterator[Revision]:
    for revision in history:
        if revision.kind == KIND and (revision.ref.namespace, revision.ref.name) == (namespace, name):
            yield revision


def _record(revision: Revision) -> tuple[str, int]:
    if revision.type == "DELETED":
        return "", 0
    spec = revision.object.get("spec") or {}
    return str(spec.get("holderIdentity") or ""), int(spec.get("leaseTransitions") or 0)
