"""What would have to go so that the pod fits: tried on all candidate nodes in lock-step.

Every node is a world. All pods of lower priority leave; where the pod then fits, they return one by one,
those that would violate a budget first and the most important first, and stay if the pod still fits. Each
round asks the same `feasible` as live scheduling. Follows upstream `DryRunPreemption` and
`SelectVictimsOnNode` (framework/preemption/preemption.go, plugins/defaultpreemption, 1.36).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from kubesched.api.objects import Pod
from kubesched.framework.diagnosis import Diagnosis, histogram_message
from kubesched.framework.feasible import feasible
from kubesched.framework.status import Code, Status, error, unresolvable, unschedulable
from kubesched.preemption.budgets import Budget, split
from kubesched.preemption.candidates import Candidate, Candidates, by_importance
from kubesched.state import View

if TYPE_CHECKING:
    from kubesched.framework.cycle import Cycle

NOT_HELPFUL = unresolvable("Preemption is not helpful for scheduling")
NO_VICTIMS = unresolvable("No preemption victims found for incoming pod")


@dataclass(slots=True)
class _World:
    """One node: who might go, in the order in which they are asked to return, and who had to go."""

    row: int
    returning: list[Pod]
    violating: int
    gone: list[Pod]
    violations: int = 0


def preempt(
    cycle: Cycle,
    diagnosis: Diagnosis,
    budgets: Sequence[Budget],
    *,
    now: float,
    offset: int = 0,
    want: int | None = None,
) -> Candidates:
    """Dry-run preemption on the nodes that evictions may help, beginning at `offset`.

    With `want`, stop at that many candidates once one of them violates no budget. `now` is epoch seconds, the
    start time of pods that have none. Raises PluginError.
    """
    rows = diagnosis.rows_with(Code.Unschedulable)
    result = Candidates()
    worlds: list[_World] = []
    for row in (*rows[offset:], *rows[:offset]):
        victims = [p for p in cycle.cluster.pods.on_node(row) if p.priority < cycle.pod.priority]
        if victims:
            violating, others = split(by_importance(victims, now), budgets)
            worlds.append(_World(row, [*violating, *others], len(violating), []))
        else:
            result.refused[row] = NO_VICTIMS
    fitting = _that_fit_emptied(cycle, worlds, result)
    batch = len(fitting) if want is None else want
    remaining = iter(fitting)
    while chunk := list(islice(remaining, max(batch, 1))):
        _reprieve(cycle, chunk)
        if _collect(cycle, chunk, result, now, want):
            break
    return result


def _that_fit_emptied(cycle: Cycle, worlds: list[_World], result: Candidates) -> list[_World]:
    """The worlds in which the pod fits once everybody who may go is gone; the others are refused."""
    if not worlds:
        return []
    verdict = feasible(cycle, _emptied(cycle, worlds))
    fitting = []
    for k, world in enumerate(worlds):
        status = verdict.status_at(k)
        if status is None:
            fitting.append(world)
        else:
            result.refused[world.row] = status
    return fitting


def _emptied(cycle: Cycle, worlds: Sequence[_World]) -> View:
    view = View(cycle.cluster, [world.row for world in worlds])
    return view.remove(range(len(worlds)), [world.returning for world in worlds])


def _reprieve(cycle: Cycle, worlds: Sequence[_World]) -> None:
    """Let the pods return one by one in all worlds at once; note who cannot."""
    view = _emptied(cycle, worlds)
    for turn, (members, pods) in enumerate(_turns(worlds)):
        tried = view.add(members, [[pod] for pod in pods])
        fits = np.ones(len(worlds), np.bool_)
        fits[members] = feasible(cycle, tried.take(members)).ok
        for k, pod in zip(members, pods, strict=True):
            if not fits[k]:
                worlds[k].gone.append(pod)
                worlds[k].violations += turn < worlds[k].violating
        view = tried.choose(fits, view)


def _turns(worlds: Sequence[_World]) -> Iterator[tuple[list[int], list[Pod]]]:
    """Turn by turn, the worlds that still have a pod to ask, and that pod."""
    for turn in range(max((len(world.returning) for world in worlds), default=0)):
        members = [k for k, world in enumerate(worlds) if turn < len(world.returning)]
        yield members, [worlds[k].returning[turn] for k in members]


def _collect(
    cycle: Cycle, worlds: Sequence[_World], result: Candidates, now: float, want: int | None
) -> bool:
    """Add the worlds' candidates in order; True once there are enough."""
    names = cycle.cluster.nodes.names
    for world in worlds:
        name = names[world.row]
        if not world.gone:
            result.refused[world.row] = error(f'expected at least one victim pod on node "{name}"')
            continue
        mixed = 0 < world.violating < len(world.returning)
        victims = by_importance(world.gone, now) if mixed else world.gone
        result.found.append(Candidate(name, tuple(victims), world.violations))
        if want is not None and len(result.found) >= want and any(not c.violations for c in result.found):
            return True
    return False


def refusal(cycle: Cycle, candidates: Candidates) -> Status:
    """Why preemption does not help, as a message over all nodes; an Error if some dry run went wrong."""
    errors = [status.message for status in candidates.refused.values() if status.code is Code.Error]
    if errors:
        distinct = list(dict.fromkeys(errors))
        return error(distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]")
    return unschedulable(
        histogram_message(candidates.refused.values(), len(cycle.cluster.nodes), NOT_HELPFUL)
    )
