"""What a test has changed in the cluster as a whole; the next test must not meet that.

Objects that the test made are undone one by one. This looks for the rest, by comparing what has no namespace
before and after: volumes that a controller made, a PriorityClass or a node of others that was patched. Where
something is different the next test gets a control plane of its own, and the report says why.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from schedlab.api.objects import Object, Ref, key_of, ref_of
from schedlab.history.history import History

_PASSING = frozenset({"Namespace"})
"""Test namespaces go by themselves some time after their test."""

_NOISE = ("managedFields", "resourceVersion", "generation")


def changes(history: History, began: datetime) -> list[str]:
    """In words, what is not as it was when the history began.

    A kind may be watched only from its first mention on; what existed before is told by when it was created.
    """
    stamp = began.strftime("%Y-%m-%dT%H:%M:%SZ")
    before: dict[Ref, Object] = {}
    for revision in history:
        created = str(revision.object["metadata"].get("creationTimestamp") or "")
        if _shared(revision.object) and (revision.initial or created < stamp):
            before.setdefault(_key(revision.object), revision.object)
    now = {_key(item): item for item in history.current if _shared(item)}
    return list(_differences(before, now))


def _differences(before: dict[Ref, Object], now: dict[Ref, Object]) -> Iterator[str]:
    for ref, item in now.items():
        if ref not in before:
            yield f"{ref} is new"
        elif _lasting(item) != _lasting(before[ref]):
            yield f"{ref} was changed"
    for ref in before:
        if ref not in now:
            yield f"{ref} is gone"


def _shared(item: Object) -> bool:
    """An object of the whole cluster, which stays."""
    ref = ref_of(item)
    return not ref.namespace and ref.kind not in _PASSING and not item["metadata"].get("deletionTimestamp")


def _key(item: Object) -> Ref:
    return Ref(kind=key_of(item), name=ref_of(item).name)


def _lasting(item: Object) -> Object:
    """An object without its state and without what every write changes."""
    metadata = {key: value for key, value in item["metadata"].items() if key not in _NOISE}
    return {key: value for key, value in item.items() if key != "status"} | {"metadata": metadata}
