"""The kubelet of one fake node, as far as pressure is concerned; everything else is kwok's business.

It admits pods, looks at what is used once a period, reports pressure as conditions, and evicts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from schedlab import timing
from schedlab.api.objects import Object
from schedlab.cluster.nodes import KUBELET
from schedlab.history.history import History
from schedlab.kubelet import objects
from schedlab.kubelet.configuration import Configuration
from schedlab.kubelet.manager import Eviction, EvictionManager
from schedlab.kubelet.node_client import NodeClient
from schedlab.kubelet.objects import EVICTED, WORDS
from schedlab.kubelet.signals import DISK_PRESSURE, MEMORY_PRESSURE, PID_PRESSURE
from schedlab.kubelet.stats import Summary
from schedlab.kubelet.usage import Declared, Freed, summarize

AWAITED = {"schedlab/admission": "awaited"}
"""The annotation of a pod that no kubelet has admitted yet; kwok does not start it."""

_CLEANUP_POLL = 1.0  # how often a kubelet looks whether an evicted pod is cleaned up, before its next round


class Kubelet:
    """One node's; `heard` is told every change of its pods and its Node."""

    def __init__(
        self, client: NodeClient, history: History, settings: Configuration, declared: Declared, node: str
    ) -> None:
        self.manager = EvictionManager(settings)
        self._client = client
        self._history = history
        self._settings = settings
        self._declared = declared
        self._node = node
        self._ready = asyncio.Event()
        self._awaiting: asyncio.Queue[Object] = asyncio.Queue()
        self._met: set[str] = set()
        self._admitted: set[str] = set()
        self._started: dict[str, float] = {}
        self._ended: set[str] = set()
        self._freed = Freed()
        self._reported: dict[str, bool] = dict.fromkeys((MEMORY_PRESSURE, DISK_PRESSURE, PID_PRESSURE), False)

    def heard(self, item: Object) -> None:
        """Note a change."""
        if item["kind"] == "Node":
            if _is_ready(item):
                self._ready.set()
            return
        uid, phase = item["metadata"]["uid"], (item.get("status") or {}).get("phase")
        if phase == "Running":
            self._started.setdefault(uid, timing.monotonic())
        if phase == "Pending" and uid not in self._met and _awaits(item):
            self._met.add(uid)
            self._awaiting.put_nowait(item)

    async def run(self) -> None:
        """Work until cancelled.

        Raises:
            ApiError: the API server refused what a kubelet may do.
        """
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._admissions())
            tasks.create_task(self._housekeeping())

    async def _admissions(self) -> None:
        """Admit or reject each pod that comes to this node, once and in order."""
        while True:
            pod = await self._awaiting.get()
            while self._stopped():
                await timing.sleep(self._settings.period)
            reason = self.manager.admit(pod)
            if reason:
                await self._event(pod, "Warning", EVICTED, reason)
                await self._client.patch_pod(pod, objects.rejected(pod, reason))
            else:
                self._admitted.add(pod["metadata"]["uid"])
                annotations = dict.fromkeys(AWAITED)
                await self._client.patch_pod(
                    pod, {"metadata": {"uid": pod["metadata"]["uid"], "annotations": annotations}}
                )

    async def _housekeeping(self) -> None:
        """Look once a period, and right after what was evicted has ended."""
        await self._ready.wait()
        while True:
            if self._stopped():
                await timing.sleep(self._settings.period)
                continue
            found = self.manager.synchronize(self, self._active(), timing.monotonic())
            await self._report()
            if found.reclaiming and (node := self._own()) is not None:
                message = f"Attempting to reclaim {found.reclaiming}"
                await self._event(node, "Warning", "EvictionThresholdMet", message)
            for eviction in found.evictions:
                await self._evict(eviction)
            await timing.sleep(_CLEANUP_POLL if found.evictions else self._settings.period)

    async def _evict(self, eviction: Eviction) -> None:
        """End a pod: it is Failed once its containers have had their grace."""
        pod = eviction.pod
        await self._event(pod, "Warning", EVICTED, eviction.message, eviction.annotations)
        own = (pod["metadata"].get("annotations") or {}).get("schedlab/terminates-in-seconds")
        await timing.sleep(min(eviction.grace, float(own)) if own else eviction.grace)
        self._ended.add(pod["metadata"]["uid"])
        await self._client.patch_pod(pod, objects.evicted(eviction, timing.now()))

    async def _report(self) -> None:
        """Write the conditions that have changed."""
        pressed = self.manager.conditions
        changed = [kind for kind, before in self._reported.items() if before != (kind in pressed)]
        node = self._own()
        if not changed or node is None:
            return
        conditions = [objects.node_condition(kind, timing.now(), pressed=kind in pressed) for kind in changed]
        await self._client.patch_node(self._node, {"status": {"conditions": conditions}})
        for kind in changed:
            self._reported[kind] = kind in pressed
            reason = WORDS[kind, kind in pressed].event
            await self._event(node, "Normal", reason, f"Node {self._node} status is now: {reason}")

    async def _event(
        self,
        about: Object,
        kind: str,
        reason: str,
        message: str,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        event = objects.event(
            about,
            self._node,
            timing.now(),
            kind=kind,
            reason=reason,
            message=message,
            annotations=annotations or {},
        )
        await self._client.create_event(event)

    def summary(self) -> Summary:
        """What is measured now: the declared usage of what runs here."""
        node = self._own()
        if node is None:
            raise RuntimeError(f"there is no node {self._node}")
        running = [
            (pod, self._started[uid])
            for pod in self._active()
            if (uid := pod["metadata"]["uid"]) in self._started
        ]
        return summarize(
            self._declared,
            node,
            running,
            timing.monotonic(),
            disks=self._settings.disks,
            freed=self._freed,
        )

    def delete_unused_images(self) -> None:
        """Free the declared bytes of unused images."""
        self._freed = Freed(images=True, containers=self._freed.containers)

    def delete_dead_containers(self) -> None:
        """Free the declared bytes of dead containers."""
        self._freed = Freed(images=self._freed.images, containers=True)

    def _active(self) -> list[Object]:
        """The admitted pods that have not ended; the harness's own probes never were admitted."""
        known = self._admitted - self._ended
        return [
            pod
            for pod in self._history.current.list("Pod")
            if pod["metadata"]["uid"] in known
            and (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed")
        ]

    def _own(self) -> Object | None:
        return self._history.current.get("Node", self._node)

    def _stopped(self) -> bool:
        """True while the test says that there is no kubelet, and once the node is gone."""
        node = self._own()
        if node is None:
            return True
        return bool((node["metadata"].get("annotations") or {}).get(KUBELET) in ("stopped", "silent"))


def _awaits(pod: Object) -> bool:
    annotations = pod["metadata"].get("annotations") or {}
    waiting = all(annotations.get(key) == value for key, value in AWAITED.items())
    return waiting and not pod["metadata"].get("deletionTimestamp")


def _is_ready(node: Object) -> bool:
    conditions = (node.get("status") or {}).get("conditions") or ()
    return any(entry["type"] == "Ready" and entry["status"] == "True" for entry in conditions)
