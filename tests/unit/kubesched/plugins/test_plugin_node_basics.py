"""NodeName and NodeUnschedulable, PrioritySort and SchedulingGates."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from plugin_world import World, reasons

from kubesched.framework import Hint
from kubesched.framework.status import Code
from kubesched.plugins.priority_sort import PrioritySort
from kubesched.plugins.registry import IN_TREE
from kubesched.plugins.scheduling_gates import SchedulingGates
from kubesched.state.events import ActionType, Resource
from kubesched.testing.builders import node, pod

UNSCHEDULABLE_TAINT = "node.kubernetes.io/unschedulable"


@pytest.mark.parametrize(
    ("incoming", "expected"),
    [
        pytest.param(pod("p"), ["a", "b"], id="a pod that names no node may go anywhere"),
        pytest.param(pod("p").on("b"), ["b"], id="a pod that names a node may go there only"),
        pytest.param(pod("p").on("c"), [], id="a pod that names an unknown node may go nowhere"),
    ],
)
def test_node_name(incoming, expected):
    """spec.nodeName decides, and no eviction can change it."""
    world = World(IN_TREE["NodeName"], node("a"), node("b"))
    assert world.passing(incoming) == expected
    for status in world.rejections(incoming).values():
        assert status.reasons == ("node(s) didn't match the requested node name",)
        assert status.code is Code.UnschedulableAndUnresolvable


@pytest.mark.parametrize(
    ("incoming", "expected"),
    [
        pytest.param(pod("p"), ["free"], id="a cordoned node takes no ordinary pod"),
        pytest.param(
            pod("p").tolerates(UNSCHEDULABLE_TAINT),
            ["free", "closed"],
            id="a pod that tolerates it may go there",
        ),
        pytest.param(
            pod("p").tolerates(UNSCHEDULABLE_TAINT, effect="NoExecute"),
            ["free"],
            id="another effect does not help",
        ),
        pytest.param(pod("p").tolerates(), ["free", "closed"], id="tolerating everything helps"),
    ],
)
def test_node_unschedulable(incoming, expected):
    """Cordoned nodes are left to pods that tolerate the taint of cordoned nodes."""
    world = World(IN_TREE["NodeUnschedulable"], node("free"), node("closed").cordoned())
    assert world.passing(incoming) == expected
    if "closed" not in expected:
        assert reasons(world.rejections(incoming)) == {"closed": ("node(s) were unschedulable",)}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, node("n"), Hint.Queue, id="a new schedulable node wakes the pod"),
        pytest.param(None, node("n").cordoned(), Hint.Skip, id="a new cordoned node does not"),
        pytest.param(node("n").cordoned(), node("n"), Hint.Queue, id="uncordoning wakes the pod"),
        pytest.param(node("n"), node("n"), Hint.Skip, id="a node that was schedulable before does not"),
        pytest.param(node("n"), node("n").cordoned(), Hint.Skip, id="cordoning does not"),
    ],
)
def test_node_unschedulable_hints_on_nodes(old, new, expected):
    """Only a node that becomes schedulable is worth an attempt."""
    world = World(IN_TREE["NodeUnschedulable"])
    action = ActionType.Add if old is None else ActionType.UpdateNodeTaint
    assert world.hint(pod("p"), Resource.Node, action, old, new) is expected


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        pytest.param(pod("p").tolerates(UNSCHEDULABLE_TAINT), Hint.Queue, id="its own matching toleration"),
        pytest.param(pod("p").tolerates("other"), Hint.Skip, id="its own unrelated toleration"),
        pytest.param(pod("q").tolerates(UNSCHEDULABLE_TAINT), Hint.Skip, id="another pod's toleration"),
    ],
)
def test_node_unschedulable_hints_on_tolerations(new, expected):
    """A new toleration helps the pod that got it, if it is the right one."""
    world = World(IN_TREE["NodeUnschedulable"])
    hint = world.hint(pod("p"), Resource.UnschedulablePod, ActionType.UpdatePodTolerations, pod("p"), new)
    assert hint is expected


@dataclass
class Waiting:
    pod: object
    timestamp: float


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        pytest.param(
            Waiting(pod("a").with_priority(2), 2),
            Waiting(pod("b").with_priority(1), 1),
            True,
            id="higher priority goes first",
        ),
        pytest.param(
            Waiting(pod("a").with_priority(1), 1),
            Waiting(pod("b").with_priority(1), 2),
            True,
            id="of equals, the one that waits longer goes first",
        ),
        pytest.param(
            Waiting(pod("a").with_priority(1), 1),
            Waiting(pod("b").with_priority(1), 1),
            False,
            id="equal in both is not before",
        ),
        pytest.param(
            Waiting(pod("a"), 0), Waiting(pod("b").with_priority(-1), 0), True, id="no priority is priority 0"
        ),
    ],
)
def test_priority_sort(left, right, expected):
    """Priority decides, then the time in the queue."""
    assert PrioritySort().less(left, right) is expected


def test_scheduling_gates_hold_a_pod_back():
    """A gated pod is held back with the names of its gates; an ungated one passes."""
    plugin = SchedulingGates()
    assert plugin.pre_enqueue(pod("p")) is None
    status = plugin.pre_enqueue(pod("p").gate("foo").gate("bar"))
    assert status.code is Code.UnschedulableAndUnresolvable
    assert status.message == "waiting for scheduling gates: [foo bar]"


def test_scheduling_gates_wake_only_the_pod_itself():
    """The elimination of another pod's gates does not matter."""
    world = World(IN_TREE["SchedulingGates"])
    action = ActionType.UpdatePodSchedulingGatesEliminated
    own = world.hint(pod("p"), Resource.UnschedulablePod, action, pod("p").gate("a"), pod("p"))
    other = world.hint(pod("p"), Resource.UnschedulablePod, action, pod("q").gate("a"), pod("q"))
    assert (own, other) == (Hint.Queue, Hint.Skip)
