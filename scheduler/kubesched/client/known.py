"""What was delivered of one kind, so that every list and every watch event becomes sound changes.

A watch may repeat, skip and coalesce: after a relist objects may be gone, and a deletion followed by a
creation under the same name may arrive as one MODIFIED. Comparing with what was delivered before turns all of
it into sequences that a reader can trust (see `Change`). Follows what client-go's `DeltaFIFO.Replace` and the
scheduler's `updatePod` do together.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from kubesched.api.objects import Object
from kubesched.client.intake import Change

Kind = Literal["ADDED", "MODIFIED", "DELETED"]


class Known:
    """The objects of one kind as last delivered, by key."""

    __slots__ = ("_objects",)

    def __init__(self) -> None:
        self._objects: dict[str, Object] = {}

    def replace(self, objects: Iterable[Object], kept: Iterable[str] = ()) -> list[Change]:
        """The changes that turn what is known into a fresh list: first what vanished, then the list's order.

        `kept` are keys that the list holds in a form nobody could decode: they stay as they are known.
        """
        fresh = {obj.key: obj for obj in objects}
        stay = set(kept)
        gone = [obj for key, obj in self._objects.items() if key not in fresh and key not in stay]
        changes = [change for obj in gone for change in self._step("DELETED", obj)]
        for obj in fresh.values():
            changes += self._step("MODIFIED", obj)
        return changes

    def apply(self, kind: Kind, obj: Object) -> list[Change]:
        """The changes that one watch event means; none when it repeats what is known, or something older.

        Versions of one kind can be ordered (KEP-5504). A list is believed even when it is older, since the
        server's data may have been restored from a backup; a watch is not.
        """
        old = self._objects.get(obj.key)
        return [] if old is not None and _older(obj, old) else self._step(kind, obj)

    def _step(self, kind: Kind, obj: Object) -> list[Change]:
        key = obj.key
        old = self._objects.get(key)
        if kind == "DELETED":
            if old is None:
                return []
            del self._objects[key]
            return [Change("DELETED", obj if old.uid == obj.uid else old, old)]
        if old is not None and _version(old) == _version(obj) and old.uid == obj.uid:
            return []
        self._objects[key] = obj
        if old is None:
            return [Change("ADDED", obj)]
        if old.uid != obj.uid:
            return [Change("DELETED", old, old), Change("ADDED", obj)]
        return [Change("MODIFIED", obj, old)]

    def __len__(self) -> int:
        return len(self._objects)


def _version(obj: Object) -> str:
    return obj.metadata.resource_version


def _older(obj: Object, known: Object) -> bool:
    new, old = _version(obj), _version(known)
    return new.isdigit() and old.isdigit() and int(new) < int(old)
