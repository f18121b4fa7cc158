"""Events, `events.k8s.io/v1`, recorded without ever holding up the scheduler.

An event that repeats becomes a series: the second occurrence patches a count of 2 into the first, later ones
are only counted and written when the series ends or every half hour. The note is not part of what makes
events equal, so a series keeps its first text. When too many wait, new ones are dropped: events inform,
bindings matter. Follows `client-go/tools/events/event_broadcaster.go` and `event_recorder.go`.
"""

from __future__ import annotations

import asyncio
import re
import socket
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

import msgspec

from kubesched import logs
from kubesched.api.objects import Object
from kubesched.client import timestamps
from kubesched.client.errors import ApiError, UnreachableError
from kubesched.client.lanes import Lane
from kubesched.client.rest import RestClient
from kubesched.clock import Clock

_log = logs.get(__name__)

NOTE_LIMIT = 1024
_QUEUED = 1000
_WORKERS = 8
_ATTEMPTS = 12
_RETRY = 10.0
_FINISH = 360.0
_REFRESH = 1800.0
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\Z")


def truncate(note: str) -> str:
    """A note of at most 1,024 bytes, cut as upstream cuts it."""
    data = note.encode()
    if len(data) <= NOTE_LIMIT:
        return note
    suffix = " ..."
    return data[: NOTE_LIMIT - len(suffix)].decode(errors="ignore") + suffix


@dataclass(slots=True)
class _Series:
    """One event and how often it happened. `event` is its body without the series."""

    event: dict[str, Any]
    at: float
    count: int = 1
    last: float = 0.0

    def body(self) -> dict[str, Any]:
        if self.count == 1:
            return self.event
        return {**self.event, "series": self.series}

    @property
    def series(self) -> dict[str, Any]:
        return {"count": self.count, "lastObservedTime": timestamps.micros(self.last)}


@dataclass(slots=True)
class _Job:
    """A write to be made: the event's creation, or a patch of its series."""

    series: _Series
    is_patch: bool
    body: dict[str, Any] = field(default_factory=dict)


class EventRecorder:
    """Records events of one or more schedulers. `record` returns at once; `run` writes."""

    def __init__(
        self, client: RestClient, lane: Lane, clock: Clock, rng: Random, hostname: str | None = None
    ) -> None:
        self._client = client
        self._lane = lane
        self._clock = clock
        self._rng = rng
        self._hostname = hostname or socket.gethostname()
        self._known: dict[tuple[object, ...], _Series] = {}
        self._jobs: asyncio.Queue[_Job] = asyncio.Queue(_QUEUED)
        self.dropped = 0

    def record(
        self,
        regarding: Object,
        *,
        severity: Literal["Normal", "Warning"],
        reason: str,
        action: str,
        note: str,
        controller: str,
        related: Object | None = None,
    ) -> None:
        """Note that something happened to an object. `controller` is the scheduler's name."""
        references = [_reference(regarding)] + ([_reference(related)] if related is not None else [])
        key = (severity, action, reason, controller, *(tuple(ref.values()) for ref in references))
        now = self._clock.wall()
        known = self._known.get(key)
        if known is not None:
            known.count += 1
            known.last = now
            if known.count == 2:
                self._enqueue(_Job(known, is_patch=True, body=known.body()))
            return
        event: dict[str, Any] = {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {
                "name": _event_name(regarding.name, now),
                "namespace": regarding.namespace or "default",
            },
            "eventTime": timestamps.micros(now),
            "reportingController": controller,
            "reportingInstance": f"{controller}-{self._hostname}",
            "action": action,
            "reason": reason,
            "regarding": references[0],
            "note": truncate(note),
            "type": severity,
        }
        if related is not None:
            event["related"] = references[1]
        series = self._known[key] = _Series(event, now)
        self._enqueue(_Job(series, is_patch=False, body=series.body()))

    async def run(self) -> None:
        """Write events for ever."""
        async with asyncio.TaskGroup() as group:
            for _ in range(_WORKERS):
                group.create_task(self._work())
            group.create_task(self._every(_FINISH, self._finish))
            group.create_task(self._every(_REFRESH, self._refresh))

    async def flush(self, seconds: float) -> None:
        """Wait until everything recorded is written, but not longer than that."""
        written = asyncio.ensure_future(self._jobs.join())
        limit = asyncio.ensure_future(self._clock.sleep(seconds))
        await asyncio.wait({written, limit}, return_when=asyncio.FIRST_COMPLETED)
        written.cancel()
        limit.cancel()

    def _enqueue(self, job: _Job) -> None:
        try:
            self._jobs.put_nowait(job)
        except asyncio.QueueFull:
            self.dropped += 1
            if self.dropped == 1 or self.dropped % _QUEUED == 0:
                _log.warning("Too many events wait to be written, dropping some", dropped=self.dropped)

    async def _work(self) -> None:
        while True:
            job = await self._jobs.get()
            try:
                await self._write(job)
            finally:
                self._jobs.task_done()

    async def _write(self, job: _Job) -> None:
        for _ in range(_ATTEMPTS):
            try:
                await self._write_once(job)
            except ApiError as error:
                if error.reason != "AlreadyExists":
                    _log.error("Server rejected event (will not retry!)", error, reason=job.body["reason"])
                    return
                if not job.is_patch:
                    _log.info("Server rejected event (will not retry!)", v=5, err=error)
                    return
            except UnreachableError as error:
                _log.error("Unable to write event (may retry after sleeping)", error)
            else:
                return
            await self._clock.sleep(_RETRY * (1 + 0.25 * self._rng.random()))
        _log.error("Unable to write event (retry limit exceeded!)", reason=job.body["reason"])

    async def _write_once(self, job: _Job) -> None:
        """Patch the series, or create the event; a series whose event is gone is created anew."""
        meta = job.body["metadata"]
        path = f"/apis/events.k8s.io/v1/namespaces/{meta['namespace']}/events"
        if job.is_patch:
            try:
                series = {"series": job.body["series"]}
                await self._client.patch(f"{path}/{meta['name']}", self._lane, msgspec.json.encode(series))
            except ApiError as error:
                if not error.not_found:
                    raise
            else:
                return
        await self._client.post(path, self._lane, msgspec.json.encode(job.body))

    async def _every(self, seconds: float, what: Callable[[], None]) -> None:
        while True:
            await self._clock.sleep(seconds)
            what()

    def _finish(self) -> None:
        """Write the final count of every series that ended; forget what happened only once."""
        before = self._clock.wall() - _FINISH
        for key, series in list(self._known.items()):
            if (series.last or series.at) < before:
                del self._known[key]
                if series.count > 1:
                    self._enqueue(_Job(series, is_patch=True, body=series.body()))

    def _refresh(self) -> None:
        """Keep the events of running series from expiring."""
        for series in self._known.values():
            if series.count > 1:
                self._enqueue(_Job(series, is_patch=True, body=series.body()))


def _reference(obj: Object) -> dict[str, str]:
    reference = {
        "kind": obj.kind,
        "namespace": obj.namespace,
        "name": obj.name,
        "uid": obj.metadata.uid,
        "apiVersion": obj.api_version,
        "resourceVersion": obj.metadata.resource_version,
    }
    return {key: value for key, value in reference.items() if value}


def _event_name(name: str, wall: float) -> str:
    unique = f"{name}.{int(wall * 1e9):x}"
    return unique if len(unique) <= 253 and _NAME.match(unique) else str(uuid.uuid4())
