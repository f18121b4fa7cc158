"""Every in-tree plugin keeps to the contract, and the kit catches plugins that do not."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from kubesched.config.defaults import IN_TREE as KNOWN
from kubesched.framework import Hint, Status, unschedulable
from kubesched.framework.interface import ClusterEventWithHint
from kubesched.framework.registration import RegistrationError
from kubesched.plugins.registry import ALPHA, IN_TREE
from kubesched.state.events import ActionType, ClusterEvent, Resource
from kubesched.testing import ConformanceError, check_plugin


@pytest.mark.parametrize("name", sorted(IN_TREE))
def test_in_tree_plugin_keeps_to_the_contract(name):
    """Each in-tree plugin passes the kit."""
    check_plugin(IN_TREE[name])


def test_registry_knows_every_plugin_of_the_reference():
    """Every plugin that a configuration may name is built, or known not to be."""
    assert IN_TREE.keys() | ALPHA == KNOWN


class QuietNodes:
    """The tutorial's plugin: nodes that carry the label noisy=true are not for pods that ask for quiet."""

    name: ClassVar[str] = "QuietNodes"

    def filter_node(self, cycle, node):
        if cycle.pod.annotations.get("quiet") == "true" and node.labels.get("noisy") == "true":
            return unschedulable("node(s) were too noisy")
        return None

    def score_node(self, cycle, node):
        return 100 - min(100, 10 * len(node.pods))


def test_a_per_node_plugin_keeps_to_the_contract():
    """The 20-line per-node plugin passes the kit as it is."""
    check_plugin(QuietNodes)


class _Base:
    name: ClassVar[str] = "Broken"

    def status(self, cycle, code):
        return unschedulable("no")


class CountsWorlds(_Base):
    def filter(self, cycle, view):
        return np.full(len(view), len(view), np.int64)


class ForgetsReason(_Base):
    def filter(self, cycle, view):
        return np.ones(len(view), np.int64)

    def status(self, cycle, code):
        return Status(2)


class WrongType(_Base):
    def filter(self, cycle, view):
        return np.ones(len(view), np.float64)


class ReadsTheBase(_Base):
    def filter(self, cycle, view):
        counts = cycle.cluster.nodes.pod_count[view.rows]
        return (counts > 1).astype(np.int64)


class CountsOnce:
    """Counts the pods the first time, and never again."""

    name: ClassVar[str] = "Broken"

    def __init__(self):
        self.known = None

    def score(self, cycle, view):
        nodes = cycle.cluster.nodes
        if self.known is None:
            self.known = {name: int(nodes.pod_count[slot]) for name, slot in nodes.slot.items()}
        return np.array([self.known.get(nodes.names[row], 0) for row in view.rows], np.int64)


class ScoresTooHigh:
    name: ClassVar[str] = "Broken"

    def score(self, cycle, view):
        return np.full(len(view), 101, np.int64)


class SignsForOthers:
    """Says that a node's points follow from that node, and counts the pods of all."""

    name: ClassVar[str] = "Broken"

    def sign(self, pod):
        return ()

    def score(self, cycle, view):
        return np.full(len(view), len(cycle.cluster.pods), np.int64)


class SignsUnhashable(SignsForOthers):
    def sign(self, pod):
        return []


class HintsNonsense(CountsWorlds):
    def filter(self, cycle, view):
        return None

    def events_to_register(self):
        return [ClusterEventWithHint(ClusterEvent(Resource.Node, ActionType.Add), lambda pod, event: True)]


class HintsInternalEvent(HintsNonsense):
    def events_to_register(self):
        event = ClusterEvent(Resource.AssignedPod, ActionType.Add)
        return [ClusterEventWithHint(event, lambda pod, event: Hint.Queue)]


@pytest.mark.parametrize(
    ("plugin", "rule"),
    [
        pytest.param(CountsWorlds, "take", id="a filter that depends on the other worlds"),
        pytest.param(ForgetsReason, "no reason", id="a rejection without a reason"),
        pytest.param(WrongType, "int64", id="codes that are not int64"),
        pytest.param(ReadsTheBase, "a view gives", id="a filter that reads the columns past the view"),
        pytest.param(CountsOnce, "after events", id="counts that do not follow events"),
        pytest.param(ScoresTooHigh, "0..100", id="a score above 100"),
        pytest.param(SignsForOthers, "when pods leave other nodes", id="a signature without all that counts"),
        pytest.param(SignsUnhashable, "not hashable", id="a signature that is not hashable"),
        pytest.param(HintsNonsense, "hint", id="a hint that answers neither Queue nor Skip"),
        pytest.param(HintsInternalEvent, "covers both", id="an event that never happens to plugins"),
    ],
)
def test_kit_catches(plugin, rule):
    """The kit names the rule that a broken plugin breaks."""
    with pytest.raises(ConformanceError, match=rule):
        check_plugin(plugin)


def test_kit_refuses_what_cannot_be_registered():
    """A class without any extension point is refused by name."""

    class Nothing:
        name = "Nothing"

    with pytest.raises(RegistrationError, match='plugin "Nothing": implements no extension point'):
        check_plugin(Nothing)
