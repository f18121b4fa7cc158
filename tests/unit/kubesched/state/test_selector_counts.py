"""Counts of matching pods per node, kept through every event."""

from __future__ import annotations

import pytest

from kubesched.api.labels import EVERYTHING, LabelSelector, LabelSelectorRequirement, compile_selector
from kubesched.api.labels import selector_from_map as pairs
from kubesched.state import selectors
from kubesched.state.cluster import Cluster
from kubesched.state.events import WatchEvent
from kubesched.state.selectors import SelectorClass
from kubesched.testing.builders import cluster, namespace, node, pod

WEB = SelectorClass(frozenset({"default"}), pairs({"app": "web"}))
WEB_IN_BLUE = SelectorClass(frozenset(), pairs({"app": "web"}), pairs({"team": "blue"}))
WEB_ANYWHERE = SelectorClass(frozenset(), pairs({"app": "web"}), EVERYTHING)


def web(name: str, ns: str = "default"):
    return pod(name, ns).label("app", "web")


def counts(state: Cluster, *wanted: SelectorClass, live_only: bool = False) -> list[int]:
    parts = wanted[0] if len(wanted) == 1 else wanted
    return state.pods.count(parts, live_only)[state.nodes.order].tolist()


def test_pods_are_counted_where_they_are() -> None:
    """Those of the named namespaces that match, whether they came before or after the question."""
    state = cluster(node("a"), node("b"), web("p").on("a"), pod("q").on("a"), web("r", "other").on("a"))
    assert counts(state, WEB) == [1, 0]
    state.apply(WatchEvent("ADDED", web("s").on("b")))
    state.assume(web("t"), "b")
    assert counts(state, WEB) == [1, 2]
    state.forget("uid-t")
    state.apply(WatchEvent("DELETED", web("p").on("a")))
    assert counts(state, WEB) == [0, 1]


def test_a_change_of_labels_moves_the_count() -> None:
    """Away from one class, into another."""
    other = SelectorClass(frozenset({"default"}), pairs({"app": "db"}))
    state = cluster(node("a"), web("p").on("a"))
    assert (counts(state, WEB), counts(state, other)) == ([1], [0])
    state.apply(WatchEvent("MODIFIED", pod("p").label("app", "db").on("a")))
    assert (counts(state, WEB), counts(state, other)) == ([0], [1])


def test_terminating_pods_count_unless_only_live_ones_are_asked_for() -> None:
    """Spreading leaves them out, affinity does not."""
    state = cluster(node("a"), web("p").on("a"), web("q").terminating().on("a"))
    assert (counts(state, WEB), counts(state, WEB, live_only=True)) == ([2], [1])
    state.apply(WatchEvent("MODIFIED", web("p").terminating().on("a")))
    assert (counts(state, WEB), counts(state, WEB, live_only=True)) == ([2], [0])
    state.apply(WatchEvent("DELETED", web("p").terminating().on("a")))
    assert (counts(state, WEB), counts(state, WEB, live_only=True)) == ([1], [0])


def test_namespace_labels_decide_and_may_change() -> None:
    """Pods are counted in and out as their namespace's labels, or the namespace itself, come and go."""
    state = cluster(
        node("a"), namespace("x", team="blue"), namespace("y"), web("p", "x").on("a"), web("q", "y").on("a")
    )
    assert counts(state, WEB_IN_BLUE) == [1]
    state.apply(WatchEvent("MODIFIED", namespace("y", team="blue")))
    assert counts(state, WEB_IN_BLUE) == [2]
    state.apply(WatchEvent("MODIFIED", namespace("x", team="red")))
    assert counts(state, WEB_IN_BLUE) == [1]
    state.apply(WatchEvent("DELETED", namespace("y")))
    assert counts(state, WEB_IN_BLUE) == [0]
    assert state.audit() == []


def test_the_empty_namespace_selector_means_all_namespaces() -> None:
    """Also one whose object has not arrived; another selector never matches that."""
    unless_red = compile_selector(
        LabelSelector(
            match_expressions=(LabelSelectorRequirement(key="team", operator="NotIn", values=("red",)),)
        )
    )
    state = cluster(node("a"), web("p", "unknown").on("a"))
    assert counts(state, WEB_ANYWHERE) == [1]
    assert counts(state, SelectorClass(frozenset(), pairs({"app": "web"}), unless_red)) == [0]
    state.apply(WatchEvent("ADDED", namespace("unknown")))
    assert counts(state, SelectorClass(frozenset(), pairs({"app": "web"}), unless_red)) == [1]


