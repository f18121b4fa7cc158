"""Two decisions are compared level by level, and what one side did not show is never called equal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedlab.compare.levels import LEVELS, Divergence, Silent, compare
from schedlab.decisions.decision import UNOBSERVED, Candidate, Decision, Preemption, Refusal

SCHEDULED = Decision(
    "ns/p",
    "Scheduled",
    message=None,
    event="Successfully assigned ns/p to n1",
    feasible=frozenset({"n1", "n2"}),
    scores={"n1": {"Fit": 3}, "n2": {"Fit": 2, "Taints": 0}},
    totals={"n1": 3, "n2": 2},
    node="n1",
)
REFUSED = Decision("ns/p", "Unschedulable", message="no", event="no", feasible=frozenset(), node=None)
PREEMPTING = replace(
    REFUSED,
    preemption=Preemption(candidates={"n1": Candidate(frozenset({"ns/v"}), 1)}, nominated="n1"),
)


def verdict(level, a, b):
    return compare(a, b, [level])[level]


@pytest.mark.parametrize("level", LEVELS)
def test_a_decision_equals_itself(level):
    assert verdict(level, SCHEDULED, SCHEDULED) is Silent.EQUAL


def test_what_one_side_does_not_show_is_not_compared():
    """A scheduler of which only the API shows anything has no feasible set and no scores."""
    seen = Decision("ns/p", "Scheduled", node="n1")
    verdicts = compare(SCHEDULED, seen, LEVELS)
    assert verdicts["placement"] is Silent.EQUAL
    assert {verdicts[level] for level in ("feasible", "scores", "reasons", "events")} == {Silent.UNOBSERVED}


def test_another_score_names_the_first_plugin_and_node():
    other = replace(SCHEDULED, scores={"n1": {"Fit": 3, "Image": 1}, "n2": {"Fit": 1}})
    found = verdict("scores", SCHEDULED, other)
    assert found == Divergence("scores", "Fit and Image", 2, 1, "Fit", "n2")


def test_a_score_of_zero_equals_an_absent_one():
    other = replace(SCHEDULED, scores={"n1": {"Fit": 3, "Image": 0}, "n2": {"Fit": 2}})
    assert verdict("scores", SCHEDULED, other) is Silent.EQUAL


def test_scores_among_other_nodes_are_not_compared():
    """They are normalised over the feasible nodes."""
    other = replace(SCHEDULED, feasible=frozenset({"n1"}), scores={"n1": {"Fit": 9}}, totals={"n1": 9})
    assert verdict("scores", SCHEDULED, other) is Silent.FOLLOWS


def test_there_are_no_scores_where_one_node_is_left():
    one = replace(SCHEDULED, feasible=frozenset({"n1"}), scores=UNOBSERVED, totals=UNOBSERVED)
    assert verdict("scores", one, one) is Silent.ABSENT
    assert verdict("scores", REFUSED, REFUSED) is Silent.ABSENT


def test_a_tie_may_be_broken_either_way():
    tied = replace(SCHEDULED, totals={"n1": 3, "n2": 3})
    assert verdict("placement", tied, replace(tied, node="n2")) is Silent.EQUAL


def test_another_best_node_is_blamed_on_the_plugin_that_scores_it():
    other = replace(SCHEDULED, scores={"n1": {"Fit": 1}, "n2": {"Fit": 2}}, totals={"n1": 1, "n2": 2})
    found = verdict("placement", SCHEDULED, other)
    assert isinstance(found, Divergence)
    assert (found.cause, found.a, found.b) == ("other nodes are best, by the scores of Fit", ["n1"], ["n2"])


def test_a_deed_must_lie_in_what_the_other_side_allows():
    seen = Decision("ns/p", "Scheduled", node="n2")
    found = verdict("placement", SCHEDULED, seen)
    assert isinstance(found, Divergence)
    assert (found.a, found.b, found.node) == ("n1", "n2", "n2")


def test_other_results_are_a_placement_and_silence_the_texts():
    verdicts = compare(SCHEDULED, REFUSED, LEVELS)
    found = verdicts["placement"]
    assert isinstance(found, Divergence)
    assert found.cause == "Scheduled by a, Unschedulable by b"
    assert verdicts["reasons"] is verdicts["events"] is Silent.FOLLOWS


def test_a_node_that_only_one_finds_feasible_shows_who_refuses_it_and_why():
    other = replace(
        SCHEDULED,
        feasible=frozenset({"n1"}),
        refusals={"n2": Refusal("Taints", ("node(s) had taint {a: b}",))},
    )
    found = verdict("feasible", SCHEDULED, other)
    assert found == Divergence(
        "feasible",
        "only a finds a node feasible: Taints (node(s) had taint {…})",
        "feasible",
        "refused",
        "Taints",
        "n2",
    )
    unshown = verdict("feasible", replace(other, refusals=UNOBSERVED), SCHEDULED)
    assert isinstance(unshown, Divergence)
    assert unshown.cause == "only b finds a node feasible: the reason is not shown"


@pytest.mark.parametrize(
    ("candidates", "cause"),
    [
        ({}, "only a would preempt on a node"),
        ({"n1": Candidate(frozenset({"ns/w"}), 1)}, "other victims"),
        ({"n1": Candidate(frozenset({"ns/v"}), 0)}, "other numbers of broken budgets"),
    ],
)
def test_what_preemption_would_do_belongs_to_the_feasible_nodes(candidates, cause):
    other = replace(PREEMPTING, preemption=Preemption(candidates=candidates, nominated="n1"))
    found = verdict("feasible", PREEMPTING, other)
    assert isinstance(found, Divergence)
    assert (found.cause, found.plugin, found.node) == (cause, "DefaultPreemption", "n1")


def test_that_one_side_does_not_preempt_is_a_placement():
    other = replace(PREEMPTING, preemption=Preemption(candidates={}, nominated=None))
    found = verdict("placement", PREEMPTING, other)
    assert isinstance(found, Divergence)
    assert found.cause == "a preempts, b does not preempt"


def test_nominations_of_equal_rank_are_no_difference():
    """`best` holds the nodes that a scheduler may promise."""
    explained = replace(PREEMPTING, preemption=Preemption(best=frozenset({"n1", "n2"})))
    assert verdict("placement", PREEMPTING, explained) is Silent.EQUAL
    elsewhere = replace(PREEMPTING, preemption=Preemption(best=frozenset({"n3"})))
    assert isinstance(verdict("placement", PREEMPTING, elsewhere), Divergence)


def test_refusals_are_compared_where_both_sides_tell():
    mine, theirs = (replace(REFUSED, refusals={"n1": Refusal("Fit", (text,))}) for text in ("few", "full"))
    found = verdict("reasons", mine, theirs)
    assert found == Divergence(
        "reasons",
        "only a says: few; only b says: full",
        ["Fit", "few"],
        ["Fit", "full"],
        "Fit",
        "n1",
        frozenset({"only a says: few", "only b says: full"}),
    )
    assert verdict("reasons", mine, REFUSED) is Silent.EQUAL


def test_events_about_other_nodes_are_not_compared():
    other = replace(SCHEDULED, node="n2", event="Successfully assigned ns/p to n2")
    assert verdict("events", SCHEDULED, other) is Silent.FOLLOWS
    said = verdict("events", REFUSED, replace(REFUSED, event="never"))
    assert isinstance(said, Divergence)
    assert said.cause == "only a says: no; only b says: never"
