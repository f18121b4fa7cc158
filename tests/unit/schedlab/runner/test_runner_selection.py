"""Tests are selected with kubectl's label selectors."""

from __future__ import annotations

import pytest

from schedlab.errors import UsageError
from schedlab.runner.selection import pattern, selector

LABELS = {"area": "filters", "tier": "conformance"}


@pytest.mark.parametrize(
    ("text", "yes"),
    [
        ("", True),
        ("area=filters", True),
        ("area==filters,tier=conformance", True),
        ("area=spread", False),
        ("area!=spread", True),
        ("tier!=conformance", False),
        ("slow!=yes", True),
        ("area in (filters, spread)", True),
        ("area in (spread),tier", False),
        ("area notin (spread,taints)", True),
        ("tier", True),
        ("slow", False),
        ("!slow", True),
        ("!tier", False),
    ],
)
def test_a_selector_selects_as_in_kubectl(text: str, yes: bool) -> None:
    """Each requirement must be met; an absent label equals nothing."""
    assert selector(text)(LABELS) is yes


@pytest.mark.parametrize("text", ["a=b=c", "a in b", "=", "a b"])
def test_what_is_no_selector_is_refused(text: str) -> None:
    """Rather than selecting nothing without a word."""
    with pytest.raises(UsageError, match="label requirement"):
        selector(text)


def test_what_is_no_regular_expression_is_refused() -> None:
    """With the reason."""
    assert pattern("a.*b").search("xaab")
    with pytest.raises(UsageError, match="not a regular expression"):
        pattern("(")
