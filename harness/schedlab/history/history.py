"""The append-only record of one test, or of whatever else was watched.

Everything that judges reads a History and nothing else, so a verdict can be repeated from the run directory,
and an assertion can be tested without a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Protocol

from schedlab.api.objects import Object, Ref, ref_of
from schedlab.history.audit import Write
from schedlab.history.entries import Entry, Gap, ProcessEvent, Revision
from schedlab.history.objects import Objects


class Sink(Protocol):
    """Where entries go besides memory."""

    def write(self, entry: Entry) -> None:
        """Keep one entry."""
        ...


class Writes(Protocol):
    """Where the writes are known from."""

    def writes(self) -> Iterator[Write]:
        """All writes so far."""
        ...


Listener = Callable[[Entry], None]


class History:
    """Revisions, gaps and process events in order of receipt, and the writes behind them.

    Kinds come over separate watches, so revisions of different kinds may be received out of order; within one
    kind they are in order. `at(version)` is exact; `current` is what had been received.
    """

    def __init__(self, sink: Sink | None = None, audit: Writes | None = None) -> None:
        self.current = Objects()
        self.gaps: list[Gap] = []
        self.processes: list[ProcessEvent] = []
        self._revisions: list[Revision] = []
        self._by_uid: dict[str, list[Revision]] = {}
        self._listeners: list[Listener] = []
        self._sink = sink
        self._audit = audit

    def append(self, entry: Entry) -> None:
        """Add one entry; every listener hears of it before the next one can be added."""
        match entry:
            case Revision():
                self._revisions.append(entry)
                self._by_uid.setdefault(entry.uid, []).append(entry)
                self.current.apply(entry)
            case Gap():
                self.gaps.append(entry)
            case ProcessEvent():
                self.processes.append(entry)
        if self._sink is not None:
            self._sink.write(entry)
        for listener in tuple(self._listeners):
            listener(entry)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every entry from now on; the returned function ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def __len__(self) -> int:
        return len(self._revisions)

    def __iter__(self) -> Iterator[Revision]:
        return iter(self._revisions)

    def at(self, version: int) -> Objects:
        """All objects as of a resource version."""
        view = Objects()
        for revision in sorted((r for r in self._revisions if r.version <= version), key=lambda r: r.version):
            view.apply(revision)
        return view

    def revisions(self, uid: str) -> Sequence[Revision]:
        """All revisions of one object, oldest first."""
        return tuple(self._by_uid.get(uid, ()))

    def writes(self, *, user: str | None = None, verb: str | None = None) -> Iterator[Write]:
        """The writes by anyone, or by one user, or of one verb; empty where nothing audits."""
        if self._audit is None:
            return
        for write in self._audit.writes():
            if user in (None, write.user) and verb in (None, write.verb):
                yield write

    def events(self, about: Ref, reason: str | None = None) -> list[Object]:
        """The Events (events.k8s.io) that regard an object, in the order in which they were first seen."""
        return [
            event
            for event in self.current.list("Event.events.k8s.io")
            if _regards(event, about) and reason in (None, event.get("reason"))
        ]

    def since(self, item: Object) -> datetime | None:
        """When the state of an object that is in view now was received."""
        known = self._by_uid.get(ref_of(item).uid, ())
        return known[-1].at if known else None

    def became(self, uid: str, holds: Callable[[Object], bool]) -> datetime | None:
        """Since when `holds` has been true of an object without a break; None if it is not true now."""
        moment: datetime | None = None
        for revision in self._by_uid.get(uid, ()):
            if revision.type == "DELETED" or not holds(revision.object):
                moment = None
            elif moment is None:
                moment = revision.at
        return moment


def _regards(event: Object, about: Ref) -> bool:
    regarding = event.get("regarding") or {}
    if about.uid and regarding.get("uid"):
        return bool(regarding["uid"] == about.uid)
    return bool(
        regarding.get("kind") == about.kind
        and regarding.get("name") == about.name
        and regarding.get("namespace", "") == about.namespace
    )
