"""Pods on nodes: assumed, confirmed, forgotten, updated, and left behind by their node."""

from __future__ import annotations

import pytest

from kubesched.clock import VirtualClock
from kubesched.state.cluster import Cluster
from kubesched.state.events import WatchEvent
from kubesched.testing.builders import cluster, node, pod


def titles(state: Cluster, kind: str, obj: object) -> list[str]:
    return [event.title for event in state.apply(WatchEvent(kind, obj))]  # type: ignore[arg-type]


def on(state: Cluster, name: str) -> list[str]:
    return [p.name for p in state.pods.on_node(state.nodes.slot[name])] if name in state.nodes.slot else []


def test_an_assumed_pod_takes_its_place_at_once() -> None:
    """It counts as a pod on the node, under the node's name."""
    state = cluster(node("a"))
    placed = state.assume(pod("p").cpu("1"), "a")
    assert (placed.node_name, state.is_assumed(placed.uid)) == ("a", True)
    assert state.nodes.requested[0, 0] == 1000
    assert state.pods.by_uid[placed.uid] is placed
    assert state.assumed == {placed.uid}


def test_forgetting_is_the_inverse() -> None:
    """Nothing of the pod is left."""
    state = cluster(node("a"))
    before = state.nodes.books.copy()
    state.assume(pod("p").cpu("1").host_port(80).away_from({"a": "b"}).label("app", "x"), "a")
    state.forget("uid-p")
    assert (state.nodes.books == before).all()
    assert not state.is_assumed("uid-p")
    assert len(state.pods) == 0
    assert state.audit() == []


def test_a_pod_is_assumed_once() -> None:
    """Whether assumed or assigned, it holds a place already."""
    state = cluster(node("a"), pod("q").on("a"))
    state.assume(pod("p"), "a")
    for name in ("p", "q"):
        with pytest.raises(ValueError, match=rf"default/{name} .* cannot be assumed"):
            state.assume(pod(name), "a")


def test_only_an_assumed_pod_is_forgotten() -> None:
    """A pod that is gone is none of our business; one that the API has assigned stays."""
    state = cluster(node("a"), pod("p").on("a"))
    state.forget("unknown")
    with pytest.raises(ValueError, match=r"default/p .* was not assumed"):
        state.forget("uid-p")
    assert on(state, "a") == ["p"]


def test_assumed_pods_never_expire() -> None:
    """There is no time after which the place would be free again (since 1.36)."""
    clock = VirtualClock()
    state = cluster(node("a"), clock=clock)
    state.assume(pod("p").cpu("1"), "a")
    clock.advance(10**6)
    state.apply(WatchEvent("MODIFIED", node("a").label("x")))
    assert state.is_assumed("uid-p")
    assert state.nodes.requested[0, 0] == 1000


def test_the_api_confirms_an_assumed_pod() -> None:
    """The event is an addition; the amounts count once."""
    state = cluster(node("a"))
    state.assume(pod("p").cpu("1"), "a")
    assert titles(state, "MODIFIED", pod("p").cpu("1").on("a")) == ["AssignedPodAdd"]
    assert not state.is_assumed("uid-p")
    assert state.nodes.requested[0, 0] == 1000
    assert titles(state, "MODIFIED", pod("p").cpu("1").on("a").phase("Running")) == ["AssignedPodUpdate"]


def test_a_pod_confirmed_elsewhere_moves() -> None:
    """Somebody else bound it: the API's word counts."""
    state = cluster(node("a"), node("b"))
    state.assume(pod("p").cpu("1"), "a")
    assert titles(state, "MODIFIED", pod("p").cpu("1").on("b")) == ["AssignedPodAdd"]
    assert (on(state, "a"), on(state, "b")) == ([], ["p"])
    assert state.nodes.requested[state.nodes.order, 0].tolist() == [0, 1000]


def test_pods_keep_upstreams_order_on_a_node() -> None:
    """The last pod moves into the gap of one that leaves; an updated pod becomes the last."""
    state = cluster(node("a"), *(pod(name).on("a") for name in "pqrs"))
    assert on(state, "a") == ["p", "q", "r", "s"]
    state.apply(WatchEvent("DELETED", pod("q").on("a")))
    assert on(state, "a") == ["p", "s", "r"]
    state.apply(WatchEvent("MODIFIED", pod("p").on("a").phase("Running")))
    assert on(state, "a") == ["r", "s", "p"]
    state.apply(WatchEvent("DELETED", pod("p").on("a")))
    assert on(state, "a") == ["r", "s"]


def test_an_update_replaces_amounts_ports_labels_and_terms() -> None:
    """Each book follows."""
    state = cluster(node("a"))
    old = pod("p").cpu("2").host_port(80).label("app", "x").away_from({"app": "x"}).on("a")
    new = pod("p").cpu("1").host_port(81).label("app", "y").near({"app": "y"}).terminating().on("a")
    state.apply(WatchEvent("ADDED", old))
    state.apply(WatchEvent("MODIFIED", new))
    assert state.nodes.requested[0, 0] == 1000
    assert state.pods.by_uid["uid-p"] is new
    assert state.audit() == []


