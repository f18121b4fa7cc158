"""The API server's audit log, read as the list of writes that it is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from schedlab.api.objects import Object

CREDENTIAL = "authentication.kubernetes.io/credential-id"
WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})


class Write(msgspec.Struct, frozen=True):
    """One write request and how it ended.

    `at` is when the server received it, `done` when it had answered, both by the server's clock. `code` is
    the HTTP status: a refused write is recorded, too. `body` is the request's object where the audit policy
    keeps it. `credential` tells apart programs that act as one user.
    """

    at: datetime
    user: str
    verb: str
    resource: str
    name: str
    code: int
    subresource: str = ""
    namespace: str = ""
    group: str = ""
    body: Object | None = None
    done: datetime | None = None
    credential: str = ""

    @property
    def succeeded(self) -> bool:
        """True if the server did what was asked."""
        return 200 <= self.code < 300


class _ObjectRef(msgspec.Struct):
    resource: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    api_group: str = msgspec.field(default="", name="apiGroup")


class _User(msgspec.Struct):
    username: str = ""
    extra: dict[str, list[str]] = {}


class _Status(msgspec.Struct):
    code: int = 0


class _Event(msgspec.Struct):
    stage: str = ""
    verb: str = ""
    user: _User = msgspec.field(default_factory=_User)
    reference: _ObjectRef | None = msgspec.field(default=None, name="objectRef")
    status: _Status | None = msgspec.field(default=None, name="responseStatus")
    body: Any = msgspec.field(default=None, name="requestObject")
    at: datetime | None = msgspec.field(default=None, name="requestReceivedTimestamp")
    done: datetime | None = msgspec.field(default=None, name="stageTimestamp")


def parse(line: bytes) -> Write | None:
    """The write that one line of the log describes, or None: a read, or a request still under way."""
    event = msgspec.json.decode(line, type=_Event)
    if event.stage != "ResponseComplete" or event.verb not in WRITES or event.at is None:
        return None
    reference = event.reference or _ObjectRef()
    body = event.body if isinstance(event.body, dict) else None
    name = reference.name or str(((body or {}).get("metadata") or {}).get("name") or "")
    return Write(
        at=event.at,
        user=event.user.username,
        verb=event.verb,
        group=reference.api_group,
        resource=reference.resource,
        subresource=reference.subresource,
        namespace=reference.namespace,
        name=name,
        code=event.status.code if event.status else 0,
        body=body,
        done=event.done,
        credential=next(iter(event.user.extra.get(CREDENTIAL) or []), ""),
    )


class AuditLog:
    """The part of an audit log after `start` bytes, read as far as it goes each time it is asked."""

    def __init__(self, path: Path, start: int | None = None) -> None:
        self.path = path
        self.start = start if start is not None else (path.stat().st_size if path.exists() else 0)
        self._offset = self.start
        self._writes: list[Write] = []

    def writes(self) -> Iterator[Write]:
        """All writes so far, in the order in which the server finished them."""
        self._read()
        yield from self._writes

    def _read(self) -> None:
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self._offset)
            for line in file:
                if not line.endswith(b"\n"):
                    break  # half written; the rest comes with the next look
                self._offset += len(line)
                write = parse(line)
                if write is not None:
                    self._writes.append(write)
