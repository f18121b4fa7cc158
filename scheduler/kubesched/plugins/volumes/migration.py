"""In-tree volumes that CSI drivers have taken over: under which driver and handle those know them.

Azure files and vSphere disks are taken over, too, but the scheduler of 1.36 neither counts nor translates
them.
Follows upstream `csi-translation-lib` (`translate.go`, `plugins/*.go`), `isCSIMigrationOn` in
`nodevolumelimits/utils.go` and `isCSIMigrationOnForPlugin` in `volumebinding/binder.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from kubesched.api.storage import PersistentVolumeSpec
from kubesched.api.volumes import AzureDisk, Volume

Identity: TypeAlias = tuple[str, str]
"""A CSI driver and its handle of a volume."""

ZONE, BETA_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
GCE, AWS, CINDER = "kubernetes.io/gce-pd", "kubernetes.io/aws-ebs", "kubernetes.io/cinder"
_AZURE_DISK, _PORTWORX = "kubernetes.io/azure-disk", "kubernetes.io/portworx-volume"
_AZURE_FILE, _VSPHERE = "kubernetes.io/azure-file", "kubernetes.io/vsphere-volume"
_DRIVERS = {
    GCE: "pd.csi.storage.gke.io",
    AWS: "ebs.csi.aws.com",
    _AZURE_DISK: "disk.csi.azure.com",
    CINDER: "cinder.csi.openstack.org",
    _PORTWORX: "pxd.portworx.com",
    _AZURE_FILE: "file.csi.azure.com",
    _VSPHERE: "csi.vsphere.vmware.com",
}
_NOT_TRANSLATED = frozenset({_AZURE_FILE, _VSPHERE})
_UNSPECIFIED = "UNSPECIFIED"
_SOURCES: Mapping[str, Callable[[Volume | PersistentVolumeSpec], object]] = {
    GCE: lambda source: source.gce_persistent_disk,
    AWS: lambda source: source.aws_elastic_block_store,
    _AZURE_DISK: lambda source: source.azure_disk,
    CINDER: lambda source: source.cinder,
    _PORTWORX: lambda source: source.portworx_volume,
    _AZURE_FILE: lambda source: source.azure_file,
    _VSPHERE: lambda source: source.vsphere_volume,
}


def counted_driver(provisioner: str) -> str:
    """The CSI driver behind a provisioner; empty for an in-tree one whose volumes are not counted."""
    return "" if provisioner in _NOT_TRANSLATED else _DRIVERS.get(provisioner, provisioner)


def driver_of(plugin: str) -> str:
    """The CSI driver that has taken over an in-tree plugin, counted or not."""
    return _DRIVERS[plugin]


def plugin_of(source: Volume | PersistentVolumeSpec) -> str | None:
    """The in-tree plugin of a volume that a CSI driver has taken over; None for any other volume."""
    return next((plugin for plugin, get in _SOURCES.items() if get(source) is not None), None)


def is_translated(plugin: str) -> bool:
    """Whether the scheduler reads volumes of the plugin as their driver does."""
    return plugin not in _NOT_TRANSLATED


def identity(source: Volume | PersistentVolumeSpec, labels: Mapping[str, str]) -> Identity | None:
    """How the CSI driver knows an in-tree volume; None for one that is not counted.

    `labels` are those of the persistent volume; a volume in a pod has none. Raises ValueError, in upstream's
    words, for one that cannot be translated.
    """
    if (google := source.gce_persistent_disk) is not None:
        return _DRIVERS[GCE], f"projects/{_UNSPECIFIED}/{_google_place(labels)}/disks/{google.pd_name}"
    if (amazon := source.aws_elastic_block_store) is not None:
        return _DRIVERS[AWS], _amazon_id(amazon.volume_id)
    if (azure := source.azure_disk) is not None:
        return _DRIVERS[_AZURE_DISK], _azure_uri(azure)
    if (cinder := source.cinder) is not None:
        return _DRIVERS[CINDER], cinder.volume_id
    if (portworx := source.portworx_volume) is not None:
        return _DRIVERS[_PORTWORX], portworx.volume_id
    return None


def _google_place(labels: Mapping[str, str]) -> str:
    """The zone of the disk, or the region of one that spans zones."""
    zones = (labels.get(BETA_ZONE) or labels.get(ZONE) or _UNSPECIFIED).split("__")
    if len(zones) == 1:
        return f"zones/{zones[0]}"
    regions = set()
    for zone in zones:
        parts = zone.split("-")
        if len(parts) != 3:
            wrong = f"zone in unexpected format, expected: {{locale}}-{{region}}-{{zone}}, got: {zone}"
            raise ValueError(f"failed to get region from zones: {wrong}")
        regions.add("-".join(parts[:2]))
    if len(regions) != 1:
        listed = " ".join(f"{region}:{{}}" for region in sorted(regions))
        raise ValueError(
            f"failed to get region from zones: multiple or no regions gotten from zones, got: map[{listed}]"
        )
    return f"regions/{regions.pop()}"


def _amazon_id(text: str) -> str:
    """The volume's own id in `aws://zone/vol-1234`; a bare id is taken as it is."""
    if not text.startswith("aws://"):
        return text
    found = text.removeprefix("aws://").partition("/")[2].strip("/")
    if not found.startswith("vol-") or "/" in found:
        wrong = f"Invalid format for AWS volume ({text})"
        raise ValueError(f"failed to translate Kubernetes ID to EBS Volume ID {wrong}")
    return found


def _azure_uri(disk: AzureDisk) -> str:
    if disk.kind is not None and disk.kind.lower() != "managed":
        raise ValueError(f"kind({disk.kind}) is not supported in csi migration")
    return disk.disk_uri
