"""DynamicResources for pods without claims, and its refusal of pods that need devices."""

import pytest
from msgspec import structs
from plugin_world import World

from kubesched.api.base import ObjectMeta
from kubesched.api.devices import DeviceClassSpec
from kubesched.api.objects import DeviceClass
from kubesched.api.pod import PodResourceClaim
from kubesched.framework import Hint, error
from kubesched.framework.status import Code
from kubesched.plugins.registry import IN_TREE
from kubesched.state.events import ActionType, Resource
from kubesched.testing.builders import GPU, node, pod

NOT_ALLOCATED = "kubesched does not allocate devices for resource claims yet"


def claiming(incoming):
    """The pod, with one resource claim."""
    return structs.replace(
        incoming, spec=structs.replace(incoming.spec, resource_claims=(PodResourceClaim(name="gpu"),))
    )


def device_class(name, resource=None):
    return DeviceClass(
        metadata=ObjectMeta(name=name, uid=f"uid-class-{name}"),
        spec=DeviceClassSpec(extended_resource_name=resource),
    )


@pytest.mark.parametrize(
    ("incoming", "objects", "refused"),
    [
        pytest.param(pod("p"), [], False, id="a pod without claims is none of its business"),
        pytest.param(claiming(pod("p")), [], True, id="a pod with a claim is not placed"),
        pytest.param(
            pod("p").gpu(1), [], False, id="an extended resource of a device plugin is a plain resource"
        ),
        pytest.param(
            pod("p").gpu(1),
            [device_class("h100", GPU)],
            True,
            id="an extended resource that a device class backs",
        ),
        pytest.param(
            pod("p").gpu(1),
            [device_class("nic", "example.com/nic")],
            False,
            id="a device class for something else does not matter",
        ),
        pytest.param(
            pod("p").request("deviceclass.resource.kubernetes.io/h100", 1),
            [device_class("h100")],
            True,
            id="a device class by its own name",
        ),
        pytest.param(
            pod("p").cpu(1).memory("1Gi"),
            [device_class("cpu", "cpu")],
            False,
            id="cpu is no extended resource",
        ),
    ],
)
def test_who_needs_devices(incoming, objects, refused):
    """Whoever needs devices is kept waiting with a reason; everybody else may go anywhere."""
    rejected = World(IN_TREE["DynamicResources"], node("n"), *objects).rejections(incoming)
    found = {name: (status.code, status.reasons) for name, status in rejected.items()}
    expected = (Code.UnschedulableAndUnresolvable, (NOT_ALLOCATED,))
    assert found == ({"n": expected} if refused else {})


def test_a_node_with_the_resource_itself_needs_no_devices():
    """Where a device plugin offers what a device class stands for, the pod may go."""
    offered = device_class("h100", GPU)
    world = World(IN_TREE["DynamicResources"], node("plugin").gpu(8), node("driver"), offered)
    incoming = pod("p").gpu(1)
    assert world.passing(incoming) == ["plugin"]
    cycle = world.cycle(incoming)
    assert world.plugin.points["pre_filter"].pre_filter(cycle) is None
    message = world.plugin.points["post_filter"].post_filter(cycle, None).status.message
    assert message == "still not schedulable"


def test_pods_without_devices_are_skipped():
    """PreFilter says so, and Filter is not asked."""
    assert World(IN_TREE["DynamicResources"], node("n")).pre_filter(pod("p")).code is Code.Skip


def test_post_filter_has_its_say_in_every_message():
    """Every failed attempt of kube-scheduler mentions claims, or the error that PreFilter never ran."""
    world = World(IN_TREE["DynamicResources"], node("n"))
    post_filter = world.plugin.points["post_filter"].post_filter
    cycle = world.cycle(pod("p"))
    assert post_filter(cycle, None).status == error("not found")
    world.plugin.points["pre_filter"].pre_filter(cycle)
    assert post_filter(cycle, None).status.reasons == ("no new claims to deallocate",)


def test_no_node_is_preferred():
    """Its score takes part, and is zero."""
    assert World(IN_TREE["DynamicResources"], node("a"), node("b")).scores(pod("p")) == {"a": 0, "b": 0}


@pytest.mark.parametrize(
    ("resource", "action", "hint"),
    [
        pytest.param(Resource.ResourceSlice, ActionType.Add, Hint.Queue, id="devices arrive"),
        pytest.param(Resource.ResourceClaim, ActionType.Update, Hint.Queue, id="a claim changes"),
        pytest.param(Resource.DeviceClass, ActionType.Delete, Hint.Skip, id="a class vanishes"),
        pytest.param(Resource.CSINode, ActionType.Add, Hint.Skip, id="a storage driver"),
    ],
)
def test_hints(resource, action, hint):
    """What may bring devices wakes pods that wait for some."""
    assert World(IN_TREE["DynamicResources"], node("n")).hint(claiming(pod("p")), resource, action) is hint
