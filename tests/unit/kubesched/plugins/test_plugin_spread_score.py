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
        pod(f"{where}-{i}").label("app", "web").on(where)
        for where, count in counts.items()
        for i in range(count)
    ]


def hosts(*names):
    return [node(name) for name in names]


def zones(**placed):
    return [node(name).in_zone(zone) for name, zone in placed.items()]


FOUR = ("a", "b", "c", "d")


@pytest.mark.parametrize(
    ("max_skew", "counts", "expected"),
    [
        pytest.param(1, (0, 0, 0, 0), (100, 100, 100, 100), id="no existing pods"),
        pytest.param(1, (2, 1, 0, 3), (20, 60, 100, 0), id="2/1/0/3 pods"),
        pytest.param(2, (2, 1, 0, 3), (33, 66, 100, 16), id="the same with maxSkew 2"),
        pytest.param(3, (4, 3, 2, 1), (44, 66, 77, 100), id="4/3/2/1 pods with maxSkew 3"),
    ],
)
def test_one_constraint_on_hosts(max_skew, counts, expected):
    """The weighted count of each host, rounded, scaled against the lowest and highest."""
    world = World(SPREAD, *hosts(*FOUR), *running(dict(zip(FOUR, counts, strict=True))))
    incoming = WEB.spread({"app": "web"}, HOSTNAME, soft=True, max_skew=max_skew)
    assert world.scores(incoming) == dict(zip(FOUR, expected, strict=True))


@pytest.mark.parametrize(
    ("feasible", "expected"),
    [
        pytest.param("abx", {"a": 33, "b": 83, "x": 100}, id="three of four hosts are candidates"),
        pytest.param("abxy", {"a": 28, "b": 71, "x": 100, "y": 57}, id="all four are"),
    ],
)
def test_hosts_that_are_no_candidates(feasible, expected):
    """Only candidates count as domains."""
    world = World(SPREAD, *hosts("a", "b", "x", "y"), *running({"a": 4, "b": 2, "x": 1, "y": 3}))
    assert world.scores(SOFT_HOST, only=set(feasible)) == expected


TWO_ZONES = {"a": "1", "b": "1", "x": "2", "y": "2"}


@pytest.mark.parametrize(
    ("incoming", "counts", "feasible", "expected"),
    [
        pytest.param(
            SOFT_ZONE,
            {"a": 4, "b": 2, "x": 1, "y": 3},
            "abx",
            {"a": 75, "b": 75, "x": 100},
            id="zones, three of four nodes are candidates",
        ),
        pytest.param(
            SOFT_ZONE.spread({"app": "web"}, HOSTNAME, soft=True),
            {"a": 2, "b": 1, "x": 2, "y": 4},
            "ax",
            {"a": 100, "x": 63},
            id="zones and hosts, two of four nodes are candidates",
        ),
        pytest.param(WEB, {}, "ab", None, id="a pod without soft constraints is skipped"),
    ],
)
def test_zones(incoming, counts, feasible, expected):
    """Pods on all nodes of a zone count, whether or not these are candidates."""
    world = World(SPREAD, *zones(**TWO_ZONES), *running(counts))
    assert world.scores(incoming, only=set(feasible)) == expected


@pytest.mark.parametrize(
    ("placed", "expected"),
    [
        pytest.param(
            {"a": ["foo"], "b": ["foo bar"], "y": ["foo", "bar"]},
            {"a": 60, "b": 20, "x": 100, "y": 60},
            id="zones with two and one, hosts with none and one",
        ),
        pytest.param(
            {"b": ["bar"], "x": ["foo"], "y": ["foo bar"]},
            {"a": 100, "b": 60, "x": 40, "y": 0},
            id="some nodes without pods",
        ),
    ],
)
def test_constraints_with_different_selectors(placed, expected):
    """Each constraint counts its own pods."""
    pods = [
        labelled(f"{name}-{i}", *labels.split()).on(name)
        for name, several in placed.items()
        for i, labels in enumerate(several)
    ]
    incoming = (
        labelled("p", "foo", "bar").spread({"foo": ""}, soft=True).spread({"bar": ""}, HOSTNAME, soft=True)
    )
    assert World(SPREAD, *zones(**TWO_ZONES), *pods).scores(incoming) == expected


