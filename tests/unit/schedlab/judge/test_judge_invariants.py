"""Each invariant catches the scheduler that breaks it, and lets its innocent neighbour go."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from schedlab.cluster.layout import SCHEDULER
from schedlab.history.audit import Write
from schedlab.history.entries import ProcessEvent, Revision
from schedlab.history.history import History
from schedlab.judge.account import Account
from schedlab.judge.invariants import judge

START = datetime(2026, 1, 1, tzinfo=UTC)


class Story:
    """A history that is told step by step; every step is a second after the one before, unless told."""

    def __init__(self, **config: Any) -> None:
        self.config = {"leaderElection": {"leaderElect": False}, **config}
        self.now = 0.0
        self.version = 0
        self.log: list[Write] = []
        self.history = History(audit=self)
        self.objects: dict[str, dict[str, Any]] = {}

    def writes(self) -> Any:
        return iter(self.log)

    def later(self, seconds: float) -> Story:
        self.now += seconds
        return self

    @property
    def moment(self) -> datetime:
        return START + timedelta(seconds=self.now)

    def put(self, kind: str, name: str, change: str = "MODIFIED", **parts: Any) -> Story:
        self.now += 1
        self.version += 1
        known = self.objects.get(name) or {
            "apiVersion": {"PodDisruptionBudget": "policy/v1", "Lease": "coordination.k8s.io/v1"}.get(
                kind, "v1"
            ),
            "kind": kind,
            "metadata": {"name": name, "uid": name, "namespace": "" if kind == "Node" else "ns"},
            "spec": {},
            "status": {},
        }
        item = {**known, "metadata": {**known["metadata"], "resourceVersion": str(self.version)}}
        for part, fields in parts.items():
            item[part] = {**item[part], **fields}
        self.objects[name] = item
        self.history.append(Revision(at=self.moment, type=change, object=item))
        return self

    def node(self, name: str, cpu: str = "4", **spec: Any) -> Story:
        change = "MODIFIED" if name in self.objects else "ADDED"
        return self.put("Node", name, change, spec=spec, status={"allocatable": {"cpu": cpu, "pods": "10"}})

    def pod(self, name: str, cpu: str = "1", labels: dict[str, str] | None = None, **spec: Any) -> Story:
        box = {"name": "main", "resources": {"requests": {"cpu": cpu}}}
        return self.put(
            "Pod", name, "ADDED", metadata={"labels": labels or {}}, spec={"containers": [box], **spec}
        )

    def asked(self, verb: str, name: str, code: int = 201, by: str = "a", **body: Any) -> Story:
        self.log.append(
            Write(
                at=self.moment,
                done=self.moment,
                user=SCHEDULER,
                verb=verb,
                resource="pods",
                subresource="binding" if "target" in body else "",
                namespace="ns",
                name=name,
                code=code,
                body=body,
                credential=f"by-{by}",
            )
        )
        return self

    def bind(self, name: str, node: str, code: int = 201, by: str = "a") -> Story:
        self.asked("create", name, code, by, metadata={"uid": name}, target={"name": node})
        return self.put("Pod", name, spec={"nodeName": node}) if code == 201 else self

    def evict(self, name: str, preemptor: str) -> Story:
        mark = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
        self.put("Pod", name, status={"conditions": [mark]})
        self.asked("delete", name, 200)
        self.put("Pod", name, "DELETED")
        event = {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": f"e-{name}", "namespace": "ns", "uid": f"e-{name}"},
            "reason": "Preempted",
            "note": f"Preempted by pod {preemptor} on node n",
            "regarding": {"uid": name},
        }
        self.history.append(Revision(at=self.moment, type="ADDED", object=event))
        return self

    def found(self) -> list[str]:
        return [finding.invariant for finding in judge(Account.of(self.history, self.config)).findings]


def fleet(**config: Any) -> Story:
    """Two nodes of four CPUs, long known."""
    return Story(**config).node("n").node("m").later(10)


SPREAD = {
    "maxSkew": 1,
    "topologyKey": "kubernetes.io/hostname",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "a"}},
}


def test_a_legal_binding_is_no_finding() -> None:
    """Nothing is found where nothing is wrong, and the binding was looked at."""
    story = fleet().pod("p").bind("p", "n")
    verdict = judge(Account.of(story.history, story.config))
    assert (verdict.findings, verdict.bindings) == ((), 1)


def test_a_pod_that_moves_breaks_s1() -> None:
    """The API server would not allow it; a record may show it all the same."""
    assert fleet().pod("p").bind("p", "n").put("Pod", "p", spec={"nodeName": "m"}).found() == ["S1"]


def test_asking_for_a_second_node_breaks_s1() -> None:
    """Even if the API server refuses."""
    assert "S1" in fleet().pod("p").bind("p", "n").later(1).bind("p", "m", code=409).found()


def test_asking_again_for_the_same_node_is_allowed() -> None:
    """The reply to the first request may have been lost."""
    assert fleet().pod("p").bind("p", "n").later(1).bind("p", "n", code=409).found() == []


def test_more_than_a_node_has_breaks_s2_and_s3() -> None:
    """Two pods of three CPUs are too much for four, whoever was decided on first."""
    story = fleet().pod("p", "3").pod("q", "3").bind("p", "n").bind("q", "n")
    assert story.found() == ["S2", "S3"]


def test_two_at_the_same_moment_break_s2_at_least() -> None:
    """That their order is not known is no excuse for taking more than there is."""
    story = fleet().pod("p", "3").pod("q", "3")
    story.asked("create", "q", metadata={"uid": "q"}, target={"name": "n"})
    assert "S2" in story.bind("p", "n").put("Pod", "q", spec={"nodeName": "n"}).found()


def test_room_that_others_have_just_taken_is_an_excuse() -> None:
    """A pod that somebody else has bound a moment before may not have been heard of."""
    story = fleet().pod("p", "3").pod("q", "3").put("Pod", "p", spec={"nodeName": "n"})
    story.now -= 0.5
    assert story.bind("q", "n").found() == []


def test_room_that_others_took_long_ago_is_none() -> None:
    """The watch has had its time."""
    story = fleet().pod("p", "3").pod("q", "3").put("Pod", "p", spec={"nodeName": "n"}).later(5)
    assert story.bind("q", "n").found() == ["S2", "S3"]


TAINT = {"taints": [{"key": "k", "effect": "NoSchedule"}]}


def test_a_taint_that_is_not_tolerated_breaks_s3() -> None:
    """It was there before the pod was."""
    assert fleet().node("n", **TAINT).later(5).pod("p").bind("p", "n").found() == ["S3"]


def test_a_disabled_plugin_has_no_say() -> None:
    """The profile's own filters are what counts."""
    profile = {"plugins": {"filter": {"disabled": [{"name": "TaintToleration"}]}}}
    assert fleet(profiles=[profile]).node("n", **TAINT).later(5).pod("p").bind("p", "n").found() == []


