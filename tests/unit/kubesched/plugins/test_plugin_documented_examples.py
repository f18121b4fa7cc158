"""The worked examples of the Kubernetes documentation on scheduling, each with the outcome that it states.

The headings are the documents': "Assigning Pods to Nodes", "Pod Overhead", "Pod Topology Spread Constraints",
"Taints and Tolerations" and "Resource Bin Packing".
"""

from __future__ import annotations

import pytest
from msgspec import structs
from plugin_world import World, reasons

from kubesched.api.affinity import NodeAffinity, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubesched.api.labels import LabelSelector
from kubesched.config.args import (
    NodeAffinityArgs,
    NodeResourcesFitArgs,
    PodTopologySpreadArgs,
    RequestedToCapacityRatio,
    ResourceSpec,
    ScoringStrategy,
    UtilizationShapePoint,
)
from kubesched.plugins.noderesources.strategies import shape_table
from kubesched.plugins.podtopologyspread.plugin import SYSTEM_DEFAULTS
from kubesched.plugins.registry import IN_TREE
from kubesched.state.events import WatchEvent
from kubesched.testing.builders import HOSTNAME, ZONE, namespace, node, pod

SPREAD, AFFINITY = IN_TREE["PodTopologySpread"], IN_TREE["InterPodAffinity"]
FOO_BAR = {"foo": "bar"}
MYPOD = pod("mypod").label("foo", "bar")


# Resource Bin Packing: node scoring for capacity allocation

SHAPE = (UtilizationShapePoint(utilization=0, score=0), UtilizationShapePoint(utilization=100, score=10))
WEIGHTS = {"intel.com/foo": 5, "memory": 1, "cpu": 3}


