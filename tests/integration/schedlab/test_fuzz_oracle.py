"""The oracle on a real control plane: what kube-scheduler decides is seen from all sides, and repeats."""

import pytest

from schedlab.decisions import corpus
from schedlab.decisions.compare import differences
from schedlab.decisions.decision import UNOBSERVED, Candidate, Preemption
from schedlab.fuzz import ask, generate
from schedlab.fuzz.blueprint import node, pod
from schedlab.fuzz.features import chosen
from schedlab.fuzz.oracle import oracle
from schedlab.fuzz.plan import Plan

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(180)]

SMALL = {"cpu": "4", "memory": "8Gi", "pods": "10"}


def asking(name, cpu, priority=0, where=None, start=None):
    made = pod(name, "default", {})
    made["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
    made["spec"]["priority"] = priority
    made["spec"]["terminationGracePeriodSeconds"] = 0
    if where:
        made["spec"]["nodeName"] = where
        made["status"] = {"phase": "Running", "startTime": start}
    return made


@pytest.fixture
async def recorder():
    """A tapped kube-scheduler."""
    async with oracle("oracle-test") as made:
        yield made


async def test_scores_feasible_sets_and_preemption_are_seen(recorder):
    """A small state whose whole decision can be worked out by hand."""
    objects = (
        node("n1", {}, SMALL),
        node("n2", {}, SMALL),
        asking("low", "3", 1, "n1", "2024-01-01T00:00:00Z"),
        asking("high", "3", 100, "n2", "2024-01-01T00:00:01Z"),
    )
    case = await recorder.play(
        Plan(objects, (asking("fits", "1", 10), asking("preempts", "2", 10)), timed=True)
    )
    fits, preempts = (question.decision for question in corpus.unroll(case))
    assert fits.result == "Scheduled"
    assert fits.feasible == {"n1", "n2"}
    assert fits.scores is not UNOBSERVED
    assert set(fits.scores["n1"]) >= {
        "NodeResourcesFit",
        "NodeResourcesBalancedAllocation",
        "TaintToleration",
    }
    assert fits.totals == {name: sum(scores.values()) for name, scores in fits.scores.items()}
    assert preempts.message == "0/2 nodes are available: 2 Insufficient cpu."
    assert preempts.feasible == frozenset()
    assert preempts.preemption == Preemption(
        candidates={"n1": Candidate(frozenset({"default/low"}), 0)},
        nominated="n1",
        deleted=frozenset({"default/low"}),
    )


async def test_random_cases_are_decided_as_the_judge_allows_and_leave_nothing_behind(recorder):
    """Three cases with every feature, one after another on one control plane, under the same names."""
    decided = 0
    for seed in range(3):
        case = await recorder.play(generate.plan(seed, chosen("all"), arrivals=6))
        for question in corpus.unroll(case):
            finding = ask.judged(question)
            assert finding is None, finding
            decided += 1
    assert decided == 18


async def test_the_tap_changes_no_decision(recorder):
    """The first decision of a case is the same with and without the extender, ties apart."""
    plans = [generate.plan(seed, chosen("all,-gates"), arrivals=1) for seed in range(20, 28)]
    tapped = [(await recorder.play(plan)).steps[0].decision for plan in plans]
    async with oracle("oracle-untapped", tapped=False) as untapped:
        plain = [(await untapped.play(plan)).steps[0].decision for plan in plans]
    assert [differences(*pair) for pair in zip(tapped, plain, strict=True)] == [[]] * len(plans)
    assert all(decision.feasible is UNOBSERVED for decision in plain)
