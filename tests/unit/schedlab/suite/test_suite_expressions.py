"""Expressions are CEL with `$name`; what is wrong with one is said in words."""

from __future__ import annotations

import pytest

from schedlab.suite.expressions import ExpressionError, compiled, is_expression, substitute

GPU = {"gpu": ["g-0", "g-1"], "n": 3, "pod": {"metadata": {"name": "a", "uid": "1"}}, "namespace": "ns"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("($gpu[0])", "g-0"),
        ("($gpu + ['x'])", ["g-0", "g-1", "x"]),
        ("($n + 1)", 4),
        ("(size($gpu) * 8)", 16),
        ("($pod.metadata.name)", "a"),
        ("($namespace)", "ns"),
        ("('$gpu is text')", "$gpu is text"),
        ('("a" + "$n")', "a$n"),
        ("($gpu.map(g, g + '!'))", ["g-0!", "g-1!"]),
        ("($n > 2 ? 'many' : 'few')", "many"),
    ],
)
def test_values(text: str, value: object) -> None:
    """`$` outside of quotes is a binding, even one that CEL reserves as a word."""
    assert compiled(text).evaluate(GPU) == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("($gpu[7])", "index=7"),
        ("($pod.nothing)", "nothing"),
        ("($other)", r"\$other is not bound"),
        ("($n + 'x')", "overload"),
    ],
    ids=["index out of range", "no such key", "no such binding", "types do not fit"],
)
def test_an_expression_without_a_value_says_why(text: str, reason: str) -> None:
    """And the hint shows what the bindings hold."""
    with pytest.raises(ExpressionError, match=reason) as failure:
        compiled(text).evaluate(GPU)
    assert "$" in failure.value.hint


def test_text_that_does_not_compile_says_how_to_write_text() -> None:
    """It may never have been meant as an expression."""
    with pytest.raises(ExpressionError, match="is not an expression") as failure:
        compiled("(not one at all)")
    assert r"\(" in failure.value.hint


@pytest.mark.parametrize(
    ("text", "yes"), [("(a)", True), ("()", False), ("a (b)", False), ("(a) b", False), (3, False)]
)
def test_only_a_whole_value_in_parentheses_is_an_expression(text: object, yes: bool) -> None:
    """`node(s) had taints` is text."""
    assert is_expression(text) is yes


def test_substitution_goes_everywhere_but_into_keys() -> None:
    """A copy; the original stays."""
    tree = {"a": ["($n)", {"b": "($gpu[1])"}], "(c)": "x", "d": r"\(text)"}
    assert substitute(tree, GPU) == {"a": [3, {"b": "g-1"}], "(c)": "x", "d": "(text)"}
    assert tree["a"][0] == "($n)"
