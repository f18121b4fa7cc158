"""Making room: the victims of a preemption leave, each in the gentlest way that works.

A victim that is itself only on its way to the node goes back to the queue without any request; any other is
marked with a DisruptionTarget condition and deleted. The preemptor waits for their departure in the queue; if
a request fails it is tried again at once. Follows `pkg/scheduler/framework/preemption/executor.go`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kubesched import logs
from kubesched.api.objects import Pod
from kubesched.client.errors import ApiError, UnreachableError
from kubesched.client.events import EventRecorder
from kubesched.client.pods import PodWriter
from kubesched.client.podstatus import preempted
from kubesched.framework.runtime import Framework

_log = logs.get(__name__)

PLUGIN = "DefaultPreemption"


@dataclass(frozen=True, slots=True)
class Evicted:
    """All victims of a preemptor were asked to leave; `failed` when one could not be asked.

    `seconds` is how long asking took.
    """

    preemptor: Pod
    failed: bool = False
    seconds: float = 0.0


class Evictions:
    """Evicts victims and records why."""

    def __init__(self, writer: PodWriter, events: EventRecorder) -> None:
        self._writer = writer
        self._events = events

    async def run(
        self,
        preemptor: Pod,
        victims: Iterable[Pod],
        framework: Framework,
        put: Callable[[object], None],
        *,
        node: str,
    ) -> None:
        """Evict the victims side by side, and hand over an `Evicted` at the end."""
        started = framework.clock.now()
        leaving = [victim for victim in victims if not victim.is_terminating]
        results = await asyncio.gather(
            *(self._evict(preemptor, victim, framework, node) for victim in leaving)
        )
        seconds = framework.clock.now() - started
        put(Evicted(preemptor, failed=not all(results), seconds=seconds))

    async def _evict(self, preemptor: Pod, victim: Pod, framework: Framework, node: str) -> bool:
        note = f"Preempted by pod {preemptor.uid} on node {node}"
        if _recalled(victim, framework):
            note += " (in kube-scheduler memory)."
        else:
            try:
                await self._writer.patch_status(victim, preempted(preemptor.scheduler_name))
                await self._writer.delete(victim)
            except ApiError as error:
                if error.not_found or error.conflict:
                    _log.info("Victim Pod is already deleted", v=2, pod=preemptor.key, victim=victim.key)
                    return True
                _log.error("Tried to preempted pod", error, pod=victim.key, preemptor=preemptor.key)
                return False
            except UnreachableError as error:
                _log.error("Tried to preempted pod", error, pod=victim.key, preemptor=preemptor.key)
                return False
            _log.info("Preemptor Pod preempted victim Pod", v=2, preemptor=preemptor.key, victim=victim.key)
        self._events.record(
            victim, severity="Normal", reason="Preempted", action="Preempting", note=note,
            controller=preemptor.scheduler_name, related=preemptor,
        )  # fmt: skip
        return True


def _recalled(victim: Pod, framework: Framework) -> bool:
    """Whether the victim was still waiting at Permit or in PreBind, and could be called back."""
    waiting = framework.waiting_pods.get(victim.uid)
    if waiting is not None:
        return waiting.preempt(PLUGIN, "preempted")
    prebinding = framework.prebinding_pods.get(victim.uid)
    return prebinding is not None and prebinding.cancel(f"preempted by {PLUGIN}")
