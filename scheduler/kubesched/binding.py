"""The binding of a pod that has its place: WaitOnPermit, PreBind, Bind, PostBind, as a task of its own.

The scheduling loop goes on meanwhile. The task changes no state: it ends by handing a `Bound` to the intake,
and the loop settles it between two cycles. Follows `bindingCycle` in `schedule_one.go`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any, Protocol

from kubesched import logs
from kubesched.api.objects import Pod
from kubesched.client.podstatus import Condition
from kubesched.framework.binding_points import PreFlights
from kubesched.framework.cycle import Cycle
from kubesched.framework.extending import bound_outside
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
    """The binding cycle ended. `status` None is success. `waited` are the seconds spent at Permit.

    `denied`: the status is the verdict of Permit. `announced`: the API was told where the pod is going.
    """

    outcome: Outcome
    status: Status | None = None
    waited: float | None = None
    denied: bool = False
    announced: bool = False


async def bind(outcome: Outcome, statuses: StatusWriter, put: Callable[[object], None]) -> None:
    """Bind an assumed pod and hand over how it ended, whatever happens."""
    result = Bound(outcome)
    try:
        flights = _pre_flights(outcome)
        if flights.status is None or outcome.waits:
            result = replace(result, announced=await _announce(outcome, statuses))
        result = await _permission(result, put)
        if result.status is None:
            result = replace(result, status=await _pre_bind_and_bind(outcome, flights))
    except PluginError as failure:
        result = replace(result, status=error(str(failure)))
    except Exception as failure:  # noqa: BLE001 - a plugin's bug is one pod's SchedulerError, never the end
        _log.error("A plugin raised while binding", failure, pod=outcome.pod.key, kind=type(failure).__name__)
        result = replace(result, status=error(str(failure) or type(failure).__name__))
    put(result)


def _place(outcome: Outcome) -> tuple[Cycle, str]:
    """The cycle and the node of a pod that is assumed."""
    if outcome.cycle is None or outcome.node is None:
        raise ValueError(f"pod {outcome.pod.key} was not assumed")
    return outcome.cycle, outcome.node


def _pre_flights(outcome: Outcome) -> PreFlights:
    """Which PreBind plugins will work. Raises PluginError when one of them cannot tell."""
    cycle, node = _place(outcome)
    flights = cycle.framework.run_pre_bind_pre_flights(cycle, node)
    if flights.status is not None and flights.status.code is not Code.Skip:
        raise PluginError(flights.status.message)
    return flights


async def _permission(result: Bound, put: Callable[[object], None]) -> Bound:
    """Wait for the plugins' permission where one of them asked for that."""
    if not result.outcome.waits:
        return result
    cycle, _ = _place(result.outcome)
    started = cycle.framework.clock.now()
    status = await cycle.framework.wait_on_permit(cycle)
    if status is None:
        put(Permitted(result.outcome.pod.uid))
    waited = cycle.framework.clock.now() - started
    return replace(result, status=status, waited=waited, denied=status is not None)


async def _pre_bind_and_bind(outcome: Outcome, flights: PreFlights) -> Status | None:
    """PreBind, Bind, PostBind; the first failure ends it."""
    cycle, node = _place(outcome)
    status = await _pre_bind(outcome, flights)
    if status is None:
        status = await _bind(cycle, node)
    if status is None:
        _log.info("Successfully bound pod to node", v=2, pod=outcome.pod.key, node=node,
                  evaluatedNodes=outcome.evaluated, feasibleNodes=outcome.feasible)  # fmt: skip
        await cycle.framework.run_post_bind(cycle, node)
    return status


async def _bind(cycle: Cycle, node: str) -> Status | None:
    """An extender that binds comes before the plugins."""
    framework = cycle.framework
    if framework.extenders and await bound_outside(framework.extenders, cycle.pod, node):
        return None
    return await framework.run_bind(cycle, node)


async def _announce(outcome: Outcome, statuses: StatusWriter) -> bool:
    """Tell others (the cluster autoscaler) where the pod is going, since getting there will take a while.

    Nothing is announced without NominatedNodeNameForExpectation.
    """
    cycle, node = _place(outcome)
    if not cycle.framework.announces:
        return False
    try:
        await statuses.patch_status(outcome.pod, None, nominated=node)
    except Exception as failure:  # noqa: BLE001 - only advice: the binding itself will tell what is wrong
        _log.error("Failed to update the nominated node name in the binding cycle", failure,
                   pod=outcome.pod.key)  # fmt: skip
        return False
    return True


async def _pre_bind(outcome: Outcome, flights: PreFlights) -> Status | None:
    """Run PreBind, which a preemptor may cancel until it is through."""
    if flights.status is not None:
        return None
    cycle, node = _place(outcome)
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
