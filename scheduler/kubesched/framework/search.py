"""Which nodes an attempt looks at, and in which order: PreFilter, the nominated node, then the rest.

Follows upstream `findNodesThatFitPod`, `findNodesThatPassFilters` and `numFeasibleNodesToFind`
(schedule_one.go, 1.36), as with `parallelism: 1`: the search ends before the (N+1)-th feasible node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kubesched import logs
from kubesched.framework.at_once import at_once
from kubesched.framework.diagnosis import PASSED, Diagnosis
from kubesched.framework.extending import Extender, narrow
from kubesched.framework.failure import PluginError
from kubesched.framework.feasible import feasible
from kubesched.framework.runtime import go_list
from kubesched.framework.status import Code, Status, unresolvable
from kubesched.state import View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubesched.framework.cycle import Cycle

_log = logs.get(__name__)

NO_NODES = Status(Code.UnschedulableAndUnresolvable, ("no nodes available to schedule pods",))
_FEWEST_NODES = 100
_LOWEST_PERCENTAGE = 5
ALL_NODES = 100
"""The percentage that switches sampling off."""


class NoNodesError(Exception):
    """The cluster has no nodes at all; nothing was asked, nobody is to blame."""


@dataclass(slots=True)
class Search:
    """Where in the node order to begin, and what percentage of the nodes to find; 0 adapts to their number.

    `find` moves `next_start` on, so that all nodes have the same chance of being looked at. Off,
    `nominated_first` looks at all nodes even if the one that the pod is nominated to fits.
    """

    next_start: int = 0
    percentage: int = 0
    nominated_first: bool = True


def find(cycle: Cycle, search: Search) -> Diagnosis:
    """The verdicts of the plugins alone, without the extenders'. Raises NoNodesError and PluginError."""
    return at_once(seek(cycle, search, ()))


async def seek(cycle: Cycle, search: Search, extenders: Sequence[Extender]) -> Diagnosis:
    """The verdicts of an attempt; feasible worlds are in the order in which they were found.

    Waits only while an extender answers. Raises NoNodesError and PluginError.
    """
    cluster, framework = cycle.cluster, cycle.framework
    cluster.nodes.snapshot()
    order = cluster.nodes.order
    if not order.size:
        raise NoNodesError
    pre = framework.run_pre_filter(cycle)
    if pre.status is not None:
        return _rejected_outright(cycle, pre.status, pre.plugins)
    nominated = await _nominated(cycle, extenders) if search.nominated_first else None
    if nominated is not None and nominated.feasible.size:
        nominated.unschedulable_plugins |= pre.plugins
        return nominated
    rows = order if pre.names is None else _named(cycle, order, pre.names)
    if rows.size and (start := search.next_start % rows.size):
        rows = np.concatenate((rows[start:], rows[:start]))
    choice = bool(framework.scores) or any(item.filters or item.prioritizes for item in extenders)
    diagnosis = _filter(cycle, rows, nodes_to_find(rows.size, search.percentage) if choice else 1)
    diagnosis.unschedulable_plugins |= pre.plugins
    if nominated is not None:
        diagnosis.extra.update(nominated.statuses())
    if pre.names is not None:
        diagnosis.absent = unresolvable(f"node(s) didn't satisfy plugin(s) {go_list(pre.plugins)}")
    search.next_start = (search.next_start + diagnosis.processed) % order.size
    diagnosis.raise_error()
    if extenders:
        await narrow(extenders, cycle, diagnosis)
    if not diagnosis.feasible.size:
        diagnosis.blame()
    return diagnosis


def nodes_to_find(nodes: int, percentage: int) -> int:
    """How many feasible nodes end the search: all below 100 nodes, then a share that shrinks as they grow."""
    if nodes < _FEWEST_NODES:
        return nodes
    share = percentage or max(50 - nodes // 125, _LOWEST_PERCENTAGE)
    return max(nodes * share // 100, _FEWEST_NODES)


def _rejected_outright(cycle: Cycle, status: Status, plugins: frozenset[str]) -> Diagnosis:
    """PreFilter rejected the pod: every node has that one status, and none was looked at."""
    diagnosis = _nothing(cycle, cycle.cluster.nodes.order[:0])
    diagnosis.absent = status
    diagnosis.pre_filter_message = status.message
    diagnosis.unschedulable_plugins |= plugins
    diagnosis.blame_one(status)
    return diagnosis


async def _nominated(cycle: Cycle, extenders: Sequence[Extender]) -> Diagnosis | None:
    """The verdict on the node that the pod is nominated to: most likely the only one that fits.

    What goes wrong there is said, and all nodes are looked at.
    """
    name = cycle.pod.nominated_node_name
    nodes = cycle.cluster.nodes
    if not name or name not in nodes:
        return None
    try:
        verdict = _filter(cycle, np.array([nodes.slot[name]], np.int32), 1)
        verdict.raise_error()
        if extenders and verdict.feasible.size:
            await narrow(extenders, cycle, verdict)
    except PluginError as failure:
        _log.error("Evaluation failed on nominated node", failure, pod=cycle.pod.key, node=name)
        return None
    return verdict


def _named(cycle: Cycle, order: NDArray[np.int32], names: frozenset[str]) -> NDArray[np.int32]:
    slots = [slot for name in names if (slot := cycle.cluster.nodes.slot.get(name)) is not None]
    return order[np.isin(order, slots)]


def _filter(cycle: Cycle, rows: NDArray[np.int32], want: int) -> Diagnosis:
    if not cycle.framework.filters:
        return _nothing(cycle, rows[:want])
    return cycle.framework.filtering(lambda: feasible(cycle, View(cycle.cluster, rows), want))


def _nothing(cycle: Cycle, rows: NDArray[np.int32]) -> Diagnosis:
    """Verdicts without a rejection."""
    size = len(rows)
    plugin = np.full(size, PASSED, np.int16)
    return Diagnosis(cycle, View(cycle.cluster, rows), plugin, np.zeros(size, np.int64))
