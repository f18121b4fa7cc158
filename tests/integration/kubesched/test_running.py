"""kubesched in place of kube-scheduler on a real control plane."""

from __future__ import annotations

import json
import signal

import pytest
from tests.integration.kubesched.conftest import eventually
from tests.integration.kubesched.objects import condition, pod, scheduled

from schedlab.cluster.nodes import parse_groups

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]


@pytest.fixture
def scheduler(lab):
    """kubesched on the module's control plane for one test."""
    running = lab.start()
    yield running
    running.stop()


def ssd_node(core) -> dict:
    """A node like the others, with a label that none of them has."""
    node = core.api_client.sanitize_for_serialization(core.read_node("cpu-32-0"))
    labels = {**node["metadata"]["labels"], "disk": "ssd", "kubernetes.io/hostname": "ssd-0"}
    annotations = node["metadata"]["annotations"]
    meta = {
        "name": "ssd-0",
        "labels": labels,
        "annotations": {k: v for k, v in annotations.items() if "kwok" in k},
    }
    return {"metadata": meta, "status": {k: node["status"][k] for k in ("capacity", "allocatable")}}


def test_pods_are_spread_over_the_nodes(lab, scheduler, namespace):
    core = lab.core()
    for index in range(6):
        core.create_namespaced_pod(namespace, pod(f"p{index}", cpu="5"))
    nodes = [scheduled(core, namespace, f"p{index}") for index in range(6)]
    assert sorted(nodes) == ["cpu-32-0", "cpu-32-0", "cpu-32-1", "cpu-32-1", "cpu-32-2", "cpu-32-2"]


def test_a_pending_pod_wakes_when_its_node_arrives(lab, scheduler, namespace):
    core = lab.core()
    core.create_namespaced_pod(namespace, pod("waits", nodeSelector={"disk": "ssd"}))
    assert condition(core, namespace, "waits")["reason"] == "Unschedulable"
    core.create_node(ssd_node(core))
    try:
        assert scheduled(core, namespace, "waits") == "ssd-0"
    finally:
        core.delete_node("ssd-0")


def test_a_pending_pod_wakes_when_a_pod_leaves(lab, scheduler, namespace):
    core = lab.core()
    for index in range(3):
        core.create_namespaced_pod(namespace, pod(f"full{index}", cpu="31"))
        scheduled(core, namespace, f"full{index}")
    core.create_namespaced_pod(namespace, pod("waits", cpu="30"))
    condition(core, namespace, "waits")
    core.delete_namespaced_pod("full1", namespace, grace_period_seconds=0)
    assert scheduled(core, namespace, "waits")


def test_a_gated_pod_waits_for_its_gate(lab, scheduler, namespace):
    core = lab.core()
    core.create_namespaced_pod(namespace, pod("gated", schedulingGates=[{"name": "example.com/g"}]))
    core.create_namespaced_pod(namespace, pod("after"))
    scheduled(core, namespace, "after")
    assert core.read_namespaced_pod("gated", namespace).spec.node_name is None
    core.patch_namespaced_pod("gated", namespace, [{"op": "remove", "path": "/spec/schedulingGates"}])
    scheduled(core, namespace, "gated")


def test_it_survives_a_restart_of_the_api_server(labs):
    """Killed, not asked: watches break, requests fail, and at first the new server knows no roles."""
    lab, namespace = labs(nodes=parse_groups("cpu-32=1")), "default"
    scheduler, core = lab.start(), lab.core()
    core.create_namespaced_pod(namespace, pod("before"))
    scheduled(core, namespace, "before")
    lab.restart("kube-apiserver")

    def created() -> bool:
        try:
            core.create_namespaced_pod(namespace, pod("after"))
        except Exception as error:  # noqa: BLE001 - whatever a server that is down looks like to the client
            return "already exists" in str(error)
        return True

    eventually(created, 60)
    scheduled(core, namespace, "after")
    assert scheduler.process.alive


def test_it_keeps_to_what_its_role_allows(lab, scheduler, namespace):
    """Any 403 means that it does more than kube-scheduler does."""
    core = lab.core()
    core.create_namespaced_pod(namespace, pod("a"))
    core.create_namespaced_pod(namespace, pod("b", cpu="999"))
    scheduled(core, namespace, "a")
    condition(core, namespace, "b")
    assert lab.refusals() == []


def test_protected_paths_are_for_those_whom_the_api_server_lets_in(lab, scheduler, tmp_path):
    core = lab.core()
    secret = core.create_namespaced_service_account_token(
        "default", "default", {"spec": {"audiences": ["https://kubernetes.default.svc"]}}
    )
    assert secret.status.token
    assert scheduler.get("/metrics")[0] == 403, "anonymous"
    assert scheduler.get("/readyz")[0] == 200
    admin = lab.credentials(tmp_path)
    code, text = scheduler.get("/metrics", admin)
    assert code == 200
    assert "scheduler_pending_pods" in text
    code, text = scheduler.get("/configz", admin)
    assert json.loads(text)["componentconfig"]["kind"] == "KubeSchedulerConfiguration"
    other = lab.credentials(tmp_path, "system:kube-scheduler")
    code, text = scheduler.get("/metrics", other)
    assert code == 403
    assert 'User \\"system:kube-scheduler\\" cannot get path' in text


def test_a_dump_is_written_on_request(lab, scheduler):
    scheduler.process.signal(signal.SIGUSR2)
    eventually(lambda: "Compared the state with its objects" in scheduler.log)
    assert "drifts=0" in scheduler.log
    assert "Dump of the queue" in scheduler.log


def test_a_kind_that_is_not_served_is_said_once_and_scheduling_goes_on(labs):
    lab = labs(nodes=parse_groups("cpu-32=1"), apiserver_flags={"runtime-config": "resource.k8s.io/v1=false"})
    scheduler, core = lab.start(), lab.core()
    core.create_namespaced_pod("default", pod("a"))
    scheduled(core, "default", "a")
    for kind in ("ResourceClaim", "ResourceSlice", "DeviceClass"):
        assert scheduler.log.count(f'going on without it" kind="{kind}"') == 1
