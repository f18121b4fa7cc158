"""InterPodAffinity: near some pods, away from others, in both directions."""

from __future__ import annotations

import pytest
from plugin_world import World, reasons

from kubesched.api.labels import LabelSelector, LabelSelectorRequirement
from kubesched.config.args import InterPodAffinityArgs
from kubesched.framework import SKIP
from kubesched.framework.status import Code
from kubesched.plugins.registry import IN_TREE
from kubesched.testing.builders import HOSTNAME, namespace, node, pod

AFFINITY = IN_TREE["InterPodAffinity"]
NOT_NEAR = ("node(s) didn't match pod affinity rules",)
TOO_NEAR = ("node(s) didn't match pod anti-affinity rules",)
REPELLED = ("node(s) didn't satisfy existing pods anti-affinity rules",)
NODES = (node("a1").in_zone("a"), node("a2").in_zone("a"), node("b1").in_zone("b"))
WEB, DB = {"app": "web"}, {"app": "db"}


def running(name, where, app="web", **more):
    return pod(name, **more).label("app", app).on(where)


@pytest.mark.parametrize(
    ("incoming", "existing", "expected"),
    [
        pytest.param(
            pod("p").near(DB),
            [running("db", "a1", "db")],
            {"b1": NOT_NEAR},
            id="affinity admits the whole domain of a matching pod",
        ),
        pytest.param(
            pod("p").near(DB, HOSTNAME),
            [running("db", "a1", "db")],
            {"a2": NOT_NEAR, "b1": NOT_NEAR},
            id="a domain may be a host",
        ),
        pytest.param(
            pod("p").near(DB), [], dict.fromkeys(("a1", "a2", "b1"), NOT_NEAR), id="nobody to be near to"
        ),
        pytest.param(
            pod("p").label("app", "db").near(DB), [], {}, id="the first of a series that wants itself near"
        ),
        pytest.param(
            pod("p").label("app", "db").near(DB),
            [running("db", "b1", "db")],
            {"a1": NOT_NEAR, "a2": NOT_NEAR},
            id="the second follows the first",
        ),
        pytest.param(
            pod("p").near(DB).near(WEB),
            [running("db", "a1", "db"), running("web", "a2")],
            dict.fromkeys(("a1", "a2", "b1"), NOT_NEAR),
            id="one pod must meet all terms",
        ),
        pytest.param(
            pod("p").near(DB).near({"tier": "x"}),
            [pod("both").label("app", "db").label("tier", "x").on("a1")],
            {"b1": NOT_NEAR},
            id="a pod that meets all terms",
        ),
        pytest.param(
            pod("p").away_from(DB),
            [running("db", "a1", "db")],
            {"a1": TOO_NEAR},
            id="anti-affinity rejects the domain",
        ),
        pytest.param(
            pod("p").away_from(DB, "topology.kubernetes.io/zone"),
            [running("db", "a1", "db")],
            {"a1": TOO_NEAR, "a2": TOO_NEAR},
            id="a larger domain",
        ),
        pytest.param(
            pod("p").away_from(DB).away_from(WEB),
            [running("db", "a1", "db"), running("web", "b1")],
            {"a1": TOO_NEAR, "b1": TOO_NEAR},
            id="each anti-affinity term counts by itself",
        ),
        pytest.param(
            pod("p").away_from(DB, "rack"),
            [running("db", "a1", "db")],
            {},
            id="a node without the key has no domain to keep away from",
        ),
        pytest.param(
            pod("p").near(DB, "rack"),
            [running("db", "a1", "db")],
            dict.fromkeys(("a1", "a2", "b1"), NOT_NEAR),
            id="a node without the key is near to nobody",
        ),
        pytest.param(
            pod("p").label("app", "web"),
            [running("shy", "a1", "db").away_from(WEB)],
            {"a1": REPELLED},
            id="pods that are there may reject the newcomer",
        ),
        pytest.param(
            pod("p").label("app", "web").near(DB),
            [running("shy", "a1", "db").away_from(WEB)],
            {"a1": REPELLED, "b1": NOT_NEAR},
            id="affinity is judged before their anti-affinity",
        ),
        pytest.param(
            pod("p").away_from(DB),
            [running("db", "a1", "db").terminating()],
            {"a1": TOO_NEAR},
            id="a pod that terminates still counts",
        ),
        pytest.param(
            pod("p").near(DB),
            [running("db", "a1", "db", namespace="other")],
            dict.fromkeys(("a1", "a2", "b1"), NOT_NEAR),
            id="by default only the own namespace counts",
        ),
        pytest.param(
            pod("p").near(DB, namespaces=("other",)),
            [running("db", "a1", "db", namespace="other")],
            {"b1": NOT_NEAR},
            id="namespaces by name",
        ),
        pytest.param(
            pod("p").near(DB, namespace_selector=LabelSelector(match_labels={"team": "b"})),
            [running("db", "a1", "db", namespace="other")],
            {"b1": NOT_NEAR},
            id="namespaces by label",
        ),
        pytest.param(
            pod("p").near(DB, namespace_selector=LabelSelector()),
            [running("db", "a1", "db", namespace="unknown")],
            {"b1": NOT_NEAR},
            id="every namespace",
        ),
        pytest.param(
            pod("p").near(DB, namespace_selector=LabelSelector(match_labels={"team": "c"})),
            [running("db", "a1", "db", namespace="other")],
            dict.fromkeys(("a1", "a2", "b1"), NOT_NEAR),
            id="no namespace by label",
        ),
        pytest.param(
            pod("p").near(
                DB,
                namespace_selector=LabelSelector(
                    match_expressions=(LabelSelectorRequirement(key="team", operator="DoesNotExist"),)
                ),
            ),
            [running("db", "a1", "db", namespace="other")],
            {"b1": NOT_NEAR},
            id="a namespace selector that no labels match selects every namespace, as in the reference",
        ),
    ],
)
def test_filter(incoming, existing, expected):
    """The pod's affinity, its anti-affinity, then the anti-affinity of the pods that are there."""
    world = World(AFFINITY, namespace("default"), namespace("other", team="b"), *NODES, *existing)
    rejected = world.rejections(incoming)
    assert reasons(rejected) == expected
    for status in rejected.values():
        unresolvable = status.reasons == NOT_NEAR
        assert status.code is (Code.UnschedulableAndUnresolvable if unresolvable else Code.Unschedulable)


