"""The binding of a pod that has its place: WaitOnPermit, PreBind, Bind, PostBind, as a task of its own.

The scheduling loop goes on meanwhile. The task changes no state: it ends by handing a `Bound` to the intake,
and the loop settles it between two cycles. Follows `bindingCycle` in `schedule_one.go`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Protocol

from kubesched import logs
from kubesched.api.objects import Pod
from kubesched.client.podstatus import Condition
from kubesched.framework.binding_points import PreFlights
from kubesched.framework.failure import PluginError
from kubesched.framework.status import Code, Status, error
from kubesched.schedule_one import Outcome

_log = logs.get(__name__)


class StatusWriter(Protocol):
    """Writes pods' conditions and nominations."""

    async def patch_status(self, pod: Pod, condition: Condition | None, nominated: str | None = None) -> None:
        """Write what differs. Raises ApiError or UnreachableError."""
        ...


@dataclass(frozen=True, slots=True)
class Permitted:
    """The pod's wait at Permit ended well: from now on it can fail, but no longer be rejected."""

    uid: str


@dataclass(frozen=True, slots=True)
class Bound:
    """The binding cycle ended. `status` None is success. `waited` are the seconds spent at Permit."""

    outcome: Outcome
    status: Status | None = None
    waited: float | None = None


async def bind(outcome: Outcome, statuses: StatusWriter, put: Callable[[object], None]) -> None:
    """Bind an assumed pod and hand over how it ended, whatever happens."""
    try:
        result = await _binding_cycle(outcome, statuses, put)
    except PluginError as failure:
        result = Bound(outcome, error(str(failure)))
    except Exception as failure:  # noqa: BLE001 - a plugin's bug is one pod's SchedulerError, never the end
        _log.error("A plugin raised while binding", failure, pod=outcome.pod.key, kind=type(failure).__name__)
        result = Bound(outcome, error(str(failure) or type(failure).__name__))
    put(result)


async def _binding_cycle(outcome: Outcome, statuses: StatusWriter, put: Callable[[object], None]) -> Bound:
    cycle, node = outcome.cycle, outcome.node
    if cycle is None or node is None:
        raise ValueError(f"pod {outcome.pod.key} was not assumed")
    framework = cycle.framework
    flights = framework.run_pre_bind_pre_flights(cycle, node)
    if flights.status is not None and flights.status.code is not Code.Skip:
        return Bound(outcome, flights.status)
    if flights.status is None or outcome.waits:
        await _announce(outcome.pod, node, statuses)
    waited = None
    if outcome.waits:
        started = framework.clock.now()
        status = await framework.wait_on_permit(cycle)
        waited = framework.clock.now() - started
        if status is not None:
            return Bound(outcome, status, waited)
        put(Permitted(outcome.pod.uid))
    status = await _pre_bind(outcome, flights)
    if status is None:
        status = await framework.run_bind(cycle, node)
    if status is None:
        _log.info("Successfully bound pod to node", v=2, pod=outcome.pod.key, node=node,
                  evaluatedNodes=outcome.evaluated, feasibleNodes=outcome.feasible)  # fmt: skip
        await framework.run_post_bind(cycle, node)
    return Bound(outcome, status, waited)


async def _announce(pod: Pod, node: str, statuses: StatusWriter) -> None:
    """Tell others (the cluster autoscaler) where the pod is going, since getting there will take a while."""
    try:
        await statuses.patch_status(pod, None, nominated=node)
    except Exception as failure:  # noqa: BLE001 - only advice: the binding itself will tell what is wrong
        _log.error("Failed to update the nominated node name in the binding cycle", failure, pod=pod.key)


async def _pre_bind(outcome: Outcome, flights: PreFlights) -> Status | None:
    """Run PreBind, which a preemptor may cancel until it is through."""
    cycle, node = outcome.cycle, outcome.node
    if cycle is None or node is None or flights.status is not None:
        return None
    framework, uid = cycle.framework, outcome.pod.uid
    work = asyncio.ensure_future(framework.run_pre_bind(cycle, node, flights))

    def cancel(_: str) -> None:
        work.cancel()

    window = framework.prebinding_pods.add(uid, cancel)
    try:
        status = await work
    except asyncio.CancelledError:
        if window.cancelled is None:
            raise
        return error(window.cancelled)
    finally:
        framework.prebinding_pods.remove(uid)
    if status is None and not window.finish():
        return error(window.cancelled or "")
    return status


class Bindings:
    """The bindings under way: bounded, and finished or given up together."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def full(self) -> bool:
        """No more may be started for now."""
        return len(self._tasks) >= self._most

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run one in the background."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def finish(self) -> None:
        """Wait until none is left."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def cancel(self) -> None:
        """Give up what is left: nothing more is sent."""
        for task in self._tasks:
            task.cancel()
