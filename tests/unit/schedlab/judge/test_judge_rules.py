"""Each rule of legality, met and broken."""

from __future__ import annotations

import copy

import pytest

from schedlab.judge import rules

ZONE, HOST = "zone", "host"


def node(name, zone=None, *, cpu="4", pods="10", taints=(), unschedulable=False, **labels):
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOST: name, **({ZONE: zone} if zone else {}), **labels}},
        "spec": {"taints": list(taints), **({"unschedulable": True} if unschedulable else {})},
        "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": pods}},
    }


def pod(
    name="p", on=None, *, ns="default", cpu=None, status=None, priority=None, uid=None, labels=None, **spec
):
    resources = {"requests": {"cpu": cpu}} if cpu else {}
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": ns, "uid": uid or name, "labels": labels or {}},
        "spec": {
            "containers": [{"name": "main", "resources": resources}],
            **({"nodeName": on} if on else {}),
            **({"priority": priority} if priority is not None else {}),
            **spec,
        },
        "status": status or {},
    }


def namespace(name, **labels):
    return {"kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def feasible(objects, incoming):
    return sorted(rules.feasible(objects, incoming))


def required(kind, *terms):
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}}


def near(key, app=None, **more):
    selector = {"labelSelector": {"matchLabels": {"app": app}}} if app else {}
    return {"topologyKey": key, **selector, **more}


def spread(key, app="web", skew=1, **more):
    one = {
        "topologyKey": key,
        "maxSkew": skew,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}},
        **more,
    }
    return {"topologySpreadConstraints": [one]}


WEB = {"app": "web"}


def test_a_cordoned_node_takes_only_pods_that_tolerate_it():
    nodes = [node("a"), node("b", unschedulable=True)]
    tolerant = pod(tolerations=[{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}])
    assert feasible(nodes, pod()) == ["a"]
    assert feasible(nodes, tolerant) == ["a", "b"]


def test_only_taints_that_forbid_forbid():
    taint = {"key": "k", "value": "v", "effect": "NoSchedule"}
    nodes = [
        node("a", taints=[taint]),
        node("b", taints=[{**taint, "effect": "NoExecute"}]),
        node("c", taints=[{**taint, "effect": "PreferNoSchedule"}]),
    ]
    assert feasible(nodes, pod()) == ["c"]
    assert feasible(nodes, pod(tolerations=[{"key": "k", "value": "v", "effect": "NoSchedule"}])) == [
        "a",
        "c",
    ]


def test_node_selector_and_affinity_must_both_be_met():
    nodes = [node("a", disk="ssd", gen="1"), node("b", disk="ssd", gen="2"), node("c", disk="hdd", gen="2")]
    term = {"matchExpressions": [{"key": "gen", "operator": "Gt", "values": ["1"]}]}
    affinity = {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    }
    assert feasible(nodes, pod(nodeSelector={"disk": "ssd"}, affinity=affinity)) == ["b"]


def test_a_pod_that_names_a_node_goes_nowhere_else():
    assert feasible([node("a"), node("b")], pod(on="b")) == ["b"]


def test_requests_must_fit_beside_those_that_are_there():
    nodes = [node("a", cpu="1"), node("b", cpu="2")]
    assert feasible([*nodes, pod("old", "b", cpu="1500m")], pod(cpu="501m")) == ["a"]
    assert feasible([*nodes, pod("old", "b", cpu="1500m")], pod(cpu="500m")) == ["a", "b"]


def test_nothing_asked_fits_on_an_overcommitted_node_and_one_pod_too_many_does_not():
    nodes = [node("a", cpu="1"), node("b", pods="1")]
    old = [pod("one", "a", cpu="9"), pod("two", "b")]
    assert feasible([*nodes, *old], pod()) == ["a"]


def test_finished_pods_hold_nothing():
    objects = [node("a", cpu="1"), pod("old", "a", cpu="1", status={"phase": "Succeeded"})]
    assert feasible(objects, pod(cpu="1")) == ["a"]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"containers": [{"cpu": "1"}, {"cpu": "0.5"}]}, 1500),
        ({"containers": [{"cpu": "1"}], "initContainers": [{"cpu": "3"}]}, 3000),
        ({"containers": [{"cpu": "1"}], "initContainers": [{"cpu": "3", "restartPolicy": "Always"}]}, 4000),
        (
            {
                "containers": [{"cpu": "1"}],
                "initContainers": [{"cpu": "1", "restartPolicy": "Always"}, {"cpu": "2"}],
            },
            3000,
        ),
        (
            {
                "containers": [{"cpu": "1"}],
                "initContainers": [{"cpu": "2"}, {"cpu": "1", "restartPolicy": "Always"}],
            },
            2000,
        ),
        ({"containers": [{"cpu": "1"}], "overhead": {"cpu": "100m"}}, 1100),
        (
            {"containers": [{"cpu": "1"}], "resources": {"requests": {"cpu": "5"}}, "overhead": {"cpu": "1"}},
            6000,
        ),
        ({"containers": [{"cpu": "0.3333"}, {"cpu": "0.3333"}, {"cpu": "0.0001"}]}, 667),
    ],
    ids=[
        "containers add up",
        "an init container runs alone",
        "a sidecar stays",
        "an init container runs beside earlier sidecars",
        "but not beside later ones",
        "overhead is added",
        "a pod-level request replaces the sum",
        "rounding happens once",
    ],
)
def test_what_a_pod_asks_for(spec, expected):
    full = copy.deepcopy(spec)
    for container in (*full["containers"], *full.get("initContainers", ())):
        container["resources"] = {"requests": {"cpu": container.pop("cpu")}}
    assert rules.requests({"spec": full})["cpu"] == expected


