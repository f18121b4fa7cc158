"""In-tree disks that CSI drivers have taken over: under which driver, handle and topology those know them.

Google's and Amazon's disks are read; the API of this scheduler knows no other in-tree disks. Follows upstream
`csi-translation-lib` (`translate.go`, `plugins/gce_pd.go`, `plugins/aws_ebs.go`, 1.36).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from msgspec.structs import replace

from kubesched.api.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubesched.api.labels import Operator
from kubesched.api.objects import PersistentVolume
from kubesched.api.storage import PersistentVolumeSpec
from kubesched.api.volumes import Volume

Identity: TypeAlias = tuple[str, str]
"""A CSI driver and its handle of a volume."""

GCE, AWS = "kubernetes.io/gce-pd", "kubernetes.io/aws-ebs"
_DRIVERS = {
    GCE: "pd.csi.storage.gke.io",
    AWS: "ebs.csi.aws.com",
    "kubernetes.io/azure-disk": "disk.csi.azure.com",
    "kubernetes.io/cinder": "cinder.csi.openstack.org",
    "kubernetes.io/portworx-volume": "pxd.portworx.com",
    "kubernetes.io/azure-file": "",
    "kubernetes.io/vsphere-volume": "",
}
_ZONE_KEYS = {GCE: "topology.gke.io/zone", AWS: "topology.ebs.csi.aws.com/zone"}
_ZONE, _BETA_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
_REGION, _BETA_REGION = "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"
_UNSPECIFIED = "UNSPECIFIED"


def driver_of(provisioner: str) -> str:
    """The CSI driver behind a provisioner; empty for an in-tree one whose volumes are not counted."""
    return _DRIVERS.get(provisioner, provisioner)


def plugin_of(source: Volume | PersistentVolumeSpec) -> str | None:
    """The in-tree plugin of a volume that a CSI driver has taken over; None for any other volume."""
    if source.gce_persistent_disk is not None:
        return GCE
    return AWS if source.aws_elastic_block_store is not None else None


def identity(source: Volume | PersistentVolumeSpec, labels: Mapping[str, str]) -> Identity | None:
    """How the CSI driver knows an in-tree disk; None for any other volume. Raises ValueError for a bad id."""
    if (disk := source.gce_persistent_disk) is not None:
        zones = (labels.get(_BETA_ZONE) or labels.get(_ZONE) or _UNSPECIFIED).split("__")
        place = f"regions/{zones[0].rpartition('-')[0]}" if len(zones) > 1 else f"zones/{zones[0]}"
        return _DRIVERS[GCE], f"projects/{_UNSPECIFIED}/{place}/disks/{disk.pd_name}"
    if (block := source.aws_elastic_block_store) is not None:
        return _DRIVERS[AWS], _aws_id(block.volume_id)
    return None


def _aws_id(text: str) -> str:
    """The volume's own id in `aws://zone/vol-1234`; a bare id is taken as it is."""
    if not text.startswith("aws://"):
        return text
    found = text.removeprefix("aws://").partition("/")[2].strip("/")
    if not found.startswith("vol-") or "/" in found:
        raise ValueError(f"Invalid format for AWS volume ({text})")
    return found


def translated_affinity(volume: PersistentVolume) -> NodeSelector | None:
    """From which nodes the CSI driver reaches an in-tree disk: its zone key replaces the in-tree one.

    A disk whose affinity names no zone gets the zones of its label.
    """
    affinity = volume.spec.node_affinity
    required = affinity.required if affinity else None
    terms = required.node_selector_terms if required else ()
    zone, region = _keys(volume, terms)
    key = _ZONE_KEYS[plugin_of(volume.spec) or ""]
    if _named(terms, zone):
        terms = _renamed(terms, zone, key)
    elif zone in volume.labels:
        added = NodeSelectorRequirement(
            key=key, operator=Operator.IN.value, values=tuple(volume.labels[zone].split("__"))
        )
        terms = tuple(
            replace(term, match_expressions=(*term.match_expressions, added))
            for term in terms or (NodeSelectorTerm(),)
        )
    if region == _BETA_REGION:
        terms = _renamed(terms, region, _REGION)
    return NodeSelector(node_selector_terms=terms) if terms or required else None


def _keys(volume: PersistentVolume, terms: tuple[NodeSelectorTerm, ...]) -> tuple[str, str]:
    """The zone and region keys in use: those of the affinity before those of the labels."""
    for present in (lambda key: _named(terms, key), volume.labels.__contains__):
        if present(_ZONE):
            return _ZONE, _REGION
        if present(_BETA_ZONE):
            return _BETA_ZONE, _BETA_REGION
    return _ZONE, _REGION


def _named(terms: tuple[NodeSelectorTerm, ...], key: str) -> bool:
    return any(expression.key == key for term in terms for expression in term.match_expressions)


def _renamed(terms: tuple[NodeSelectorTerm, ...], old: str, new: str) -> tuple[NodeSelectorTerm, ...]:
    return tuple(
        replace(
            term,
            match_expressions=tuple(
                replace(expression, key=new) if expression.key == old else expression
                for expression in term.match_expressions
            ),
        )
        for term in terms
    )
