"""`schedlab up` leaves a control plane behind that the other commands find."""

import subprocess
import sys

import pytest
import yaml

from schedlab.cluster.state import Registry

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(180)]

CALL = "import sys; from schedlab.cluster import commands; getattr(commands, sys.argv[1])(sys.argv[2:])"


def schedlab(*arguments):
    """Run a command as a program of its own; its output."""
    argv = [sys.executable, "-c", CALL, *arguments]
    result = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture
def lab():
    """A control plane in the background, as a user boots it."""
    yield schedlab(
        "up", "--name", "cli", "--nodes", "h100x8=2,a100-mig=1,cpu-32=1", "--zones", "2", "--racks", "2"
    )
    if Registry().named("cli") is not None:
        schedlab("down", "--name", "cli")


def test_a_lab_is_used_and_taken_down(lab, api):
    """It outlives the command that made it; nothing outlives `down`."""
    assert "4 nodes" in lab
    path = schedlab("kubeconfig", "--name", "cli").strip()
    nodes = api(path).list_node().items
    assert {node.metadata.name for node in nodes} == {"h100x8-0", "h100x8-1", "a100-mig-0", "cpu-32-0"}
    assert {node.metadata.labels["topology.kubernetes.io/zone"] for node in nodes} == {"zone-0", "zone-1"}
    assert yaml.safe_load(schedlab("kubeconfig", "--name", "cli", "--content"))["kind"] == "Config"
    status = schedlab("status", "--name", "cli")
    assert "4 (a100-mig=1, cpu-32=1, h100x8=2), 4 Ready" in status
    for component in ("etcd", "kube-apiserver", "kube-controller-manager", "kwok"):
        assert component in status
    assert schedlab("logs", "kube-apiserver", "--name", "cli")
    record = Registry().named("cli")
    down = schedlab("down", "--name", "cli")
    assert "ended kwok, kube-controller-manager, kube-apiserver, etcd" in down
    assert record.alive == []
    assert not record.layout.private.exists()
