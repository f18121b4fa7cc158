"""NodeResourcesFit's filter: what is requested must be free."""

from __future__ import annotations

import pytest
from plugin_world import World, reasons

from kubesched.api.base import ObjectMeta
from kubesched.api.devices import DeviceClass, DeviceClassSpec
from kubesched.config.args import NodeResourcesFitArgs
from kubesched.config.gates import FeatureGates
from kubesched.framework import Hint
from kubesched.framework.status import Code
from kubesched.plugins.registry import IN_TREE
from kubesched.state.events import ActionType, Resource
from kubesched.testing.builders import GPU, node, pod

FIT = IN_TREE["NodeResourcesFit"]
UNSCHEDULABLE, UNRESOLVABLE = Code.Unschedulable, Code.UnschedulableAndUnresolvable


def small(name="n"):
    return node(name).cpu("10").memory("20Gi").pods(32)


USED = pod("used").cpu("8").memory("19Gi").on("n")


@pytest.mark.parametrize(
    ("incoming", "existing", "expected", "code"),
    [
        pytest.param(
            pod("p"),
            [pod("used").cpu(10).memory("20Gi").on("n")],
            (),
            None,
            id="no resources requested always fits",
        ),
        pytest.param(
            pod("p").cpu(1).memory("1Gi"),
            [pod("used").cpu(10).memory("20Gi").on("n")],
            ("Insufficient cpu", "Insufficient memory"),
            UNSCHEDULABLE,
            id="too many resources fails",
        ),
        pytest.param(pod("p").cpu(1).memory("1Gi"), [USED], (), None, id="both resources fit"),
        pytest.param(
            pod("p").cpu(3).memory("1Gi"),
            [USED],
            ("Insufficient cpu",),
            UNSCHEDULABLE,
            id="only cpu is short",
        ),
        pytest.param(
            pod("p").cpu(1).memory("2Gi"),
            [USED],
            ("Insufficient memory",),
            UNSCHEDULABLE,
            id="only memory is short",
        ),
        pytest.param(pod("p").cpu(2).memory("1Gi"), [USED], (), None, id="an exact fit is a fit"),
        pytest.param(
            pod("p").cpu(11),
            [],
            ("Insufficient cpu",),
            UNRESOLVABLE,
            id="a request beyond the node's size is unresolvable",
        ),
        pytest.param(
            pod("p").cpu(3).memory("21Gi"),
            [USED],
            ("Insufficient cpu", "Insufficient memory"),
            UNRESOLVABLE,
            id="one unresolvable resource makes the whole answer so",
        ),
        pytest.param(
            pod("p").init_container(cpu="3").init_container(cpu="1"),
            [USED],
            ("Insufficient cpu",),
            UNSCHEDULABLE,
            id="the largest init container counts",
        ),
        pytest.param(
            pod("p").cpu(1).init_container(cpu="2"),
            [USED],
            (),
            None,
            id="init containers and containers do not add up",
        ),
        pytest.param(
            pod("p").cpu(1).init_container(cpu="2", sidecar=True),
            [USED],
            ("Insufficient cpu",),
            UNSCHEDULABLE,
            id="a sidecar adds to the containers",
        ),
        pytest.param(
            pod("p").gpu(1),
            [],
            (f"Insufficient {GPU}",),
            UNRESOLVABLE,
            id="an extended resource that the node lacks",
        ),
        pytest.param(pod("p").gpu(0), [], (), None, id="a zero request is no request"),
        pytest.param(
            pod("p").request("hugepages-2Mi", "5Mi"),
            [],
            ("Insufficient hugepages-2Mi",),
            UNRESOLVABLE,
            id="huge pages are resources too",
        ),
        pytest.param(
            pod("p").request("ephemeral-storage", "1Gi"),
            [],
            ("Insufficient ephemeral-storage",),
            UNRESOLVABLE,
            id="so is ephemeral storage",
        ),
    ],
)
def test_filter(incoming, existing, expected, code):
    """Every resource that is short is named; beyond the node's size is unresolvable."""
    rejected = World(FIT, small(), *existing).rejections(incoming)
    assert reasons(rejected) == ({"n": expected} if expected else {})
    if expected:
        assert rejected["n"].code is code


