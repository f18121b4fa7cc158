"""The affinity terms that pods on nodes carry."""

from __future__ import annotations

import pytest

from kubesched.api.affinity import PodAffinityTerm
from kubesched.api.labels import EVERYTHING, NOTHING, LabelSelector, LabelSelectorRequirement
from kubesched.api.labels import selector_from_map as pairs
from kubesched.state.cluster import Cluster
from kubesched.state.events import WatchEvent
from kubesched.state.terms import TermKind, pod_terms, selected_pods
from kubesched.testing.builders import HOSTNAME, ZONE, cluster, namespace, node, pod

ANTI = TermKind.REQUIRED_ANTI_AFFINITY


def about(state: Cluster, kind: TermKind, incoming) -> list[tuple[str, dict[str, int]]]:
    """Which topology, and how many carriers on which node."""
    return [
        (known.term.topology_key, {state.nodes.names[s]: int(n) for s, n in zip(*known.nodes(), strict=True)})
        for known in state.pods.terms_about(kind, incoming)
    ]


def test_terms_are_read_from_all_four_lists() -> None:
    """Preferred ones have their weight."""
    wants = (
        pod("p")
        .near({"a": "1"})
        .near({"b": "1"}, weight=2)
        .away_from({"c": "1"})
        .away_from({"d": "1"}, ZONE, weight=4)
    )
    assert [(term.kind, term.topology_key, term.weight) for term in pod_terms(wants)] == [
        (TermKind.REQUIRED_AFFINITY, ZONE, 0),
        (TermKind.PREFERRED_AFFINITY, ZONE, 2),
        (TermKind.REQUIRED_ANTI_AFFINITY, HOSTNAME, 0),
        (TermKind.PREFERRED_ANTI_AFFINITY, ZONE, 4),
    ]
    assert pod_terms(pod("q").requires_node("a", "Exists")) == ()


@pytest.mark.parametrize(
    ("term", "namespaces", "selector"),
    [
        pytest.param(PodAffinityTerm(), {"mine"}, NOTHING, id="the pod's own namespace by default"),
        pytest.param(PodAffinityTerm(namespaces=("a", "b")), {"a", "b"}, NOTHING, id="named namespaces"),
        pytest.param(
            PodAffinityTerm(namespace_selector=LabelSelector()), set(), EVERYTHING, id="all namespaces"
        ),
        pytest.param(
            PodAffinityTerm(namespaces=("a",), namespace_selector=LabelSelector(match_labels={"x": "1"})),
            {"a"},
            pairs({"x": "1"}),
            id="both",
        ),
    ],
)
def test_which_namespaces_a_term_is_about(
    term: PodAffinityTerm, namespaces: set[str], selector: object
) -> None:
    """Only a term without namespaces and without a namespace selector means its own."""
    selected = selected_pods(pod("p", "mine"), term)
    assert (selected.namespaces, selected.namespace_selector) == (namespaces, selector)
    assert selected.selector == NOTHING


def test_a_list_with_an_unreadable_term_is_empty() -> None:
    """Upstream ignores the error, and with it the whole list; the other lists count."""
    bad = LabelSelector(
        match_expressions=(LabelSelectorRequirement(key="a", operator="Like", values=("x",)),)
    )
    wants = pod("p").away_from({"a": "1"}).away_from({}, label_selector=bad).near({"b": "1"})
    assert [term.kind for term in pod_terms(wants)] == [TermKind.REQUIRED_AFFINITY]


def test_carriers_are_counted_per_node() -> None:
    """Equal terms are one class; it goes with its last carrier."""
    wants = pod("p").away_from({"app": "web"})
    state = cluster(node("a"), node("b"), wants.on("a"), wants.with_uid("2").owned_by("x", "y").on("a"))
    state.apply(WatchEvent("ADDED", pod("q").away_from({"app": "web"}).on("b")))
    state.apply(WatchEvent("ADDED", pod("r").away_from({"app": "web"}).on("b")))
    incoming = pod("i").label("app", "web")
    assert about(state, ANTI, incoming) == [(HOSTNAME, {"a": 1, "b": 2})]
    for name in "pqr":
        uid = "2" if name == "p" else f"uid-{name}"
        state.apply(WatchEvent("DELETED", pod(name).with_uid(uid).on("a")))
    assert about(state, ANTI, incoming) == []
    assert list(state.pods.terms.all()) == []
    assert not any(state.pods.terms._index.values())


def test_only_terms_about_the_pod_are_given() -> None:
    """By kind, by namespace and by labels; found through any of its labels, or without one."""
    any_app = LabelSelector(match_expressions=(LabelSelectorRequirement(key="app", operator="Exists"),))
    state = cluster(
        node("a"),
        pod("p").away_from({"app": "web"}, "pair").on("a"),
        pod("q").away_from({}, "exists", label_selector=any_app).on("a"),
        pod("r").away_from({"app": "db"}, "other").on("a"),
        pod("s", "elsewhere").away_from({"app": "web"}, "elsewhere").on("a"),
        pod("t").near({"app": "web"}, "near").on("a"),
    )
    incoming = pod("i").label("tier", "x").label("app", "web")
    assert sorted(key for key, _ in about(state, ANTI, incoming)) == ["exists", "pair"]
    assert [key for key, _ in about(state, TermKind.REQUIRED_AFFINITY, incoming)] == ["near"]
    assert about(state, TermKind.PREFERRED_AFFINITY, incoming) == []


def test_namespace_labels_are_those_of_now() -> None:
    """A term with a namespace selector is about pods of the namespaces that match at the moment of asking."""
    blue = LabelSelector(match_labels={"team": "blue"})
    state = cluster(
        node("a"), namespace("x"), pod("p").away_from({"app": "web"}, namespace_selector=blue).on("a")
    )
    incoming = pod("i", "x").label("app", "web")
    assert about(state, ANTI, incoming) == []
    state.apply(WatchEvent("MODIFIED", namespace("x", team="blue")))
    assert about(state, ANTI, incoming) == [(HOSTNAME, {"a": 1})]


def test_an_update_of_affinity_replaces_the_terms() -> None:
    """And one that leaves it alone keeps them."""
    state = cluster(node("a"), pod("p").away_from({"app": "web"}).on("a"))
    state.apply(WatchEvent("MODIFIED", pod("p").away_from({"app": "web"}).label("x").on("a")))
    incoming = pod("i").label("app", "web")
    assert about(state, ANTI, incoming) == [(HOSTNAME, {"a": 1})]
    state.apply(WatchEvent("MODIFIED", pod("p").on("a")))
    assert about(state, ANTI, incoming) == []
    assert state.audit() == []
