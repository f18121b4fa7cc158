"""Partial matching: what is asked for must be there, in any order; what is not asked for may be."""

from __future__ import annotations

import pytest

from schedlab.operations.matching import matches, mismatches

CONDITIONS = [
    {"type": "Ready", "status": "False", "reason": "X"},
    {"type": "PodScheduled", "status": "True"},
]


@pytest.mark.parametrize(
    ("expected", "seen"),
    [
        pytest.param({"a": 1}, {"a": 1, "b": 2}, id="more fields are no harm"),
        pytest.param(
            [{"type": "PodScheduled"}, {"type": "Ready"}], CONDITIONS, id="lists match in any order"
        ),
        pytest.param([{"type": "Ready"}], CONDITIONS, id="more elements are no harm"),
        pytest.param([1, 1], [1, 2, 1], id="equal elements need one partner each"),
        pytest.param(
            [{"k": 1}, {"k": 1, "v": 2}], [{"k": 1, "v": 2}, {"k": 1}], id="partners are found by exchange"
        ),
        pytest.param({"a": None}, {}, id="null asks for nothing to be there"),
        pytest.param([], [], id="an empty list asks for an empty list"),
        pytest.param([], None, id="an absent list is empty"),
        pytest.param({"a": {}}, {}, id="an empty mapping asks for nothing"),
    ],
)
def test_it_matches(expected: object, seen: object) -> None:
    """The object has all that is asked."""
    assert matches(expected, seen)


@pytest.mark.parametrize(
    ("expected", "seen"),
    [
        pytest.param({"a": 1}, {"a": 2}, id="another value"),
        pytest.param({"a": 1}, {}, id="an absent field"),
        pytest.param({"a": None}, {"a": 1}, id="null, and a value is there"),
        pytest.param([1, 1], [1, 2], id="one element cannot be two"),
        pytest.param([], [1], id="an empty list, and it is not empty"),
        pytest.param({"a": True}, {"a": 1}, id="true is not one"),
        pytest.param({"a": "1"}, {"a": 1}, id="text is not a number"),
        pytest.param({"a": {"b": 1}}, {"a": 1}, id="a mapping is not a number"),
        pytest.param({"a": [1]}, {"a": {"b": 1}}, id="a list is not a mapping"),
    ],
)
def test_it_does_not_match(expected: object, seen: object) -> None:
    """Something that is asked is lacking."""
    assert not matches(expected, seen)


def test_exact_asks_for_length_and_order() -> None:
    """The way out of order-free matching."""
    assert matches([1, 2], [1, 2], exact=True)
    assert not matches([2, 1], [1, 2], exact=True)
    assert not matches([1], [1, 2], exact=True)


def test_a_mismatch_is_explained_with_the_element_of_the_same_key() -> None:
    """Not with the first element, nor with the whole list."""
    found = list(mismatches({"c": [{"type": "Ready", "status": "True"}]}, {"c": CONDITIONS}))
    assert [str(one) for one in found] == ["c[0](type=Ready).status: expected 'True', seen 'False'"]
