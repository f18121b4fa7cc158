"""Node selectors: terms, fields and unreadable expressions."""

from __future__ import annotations

import pytest

from kubesched.api.affinity import (
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PreferredSchedulingTerm,
)
from kubesched.api.nodeaffinity import (
    compile_preferred,
    compile_term,
    compile_terms,
    matches_any,
    required_node_affinity,
)
from kubesched.testing.builders import pod

LABELS = {"zone": "a", "gen": "7"}


def term(key: str, operator: str, *values: str) -> NodeSelectorTerm:
    return NodeSelectorTerm(
        match_expressions=(NodeSelectorRequirement(key=key, operator=operator, values=values),)
    )


def named(operator: str, *values: str, key: str = "metadata.name") -> NodeSelectorTerm:
    return NodeSelectorTerm(
        match_fields=(NodeSelectorRequirement(key=key, operator=operator, values=values),)
    )


def admitted(*terms: NodeSelectorTerm) -> bool:
    return matches_any(compile_terms(NodeSelector(node_selector_terms=terms)), LABELS, "n1")


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        pytest.param([term("zone", "In", "a", "b")], True, id="In"),
        pytest.param([term("zone", "NotIn", "a")], False, id="NotIn"),
        pytest.param([term("gen", "Gt", "6")], True, id="Gt compares integers"),
        pytest.param([term("gen", "Lt", "10")], True, id="Lt compares integers, not texts"),
        pytest.param([term("none", "DoesNotExist")], True, id="DoesNotExist"),
        pytest.param([term("zone", "In", "b"), term("gen", "Exists")], True, id="terms are ORed"),
        pytest.param([named("In", "n1")], True, id="the node's name is a field"),
        pytest.param([named("NotIn", "n1")], False, id="the name may be excluded"),
        pytest.param([named("In", "x", key="metadata.uid")], False, id="any other field is empty"),
        pytest.param([NodeSelectorTerm()], False, id="an empty term matches nothing"),
        pytest.param([], False, id="no terms match nothing"),
        pytest.param(
            [term("zone", "Like", "a"), term("zone", "In", "a")], True, id="an unreadable term is passed over"
        ),
    ],
)
def test_selector_admits_node(terms: list[NodeSelectorTerm], expected: bool) -> None:
    """The rules of component-helpers' nodeaffinity package."""
    assert admitted(*terms) is expected


def test_requirements_of_one_term_are_anded() -> None:
    """Expressions and fields alike."""
    both = NodeSelectorTerm(
        match_expressions=(NodeSelectorRequirement(key="zone", operator="In", values=("a",)),),
        match_fields=(NodeSelectorRequirement(key="metadata.name", operator="In", values=("n2",)),),
    )
    assert not admitted(both)


@pytest.mark.parametrize(
    "unreadable",
    [
        pytest.param(term("zone", "Like", "a"), id="an unknown operator"),
        pytest.param(term("gen", "Gt", "x"), id="a bound that is no integer"),
        pytest.param(named("In", "n1", "n2"), id="a field with two values"),
        pytest.param(named("Exists"), id="an operator that fields do not have"),
    ],
)
def test_unreadable_term_is_an_error_when_nothing_else_matches(unreadable: NodeSelectorTerm) -> None:
    """The error comes only then."""
    with pytest.raises(ValueError, match=r"valid|exactly|one element"):
        admitted(unreadable, term("zone", "In", "b"))


def test_pod_requires_selector_and_affinity() -> None:
    """nodeSelector and required affinity must both hold; without either, every node will do."""
    wants = (
        pod("a").node_selector("zone", "a").requires_node("gen", "In", "7").requires_node("gen", "In", "8")
    )
    assert required_node_affinity(wants).matches(LABELS, "n1")
    assert required_node_affinity(wants.node_selector("disk", "ssd")).matches(LABELS, "n1") is False
    assert required_node_affinity(wants).matches({"zone": "b", "gen": "7"}, "n1") is False
    assert required_node_affinity(pod("b")).matches({}, "n1")


def test_preferred_terms_carry_weights() -> None:
    """Terms of weight zero and empty terms are left out, unread."""
    preferred = compile_preferred(
        [
            PreferredSchedulingTerm(weight=3, preference=term("zone", "In", "a")),
            PreferredSchedulingTerm(weight=0, preference=term("zone", "Like", "a")),
            PreferredSchedulingTerm(weight=5, preference=NodeSelectorTerm()),
        ]
    )
    assert [(made.matches(LABELS, "n1"), weight) for made, weight in preferred] == [(True, 3)]


def test_unreadable_preference_is_an_error() -> None:
    """Its weight would be wrong otherwise."""
    with pytest.raises(ValueError, match="'Like'"):
        compile_preferred([PreferredSchedulingTerm(weight=1, preference=term("zone", "Like", "a"))])


def test_term_knows_its_error() -> None:
    """A term that cannot be read matches nothing and says why."""
    made = compile_term(term("zone", "Like", "a"))
    assert made is not None
    assert made.error is not None
    assert not made.matches(LABELS, "n1")