def ports(*given):
    return [{"name": "main", "ports": [{"hostPort": number, **more} for number, more in given]}]


@pytest.mark.parametrize(
    ("mine", "theirs", "free"),
    [
        ((80, {}), (80, {}), False),
        ((80, {}), (81, {}), True),
        ((80, {"protocol": "UDP"}), (80, {}), True),
        ((80, {"hostIP": "10.0.0.1"}), (80, {"hostIP": "10.0.0.2"}), True),
        ((80, {"hostIP": "10.0.0.1"}), (80, {}), False),
        ((80, {"hostIP": "0.0.0.0"}), (80, {"hostIP": "10.0.0.2"}), False),
    ],
)
def test_host_ports_collide_by_protocol_port_and_address(mine, theirs, free):
    objects = [node("a"), pod("old", "a", containers=ports(theirs))]
    assert feasible(objects, pod(containers=ports(mine))) == (["a"] if free else [])


def test_sidecars_hold_ports_and_init_containers_do_not():
    sidecar = {**ports((80, {}))[0], "restartPolicy": "Always"}
    incoming = pod(containers=ports((80, {})))
    assert feasible([node("a"), pod("old", "a", initContainers=[sidecar])], incoming) == []
    assert feasible([node("a"), pod("old", "a", initContainers=ports((80, {})))], incoming) == ["a"]


THREE = [node("a", "z1"), node("b", "z2"), node("c")]


def test_a_domain_may_exceed_the_emptiest_by_max_skew():
    web = [pod(f"w{n}", "a", labels=WEB) for n in range(2)]
    assert feasible([*THREE, *web], pod(labels=WEB, **spread(ZONE))) == ["b"]
    assert feasible([*THREE, *web], pod(labels=WEB, **spread(ZONE, skew=3))) == ["a", "b"]


def test_a_pod_that_does_not_match_itself_adds_nothing():
    web = [pod("w", "a", labels=WEB)]
    assert feasible([*THREE, *web], pod(labels={"app": "api"}, **spread(ZONE))) == ["a", "b"]
    assert feasible([*THREE, *web], pod(labels=WEB, **spread(ZONE))) == ["b"]


@pytest.mark.parametrize(
    "ignored",
    [
        pod("w", "a", labels={"app": "api"}),
        pod("w", "a", labels=WEB, ns="other"),
        {
            **pod("w", "a", labels=WEB),
            "metadata": {
                "name": "w",
                "namespace": "default",
                "labels": WEB,
                "deletionTimestamp": "x",
                "uid": "w",
            },
        },
    ],
    ids=["of another app", "of another namespace", "that is terminating"],
)
def test_spread_does_not_count_a_pod(ignored):
    assert feasible([*THREE, ignored], pod(labels=WEB, **spread(ZONE))) == ["a", "b"]


def test_too_few_domains_make_the_minimum_zero():
    web = [pod("w1", "a", labels=WEB), pod("w2", "b", labels=WEB)]
    assert feasible([*THREE, *web], pod(labels=WEB, **spread(ZONE))) == ["a", "b"]
    assert feasible([*THREE, *web], pod(labels=WEB, **spread(ZONE, minDomains=3))) == []


def test_nodes_that_the_pod_cannot_use_take_part_as_the_policies_say():
    taint = {"key": "k", "effect": "NoSchedule"}
    nodes = [
        node("a", "z1", disk="ssd"),
        node("b", "z2", disk="hdd"),
        node("c", "z3", disk="ssd", taints=[taint]),
    ]
    web = [pod("w1", "a", labels=WEB)]
    picky = {"nodeSelector": {"disk": "ssd"}}
    assert feasible([*nodes, *web], pod(labels=WEB, **picky, **spread(ZONE, nodeTaintsPolicy="Honor"))) == [
        "a"
    ]
    assert feasible([*nodes, *web], pod(labels=WEB, **picky, **spread(ZONE))) == []
    ignoring = spread(ZONE, nodeTaintsPolicy="Honor", nodeAffinityPolicy="Ignore")
    assert feasible([*nodes, *web], pod(labels=WEB, **picky, **ignoring)) == []


