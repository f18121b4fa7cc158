"""Two decisions differ exactly where both saw something and saw different things."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedlab.decisions.compare import differences, legal
from schedlab.decisions.decision import UNOBSERVED, Candidate, Decision, Preemption

REFERENCE = Decision(
    "ns/p",
    "Scheduled",
    message=None,
    feasible=frozenset({"n1", "n2"}),
    scores={"n1": {"Fit": 3, "Image": 0}, "n2": {"Fit": 3}},
    totals={"n1": 3, "n2": 3},
    node="n2",
)
EXPLAINED = replace(
    REFERENCE,
    node=UNOBSERVED,
    legal=frozenset({"n1", "n2"}),
    scores={"n1": {"Fit": 3}, "n2": {"Fit": 3, "Taint": 0}},
    preemption=Preemption(candidates={}, best=frozenset()),
)
PREEMPTED = Decision(
    "ns/p",
    "Unschedulable",
    message="no",
    feasible=frozenset(),
    preemption=Preemption(
        candidates={"n1": Candidate(frozenset({"ns/v"}), 0), "n2": Candidate(frozenset({"ns/w"}), 1)},
        nominated="n1",
        deleted=frozenset({"ns/v"}),
    ),
)
DRY_RUN = replace(
    PREEMPTED,
    preemption=Preemption(
        candidates={"n1": Candidate(frozenset({"ns/v"})), "n2": Candidate(frozenset({"ns/w"}))},
        best=frozenset({"n1"}),
    ),
)


def paths(reference, other):
    return [one.path for one in differences(reference, other)]


def test_a_score_of_zero_equals_an_absent_one_and_ties_are_a_set():
    assert differences(REFERENCE, EXPLAINED) == []


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"result": "Unschedulable", "message": "no"}, ["result", "message"]),
        ({"feasible": frozenset({"n1"})}, ["feasible"]),
        ({"scores": {"n1": {"Fit": 4}, "n2": {"Fit": 3}}}, ["scores.n1.Fit"]),
        ({"scores": {"n1": {"Fit": 3, "New": 1}, "n2": {"Fit": 3}}}, ["scores.n1.New"]),
        ({"totals": {"n1": 3, "n2": 4}}, ["totals.n2"]),
        ({"totals": {"n1": 3}}, ["totals.n2"]),
        ({"legal": frozenset({"n1"})}, ["legal", "node"]),
    ],
)
def test_each_field_is_compared(changed, expected):
    assert paths(REFERENCE, replace(EXPLAINED, **changed)) == expected


def test_messages_are_compared_to_the_character():
    assert paths(PREEMPTED, replace(DRY_RUN, message="no.")) == ["message"]


def test_events_are_compared_unless_a_tie_was_broken_another_way():
    said = replace(REFERENCE, event="Successfully assigned ns/p to n2")
    assert paths(said, Decision("ns/p", "Scheduled", event="Successfully bound", node="n2")) == ["event"]
    assert (
        paths(said, Decision("ns/p", "Scheduled", event="Successfully assigned ns/p to n1", node="n1")) == []
    )
    assert paths(replace(PREEMPTED, event="no", node=None), replace(PREEMPTED, event="yes", node=None)) == [
        "event"
    ]


def test_what_one_side_did_not_see_is_not_compared():
    blind = Decision("ns/p", "Scheduled")
    assert differences(REFERENCE, blind) == []
    assert differences(blind, REFERENCE) == []


def test_an_equal_preemption_shows_nothing():
    assert differences(PREEMPTED, DRY_RUN) == []


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"candidates": {"n1": Candidate(frozenset({"ns/v"}))}}, ["preemption.candidates.n2"]),
        (
            {"candidates": {**DRY_RUN.preemption.candidates, "n1": Candidate(frozenset({"ns/x"}))}},
            ["preemption.candidates.n1.victims"],
        ),
        (
            {"candidates": {**DRY_RUN.preemption.candidates, "n1": Candidate(frozenset({"ns/v"}), 7)}},
            ["preemption.candidates.n1.violations"],
        ),
        ({"best": frozenset({"n2"})}, ["preemption.nominated"]),
        ({"best": frozenset()}, ["preemption.nominated"]),
    ],
)
def test_candidates_victims_and_the_nomination_are_compared(changed, expected):
    assert paths(PREEMPTED, replace(DRY_RUN, preemption=replace(DRY_RUN.preemption, **changed))) == expected


def test_a_nomination_that_never_happened_is_a_difference():
    unhelped = replace(PREEMPTED, preemption=Preemption(candidates={}, nominated=None))
    wishful = replace(DRY_RUN, preemption=Preemption(candidates={}, best=frozenset({"n1"})))
    assert paths(unhelped, wishful) == ["preemption.nominated"]


def test_two_deeds_are_compared_by_the_candidates_of_the_first():
    same = replace(PREEMPTED, preemption=Preemption(nominated="n2"))
    other = replace(PREEMPTED, preemption=Preemption(nominated="n3"))
    assert paths(PREEMPTED, same) == []
    assert paths(PREEMPTED, other) == ["preemption.nominated"]


def test_a_binding_must_lie_in_the_set_that_the_reference_allows():
    bound = Decision("ns/p", "Scheduled", node="n1")
    assert paths(REFERENCE, bound) == []
    assert paths(replace(REFERENCE, totals={"n1": 2, "n2": 3}), bound) == ["node"]
    only = Decision("ns/p", "Scheduled", feasible=frozenset({"n2"}), node="n2")
    assert paths(only, bound) == ["node"]


def test_nobody_knows_what_is_legal_without_totals_and_with_several_nodes():
    assert legal(Decision("ns/p", "Scheduled", feasible=frozenset({"n1", "n2"}))) is UNOBSERVED
