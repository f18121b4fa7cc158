"""The order of nodes: zones take turns, and only a snapshot that finds nodes gone or come changes it.

The cases are those of upstream's node_tree_test.go, in our words.
"""

from __future__ import annotations

import pytest

from kubesched.state.cluster import Cluster
from kubesched.state.events import WatchEvent
from kubesched.state.order import NodeOrder
from kubesched.testing.builders import cluster, node


def made(*nodes: tuple[str, str]) -> NodeOrder:
    order = NodeOrder()
    for name, zone in nodes:
        order.put(name, zone)
    return order


@pytest.mark.parametrize(
    ("zones", "expected"),
    [
        pytest.param({}, "", id="no nodes"),
        pytest.param({"": "abc"}, "abc", id="one zone keeps the order of arrival"),
        pytest.param({"x": "a", "y": "b", "z": "c"}, "abc", id="one node in each zone"),
        pytest.param({"x": "abc", "y": "d", "z": "ef"}, "adebfc", id="a zone that ran out is passed over"),
        pytest.param({"x": "a", "y": "bcd"}, "abcd", id="the last zone is taken to its end"),
    ],
)
def test_zones_take_turns(zones: dict[str, str], expected: str) -> None:
    """In the order in which the zones appeared."""
    order = made(*((name, zone) for zone, names in zones.items() for name in names))
    assert order.snapshot() == list(expected)


def test_an_empty_zone_loses_its_turn() -> None:
    """When it comes back, it is the last one."""
    order = made(("a", "x"), ("b", "y"), ("c", "z"))
    order.remove("a")
    order.put("d", "x")
    assert order.snapshot() == ["b", "c", "d"]


def test_a_moved_node_keeps_its_place_until_nodes_come_or_go() -> None:
    """Upstream rebuilds its list only then."""
    order = made(("a", "x"), ("b", "x"), ("c", "y"))
    assert order.snapshot() == ["a", "c", "b"]
    order.put("a", "y")
    assert order.snapshot() == ["a", "c", "b"]
    order.put("d", "x")
    assert order.snapshot() == ["b", "c", "d", "a"]


def test_a_node_gone_and_back_between_snapshots_keeps_its_place() -> None:
    """Only the set of names at the snapshot counts."""
    order = made(("a", "x"), ("b", "x"))
    assert order.snapshot() == ["a", "b"]
    order.remove("a")
    order.put("a", "x")
    assert order.snapshot() == ["a", "b"]
    order.remove("a")
    assert order.snapshot() == ["b"]
    order.put("a", "x")
    assert order.snapshot() == ["b", "a"]


def names(state: Cluster) -> list[str]:
    return [state.nodes.names[slot] for slot in state.nodes.order]


def test_order_leads_to_slots() -> None:
    """Also when a node that came back got another slot."""
    state = cluster(node("a"), node("b"), node("c"))
    assert names(state) == ["a", "b", "c"]
    for name in ("a", "b"):
        state.apply(WatchEvent("DELETED", node(name)))
    for name in ("a", "b"):
        state.apply(WatchEvent("ADDED", node(name)))
    assert names(state) == ["a", "b", "c"]
    assert sorted(state.nodes.order.tolist()) == [0, 1, 2]


def test_zone_labels_make_the_order() -> None:
    """Region and zone together are a zone."""
    state = cluster(*(node(name).in_zone(zone, "r") for name, zone in [("a", "x"), ("b", "x"), ("c", "y")]))
    assert names(state) == ["a", "c", "b"]
