"""The audit finds what is wrong, and names it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kubesched.api.labels import selector_from_map as pairs
from kubesched.state.audit import Drift
from kubesched.state.cluster import Cluster
from kubesched.state.selectors import SelectorClass
from kubesched.testing.builders import cluster, namespace, node, pod

WEB = SelectorClass(frozenset({"default"}), pairs({"app": "web"}))


def made() -> Cluster:
    state = cluster(
        namespace("default"),
        node("a").gpu(8).taint("x").has_image("i", size=1).in_zone("z"),
        node("b"),
        pod("p").cpu("1").label("app", "web").host_port(80).away_from({"app": "web"}).on("a"),
        pod("g").on("ghost"),
    )
    state.nodes.label("kubernetes.io/hostname")
    state.pods.count(WEB)
    state.assume(pod("q").gpu(1), "a")
    state.nominated.add(pod("n"), "a")
    state.nodes.snapshot()
    return state


def test_all_is_well_to_begin_with() -> None:
    """And asking changes nothing."""
    state = made()
    assert state.audit() == state.audit() == []


def _set(column: str, value: int) -> Callable[[Cluster], None]:
    def corrupt(state: Cluster) -> None:
        getattr(state.nodes, column)[0] += value

    return corrupt


def _book(column: int) -> Callable[[Cluster], None]:
    def corrupt(state: Cluster) -> None:
        state.nodes.books[0, column] += 1

    return corrupt


@pytest.mark.parametrize(
    ("corrupt", "column", "key"),
    [
        pytest.param(_book(3), "requested", "a", id="requested"),
        pytest.param(_book(1), "nonzero", "a", id="nonzero"),
        pytest.param(_book(0), "pod_count", "a", id="pod_count"),
        pytest.param(_set("allocatable", 1), "allocatable", "a", id="allocatable"),
        pytest.param(_set("allowed_pods", 1), "allowed_pods", "a", id="allowed_pods"),
        pytest.param(_set("unschedulable", True), "unschedulable", "a", id="unschedulable"),
        pytest.param(_set("taints", -1), "taints", "a", id="taints"),
        pytest.param(_set("ports", 7), "ports", "a", id="ports"),
        pytest.param(_set("frozen_images", 1), "image classes", "the cluster", id="images"),
        pytest.param(
            lambda s: s.nodes.label("kubernetes.io/hostname").__setitem__(0, -1),
            "label kubernetes.io/hostname",
            "a",
            id="a label column",
        ),
        pytest.param(lambda s: s.nodes.image_states.remove(0), "images", "a", id="image states"),
        pytest.param(lambda s: s.nodes.node_order.put("a", "other"), "zone", "a", id="the zone"),
        pytest.param(lambda s: s.nodes.order.__setitem__(0, 1), "order", "the cluster", id="the order"),
        pytest.param(lambda s: s.nodes.slot.pop("b"), "slots", "the cluster", id="a lost slot"),
        pytest.param(lambda s: s.nodes.names.__setitem__(1, "c"), "names", "b", id="names"),
        pytest.param(lambda s: s.nodes.objects.__setitem__(1, None), "objects", "b", id="objects"),
        pytest.param(
            lambda s: s.nodes.books.__setitem__((9, 3), 1), "books", "free slots", id="a free slot's books"
        ),
        pytest.param(
            lambda s: s.nodes.taints.__setitem__(9, 1), "taints", "free slot 9", id="a free slot's taints"
        ),
        pytest.param(lambda s: s.pods.on_node(0).clear(), "on_node", "the cluster", id="the pods of a node"),
        pytest.param(lambda s: s.pods.by_key.pop("default/p"), "by_key", "default/p", id="pods by name"),
        pytest.param(
            lambda s: s.pods.update(s.pods.by_uid["uid-p"].cpu("7").on("b")),
            "requested",
            "b",
            id="an update that changes the node",
        ),
        pytest.param(lambda s: s.pods.count(WEB).__setitem__(0, 5), "count", "on a", id="a count"),
        pytest.param(
            lambda s: s.pods.count(WEB, True).__setitem__(1, 5), "live count", "on b", id="a live count"
        ),
        pytest.param(
            lambda s: s.pods.count(WEB).__setitem__(9, 1), "count", "on free slot 9", id="a count of nobody"
        ),
        pytest.param(lambda s: next(iter(s.pods.terms.all())).change(1, 1), "term", "", id="a term"),
        pytest.param(
            lambda s: s.pods.mounts.add(1, pod("p").claim("c")), "mounts", "claim/default/c", id="a mount"
        ),
        pytest.param(lambda s: s.pods.namespaces.clear(), "namespaces", "the cluster", id="namespaces"),
        pytest.param(
            lambda s: s.nodes.taint_classes.acquire(()),
            "taint classes",
            "the cluster",
            id="a use that is nobody's",
        ),
        pytest.param(
            lambda s: s.nominated.on("a") and s.nominated.__dict__["_node_of"].clear(),
            "nominated",
            "",
            id="nominations",
        ),
    ],
)
def test_a_corrupted_column_is_named(corrupt: Callable[[Cluster], object], column: str, key: str) -> None:
    """With the node, pod or class it is about."""
    state = made()
    corrupt(state)
    drifts = state.audit()
    assert [drift for drift in drifts if drift.column == column and key in drift.key], drifts


def test_a_drift_reads_as_a_sentence() -> None:
    """For the log of a signal handler."""
    state = made()
    state.nodes.books[0, 3] += 500
    (drift,) = state.audit()
    assert str(drift).startswith("requested of a: expected {'cpu': 1000, ")
    assert isinstance(drift, Drift)


def test_the_dump_is_for_people() -> None:
    """Names instead of numbers; zeros left out."""
    dump = made().dump()
    a = next(one for one in dump["nodes"] if one["name"] == "a")
    assert (a["requested"], a["taints"], a["pods"]) == (
        {"cpu": 1000, "nvidia.com/gpu": 1},
        ["x:NoSchedule"],
        ["default/p", "default/q"],
    )
    assert [one["name"] for one in dump["nodes"] if one["ghost"]] == ["ghost"]
    assert (dump["assumed"], dump["nominated"], dump["objects"]) == (
        ["default/q"],
        {"a": ["default/n"]},
        {"Namespace": 1, "Node": 2},
    )