def test_a_pod_that_nobody_minds_is_skipped():
    """Without terms on either side there is nothing to filter."""
    assert World(AFFINITY, *NODES, running("db", "a1", "db").away_from(DB)).pre_filter(pod("p")) is SKIP


def test_existing_terms_read_the_namespace_of_the_newcomer():
    """A pod that is there may select the newcomer by the labels of its namespace."""
    shy = running("shy", "a1", "db").away_from(
        WEB, namespace_selector=LabelSelector(match_labels={"team": "b"})
    )
    world = World(AFFINITY, namespace("default"), namespace("other", team="b"), *NODES, shy)
    assert world.passing(pod("p", "other").label("app", "web")) == ["b1", "a2"]
    assert world.pre_filter(pod("p").label("app", "web")) is SKIP


@pytest.mark.parametrize(
    ("incoming", "existing", "change", "expected"),
    [
        pytest.param(
            pod("p").away_from(DB),
            [running("db", "a1", "db")],
            ("remove", "db"),
            {},
            id="the only one to keep away from leaves",
        ),
        pytest.param(
            pod("p").away_from(DB),
            [],
            ("add", pod("g").label("app", "db")),
            {"a1": TOO_NEAR},
            id="one to keep away from comes",
        ),
        pytest.param(
            pod("p").near(DB),
            [running("x", "b1", "db")],
            ("add", pod("g").label("app", "db")),
            {"a2": NOT_NEAR},
            id="one to be near to comes",
        ),
        pytest.param(
            pod("p").label("app", "db").near(DB),
            [running("db", "a1", "db")],
            ("remove", "db"),
            {"b1": NOT_NEAR},
            id="the last of a series leaves, and its own world may begin anew",
        ),
        pytest.param(
            pod("p").label("app", "web"),
            [running("shy", "a1", "db").away_from(WEB)],
            ("remove", "shy"),
            {},
            id="the one that minds leaves",
        ),
        pytest.param(
            pod("p").label("app", "web").away_from(DB),
            [],
            ("add", pod("g").away_from(WEB, "topology.kubernetes.io/zone")),
            {"a1": REPELLED},
            id="one that minds comes, under a key that nobody used before",
        ),
    ],
)
def test_what_ifs(incoming, existing, change, expected):
    """Pods moved in the world of a1 count there, and in no other world."""
    world = World(AFFINITY, *NODES, *existing)
    verb, who = change
    moved = world.cluster.pods.by_uid[f"uid-{who}"] if verb == "remove" else who

    def step(view):
        return view.remove([0], [[moved]]) if verb == "remove" else view.add([0], [[moved]])

    assert reasons(world.rejections(incoming, step)) == expected


