"""Replicas on a real control plane: one schedules, and leaving has upstream's exit codes."""

from __future__ import annotations

import signal

import pytest
from kubernetes.client import CoordinationV1Api
from tests.integration.kubesched.conftest import eventually
from tests.integration.kubesched.objects import pod, scheduled

from schedlab import timing

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]

FAST = (
    "--leader-elect-lease-duration=4s",
    "--leader-elect-renew-deadline=3s",
    "--leader-elect-retry-period=500ms",
)


def holder(core) -> str:
    """Who holds the lease, waited for."""
    leases = CoordinationV1Api(core.api_client)
    return eventually(
        lambda: leases.read_namespaced_lease("kube-scheduler", "kube-system").spec.holder_identity
    )


def leads(scheduler) -> bool:
    return "Successfully acquired lease" in scheduler.log


@pytest.fixture
def replicas(lab):
    """Two replicas, the first of which leads."""
    first = lab.start("kubesched", *FAST, elect=True)
    eventually(lambda: leads(first))
    second = lab.start("kubesched", *FAST, elect=True)
    yield first, second
    for scheduler in (first, second):
        scheduler.stop()


def test_only_the_leader_schedules_and_says_who_it_is(lab, replicas, namespace):
    first, second = replicas
    core = lab.core()
    core.create_namespaced_pod(namespace, pod("a"))
    scheduled(core, namespace, "a")
    assert "Successfully bound pod" in first.log
    assert "Successfully bound pod" not in second.log
    messages = [
        event.message
        for event in core.list_namespaced_event("kube-system").items
        if event.reason == "LeaderElection"
    ]
    assert f"{holder(core)} became leader" in messages


def test_a_leader_that_is_asked_to_stop_hands_over_at_once_and_exits_0(lab, replicas, namespace):
    first, second = replicas
    core = lab.core()
    before = holder(core)
    asked = timing.monotonic()
    assert first.stop() == 0
    eventually(lambda: leads(second))
    assert timing.monotonic() - asked < 4, "it did not wait for the lease to run out"
    assert holder(core) != before
    core.create_namespaced_pod(namespace, pod("a"))
    scheduled(core, namespace, "a")
    assert second.stop() == 0


def test_a_leader_that_is_killed_is_replaced_when_its_lease_has_run_out(lab, replicas, namespace):
    first, second = replicas
    first.process.signal(signal.SIGKILL)
    eventually(lambda: leads(second))
    core = lab.core()
    core.create_namespaced_pod(namespace, pod("a"))
    scheduled(core, namespace, "a")


def test_a_leader_that_was_frozen_past_its_lease_writes_nothing_and_exits_1(lab, replicas, namespace):
    """It was stopped with a pod to bind; when it runs again another may have bound it."""
    first, second = replicas
    core = lab.core()
    first.process.signal(signal.SIGSTOP)
    core.create_namespaced_pod(namespace, pod("a"))
    scheduled(core, namespace, "a")
    assert leads(second)
    first.process.signal(signal.SIGCONT)
    assert eventually(lambda: first.process.returncode is not None)
    assert first.process.returncode == 1
    assert "Leaderelection lost" in first.log
    assert "Successfully bound pod" not in first.log


def test_a_standby_that_is_asked_to_stop_exits_0(replicas):
    _, second = replicas
    assert second.stop() == 0
