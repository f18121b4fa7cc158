"""PodTopologySpread's score: the less crowded a node's domains, the better."""

from __future__ import annotations

import math

import pytest
from plugin_world import World

from kubesched.api.affinity import TopologySpreadConstraint
from kubesched.api.base import ObjectMeta
from kubesched.api.labels import LabelSelector
from kubesched.api.workloads import (
    ReplicaSet,
    ReplicationController,
    ReplicationControllerSpec,
    Service,
    ServiceSpec,
    WorkloadSpec,
)
from kubesched.config.args import PodTopologySpreadArgs
from kubesched.plugins.registry import IN_TREE
from kubesched.testing.builders import HOSTNAME, ZONE, node, pod

SPREAD = IN_TREE["PodTopologySpread"]
WEB = pod("p").label("app", "web")
SOFT_ZONE, SOFT_HOST = WEB.spread({"app": "web"}, soft=True), WEB.spread({"app": "web"}, HOSTNAME, soft=True)


def running(counts):
    return [
        pod(f"{where}-{i}").label("app", "web").on(where) for where, count in counts.items() for i in range(count)
    ]


def hosts(*names):
    return [node(name) for name in names]


def zones(**placed):
    return [node(name).in_zone(zone) for name, zone in placed.items()]


@pytest.mark.parametrize(
    ("incoming", "objects", "expected"),
    [
        pytest.param(WEB, [*hosts("a", "b")], None, id="a pod without soft constraints is skipped"),
        pytest.param(SOFT_HOST, [*hosts("a", "b")], {"a": 100, "b": 100}, id="no existing pods"),
        pytest.param(SOFT_HOST, [*hosts("a"), *running({"a": 3})], {"a": 100}, id="one candidate"),
        pytest.param(SOFT_HOST, [*hosts("a", "b"), *running({"a": 1, "b": 1})], {"a": 100, "b": 100},
                     id="equally crowded"),
        pytest.param(SOFT_HOST, [*hosts("a", "b", "c", "d"), *running({"a": 2, "b": 1, "d": 3})],
                     {"a": 40, "b": 80, "c": 100, "d": 0}, id="four hosts with 2/1/0/3 pods"),
        pytest.param(SOFT_ZONE, [*zones(a1="a", a2="a", b1="b", b2="b"), *running({"a1": 2, "a2": 2, "b1": 1})],
                     {"a1": 33, "b1": 100, "a2": 33, "b2": 100}, id="zones with 4/1 pods"),
        pytest.param(SOFT_ZONE, [*zones(a1="a"), node("x"), *running({"a1": 1})], {"a1": 100, "x": 0},
                     id="a node without the key gets nothing"),
        pytest.param(pod("p").spread({"app": "web"}, HOSTNAME, soft=True, max_skew=5),
                     [*hosts("a", "b"), *running({"a": 2})], {"a": 57, "b": 100},
                     id="a larger maxSkew waters the difference down"),
    ],
)  # fmt: skip
def test_score(incoming, objects, expected):
    """Counts are weighted by the logarithm of the number of domains, rounded, and scaled."""
    assert World(SPREAD, *objects).scores(incoming) == expected


def test_the_weight_uses_feasible_nodes_only():
    """Counts are over all nodes, the number of domains over the nodes that are scored."""
    objects = [*zones(a1="a", b1="b", c1="c"), *running({"a1": 3, "b1": 1})]
    all_nodes = World(SPREAD, *objects).scores(SOFT_ZONE)
    some_nodes = World(SPREAD, *objects).scores(SOFT_ZONE, only={"a1", "b1"})
    three, two = math.log(5), math.log(4)
    high, low = round(3 * three), 0
    assert all_nodes == {
        name: 100 * (high + low - round(n * three)) // high for name, n in {"a1": 3, "b1": 1, "c1": 0}.items()
    }
    high, low = round(3 * two), round(two)
    assert some_nodes == {
        name: 100 * (high + low - round(n * two)) // high for name, n in {"a1": 3, "b1": 1}.items()
    }


SERVICE = Service(
    metadata=ObjectMeta(name="s", namespace="default"), spec=ServiceSpec(selector={"app": "web"})
)


def test_system_defaults_spread_the_pods_of_a_service():
    """A pod without constraints of its own is spread over hosts and zones with its service's pods."""
    objects = [*zones(a1="a", a2="a", b1="b"), *running({"a1": 2}), SERVICE]
    scores = World(SPREAD, *objects).scores(WEB)
    assert scores["b1"] == 100 > scores["a2"] > scores["a1"]
    assert World(SPREAD, *objects).scores(pod("p").label("app", "other")) is None


def test_system_defaults_keep_nodes_without_a_zone():
    """Nodes without a zone form a domain of their own, and still count per host."""
    objects = [*zones(a1="a"), *hosts("x", "y"), *running({"x": 3}), SERVICE]
    scores = World(SPREAD, *objects).scores(WEB)
    assert scores["y"] > scores["x"] == 0


@pytest.mark.parametrize(
    ("controller", "kind", "version"),
    [
        pytest.param(ReplicaSet(metadata=ObjectMeta(name="o", namespace="default"),
                                spec=WorkloadSpec(selector=LabelSelector(match_labels={"app": "web"}))),
                     "ReplicaSet", "apps/v1", id="a replica set"),
        pytest.param(ReplicationController(metadata=ObjectMeta(name="o", namespace="default"),
                                           spec=ReplicationControllerSpec(selector={"app": "web"})),
                     "ReplicationController", "v1", id="a replication controller"),
    ],
)  # fmt: skip
def test_system_defaults_follow_the_owner(controller, kind, version):
    """The pods of the same controller belong together too."""
    world = World(SPREAD, *hosts("a", "b"), *running({"a": 2}), controller)
    assert world.scores(WEB.owned_by(kind, "o", api_version=version)) == {"a": 0, "b": 100}
    assert world.scores(WEB.owned_by(kind, "o", api_version="example.com/v1")) is None


def test_list_defaults_replace_the_system_ones():
    """With a list, only its constraints apply, and nodes need all keys."""
    listed = TopologySpreadConstraint(max_skew=1, topology_key=ZONE, when_unsatisfiable="ScheduleAnyway")
    args = PodTopologySpreadArgs(default_constraints=(listed,), defaulting_type="List")
    objects = [*zones(a1="a", b1="b"), *hosts("x"), *running({"a1": 1}), SERVICE]
    assert World(SPREAD, *objects, args=args).scores(WEB) == {"a1": 0, "b1": 100, "x": 0}
    assert World(SPREAD, *objects, args=PodTopologySpreadArgs(defaulting_type="List")).scores(WEB) is None