def test_number_of_pods():
    """One pod too many is rejected even if it requests nothing, and eviction may help."""
    world = World(FIT, small().pods(1), pod("used").on("n"))
    rejected = world.rejections(pod("p").cpu(20))
    assert rejected["n"].reasons == ("Too many pods", "Insufficient cpu")
    assert world.rejections(pod("p"))["n"].code is UNSCHEDULABLE


@pytest.mark.parametrize(
    ("args", "fits"),
    [
        pytest.param(
            NodeResourcesFitArgs(ignored_resources=("example.com/bbb",)), True, id="ignored by name"
        ),
        pytest.param(
            NodeResourcesFitArgs(ignored_resource_groups=("example.com",)), True, id="ignored by group"
        ),
        pytest.param(
            NodeResourcesFitArgs(ignored_resource_groups=("example.org",)), False, id="another group"
        ),
        pytest.param(NodeResourcesFitArgs(), False, id="not ignored"),
    ],
)
def test_ignored_resources(args, fits):
    """Extended resources may be left to others by name or by group."""
    assert bool(World(FIT, small(), args=args).passing(pod("p").request("example.com/bbb", 1))) is fits


def test_native_resources_cannot_be_ignored():
    """Only extended resources are ignored."""
    args = NodeResourcesFitArgs(ignored_resources=("cpu",))
    assert World(FIT, small(), args=args).passing(pod("p").cpu(11)) == []


def test_a_what_if_counts_moved_pods():
    """Pods added to or removed from a world change what is free there, and nowhere else."""
    world = World(FIT, small("a"), small("b"), pod("used").cpu(8).on("a"))
    incoming, guest = pod("p").cpu(5), pod("g").cpu(8)
    assert list(world.rejections(incoming)) == ["a"]
    assert list(world.rejections(incoming, lambda view: view.add([1], [[guest]]))) == ["a", "b"]
    used = world.cluster.pods.by_uid["uid-used"]
    assert world.rejections(incoming, lambda view: view.remove([0], [[used]])) == {}


DEVICES = DeviceClass(
    metadata=ObjectMeta(name="gpus"), spec=DeviceClassSpec(extended_resource_name="example.com/gpu")
)


@pytest.mark.parametrize(
    ("resource", "action", "old", "new", "expected"),
    [
        pytest.param(
            Resource.AssignedPod,
            ActionType.Delete,
            pod("o").on("n"),
            None,
            Hint.Queue,
            id="a pod that leaves a node",
        ),
        pytest.param(
            Resource.UnschedulablePod,
            ActionType.Delete,
            pod("o"),
            None,
            Hint.Skip,
            id="a pod that was nowhere",
        ),
        pytest.param(
            Resource.UnschedulablePod,
            ActionType.Delete,
            pod("o").nominated_to("n"),
            None,
            Hint.Queue,
            id="a pod that had a place in view",
        ),
        pytest.param(
            Resource.AssignedPod,
            ActionType.UpdatePodScaleDown,
            pod("o").cpu(2).on("n"),
            pod("o").cpu(1).on("n"),
            Hint.Queue,
            id="a pod that shrinks in what is wanted",
        ),
        pytest.param(
            Resource.AssignedPod,
            ActionType.UpdatePodScaleDown,
            pod("o").memory("2Gi").on("n"),
            pod("o").memory("1Gi").on("n"),
            Hint.Skip,
            id="a pod that shrinks in something else",
        ),
        pytest.param(
            Resource.UnschedulablePod,
            ActionType.UpdatePodScaleDown,
            pod("p").cpu(3),
            pod("p").cpu(2),
            Hint.Queue,
            id="the pod itself shrinks",
        ),
        pytest.param(
            Resource.Node, ActionType.Add, None, node("n").cpu(4), Hint.Queue, id="a new node with room"
        ),
        pytest.param(
            Resource.Node,
            ActionType.Add,
            None,
            node("n").cpu(1),
            Hint.Skip,
            id="a new node that is too small",
        ),
        pytest.param(
            Resource.Node,
            ActionType.UpdateNodeAllocatable,
            node("n").cpu(1),
            node("n").cpu(4),
            Hint.Queue,
            id="a node that grows",
        ),
        pytest.param(
            Resource.Node,
            ActionType.UpdateNodeAllocatable,
            node("n").cpu(8),
            node("n").cpu(4),
            Hint.Skip,
            id="a node that shrinks but would still hold it",
        ),
        pytest.param(
            Resource.Node,
            ActionType.UpdateNodeAllocatable,
            node("n").cpu(4).memory("1Gi"),
            node("n").cpu(4).memory("2Gi"),
            Hint.Skip,
            id="a node that grows in something else",
        ),
        pytest.param(
            Resource.Node,
            ActionType.UpdateNodeAllocatable,
            node("n").pods(1),
            node("n").pods(2),
            Hint.Queue,
            id="a node that takes more pods",
        ),
        pytest.param(
            Resource.DeviceClass,
            ActionType.Add,
            None,
            DEVICES,
            Hint.Skip,
            id="a device class for something else",
        ),
    ],
)
def test_hints(resource, action, old, new, expected):
    """An event is worth an attempt when it gives more of what the pod requests."""
    assert World(FIT).hint(pod("p").cpu(2), resource, action, old, new) is expected


