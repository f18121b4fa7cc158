"""Pods on fake machines live as their annotations say: slow, unready, without an image, in a crash loop."""

import datetime as dt

import kubernetes
import pytest

from schedlab.cluster import nodes

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def machine(control_plane):
    """One fake machine for all tests here."""
    client = kubernetes.config.new_client_from_config(str(control_plane.kubeconfig()))
    core = kubernetes.client.CoreV1Api(client)
    core.create_node(nodes.render("cpu-32", "pod-lives", zone="zone-0"))
    yield "pod-lives"
    core.delete_node("pod-lives")
    client.close()


@pytest.fixture
def pod(control_plane, api, namespace, machine):
    """Creates a bound pod with annotations; returns a function that reads its status."""
    core = api(control_plane.kubeconfig())

    def create(**annotations):
        written = {f"schedlab/{key.replace('_', '-')}": value for key, value in annotations.items()}
        spec = {"nodeName": machine, "containers": [{"name": "c", "image": "registry.example/app:1"}]}
        core.create_namespaced_pod(
            namespace, {"metadata": {"name": "p", "annotations": written}, "spec": spec}
        )

        def read(**changes):
            if changes:
                patch = {f"schedlab/{key}": value for key, value in changes.items()}
                core.patch_namespaced_pod("p", namespace, {"metadata": {"annotations": patch}})
            return core.read_namespaced_pod("p", namespace).status

        return read

    return create


def ready(status):
    """The status of the pod's Ready condition."""
    return {one.type: one.status for one in status.conditions or []}.get("Ready")


def container(status):
    """The only container's status."""
    return status.container_statuses[0]


def test_a_pod_that_starts_slowly_is_pending_meanwhile(pod, eventually):
    """For as long as it says, and not much longer."""
    began = dt.datetime.now(dt.UTC)
    read = pod(starts_in_seconds="2")
    assert read().phase == "Pending"
    eventually(lambda: read().phase == "Running")
    assert 2.0 <= (dt.datetime.now(dt.UTC) - began).total_seconds() < 5.0


def test_a_pod_may_run_and_never_be_ready(pod, eventually):
    """Its containers run, its readiness probe fails."""
    read = pod(ready="never")
    eventually(lambda: read().phase == "Running")
    assert ready(read()) == "False"
    assert container(read()).state.running
    assert not container(read()).ready


def test_a_pod_without_an_image_waits_until_there_is_one(pod, eventually):
    """Pending, with the kubelet's reason; running once the image is there."""
    read = pod(image="missing")
    waiting = eventually(lambda: read().container_statuses and container(read()).state.waiting)
    assert waiting.reason == "ImagePullBackOff"
    assert waiting.message == 'Back-off pulling image "registry.example/app:1"'
    assert (read().phase, ready(read())) == ("Pending", "False")
    read(image=None)
    eventually(lambda: read().phase == "Running")
    assert container(read()).state.running
    assert ready(read()) == "True"


def test_a_crash_loop_counts_its_restarts(pod, eventually):
    """CrashLoopBackOff between them; after the given number of crashes it runs for good."""
    read = pod(crashes="2", backoff_seconds="1")
    eventually(lambda: read().container_statuses and container(read()).state.waiting)
    assert container(read()).state.waiting.reason == "CrashLoopBackOff"
    assert container(read()).last_state.terminated.exit_code == 1
    assert (read().phase, ready(read())) == ("Running", "False")
    eventually(lambda: container(read()).restart_count == 2 and ready(read()) == "True")
    assert container(read()).state.running
    assert not container(read()).state.waiting


def test_a_crash_loop_backs_off_longer_each_time(pod, eventually):
    """Ten seconds at first, as the kubelet: no restart before that."""
    read = pod(crashes="9")
    eventually(lambda: read().container_statuses and container(read()).state.waiting)
    began = container(read()).last_state.terminated.finished_at
    eventually(lambda: container(read()).restart_count == 1, 20)
    assert container(read()).state.running.started_at - began >= dt.timedelta(seconds=9)


def test_a_pod_that_crashes_first_finishes_afterwards(pod, eventually):
    """It does not succeed in the middle of its crash loop."""
    read = pod(crashes="1", backoff_seconds="1", runs_for_seconds="0")
    eventually(lambda: read().container_statuses and container(read()).state.waiting)
    assert read().phase == "Running"
    eventually(lambda: read().phase == "Succeeded")
