"""One pod, one attempt: find the feasible nodes, rank them, take the best, or try to make room.

    PreFilter → Filter → [PostFilter: preemption] → PreScore → Score → select → assume → Reserve → Permit

Everything here is state; the binding, the condition and the events are written by the caller from the
Outcome. Follows upstream `schedule_one.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from kubesched import logs
from kubesched.framework.at_once import at_once
from kubesched.framework.cycle import Cycle
from kubesched.framework.diagnosis import Diagnosis, histogram_message
from kubesched.framework.extending import add_scores
from kubesched.framework.failure import PluginError
from kubesched.framework.feasible import feasible
from kubesched.framework.interface import PostFilterResult
from kubesched.framework.rank import Scores, rank
from kubesched.framework.runtime import Framework
from kubesched.framework.score_log import SCORES, log_scores
from kubesched.framework.search import NO_NODES, NoNodesError, Search, seek
from kubesched.framework.status import Code, Status, error
from kubesched.preemption.dry_run import preempt
from kubesched.state.events import ActionType, ClusterEvent, Resource

if TYPE_CHECKING:
    from kubesched.api.objects import Pod
    from kubesched.clock import Clock
    from kubesched.queue.entry import Entry
    from kubesched.queue.scheduling_queue import SchedulingQueue
    from kubesched.state import Cluster

__all__ = ["Core", "Outcome", "Placement", "feasible", "place", "preempt", "rank", "schedule_one", "unbind"]

_log = logs.get(__name__)

UNSCHEDULABLE = "Unschedulable"
SCHEDULER_ERROR = "SchedulerError"


@dataclass(slots=True)
class Core:
    """All state of one scheduler.

    `percentage_of_nodes_to_score` 0 is adaptive; `next_start` is where in the node order the next search
    begins.
    """

    cluster: Cluster
    queue: SchedulingQueue
    profiles: Mapping[str, Framework]
    clock: Clock
    rng: Random
    percentage_of_nodes_to_score: int = 0
    next_start: int = 0


@dataclass(slots=True)
class Placement:
    """What the pure half of an attempt found: a node, or why there is none."""

    node: str | None
    status: Status | None
    diagnosis: Diagnosis | None = None
    scores: Scores | None = None
    post_filter: PostFilterResult | None = None
    evaluated: int = 0
    feasible: int = 0


@dataclass(slots=True)
class Outcome:
    """How an attempt ended; what is to be written follows from it.

    With a `node` the pod is assumed there, and its binding begins. Otherwise `message` and `reason` are the
    PodScheduled condition's, the message is also the FailedScheduling event's note, `nominated` is the new
    nominated node name (None leaves it alone, "" clears it), `victims` are to be evicted from that node, and
    `displaced` pods are to lose their nomination to it. `announced` is the node that the API was told of
    while the pod was binding; a watch need not have shown it yet. A pod that was not tried at all has
    `skipped` set: to the event's note, or to "" where nothing is said.
    """

    pod: Pod
    entry: Entry
    cycle: Cycle | None = None
    node: str | None = None
    status: Status | None = None
    diagnosis: Diagnosis | None = None
    scores: Scores | None = None
    message: str | None = None
    reason: str | None = None
    nominated: str | None = None
    victims: tuple[Pod, ...] = ()
    displaced: tuple[Pod, ...] = ()
    announced: str = ""
    skipped: str | None = None
    requeued: bool = False
    waits: dict[str, float] = field(default_factory=dict)
    evaluated: int = 0
    feasible: int = 0

    @property
    def assumed(self) -> bool:
        """The pod holds its place, and its binding is to begin."""
        return self.node is not None


async def schedule_one(core: Core, entry: Entry) -> Outcome:
    """Try the pod that the queue handed out, and leave all state as the result demands.

    It only ever awaits an HTTP extender. No exception of a plugin escapes: it ends the attempt with reason
    SchedulerError.
    """
    pod = entry.pod
    framework = core.profiles.get(pod.scheduler_name)
    if framework is None:
        core.queue.done(pod.uid)
        return Outcome(pod, entry, skipped="")
    if pod.is_terminating:
        core.queue.done(pod.uid)
        return Outcome(pod, entry, skipped=f"skip schedule deleting pod: {pod.key}")
    if core.cluster.is_assumed(pod.uid):
        core.queue.done(pod.uid)
        return Outcome(pod, entry, skipped="")
    cycle = Cycle(pod, core.cluster, framework=framework.for_attempt(), now=core.clock.now(), rng=core.rng)
    search = Search(core.next_start, _percentage(core, framework))
    try:
        placement = await seek_place(cycle, search)
        if placement.node is None:
            return _rejected(core, entry, cycle, placement)
        return _assume_and_reserve(core, entry, cycle, placement)
    except PluginError as failure:
        return _give_back(core, Outcome(pod, entry, cycle, status=error(str(failure)), nominated=""))
    finally:
        core.next_start = search.next_start


def place(cycle: Cycle, search: Search) -> Placement:
    """Find the pod's node under a profile without extenders. Raises PluginError."""
    return at_once(seek_place(cycle, search))


