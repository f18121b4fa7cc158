"""Each rule about volumes, met and broken."""

from __future__ import annotations

import pytest

from schedlab.judge import rules

ZONE = "topology.kubernetes.io/zone"


def node(name, zone=None):
    labels = {"kubernetes.io/hostname": name, **({ZONE: zone} if zone else {})}
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {},
        "status": {"allocatable": {"pods": "10"}},
    }


NODES = [node("a", "z1"), node("b", "z2"), node("c")]


def pod(*claims, name="p", on=None):
    volumes = [{"name": claim, "persistentVolumeClaim": {"claimName": claim}} for claim in claims]
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": name},
        "spec": {
            "containers": [{"name": "c"}],
            "volumes": [{"name": "scratch", "emptyDir": {}}, *volumes],
            **({"nodeName": on} if on else {}),
        },
        "status": {},
    }


def claim(name, volume=None, mode="ReadWriteOnce"):
    made = {
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"accessModes": [mode]},
    }
    if volume:
        made["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
        made["spec"]["volumeName"] = volume
    return made


def volume(name, *, zones=(), label=None):
    spec = {"csi": {"driver": "d", "volumeHandle": f"h-{name}"}}
    if zones:
        terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": list(zones)}]}]
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    return {
        "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": {ZONE: label} if label else {}},
        "spec": spec,
    }


def limit(name, count):
    driver = {"name": "d", "allocatable": {"count": count}}
    return {"kind": "CSINode", "metadata": {"name": name}, "spec": {"drivers": [driver]}}


def feasible(objects, incoming):
    return "".join(sorted(rules.feasible([*NODES, *objects], incoming)))


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ([claim("x", "v"), volume("v")], "abc"),
        ([], ""),
        ([claim("x")], ""),
        ([claim("x", "v")], ""),
    ],
    ids=["bound", "missing", "unbound", "bound to a volume that is not there"],
)
def test_claims_must_be_bound_to_volumes_that_exist(objects, expected):
    assert feasible(objects, pod("x")) == expected


def test_the_node_must_match_the_volumes_affinity():
    assert feasible([claim("x", "v"), volume("v", zones=("z1",))], pod("x")) == "a"


@pytest.mark.parametrize(("label", "expected"), [("z1", "ac"), ("z1__z2", "abc"), ("z3", "c")])
def test_zone_labels_bind_nodes_that_have_a_zone(label, expected):
    assert feasible([claim("x", "v"), volume("v", label=label)], pod("x")) == expected


def test_a_claim_for_one_pod_serves_one_pod_on_whatever_node():
    objects = [claim("x", "v", "ReadWriteOncePod"), volume("v")]
    assert feasible(objects, pod("x")) == "abc"
    assert feasible([*objects, pod("x", name="old", on="a")], pod("x")) == ""
    shared = [claim("x", "v"), volume("v"), pod("x", name="old", on="a")]
    assert feasible(shared, pod("x")) == "abc"


def test_a_node_attaches_so_many_volumes_of_a_driver_and_each_once():
    objects = [claim("x", "v"), volume("v"), claim("y", "w"), volume("w"), limit("a", 1), limit("b", 0)]
    assert feasible(objects, pod("x")) == "ac"
    assert feasible(objects, pod("x", "y")) == "c"
    assert feasible([*objects, pod("x", name="old", on="a")], pod("y")) == "c"
    assert feasible([*objects, pod("x", name="old", on="a")], pod("x")) == "ac"
    assert feasible(objects, pod()) == "abc"
