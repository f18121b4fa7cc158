"""A filter that fails during the dry run: what it says concerns its node alone."""

from __future__ import annotations

from random import Random

from msgspec.structs import replace

from kubesched.clock import VirtualClock
from kubesched.config.defaults import default_configuration
from kubesched.config.gates import FeatureGates
from kubesched.config.types import Plugin, PluginSet
from kubesched.framework import Cycle, Handle, PostFilterResult
from kubesched.framework.profile import build
from kubesched.framework.registry import Registry
from kubesched.framework.search import Search, find
from kubesched.framework.status import Code
from kubesched.plugins.registry import registry
from kubesched.testing.builders import cluster, node, pod

TEXT = 'running "Fails" filter plugin: cannot read'


class Fails:
    """Cannot read some nodes once a pod has left them, or once one has returned."""

    name = "Fails"

    def __init__(self, nodes, with_pods):
        self.nodes = nodes
        self.with_pods = with_pods

    def filter_node(self, cycle, node):
        if node.name in self.nodes and len(node.pods) in self.with_pods:
            raise OSError(f"cannot read {node.name}")


def post_filter(*failing: str, with_pods=(0,)) -> PostFilterResult:
    """What PostFilter achieves for a pod that two nodes, each with two small pods, reject."""
    low = [pod(f"{name}{k}").cpu(2).on(name) for name in "nm" for k in range(2)]
    state = cluster(node("n").cpu(4), node("m").cpu(4), *low)
    known, profile = registry(), default_configuration().profiles[0]
    multi = profile.plugins.multi_point
    kept = tuple(item for item in multi.enabled if item.name != "DynamicResources")
    more = replace(profile.plugins, multi_point=PluginSet(enabled=(*kept, Plugin(name="Fails"))))
    plugins = {**known.factories, "Fails": lambda _args, _handle: Fails(failing, with_pods)}
    handle = Handle(state, VirtualClock(), FeatureGates(), Random(0))
    framework = build(replace(profile, plugins=more), Registry(plugins), handle)
    cycle = Cycle(pod("p").cpu(2).with_priority(100), state, framework=framework)
    return framework.run_post_filter(cycle, find(cycle, Search()))


def test_an_error_on_one_node_leaves_the_other_candidates() -> None:
    """Preemption goes on without that node."""
    assert {post_filter("n").nominated, post_filter("m").nominated} == {"m", "n"}


def test_errors_on_all_nodes_are_told_and_leave_the_nomination_alone() -> None:
    """Every text once; whether preemption could help is not known."""
    result = post_filter("n", "m")
    assert result.status is not None
    assert (result.status.code, result.nominated) == (Code.Error, None)
    assert sorted(result.status.message[len("preemption: [") : -1].split(", ")) == [f"{TEXT} m", f"{TEXT} n"]


def test_a_pod_whose_return_causes_an_error_has_to_go() -> None:
    """In the reprieve an Error is as good as a rejection."""
    result = post_filter("n", "m", with_pods=(1,))
    assert len(result.victims) == 2