async def seek_place(cycle: Cycle, search: Search) -> Placement:
    """Find the pod's node; when no node is feasible, run PostFilter. Changes nothing but the cycle.

    Waits only while an extender answers. Raises PluginError.
    """
    extenders = cycle.framework.extenders
    try:
        diagnosis = await seek(cycle, search, extenders)
    except NoNodesError:
        return Placement(None, NO_NODES)
    worlds = diagnosis.feasible
    evaluated = diagnosis.processed
    if not worlds.size:
        return await _post_filter(cycle, diagnosis)
    view = diagnosis.feasible_view
    names = cycle.cluster.nodes.names
    if len(worlds) == 1:
        return Placement(names[view.rows[0]], None, diagnosis, evaluated=evaluated, feasible=1)
    scores = rank(cycle, view, detailed=_log.enabled(SCORES))
    if extenders:
        await add_scores(extenders, cycle, scores)
    if _log.enabled(SCORES):
        log_scores(cycle.pod, scores)
    best = scores.best()
    chosen = int(best[cycle.rng.randrange(len(best))]) if len(best) > 1 else int(best[0])
    return Placement(
        names[view.rows[chosen]], None, diagnosis, scores, evaluated=evaluated, feasible=len(worlds)
    )


async def _post_filter(cycle: Cycle, diagnosis: Diagnosis) -> Placement:
    """Let PostFilter plugins make room; without any, an earlier nomination ends."""
    result = PostFilterResult(nominated="")
    if cycle.framework.post_filters:
        result = await cycle.framework.post_filter(cycle, diagnosis)
        diagnosis.post_filter_message = result.status.message if result.status else ""
    message = diagnosis.message(len(cycle.cluster.nodes))
    return Placement(None, Status(Code.Unschedulable, (message,)), diagnosis, post_filter=result)


def _percentage(core: Core, framework: Framework) -> int:
    own = framework.percentage_of_nodes_to_score
    return core.percentage_of_nodes_to_score if own is None else own


def _rejected(core: Core, entry: Entry, cycle: Cycle, placement: Placement) -> Outcome:
    result = placement.post_filter or PostFilterResult(nominated="")
    outcome = Outcome(
        entry.pod,
        entry,
        cycle,
        status=placement.status,
        diagnosis=placement.diagnosis,
        nominated=result.nominated,
        victims=result.victims,
        displaced=result.displaced,
    )
    return _give_back(core, outcome)


