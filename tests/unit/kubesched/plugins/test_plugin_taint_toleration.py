"""TaintToleration: hard taints reject, soft ones count."""

from __future__ import annotations

import pytest
from plugin_world import World, reasons

from kubesched.framework import Hint
from kubesched.framework.status import Code
from kubesched.plugins.registry import IN_TREE
from kubesched.state.events import ActionType, Resource
from kubesched.testing.builders import node, pod

TAINTS = IN_TREE["TaintToleration"]


@pytest.mark.parametrize(
    ("incoming", "tainted", "fits"),
    [
        pytest.param(
            pod("p"),
            node("n").taint("dedicated", "user1"),
            False,
            id="a pod without tolerations cannot go to a node with a NoSchedule taint",
        ),
        pytest.param(
            pod("p").tolerates("dedicated", "user1"),
            node("n").taint("dedicated", "user1"),
            True,
            id="a pod that tolerates the taint can",
        ),
        pytest.param(
            pod("p").tolerates("dedicated", "user2"),
            node("n").taint("dedicated", "user1"),
            False,
            id="a toleration of another value does not help",
        ),
        pytest.param(
            pod("p").tolerates("foo"), node("n").taint("foo", "bar"), True, id="Exists tolerates every value"
        ),
        pytest.param(
            pod("p").tolerates("dedicated", "user1", "NoExecute"),
            node("n").taint("dedicated", "user1"),
            False,
            id="the effect must match",
        ),
        pytest.param(
            pod("p"),
            node("n").taint("dedicated", "user1", "PreferNoSchedule"),
            True,
            id="a soft taint rejects nobody",
        ),
        pytest.param(
            pod("p").tolerates("a"),
            node("n").taint("a").taint("b"),
            False,
            id="every hard taint must be tolerated",
        ),
        pytest.param(pod("p"), node("n").taint("a", effect="NoExecute"), False, id="NoExecute rejects too"),
    ],
)
def test_filter(incoming, tainted, fits):
    """An untolerated hard taint rejects the node for good."""
    rejected = World(TAINTS, tainted).rejections(incoming)
    assert (not rejected) is fits
    if not fits:
        assert reasons(rejected) == {"n": ("node(s) had untolerated taint(s)",)}
        assert rejected["n"].code is Code.UnschedulableAndUnresolvable


def soft(name, *keys):
    tainted = node(name)
    for key in keys:
        tainted = tainted.taint(key, "value", "PreferNoSchedule")
    return tainted


@pytest.mark.parametrize(
    ("incoming", "nodes", "expected"),
    [
        pytest.param(
            pod("p").tolerates("foo", "value", "PreferNoSchedule"),
            [soft("a", "foo"), soft("b", "bar")],
            {"a": 100, "b": 0},
            id="a node whose soft taint is tolerated wins",
        ),
        pytest.param(
            pod("p").tolerates("cpu").tolerates("disk"),
            [soft("a"), soft("b", "cpu"), soft("c", "cpu", "disk")],
            {"a": 100, "b": 100, "c": 100},
            id="tolerated soft taints do not count",
        ),
        pytest.param(
            pod("p").tolerates("foo", "value", "PreferNoSchedule"),
            [soft("a"), soft("b", "cpu"), soft("c", "cpu", "disk")],
            {"a": 100, "b": 50, "c": 0},
            id="the more untolerated soft taints the worse",
        ),
        pytest.param(
            pod("p").tolerates("cpu", "value", "NoSchedule"),
            [soft("a"), soft("b", "cpu")],
            {"a": 100, "b": 0},
            id="a toleration of another effect does not count",
        ),
        pytest.param(
            pod("p"),
            [soft("a"), soft("b", "cpu"), node("c").taint("hard")],
            {"a": 100, "b": 0, "c": 100},
            id="only soft taints count in the score",
        ),
        pytest.param(
            pod("p"),
            [soft("a", "x"), soft("b", "x", "y"), soft("c", "x", "y", "z")],
            {"a": 67, "b": 34, "c": 0},
            id="the scaled share is truncated before it is subtracted",
        ),
    ],
)
def test_score(incoming, nodes, expected):
    """100 minus the truncated share of the most tainted node."""
    assert World(TAINTS, *nodes).scores(incoming) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, node("n").taint("foo"), Hint.Queue, id="a new node whose taints are tolerated"),
        pytest.param(None, node("n").taint("bar"), Hint.Skip, id="a new node with an untolerated taint"),
        pytest.param(
            node("n").taint("bar"), node("n").taint("foo"), Hint.Queue, id="a taint that becomes tolerated"
        ),
        pytest.param(node("n").taint("foo"), node("n"), Hint.Skip, id="taints that were tolerated before"),
    ],
)
def test_hints_on_nodes(old, new, expected):
    """A node is worth an attempt when its taints begin to be tolerated."""
    action = ActionType.Add if old is None else ActionType.UpdateNodeTaint
    assert World(TAINTS).hint(pod("p").tolerates("foo"), Resource.Node, action, old, new) is expected


def test_hints_on_tolerations():
    """Any new toleration of the pod itself is worth an attempt, another pod's is not."""
    world, action = World(TAINTS), ActionType.UpdatePodTolerations
    own = world.hint(pod("p"), Resource.UnschedulablePod, action, pod("p"), pod("p").tolerates("x"))
    other = world.hint(pod("p"), Resource.UnschedulablePod, action, pod("q"), pod("q").tolerates("x"))
    assert (own, other) == (Hint.Queue, Hint.Skip)


def test_answers_follow_the_classes():
    """A class number that is reused for other taints gets a new answer."""
    world = World(TAINTS, node("n").taint("a"))
    assert world.passing(pod("p")) == []
    from kubesched.state.events import WatchEvent

    world.cluster.apply(WatchEvent("MODIFIED", node("n").taint("b")))
    assert world.passing(pod("p").tolerates("b")) == ["n"]
    world.cluster.apply(WatchEvent("MODIFIED", node("n")))
    assert world.passing(pod("p")) == ["n"]
