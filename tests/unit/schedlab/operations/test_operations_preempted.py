"""`preempted` is met by a preemption that is announced as kube-scheduler announces it, and by no other."""

from __future__ import annotations

import msgspec
import pytest
from operations_world import SCOPE, World

from schedlab.operations.base import Met, Never, NotYet, OperationError, Outcome
from schedlab.operations.preempted import Preempted

URGENT = "uid-Pod-ns-urgent"
MESSAGE = "default-scheduler: preempting to accommodate a higher priority pod"


def check(world: World, **fields: object) -> Outcome:
    return msgspec.convert({"by": {"pod": "urgent"}, **fields}, Preempted).check(world.history, SCOPE)


def mark(
    world: World, name: str, node: str = "n1", reason: str = "PreemptionByScheduler", **more: str
) -> None:
    """The condition that a victim gets before it is deleted."""
    pod = world.pod(name, node, labels={"tier": "batch"})
    target = {"type": "DisruptionTarget", "status": "True", "reason": reason, "message": MESSAGE, **more}
    world.put({**pod, "status": {**pod["status"], "conditions": [target]}})


def announce(world: World, name: str, node: str = "n1", by: str = URGENT, note: str = "") -> None:
    """The Event about a victim."""
    event = world.event(name, "Preempted", note or f"Preempted by pod {by} on node {node}")
    event["regarding"]["uid"] = f"uid-Pod-ns-{name}"
    world.put(event)


def preempt(world: World, name: str, node: str = "n1") -> None:
    """All that happens to a victim."""
    mark(world, name, node)
    world.remove("Pod", name)
    announce(world, name, node)


@pytest.fixture
def world() -> World:
    """Two batch pods and a serving pod on n1, one batch pod on n2, and an urgent pod that fits nowhere."""
    world = World()
    for name in ("a", "b"):
        world.pod(name, "n1", labels={"tier": "batch"})
    world.pod("s", "n1", labels={"tier": "serving"})
    world.pod("c", "n2", labels={"tier": "batch"})
    world.pod("urgent")
    return world


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"node": "n1"},
        {"nodeIn": ["n0", "n1"]},
        {"victims": {"names": ["a"]}},
        {"victims": {"selector": {"tier": "batch"}, "count": 1}},
        {"victims": {"atLeast": 1}},
        {"survivors": {"names": ["b"], "selector": {"tier": "serving"}, "count": 1}},
        {"condition": {"message": MESSAGE}},
        {"nominated": True},
    ],
    ids=[
        "somebody had to go",
        "on a node",
        "on one of some nodes",
        "victims by name",
        "victims by labels and number",
        "at least some",
        "survivors by name and by labels",
        "the condition's message",
        "the nomination was seen",
    ],
)
def test_each_part_of_a_preemption_can_be_claimed(world: World, fields: dict[str, object]) -> None:
    """The victim is gone and the preemptor is bound by then: the record still knows."""
    preempt(world, "a")
    world.pod("urgent", nominated="n1")
    world.pod("urgent", "n1")
    outcome = check(world, **fields)
    assert isinstance(outcome, Met)
    assert "a preempted" in outcome.seen


@pytest.mark.parametrize(
    ("fields", "seen"),
    [
        ({"victims": {"names": ["b"]}}, "a preempted, too"),
        ({"victims": {"count": 0}}, "1 preempted: a"),
        ({"victims": {"selector": {"tier": "serving"}}}, "a preempted, without these labels"),
        ({"node": "n2"}, "a was on n1"),
        ({"nodeIn": ["n2", "n3"]}, "a was on n1"),
        ({"survivors": {"names": ["a"]}}, "a is gone"),
        ({"survivors": {"selector": {"tier": "batch"}}}, "a is gone"),
        ({"nominated": False}, "nominated to n1"),
    ],
    ids=[
        "another victim",
        "nobody should have gone",
        "a victim of another kind",
        "on another node",
        "on none of the nodes",
        "a survivor that went",
        "a labelled survivor that went",
        "it was nominated",
    ],
)
def test_what_has_happened_cannot_be_undone(world: World, fields: dict[str, object], seen: str) -> None:
    """So the assertion fails at once."""
    preempt(world, "a")
    world.pod("urgent", nominated="n1")
    outcome = check(world, **fields)
    assert isinstance(outcome, Never)
    assert outcome.seen == seen


