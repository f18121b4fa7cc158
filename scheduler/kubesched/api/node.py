"""Nodes."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from kubesched.api import resources
from kubesched.api.base import Object, Quantities, Value, derived
from kubesched.api.taints import Taint

_ZONE, _REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
_BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
_BETA_REGION = "failure-domain.beta.kubernetes.io/region"


class ContainerImage(Value, frozen=True):
    """`status.images[]`: an image on the node, under all its names."""

    names: tuple[str, ...] = ()
    size_bytes: int = 0


class NodeCondition(Value, frozen=True, gc=False):
    """`status.conditions[]` of a node."""

    type: str = ""
    status: str = ""


class AttachedVolume(Value, frozen=True, gc=False):
    """`status.volumesAttached[]`."""

    name: str = ""


class NodeSpec(Value, frozen=True):
    """`spec` of a node."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    provider_id: str = msgspec.field(default="", name="providerID")


class NodeStatus(Value, frozen=True):
    """`status` of a node."""

    capacity: Quantities = msgspec.field(default_factory=dict)
    allocatable: Quantities = msgspec.field(default_factory=dict)
    conditions: tuple[NodeCondition, ...] = ()
    images: tuple[ContainerImage, ...] = ()
    volumes_attached: tuple[AttachedVolume, ...] = ()
    volumes_in_use: tuple[str, ...] = ()
    declared_features: tuple[str, ...] = ()


class Node(Object, frozen=True):
    """A node."""

    kind: ClassVar[str] = "Node"
    api_version: ClassVar[str] = "v1"

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @derived
    def allocatable(self) -> dict[str, int]:
        """What pods may take: cpu in milli, everything else in base units, `pods` included."""
        return resources.allocatable(self.status.allocatable)

    @property
    def taints(self) -> tuple[Taint, ...]:
        """The node's taints."""
        return self.spec.taints

    @property
    def unschedulable(self) -> bool:
        """The node is cordoned."""
        return self.spec.unschedulable

    @derived
    def zone(self) -> str:
        """Region and zone in one text, which tells zones apart; empty where the node names neither.

        The beta labels count first, also when empty (upstream component-helpers `node/topology`).
        """
        labels = self.metadata.labels
        region = labels.get(_BETA_REGION, labels.get(_REGION, ""))
        zone = labels.get(_BETA_ZONE, labels.get(_ZONE, ""))
        return f"{region}:\0:{zone}" if region or zone else ""
