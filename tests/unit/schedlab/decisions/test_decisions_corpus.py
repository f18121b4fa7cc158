"""Recorded cases come back as they were written, state by state."""

from __future__ import annotations

import pytest

from schedlab.decisions import corpus
from schedlab.decisions.corpus import Case, Change, Step
from schedlab.decisions.decision import Decision
from schedlab.errors import UsageError


def obj(kind, name, **spec):
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "ns"}, "spec": spec}


NODE, OLD = obj("Node", "n1"), obj("Pod", "old", nodeName="n1")
FIRST, SECOND = obj("Pod", "first"), obj("Pod", "second")
BOUND = obj("Pod", "first", nodeName="n1")
CASE = Case(
    reference="kube-scheduler v1.36.3",
    objects=(NODE, OLD),
    steps=(
        Step(
            FIRST,
            Decision("ns/first", "Scheduled", node="n1"),
            (Change("ADDED", FIRST), Change("MODIFIED", BOUND)),
        ),
        Step(SECOND, Decision("ns/second", "Unschedulable"), (Change("DELETED", OLD),)),
    ),
    seed=3,
    features=("taints",),
    source="a test",
    name="case",
)


@pytest.mark.parametrize("name", ["c.jsonl", "c.jsonl.gz"])
def test_cases_come_back(tmp_path, name):
    assert corpus.write(tmp_path / "deep" / name, [CASE, CASE]) == 2
    assert list(corpus.read(tmp_path / "deep" / name)) == [CASE, CASE]


def test_equal_cases_make_equal_files(tmp_path):
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        corpus.write(tmp_path / name, [CASE])
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()


def test_every_decision_has_the_state_it_was_made_in():
    first, second = corpus.unroll(CASE)
    assert first.objects == [NODE, OLD]
    assert (second.objects, second.pod) == ([NODE, OLD, BOUND], SECOND)
    assert second.to_explain() == {"objects": [NODE, OLD, BOUND], "pod": SECOND}


def test_a_pod_that_becomes_bound_moves_to_the_end():
    state = {corpus.identity(one): one for one in (FIRST, NODE, OLD)}
    corpus.apply(state, Change("MODIFIED", BOUND))
    assert list(state.values()) == [NODE, OLD, BOUND]


def test_an_update_keeps_its_place_and_a_deletion_of_nothing_is_nothing():
    state = {corpus.identity(one): one for one in (NODE, OLD)}
    corpus.apply(state, Change("MODIFIED", obj("Node", "n1", unschedulable=True)))
    corpus.apply(state, Change("DELETED", SECOND))
    assert list(state.values()) == [obj("Node", "n1", unschedulable=True), OLD]


def test_bookkeeping_is_trimmed():
    full = {
        "kind": "Pod",
        "metadata": {"name": "p", "uid": "u", "managedFields": [1], "resourceVersion": "4"},
    }
    assert corpus.trimmed(full) == {"kind": "Pod", "metadata": {"name": "p", "uid": "u"}}
    assert "managedFields" in full["metadata"]


def test_one_decision_can_be_cut_out():
    second = list(corpus.unroll(CASE))[1]
    cut = corpus.single(second, CASE, "cut out")
    assert [one.pod for one in corpus.unroll(cut)] == [SECOND]
    assert cut.objects == (NODE, OLD, BOUND)
    assert cut.source == "cut out"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("not json", "not a recorded case"),
        ("{}", "not a recorded case"),
        ('{"version": 99}', "corpus version 99"),
    ],
)
def test_what_is_not_a_case_is_refused_with_its_place(tmp_path, line, complaint):
    path = tmp_path / "c.jsonl"
    path.write_text(corpus.dump(CASE) + "\n\n" + line + "\n")
    with pytest.raises(UsageError, match=rf"c\.jsonl:3: {complaint}"):
        list(corpus.read(path))
