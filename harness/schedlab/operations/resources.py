"""`file:` or inline `resource:`: the objects that an operation is about."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from msgspec import Meta

from schedlab.api.objects import Json, Object
from schedlab.operations.base import OperationError, Scope
from schedlab.suite.expressions import substitute

File: TypeAlias = Annotated[
    str | None, Meta(description="A YAML file beside the test, with one or more objects. This or `resource`.")
]
Resource: TypeAlias = Annotated[dict[str, Any] | None, Meta(description="The object itself. This or `file`.")]


def documents(file: str | None, resource: Object | None, scope: Scope, **more: Json) -> list[Object]:
    """The objects, with expressions replaced; `more` is bound besides the scope's bindings.

    Raises:
        OperationError: neither or both are given.
        ExpressionError: an expression has no value.
    """
    bindings = {**scope.bindings, **more}
    if (file is None) == (resource is None):
        raise OperationError("give either `file` or `resource`", hint="one of the two, not both")
    if resource is not None:
        found: list[Object] = [substitute(resource, bindings)]
        return found
    return [substitute(item, bindings) for item in scope.files[str(file)]]


def one(file: str | None, resource: Object | None, scope: Scope, **more: Json) -> Object:
    """The only object.

    Raises:
        OperationError: there are several.
    """
    found = documents(file, resource, scope, **more)
    if len(found) != 1:
        raise OperationError(f"{file} holds {len(found)} objects, this operation takes one")
    return found[0]
