"""What a test changes in the cluster as a whole is seen, what passes by itself is not."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from schedlab.api.objects import Object
from schedlab.history import History, Revision
from schedlab.runner.isolation import changes

BEGAN = datetime(2026, 1, 1, 12, 0, 0, 500_000, tzinfo=UTC)


def item(name: str, kind: str = "PriorityClass", **more: Any) -> Object:
    metadata = {
        "name": name,
        "uid": name,
        "resourceVersion": "1",
        "creationTimestamp": "2026-01-01T11:00:00Z",
    }
    return {"apiVersion": "v1", "kind": kind, "metadata": {**metadata, **more.pop("metadata", {})}, **more}


def history(*revisions: tuple[str, Object, bool]) -> History:
    found = History()
    for change, thing, initial in revisions:
        found.append(Revision(at=BEGAN, type=change, object=thing, initial=initial))  # type: ignore[arg-type]
    return found


def test_what_is_as_it_was_is_no_change() -> None:
    """State, versions and passing objects do not count."""
    before = item("a", status={"x": 1})
    after = item("a", status={"x": 2}, metadata={"resourceVersion": "7"})
    gone = item("b", metadata={"creationTimestamp": "2026-01-01T12:00:00Z"})
    assert changes(history(("ADDED", before, True), ("MODIFIED", after, False)), BEGAN) == []
    assert changes(history(("ADDED", gone, False), ("DELETED", gone, False)), BEGAN) == []
    namespace = item("n", "Namespace", metadata={"creationTimestamp": "2026-01-01T12:00:00Z"})
    pod = item("p", "Pod", metadata={"namespace": "ns", "creationTimestamp": "2026-01-01T12:00:00Z"})
    assert changes(history(("ADDED", namespace, False), ("ADDED", pod, False)), BEGAN) == []


def test_new_changed_and_missing_objects_are_told() -> None:
    """By kind and name."""
    made = item("pv", "PersistentVolume", metadata={"creationTimestamp": "2026-01-01T12:00:00Z"})
    assert changes(history(("ADDED", made, False)), BEGAN) == ["PersistentVolume pv is new"]
    patched = item("a", value=5)
    assert changes(history(("ADDED", item("a", value=1), True), ("MODIFIED", patched, False)), BEGAN) == [
        "PriorityClass a was changed"
    ]
    assert changes(history(("ADDED", item("a"), True), ("DELETED", item("a"), False)), BEGAN) == [
        "PriorityClass a is gone"
    ]


def test_a_kind_that_is_watched_later_is_no_novelty() -> None:
    """What existed before the test is known by its age; a change of it is still seen."""
    assert changes(history(("ADDED", item("system-node-critical"), False)), BEGAN) == []
    late = history(("ADDED", item("a", value=1), False), ("MODIFIED", item("a", value=2), False))
    assert changes(late, BEGAN) == ["PriorityClass a was changed"]
