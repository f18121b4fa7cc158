"""The judge reads quantities, selectors and taints by itself."""

from __future__ import annotations

from fractions import Fraction

import pytest

from schedlab.judge import values


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("0", 0),
        ("1", 1),
        ("100m", Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        (".5", Fraction(1, 2)),
        ("1e3", 1000),
        ("1E3", 1000),
        ("1E", 10**18),
        ("1Ei", 2**60),
        ("1.5Gi", 3 * 2**29),
        ("129e6", 129_000_000),
        ("5n", Fraction(5, 10**9)),
        ("7u", Fraction(7, 10**6)),
        ("-3k", -3000),
        ("12Mi", 12 * 2**20),
    ],
)
def test_quantities_are_exact(text, exact):
    assert values.quantity(text) == exact


@pytest.mark.parametrize("text", ["", "m", "1mm", "1 Gi", "one", "1KiB", "1K"])
def test_what_is_not_a_quantity_is_an_error(text):
    with pytest.raises(ValueError, match="is not a quantity"):
        values.quantity(text)


def test_amounts_are_rounded_up_once():
    assert values.amount("cpu", Fraction(1, 3)) == 334
    assert values.amount("memory", Fraction(3333333333, 1000)) == 3333334


@pytest.mark.parametrize(
    ("operator", "given", "expected"),
    [
        ("In", ["a", "b"], True),
        ("In", ["c"], False),
        ("NotIn", ["a"], False),
        ("NotIn", ["c"], True),
        ("Exists", [], True),
        ("DoesNotExist", [], False),
    ],
)
def test_set_operators_on_a_label_that_is_there(operator, given, expected):
    assert values.meets({"k": "a"}, "k", operator, given) is expected


@pytest.mark.parametrize(
    ("operator", "expected"),
    [("In", False), ("NotIn", True), ("Exists", False), ("DoesNotExist", True), ("Gt", False), ("Lt", False)],
)
def test_operators_on_a_label_that_is_missing(operator, expected):
    assert values.meets({}, "k", operator, ["1"]) is expected


@pytest.mark.parametrize(
    ("label", "operator", "bound", "expected"),
    [
        ("10", "Gt", "9", True),
        ("9", "Gt", "9", False),
        ("-1", "Lt", "0", True),
        ("007", "Lt", "8", True),
        ("new", "Gt", "0", False),
        ("1.5", "Gt", "0", False),
        ("9999999999999999999", "Gt", "0", False),
        ("5", "Gt", "x", False),
    ],
)
def test_numbers_compare_as_whole_numbers_of_64_bits(label, operator, bound, expected):
    assert values.meets({"k": label}, "k", operator, [bound]) is expected


def test_an_absent_selector_matches_nothing_and_an_empty_one_everything():
    assert not values.selects(None, {"a": "b"})
    assert values.selects({}, {})
    assert values.is_empty({})
    assert not values.is_empty(None)
    assert not values.is_empty({"matchLabels": {"a": "b"}})


def test_a_selector_demands_all_its_parts():
    selector = {"matchLabels": {"a": "1"}, "matchExpressions": [{"key": "b", "operator": "Exists"}]}
    assert values.selects(selector, {"a": "1", "b": ""})
    assert not values.selects(selector, {"a": "1"})
    assert not values.selects(selector, {"a": "2", "b": ""})


NODE = {"metadata": {"name": "n1", "labels": {"disk": "ssd"}}}
SSD = {"key": "disk", "operator": "In", "values": ["ssd"]}
NAMED = {"key": "metadata.name", "operator": "In", "values": ["n1"]}


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        ({}, False),
        ({"matchExpressions": [SSD]}, True),
        ({"matchFields": [NAMED]}, True),
        ({"matchExpressions": [SSD], "matchFields": [{**NAMED, "operator": "NotIn"}]}, False),
        ({"matchExpressions": [{**SSD, "values": ["hdd"]}], "matchFields": [NAMED]}, False),
    ],
)
def test_a_node_term_demands_expressions_and_fields_and_an_empty_one_matches_nothing(term, expected):
    assert values.term_matches(term, NODE) is expected


TAINT = {"key": "k", "value": "v", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        ({"key": "k", "value": "v"}, True),
        ({"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}, True),
        ({"key": "k", "operator": "Exists"}, True),
        ({"operator": "Exists"}, True),
        ({"key": "k", "value": "w"}, False),
        ({"key": "k"}, False),
        ({"key": "j", "operator": "Exists"}, False),
        ({"operator": "Exists", "effect": "NoExecute"}, False),
    ],
)
def test_tolerations_do_not_ask_about_what_they_leave_empty(toleration, expected):
    assert values.tolerates(toleration, TAINT) is expected
