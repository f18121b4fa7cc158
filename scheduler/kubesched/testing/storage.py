"""Storage in one line: `claim("c", storage_class="fast", size="5Gi")`, `volume("v", zone="a")`.

Claims and volumes are found in each other by name; `claim(..., bound_to="v")` is a claim whose binding is
complete.
"""

from __future__ import annotations

from collections.abc import Mapping

from kubesched.api.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubesched.api.base import ObjectMeta
from kubesched.api.labels import LabelSelector
from kubesched.api.objects import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from kubesched.api.storage import (
    CSIDriverSpec,
    CSINodeDriver,
    CSINodeSpec,
    CSIPersistentVolumeSource,
    ObjectReference,
    PersistentVolumeClaimStatus,
    PersistentVolumeSpec,
    PhaseStatus,
    TopologySelectorLabelRequirement,
    TopologySelectorTerm,
    VolumeNodeAffinity,
    VolumeNodeResources,
)
from kubesched.api.volumes import PersistentVolumeClaimSpec, VolumeResources
from kubesched.testing.builders import ZONE

DRIVER = "csi.example.com"
_ONCE = "ReadWriteOnce"


def storage_class(
    name: str, *, provisioner: str = DRIVER, waits: bool = True, zones: tuple[str, ...] = ()
) -> StorageClass:
    """Make a class; it waits for a consumer and provisions everywhere, unless told otherwise."""
    only = TopologySelectorLabelRequirement(key=ZONE, values=zones)
    return StorageClass(
        metadata=ObjectMeta(name=name),
        provisioner=provisioner,
        volume_binding_mode="WaitForFirstConsumer" if waits else "Immediate",
        allowed_topologies=(TopologySelectorTerm(match_label_expressions=(only,)),) if zones else (),
    )


def claim(
    name: str,
    *,
    storage_class: str | None = "standard",
    size: str = "1Gi",
    bound_to: str = "",
    mode: str = _ONCE,
    selector: LabelSelector | None = None,
    annotations: Mapping[str, str] | None = None,
) -> PersistentVolumeClaim:
    """Make a claim in namespace default."""
    completed = {"pv.kubernetes.io/bind-completed": "yes"} if bound_to else {}
    return PersistentVolumeClaim(
        metadata=ObjectMeta(
            name=name,
            namespace="default",
            uid=f"uid-claim-{name}",
            resource_version="1",
            annotations={**completed, **(annotations or {})},
        ),
        spec=PersistentVolumeClaimSpec(
            storage_class_name=storage_class,
            volume_name=bound_to,
            access_modes=(mode,),
            selector=selector,
            resources=VolumeResources(requests={"storage": size}),
        ),
        status=PersistentVolumeClaimStatus(phase="Bound" if bound_to else "Pending"),
    )


def volume(
    name: str,
    *,
    storage_class: str = "standard",
    size: str = "1Gi",
    zone: str | None = None,
    mode: str = _ONCE,
    claimed_by: str = "",
    labels: Mapping[str, str] | None = None,
    phase: str = "Available",
) -> PersistentVolume:
    """Make a volume of the example driver, reached from everywhere or from one zone."""
    term = NodeSelectorTerm(
        match_expressions=(NodeSelectorRequirement(key=ZONE, operator="In", values=(zone or "",)),)
    )
    affinity = VolumeNodeAffinity(required=NodeSelector(node_selector_terms=(term,)))
    holder = ObjectReference(
        kind="PersistentVolumeClaim", namespace="default", name=claimed_by, uid=f"uid-claim-{claimed_by}"
    )
    return PersistentVolume(
        metadata=ObjectMeta(name=name, resource_version="1", labels=dict(labels or {})),
        spec=PersistentVolumeSpec(
            capacity={"storage": size},
            access_modes=(mode,),
            storage_class_name=storage_class,
            node_affinity=affinity if zone else None,
            claim_ref=holder if claimed_by else None,
            csi=CSIPersistentVolumeSource(driver=DRIVER, volume_handle=f"handle-{name}"),
        ),
        status=PhaseStatus(phase=phase),
    )


def csi_node(name: str, limit: int | None = None, driver: str = DRIVER) -> CSINode:
    """Make the CSINode of a node on which the driver runs, with a limit of volumes."""
    allocatable = None if limit is None else VolumeNodeResources(count=limit)
    runs = CSINodeDriver(name=driver, node_id=name, allocatable=allocatable)
    return CSINode(metadata=ObjectMeta(name=name), spec=CSINodeSpec(drivers=(runs,)))


def csi_driver(name: str = DRIVER, *, tracks_capacity: bool = True) -> CSIDriver:
    """Make a driver."""
    return CSIDriver(metadata=ObjectMeta(name=name), spec=CSIDriverSpec(storage_capacity=tracks_capacity))


def capacity(
    name: str, amount: str, *, storage_class: str = "standard", zone: str = "", largest: str | None = None
) -> CSIStorageCapacity:
    """Make a report of how much a class can still provision, in one zone or everywhere."""
    return CSIStorageCapacity(
        metadata=ObjectMeta(name=name, namespace="default"),
        node_topology=LabelSelector(match_labels={ZONE: zone} if zone else {}),
        storage_class_name=storage_class,
        capacity=amount,
        maximum_volume_size=largest,
    )