def _assume_and_reserve(core: Core, entry: Entry, cycle: Cycle, placement: Placement) -> Outcome:
    """Put the pod on its node before the API knows, and ask Reserve and Permit."""
    node, framework, uid = placement.node or "", cycle.framework, entry.pod.uid
    core.cluster.assume(entry.pod, node)
    core.cluster.nominated.delete(uid)
    waits: dict[str, float] = {}
    try:
        status = framework.run_reserve(cycle, node)
        if status is None:
            status, waits = framework.run_permit(cycle, node)
    except PluginError as failure:
        status = error(str(failure))
    if status is not None and status.code is Code.Wait:
        framework.add_waiting_pod(cycle, waits)
    elif status is not None:
        framework.run_unreserve(cycle, node)
        core.cluster.forget(uid)
        refused = Outcome(entry.pod, entry, cycle, status=_one_node(status), nominated="")
        return _give_back(core, refused, status)
    if cycle.to_activate:
        core.queue.activate(list(cycle.to_activate.values()))
        cycle.to_activate = {}
    return Outcome(
        entry.pod,
        entry,
        cycle,
        node=node,
        diagnosis=placement.diagnosis,
        scores=placement.scores,
        waits=waits,
        evaluated=placement.evaluated,
        feasible=placement.feasible,
    )


def _one_node(status: Status) -> Status:
    """The chosen node was refused: the message speaks of that one node. Errors keep their text."""
    if not status.is_rejected:
        return status
    return Status(status.code, (histogram_message([status], 1),), status.plugin)


def unbind(core: Core, outcome: Outcome, status: Status, *, denied: bool = False) -> Outcome:
    """The binding of an assumed pod failed: undo everything and give the pod back to the queue.

    A Permit plugin that `denied` the pod while it waited is its rejector. After that point nobody is: the
    pod backs off, also when PreBind or Bind rejects it. A rejection does not wake the pod itself by its own
    departure. Follows upstream `handleBindingCycleError`.
    """
    cycle, node = outcome.cycle, outcome.node
    if cycle is None or node is None:
        raise ValueError(f"pod {outcome.pod.key} was not assumed")
    uid = outcome.pod.uid
    cycle.framework.run_unreserve(cycle, node)
    cycle.framework.waiting_pods.remove(uid)
    blamed = status if denied else None
    said = _one_node(status) if denied else status
    failed = Outcome(outcome.pod, outcome.entry, cycle, status=said, nominated="")
    if not core.cluster.is_assumed(uid):
        return _give_back(core, failed, blamed)
    gone = ClusterEvent(Resource.AssignedPod, ActionType.Delete, old=core.cluster.pods.by_uid[uid])
    core.cluster.forget(uid)
    if status.is_rejected:
        failed = _give_back(core, failed, blamed)
        core.queue.move_all(gone, only=lambda pod: pod.uid != uid)
        return failed
    core.queue.move_all(gone)
    return _give_back(core, failed, blamed)


def _give_back(core: Core, outcome: Outcome, blamed: Status | None = None) -> Outcome:
    """Hand the pod back to the queue with those who rejected it, and settle its nomination.

    Follows upstream `handleSchedulingFailure`. A pod that is gone meanwhile is not nominated, and nothing is
    to be written about it.
    """
    entry, status, diagnosis = outcome.entry, outcome.status, outcome.diagnosis
    rejected = status is not None and status.is_rejected
    entry.clear_rejectors()
    if diagnosis is not None:
        entry.unschedulable_plugins = frozenset(diagnosis.unschedulable_plugins)
        entry.pending_plugins = frozenset(diagnosis.pending_plugins)
    elif blamed is not None and blamed.is_rejected and blamed.plugin:
        entry.unschedulable_plugins = frozenset({blamed.plugin})
        if blamed.code is Code.Pending:
            entry.pending_plugins = frozenset({blamed.plugin})
    outcome.message = status.message if status is not None else ""
    outcome.reason = UNSCHEDULABLE if rejected else SCHEDULER_ERROR
    outcome.requeued = core.queue.add_unschedulable(entry, error=not rejected) is not None
    nominated = core.cluster.nominated
    if not outcome.requeued or outcome.nominated == "":
        nominated.delete(outcome.pod.uid)
    else:
        nominated.add(entry.pod, outcome.nominated or "")
    return outcome
