"""DefaultPreemption: when no node is feasible, find pods of lower priority whose eviction makes one so.

It decides; the evictions are made by whoever writes. Follows upstream
`defaultpreemption/default_preemption.go` and `Evaluator.Preempt` (framework/preemption/preemption.go, 1.36).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from kubesched.api.objects import Pod, PodDisruptionBudget
from kubesched.config.args import DefaultPreemptionArgs
from kubesched.framework import (
    ClusterEventWithHint,
    Code,
    Cycle,
    Diagnosis,
    Handle,
    Hint,
    PostFilterResult,
    Slot,
    Status,
    error,
    unresolvable,
    unschedulable,
)
from kubesched.framework.extending import Extender, ExtenderError
from kubesched.preemption.budgets import compile_budgets
from kubesched.preemption.candidates import Candidates
from kubesched.preemption.dry_run import preempt, refusal
from kubesched.preemption.extending import confirmed, preempting
from kubesched.state.events import ActionType, ClusterEvent, Resource

CANDIDATES: Slot[Candidates] = Slot("DefaultPreemption candidates")
"""What the dry run found, for whoever explains the attempt."""
_WAITING = unresolvable("waiting for the preemption for this pod to be finished")


class DefaultPreemption:
    """Nominates the pod to the node where eviction costs least."""

    name: ClassVar[str] = "DefaultPreemption"

    def __init__(self, args: DefaultPreemptionArgs, handle: Handle) -> None:
        self._percentage = args.min_candidate_nodes_percentage
        self._absolute = args.min_candidate_nodes_absolute
        self._handle = handle
        self._async = handle.gates.enabled("SchedulerAsyncPreemption")

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Hold a pod back while its victims are still being asked to leave."""
        if self._async and self._handle.preemptors.holds(pod, self._handle.cluster):
            return _WAITING
        return None

    def post_filter(self, cycle: Cycle, diagnosis: Diagnosis) -> PostFilterResult:
        """Find the cheapest node; without any, an earlier nomination ends."""
        self._handle.on_preemption()
        if ineligible := self._ineligible(cycle, diagnosis):
            return _failed(unschedulable(ineligible))
        now = self._handle.clock.wall()
        candidates = self._dry_run(cycle, diagnosis, now)
        cycle.put(CANDIDATES, candidates)
        if not candidates.found:
            return _failed(refusal(cycle, candidates), nominated="")
        if extenders := preempting(self._handle.extenders, cycle):
            return PostFilterResult(ask=lambda: self._confirmed(extenders, cycle, candidates, now))
        return self._choose(cycle, candidates, now)

    async def _confirmed(
        self, extenders: Sequence[Extender], cycle: Cycle, candidates: Candidates, now: float
    ) -> PostFilterResult:
        """Choose among what the extenders leave."""
        try:
            found = await confirmed(extenders, cycle, candidates.found)
        except ExtenderError as failure:
            return _failed(error(str(failure)))
        if not found:
            return _failed(unschedulable("no candidate node for preemption"))
        return self._choose(cycle, Candidates(found), now)

    @staticmethod
    def _choose(cycle: Cycle, candidates: Candidates, now: float) -> PostFilterResult:
        best = candidates.best(now)
        chosen = best[cycle.rng.randrange(len(best))]
        displaced = tuple(
            pod for pod in cycle.cluster.nominated.on(chosen.node_name) if pod.priority < cycle.pod.priority
        )
        return PostFilterResult(nominated=chosen.node_name, victims=chosen.victims, displaced=displaced)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A victim's departure lets PreEnqueue look again; whether to retry, other plugins' hints decide."""
        if not self._async:
            return []
        gone = ClusterEvent(Resource.Pod, ActionType.Delete)
        return [ClusterEventWithHint(gone, lambda _pod, _event: Hint.Skip)]

    def _dry_run(self, cycle: Cycle, diagnosis: Diagnosis, now: float) -> Candidates:
        nodes = len(diagnosis.rows_with(Code.Unschedulable))
        budgets = compile_budgets(
            item
            for item in cycle.cluster.list("PodDisruptionBudget")
            if isinstance(item, PodDisruptionBudget)
        )
        if cycle.exhaustive or not nodes:
            return preempt(cycle, diagnosis, budgets, now=now)
        want = min(max(nodes * self._percentage // 100, self._absolute), nodes)
        return preempt(cycle, diagnosis, budgets, now=now, offset=cycle.rng.randrange(nodes), want=want)

    @staticmethod
    def _ineligible(cycle: Cycle, diagnosis: Diagnosis) -> str | None:
        """Why the pod may not preempt: by its policy, or because its earlier victims are still leaving.

        A nominated node that no eviction can help is no reason to wait.
        """
        pod, cluster = cycle.pod, cycle.cluster
        if pod.spec.preemption_policy == "Never":
            return "not eligible due to preemptionPolicy=Never."
        row = cluster.nodes.slot.get(pod.nominated_node_name)
        if row is None or pod.nominated_node_name not in cluster.nodes:
            return None
        status = diagnosis.statuses().get(row, diagnosis.absent)
        if status.is_unresolvable:
            return None
        leaving = (p for p in cluster.pods.on_node(row) if p.priority < pod.priority and _preempted(p))
        return "not eligible due to a terminating pod on the nominated node." if any(leaving) else None


def _preempted(pod: Pod) -> bool:
    """Whether the pod terminates because a scheduler preempted it."""
    if not pod.is_terminating:
        return False
    target = next((item for item in pod.status.conditions if item.type == "DisruptionTarget"), None)
    return target is not None and target.status == "True" and target.reason == "PreemptionByScheduler"


def _failed(status: Status, nominated: str | None = None) -> PostFilterResult:
    message = status.message
    text = (f"preemption: {message}",) if message else ()
    return PostFilterResult(Status(status.code, text), nominated)


def build(args: object, handle: Handle) -> DefaultPreemption:
    """Build the plugin from its arguments."""
    return DefaultPreemption(
        args if isinstance(args, DefaultPreemptionArgs) else DefaultPreemptionArgs(), handle
    )
