"""Status patches in the background: one pod's in order and merged, different pods' side by side.

The scheduling loop never waits for a condition to be written, and a pod that fails again before its last
patch went out gets one patch with the latest word.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass

from kubesched import logs
from kubesched.api.objects import Pod
from kubesched.client.errors import ApiError, UnreachableError
from kubesched.client.pods import PodWriter
from kubesched.client.podstatus import Condition

_log = logs.get(__name__)
_WORKERS = 16


@dataclass(slots=True)
class _Wanted:
    pod: Pod
    condition: Condition | None
    nominated: str | None


class StatusPatches:
    """Pods whose status is to be patched."""

    def __init__(self, writer: PodWriter) -> None:
        self._writer = writer
        self._waiting: OrderedDict[str, _Wanted] = OrderedDict()
        self._writing: set[str] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._signal = asyncio.Event()

    def submit(self, pod: Pod, condition: Condition | None, nominated: str | None = None) -> None:
        """Have the pod's status say this; what this call leaves open, an earlier one still decides."""
        earlier = self._waiting.pop(pod.uid, None)
        if earlier is not None:
            condition = condition or earlier.condition
            nominated = earlier.nominated if nominated is None else nominated
        self._waiting[pod.uid] = _Wanted(pod, condition, nominated)
        self._idle.clear()
        self._signal.set()

    async def run(self) -> None:
        """Write for ever."""
        async with asyncio.TaskGroup() as group:
            for _ in range(_WORKERS):
                group.create_task(self._work())

    async def idle(self) -> None:
        """Return when nothing is left to write."""
        await self._idle.wait()

    async def _work(self) -> None:
        while True:
            uid = next((uid for uid in self._waiting if uid not in self._writing), None)
            if uid is None:
                self._signal.clear()
                await self._signal.wait()
                continue
            wanted = self._waiting.pop(uid)
            self._writing.add(uid)
            try:
                await self._write(wanted)
            finally:
                self._writing.discard(uid)
                self._signal.set()
                if not self._waiting and not self._writing:
                    self._idle.set()

    async def _write(self, wanted: _Wanted) -> None:
        try:
            await self._writer.patch_status(wanted.pod, wanted.condition, wanted.nominated)
        except ApiError as error:
            if error.not_found or error.conflict:
                _log.info("Pod is gone, its status stays as it was", v=2, pod=wanted.pod.key)
            else:
                _log.error("Error updating pod", error, pod=wanted.pod.key)
        except UnreachableError as error:
            _log.error("Error updating pod", error, pod=wanted.pod.key)
