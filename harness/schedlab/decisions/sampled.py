"""Where a decision among some of the nodes contradicts an answer about all of them.

From a hundred nodes on kube-scheduler stops filtering once it has found enough, and preemption stops once it
has enough candidates; where it starts moves from pod to pod. So its choice is one of many, and this is
checked: what it found is among what there is, it found as much as it had to, it took the best of what it
found. Scores are normalised over what was found, so they cannot be compared. Follows upstream
`numFeasibleNodesToFind` in pkg/scheduler/schedule_one.go (1.36).
"""

from __future__ import annotations

from collections.abc import Iterator

from schedlab.decisions.compare import Difference, best
from schedlab.decisions.decision import Decision, Preemption, Unobserved

_ALL_BELOW = 100  # nodes


def enough(nodes: int) -> int:
    """How many feasible nodes are looked for among so many, if the configuration does not say."""
    if nodes < _ALL_BELOW:
        return nodes
    return max(nodes * max(50 - nodes // 125, 5) // 100, _ALL_BELOW)


def contradictions(reference: Decision, everything: Decision) -> list[Difference]:
    """Every way in which the reference's sampled decision is not among those that `everything` allows."""
    if reference.result != everything.result:
        return [Difference("result", reference.result, everything.result)]
    found = [*_feasible(reference, everything), *_chosen(reference)]
    if reference.result == "Unschedulable" and reference.message != everything.message:
        found.append(Difference("message", reference.message, everything.message))
    if not isinstance(reference.preemption, Unobserved) and not isinstance(everything.preemption, Unobserved):
        found += _preemption(reference.preemption, everything.preemption)
    return found


def _feasible(reference: Decision, everything: Decision) -> Iterator[Difference]:
    if isinstance(reference.feasible, Unobserved) or isinstance(everything.feasible, Unobserved):
        return
    refused = {} if isinstance(everything.refusals, Unobserved) else everything.refusals
    wanted = min(enough(len(everything.feasible) + len(refused)), len(everything.feasible))
    if not reference.feasible <= everything.feasible:
        yield Difference("feasible", reference.feasible, everything.feasible)
    elif len(reference.feasible) != wanted:
        yield Difference("feasible.count", len(reference.feasible), wanted)


def _chosen(reference: Decision) -> Iterator[Difference]:
    if not isinstance(reference.totals, Unobserved) and isinstance(reference.node, str):
        allowed = best(reference.totals)
        if reference.node not in allowed:
            yield Difference("node", reference.node, allowed)


def _preemption(reference: Preemption, everything: Preemption) -> Iterator[Difference]:
    if isinstance(reference.candidates, Unobserved) or isinstance(everything.candidates, Unobserved):
        return
    if bool(reference.candidates) != bool(everything.candidates):
        yield Difference("preemption.candidates", reference.candidates, everything.candidates)
    for node, candidate in reference.candidates.items():
        other = everything.candidates.get(node)
        if other is None or other.victims != candidate.victims:
            yield Difference(f"preemption.candidates.{node}", candidate, other)
    if isinstance(reference.nominated, str) and reference.nominated not in reference.candidates:
        yield Difference("preemption.nominated", reference.nominated, reference.candidates)
