"""One node of one world as plain attributes: all that a per-node plugin needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kubesched.api.base import derived
from kubesched.api.node import Node
from kubesched.api.pod import HostPort, Pod
from kubesched.api.resources import PODS
from kubesched.api.taints import Taint
from kubesched.state.images import ImageState

if TYPE_CHECKING:
    from kubesched.state.view import View


class NodeView:
    """A node with its pods, as world k of a view has it.

    Amounts: cpu in milli, everything else in base units.
    """

    object: Node

    def __init__(self, view: View, k: int, node: Node) -> None:
        self._view = view
        self._k = k
        self.object = node

    @property
    def name(self) -> str:
        """The node's name."""
        return self.object.name

    @property
    def labels(self) -> Mapping[str, str]:
        """The node's labels."""
        return self.object.labels

    @property
    def annotations(self) -> Mapping[str, str]:
        """The node's annotations."""
        return self.object.annotations

    @property
    def taints(self) -> tuple[Taint, ...]:
        """The node's taints."""
        return self.object.taints

    @property
    def unschedulable(self) -> bool:
        """The node is cordoned."""
        return self.object.unschedulable

    @property
    def allocatable(self) -> Mapping[str, int]:
        """What pods may take in all; `pods` is how many there may be."""
        return self.object.allocatable

    @derived
    def requested(self) -> Mapping[str, int]:
        """What the pods take; `pods` is how many there are. Every resource the node has is named."""
        nodes = self._view.cluster.nodes
        amounts = dict(zip(nodes.resources, self._view.requested[self._k].tolist(), strict=True))
        named = {name: n for name, n in amounts.items() if n or name in self.allocatable}
        named[PODS] = int(self._view.pod_count[self._k])
        return named

    @derived
    def pods(self) -> Sequence[Pod]:
        """The pods on the node."""
        return self._view.pods(self._k)

    @derived
    def ports(self) -> frozenset[HostPort]:
        """The host ports in use."""
        return self._view.cluster.nodes.port_class(int(self._view.ports()[self._k]))

    @derived
    def images(self) -> Mapping[str, ImageState]:
        """The images on the node by name."""
        nodes = self._view.cluster.nodes
        return nodes.image_class(int(nodes.images[self._view.rows[self._k]]))

    def free(self, resource: str) -> int:
        """What is left of a resource; below zero where the node is overcommitted."""
        return self.allocatable.get(resource, 0) - self.requested.get(resource, 0)
