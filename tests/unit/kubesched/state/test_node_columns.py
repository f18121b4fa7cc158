"""Nodes as columns: amounts, labels, taints, ports, slots and generations."""

from __future__ import annotations

import numpy as np
import pytest

from kubesched.api.labels import requirement
from kubesched.api.pod import HostPort
from kubesched.api.taints import Taint
from kubesched.state.cluster import Cluster
from kubesched.state.events import WatchEvent
from kubesched.state.label_columns import ABSENT, NOWHERE
from kubesched.testing.builders import GPU, cluster, node, pod

GI = 1024**3


def slot(state: Cluster, name: str) -> int:
    return state.nodes.slot[name]


def test_amounts_are_in_columns() -> None:
    """cpu in milli, memory in bytes, then what appears, in order of appearance."""
    state = cluster(
        node("a").cpu("4").memory("8Gi").pods(20).gpu(8), pod("p").cpu("1500m").memory("1Gi").gpu(2).on("a")
    )
    nodes, a = state.nodes, slot(state, "a")
    assert nodes.resources == ["cpu", "memory", "ephemeral-storage", GPU]
    assert nodes.allocatable[a].tolist() == [4000, 8 * GI, 0, 8]
    assert nodes.requested[a].tolist() == [1500, GI, 0, 2]
    assert nodes.nonzero[a].tolist() == [1500, GI]
    assert (nodes.pod_count[a], nodes.allowed_pods[a]) == (1, 20)


def test_a_resource_only_a_pod_names_gets_a_column() -> None:
    """On every node it is zero; what was there before is untouched."""
    state = cluster(node("a").cpu("4"))
    index = state.nodes.resource_index("vendor.io/fpga")
    assert state.nodes.resource_index("vendor.io/fpga") == index == 3
    assert state.nodes.allocatable[slot(state, "a")].tolist() == [4000, 128 * GI, 0, 0]
    state.apply(WatchEvent("ADDED", pod("p").request("vendor.io/asic", 2).on("a")))
    assert state.nodes.requested[slot(state, "a")].tolist() == [0, 0, 0, 0, 2]
    state.apply(WatchEvent("DELETED", pod("p").on("a")))
    assert not state.nodes.books.any()


def test_a_resource_that_a_node_loses_is_zero() -> None:
    """An update replaces all amounts."""
    state = cluster(node("a").gpu(8))
    state.apply(WatchEvent("MODIFIED", node("a")))
    assert state.nodes.allocatable[slot(state, "a"), state.nodes.resource_index(GPU)] == 0


def test_nodes_without_a_label_are_absent_from_its_column() -> None:
    """The column is made when first asked for, and follows updates from then on."""
    state = cluster(node("a").label("rack", "1"), node("b"))
    nodes = state.nodes
    assert nodes.label("rack")[nodes.order].tolist() == [nodes.value_id("rack", "1"), ABSENT]
    state.apply(WatchEvent("MODIFIED", node("b").label("rack", "2")))
    state.apply(WatchEvent("MODIFIED", node("a").label("rack", "2")))
    assert nodes.label("rack")[nodes.order].tolist() == [nodes.value_id("rack", "2")] * 2
    assert nodes.value_id("rack", "1") == NOWHERE
    assert nodes.label_values("rack")[nodes.value_id("rack", "2")] == "2"


def test_a_value_nowhere_is_no_absent_label() -> None:
    """Comparing a column with a value that no node has must not select the nodes without the label."""
    state = cluster(node("a"))
    assert not (state.nodes.label("rack") == state.nodes.value_id("rack", "9")).any()


@pytest.mark.parametrize(
    ("operator", "values", "admitted"),
    [
        pytest.param("In", ("5",), "b", id="In one value"),
        pytest.param("In", ("5", "7", "none"), "bc", id="In several values"),
        pytest.param("In", ("none",), "", id="In a value that no node has"),
        pytest.param("NotIn", ("5",), "acd", id="NotIn admits the absent"),
        pytest.param("Exists", (), "bcd", id="Exists"),
        pytest.param("DoesNotExist", (), "a", id="DoesNotExist"),
        pytest.param("Gt", ("5",), "c", id="Gt passes over words and absence"),
        pytest.param("Lt", ("6",), "b", id="Lt passes over words and absence"),
    ],
)
def test_a_requirement_is_decided_per_value(operator: str, values: tuple[str, ...], admitted: str) -> None:
    """The answer for all nodes equals the answer for each."""
    every = [node("a"), node("b").label("gen", "5"), node("c").label("gen", "7"), node("d").label("gen", "x")]
    state = cluster(*every)
    wanted = requirement("gen", operator, values)
    assert "".join(n.name for n in every if wanted.matches(n.labels)) == admitted
    found = state.nodes.admits(wanted)[state.nodes.order]
    assert "".join(n.name for n, ok in zip(every, found, strict=True) if ok) == admitted


