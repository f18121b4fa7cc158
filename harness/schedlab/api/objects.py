"""What the harness knows about any object: its kind, its name, and how to speak of it.

Objects are the API's JSON as plain dictionaries; nothing is dropped and nothing is defaulted.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

Json: TypeAlias = Any
"""Any value that JSON has; what it is depends on the object."""

Object: TypeAlias = dict[str, Any]


class Ref(msgspec.Struct, frozen=True):
    """One object, named: enough to find it again and to print it."""

    kind: str
    name: str
    namespace: str = ""
    uid: str = ""

    def __str__(self) -> str:
        where = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {where}{self.name}"


def kind_key(api_version: str, kind: str) -> str:
    """`Pod` for core kinds, `Event.events.k8s.io` for the others: versions of one kind are one kind."""
    group, slash, _ = api_version.partition("/")
    return f"{kind}.{group}" if slash else kind


def key_of(item: Object) -> str:
    """The `kind_key` of an object."""
    return kind_key(str(item.get("apiVersion", "")), str(item.get("kind", "")))


def ref_of(item: Object) -> Ref:
    """The reference to an object, as complete as the object is."""
    metadata = item.get("metadata") or {}
    return Ref(
        kind=str(item.get("kind", "")),
        name=str(metadata.get("name", "")),
        namespace=str(metadata.get("namespace", "")),
        uid=str(metadata.get("uid", "")),
    )


def version_of(item: Object) -> int:
    """The resource version as a number, 0 if there is none.

    One etcd holds all kinds, so its versions order writes of different kinds, too; and since 1.35 the API
    promises that versions are comparable as integers.
    """
    text = str((item.get("metadata") or {}).get("resourceVersion") or "0")
    return int(text) if text.isdigit() else 0


def matches_labels(item: Object, selector: dict[str, str]) -> bool:
    """True if the object carries every label of `selector`."""
    labels = (item.get("metadata") or {}).get("labels") or {}
    return all(labels.get(key) == value for key, value in selector.items())
