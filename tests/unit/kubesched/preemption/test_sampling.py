"""Preemption looks at no more candidates than it is configured to."""

from random import Random

import pytest
from preemption_world import budget

from kubesched.clock import VirtualClock
from kubesched.config.args import DefaultPreemptionArgs
from kubesched.config.defaults import default_configuration
from kubesched.config.gates import FeatureGates
from kubesched.framework import Handle
from kubesched.framework.profile import build
from kubesched.framework.search import Search
from kubesched.plugins.default_preemption import CANDIDATES
from kubesched.plugins.default_preemption import build as default_preemption
from kubesched.plugins.registry import registry
from kubesched.preemption.dry_run import preempt
from kubesched.schedule_one import Cycle, place
from kubesched.testing.builders import cluster, node, pod

HIGH = pod("high").cpu(2).with_priority(100)


def attempt(size, *more):
    """A pod that fits on none of as many full nodes: its cycle, and why."""
    nodes = [node(f"n{k:03}").cpu(2) for k in range(size)]
    running = [
        pod(f"p{k:03}").cpu(2).on(f"n{k:03}").label("app", "one" if k else "zero") for k in range(size)
    ]
    state = cluster(*nodes, *running, *more)
    gates = FeatureGates()
    handle = Handle(state, VirtualClock(), gates, Random(3))
    framework = build(default_configuration(gates).profiles[0], registry(), handle)
    state.nodes.snapshot()
    cycle = Cycle(HIGH, state, framework=framework)
    return handle, cycle, place(cycle, Search(percentage=100)).diagnosis


@pytest.mark.parametrize(
    ("args", "size", "found"),
    [
        pytest.param(DefaultPreemptionArgs(), 90, 90, id="few nodes are all tried"),
        pytest.param(DefaultPreemptionArgs(), 130, 100, id="of many nodes, a hundred suffice"),
        pytest.param(
            DefaultPreemptionArgs(min_candidate_nodes_percentage=50, min_candidate_nodes_absolute=10),
            60,
            30,
            id="the share counts where it is more than the number",
        ),
        pytest.param(
            DefaultPreemptionArgs(min_candidate_nodes_percentage=0, min_candidate_nodes_absolute=7),
            60,
            7,
            id="the number counts where it is more than the share",
        ),
    ],
)
def test_how_many_candidates(args, size, found):
    """The larger of a share of the nodes and a number is enough."""
    handle, cycle, diagnosis = attempt(size)
    default_preemption(args, handle).post_filter(cycle, diagnosis)
    assert len(cycle.get(CANDIDATES).found) == found


def test_the_search_begins_anywhere_and_goes_round():
    """From the offset to the end, and on from the beginning."""
    _, cycle, diagnosis = attempt(5)
    found = preempt(cycle, diagnosis, (), now=0.0, offset=3, want=4).found
    assert [candidate.node_name for candidate in found] == ["n003", "n004", "n000", "n001"]


def test_a_violated_budget_alone_is_not_enough():
    """The search goes on until some candidate violates no budget."""
    handle, cycle, diagnosis = attempt(5, budget(0, app="one"))
    found = default_preemption(
        DefaultPreemptionArgs(min_candidate_nodes_percentage=0, min_candidate_nodes_absolute=1), handle
    ).post_filter(cycle, diagnosis)
    assert found.nominated == "n000"
