"""What-if views: worlds that differ in some pods on one node."""

from __future__ import annotations

import numpy as np
import pytest

from kubesched.api.pod import HostPort
from kubesched.state.cluster import Cluster
from kubesched.state.events import WatchEvent
from kubesched.state.view import StaleViewError, View
from kubesched.testing.builders import GPU, cluster, node, pod

P, Q, R = (pod(name).cpu("1").label("app", name) for name in "pqr")


def made() -> Cluster:
    return cluster(node("a").gpu(8), node("b"), node("c"), P.on("a"), Q.on("a"), R.on("b"))


def every(state: Cluster) -> View:
    return View(state, state.nodes.order)


def names(view: View, k: int) -> list[str]:
    return [p.name for p in view.pods(k)]


def test_a_fresh_view_is_the_cluster() -> None:
    """Gathered for its rows, in their order."""
    state = made()
    view = View(state, state.nodes.order[[2, 0]])
    assert len(view) == 2
    assert view.requested[:, 0].tolist() == [0, 2000]
    assert view.pod_count.tolist() == [0, 2]
    assert view.nonzero.tolist() == [[0, 0], [2000, 400 * 1024**2]]
    assert [names(view, k) for k in range(2)] == [[], ["p", "q"]]


def test_added_pods_count_in_their_world_only() -> None:
    """The view that was advanced stays what it was, and so does the cluster."""
    state = made()
    before = state.nodes.books.copy()
    view = every(state)
    more = view.add([0, 2], [[pod("x").cpu("3")], [pod("x").cpu("3"), pod("y").gpu(1)]])
    assert more.requested[:, 0].tolist() == [5000, 1000, 3000]
    assert more.requested[:, state.nodes.resource_index(GPU)].tolist() == [0, 0, 1]
    assert more.pod_count.tolist() == [3, 1, 2]
    assert names(more, 0) == ["p", "q", "x"]
    assert view.requested[:, 0].tolist() == [2000, 1000, 0]
    assert (state.nodes.books == before).all()


def test_removed_pods_are_the_clusters_own() -> None:
    """Whichever version of the pod is named, what the cluster has of it counts."""
    view = every(made()).remove([0], [[P.cpu("9").on("a")]])
    assert view.requested[:, 0].tolist() == [1000, 1000, 0]
    assert names(view, 0) == ["q"]


def test_adding_back_restores_the_place() -> None:
    """A removal taken back leaves no trace."""
    view = every(made())
    back = view.remove([0], [[P, Q]]).add([0], [[P]])
    assert names(back, 0) == ["p"]
    assert names(back.add([0], [[Q]]), 0) == ["p", "q"]
    assert repr(back.add([0], [[Q]])) == "View(3 worlds, 0 moved)"
    assert repr(back) == "View(3 worlds, 1 moved)"


@pytest.mark.parametrize(
    ("sign", "asked", "complaint"),
    [
        pytest.param(
            1, P, "default/p .* on the node of world 0 already", id="a pod that is there is not added"
        ),
        pytest.param(
            -1, R, "default/r .* is not on the node of world 0", id="a pod elsewhere is not removed"
        ),
        pytest.param(-1, pod("x"), "default/x .* is not on the node", id="an unknown pod is not removed"),
    ],
)
def test_impossible_moves_are_refused(sign: int, asked: object, complaint: str) -> None:
    """They would count twice, or below zero."""
    view = every(made())
    move = view.add if sign > 0 else view.remove
    with pytest.raises(ValueError, match=complaint):
        move([0], [[asked]])  # type: ignore[list-item]


def test_moving_twice_is_refused() -> None:
    """A pod that was added is there, one that was removed is not."""
    view = every(made()).add([1], [[P]]).remove([0], [[Q]])
    with pytest.raises(ValueError, match="already"):
        view.add([1], [[P]])
    with pytest.raises(ValueError, match="is not on"):
        view.remove([0], [[Q]])
    with pytest.raises(ValueError, match="world 0 is named twice"):
        view.add([0, 0], [[pod("x")], [pod("y")]])


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        pytest.param(slice(1, None), [1000, 0], id="a slice"),
        pytest.param([2, 0], [0, 2500], id="positions"),
        pytest.param(np.array([True, False, True]), [2500, 0], id="a mask"),
        pytest.param([], [], id="nothing"),
        pytest.param(np.array([], np.bool_).reshape(0), [], id="an empty mask of an empty view"),
    ],
)
def test_take_gives_some_worlds(index: object, expected: list[int]) -> None:
    """With what was moved in them."""
    view = every(made()).add([0], [[pod("x").cpu("500m")]])
    if isinstance(index, np.ndarray) and not index.size:
        view = view.take([])
    taken = view.take(index)  # type: ignore[arg-type]
    assert taken.requested[:, 0].tolist() == expected
    assert len(taken) == len(expected)


