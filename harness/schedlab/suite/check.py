"""Compares a document with a type and tells everything that does not fit, each thing with its place.

msgspec stops at the first mistake and knows no lines; people want all of them, where they are, with a
suggestion. So this walks the document beside the type. What it lets through, msgspec converts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import yaml
from msgspec import inspect

from schedlab.api.objects import Json
from schedlab.suite import document
from schedlab.suite.expressions import ExpressionError, compiled, is_expression
from schedlab.suite.positions import Problem, did_you_mean
from schedlab.suite.trees import computed_keys

OPERATIONS = "schedlab-operations"
"""`Meta(extra={OPERATIONS: True})` marks a list of operations, which `operations` below checks."""

VARIABLES = "schedlab-variables"
"""`Meta(extra={VARIABLES: names})` marks a field whose expressions its operation evaluates itself, when it
runs, with these variables besides the bindings; in a mapping with variables, keys may be expressions, too."""

Hook = Callable[[yaml.Node], Iterator[Problem]]


@dataclass(frozen=True, slots=True)
class Checker:
    """A walk over one file.

    `operations` checks the lists that are marked as such. With `expressions`, any scalar may be an expression
    instead, since its value is known only when the test runs.
    """

    file: Path
    operations: Hook | None = None
    expressions: bool = False

    def check(self, node: yaml.Node, kind: inspect.Type, what: str = "") -> Iterator[Problem]:
        """The problems of one node against one type; `what` names it in messages."""
        given = variables(kind)
        if isinstance(node, yaml.ScalarNode) and is_expression(node.value) and self.expressions:
            yield from self.expression(node, given or frozenset())
            return
        if given:
            yield from self.keys(node, given)
        yield from self._by_kind(node, kind, what)

    def _by_kind(self, node: yaml.Node, kind: inspect.Type, what: str) -> Iterator[Problem]:
        match kind:
            case inspect.Metadata():
                if OPERATIONS in (kind.extra or {}) and self.operations:
                    yield from self.operations(node)
                else:
                    yield from self.check(node, kind.type, what)
            case inspect.StructType():
                yield from self._struct(node, kind, what)
            case inspect.ListType():
                yield from self._list(node, kind.item_type, what)
            case inspect.DictType():
                yield from self._dict(node, kind.value_type, what)
            case inspect.UnionType():
                yield from self._union(node, kind, what)
            case inspect.AnyType():
                if self.expressions:
                    yield from self.expressions_in(node)
            case _:
                yield from self._scalar(node, kind, what)

    def expression(
        self, node: yaml.Node, given: frozenset[str] = frozenset(), text: str = ""
    ) -> Iterator[Problem]:
        """The problem of an expression that does not compile; the node's own text unless `text` says it."""
        try:
            compiled(text or node.value, given)
        except ExpressionError as error:
            yield self.problem(node, error.message, error.hint)

    def keys(self, node: yaml.Node, given: frozenset[str]) -> Iterator[Problem]:
        """The problems of the expressions in the keys of an assertion tree."""
        for key, text in computed_keys(node):
            yield from self.expression(key, given, text)

    def expressions_in(self, node: yaml.Node) -> Iterator[Problem]:
        """The problems of all expressions below a node."""
        for inner in scalars(node):
            if is_expression(inner.value):
                yield from self.expression(inner)

    def problem(self, node: yaml.Node, message: str, hint: str = "") -> Problem:
        """A problem at a node."""
        return Problem(document.at(self.file, node), message, hint)

    def _struct(self, node: yaml.Node, kind: inspect.StructType, what: str) -> Iterator[Problem]:
        if not isinstance(node, yaml.MappingNode):
            yield self._wrong(node, "a mapping", what)
            return
        fields = {field.encode_name: field for field in kind.fields}
        given = set()
        for key, value in node.value:
            field = fields.get(key.value)
            given.add(key.value)
            if field is None:
                yield self.problem(
                    key, f"unknown field {key.value!r}{_in(what)}", did_you_mean(key.value, list(fields))
                )
            else:
                yield from self.check(value, field.type, key.value)
        for name, field in fields.items():
            if field.required and name not in given:
                yield self.problem(node, f"the field {name!r} is missing{_in(what)}")

    def _list(self, node: yaml.Node, item: inspect.Type, what: str) -> Iterator[Problem]:
        if not isinstance(node, yaml.SequenceNode):
            yield self._wrong(node, "a list", what)
            return
        for value in node.value:
            yield from self.check(value, item, f"an item of {what}" if what else "")

    def _dict(self, node: yaml.Node, item: inspect.Type, what: str) -> Iterator[Problem]:
        if not isinstance(node, yaml.MappingNode):
            yield self._wrong(node, "a mapping", what)
            return
        for key, value in node.value:
            yield from self.check(value, item, key.value)

    def _union(self, node: yaml.Node, kind: inspect.UnionType, what: str) -> Iterator[Problem]:
        """A node fits a union if it fits one member; else the member of the same shape says why not."""
        if isinstance(node, yaml.ScalarNode) and node.tag.endswith(":null") and kind.includes_none:
            return
        members = [member for member in kind.types if not isinstance(member, inspect.NoneType)]
        found = [(member, list(self.check(node, member, what))) for member in members]
        if any(not problems for _, problems in found):
            return
        for member, problems in found:
            if _shape(member) is type(node):
                yield from problems
                return
        yield self._wrong(node, " or ".join(_name(member) for member in members), what)

    def _scalar(self, node: yaml.Node, kind: inspect.Type, what: str) -> Iterator[Problem]:
        if not isinstance(node, yaml.ScalarNode):
            yield self._wrong(node, _name(kind), what)
            return
        value = _value(node)
        try:
            msgspec.convert(value, _python_type(kind))
        except msgspec.ValidationError as error:
            yield self._misfit(node, kind, value, what, str(error))

    def _misfit(
        self, node: yaml.ScalarNode, kind: inspect.Type, value: Json, what: str, reason: str
    ) -> Problem:
        if isinstance(kind, inspect.LiteralType):
            hint = did_you_mean(str(value), [str(known) for known in kind.values])
            return self.problem(node, f"{what or 'this'} cannot be {node.value!r}", hint)
        if isinstance(kind, inspect.StrType) and isinstance(value, str) and kind.pattern:
            return self.problem(
                node, f"{what or 'this'} cannot be {node.value!r}", _PATTERNS.get(kind.pattern, reason)
            )
        if _fits_shape(kind, value):
            return self.problem(node, f"{what or 'this'} cannot be {node.value!r}", reason)
        return self._wrong(node, _name(kind), what)

    def _wrong(self, node: yaml.Node, wanted: str, what: str) -> Problem:
        return self.problem(node, f"{what or 'this'} is {_described(node)}, {wanted} is needed")


