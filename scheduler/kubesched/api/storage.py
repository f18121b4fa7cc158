"""Volumes, claims, storage classes and what CSI drivers report."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from kubesched.api.affinity import NodeSelector
from kubesched.api.base import Object, Quantities, Value
from kubesched.api.labels import LabelSelector
from kubesched.api.volumes import (
    ISCSI,
    RBD,
    AWSElasticBlockStore,
    AzureDisk,
    AzureFile,
    Cinder,
    GCEPersistentDisk,
    PersistentVolumeClaimSpec,
    PortworxVolume,
    VsphereVolume,
)


class ObjectReference(Value, frozen=True, gc=False):
    """A reference to another object."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class VolumeNodeAffinity(Value, frozen=True):
    """From which nodes a volume can be reached."""

    required: NodeSelector | None = None


class CSIPersistentVolumeSource(Value, frozen=True, gc=False):
    """A volume of a CSI driver."""

    driver: str = ""
    volume_handle: str = ""
    read_only: bool = False


class PersistentVolumeSpec(Value, frozen=True):
    """`spec` of a volume."""

    capacity: Quantities = msgspec.field(default_factory=dict)
    access_modes: tuple[str, ...] = ()
    claim_ref: ObjectReference | None = None
    storage_class_name: str = ""
    volume_mode: str | None = None
    node_affinity: VolumeNodeAffinity | None = None
    csi: CSIPersistentVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDisk | None = None
    aws_elastic_block_store: AWSElasticBlockStore | None = None
    azure_disk: AzureDisk | None = None
    azure_file: AzureFile | None = None
    cinder: Cinder | None = None
    portworx_volume: PortworxVolume | None = None
    vsphere_volume: VsphereVolume | None = None
    iscsi: ISCSI | None = None
    rbd: RBD | None = None
    volume_attributes_class_name: str | None = None


class PhaseStatus(Value, frozen=True):
    """`status` of a volume."""

    phase: str = ""


class PersistentVolume(Object, frozen=True):
    """A persistent volume."""

    kind: ClassVar[str] = "PersistentVolume"
    api_version: ClassVar[str] = "v1"

    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PhaseStatus = PhaseStatus()


class PersistentVolumeClaimStatus(Value, frozen=True):
    """`status` of a claim."""

    phase: str = ""
    capacity: Quantities = msgspec.field(default_factory=dict)


class PersistentVolumeClaim(Object, frozen=True):
    """A persistent volume claim."""

    kind: ClassVar[str] = "PersistentVolumeClaim"
    api_version: ClassVar[str] = "v1"

    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()


class TopologySelectorLabelRequirement(Value, frozen=True):
    """One label of an allowed topology."""

    key: str = ""
    values: tuple[str, ...] = ()


class TopologySelectorTerm(Value, frozen=True):
    """Where a class provisions."""

    match_label_expressions: tuple[TopologySelectorLabelRequirement, ...] = ()


class StorageClass(Object, frozen=True):
    """A storage class."""

    kind: ClassVar[str] = "StorageClass"
    api_version: ClassVar[str] = "storage.k8s.io/v1"

    provisioner: str = ""
    volume_binding_mode: str | None = None
    allowed_topologies: tuple[TopologySelectorTerm, ...] = ()

    @property
    def waits_for_consumer(self) -> bool:
        """Volumes of the class are bound only once a pod that uses them is placed."""
        return self.volume_binding_mode == "WaitForFirstConsumer"


class VolumeNodeResources(Value, frozen=True, gc=False):
    """How many volumes of a driver a node takes."""

    count: int | None = None


class CSINodeDriver(Value, frozen=True):
    """A driver on a node."""

    name: str = ""
    node_id: str = msgspec.field(default="", name="nodeID")
    topology_keys: tuple[str, ...] = ()
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(Value, frozen=True):
    """`spec` of a CSINode."""

    drivers: tuple[CSINodeDriver, ...] = ()


class CSINode(Object, frozen=True):
    """The CSI drivers of a node; the object bears the node's name."""

    kind: ClassVar[str] = "CSINode"
    api_version: ClassVar[str] = "storage.k8s.io/v1"

    spec: CSINodeSpec = CSINodeSpec()


class CSIDriverSpec(Value, frozen=True):
    """`spec` of a CSI driver."""

    storage_capacity: bool | None = None
    attach_required: bool | None = None


class CSIDriver(Object, frozen=True):
    """A CSI driver."""

    kind: ClassVar[str] = "CSIDriver"
    api_version: ClassVar[str] = "storage.k8s.io/v1"

    spec: CSIDriverSpec = CSIDriverSpec()


class CSIStorageCapacity(Object, frozen=True):
    """How much a class can still provision in a topology."""

    kind: ClassVar[str] = "CSIStorageCapacity"
    api_version: ClassVar[str] = "storage.k8s.io/v1"

    node_topology: LabelSelector | None = None
    storage_class_name: str = ""
    capacity: str | int | float | None = None
    maximum_volume_size: str | int | float | None = None


class VolumeAttachmentSource(Value, frozen=True):
    """What is attached."""

    persistent_volume_name: str | None = None
    inline_volume_spec: PersistentVolumeSpec | None = None


class VolumeAttachmentSpec(Value, frozen=True):
    """`spec` of an attachment."""

    attacher: str = ""
    node_name: str = ""
    source: VolumeAttachmentSource = VolumeAttachmentSource()


class VolumeAttachmentStatus(Value, frozen=True):
    """`status` of an attachment."""

    attached: bool = False


class VolumeAttachment(Object, frozen=True):
    """That a volume is, or is to be, attached to a node."""

    kind: ClassVar[str] = "VolumeAttachment"
    api_version: ClassVar[str] = "storage.k8s.io/v1"

    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
    status: VolumeAttachmentStatus = VolumeAttachmentStatus()
