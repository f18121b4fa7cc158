"""Writes a shrunk difference down: as a corpus line, for people, and as a suite test."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import yaml

from schedlab.decisions import corpus
from schedlab.decisions.compare import Difference, legal
from schedlab.decisions.decision import Decision, Unobserved
from schedlab.fuzz.plan import Object
from schedlab.fuzz.replant import creatable, is_pending, summary

_NAMESPACE = "default"


@dataclass(frozen=True, slots=True)
class Reproduction:
    """One difference, as small as it could be made: the decision, and the case that shows it."""

    case: corpus.Case
    question: corpus.Question
    differences: tuple[Difference, ...]
    got: dict[str, Any]

    @property
    def name(self) -> str:
        """What its files are called."""
        return self.case.name

    @property
    def provenance(self) -> str:
        """Where it comes from: commit, seed, features, how small it was made."""
        return self.case.source


def write(found: Reproduction, directory: Path) -> Path:
    """Write `NAME.jsonl` (the corpus line), `NAME.json`, `NAME.md`, and `NAME/test.yaml`; its path.

    `NAME.json` holds the line to give to `explain`, what the reference said, and what was said instead.
    """
    directory.mkdir(parents=True, exist_ok=True)
    corpus.write(directory / f"{found.name}.jsonl", [found.case])
    question = found.question
    raw = {
        "provenance": found.provenance,
        "question": question.to_explain(),
        "expected": question.decision.to_json(),
        "got": found.got,
    }
    (directory / f"{found.name}.json").write_bytes(msgspec.json.format(msgspec.json.encode(raw), indent=1))
    (directory / f"{found.name}.md").write_text(_markdown(found))
    test = directory / found.name / "test.yaml"
    test.parent.mkdir(exist_ok=True)
    test.write_text(suite_test(found))
    return test


def _markdown(found: Reproduction) -> str:
    question = found.question
    lines = [
        f"# {found.name}",
        "",
        found.provenance,
        "",
        f"State: {summary(question.objects)}. Pod: {question.pod['metadata']['name']}.",
        "",
        *(f"* {difference}" for difference in found.differences[:20]),
        "",
        "```yaml",
        yaml.safe_dump_all(
            [*map(creatable, question.objects), creatable(question.pod)], sort_keys=False
        ).rstrip(),
        "```",
        "",
    ]
    return "\n".join(lines)


def suite_test(found: Reproduction) -> str:
    """A test in schedlab's format that demands what the reference did; scores show only in effect."""
    question = found.question
    objects = [obj for obj in question.objects if not is_pending(obj)]
    pod = creatable(question.pod)
    classes = _priority_classes([*objects, question.pod])
    steps: list[Object] = [
        {"nodes": {"name": obj["metadata"]["name"], **_cordoned(obj), "resource": creatable(obj)}}
        for obj in objects
        if obj["kind"] == "Node"
    ]
    steps += [{"apply": {"resource": one}} for one in classes.values()]
    for kind in ("Namespace", None, "Pod"):
        steps += [
            {"apply": {"resource": _portable(creatable(obj))}}
            for obj in objects
            if obj["kind"] == kind or (kind is None and obj["kind"] not in ("Namespace", "Node", "Pod"))
        ]
    test = {
        "apiVersion": "schedlab/v1alpha1",
        "kind": "Test",
        "metadata": {"name": found.name, "labels": {"area": "differential"}},
        "spec": {
            "description": "; ".join(str(one) for one in found.differences[:3]),
            "steps": [
                {"name": "the state", "try": steps},
                {
                    "name": "the decision",
                    "try": [{"apply": {"resource": _portable(pod)}}, expectation(question.decision, pod)],
                    "catch": [{"explain": {"pod": pod["metadata"]["name"]}}],
                },
            ],
        },
    }
    header = f"# {found.provenance}\n"
    return header + yaml.safe_dump(test, sort_keys=False, width=120)


def expectation(decision: Decision, pod: Object) -> Object:
    """The assertion that holds exactly if a scheduler does what the reference did, up to ties."""
    name = pod["metadata"]["name"]
    if decision.result == "Scheduled":
        allowed = legal(decision)
        nodes = sorted(allowed) if not isinstance(allowed, Unobserved) else [str(decision.node)]
        return {"scheduled": {"pod": name, "nodeIn": nodes}}
    wanted: Object = {"pod": name, "message": decision.message}
    if decision.result == "Gated":
        wanted["reason"] = "SchedulingGated"
    return {"unschedulable": wanted}


def _cordoned(node: Object) -> Object:
    return {"unschedulable": True} if node["spec"].get("unschedulable") else {}


def _priority_classes(objects: Sequence[Object]) -> dict[int, Object]:
    values = sorted(
        {obj["spec"]["priority"] for obj in objects if obj["kind"] == "Pod" and obj["spec"].get("priority")}
    )
    return {
        value: {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": _class_name(value)},
            "value": value,
        }
        for value in values
    }


def _class_name(value: int) -> str:
    return f"priority-{value}" if value >= 0 else f"priority-minus-{-value}"


def _portable(obj: Object) -> Object:
    """The object for a cluster with ordinary admission: priorities by class, the test's own namespace."""
    moved = copy.deepcopy(obj)
    if moved["metadata"].get("namespace") == _NAMESPACE:
        del moved["metadata"]["namespace"]
    if moved["kind"] == "Pod":
        moved.pop("status", None)
        priority = moved["spec"].pop("priority", None)
        moved["spec"].pop("preemptionPolicy", None)
        if priority:
            moved["spec"]["priorityClassName"] = _class_name(priority)
    return moved
