"""`assert`, `error` and `wait`: each is met by the right objects, and not by others."""

from __future__ import annotations

import msgspec
import pytest
from operations_world import SCOPE, World

from schedlab.operations.assert_ import Assert
from schedlab.operations.base import Assertion, Met, NotYet, OperationError, Outcome, Scope
from schedlab.operations.error import Error
from schedlab.operations.wait import Wait

READY = {"apiVersion": "v1", "kind": "Node", "status": {"conditions": [{"type": "Ready", "status": "True"}]}}


def ask(kind: type[Assertion], world: World, scope: Scope = SCOPE, /, **fields: object) -> Outcome:
    return msgspec.convert(fields, kind).check(world.history, scope)


def named(name: str, **more: object) -> dict[str, object]:
    return {**READY, "metadata": {"name": name}, **more}


def test_assert_is_met_by_an_object_that_has_everything() -> None:
    """By name."""
    world = World()
    world.node("n1")
    assert isinstance(ask(Assert, world, resource=named("n1")), Met)


def test_assert_waits_for_an_object_that_lacks_something_and_says_what() -> None:
    """With the time since when it is like that."""
    world = World()
    world.node("n1", ready="False")
    outcome = ask(Assert, world, resource=named("n1"))
    assert isinstance(outcome, NotYet)
    assert outcome.seen == "status.conditions[0](type=Ready).status: expected 'True', seen 'False'"
    assert outcome.since == world.now


def test_assert_waits_for_an_object_that_does_not_exist() -> None:
    """Nothing is there yet."""
    outcome = ask(Assert, World(), resource=named("n1"))
    assert isinstance(outcome, NotYet)
    assert outcome.seen == "there is none"


def test_assert_without_a_name_takes_any_object_with_the_labels() -> None:
    """And explains itself with the one that lacks least."""
    world = World()
    world.node("n1", ready="False", pool="x")
    world.node("n2", ready="True", pool="y")
    resource = {**READY, "metadata": {"labels": {"pool": "x"}}}
    assert isinstance(ask(Assert, world, resource=resource), NotYet)
    world.node("n1", ready="True", pool="x")
    assert isinstance(ask(Assert, world, resource=resource), Met)


def test_assert_stays_in_its_namespace() -> None:
    """A pod of the same name elsewhere is another pod."""
    world = World()
    world.pod("a", "n1", namespace="other")
    resource = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
    assert isinstance(ask(Assert, world, resource=resource), NotYet)
    elsewhere = {**resource, "metadata": {"name": "a", "namespace": "other"}}
    assert isinstance(ask(Assert, world, resource=elsewhere), Met)


def test_assert_wants_every_object_of_a_file() -> None:
    """Expressions in the file have their values."""
    scope = Scope("ns", {"names": ["n1", "n2"]}, {"both.yaml": [named("($names[0])"), named("($names[1])")]})
    world = World()
    world.node("n1")
    assert isinstance(ask(Assert, world, scope, file="both.yaml"), NotYet)
    world.node("n2")
    assert isinstance(ask(Assert, world, scope, file="both.yaml"), Met)


def test_assert_names_the_kinds_it_reads() -> None:
    """So that they are watched before it is asked."""
    assert Assert(resource=named("n1")).kinds(SCOPE) == [("v1", "Node")]
    assert Error(resource=named("n1")).kinds(SCOPE) == [("v1", "Node")]


@pytest.mark.parametrize("fields", [{}, {"file": "a", "resource": {}}], ids=["neither", "both"])
def test_assert_takes_a_file_or_a_resource(fields: dict[str, object]) -> None:
    """One of the two."""
    with pytest.raises(OperationError, match="either `file` or `resource`"):
        ask(Assert, World(), **fields)


def test_error_is_met_while_no_object_matches() -> None:
    """An object that lacks something does not match."""
    world = World()
    assert isinstance(ask(Error, world, resource=named("n1")), Met)
    world.node("n1", ready="False")
    assert isinstance(ask(Error, world, resource=named("n1")), Met)


def test_error_is_not_met_by_an_object_that_matches() -> None:
    """It may go away, hence NotYet."""
    world = World()
    world.node("n1")
    outcome = ask(Error, world, resource=named("n1"))
    assert isinstance(outcome, NotYet)
    assert outcome.seen == "n1 matches"


def test_wait_for_deletion_ends_when_the_object_is_gone() -> None:
    """And tells which finalizers hold it."""
    world = World()
    pod = world.pod("a", "n1")
    fields = {"apiVersion": "v1", "kind": "Pod", "name": "a", "for": {"deletion": {}}}
    assert isinstance(ask(Wait, world, **fields), NotYet)
    metadata = {**pod["metadata"], "deletionTimestamp": "now", "finalizers": ["example.com/hold"]}
    world.put({**pod, "metadata": metadata})
    outcome = ask(Wait, world, **fields)
    assert isinstance(outcome, NotYet)
    assert outcome.seen == "a is being deleted, held by the finalizers example.com/hold"
    world.remove("Pod", "a")
    assert isinstance(ask(Wait, world, **fields), Met)


def test_wait_for_a_condition_wants_it_of_all_objects() -> None:
    """And of at least one."""
    world = World()
    fields = {"apiVersion": "v1", "kind": "Node", "for": {"condition": {"name": "Ready"}}}
    assert isinstance(ask(Wait, world, **fields), NotYet)
    world.node("n1")
    world.node("n2", ready="Unknown")
    outcome = ask(Wait, world, **fields)
    assert isinstance(outcome, NotYet)
    assert outcome.seen == "n2 has Ready=Unknown"
    world.node("n2")
    assert isinstance(ask(Wait, world, **fields), Met)


def test_wait_wants_to_know_what_for() -> None:
    """An empty `for` is a mistake, not a pass."""
    with pytest.raises(OperationError, match="wait for what"):
        ask(Wait, World(), apiVersion="v1", kind="Node", **{"for": {}})
