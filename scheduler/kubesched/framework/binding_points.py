"""The extension points after a node is chosen: Reserve, Permit, PreBind, Bind, PostBind.

Everything goes by node name, since no row index survives an await. Order, status algebra and error texts
follow upstream `framework/runtime/framework.go` (1.36).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kubesched import logs
from kubesched.framework.extending import Extender
from kubesched.framework.failure import guard, guard_async
from kubesched.framework.interface import Bind, Permit, PostBind, PreBind, PreFlight, Reserve
from kubesched.framework.prebinding_pods import PrebindingPods
from kubesched.framework.preemptors import Preemptors
from kubesched.framework.status import SKIP, Code, Status, error
from kubesched.framework.waiting_pods import MAX_WAIT, WaitingPod, WaitingPods

if TYPE_CHECKING:
    from kubesched.clock import Clock
    from kubesched.framework.cycle import Cycle

_log = logs.get(__name__)


@dataclass(frozen=True, slots=True)
class PreFlights:
    """What the PreBind plugins announced: `status` None when at least one will work, Skip when none will."""

    status: Status | None = SKIP
    skipped: frozenset[str] = frozenset()
    parallel: frozenset[str] = frozenset()


@dataclass(slots=True)
class BindingPoints:
    """The late half of a profile; extenders, and pods that wait, bind or preempt, are shared by all.

    `announces` is the gate NominatedNodeNameForExpectation: whether PreBind plugins are asked beforehand, and
    pods that will take long are announced.
    """

    clock: Clock
    waiting_pods: WaitingPods = field(default_factory=WaitingPods)
    prebinding_pods: PrebindingPods = field(default_factory=PrebindingPods)
    preemptors: Preemptors = field(default_factory=Preemptors)
    extenders: Sequence[Extender] = ()
    announces: bool = True
    reserves: Sequence[Reserve] = ()
    permits: Sequence[Permit] = ()
    pre_binds: Sequence[PreBind] = ()
    binds: Sequence[Bind] = ()
    post_binds: Sequence[PostBind] = ()

    def run_reserve(self, cycle: Cycle, node_name: str) -> Status | None:
        """Reserve in order; the first failure ends it, and the caller undoes everything."""
        for plugin in self.reserves:
            status = guard(f'running Reserve plugin "{plugin.name}"', plugin.reserve, cycle, node_name)
            if not _passed(status):
                return _failed(status, plugin.name, f'running Reserve plugin "{plugin.name}"')
        return None

    def run_unreserve(self, cycle: Cycle, node_name: str) -> None:
        """Undo all reservations in reverse order, also of plugins that never reserved.

        One that raises is logged: the others must still give back what they keep.
        """
        for plugin in reversed(self.reserves):
            try:
                plugin.unreserve(cycle, node_name)
            except Exception as failure:  # noqa: BLE001 - nothing can be undone further, the pod goes on
                _log.error("Unreserve plugin failed", failure, plugin=plugin.name, pod=cycle.pod.key)

    def run_permit(self, cycle: Cycle, node_name: str) -> tuple[Status | None, dict[str, float]]:
        """Ask for permission; a Wait status comes with the seconds that each plugin wants to wait."""
        waits: dict[str, float] = {}
        waiting: Status | None = None
        for plugin in self.permits:
            text = f'running Permit plugin "{plugin.name}"'
            status, seconds = guard(text, _permission, plugin, cycle, node_name)
            if _passed(status):
                continue
            if status is not None and status.code is Code.Wait:
                waits[plugin.name] = min(seconds, MAX_WAIT)
                waiting = status
            else:
                return _failed(status, plugin.name, text), {}
        if waiting is None:
            return None, {}
        reason = "one or more plugins asked to wait and no plugin rejected pod"
        return Status(Code.Wait, (*waiting.reasons, reason)), waits

    def add_waiting_pod(self, cycle: Cycle, waits: dict[str, float]) -> None:
        """Let the pod wait; its timeouts run from now on."""
        self.waiting_pods.add(WaitingPod(cycle.pod, waits, self.clock))

    def will_wait_on_permit(self, uid: str) -> bool:
        """Whether some plugin still delays the pod."""
        return self.waiting_pods.get(uid) is not None

    async def wait_on_permit(self, cycle: Cycle) -> Status | None:
        """Wait for the verdict on a waiting pod; others pass at once."""
        waiting = self.waiting_pods.get(cycle.pod.uid)
        if waiting is None:
            return None
        try:
            status = await waiting.verdict()
        finally:
            self.waiting_pods.remove(cycle.pod.uid)
        if status is None or status.is_rejected:
            return status
        return error(f"waiting on permit for pod: {status.message}").by(status.plugin)

    def run_pre_bind_pre_flights(self, cycle: Cycle, node_name: str) -> PreFlights:
        """Ask every PreBind plugin beforehand whether it has work to do for this pod."""
        if not self.announces:
            return PreFlights(None)
        status: Status | None = SKIP
        skipped: set[str] = set()
        parallel: set[str] = set()
        for plugin in self.pre_binds:
            text = f"running PreBindPreFlight {plugin.name}"
            answer = guard(text, plugin.pre_bind_pre_flight, cycle, node_name)
            if isinstance(answer, PreFlight):
                status = None
                if answer.parallel:
                    parallel.add(plugin.name)
            elif answer.code is Code.Skip:
                skipped.add(plugin.name)
            elif answer.code is Code.Error:
                return PreFlights(error(f'running PreBindPreFlight "{plugin.name}": {answer.message}'))
            else:
                got = f'PreBindPreFlight {plugin.name} returned "{answer.code.name}", which is unsupported. '
                return PreFlights(error(got + "It is supposed to return Success, Skip, or Error status"))
        return PreFlights(status, frozenset(skipped), frozenset(parallel))

    async def run_pre_bind(self, cycle: Cycle, node_name: str, flights: PreFlights) -> Status | None:
        """Run the PreBind plugins that have work, neighbouring parallel ones beside each other.

        The first failure ends it: what runs beside is cancelled, and has ended when this returns.
        """
        for group in self._pre_bind_groups(flights):
            works = [asyncio.ensure_future(self._pre_bind_one(item, cycle, node_name)) for item in group]
            try:
                for work in asyncio.as_completed(works):
                    if (failed := await work) is not None:
                        return failed
            finally:
                for begun in works:
                    begun.cancel()
                await asyncio.gather(*works, return_exceptions=True)
        return None

    def _pre_bind_groups(self, flights: PreFlights) -> Iterator[list[PreBind]]:
        group: list[PreBind] = []
        for plugin in self.pre_binds:
            if plugin.name in flights.skipped:
                continue
            if plugin.name in flights.parallel:
                group.append(plugin)
                continue
            if group:
                yield group
                group = []
            yield [plugin]
        if group:
            yield group

    @staticmethod
    async def _pre_bind_one(plugin: PreBind, cycle: Cycle, node_name: str) -> Status | None:
        text = f'running PreBind plugin "{plugin.name}"'
        status = await guard_async(text, plugin.pre_bind(cycle, node_name))
        return None if _passed(status) else _failed(status, plugin.name, text)

    async def run_bind(self, cycle: Cycle, node_name: str) -> Status | None:
        """Bind by the first plugin that does not skip; Skip when none would.

        Raises PluginError when the API server refuses the binding, with its answer as the text.
        """
        for plugin in self.binds:
            text = f'running Bind plugin "{plugin.name}"'
            status = await guard_async(text, plugin.bind(cycle, node_name))
            if status is not None and status.code is Code.Skip:
                continue
            return None if _passed(status) else _failed(status, plugin.name, text)
        return SKIP

    async def run_post_bind(self, cycle: Cycle, node_name: str) -> None:
        """Tell the plugins that the pod was bound; it stays so, whatever they make of it."""
        for plugin in self.post_binds:
            try:
                await plugin.post_bind(cycle, node_name)
            except Exception as failure:  # noqa: BLE001 - the pod is bound: nobody may be told otherwise
                _log.error("PostBind plugin failed", failure, plugin=plugin.name, pod=cycle.pod.key)


def _permission(plugin: Permit, cycle: Cycle, node_name: str) -> tuple[Status | None, float]:
    """What the plugin says; an answer that is no pair is the plugin's error."""
    status, seconds = plugin.permit(cycle, node_name)
    return status, seconds


def _passed(status: Status | None) -> bool:
    return status is None or status.code is Code.Success


def _failed(status: Status | None, plugin: str, text: str) -> Status:
    """A rejection attributed to the plugin, or an Error that says at which point it arose."""
    if status is not None and status.is_rejected:
        return status.by(plugin)
    return error(f"{text}: {status.message if status else ''}").by(plugin)
