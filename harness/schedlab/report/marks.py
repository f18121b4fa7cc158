"""The timeline: one lane each for steps, bindings, refusals, preemptions, evictions, leases and processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedlab.api.objects import Object
from schedlab.history.entries import Revision
from schedlab.history.history import History
from schedlab.history.leases import KIND as LEASE
from schedlab.history.leases import identities, terms
from schedlab.report.lives import Clock
from schedlab.report.story import Guest, Mark, Note
from schedlab.runner.barrier import NAMESPACE as PROBES
from schedlab.runner.result import OperationRecord

EVENT = "Event.events.k8s.io"


def marks(
    history: History,
    clock: Clock,
    pods: Sequence[Guest],
    events: Sequence[Note],
    operations: Sequence[OperationRecord],
) -> Iterator[Mark]:
    """All marks, lane by lane."""
    yield from _steps(operations, clock)
    for pod in pods:
        if pod.bound is not None:
            yield Mark("bound", pod.bound, f"{pod.name} bound to {pod.node}")
    for event in events:
        if event.reason == "FailedScheduling":
            yield Mark("refused", event.at, f"{event.about}: {event.text}")
    for pod in pods:
        if pod.end in ("preempted", "evicted") and pod.until is not None:
            yield Mark(pod.end, pod.until, f"{pod.name} {pod.end} from {pod.node or 'no node'}")
    yield from _leases(history, clock)
    for change in history.processes:
        end = change.detail or (f"code {change.code}" if change.code is not None else "")
        words = " ".join(filter(None, (change.process, change.event, end)))
        yield Mark("processes", max(clock(change.at), 0.0), words)
    for gap in history.gaps:
        yield Mark("gaps", clock(gap.at), f"the watch of {gap.kind} lost its place: {gap.reason}")


def notes(history: History, clock: Clock) -> Iterator[Note]:
    """The cluster's Events, each as it was last seen, at the moment at which it was first seen."""
    first: dict[str, float] = {}
    latest: dict[str, Object] = {}
    for revision in history:
        if revision.kind == EVENT and revision.type != "DELETED" and not _old(revision):
            first.setdefault(revision.uid, clock(revision.at))
            latest[revision.uid] = revision.object
    for uid, event in latest.items():
        about = event.get("regarding") or {}
        yield Note(
            at=first[uid],
            type=str(event.get("type") or ""),
            reason=str(event.get("reason") or ""),
            about=f"{about.get('kind', '')} {about.get('name', '')}",
            text=str(event.get("note") or ""),
            count=int((event.get("series") or {}).get("count") or event.get("deprecatedCount") or 1),
        )


def _old(revision: Revision) -> bool:
    """True for what was there before the test, and for the harness's own probes."""
    regarding = revision.object.get("regarding") or {}
    return revision.initial or regarding.get("namespace") == PROBES


def _steps(operations: Sequence[OperationRecord], clock: Clock) -> Iterator[Mark]:
    """One stretch per step: from its first operation of any block to the end of its last."""
    stretches: dict[str, tuple[float, float]] = {}
    for one in operations:
        if one.began is not None and one.block != "cleanup":
            begin = max(clock(one.began), 0.0)
            since = stretches.get(one.step, (begin, begin))[0]
            stretches[one.step] = (since, begin + one.seconds)
    for step, (since, until) in stretches.items():
        yield Mark("steps", since, step, until)


def _leases(history: History, clock: Clock) -> Iterator[Mark]:
    """Who held which lease: those that changed hands, or that a process of the test has held."""
    names = {
        (revision.ref.namespace, revision.ref.name): None for revision in history if revision.kind == LEASE
    }
    who = identities(history) if names else {}
    for namespace, name in names:
        held = terms(history, namespace, name)
        if len(held) == 1 and held[0].holder not in who:
            continue
        for term, following in zip(held, [*held[1:], None], strict=True):
            if term.holder:
                until = clock(following.began) if following is not None else clock(term.renewed)
                yield Mark(
                    f"lease {name}", max(clock(term.began), 0.0), who.get(term.holder, term.holder), until
                )
