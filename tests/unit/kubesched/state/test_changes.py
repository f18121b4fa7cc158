"""Which objects changed since somebody last looked."""

from __future__ import annotations

from kubesched.state import changes
from kubesched.state.changes import Changes
from kubesched.state.events import WatchEvent
from kubesched.testing.builders import cluster, namespace
from kubesched.testing.storage import claim


def test_a_reader_hears_of_what_happened_since_its_mark() -> None:
    """Kind by kind, in order, as often as it happened."""
    log = Changes()
    log.note("A", "x")
    mark = log.mark("A")
    assert (list(log.since("A", 0) or ()), list(log.since("A", mark) or ())) == (["x"], [])
    for key in ("y", "x", "y"):
        log.note("A", key)
    log.note("B", "z")
    assert list(log.since("A", mark) or ()) == ["y", "x", "y"]


def test_nothing_is_known_of_a_kind_that_never_changed() -> None:
    """And nothing happened to it."""
    log = Changes()
    assert (log.mark("A"), list(log.since("A", 0) or ())) == (0, [])


def test_a_reader_that_was_away_for_too_long_is_told_so(monkeypatch) -> None:
    """The memory is bounded; a recent mark is still good."""
    monkeypatch.setattr(changes, "_ROOM", 4)
    log = Changes()
    for number in range(9):
        log.note("A", str(number))
    assert log.mark("A") == 9
    assert log.since("A", 3) is None
    assert list(log.since("A", 4) or ()) == ["4", "5", "6", "7", "8"]


def test_the_cluster_notes_what_comes_changes_and_goes() -> None:
    """A deletion of what is not known is no change."""
    state = cluster(namespace("default"))
    mark = state.changes.mark("PersistentVolumeClaim")
    for kind in ("ADDED", "MODIFIED", "DELETED", "DELETED"):
        state.apply(WatchEvent(kind, claim("c")))
    assert list(state.changes.since("PersistentVolumeClaim", mark) or ()) == ["default/c"] * 3