@pytest.mark.parametrize(
    ("capacity", "used", "points", "documented", "score"),
    [
        pytest.param((4, "1Gi", 8), (1, "256Mi", 1), (7, 5, 3), 5, 60, id="node 1 scores 5"),
        pytest.param((8, "1Gi", 8), (2, "512Mi", 6), (5, 7, 10), 7, 69, id="node 2 scores 7"),
    ],
)
def test_bin_packing_by_requested_to_capacity_ratio(capacity, used, points, documented, score):
    """The document counts in tenths and rounds down in between, the plugin in hundredths and rounds once."""
    ratio = RequestedToCapacityRatio(shape=SHAPE)
    specs = tuple(ResourceSpec(name=name, weight=weight) for name, weight in WEIGHTS.items())
    strategy = ScoringStrategy(
        type="RequestedToCapacityRatio", resources=specs, requested_to_capacity_ratio=ratio
    )
    foo, memory, cpu = capacity
    there = node("n").resource("intel.com/foo", foo).memory(memory).cpu(cpu)
    running = pod("q").request("intel.com/foo", used[0]).memory(used[1]).cpu(used[2]).on("n")
    args = NodeResourcesFitArgs(scoring_strategy=strategy)
    world = World(IN_TREE["NodeResourcesFit"], there, running, args=args)
    incoming = pod("p").request("intel.com/foo", 2).memory("256Mi").cpu(2)
    assert world.scores(incoming) == {"n": score}

    wanted = {name: incoming.requests[name] + running.requests[name] for name in WEIGHTS}
    table = shape_table(SHAPE)
    tenths = tuple(int(table[wanted[n] * 100 // there.allocatable[n]]) // 10 for n in WEIGHTS)
    assert tenths == points
    mean = sum(t * weight for t, weight in zip(tenths, WEIGHTS.values(), strict=True)) / sum(WEIGHTS.values())
    assert round(mean) == documented


def test_bin_packing_by_most_allocated():
    """The node that is fuller with the pod scores higher, extended resources by their weight."""
    specs = tuple(
        ResourceSpec(name=name, weight=weight)
        for name, weight in {"cpu": 1, "memory": 1, "intel.com/foo": 3, "intel.com/bar": 3}.items()
    )
    args = NodeResourcesFitArgs(scoring_strategy=ScoringStrategy(type="MostAllocated", resources=specs))
    nodes = [node(n).cpu(4).memory("4Gi").resource("intel.com/foo", 4) for n in ("empty", "used")]
    running = pod("q").cpu(1).memory("1Gi").request("intel.com/foo", 2).on("used")
    world = World(IN_TREE["NodeResourcesFit"], *nodes, running, args=args)
    incoming = pod("p").cpu(1).memory("1Gi").request("intel.com/foo", 1)
    assert world.scores(incoming) == {"empty": 25, "used": (50 + 50 + 3 * 75) // 5}


# Assigning Pods to Nodes: more practical use cases


def placed_one_by_one(world, pods):
    """Where the pods come to be: on the first node that takes them."""
    found = {}
    for one in pods:
        found[one.name] = world.passing(one)[0]
        world.cluster.apply(WatchEvent("ADDED", one.on(found[one.name])))
    return found


def test_redis_caches_and_web_servers_share_three_nodes():
    """Each cache is alone on its node, and each web server is beside a cache."""
    world = World(AFFINITY, *(node(f"node-{i}") for i in (1, 2, 3)))
    caches = [pod(f"cache-{i}").label("app", "store").away_from({"app": "store"}) for i in (1, 2, 3)]
    servers = [
        pod(f"webserver-{i}")
        .label("app", "web-store")
        .away_from({"app": "web-store"})
        .near({"app": "store"}, HOSTNAME)
        for i in (1, 2, 3)
    ]
    assert set(world.rejections(servers[0])) == {"node-1", "node-2", "node-3"}
    expected = {f"{kind}-{i}": f"node-{i}" for kind in ("cache", "webserver") for i in (1, 2, 3)}
    assert placed_one_by_one(world, [*caches, *servers]) == expected
    assert world.passing(caches[0].with_uid("a-fourth")) == []
    assert world.passing(servers[0].with_uid("a-fourth")) == []


def test_pod_affinity_is_hard_and_anti_affinity_soft():
    """Only zones with security=S1 will do; among these one without security=S2 is better."""
    nodes = [node(name).in_zone(zone) for name, zone in (("a", "V"), ("b", "R"), ("c", "T"))]
    there = [
        pod("s1-v").label("security", "S1").on("a"),
        pod("s1-r").label("security", "S1").on("b"),
        pod("s2-r").label("security", "S2").on("b"),
    ]
    incoming = pod("p").near({"security": "S1"}).away_from({"security": "S2"}, ZONE, weight=100)
    world = World(AFFINITY, *nodes, *there)
    assert world.passing(incoming) == ["a", "b"]
    assert world.scores(incoming, only={"a", "b"}) == {"a": 100, "b": 0}


def test_an_empty_namespace_selector_means_every_namespace():
    """A null one, with no namespaces named, means that of the pod."""
    world = World(
        AFFINITY, namespace("default"), namespace("x"), node("n"), pod("s", "x").label("a", "b").on("n")
    )
    assert world.passing(pod("p").near({"a": "b"}, HOSTNAME)) == []
    everywhere = pod("p").near({"a": "b"}, HOSTNAME, namespace_selector=LabelSelector())
    assert world.passing(everywhere) == ["n"]


# Assigning Pods to Nodes: node affinity


def test_node_affinity_requires_one_label_and_prefers_another():
    """The zone must be one of two; the other label is only better."""
    key, value = "another-node-label-key", "another-node-label-value"
    incoming = (
        pod("with-node-affinity")
        .requires_node(ZONE, "In", "antarctica-east1", "antarctica-west1")
        .prefers_node(1, key, "In", value)
    )
    nodes = [
        node("east").in_zone("antarctica-east1"),
        node("west").in_zone("antarctica-west1").label(key, value),
        node("north").in_zone("antarctica-north1").label(key, value),
    ]
    world = World(IN_TREE["NodeAffinity"], *nodes)
    assert world.passing(incoming) == ["east", "west"]
    assert world.scores(incoming, only={"east", "west"}) == {"east": 0, "west": 100}


def test_node_affinity_weights_add_up():
    """Of a node with weight 1 and one with weight 50, the second is preferred."""
    incoming = pod("p").prefers_node(1, "label-1", "In", "key-1").prefers_node(50, "label-2", "In", "key-2")
    world = World(
        IN_TREE["NodeAffinity"],
        node("one").label("label-1", "key-1"),
        node("fifty").label("label-2", "key-2"),
    )
    assert world.scores(incoming) == {"one": 2, "fifty": 100}


def test_added_affinity_comes_on_top_of_the_pods_own():
    """Nodes have to satisfy both, and the message tells which they do not."""
    expression = NodeSelectorRequirement(key="scheduler-profile", operator="In", values=("foo",))
    required = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_expressions=(expression,)),))
    args = NodeAffinityArgs(added_affinity=NodeAffinity(required=required))
    nodes = [node("both").label("scheduler-profile", "foo").label("disk", "ssd")]
    nodes += [node("profile").label("scheduler-profile", "foo"), node("disk").label("disk", "ssd")]
    world = World(IN_TREE["NodeAffinity"], *nodes, args=args)
    assert reasons(world.rejections(pod("p").node_selector("disk", "ssd"))) == {
        "profile": ("node(s) didn't match Pod's node affinity/selector",),
        "disk": ("node(s) didn't match scheduler-enforced node affinity",),
    }


# Pod Overhead


def test_overhead_comes_on_top_of_the_containers():
    """500m and 1500m with 250m of overhead are 2250m; 100Mi and 100Mi with 120Mi are 320Mi."""
    made = pod("test-pod").cpu("500m").memory("100Mi").container(cpu="1500m", memory="100Mi")
    incoming = structs.replace(
        made, spec=structs.replace(made.spec, overhead={"memory": "120Mi", "cpu": "250m"})
    )
    fit = IN_TREE["NodeResourcesFit"]
    assert World(fit, node("n").cpu("2250m").memory("320Mi")).passing(incoming) == ["n"]
    assert reasons(World(fit, node("n").cpu("2249m").memory("319Mi")).rejections(incoming)) == {
        "n": ("Insufficient cpu", "Insufficient memory")
    }


# Pod Topology Spread Constraints


def zoned(*placed):
    """Four nodes in two zones, and as many pods with foo=bar on each as is said."""
    nodes = [
        node(f"node{i}").label("zone", "zoneA" if i < 3 else "zoneB").label("node", f"node{i}")
        for i in range(1, len(placed) + 1)
    ]
    there = [
        pod(f"p-{i}-{j}").label("foo", "bar").on(f"node{i}")
        for i, count in enumerate(placed, 1)
        for j in range(count)
    ]
    return nodes, there


ONE = MYPOD.spread(FOO_BAR, "zone")
TWO = ONE.spread(FOO_BAR, "node")


@pytest.mark.parametrize(
    ("incoming", "expected"),
    [
        pytest.param(ONE, ["node3", "node4"], id="one constraint: zone B only"),
        pytest.param(
            MYPOD.spread(FOO_BAR, "zone", max_skew=2),
            ["node1", "node2", "node3", "node4"],
            id="with maxSkew 2 zone A as well",
        ),
        pytest.param(MYPOD.spread(FOO_BAR, "node"), ["node4"], id="spread over nodes: node4 only"),
        pytest.param(TWO, ["node4"], id="two constraints: node4 satisfies both"),
        pytest.param(
            structs.replace(ONE, metadata=structs.replace(ONE.metadata, labels={})),
            ["node1", "node2", "node3", "node4"],
            id="a pod that does not match its own selector skews nothing",
        ),
    ],
)
def test_spread_over_four_nodes(incoming, expected):
    """Three pods, on node1, node2 and node3."""
    nodes, there = zoned(1, 1, 1, 0)
    assert World(SPREAD, *nodes, *there).passing(incoming) == expected


def test_schedule_anyway_prefers_the_emptier_zone():
    """All nodes will do; zone B, which has fewer matching pods, is preferred."""
    nodes, there = zoned(1, 1, 1, 0)
    scores = World(SPREAD, *nodes, *there).scores(MYPOD.spread(FOO_BAR, "zone", soft=True))
    assert scores["node1"] == scores["node2"] < scores["node3"] == scores["node4"] == 100


@pytest.mark.parametrize(
    ("incoming", "expected"),
    [
        pytest.param(TWO, [], id="the pod stays pending"),
        pytest.param(
            MYPOD.spread(FOO_BAR, "zone", max_skew=2).spread(FOO_BAR, "node"),
            ["node2"],
            id="unless maxSkew is raised",
        ),
        pytest.param(
            ONE.spread(FOO_BAR, "node", soft=True), ["node3"], id="or a constraint becomes ScheduleAnyway"
        ),
    ],
)
def test_conflicting_constraints(incoming, expected):
    """Two pods on node1, one on node2, two on node3: zone B by the first, node2 by the second constraint."""
    nodes, there = zoned(2, 1, 2)
    world = World(SPREAD, *nodes, *there)
    assert world.passing(incoming) == expected
    if not expected:
        skewed = ("node(s) didn't match pod topology spread constraints",)
        assert reasons(world.rejections(incoming)) == dict.fromkeys(("node1", "node2", "node3"), skewed)


def test_spread_skips_nodes_that_affinity_excludes():
    """With zone C excluded by node affinity the pod goes to zone B, and to zone C without."""
    nodes, there = zoned(1, 1, 1, 0)
    world = World(SPREAD, *nodes, node("node5").label("zone", "zoneC"), *there)
    assert world.passing(ONE) == ["node5"]
    excluding = world.rejections(ONE.requires_node("zone", "NotIn", "zoneC"))
    assert "node3" not in excluding
    assert "node4" not in excluding


def test_spread_bypasses_nodes_without_the_key():
    """Their pods do not count, and they take no such pods."""
    nodes, there = zoned(2, 1, 2)
    unlabelled = structs.replace(
        nodes[0], metadata=structs.replace(nodes[0].metadata, labels={HOSTNAME: "node1"})
    )
    world = World(SPREAD, unlabelled, *nodes[1:], node("node5").label("zone-typo", "zoneC"), *there)
    missing = ("node(s) didn't match pod topology spread constraints (missing required label)",)
    assert world.passing(ONE) == ["node2"]
    found = reasons(world.rejections(ONE))
    assert (found["node1"], found["node5"]) == (missing, missing)


def test_only_pods_of_the_same_namespace_match():
    """Pods of other namespaces are no candidates."""
    nodes, _ = zoned(0, 0, 0, 0)
    others = [pod(f"x-{i}", "x").label("foo", "bar").on("node1") for i in range(3)]
    assert World(SPREAD, *nodes, *others).passing(ONE) == ["node1", "node2", "node3", "node4"]


def test_the_global_minimum_of_three_zones():
    """With 2, 2 and 1 matching pods and maxSkew 1 the minimum is 1: only the third zone takes another."""
    nodes = [node(name).in_zone(name) for name in ("a", "b", "c")]
    there = [
        pod(f"{zone}-{i}").label("foo", "bar").on(zone)
        for zone, n in zip("abc", (2, 2, 1), strict=True)
        for i in range(n)
    ]
    world = World(SPREAD, *nodes, *there)
    assert world.passing(MYPOD.spread(FOO_BAR)) == ["c"]
    few = MYPOD.spread(FOO_BAR, min_domains=4)
    assert world.passing(few) == []


def test_match_label_keys_tell_revisions_apart():
    """Only pods of the same revision count."""
    nodes = [node("a"), node("b")]
    old = [pod(f"old-{i}").label("app", "x").label("pod-template-hash", "1").on("a") for i in range(3)]
    new = pod("new-0").label("app", "x").label("pod-template-hash", "2").on("b")
    incoming = pod("p").label("app", "x").label("pod-template-hash", "2").spread({"app": "x"}, HOSTNAME)
    (constraint,) = incoming.spec.topology_spread_constraints
    keyed = structs.replace(constraint, match_label_keys=("pod-template-hash",))
    revision = structs.replace(
        incoming, spec=structs.replace(incoming.spec, topology_spread_constraints=(keyed,))
    )
    world = World(SPREAD, *nodes, *old, new)
    assert world.passing(incoming) == ["b"]
    assert world.passing(revision) == ["a"]


def test_built_in_default_constraints():
    """maxSkew 3 over hosts and 5 over zones, both ScheduleAnyway; an empty List turns them off."""
    found = [(item.max_skew, item.topology_key, item.when_unsatisfiable) for item in SYSTEM_DEFAULTS]
    assert found == [(3, HOSTNAME, "ScheduleAnyway"), (5, ZONE, "ScheduleAnyway")]
    args = PodTopologySpreadArgs(defaulting_type="List", default_constraints=())
    assert World(SPREAD, node("n"), args=args).scores(MYPOD) is None


# Taints and Tolerations


def test_a_third_taint_without_toleration_keeps_the_pod_away():
    """The first two taints are ignored, the third is not; tolerated as well, nothing is left."""
    tainted = (
        node("node1").taint("key1", "value1").taint("key1", "value1", "NoExecute").taint("key2", "value2")
    )
    incoming = pod("p").tolerates("key1", "value1", "NoSchedule").tolerates("key1", "value1", "NoExecute")
    world = World(IN_TREE["TaintToleration"], tainted)
    assert reasons(world.rejections(incoming)) == {"node1": ("node(s) had untolerated taint(s)",)}
    assert world.passing(incoming.tolerates("key2", "value2", "NoSchedule")) == ["node1"]


@pytest.mark.parametrize(
    "toleration", [pytest.param("value1", id="Equal"), pytest.param("", id="Exists, with no value")]
)
def test_both_forms_of_a_toleration_match(toleration):
    """key1=value1:NoSchedule is matched by key and value, or by the key alone."""
    world = World(IN_TREE["TaintToleration"], node("node1").taint("key1", "value1"))
    assert world.passing(pod("p")) == []
    assert world.passing(pod("p").tolerates("key1", toleration, "NoSchedule")) == ["node1"]


def test_prefer_no_schedule_is_soft():
    """The scheduler tries to avoid the node, but it is not required to."""
    world = World(IN_TREE["TaintToleration"], node("a").taint("k", "v", "PreferNoSchedule"), node("b"))
    assert world.passing(pod("p")) == ["a", "b"]
    assert world.scores(pod("p")) == {"a": 0, "b": 100}
