"""Finds the objects in a history that a partial object asks for: by name, or any of the kind."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import Meta

from schedlab.api.objects import Object, key_of, matches_labels, ref_of
from schedlab.history.history import History
from schedlab.operations.base import Scope
from schedlab.operations.matching import Mismatch, mismatches
from schedlab.operations.resources import Tree

ObjectsVersion: TypeAlias = Annotated[str, Meta(description="The objects' apiVersion.")]
ObjectsKind: TypeAlias = Annotated[str, Meta(description="The objects' kind.")]
ObjectName: TypeAlias = Annotated[
    str | None, Meta(description="The object's name; without it all of the kind, or with `labels`.")
]
ObjectLabels: TypeAlias = Annotated[dict[str, str], Meta(description="Labels of the objects.")]
ObjectsNamespace: TypeAlias = Annotated[
    str | None, Meta(description="Where they are, instead of the test's namespace.")
]


def candidates(history: History, scope: Scope, wanted: Object) -> list[Object]:
    """The objects that may be meant: of the kind, in the namespace, with the name or labels.

    A kind without namespaces has objects without one, so those are candidates in any case.
    """
    metadata = wanted.get("metadata") or {}
    where = str(metadata.get("namespace") or scope.namespace)
    name = metadata.get("name")
    labels = metadata.get("labels") or {}
    return [
        item
        for item in history.current.list(key_of(wanted))
        if ref_of(item).namespace in ("", where)
        and name in (None, ref_of(item).name)
        and matches_labels(item, labels)
    ]


def closest(
    wanted: Tree, found: list[Object], scope: Scope, *, exact: bool
) -> tuple[Object, list[Mismatch]] | None:
    """The object that lacks the least of what is wanted, with what it lacks."""
    judged = [
        (item, list(mismatches(wanted.body, item, exact=exact, bindings=scope.bindings))) for item in found
    ]
    return min(judged, key=lambda pair: len(pair[1]), default=None)


def title(wanted: Object, scope: Scope) -> str:
    """A partial object in words."""
    metadata = wanted.get("metadata") or {}
    if metadata.get("name"):
        return f"{wanted.get('kind')} {metadata['name']}"
    labels = ",".join(f"{key}={value}" for key, value in (metadata.get("labels") or {}).items())
    return f"a {wanted.get('kind')}" + (
        f" with {labels}" if labels else f" in {metadata.get('namespace') or scope.namespace}"
    )