def test_choose_decides_world_by_world() -> None:
    """True takes this view's world, false the other's."""
    view = every(made())
    more = view.add([0, 1], [[pod("x").cpu("1")], [pod("x").cpu("1")]])
    chosen = more.choose([True, False, True], view)
    assert chosen.requested[:, 0].tolist() == [3000, 1000, 0]
    assert (names(chosen, 0), names(chosen, 1)) == (["p", "q", "x"], ["r"])
    assert view.choose([True, False, True], more).requested[:, 0].tolist() == [2000, 2000, 0]
    assert view.choose([True, False, False], view) is view
    with pytest.raises(ValueError, match="the same rows"):
        view.choose([True, True], view.take([0, 1]))


def test_moved_sums_over_moved_pods() -> None:
    """Added ones plus, removed ones minus, the others not even asked."""
    view = every(made()).remove([0], [[P]]).add([0, 1], [[pod("x").cpu("3")], [pod("y").cpu("4")]])
    asked: list[str] = []

    def cpu(moved: object) -> int:
        asked.append(moved.name)  # type: ignore[attr-defined]
        return int(moved.requests["cpu"])  # type: ignore[attr-defined]

    assert view.moved(cpu).tolist() == [2000, 4000, 0]
    assert sorted(asked) == ["p", "x", "y"]
    assert every(made()).moved(cpu).tolist() == [0, 0, 0]


def test_ports_follow_moved_pods() -> None:
    """The last one who came or went decides about a shared port, as upstream; classes of worlds are read like
    those of nodes."""
    taken = pod("h").host_port(80)
    state = cluster(node("a"), node("b"), taken.on("a"), pod("i").host_port(80).on("a"))
    view = every(state)
    http, tls = HostPort("0.0.0.0", "TCP", 80), HostPort("0.0.0.0", "TCP", 443)

    def used(what: View) -> list[set[HostPort]]:
        return [set(state.nodes.port_class(int(number))) for number in what.ports()]

    assert used(view) == [{http}, set()]
    less = view.remove([0], [[taken]])
    assert used(less) == [set(), set()]
    assert used(less.add([0], [[taken]])) == [{http}, set()]
    guest = pod("k").host_port(80)
    assert used(view.add([0], [[guest]]).remove([0], [[guest]])) == [set(), set()]
    more = less.remove([0], [[pod("i")]]).add([1], [[pod("j").host_port(443)]])
    assert used(more) == [set(), {tls}]
    assert used(more.add([0], [[taken]])) == [{http}, {tls}]
    state.apply(WatchEvent("MODIFIED", node("b")))
    assert state.nodes.port_classes.find(frozenset({tls})) is None


def test_a_node_of_a_world_is_plain_attributes() -> None:
    """All that a per-node plugin needs, with what was moved."""
    state = cluster(
        node("a").gpu(8).taint("x").label("rack", "1").annotation("n", "1").cordoned().has_image("i", size=5),
        P.host_port(80).on("a"),
    )
    view = every(state).add([0], [[pod("x").gpu(3)]])
    seen = view.node(0)
    assert (seen.name, seen.labels["rack"], seen.annotations["n"], seen.unschedulable) == (
        "a",
        "1",
        "1",
        True,
    )
    assert [str(taint) for taint in seen.taints] == ["x:NoSchedule"]
    assert seen.allocatable == {"cpu": 32000, "memory": 128 * 1024**3, "pods": 110, GPU: 8}
    assert seen.requested == {"cpu": 1000, "memory": 0, GPU: 3, "pods": 2}
    assert (seen.free(GPU), seen.free("cpu"), seen.free("pods"), seen.free("none")) == (5, 31000, 108, 0)
    assert [p.name for p in seen.pods] == ["p", "x"]
    assert seen.ports == {HostPort("0.0.0.0", "TCP", 80)}
    assert seen.images["i"].size == 5
    assert seen.object is state.get("Node", "a")


def test_a_ghost_has_no_node() -> None:
    """Nobody looks there but by mistake."""
    state = cluster(P.on("gone"))
    with pytest.raises(LookupError, match="row 0 of world 0 has no node"):
        View(state, [0]).node(0)


def test_a_resource_that_comes_up_later_is_zero() -> None:
    """A plugin may name one, or a moved pod bring one, after columns were gathered."""
    state = made()
    view = every(state)
    more = view.add([0], [[P.with_uid("x")]])
    assert more.requested.shape == (3, 4)
    late = state.nodes.resource_index("vendor.io/late")
    assert more.requested[:, late].tolist() == [0, 0, 0]
    other = more.add([1], [[pod("y").request("vendor.io/later", 2)]])
    assert other.requested[:, state.nodes.resource_index("vendor.io/later")].tolist() == [0, 2, 0]
    chosen = other.choose([False, True, True], more)
    assert chosen.requested[:, 0].tolist() == [3000, 1000, 0]
    assert chosen.requested[1, -1] == 2


@pytest.mark.parametrize("read", ["requested", "nonzero", "pod_count"])
def test_a_view_of_the_past_says_so(read: str) -> None:
    """It would mix two moments."""
    state = made()
    view = every(state)
    state.assume(pod("x"), "a")
    with pytest.raises(StaleViewError, match="epoch 6, the cluster is at 7"):
        getattr(view, read)
    with pytest.raises(StaleViewError):
        view.take([0]).pods(0)
    with pytest.raises(StaleViewError):
        view.add([0], [[pod("y")]])
