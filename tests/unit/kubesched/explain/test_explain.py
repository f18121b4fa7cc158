"""The answer of explain, its schema, and the ways to ask."""

from __future__ import annotations

import json
from importlib.resources import files

import jsonschema
import msgspec
import pytest
import yaml
from click.testing import CliRunner

from kubesched.config.defaults import default_configuration
from kubesched.config.gates import FeatureGates
from kubesched.config.types import Extender, ExtenderManagedResource
from kubesched.explain.command import explain
from kubesched.explain.session import Answerer
from kubesched.explain.table import table
from kubesched.testing.builders import node, pod

SCHEMA = json.loads(files("kubesched.explain").joinpath("schema.json").read_text())


def answered(incoming, *objects):
    gates = FeatureGates()
    answerer = Answerer(default_configuration(gates), gates)
    for obj in objects:
        answerer.feed.add(obj)
    return answerer.answer(incoming)


def as_json(answer):
    found = json.loads(msgspec.json.encode(answer))
    jsonschema.validate(found, SCHEMA)
    return found


def test_a_scheduled_pod():
    """Every node is told, scores and all, and the best are selected."""
    found = as_json(answered(pod("p").cpu(1), node("a"), node("b").taint("t"), node("c").cordoned()))
    assert (found["pod"], found["result"], found["message"]) == ("default/p", "Scheduled", None)
    assert found["selected"] == ["a"]
    assert found["nodes"]["a"]["scores"]["TaintToleration"] == 300
    assert found["nodes"]["a"]["total"] == sum(found["nodes"]["a"]["scores"].values())
    assert found["nodes"]["b"] == {
        "feasible": False,
        "plugin": "TaintToleration",
        "reasons": ["node(s) had untolerated taint(s)"],
        "unresolvable": True,
    }
    assert found["nodes"]["c"]["plugin"] == "NodeUnschedulable"
    assert found["preemption"] is None


def test_ties_are_a_set():
    """Equals are all selected."""
    assert as_json(answered(pod("p"), node("a"), node("b")))["selected"] == ["a", "b"]


def test_an_unschedulable_pod():
    """With message, reasons per node, and what preemption found."""
    found = as_json(
        answered(
            pod("p").cpu(2).with_priority(9), node("a").cpu(2), pod("v").cpu(1).on("a"), node("b").cpu(1)
        )
    )
    assert found["result"] == "Unschedulable"
    assert found["message"] == "0/2 nodes are available: 2 Insufficient cpu."
    assert found["nodes"]["b"]["unresolvable"] is True
    assert found["preemption"] == {"candidates": {"a": ["default/v"]}, "best": ["a"]}


@pytest.mark.parametrize(
    ("incoming", "objects", "result", "message"),
    [
        pytest.param(
            pod("p").gate("g"),
            [node("a")],
            "Gated",
            "Scheduling is blocked due to non-empty scheduling gates",
            id="a gated pod",
        ),
        pytest.param(
            pod("p"), [], "Unschedulable", "no nodes available to schedule pods", id="an empty cluster"
        ),
        pytest.param(
            pod("p").requires_node("metadata.name", "In", "x"),
            [node("a")],
            "Unschedulable",
            "0/1 nodes are available: 1 node(s) didn't satisfy plugin(s) [NodeAffinity]. "
            "no new claims to deallocate, preemption: 0/1 nodes are available: "
            "1 Preemption is not helpful for scheduling.",
            id="a node that does not exist",
        ),
    ],
)
def test_other_results(incoming, objects, result, message):
    """The condition's text, whatever the reason."""
    found = as_json(answered(incoming, *objects))
    assert (found["result"], found["message"]) == (result, message)


def test_nodes_that_pre_filter_left_out_are_told():
    """They carry the plugin that narrowed the choice."""
    found = as_json(answered(pod("p").requires_node("metadata.name", "In", "b"), node("a"), node("b")))
    assert found["nodes"]["a"]["plugin"] == "NodeAffinity"
    assert found["selected"] == ["b"]


def test_the_nominated_node_is_selected():
    """If it fits, nothing else is looked at in a live cycle."""
    objects = [node("a"), node("b").taint("soft", effect="PreferNoSchedule")]
    found = as_json(answered(pod("p").nominated_to("b"), *objects))
    assert found["selected"] == ["b"]
    assert found["nodes"]["a"]["total"] > found["nodes"]["b"]["total"]


