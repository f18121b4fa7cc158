"""A scheduler's explain is asked as a child process that answers JSON lines."""

from __future__ import annotations

import sys

import pytest

from schedlab.decisions.decision import UNOBSERVED, Candidate, Preemption, Refusal
from schedlab.decisions.explain import Explain, decode
from schedlab.errors import SchedlabError

ANSWER = {
    "pod": "ns/p",
    "result": "Unschedulable",
    "message": "0/2 nodes are available",
    "nodes": {
        "n1": {"feasible": True, "scores": {"Fit": 3}, "total": 3},
        "n2": {"feasible": False, "plugin": "Fit", "reasons": ["Insufficient cpu"], "unresolvable": True},
    },
    "selected": ["n1"],
    "preemption": {"candidates": {"n2": ["ns/v"]}, "best": ["n2"]},
}
ECHO = "import sys\nfor line in sys.stdin: print(line.strip(), flush=True)"


def child(code):
    return Explain((sys.executable, "-c", code))


def test_an_answer_becomes_a_decision():
    seen = decode(ANSWER)
    assert seen.feasible == {"n1"}
    assert seen.scores == {"n1": {"Fit": 3}}
    assert seen.totals == {"n1": 3}
    assert seen.legal == {"n1"}
    assert seen.refusals == {"n2": Refusal("Fit", ("Insufficient cpu",), unresolvable=True)}
    assert seen.preemption == Preemption({"n2": Candidate(frozenset({"ns/v"}))}, best=frozenset({"n2"}))
    assert seen.node is UNOBSERVED


def test_preemption_that_was_not_tried_has_no_candidates():
    seen = decode({**ANSWER, "preemption": None})
    assert seen.preemption == Preemption(candidates={}, best=frozenset())


@pytest.mark.parametrize("result", ["Gated", "Error"])
def test_a_pod_that_was_not_filtered_has_no_feasible_set(result):
    assert decode({**ANSWER, "result": result, "nodes": {}, "selected": []}).feasible is UNOBSERVED


async def test_answers_come_in_the_order_of_the_questions():
    async with child(ECHO) as explain:
        questions = [{"pod": {"n": n, "padding": "x" * 5000}} for n in range(100)]
        answers = [answer["pod"]["n"] async for answer in explain.ask_all(questions)]
        assert answers == list(range(100))
        assert await explain.ask({"pod": 1}) == {"pod": 1}


async def test_a_child_that_ends_is_an_error_with_its_last_words():
    async with child("import sys; sys.stdin.readline(); sys.exit('no such plugin')") as explain:
        with pytest.raises(SchedlabError, match="ended without an answer: no such plugin"):
            await explain.ask({"pod": 1})
        with pytest.raises(SchedlabError, match="ended without an answer"):
            await explain.ask({"pod": 2})


async def test_a_line_that_is_not_json_is_an_error():
    async with child("print('Loading plugins')") as explain:
        with pytest.raises(SchedlabError, match="not JSON: b'Loading plugins"):
            await explain.ask({"pod": 1})


async def test_it_must_be_running():
    with pytest.raises(SchedlabError, match="outside its context"):
        await child(ECHO).ask({})
