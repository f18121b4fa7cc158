"""An eviction's message names the shortage and who is to blame, as a kubelet's helper tests list it."""

from __future__ import annotations

import pytest
from kubelet_pods import disk, memory, observed, pod

from schedlab.kubelet.messages import (
    container_exceeded,
    empty_dir_exceeded,
    low_on,
    pod_exceeded,
    under,
)
from schedlab.kubelet.quantities import parse
from schedlab.kubelet.signals import MEMORY, NODEFS
from schedlab.kubelet.stats import ContainerStats, PodStats
from schedlab.kubelet.thresholds import Bound, Threshold

LOW = "The node was low on resource: memory. "


def container(name, request="", **more):
    return {"name": name, "resources": {"requests": {"memory": request} if request else {}}, **more}


def sidecar(name, request=""):
    return container(name, request, restartPolicy="Always")


def blames(usage, containers, inits=(), ephemeral=(), **spec):
    """The message and annotations when these containers used so much memory."""
    one = pod("pod-eviction-message", 1)
    one["spec"] |= {
        "containers": containers,
        "initContainers": list(inits),
        "ephemeralContainers": list(ephemeral),
        **spec,
    }
    stats = PodStats([ContainerStats(name, memory=parse(used).value) for name, used in usage.items()])
    return low_on("memory", one, stats, [], {})


def said(*blamed):
    return LOW + "".join(
        f"Container {name} was using {used}, request is {asked}, has larger consumption of memory. "
        for name, used, asked in blamed
    )


def test_nobody_is_blamed_who_keeps_within_the_request():
    """The message then is the first sentence alone."""
    words = blames(
        {"restartable-init1": "150Mi", "regular1": "100Mi"},
        [container("regular1", "200Mi")],
        [container("init1", "100Mi"), sidecar("restartable-init1", "200Mi")],
    )
    assert words.message == LOW
    assert words.annotations["offending_containers"] == ""


def test_a_running_init_container_can_be_blamed():
    """It is evicted in its time, too."""
    words = blames({"init1": "150Mi"}, [container("regular1", "200Mi")], [container("init1", "100Mi")])
    assert words.message == said(("init1", "150Mi", "100Mi"))
    assert words.annotations["offending_containers_usage"] == "150Mi"


def test_all_containers_above_their_requests_are_blamed_in_their_order():
    """Main ones and sidecars; a container without a request had one of 0."""
    words = blames(
        {"side": "250Mi", "within": "250Mi", "main": "200Mi"},
        [container("main")],
        [sidecar("side"), sidecar("within", "300Mi")],
    )
    assert words.message == said(("side", "250Mi", "0"), ("main", "200Mi", "0"))
    assert words.annotations == {
        "offending_containers": "side,main",
        "offending_containers_usage": "250Mi,200Mi",
        "starved_resource": "memory",
    }


def test_ephemeral_containers_are_never_blamed():
    """They cannot have requests."""
    words = blames(
        {"regular1": "150Mi", "debugger": "250Mi"},
        [container("regular1", "200Mi")],
        ephemeral=[{"name": "debugger"}],
    )
    assert words.message == LOW


def test_a_request_of_the_pod_itself_is_told_first():
    """Its containers are blamed besides."""
    words = blames(
        {"regular1": "250Mi", "regular2": "350Mi"},
        [container("regular1"), container("regular2")],
        resources={"requests": {"memory": "250Mi"}, "limits": {"memory": "1000Mi"}},
    )
    assert words.message == (
        LOW
        + "Pod pod-eviction-message was using 600Mi, request is 250Mi, has larger consumption of memory. "
        + said(("regular1", "250Mi", "0"), ("regular2", "350Mi", "0")).removeprefix(LOW)
    )
    assert words.annotations["offending_pod"] == "pod-eviction-message"
    assert words.annotations["offending_pod_usage"] == "600Mi"


def test_the_threshold_and_what_was_left_are_told():
    """Those of the first threshold of the resource."""
    thresholds = [Threshold(NODEFS, Bound(parse("3Gi"))), Threshold(MEMORY, Bound(parse("1Gi")))]
    words = low_on("memory", pod("one"), memory("0"), thresholds, observed(memory="512Mi", nodefs="1Gi"))
    assert words.message == LOW + "Threshold quantity: 1Gi, available: 512Mi. "


def test_layers_and_logs_are_blamed_for_a_full_disk():
    """Volumes belong to no container."""
    words = low_on("ephemeral-storage", pod("one", storage="1Gi"), disk("1Gi", "1Mi", "9Gi"), [], {})
    assert words.message.endswith(
        "Container main was using 1025Mi, request is 1Gi, has larger consumption of ephemeral-storage. "
    )


@pytest.mark.parametrize("resource", ["inodes", "pids"])
def test_nobody_is_blamed_for_inodes_and_processes(resource):
    """There are no requests of them."""
    words = low_on(resource, pod("one"), disk("1Gi"), [], {})
    assert words.message == f"The node was low on resource: {resource}. "
    assert words.annotations["starved_resource"] == resource


def test_a_pod_without_statistics_gets_no_annotations():
    """Nothing is known of it."""
    assert low_on("memory", pod("one"), None, [], {}).annotations == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (under(["MemoryPressure"]), "The node had condition: [MemoryPressure]. "),
        (under(["MemoryPressure", "PIDPressure"]), "The node had condition: [MemoryPressure PIDPressure]. "),
        (empty_dir_exceeded("v", parse("1024Mi")), 'Usage of EmptyDir volume "v" exceeds the limit "1Gi". '),
        (
            pod_exceeded(parse("2Gi")),
            "Pod ephemeral local storage usage exceeds the total limit of containers 2Gi. ",
        ),
        (
            container_exceeded("c", parse("1G")),
            'Container c exceeded its local ephemeral storage limit "1G". ',
        ),
    ],
)
def test_the_other_messages_read_as_the_kubelets(text, expected):
    """To the character, the space at the end included."""
    assert text == expected
