"""The objects of one cluster as the API stores them: written through here, and mirrored from the pods' watch.

The world is emptied between cases, except for namespaces: without a controller manager nothing finalizes
them, so they stay and only their labels change.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Self

from schedlab.api.client import MERGE, ApiError, Client
from schedlab.api.discovery import Resource
from schedlab.api.objects import Object, version_of
from schedlab.decisions.corpus import Change, Identity, identity, trimmed
from schedlab.history import entries
from schedlab.history.watch import Watch

#: Kinds whose status a create request does not keep.
_STATUS_APART = frozenset({"Pod", "PodDisruptionBudget", "PersistentVolume", "PersistentVolumeClaim"})
_DECISIONS = frozenset({"Scheduled", "FailedScheduling"})
#: What cases hold besides nodes and namespaces.
KINDS = (
    ("v1", "Pod"),
    ("policy/v1", "PodDisruptionBudget"),
    ("v1", "Service"),
    ("v1", "ReplicationController"),
    ("apps/v1", "ReplicaSet"),
    ("apps/v1", "StatefulSet"),
    ("v1", "PersistentVolumeClaim"),
    ("v1", "PersistentVolume"),
    ("storage.k8s.io/v1", "StorageClass"),
    ("storage.k8s.io/v1", "CSINode"),
    ("storage.k8s.io/v1", "CSIDriver"),
    ("storage.k8s.io/v1", "CSIStorageCapacity"),
)
_NODES = ("v1", "Node")
_NOW: Object = {
    "kind": "DeleteOptions",
    "apiVersion": "v1",
    "gracePeriodSeconds": 0,
    "propagationPolicy": "Background",
}
_AT_ONCE = 8


class World:
    """Writes to one cluster and knows its pods and events; an async context manager that follows both."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._pods: dict[str, Object] = {}
        self._changes: list[Change] = []
        self._notes: dict[str, str] = {}
        self._followers: list[asyncio.Task[None]] = []
        self._used: set[tuple[str, str]] = set()
        self._spaces: dict[str, Object] = {}

    async def __aenter__(self) -> Self:
        for version, kind in (("v1", "Pod"), ("events.k8s.io/v1", "Event")):
            watch = Watch(self._client, await self._client.resource(version, kind), self)
            await watch.list()
            self._followers.append(asyncio.create_task(watch.follow()))
        return self

    async def __aexit__(self, *_: object) -> None:
        for follower in self._followers:
            follower.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await follower

    def changed(self, resource: Resource, change: entries.Change, item: Object) -> None:
        """Mirror one change of a pod, and note what events say about pods."""
        if resource.kind == "Event":
            if item.get("reason") in _DECISIONS:
                self._notes[item.get("regarding", {}).get("uid", "")] = item.get("note", "")
            return
        uid = item["metadata"]["uid"]
        if change == "DELETED":
            self._pods.pop(uid, None)
        else:
            self._pods[uid] = item
        self._changes.append(Change(change, item))

    def reached(self, resource: Resource, version: int) -> None:
        """Nothing to do: what matters is waited for object by object."""

    def lost(self, resource: Resource, after: int, until: int, reason: str) -> None:
        """Nothing to do: a relist tells the differences as changes."""

    def pod(self, uid: str) -> Object | None:
        """The pod as last seen on the watch; None if it is gone or has not been seen yet."""
        return self._pods.get(uid)

    def note(self, uid: str) -> str | None:
        """What the Scheduled or FailedScheduling event said about a pod; None if there was none yet."""
        return self._notes.get(uid)

    def changes_before(self, uid: str) -> tuple[Change, ...]:
        """Take what the watch has shown up to the arrival of a pod: the last change of each pod, trimmed.

        The arrival itself stays; so do the changes after it. Once `seen` holds for the pod, nothing earlier
        is missing, since a watch keeps the order of writes.
        """
        arrived = next(
            (
                index
                for index, change in enumerate(self._changes)
                if change.type == "ADDED" and change.object["metadata"]["uid"] == uid
            ),
            len(self._changes),
        )
        earlier, self._changes = self._changes[:arrived], self._changes[arrived:]
        last: dict[Identity, Change] = {}
        for change in earlier:
            key = identity(change.object)
            last.pop(key, None)
            last[key] = Change(change.type, trimmed(change.object))
        return tuple(last.values())

    def forget_changes(self) -> None:
        """Drop what the watch has shown so far."""
        self._changes.clear()

    def staying(self) -> set[str]:
        """`namespace/name` of every pod that is not being deleted."""
        metas = (pod["metadata"] for pod in self._pods.values())
        return {f"{meta['namespace']}/{meta['name']}" for meta in metas if "deletionTimestamp" not in meta}

    @property
    def is_empty(self) -> bool:
        """True once the watch has shown the end of every pod."""
        return not self._pods

    def seen(self, stored: Object) -> bool:
        """True once the watch has shown this version of a pod, or a later one."""
        mirrored = self._pods.get(stored["metadata"]["uid"])
        return mirrored is not None and version_of(mirrored) >= version_of(stored)

    async def create(self, obj: Object) -> Object:
        """Bring one object about, with its status and its deletion if the plan gives them; as stored."""
        if obj["kind"] == "Namespace":
            return await self._namespace(obj)
        resource = await self._client.resource(obj["apiVersion"], obj["kind"])
        meta = dict(obj["metadata"])
        leaving = meta.pop("deletionTimestamp", None)
        grace = meta.pop("deletionGracePeriodSeconds", 30)
        namespace = meta.get("namespace", "default") if resource.namespaced else ""
        self._used.add((obj["kind"], namespace))
        body = {**obj, "metadata": meta}
        stored = await self._client.request("POST", resource.path(namespace), body=body)
        if obj["kind"] in _STATUS_APART and (status := _told(obj)):
            stored = await self.patch(stored, {"status": status}, subresource="status")
        if leaving is not None:
            options = {**_NOW, "gracePeriodSeconds": grace}
            path = resource.path(namespace, meta["name"])
            stored = await self._client.request("DELETE", path, body=options)
        return stored

    async def create_all(self, objects: Sequence[Object]) -> list[Object]:
        """Bring objects about, several at a time; as stored, in the order of their last writes.

        Raises:
            ApiError: the first refusal, once all requests have ended.
        """
        turns = asyncio.Semaphore(_AT_ONCE)

        async def one(obj: Object) -> Object:
            async with turns:
                return await self.create(obj)

        made = await asyncio.gather(*(one(obj) for obj in objects), return_exceptions=True)
        for answer in made:  # only once all requests have ended: a straggler would outlive the clearing
            if isinstance(answer, BaseException):
                raise answer
        return sorted((obj for obj in made if not isinstance(obj, BaseException)), key=version_of)

    async def patch(self, obj: Object, change: Object, *, subresource: str = "") -> Object:
        """Apply a merge patch to an object or one of its subresources; as stored."""
        meta = obj["metadata"]
        resource = await self._client.resource(obj["apiVersion"], obj["kind"])
        path = resource.path(meta.get("namespace", ""), meta["name"], subresource)
        return await self._client.request("PATCH", path, body=change, content_type=MERGE)

    async def delete(self, obj: Object) -> None:
        """Delete one object without grace; one that is already gone is fine."""
        meta = obj["metadata"]
        resource = await self._client.resource(obj["apiVersion"], obj["kind"])
        try:
            await self._client.request(
                "DELETE", resource.path(meta.get("namespace", ""), meta["name"]), body=_NOW
            )
        except ApiError as error:
            if error.status != 404:
                raise

    async def clear(self) -> None:
        """Delete everything that was created through here; nodes last, so that no pod outlives its node."""
        await asyncio.gather(*(self._delete_all(*kind) for kind in KINDS))
        await self._delete_all(*_NODES)
        self._used.clear()
        self._notes.clear()

    async def _delete_all(self, version: str, kind: str) -> None:
        resource = await self._client.resource(version, kind)
        spaces = [space for used, space in self._used if used == kind]
        await asyncio.gather(
            *(self._client.request("DELETE", resource.path(space), body=_NOW) for space in spaces)
        )

    async def _namespace(self, obj: Object) -> Object:
        """Make the namespace if it is missing, and give it exactly these labels."""
        resource = await self._client.resource("v1", "Namespace")
        name = obj["metadata"]["name"]
        wanted = {**obj["metadata"].get("labels", {}), "kubernetes.io/metadata.name": name}
        stored = self._spaces.get(name) or await self._found(resource, name)
        labels = stored["metadata"].get("labels", {}) if stored else {}
        if stored is None:
            stored = await self._client.request("POST", resource.path(), body=copy.deepcopy(obj))
        elif labels != wanted:
            change = {"metadata": {"labels": {**dict.fromkeys(labels), **wanted}}}
            path = resource.path("", name)
            stored = await self._client.request("PATCH", path, body=change, content_type=MERGE)
        self._spaces[name] = {**stored, "apiVersion": "v1", "kind": "Namespace"}
        return self._spaces[name]

    async def _found(self, resource: Resource, name: str) -> Object | None:
        try:
            return await self._client.get(resource, "", name)
        except ApiError as error:
            if error.status != 404:
                raise
            return None


def _told(obj: Object) -> Object:
    """The status that has to be written apart; of pods, no scheduler tells pending from running ones."""
    status: Object = obj.get("status", {})
    if obj["kind"] == "Pod" and status.get("phase") in ("Pending", "Running"):
        return {key: value for key, value in status.items() if key != "phase"}
    return status


def by_kind(objects: Iterable[Object]) -> Mapping[str, list[Object]]:
    """The objects of each kind, in their order."""
    kinds: dict[str, list[Object]] = {}
    for obj in objects:
        kinds.setdefault(obj["kind"], []).append(obj)
    return kinds
