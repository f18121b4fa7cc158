"""All kinds a scheduler reads, and how bytes or dictionaries become objects.

An explicit null is an absent field, as in Go's decoder. A kind that is not listed is an error that names it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

import msgspec

from kubesched.api.base import Object, ObjectMeta, OwnerReference
from kubesched.api.devices import DeviceClass, ResourceClaim, ResourceSlice
from kubesched.api.node import Node
from kubesched.api.pod import Pod
from kubesched.api.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from kubesched.api.workloads import (
    Namespace,
    PodDisruptionBudget,
    PriorityClass,
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
)

__all__ = [
    "KINDS",
    "CSIDriver",
    "CSINode",
    "CSIStorageCapacity",
    "DeviceClass",
    "Namespace",
    "Node",
    "Object",
    "ObjectMeta",
    "OwnerReference",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Pod",
    "PodDisruptionBudget",
    "PriorityClass",
    "ReplicaSet",
    "ReplicationController",
    "ResourceClaim",
    "ResourceSlice",
    "Service",
    "StatefulSet",
    "StorageClass",
    "VolumeAttachment",
    "convert",
    "decode",
]

#: Every kind by its name.
KINDS: dict[str, type[Object]] = {
    kind.kind: kind
    for kind in (
        Pod,
        Node,
        Namespace,
        Service,
        ReplicationController,
        ReplicaSet,
        StatefulSet,
        PodDisruptionBudget,
        PriorityClass,
        PersistentVolume,
        PersistentVolumeClaim,
        StorageClass,
        CSINode,
        CSIDriver,
        CSIStorageCapacity,
        VolumeAttachment,
        DeviceClass,
        ResourceClaim,
        ResourceSlice,
    )
}

_DECODERS: dict[str, msgspec.json.Decoder[Object]] = {
    name: msgspec.json.Decoder(kind) for name, kind in KINDS.items()
}


def decode(kind: str, raw: bytes | msgspec.Raw) -> Object:
    """Decode one object of a kind from JSON. ValueError names the kind and the field that does not fit.

    A null where the type knows none (`metadata.creationTimestamp` it knows) costs a second, slower reading.
    """
    decoder = _DECODERS.get(kind)
    if decoder is None:
        raise _unknown(kind)
    try:
        return decoder.decode(raw)
    except msgspec.DecodeError as error:
        if b"null" not in bytes(raw):
            raise ValueError(f"{kind}: {error}") from error
    return _build(kind, _parsed(kind, raw))


def convert(obj: Mapping[str, Any]) -> Object:
    """Build the object that a dictionary from JSON or YAML describes.

    ValueError names kind, object and field.
    """
    kind = obj.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise _unknown(kind)
    return _build(kind, obj)


def _parsed(kind: str, raw: bytes | msgspec.Raw) -> object:
    """Read JSON that the typed decoder refused because of a null, or of something else."""
    try:
        return msgspec.json.decode(raw)
    except msgspec.DecodeError as error:
        raise ValueError(f"{kind}: {error}") from error


def _build(kind: str, obj: object) -> Object:
    """Convert a dictionary without its nulls."""
    try:
        return msgspec.convert(_without_nulls(obj), KINDS[kind])
    except msgspec.ValidationError as error:
        meta = obj.get("metadata") if isinstance(obj, Mapping) else None
        name = meta.get("name", "") if isinstance(meta, Mapping) else ""
        raise ValueError(f"{kind} {name!r}: {error}") from error


def _without_nulls(part: object) -> object:
    """Drop fields that are null and write YAML's dates as the API's text."""
    if isinstance(part, Mapping):
        return {key: _without_nulls(inner) for key, inner in part.items() if inner is not None}
    if isinstance(part, list | tuple):
        return [_without_nulls(inner) for inner in part]
    if isinstance(part, dt.datetime):
        moment = part if part.tzinfo else part.replace(tzinfo=dt.UTC)
        return moment.astimezone(dt.UTC).isoformat().replace("+00:00", "Z")
    return part


def _unknown(kind: object) -> ValueError:
    """Say which kinds there are."""
    return ValueError(f"{kind!r} is not a kind this scheduler reads; it reads {', '.join(sorted(KINDS))}")
