"""The scheduling loop: take over what happened, try the next pod, write what follows.

It is the only place where events and binding results change state; between two drains of the intake nothing
moves. It never waits for a write: bindings, conditions, events and evictions run beside it and report to the
intake. No pod and no plugin can stop it: what goes wrong becomes that pod's SchedulerError, and the pod backs
off.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from msgspec import structs

from kubesched import event_handlers, logs
from kubesched.api.objects import Pod
from kubesched.binding import Bindings, Bound, Permitted, bind
from kubesched.client.events import EventRecorder
from kubesched.client.intake import Change, Intake
from kubesched.client.pods import PodWriter
from kubesched.client.podstatus import unscheduled
from kubesched.client.statuses import StatusPatches
from kubesched.eviction import Evicted, Evictions
from kubesched.metrics import ERROR, UNSCHEDULABLE, Metrics
from kubesched.queue.entry import Entry
from kubesched.schedule_one import SCHEDULER_ERROR, Core, Outcome, schedule_one, unbind

_log = logs.get(__name__)

# So many pods may hold a place whose binding is not yet known; more would only queue for the API server.
MOST_BINDINGS = 1000
# Seconds between two looks at a lease whose renewal is late.
_LEASE_POLL = 0.2


@dataclass(frozen=True, slots=True)
class Api:
    """Everything a loop writes through."""

    writer: PodWriter
    statuses: StatusPatches
    events: EventRecorder


class Scheduler:
    """One scheduling loop over one core."""

    def __init__(
        self,
        core: Core,
        intake: Intake,
        api: Api,
        metrics: Metrics,
        *,
        may_write: Callable[[], bool] | None = None,
    ) -> None:
        """`may_write` says whether this replica still leads; None is always."""
        self._may_write = may_write
        self._core = core
        self._intake = intake
        self._api = api
        self._metrics = metrics
        self._bindings = Bindings(MOST_BINDINGS)
        self._evictions = Evictions(api.writer, api.events)
        self._background = Bindings(MOST_BINDINGS)

    async def run(self) -> None:
        """Schedule until cancelled."""
        core, intake = self._core, self._intake
        while True:
            self.absorb()
            if self._may_write is not None and not self._may_write():
                await intake.wait(core.clock.now() + _LEASE_POLL)
                continue
            entry = None if self._bindings.full else core.queue.pop(core.clock.now())
            if entry is None:
                deadline = None if self._bindings.full else core.queue.next_deadline()
                await intake.wait(until=deadline)
                continue
            self._settle(await self._attempt(entry))
            # One turn of the event loop per pod: watches, replies and the lease are never held up for long.
            await core.clock.sleep(0)

    def absorb(self) -> None:
        """Take over everything the intake holds, in order."""
        changes: list[Change] = []
        for item in self._intake.drain():
            if isinstance(item, Change):
                changes.append(item)
                continue
            event_handlers.apply(self._core, changes, self._metrics.handled)
            changes = []
            self._result(item)
        event_handlers.apply(self._core, changes, self._metrics.handled)

    async def drain(self, seconds: float) -> None:
        """Let bindings under way end and write what they lead to, but no longer than that; then give up.

        A replica that no longer leads gives up at once.
        """
        if self._may_write is not None and not self._may_write():
            seconds = 0.0
        try:
            async with asyncio.timeout(seconds):
                await self._bindings.finish()
                self.absorb()
                await self._background.finish()
                await self._api.statuses.idle()
        except TimeoutError:
            _log.warning("Giving up bindings that are still under way", count=len(self._bindings))
        self._bindings.cancel()
        self._background.cancel()

    async def _attempt(self, entry: Entry) -> Outcome:
        core, pod = self._core, entry.pod
        _log.info("Attempting to schedule pod", v=3, pod=pod.key)
        started = core.clock.now()
        try:
            outcome = await schedule_one(core, entry)
        except Exception as failure:  # noqa: BLE001 - one pod must not stop the loop (kubernetes#124930)
            _log.error("Error scheduling pod; retrying", failure, pod=pod.key, kind=type(failure).__name__)
            return self._broken(entry, failure)
        finally:
            self._metrics.algorithm_duration.observe(core.clock.now() - started)
        self._metrics.evaluations.count(outcome)
        return outcome

    def _broken(self, entry: Entry, failure: Exception) -> Outcome:
        """An attempt that raised: free what it held, and let the pod back off."""
        core, uid = self._core, entry.uid
        if core.cluster.is_assumed(uid):
            core.cluster.forget(uid)
        requeued = core.queue.add_unschedulable(entry, error=True) is not None
        message = f"{type(failure).__name__}: {failure}"
        return Outcome(entry.pod, entry, message=message, reason=SCHEDULER_ERROR, requeued=requeued)

    def _settle(self, outcome: Outcome) -> None:
        """Start what follows from an attempt."""
        if outcome.skipped is not None:
            if outcome.skipped:
                self._note(outcome.pod, outcome.skipped)
            return
        if outcome.node is None:
            self._failed(outcome)
            return
        if not outcome.waits:
            self._core.queue.binding(outcome.pod.uid)
        self._metrics.running.labels("binding").inc()
        self._bindings.start(bind(outcome, self._api.writer, self._intake.put))

    def _result(self, item: object) -> None:
        if isinstance(item, Bound):
            self._bound(item)
        elif isinstance(item, Permitted):
            self._core.queue.binding(item.uid)
        elif isinstance(item, Evicted):
            self._metrics.evicted(item.seconds, failed=item.failed)
            held = self._core.profiles[item.preemptor.scheduler_name].preemptors.end(item.preemptor.uid)
            if item.failed or held:
                self._core.queue.activate([item.preemptor])
        else:
            raise TypeError(f"the intake holds a {type(item).__name__}")

    def _bound(self, bound: Bound) -> None:
        core, outcome, pod = self._core, bound.outcome, bound.outcome.pod
        self._metrics.running.labels("binding").dec()
        if bound.waited is not None:
            result = "success" if bound.status is None else bound.status.code.name.lower()
            self._metrics.permit_wait.labels(result).observe(bound.waited)
        if bound.status is not None:
            _log.info("Failed to bind pod", v=1, pod=pod.key, err=bound.status.message)
            failed = unbind(core, outcome, bound.status, denied=bound.denied)
            failed.announced = (outcome.node or "") if bound.announced else ""
            self._failed(failed)
            return
        core.queue.done(pod.uid)
        self._metrics.scheduled(outcome, pod.scheduler_name, core.clock.now())
        note = f"Successfully assigned {pod.namespace}/{pod.name} to {outcome.node}"
        self._api.events.record(
            pod,
            severity="Normal",
            reason="Scheduled",
            action="Binding",
            note=note,
            controller=pod.scheduler_name,
        )
        if outcome.cycle is not None and outcome.cycle.to_activate:
            core.queue.activate(list(outcome.cycle.to_activate.values()))

    def _failed(self, outcome: Outcome) -> None:
        """Say why the pod was not scheduled, unless it is gone; make the room that preemption found."""
        pod, core = outcome.entry.pod, self._core
        result = ERROR if outcome.reason == SCHEDULER_ERROR else UNSCHEDULABLE
        started = outcome.cycle.now if outcome.cycle else core.clock.now()
        self._metrics.attempt(result, pod.scheduler_name, core.clock.now() - started)
        message, reason = outcome.message or "", outcome.reason or SCHEDULER_ERROR
        if reason == SCHEDULER_ERROR:
            _log.error("Error scheduling pod; retrying", message, pod=pod.key)
        else:
            _log.info("Unable to schedule pod; no fit; waiting", v=2, pod=pod.key, err=message)
        if not outcome.requeued:
            return
        self._note(pod, message)
        known = _as_announced(pod, outcome.announced) if outcome.announced else pod
        self._api.statuses.submit(known, unscheduled(reason, message), outcome.nominated)
        self._make_room(outcome)

    def _make_room(self, outcome: Outcome) -> None:
        """Evict the victims; where all of them are leaving anyway, there is nothing to do but to wait."""
        if outcome.cycle is None or all(victim.is_terminating for victim in outcome.victims):
            return
        pod, framework = outcome.entry.pod, outcome.cycle.framework
        self._metrics.preemption_victims.observe(len(outcome.victims))
        for displaced in outcome.displaced:
            self._api.statuses.submit(displaced, None, "")
        framework.preemptors.begin(pod, outcome.victims)
        node = outcome.nominated or ""
        self._background.start(
            self._evictions.run(pod, outcome.victims, framework, self._intake.put, node=node)
        )

    def _note(self, pod: Pod, note: str) -> None:
        self._api.events.record(
            pod, severity="Warning", reason="FailedScheduling", action="Scheduling", note=note,
            controller=pod.scheduler_name,
        )  # fmt: skip


def _as_announced(pod: Pod, node_name: str) -> Pod:
    """The pod as the API holds it, though no watch has said so yet; what to write is found by comparing."""
    return structs.replace(pod, status=structs.replace(pod.status, nominated_node_name=node_name))