def test_several_classes_count_pods_that_match_all() -> None:
    """A pod's required affinity wants pods that meet every term."""
    front = SelectorClass(frozenset({"default"}), pairs({"tier": "front"}))
    state = cluster(node("a"), web("p").label("tier", "front").on("a"), web("q").on("a"))
    assert counts(state, WEB, front) == [1]
    state.apply(WatchEvent("MODIFIED", web("q").label("tier", "front").on("a")))
    assert counts(state, WEB, front) == [2]


def test_pods_on_a_ghost_count_for_nobody_in_the_order() -> None:
    """They are still counted, for when the node comes back."""
    state = cluster(node("a"), node("b"), web("p").on("a"))
    assert counts(state, WEB) == [1, 0]
    state.apply(WatchEvent("DELETED", node("a")))
    assert counts(state, WEB) == [0]
    state.apply(WatchEvent("ADDED", node("a")))
    assert counts(state, WEB) == [0, 1]


def test_counts_follow_a_growing_cluster() -> None:
    """New slots begin at nothing."""
    state = cluster(node("a"), web("p").on("a"))
    assert counts(state, WEB) == [1]
    for i in range(50):
        state.apply(WatchEvent("ADDED", web(f"w{i}").on(f"n{i}")))
        state.apply(WatchEvent("ADDED", node(f"n{i}")))
    assert counts(state, WEB) == [1] * 51


def test_a_class_not_asked_for_in_long_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is counted again when it is asked for again."""
    monkeypatch.setattr(selectors, "_ROOM", 3)
    state = cluster(node("a"), *(pod(f"p{i}").label("app", str(i)).on("a") for i in range(6)))
    asked = [SelectorClass(frozenset({"default"}), pairs({"app": str(i)})) for i in range(6)]
    for wanted in (*asked[:3], asked[0], *asked[3:5]):
        assert counts(state, wanted) == [1]
    assert [parts for (parts,) in state.pods.counts.registered()] == [asked[0], asked[3], asked[4]]
    state.apply(WatchEvent("DELETED", pod("p1").on("a")))
    assert counts(state, asked[1]) == [0]
    assert counts(state, asked[2]) == [1]
    assert state.audit() == []


def test_equal_questions_share_a_row() -> None:
    """However they are put."""
    state = cluster(node("a"))
    same = SelectorClass(frozenset({"default"}), pairs({"app": "web"}))
    assert state.pods.count(WEB).base is state.pods.count((same,)).base
    assert len(list(state.pods.counts.registered())) == 1


def test_selectors_are_found_by_namespace_and_pair() -> None:
    """However a class is filed, pods of a new kind are counted by it; a forgotten one is filed nowhere."""
    exists = compile_selector(
        LabelSelector(match_expressions=(LabelSelectorRequirement(key="app", operator="Exists"),))
    )
    asked = [
        SelectorClass(frozenset({"x", "y"}), pairs({"app": "web"})),
        SelectorClass(frozenset({"x"}), exists),
        SelectorClass(frozenset({"y"}), pairs({"app": "web"}), EVERYTHING),
        SelectorClass(frozenset(), exists, pairs({"team": "blue"})),
        SelectorClass(frozenset(), EVERYTHING, EVERYTHING),
        SelectorClass(frozenset(), EVERYTHING),
    ]
    state = cluster(node("a"), namespace("x", team="blue"), namespace("y"))
    assert [counts(state, wanted) for wanted in asked] == [[0]] * 6
    for name, ns in [("p", "x"), ("q", "y"), ("r", "z")]:
        state.apply(WatchEvent("ADDED", web(name, ns).label("only", name).on("a")))
    assert [counts(state, wanted) for wanted in asked] == [[2], [1], [3], [1], [3], [0]]
    for wanted in list(state.pods.counts.registered()):
        state.pods.counts._forget(wanted)
    assert state.pods.counts._filed == {}
