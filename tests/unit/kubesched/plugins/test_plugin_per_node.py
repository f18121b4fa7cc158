"""Remembered answers of NodeResourcesFit and BalancedAllocation are those of a fresh calculation."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from plugin_world import World

from kubesched.plugins.noderesources.per_node import PerNode
from kubesched.plugins.registry import IN_TREE
from kubesched.state import View
from kubesched.state.events import WatchEvent
from kubesched.testing.builders import cluster, node, pod

ASKING = (pod("p").cpu(1).memory("1Gi"), pod("q").cpu(2).gpu(1), pod("r"))


def answers(world: World, view: View):
    """What the plugin says about every pod of ASKING."""
    said = []
    for incoming in ASKING:
        cycle = world.cycle(incoming)
        points = world.plugin.points
        if "pre_filter" in points:
            points["pre_filter"].pre_filter(cycle)
            said.append(points["filter"].filter(cycle, view).tolist())
        said.append(points["score"].score(cycle, view).tolist())
    return said


def disturb(state, rng: Random, step: int) -> None:
    """Something happens: nodes come, change and go; pods come, are assumed, and go."""
    name = f"n{rng.randrange(12)}"
    kind = rng.randrange(5)
    if kind == 0:
        state.apply(WatchEvent("MODIFIED", node(name).cpu(rng.randrange(2, 9)).gpu(rng.randrange(3))))
    elif kind == 1 and name in state.nodes:
        state.apply(WatchEvent("DELETED", node(name)))
    elif kind == 2:
        state.apply(WatchEvent("ADDED", pod(f"p{step}").cpu(rng.randrange(3)).gpu(rng.randrange(2)).on(name)))
    elif kind == 3:
        state.assume(pod(f"a{step}").memory("2Gi"), name)
    elif uids := sorted(state.pods.by_uid):
        uid = rng.choice(uids)
        if state.is_assumed(uid):
            state.forget(uid)
        else:
            state.apply(WatchEvent("DELETED", state.pods.by_uid[uid]))


@pytest.mark.parametrize("plugin", ["NodeResourcesFit", "NodeResourcesBalancedAllocation"])
@pytest.mark.parametrize("seed", range(4))
def test_remembered_answers_stay_right(plugin, seed):
    """Whatever happens in between, a plugin that remembers says what a new one says."""
    rng = Random(seed)
    world = World(IN_TREE[plugin], *(node(f"n{k}").cpu(4) for k in range(4)))
    for step in range(120):
        disturb(world.cluster, rng, step)
        fresh = World(IN_TREE[plugin])
        fresh.cluster = world.cluster
        rows = world.cluster.nodes.order
        view = View(world.cluster, rows[rng.randrange(len(rows)) :] if len(rows) else rows)
        assert answers(world, view) == answers(fresh, view)


class Asked:
    """Counts the worlds that were worked out."""

    def __init__(self):
        self.worlds = []

    def __call__(self, view):
        self.worlds.append(len(view))
        return np.arange(len(view), dtype=np.int64)


def test_only_changed_nodes_are_worked_out_again():
    """From the second time on, a question costs what has changed."""
    state, work, known = cluster(node("a"), node("b"), node("c")), Asked(), PerNode()
    for _ in range(3):
        known.of(View(state, state.nodes.order), "question", work)
    state.assume(pod("p"), "b")
    known.of(View(state, state.nodes.order), "question", work)
    assert work.worlds == [3, 3, 1]


def test_what_ifs_are_not_remembered():
    """A world that differs from the cluster is worked out, and leaves no trace."""
    state, work, known = cluster(node("a"), node("b")), Asked(), PerNode()
    view = View(state, state.nodes.order)
    for _ in range(3):
        known.of(view.add([0], [[pod("p")]]), "question", work)
    assert work.worlds == [2, 2, 2]


def test_only_the_latest_questions_are_remembered():
    """Memory is bounded, and questions that are asked once do not crowd out the one that everybody asks."""
    state, work, known = cluster(node("a")), Asked(), PerNode()
    for number in range(1000):
        known.of(View(state, state.nodes.order), number, work)
        known.of(View(state, state.nodes.order), "popular", work)
    assert len(known._known) == 128
    assert len(work.worlds) == 1002