def test_the_answer_changes_nothing():
    """Asked twice, it is the same."""
    gates = FeatureGates()
    answerer = Answerer(default_configuration(gates), gates)
    for obj in (node("a"), node("b"), pod("v").cpu(30).on("a")):
        answerer.feed.add(obj)
    assert answerer.answer(pod("p").cpu(4)) == answerer.answer(pod("p").cpu(4))
    assert answerer.feed.cluster.audit() == []


def as_dict(obj):
    return {"apiVersion": obj.api_version, "kind": obj.kind, **json.loads(msgspec.json.encode(obj))}


def invoke(*args, text=""):
    return CliRunner().invoke(explain, args, input=text)


def lines(result):
    assert result.exit_code == 0, result.output
    found = [json.loads(line) for line in result.output.splitlines()]
    for answer in found:
        jsonschema.validate(answer, SCHEMA)
    return found


def test_jsonl_with_objects():
    """Each line is a state of its own."""
    small, large = as_dict(node("a").cpu(1)), as_dict(node("a").cpu(8))
    asked = as_dict(pod("p").cpu(4))
    text = "\n".join(json.dumps({"objects": [machine], "pod": asked}) for machine in (small, large)) + "\n\n"
    found = lines(invoke("--input-format", "jsonl", text=text))
    assert [answer["result"] for answer in found] == ["Unschedulable", "Scheduled"]


def test_jsonl_with_events():
    """Lines with events advance one state; a line with objects in between does not touch it."""
    asked = as_dict(pod("p").cpu(4))
    holder = as_dict(pod("h").cpu(6).on("a"))

    def event(kind, obj):
        return {"type": kind, "object": obj}

    steps = [
        {"events": [event("ADDED", as_dict(node("a").cpu(8)))], "pod": asked},
        {"events": [event("ADDED", holder)], "pod": asked},
        {"objects": [as_dict(node("a"))], "pod": asked},
        {"events": [], "pod": asked},
        {"events": [event("DELETED", holder)], "pod": asked},
        {"events": [event("DELETED", as_dict(node("a")))], "pod": asked},
    ]
    found = lines(invoke("--input-format", "jsonl", text="\n".join(json.dumps(step) for step in steps)))
    assert [answer["result"] for answer in found] == [
        "Scheduled",
        "Unschedulable",
        "Scheduled",
        "Unschedulable",
        "Scheduled",
        "Unschedulable",
    ]
    assert found[-1]["message"] == "no nodes available to schedule pods"


def test_events_of_nominated_pods():
    """A waiting pod counts while it is nominated, and its place is free once it is gone or placed."""
    asked = as_dict(pod("p").cpu(4))
    nominated = as_dict(pod("q").cpu(6).with_priority(5).nominated_to("a"))
    add = [{"type": "ADDED", "object": as_dict(node("a").cpu(8))}, {"type": "ADDED", "object": nominated}]
    steps = [
        {"events": add, "pod": asked},
        {"events": [{"type": "DELETED", "object": nominated}], "pod": asked},
    ]
    found = lines(invoke("--input-format", "jsonl", text="\n".join(json.dumps(step) for step in steps)))
    assert [answer["result"] for answer in found] == ["Unschedulable", "Scheduled"]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        pytest.param("{", "line 1: ", id="no JSON"),
        pytest.param('{"pod": {}}', 'line 1: a line has either "objects" or "events"', id="neither form"),
        pytest.param(
            '{"pod": {}, "objects": [{}]}', 'line 1: an object needs "kind"', id="an object without kind"
        ),
        pytest.param(
            '{"pod": {}, "objects": [{"kind": "Gadget"}]}',
            "line 1: 'Gadget' is not a kind",
            id="unknown kind",
        ),
        pytest.param('{"pod": {}, "objekts": []}', "line 1: ", id="an unknown field"),
        pytest.param(
            '{"pod": {"spec": {"schedulerName": "x"}}, "objects": []}',
            "asks for scheduler 'x'",
            id="a pod of another scheduler",
        ),
    ],
)
def test_bad_lines(line, text):
    """The error names the line and what is wrong with it."""
    result = invoke("--input-format", "jsonl", text=line)
    assert result.exit_code == 1
    assert text in result.output