def variables(kind: inspect.Type) -> frozenset[str] | None:
    """What the expressions of a field may read, if its operation evaluates them itself; else None."""
    if isinstance(kind, inspect.UnionType):
        return next((found for found in map(variables, kind.types) if found is not None), None)
    if not isinstance(kind, inspect.Metadata):
        return None
    marked = (kind.extra or {}).get(VARIABLES)
    return variables(kind.type) if marked is None else frozenset(marked)


def scalars(node: yaml.Node) -> Iterator[yaml.ScalarNode]:
    """All scalar values below a node; keys are not values."""
    if isinstance(node, yaml.MappingNode):
        for _, value in node.value:
            yield from scalars(value)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            yield from scalars(value)
    elif isinstance(node, yaml.ScalarNode):
        yield node


_PATTERNS: dict[str, str] = {}


def explain_pattern(pattern: str, hint: str) -> str:
    """Say in words what a pattern of a type wants; returns the pattern."""
    _PATTERNS[pattern] = hint
    return pattern


def _in(what: str) -> str:
    return f" in {what}" if what else ""


def _shape(kind: inspect.Type) -> type[yaml.Node]:
    if isinstance(kind, inspect.Metadata):
        return _shape(kind.type)
    if isinstance(kind, inspect.StructType | inspect.DictType):
        return yaml.MappingNode
    return yaml.SequenceNode if isinstance(kind, inspect.ListType) else yaml.ScalarNode


_NAMES: dict[type[inspect.Type], str] = {
    inspect.StrType: "text",
    inspect.IntType: "a whole number",
    inspect.FloatType: "a number",
    inspect.BoolType: "true or false",
    inspect.ListType: "a list",
    inspect.DictType: "a mapping",
    inspect.StructType: "a mapping",
}


def _name(kind: inspect.Type) -> str:
    if isinstance(kind, inspect.Metadata):
        return _name(kind.type)
    if isinstance(kind, inspect.LiteralType):
        return " or ".join(repr(value) for value in kind.values)
    return _NAMES.get(type(kind), "another value")


def _described(node: yaml.Node) -> str:
    if isinstance(node, yaml.MappingNode):
        return "a mapping"
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    if node.tag.endswith(":null"):
        return "empty"
    kind = {"int": "number", "float": "number", "bool": "truth value"}.get(
        node.tag.rsplit(":", 1)[-1], "text"
    )
    return f"the {kind} {node.value!r}"


def _value(node: yaml.ScalarNode) -> Json:
    return yaml.safe_load(node.value) if not node.tag.endswith(":str") else node.value


def _fits_shape(kind: inspect.Type, value: Json) -> bool:
    wanted = {
        inspect.StrType: str,
        inspect.IntType: int,
        inspect.FloatType: (int, float),
        inspect.BoolType: bool,
    }
    return isinstance(value, wanted.get(type(kind), ()))  # type: ignore[arg-type]


def _python_type(kind: inspect.Type) -> Json:
    """The annotation that a leaf of the type information stands for."""
    match kind:
        case inspect.LiteralType():
            return Literal[kind.values]
        case inspect.StrType():
            return _with(str, min_length=kind.min_length, max_length=kind.max_length, pattern=kind.pattern)
        case inspect.IntType():
            return _with(int, ge=kind.ge, gt=kind.gt, le=kind.le, lt=kind.lt)
        case inspect.FloatType():
            return _with(float, ge=kind.ge, gt=kind.gt, le=kind.le, lt=kind.lt)
        case inspect.BoolType():
            return bool
        case _:
            raise TypeError(
                f"types of documents are made of structs, lists, mappings and plain values, not {kind}"
            )


def _with(base: type, **constraints: Json) -> Json:
    return Annotated[base, msgspec.Meta(**{k: v for k, v in constraints.items() if v is not None})]
