"""Whole runs on real control planes: own schedulers, dying ones, several workers, Ctrl-C, no environment."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from suite_world import Suites

from schedlab import timing

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(400)]

NODES = {"nodes": {"profile": "cpu-32", "count": 3, "as": "n"}}
LABELLED = {"nodes": {"profile": "cpu-32", "name": "special", "labels": {"special": "yes"}}}
SOME_POD = {"apiVersion": "v1", "kind": "Pod"}


def pod(**spec: object) -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": "x"}], **spec}
    return {"create": {"resource": {**SOME_POD, "metadata": {"name": "w"}, "spec": spec}}}


MINE = """\
apiVersion: schedlab/v1alpha1
kind: Scheduler
metadata: {{name: mine}}
spec:
  command: {command}
  readiness: {{timeout: 30s}}
"""
DIES = """
import os, sys, threading, subprocess
child = subprocess.Popen(sys.argv[1:])
threading.Timer(4.0, child.kill).start()
child.wait()
print("gave up", flush=True)
sys.exit(7)
"""
KUBE = '"{tools}/kube-scheduler", "--config={config}", "--bind-address=127.0.0.1", "--secure-port={port}"'


@pytest.fixture
def suites(tmp_path: Path) -> Suites:
    suites = Suites(tmp_path)
    placed = {"scheduled": {"pod": "w", "node": "special"}}
    bound = {"pods": {"file": "pod.yaml", "until": "bound"}}
    suites.steps("a-bound", NODES, bound, plugin="DefaultBinder")
    suites.steps(
        "b-selected", NODES, LABELLED, pod(nodeSelector={"special": "yes"}), placed, plugin="NodeAffinity"
    )
    suites.steps("c-vacuous", NODES, {"error": {"resource": SOME_POD}}, plugin="NodeAffinity")
    return suites


def processes_below(root: Path) -> list[str]:
    """Command lines of processes that mention a path: whatever a run has left running."""
    found = []
    for proc in Path("/proc").iterdir():
        if proc.name.isdigit() and int(proc.name) != os.getpid():
            try:
                line = (proc / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except (FileNotFoundError, ProcessLookupError):
                continue
            if str(root) in line:
                found.append(line)
    return found


def test_two_schedulers_on_two_workers(suites: Suites) -> None:
    """Each worker has a control plane per scheduler; results come together in one report."""
    (suites.root / "mine.yaml").write_text(MINE.format(command=f"[{KUBE}]"))
    run = suites.run("--scheduler", "kube-scheduler", "--scheduler", "./mine.yaml", "--parallel", "2")
    assert run.code == 0, run.output
    assert len(run.report["results"]) == 6
    assert {(r["scheduler"], r["verdict"]) for r in run.report["results"]} == {
        ("kube-scheduler", "pass"),
        ("mine", "pass"),
    }
    assert 'tests="6"' in (run.directory / "junit.xml").read_text()
    assert processes_below(suites.root) == []


def test_a_scheduler_that_dies_is_inconclusive_with_its_log(suites: Suites) -> None:
    """And the next test gets a new one."""
    script = json.dumps(DIES)
    suites.steps("a-dies", NODES, {"error": {"resource": SOME_POD, "holds": "20s"}})
    (suites.root / "mine.yaml").write_text(MINE.format(command=f'["{{python}}", -c, {script}, {KUBE}]'))
    run = suites.run("--scheduler", "./mine.yaml", "-k", "a-dies or c-vacuous")
    assert run.code == 1
    assert run.verdicts() == {"a-dies": "inconclusive", "c-vacuous": "pass"}
    assert "mine ended with exit code 7" in run.result("demo/a-dies")["reason"]
    assert "gave up" in run.output
    assert processes_below(suites.root) == [], (
        "what the dead scheduler had started is ended with the control plane"
    )


def test_sensitivity_finds_the_test_that_tests_nothing(suites: Suites) -> None:
    """And says why a plugin cannot be switched off."""
    run = suites.run("--scheduler", "kube-scheduler", "--sensitivity")
    assert run.code == 1
    assert run.report["mode"] == "sensitivity"
    assert run.verdicts() == {"a-bound": "inconclusive", "b-selected": "pass", "c-vacuous": "fail"}
    assert "sensitive: without NodeAffinity it fails at scheduled" in run.result("demo/b-selected")["reason"]
    assert "insensitive: it passes without NodeAffinity" in run.output
    assert "at least one bind plugin is needed" in run.result("demo/a-bound")["reason"]


def test_a_test_can_ask_for_a_configuration(suites: Suites) -> None:
    """The scheduler is restarted for it and is as before afterwards."""
    profiles = [{"schedulerName": "default-scheduler"}, {"schedulerName": "second"}]
    operations = [NODES, pod(schedulerName="second"), {"scheduled": {"pod": "w"}}]
    suites.add("d-profile", {"scheduler": {"config": {"profiles": profiles}}, "steps": [{"try": operations}]})
    run = suites.run("--scheduler", "kube-scheduler", "-k", "d-profile or b-selected")
    assert run.verdicts() == {"b-selected": "pass", "d-profile": "pass"}, run.output
    config = json.loads((Path(run.result("demo/d-profile")["artifacts"]) / "history.json").read_text())[
        "config"
    ]
    assert [profile["schedulerName"] for profile in config["profiles"]] == ["default-scheduler", "second"]


def test_without_an_environment_the_code_is_10(suites: Suites) -> None:
    """And every test says what is missing."""
    nowhere = {
        "KUBEBUILDER_ASSETS": "",
        "XDG_CACHE_HOME": str(suites.root / "empty"),
        "SCHEDLAB_CACHE_DIR": str(suites.root / "empty"),
    }
    run = suites.run("--scheduler", "kube-scheduler", env=nowhere)
    assert run.code == 10, run.output
    assert set(run.verdicts().values()) == {"inconclusive"}
    assert "schedlab tools install" in run.output


def test_ctrl_c_takes_everything_down(suites: Suites) -> None:
    """In the middle of a test; what was reported so far stays."""
    suites.steps("b-long", NODES, {"error": {"resource": SOME_POD, "holds": "300s"}})
    process = suites.start("--scheduler", "kube-scheduler", "-k", "a-bound or b-long")
    assert process.stdout is not None
    deadline = timing.Deadline.after(120)
    while "a-bound" not in process.stdout.readline():
        assert not deadline.expired
    timing.pause(1.0)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 2, output
    assert "Traceback" not in output
    assert processes_below(suites.root) == []
    results = json.loads((suites.root / "artifacts/latest/report.json").read_text())["results"]
    assert [(r["test"], r["verdict"]) for r in results] == [("demo/a-bound", "pass")]
