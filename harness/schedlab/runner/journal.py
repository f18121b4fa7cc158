"""Writes to the API server, each remembered, so that a test leaves nothing behind.

Everything is undone in reverse order, since later objects lean on earlier ones. What does not go is reported
with the finalizers that hold it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from schedlab import timing
from schedlab.api.client import APPLY, ApiError, Client
from schedlab.api.discovery import Resource
from schedlab.api.objects import Object, Ref, ref_of, version_of
from schedlab.history.recorder import Recorder

FIELD_MANAGER = "schedlab"
_PARALLEL = 16


@dataclass(frozen=True, slots=True)
class Created:
    """An object that the test has made."""

    resource: Resource
    ref: Ref


class Journal:
    """The writer of one test."""

    def __init__(self, client: Client, recorder: Recorder, namespace: str) -> None:
        self._client = client
        self._recorder = recorder
        self._namespace = namespace
        self._created: dict[tuple[str, str, str], Created] = {}

    async def create(self, item: Object) -> Object:
        """Create an object; in the test's namespace, unless it names one or has none."""
        resource, item = await self._placed(item)
        path = resource.path(ref_of(item).namespace)
        stored = await self._client.request("POST", path, query={"fieldManager": FIELD_MANAGER}, body=item)
        return await self._noted(resource, stored)

    async def apply(self, item: Object) -> Object:
        """Create an object or change it (server-side apply)."""
        resource, item = await self._placed(item)
        ref = ref_of(item)
        query = {"fieldManager": FIELD_MANAGER, "force": "true"}
        stored = await self._client.request(
            "PATCH", resource.path(ref.namespace, ref.name), query=query, body=item, content_type=APPLY
        )
        return await self._noted(resource, stored)

    async def patch(self, item: Object, content_type: str, subresource: str = "") -> Object:
        """Patch the object that `item` names with what `item` says."""
        resource, item = await self._placed(item)
        ref = ref_of(item)
        stored = await self._client.request(
            "PATCH",
            resource.path(ref.namespace, ref.name, subresource),
            query={"fieldManager": FIELD_MANAGER},
            body=item,
            content_type=content_type,
        )
        if not subresource or stored.get("kind") == resource.kind:
            await self._recorder.caught_up(resource, version_of(stored))
        return stored

    async def delete(
        self, ref: Ref, api_version: str, grace: int | None = None, policy: str | None = None
    ) -> None:
        """Delete an object; returns once the server has accepted that. No such object is no error."""
        resource = await self._client.resource(api_version, ref.kind)
        body: Object = {"preconditions": {"uid": ref.uid}} if ref.uid else {}
        if grace is not None:
            body["gracePeriodSeconds"] = grace
        if policy is not None:
            body["propagationPolicy"] = policy
        try:
            await self._client.request("DELETE", resource.path(ref.namespace, ref.name), body=body or None)
        except ApiError as error:
            if error.status not in (404, 409):
                raise

    async def evict(self, ref: Ref, eviction: Object, *, dry_run: bool = False) -> None:
        """Ask for the eviction of a pod; returns once the server has allowed it."""
        pods = await self._client.resource("v1", "Pod")
        query = {"dryRun": "All"} if dry_run else None
        await self._client.request(
            "POST", pods.path(ref.namespace, ref.name, "eviction"), query=query, body=eviction
        )

    async def include(self, api_version: str, kind: str) -> str:
        """Have a kind in the history from now on; returns its key."""
        resource = await self._client.resource(api_version, kind)
        await self._recorder.include(resource)
        return resource.key

    async def undo(self, deadline: timing.Deadline) -> list[str]:
        """Delete everything in reverse order and wait for it to go; returns what is left, in words."""
        remaining = list(reversed(self._created.values()))
        for _, group in groupby(remaining, key=lambda created: created.resource.key):
            free = asyncio.Semaphore(_PARALLEL)
            await asyncio.gather(*(self._delete(created, free) for created in group))
        left = await timing.poll(lambda: self._all_gone(remaining), deadline)
        return [] if left is not None else list(self._left(remaining))

    async def _delete(self, created: Created, free: asyncio.Semaphore) -> None:
        async with free:
            grace = 0 if created.resource.key == "Pod" else None
            await self.delete(created.ref, created.resource.api_version, grace)

    async def _all_gone(self, created: list[Created]) -> bool | None:
        """Read from the history, where each deletion arrives by itself."""
        return None if next(self._left(created), None) else True

    def _left(self, created: list[Created]) -> Iterator[str]:
        for entry in created:
            item = self._recorder.history.current.find(entry.ref, entry.resource.key)
            if item is not None:
                held = ", ".join(item["metadata"].get("finalizers") or [])
                yield f"{entry.ref}" + (f" (finalizers: {held})" if held else "")

    async def _placed(self, item: Object) -> tuple[Resource, Object]:
        """An object with its namespace, and its kind in the history before it is written."""
        resource = await self._client.resource(str(item.get("apiVersion", "")), str(item.get("kind", "")))
        await self._recorder.include(resource)
        metadata = item.get("metadata") or {}
        if resource.namespaced and not metadata.get("namespace"):
            item = {**item, "metadata": {**metadata, "namespace": self._namespace}}
        return resource, item

    async def _noted(self, resource: Resource, stored: Object) -> Object:
        ref = ref_of(stored)
        self._created[resource.key, ref.namespace, ref.name] = Created(resource, ref)
        await self._recorder.caught_up(resource, version_of(stored))
        return stored
