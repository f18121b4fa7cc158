"""Whatever lists and watch events say, readers get sound sequences."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kubesched.api.objects import Node, ObjectMeta
from kubesched.client.known import Known


def node(name: str, uid: str, version: int) -> Node:
    return Node(metadata=ObjectMeta(name=name, uid=uid, resource_version=str(version)))


_steps = st.lists(
    st.one_of(
        st.tuples(
            st.sampled_from(["ADDED", "MODIFIED", "DELETED"]),
            st.sampled_from("ab"),
            st.sampled_from(["1", "2", "3"]),
            st.integers(1, 9),
        ),
        st.lists(
            st.tuples(st.sampled_from("ab"), st.sampled_from(["1", "2", "3"]), st.integers(1, 9)), max_size=2
        ),
    ),
    max_size=12,
)


@given(_steps)
def test_every_object_is_added_then_modified_then_deleted(steps):
    """The invariant that all readers rely on, under any order, repetition and loss of events."""
    known = Known()
    alive: dict[str, str] = {}
    for step in steps:
        if isinstance(step, list):
            changes = known.replace(node(*item) for item in step)
        else:
            kind, *rest = step
            changes = known.apply(kind, node(*rest))
        for change in changes:
            name, uid = change.object.name, change.object.uid
            if change.type == "ADDED":
                assert name not in alive
                assert change.old is None
                alive[name] = uid
            else:
                assert alive[name] == uid
                assert change.old is not None
                assert change.old.uid == uid
                if change.type == "DELETED":
                    del alive[name]
        if isinstance(step, list):
            assert set(alive) == {name for name, _, _ in step}
    assert len(known) == len(alive)


def test_a_list_is_believed_even_if_it_is_older():
    """Data restored from a backup has smaller versions."""
    known = Known()
    known.apply("ADDED", node("a", "1", 100))
    assert [c.type for c in known.replace([node("a", "1", 5)])] == ["MODIFIED"]
    assert [c.type for c in known.apply("MODIFIED", node("a", "1", 6))] == ["MODIFIED"]


def test_a_deletion_carries_the_last_state():
    known = Known()
    known.apply("ADDED", node("a", "1", 5))
    (change,) = known.apply("DELETED", node("a", "1", 9))
    assert change.object.metadata.resource_version == "9"
    assert change.old.metadata.resource_version == "5"
