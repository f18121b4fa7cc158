"""Plugins that answer what they are told, and a profile of them."""

from __future__ import annotations

from random import Random

import numpy as np

from kubesched.clock import VirtualClock
from kubesched.config.gates import FeatureGates
from kubesched.config.types import Plugin, Plugins, PluginSet, Profile
from kubesched.framework import SKIP, Cycle, Handle, NodeNames, PostFilterResult, unschedulable
from kubesched.framework.profile import build
from kubesched.framework.registry import Registry
from kubesched.testing.builders import cluster, node


def names(*nodes):
    return NodeNames(frozenset(nodes))


class Sort:
    name = "Sort"

    def less(self, left, right):
        return left.timestamp < right.timestamp


class Binder:
    name = "Binder"

    async def bind(self, cycle, node_name):
        return None


class PreFilterOnly:
    name = "PreFilterOnly"
    answer = None

    def pre_filter(self, cycle):
        return self.answer


class FilterOnly:
    """Rejects the named nodes, with a code of its own for each."""

    name = "FilterOnly"
    bad = ()

    def filter(self, cycle, view):
        names = [cycle.cluster.nodes.names[row] for row in view.rows]
        return np.array([self.bad.index(n) + 1 if n in self.bad else 0 for n in names], np.int64)

    def status(self, cycle, code):
        return unschedulable(f"{self.bad[code - 1]} is bad")


class Skipped(FilterOnly):
    name = "Skipped"

    def pre_filter(self, cycle):
        return SKIP


class PostFilterOnly:
    name = "PostFilterOnly"
    result = PostFilterResult(unschedulable("no"))

    def post_filter(self, cycle, diagnosis):
        return self.result


class ScoreOnly:
    name = "ScoreOnly"
    points = {}  # noqa: RUF012 - replaced per test, never changed

    def score(self, cycle, view):
        return np.array([self.points.get(cycle.cluster.nodes.names[r], 0) for r in view.rows], np.int64)


def plugin(kind, name, **attributes):
    """An object of a fake under a name of its own."""
    return type(name, (kind,), {"name": name, **attributes})()


def profile(
    *plugins, cluster_=None, weights=None, percentage=None, scheduler_name="default-scheduler", gates=None
):
    """A Framework in which all plugins are enabled by MultiPoint, beside a queue sort and a binder."""
    everything = [*plugins, Sort(), Binder()]
    enabled = tuple(Plugin(name=p.name, weight=(weights or {}).get(p.name, 0)) for p in everything)
    spec = Profile(
        scheduler_name=scheduler_name,
        percentage_of_nodes_to_score=percentage,
        plugins=Plugins(multi_point=PluginSet(enabled=enabled)),
    )
    registry = Registry({p.name: lambda _args, _handle, p=p: p for p in everything})
    return build(spec, registry, handle(cluster_, gates))


def handle(cluster_=None, gates=None):
    return Handle(cluster_ or cluster(), VirtualClock(), FeatureGates(gates), Random(0))


def attempt(framework, pod, cluster_, **more):
    return Cycle(pod, cluster_, framework=framework, rng=Random(0), **more)


def nodes(count):
    return [node(f"n{i}") for i in range(count)]
