"""Machines and pods are drawn as the history shows that they were."""

from __future__ import annotations

from typing import Any

import pytest
from report_world import Record, clock, disrupted

from schedlab.report.lives import guests, machines
from schedlab.report.story import Guest, Machine, Room, Span

GPUS = {"cpu": "64", "nvidia.com/gpu": "8", "rdma/rdma_shared_device_a": "63", "pods": "110"}


def only_machine(record: Record) -> Machine:
    (found,) = machines(record.history, clock)
    return found


def only_guest(record: Record) -> Guest:
    (found,) = guests(record.history, clock)
    return found


def test_a_machine_has_its_accelerators_and_nothing_else() -> None:
    """Cores, pods and network devices are not drawn as slots."""
    record = Record()
    record.node(1, "n", GPUS)
    assert only_machine(record).slots == {"nvidia.com/gpu": 8}


@pytest.mark.parametrize(
    "name",
    [
        "nvidia.com/gpu",
        "nvidia.com/mig-1g.10gb",
        "amd.com/gpu",
        "google.com/tpu",
        "aws.amazon.com/neuron",
        "nvidia.com/gpu.shared",
    ],
)
def test_accelerators_of_all_makers_are_known(name: str) -> None:
    """By the word in the resource's name."""
    record = Record()
    record.node(1, "n", {name: "2"})
    assert only_machine(record).slots == {name: 2}


def test_a_device_that_fails_is_a_slot_that_nobody_can_have() -> None:
    """What is allocatable falls, what the machine has does not."""
    record = Record()
    record.node(1, "n", GPUS)
    record.node(3, "n", {**GPUS, "nvidia.com/gpu": "7"}, capacity=GPUS)
    found = only_machine(record)
    assert found.slots == {"nvidia.com/gpu": 8}
    assert found.room == (Room(1.0, {"nvidia.com/gpu": 8}), Room(3.0, {"nvidia.com/gpu": 7}))


@pytest.mark.parametrize(
    ("labels", "rack"),
    [
        ({"topology.schedlab/rack": "r1", "topology.kubernetes.io/zone": "z"}, "r1"),
        ({"nvidia.com/gpu.clique": "c.0", "topology.kubernetes.io/zone": "z"}, "c.0"),
        ({"topology.kubernetes.io/zone": "z"}, "z"),
        ({}, ""),
    ],
    ids=["rack", "NVLink domain", "zone", "none"],
)
def test_machines_stand_in_their_rack(labels: dict[str, str], rack: str) -> None:
    """Or in what is closest to one."""
    record = Record()
    record.node(1, "n", GPUS, labels={**labels, "nvidia.com/gpu.product": "H100"})
    assert (only_machine(record).rack, only_machine(record).model) == (rack, "H100")


def test_a_machine_is_shut_while_it_takes_no_pods() -> None:
    """Cordoned, or not ready any more; one that is only starting is not shut."""
    record = Record()
    record.node(1, "n", {}, ready="False")
    record.node(2, "n", {})
    record.node(3, "n", {}, unschedulable=True)
    record.node(4, "n", {})
    record.node(5, "n", {}, ready="Unknown")
    assert only_machine(record).shut == (Span(3.0, "cordoned", 4.0), Span(5.0, "not ready"))


def test_a_machine_that_leaves_has_an_end() -> None:
    """And a beginning."""
    record = Record()
    record.node(1, "n", {})
    record.node(4, "n", {}, "DELETED")
    assert (only_machine(record).since, only_machine(record).until) == (1.0, 4.0)


def test_a_pod_has_its_way_from_creation_to_its_end() -> None:
    """With its node, what it takes, and its priority."""
    record = Record()
    record.pod(1, "w-0", requests={"cpu": "1", "nvidia.com/gpu": "4"}, spec={"priority": 10})
    record.pod(2, "w-0", "n1", requests={"cpu": "1", "nvidia.com/gpu": "4"}, spec={"priority": 10})
    record.pod(5, "w-0", "n1", "DELETED", requests={"nvidia.com/gpu": "4"}, spec={"priority": 10})
    assert only_guest(record) == Guest(
        "w-0", 1.0, job="w", takes={"nvidia.com/gpu": 4}, priority=10, node="n1", bound=2.0, until=5.0
    )


@pytest.mark.parametrize(
    ("end", "how"),
    [
        ({"phase": "Running", "conditions": disrupted("PreemptionByScheduler")}, "preempted"),
        ({"phase": "Failed", "reason": "Evicted"}, "evicted"),
        ({"phase": "Failed", "conditions": disrupted("TerminationByKubelet")}, "evicted"),
        ({"phase": "Running", "conditions": disrupted("DeletionByTaintManager")}, "evicted"),
        ({"phase": "Succeeded"}, "succeeded"),
        ({"phase": "Failed"}, "failed"),
        ({"phase": "Running"}, ""),
    ],
    ids=["preempted", "evicted", "by the kubelet", "by a taint", "succeeded", "failed", "deleted"],
)
def test_a_pods_end_has_its_cause(end: dict[str, Any], how: str) -> None:
    """As the pod itself says."""
    record = Record()
    record.pod(1, "w", "n1", phase="Running")
    change = "MODIFIED" if end["phase"] in ("Succeeded", "Failed") else "DELETED"
    record.pod(3, "w", "n1", change, **end)
    assert (only_guest(record).end, only_guest(record).until) == (how, 3.0)


def test_a_pod_that_ended_gave_its_place_back_then() -> None:
    """Not only when it is deleted."""
    record = Record()
    record.pod(1, "w", "n1", phase="Running")
    record.pod(3, "w", "n1", phase="Succeeded")
    record.pod(9, "w", "n1", "DELETED", phase="Succeeded")
    assert only_guest(record).until == 3.0


@pytest.mark.parametrize(
    ("labels", "name", "job"),
    [
        ({"job": "llm"}, "a-0", "llm"),
        ({"app": "web"}, "a-0", "web"),
        ({}, "worker-12", "worker"),
        ({}, "solo", "solo"),
    ],
    ids=["by its job", "by its app", "by its name", "alone"],
)
def test_pods_of_one_job_are_drawn_alike(labels: dict[str, str], name: str, job: str) -> None:
    """A label says to which job a pod belongs, else its name without the number."""
    record = Record()
    record.pod(1, name, labels=labels)
    assert only_guest(record).job == job


def test_the_harness_own_probes_are_not_drawn() -> None:
    """They are no part of the test."""
    record = Record()
    record.pod(1, "probe-1", namespace="schedlab-probe")
    assert list(guests(record.history, clock)) == []
