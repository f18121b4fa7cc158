"""Assertion trees: what is asked with expressions in keys is found, and what is not there is missed."""

from __future__ import annotations

import msgspec
import pytest
from operations_world import SCOPE, World

from schedlab.operations.assert_ import Assert
from schedlab.operations.base import Met, NotYet, Outcome, Scope
from schedlab.operations.error import Error
from schedlab.operations.matching import matches, mismatches

PODS = {"items": [{"name": "a", "cpu": 2}, {"name": "b", "cpu": 3}], "labels": {"x": "1", "y": "1"}}


@pytest.mark.parametrize(
    ("tree", "fits"),
    [
        ({"(size(object.items))": 2}, True),
        ({"(size(object.items))": 3}, False),
        ({"(object.items.exists(i, i.cpu > 2))": True}, True),
        ({"(object.items.all(i, i.cpu > 2))": True}, False),
        ({"(object.items.filter(i, i.cpu > 2))": [{"name": "b"}]}, True),
        ({"(object.items.filter(i, i.cpu > 2))": [{"name": "a"}]}, False),
        ({"items": {"(size(object))": 2}}, True),
        ({"items": {"(size(object))": 1}}, False),
        ({"~.items": {"(object.cpu >= 2)": True}}, True),
        ({"~.items": {"cpu": 2}}, False),
        ({"~.(object.items)": {"(object.cpu < 4)": True}}, True),
        ({"~.labels": "1"}, True),
        ({"~.labels": "2"}, False),
        ({"~i.items": {"(object.cpu == $i + 2)": True}}, True),
        ({"~i.items": {"(object.cpu == $i + 3)": True}}, False),
        ({"(object.items[0].cpu)->least": {"(object + 1 == $least + 1)": True}}, True),
        ({"items->all": {"(size($all) == size(object))": True}}, True),
        ({"(object.nothing.there)": 1}, False),
        ({"(!has(object.nothing))": True}, True),
        ({"(size(object.items))": "($wanted)"}, True),
        ({"(size(object.labels))": "($wanted + 1)"}, False),
    ],
)
def test_a_tree_fits_what_it_describes(tree: dict[str, object], fits: bool) -> None:
    """Expressions, iteration and names, each once true and once not."""
    assert matches(tree, PODS, bindings={"wanted": 2}) is fits


def test_a_mismatch_in_a_computed_key_is_told_with_its_place() -> None:
    """The key as written is the path; an iteration names the element."""
    found = [str(m) for m in mismatches({"~.items": {"(object.cpu)": 2}}, PODS, bindings={})]
    assert found == ["~.items[1].(object.cpu): expected 2, seen 3"]
    missing = [str(m) for m in mismatches({"(object.gone)": 2}, PODS, bindings={})]
    assert missing == [
        '(object.gone): expected 2, seen (object.gone): NOT_FOUND: Key not found in map : "gone"'
    ]


def test_a_backslash_makes_a_key_plain() -> None:
    """So a field that looks like an expression can be asked for."""
    assert matches({"\\(size)": 1, "\\~.x": 2}, {"(size)": 1, "~.x": 2}, bindings={})
    assert not matches({"(1 + 1)": 1}, {"(1 + 1)": 1}, bindings={})


def test_partial_objects_that_are_data_know_no_expressions() -> None:
    """Without bindings a key is a key."""
    assert matches({"(1 + 1)": 1}, {"(1 + 1)": 1})


def ask(kind: type[Assert | Error], world: World, scope: Scope, **tree: object) -> Outcome:
    resource = {"apiVersion": "v1", "kind": "Pod", **tree}
    return msgspec.convert({"resource": resource}, kind).check(world.history, scope)


def test_assert_reads_bindings_in_keys_and_values() -> None:
    """And in the name that picks the object."""
    world = World()
    world.pod("w", node="n-1")
    scope = Scope("ns", {"nodes": ["n-0", "n-1"], "pod": "w"})
    named = {"metadata": {"name": "($pod)", "labels": {"(size(object))": 0}}}
    assert isinstance(ask(Assert, world, scope, **named, spec={"(object.nodeName in $nodes)": True}), Met)
    wrong = ask(Assert, world, scope, **named, spec={"(object.nodeName == $nodes[0])": True})
    assert isinstance(wrong, NotYet)
    assert "expected True, seen False" in wrong.seen


def test_error_is_broken_by_a_tree_that_fits() -> None:
    """The negation of the same tree."""
    world = World()
    world.pod("w", node="n-1")
    assert isinstance(ask(Error, world, SCOPE, spec={"(object.nodeName.startsWith('n'))": True}), NotYet)
    assert isinstance(ask(Error, world, SCOPE, spec={"(object.nodeName.startsWith('x'))": True}), Met)