@pytest.mark.parametrize(
    ("fields", "seen"),
    [
        ({"victims": {"names": ["a", "b"]}}, "1 preempted: a"),
        ({"victims": {"count": 2}}, "1 preempted: a"),
        ({"victims": {"atLeast": 2}}, "1 preempted: a"),
        ({"survivors": {"names": ["later"]}}, "later is not bound"),
        ({"survivors": {"selector": {"tier": "serving"}, "count": 2}}, "1 survivors are bound, not 2"),
        ({"condition": {"message": "because"}}, "a has had the condition"),
        ({"nominated": True}, "never nominated"),
    ],
    ids=[
        "a named victim is missing",
        "too few",
        "fewer than at least",
        "a survivor that is not there yet",
        "too few survivors",
        "another message",
        "the nomination is not there yet",
    ],
)
def test_what_is_missing_may_still_come(world: World, fields: dict[str, object], seen: str) -> None:
    """Events and conditions arrive on separate watches."""
    preempt(world, "a")
    outcome = check(world, **fields)
    assert isinstance(outcome, NotYet)
    assert seen in outcome.seen


def test_nobody_is_met_until_somebody_goes(world: World) -> None:
    """`count: 0` with `holds` is how a test says that a pod does not preempt."""
    assert isinstance(check(world, victims={"count": 0}, nominated=False), Met)
    preempt(world, "a")
    assert isinstance(check(world, victims={"count": 0}), Never)


def test_a_deletion_by_somebody_else_is_no_preemption(world: World) -> None:
    """No Event names the preemptor."""
    mark(world, "a")
    world.remove("Pod", "a")
    announce(world, "a", by="uid-Pod-ns-other")
    outcome = check(world)
    assert isinstance(outcome, NotYet)
    assert outcome.seen == "it has preempted nobody"


def test_a_victim_must_have_been_told_why(world: World) -> None:
    """The condition is part of what is promised to controllers."""
    world.remove("Pod", "a")
    announce(world, "a")
    outcome = check(world)
    assert isinstance(outcome, NotYet)
    assert "a has had the condition None" in outcome.seen


def test_nothing_is_met_while_a_victim_is_not_announced(world: World) -> None:
    """It may be one too many: Events come later than the conditions."""
    preempt(world, "a")
    mark(world, "c", "n2")
    outcome = check(world, victims={"names": ["a"]})
    assert isinstance(outcome, NotYet)
    assert outcome.seen == "c has to go, and no event says for whom"
    announce(world, "c", "n2")
    assert isinstance(check(world, victims={"names": ["a"]}), Never)


def test_the_reason_of_the_condition_counts(world: World) -> None:
    """The eviction API sets the same condition for another reason."""
    mark(world, "a", reason="EvictionByEvictionAPI")
    announce(world, "a")
    assert isinstance(check(world), NotYet)


def test_the_text_of_the_event_counts(world: World) -> None:
    """To the character."""
    mark(world, "a")
    announce(world, "a", note=f"Preempted by pod {URGENT} on node n1.")
    outcome = check(world)
    assert isinstance(outcome, Never)
    assert f"not 'Preempted by pod {URGENT} on node n1'" in outcome.seen


@pytest.mark.parametrize("way", ["terminating", "told"])
def test_a_survivor_that_is_going_is_none(world: World, way: str) -> None:
    """It has not gone yet, but it will."""
    preempt(world, "a")
    if way == "terminating":
        world.pod("s", "n1", labels={"tier": "serving"}, terminating=True)
    else:
        mark(world, "s")
        announce(world, "s", by="uid-Pod-ns-other")
    outcome = check(world, survivors={"names": ["s"]})
    assert isinstance(outcome, Never)
    assert outcome.seen == "s is going"


def test_a_bound_preemptor_is_nominated_no_more(world: World) -> None:
    """What was not seen by then never comes."""
    preempt(world, "a")
    world.pod("urgent", "n1")
    assert isinstance(check(world, nominated=True), Never)


def test_the_nomination_is_to_the_victims_node(world: World) -> None:
    """Another node's name is another claim."""
    preempt(world, "a")
    world.pod("urgent", nominated="n2")
    outcome = check(world, nominated=True)
    assert isinstance(outcome, NotYet)
    assert outcome.seen == "nominated to n2"


def test_the_preemptor_may_come_later() -> None:
    """An assertion about a pod that is not there waits."""
    assert isinstance(check(World()), NotYet)


@pytest.mark.parametrize(
    "fields",
    [{"victims": {"names": ["a"], "count": 1}}, {"victims": {"count": 0}, "nominated": True}],
    ids=["two numbers of victims", "a nomination without victims"],
)
def test_claims_that_contradict_themselves_are_refused(world: World, fields: dict[str, object]) -> None:
    """A test that cannot be meant is an error, not a verdict."""
    with pytest.raises(OperationError):
        check(world, **fields)