def labelled(name, *keys):
    made = pod(name)
    for key in keys:
        made = made.label(key)
    return made


def test_a_node_without_the_key_gets_nothing():
    """It is left out of the scaling, too."""
    world = World(SPREAD, *zones(a="1"), node("x"), *running({"a": 1}))
    assert world.scores(SOFT_ZONE) == {"a": 100, "x": 0}


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


def test_system_defaults_without_zones():
    """Without zones, the defaults are one constraint on hosts with maxSkew 3."""
    world = World(SPREAD, *hosts(*FOUR), *running({"a": 4, "b": 3, "c": 2, "d": 1}), SERVICE)
    assert world.scores(WEB) == {"a": 44, "b": 66, "c": 77, "d": 100}


def test_system_defaults_keep_nodes_without_a_zone():
    """Nodes without a zone form a domain of their own, and still count per host."""
    objects = [*zones(a1="a"), *hosts("x", "y"), *running({"x": 3}), SERVICE]
    scores = World(SPREAD, *objects).scores(WEB)
    assert scores["y"] == 100 > scores["x"]


def test_system_defaults_take_an_empty_zone_for_none():
    """Nodes whose zone is empty share the domain of those without; only the former are charged for it."""
    objects = [*zones(a1="a", e=""), *hosts("x"), *running({"a1": 3, "x": 2}), SERVICE]
    host, zone = math.log(3 + 2), math.log(2 + 2)
    raw = {
        "a1": round(3 * host + 2 + 3 * zone + 4),
        "e": round(2 + 2 * zone + 4),
        "x": round(2 * host + 2),
    }
    high, low = max(raw.values()), min(raw.values())
    expected = {name: 100 * (high + low - points) // high for name, points in raw.items()}
    assert World(SPREAD, *objects).scores(WEB) == expected


@pytest.mark.parametrize(
    ("controller", "kind", "version"),
    [
        pytest.param(
            ReplicaSet(
                metadata=ObjectMeta(name="o", namespace="default"),
                spec=WorkloadSpec(selector=LabelSelector(match_labels={"app": "web"})),
            ),
            "ReplicaSet",
            "apps/v1",
            id="a replica set",
        ),
        pytest.param(
            ReplicationController(
                metadata=ObjectMeta(name="o", namespace="default"),
                spec=ReplicationControllerSpec(selector={"app": "web"}),
            ),
            "ReplicationController",
            "v1",
            id="a replication controller",
        ),
    ],
)
def test_system_defaults_follow_the_owner(controller, kind, version):
    """The pods of the same controller belong together too."""
    world = World(SPREAD, *hosts("a", "b"), *running({"a": 2}), controller)
    assert world.scores(WEB.owned_by(kind, "o", api_version=version)) == {"a": 40, "b": 100}
    assert world.scores(WEB.owned_by(kind, "o", api_version="example.com/v1")) is None


def test_list_defaults_replace_the_system_ones():
    """With a list, only its constraints apply, and nodes need all keys."""
    listed = TopologySpreadConstraint(max_skew=1, topology_key=ZONE, when_unsatisfiable="ScheduleAnyway")
    args = PodTopologySpreadArgs(default_constraints=(listed,), defaulting_type="List")
    objects = [*zones(a1="a", b1="b"), *hosts("x"), *running({"a1": 1}), SERVICE]
    assert World(SPREAD, *objects, args=args).scores(WEB) == {"a1": 0, "b1": 100, "x": 0}
    assert World(SPREAD, *objects, args=PodTopologySpreadArgs(defaulting_type="List")).scores(WEB) is None
