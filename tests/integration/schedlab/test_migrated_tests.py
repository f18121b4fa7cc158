"""Tests of Chainsaw and kuttl are migrated and pass; scenarios, templates and programs run for real."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from suite_world import Suites

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(400)]

EXAMPLES = Path(__file__).parents[2] / "unit" / "schedlab" / "migrate" / "examples"


def test_migrated_examples_pass_if_their_programs_are_allowed(tmp_path: Path) -> None:
    """All of them on one control plane; without the permission, those with programs fail and say why."""
    for tool in ("chainsaw", "kuttl"):
        command = [sys.executable, "-m", "schedlab", "migrate", tool, str(EXAMPLES / tool)]
        done = subprocess.run([*command, "--out", f"suites/{tool}"], cwd=tmp_path, check=False)
        assert done.returncode == 1
    suites = Suites(tmp_path)
    run = suites.run("--allow-scripts")
    assert run.code == 0, run.output
    assert run.verdicts() == dict.fromkeys(
        ("gpu-pods", "quota.1", "quota.2", "placement", "tear-down"), "pass"
    )
    refused = suites.run("-k", "placement or tear-down")
    assert refused.code == 1
    assert refused.verdicts() == {"placement": "pass", "tear-down": "fail"}
    assert "--allow-scripts" in refused.output


def test_what_a_test_leaves_in_the_cluster_meets_no_other(tmp_path: Path) -> None:
    """It passes; the next test gets a control plane of its own."""
    suites = Suites(tmp_path)
    name = "left-over"
    made = f"kubectl create priorityclass {name} --value=5"
    suites.steps("a-leaves", {"script": {"content": made}}, {"error": {"resource": wanted("gone")}})
    suites.steps("b-finds-nothing", {"error": {"resource": wanted(name), "holds": "500ms"}})
    run = suites.run("--allow-scripts")
    assert run.verdicts() == {"a-leaves": "pass", "b-finds-nothing": "pass"}, run.output
    notes = run.result("demo/a-leaves")["notes"]
    assert any(f"PriorityClass.scheduling.k8s.io {name} is new" in note for note in notes), notes


def wanted(name: str) -> dict[str, object]:
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}}
