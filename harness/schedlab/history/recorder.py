"""Watches a control plane and writes the history of whichever test is running.

One recorder lives as long as its control plane; each test begins a history of its own, seeded with what
exists.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from schedlab import timing
from schedlab.api.client import Client
from schedlab.api.discovery import Resource
from schedlab.api.objects import Object
from schedlab.history.audit import AuditLog
from schedlab.history.directory import RunDirectory
from schedlab.history.entries import Change, Gap, Revision
from schedlab.history.history import History
from schedlab.history.watch import Watch

ALWAYS = (
    ("v1", "Pod"),
    ("v1", "Node"),
    ("v1", "Namespace"),
    ("events.k8s.io/v1", "Event"),
    ("coordination.k8s.io/v1", "Lease"),
    ("policy/v1", "PodDisruptionBudget"),
    ("scheduling.k8s.io/v1", "PriorityClass"),
)
"""Kinds that every history holds; others are watched from their first mention on."""

HEARTBEATS = "kube-node-lease"


class Recorder:
    """The watches of one control plane and the history they feed."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._watches: dict[str, asyncio.Task[None]] = {}
        self._reached: dict[str, int] = {}
        self._waiting: list[tuple[str, int, asyncio.Future[None]]] = []
        self.history = History()

    async def start(self, kinds: Iterable[tuple[str, str]] = ALWAYS) -> None:
        """Watch `kinds`; returns once all of them have been listed.

        Raises:
            ApiError: one of them cannot be listed.
        """
        for api_version, kind in kinds:
            await self.include(await self._client.resource(api_version, kind))

    async def include(self, resource: Resource) -> None:
        """Watch a kind, if it is not watched yet; returns once it has been listed."""
        if resource.key in self._watches:
            return
        watch = Watch(self._client, resource, self)
        await watch.list()
        self._watches[resource.key] = asyncio.create_task(watch.follow(), name=f"watch {resource.key}")

    def begin(self, sink: RunDirectory | None = None, audit: AuditLog | None = None) -> History:
        """A new history that starts from what exists now; entries go to it from here on."""
        before = self.history
        self.history = History(sink=sink, audit=audit)
        for item in before.current:
            self.history.append(Revision(at=timing.now(), type="ADDED", object=item, initial=True))
        return self.history

    async def caught_up(self, resource: Resource, version: int) -> None:
        """Return once every change of a kind up to `version` is in the history: reading one's own writes."""
        if resource.key not in self._watches or self._reached.get(resource.key, 0) >= version:
            return
        heard: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((resource.key, version, heard))
        await heard

    async def stop(self) -> None:
        """End all watches."""
        tasks = list(self._watches.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._watches.clear()

    def failed(self) -> BaseException | None:
        """What ended a watch that should never end, if anything did: then nothing here can be trusted."""
        for task in self._watches.values():
            if task.done() and not task.cancelled():
                return task.exception()
        return None

    def changed(self, resource: Resource, change: Change, item: Object) -> None:
        """Record a change; leases that are node heartbeats are left out."""
        if resource.kind == "Lease" and item["metadata"].get("namespace") == HEARTBEATS:
            return
        self.history.append(Revision(at=timing.now(), type=change, object=item))

    def reached(self, resource: Resource, version: int) -> None:
        """Note how far a kind's watch is, and wake who waits for that."""
        self._reached[resource.key] = version
        for waiter in [w for w in self._waiting if w[0] == resource.key and w[1] <= version]:
            self._waiting.remove(waiter)
            if not waiter[2].done():
                waiter[2].set_result(None)

    def lost(self, resource: Resource, after: int, until: int, reason: str) -> None:
        """Record a gap."""
        self.history.append(Gap(at=timing.now(), kind=resource.key, after=after, until=until, reason=reason))
