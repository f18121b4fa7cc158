"""A request is read as RBAC reads it, and a fault befalls just the requests it says."""

from __future__ import annotations

import pytest

from schedlab.faults.requests import Asked, asked
from schedlab.faults.rules import Effect, Fault, Faults, Stream

BIND = Asked("create", "pods/binding", "ns", "w")


@pytest.mark.parametrize(
    ("method", "path", "query", "expected"),
    [
        ("GET", "/api/v1/pods", {}, Asked("list", "pods")),
        ("GET", "/api/v1/pods", {"watch": "true"}, Asked("watch", "pods")),
        ("GET", "/api/v1/nodes/n-1", {}, Asked("get", "nodes", "", "n-1")),
        ("GET", "/api/v1/namespaces/ns", {}, Asked("get", "namespaces", "", "ns")),
        ("POST", "/api/v1/namespaces/ns/pods/w/binding", {}, BIND),
        ("PATCH", "/api/v1/namespaces/ns/pods/w/status", {}, Asked("patch", "pods/status", "ns", "w")),
        ("DELETE", "/api/v1/namespaces/ns/pods", {}, Asked("deletecollection", "pods", "ns")),
        (
            "PUT",
            "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler",
            {},
            Asked("update", "leases", "kube-system", "kube-scheduler"),
        ),
        ("GET", "/readyz", {}, Asked("get")),
        ("GET", "/apis", {}, Asked("get")),
    ],
)
def test_requests_are_read_in_the_words_of_rbac(
    method: str, path: str, query: dict[str, str], expected: Asked
) -> None:
    """Verb, resource with its subresource, namespace, name."""
    assert asked(method, path, query) == expected


@pytest.mark.parametrize(
    "fields",
    [{}, {"verbs": ["create"]}, {"resources": ["pods/binding"]}, {"processes": ["a"], "verbs": ["create"]}],
    ids=["anything", "by verb", "by resource", "by process and verb"],
)
def test_a_fault_befalls_what_it_names(fields: dict[str, list[str]]) -> None:
    """And what it leaves open."""
    assert Fault(Effect(cut=True), **fields).befalls("a", BIND)


@pytest.mark.parametrize(
    "fields",
    [{"verbs": ["get"]}, {"resources": ["pods"]}, {"processes": ["b"]}],
    ids=["another verb", "the resource without its subresource", "another process"],
)
def test_a_fault_leaves_the_rest_alone(fields: dict[str, list[str]]) -> None:
    """It does not even count it."""
    fault = Fault(Effect(cut=True), **fields)
    assert not fault.befalls("a", BIND)
    assert fault.matched == 0


def test_requests_are_counted() -> None:
    """Two pass, the next two are befallen, the rest pass."""
    fault = Fault(Effect(cut=True), verbs=["create"], skip=2, times=2)
    other = Asked("get", "pods", "ns", "w")
    seen = [fault.befalls("a", what) for what in (BIND, other, BIND, BIND, BIND, BIND)]
    assert seen == [False, False, False, True, True, False]


def test_the_first_fault_that_matches_decides_until_it_ends() -> None:
    """Then the next one does; then none."""
    faults = Faults()
    first = faults.add(Fault(Effect(answer=500)))
    faults.add(Fault(Effect(cut=True)))
    assert faults.for_request("a", BIND) == Effect(answer=500)
    assert faults.end(first)
    assert not faults.end(first)
    assert faults.for_request("a", BIND) == Effect(cut=True)
    faults.clear()
    assert faults.for_request("a", BIND) is None


def test_chance_is_decided_by_the_seed() -> None:
    """About as many as the chance says; the same ones with the same seed, others with another."""

    def befallen(seed: int) -> list[bool]:
        fault = Fault(Effect(cut=True), chance=0.3, seed=seed)
        return [fault.befalls("p", BIND) for _ in range(200)]

    assert befallen(1) == befallen(1)
    assert befallen(1) != befallen(2)
    assert 40 < sum(befallen(1)) < 80


def test_events_and_requests_are_counted_apart() -> None:
    """A fault of events lets requests pass, and the other way round."""
    faults = Faults()
    faults.add(Fault(Effect(stream=Stream(stall=True)), times=1))
    assert faults.for_request("p", BIND) is None
    assert faults.for_event("p", Asked("watch", "pods")) is not None
    faults.clear()
    faults.add(Fault(Effect(cut=True)))
    assert faults.for_event("p", Asked("watch", "pods")) is None
