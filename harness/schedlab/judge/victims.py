"""Whether pods that were displaced had to be: S6 and S7.

Follows the documentation of preemption (kubernetes.io, pod priority and preemption) and the candidates of
pkg/scheduler/framework/preemption/preemption.go. As everywhere, a decision counts against the scheduler only
if it was wrong in every state that it could have known.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import partial

from schedlab.judge.account import Account, Eviction
from schedlab.judge.finding import Finding
from schedlab.judge.knowledge import Knowledge
from schedlab.judge.rules import feasible
from schedlab.judge.values import Object, is_empty, selects
from schedlab.judge.world import labels, namespace, priority

_TOGETHER = timedelta(seconds=2)
"""Victims of one preemption are deleted within this time."""

_SAMPLED = 100
"""With more nodes not all of them are candidates (minCandidateNodesAbsolute)."""


def deserved(account: Account) -> Iterator[Finding]:
    """S6: victims are less important, are needed, go once, and go only if nothing else helps."""
    for ref, count in Counter(eviction.pod.ref for eviction in account.evictions).items():
        if count > 1:
            yield Finding("S6", f"{ref} was evicted {count} times", 0, (ref,))
    for group in _preemptions(account):
        preemptor = _preemptor(account, group)
        if preemptor is None:
            continue
        yield from _ranks(group, preemptor)
        if account.extended or preemptor["spec"].get("resourceClaims"):
            continue
        name = preemptor["metadata"]["name"]
        if _always(account, group, partial(_fits, preemptor)):
            yield _found("S6", group, f"pods were evicted for {name}, which had room without")
        for victim in group:
            others = frozenset(one.pod.uid for one in group if one is not victim)
            node = victim.pod.object["spec"]["nodeName"]
            if _always(account, group, partial(_fits, preemptor, gone=others, node=node)):
                yield _found("S6", [victim], f"{victim.pod.ref} was evicted for {name}, which fits beside it")


def budgets_kept(account: Account) -> Iterator[Finding]:
    """S7: a budget is violated only if no node can be had without."""
    for group in _preemptions(account):
        preemptor = _preemptor(account, group)
        if preemptor is None or account.extended or preemptor["spec"].get("resourceClaims"):
            continue
        going = [eviction.pod.object for eviction in group]
        if _always(account, group, partial(_needlessly, preemptor, going)):
            name = preemptor["metadata"]["name"]
            yield _found("S7", group, f"a budget was violated for {name}, though a node could be had without")


def _ranks(group: list[Eviction], preemptor: Object) -> Iterator[Finding]:
    name = preemptor["metadata"]["name"]
    for victim in group:
        if priority(victim.pod.object) >= priority(preemptor):
            text = (
                f"{victim.pod.ref} of priority {priority(victim.pod.object)} was evicted for {name} "
                f"of priority {priority(preemptor)}"
            )
            yield _found("S6", [victim], text)
    if preemptor["spec"].get("preemptionPolicy") == "Never":
        yield _found("S6", group, f"pods were evicted for {name}, which never preempts")


def _preemptions(account: Account) -> list[list[Eviction]]:
    """Evictions by preemptor, node and time."""
    groups: defaultdict[tuple[str, str], list[list[Eviction]]] = defaultdict(list)
    for eviction in account.evictions:
        mine = groups[eviction.preemptor, eviction.pod.object["spec"].get("nodeName", "")]
        if not mine or eviction.write.at - mine[-1][-1].write.at > _TOGETHER:
            mine.append([])
        mine[-1].append(eviction)
    return [group for many in groups.values() for group in many]


def _preemptor(account: Account, group: list[Eviction]) -> Object | None:
    """The preemptor's state when the first of them had to go; None if nothing says who it was."""
    first = min(eviction.marked.version for eviction in group)
    known = [r for r in account.history.revisions(group[0].preemptor) if r.version < first]
    return known[-1].object if known else None


def _always(account: Account, group: list[Eviction], holds: Callable[[list[Object]], bool]) -> bool:
    """True if something was so in every state that the scheduler could have known."""
    first = min(group, key=lambda eviction: eviction.marked.version)
    states = Knowledge(account).before(first.marked.version, first.marked.at, group[0].preemptor)
    return all(holds(objects) for objects in states)


def _without(objects: list[Object], gone: frozenset[str]) -> list[Object]:
    return [one for one in objects if one["metadata"].get("uid") not in gone]


def _fits(
    preemptor: Object, objects: list[Object], gone: frozenset[str] = frozenset(), node: str = ""
) -> bool:
    """True if the pod has room on the node, or anywhere, once others are gone."""
    nodes = feasible(_without(objects, gone), preemptor)
    return node in nodes if node else bool(nodes)


def _needlessly(preemptor: Object, going: Sequence[Object], objects: list[Object]) -> bool:
    """True if these victims violate a budget, and somewhere unguarded pods alone would do.

    A pod that any budget guards counts as guarded, whatever the budget still allows: what is said to be
    possible then surely was.
    """
    budgets = [one for one in objects if one["kind"] == "PodDisruptionBudget"]
    nodes = [one["metadata"]["name"] for one in objects if one["kind"] == "Node"]
    if len(nodes) > _SAMPLED or not any(_violated(budget, going) for budget in budgets):
        return False
    for node in nodes:
        spare = frozenset(
            one["metadata"]["uid"]
            for one in objects
            if one["kind"] == "Pod"
            and one["spec"].get("nodeName") == node
            and priority(one) < priority(preemptor)
            and not any(_guards(budget, one) for budget in budgets)
        )
        if spare and node in feasible(_without(objects, spare), preemptor):
            return True
    return False


def _violated(budget: Object, going: Sequence[Object]) -> bool:
    allowed = int((budget.get("status") or {}).get("disruptionsAllowed") or 0)
    disrupted = (budget.get("status") or {}).get("disruptedPods") or {}
    hit = [pod for pod in going if _guards(budget, pod) and pod["metadata"]["name"] not in disrupted]
    return len(hit) > allowed


def _guards(budget: Object, pod: Object) -> bool:
    selector = budget["spec"].get("selector")
    if namespace(budget) != namespace(pod) or selector is None:
        return False
    return is_empty(selector) or selects(selector, labels(pod))


def _found(invariant: str, group: list[Eviction], text: str) -> Finding:
    version = min(eviction.marked.version for eviction in group)
    return Finding(
        invariant, text, version, tuple(e.pod.ref for e in group), tuple(e.pod.object for e in group)
    )
