"""A decision among some of the nodes is legal if it is one that the answer about all of them allows."""

from __future__ import annotations

import pytest

from schedlab.decisions.decision import Candidate, Decision, Preemption, Refusal
from schedlab.decisions.sampled import contradictions, enough

ALL = frozenset(f"n{n}" for n in range(150))
SOME = frozenset(sorted(ALL)[:100])


def bound(feasible=SOME, node="n0", totals=None):
    return Decision("p", "Scheduled", feasible=feasible, node=node, totals=totals or {"n0": 7, "n1": 6})


def refused(candidates, nominated, message="0/2 nodes"):
    found = Preemption(
        candidates={node: Candidate(frozenset(victims)) for node, victims in candidates.items()},
        nominated=nominated,
    )
    return Decision("p", "Unschedulable", message=message, feasible=frozenset(), preemption=found)


EVERYTHING = bound(ALL)


@pytest.mark.parametrize(
    ("nodes", "wanted"), [(99, 99), (100, 100), (250, 120), (1000, 420), (5000, 500), (10000, 500)]
)
def test_as_many_nodes_are_looked_for_as_upstream_says(nodes, wanted):
    """numFeasibleNodesToFind of pkg/scheduler/schedule_one.go (1.36)."""
    assert enough(nodes) == wanted


def test_any_hundred_of_the_feasible_nodes_and_the_best_of_them_are_legal():
    assert contradictions(bound(), EVERYTHING) == []


def test_a_small_cluster_of_feasible_nodes_has_to_be_found_whole():
    few = Decision("p", "Scheduled", feasible=frozenset({"n0", "n1"}), refusals={"n2": Refusal("x", ())})
    assert contradictions(bound(frozenset({"n0", "n1"})), few) == []
    assert [one.path for one in contradictions(bound(frozenset({"n0"})), few)] == ["feasible.count"]


@pytest.mark.parametrize(
    ("reference", "path"),
    [
        (bound(SOME - {"n0"} | {"elsewhere"}), "feasible"),
        (bound(frozenset(sorted(ALL)[:90])), "feasible.count"),
        (bound(node="n1"), "node"),
        (refused({}, None), "result"),
    ],
)
def test_what_the_whole_does_not_allow_is_a_difference(reference, path):
    assert [one.path for one in contradictions(reference, EVERYTHING)] == [path]


@pytest.mark.parametrize(
    ("reference", "path"),
    [
        (refused({"a": ["x"]}, "a"), None),
        (refused({"a": ["x"]}, "b"), "preemption.nominated"),
        (refused({"a": ["y"]}, "a"), "preemption.candidates.a"),
        (refused({"c": ["x"]}, "c"), "preemption.candidates.c"),
        (refused({}, None), "preemption.candidates"),
        (refused({"a": ["x"]}, "a", "other"), "message"),
    ],
)
def test_candidates_of_preemption_are_some_of_all(reference, path):
    everything = refused({"a": ["x"], "b": ["x", "y"]}, None)
    found = [one.path for one in contradictions(reference, everything)]
    assert found == ([path] if path else [])
