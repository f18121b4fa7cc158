"""PodTopologySpread's filter: the skew between domains stays within bounds."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from plugin_world import World, reasons

from kubesched.api.labels import LabelSelector
from kubesched.framework import SKIP
from kubesched.framework.status import Code
from kubesched.plugins.registry import IN_TREE
from kubesched.testing.builders import HOSTNAME, node, pod

SPREAD = IN_TREE["PodTopologySpread"]
SKEWED = ("node(s) didn't match pod topology spread constraints",)
NO_LABEL = ("node(s) didn't match pod topology spread constraints (missing required label)",)


def web(name, where, *, namespace="default"):
    return pod(name, namespace).label("app", "web").on(where)


def four_nodes():
    return [
        node("a1").in_zone("a"),
        node("a2").in_zone("a"),
        node("b1").in_zone("b"),
        node("b2").in_zone("b"),
    ]


def running(counts):
    return [web(f"{where}-{i}", where) for where, count in counts.items() for i in range(count)]


def changed(made, **fields):
    constraint = replace(made.spec.topology_spread_constraints[-1], **fields)
    others = made.spec.topology_spread_constraints[:-1]
    return replace(made, spec=replace(made.spec, topology_spread_constraints=(*others, constraint)))


WEB = pod("p").label("app", "web")
BY_ZONE, BY_HOST = WEB.spread({"app": "web"}), WEB.spread({"app": "web"}, HOSTNAME)


@pytest.mark.parametrize(
    ("incoming", "counts", "expected"),
    [
        pytest.param(BY_ZONE, {}, ["a1", "a2", "b1", "b2"], id="no existing pods"),
        pytest.param(BY_ZONE, {"a1": 1}, ["b1", "b2"], id="the other zone is emptier"),
        pytest.param(
            BY_ZONE, {"a1": 2, "a2": 1, "b1": 3}, ["a1", "a2", "b1", "b2"], id="even zones admit both"
        ),
        pytest.param(
            WEB.spread({"app": "web"}, max_skew=2),
            {"a1": 1},
            ["a1", "a2", "b1", "b2"],
            id="maxSkew 2 admits one more",
        ),
        pytest.param(BY_HOST, {"a1": 2, "a2": 1, "b2": 3}, ["b1"], id="spread over hosts"),
        pytest.param(
            BY_ZONE.spread({"app": "web"}, HOSTNAME),
            {"a1": 2, "a2": 1, "b2": 3},
            ["b1"],
            id="both constraints must hold, and one node meets them",
        ),
        pytest.param(
            BY_ZONE.spread({"app": "web"}, HOSTNAME),
            {"a1": 1, "b1": 1, "b2": 1},
            ["a2"],
            id="zone a and host a2 are emptiest",
        ),
        pytest.param(
            BY_ZONE.spread({"app": "web"}, HOSTNAME),
            {"a1": 1, "a2": 1, "b1": 3},
            [],
            id="conflicting constraints leave no node: the zone asks for a, the host for b2",
        ),
        pytest.param(
            pod("p").spread({"app": "web"}),
            {"a1": 1, "b1": 1},
            ["a1", "a2", "b1", "b2"],
            id="a pod that does not match its own selector adds nothing",
        ),
        pytest.param(
            pod("p").spread({"app": "web"}), {"a1": 2}, ["b1", "b2"], id="but the others still count"
        ),
        pytest.param(
            WEB.spread({"app": "web"}, min_domains=3),
            {"a1": 1},
            ["b1", "b2"],
            id="too few domains: the minimum counts as zero",
        ),
        pytest.param(
            WEB.spread({"app": "web"}, min_domains=3),
            {"a1": 1, "b1": 1},
            [],
            id="too few domains: every domain with a pod is full",
        ),
        pytest.param(
            WEB.spread({"app": "web"}, min_domains=2),
            {"a1": 1, "b1": 1},
            ["a1", "a2", "b1", "b2"],
            id="enough domains",
        ),
    ],
)
def test_filter(incoming, counts, expected):
    """matching pods + the pod itself - the emptiest domain must not exceed maxSkew."""
    world = World(SPREAD, *four_nodes(), *running(counts))
    assert sorted(world.passing(incoming)) == expected
    for status in world.rejections(incoming).values():
        assert (status.reasons, status.code) == (SKEWED, Code.Unschedulable)


def test_a_node_without_the_key_is_unresolvable():
    """No eviction gives a node the label; its pods are not counted either."""
    world = World(SPREAD, *four_nodes(), node("x"), *running({"a1": 1, "b1": 1, "x": 5}))
    rejected = world.rejections(BY_ZONE)
    assert reasons(rejected) == {"x": NO_LABEL}
    assert rejected["x"].code is Code.UnschedulableAndUnresolvable


def test_a_node_without_one_of_the_keys_counts_for_none():
    """A node must have every key for its pods to count anywhere."""
    bare = replace(node("a2").in_zone("a"), metadata=replace(node("a2").metadata, labels={}))
    bare = bare.in_zone("a")
    world = World(SPREAD, node("a1").in_zone("a"), bare, node("b1").in_zone("b"), *running({"a2": 3}))
    assert world.passing(BY_ZONE.spread({"app": "web"}, HOSTNAME)) == ["a1", "b1"]


def test_only_live_pods_of_the_namespace_count():
    """Pods of other namespaces and pods that terminate are not counted."""
    others = [web("x", "a1", namespace="other"), web("y", "a1").terminating()]
    assert World(SPREAD, *four_nodes(), *others).rejections(BY_ZONE) == {}


def test_an_empty_selector_counts_nothing():
    """It matches every pod, and so the pod itself, but counts none of those there."""
    everything = changed(BY_ZONE, label_selector=LabelSelector())
    assert World(SPREAD, *four_nodes(), *running({"a1": 3})).rejections(everything) == {}


def test_a_nil_selector_matches_nothing():
    """Neither the pods there nor the pod itself."""
    nothing = changed(BY_ZONE, label_selector=None)
    assert World(SPREAD, *four_nodes(), *running({"a1": 3})).rejections(nothing) == {}


def test_match_label_keys_narrow_the_selector():
    """Only pods with the incoming pod's value of the key count; a key that it lacks is ignored."""
    old = [web(f"old-{i}", "a1").label("rev", "1") for i in range(3)]
    incoming = changed(BY_ZONE.label("rev", "2"), match_label_keys=("rev", "absent"))
    assert World(SPREAD, *four_nodes(), *old).rejections(incoming) == {}
    assert World(SPREAD, *four_nodes(), *old).passing(BY_ZONE) == ["b1", "b2"]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        pytest.param(None, ["a1", "b1"], id="by default, nodes that the pod cannot use are no domains"),
        pytest.param("Honor", ["a1", "b1"], id="the same by name"),
        pytest.param("Ignore", [], id="ignored, the empty zone c counts"),
    ],
)
def test_node_affinity_policy(policy, expected):
    """Whether nodes that the pod's affinity excludes count as domains."""
    nodes = [node(f"{z}1").in_zone(z).label("use", "yes" if z != "c" else "no") for z in "abc"]
    incoming = WEB.spread({"app": "web"}, node_affinity_policy=policy).node_selector("use", "yes")
    world = World(SPREAD, *nodes, *running({"a1": 1, "b1": 1}))
    passing = [name for name in world.passing(incoming) if name != "c1"]
    assert passing == expected


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        pytest.param(None, [], id="by default, tainted nodes count"),
        pytest.param("Honor", ["a1", "b1"], id="honoured, nodes with untolerated taints are no domains"),
    ],
)
def test_node_taints_policy(policy, expected):
    """Whether nodes with taints that the pod does not tolerate count as domains."""
    nodes = [node("a1").in_zone("a"), node("b1").in_zone("b"), node("c1").in_zone("c").taint("gpu")]
    incoming = WEB.spread({"app": "web"}, node_taints_policy=policy)
    world = World(SPREAD, *nodes, *running({"a1": 1, "b1": 1}))
    assert [name for name in world.passing(incoming) if name != "c1"] == expected


