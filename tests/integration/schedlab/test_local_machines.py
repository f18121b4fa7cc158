"""Fake machines behave as machines with a kubelet: our own kwok stages."""

import datetime as dt

import pytest
from kubernetes.client import BatchV1Api, CoordinationV1Api

from schedlab.cluster import nodes

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(180)]


@pytest.fixture
def core(control_plane, api):
    """The official client."""
    return api(control_plane.kubeconfig())


@pytest.fixture
def machine(core, eventually, request):
    """A fake machine of the test's own, ready to take pods."""
    name = f"m-{abs(hash(request.node.name)) % 10**8}"
    core.create_node(nodes.render("h100x8", name, zone="zone-0"))
    eventually(lambda: not core.read_node(name).spec.taints and ready(core, name) == "True")
    yield name
    core.delete_node(name)


def ready(core, name, kind="Ready"):
    """The status of a node's condition."""
    return {one.type: one.status for one in core.read_node(name).status.conditions or []}.get(kind)


@pytest.fixture
def pod(core, namespace, machine):
    """Creates a pod that is already bound to the machine."""

    def create(name="p", grace=1, annotations=None, **spec):
        body = {
            "metadata": {"name": name, "annotations": annotations or {}},
            "spec": {
                "nodeName": machine,
                "terminationGracePeriodSeconds": grace,
                "containers": [{"name": "c", "image": "i"}],
                **spec,
            },
        }
        core.create_namespaced_pod(namespace, body)
        return name

    return create


@pytest.fixture
def phase(core, namespace):
    """The phase of a pod, or None when it is gone."""

    def read(name="p"):
        found = core.list_namespaced_pod(namespace, field_selector=f"metadata.name={name}").items
        return found[0].status.phase if found else None

    return read


def test_a_machine_keeps_its_status_and_becomes_ready(core, machine):
    """What the profile says is what the API server stores; the rest is what a kubelet reports."""
    status = core.read_node(machine).status
    assert status.capacity["nvidia.com/gpu"] == status.allocatable["nvidia.com/gpu"] == "8"
    assert {address.type for address in status.addresses} == {"InternalIP", "Hostname"}
    assert status.node_info.kubelet_version.startswith("v1.36")
    pressures = {"MemoryPressure", "DiskPressure", "PIDPressure"}
    assert {ready(core, machine, pressure) for pressure in pressures} == {"False"}


def test_a_machine_has_a_lease_that_is_renewed(control_plane, core, machine, eventually):
    """By kwok, every quarter of 40 s; the node controller waits 50 s."""
    leases = CoordinationV1Api(core.api_client)
    lease = eventually(lambda: leases.read_namespaced_lease(machine, "kube-node-lease"))
    assert lease.spec.lease_duration_seconds == 40
    age = dt.datetime.now(dt.UTC) - lease.spec.renew_time
    assert age < dt.timedelta(seconds=15)


def test_a_bound_pod_runs_and_is_ready(core, namespace, pod, phase, eventually):
    """With addresses, a start time, and container statuses, init containers included."""
    init = [{"name": "i", "image": "i"}, {"name": "side", "image": "i", "restartPolicy": "Always"}]
    pod(initContainers=init, readinessGates=[{"conditionType": "example.com/gate"}])
    eventually(lambda: phase() == "Running")
    status = core.read_namespaced_pod("p", namespace).status
    conditions = {one.type: one.status for one in status.conditions}
    assert conditions.items() >= {"Ready": "True", "Initialized": "True", "example.com/gate": "True"}.items()
    assert status.pod_ip
    assert status.host_ip
    assert status.start_time
    assert status.container_statuses[0].state.running
    assert status.init_container_statuses[0].state.terminated.exit_code == 0
    assert status.init_container_statuses[1].state.running


def test_a_pods_start_can_be_held(core, namespace, pod, phase, eventually):
    """Until the annotation is taken away."""
    pod(annotations={"schedlab/start": "held"})
    pod("other")
    eventually(lambda: phase("other") == "Running")
    assert phase() == "Pending"
    core.patch_namespaced_pod("p", namespace, {"metadata": {"annotations": {"schedlab/start": None}}})
    eventually(lambda: phase() == "Running")


def lifetime(core, namespace, phase, eventually, name="p"):
    """Seconds from the request to delete a pod until it is gone."""
    started = dt.datetime.now(dt.UTC)
    core.delete_namespaced_pod(name, namespace)
    eventually(lambda: phase(name) is None)
    return (dt.datetime.now(dt.UTC) - started).total_seconds()


def test_a_deleted_pod_uses_up_its_grace_period(core, namespace, pod, phase, eventually):
    """Never less than it: preemption's window depends on that; a second of rounding more."""
    pod(grace=2)
    eventually(lambda: phase() == "Running")
    assert 2.0 <= lifetime(core, namespace, phase, eventually) < 5.0


