"""`spread` is met by pods that are distributed as claimed."""

from __future__ import annotations

import msgspec
import pytest
from operations_world import SCOPE, World

from schedlab.operations.base import Met, Never, NotYet, Outcome
from schedlab.operations.spread import Spread


def world_of(counts: dict[str, int], pending: int = 0) -> World:
    """A node per zone with so many pods."""
    world = World()
    for zone, count in counts.items():
        world.node(f"n-{zone}", zone=zone)
        for index in range(count):
            world.pod(f"{zone}-{index}", f"n-{zone}", labels={"app": "x"})
    for index in range(pending):
        world.pod(f"pending-{index}", labels={"app": "x"})
    return world


def check(world: World, **fields: object) -> Outcome:
    fields = {"selector": {"app": "x"}, "topologyKey": "zone", **fields}
    return msgspec.convert(fields, Spread).check(world.history, SCOPE)


@pytest.mark.parametrize(
    "fields",
    [
        {"maxSkew": 1},
        {"domains": {"a": 2, "b": 2, "c": 3}},
        {"domains": {"a": 3, "b": 2, "c": 2}, "exact": True},
        {"maxSkew": 1, "domains": {"a": 3, "b": 2, "c": 2}, "count": 7, "pending": 0},
    ],
    ids=["by skew", "by counts in any order", "by counts of named domains", "by all of it"],
)
def test_it_is_met_by_a_fitting_distribution(fields: dict[str, object]) -> None:
    """Seven pods over three zones."""
    assert isinstance(check(world_of({"a": 3, "b": 2, "c": 2}), **fields), Met)


def test_an_empty_domain_counts_as_zero() -> None:
    """A node with the label and no pods widens the skew."""
    outcome = check(world_of({"a": 2, "b": 0}), maxSkew=1, count=2)
    assert isinstance(outcome, Never)
    assert outcome.seen.startswith("a=2 b=0")


def test_domains_that_are_not_named_have_no_pods() -> None:
    """Zeros may be left out."""
    world = world_of({"a": 1, "b": 1, "c": 0})
    assert isinstance(check(world, domains={"a": 1, "b": 1}), Met)
    assert isinstance(check(world, domains={"a": 1, "b": 1, "c": 0}, exact=True), Met)


@pytest.mark.parametrize(
    "fields",
    [{"domains": {"a": 2, "b": 2, "c": 3}, "exact": True}, {"domains": {"a": 4, "b": 2, "c": 1}}],
    ids=["the odd pod is in another domain", "other counts"],
)
def test_all_bound_and_wrong_is_final(fields: dict[str, object]) -> None:
    """Bound pods do not move, so nobody needs to wait."""
    assert isinstance(check(world_of({"a": 3, "b": 2, "c": 2}), **fields), Never)


def test_as_long_as_the_number_of_pods_is_open_it_waits() -> None:
    """A controller may still be making them."""
    assert isinstance(check(world_of({"a": 2, "b": 0}), maxSkew=1), NotYet)
    assert isinstance(check(world_of({"a": 2, "b": 0}), maxSkew=1, count=3), NotYet)


def test_pending_pods_are_counted() -> None:
    """None is pending, unless the test says how many."""
    world = world_of({"a": 1, "b": 1}, pending=1)
    assert isinstance(check(world, maxSkew=1), NotYet)
    assert isinstance(check(world, maxSkew=1, pending=1), Met)


def test_terminating_and_finished_pods_do_not_count() -> None:
    """As for the scheduler."""
    world = world_of({"a": 1, "b": 1})
    world.pod("gone", "n-a", labels={"app": "x"}, terminating=True)
    world.pod("done", "n-a", labels={"app": "x"}, phase="Succeeded")
    assert isinstance(check(world, domains={"a": 1, "b": 1}), Met)


def test_no_pods_are_not_spread() -> None:
    """An empty selection proves nothing."""
    assert isinstance(check(world_of({"a": 0, "b": 0}), maxSkew=1), NotYet)
