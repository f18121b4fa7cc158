"""Label selectors: the API struct, and a compiled selector that is compared and hashed by content.

Follows upstream apimachinery `pkg/labels/selector.go` and `meta/v1.LabelSelectorAsSelector`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import msgspec

from kubesched.api.base import Value


class LabelSelectorRequirement(Value, frozen=True):
    """`matchExpressions[]` of a label selector."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(Value, frozen=True):
    """A label selector as the API stores it: all parts must match; empty matches everything."""

    match_labels: dict[str, str] = msgspec.field(default_factory=dict)
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()


class Operator(StrEnum):
    """How a requirement compares a label with its values."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"
    GT = "Gt"
    LT = "Lt"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on one label key. Build it with `requirement`, which validates."""

    key: str
    operator: Operator
    values: frozenset[str]

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Say whether the labels meet the condition; NotIn and DoesNotExist hold where the key is absent."""
        return self.admits(labels.get(self.key))

    def admits(self, value: str | None) -> bool:
        """Say whether one value of the key (None: the key is absent) meets the condition."""
        match self.operator:
            case Operator.IN:
                return value in self.values
            case Operator.NOT_IN:
                return value not in self.values
            case Operator.EXISTS:
                return value is not None
            case Operator.DOES_NOT_EXIST:
                return value is None
        number, bound = _integer(value), _integer(next(iter(self.values)))
        if number is None or bound is None:
            return False
        return number > bound if self.operator is Operator.GT else number < bound


def requirement(key: str, operator: str, values: tuple[str, ...]) -> Requirement:
    """Build a requirement; ValueError says which operator or number of values is not allowed."""
    try:
        known = Operator(operator)
    except ValueError:
        allowed = ", ".join(Operator)
        raise ValueError(f"{operator!r} is not a valid label selector operator (one of {allowed})") from None
    match known:
        case Operator.IN | Operator.NOT_IN if not values:
            raise ValueError(f"{key}: for 'In' and 'NotIn' operators, values must be non-empty")
        case Operator.EXISTS | Operator.DOES_NOT_EXIST if values:
            raise ValueError(f"{key}: values must be empty for 'Exists' and 'DoesNotExist'")
        case Operator.GT | Operator.LT if len(values) != 1 or _integer(values[0]) is None:
            raise ValueError(f"{key}: for 'Gt' and 'Lt' operators, exactly one integer value is required")
    return Requirement(key, known, frozenset(values))


@dataclass(frozen=True, slots=False)
class Selector:
    """A compiled selector: all requirements hold. `nothing` is the selector of a nil LabelSelector."""

    requirements: frozenset[Requirement] = frozenset()
    nothing: bool = field(default=False)

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Say whether the labels meet every requirement."""
        if self.nothing:
            return False
        return all(requirement.matches(labels) for requirement in self.requirements)

    @property
    def is_empty(self) -> bool:
        """It matches everything: no requirement, and not the nil selector."""
        return not self.nothing and not self.requirements

    @cached_property
    def anchor(self) -> tuple[str, str] | None:
        """A (key, value) pair that every match carries, if there is one; indexes file it under that."""
        exact = (r for r in self.requirements if r.operator is Operator.IN and len(r.values) == 1)
        first = min(exact, key=lambda r: r.key, default=None)
        return None if first is None else (first.key, next(iter(first.values)))


#: Matches no labels at all, as a nil label selector does.
NOTHING = Selector(nothing=True)
#: Matches all labels, as an empty label selector does.
EVERYTHING = Selector()


_MOST_COMPILED = 4096
_compiled: dict[object, Selector] = {}


def compile_selector(selector: LabelSelector | None) -> Selector:
    """Compile an API selector; equal ones, which the pods of a workload bring, give the same object.

    None matches nothing, an empty one everything. ValueError on an invalid requirement.
    """
    if selector is None:
        return NOTHING
    content = tuple(selector.match_labels.items()), selector.match_expressions
    known = _compiled.get(content)
    if known is None:
        if len(_compiled) >= _MOST_COMPILED:
            _compiled.clear()
        known = _compiled[content] = _compile(selector)
    return known


def _compile(selector: LabelSelector) -> Selector:
    exact = [
        Requirement(key, Operator.IN, frozenset((value,))) for key, value in selector.match_labels.items()
    ]
    for expression in selector.match_expressions:
        if expression.operator in (Operator.GT, Operator.LT):
            raise ValueError(f"{expression.operator!r} is not a valid label selector operator")
        exact.append(requirement(expression.key, expression.operator, expression.values))
    return Selector(frozenset(exact))


def selector_from_map(labels: Mapping[str, str]) -> Selector:
    """Compile a plain map, as Services and ReplicationControllers have; an empty map matches everything."""
    return Selector(
        frozenset(Requirement(key, Operator.IN, frozenset((value,))) for key, value in labels.items())
    )


def _integer(text: str | None) -> int | None:
    """Read an int64 as Go's strconv.ParseInt(text, 10, 64) does, None where that fails."""
    if text is None:
        return None
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit()):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None
