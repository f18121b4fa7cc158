"""The order in which nodes are looked at: round robin over zones.

Follows upstream `backend/cache/node_tree.go`, and `UpdateSnapshot` in `cache.go`: the order is worked out
anew only when a snapshot finds that nodes came or went. A node that changes its zone, or goes and comes back
between two snapshots, keeps its place until then.
"""

from __future__ import annotations

from itertools import chain, zip_longest


class NodeOrder:
    """Zones in the order in which they appeared, nodes in each zone likewise."""

    def __init__(self) -> None:
        self.stale = False
        self._zones: dict[str, dict[str, None]] = {}
        self._zone_of: dict[str, str] = {}
        self._seen: frozenset[str] = frozenset()
        self._names: list[str] = []

    def __contains__(self, name: str) -> bool:
        """Say whether the node is known."""
        return name in self._zone_of

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self._zone_of)

    def put(self, name: str, zone: str) -> None:
        """Add a node, or move it to the end of another zone."""
        known = self._zone_of.get(name)
        if known == zone:
            return
        if known is not None:
            self.remove(name)
        self._zones.setdefault(zone, {})[name] = None
        self._zone_of[name] = zone
        self.stale = True

    def remove(self, name: str) -> None:
        """Forget a node, and its zone with the last node."""
        zone = self._zone_of.pop(name)
        del self._zones[zone][name]
        if not self._zones[zone]:
            del self._zones[zone]
        self.stale = True

    def zone_of(self, name: str) -> str | None:
        """The zone a node counts to."""
        return self._zone_of.get(name)

    def snapshot(self) -> list[str]:
        """Give the names in order, as a snapshot taken now sees them."""
        if self.stale:
            self.stale = False
            if self._seen != self._zone_of.keys():
                self._seen = frozenset(self._zone_of)
                self._names = [
                    name for name in chain(*zip_longest(*self._zones.values())) if name is not None
                ]
        return self._names
