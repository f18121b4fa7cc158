"""`evicted` is met by evictions as they were meant, and by no other end of a pod."""

from __future__ import annotations

from datetime import timedelta

import msgspec
import pytest
from operations_world import SCOPE, World

from schedlab.api.objects import Object
from schedlab.history import Write
from schedlab.operations.base import Met, Never, NotYet, OperationError, Outcome
from schedlab.operations.evicted import Evicted

TAINT = {"spec": {"taints": [{"key": "gone", "effect": "NoExecute"}]}}


def check(world: World, **fields: object) -> Outcome:
    if "pod" not in fields:
        fields = {"selector": {"app": "web"}, **fields}
    return msgspec.convert(fields, Evicted).check(world.history, SCOPE)


def mark(world: World, name: str, reason: str = "DeletionByTaintManager", node: str = "n1") -> Object:
    """The condition that tells a pod by whom it has to go."""
    pod = world.pod(name, node, labels={"app": "web"})
    target = {"type": "DisruptionTarget", "status": "True", "reason": reason, "message": "so it is"}
    return world.put({**pod, "status": {**pod["status"], "conditions": [target]}})


def evict(world: World, name: str, reason: str = "DeletionByTaintManager", node: str = "n1") -> None:
    """The condition, and then the end."""
    mark(world, name, reason, node)
    world.remove("Pod", name)


def fail(world: World, name: str, reason: str = "Evicted") -> None:
    """What the kubelet does to a pod that is over a limit."""
    pod = world.pod(name, "n1", labels={"app": "web"}, phase="Failed")
    world.put({**pod, "status": {"phase": "Failed", "reason": reason, "message": "Pod ephemeral"}})


def taint(world: World, node: str = "n1") -> None:
    """A NoExecute taint comes to a node."""
    world.put(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": node},
            "spec": {"taints": [{"key": "gone", "effect": "NoExecute"}]},
        }
    )


@pytest.fixture
def world() -> World:
    """Two pods of an app on n1, one of another on n2."""
    world = World()
    world.node("n1")
    for name in ("a", "b"):
        world.pod(name, "n1", labels={"app": "web"})
    world.pod("x", "n2", labels={"app": "db"})
    return world


@pytest.mark.parametrize(
    "fields",
    [
        {"count": 1},
        {"pod": "a"},
        {"pod": "a", "by": "TaintManager", "node": "n1"},
        {"count": 1, "condition": {"message": "so it is"}},
        {"pod": "b", "count": 0},
        {"selector": {"app": "db"}, "count": 0},
        {"count": 1, "order": ["a", "b"]},
    ],
    ids=["one", "by name", "by whom", "why", "not this one", "not the others", "first of an order"],
)
def test_an_eviction_is_met_as_it_was(world: World, fields: dict[str, object]) -> None:
    """Marked by the taint manager, then deleted."""
    evict(world, "a")
    assert isinstance(check(world, **fields), Met)


@pytest.mark.parametrize(
    ("fields", "seen"),
    [
        ({"count": 0}, "1 evicted: a by TaintManager"),
        ({"by": "EvictionAPI"}, "a was evicted by TaintManager"),
        ({"node": "n2"}, "a was on n1"),
        ({"order": ["b", "a"]}, "the order was a"),
    ],
    ids=["nobody", "by another", "elsewhere", "not first"],
)
def test_an_eviction_that_should_not_be_fails_at_once(
    world: World, fields: dict[str, object], seen: str
) -> None:
    """It cannot be undone."""
    evict(world, "a")
    outcome = check(world, **fields)
    assert isinstance(outcome, Never)
    assert outcome.seen == seen


def test_all_that_are_selected_have_to_go(world: World) -> None:
    """Unless a count says how many; who is left is told."""
    evict(world, "a")
    outcome = check(world)
    assert isinstance(outcome, NotYet)
    assert outcome.seen == "1 evicted: a by TaintManager; b is bound to n1"
    evict(world, "b")
    met = check(world, order=["a", "b"])
    assert isinstance(met, Met)
    assert met.value == ["a", "b"]


def test_a_mark_alone_is_no_eviction(world: World) -> None:
    """The pod has to be asked to go, too."""
    mark(world, "a")
    assert isinstance(check(world, count=1), NotYet)


@pytest.mark.parametrize("reason", ["PreemptionByScheduler", "SomethingElse"])
def test_a_preemption_is_no_eviction(world: World, reason: str) -> None:
    """Nor is any other reason."""
    evict(world, "a", reason)
    outcome = check(world, pod="a")
    assert isinstance(outcome, NotYet)
    assert outcome.seen == "0 evicted; a is gone without having been evicted"


def test_a_plain_deletion_is_no_eviction(world: World) -> None:
    """Nobody has marked the pod."""
    world.remove("Pod", "a")
    assert isinstance(check(world, count=0), Met)


@pytest.mark.parametrize(
    ("reason", "by"),
    [
        ("EvictionByEvictionAPI", "EvictionAPI"),
        ("DeletionByPodGC", "PodGC"),
        ("TerminationByKubelet", "Kubelet"),
    ],
)
def test_the_reason_tells_by_whom(world: World, reason: str, by: str) -> None:
    """In the words of the condition."""
    evict(world, "a", reason)
    assert isinstance(check(world, pod="a", by=by), Met)


def test_a_pod_that_failed_as_evicted_was_evicted_by_the_kubelet(world: World) -> None:
    """The limits of local storage are enforced without a condition."""
    fail(world, "a")
    assert isinstance(check(world, pod="a", by="Kubelet", status={"message": "Pod ephemeral"}), Met)
    other = check(world, pod="a", status={"message": "memory"})
    assert isinstance(other, NotYet)
    assert "a: status.message" in other.seen


