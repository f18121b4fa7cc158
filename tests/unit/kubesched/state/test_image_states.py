"""Images: whose size counts, and how many nodes each node believes to have it (traps of ImageLocality)."""

from __future__ import annotations

from kubesched.state.cluster import Cluster
from kubesched.state.events import WatchEvent
from kubesched.state.images import ImageState
from kubesched.testing.builders import cluster, node, pod


def seen(state: Cluster, name: str) -> dict[str, ImageState]:
    """What a node sees at a snapshot taken now."""
    return dict(state.nodes.image_class(int(state.nodes.images[state.nodes.slot[name]])))


def test_size_is_what_the_first_node_reported() -> None:
    """Later nodes' figures are ignored for as long as anybody has the image."""
    state = cluster(node("a").has_image("i", size=10), node("b").has_image("i", size=20))
    assert seen(state, "b") == {"i": ImageState(10, 2)}
    state.apply(WatchEvent("DELETED", node("a")))
    state.apply(WatchEvent("ADDED", node("c").has_image("i", size=30)))
    assert seen(state, "c") == {"i": ImageState(10, 2)}


def test_a_node_alone_with_an_image_decides_its_size() -> None:
    """Its next report replaces the figure, even one that it did not give itself."""
    state = cluster(node("a").has_image("i", size=10), node("b").has_image("i", size=20))
    state.apply(WatchEvent("DELETED", node("a")))
    assert seen(state, "b") == {"i": ImageState(10, 1)}
    state.apply(WatchEvent("MODIFIED", node("b").has_image("i", size=20)))
    assert seen(state, "b") == {"i": ImageState(20, 1)}


def test_number_of_nodes_is_frozen_at_a_nodes_own_last_change() -> None:
    """A node that did not change since the last snapshot keeps its figure; a pod that comes is a change."""
    state = cluster(node("a").has_image("i", size=10))
    assert seen(state, "a") == {"i": ImageState(10, 1)}
    state.apply(WatchEvent("ADDED", node("b").has_image("i", size=10)))
    assert (seen(state, "a"), seen(state, "b")) == ({"i": ImageState(10, 1)}, {"i": ImageState(10, 2)})
    state.assume(pod("p"), "a")
    assert seen(state, "a") == {"i": ImageState(10, 2)}


def test_every_cycle_is_a_snapshot() -> None:
    """Also one in which nobody reads images."""
    state = cluster(node("a").has_image("i", size=10))
    state.nodes.snapshot()
    state.apply(WatchEvent("ADDED", node("b").has_image("i", size=10)))
    assert seen(state, "a") == {"i": ImageState(10, 1)}


def test_all_names_of_an_image_count() -> None:
    """Of a name given twice by one node, the first size counts."""
    state = cluster(node("a").has_image("i:1", "i:latest", size=10).has_image("i:1", size=99))
    assert seen(state, "a") == {"i:1": ImageState(10, 1), "i:latest": ImageState(10, 1)}


def test_an_image_that_left_is_gone() -> None:
    """For the node, and from the count of the others."""
    state = cluster(node("a").has_image("i", size=10), node("b").has_image("i", size=10))
    state.apply(WatchEvent("MODIFIED", node("a")))
    state.apply(WatchEvent("MODIFIED", node("b").has_image("i", size=10).label("x")))
    assert (seen(state, "a"), seen(state, "b")) == ({}, {"i": ImageState(10, 1)})


def test_equal_images_are_one_class() -> None:
    """Nodes that see the same images share the number; numbers nobody uses are freed."""
    state = cluster(*(node(f"n{i}").has_image("i", size=10) for i in range(40)))
    assert len(set(state.nodes.images[state.nodes.order].tolist())) == 1
    for i in range(40):
        state.apply(WatchEvent("MODIFIED", node(f"n{i}").has_image("j", size=5)))
        state.nodes.snapshot()
    assert len(list(state.nodes.image_classes)) <= 41
    assert state.audit() == []


def test_heartbeats_change_nothing() -> None:
    """A node that reports the same images again does not make others look outdated."""
    state = cluster(node("a").has_image("i", size=10), node("b").has_image("i", size=10))
    before = state.nodes.images.tolist()
    state.apply(WatchEvent("MODIFIED", node("a").has_image("i", size=10).condition("Ready", "True")))
    assert state.nodes.images.tolist() == before
