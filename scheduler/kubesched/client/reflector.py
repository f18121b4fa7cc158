"""Keeps up with one kind: lists it, watches from there, and never loses or doubles a step.

A watch is resumed from the last version seen, bookmarks included. When that version is gone (410, in the
answer or in the stream) the kind is listed again at least as fresh as what is known, and the difference
becomes changes; so what the intake holds is always the truth of some version. Follows
`client-go/tools/cache/reflector.go`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from random import Random
from typing import Literal

import msgspec

from kubesched import logs
from kubesched.client.backoff import Backoff
from kubesched.client.errors import ApiError, Status, UnreachableError
from kubesched.client.intake import Change
from kubesched.client.known import Known
from kubesched.client.lanes import Lane
from kubesched.client.lines import LineSplitter, LineTooLongError
from kubesched.client.listing import fetch, head, read
from kubesched.client.resources import Resource
from kubesched.client.rest import RestClient
from kubesched.clock import Clock

_log = logs.get(__name__)

# Seconds: a watch asks to be ended by the server after a random time in this range.
_WATCH = (300.0, 600.0)
# A watch that ends this soon without an event counts as failed, or the loop would spin.
_SHORT = 1.0
_SHORT_WATCHES = 3
# An API group that is not served may be switched on later.
_NOT_SERVED = 300.0


class _Event(msgspec.Struct, frozen=True):
    type: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]
    object: msgspec.Raw


class _RelistError(Exception):
    """The watch cannot be resumed: list again. `delay` tells whether to back off first."""

    def __init__(self, why: str, *, delay: bool) -> None:
        self.delay = delay
        super().__init__(why)


class Reflector:
    """Delivers one kind's changes to `put`. Run it as a task; cancel it to stop."""

    def __init__(
        self,
        resource: Resource,
        client: RestClient,
        lane: Lane,
        put: Callable[[Change], None],
        *,
        clock: Clock,
        rng: Random,
        on_synced: Callable[[Resource], None] = lambda _: None,
        whole: bool = False,
    ) -> None:
        """`whole` objects come with their JSON, for HTTP extenders."""
        self._whole = whole
        self.resource = resource
        self.synced = False
        self._client = client
        self._lane = lane
        self._put = put
        self._clock = clock
        self._rng = rng
        self._on_synced = on_synced
        self._known = Known()
        self._version = "0"
        self._backoff = Backoff(rng)
        self._said_absent = False

    async def run(self) -> None:
        """Follow the kind for ever. Every failure is said, and retried after a growing delay."""
        while True:
            try:
                await self._list()
                await self._watch()
            except _RelistError as reason:
                _log.info("Listing again", v=3, kind=self.resource.kind, reason=reason)
                if reason.delay:
                    await self._clock.sleep(self._backoff.delay())
            except ApiError as error:
                await self._refused(error)
            except UnreachableError as error:
                _log.error("Failed to list", error, kind=self.resource.kind)
                await self._clock.sleep(self._backoff.delay())

    async def _refused(self, error: ApiError) -> None:
        """A kind whose group is not served counts as empty; anything else is loud."""
        if error.not_found and self.resource.is_optional:
            if not self._said_absent:
                _log.warning(
                    "Kind is not served by this API server, going on without it", kind=self.resource.kind
                )
            self._said_absent = True
            self._deliver(self._known.replace([]))
            self._mark_synced()
            await self._clock.sleep(_NOT_SERVED)
            return
        _log.error("Failed to list", error, kind=self.resource.kind, status=error.status)
        await self._clock.sleep(self._backoff.delay())

    async def _list(self) -> None:
        """Take over a full list at least as fresh as what is known; from the quorum if that is refused."""
        try:
            listing = await fetch(self._client, self.resource, self._lane, self._version, whole=self._whole)
        except ApiError as error:
            if not (error.expired or error.too_large_version) or self._version == "":
                raise
            listing = await fetch(self._client, self.resource, self._lane, "", whole=self._whole)
        self._deliver(self._known.replace(listing.objects, kept=listing.broken))
        self._version = listing.version
        self._said_absent = False
        self._mark_synced()

    def _mark_synced(self) -> None:
        if not self.synced:
            self.synced = True
            self._on_synced(self.resource)

    async def _watch(self) -> None:
        """Watch until that is no longer possible. Raises _RelistError, ApiError other than 410 or 429."""
        short = 0
        while True:
            started, seen = self._clock.now(), self._version
            try:
                async with self._client.stream(self.resource.path, self._params()) as chunks:
                    await self._follow(chunks)
            except ApiError as error:
                if error.expired:
                    raise _RelistError(f"watch refused: {error}", delay=False) from error
                if not error.retriable:
                    raise
                await self._pause("Watch refused", error)
                continue
            except UnreachableError as error:
                await self._pause("Watch broke", error)
                continue
            if self._version != seen or self._clock.now() - started >= _SHORT:
                short = 0
                self._backoff.reset()
                continue
            short += 1
            if short >= _SHORT_WATCHES:
                raise _RelistError("watches end at once without an event", delay=True)
            await self._pause("Watch ended at once", None)

    async def _pause(self, what: str, error: Exception | None) -> None:
        delay = self._backoff.delay()
        _log.info(what, v=2, kind=self.resource.kind, err=error or "", seconds=round(delay, 1))
        await self._clock.sleep(delay)

    def _params(self) -> dict[str, str]:
        low, high = _WATCH
        params = {
            "watch": "true",
            "resourceVersion": self._version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(int(low + (high - low) * self._rng.random())),
        }
        if self.resource.selector:
            params["fieldSelector"] = self.resource.selector
        return params

    async def _follow(self, chunks: AsyncIterator[bytes]) -> None:
        """Apply every whole line. A torn last line is dropped: it comes again from the last version."""
        splitter = LineSplitter()
        async for chunk in chunks:
            try:
                lines = splitter.feed(chunk)
            except LineTooLongError as error:
                raise _RelistError(str(error), delay=True) from error
            for line in lines:
                self._line(line)

    def _line(self, line: bytes) -> None:
        try:
            event = msgspec.json.decode(line, type=_Event)
        except msgspec.DecodeError as error:
            raise _RelistError(f"unreadable line in the watch: {error}", delay=True) from error
        if event.type == "ERROR":
            status = msgspec.json.decode(event.object, type=Status)
            gone = status.code == 410 or status.reason in {"Expired", "Gone"}
            raise _RelistError(f"{status.reason or status.code}: {status.message}", delay=not gone)
        decoded = None
        if event.type != "BOOKMARK":
            decoded = read(self.resource.kind, event.object, whole=self._whole)
        if decoded is not None and event.type != "BOOKMARK":
            self._deliver(self._known.apply(event.type, decoded))
            self._advance(decoded.metadata.resource_version)
        else:
            self._advance(head(event.object).resource_version)

    def _advance(self, version: str) -> None:
        if version:
            self._version = version

    def _deliver(self, changes: list[Change]) -> None:
        for change in changes:
            self._put(change)
