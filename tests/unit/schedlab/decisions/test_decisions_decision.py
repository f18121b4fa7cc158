"""Decisions keep what was seen apart from what was not."""

from __future__ import annotations

import pytest

from schedlab.decisions.decision import UNOBSERVED, Candidate, Decision, Preemption, Refusal
from schedlab.decisions.logbook import Attempt
from schedlab.decisions.reference import Deeds, decision
from schedlab.decisions.tap import Tapped, TappedCandidate

FULL = Decision(
    pod="ns/p",
    result="Unschedulable",
    message="0/2 nodes are available",
    event="0/2 nodes are",
    feasible=frozenset(),
    scores={"n1": {"Fit": 3}},
    totals={"n1": 3},
    node=None,
    legal=frozenset({"n1"}),
    refusals={"n2": Refusal("Fit", ("Insufficient cpu",), unresolvable=True)},
    preemption=Preemption(
        candidates={"n1": Candidate(frozenset({"ns/v"}), 1), "n2": Candidate(frozenset({"ns/w"}))},
        nominated="n1",
        deleted=frozenset({"ns/v"}),
        best=frozenset({"n1"}),
    ),
)


@pytest.mark.parametrize("one", [FULL, Decision("ns/p", "Error"), Decision("ns/p", "Scheduled", node="n1")])
def test_json_carries_everything_that_was_seen(one):
    assert Decision.from_json(one.to_json()) == one


def test_what_was_not_seen_is_absent_from_json():
    assert Decision("ns/p", "Gated", message=None).to_json() == {
        "pod": "ns/p",
        "result": "Gated",
        "message": None,
    }


def pod(node=None, message=None, nominated=None):
    conditions = [{"type": "PodScheduled", "status": "False", "message": message}] if message else []
    return {
        "metadata": {"namespace": "ns", "name": "p"},
        "spec": {"nodeName": node} if node else {},
        "status": {"conditions": conditions, **({"nominatedNodeName": nominated} if nominated else {})},
    }


def test_a_binding_is_merged_from_log_tap_and_api():
    attempt = Attempt("Scheduled", None, {"n1": {"Fit": 3}, "n2": {"Fit": 1}}, {"n1": 3, "n2": 1})
    seen = decision(attempt, Tapped([frozenset({"n1", "n2"})], []), Deeds(pod("n1")), {})
    assert (seen.result, seen.node, seen.message) == ("Scheduled", "n1", None)
    assert seen.feasible == {"n1", "n2"}
    assert seen.totals == {"n1": 3, "n2": 1}
    assert seen.preemption is UNOBSERVED


def test_a_single_feasible_node_has_no_scores_to_see():
    seen = decision(Attempt("Scheduled"), Tapped([frozenset({"n1"})], []), Deeds(pod("n1")), {})
    assert seen.feasible == {"n1"}
    assert seen.scores is UNOBSERVED
    assert seen.totals is UNOBSERVED


def test_silence_of_the_tap_means_that_no_node_was_feasible():
    seen = decision(Attempt("Unschedulable"), Tapped(), Deeds(pod(message="no")), {})
    assert seen.feasible == frozenset()
    assert seen.message == "no"
    assert seen.preemption == Preemption(candidates={}, nominated=None, deleted=frozenset())


def test_without_a_tap_feasibility_and_candidates_are_unobserved():
    seen = decision(Attempt("Unschedulable"), None, Deeds(pod(message="no", nominated="n1")), {})
    assert seen.feasible is UNOBSERVED
    assert seen.preemption is not UNOBSERVED
    assert seen.preemption.candidates is UNOBSERVED
    assert seen.preemption.nominated == "n1"


def test_victims_are_named_by_key_and_unknown_ones_by_uid():
    tapped = Tapped([], [{"n1": TappedCandidate(frozenset({"u1", "u2"}), 2)}])
    seen = decision(Attempt("Unschedulable"), tapped, Deeds(pod(message="no")), {"u1": "ns/v"})
    assert seen.preemption is not UNOBSERVED
    assert seen.preemption.candidates == {"n1": Candidate(frozenset({"ns/v", "u2"}), 2)}


def test_a_pod_that_was_never_tried_is_gated():
    seen = decision(None, Tapped(), Deeds(pod(message="gated")), {})
    assert (seen.result, seen.message, seen.node) == ("Gated", "gated", None)
    assert seen.feasible is UNOBSERVED


def test_an_error_shows_no_feasible_set():
    seen = decision(Attempt("Error", "boom"), Tapped(), Deeds(pod(message="boom")), {})
    assert seen.result == "Error"
    assert seen.feasible is UNOBSERVED