def test_ones_own_bindings_are_known_at_once() -> None:
    """The second pod of a group goes elsewhere, however far the watch is behind."""
    names = {"kubernetes.io/hostname": "x"}
    story = Story().put("Node", "n", "ADDED", metadata={"labels": names}).node("n").node("m")
    story.put("Node", "m", metadata={"labels": {"kubernetes.io/hostname": "y"}}).later(10)
    for name in ("p", "q"):
        story.pod(name, labels={"app": "a"}, topologySpreadConstraints=[SPREAD]).bind(name, "n")
    assert story.found() == ["S3"]


@pytest.mark.parametrize(
    "spec",
    [{"schedulingGates": [{"name": "g"}]}, {"schedulerName": "another"}],
    ids=["gated", "for another scheduler"],
)
def test_a_pod_that_is_not_to_be_bound_breaks_s4(spec: dict[str, Any]) -> None:
    """Gates and scheduler names are the pod's own."""
    assert "S4" in fleet().pod("p", **spec).later(5).bind("p", "n", code=409).found()


def test_a_gate_that_has_just_come_off_is_gone() -> None:
    """What the scheduler may have known a moment ago decides."""
    story = fleet().pod("p", schedulingGates=[{"name": "g"}]).put("Pod", "p", spec={"schedulingGates": []})
    assert story.bind("p", "n").found() == []


def test_a_node_that_never_was_breaks_s4() -> None:
    """A binding to nowhere is never legal."""
    assert fleet().pod("p").bind("p", "nowhere").found() == ["S3", "S4"]


