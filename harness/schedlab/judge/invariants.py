"""What holds for every scheduler, whatever was tested: one function per invariant, over a recorded history.

S: nothing wrong was done. L: what could be done was done in time. R: the programs themselves behaved. The
names are those of docs/judging.md, which also says what a record cannot show.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from fractions import Fraction

import msgspec

from schedlab.api.objects import Ref
from schedlab.cluster.layout import SCHEDULER
from schedlab.history.entries import Revision
from schedlab.history.leases import late_bindings, terms
from schedlab.judge import victims
from schedlab.judge.account import Account, Binding, uid_of
from schedlab.judge.finding import Finding
from schedlab.judge.knowledge import LAG, Knowledge
from schedlab.judge.rules import broken, requests
from schedlab.judge.values import Object, amount, quantity
from schedlab.judge.world import World

Invariant = Callable[[Account], Iterator[Finding]]

_LOOPING = 30
"""More requests about one pod within `_WINDOW` are a hot loop: the backoff allows about five attempts."""
_WINDOW = timedelta(seconds=10)


def bound_once(account: Account) -> Iterator[Finding]:
    """S1: a pod gets a node once and keeps it, and nobody asks for two."""
    homes: dict[str, Revision] = {}
    for revision in account.revisions:
        node = revision.object["spec"].get("nodeName") if revision.kind == "Pod" else None
        if not node:
            continue
        first = homes.setdefault(revision.uid, revision)
        if first.object["spec"]["nodeName"] != node:
            text = f"{revision.ref} moved from {first.object['spec']['nodeName']} to {node}"
            yield Finding("S1", text, revision.version, (revision.ref,), (first.object, revision.object))
    targets: defaultdict[str, set[str]] = defaultdict(set)
    for write in account.attempts:
        targets[uid_of(write)].add(str(((write.body or {}).get("target") or {}).get("name")))
    for uid, nodes in targets.items():
        revision_of = account.history.revisions(uid)
        kept = [write for write in account.attempts if uid_of(write) == uid and write.succeeded]
        after = [w for w in account.attempts if uid_of(w) == uid and kept and w.at > (kept[0].done or w.at)]
        if after and len(nodes) > 1 and revision_of:
            text = f"{revision_of[-1].ref} was bound, and then to be bound to another node: {sorted(nodes)}"
            yield Finding("S1", text, revision_of[-1].version, (revision_of[-1].ref,))


def nodes_hold_their_pods(account: Account) -> Iterator[Finding]:
    """S2: no binding takes more of a node than it has, counting every pod that the scheduler has bound.

    Pods that others put there, and room that others took away, count from `LAG` later on.
    """
    own = {binding.bound.uid: binding for binding in account.bindings}
    knowledge = Knowledge(account)
    for binding in account.bindings:
        profile = account.profiles.get(_scheduler(binding.pod.object))
        if profile is None or "NodeResourcesFit" not in profile.plugins:
            continue
        world = World.of(knowledge.at(binding.version))
        if binding.node not in world.nodes:
            continue  # S4 says what is to be said
        sure = [
            pod
            for pod in world.on(binding.node)
            if pod["metadata"]["uid"] in own or _since(account, pod, binding.asked) > LAG
        ]
        room = _room(account, binding)
        pod = profile.stripped(binding.pod.object)
        for resource, wanted in {**requests(pod), "pods": 1}.items():
            taken = sum(1 if resource == "pods" else requests(other).get(resource, 0) for other in sure)
            if wanted and taken + wanted > room.get(resource, 0):
                text = (
                    f"{binding.bound.ref} was bound to {binding.node}, whose pods then ask for "
                    f"{taken + wanted} of {room.get(resource, 0)} {resource}"
                )
                shown = (binding.bound.object, world.nodes[binding.node])
                yield Finding("S2", text, binding.version, (binding.bound.ref,), shown)


def bindings_are_legal(account: Account) -> Iterator[Finding]:
    """S3: some state that the scheduler could have known allows each binding by the rules of its profile."""
    knowledge = Knowledge(account)
    for binding in account.bindings:
        profile = account.profiles.get(_scheduler(binding.pod.object))
        if profile is None:
            continue
        pod = profile.stripped(binding.pod.object)
        wrong: list[str] | None = None
        for objects in knowledge.before(binding.version, binding.asked, binding.bound.uid):
            world = World.of(objects)
            node = world.nodes.get(binding.node)
            if node is None:
                continue
            found = [plugin for plugin in broken(pod, node, world) if plugin in profile.plugins]
            if not found:
                break
            wrong = wrong or found
        else:
            node_seen = knowledge.at(binding.version).get("Node", binding.node)
            rules = ", ".join(wrong or ["NodeName"])
            text = f"{binding.bound.ref} was bound to {binding.node} against {rules}"
            shown = (binding.bound.object, *([node_seen] if node_seen else []))
            yield Finding("S3", text, binding.version, (binding.bound.ref,), shown)


def only_pods_that_may_be_bound(account: Account) -> Iterator[Finding]:
    """S4: no binding of gated, terminating or foreign pods, and none to a node that was long gone."""
    for write in account.attempts:
        states = _possible(account.history.revisions(uid_of(write)), write.at)
        whys = [_unfit(revision.object, account) for revision in states]
        if states and all(whys):
            last = states[-1]
            text = f"binding {last.ref}, {whys[-1]}, was asked for"
            yield Finding("S4", text, last.version, (last.ref,), (last.object,))
    gone, knowledge = _deleted_nodes(account), Knowledge(account)
    for binding in account.bindings:
        there = knowledge.at(binding.version).get("Node", binding.node)
        lost = gone.get(binding.node)
        if there is None and (lost is None or binding.asked - lost.at > LAG):
            text = f"{binding.bound.ref} was bound to {binding.node}, which does not exist"
            yield Finding("S4", text, binding.version, (binding.bound.ref,), (binding.bound.object,))


def _deleted_nodes(account: Account) -> dict[str, Revision]:
    """The last deletion of each node."""
    return {r.ref.name: r for r in account.revisions if r.kind == "Node" and r.type == "DELETED"}


def _possible(revisions: Sequence[Revision], when: datetime) -> list[Revision]:
    """The states of an object that the scheduler may have known at a moment, the newest last."""
    old = [revision for revision in revisions if when - revision.at > LAG]
    recent = [revision for revision in revisions if abs(when - revision.at) <= LAG]
    return old[-1:] + recent


def _unfit(pod: Object, account: Account) -> str:
    """Why a pod may not be bound."""
    if pod["spec"].get("schedulingGates"):
        return "which is gated"
    if pod["metadata"].get("deletionTimestamp"):
        return "which is being deleted"
    if _scheduler(pod) not in account.profiles:
        return f"which is for {_scheduler(pod)}"
    return ""


def only_the_leader_acts(account: Account) -> Iterator[Finding]:
    """S5: who does not hold the lease binds nobody."""
    election = account.config.get("leaderElection") or {}
    if not election.get("leaderElect", True):
        return
    where = (
        str(election.get("resourceNamespace") or "kube-system"),
        str(election.get("resourceName") or "kube-scheduler"),
    )
    if not terms(account.history, *where):
        return
    for late in late_bindings(account.history, *where):
        text = f"{late.pod} was bound by {late.by} while {late.holder or 'nobody'} held the lease"
        yield Finding("S5", text, late.version, (late.pod,))


def reservations_are_real(account: Account) -> Iterator[Finding]:
    """S8: no pod stays nominated to a node that is gone."""
    latest = account.revisions[-1].at if account.revisions else None
    gone = _deleted_nodes(account)
    for item in account.history.current.list("Pod"):
        node = (item.get("status") or {}).get("nominatedNodeName")
        last = gone.get(str(node))
        if not node or item["spec"].get("nodeName") or account.history.current.get("Node", node):
            continue
        if last is not None and latest is not None and latest - last.at > _patience(account):
            reference = Ref("Pod", item["metadata"]["name"], item["metadata"].get("namespace", ""))
            text = f"{reference} is nominated to {node}, which is gone since {last.at.isoformat()}"
            yield Finding("S8", text, last.version, (reference,), (item,))


def no_hot_loops(account: Account) -> Iterator[Finding]:
    """L3: the number of requests about one pod is bounded by the backoff."""
    asked: defaultdict[tuple[str, str], list[datetime]] = defaultdict(list)
    for write in account.history.writes(user=SCHEDULER):
        if write.resource == "pods":
            asked[write.namespace, write.name].append(write.at)
    for (namespace, name), times in asked.items():
        times.sort()
        most = max(sum(begin <= one < begin + _WINDOW for one in times) for begin in times)
        if most > _LOOPING:
            text = f"{most} requests about pod {namespace}/{name} within {_WINDOW.seconds} s"
            yield Finding("L3", text, 0, (Ref("Pod", name, namespace),))


def programs_end_as_documented(account: Account) -> Iterator[Finding]:
    """R3: a scheduler ends with 0 or 1, or by a signal that it was sent."""
    sent: defaultdict[str, set[str]] = defaultdict(set)
    for event in account.history.processes:
        if event.event == "signalled":
            sent[event.process].add(event.detail)
        if event.event != "exited" or event.code in (None, 0, 1):
            continue
        if event.code is not None and event.code < 0 and sent[event.process]:
            continue
        yield Finding("R3", f"{event.process} ended with exit code {event.code}", 0, ())


def _scheduler(pod: Object) -> str:
    return str(pod["spec"].get("schedulerName") or "default-scheduler")


def _patience(account: Account) -> timedelta:
    """The longest time for which a pod may be left alone: the longest backoff, and five seconds."""
    return timedelta(seconds=int(account.config.get("podMaxBackoffSeconds") or 10) + 5)


def _since(account: Account, pod: Object, when: datetime) -> timedelta:
    """For how long a pod has been on its node."""
    revisions = account.history.revisions(pod["metadata"]["uid"])
    first = next((one for one in revisions if one.object["spec"].get("nodeName")), None)
    return timedelta.max if first is None or first.initial else when - first.at


def _room(account: Account, binding: Binding) -> dict[str, int]:
    """The most that the node had to give while the scheduler may not have heard of less."""
    room: Counter[str] = Counter()
    last: Revision | None = None
    for revision in account.revisions:
        if revision.kind != "Node" or revision.ref.name != binding.node or revision.version > binding.version:
            continue
        if last is not None and binding.asked - revision.at > LAG:
            room.clear()
        last = revision
        allocatable = (revision.object.get("status") or {}).get("allocatable") or {}
        for name, text in allocatable.items():
            room[name] = max(room[name], amount(name, Fraction(quantity(text))))
    return dict(room)


#: Every invariant by its name.
INVARIANTS: dict[str, Invariant] = {
    "S1": bound_once,
    "S2": nodes_hold_their_pods,
    "S3": bindings_are_legal,
    "S4": only_pods_that_may_be_bound,
    "S5": only_the_leader_acts,
    "S6": victims.deserved,
    "S7": victims.budgets_kept,
    "S8": reservations_are_real,
    "L3": no_hot_loops,
    "R3": programs_end_as_documented,
}


class Verdict(msgspec.Struct, frozen=True):
    """What was found, and how much was looked at, so that silence can be told from blindness."""

    findings: tuple[Finding, ...]
    bindings: int
    evictions: int


def judge(account: Account) -> Verdict:
    """All findings, in the order of the invariants."""
    found = tuple(finding for invariant in INVARIANTS.values() for finding in invariant(account))
    return Verdict(found, len(account.bindings), len(account.evictions))
