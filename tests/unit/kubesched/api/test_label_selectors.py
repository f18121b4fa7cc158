"""Label selectors: what they match, and that equal ones are equal."""

from __future__ import annotations

import pytest

from kubesched.api.labels import (
    EVERYTHING,
    NOTHING,
    LabelSelector,
    LabelSelectorRequirement,
    Selector,
    compile_selector,
    requirement,
    selector_from_map,
)


def selector(*expressions: tuple[str, str, tuple[str, ...]], **labels: str) -> Selector:
    made = tuple(LabelSelectorRequirement(key=k, operator=op, values=v) for k, op, v in expressions)
    return compile_selector(LabelSelector(match_labels=labels, match_expressions=made))


@pytest.mark.parametrize(
    ("made", "labels", "matches"),
    [
        pytest.param(selector(app="x"), {"app": "x", "tier": "y"}, True, id="matchLabels wants the pair"),
        pytest.param(selector(app="x"), {"app": "y"}, False, id="another value does not match"),
        pytest.param(selector(app="x"), {}, False, id="an absent key does not match"),
        pytest.param(selector(("a", "In", ("1", "2"))), {"a": "2"}, True, id="In takes any of the values"),
        pytest.param(selector(("a", "NotIn", ("1",))), {}, True, id="NotIn matches an absent key"),
        pytest.param(selector(("a", "NotIn", ("1",))), {"a": "1"}, False, id="NotIn refuses the value"),
        pytest.param(selector(("a", "Exists", ())), {"a": ""}, True, id="Exists takes an empty value"),
        pytest.param(
            selector(("a", "DoesNotExist", ())), {"a": ""}, False, id="DoesNotExist refuses any value"
        ),
        pytest.param(selector(("a", "Exists", ()), app="x"), {"a": "1"}, False, id="all parts must match"),
        pytest.param(EVERYTHING, {}, True, id="an empty selector matches everything"),
        pytest.param(NOTHING, {"app": "x"}, False, id="a nil selector matches nothing"),
    ],
)
def test_selector_matches(made: Selector, labels: dict[str, str], matches: bool) -> None:
    """The rules of apimachinery's labels package."""
    assert made.matches(labels) is matches


def test_nil_and_empty_are_opposites() -> None:
    """Only None compiles to the selector of nothing."""
    assert compile_selector(None) is NOTHING
    assert compile_selector(LabelSelector()) == EVERYTHING
    assert EVERYTHING.is_empty
    assert not NOTHING.is_empty


def test_equal_selectors_are_one() -> None:
    """The order of expressions and values, and the way a pair is written, do not matter."""
    one = selector(("b", "In", ("1", "2")), a="x")
    other = selector(("a", "In", ("x",)), ("b", "In", ("2", "1")))
    assert one == other
    assert len({one, other}) == 1


@pytest.mark.parametrize(
    ("key", "operator", "values", "complaint"),
    [
        pytest.param(
            "a", "Like", ("x",), "'Like' is not a valid label selector operator", id="an unknown operator"
        ),
        pytest.param("a", "In", (), "a: .* non-empty", id="In without values"),
        pytest.param("a", "Exists", ("x",), "a: values must be empty", id="Exists with values"),
        pytest.param("a", "Gt", ("x",), "is not a valid label selector operator", id="Gt is for nodes only"),
    ],
)
def test_invalid_selector_is_refused(
    key: str, operator: str, values: tuple[str, ...], complaint: str
) -> None:
    """The error names what is wrong."""
    with pytest.raises(ValueError, match=complaint):
        selector((key, operator, values))


@pytest.mark.parametrize(
    ("operator", "bound", "value", "admits"),
    [
        pytest.param("Gt", "5", "6", True, id="six is more than five"),
        pytest.param("Gt", "5", "5", False, id="five is not more than five"),
        pytest.param("Lt", "-1", "-2", True, id="negative numbers compare"),
        pytest.param("Gt", "5", "six", False, id="a word is no number"),
        pytest.param("Gt", "5", None, False, id="an absent key is no number"),
        pytest.param("Gt", "5", "9223372036854775808", False, id="beyond int64 is no number"),
        pytest.param("Gt", "5", "+6", True, id="Go reads a plus sign"),
        pytest.param("Gt", "5", "1_0", False, id="Python's underscores are no number"),
    ],
)
def test_numbers_compare_as_int64(operator: str, bound: str, value: str | None, admits: bool) -> None:
    """Gt and Lt read values as strconv.ParseInt does."""
    assert requirement("a", operator, (bound,)).admits(value) is admits


@pytest.mark.parametrize("values", [(), ("1", "2"), ("x",)])
def test_numeric_bound_is_one_integer(values: tuple[str, ...]) -> None:
    """Anything else is refused when the selector is read."""
    with pytest.raises(ValueError, match="exactly one integer"):
        requirement("a", "Gt", values)


def test_anchor_is_a_pair_that_every_match_carries() -> None:
    """What an index may file the selector under; none where no single pair is needed."""
    assert selector(("a", "In", ("1", "2")), b="x").anchor == ("b", "x")
    assert selector(("a", "In", ("1", "2"))).anchor is None
    assert selector_from_map({"z": "1", "y": "2"}).anchor == ("y", "2")
    assert EVERYTHING.anchor is None
