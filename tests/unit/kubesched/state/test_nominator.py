"""Nominations: who has been promised which node."""

from __future__ import annotations

from kubesched.state.events import WatchEvent
from kubesched.state.nominator import Nominator
from kubesched.testing.builders import cluster, node, pod


def test_a_pod_is_nominated_once() -> None:
    """A new nomination ends the old one; pods on a node stand in the order of nomination."""
    nominator = Nominator()
    nominator.add(pod("p"), "a")
    nominator.add(pod("q"), "a")
    assert [p.name for p in nominator.on("a")] == ["p", "q"]
    nominator.add(pod("p"), "b")
    assert ([p.name for p in nominator.on("a")], [p.name for p in nominator.on("b")]) == (["q"], ["p"])
    assert (nominator.node_of("uid-p"), len(nominator), sorted(nominator.nodes())) == ("b", 2, ["a", "b"])


def test_without_a_node_the_pods_own_status_counts() -> None:
    """Without that too, nothing is nominated, and an earlier nomination ends."""
    nominator = Nominator()
    nominator.add(pod("p").nominated_to("a"))
    assert nominator.node_of("uid-p") == "a"
    nominator.add(pod("p"))
    assert nominator.node_of("uid-p") is None
    assert list(nominator.nodes()) == []


def test_an_update_on_its_way_before_the_nomination_does_not_end_it() -> None:
    """Neither version names a node: the scheduler's own word stays, with the new version of the pod."""
    nominator = Nominator()
    nominator.add(pod("p"), "a")
    nominator.update(pod("p"), newer := pod("p").label("x"))
    assert nominator.on("a") == [newer]


def test_an_update_of_the_status_counts() -> None:
    """Set, changed or cleared by the API, it replaces what was nominated."""
    nominator = Nominator()
    nominator.add(pod("p"), "a")
    nominator.update(pod("p"), pod("p").nominated_to("b"))
    assert nominator.node_of("uid-p") == "b"
    nominator.update(pod("p").nominated_to("b"), pod("p").nominated_to("c"))
    assert nominator.node_of("uid-p") == "c"
    nominator.update(pod("p").nominated_to("c"), pod("p"))
    assert nominator.node_of("uid-p") is None


def test_an_update_nominates_nobody_new() -> None:
    """Unless its status says so."""
    nominator = Nominator()
    nominator.update(pod("p"), pod("p").label("x"))
    assert len(nominator) == 0


def test_deleting_an_unknown_nomination_is_nothing() -> None:
    """The last one takes the node's entry with it."""
    nominator = Nominator()
    nominator.delete("uid-p")
    nominator.add(pod("p"), "a")
    nominator.delete("uid-p")
    assert (nominator.on("a"), list(nominator.nodes()), list(nominator)) == ([], [], [])


def test_a_bound_pod_is_not_nominated() -> None:
    """The API shows it on a node; an assumed pod may still fail and be nominated."""
    state = cluster(node("a"), pod("p").on("a"))
    state.nominated.add(pod("p"), "a")
    assert state.nominated.node_of("uid-p") is None
    state.assume(pod("q"), "a")
    state.nominated.add(pod("q"), "a")
    assert state.nominated.node_of("uid-q") == "a"


def test_binding_ends_a_nomination() -> None:
    """Whoever bound it."""
    state = cluster(node("a"), node("b"))
    state.nominated.add(pod("p"), "a")
    state.apply(WatchEvent("ADDED", pod("p").on("b")))
    assert len(state.nominated) == 0
    state.assume(pod("q"), "a")
    state.nominated.add(pod("q"), "a")
    state.apply(WatchEvent("MODIFIED", pod("q").on("a")))
    assert len(state.nominated) == 0


def test_a_nomination_may_name_a_node_that_is_gone() -> None:
    """It stays until the pod's next attempt."""
    state = cluster(node("a"))
    state.nominated.add(pod("p"), "a")
    state.apply(WatchEvent("DELETED", node("a")))
    assert [p.name for p in state.nominated.on("a")] == ["p"]
    assert state.audit() == []