@pytest.mark.parametrize(
    ("incoming", "existing", "args", "expected"),
    [
        pytest.param(pod("p"), [running("web", "a1")], {}, None, id="nothing preferred on either side"),
        pytest.param(
            pod("p").near(WEB, weight=5),
            [running("w", "a1")],
            {},
            {"a1": 100, "b1": 0, "a2": 100},
            id="near a matching pod",
        ),
        pytest.param(
            pod("p").near(WEB, HOSTNAME, weight=5).near(WEB, weight=3),
            [running("w", "a1")],
            {},
            {"a1": 100, "b1": 0, "a2": 37},
            id="weights add up: 8, 0 and 3",
        ),
        pytest.param(
            pod("p").near(WEB, HOSTNAME, weight=2),
            [running("w", "a1"), running("v", "a1"), running("u", "b1")],
            {},
            {"a1": 100, "b1": 50, "a2": 0},
            id="every matching pod counts",
        ),
        pytest.param(
            pod("p").away_from(WEB, weight=5),
            [running("w", "a1")],
            {},
            {"a1": 0, "b1": 100, "a2": 100},
            id="away from a matching pod",
        ),
        pytest.param(
            pod("p").label("app", "web"),
            [running("d", "a1", "db").near(WEB, weight=4)],
            {},
            {"a1": 100, "b1": 0, "a2": 100},
            id="pods there prefer the newcomer near",
        ),
        pytest.param(
            pod("p").label("app", "web"),
            [running("d", "a1", "db").away_from(WEB, weight=4)],
            {},
            {"a1": 0, "b1": 100, "a2": 100},
            id="pods there prefer it away",
        ),
        pytest.param(
            pod("p").label("app", "web"),
            [running("d", "a1", "db").near(WEB)],
            {},
            {"a1": 100, "b1": 0, "a2": 100},
            id="their required affinity counts with the hard weight",
        ),
        pytest.param(
            pod("p").label("app", "web"),
            [running("d", "a1", "db").near(WEB)],
            {"hard_pod_affinity_weight": 0},
            None,
            id="unless that is zero",
        ),
        pytest.param(
            pod("p").label("app", "web"),
            [running("d", "a1", "db").near(WEB, weight=4)],
            {"ignore_preferred_terms_of_existing_pods": True},
            None,
            id="their preferences may be ignored for a pod without its own",
        ),
        pytest.param(
            pod("p").label("app", "web").near(DB, HOSTNAME, weight=1),
            [running("d", "a1", "db").near(WEB, weight=4)],
            {"ignore_preferred_terms_of_existing_pods": True},
            {"a1": 100, "b1": 0, "a2": 80},
            id="but count for a pod that has some",
        ),
    ],
)
def test_score(incoming, existing, args, expected):
    """The sum of the weights of a node's domains, scaled from lowest to highest."""
    world = World(AFFINITY, *NODES, *existing, args=InterPodAffinityArgs(**args))
    assert world.scores(incoming) == expected


def test_documented_redis_and_web_example():
    """Each web server goes to a node of its own, beside a cache, as the documentation tells."""
    from kubesched.state.events import WatchEvent

    nodes = [node(f"node-{i}") for i in (1, 2, 3)]
    world = World(AFFINITY, *nodes)
    cache = [pod(f"cache-{i}").label("app", "store").away_from({"app": "store"}) for i in range(3)]
    web = [
        pod(f"web-{i}")
        .label("app", "web-store")
        .away_from({"app": "web-store"})
        .near({"app": "store"}, HOSTNAME)
        for i in range(3)
    ]
    assert world.passing(web[0]) == []
    for made, taken in zip((*cache, *web), (0, 1, 2) * 2, strict=True):
        free = [f"node-{i}" for i in (1, 2, 3)][taken:]
        assert world.passing(made) == free
        world.cluster.apply(WatchEvent("ADDED", made.on(free[0])))
    assert world.passing(pod("another").label("app", "web-store").away_from({"app": "web-store"})) == []
