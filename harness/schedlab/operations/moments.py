"""The past of some objects, revision by revision, as expressions read it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from schedlab.api.objects import Json, Object, key_of, matches_labels
from schedlab.history.entries import Revision
from schedlab.history.history import History
from schedlab.operations.base import Scope
from schedlab.operations.matching import shown

_NOISE = ("managedFields", "resourceVersion", "generation")
_MOST = 3


@dataclass(frozen=True, slots=True)
class Moment:
    """One revision of one object, its state before, and all objects that existed with it."""

    revision: Revision
    previous: Object | None
    objects: tuple[Object, ...]

    @property
    def given(self) -> dict[str, Json]:
        """What an expression about this moment reads."""
        return {
            "object": _told(self.revision.object),
            "previous": _told(self.previous) if self.previous is not None else None,
            "change": self.revision.type,
            "objects": [_told(item) for item in self.objects],
        }

    def __str__(self) -> str:
        return f"resource version {self.revision.version} of {self.revision.ref}"


def moments(history: History, scope: Scope, wanted: Object, since: int) -> list[Moment]:
    """The moments of the objects that `wanted` is about, oldest first.

    What had its last revision at or before `since` begins there, so that `since` never hides a state.
    """
    found: list[Moment] = []
    present: dict[str, Object] = {}
    chosen = [revision for revision in history if _chosen(revision, scope, wanted)]
    starting = _starting(chosen, since)
    for revision in chosen:
        previous = present.get(revision.uid)
        if revision.type == "DELETED":
            present.pop(revision.uid, None)
        else:
            present[revision.uid] = revision.object
        if revision.version > since or starting.get(revision.uid) is revision:
            found.append(Moment(revision, previous, tuple(present.values())))
    return found


def changed(moment: Moment) -> str:
    """What is different from the state before, in words."""
    if moment.previous is None:
        return "as it first was"
    if moment.revision.type == "DELETED":
        return "it was deleted"
    found = list(_differences(moment.previous, moment.revision.object, ""))
    more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
    return ("; ".join(found[:_MOST]) or "nothing of note changed") + more


def _told(item: Object) -> Object:
    """An object without its managedFields, which are most of it and tell nothing about it."""
    metadata = {key: value for key, value in item["metadata"].items() if key != "managedFields"}
    return {**item, "metadata": metadata}


def _chosen(revision: Revision, scope: Scope, wanted: Object) -> bool:
    metadata = wanted["metadata"]
    ref = revision.ref
    return (
        revision.kind == key_of(wanted)
        and ref.namespace in ("", metadata.get("namespace") or scope.namespace)
        and metadata.get("name") in (None, ref.name)
        and matches_labels(revision.object, metadata.get("labels") or {})
    )


def _starting(chosen: list[Revision], since: int) -> dict[str, Revision]:
    """The state of each object as of a resource version."""
    last: dict[str, Revision] = {}
    for revision in chosen:
        if revision.version > since:
            continue
        if revision.type == "DELETED":
            last.pop(revision.uid, None)
        else:
            last[revision.uid] = revision
    return last


def _differences(before: Json, now: Json, path: str) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*before, *now]):
            if key not in _NOISE:
                yield from _differences(before.get(key), now.get(key), f"{path}.{key}" if path else key)
    elif before != now:
        yield f"{path}: {shown(before)} -> {shown(now)}"
