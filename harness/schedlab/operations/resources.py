"""`file:` or inline `resource:`: the objects that an operation is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from msgspec import Meta

from schedlab.api.objects import Json, Object
from schedlab.operations.base import OperationError, Scope
from schedlab.suite.check import VARIABLES
from schedlab.suite.expressions import substitute
from schedlab.suite.trees import SUBJECT, Key, parse

File: TypeAlias = Annotated[
    str | None, Meta(description="A YAML file beside the test, with one or more objects. This or `resource`.")
]
Resource: TypeAlias = Annotated[
    dict[str, Any] | None, Meta(description="The object itself. This or `file`.", extra={VARIABLES: ()})
]
ResourceTree: TypeAlias = Annotated[
    dict[str, Any] | None,
    Meta(description="The assertion tree itself. This or `file`.", extra={VARIABLES: tuple(SUBJECT)}),
]


@dataclass(frozen=True, slots=True)
class Tree:
    """An assertion tree: `body` as written, `head` with what tells which objects it is about."""

    head: Object
    body: Object


def trees(file: str | None, resource: Object | None, scope: Scope) -> list[Tree]:
    """The assertion trees, with expressions replaced in their heads; bodies get theirs when they are matched.

    Raises:
        OperationError: neither or both are given.
        ExpressionError: an expression in a head has no value.
    """
    return [Tree(substitute(_head(body), scope.bindings), body) for body in _written(file, resource, scope)]


def kinds_of(found: Sequence[Tree]) -> list[tuple[str, str]]:
    """The (apiVersion, kind) of each tree."""
    return [(str(tree.head["apiVersion"]), str(tree.head["kind"])) for tree in found]


def _head(body: Object) -> Object:
    metadata = body.get("metadata") or {}
    plain = {key: metadata[key] for key in ("name", "namespace") if key in metadata}
    labels = metadata.get("labels") or {}
    known = {key: value for key, value in labels.items() if parse(key) == Key(key)}
    return {
        "apiVersion": body.get("apiVersion"),
        "kind": body.get("kind"),
        "metadata": {**plain, "labels": known},
    }


def documents(file: str | None, resource: Object | None, scope: Scope, **more: Json) -> list[Object]:
    """The objects, with expressions replaced; `more` is bound besides the scope's bindings.

    Raises:
        OperationError: neither or both are given.
        ExpressionError: an expression has no value.
    """
    bindings = {**scope.bindings, **more}
    return [substitute(item, bindings) for item in _written(file, resource, scope)]


def _written(file: str | None, resource: Object | None, scope: Scope) -> Sequence[Object]:
    if (file is None) == (resource is None):
        raise OperationError("give either `file` or `resource`", hint="one of the two, not both")
    return [resource] if resource is not None else scope.files[str(file)]


def one(file: str | None, resource: Object | None, scope: Scope, **more: Json) -> Object:
    """The only object.

    Raises:
        OperationError: there are several.
    """
    found = documents(file, resource, scope, **more)
    if len(found) != 1:
        raise OperationError(f"{file} holds {len(found)} objects, this operation takes one")
    return found[0]