def test_a_pod_may_heed_sigterm(core, namespace, pod, phase, eventually):
    """It is gone long before its 30 seconds."""
    pod(grace=30, annotations={"schedlab/terminates-in-seconds": "1"})
    eventually(lambda: phase() == "Running")
    assert 1.0 <= lifetime(core, namespace, phase, eventually) < 4.0


def test_a_pods_end_can_be_held(core, namespace, pod, phase, eventually):
    """It stays terminating beyond its grace period, and goes when the annotation does."""
    pod(annotations={"schedlab/deletion": "held"})
    pod("other")
    eventually(lambda: phase("other") == "Running")
    core.delete_namespaced_pod("p", namespace)
    core.delete_namespaced_pod("other", namespace)
    eventually(lambda: phase("other") is None)
    assert core.read_namespaced_pod("p", namespace).metadata.deletion_timestamp
    core.patch_namespaced_pod("p", namespace, {"metadata": {"annotations": {"schedlab/deletion": None}}})
    eventually(lambda: phase() is None)


def test_a_force_deleted_pod_is_gone_at_once(core, namespace, pod, phase, eventually):
    """The API server removes it without asking a kubelet."""
    pod(grace=30)
    eventually(lambda: phase() == "Running")
    core.delete_namespaced_pod("p", namespace, grace_period_seconds=0)
    eventually(lambda: phase() is None, 5)


@pytest.mark.parametrize(("code", "end"), [("0", "Succeeded"), ("3", "Failed")])
def test_a_pod_ends_by_itself_after_a_given_time(pod, phase, eventually, code, end):
    """With the exit code that its annotation says."""
    pod(restartPolicy="Never", annotations={"schedlab/runs-for-seconds": "1", "schedlab/exit-code": code})
    eventually(lambda: phase() == "Running")
    eventually(lambda: phase() == end)


def test_a_job_completes(core, namespace, machine, eventually):
    """Its pod ends at once, and the controllers see it."""
    template = {"nodeName": machine, "restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
    batch = BatchV1Api(core.api_client)
    batch.create_namespaced_job(
        namespace, {"metadata": {"name": "j"}, "spec": {"template": {"spec": template}}}
    )
    eventually(lambda: batch.read_namespaced_job("j", namespace).status.succeeded == 1)


def allocatable(core, machine):
    """The allocatable extended resources."""
    return {key: value for key, value in core.read_node(machine).status.allocatable.items() if "/" in key}


def test_extended_resources_become_allocatable_with_the_capacity(core, machine, eventually):
    """As a kubelet reports them: added, changed, removed."""
    for capacity, expected in (
        ({"example.com/fpga": "4"}, {"nvidia.com/gpu": "8", "example.com/fpga": "4"}),
        ({"example.com/fpga": "2", "nvidia.com/gpu": "6"}, {"nvidia.com/gpu": "6", "example.com/fpga": "2"}),
        ({"example.com/fpga": None}, {"nvidia.com/gpu": "6"}),
    ):
        core.patch_node_status(machine, {"status": {"capacity": capacity}})
        eventually(lambda want=expected: allocatable(core, machine) == want)


def test_an_unhealthy_gpu_stays_out_of_allocatable(core, machine, eventually):
    """As long as the annotation says that the two differ on purpose."""
    core.patch_node(machine, {"metadata": {"annotations": {"schedlab/allocatable": "held"}}})
    core.patch_node_status(machine, {"status": {"allocatable": {"nvidia.com/gpu": "7"}}})
    core.patch_node_status(machine, {"status": {"capacity": {"example.com/other": "1"}}})
    assert allocatable(core, machine) == {"nvidia.com/gpu": "7"}
    core.patch_node(machine, {"metadata": {"annotations": {"schedlab/allocatable": None}}})
    eventually(lambda: allocatable(core, machine) == {"nvidia.com/gpu": "8", "example.com/other": "1"})


def test_a_pressure_that_a_test_sets_survives_the_return_of_the_kubelet(core, machine, eventually):
    """Only Ready is reported anew when a node comes back."""
    for kind, status in (("MemoryPressure", "True"), ("Ready", "False")):
        condition = {"type": kind, "status": status, "reason": "Test", "message": ""}
        core.patch_node_status(machine, {"status": {"conditions": [condition]}})
    eventually(lambda: ready(core, machine) == "True")
    assert ready(core, machine, "MemoryPressure") == "True"


def test_a_machine_whose_kubelet_is_stopped_stays_not_ready(core, machine, eventually):
    """And is tainted by the node controller."""
    core.patch_node(machine, {"metadata": {"annotations": {"schedlab/kubelet": "stopped"}}})
    condition = {"type": "Ready", "status": "False", "reason": "Test", "message": ""}
    core.patch_node_status(machine, {"status": {"conditions": [condition]}})
    eventually(
        lambda: any(taint.key.endswith("not-ready") for taint in core.read_node(machine).spec.taints or [])
    )
    assert ready(core, machine) == "False"
    core.patch_node(machine, {"metadata": {"annotations": {"schedlab/kubelet": None}}})
    eventually(lambda: ready(core, machine) == "True")