def test_files(tmp_path):
    """YAML of several documents, JSON lists and directories are read; the waiting pod is found by itself."""
    (tmp_path / "nodes.yaml").write_text(
        yaml.safe_dump_all([as_dict(node("a")), {"kind": "ConfigMap"}, as_dict(node("b").cordoned())])
    )
    (tmp_path / "pods.json").write_text(json.dumps({"kind": "PodList", "items": [as_dict(pod("p").cpu(1))]}))
    (tmp_path / "notes.txt").write_text("not an object")
    assert lines(invoke("--state", str(tmp_path), "-o", "json"))[0]["selected"] == ["a"]
    named = invoke("--state", str(tmp_path), "--pod", "p", "-o", "json")
    assert lines(named)[0]["pod"] == "default/p"
    missing = invoke("--state", str(tmp_path), "--pod", "web/x")
    assert "no pod web/x waits for a node; waiting: default/p" in missing.output


def test_standard_input_is_the_default_state():
    """`kubectl get … -o yaml | kubesched explain` works."""
    text = yaml.safe_dump({"kind": "List", "items": [as_dict(node("a")), as_dict(pod("p"))]})
    assert "* a " in invoke(text=text).output


@pytest.mark.parametrize(
    ("content", "text"),
    [
        pytest.param("a: [", "x.yaml", id="no YAML"),
        pytest.param("- 1", "x.yaml: document 1: an object with `kind` is expected", id="no object"),
        pytest.param(
            "kind: Node\nmetadata: {name: a}\nspec: {taints: 5}",
            "x.yaml: document 1: Node 'a'",
            id="a wrong type",
        ),
        pytest.param(
            "kind: Node\nmetadata: {name: a}", "0 pods wait for a node: name one with --pod", id="no pod"
        ),
    ],
)
def test_bad_files(tmp_path, content, text):
    """The error names file, document, object and field."""
    (tmp_path / "x.yaml").write_text(content)
    result = invoke("--state", str(tmp_path / "x.yaml"))
    assert result.exit_code == 1
    assert text in result.output


def test_a_configuration_decides(tmp_path):
    """Under another profile the answer is another."""
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": {"filter": {"disabled": [{"name": "TaintToleration"}]}}}],
    }
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    line = json.dumps({"objects": [as_dict(node("a").taint("t"))], "pod": as_dict(pod("p"))})
    args = ("--input-format", "jsonl", "--config", str(tmp_path / "config.yaml"))
    assert lines(invoke(*args, text=line))[0]["result"] == "Scheduled"


def test_the_table():
    """Best nodes first, marked; then who was rejected and why."""
    text = table(answered(pod("p").cpu(1), node("a").cpu(2), node("b"), node("c").taint("t")))
    rows = text.splitlines()
    assert rows[0] == "Pod default/p: Scheduled"
    assert rows[3].startswith("* b ")
    assert rows[4].startswith("  a ")
    assert "c     TaintToleration  node(s) had untolerated taint(s)" in rows
    text = table(answered(pod("p").cpu(2).with_priority(9), node("a").cpu(2), pod("v").cpu(1).on("a")))
    assert "* a              default/v" in text.splitlines()


def test_extenders_that_have_a_say_are_named_and_not_asked():
    """Asking may change what they hold; one that manages a resource has no say in pods without it."""
    managed = (ExtenderManagedResource(name="example.com/fpga"),)
    extenders = (
        Extender(url_prefix="http://127.0.0.1:1", filter_verb="filter"),
        Extender(url_prefix="http://127.0.0.1:2", filter_verb="filter", managed_resources=managed),
    )
    config = msgspec.structs.replace(default_configuration(), extenders=extenders)
    answerer = Answerer(config, FeatureGates())
    answerer.feed.add(node("n").cpu(4).pods(10))
    answer = answerer.answer(pod("p"))
    assert as_json(answer)["unasked"] == ["http://127.0.0.1:1"]
    assert "Not asked, and they may decide otherwise: extenders http://127.0.0.1:1" in table(answer)
