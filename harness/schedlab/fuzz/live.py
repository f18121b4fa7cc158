"""Leads a running scheduler through a recorded case, pod by pod, and compares what it does.

`explain` answers from a state it is given; a running scheduler has built its state from watch events, assumed
pods and failed attempts. So both are asked. Where the reference broke a tie another way, the live state is
steered back: the pod is deleted and comes again, bound to the node the reference chose. Only what the API
shows is compared.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from schedlab import timing
from schedlab.api.client import Client
from schedlab.api.objects import Object
from schedlab.cluster.local import LocalBackend
from schedlab.decisions import corpus
from schedlab.decisions.compare import Difference, differences
from schedlab.decisions.corpus import Case, Question, Step
from schedlab.decisions.decision import UNOBSERVED, Decision, Preemption, Unobserved
from schedlab.decisions.reference import held, key_of, scheduled_condition
from schedlab.errors import SchedlabError
from schedlab.fuzz.blueprint import HOSTNAME, pod
from schedlab.fuzz.drift import AUDITED, Auditor
from schedlab.fuzz.oracle import PARITY_CONFIG, cluster_spec, hold_volumes, parity_flags
from schedlab.fuzz.replant import creatable, is_nominated
from schedlab.fuzz.world import World, by_kind
from schedlab.schedulers.declaration import SchedulerSpec
from schedlab.schedulers.running import RunningScheduler, start

_PATIENCE = 20.0  # seconds until a pod must have been decided
_INTERVAL = 0.005


class NoDecisionError(SchedlabError):
    """The scheduler under test left a pod undecided."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A pod that arrived, and what the API then showed of it."""

    arrived: Object
    decision: Decision = field(default_factory=lambda: Decision("", "Error"))

    @property
    def nominated(self) -> str:
        """The node it was nominated to, empty if none."""
        preemption = self.decision.preemption
        if isinstance(preemption, Unobserved) or not isinstance(preemption.nominated, str):
            return ""
        return preemption.nominated


class Live:
    """One running scheduler and the world it schedules in."""

    def __init__(self, world: World, running: RunningScheduler, auditor: Auditor | None = None) -> None:
        self._auditor = auditor
        self._world = world
        self._running = running
        self._probes = 0
        self.followed = 0

    async def follow(self, case: Case) -> list[tuple[Question, list[Difference]]]:
        """The first decision in which the running scheduler did what the reference could not, if any.

        A case is followed only as far as the live state can be kept equal: up to a difference, a pod that
        stays nominated, or a preemption on another node of the same rank.
        """
        try:
            await self._lay(case.objects)
            for question, step in zip(corpus.unroll(case), case.steps, strict=True):
                if any(map(is_nominated, question.objects)):
                    break
                found, seen = await self._decide(question)
                self.followed += 1
                if found:
                    return [(question, found)]
                if not await self._steer(seen, question, step):
                    break
                if drifts := await self._drifts():
                    return [(question, [Difference("state", [], drifts)])]
        finally:
            await self._world.clear()
            await self._until(lambda: self._world.is_empty, "every pod gone")
        return []

    async def answers(self, case: Case) -> list[Decision]:
        """What the running scheduler decides in a case, as far as the live state can be kept equal."""
        made: list[Decision] = []
        try:
            await self._lay(case.objects)
            for question, step in zip(corpus.unroll(case), case.steps, strict=True):
                if any(map(is_nominated, question.objects)):
                    break
                _, seen = await self._decide(question)
                made.append(seen.decision)
                if not await self._steer(seen, question, step):
                    break
        finally:
            await self._world.clear()
            await self._until(lambda: self._world.is_empty, "every pod gone")
        return made

    async def _drifts(self) -> list[str]:
        return await self._auditor.drifts() if self._auditor else []

    async def _lay(self, objects: Sequence[Object]) -> None:
        kinds = by_kind(objects)
        nodes = [creatable(node) for node in kinds.get("Node", [])]
        others = [creatable(obj) for obj in objects if obj["kind"] not in ("Namespace", "Node", "Pod")]
        await self._world.create_all([creatable(space) for space in kinds.get("Namespace", [])])
        await self._world.create_all(others)
        for node in nodes:
            await self._world.create(node)
        if nodes:
            await self._probe(nodes[-1]["metadata"]["name"])
        made = await self._world.create_all([creatable(one) for one in kinds.get("Pod", [])])
        await self._until(lambda: all(map(self._world.seen, made)), "every pod on our own watch")

    async def _probe(self, node: str) -> None:
        """Return once the scheduler has bound a pod to the last node: then it knows them all."""
        self._probes += 1
        wanted = pod(f"probe-{self._probes}", "default", {})
        wanted["spec"] |= {"nodeSelector": {HOSTNAME: node}, "tolerations": [{"operator": "Exists"}]}
        probe = await self._world.create(wanted)
        uid = probe["metadata"]["uid"]
        await self._until(lambda: _is_bound(self._world.pod(uid)), f"a probe pod on {node}")
        await self._world.delete(probe)
        await self._until(lambda: self._world.pod(uid) is None, "the end of the probe pod")

    async def _decide(self, question: Question) -> tuple[list[Difference], Seen]:
        arrived = await self._world.create(creatable(question.pod))
        uid, key = arrived["metadata"]["uid"], key_of(arrived)
        try:
            await self._until(lambda: _is_decided(self._world.pod(uid)), f"a decision about {key}")
            gated = bool(question.pod["spec"].get("schedulingGates"))
            await self._until(lambda: gated or self._world.note(uid) is not None, f"an event about {key}")
            seen = Seen(arrived, _decision(self._world.pod(uid) or {}, self._world.note(uid)))
            found = differences(question.decision, seen.decision)
            await self._evictions(question, seen)
        except NoDecisionError as error:
            return [Difference("result", question.decision.result, error.message)], Seen(arrived)
        return found, seen

    async def _evictions(self, question: Question, seen: Seen) -> None:
        """Wait until the victims that the reference found for the nominated node are leaving."""
        preemption = question.decision.preemption
        if isinstance(preemption, Unobserved) or isinstance(preemption.candidates, Unobserved):
            return
        chosen = preemption.candidates.get(seen.nominated)
        if chosen is not None:
            gone = f"the deletion of {', '.join(sorted(chosen.victims))} on {seen.nominated}"
            await self._until(lambda: not chosen.victims & self._world.staying(), gone)

    async def _steer(self, seen: Seen, question: Question, step: Step) -> bool:
        """Make the live state what the reference's became; False if that cannot be."""
        wanted = question.decision
        pod_now = seen.arrived
        bound_alike = isinstance(wanted.node, str) and seen.decision.node == wanted.node
        if not bound_alike:
            await self._world.delete(pod_now)
        if isinstance(wanted.node, str) and not bound_alike:
            bound = creatable(question.pod)
            bound["spec"]["nodeName"] = wanted.node
            pod_now = await self._world.create(bound)
        for change in step.after:
            started = change.object.get("status", {}).get("startTime")
            if corpus.identity(change.object) == corpus.identity(question.pod) and started:
                await self._world.patch(pod_now, {"status": {"startTime": started}}, subresource="status")
        preemption = wanted.preemption
        return isinstance(preemption, Unobserved) or seen.nominated == (preemption.nominated or "")

    async def _until(self, met: Callable[[], bool], what: str) -> None:
        deadline = timing.Deadline.after(_PATIENCE)
        while not met():
            if not self._running.alive:
                raise SchedlabError(
                    f"{self._running.name} ended while waiting for {what}", hint=f"read {self._running.log}"
                )
            if deadline.expired:
                raise NoDecisionError(f"not within {_PATIENCE:g} s: {what}", hint=f"read {self._running.log}")
            await timing.sleep(_INTERVAL)


