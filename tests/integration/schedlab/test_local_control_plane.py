"""A local control plane is a real one: RBAC, audit, controllers, certificates."""

import json
import secrets
import stat

import pytest
from kubernetes.client import ApiException, CoordinationV1Api

from schedlab.cluster import nodes
from schedlab.errors import UsageError

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(180)]

POD = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def audit(plane):
    """The audit log as events."""
    return [json.loads(line) for line in plane.audit_log.read_text().splitlines()]


def test_a_pod_can_be_created_right_after_its_namespace(control_plane, api, namespace):
    """No admission waits for a service account; tests would meet that as a race."""
    api(control_plane.kubeconfig()).create_namespaced_pod(namespace, POD)


def test_the_scheduler_has_what_rbac_gives_it_and_no_more(control_plane, api, namespace):
    """It lists pods and binds them; secrets are closed to it."""
    api(control_plane.kubeconfig()).create_namespaced_pod(namespace, POD)
    scheduler = api(control_plane.kubeconfig("system:kube-scheduler"))
    assert [pod.metadata.name for pod in scheduler.list_namespaced_pod(namespace).items] == ["p"]
    binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "nowhere"}}
    scheduler.create_namespaced_pod_binding("p", namespace, binding, _preload_content=False)
    with pytest.raises(ApiException) as refused:
        scheduler.list_namespaced_secret(namespace)
    assert refused.value.status == 403


def test_nobody_is_anonymous(control_plane, api):
    """Without a certificate nothing is answered."""
    core = api(control_plane.kubeconfig())
    core.api_client.rest_client.pool_manager.connection_pool_kw.pop("cert_file")
    with pytest.raises(ApiException) as refused:
        core.list_namespace()
    assert refused.value.status == 401


def test_the_audit_log_says_who_bound_what(control_plane, api, namespace, eventually):
    """With the body of the request, and the refused ones."""
    api(control_plane.kubeconfig()).create_namespaced_pod(namespace, POD)
    scheduler = api(control_plane.kubeconfig("system:kube-scheduler"))
    binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "nowhere"}}
    scheduler.create_namespaced_pod_binding("p", namespace, binding, _preload_content=False)

    def bound():
        return [
            event
            for event in audit(control_plane)
            if event["objectRef"].get("subresource") == "binding"
            and event["objectRef"]["namespace"] == namespace
        ]

    (event,) = eventually(bound)
    assert event["user"]["username"] == "system:kube-scheduler"
    assert event["requestObject"]["target"]["name"] == "nowhere"
    with pytest.raises(ApiException):
        scheduler.list_namespaced_secret(namespace)
    assert eventually(
        lambda: [one for one in audit(control_plane) if one["responseStatus"].get("code") == 403]
    )


def test_no_artefact_holds_a_secret(control_plane, api, namespace):
    """A canary in a secret and in a config map is found in no log."""
    canary = secrets.token_hex(16)
    core = api(control_plane.kubeconfig())
    core.create_namespaced_secret(namespace, {"metadata": {"name": "s"}, "stringData": {"k": canary}})
    core.create_namespaced_config_map(namespace, {"metadata": {"name": "c"}, "data": {"k": canary}})
    core.patch_namespaced_config_map("c", namespace, {"data": {"k": canary * 2}})
    files = [path for path in control_plane.directory.rglob("*") if path.is_file()]
    assert control_plane.audit_log in files
    assert not [path for path in files if canary in path.read_text(errors="replace")]


def test_everything_private_is_the_owners_only(control_plane):
    """Kubeconfigs are 0600, in a directory of 0700."""
    path = control_plane.kubeconfig("system:kube-scheduler")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parents[1].stat().st_mode) == 0o700
    with pytest.raises(UsageError, match="no kubeconfig for 'mallory'"):
        control_plane.kubeconfig("mallory")


def test_every_component_has_a_log(control_plane):
    """Where `schedlab logs` looks for them."""
    for component in ("etcd", "kube-apiserver", "kube-controller-manager", "kwok"):
        assert control_plane.log(component).is_file()


def test_a_stopped_kubelet_makes_its_node_unreachable(boot, api, eventually):
    """Flags reach kube-controller-manager; a lease that somebody else holds keeps kwok from renewing it."""
    plane = boot(
        nodes=[nodes.NodeGroup("cpu-32", 2)],
        controller_flags={"node-monitor-grace-period": "3s", "node-monitor-period": "500ms"},
    )
    core = api(plane.kubeconfig())
    leases = CoordinationV1Api(core.api_client)
    held = {"spec": {"holderIdentity": "nobody", "leaseDurationSeconds": 3600}}
    leases.patch_namespaced_lease("cpu-32-0", "kube-node-lease", held)

    def taints(name):
        return {taint.key for taint in core.read_node(name).spec.taints or []}

    assert eventually(lambda: "node.kubernetes.io/unreachable" in taints("cpu-32-0"))
    assert taints("cpu-32-1") == set()
    leases.patch_namespaced_lease("cpu-32-0", "kube-node-lease", {"spec": {"leaseDurationSeconds": 1}})
    assert eventually(lambda: taints("cpu-32-0") == set(), 30)
