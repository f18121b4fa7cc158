"""On a real control plane every operation passes where it should and fails where it should, with evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from suite_world import Run, Suites

from schedlab.history.directory import load

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(400)]

CASES: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "runner_cases.yaml").read_text())
PASSING: dict[str, list[Any]] = CASES["passing"]
FAILING: dict[str, dict[str, Any]] = CASES["failing"]
HELD = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "c", "finalizers": ["example.com/hold"]},
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """All of them in one run, on one control plane."""
    suites = Suites(tmp_path_factory.mktemp("verdicts"))
    for name, operations in PASSING.items():
        suites.add(name, {"steps": [{"try": operations}]})
    for name, case in FAILING.items():
        step = {"try": case["try"], "cleanup": case.get("cleanup", []), "catch": [{"events": {}}]}
        suites.add(name, {"steps": [step]})
    left = {"timeouts": {"cleanup": "1s"}, "steps": [{"try": [{"create": {"resource": HELD}}]}]}
    suites.add("left-behind", left)
    suites.add("z-after-that-a-fresh-control-plane", {"steps": [{"try": PASSING["nodes-and-pods"]}]})
    return suites.run("--scheduler", "kube-scheduler")


@pytest.mark.parametrize("name", [*PASSING, "z-after-that-a-fresh-control-plane"])
def test_it_passes(run: Run, name: str) -> None:
    """And leaves nothing behind."""
    result = run.result(f"demo/{name}")
    assert (result["verdict"], result["leftovers"]) == ("pass", []), result


@pytest.mark.parametrize("name", FAILING)
def test_it_fails_with_the_reason(run: Run, name: str) -> None:
    """Nothing else, and at that operation."""
    result = run.result(f"demo/{name}")
    assert result["verdict"] == "fail"
    assert FAILING[name]["seen"] in (result["failure"]["seen"] or result["failure"]["message"])
    assert result["failure"]["position"].split(":")[0].endswith(f"{name}/test.yaml")
    assert any(note.startswith("events:") for note in result["notes"])
    assert result["leftovers"] == []


def test_leftovers_fail_a_test_and_name_the_finalizer(run: Run) -> None:
    """And retire the control plane."""
    result = run.result("demo/left-behind")
    assert result["verdict"] == "fail"
    (left,) = result["leftovers"]
    assert left.startswith("ConfigMap left-behind-")
    assert left.endswith("/c (finalizers: example.com/hold)")
    planes = {path.name for path in (run.directory / "control-planes").iterdir()}
    assert planes == {"kube-scheduler-1", "kube-scheduler-2"}


def test_the_run_fails_and_says_so_at_the_end(run: Run) -> None:
    """Failures repeated, then the table, then where the artefacts are."""
    assert run.code == 1
    failures, _, table = run.output.partition("verdicts -")
    assert "=== FAILURES ===" in failures
    assert (
        "rerun:     schedlab test suites/demo/never-scheduled/test.yaml --scheduler kube-scheduler"
        in failures
    )
    assert "demo/never-scheduled" in table
    assert "artefacts: " in table


def test_the_record_of_a_test_can_be_read_back(run: Run) -> None:
    """Who bound the pod, and when: from the directory alone."""
    directory = Path(run.result("demo/scheduled-once-with-event")["artifacts"])
    history = load(directory)
    bindings = [w for w in history.writes(verb="create") if w.subresource == "binding" and w.name == "w"]
    assert [(w.user, w.code) for w in bindings] == [("system:kube-scheduler", 201)]
    pods = [r for r in history if r.kind == "Pod" and r.ref.name == "w"]
    assert pods[0].type == "ADDED"
    assert pods[-1].type == "DELETED"
    assert "nodeName" not in pods[0].object["spec"]
    assert any(
        e["reason"] == "Scheduled" for e in (r.object for r in history if r.kind == "Event.events.k8s.io")
    )
    assert (directory / "logs" / "kube-scheduler.log").stat().st_size > 0
    assert history.gaps == []
