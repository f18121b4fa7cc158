"""What a decision costs does not depend on how many pods there are: counted in Python calls, not in time."""

from __future__ import annotations

import sys

import pytest
from msgspec import structs
from plugin_world import World

from kubesched.api.labels import LabelSelector
from kubesched.api.volumes import GCEPersistentDisk, Volume
from kubesched.plugins.registry import IN_TREE
from kubesched.state.events import WatchEvent
from kubesched.testing.builders import namespace, node, pod
from kubesched.testing.storage import claim, csi_node, storage_class, volume

NODES, FEW, MANY = 6, 12, 120
WEB = {"app": "web"}


def keyed(made):
    """The pod with matchLabelKeys on its spread constraint."""
    (constraint,) = made.spec.topology_spread_constraints
    only = structs.replace(constraint, match_label_keys=("revision",))
    return structs.replace(made, spec=structs.replace(made.spec, topology_spread_constraints=(only,)))


def objects(pods):
    """Nodes with limits; pods that attract, repel, spread and mount, half of them in another namespace."""
    nodes = [node(f"n{i}").in_zone(f"z{i % 3}") for i in range(NODES)]
    there = [
        pod(f"p-{i}", "default" if i % 2 else "other")
        .label("app", "web")
        .label("revision", "1")
        .near(WEB, weight=3)
        .away_from({"app": "lone"})
        .claim(f"c-{i}")
        .volume(Volume(name="d", gce_persistent_disk=GCEPersistentDisk(pd_name=f"disk-{i}")))
        .on(f"n{i % NODES}")
        for i in range(pods)
    ]
    claims = [claim(f"c-{i}", bound_to=f"v-{i}") for i in range(1, pods, 2)]
    volumes = [volume(f"v-{i}", claimed_by=f"c-{i}") for i in range(1, pods, 2)]
    exclusive = [
        claim("mine", mode="ReadWriteOncePod", bound_to="v-mine"),
        volume("v-mine", claimed_by="mine"),
    ]
    limits = [csi_node(f"n{i}", 1000) for i in range(NODES)]
    spaces = [namespace("default", team="a"), namespace("other", team="a")]
    return [*spaces, *nodes, *limits, storage_class("standard"), *claims, *volumes, *exclusive, *there]


INCOMING = {
    "affinity with a namespace selector": pod("i").near(
        WEB, namespace_selector=LabelSelector(match_labels={"team": "a"})
    ),
    "anti-affinity, and pods that mind": pod("i").label("app", "lone").away_from({"app": "x"}),
    "spread with matchLabelKeys": keyed(pod("i").label("revision", "1").spread(WEB)),
    "soft spread": pod("i").spread(WEB, soft=True),
    "an exclusive claim": pod("i").claim("mine"),
    "a disk": pod("i").volume(Volume(name="d", gce_persistent_disk=GCEPersistentDisk(pd_name="disk-1"))),
}


def calls(work):
    """How many Python functions the work calls."""
    count = 0

    def note(_frame, event, _argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def cost(name, incoming, pods):
    """The calls of one decision, after a first one and the placement of one more pod."""
    world = World(IN_TREE[name], *objects(pods))
    points = world.plugin.points

    def decide():
        if "filter" in points:
            world.rejections(incoming)
        if "score" in points:
            world.scores(incoming)

    decide()
    world.cluster.apply(WatchEvent("ADDED", pod("late").label("app", "web").on("n0")))
    first = world.cluster.nodes.pod_count[world.cluster.nodes.slot["n0"]]
    assert first > pods // NODES
    decide()
    return calls(decide)


@pytest.mark.parametrize("incoming", INCOMING.values(), ids=INCOMING.keys())
@pytest.mark.parametrize(
    "name", ["InterPodAffinity", "PodTopologySpread", "VolumeRestrictions", "NodeVolumeLimits", "VolumeZone"]
)
def test_cost_does_not_grow_with_the_pods(name, incoming):
    """Ten times the pods, the same number of calls; of a disk's users, the pods of one node are looked at."""
    few, many = cost(name, incoming, FEW), cost(name, incoming, MANY)
    assert many <= few + MANY // NODES + 3
