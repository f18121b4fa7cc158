"""Laws of views, over random clusters and random moves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kubesched.api.pod import Pod
from kubesched.state.cluster import Cluster
from kubesched.state.events import WatchEvent
from kubesched.state.view import View
from kubesched.testing.builders import cluster, node, pod

NODES = ("a", "b", "c")
Move = tuple[str, dict[int, list[int]]]


@st.composite
def pods(draw: st.DrawFn, prefix: str) -> list[Pod]:
    """A few pods that ask for this and that; no two want the same host port."""
    made = []
    for i in range(draw(st.integers(1, 5))):
        one = pod(f"{prefix}{i}").with_priority(draw(st.integers(0, 3)))
        one = one.cpu(f"{draw(st.integers(0, 4))}") if draw(st.booleans()) else one
        one = one.gpu(draw(st.integers(0, 4))) if draw(st.booleans()) else one
        one = one.request("vendor.io/late", 1) if draw(st.integers(0, 9)) == 0 else one
        port = 10 * ord(prefix[0]) + i
        made.append(one.host_port(port) if draw(st.booleans()) else one)
    return made


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """A cluster of three nodes with pods."""
    state = cluster(*(node(name) for name in NODES))
    for one in draw(pods("old")):
        state.apply(WatchEvent("ADDED", one.on(draw(st.sampled_from(NODES)))))  # type: ignore[attr-defined]
    return state


rows = st.lists(st.integers(0, 2), max_size=6)
choices = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), max_size=8)


def absent(view: View, k: int, extra: list[Pod]) -> list[Pod]:
    """Pods that can be added to a world: strangers, and those that were removed from it."""
    here = {p.uid for p in view.pods(k)}
    removed = [p for p in view.cluster.pods.on_node(int(view.rows[k])) if p.uid not in here]
    return [*(p for p in extra if p.uid not in here), *removed]


def chosen(view: View, picks: list[tuple[int, int]], of: Callable[[int], list[Pod]]) -> dict[int, list[Pod]]:
    """For each picked world, some of the pods it offers, each once."""
    some: dict[int, dict[str, Pod]] = {}
    for world, pick in picks:
        if len(view) and (offered := of(world % len(view))):
            one = offered[pick % len(offered)]
            some.setdefault(world % len(view), {})[one.uid] = one
    return {k: list(named.values()) for k, named in some.items()}


@st.composite
def advanced(draw: st.DrawFn) -> tuple[View, View, list[Pod]]:
    """A fresh view, the same after some pods came and some went, and pods that nobody has seen."""
    state, extra = draw(clusters()), draw(pods("new"))
    fresh = View(state, draw(rows))
    more = chosen(fresh, draw(choices), lambda k: absent(fresh, k, extra))
    view = fresh.add(list(more), list(more.values()))
    less = chosen(view, draw(choices), view.pods)
    return fresh, view.remove(list(less), list(less.values())), extra


def content(view: View) -> list[tuple[object, ...]]:
    """All that can be read of a view, without class numbers."""
    nodes = view.cluster.nodes
    width = len(nodes.resources)
    assert view.requested.shape == (len(view), width)
    priority = view.moved(lambda p: p.priority + 1).tolist()
    return [
        (
            int(view.rows[k]),
            tuple(view.requested[k].tolist()),
            tuple(view.nonzero[k].tolist()),
            int(view.pod_count[k]),
            nodes.port_class(int(view.ports()[k])),
            priority[k],
            tuple(sorted(p.uid for p in view.pods(k))),
        )
        for k in range(len(view))
    ]


def recomputed(view: View) -> list[tuple[object, ...]]:
    """The same, from the pods of each world one by one."""
    names = view.cluster.nodes.resources
    worlds = []
    for k in range(len(view)):
        here, base = view.pods(k), view.cluster.pods.on_node(int(view.rows[k]))
        moved = sum(p.priority + 1 for p in here) - sum(p.priority + 1 for p in base)
        worlds.append(
            (
                int(view.rows[k]),
                tuple(sum(p.requests.get(name, 0) for p in here) for name in names),
                tuple(sum(p.nonzero_requests[i] for p in here) for i in range(2)),
                len(here),
                frozenset(port for p in here for port in p.host_ports),
                moved,
                tuple(sorted(p.uid for p in here)),
            )
        )
    return worlds


Case = tuple[View, View, list[Pod]]
Picks = list[tuple[int, int]]


@settings(max_examples=60, deadline=None)
@given(advanced())
def test_columns_equal_recomputation(case: Case) -> None:
    """Whatever was moved."""
    _, view, _ = case
    assert content(view) == recomputed(view)


@settings(max_examples=40, deadline=None)
@given(clusters(), rows, pods("new"), choices)
def test_the_cluster_is_never_written(state: Cluster, at: list[int], extra: list[Pod], picks: Picks) -> None:
    """Moving pods and reading all of it leaves every column what it was.

    A new resource is a column of zeros.
    """
    names = ("books", "allocatable", "taints", "ports", "images", "order", "generation")
    before = {name: getattr(state.nodes, name).copy() for name in names}
    view = View(state, at)
    more = chosen(view, picks, lambda k: absent(view, k, extra))
    content(view.add(list(more), list(more.values())))
    for name, column in before.items():
        found = getattr(state.nodes, name)
        known = found[:, : column.shape[1]] if column.ndim > 1 else found
        assert (known == column).all()
        assert found.sum() == column.sum()
    assert state.audit() == []


@settings(max_examples=40, deadline=None)
@given(advanced(), st.lists(st.integers(0, 5), max_size=6))
def test_taking_commutes_with_reading(case: Case, index: list[int]) -> None:
    """Some worlds of the whole are the same as the whole of some worlds."""
    _, view, _ = case
    positions = [i % len(view) for i in index] if len(view) else []
    everything = content(view)
    assert content(view.take(positions)) == [everything[i] for i in positions]
    mask = np.array([k in positions for k in range(len(view))], np.bool_)
    assert content(view.take(mask)) == [everything[k] for k in range(len(view)) if k in positions]


@settings(max_examples=40, deadline=None)
@given(advanced(), choices)
def test_taking_commutes_with_moving(case: Case, picks: Picks) -> None:
    """Moving in every second world, before or after taking these worlds."""
    _, view, extra = case
    more = {k: p for k, p in chosen(view, picks, lambda k: absent(view, k, extra)).items() if k % 2 == 0}
    positions = list(range(0, len(view), 2))
    one = view.add(list(more), list(more.values())).take(positions)
    other = view.take(positions).add([k // 2 for k in more], list(more.values()))
    assert content(one) == content(other)


@settings(max_examples=40, deadline=None)
@given(advanced(), choices)
def test_there_and_back_is_the_identity(case: Case, picks: Picks) -> None:
    """Adding then removing, and removing then adding."""
    _, view, extra = case
    more = chosen(view, picks, lambda k: absent(view, k, extra))
    back = view.add(list(more), list(more.values())).remove(list(more), list(more.values()))
    assert content(back) == content(view)
    less = chosen(view, picks, view.pods)
    restored = view.remove(list(less), list(less.values())).add(list(less), list(less.values()))
    assert content(restored) == content(view)


@settings(max_examples=40, deadline=None)
@given(advanced(), st.lists(st.booleans(), min_size=6, max_size=6))
def test_choosing_is_world_by_world(case: Case, flags: list[bool]) -> None:
    """Each world is read as in the view it was chosen from."""
    fresh, other, _ = case
    ok = flags[: len(fresh)]
    expected = [
        one if flag else two for one, two, flag in zip(content(fresh), content(other), ok, strict=True)
    ]
    assert content(fresh.choose(ok, other)) == expected
