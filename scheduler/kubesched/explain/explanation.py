"""One answer about one pod, as `schema.json` beside this file describes it."""

from __future__ import annotations

from random import Random
from typing import Literal, TypeAlias

import msgspec

from kubesched.api.objects import Pod
from kubesched.framework.cycle import Cycle
from kubesched.framework.diagnosis import Diagnosis
from kubesched.framework.failure import PluginError
from kubesched.framework.rank import Scores, rank
from kubesched.framework.runtime import Framework
from kubesched.framework.search import ALL_NODES, NO_NODES, NoNodesError, Search, find
from kubesched.framework.status import Code, Status
from kubesched.plugins.default_preemption import CANDIDATES
from kubesched.state import Cluster

Result: TypeAlias = Literal["Scheduled", "Unschedulable", "Gated", "Error"]
GATED = "Scheduling is blocked due to non-empty scheduling gates"
"""The condition that the API server writes on a pod with scheduling gates."""


class Feasible(msgspec.Struct, frozen=True, kw_only=True):
    """A node that can hold the pod: normalised, weighted scores per plugin, and their sum."""

    feasible: bool = True
    scores: dict[str, int]
    total: int


class Infeasible(msgspec.Struct, frozen=True, kw_only=True):
    """A node that cannot, with the first plugin that said so; `unresolvable` if no eviction would help."""

    feasible: bool = False
    plugin: str
    reasons: tuple[str, ...]
    unresolvable: bool


class Preemption(msgspec.Struct, frozen=True):
    """Nodes on which evictions would make room, with the victims; `best` are those that may be picked."""

    candidates: dict[str, list[str]]
    best: list[str]


class Explanation(msgspec.Struct, frozen=True):
    """The whole answer. `selected` are the nodes with the highest total; one of them would be picked.

    `unasked` are the HTTP extenders that may decide otherwise; absent where there are none.
    """

    pod: str
    result: Result
    message: str | None = None
    nodes: dict[str, Feasible | Infeasible] = {}
    selected: list[str] = []
    preemption: Preemption | None = None
    unasked: list[str] | msgspec.UnsetType = msgspec.UNSET


def explain(cluster: Cluster, pod: Pod, framework: Framework) -> Explanation:
    """Answer for the pod as if it were tried now; the cluster stays as it is."""
    for plugin in framework.pre_enqueues:
        status = plugin.pre_enqueue(pod)
        if status is not None and status.code is not Code.Success:
            gated = GATED if plugin.name == "SchedulingGates" else status.message
            return Explanation(pod.key, "Gated", gated)
    rng = Random(0)  # noqa: S311 - ties only
    cycle = Cycle(pod, cluster, framework=framework, now=cluster.clock.now(), rng=rng, exhaustive=True)
    try:
        return _explain(cycle, cluster.clock.wall())
    except NoNodesError:
        return Explanation(pod.key, "Unschedulable", NO_NODES.message)
    except PluginError as failure:
        return Explanation(pod.key, "Error", str(failure))


def _explain(cycle: Cycle, wall: float) -> Explanation:
    diagnosis = find(cycle, Search(percentage=ALL_NODES, nominated_first=False))
    worlds = diagnosis.feasible
    nodes = _infeasible(diagnosis)
    if not worlds.size:
        return _unschedulable(cycle, diagnosis, nodes, wall)
    scores = rank(cycle, diagnosis.view.take(worlds))
    names = [cycle.cluster.nodes.names[row] for row in scores.view.rows]
    nodes |= _feasible(scores, names)
    nominated = cycle.pod.nominated_node_name
    selected = [nominated] if nominated in names else [names[k] for k in scores.best()]
    return Explanation(cycle.pod.key, "Scheduled", None, _in_order(cycle, nodes), selected)


def _unschedulable(
    cycle: Cycle, diagnosis: Diagnosis, nodes: dict[str, Feasible | Infeasible], wall: float
) -> Explanation:
    if cycle.framework.post_filters:
        result = cycle.framework.run_post_filter(cycle, diagnosis)
        diagnosis.post_filter_message = result.status.message if result.status else ""
    message = diagnosis.message(len(cycle.cluster.nodes))
    nodes = _in_order(cycle, nodes)
    return Explanation(cycle.pod.key, "Unschedulable", message, nodes, [], _preemption(cycle, wall))


def _preemption(cycle: Cycle, wall: float) -> Preemption | None:
    """What the dry run found; None when preemption was not tried."""
    candidates = cycle.find(CANDIDATES)
    if candidates is None:
        return None
    found = {item.node_name: [pod.key for pod in item.victims] for item in candidates.found}
    return Preemption(found, [item.node_name for item in candidates.best(wall)])


def _infeasible(diagnosis: Diagnosis) -> dict[str, Feasible | Infeasible]:
    """Every node that was rejected, or never looked at."""
    names = diagnosis.cycle.cluster.nodes.names
    explicit = diagnosis.statuses()
    passed = set(diagnosis.view.rows[diagnosis.feasible].tolist())
    return {
        names[row]: _rejection(explicit.get(row, diagnosis.absent), diagnosis)
        for row in diagnosis.cycle.cluster.nodes.order.tolist()
        if row not in passed
    }


def _rejection(status: Status, diagnosis: Diagnosis) -> Infeasible:
    plugin = status.plugin
    if not plugin and status is diagnosis.absent and len(diagnosis.unschedulable_plugins) == 1:
        plugin = next(iter(diagnosis.unschedulable_plugins))
    return Infeasible(plugin=plugin, reasons=status.reasons, unresolvable=status.is_unresolvable)


def _feasible(scores: Scores, names: list[str]) -> dict[str, Feasible | Infeasible]:
    points, totals = scores.points.T.tolist(), scores.total.tolist()
    return {
        name: Feasible(scores=dict(zip(scores.plugins, points[k], strict=True)), total=totals[k])
        for k, name in enumerate(names)
    }


def _in_order(cycle: Cycle, nodes: dict[str, Feasible | Infeasible]) -> dict[str, Feasible | Infeasible]:
    columns = cycle.cluster.nodes
    return {columns.names[row]: nodes[columns.names[row]] for row in columns.order.tolist()}