def test_an_empty_selector_counts_no_pod_and_an_absent_one_matches_none():
    web = [pod(f"w{n}", "a", labels=WEB) for n in range(3)]
    assert feasible([*THREE, *web], pod(labels=WEB, **spread(ZONE, labelSelector={}))) == ["a", "b"]
    assert feasible([*THREE, *web], pod(labels=WEB, **spread(ZONE, labelSelector=None))) == ["a", "b"]


def test_match_label_keys_narrow_the_count():
    web = [pod("w", "a", labels={"app": "web", "v": "1"})]
    keyed = spread(ZONE, matchLabelKeys=["v", "absent"])
    assert feasible([*THREE, *web], pod(labels={"app": "web", "v": "1"}, **keyed)) == ["b"]
    assert feasible([*THREE, *web], pod(labels={"app": "web", "v": "2"}, **keyed)) == ["a", "b"]


def test_affinity_wants_a_pod_that_matches_all_terms_in_the_domain():
    old = [pod("w", "a", labels=WEB)]
    nodes = [node("a", "z1"), node("a2", "z1"), node("b", "z2"), node("c")]
    assert feasible([*nodes, *old], pod(**required("podAffinity", near(ZONE, "web")))) == ["a", "a2"]
    both = required("podAffinity", near(ZONE, "web"), near(HOST, "web"))
    assert feasible([*nodes, *old], pod(**both)) == ["a"]


def test_the_first_of_a_group_may_come_alone_where_all_domains_are():
    terms = required("podAffinity", near(ZONE, "web"))
    assert feasible(THREE, pod(labels=WEB, **terms)) == ["a", "b"]
    assert feasible(THREE, pod(labels={"app": "api"}, **terms)) == []
    assert feasible([*THREE, pod("w", "b", labels=WEB)], pod(labels=WEB, **terms)) == ["b"]
    assert feasible([*THREE, pod("w", "c", labels=WEB)], pod(labels=WEB, **terms)) == ["a", "b"]


def test_anti_affinity_keeps_away_from_what_it_names():
    away = required("podAntiAffinity", near(ZONE, "web"))
    assert feasible([*THREE, pod("w", "a", labels=WEB)], pod(**away)) == ["b", "c"]


def test_others_keep_the_pod_away():
    away = required("podAntiAffinity", near(ZONE, "web"))
    old = pod("x", "a", **away)
    assert feasible([*THREE, old], pod(labels=WEB)) == ["b", "c"]
    assert feasible([*THREE, old], pod()) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({}, ["b", "c"]),
        ({"namespaces": ["red"]}, ["a", "c"]),
        ({"namespaceSelector": {}}, ["c"]),
        ({"namespaceSelector": {"matchLabels": {"team": "x"}}}, ["a", "c"]),
        ({"namespaceSelector": {"matchLabels": {"team": "x"}}, "namespaces": ["default"]}, ["c"]),
    ],
    ids=["its own", "by name", "all", "by label", "by name or label"],
)
def test_terms_look_into_namespaces(where, expected):
    objects = [
        *THREE,
        namespace("default"),
        namespace("red", team="x"),
        pod("w1", "a", labels=WEB),
        pod("w2", "b", labels=WEB, ns="red"),
    ]
    away = required("podAntiAffinity", near(ZONE, "web", **where))
    assert feasible(objects, pod(**away)) == expected


def promised(priority=0, **more):
    return pod("later", status={"nominatedNodeName": "a"}, priority=priority, **more)


def test_a_promised_node_is_as_full_as_if_the_pod_ran_there():
    nodes = [node("a", cpu="1"), node("b", cpu="1")]
    assert feasible([*nodes, promised(5, cpu="1")], pod(cpu="1", priority=5)) == ["b"]
    assert feasible([*nodes, promised(4, cpu="1")], pod(cpu="1", priority=5)) == ["a", "b"]
    assert feasible([*nodes, promised(5, cpu="1")], pod("later", cpu="1", priority=5)) == ["a", "b"]


def test_a_promised_pod_is_no_reason_to_go_somewhere():
    terms = required("podAffinity", near(ZONE, "web"))
    assert feasible([*THREE, promised(5, labels=WEB)], pod(priority=1, **terms)) == []


def test_the_anti_affinity_of_a_promised_pod_goes_unseen_unless_there_was_a_reason_to_look():
    away = required("podAntiAffinity", near(ZONE, "web"))
    mine = required("podAntiAffinity", near(HOST, "nobody"))
    assert feasible([*THREE, promised(5, **away)], pod(labels=WEB)) == ["a", "b", "c"]
    assert feasible([*THREE, promised(5, **away)], pod(labels=WEB, **mine)) == ["b", "c"]


def test_objections_name_every_plugin_that_has_one():
    crowded = node("a", cpu="1", taints=[{"key": "k", "effect": "NoSchedule"}], unschedulable=True)
    assert rules.objections([crowded], pod(cpu="2", nodeSelector={"x": "y"})) == {
        "a": ["NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodeResourcesFit"]
    }
