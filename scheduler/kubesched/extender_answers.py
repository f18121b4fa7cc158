"""What an extender answers, read as Go reads it: keys match whatever their case, null is absent.

The field names are those of `k8s.io/kube-scheduler/extender/v1/types.go` (1.36), in lower case. Names of
nodes are data, and keep theirs.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from typing import TypeVar

import msgspec

Answer = TypeVar("Answer")


def _joined(name: str) -> str:
    return name.replace("_", "")


class _Answer(msgspec.Struct, frozen=True, rename=_joined):
    """A struct of the protocol; unknown fields are skipped."""


class Metadata(_Answer, frozen=True):
    """Of a node, its name."""

    name: str = ""


class NamedNode(_Answer, frozen=True):
    """Of a node, what says which one it is."""

    metadata: Metadata = Metadata()


class NodeList(_Answer, frozen=True):
    """The nodes that stay."""

    items: list[NamedNode] | None = None


class FilterResult(_Answer, frozen=True):
    """`ExtenderFilterResult`."""

    nodes: NodeList | None = None
    node_names: list[str] | None = None
    failed_nodes: dict[str, str] | None = None
    failed_and_unresolvable_nodes: dict[str, str] | None = None
    error: str | None = None


class HostPriority(_Answer, frozen=True):
    """`HostPriority`: a node's score."""

    host: str = ""
    score: int = 0


class MetaPod(_Answer, frozen=True):
    """`MetaPod`."""

    uid: str = ""


class MetaVictims(_Answer, frozen=True):
    """`MetaVictims`."""

    pods: list[MetaPod] | None = None
    num_pdb_violations: int = 0


class ExtenderPreemptionResult(_Answer, frozen=True):
    """`ExtenderPreemptionResult`."""

    node_name_to_meta_victims: dict[str, MetaVictims | None] | None = None


class BindingResult(_Answer, frozen=True):
    """`ExtenderBindingResult`."""

    error: str | None = None


def read(body: bytes, kind: type[Answer]) -> Answer:
    """Decode an answer. Raises msgspec.DecodeError or its ValidationError, which names the field."""
    return msgspec.convert(_folded(msgspec.json.decode(body), kind), kind)


def _folded(value: object, kind: object) -> object:
    """The value with the keys of structs in lower case, and without nulls in them."""
    if typing.get_origin(kind) in {typing.Union, types.UnionType}:
        kind = next(item for item in typing.get_args(kind) if item is not types.NoneType)
    if isinstance(value, list) and typing.get_origin(kind) is list:
        return [_folded(item, typing.get_args(kind)[0]) for item in value]
    if not isinstance(value, Mapping):
        return value
    if typing.get_origin(kind) is dict:
        return {key: _folded(item, typing.get_args(kind)[1]) for key, item in value.items()}
    if isinstance(kind, type) and issubclass(kind, _Answer):
        fields = {info.encode_name: info.type for info in msgspec.structs.fields(kind)}
        low = {str(key).lower(): item for key, item in value.items()}
        return {key: _folded(low[key], fields[key]) for key in fields if low.get(key) is not None}
    return value
