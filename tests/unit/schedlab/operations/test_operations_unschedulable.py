"""`unschedulable` is met by pods that stay pending for exactly the expected reasons."""

from __future__ import annotations

import msgspec
import pytest
from operations_world import SCOPE, World

from schedlab.operations.base import Met, Never, NotYet, Outcome
from schedlab.operations.unschedulable import Unschedulable

MESSAGE = (
    "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient nvidia.com/gpu. "
    "no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found."
)
BECAUSE = {"node(s) had untolerated taint(s)": 1, "Insufficient nvidia.com/gpu": 2}


def check(world: World, **fields: object) -> Outcome:
    return msgspec.convert({"pod": "a", **fields}, Unschedulable).check(world.history, SCOPE)


@pytest.fixture
def world() -> World:
    """A pod that fits nowhere."""
    world = World()
    world.pod("a")
    world.pod("a", reason="Unschedulable", message=MESSAGE)
    return world


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"nodes": 3},
        {"because": BECAUSE},
        {"nodes": 3, "because": BECAUSE, "nominatedNodeName": ""},
        {"message": MESSAGE},
    ],
    ids=["the reason alone", "the number of nodes", "all reasons", "everything", "the whole message"],
)
def test_it_is_met_by_what_the_condition_says(world: World, fields: dict[str, object]) -> None:
    """Each part can be claimed by itself."""
    assert isinstance(check(world, **fields), Met)


@pytest.mark.parametrize(
    ("fields", "seen"),
    [
        ({"nodes": 4}, "3 nodes in"),
        ({"because": {"Insufficient nvidia.com/gpu": 2}}, "1 node(s) had untolerated taint(s)"),
        ({"because": {**BECAUSE, "Insufficient cpu": 1}}, "because"),
        ({"because": {**BECAUSE, "Insufficient nvidia.com/gpu": 1}}, "2 Insufficient nvidia.com/gpu"),
        ({"message": MESSAGE[:-1]}, "the message is"),
        ({"nominatedNodeName": "n1"}, "the nominated node is none"),
        ({"reason": "SchedulingGated"}, "pending, Unschedulable"),
    ],
    ids=[
        "another number of nodes",
        "a reason is left out",
        "a reason is too many",
        "another count",
        "the message differs by a dot",
        "no node is nominated",
        "another condition reason",
    ],
)
def test_anything_else_is_not_it(world: World, fields: dict[str, object], seen: str) -> None:
    """The pod may still come to say so, hence NotYet."""
    outcome = check(world, **fields)
    assert isinstance(outcome, NotYet)
    assert seen in outcome.seen
    assert outcome.since == world.now


def test_a_bound_pod_can_never_be_unschedulable(world: World) -> None:
    """So the assertion fails at once, and `holds` breaks."""
    world.pod("a", "n1")
    outcome = check(world)
    assert isinstance(outcome, Never)
    assert outcome.seen == "a is bound to n1"
    assert outcome.since == world.now


def test_since_is_when_the_wrong_state_began(world: World) -> None:
    """A revision that changes nothing of it does not reset the clock."""
    began = world.now
    world.pod("a", reason="Unschedulable", message=MESSAGE, labels={"touched": "yes"})
    outcome = check(world, nodes=4)
    assert isinstance(outcome, NotYet)
    assert outcome.since == began


def test_a_pod_of_which_nothing_is_said_is_waited_for() -> None:
    """The scheduler has not tried it yet."""
    world = World()
    world.pod("a")
    outcome = check(world)
    assert isinstance(outcome, NotYet)
    assert outcome.seen == "a: pending, no scheduler has said anything about it"


def test_all_selected_pods_must_be_pending(world: World) -> None:
    """A number of pods can be claimed, too."""
    operation = Unschedulable(selector={"app": "x"}, count=2)
    world.pod("b", reason="Unschedulable", message=MESSAGE, labels={"app": "x"})
    assert isinstance(operation.check(world.history, SCOPE), NotYet)
    world.pod("c", reason="Unschedulable", message=MESSAGE, labels={"app": "x"})
    assert isinstance(operation.check(world.history, SCOPE), Met)
