"""Cases are drawn from seeds, and every feature can be taken out again."""

from __future__ import annotations

import json

import pytest

from schedlab.errors import UsageError
from schedlab.fuzz import generate
from schedlab.fuzz.blueprint import Blueprint, node, pod
from schedlab.fuzz.draw import Draw
from schedlab.fuzz.features import FEATURES, chosen

ALL = tuple(FEATURES)
#: What must be nowhere in a state once the feature has been taken out.
TRACES = {
    "resources": ("overhead", "requests", "limits"),
    "nodeaffinity": ("nodeSelector", "nodeAffinity"),
    "names": ("metadata.name",),
    "taints": ("taints", "tolerations"),
    "unschedulable": ("'unschedulable': True",),
    "spread": ("topologySpreadConstraints",),
    "workloads": ("ownerReferences",),
    "podaffinity": ("podAffinity", "podAntiAffinity"),
    "ports": ("hostPort",),
    "images": ("sizeBytes",),
    "lifecycle": ("deletionTimestamp", "Succeeded", "Failed"),
    "gates": ("schedulingGates",),
    "volumes": ("claimName",),
    "priorities": ("priority'",),
    "crowds": ("'cpu': '64'", "'pods': '2'"),
}


def blank():
    """A case of ten nodes and many pods without any feature."""
    made = Blueprint(Draw(1))
    made.nodes = [node(f"n{n}", {}, {"cpu": "4", "pods": "10"}) for n in range(10)]
    made.pods = [pod(f"old-{n}", "default", {"app": "web"}) for n in range(40)]
    made.arrivals = [pod(f"new-{n}", "default", {"app": "web"}) for n in range(40)]
    for one in made.pods:
        one["spec"]["nodeName"] = "n1"
        one["status"] = {"phase": "Running"}
    return made


def drawn(name):
    """The same with one feature, certainly present."""
    made = blank()
    FEATURES[name].draw(made)
    return made


def test_equal_seeds_draw_equal_cases_and_others_draw_others():
    first, again, other = (generate.plan(seed, ALL) for seed in (7, 7, 8))
    assert first == again
    assert first.objects != other.objects


def test_cases_stay_below_a_hundred_nodes_and_have_names_of_their_own():
    for seed in range(25):
        made = generate.plan(seed, ALL, arrivals=3)
        nodes = [obj for obj in made.objects if obj["kind"] == "Node"]
        assert 3 <= len(nodes) <= 60
        assert len(made.arrivals) == 3
        keys = [(o["kind"], o["metadata"].get("namespace"), o["metadata"]["name"]) for o in made.objects]
        assert len(keys) == len(set(keys))


@pytest.mark.parametrize("name", ["priorities", "crowds"])
def test_start_times_are_distinct_wherever_pods_may_preempt(name):
    """Among victims of equal priority the reference orders by start time, and arbitrarily without."""
    made = drawn(name)
    starts = [one["status"]["startTime"] for one in made.pods]
    assert made.timed
    assert len(set(starts)) == len(starts)


@pytest.mark.parametrize("name", TRACES)
def test_a_feature_that_is_taken_out_leaves_no_trace(name):
    made = drawn(name)
    before = str([*made.nodes, *made.pods, *made.arrivals])
    for arrival in made.arrivals:
        arrival["status"] = {"conditions": []}
        FEATURES[name].strip([*made.nodes, *made.others, *made.pods], arrival)
    after = str([*made.nodes, *made.pods, *made.arrivals])
    assert [trace for trace in TRACES[name] if trace in before] == list(TRACES[name])
    assert [trace for trace in TRACES[name] if trace in after] == []


@pytest.mark.parametrize("name", ["workloads", "budgets"])
def test_selectors_that_are_taken_out_select_nobody(name):
    made = drawn(name)
    assert made.others
    FEATURES[name].strip(made.others, made.arrivals[0])
    assert all("nobody" in json.dumps(one["spec"]["selector"]) for one in made.others)


def test_without_namespaces_all_pods_live_with_the_arriving_one():
    made = drawn("namespaces")
    assert {one["metadata"]["namespace"] for one in made.pods} > {"default"}
    arriving = made.arrivals[0]
    FEATURES["namespaces"].strip(made.pods, arriving)
    homes = {one["metadata"]["namespace"] for one in made.pods}
    names = [one["metadata"]["name"] for one in made.pods]
    assert homes == {arriving["metadata"]["namespace"]}
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", FEATURES)
def test_every_feature_draws_something_and_takes_an_empty_case(name):
    made, plain = drawn(name), blank()
    parts = ("nodes", "others", "pods", "arrivals")
    assert any(getattr(made, part) != getattr(plain, part) for part in parts)
    FEATURES[name].draw(Blueprint(Draw(1)))


def test_features_are_chosen_by_name_in_drawing_order():
    assert chosen("all") == ALL
    assert chosen("taints, names") == ("names", "taints")
    assert chosen("all,-priorities,-budgets") == tuple(n for n in ALL if n not in ("priorities", "budgets"))


def test_a_mix_stands_for_its_list_and_a_plus_sign_puts_a_feature_into_every_case():
    wanted = chosen("preemption,-ports")
    assert {"+crowds", "+priorities", "+budgets"} < set(wanted)
    assert not {"ports", "+ports", "images"} & set(wanted)
    for seed in range(20):
        assert {"crowds", "priorities", "budgets"} <= set(generate.plan(seed, wanted, arrivals=1).features)


def test_a_crowd_leaves_no_room_and_those_who_come_matter_more():
    """Every node of a crowded case has as much cpu, or takes as many pods, as its pods need."""
    made = drawn("crowds")
    for one in made.nodes:
        here = [old for old in made.pods if old["spec"]["nodeName"] == one["metadata"]["name"]]
        allocatable = one["status"]["allocatable"]
        assert str(len(here)) in (allocatable["cpu"], allocatable["pods"])
    assert sum(one["spec"]["priority"] >= 1000 for one in made.arrivals) > 20


def test_large_clusters_have_more_nodes_than_are_looked_at():
    made = generate.plan(1, ("taints",), arrivals=1, many=True)
    assert sum(obj["kind"] == "Node" for obj in made.objects) > 100


def test_where_ports_collide_nobody_may_go():
    """The reference forgets a port with the first of its holders, which no state shows."""
    ends = {generate.plan(seed, ("+ports", "+lifecycle"), arrivals=1).until_eviction for seed in range(20)}
    assert ends == {True, False}


def test_claims_are_drawn_in_every_state_they_can_be_in():
    claims, kinds = [], set()
    for seed in range(12):
        for obj in generate.plan(seed, ("+volumes",), arrivals=1).objects:
            kinds.add(obj["kind"])
            claims += [obj["spec"]] if obj["kind"] == "PersistentVolumeClaim" else []
    assert {"StorageClass", "CSIDriver", "CSINode", "CSIStorageCapacity", "PersistentVolume"} <= kinds
    assert {one["storageClassName"] for one in claims} >= {"standard", "local", "dynamic", "", "lost"}
    assert {"volumeName" in one for one in claims} == {True, False}


def test_an_unknown_feature_is_an_error_that_lists_the_known_ones():
    with pytest.raises(UsageError, match="unknown feature 'tains'") as caught:
        chosen("tains")
    assert "taints" in caught.value.hint
