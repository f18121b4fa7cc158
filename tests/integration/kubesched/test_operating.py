"""Operating kubesched: credentials that change, signals while it works, a verbosity that is turned up."""

from __future__ import annotations

import signal
import urllib.request

import kubernetes
import pytest
import yaml
from tests.integration.kubesched.conftest import USER, eventually
from tests.integration.kubesched.objects import pod, scheduled

from schedlab import timing

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]

SYSTEM, ACCOUNT = "kube-system", "scheduler-by-token"


def account(core) -> None:
    """A service account with the rights of the scheduler's user."""
    core.create_namespaced_service_account(SYSTEM, {"metadata": {"name": ACCOUNT}})
    roles = kubernetes.client.RbacAuthorizationV1Api(core.api_client)
    for role in ("system:kube-scheduler", "system:volume-scheduler"):
        subject = {"kind": "ServiceAccount", "namespace": SYSTEM, "name": ACCOUNT}
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}
        metadata = {"name": f"{ACCOUNT}-{role.removeprefix('system:')}"}
        roles.create_cluster_role_binding({"metadata": metadata, "subjects": [subject], "roleRef": reference})


def token(core, secret: str) -> str:
    """A token that is valid for as long as the secret exists."""
    made = core.create_namespaced_secret(SYSTEM, {"metadata": {"name": secret}})
    bound = {"apiVersion": "v1", "kind": "Secret", "name": secret, "uid": made.metadata.uid}
    request = {"spec": {"audiences": [], "boundObjectRef": bound}}
    return core.create_namespaced_service_account_token(ACCOUNT, SYSTEM, request).status.token


def is_valid(core, text: str) -> bool:
    reviews = kubernetes.client.AuthenticationV1Api(core.api_client)
    return bool(reviews.create_token_review({"spec": {"token": text}}).status.authenticated)


def test_a_token_that_was_replaced_is_read_again_when_the_old_one_is_refused(lab, namespace, tmp_path):
    """Long before the minute after which the file would be read anyway."""
    core = lab.core()
    account(core)
    file, kubeconfig = tmp_path / "token", tmp_path / "kubeconfig"
    old = token(core, "first")
    file.write_text(old)
    config = yaml.safe_load(lab.plane.kubeconfig(USER).read_text())
    config["users"][0]["user"] = {"tokenFile": str(file)}
    kubeconfig.write_text(yaml.safe_dump(config))
    scheduler = lab.start("kubesched", f"--kubeconfig={kubeconfig}")
    try:
        core.create_namespaced_pod(namespace, pod("before"))
        scheduled(core, namespace, "before")
        file.write_text(token(core, "second"))
        core.delete_namespaced_secret("first", SYSTEM)
        eventually(lambda: not is_valid(core, old), 30)
        core.create_namespaced_pod(namespace, pod("after"))
        scheduled(core, namespace, "after")
    finally:
        scheduler.stop()


def busy(lab, namespace: str):
    """A scheduler that has decided on many pods and may bind only two of them per second."""
    scheduler, core = lab.start("kubesched", "--kube-api-qps=2", "--kube-api-burst=2"), lab.core()
    for index in range(12):
        core.create_namespaced_pod(namespace, pod(f"p{index}"))
    eventually(lambda: "Successfully bound pod to node" in scheduler.log)
    return scheduler, core


def test_bindings_under_way_are_finished_before_it_stops(lab, namespace):
    """Every binding that was made is known to it: nothing is bound by a process that has gone."""
    scheduler, core = busy(lab, namespace)
    assert scheduler.stop() == 1, "without leader election it exits with 1, as kube-scheduler does"
    bound = [item for item in core.list_namespaced_pod(namespace).items if item.spec.node_name]
    assert len(bound) == scheduler.log.count("Successfully bound pod to node")
    assert len(bound) > 3, "some were bound after it was asked to stop"


def test_a_second_signal_ends_it_at_once(lab, namespace):
    scheduler, _ = busy(lab, namespace)
    scheduler.process.signal(signal.SIGTERM)
    eventually(lambda: scheduler.get("/readyz")[0] != 200)
    scheduler.process.signal(signal.SIGTERM)
    deadline = timing.Deadline.after(2)
    while scheduler.process.alive:
        assert not deadline.expired
        timing.pause(0.02)
    assert scheduler.process.stop_now() == 1


def test_the_verbosity_is_changed_by_a_put(lab, namespace, tmp_path):
    scheduler, core = lab.start(), lab.core()
    try:
        core.create_namespaced_pod(namespace, pod("quiet"))
        scheduled(core, namespace, "quiet")
        assert "Attempting to schedule pod" not in scheduler.log
        context = lab.credentials(tmp_path)
        scheduler.get("/livez", context)
        url = f"https://127.0.0.1:{scheduler.port}/debug/flags/v"
        request = urllib.request.Request(url, data=b"5", method="PUT")
        with urllib.request.urlopen(request, context=context, timeout=5) as reply:
            assert reply.read() == b"successfully set klog.logging.verbosity to 5"
        core.create_namespaced_pod(namespace, pod("told"))
        scheduled(core, namespace, "told")
        eventually(lambda: f'Attempting to schedule pod" pod="{namespace}/told"' in scheduler.log)
    finally:
        scheduler.stop()
