"""One kind, watched: every change in order, resumed where it broke off.

An API server ends busy watches several times a minute. A watcher that starts anew each time misses what
happened in between; this one resumes from the last version it saw. Where the server has forgotten that
version (410) it lists, tells the differences as changes, and says that there is a gap.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from schedlab import timing
from schedlab.api.client import ApiError, Client
from schedlab.api.discovery import Resource
from schedlab.api.objects import Object, ref_of, version_of
from schedlab.history.entries import Change

GONE = 410
IDLE = 330.0  # seconds; the server is asked to end a watch after 300
RETRY = (0.05, 0.1, 0.25, 0.5, 1.0)


class Consumer(Protocol):
    """Who hears what a watch sees."""

    def changed(self, resource: Resource, change: Change, item: Object) -> None:
        """An object changed; in order, each change once."""
        ...

    def reached(self, resource: Resource, version: int) -> None:
        """All changes up to a version have been told."""
        ...

    def lost(self, resource: Resource, after: int, until: int, reason: str) -> None:
        """Changes between two versions may be missing."""
        ...


class Watch:
    """A list and watch of one kind in all namespaces."""

    def __init__(self, client: Client, resource: Resource, consumer: Consumer) -> None:
        self._client = client
        self.resource = resource
        self._consumer = consumer
        self._known: dict[str, Object] = {}
        self._version = 0

    async def list(self, reason: str = "") -> None:
        """Read all objects and tell what differs from what was known; with a reason, that is a gap."""
        answer = await self._client.request("GET", self.resource.path())
        version = version_of(answer)
        if reason:
            self._consumer.lost(self.resource, self._version, version, reason)
        present = {ref_of(item).uid: self._typed(item) for item in answer.get("items") or []}
        for uid, item in list(self._known.items()):
            if uid not in present:
                self._tell("DELETED", _at_version(item, version))
        for uid, item in sorted(present.items(), key=lambda pair: version_of(pair[1])):
            before = self._known.get(uid)
            if before is None or version_of(before) != version_of(item):
                self._tell("MODIFIED" if before else "ADDED", item)
        self._reached(version)

    async def follow(self, wait: Callable[[float], Any] = timing.sleep) -> None:
        """Watch until cancelled; `list` must have run once."""
        failures = 0
        while True:
            try:
                await self._watch_once()
                failures = 0
            except ApiError as error:
                if error.status == GONE:
                    await self._relist(str(error))
                    continue
                await wait(RETRY[min(failures, len(RETRY) - 1)])
                failures += 1

    async def _relist(self, reason: str) -> None:
        try:
            await self.list(reason=reason)
        except ApiError:
            await timing.sleep(
                RETRY[-1]
            )  # the next watch from the old version is told 410 again, and lists again

    async def _watch_once(self) -> None:
        query = {
            "watch": "true",
            "resourceVersion": str(self._version),
            "allowWatchBookmarks": "true",
            "timeoutSeconds": "300",
        }
        async with self._client.stream(self.resource.path(), query, IDLE) as lines:
            async for line in lines:
                self._take(msgspec.json.decode(line, type=dict[str, Any]))

    def _take(self, event: dict[str, Any]) -> None:
        item: Object = event["object"]
        if event["type"] == "ERROR":
            status = int(item.get("code") or 0)
            raise ApiError(
                f"WATCH {self.resource.path()}", status, str(item.get("reason")), str(item.get("message"))
            )
        if event["type"] != "BOOKMARK":
            self._tell(event["type"], self._typed(item))
        self._reached(version_of(item))

    def _tell(self, change: Change, item: Object) -> None:
        uid = ref_of(item).uid
        if change == "DELETED":
            self._known.pop(uid, None)
        else:
            self._known[uid] = item
        self._consumer.changed(self.resource, change, item)

    def _reached(self, version: int) -> None:
        self._version = max(self._version, version)
        self._consumer.reached(self.resource, self._version)

    def _typed(self, item: Object) -> Object:
        """Items of a list do not say what they are."""
        item.setdefault("apiVersion", self.resource.api_version)
        item.setdefault("kind", self.resource.kind)
        return item


def _at_version(item: Object, version: int) -> Object:
    return {**item, "metadata": {**item["metadata"], "resourceVersion": str(version)}}
