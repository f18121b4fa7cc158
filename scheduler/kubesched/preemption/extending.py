"""HTTP extenders have a say in which nodes are preempted on, and whom it costs.

Follows upstream `callExtenders` (framework/preemption/preemption.go) and `convertToVictims` (extender.go,
1.36).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kubesched import logs
from kubesched.framework.extending import Extender, ExtenderError, VictimIds, Victims
from kubesched.preemption.candidates import Candidate

if TYPE_CHECKING:
    from kubesched.framework.cycle import Cycle

_log = logs.get(__name__)


async def confirmed(
    extenders: Sequence[Extender], cycle: Cycle, candidates: Sequence[Candidate]
) -> list[Candidate]:
    """The candidates that the extenders leave, with the victims as they want them. Raises ExtenderError."""
    left = list(candidates)
    for extender in extenders:
        if not left:
            break
        try:
            asked = {item.node_name: Victims(item.victims, item.violations) for item in left}
            answer = await extender.preempt(cycle.pod, asked)
            named = [_candidate(extender, cycle, name, ids) for name, ids in answer.items()]
        except ExtenderError as failure:
            if not extender.ignorable:
                raise
            _log.info("Skipped extender as it returned error and has ignorable flag set", v=2,
                      extender=extender.name, err=failure)  # fmt: skip
            continue
        left = [item for item in named if _has_victims(extender, item)]
    return left


def preempting(extenders: Sequence[Extender], cycle: Cycle) -> list[Extender]:
    """The extenders that are to be asked about this pod's preemption."""
    return [item for item in extenders if item.preempts and item.is_interested(cycle.pod)]


def _has_victims(extender: Extender, candidate: Candidate) -> bool:
    if candidate.victims:
        return True
    if not extender.ignorable:
        raise ExtenderError(f'expected at least one victim pod on node "{candidate.node_name}"')
    _log.info("Ignored node for which the extender didn't report victims", v=2,
              node=candidate.node_name, extender=extender.name)  # fmt: skip
    return False


def _candidate(extender: Extender, cycle: Cycle, name: str, ids: VictimIds) -> Candidate:
    slots: Mapping[str, int] = cycle.cluster.nodes.slot
    if name not in cycle.cluster.nodes:
        raise ExtenderError(f'nodeinfo not found for node name "{name}"')
    there = {pod.uid: pod for pod in cycle.cluster.pods.on_node(slots[name])}
    for uid in ids.uids:
        if uid not in there:
            raise ExtenderError(
                f"extender: {extender.name} claims to preempt pod (UID: &{{{uid}}}) on node: {name}, but the "
                "pod is not found on that node"
            )
    return Candidate(name, tuple(there[uid] for uid in ids.uids), ids.violations)
