"""What happened in the cluster, in the words that queueing hints are registered for.

Follows upstream kube-scheduler `framework/types.go` (resources, action types, labels) and
`pkg/scheduler/framework` `types.go` (`MatchClusterEvents`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag, StrEnum
from typing import Literal, NamedTuple

from kubesched.api.base import Quantities
from kubesched.api.objects import Node, Object, Pod
from kubesched.api.quantity import millis, nanos


class Resource(StrEnum):
    """What kind of thing an event is about.

    Plugins register `Pod`; events say which side of binding a pod is on.
    """

    Pod = "Pod"
    AssignedPod = "AssignedPod"
    UnschedulablePod = "UnschedulablePod"
    Node = "Node"
    PersistentVolume = "PersistentVolume"
    PersistentVolumeClaim = "PersistentVolumeClaim"
    CSINode = "storage.k8s.io/CSINode"
    CSIDriver = "storage.k8s.io/CSIDriver"
    CSIStorageCapacity = "storage.k8s.io/CSIStorageCapacity"
    StorageClass = "storage.k8s.io/StorageClass"
    VolumeAttachment = "storage.k8s.io/VolumeAttachment"
    ResourceClaim = "resource.k8s.io/ResourceClaim"
    ResourceSlice = "resource.k8s.io/ResourceSlice"
    DeviceClass = "resource.k8s.io/DeviceClass"
    PodGroup = "scheduling.k8s.io/PodGroup"
    WildCard = "*"


class ActionType(IntFlag):
    """What was done. The order of the bits is upstream's: `match` compares composed values by size."""

    Add = 1 << 0
    Delete = 1 << 1
    UpdateNodeAllocatable = 1 << 2
    UpdateNodeLabel = 1 << 3
    UpdateNodeTaint = 1 << 4
    UpdateNodeCondition = 1 << 5
    UpdateNodeAnnotation = 1 << 6
    UpdateNodeDeclaredFeature = 1 << 7
    UpdatePodLabel = 1 << 8
    UpdatePodScaleDown = 1 << 9
    UpdatePodTolerations = 1 << 10
    UpdatePodSchedulingGatesEliminated = 1 << 11
    UpdatePodGeneratedResourceClaim = 1 << 12
    Update = (1 << 13) - (1 << 2)
    All = (1 << 13) - 1


_TITLES: dict[ActionType, str] = {
    ActionType.Add: "Add",
    ActionType.Delete: "Delete",
    ActionType.UpdateNodeAllocatable: "UpdateNodeAllocatable",
    ActionType.UpdateNodeLabel: "UpdateNodeLabel",
    ActionType.UpdateNodeTaint: "UpdateNodeTaint",
    ActionType.UpdateNodeCondition: "UpdateNodeCondition",
    ActionType.UpdateNodeAnnotation: "UpdateNodeAnnotation",
    ActionType.UpdateNodeDeclaredFeature: "UpdateNodeDeclaredFeature",
    ActionType.UpdatePodLabel: "UpdatePodLabel",
    ActionType.UpdatePodScaleDown: "UpdatePodScaleDown",
    ActionType.UpdatePodTolerations: "UpdatePodToleration",
    ActionType.UpdatePodSchedulingGatesEliminated: "UpdatePodSchedulingGatesEliminated",
    ActionType.UpdatePodGeneratedResourceClaim: "UpdatePodGeneratedResourceClaim",
    ActionType.Update: "Update",
    ActionType.All: "All",
}


@dataclass(frozen=True, slots=True)
class ClusterEvent:
    """Something that happened, or that a plugin wants to hear of.

    A registered event carries no objects. A happened event carries the object before (None: it was added) and
    after (None: it was deleted). `label` replaces the usual title, as in `UnschedulableTimeout`.
    """

    resource: Resource
    action: ActionType
    label: str = ""
    old: Object | None = None
    new: Object | None = None

    @property
    def title(self) -> str:
        """The event's name in logs and metrics, such as `AssignedPodDelete`; compositions have none."""
        return self.label or f"{self.resource.value}{_TITLES.get(self.action, '')}"

    def __str__(self) -> str:
        """Write the title."""
        return self.title

    @property
    def key(self) -> tuple[Resource, ActionType]:
        """What the event is about, without the objects: what registrations are looked up by."""
        return self.resource, self.action

    @property
    def is_wild_card(self) -> bool:
        """It stands for everything."""
        return self.resource is Resource.WildCard and self.action == ActionType.All


