"""A recorded state becomes a plan again, and a test for any scheduler."""

from __future__ import annotations

import copy

import pytest
import yaml

from schedlab.decisions import corpus
from schedlab.decisions.compare import Difference
from schedlab.decisions.corpus import Case, Question, Step
from schedlab.decisions.decision import Decision, Preemption
from schedlab.fuzz import reproduction
from schedlab.fuzz.replant import creatable, plan_of, summary
from schedlab.fuzz.reproduction import Reproduction, expectation
from schedlab.suite.loader import load

SERVER = {"uid": "u", "creationTimestamp": "t", "generation": 2}
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1", **SERVER},
    "spec": {"unschedulable": True},
    "status": {"allocatable": {"cpu": "1"}, "conditions": [{}]},
}
BOUND = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "old", "namespace": "default", **SERVER},
    "spec": {"nodeName": "n1", "priority": -5, "containers": [{"name": "c", "image": "i"}]},
    "status": {"phase": "Running", "startTime": "s", "qosClass": "BestEffort", "conditions": [{}]},
}
NOMINATED = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "next", "namespace": "default", **SERVER},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
    "status": {"nominatedNodeName": "n1"},
}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "default", **SERVER},
    "spec": {"priority": 7, "containers": [{"name": "c", "image": "i"}]},
    "status": {"phase": "Pending", "conditions": [{}]},
}
UNSCHEDULABLE = Decision("default/p", "Unschedulable", message="0/1 nodes are available: x.")


def test_what_the_server_wrote_is_taken_off():
    assert creatable(NODE) == {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1"},
        "spec": {"unschedulable": True},
        "status": {"allocatable": {"cpu": "1"}},
    }
    assert creatable(BOUND)["status"] == {"phase": "Running", "startTime": "s"}
    assert creatable(POD)["status"] == {}
    assert BOUND["metadata"]["uid"] == "u"


def test_defaults_are_taken_off_and_choices_stay():
    stored = copy.deepcopy(POD)
    stored["spec"] |= {"dnsPolicy": "ClusterFirst", "restartPolicy": "Never", "securityContext": {}}
    stored["spec"]["containers"][0] |= {"resources": {}, "terminationMessagePolicy": "File"}
    assert creatable(stored)["spec"] == {**POD["spec"], "restartPolicy": "Never"}
    node = {**NODE, "status": {"allocatable": {}, "nodeInfo": {}, "daemonEndpoints": {}}}
    assert creatable(node)["status"] == {"allocatable": {}}


def test_services_lose_the_addresses_they_were_given():
    service = {
        "kind": "Service",
        "metadata": {"name": "s"},
        "spec": {
            "clusterIP": "None",
            "clusterIPs": ["None"],
            "selector": {"a": "b"},
            "ports": [{"port": 80}],
        },
        "status": {"loadBalancer": {}},
    }
    assert creatable(service) == {
        "kind": "Service",
        "metadata": {"name": "s"},
        "spec": {"clusterIP": "None", "selector": {"a": "b"}, "ports": [{"port": 80}]},
    }


def test_what_label_keys_added_to_selectors_is_taken_out_again():
    merged = {"key": "v", "operator": "In", "values": ["1"]}
    other = {"key": "w", "operator": "Exists"}
    apart = {"key": "v", "operator": "NotIn", "values": ["1"]}
    stored = {
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {
            "containers": [],
            "topologySpreadConstraints": [
                {"matchLabelKeys": ["v"], "labelSelector": {"matchExpressions": [other, merged]}}
            ],
            "affinity": {
                "podAntiAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "weight": 1,
                            "podAffinityTerm": {
                                "mismatchLabelKeys": ["v"],
                                "labelSelector": {"matchExpressions": [merged, apart]},
                            },
                        }
                    ]
                }
            },
        },
    }
    spec = creatable(stored)["spec"]
    assert spec["topologySpreadConstraints"][0]["labelSelector"] == {"matchExpressions": [other]}
    (term,) = spec["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    assert term["podAffinityTerm"]["labelSelector"] == {"matchExpressions": [merged]}


def test_nominated_pods_stay_out_of_the_plan():
    plan = plan_of(Question([NODE, BOUND, NOMINATED], POD, UNSCHEDULABLE))
    assert [one["metadata"]["name"] for one in plan.objects] == ["n1", "old"]
    assert [one["metadata"]["name"] for one in plan.arrivals] == ["p"]
    assert summary([NODE, BOUND, POD]) == "1 Node, 2 Pod"
    assert summary([]) == "nothing"


@pytest.mark.parametrize(
    ("decision", "assertion"),
    [
        (
            Decision("default/p", "Scheduled", totals={"b": 3, "a": 3, "c": 1}, node="a"),
            {"scheduled": {"pod": "p", "nodeIn": ["a", "b"]}},
        ),
        (
            Decision("default/p", "Scheduled", node="a"),
            {"scheduled": {"pod": "p", "nodeIn": ["a"]}},
        ),
        (UNSCHEDULABLE, {"unschedulable": {"pod": "p", "message": "0/1 nodes are available: x."}}),
        (
            Decision("default/p", "Gated", message="gated"),
            {"unschedulable": {"pod": "p", "message": "gated", "reason": "SchedulingGated"}},
        ),
    ],
)
def test_the_assertion_demands_what_the_reference_did_up_to_ties(decision, assertion):
    assert expectation(decision, POD) == assertion


@pytest.fixture
def written(tmp_path):
    decision = Decision("default/p", "Unschedulable", message="no", preemption=Preemption(candidates={}))
    steps = (Step(POD, decision),)
    case = Case("kube-scheduler", (NODE, BOUND), steps, name="difference-1-001", source="commit abc, seed 1")
    found = Reproduction(
        case=case,
        question=next(corpus.unroll(case)),
        differences=(Difference("message", "no", "yes"),),
        got={"message": "yes"},
    )
    return reproduction.write(found, tmp_path)


def test_a_difference_is_written_as_a_test_that_the_suite_loader_takes(written):
    load(written)
    test = yaml.safe_load(written.read_text())
    state, decision = (step["try"] for step in test["spec"]["steps"])
    assert [next(iter(operation)) for operation in state] == ["nodes", "apply", "apply", "apply"]
    assert state[0]["nodes"]["unschedulable"] is True
    classes = {one["apply"]["resource"]["value"] for one in state[1:3]}
    assert classes == {-5, 7}
    assert state[3]["apply"]["resource"]["spec"]["priorityClassName"] == "priority-minus-5"
    assert "namespace" not in state[3]["apply"]["resource"]["metadata"]
    assert decision[1] == {"unschedulable": {"pod": "p", "message": "no"}}
    assert written.read_text().startswith("# commit abc, seed 1\n")


def test_it_is_written_for_the_corpus_and_for_people_too(written):
    directory = written.parent.parent
    (case,) = corpus.read(directory / "difference-1-001.jsonl")
    assert case.steps[0].decision.message == "no"
    page = (directory / "difference-1-001.md").read_text()
    assert "message: expected 'no', got 'yes'" in page
    assert "commit abc, seed 1" in page
    assert '"question"' in (directory / "difference-1-001.json").read_text()
