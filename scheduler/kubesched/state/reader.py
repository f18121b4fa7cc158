"""What plugins may ask of the cluster's state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from kubesched.api.objects import Object
from kubesched.state.changes import Changes
from kubesched.state.nodes import NodeColumns
from kubesched.state.nominator import Nominator
from kubesched.state.pods import PodColumns


class ClusterReader(Protocol):
    """The read side of `Cluster`. Nothing it gives may be written to or kept across an event."""

    @property
    def nodes(self) -> NodeColumns:
        """Nodes as columns."""
        ...

    @property
    def pods(self) -> PodColumns:
        """Pods on nodes, and what is counted of them."""
        ...

    @property
    def nominated(self) -> Nominator:
        """Pods nominated to a node."""
        ...

    @property
    def changes(self) -> Changes:
        """Which objects changed; not nodes and pods, whose changes the node generations tell."""
        ...

    @property
    def epoch(self) -> int:
        """Grows with every change of nodes, pods or objects."""
        ...

    def get(self, kind: str, key: str) -> Object | None:
        """Give one object by `namespace/name` (or name), None if it is not known."""
        ...

    def list(self, kind: str) -> Iterable[Object]:
        """Give all objects of a kind in order of arrival."""
        ...

    def is_assumed(self, uid: str) -> bool:
        """Say whether a pod holds its place only because the scheduler put it there."""
        ...
