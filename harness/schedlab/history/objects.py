"""All objects as they were at one moment, by kind and name."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping

from schedlab.api.objects import Object, Ref, key_of, matches_labels, ref_of
from schedlab.history.entries import Revision


class Objects:
    """A view that revisions are applied to; objects come back in the order in which they were first seen."""

    def __init__(self) -> None:
        self._kinds: dict[str, dict[tuple[str, str], Object]] = {}

    def apply(self, revision: Revision) -> None:
        """Take one revision in."""
        ref = revision.ref
        known = self._kinds.setdefault(revision.kind, {})
        if revision.type == "DELETED":
            known.pop((ref.namespace, ref.name), None)
        else:
            known[ref.namespace, ref.name] = revision.object

    def get(self, kind: str, name: str, namespace: str = "") -> Object | None:
        """One object, or None. `kind` is `Pod`, or `Event.events.k8s.io` outside the core group."""
        return self._kinds.get(kind, {}).get((namespace, name))

    def list(
        self, kind: str, namespace: str | None = None, labels: Mapping[str, str] | None = None
    ) -> list[Object]:
        """The objects of a kind, of one namespace unless that is None, carrying all `labels`."""
        return [
            item
            for (where, _), item in self._kinds.get(kind, {}).items()
            if namespace in (None, where) and matches_labels(item, dict(labels or {}))
        ]

    def find(self, ref: Ref, kind: str | None = None) -> Object | None:
        """The object that a reference names, if it is still the same one (by uid, if that is known)."""
        found = self.get(kind or ref.kind, ref.name, ref.namespace)
        if found is not None and ref.uid and ref_of(found).uid != ref.uid:
            return None
        return found

    def kinds(self) -> builtins.list[str]:
        """The kinds that have, or have had, an object."""
        return list(self._kinds)

    def __iter__(self) -> Iterator[Object]:
        for known in self._kinds.values():
            yield from known.values()

    def __len__(self) -> int:
        return sum(len(known) for known in self._kinds.values())

    def holds(self, item: Object) -> bool:
        """True if this very revision of the object is the one in view."""
        ref = ref_of(item)
        return self.get(key_of(item), ref.name, ref.namespace) is item
