"""Which events make InterPodAffinity and PodTopologySpread look at a waiting pod again."""

from __future__ import annotations

import pytest
from plugin_world import World

from kubesched.framework import Hint
from kubesched.plugins.registry import IN_TREE
from kubesched.state.events import ActionType, Resource
from kubesched.testing.builders import ZONE, node, pod

AFFINITY = IN_TREE["InterPodAffinity"]
SPREAD = IN_TREE["PodTopologySpread"]
WEB = {"app": "web"}


def running(name, where, app="web"):
    return pod(name).label("app", app).on(where)


NEAR_WEB, FAR_FROM_WEB = pod("p").near(WEB), pod("p").away_from(WEB)


@pytest.mark.parametrize(
    ("waiting", "action", "old", "new", "expected"),
    [
        pytest.param(
            NEAR_WEB, ActionType.Add, None, running("w", "n"), Hint.Queue, id="one to be near to came"
        ),
        pytest.param(
            NEAR_WEB, ActionType.Add, None, running("d", "n", "db"), Hint.Skip, id="somebody else came"
        ),
        pytest.param(
            NEAR_WEB,
            ActionType.UpdatePodLabel,
            running("d", "n", "db"),
            running("d", "n"),
            Hint.Queue,
            id="one became the right one",
        ),
        pytest.param(
            FAR_FROM_WEB,
            ActionType.UpdatePodLabel,
            running("w", "n"),
            running("w", "n", "db"),
            Hint.Queue,
            id="one ceased to be the wrong one",
        ),
        pytest.param(
            FAR_FROM_WEB, ActionType.Delete, running("w", "n"), None, Hint.Queue, id="the wrong one left"
        ),
        pytest.param(
            FAR_FROM_WEB, ActionType.Delete, running("d", "n", "db"), None, Hint.Skip, id="another one left"
        ),
        pytest.param(
            pod("p").label("app", "web"),
            ActionType.Delete,
            running("s", "n", "db").away_from(WEB),
            None,
            Hint.Queue,
            id="one that minded left",
        ),
        pytest.param(
            NEAR_WEB, ActionType.Add, None, pod("w").label("app", "web"), Hint.Skip, id="a pod without a node"
        ),
        pytest.param(
            NEAR_WEB,
            ActionType.UpdatePodLabel,
            pod("p"),
            pod("p").label("x"),
            Hint.Queue,
            id="the pod's own labels changed",
        ),
    ],
)
def test_pod_hints(waiting, action, old, new, expected):
    """A pod event is worth an attempt when a term begins, or an aversion ceases, to hold."""
    assert World(AFFINITY).hint(waiting, Resource.AssignedPod, action, old, new) is expected


@pytest.mark.parametrize(
    ("waiting", "old", "new", "expected"),
    [
        pytest.param(NEAR_WEB, None, node("n").in_zone("a"), Hint.Queue, id="a new node with the key"),
        pytest.param(NEAR_WEB, None, node("n"), Hint.Skip, id="a new node without it"),
        pytest.param(
            NEAR_WEB, node("n").in_zone("a"), node("n").in_zone("b"), Hint.Queue, id="a node that moves"
        ),
        pytest.param(
            NEAR_WEB, node("n").in_zone("a"), node("n").in_zone("a").label("x"), Hint.Skip, id="another label"
        ),
        pytest.param(FAR_FROM_WEB, None, node("n"), Hint.Queue, id="any new node has room away from others"),
        pytest.param(
            pod("p").away_from(WEB, "zone"),
            node("n").label("zone", "a"),
            node("n"),
            Hint.Queue,
            id="a node that leaves the domain",
        ),
        pytest.param(
            pod("p").away_from(WEB, "zone"),
            node("n"),
            node("n").label("zone", "a"),
            Hint.Skip,
            id="a node that enters a domain",
        ),
    ],
)
def test_node_hints(waiting, old, new, expected):
    """A node event is worth an attempt when a domain changes that a term names."""
    action = ActionType.Add if old is None else ActionType.UpdateNodeLabel
    assert World(AFFINITY).hint(waiting, Resource.Node, action, old, new) is expected


SPREADING = pod("p").spread(WEB, ZONE)
ZONED = node("n").in_zone("a")


@pytest.mark.parametrize(
    ("action", "old", "new", "expected"),
    [
        pytest.param(ActionType.Add, None, running("w", "n"), Hint.Queue, id="one that counts came"),
        pytest.param(ActionType.Delete, running("w", "n"), None, Hint.Queue, id="one that counts left"),
        pytest.param(ActionType.Delete, running("d", "n", "db"), None, Hint.Skip, id="another left"),
        pytest.param(ActionType.Add, None, pod("w").label("app", "web"), Hint.Skip, id="it has no node"),
        pytest.param(
            ActionType.Add, None, running("w", "n").in_namespace("other"), Hint.Skip, id="it is elsewhere"
        ),
        pytest.param(
            ActionType.UpdatePodLabel,
            running("d", "n", "db"),
            running("d", "n"),
            Hint.Queue,
            id="one begins to count",
        ),
        pytest.param(
            ActionType.UpdatePodLabel,
            running("w", "n"),
            running("w", "n").label("x"),
            Hint.Skip,
            id="one counts as before",
        ),
    ],
)
def test_spread_pod_hints(action, old, new, expected):
    """A pod event is worth an attempt when the number in some domain changes."""
    assert World(SPREAD).hint(SPREADING, Resource.AssignedPod, action, old, new) is expected


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        pytest.param("Honor", Hint.Queue, id="taints decide which nodes count"),
        pytest.param(None, Hint.Skip, id="taints do not matter"),
    ],
)
def test_spread_hint_on_own_tolerations(policy, expected):
    """A new toleration helps where constraints honour taints."""
    waiting = pod("p").spread(WEB, ZONE, node_taints_policy=policy)
    action = ActionType.UpdatePodTolerations
    hint = World(SPREAD).hint(waiting, Resource.UnschedulablePod, action, waiting, waiting.tolerates("t"))
    assert hint is expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, ZONED, Hint.Queue, id="a node of some domain came"),
        pytest.param(None, node("n"), Hint.Skip, id="a node of no domain came"),
        pytest.param(ZONED, None, Hint.Queue, id="a node of some domain left"),
        pytest.param(ZONED, node("n").in_zone("b"), Hint.Queue, id="a node moved"),
        pytest.param(ZONED, node("n"), Hint.Queue, id="a node left its domain"),
        pytest.param(ZONED, ZONED.taint("t"), Hint.Queue, id="a node of some domain was tainted"),
        pytest.param(ZONED, ZONED.label("x"), Hint.Skip, id="another label"),
        pytest.param(node("n"), node("n").taint("t"), Hint.Skip, id="a node of no domain was tainted"),
    ],
)
def test_spread_node_hints(old, new, expected):
    """A node event is worth an attempt when a domain, or what counts in it, changes."""
    action = ActionType.UpdateNodeLabel | ActionType.UpdateNodeTaint
    action = ActionType.Add if old is None else ActionType.Delete if new is None else action
    assert World(SPREAD).hint(SPREADING, Resource.Node, action, old, new) is expected
