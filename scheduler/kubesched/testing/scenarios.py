"""States and pods on which the conformance kit tries a plugin: small, and each with a bit of everything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kubesched.api.base import Object
from kubesched.api.objects import Pod
from kubesched.api.volumes import GCEPersistentDisk, Volume
from kubesched.testing.builders import BuiltPod, namespace, node, pod
from kubesched.testing.storage import claim, csi_node, storage_class, volume

MIB = 1024 * 1024
_DISK = Volume(name="disk", gce_persistent_disk=GCEPersistentDisk(pd_name="shared"))


@dataclass(frozen=True, slots=True)
class Scenario:
    """A state, the pod to be placed, and pods that may come to any node of the state."""

    name: str
    objects: tuple[Object, ...]
    pod: Pod
    guests: tuple[Pod, ...]


def scenarios() -> Iterator[Scenario]:
    """The kit's own scenarios: one state under pods that ask for different things."""
    state = _state()
    guests = (
        pod("guest-web").label("app", "web").cpu("1").host_port(80),
        pod("guest-db").label("app", "db").memory("1Gi").away_from({"app": "web"}),
        pod("guest-other", "other").label("app", "web").gpu(1),
        pod("guest-exclusive").claim("exclusive").claim("bound").volume(_DISK),
    )
    for name, incoming in _incoming():
        yield Scenario(name, state, incoming, guests)


def _state() -> tuple[Object, ...]:
    nodes = (
        node("n0").in_zone("a").label("disk", "ssd").label("cpus", "8").cpu(8),
        node("n1").in_zone("a").taint("dedicated", "gpu").gpu(8),
        node("n2").in_zone("b").taint("slow", effect="PreferNoSchedule").has_image("web:1", size=300 * MIB),
        node("n3").in_zone("b").cordoned().taint("node.kubernetes.io/unschedulable"),
        node("n4").label("disk", "hdd").pods(2),
        node("n5").in_zone("c").cpu(2).taint("gone", effect="NoExecute"),
    )
    pods = (
        pod("web-0").label("app", "web").cpu("2").on("n0").host_port(80),
        pod("web-1").label("app", "web").cpu("1").on("n2"),
        pod("db-0").label("app", "db").memory("4Gi").on("n0").away_from({"app": "web"}, "disk"),
        pod("old").label("app", "web").on("n1").terminating(),
        pod("fan").label("app", "fan").on("n4").near({"app": "db"}, weight=10),
        pod("far", "other").label("app", "web").on("n4").cpu("1"),
        pod("user").claim("exclusive").volume(_DISK).on("n2"),
    )
    namespaces = (namespace("default", team="a"), namespace("other", team="b"))
    return (*namespaces, *nodes, *pods, *_storage())


def _storage() -> tuple[Object, ...]:
    zone = "topology.kubernetes.io/zone"
    return (
        storage_class("standard", zones=("a", "c")),
        claim("bound", bound_to="in-b"),
        claim("exclusive", bound_to="anywhere", mode="ReadWriteOncePod"),
        claim("waiting", size="5Gi"),
        volume("in-b", zone="b", labels={zone: "b"}, claimed_by="bound"),
        volume("anywhere", claimed_by="exclusive"),
        volume("free", zone="c", size="10Gi"),
        csi_node("n0", 1),
        csi_node("n2", 1),
    )


def _incoming() -> Iterator[tuple[str, BuiltPod]]:
    plain = pod("incoming").label("app", "web")
    yield "a pod that asks for nothing", plain
    yield "a pod that asks for cpu and memory", plain.cpu("3").memory("2Gi")
    yield "a pod that asks for more than any node has", plain.cpu("100").gpu(9)
    yield "a pod that asks for GPUs and tolerates", plain.gpu(4).tolerates("dedicated", "gpu")
    yield "a pod with a node selector", plain.node_selector("disk", "ssd")
    yield "a pod with node affinity", plain.requires_node("cpus", "Gt", "4").prefers_node(5, "disk", "Exists")
    yield "a pod that names a node", plain.on("n2")
    yield "a pod that names its node by affinity", plain.requires_node("metadata.name", "In", "n4")
    yield "a pod with host ports", plain.host_port(80).host_port(443)
    yield "a pod that spreads hard", plain.spread({"app": "web"}).spread({"app": "web"}, "disk", max_skew=2)
    yield "a pod that spreads softly", plain.spread({"app": "web"}, soft=True)
    yield "a pod near another", plain.near({"app": "db"}).near({"app": "web"}, weight=7)
    yield "a pod away from another", plain.away_from({"app": "web"}).away_from({"app": "db"}, weight=3)
    yield "a pod with images", plain.image("web:1").container(image="web")
    yield "a pod with a bound claim", plain.claim("bound")
    yield "a pod with a claim that waits for it", plain.claim("waiting")
    yield "a pod with a claim that is in use", plain.claim("exclusive")
    yield "a pod with a disk that is in use", plain.volume(_DISK)
    yield "a pod with a claim that is not there", plain.claim("missing")
    yield "a pod with gates", plain.gate("wait")
    yield "a pod of high priority", plain.cpu("31").with_priority(1000)
