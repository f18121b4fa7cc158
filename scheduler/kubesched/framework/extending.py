"""HTTP extenders in a cycle: they narrow the feasible nodes, add scores, and may bind.

They are asked one after the other, the ignorable ones last, each about the nodes that those before it left
over. What they say about a node counts as its status; which events may help a pod that they rejected, they
cannot say, so every event wakes it. Follows upstream `findNodesThatPassExtenders`, `prioritizeNodes` and
`extendersBinding` (schedule_one.go, 1.36).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from kubesched import logs
from kubesched.api.objects import Node
from kubesched.framework.failure import PluginError
from kubesched.framework.interface import MAX_SCORE
from kubesched.framework.status import Status, unresolvable, unschedulable

if TYPE_CHECKING:
    from kubesched.api.objects import Pod
    from kubesched.framework.cycle import Cycle
    from kubesched.framework.diagnosis import Diagnosis
    from kubesched.framework.rank import Scores

_log = logs.get(__name__)

EXTENDER = "Extender"
"""The name under which the queue remembers that some extender rejected nodes for a pod."""
_MAX_EXTENDER_SCORE = 10


class ExtenderError(Exception):
    """An extender did not answer, or its answer cannot be used; the text is upstream's."""


@dataclass(frozen=True, slots=True)
class Filtered:
    """A filter's answer: the names that stay, in its order, and why others do not."""

    names: Sequence[str]
    failed: Mapping[str, str] = field(default_factory=dict)
    unresolvable: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Victims:
    """The pods to evict from one node, the most important first, and how many budgets that breaks."""

    pods: Sequence[Pod]
    violations: int


@dataclass(frozen=True, slots=True)
class VictimIds:
    """The same as an extender answers it: the pods' UIDs."""

    uids: Sequence[str]
    violations: int


class Extender(Protocol):
    """One extender. Its methods raise ExtenderError."""

    name: str
    ignorable: bool
    weight: int
    filters: bool
    prioritizes: bool
    preempts: bool
    binds: bool

    def is_interested(self, pod: Pod) -> bool:
        """Whether the pod asks for a resource that the extender manages; it manages all by default."""
        ...

    async def filter(self, pod: Pod, nodes: Sequence[Node]) -> Filtered:
        """Narrow the nodes."""
        ...

    async def prioritize(self, pod: Pod, nodes: Sequence[Node]) -> Sequence[tuple[str, int]]:
        """Give node names their scores, 0 to 10."""
        ...

    async def preempt(self, pod: Pod, victims: Mapping[str, Victims]) -> Mapping[str, VictimIds]:
        """Narrow the candidate nodes of a preemption, or change their victims."""
        ...

    async def bind(self, pod: Pod, node_name: str) -> None:
        """Bind the pod in the scheduler's place."""
        ...


async def narrow(extenders: Sequence[Extender], cycle: Cycle, diagnosis: Diagnosis) -> None:
    """Leave of the feasible worlds those that the extenders keep. Raises PluginError."""
    pod = cycle.pod
    before = len(diagnosis.feasible)
    for extender in extenders:
        worlds = diagnosis.feasible
        if not worlds.size:
            break
        if not extender.filters or not extender.is_interested(pod):
            continue
        nodes = _nodes(cycle, diagnosis.view.rows[worlds])
        try:
            answer = await extender.filter(pod, nodes)
            kept = _positions(extender, nodes, answer.names)
        except ExtenderError as failure:
            _excuse(extender, failure, "Skipping extender as it returned error and has ignorable flag set")
            continue
        diagnosis.narrow(worlds[kept], _statuses(cycle, answer))
    if len(diagnosis.feasible) != before:
        diagnosis.unschedulable_plugins.add(EXTENDER)


async def add_scores(extenders: Sequence[Extender], cycle: Cycle, scores: Scores) -> None:
    """Add what the extenders give, scaled to the plugins' range; one that fails gives nothing."""
    asked = [item for item in extenders if item.prioritizes and item.is_interested(cycle.pod)]
    if not asked:
        return
    nodes = _nodes(cycle, scores.view.rows)
    position = {node.name: k for k, node in enumerate(nodes)}
    answers = await asyncio.gather(*(_prioritize(item, cycle.pod, nodes) for item in asked))
    rows = np.zeros((len(asked), len(nodes)), np.int64)
    for row, extender, answer in zip(rows, asked, answers, strict=True):
        factor = extender.weight * (MAX_SCORE // _MAX_EXTENDER_SCORE)
        for name, score in answer:
            _log.info("Extender scored node for pod", v=10, pod=cycle.pod.key, extender=extender.name,
                      node=name, score=score)  # fmt: skip
            if name in position:
                row[position[name]] += score * factor
    scores.plugins += tuple(item.name for item in asked)
    scores.points = np.vstack((scores.points, rows))
    scores.total = scores.total + rows.sum(axis=0)


async def bound_outside(extenders: Sequence[Extender], pod: Pod, node_name: str) -> bool:
    """Let the first extender that binds and is interested do it; False when it is the plugins' work.

    Raises PluginError.
    """
    for extender in extenders:
        if not extender.binds or not extender.is_interested(pod):
            continue
        try:
            await extender.bind(pod, node_name)
        except ExtenderError as failure:
            _excuse(
                extender, failure, "Skipping extender in bind as it returned error and has ignorable flag set"
            )
            continue
        return True
    return False


def _excuse(extender: Extender, failure: ExtenderError, text: str) -> None:
    """Log the failure of an extender that may fail. Raises PluginError for one that may not."""
    if not extender.ignorable:
        raise PluginError(str(failure)) from failure
    _log.info(text, extender=extender.name, err=failure)


async def _prioritize(extender: Extender, pod: Pod, nodes: Sequence[Node]) -> Sequence[tuple[str, int]]:
    try:
        return await extender.prioritize(pod, nodes)
    except ExtenderError as failure:
        _log.info("Failed to run extender's priority function. No score given by this extender.",
                  v=5, err=failure, pod=pod.key, extender=extender.name)  # fmt: skip
        return ()


def _nodes(cycle: Cycle, rows: NDArray[np.int32]) -> list[Node]:
    cluster = cycle.cluster
    found = (cluster.get("Node", cluster.nodes.names[row]) for row in rows)
    return [node for node in found if isinstance(node, Node)]


def _positions(extender: Extender, nodes: Sequence[Node], names: Sequence[str]) -> NDArray[np.intp]:
    position = {node.name: k for k, node in enumerate(nodes)}
    for name in names:
        if name not in position:
            raise ExtenderError(
                f'extender "{extender.name}" claims a filtered node "{name}" which is not found in the '
                "input node list"
            )
    return np.array([position[name] for name in names], np.intp)


def _statuses(cycle: Cycle, answer: Filtered) -> dict[int, Status]:
    """By row; what evictions cannot help wins over what they can."""
    slot = cycle.cluster.nodes.slot
    said = {name: unschedulable(reason) for name, reason in answer.failed.items()}
    said |= {name: unresolvable(reason) for name, reason in answer.unresolvable.items()}
    return {slot[name]: status for name, status in said.items() if name in slot}
