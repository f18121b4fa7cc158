"""What the cluster tells the queue about each change, in upstream's words."""

from __future__ import annotations

from typing import Any

import pytest

from kubesched.api.objects import Node, Object, Pod, convert
from kubesched.state.events import (
    ASSIGNED_POD_DELETE,
    FORCE_ACTIVATE,
    UNSCHEDULABLE_TIMEOUT,
    ActionType,
    ClusterEvent,
    Resource,
    WatchEvent,
    match,
    node_changes,
    pod_changes,
)
from kubesched.testing.builders import cluster, namespace, node, pod


def titles(events: list[ClusterEvent]) -> list[str]:
    return [event.title for event in events]


BASE = pod("p").cpu("1").memory("1Gi").on("a")


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        pytest.param(BASE.phase("Running"), ["AssignedPodUpdate"], id="nothing that has a name"),
        pytest.param(BASE.label("a", "b"), ["AssignedPodUpdatePodLabel"], id="labels"),
        pytest.param(BASE.cpu("500m"), ["AssignedPodUpdatePodScaleDown"], id="a smaller request"),
        pytest.param(BASE.cpu("2"), ["AssignedPodUpdate"], id="a larger request is no scale down"),
        pytest.param(pod("p").cpu("1").on("a"), ["AssignedPodUpdatePodScaleDown"], id="a request gone"),
        pytest.param(BASE.tolerates("x"), ["AssignedPodUpdatePodToleration"], id="one more toleration"),
        pytest.param(
            BASE.label("a", "b").cpu("500m").tolerates("x"),
            ["AssignedPodUpdatePodLabel", "AssignedPodUpdatePodScaleDown", "AssignedPodUpdatePodToleration"],
            id="several at once, in upstream's order",
        ),
    ],
)
def test_pod_update_names_what_changed(new: Pod, expected: list[str]) -> None:
    """Through `apply`, with both versions attached."""
    state = cluster(node("a"), BASE)
    events = state.apply(WatchEvent("MODIFIED", new))
    assert titles(events) == expected
    assert {(event.old, event.new) for event in events} == {(BASE, new)}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(
            pod("p").gate("g"), pod("p"), ["UnschedulablePodUpdatePodSchedulingGatesEliminated"], id="gates"
        ),
        pytest.param(
            pod("p").gate("g").gate("h"), pod("p").gate("g"), ["UnschedulablePodUpdate"], id="one gate left"
        ),
        pytest.param(
            pod("p"),
            convert(
                {
                    "kind": "Pod",
                    "metadata": {"name": "p"},
                    "status": {"resourceClaimStatuses": [{"name": "c", "resourceClaimName": "x"}]},
                }
            ),
            ["UnschedulablePodUpdatePodGeneratedResourceClaim"],
            id="a generated claim",
        ),
    ],
)
def test_changes_of_unassigned_pods(old: Pod, new: Pod, expected: list[str]) -> None:
    """The queue asks for them."""
    assert titles(pod_changes(old, new)) == expected


NODE = node("a").cpu("4").condition("Ready", "True")


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        pytest.param(NODE.version("9"), [], id="a heartbeat is nothing"),
        pytest.param(NODE.cpu("4000m"), [], id="the same amount in another notation is nothing"),
        pytest.param(NODE.cpu("8"), ["NodeUpdateNodeAllocatable"], id="allocatable"),
        pytest.param(NODE.label("x"), ["NodeUpdateNodeLabel"], id="labels"),
        pytest.param(NODE.taint("x"), ["NodeUpdateNodeTaint"], id="taints"),
        pytest.param(NODE.annotation("x"), ["NodeUpdateNodeAnnotation"], id="annotations"),
        pytest.param(NODE.condition("DiskPressure", "True"), ["NodeUpdateNodeCondition"], id="conditions"),
        pytest.param(NODE.cordoned(), [], id="a cordon wakes nobody"),
        pytest.param(
            NODE.annotation("x").label("x").cpu("8"),
            ["NodeUpdateNodeAllocatable", "NodeUpdateNodeLabel", "NodeUpdateNodeAnnotation"],
            id="several at once, in upstream's order",
        ),
    ],
)
def test_node_update_names_what_changed(new: Node, expected: list[str]) -> None:
    """Each change is an event of its own."""
    assert titles(cluster(NODE).apply(WatchEvent("MODIFIED", new))) == expected


