"""`kubesched explain` of a running cluster says what the running scheduler says."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests.integration.kubesched.conftest import USER
from tests.integration.kubesched.objects import condition, pod

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]


def explained(lab, *arguments: str) -> subprocess.CompletedProcess[str]:
    config = str(lab.plane.kubeconfig(USER))
    command = [sys.executable, "-m", "kubesched", "explain", "--kubeconfig", config, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_a_pending_pod_is_explained_with_the_message_of_its_condition(lab, namespace):
    """With the scheduler's own rights, and to the character."""
    core = lab.core()
    running = lab.start("kube-scheduler")
    try:
        core.create_namespaced_pod(namespace, pod("waits", cpu="5", nodeSelector={"disk": "none"}))
        expected = condition(core, namespace, "waits")
    finally:
        running.stop()
    done = explained(lab, "--pod", f"{namespace}/waits", "-o", "json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["result"], answer["message"]) == (expected["reason"], expected["message"])


def test_a_pod_that_is_not_there_is_said_with_those_that_are(lab, namespace):
    done = explained(lab, "--pod", f"{namespace}/nobody")
    assert done.returncode == 1
    assert f"no pod {namespace}/nobody waits for a node; waiting: " in done.stderr
