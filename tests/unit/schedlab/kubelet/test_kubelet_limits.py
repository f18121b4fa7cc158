"""Pods that outgrow their own limits of local storage go; the cases are those of the kubelet's tests."""

from __future__ import annotations

import pytest
from kubelet_pods import disk, pod

from schedlab.kubelet.limits import exceeded
from schedlab.kubelet.stats import ContainerStats, Disks, Files, PodStats

LIMITED = [{"name": "local-volume", "emptyDir": {"sizeLimit": "1Gi"}}]


def test_a_layer_above_the_limit_evicts():
    """The pod's sum is judged before its containers."""
    assert exceeded(pod("rootfs", limit="1Gi"), disk("2Gi"), Disks.ONE) == (
        "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. "
    )


def test_logs_above_the_limit_evict():
    """They are kept on the same disk."""
    assert exceeded(pod("logs", limit="1Gi"), disk("0", "2Gi"), Disks.ONE)


def test_a_volume_above_its_limit_evicts():
    """Without any limit of the containers."""
    assert exceeded(pod("volume", volumes=LIMITED), disk("0", "0", "2Gi"), Disks.ONE) == (
        'Usage of EmptyDir volume "local-volume" exceeds the limit "1Gi". '
    )


@pytest.mark.parametrize(
    ("one", "usage"),
    [
        (pod("equal", limit="1Gi"), disk("1Gi")),
        (pod("volume", volumes=LIMITED), disk("0", "0", "1Gi")),
        (pod("unlimited"), disk("9Gi", "9Gi")),
        (pod("no size", volumes=[{"name": "local-volume", "emptyDir": {}}]), disk("0", "0", "9Gi")),
        (
            pod("zero", volumes=[{"name": "local-volume", "emptyDir": {"sizeLimit": "0"}}]),
            disk("0", "0", "9"),
        ),
    ],
)
def test_what_keeps_to_its_limits_stays(one, usage):
    """Equal is within; no limit is no limit."""
    assert exceeded(one, usage, Disks.ONE) == ""


def two(first: str, second: str):
    one = pod("two")
    one["spec"]["containers"] = [
        {"name": "first", "resources": {"limits": {"ephemeral-storage": first}}},
        {"name": "second", "resources": {"limits": {"ephemeral-storage": second}}},
    ]
    return one


USED = PodStats([ContainerStats("first", rootfs=Files(600 << 20), logs=Files(600 << 20))])


def test_a_container_above_its_own_limit_takes_its_pod_along():
    """Although the pod is within the sum."""
    assert exceeded(two("1Gi", "2Gi"), USED, Disks.ONE) == (
        'Container first exceeded its local ephemeral storage limit "1Gi". '
    )


def test_a_layer_on_imagefs_does_not_count_towards_the_containers_limit():
    """The logs alone are within it."""
    assert exceeded(two("1Gi", "2Gi"), USED, Disks.IMAGEFS) == ""


def test_a_volume_in_memory_has_a_limit_but_no_part_in_the_sum():
    """It takes no room on the disk."""
    one = pod("memory", limit="1Gi", volumes=[{"name": "local-volume", "emptyDir": {"medium": "Memory"}}])
    assert exceeded(one, disk("0", "0", "2Gi"), Disks.ONE) == ""
    one["spec"]["volumes"][0]["emptyDir"]["sizeLimit"] = "1Gi"
    assert exceeded(one, disk("0", "0", "2Gi"), Disks.ONE).startswith("Usage of EmptyDir")
