"""NodePorts and ImageLocality."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from plugin_world import World, reasons

from kubesched.api.volumes import ImageVolumeSource, Volume
from kubesched.framework import SKIP, Hint
from kubesched.framework.status import Code
from kubesched.plugins.registry import IN_TREE
from kubesched.state.events import ActionType, Resource, WatchEvent
from kubesched.testing.builders import node, pod

PORTS, IMAGES = IN_TREE["NodePorts"], IN_TREE["ImageLocality"]
MIB = 1024 * 1024
TAKEN = ("node(s) didn't have free ports for the requested pod ports",)


@pytest.mark.parametrize(
    ("wanted", "used", "fits"),
    [
        pytest.param([(8080, "UDP", "127.0.0.1")], [(9090, "UDP", "127.0.0.1")], True, id="other port"),
        pytest.param([(8080, "UDP", "127.0.0.1")], [(8080, "UDP", "127.0.0.1")], False, id="same UDP port"),
        pytest.param([(8080, "TCP", "127.0.0.1")], [(8080, "TCP", "127.0.0.1")], False, id="same TCP port"),
        pytest.param(
            [(8080, "TCP", "127.0.0.1")], [(8080, "TCP", "127.0.0.2")], True, id="different host IP"
        ),
        pytest.param(
            [(8080, "UDP", "127.0.0.1")], [(8080, "TCP", "127.0.0.1")], True, id="different protocol"
        ),
        pytest.param(
            [(8000, "TCP", "127.0.0.1"), (8080, "UDP", "127.0.0.1")],
            [(8080, "UDP", "127.0.0.1")],
            False,
            id="second port conflicts",
        ),
        pytest.param(
            [(8080, "TCP", "0.0.0.0")], [(8080, "TCP", "127.0.0.1")], False, id="0.0.0.0 wants every address"
        ),
        pytest.param(
            [(8080, "TCP", "10.0.10.10")], [(8080, "TCP", "0.0.0.0")], False, id="0.0.0.0 has every address"
        ),
        pytest.param(
            [(8080, "TCP", "")], [(8080, "TCP", "127.0.0.1")], False, id="no address means every address"
        ),
    ],
)
def test_ports(wanted, used, fits):
    """A port on an address can be had once."""
    incoming, holder = pod("p"), pod("h").on("n")
    for port, protocol, ip in wanted:
        incoming = incoming.host_port(port, protocol, ip)
    for port, protocol, ip in used:
        holder = holder.host_port(port, protocol, ip)
    rejected = World(PORTS, node("n"), holder).rejections(incoming)
    assert reasons(rejected) == ({} if fits else {"n": TAKEN})
    if not fits:
        assert rejected["n"].code is Code.Unschedulable


def test_a_pod_without_ports_is_skipped():
    """Nothing wanted, nothing to check."""
    assert World(PORTS, node("n")).pre_filter(pod("p")) is SKIP


def test_moved_pods_move_their_ports():
    """A pod that leaves frees its ports in that world; one that comes takes them."""
    world = World(PORTS, node("a"), node("b"), pod("h").host_port(80).on("a"))
    incoming, holder = pod("p").host_port(80), world.cluster.pods.by_uid["uid-h"]
    assert list(world.rejections(incoming)) == ["a"]
    assert world.rejections(incoming, lambda view: view.remove([0], [[holder]])) == {}
    guest = pod("g").host_port(80)
    assert list(world.rejections(incoming, lambda view: view.add([1], [[guest]]))) == ["a", "b"]


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        pytest.param(pod("o").host_port(80).on("n"), Hint.Queue, id="a pod that held the port"),
        pytest.param(pod("o").host_port(81).on("n"), Hint.Skip, id="a pod that held another port"),
        pytest.param(pod("o").on("n"), Hint.Skip, id="a pod without ports"),
        pytest.param(pod("o").host_port(80), Hint.Skip, id="a pod that was nowhere"),
    ],
)
def test_port_hints(gone, expected):
    """The departure of a pod that held a wanted port is worth an attempt."""
    world = World(PORTS)
    assert world.hint(pod("p").host_port(80), Resource.AssignedPod, ActionType.Delete, gone) is expected


def with_image(name, **sizes):
    made = node(name)
    for image, size in sizes.items():
        made = made.has_image(f"example.com/{image}:latest", size=size * MIB)
    return made


def running(*images):
    first, *others = images
    made = pod("p").image(f"example.com/{first}")
    for image in others:
        made = made.container(image=f"example.com/{image}")
    return made


@pytest.mark.parametrize(
    ("incoming", "nodes", "expected"),
    [
        pytest.param(
            running("40", "250"),
            [
                with_image("n1", **{"40": 40, "300": 300, "2000": 2000}),
                with_image("n2", **{"10": 10, "250": 250}),
            ],
            [0, 5],
            id="the node with the larger image wins",
        ),
        pytest.param(
            running("40", "300"),
            [
                with_image("n1", **{"40": 40, "300": 300, "2000": 2000}),
                with_image("n2", **{"10": 10, "250": 250}),
            ],
            [7, 0],
            id="two images on one node",
        ),
        pytest.param(
            running("10", "2000"),
            [
                with_image("n1", **{"40": 40, "300": 300, "2000": 2000}),
                with_image("n2", **{"10": 10, "250": 250}),
            ],
            [49, 0],
            id="a huge image halved by its spread, and one below the threshold",
        ),
        pytest.param(
            running("10", "2000"),
            [
                with_image("n1", **{"40": 40, "300": 300, "2000": 2000}),
                with_image("n2", **{"10": 10, "250": 250}),
                node("n3"),
            ],
            [32, 0, 0],
            id="the more nodes lack it, the less an image counts",
        ),
        pytest.param(
            running("300"),
            [with_image("n1", **{"300": 300}), with_image("n2", **{"300": 300})],
            [28, 28],
            id="an image that every node has counts fully",
        ),
        pytest.param(running("none"), [with_image("n1", **{"300": 300})], [0], id="no image there"),
    ],
)
def test_images(incoming, nodes, expected):
    """Sizes scaled by the share of nodes that have the image, between 23 MiB and 1000 MiB per container."""
    assert list(World(IMAGES, *nodes).scores(incoming).values()) == expected


def test_init_containers_and_image_volumes_count():
    """Init containers raise the threshold, image volumes do not."""
    nodes = [with_image("n1", big=1000), with_image("n2", big=1000)]
    plain = World(IMAGES, *nodes).scores(running("big"))
    init = World(IMAGES, *nodes).scores(running("none").init_container(image="example.com/big"))
    volume = Volume(name="v", image=ImageVolumeSource(reference="example.com/big"))
    made = running("none")
    with_volume = replace(made, spec=replace(made.spec, volumes=(volume,)))
    assert plain == {"n1": 100, "n2": 100}
    assert init == {"n1": 49, "n2": 49}
    assert World(IMAGES, *nodes).scores(with_volume) == plain


def test_the_first_report_of_an_image_decides_its_size():
    """The order in which nodes arrive matters, as in the reference."""
    first, second = with_image("n1", big=300), node("n2").has_image("example.com/big:latest", size=900 * MIB)
    assert World(IMAGES, first, second).scores(running("big")) == {"n1": 28, "n2": 28}
    assert World(IMAGES, second, first).scores(running("big")) == {"n2": 89, "n1": 89}


def test_a_changed_image_list_is_seen():
    """Scores follow the node's report."""
    world = World(IMAGES, with_image("n1", big=1000), node("n2"))
    assert world.scores(running("big")) == {"n1": 48, "n2": 0}
    world.cluster.apply(WatchEvent("MODIFIED", node("n1")))
    assert world.scores(running("big")) == {"n1": 0, "n2": 0}
