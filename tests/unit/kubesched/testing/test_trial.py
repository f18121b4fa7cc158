"""A trial says of one plugin what the scheduler would hear from it."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from kubesched.framework import (
    SKIP,
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    Hint,
    NodeNames,
    PluginArgs,
    PluginError,
    Resource,
    unresolvable,
    unschedulable,
)
from kubesched.testing import ConformanceError, Trial, WatchEvent, check_plugin, conformance, node, pod
from kubesched.testing.scenarios import scenarios

NODES = (node("a"), node("b").label("bad"))


class Args(PluginArgs, frozen=True, kw_only=True):
    label: str = "bad"


class Avoids:
    name = "Avoids"

    def __init__(self, args: Args):
        self.label = args.label

    def filter_node(self, cycle, node):
        return unschedulable("bad node") if self.label in node.labels else None

    def score_node(self, cycle, node):
        return len(node.pods)

    def normalize(self, cycle, view, raw):
        return raw * 10

    def events_to_register(self):
        def unlabelled(pod, event):
            return Hint.Skip if self.label in event.new.labels else Hint.Queue

        change = ActionType.Add | ActionType.UpdateNodeLabel
        return [ClusterEventWithHint(ClusterEvent(Resource.Node, change), unlabelled)]


def test_rejections_are_by_node_with_their_status():
    rejected = Trial(Avoids, *NODES).rejected(pod("p"))
    assert {name: (status.message, status.plugin) for name, status in rejected.items()} == {
        "b": ("bad node", "Avoids")
    }


def test_arguments_reach_the_plugin():
    assert Trial(Avoids, *NODES, args=Args(label="none")).rejected(pod("p")) == {}


def test_scores_are_normalised_and_only_of_nodes_that_pass():
    trial = Trial(Avoids, *NODES, pod("x").on("a"), pod("y").on("a"), pod("z").on("b"))
    assert trial.scores(pod("p")) == {"a": 20}


def test_only_the_event_that_helps_wakes():
    trial = Trial(Avoids, *NODES)
    assert not trial.wakes(pod("p"), WatchEvent("MODIFIED", node("b").label("bad").label("more")))
    assert trial.wakes(pod("p"), WatchEvent("MODIFIED", node("b")))
    assert not trial.wakes(pod("p"), WatchEvent("ADDED", pod("q").on("a")))
    assert trial.rejected(pod("p")) == {}


def test_a_rejection_by_pre_filter_concerns_every_node():
    class Never:
        name = "Never"

        def pre_filter(self, cycle):
            return unresolvable("never")

    assert {s.message for s in Trial(Never, *NODES).rejected(pod("p")).values()} == {"never"}


def test_pre_filter_narrows_the_nodes():
    class OnlyB:
        name = "OnlyB"

        def pre_filter(self, cycle):
            return NodeNames(frozenset({"b"}))

        def filter_node(self, cycle, node):
            return None

    assert Trial(OnlyB, *NODES).rejected(pod("p")).keys() == {"a"}


def test_a_skipped_score_is_no_score():
    class Quiet:
        name = "Quiet"

        def pre_score(self, cycle, view):
            return SKIP

        def score(self, cycle, view):
            return np.zeros(len(view), np.int64)

    assert Trial(Quiet, *NODES).scores(pod("p")) == {}


def test_an_exception_on_a_node_is_an_error():
    class Broken:
        name = "Broken"

        def filter_node(self, cycle, node):
            raise ValueError(f"no idea about {node.name}")

    with pytest.raises(PluginError, match="no idea about a"):
        Trial(Broken, *NODES).rejected(pod("p"))


def test_only_nodes_that_the_plugin_lets_through_need_a_score_in_range(monkeypatch):
    """The scheduler never scores a node that a filter rejected."""
    monkeypatch.setattr(conformance, "scenarios", lambda: islice(scenarios(), 1))

    class Percentage:
        name = "Percentage"
        rejects = True

        def filter_node(self, cycle, node):
            return unschedulable("full") if self.rejects and node.free("cpu") < 30000 else None

        def score_node(self, cycle, node):
            return (node.free("cpu") - 30000) // 1000

    check_plugin(Percentage)
    Percentage.rejects = False
    with pytest.raises(ConformanceError, match=r"not all in 0\.\.100"):
        check_plugin(Percentage)
