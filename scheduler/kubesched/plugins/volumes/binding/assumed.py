"""Objects as they will be once writes that are under way have been applied.

Follows upstream `volumebinding/passive_assume_cache.go` (1.36): an assumed object counts as long as the
stored one has the version that it was made from.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from kubesched.api.objects import PersistentVolume, PersistentVolumeClaim

if TYPE_CHECKING:
    from kubesched.state import ClusterReader

T = TypeVar("T", PersistentVolume, PersistentVolumeClaim)


class Assumed(Generic[T]):
    """A kind of object as the cluster has it, but for what was assumed of some."""

    def __init__(self, cluster: ClusterReader, kind: type[T]) -> None:
        self._cluster = cluster
        self._kind = kind.kind
        self._assumed: dict[str, T] = {}

    def stored(self, key: str) -> T | None:
        """The object as the API has it."""
        return cast("T | None", self._cluster.get(self._kind, key))

    def current(self, key: str) -> T | None:
        """The object as it will be."""
        found = self.stored(key)
        return None if found is None else self._as_assumed(found)

    def all(self) -> Iterator[T]:
        """All objects as they will be."""
        return (self._as_assumed(cast("T", item)) for item in self._cluster.list(self._kind))

    def assume(self, changed: T) -> None:
        """Let a changed object count. Raises ValueError when the stored one has changed since."""
        self._forget_outdated()
        found, key = self.stored(changed.key), changed.key
        if found is None:
            raise ValueError(f'{self._kind.lower()} "{key}" not found')
        had, has = changed.metadata.resource_version, found.metadata.resource_version
        if had != has:
            raise ValueError(f'"{key}" is out of sync (stored: {has}, assume: {had})')
        self._assumed[key] = changed

    def restore(self, changed: T) -> None:
        """Let the stored object count again, unless something newer was assumed since."""
        known = self._assumed.get(changed.key)
        if known is not None and known.metadata.resource_version == changed.metadata.resource_version:
            del self._assumed[changed.key]

    def _as_assumed(self, found: T) -> T:
        known = self._assumed.get(found.key)
        if known is None or known.metadata.resource_version != found.metadata.resource_version:
            return found
        return known

    def _forget_outdated(self) -> None:
        for key, known in list(self._assumed.items()):
            found = self.stored(key)
            if found is None or found.metadata.resource_version != known.metadata.resource_version:
                del self._assumed[key]