def match(registered: ClusterEvent, happened: ClusterEvent) -> bool:
    """Say whether a registration covers what happened: the same thing, or a more specific one.

    `Update` covers `UpdateNodeLabel`, not the other way round. A wild card that happens is covered only by a
    registered wild card.
    """
    if registered.is_wild_card:
        return True
    return (
        _same_resource(registered.resource, happened.resource)
        and bool(registered.action & happened.action)
        and int(happened.action) <= int(registered.action)
    )


def _same_resource(registered: Resource, happened: Resource) -> bool:
    """`Pod` covers both sides of binding; the wild card covers everything."""
    if registered in (Resource.WildCard, happened):
        return True
    return registered is Resource.Pod and happened in (Resource.AssignedPod, Resource.UnschedulablePod)


ASSIGNED_POD_ADD = ClusterEvent(Resource.AssignedPod, ActionType.Add)
ASSIGNED_POD_UPDATE = ClusterEvent(Resource.AssignedPod, ActionType.Update)
ASSIGNED_POD_DELETE = ClusterEvent(Resource.AssignedPod, ActionType.Delete)
UNSCHEDULED_POD_ADD = ClusterEvent(Resource.UnschedulablePod, ActionType.Add)
UNSCHEDULED_POD_UPDATE = ClusterEvent(Resource.UnschedulablePod, ActionType.Update)
UNSCHEDULED_POD_DELETE = ClusterEvent(Resource.UnschedulablePod, ActionType.Delete)
UNSCHEDULABLE_TIMEOUT = ClusterEvent(Resource.WildCard, ActionType.All, "UnschedulableTimeout")
FORCE_ACTIVATE = ClusterEvent(Resource.WildCard, ActionType.All, "ForceActivate")


class WatchEvent(NamedTuple):
    """One line of a watch, or one object of a list (`ADDED`)."""

    type: Literal["ADDED", "MODIFIED", "DELETED"]
    object: Object


def pod_changes(old: Pod, new: Pod) -> list[ClusterEvent]:
    """Name what an update changed about a pod; a plain `Update` where it is nothing that has a name."""
    resource = Resource.AssignedPod if new.node_name else Resource.UnschedulablePod
    actions = []
    if old.labels != new.labels:
        actions.append(ActionType.UpdatePodLabel)
    if _scales_down(old, new):
        actions.append(ActionType.UpdatePodScaleDown)
    if old.spec.scheduling_gates and not new.spec.scheduling_gates:
        actions.append(ActionType.UpdatePodSchedulingGatesEliminated)
    if len(old.spec.tolerations) != len(new.spec.tolerations):
        actions.append(ActionType.UpdatePodTolerations)
    if _claims(old) != _claims(new):
        actions.append(ActionType.UpdatePodGeneratedResourceClaim)
    return [ClusterEvent(resource, action, old=old, new=new) for action in actions or [ActionType.Update]]


def node_changes(old: Node, new: Node) -> list[ClusterEvent]:
    """Name what an update changed about a node; nothing where no plugin can care, as with a heartbeat."""
    actions = []
    if old.unschedulable and not new.unschedulable:
        actions.append(ActionType.UpdateNodeTaint)
    if not _same_amounts(old.status.allocatable, new.status.allocatable):
        actions.append(ActionType.UpdateNodeAllocatable)
    if old.labels != new.labels:
        actions.append(ActionType.UpdateNodeLabel)
    if old.taints != new.taints:
        actions.append(ActionType.UpdateNodeTaint)
    if _conditions(old) != _conditions(new):
        actions.append(ActionType.UpdateNodeCondition)
    if old.annotations != new.annotations:
        actions.append(ActionType.UpdateNodeAnnotation)
    if old.status.declared_features != new.status.declared_features:
        actions.append(ActionType.UpdateNodeDeclaredFeature)
    return [ClusterEvent(Resource.Node, action, old=old, new=new) for action in actions]


def _scales_down(old: Pod, new: Pod) -> bool:
    """Say whether some request went away or became smaller by a thousandth of a unit or more."""
    before, after = old.asked.exact, new.asked.exact
    return before != after and any(
        name not in after or millis(amount) > millis(after[name]) for name, amount in before.items()
    )


def _claims(pod: Pod) -> object:
    """The claims that were generated for the pod."""
    return pod.status.resource_claim_statuses, pod.status.extended_resource_claim_status


def _conditions(node: Node) -> dict[str, str]:
    """Condition statuses by type: heartbeat times do not count."""
    return {condition.type: condition.status for condition in node.status.conditions}


def _same_amounts(one: Quantities, other: Quantities) -> bool:
    """Compare quantities by amount, not by notation."""
    if one == other:
        return True
    return one.keys() == other.keys() and all(nanos(one[name]) == nanos(other[name]) for name in one)