def test_equal_taints_are_one_class() -> None:
    """The class tells the taints; cordons are a column of their own."""
    state = cluster(node("a").taint("gpu"), node("b").taint("gpu"), node("c").cordoned())
    nodes = state.nodes
    a, b, c = nodes.order
    assert nodes.taints[a] == nodes.taints[b] != nodes.taints[c]
    assert nodes.taint_class(int(nodes.taints[a])) == (Taint(key="gpu", effect="NoSchedule"),)
    assert nodes.taint_class(int(nodes.taints[c])) == ()
    assert nodes.unschedulable[nodes.order].tolist() == [False, False, True]


def test_a_shared_port_is_free_once_one_of_its_users_is_gone() -> None:
    """A node's ports are a set, as upstream; an update of the other user, which is a removal and an addition,
    takes the port again."""
    p, q = pod("p").host_port(80).on("a"), pod("q").host_port(80).host_port(81).on("a")
    state = cluster(node("a"), p, q)
    used = [state.nodes.port_class(int(state.nodes.ports[0]))]
    for word, changed in (("DELETED", q), ("MODIFIED", p.label("x", "y")), ("DELETED", p)):
        state.apply(WatchEvent(word, changed))
        used.append(state.nodes.port_class(int(state.nodes.ports[0])))
        assert state.audit() == []
    http, other = HostPort("0.0.0.0", "TCP", 80), HostPort("0.0.0.0", "TCP", 81)
    assert used == [{http, other}, frozenset(), {http}, frozenset()]


def test_slots_are_reused_and_start_clean() -> None:
    """A new node inherits nothing from the slot's last owner."""
    state = cluster(node("a").gpu(8).taint("x").cordoned().label("rack", "1").has_image("i", size=1))
    state.nodes.label("rack")
    state.apply(WatchEvent("DELETED", node("a")))
    state.apply(WatchEvent("ADDED", node("b")))
    nodes, b = state.nodes, slot(state, "b")
    assert b == 0
    assert (nodes.allocatable[b, 3], nodes.taint_class(int(nodes.taints[b])), nodes.unschedulable[b]) == (
        0,
        (),
        False,
    )
    assert nodes.label("rack")[b] == ABSENT
    assert nodes.image_class(int(nodes.images[b])) == {}
    assert state.audit() == []


def test_a_value_goes_with_its_last_node() -> None:
    """A node that is gone, ghost or not, has no labels."""
    state = cluster(node("a").label("rack", "1"), node("b").label("rack", "2"), pod("p").on("b"))
    state.nodes.label("rack")
    for name in "ab":
        state.apply(WatchEvent("DELETED", node(name)))
    assert [state.nodes.value_id("rack", value) for value in "12"] == [NOWHERE, NOWHERE]
    assert (state.nodes.label("rack") == ABSENT).all()


def test_generations_never_repeat() -> None:
    """Whoever remembers a node's generation sees that it came back, whichever slot it got."""
    state = cluster()
    latest = 0
    for event, name in [
        ("ADDED", "a"),
        ("ADDED", "b"),
        *[("MODIFIED", "b")] * 5,
        ("ADDED", "c"),
        ("MODIFIED", "a"),
    ]:
        state.apply(WatchEvent(event, node(name)))  # type: ignore[arg-type]
        assert state.nodes.generation[slot(state, name)] > latest
        latest = int(state.nodes.generation[slot(state, name)])
    for name in "abc":
        state.apply(WatchEvent("DELETED", node(name)))
    for name in "abc":
        state.apply(WatchEvent("ADDED", node(name)))
        assert state.nodes.generation[slot(state, name)] > latest


def test_columns_grow_with_the_cluster() -> None:
    """All of them, with what they held."""
    state = cluster(*(node(f"n{i}").label("i", str(i)).cpu(i + 1) for i in range(3)))
    state.nodes.label("i")
    for i in range(3, 100):
        state.apply(WatchEvent("ADDED", node(f"n{i}").label("i", str(i)).cpu(i + 1)))
    nodes = state.nodes
    assert nodes.capacity >= 100
    assert nodes.allocatable[nodes.order, 0].tolist() == [1000 * (i + 1) for i in range(100)]
    assert [nodes.label_values("i")[n] for n in nodes.label("i")[nodes.order]] == [str(i) for i in range(100)]
    columns = (nodes.allocatable, nodes.requested, nodes.taints, nodes.ports, nodes.images, nodes.generation)
    assert {len(column) for column in columns} == {nodes.capacity}
    assert state.audit() == []


def test_column_types_are_as_promised() -> None:
    """64 bits for amounts, 32 for numbers of classes and rows."""
    nodes = cluster(node("a")).nodes
    assert {c.dtype for c in (nodes.allocatable, nodes.requested, nodes.pod_count)} == {np.dtype(np.int64)}
    assert {c.dtype for c in (nodes.order, nodes.taints, nodes.ports, nodes.images)} == {np.dtype(np.int32)}