def test_the_same_sum_may_be_another_amount_for_scoring() -> None:
    """Defaults go by container: one that named no cpu and now does counts less."""
    state = cluster(node("a"), pod("p").cpu("1").container().on("a"))
    assert state.nodes.nonzero[0, 0] == 1100
    state.apply(WatchEvent("MODIFIED", pod("p").cpu("500m").container(cpu="500m").on("a")))
    assert (state.nodes.requested[0, 0], state.nodes.nonzero[0, 0]) == (1000, 1000)


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_pod_that_ended_frees_its_place(phase: str) -> None:
    """It counts as deleted, and is not added."""
    state = cluster(node("a"), pod("p").cpu("1").on("a"))
    assert titles(state, "MODIFIED", pod("p").cpu("1").on("a").phase(phase)) == ["AssignedPodDelete"]
    assert titles(state, "ADDED", pod("p").cpu("1").on("a").phase(phase)) == []
    assert not state.nodes.books.any()


def test_a_pod_without_a_node_is_refused() -> None:
    """It belongs to the queue."""
    with pytest.raises(ValueError, match="default/p is not assigned to a node"):
        cluster(pod("p"))


def test_unreadable_amounts_are_refused_whole() -> None:
    """The error names the object; nothing of it is in the state, and what was known before still is."""
    state = cluster(node("a"), pod("p").cpu("1").on("a"))
    for bad in (
        pod("p").cpu("a lot").on("a"),
        pod("q").host_port(80).memory("??").on("b"),
        node("a").gpu("many"),
    ):
        with pytest.raises(ValueError, match=rf"{bad.name}\): '.*' is not a quantity"):
            state.apply(WatchEvent("MODIFIED", bad))
    with pytest.raises(ValueError, match="is not a quantity"):
        state.assume(pod("r").cpu("a lot"), "a")
    assert list(state.nodes.slot) == ["a"]
    assert state.nodes.requested[0, 0] == 1000
    assert state.audit() == []


def test_a_pod_may_come_before_its_node() -> None:
    """Watches of different kinds have no mutual order. Until the node comes, nothing can be placed there."""
    state = cluster(pod("p").cpu("1").on("a"))
    assert (len(state.nodes), state.nodes.ghosts(), "a" in state.nodes) == (0, ["a"], False)
    state.apply(WatchEvent("ADDED", node("a")))
    assert (len(state.nodes), state.nodes.ghosts()) == (1, [])
    assert state.nodes.requested[state.nodes.slot["a"], 0] == 1000


def test_a_node_deleted_before_its_pods_stays_as_a_ghost() -> None:
    """It is in no order, its pods still count, and it goes with the last of them."""
    state = cluster(node("a"), node("b"), pod("p").cpu("1").on("a"), pod("q").on("a"))
    assert titles(state, "DELETED", node("a")) == ["NodeDelete"]
    assert state.nodes.order.tolist() == [state.nodes.slot["b"]]
    assert on(state, "a") == ["p", "q"]
    state.apply(WatchEvent("DELETED", pod("p").on("a")))
    assert state.nodes.ghosts() == ["a"]
    state.apply(WatchEvent("DELETED", pod("q").on("a")))
    assert state.nodes.ghosts() == []
    assert state.audit() == []


def test_a_ghost_that_comes_back_has_its_pods() -> None:
    """And the new node's amounts, not the old one's."""
    state = cluster(node("a").gpu(8).taint("x"), pod("p").cpu("1").on("a"))
    state.apply(WatchEvent("DELETED", node("a").gpu(8)))
    assert titles(state, "ADDED", node("a").cpu("4")) == ["NodeAdd"]
    slot = state.nodes.slot["a"]
    assert (state.nodes.requested[slot, 0], state.nodes.allocatable[slot, 0]) == (1000, 4000)
    assert state.nodes.taint_class(int(state.nodes.taints[slot])) == ()
    assert state.audit() == []


def test_an_assumed_pod_on_a_deleted_node_can_be_forgotten() -> None:
    """The ghost goes with it."""
    state = cluster(node("a"))
    state.assume(pod("p"), "a")
    state.apply(WatchEvent("DELETED", node("a")))
    state.forget("uid-p")
    assert "a" not in state.nodes.slot


def test_a_pod_made_again_under_its_name_replaces_the_old_one() -> None:
    """A list after a broken watch may show the new pod without the deletion of the old one."""
    state = cluster(node("a"), node("b"), pod("p").cpu("1").with_uid("one").on("a"))
    state.apply(WatchEvent("MODIFIED", pod("p").cpu("2").with_uid("two").on("b")))
    assert list(state.pods.by_uid) == ["two"]
    assert state.get("Pod", "default/p") is state.pods.by_uid["two"]
    assert titles(state, "DELETED", pod("p").with_uid("one").on("a")) == []
    assert state.audit() == []


def test_deletion_of_an_unknown_object_is_nothing() -> None:
    """It may have been seen by a list already."""
    state = cluster()
    for obj in (pod("p").on("a"), node("a")):
        assert titles(state, "DELETED", obj) == []
    assert state.nodes.slot == {}


def test_updates_that_ask_for_the_same_are_not_worked_out_again() -> None:
    """A status update hands over what the old version knew."""
    state = cluster(node("a"), pod("p").cpu("1").on("a"))
    known = state.pods.by_uid["uid-p"].requests
    state.apply(WatchEvent("MODIFIED", new := pod("p").cpu("1").on("a").phase("Running")))
    assert new.requests is known
    state.apply(WatchEvent("MODIFIED", newer := pod("p").cpu("2").on("a").phase("Running")))
    assert newer.requests == {"cpu": 2000}
