"""Declared usage becomes measurements: amounts over time, rules by pod, and what lies on which disk."""

from __future__ import annotations

import pytest
from kubelet_pods import pod

from schedlab.errors import UsageError
from schedlab.kubelet.courses import Course, amount_at
from schedlab.kubelet.signals import (
    ALLOCATABLE,
    CONTAINERFS,
    IMAGEFS,
    IMAGEFS_INODES,
    MEMORY,
    NODEFS,
    NODEFS_INODES,
    PIDS,
)
from schedlab.kubelet.stats import Disks, local_volumes
from schedlab.kubelet.usage import Declared, Freed, NodeUsage, PodUsage, summarize

GI = 1 << 30


@pytest.mark.parametrize(
    ("amount", "seconds", "expected"),
    [
        ("1Gi", 99, GI),
        (300, 0, 300),
        (Course(from_="1Gi", to="3Gi", over="4s"), 0, GI),
        (Course(from_="1Gi", to="3Gi", over="4s"), 2, 2 * GI),
        (Course(from_="1Gi", to="3Gi", over="4s"), 9, 3 * GI),
        (Course(from_="3Gi", to="1Gi", over="4s"), 4, GI),
        (Course(to="3Gi", over="0s"), 0, 3 * GI),
        (Course(from_="1Gi", per_second="1Gi"), 2.5, 3 * GI + GI // 2),
        (Course(series={"0s": "1Gi", "2s": "3Gi", "4s": "2Gi"}), 0, GI),
        (Course(series={"0s": "1Gi", "2s": "3Gi", "4s": "2Gi"}), 3.9, 3 * GI),
        (Course(series={"0s": "1Gi", "2s": "3Gi", "4s": "2Gi"}), 4, 2 * GI),
        (Course(from_="2Gi", series={"5s": "3Gi"}), 1, 2 * GI),
    ],
)
def test_an_amount_takes_its_course(amount, seconds, expected):
    """Constant, ramp, leak, or steps."""
    assert amount_at(amount, seconds) == expected


@pytest.mark.parametrize(
    "amount",
    [
        Course(),
        Course(from_="1Gi"),
        Course(to="1Gi"),
        Course(over="1s"),
        Course(to="1Gi", over="1s", per_second="1Mi"),
        Course(per_second="1Mi", series={"0s": "1Gi"}),
        "much",
        Course(series={"0s": "much"}),
    ],
)
def test_an_amount_that_says_too_little_or_too_much_is_refused(amount):
    """With the way out."""
    with pytest.raises(UsageError) as caught:
        amount_at(amount, 1)
    assert caught.value.hint


def rule(**more):
    return PodUsage(**{"namespace": "ns", "began": 10.0, **more})


def test_time_counts_from_the_declaration_or_from_a_later_start():
    """A pod that comes later begins its own leak."""
    declared = Declared(pods=[rule(amounts={"memory": Course(per_second=1)})])
    assert declared.of_pod(pod("old"), 0.0, 15.0).memory == 5
    assert declared.of_pod(pod("new"), 13.0, 15.0).memory == 2


def test_later_declarations_win_field_by_field():
    """What the later one does not mention stays."""
    declared = Declared(pods=[rule(amounts={"memory": 1, "pids": 7}), rule(amounts={"memory": 2})])
    found = declared.of_pod(pod("one"), 0, 20)
    assert (found.memory, found.processes) == (2, 7)


@pytest.mark.parametrize(
    ("about", "meant"),
    [
        ({"pod": "one"}, True),
        ({"pod": "two"}, False),
        ({"selector": {"app": "web"}}, True),
        ({"selector": {"app": "db"}}, False),
        ({"pod": "one", "namespace": "other"}, False),
    ],
)
def test_a_declaration_is_about_the_pods_that_it_names(about, meant):
    """By name or labels, in its namespace."""
    one = pod("one")
    one["metadata"]["labels"] = {"app": "web"}
    found = Declared(pods=[rule(**about, amounts={"memory": 5})]).of_pod(one, 0, 20)
    assert found.memory == (5 if meant else 0)


def test_a_declaration_is_about_one_container():
    """The first one, unless it says which."""
    one = pod("one")
    one["spec"]["containers"] += [{"name": "side"}]
    declared = Declared(pods=[rule(amounts={"memory": 1}), rule(container="side", amounts={"memory": 2})])
    found = declared.of_pod(one, 0, 20)
    assert [(c.name, c.memory) for c in found.containers] == [("main", 1), ("side", 2)]


def node(memory="8Gi", allocatable="6Gi", storage="100Gi"):
    return {
        "kind": "Node",
        "metadata": {"name": "n"},
        "status": {
            "capacity": {"memory": memory, "ephemeral-storage": storage},
            "allocatable": {"memory": allocatable},
        },
    }


NOTHING = Freed()


def left(declared, *pods, disks=Disks.ONE, freed=NOTHING):
    """What is left of each signal, in GiB for bytes."""
    running = [(one, 0.0) for one in pods]
    found = summarize(declared, node(), running, 100.0, disks=disks, freed=freed).observations()
    return {
        signal: one.available.value / (1 if "inodes" in signal or signal == PIDS else GI)
        for signal, one in found.items()
    }


def test_memory_is_used_by_pods_and_by_the_system():
    """Of what is allocatable, by pods alone."""
    declared = Declared([rule(pod="one", amounts={"memory": "1Gi"})], [NodeUsage("n", 0, {"memory": "2Gi"})])
    found = left(declared, pod("one"), pod("two"))
    assert (found[MEMORY], found[ALLOCATABLE]) == (5, 5)


def test_processes_and_inodes_are_counted_against_declared_capacities():
    """Of all pods, and of the system."""
    declared = Declared(
        [rule(amounts={"pids": 100, "inodes": 1000})],
        [NodeUsage("n", 0, {"pids": 50, "nodefsInodes": 10}, {"pids": 1000, "nodefsInodes": "5k"})],
    )
    found = left(declared, pod("one"), pod("two"))
    assert (found[PIDS], found[NODEFS_INODES], found[IMAGEFS_INODES]) == (750, 2990, 2990)


USED = [rule(amounts={"rootfs": "10Gi", "logs": "5Gi"}, volumes={"v": "3Gi"})]
MACHINE = {"nodefs": "20Gi", "images": "30Gi", "deadContainers": "1Gi", "unusedImages": "2Gi"}


@pytest.mark.parametrize(
    ("disks", "nodefs", "imagefs", "containerfs"),
    [
        (Disks.ONE, 100 - 71, 100 - 71, 100 - 71),
        (Disks.IMAGEFS, 100 - 28, 200 - 43, 200 - 43),
        (Disks.SPLIT, 100 - 39, 200 - 32, 100 - 39),
    ],
)
def test_what_lies_on_which_disk(disks, nodefs, imagefs, containerfs):
    """Layers, logs, volumes, images; with one file system all readings are the same."""
    declared = Declared(USED, [NodeUsage("n", 0, MACHINE, {"imagefs": "200Gi"})])
    one = pod("one", volumes=[{"name": "v", "emptyDir": {}}])
    found = left(declared, one, disks=disks)
    assert (found[NODEFS], found[IMAGEFS], found[CONTAINERFS]) == (nodefs, imagefs, containerfs)


def test_what_was_freed_is_gone():
    """Unused images and dead containers, each by itself."""
    declared = Declared([], [NodeUsage("n", 0, MACHINE)])
    assert left(declared)[NODEFS] == 100 - 53
    assert left(declared, freed=Freed(images=True))[NODEFS] == 100 - 51
    assert left(declared, freed=Freed(images=True, containers=True))[NODEFS] == 100 - 50


def test_nothing_is_left_rather_than_less():
    """A disk cannot be more than full."""
    assert left(Declared([], [NodeUsage("n", 0, {"memory": "99Gi"})]))[MEMORY] == 0


@pytest.mark.parametrize(
    ("volume", "local"),
    [
        ({"emptyDir": {}}, True),
        ({"emptyDir": None}, True),
        ({"emptyDir": {"medium": "Memory"}}, False),
        ({"hostPath": {"path": "/"}}, True),
        ({"configMap": {"name": "c"}}, True),
        ({"persistentVolumeClaim": {"claimName": "c"}}, False),
    ],
)
def test_some_volumes_take_room_on_the_nodes_disk(volume, local):
    """What is in memory, or elsewhere, does not."""
    assert local_volumes(pod("one", volumes=[{"name": "v", **volume}])) == (["v"] if local else [])
