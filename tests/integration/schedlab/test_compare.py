"""Comparisons on real control planes: equal is equal, and a difference is blamed on its plugin."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(280)]
ROOT = Path(__file__).parents[3]

#: kube-scheduler that fills nodes up: a scheduler that is not one of ours, in one file.
PACKING = {
    "apiVersion": "schedlab/v1alpha1",
    "kind": "Scheduler",
    "metadata": {"name": "packing"},
    "spec": {
        "command": [
            "{tools}/kube-scheduler",
            "--config={config}",
            "--bind-address=127.0.0.1",
            "--secure-port={port}",
            "--authentication-kubeconfig={kubeconfig}",
            "--authorization-kubeconfig={kubeconfig}",
        ],
        "config": {
            "profiles": [
                {
                    "pluginConfig": [
                        {
                            "name": "NodeResourcesFit",
                            "args": {"scoringStrategy": {"type": "MostAllocated"}},
                        }
                    ]
                }
            ]
        },
        "log": "kube-scheduler",
    },
}


def schedlab(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program as a user does."""
    argv = [sys.executable, "-m", "schedlab", *arguments]
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)


def compared(tmp_path: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the comparison as data."""
    file = tmp_path / "comparison.json"
    done = schedlab("compare", *arguments, "--json", str(file))
    assert file.exists(), done.stdout + done.stderr
    return done.returncode, json.loads(file.read_text())


def test_a_declared_scheduler_differs_from_the_reference_by_its_plugin(tmp_path: Path) -> None:
    """Two recorded schedulers, kept on one course."""
    declared = tmp_path / "packing.yaml"
    declared.write_text(yaml.safe_dump(PACKING))
    fuzz = ("--fuzz", "--decisions", "20", "--features", "resources,scores", "--shrink-attempts", "0")
    code, found = compared(tmp_path, "--a", "kube-scheduler", "--b", str(declared), *fuzz)
    assert code == 1
    scores = [cause for cause in found["causes"] if cause["level"] == "scores"]
    assert [cause["plugin"] for cause in scores] == ["NodeResourcesFit"]
    assert scores[0]["confirmed"]
    assert found["levels"]["feasible"]["different"] == 0
    assert found["compared"] == 20


def test_equal_schedulers_are_equal(tmp_path: Path) -> None:
    """One is recorded and the other explains itself."""
    code, found = compared(
        tmp_path, "--a", "kube-scheduler", "--b", "kubesched", "--fuzz", "--decisions", "10"
    )
    assert (code, found["causes"]) == (0, [])
    assert found["levels"]["placement"]["compared"] == 10
    assert found["levels"]["events"]["unobserved"] == 10


def test_suites_are_compared_pod_by_pod_and_a_moment_can_be_asked_about_again(tmp_path: Path) -> None:
    """The replay finds what the test demands, in the configuration that the test gave."""
    declared = tmp_path / "packing.yaml"
    declared.write_text(yaml.safe_dump(PACKING))
    suite = "suites/scoring/least-allocated-prefers-the-emptier-node"
    arguments = ("--a", "kube-scheduler", "--b", str(declared), "--artifacts", str(tmp_path / "run"), suite)
    code, found = compared(tmp_path, *arguments)
    assert code == 1
    verdicts = [cause["cause"] for cause in found["causes"] if cause["level"] == "verdict"]
    assert len(verdicts) == 1
    assert verdicts[0].startswith("pass by a, fail by b, in scheduled")
    (failed,) = (tmp_path / "run" / "latest" / "packing" / "scoring").iterdir()
    asked = schedlab(
        "replay", str(failed), "light", "--scheduler", "kube-scheduler", "--scheduler", str(declared)
    )
    assert asked.returncode == 1, asked.stdout + asked.stderr
    assert "scores (NodeResourcesFit" in asked.stdout
    noted = json.loads((failed / "decisions.json").read_text())
    assert "kube-scheduler, asked again" in {one["source"] for one in noted}