def test_device_class_wakes_a_pod_that_requests_its_resource():
    """A class for the resource, by its own name or by the extended resource it names."""
    world, add = World(FIT), ActionType.Add
    by_name = pod("p").request("deviceclass.resource.kubernetes.io/gpus", 1)
    assert (
        world.hint(pod("p").request("example.com/gpu", 1), Resource.DeviceClass, add, None, DEVICES)
        is Hint.Queue
    )
    assert world.hint(by_name, Resource.DeviceClass, add, None, DEVICES) is Hint.Queue


@pytest.mark.parametrize(
    ("here", "gates", "fits"),
    [
        pytest.param(0, {}, True, id="a node without any may get some by a claim on devices"),
        pytest.param(1, {}, False, id="a node with some of its own must have enough"),
        pytest.param(0, {"DRAExtendedResource": False}, False, id="without the gate no class stands for it"),
    ],
)
def test_a_device_class_stands_for_an_extended_resource(here, gates, fits):
    """What DynamicResources sees to is not checked here, node by node."""
    offered = DeviceClass(metadata=ObjectMeta(name="gpu"), spec=DeviceClassSpec(extended_resource_name=GPU))
    there = node("n").gpu(here) if here else node("n")
    world = World(FIT, there, offered, gates=FeatureGates(gates))
    rejected = reasons(world.rejections(pod("p").gpu(2)))
    assert rejected == ({} if fits else {"n": (f"Insufficient {GPU}",)})


def test_without_the_gate_device_classes_wake_nobody():
    """The event is not registered at all."""
    offered = DeviceClass(metadata=ObjectMeta(name="gpu"), spec=DeviceClassSpec(extended_resource_name=GPU))
    for enabled, expected in ((True, Hint.Queue), (False, Hint.Skip)):
        world = World(FIT, gates=FeatureGates({"DRAExtendedResource": enabled}))
        assert world.hint(pod("p").gpu(1), Resource.DeviceClass, ActionType.Add, None, offered) is expected


@pytest.mark.parametrize("gate", ["PodLevelResources", "InPlacePodLevelResourcesVerticalScaling"])
def test_gates_that_cannot_be_turned_off_are_refused(gate):
    """A gate must not be silently without effect."""
    with pytest.raises(ValueError, match=f"feature gate {gate}=false is not built: leave it on"):
        World(FIT, gates=FeatureGates({"InPlacePodLevelResourcesVerticalScaling": False, gate: False}))
