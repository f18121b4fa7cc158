"""The volumes of a pod, as far as a scheduler reads them."""

from __future__ import annotations

import msgspec

from kubesched.api.base import ObjectMeta, Quantities, Value
from kubesched.api.labels import LabelSelector


class PersistentVolumeClaimVolumeSource(Value, frozen=True, gc=False):
    """A volume that is somebody's claim."""

    claim_name: str = ""
    read_only: bool = False


class VolumeResources(Value, frozen=True):
    """How much storage a claim asks for."""

    requests: Quantities = msgspec.field(default_factory=dict)


class PersistentVolumeClaimSpec(Value, frozen=True):
    """`spec` of a claim, and of the template of an ephemeral volume."""

    access_modes: tuple[str, ...] = ()
    storage_class_name: str | None = None
    volume_name: str = ""
    volume_mode: str | None = None
    selector: LabelSelector | None = None
    resources: VolumeResources = VolumeResources()
    volume_attributes_class_name: str | None = None


class PersistentVolumeClaimTemplate(Value, frozen=True):
    """The claim that an ephemeral volume makes."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


class EphemeralVolumeSource(Value, frozen=True):
    """A volume whose claim lives and dies with the pod."""

    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class GCEPersistentDisk(Value, frozen=True, gc=False):
    """An in-tree Google disk."""

    pd_name: str = ""
    read_only: bool = False


class AWSElasticBlockStore(Value, frozen=True, gc=False):
    """An in-tree Amazon volume."""

    volume_id: str = msgspec.field(default="", name="volumeID")
    read_only: bool = False


class AzureDisk(Value, frozen=True, gc=False):
    """An in-tree Azure disk."""

    disk_uri: str = msgspec.field(default="", name="diskURI")
    kind: str | None = None


class AzureFile(Value, frozen=True, gc=False):
    """An in-tree Azure file share."""

    share_name: str = ""


class Cinder(Value, frozen=True, gc=False):
    """An in-tree OpenStack volume."""

    volume_id: str = msgspec.field(default="", name="volumeID")


class PortworxVolume(Value, frozen=True, gc=False):
    """An in-tree Portworx volume."""

    volume_id: str = msgspec.field(default="", name="volumeID")


class VsphereVolume(Value, frozen=True, gc=False):
    """An in-tree vSphere disk."""

    volume_path: str = ""


class ISCSI(Value, frozen=True, gc=False):
    """An in-tree iSCSI disk."""

    target_portal: str = ""
    iqn: str = ""
    lun: int = 0
    read_only: bool = False


class RBD(Value, frozen=True):
    """An in-tree Ceph block device."""

    monitors: tuple[str, ...] = ()
    image: str = ""
    pool: str = ""
    read_only: bool = False


class CSIVolumeSource(Value, frozen=True, gc=False):
    """An inline CSI volume."""

    driver: str = ""
    read_only: bool = False


class ImageVolumeSource(Value, frozen=True, gc=False):
    """A volume that is an image: ImageLocality counts it."""

    reference: str = ""


class Volume(Value, frozen=True):
    """`spec.volumes[]`; sources that no plugin reads are absent."""

    name: str = ""
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDisk | None = None
    aws_elastic_block_store: AWSElasticBlockStore | None = None
    azure_disk: AzureDisk | None = None
    azure_file: AzureFile | None = None
    cinder: Cinder | None = None
    portworx_volume: PortworxVolume | None = None
    vsphere_volume: VsphereVolume | None = None
    iscsi: ISCSI | None = None
    rbd: RBD | None = None
    csi: CSIVolumeSource | None = None
    image: ImageVolumeSource | None = None
