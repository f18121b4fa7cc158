"""When something happened, by the clock of the server that wrote it down.

A revision's own `at` is when the harness heard of it. Durations that a controller promises are measured
between writes instead, by the time at which the API server received each.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from schedlab.api.objects import Object
from schedlab.history.audit import Write
from schedlab.history.entries import Revision
from schedlab.history.history import History

LATE = timedelta(seconds=2)

_RESOURCES = {"Pod": "pods", "Node": "nodes"}


def written_at(history: History, revision: Revision, made: Callable[[Write], bool]) -> datetime:
    """When the server received the write behind a revision of a pod or a node.

    That is the last write that `made` takes for it, if it came after the revision before was heard of, or up
    to `LATE` before that, as a busy harness hears of several at once. Where the audit log has none (a watch
    can be faster), it is the moment at which the revision was heard of.
    """
    resource, ref = _RESOURCES.get(revision.kind, ""), revision.ref
    received = [
        write.at
        for write in history.writes()
        if write.succeeded
        and (write.resource, write.namespace, write.name) == (resource, ref.namespace, ref.name)
        and write.at <= revision.at
        and made(write)
    ]
    last = max(received, default=revision.at)
    earlier = [one.at for one in history.revisions(revision.uid) if one.version < revision.version]
    return last if not earlier or last > earlier[-1] - LATE else revision.at


def began(
    history: History, uid: str, holds: Callable[[Object], bool], *, before: int | None = None
) -> Revision | None:
    """The revision with which `holds` became true of an object, the last time that it did.

    `before` leaves out revisions of that version and later.
    """
    found: Revision | None = None
    held = False
    for revision in history.revisions(uid):
        if before is not None and revision.version >= before:
            break
        holding = revision.type != "DELETED" and holds(revision.object)
        if holding and not held:
            found = revision
        held = holding
    return found
