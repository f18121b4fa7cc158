"""Real bugs of the reference's cache and nominator, by their numbers in kubernetes/kubernetes."""

from __future__ import annotations

import msgspec
import pytest

from kubesched.api.objects import Node, Object, Pod
from kubesched.clock import VirtualClock
from kubesched.framework.hints import hint_map
from kubesched.framework.interface import ClusterEventWithHint
from kubesched.framework.registration import register
from kubesched.state.events import ActionType, ClusterEvent, Resource, WatchEvent
from kubesched.state.nominator import Nominator
from kubesched.state.terms import TermKind
from kubesched.testing.builders import cluster, node, pod


def test_k8s_106361_an_assumed_pod_keeps_its_place_however_long_its_binding_takes() -> None:
    """It expired after 30 seconds, and its node was filled a second time while a slow binding succeeded."""
    clock = VirtualClock()
    state = cluster(node("n").cpu(1), clock=clock)
    state.assume(pod("slow").cpu(1), "n")
    clock.advance(3600)
    state.apply(WatchEvent("ADDED", node("m")))
    assert state.is_assumed("uid-slow")
    assert [held.name for held in state.pods.on_node(state.nodes.slot["n"])] == ["slow"]


def test_k8s_46347_what_the_watch_delivered_cannot_be_changed() -> None:
    """An object of the cache was written to, and the scheduler ended with "cache is corrupted"."""
    state = cluster(node("n"))
    waiting = pod("a")
    state.assume(waiting, "n")
    assert waiting.node_name == ""
    for obj in (waiting, waiting.spec, waiting.status, node("n"), node("n").status):
        with pytest.raises(AttributeError, match="immutable"):
            obj.metadata = obj.node_name = obj.allocatable = None
    assert all(kind.__struct_config__.frozen for kind in (Object, Pod, Node))


def test_k8s_56682_a_pod_of_the_same_name_can_be_assumed_before_the_old_one_is_gone() -> None:
    """web-0 was deleted and made again; the cache still had the old one and refused the new one for ever."""
    old, new = pod("web-0").with_uid("old"), pod("web-0").with_uid("new")
    state = cluster(node("n"), node("m"), old.on("n"))
    state.assume(new, "m")
    state.apply(WatchEvent("DELETED", old.on("n")))
    state.apply(WatchEvent("ADDED", new.on("m")))
    assert [held.uid for held in state.pods.by_uid.values()] == ["new"]
    assert not state.assumed
    assert state.audit() == []


def test_k8s_26043_a_pod_is_never_in_two_places() -> None:
    """A binding was tried again while the first one ran, and the pod was counted on two nodes."""
    state = cluster(node("n"), node("m"))
    state.assume(pod("a"), "n")
    with pytest.raises(ValueError, match="cannot be assumed"):
        state.assume(pod("a"), "m")
    state.apply(WatchEvent("ADDED", pod("a").on("m")))
    assert not list(state.pods.on_node(state.nodes.slot["n"]))
    assert state.audit() == []


def test_k8s_63262_a_node_that_comes_back_is_newer_than_it_was() -> None:
    """Its generation began at 0 again, so that what had been worked out for the old one was used for it."""
    state = cluster(node("n").cpu(8))
    before = int(state.nodes.generation[state.nodes.slot["n"]])
    state.apply(WatchEvent("DELETED", node("n").cpu(8)))
    state.apply(WatchEvent("ADDED", node("n").cpu(1)))
    assert int(state.nodes.generation[state.nodes.slot["n"]]) > before


def test_k8s_86919_a_node_may_go_before_its_pods() -> None:
    """The snapshot held a node without an object, and every cycle failed until the pods were gone, too."""
    state = cluster(node("n"), node("m"), running := pod("a").cpu(1).on("n"))
    state.apply(WatchEvent("DELETED", node("n")))
    assert [state.nodes.names[row] for row in state.nodes.order] == ["m"]
    assert state.audit() == []
    state.apply(WatchEvent("ADDED", node("o")))
    state.apply(WatchEvent("DELETED", running))
    assert sorted(state.nodes.slot) == ["m", "o"]
    assert state.audit() == []


def test_k8s_106884_a_terminating_pod_holds_its_node_until_it_has_ended() -> None:
    """Counted as gone while its containers still ran, it made the next pod fail with OutOfcpu."""
    leaving = pod("a").cpu(1).on("n").terminating()
    state = cluster(node("n").cpu(1), leaving)
    assert "uid-a" in state.pods.by_uid
    state.apply(WatchEvent("MODIFIED", leaving.phase("Succeeded")))
    assert "uid-a" not in state.pods.by_uid


def test_k8s_109236_a_pod_that_has_its_node_is_not_nominated_to_another() -> None:
    """The nomination came after the binding, and nobody ever took the phantom away."""
    state = cluster(node("n"), node("m"), pod("a").on("n"))
    state.nominated.add(pod("a"), "m")
    assert state.nominated.on("m") == []
    assumed = Nominator(lambda uid: uid == "uid-b")
    assumed.update(pod("b"), pod("b").nominated_to("m"))
    assert len(assumed) == 0


class WaitsForNodes:
    """Registers new nodes, and nothing else."""

    name = "WaitsForNodes"

    def pre_filter(self, cycle):
        return None

    def events_to_register(self):
        return [ClusterEventWithHint(ClusterEvent(Resource.Node, ActionType.Add))]


def test_k8s_109437_whoever_waits_for_a_node_hears_when_it_becomes_usable() -> None:
    """A node arrives tainted; what makes it usable is an update, which nobody had registered."""
    assert set(hint_map([register(WaitsForNodes())])) == {
        ClusterEvent(Resource.Node, ActionType.Add),
        ClusterEvent(Resource.Node, ActionType.UpdateNodeTaint),
    }


def test_k8s_82796_affinity_without_a_selector_is_about_no_pod() -> None:
    """The nil selector was dereferenced, and one pod kept the scheduler crashing after an upgrade."""
    term = {"topologyKey": "kubernetes.io/hostname"}
    weighted = {"weight": 1, "podAffinityTerm": term}
    either = {
        "requiredDuringSchedulingIgnoredDuringExecution": [term],
        "preferredDuringSchedulingIgnoredDuringExecution": [weighted],
    }
    spec = {"nodeName": "n", "affinity": {"podAffinity": either, "podAntiAffinity": either}}
    odd = msgspec.convert({"metadata": {"name": "odd", "namespace": "ns", "uid": "u"}, "spec": spec}, Pod)
    state = cluster(node("n"), odd)
    assert state.audit() == []
    assert [state.pods.terms_about(kind, pod("a", "ns")) for kind in TermKind] == [[], [], [], []]