def test_a_pod_that_failed_otherwise_was_not_evicted(world: World) -> None:
    """Such as one that its node rejected."""
    fail(world, "a", "NodeAffinity")
    assert isinstance(check(world, pod="a"), NotYet)


def test_events_are_asked_for(world: World) -> None:
    """The taint manager's name no uid."""
    evict(world, "a")
    wanted = {"reason": "TaintManagerEviction", "note": "Marking for deletion Pod ns/a"}
    assert isinstance(check(world, pod="a", event=wanted), NotYet)
    world.event("a", "TaintManagerEviction", "Marking for deletion Pod ns/a")
    assert isinstance(check(world, pod="a", event=wanted), Met)


@pytest.mark.parametrize(
    ("bounds", "kind"),
    [
        ({"after": "2s", "before": "4s"}, Met),
        ({"after": "4s"}, Never),
        ({"before": "2s"}, Never),
    ],
)
def test_time_counts_from_the_taint(world: World, bounds: dict[str, str], kind: type[Outcome]) -> None:
    """A revision a second: tainted, something else, marked, and deleted after 3 s (`mark` writes twice)."""
    taint(world)
    evict(world, "a")
    assert isinstance(check(world, pod="a", since={"node": TAINT}, **bounds), kind)


def test_time_counts_from_the_last_time_it_began(world: World) -> None:
    """A taint that went and came again counts from when it came again."""
    taint(world)
    for _ in range(10):
        world.node("n1")
    taint(world)
    evict(world, "a")
    assert isinstance(check(world, pod="a", since={"node": TAINT}, before="3s"), Met)


def test_time_counts_from_a_pods_creation(world: World) -> None:
    """`{}` matches it from the first."""
    evict(world, "a")
    outcome = check(world, pod="a", since={"pod": {}}, before="1s")
    assert isinstance(outcome, Never)
    assert outcome.seen == "a was evicted after 5s, too late"


def test_what_never_was_cannot_be_counted_from(world: World) -> None:
    """An eviction without its cause is wrong."""
    evict(world, "a")
    outcome = check(world, pod="a", since={"node": TAINT}, after="1s")
    assert isinstance(outcome, Never)
    assert "never was what `since` says" in outcome.seen


def test_times_are_the_servers(world: World) -> None:
    """The write in the audit log counts, not when its revision was heard of."""
    taint(world)
    evict(world, "a")
    deleted = Write(
        at=world.now - timedelta(seconds=0.9), user="u", verb="delete", resource="pods", name="a", code=200
    )
    world.audit.known.append(msgspec.structs.replace(deleted, namespace="ns"))
    assert isinstance(check(world, pod="a", since={"node": TAINT}, before="2200ms"), Met)
    world.audit.known.append(msgspec.structs.replace(deleted, namespace="ns", at=world.now, code=409))
    world.audit.known.append(msgspec.structs.replace(deleted, namespace="ns", at=world.now, verb="patch"))
    assert isinstance(check(world, pod="a", since={"node": TAINT}, before="2200ms"), Met)


def tainted_at(world: World, seconds: float, body: Object = TAINT) -> None:
    """A write of the node, as the audit log has it, so many seconds from now."""
    at = world.now + timedelta(seconds=seconds)
    write = Write(at=at, user="u", verb="patch", resource="nodes", name="n1", code=200, body=body)
    world.audit.known.append(write)


def test_a_write_that_followed_at_once_is_not_taken_for_the_cause(world: World) -> None:
    """A busy harness hears of the taint when other writes of the node have been received, too."""
    tainted_at(world, 0.1)
    tainted_at(world, 0.9, body={"metadata": {"labels": {"a": "b"}}})
    taint(world)
    evict(world, "a")
    assert isinstance(check(world, pod="a", since={"node": TAINT}, after="3800ms", before="4s"), Met)


def test_an_earlier_write_of_the_same_taint_is_not_taken_for_the_cause(world: World) -> None:
    """A watch can be faster than the audit log; then it counts when the taint was heard of."""
    taint(world)
    tainted_at(world, 0)
    for _ in range(3):
        world.node("n1")
    taint(world)
    evict(world, "a")
    assert isinstance(check(world, pod="a", since={"node": TAINT}, after="3s", before="3s"), Met)


@pytest.mark.parametrize(
    ("spacing", "kind"),
    [({"atLeast": "3s", "atMost": "3s"}, Met), ({"atLeast": "4s"}, Never), ({"atMost": "2s"}, Never)],
)
def test_nodes_are_emptied_at_a_rate(world: World, spacing: dict[str, str], kind: type[Outcome]) -> None:
    """From the first of one node to the first of the next; pods of one node go together."""
    mark(world, "a")
    mark(world, "b")
    mark(world, "c", node="n2")
    for name in ("a", "b"):
        world.remove("Pod", name)
    world.node("n3")
    world.remove("Pod", "c")
    assert isinstance(check(world, spacing=spacing), kind)


@pytest.mark.parametrize(
    "fields",
    [
        {"pod": "a", "selector": {"app": "web"}},
        {"pod": "a", "after": "1s"},
        {"pod": "a", "since": {}},
        {"pod": "a", "since": {"pod": {}, "node": {}}},
    ],
    ids=["whom", "since when", "of what", "of both"],
)
def test_what_cannot_be_meant_is_refused(world: World, fields: dict[str, object]) -> None:
    """With a way out."""
    with pytest.raises(OperationError):
        check(world, **fields)