def test_soft_constraints_do_not_filter():
    """A pod without DoNotSchedule constraints is skipped."""
    world = World(SPREAD, *four_nodes())
    assert world.pre_filter(WEB.spread({"app": "web"}, soft=True)) is SKIP
    assert world.pre_filter(WEB) is SKIP


def test_moved_pods_change_the_skew():
    """A pod removed from a world empties its domain; one that is added fills it."""
    world = World(SPREAD, *four_nodes(), *running({"a1": 1, "b1": 1}))
    gone = world.cluster.pods.by_uid["uid-a1-0"]
    rejected = world.rejections(BY_ZONE, lambda view: view.remove([0], [[gone]]))
    assert rejected == {}
    incoming = WEB.spread({"app": "web"}, max_skew=1)
    # Order of worlds is a1 b1 a2 b2: only b1's world has a second pod in zone b.
    rejected = world.rejections(incoming, lambda view: view.add([1], [[web("new", "")]]))
    assert reasons(rejected) == {"b1": SKEWED}


def test_removing_a_terminating_pod_counts_below_the_truth():
    """A what-if does not ask whether a pod terminates, as in the reference: zone a falls to minus one."""
    leaving = web("leaving", "a1").terminating()
    world = World(SPREAD, *four_nodes(), leaving)
    gone = world.cluster.pods.by_uid["uid-leaving"]
    strict = WEB.spread({"app": "web"}, max_skew=1)
    # Order of worlds is a1 b1 a2 b2. Taking the pod away leaves its own world as it was, or better.
    assert world.rejections(strict, lambda view: view.remove([0], [[gone]])) == {}
    # One that arrives then is outweighed by the pod that was never counted.
    arrived = [web("x", ""), web("y", "")]
    assert "a1" in world.rejections(strict, lambda view: view.add([0], [arrived]))
    both = world.rejections(strict, lambda view: view.remove([0], [[gone]]).add([0], [arrived]))
    assert "a1" in both
    one = world.rejections(strict, lambda view: view.remove([0], [[gone]]).add([0], [arrived[:1]]))
    assert one == {}
