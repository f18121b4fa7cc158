"""JMESPath as CEL: the same value where there is one, a refusal where there is not."""

from __future__ import annotations

import pytest

from schedlab.migrate.findings import Untranslatable
from schedlab.migrate.jmespath import translated
from schedlab.suite.expressions import compiled
from schedlab.suite.trees import SUBJECT

SUBJECT_VALUE = {
    "a": {"b": [{"c": 1, "n": "x"}, {"c": 2, "n": "y"}]},
    "x-y": 5,
    "flag": True,
    "text": "scheduler",
}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("a.b[1].c", 2),
        ('"x-y"', 5),
        ("length(a.b)", 2),
        ("a.b[?c > `1`]", [{"c": 2, "n": "y"}]),
        ("a.b[?n == 'x'].c", [1]),
        ("a.b[?n == 'x'].c | [0]", 1),
        ("a.b[*].n", ["x", "y"]),
        ("length(a.b[?c >= `1` && n != 'x'])", 1),
        ("flag && length(a.b) == `2`", True),
        ("!flag || starts_with(text, 'sched')", True),
        ("a.gone == null", True),
        ("a.b != null", True),
        ("$n + 1 == a.b[1].c + $n - 1", True),
        ("2 * (1 + 2)", 6),
        ("join('-', [text, $s])", "scheduler-z"),
        ("contains(['a', 'b'], 'b')", True),
        ("to_string(a.b[0].c)", "1"),
        ("length(@)", 4),
    ],
)
def test_what_is_translated_has_the_same_value(expression: str, value: object) -> None:
    """Worked out by CEL."""
    text = f"({translated(expression)})"
    bindings = {"n": 3, "s": "z"}
    assert compiled(text, SUBJECT).evaluate(bindings, {"object": SUBJECT_VALUE}) == value


@pytest.mark.parametrize(
    "expression",
    ["nope(a)", "a.*", "a[]", "a[0:2]", "{x: a}", "contains(a, 'x')", "a b", "a.", "&a", "length(a", "a ? b"],
)
def test_what_has_no_counterpart_is_refused(expression: str) -> None:
    """Rather than guessed."""
    with pytest.raises(Untranslatable):
        translated(expression)
