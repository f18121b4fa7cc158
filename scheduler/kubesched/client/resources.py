"""Where the API serves each kind, and which kinds a scheduler watches."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind's place in the API. `selector` is the field selector of every list and watch of it."""

    kind: str
    prefix: str
    plural: str
    namespaced: bool = True
    selector: str = ""

    @property
    def path(self) -> str:
        """The collection, over all namespaces."""
        return f"{self.prefix}/{self.plural}"

    @property
    def is_optional(self) -> bool:
        """An API server may be without this group; the core group is always there."""
        return self.prefix.startswith("/apis/")

    def item(self, name: str, namespace: str = "") -> str:
        """One object."""
        scope = f"/namespaces/{namespace}" if self.namespaced else ""
        return f"{self.prefix}{scope}/{self.plural}/{name}"


_CORE = "/api/v1"
_APPS = "/apis/apps/v1"
_STORAGE = "/apis/storage.k8s.io/v1"
_DRA = "/apis/resource.k8s.io/v1"

# Pods that ended hold nothing, so they are not asked for (upstream `scheduler.NewInformerFactory`).
PODS = Resource("Pod", _CORE, "pods", selector="status.phase!=Succeeded,status.phase!=Failed")
NODES = Resource("Node", _CORE, "nodes", namespaced=False)

# What the scheduler's role may watch, nodes first: a pod handled before its node costs a detour.
WATCHED: tuple[Resource, ...] = (
    NODES,
    Resource("Namespace", _CORE, "namespaces", namespaced=False),
    Resource("Service", _CORE, "services"),
    Resource("ReplicationController", _CORE, "replicationcontrollers"),
    Resource("ReplicaSet", _APPS, "replicasets"),
    Resource("StatefulSet", _APPS, "statefulsets"),
    Resource("PodDisruptionBudget", "/apis/policy/v1", "poddisruptionbudgets"),
    Resource("PersistentVolume", _CORE, "persistentvolumes", namespaced=False),
    Resource("PersistentVolumeClaim", _CORE, "persistentvolumeclaims"),
    Resource("StorageClass", _STORAGE, "storageclasses", namespaced=False),
    Resource("CSINode", _STORAGE, "csinodes", namespaced=False),
    Resource("CSIDriver", _STORAGE, "csidrivers", namespaced=False),
    Resource("CSIStorageCapacity", _STORAGE, "csistoragecapacities"),
    Resource("VolumeAttachment", _STORAGE, "volumeattachments", namespaced=False),
    Resource("DeviceClass", _DRA, "deviceclasses", namespaced=False),
    Resource("ResourceClaim", _DRA, "resourceclaims"),
    Resource("ResourceSlice", _DRA, "resourceslices", namespaced=False),
    PODS,
)