def _is_bound(one: Object | None) -> bool:
    return bool(one and one["spec"].get("nodeName"))


def _is_decided(one: Object | None) -> bool:
    return bool(one and (one["spec"].get("nodeName") or scheduled_condition(one)))


def _decision(one: Object, note: str | None) -> Decision:
    """What the API shows of a decision; all else is unobserved."""
    condition = scheduled_condition(one) or {}
    node = one["spec"].get("nodeName")
    if node:
        return Decision(key_of(one), "Scheduled", message=None, event=note, node=node)
    if held(condition.get("message")):
        return Decision(key_of(one), "Scheduled", message=None)
    nominated = one.get("status", {}).get("nominatedNodeName")
    reasons = {"SchedulingGated": "Gated", "SchedulerError": "Error"}
    result = reasons.get(condition.get("reason", ""), "Unschedulable")
    return Decision(
        key_of(one),
        result,  # type: ignore[arg-type]
        message=condition.get("message"),
        event=note,
        node=None,
        preemption=Preemption(nominated=nominated) if result == "Unschedulable" else UNOBSERVED,
    )


@asynccontextmanager
async def live(
    scheduler: SchedulerSpec, config: Mapping[str, Any], name: str = "fuzz-live"
) -> AsyncIterator[Live]:
    """A scheduler under test on a control plane of its own; everything ends with the context.

    Raises:
        EnvironmentStartError: the control plane or the scheduler does not come up.
    """
    async with AsyncExitStack() as stack:
        plane = await LocalBackend().up(cluster_spec(name))
        stack.push_async_callback(plane.down)
        client = await Client.connect(plane.kubeconfig())
        stack.push_async_callback(client.close)
        world = await stack.enter_async_context(World(client))
        await hold_volumes(client)
        patch = {**config, **PARITY_CONFIG}
        running = await start(scheduler, plane, config_patch=patch, extra_flags=parity_flags())
        stack.push_async_callback(running.stop)
        auditor = Auditor(running.log, running.process.identity.signal) if scheduler.name in AUDITED else None
        if auditor is not None:
            stack.callback(auditor.close)
        yield Live(world, running, auditor)
