"""NodeDeclaredFeatures: features that a pod's spec calls for."""

from __future__ import annotations

import pytest
from msgspec import structs
from plugin_world import World, reasons

from kubesched.api.container import Container, ContainerRestartRule
from kubesched.config.gates import FeatureGates
from kubesched.framework import Hint
from kubesched.framework.status import Code
from kubesched.plugins.registry import IN_TREE
from kubesched.state.events import ActionType, Resource
from kubesched.testing.builders import node, pod

FEATURES = IN_TREE["NodeDeclaredFeatures"]
USER_NAMESPACES, RESTART_ALL = "UserNamespacesHostNetworkSupport", "RestartAllContainersOnContainerExits"
MISSING = ("node(s) didn't match Pod's required features",)


def declaring(name, *features):
    made = node(name)
    return structs.replace(made, status=structs.replace(made.status, declared_features=features))


def with_spec(**changes):
    return structs.replace(pod("p"), spec=structs.replace(pod("p").spec, **changes))


RULE = Container(name="c", restart_policy_rules=(ContainerRestartRule(action="RestartAllContainers"),))
ISOLATED = with_spec(host_network=True, host_users=False)
BOTH = with_spec(host_network=True, host_users=False, containers=(RULE,))


@pytest.mark.parametrize(
    ("incoming", "fits"),
    [
        pytest.param(pod("p"), ["none", "users", "all"], id="a pod that calls for nothing"),
        pytest.param(ISOLATED, ["users", "all"], id="user namespaces on the host's network"),
        pytest.param(
            with_spec(host_network=True, host_users=True), ["none", "users", "all"], id="the host's users"
        ),
        pytest.param(with_spec(host_users=False), ["none", "users", "all"], id="a network of its own"),
        pytest.param(with_spec(containers=(RULE,)), ["all"], id="a rule to restart all containers"),
        pytest.param(with_spec(init_containers=(RULE,)), ["all"], id="such a rule of an init container"),
        pytest.param(BOTH, ["all"], id="both"),
    ],
)
def test_required_features(incoming, fits):
    """The node must declare everything that the spec calls for."""
    nodes = [
        declaring("none"),
        declaring("users", USER_NAMESPACES),
        declaring("all", USER_NAMESPACES, RESTART_ALL),
    ]
    rejected = reasons(World(FEATURES, *nodes).rejections(incoming))
    assert rejected == {made.name: MISSING for made in nodes if made.name not in fits}


def test_without_the_gate_nothing_is_asked():
    """A profile may name the plugin although its gate is off."""
    off = {"NodeDeclaredFeatures": False, "ExtendWebSocketsToKubelet": False,
           "InPlacePodLevelResourcesVerticalScaling": False, "InPlacePodVerticalScalingInitContainers": False,
           "RestartAllContainersOnContainerExits": False}  # fmt: skip
    world = World(FEATURES, declaring("none"), gates=FeatureGates(off))
    assert world.pre_filter(ISOLATED).code is Code.Skip
    assert world.plugin.points["events_to_register"].events_to_register() == []


@pytest.mark.parametrize(
    ("resource", "action", "old", "new", "expected"),
    [
        pytest.param(Resource.Node, ActionType.Add, None, node("n"), Hint.Queue, id="a node came"),
        pytest.param(
            Resource.Node,
            ActionType.UpdateNodeDeclaredFeature,
            node("n"),
            declaring("n", RESTART_ALL),
            Hint.Queue,
            id="a node declares more",
        ),
        pytest.param(
            Resource.Node,
            ActionType.UpdateNodeDeclaredFeature,
            declaring("n", RESTART_ALL),
            declaring("n", RESTART_ALL).label("x"),
            Hint.Skip,
            id="a node declares what it did",
        ),
        pytest.param(
            Resource.UnschedulablePod, ActionType.Update, BOTH, ISOLATED, Hint.Queue, id="the pod wants less"
        ),
        pytest.param(
            Resource.UnschedulablePod,
            ActionType.Update,
            ISOLATED,
            ISOLATED,
            Hint.Skip,
            id="the pod wants the same",
        ),
        pytest.param(
            Resource.UnschedulablePod, ActionType.Update, BOTH, pod("q"), Hint.Skip, id="another pod changes"
        ),
    ],
)
def test_hints(resource, action, old, new, expected):
    """A node with other features, or a pod with other wishes, is worth an attempt."""
    assert World(FEATURES).hint(ISOLATED, resource, action, old, new) is expected
