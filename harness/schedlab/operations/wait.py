"""`wait`: until objects are gone, or have a condition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct
from msgspec import field as struct_field

from schedlab.api.objects import Object
from schedlab.history.history import History
from schedlab.operations.base import Assertion, Met, NotYet, OperationError, Outcome, Scope
from schedlab.operations.finding import (
    ObjectLabels,
    ObjectName,
    ObjectsKind,
    ObjectsNamespace,
    ObjectsVersion,
    candidates,
    title,
)
from schedlab.operations.selecting import condition, name_of, refs


class ConditionWanted(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A condition of an object."""

    name: Annotated[str, Meta(description="The condition's type.")]
    value: Annotated[str, Meta(description="Its status.")] = "True"


class WaitFor(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """What to wait for: one of the two."""

    deletion: Annotated[dict[str, Any] | None, Meta(description="`{}`: no such object exists any more.")] = (
        None
    )
    condition: Annotated[ConditionWanted | None, Meta(description="All of them have the condition.")] = None


class Wait(Assertion, kw_only=True):
    """The objects are gone, or have a condition; Chainsaw's `wait`.

    ```yaml
    - wait: {apiVersion: v1, kind: Pod, name: victim, for: {deletion: {}}, within: 20s}
    - wait: {apiVersion: v1, kind: Pod, labels: {app: web}, for: {condition: {name: Ready}}}
    ```
    """

    tag: ClassVar[str] = "wait"

    api_version: ObjectsVersion
    kind: ObjectsKind
    name: ObjectName = None
    labels: ObjectLabels = struct_field(default_factory=dict)
    namespace: ObjectsNamespace = None
    for_: Annotated[WaitFor, Meta(description="`{deletion: {}}` or `{condition: {name: …, value: …}}`.")] = (
        struct_field(name="for")
    )

    def check(self, history: History, scope: Scope) -> Outcome:
        """Met if no object is left, or if all have the condition and there is at least one."""
        wanted = self._wanted()
        found = candidates(history, scope, wanted)
        what = title(wanted, scope)
        if self.for_.condition is not None:
            return self._conditions(history, found, what, self.for_.condition)
        if self.for_.deletion is None:
            raise OperationError(
                "wait for what?", hint="say `for: {deletion: {}}` or `for: {condition: {name: Ready}}`"
            )
        if found:
            return NotYet(f"{what} gone", _left(found[0]), history.since(found[0]), refs(found))
        return Met(f"{what} gone")

    def _conditions(
        self, history: History, found: list[Object], what: str, wanted: ConditionWanted
    ) -> Outcome:
        expected = f"{what} with {wanted.name}={wanted.value}"
        if not found:
            return NotYet(expected, "there is none")
        for item in found:
            stated = condition(item, wanted.name)
            status = (stated or {}).get("status")
            if status != wanted.value:
                seen = (
                    f"{name_of(item)} has {wanted.name}={status}"
                    if stated
                    else f"{name_of(item)} has no {wanted.name}"
                )
                return NotYet(expected, seen, history.since(item), refs([item]))
        return Met(f"{len(found)} have {wanted.name}={wanted.value}", refs(found))

    def _wanted(self) -> Object:
        metadata: Object = {"labels": self.labels}
        if self.name is not None:
            metadata["name"] = self.name
        if self.namespace is not None:
            metadata["namespace"] = self.namespace
        return {"apiVersion": self.api_version, "kind": self.kind, "metadata": metadata}

    def kinds(self, scope: Scope) -> Sequence[tuple[str, str]]:  # noqa: ARG002 - the kind does not depend on the scope
        """The kind that is waited for."""
        return [(self.api_version, self.kind)]


def _left(item: Object) -> str:
    finalizers = item["metadata"].get("finalizers") or []
    held = f", held by the finalizers {', '.join(finalizers)}" if finalizers else ""
    asked = "is being deleted" if item["metadata"].get("deletionTimestamp") else "exists"
    return f"{name_of(item)} {asked}{held}"