def test_a_binding_by_who_does_not_lead_breaks_s5() -> None:
    """The lease says who led at that version."""
    story = fleet(leaderElection={"leaderElect": True})
    for name in ("a", "b"):
        story.history.append(
            ProcessEvent(at=story.moment, process=name, event="ready", credential=f"by-{name}")
        )
        story.put(
            "Lease", "kube-scheduler", metadata={"namespace": "kube-system"}, spec={"holderIdentity": name}
        )
        body = {"spec": {"holderIdentity": name}}
        lease = Write(
            at=story.moment, user=SCHEDULER, verb="update", resource="leases", name="x", code=200, body=body,
            credential=f"by-{name}",
        )  # fmt: skip
        story.log.append(lease)
    assert story.pod("p").bind("p", "n", by="a").pod("q").bind("q", "n", by="b").found() == ["S5"]


def crowd(**config: Any) -> Story:
    """One node, full of two pods of priority 1."""
    story = Story(**config).node("n").pod("v", "2", priority=1).pod("w", "2", priority=1)
    return story.put("Pod", "v", spec={"nodeName": "n"}).put("Pod", "w", spec={"nodeName": "n"}).later(10)


def test_a_deserved_eviction_is_no_finding() -> None:
    """One of two must go for a pod of two CPUs."""
    assert crowd().pod("u", "2", priority=9).evict("v", "u").found() == []


@pytest.mark.parametrize(
    "spec",
    [{"priority": 1}, {"priority": 9, "preemptionPolicy": "Never"}],
    ids=["as important", "never preempts"],
)
def test_who_may_not_preempt_breaks_s6(spec: dict[str, Any]) -> None:
    """Priority and policy are asked first."""
    assert crowd().pod("u", "2", **spec).evict("v", "u").found() == ["S6"]


def test_a_victim_too_many_breaks_s6() -> None:
    """The pod fits beside either of them."""
    assert crowd().pod("u", "2", priority=9).evict("v", "u").evict("w", "u").found() == ["S6", "S6"]


def test_an_eviction_while_there_is_room_breaks_s6() -> None:
    """Nobody goes while a node has room."""
    assert "S6" in crowd().node("m").later(5).pod("u", "2", priority=9).evict("v", "u").found()


def test_a_budget_that_need_not_be_violated_breaks_s7() -> None:
    """The other pod is guarded by nobody."""
    story = crowd().put("Pod", "v", metadata={"labels": {"app": "v"}})
    story.put(
        "PodDisruptionBudget", "b", "ADDED",
        spec={"selector": {"matchLabels": {"app": "v"}}}, status={"disruptionsAllowed": 0},
    )  # fmt: skip
    assert story.later(5).pod("u", "2", priority=9).evict("v", "u").found() == ["S7"]
    assert crowd().pod("u", "2", priority=9).evict("w", "u").found() == []


def test_a_reservation_on_a_node_that_is_gone_breaks_s8() -> None:
    """Once the longest backoff is over."""
    story = fleet().pod("p").put("Pod", "p", status={"nominatedNodeName": "m"}).put("Node", "m", "DELETED")
    assert story.later(5).node("n").found() == []
    assert story.later(20).node("n").found() == ["S8"]


def test_a_hot_loop_breaks_l3() -> None:
    """Fifty requests about one pod in five seconds are no backoff."""
    story = fleet().pod("p")
    for _ in range(50):
        story.later(0.1).asked("patch", "p", 200)
    assert story.found() == ["L3"]


@pytest.mark.parametrize(
    ("events", "found"),
    [
        ([("exited", 0, "")], []),
        ([("exited", 2, "")], ["R3"]),
        ([("exited", -9, "")], ["R3"]),
        ([("signalled", None, "SIGKILL"), ("exited", -9, "")], []),
    ],
    ids=["done", "crashed", "killed by nobody we know", "killed"],
)
def test_an_end_that_nobody_meant_breaks_r3(
    events: list[tuple[Any, int | None, str]], found: list[str]
) -> None:
    """Exit codes are documented."""
    story = fleet()
    for event, code, detail in events:
        story.history.append(
            ProcessEvent(at=story.moment, process="a", event=event, code=code, detail=detail)
        )
    assert story.found() == found
