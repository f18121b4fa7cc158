"""`scheduled` is met by pods on the right nodes, and by nothing else."""

from __future__ import annotations

import pytest
from operations_world import SCOPE, World

from schedlab.operations.base import Met, Never, NotYet, OperationError
from schedlab.operations.scheduled import Scheduled


def check(world: World, **fields: object) -> object:
    return Scheduled(**fields).check(world.history, SCOPE)  # type: ignore[arg-type]


def test_a_bound_pod_is_scheduled() -> None:
    """Any node will do if none is named."""
    world = World()
    world.pod("a", "n1")
    assert check(world, pod="a") == Met("a on n1", (Scheduled(pod="a").check(world.history, SCOPE).objects))


def test_a_pod_that_does_not_exist_is_waited_for() -> None:
    """The assertion may come before the pod."""
    outcome = check(World(), pod="a")
    assert isinstance(outcome, NotYet)
    assert outcome.seen == "no such pod"


def test_a_pending_pod_is_waited_for_and_its_condition_is_shown() -> None:
    """What the scheduler said is the most useful thing to see."""
    world = World()
    world.pod("a", reason="Unschedulable", message="0/1 nodes are available: 1 Too many pods.")
    outcome = check(world, pod="a")
    assert isinstance(outcome, NotYet)
    assert outcome.seen == "a is pending, Unschedulable: 0/1 nodes are available: 1 Too many pods."
    assert outcome.since == world.now


@pytest.mark.parametrize(
    "fields",
    [{"node": "n1"}, {"nodeIn": ["n1", "n3"]}, {"nodeLabels": {"zone": "a"}}],
    ids=["a node by name", "a set of nodes", "a node by labels"],
)
def test_the_place_is_part_of_the_claim(fields: dict[str, object]) -> None:
    """On an allowed node it is met, on another it can never be met any more."""
    import msgspec

    operation = msgspec.convert({"pod": "a", **fields}, Scheduled)
    world = World()
    world.node("n1", zone="a")
    world.node("n2", zone="b")
    world.pod("a", "n1")
    assert isinstance(operation.check(world.history, SCOPE), Met)
    other = World()
    other.node("n1", zone="a")
    other.node("n2", zone="b")
    other.pod("a")
    other.pod("a", "n2")
    outcome = operation.check(other.history, SCOPE)
    assert isinstance(outcome, Never)
    assert "bound to n2" in outcome.seen
    assert outcome.since == other.now


def test_one_misplaced_pod_of_many_is_enough_to_fail() -> None:
    """Every selected pod must be right."""
    world = World()
    world.pod("a", "n1", labels={"app": "x"})
    world.pod("b", "n2", labels={"app": "x"})
    assert isinstance(check(world, selector={"app": "x"}, node="n1"), Never)


def test_a_selector_does_not_reach_into_other_namespaces() -> None:
    """The test's namespace is meant, unless another is named."""
    world = World()
    world.pod("a", "n1", labels={"app": "x"}, namespace="other")
    assert isinstance(check(world, selector={"app": "x"}), NotYet)
    assert isinstance(check(world, selector={"app": "x"}, namespace="other"), Met)


def test_all_pods_must_be_bound() -> None:
    """One pending pod keeps the assertion waiting."""
    world = World()
    world.pod("a", "n1", labels={"app": "x"})
    world.pod("b", labels={"app": "x"})
    outcome = check(world, selector={"app": "x"})
    assert isinstance(outcome, NotYet)
    assert outcome.seen.startswith("1 of 2 are not bound: b is pending")
    world.pod("b", "n1", labels={"app": "x"})
    assert isinstance(check(world, selector={"app": "x"}), Met)


def test_the_number_of_pods_can_be_claimed() -> None:
    """Too few or too many pods are not it."""
    world = World()
    world.pod("a", "n1", labels={"app": "x"})
    assert isinstance(check(world, selector={"app": "x"}, count=2), NotYet)
    world.pod("b", "n1", labels={"app": "x"})
    assert isinstance(check(world, selector={"app": "x"}, count=2), Met)
    world.pod("c", "n1", labels={"app": "x"})
    assert isinstance(check(world, selector={"app": "x"}, count=2), NotYet)


def test_the_event_can_be_claimed() -> None:
    """A binding without its event is not it."""
    world = World()
    world.pod("a", "n1")
    outcome = check(world, pod="a", event={"reason": "Scheduled"})
    assert isinstance(outcome, NotYet)
    assert outcome.seen == "a has events none"
    world.event("b", "Scheduled")
    assert isinstance(check(world, pod="a", event={"reason": "Scheduled"}), NotYet)
    world.event("a", "Scheduled")
    assert isinstance(check(world, pod="a", event={"reason": "Scheduled"}), Met)
    assert isinstance(check(world, pod="a", event={"reason": "Scheduled", "type": "Warning"}), NotYet)


def test_once_means_that_nobody_asked_to_bind_twice() -> None:
    """The second request counts even though the API server refuses it."""
    world = World()
    world.pod("a")
    world.pod("a", "n1")
    world.asked_to_bind("a")
    assert isinstance(check(world, pod="a", once=True), Met)
    world.asked_to_bind("b")
    assert isinstance(check(world, pod="a", once=True), Met)
    world.asked_to_bind("a", code=409)
    outcome = check(world, pod="a", once=True)
    assert isinstance(outcome, Never)
    assert outcome.seen == "a was bound 2 times"


def test_pod_and_selector_exclude_each_other() -> None:
    """One of the two says which pods are meant."""
    with pytest.raises(OperationError, match="either `pod` or `selector`"):
        check(World())
    with pytest.raises(OperationError):
        check(World(), pod="a", selector={"app": "x"})