def test_uncordoning_is_a_change_of_taints() -> None:
    """There is no action of its own; together with a taint it makes two events, as upstream."""
    assert titles(node_changes(NODE.cordoned(), NODE)) == ["NodeUpdateNodeTaint"]
    assert titles(node_changes(NODE.cordoned(), NODE.taint("x"))) == ["NodeUpdateNodeTaint"] * 2


def test_declared_features_are_a_change() -> None:
    """1.36 reads them."""
    more = convert({"kind": "Node", "metadata": {"name": "a"}, "status": {"declaredFeatures": ["X"]}})
    less = convert({"kind": "Node", "metadata": {"name": "a"}})
    assert isinstance(more, Node)
    assert isinstance(less, Node)
    assert titles(node_changes(less, more)) == ["NodeUpdateNodeDeclaredFeature"]


def obj(kind: str, **more: Any) -> Object:
    return convert({"kind": kind, "metadata": {"name": "x", "namespace": "ns"}, **more})


@pytest.mark.parametrize(
    ("kind", "title"),
    [
        ("PersistentVolume", "PersistentVolume"),
        ("PersistentVolumeClaim", "PersistentVolumeClaim"),
        ("CSINode", "storage.k8s.io/CSINode"),
        ("CSIDriver", "storage.k8s.io/CSIDriver"),
        ("CSIStorageCapacity", "storage.k8s.io/CSIStorageCapacity"),
        ("VolumeAttachment", "storage.k8s.io/VolumeAttachment"),
        ("ResourceClaim", "resource.k8s.io/ResourceClaim"),
        ("ResourceSlice", "resource.k8s.io/ResourceSlice"),
        ("DeviceClass", "resource.k8s.io/DeviceClass"),
    ],
)
def test_other_kinds_wake_pods(kind: str, title: str) -> None:
    """Added, updated, deleted: whatever the watch says, what is known decides between the first two."""
    state = cluster()
    added, updated = obj(kind), obj(kind)
    assert titles(state.apply(WatchEvent("MODIFIED", added))) == [f"{title}Add"]
    assert titles(state.apply(WatchEvent("ADDED", updated))) == [f"{title}Update"]
    assert (state.get(kind, "ns/x"), list(state.list(kind))) == (updated, [updated])
    assert titles(state.apply(WatchEvent("DELETED", updated))) == [f"{title}Delete"]
    assert (state.get(kind, "ns/x"), list(state.list(kind))) == (None, [])


@pytest.mark.parametrize("mode", ["Immediate", "WaitForFirstConsumer"])
def test_every_storage_class_that_is_added_is_told(mode) -> None:
    """Which classes concern a pod is for the plugins' hints to say."""
    added = convert({"kind": "StorageClass", "metadata": {"name": "y"}, "volumeBindingMode": mode})
    assert titles(cluster().apply(WatchEvent("ADDED", added))) == ["storage.k8s.io/StorageClassAdd"]


@pytest.mark.parametrize(
    "kind", ["Service", "ReplicaSet", "PodDisruptionBudget", "PriorityClass", "Namespace"]
)
def test_some_kinds_are_only_kept(kind: str) -> None:
    """No plugin can register for them."""
    state = cluster()
    events = [state.apply(WatchEvent(word, obj(kind))) for word in ("ADDED", "MODIFIED", "DELETED")]  # type: ignore[arg-type]
    assert events == [[], [], []]


def test_objects_are_listed_in_order_of_arrival() -> None:
    """An update keeps the place."""
    state = cluster(*(namespace(name) for name in "cab"))
    state.apply(WatchEvent("MODIFIED", namespace("c", x="1")))
    assert [found.name for found in state.list("Namespace")] == ["c", "a", "b"]
    assert list(state.list("Unheard")) == []
    assert state.get("Unheard", "x") is None


def test_pods_can_be_asked_for_by_name() -> None:
    """Assumed ones as well."""
    state = cluster(node("a"), pod("p", "ns").on("a"))
    state.assume(pod("q"), "a")
    assert state.get("Pod", "ns/p") is state.pods.by_uid["uid-ns-p"]
    assert [found.key for found in state.list("Pod")] == ["ns/p", "default/q"]


def test_every_change_begins_an_epoch() -> None:
    """Whoever remembers the epoch notices."""
    state = cluster(node("a"))
    seen = [state.epoch]
    state.apply(WatchEvent("MODIFIED", node("a")))
    seen.append(state.epoch)
    state.assume(pod("p"), "a")
    seen.append(state.epoch)
    state.forget("uid-p")
    seen.append(state.epoch)
    assert seen == sorted(set(seen))


ANY_UPDATE = ClusterEvent(Resource.Node, ActionType.Update)


@pytest.mark.parametrize(
    ("registered", "happened", "covers"),
    [
        pytest.param((Resource.Node, ActionType.Add), (Resource.Node, ActionType.Add), True, id="the same"),
        pytest.param(
            (Resource.Node, ActionType.Add), (Resource.Node, ActionType.Delete), False, id="another action"
        ),
        pytest.param(
            (Resource.Node, ActionType.Add), (Resource.CSINode, ActionType.Add), False, id="another resource"
        ),
        pytest.param(
            (Resource.Node, ActionType.Update),
            (Resource.Node, ActionType.UpdateNodeLabel),
            True,
            id="more specific",
        ),
        pytest.param(
            (Resource.Node, ActionType.UpdateNodeLabel),
            (Resource.Node, ActionType.Update),
            False,
            id="less specific",
        ),
        pytest.param(
            (Resource.Pod, ActionType.Add | ActionType.Delete),
            (Resource.AssignedPod, ActionType.Delete),
            True,
            id="Pod stands for assigned pods",
        ),
        pytest.param(
            (Resource.Pod, ActionType.UpdatePodLabel),
            (Resource.UnschedulablePod, ActionType.UpdatePodLabel),
            True,
            id="and for waiting ones",
        ),
        pytest.param(
            (Resource.AssignedPod, ActionType.Add), (Resource.Pod, ActionType.Add), False, id="not inversely"
        ),
        pytest.param(
            (Resource.WildCard, ActionType.All), (Resource.Node, ActionType.Add), True, id="the wild card"
        ),
        pytest.param(
            (Resource.WildCard, ActionType.Add), (Resource.Node, ActionType.Add), True, id="any resource"
        ),
        pytest.param(
            (Resource.Node, ActionType.All),
            (Resource.WildCard, ActionType.All),
            False,
            id="a wild card happened",
        ),
        pytest.param(
            (Resource.WildCard, ActionType.All),
            (Resource.WildCard, ActionType.All),
            True,
            id="both wild cards",
        ),
    ],
)
def test_registration_covers_event(
    registered: tuple[Resource, ActionType], happened: tuple[Resource, ActionType], covers: bool
) -> None:
    """The rules of upstream's MatchClusterEvents."""
    assert match(ClusterEvent(*registered), ClusterEvent(*happened)) is covers


def test_titles_are_upstreams_labels() -> None:
    """Logs and metrics name events so."""
    assert str(ASSIGNED_POD_DELETE) == "AssignedPodDelete"
    assert (UNSCHEDULABLE_TIMEOUT.title, FORCE_ACTIVATE.title) == ("UnschedulableTimeout", "ForceActivate")
    assert ClusterEvent(Resource.PersistentVolume, ActionType.Update).title == "PersistentVolumeUpdate"
    assert ANY_UPDATE.key == (Resource.Node, ActionType.Update)


def test_action_bits_are_upstreams() -> None:
    """`match` compares composed actions by size, so the order of bits matters."""
    single = [action for action in ActionType if action.value.bit_count() == 1]
    assert [action.value for action in single] == [1 << i for i in range(13)]
    assert ActionType.Update.value == sum(action.value for action in single[2:])
    assert ActionType.All.value == (1 << 13) - 1
